/* Shared by reorder.c and reorder_rcm.c. */
#ifndef TSI_REORDER_H
#define TSI_REORDER_H

#include <stddef.h>
#include <texsolve/reorder.h>

#include "common/core/backend.h"

/* Checks that the arrays form a matrix. Values are ignored. */
ts_status tsi_reorder_check(ts_context *context, const tsi_csr *csr, int must_be_square);

/* The public functions for matrices on the host. `context` may be NULL. */
ts_status tsi_csr_bandwidth(ts_context *context, const tsi_csr *csr, ts_bandwidth *bandwidth);
ts_status tsi_reorder_rcm(ts_context *context, const tsi_csr *csr, int32_t *order);
/* Writes values to one of the two arrays. Both are NULL if the matrix is a pattern. */
ts_status tsi_csr_permute(ts_context *context, const tsi_csr *csr, const int32_t *order, int32_t *row_offsets,
                          int32_t *column_indices, float *values, double *doubles);

#endif
