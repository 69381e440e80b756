/* The parts of ts_matrix_create that matrix.c and matrix_device.c share. */
#ifndef TSI_MATRIX_CREATE_H
#define TSI_MATRIX_CREATE_H

#include "csr.h"

/* matrix_device.c: creates the matrix on the device, from arrays there or on the host. *matrix stays NULL if
 * the host has to lay it out. */
ts_status tsi_matrix_create_on_device(ts_context *context, const ts_matrix_desc *given, ts_matrix **matrix);

/* Finds facts for auto's choice of a preconditioner, if the arrays are on the host and in order. */
ts_status tsi_matrix_find_facts(ts_matrix *A, const ts_csr *given, int in_order);

/* matrix.c: validates the descriptor but not the entries. */
ts_status tsi_matrix_desc_validate(ts_context *context, const tsi_matrix_desc *desc);
/* The formats of blocks to consider in the choice of a format. */
int tsi_matrix_blocks_to_consider(const ts_context *context, const tsi_matrix_desc *desc);
/* Creates the row space and the column space. `entries` determines the order of the rows: the matrix or its
 * blocks. */
ts_status tsi_matrix_make_spaces(ts_matrix *A, const tsi_matrix_desc *desc, const tsi_host_csr *entries);
void tsi_matrix_log(const ts_matrix *A);
/* Frees all parts except those of the backend. */
void tsi_matrix_release_parts(ts_matrix *A);

#endif
