/* What a preconditioner is to a solver: something that applies z = M^-1 r.
 *
 * Where M is a diagonal the solver has 1 / diag in its own workspace and fuses it into its passes; such kinds
 * have no apply. The path: preconditioner.c (API), block_jacobi.c, chebyshev.c, isai.c, multigrid/ (the
 * hierarchy); balance.c for the dense systems of these. */
#ifndef TSI_PRECONDITIONER_H
#define TSI_PRECONDITIONER_H

#include <texsolve/preconditioner.h>

#include "common/core/backend.h"

typedef struct tsi_amg tsi_amg;             /* amg/amg.h */
typedef struct tsi_chebyshev tsi_chebyshev; /* chebyshev.c */
typedef struct tsi_isai tsi_isai;           /* isai.c */

struct ts_preconditioner {
  ts_context *context;
  int references;
  ts_matrix *matrix; /* that it was made for */
  ts_preconditioner_desc desc;
  int changes;       /* of the matrix when M was computed */
  ts_matrix *blocks; /* block Jacobi: the inverses of the blocks, as a matrix */
  tsi_amg *amg;
  tsi_chebyshev *chebyshev;
  tsi_isai *isai;
  char choice[200]; /* what auto has become, and why */
};

void tsi_preconditioner_retain(ts_preconditioner *M);

/* M is a diagonal, which the solver takes from the matrix itself. */
static inline int tsi_preconditioner_is_diagonal(const ts_preconditioner *M) {
  return M->desc.kind == TS_PRECONDITIONER_JACOBI || M->desc.kind == TS_PRECONDITIONER_NONE;
}
/* It is computed from the matrix's host copy. */
static inline int tsi_preconditioner_needs_host_copy(ts_preconditioner_kind kind) {
  return kind == TS_PRECONDITIONER_BLOCK_JACOBI || kind == TS_PRECONDITIONER_AMG ||
         kind == TS_PRECONDITIONER_ISAI || kind == TS_PRECONDITIONER_AUTO;
}
/* Conjugate gradients may take it. */
int tsi_preconditioner_is_symmetric(const ts_preconditioner *M);
/* M^-1 is an inverse of the user's matrix times 2^exponent: that of the matrix it was made from, whose stored
 * values it works on. */
int tsi_preconditioner_exponent(const ts_preconditioner *M);
/* Whether M can be applied to vectors with so many components now; else an error that says why not. */
ts_status tsi_preconditioner_check(const ts_preconditioner *M, int components);
/* z = M^-1 r of a kind that is not diagonal; on a context that is entered. */
ts_status tsi_precondition(ts_preconditioner *M, ts_vector *z, const ts_vector *r);

/* Where M knows that the matrix is singular: takes the part that no x reaches out of b, and returns its norm.
 * One host synchronisation then, else none. */
ts_status tsi_preconditioner_project(ts_preconditioner *M, ts_vector *b, double *removed);

/* ---- choose.c ---- */

/* What auto becomes for the matrix's present values; `choice` says why. */
ts_status tsi_preconditioner_choose(const ts_matrix *A, ts_preconditioner_kind *kind, char *choice,
                                    size_t size);

/* ---- balance.c ---- */

/* Multiplies a_ij of an n x n matrix, n up to 64, by 2^(rows[i] + columns[j]), so that the largest numbers of
 * rows and of columns are near each other. A matrix that has this already stays as it is. */
void tsi_balance(double *a, int n, int *rows, int *columns);

/* ---- block_jacobi.c ---- */

/* M->blocks from the values of the matrix's host copy. */
ts_status tsi_block_jacobi_build(ts_preconditioner *M);

/* ---- chebyshev.c ---- */

enum { TSI_CHEBYSHEV_DEGREE = 4 }; /* the default */

/* The diagonal and the largest eigenvalue of the matrix's present values. */
ts_status tsi_chebyshev_build(ts_preconditioner *M);
/* Vectors for so many components, if they are not there. Not within another function of the library. */
ts_status tsi_chebyshev_prepare(const ts_preconditioner *M, int components);
ts_status tsi_chebyshev_apply(const ts_preconditioner *M, ts_vector *z, const ts_vector *r);
void tsi_chebyshev_destroy(ts_context *context, tsi_chebyshev **chebyshev);

/* ---- isai.c: the same ---- */

ts_status tsi_isai_build(ts_preconditioner *M);
ts_status tsi_isai_prepare(const ts_preconditioner *M, int components);
ts_status tsi_isai_apply(const ts_preconditioner *M, ts_vector *z, const ts_vector *r);
int tsi_isai_is_symmetric(const tsi_isai *isai);
void tsi_isai_destroy(ts_context *context, tsi_isai **isai);

#endif
