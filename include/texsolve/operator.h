/* Operators: matrices that are a function which computes y = A x. Solvers, products and some
 * preconditioners take them like any other matrix. A + I of a matrix A, without forming it:
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
 * Threads, version, errors and ownership are as in texsolve.h.
 */
#ifndef TEXSOLVE_OPERATOR_H
#define TEXSOLVE_OPERATOR_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Computes y = A x, which must be linear in x, by calls of this library, or on the textures or the CUDA memory
 * of the vectors. y is over the operator's row space and x over its column space, with the same number of
 * components; they differ from call to call, in components too, and are valid during the call. x must stay as
 * it is. All of y must be written: it holds NaN or anything before. Constrained rows of y become 0 afterwards.
 *
 * Precision. Both vectors hold floats in the iterations of single and mixed precision, otherwise doubles of
 * about 48 bits. The functions of this library compute accordingly; vectors of the caller that hold results in
 * between should have precision auto. A residual b - A x is then right to about 2^-46 of A x, and no solve gets
 * further. If the function computes floats only, a residual is right to 2^-24 of A x: set
 * ts_operator_desc.precision. Numbers in x and y are in the range of floats, whatever the scale of b: A should
 * multiply by more than about 1e-30 and less than 1e30.
 *
 * The function may use other contexts, and solve with other solvers of the same context. It must not destroy
 * what the solve uses. A call within it that applies the same operator, or the solver that is running, returns
 * TS_ERROR_INVALID_ARGUMENT. A result other than TS_OK ends the solve or the product, which returns it and
 * keeps the message of the function of this library that failed; a positive result becomes
 * TS_ERROR_INVALID_ARGUMENT.
 *
 * A NaN or an infinity in y ends a solve with TS_REASON_BREAKDOWN, and the message names the operator. */
typedef ts_status (*ts_operator_fn)(void *user, ts_vector *y, const ts_vector *x);

typedef struct ts_operator_desc {
  ts_operator_fn apply;
  ts_operator_fn apply_transposed; /* y = A^T x: y over the column space, x over the row space, whose
                                      constrained rows do not count. For ts_matrix_multiply_transposed and cgls.
                                      Default: none; apply if symmetric */
  void *user;                      /* the first argument of both functions */
  int symmetric;                   /* 1 if A equals its transpose, as conjugate gradients need */
  ts_precision precision;    /* single: the functions compute floats only, and so do solvers. Default: auto,
                                in the precision of y */
  const ts_vector *diagonal; /* of A, one component, which is copied: for ts_matrix_diagonal, jacobi and
                                chebyshev. Synchronises with the device. Default: not known */
  uint64_t reserved[8];      /* 0 */
} ts_operator_desc;

/* Creates an operator from one space to another, of one context; square if both are the same object. It is a
 * matrix of TS_FORMAT_OPERATOR, and keeps the spaces alive. Its preconditioners are none, custom, multigrid of
 * a grid and, if the diagonal is given, jacobi and chebyshev; auto is jacobi or none. A preconditioner of
 * another matrix over the same space may be given to its solvers. Errors: TS_ERROR_INVALID_ARGUMENT (apply is
 * NULL, a field and its value; a diagonal or `symmetric` of an operator that is not square; a diagonal that is
 * not finite or out of the range of floats), TS_ERROR_INCOMPATIBLE (spaces or a diagonal that do not belong
 * together), TS_ERROR_UNSUPPORTED (a space of ranks), memory. */
TS_API ts_status ts_operator_create(ts_space *row_space, ts_space *column_space, const ts_operator_desc *desc,
                                    ts_matrix **matrix);

/* Tells that the functions compute another matrix from now on. A diagonal of NULL stays as it is.
 * Preconditioners that solvers have made are computed again with the next solve. Errors: as above;
 * TS_ERROR_INVALID_ARGUMENT (a matrix that is not an operator). */
TS_API ts_status ts_operator_update(ts_matrix *matrix, const ts_vector *diagonal);

#ifdef __cplusplus
}
#endif
#endif
