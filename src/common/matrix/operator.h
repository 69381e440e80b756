/* Matrices given by a function of the caller (texsolve/operator.h). */
#ifndef TSI_OPERATOR_H
#define TSI_OPERATOR_H

#include <texsolve/operator.h>

#include "common/core/core.h"

struct tsi_operator {
  ts_operator_desc desc;   /* without the caller's diagonal */
  float *diagonal;         /* on the host, one component; NULL: unknown */
  ts_vector *diagonals[4]; /* on the device, for vectors of 1 to 4 components */
  ts_vector *product;      /* A x of a residual */
  int is_running;          /* whether the caller's function is running */
  int must_prove; /* the next product starts with NaN in y, which remains if the function writes nothing */
};

/* Whether the diagonal of a square matrix is known. */
static inline int tsi_knows_diagonal(const ts_matrix *A) {
  return !A->function || A->function->diagonal;
}
/* Returns TS_ERROR_INVALID_ARGUMENT if A is an operator; `what` names the feature that needs its entries. */
ts_status tsi_refuse_operator(const ts_matrix *A, const char *what);

/* r = b - A x with two parts of each vector. */
ts_status tsi_operator_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x);
/* Call it before a solve: the first product then shows whether the function writes anything. */
void tsi_operator_begin(const ts_matrix *A);
/* Returns the operator that applies the transposed function. */
ts_status tsi_operator_transposed(const ts_matrix *A, ts_matrix **transposed);

#endif
