/* Factors of a square matrix, computed and applied on the host in double precision.
 *
 * The files: direct.c (factors), direct_rows.c (the matrix to be factored), direct_load.c (opens the module
 * that computes factors, direct_module.h), direct_apply.c (vectors of a device), direct_kind.c (the
 * preconditioner). */
#ifndef TSI_DIRECT_H
#define TSI_DIRECT_H

#include <texsolve/preconditioner.h>

#include "common/core/backend.h"
#include "direct_module.h"

/* ---- direct_load.c ---- */

/* Returns TS_ERROR_UNAVAILABLE if the module is missing. */
ts_status tsi_direct_open(ts_context *context, const tsi_direct_module **module);

/* ---- direct_rows.c ---- */

/* R A C without zeros, with R and C powers of two. The largest magnitude of each row and column is near 1. Rows
 * without an equation, and their columns, are those of the identity. */
typedef struct tsi_direct_matrix {
  tsi_direct_rows rows; /* columns ascend */
  double *row_scale, *column_scale;
  int is_symmetric; /* to the last bit, with R = C */
  int sign;         /* 1 or -1 if the diagonal is positive or negative, otherwise 0 */
} tsi_direct_matrix;

/* Values are floats or doubles. `constrained` may be NULL. */
ts_status tsi_direct_matrix_create(ts_context *context, const tsi_csr *A, const unsigned char *constrained,
                                   tsi_direct_matrix *out);
void tsi_direct_matrix_free(ts_context *context, tsi_direct_matrix *A);

/* ---- direct.c ---- */

typedef struct tsi_direct {
  const tsi_direct_method *method;
  int is_cholesky;
  void *factors;
  double entries;
  int32_t n;
  int sign;                         /* the factors are those of sign R A C */
  double *row_scale, *column_scale; /* R and C */
} tsi_direct;

/* Predicts the entries of the factors by an analysis of the pattern. The factors have more entries if the
 * matrix is not positive definite after all, or needs off-diagonal pivots. Errors as for tsi_direct_create,
 * except those that depend on the values. */
ts_status tsi_direct_predict(ts_context *context, const tsi_csr *A, const unsigned char *constrained,
                             double *entries);

/* Errors: TS_ERROR_UNAVAILABLE (no module), TS_ERROR_LIMIT (the prediction exceeds `most` entries),
 * TS_ERROR_INVALID_ARGUMENT (A is singular; the message names a row), memory. */
ts_status tsi_direct_create(ts_context *context, const tsi_csr *A, const unsigned char *constrained,
                            double most, tsi_direct **out);
/* x = A^-1 x. Only one thread at a time may call it. */
void tsi_direct_solve(const tsi_direct *d, double *x);
void tsi_direct_destroy(ts_context *context, tsi_direct *d);

/* ---- direct_apply.c ---- */

/* Factors, and host vectors with `components` components; 0: not allocated. */
typedef struct tsi_direct_applied {
  tsi_direct *direct;
  int components;
  float *floats;
  double *columns; /* component by component */
} tsi_direct_applied;

ts_status tsi_direct_prepare(ts_context *context, tsi_direct_applied *s, int components);
/* z = A^-1 r. Call it between tsi_enter and tsi_leave. Waits for the device. */
ts_status tsi_direct_apply(const tsi_direct_applied *s, ts_vector *z, const ts_vector *r);
/* Frees the vectors and the factors; `s` may have none. */
void tsi_direct_drop(ts_context *context, tsi_direct_applied *s);

#endif
