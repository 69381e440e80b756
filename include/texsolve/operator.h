/* Operators: matrix-free matrices. A function of the application computes y = A x. Solvers, products and some
 * preconditioners accept an operator like any other matrix. This operator is A + I, without forming it:
 *
 *   static ts_status shifted(void *user, ts_vector *y, const ts_vector *x) { // y = A x + x
 *     ts_status status = ts_matrix_multiply(y, (const ts_matrix *)user, x);
 *     return status == TS_OK ? ts_vector_axpby(y, ts_constant(1), x, ts_constant(1)) : status;
 *   }
 *
 *   const double right_hand_side[] = {1, 2, 3};
 *   double solution[] = {0, 0, 0};
 *   ts_space *space = ts_matrix_get_row_space(A);
 *   ts_operator_desc desc = {.apply = shifted, .user = A, .symmetric = 1};
 *   ts_matrix *B;
 *   ts_operator_create(space, space, &desc, &B);
 *   ts_solve(B, ts_host(right_hand_side, 3), ts_host(solution, 3), NULL, NULL);
 *   printf("%g %g %g\n", solution[0], solution[1], solution[2]); // 0.8095 1.4286 1.4762
 *   ts_matrix_destroy(&B);
 *
 * Threads, version, errors and ownership are as in texsolve.h. */
#ifndef TEXSOLVE_OPERATOR_H
#define TEXSOLVE_OPERATOR_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes y = A x, which must be linear in x, by calls of this library or directly on the vectors' textures or
 * CUDA memory. y is over the operator's row space and x over its column space, with the same number of
 * components. The vectors and their number of components may differ from call to call, and they are valid
 * during the call only. x must not change. Every element of y must be written: it may contain anything before,
 * including NaN. Constrained rows of y are set to 0 afterwards.
 *
 * Precision: both vectors hold floats in iterations of single and mixed precision, and otherwise doubles of
 * about 48 bits. Functions of this library compute accordingly; the application's vectors for intermediate
 * results should have precision auto. A residual b - A x is then accurate to about 2^-46 of A x, which limits
 * every solve. If the function computes only in floats, a residual is accurate to 2^-24 of A x: set
 * ts_operator_desc.precision. Numbers in x and y are in the range of floats regardless of the scale of b. A
 * should multiply by more than about 1e-30 and less than 1e30.
 *
 * The function may use other contexts, and may solve with other solvers of the same context. It must not
 * destroy objects that the solve uses. A nested call that applies the same operator, or runs the same solver,
 * returns TS_ERROR_INVALID_ARGUMENT. A result other than TS_OK ends the solve or product, which returns it and
 * keeps the message of the library function that failed. A positive result becomes TS_ERROR_INVALID_ARGUMENT.
 *
 * A NaN or infinity in y ends a solve with TS_REASON_BREAKDOWN, and the message names the operator. */
typedef ts_status (*ts_operator_fn)(void *user, ts_vector *y, const ts_vector *x);

typedef struct ts_operator_desc {
  ts_operator_fn apply;
  ts_operator_fn apply_transposed; /* y = A^T x for ts_matrix_multiply_transposed and cgls: y over the column
                                      space, x over the row space; constrained rows of x do not count. Default:
                                      none, or apply if symmetric */
  void *user;                      /* first argument of both functions */
  int symmetric;                   /* 1 if A equals its transpose, as conjugate gradients require */
  ts_precision precision; /* single: the functions compute floats only, and solvers do too. Default: auto, the
                             precision of y */
  const ts_vector *diagonal; /* diagonal of A, one component, for ts_matrix_diagonal, jacobi and chebyshev; it
                                is copied, which synchronises with the device. Default: NULL, unknown */
  uint64_t reserved[8];      /* 0 */
} ts_operator_desc;

/* Creates an operator between two spaces of one context; it is square if both are the same object. The result
 * is a matrix of TS_FORMAT_OPERATOR and keeps the spaces alive. Its preconditioners are none, custom, multigrid
 * of a grid and, if the diagonal is given, jacobi and chebyshev. Auto is jacobi or none. Its solvers also
 * accept a preconditioner of another matrix over the same space.
 * Errors: TS_ERROR_INVALID_ARGUMENT (apply is NULL; an invalid field; a diagonal or `symmetric` for an operator
 * that is not square; a diagonal that is not finite or exceeds the range of floats), TS_ERROR_INCOMPATIBLE
 * (spaces of different contexts, a diagonal over another space), TS_ERROR_UNSUPPORTED (a space of ranks),
 * memory. */
TS_API ts_status ts_operator_create(ts_space *row_space, ts_space *column_space, const ts_operator_desc *desc,
                                    ts_matrix **matrix);

/* Announces that the functions compute another matrix from now on. If `diagonal` is NULL the diagonal is
 * unchanged. Preconditioners that solvers created are recomputed in the next solve.
 * Errors: as ts_operator_create; TS_ERROR_INVALID_ARGUMENT (a matrix that is not an operator). */
TS_API ts_status ts_operator_update(ts_matrix *matrix, const ts_vector *diagonal);

#ifdef __cplusplus
}
#endif
#endif
