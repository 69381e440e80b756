/* A matrix as the user gives it: validated, then brought to canonical form. */
#ifndef TSI_CSR_H
#define TSI_CSR_H

#include "common/core/core.h"
#include "common/layout/layout.h"

/* Offsets ascend, columns are in range, values are finite; the message names row and entry. */
ts_status tsi_csr_validate(ts_context *context, const ts_csr *csr);

enum {
  TSI_CSR_COPY = 1, /* arrays of its own */
  TSI_CSR_RESTS = 2 /* what floats lack of doubles */
};

/* The flag for what a precision asks for. */
static inline unsigned tsi_csr_rests(ts_precision precision) {
  return precision == TS_PRECISION_SINGLE ? 0 : TSI_CSR_RESTS;
}

/* Canonical form: columns ascending, duplicates added up (their number in *duplicates), constrained rows empty.
 * Borrows the user's arrays if they are so already and the flags do not ask for a copy. */
ts_status tsi_csr_canonical(ts_context *context, const ts_csr *csr, const unsigned char *constrained,
                            unsigned flags, tsi_host_csr *out, int64_t *duplicates);
void tsi_csr_free(ts_context *context, tsi_host_csr *csr);

/* ---- csr_scale.c ---- */

/* Those of the values. */
tsi_exponents tsi_csr_exponents(const ts_context *context, const ts_csr *csr);
/* out = csr with its values times 2^-exponent, which are in `memory`, NULL if they are csr's own. */
ts_status tsi_csr_scale(ts_context *context, const ts_csr *csr, int exponent, ts_csr *out, void **memory);

/* csr_inspect.c: two entries that mirror each other are equal within what assembly in single precision leaves.
 */
int tsi_nearly_equal(float a, float b, float diagonal_a, float diagonal_b);

/* A 64-bit hash of the sparsity pattern. */
uint64_t tsi_csr_fingerprint(const ts_context *context, const ts_csr *csr);

/* Fills symmetric, unsymmetric_row, unsymmetric_column and zero_diagonal_row of `info`, and the largest sum of
 * magnitudes in a row. Without values everything counts as 0. */
ts_status tsi_csr_inspect(ts_context *context, const tsi_host_csr *A, const unsigned char *constrained,
                          ts_matrix_info *info, double *norm_infinity);

/* ---- matrix_values.c ---- */

/* New values, stored as they are, and the check of their pattern. */
ts_status tsi_matrix_set_values(ts_matrix *A, const ts_csr *csr);
ts_status tsi_matrix_check_pattern(const ts_matrix *A, const ts_csr *csr);
/* New values in canonical form, of A alone and of its rest, which is created where there is none. */
ts_status tsi_matrix_write_values(ts_matrix *A, const tsi_host_csr *values);
ts_status tsi_matrix_write_rest(ts_matrix *A, const tsi_host_csr *values);
/* Makes A's rests those of `csr`; blocks are NULL where the layout has them already. */
ts_status tsi_matrix_write_rests(ts_matrix *A, const tsi_host_csr *csr, tsi_blocks *blocks);
void tsi_matrix_destroy_rest(ts_matrix *A);
/* `lost`: the largest magnitude that the rests have no digits for. */
void tsi_matrix_warn_of_lost_digits(const ts_matrix *A, double lost);
tsi_layout_input tsi_matrix_layout_input(const ts_matrix *A, const tsi_host_csr *csr, tsi_blocks *blocks);

/* ---- matrix.c ---- */

/* ts_matrix_create and ts_matrix_set_values without scaling: for matrices of the library's own, whose products
 * no one scales back. */
ts_status tsi_matrix_create_as_is(ts_context *context, const ts_matrix_desc *desc, ts_matrix **matrix);
ts_status tsi_matrix_set_values_as_is(ts_matrix *A, const ts_csr *csr);
/* The host copy, whose values times 2^exponent are the matrix's. */
ts_status tsi_matrix_stored_copy(const ts_matrix *matrix, ts_csr *csr);

/* A matrix as csr that the backend has made by itself, in a linear space: `impl` is its own and goes
 * to the matrix unless this fails. */
typedef struct tsi_device_csr {
  int32_t rows, columns;
  int64_t entries;
  size_t bytes;
  ts_space *row_space, *column_space; /* NULL: a new one; of a square matrix one for both */
} tsi_device_csr;
ts_status tsi_matrix_adopt(ts_context *context, const tsi_device_csr *csr, const tsi_matrix_kind *kind,
                           void *impl, ts_matrix **matrix);

#endif
