/* The factors of a square matrix, computed and applied on the host in double precision.
 *
 * The path: direct.c (factors), direct_rows.c (the matrix as it is factored), direct_load.c (the module that
 * factors, direct_module.h), direct_apply.c (vectors of a device), direct_kind.c (the preconditioner). */
#ifndef TSI_DIRECT_H
#define TSI_DIRECT_H

#include <texsolve/preconditioner.h>

#include "common/core/backend.h"
#include "direct_module.h"

/* ---- direct_load.c ---- */

/* TS_ERROR_UNAVAILABLE if there is no such module. */
ts_status tsi_direct_open(ts_context *context, const tsi_direct_module **module);

/* ---- direct_rows.c ---- */

/* R A C with R and C powers of two, the largest magnitude of each row and column near 1, without zeros. Rows
 * without an equation and their columns are those of the identity. */
typedef struct tsi_direct_matrix {
  tsi_direct_rows rows; /* columns ascend */
  double *row_scale, *column_scale;
  int is_symmetric; /* to the last bit, with R = C */
  int sign;         /* 1 or -1 if the diagonal is positive or negative, else 0 */
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

/* How many entries the factors of a matrix will have, by an analysis of its pattern. A matrix that turns out
 * not to be positive definite, or needs pivots off the diagonal, has more. Errors as below, but for what only
 * the values tell. */
ts_status tsi_direct_predict(ts_context *context, const tsi_csr *A, const unsigned char *constrained,
                             double *entries);

/* Errors: TS_ERROR_UNAVAILABLE (no module), TS_ERROR_LIMIT (more entries are predicted than `most`),
 * TS_ERROR_INVALID_ARGUMENT (A is singular, a row is named), memory. */
ts_status tsi_direct_create(ts_context *context, const tsi_csr *A, const unsigned char *constrained,
                            double most, tsi_direct **out);
/* x becomes A^-1 x. Not by two threads at once. */
void tsi_direct_solve(const tsi_direct *d, double *x);
void tsi_direct_destroy(ts_context *context, tsi_direct *d);

/* ---- direct_apply.c ---- */

/* Factors, and room for vectors of so many components on the host; 0: none yet. */
typedef struct tsi_direct_applied {
  tsi_direct *direct;
  int components;
  float *floats;
  double *columns; /* component by component */
} tsi_direct_applied;

ts_status tsi_direct_prepare(ts_context *context, tsi_direct_applied *s, int components);
/* z = A^-1 r, between tsi_enter and tsi_leave. Waits for the device. */
ts_status tsi_direct_apply(const tsi_direct_applied *s, ts_vector *z, const ts_vector *r);
/* The factors too; `s` may have none. */
void tsi_direct_drop(ts_context *context, tsi_direct_applied *s);

#endif
