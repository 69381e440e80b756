/* Preconditioners: a matrix M that is close to A and easy to invert. A solver applies z = M^-1 r once or twice
 * an iteration (texsolve/solver.h); every method takes every preconditioner.
 *
 * A preconditioner is created once and serves any number of solvers whose solutions are over its space. Solvers
 * keep it alive. Threads, version, errors and ownership are as in texsolve.h.
 */
#ifndef TEXSOLVE_PRECONDITIONER_H
#define TEXSOLVE_PRECONDITIONER_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TS_PRECONDITIONER_LIST(X)                                                                              \
  X(TS_PRECONDITIONER_JACOBI, 0, "jacobi")             /* M = diag(A) */                                       \
  X(TS_PRECONDITIONER_NONE, 1, "none")                 /* M = I */                                             \
  X(TS_PRECONDITIONER_BLOCK_JACOBI, 2, "block-jacobi") /* M = the blocks on the diagonal of A */               \
  X(TS_PRECONDITIONER_MULTIGRID, 3, "multigrid")       /* M^-1 = one symmetric cycle (texsolve/grid.h) */      \
  X(TS_PRECONDITIONER_CUSTOM, 4, "custom")             /* M^-1 = a function of the caller's */                 \
  X(TS_PRECONDITIONER_AMG, 5, "amg")                   /* M^-1 = one cycle (texsolve/amg.h) */                 \
  X(TS_PRECONDITIONER_CHEBYSHEV, 6, "chebyshev")       /* M^-1 = a polynomial in D^-1 A, D = diag(A) */        \
  X(TS_PRECONDITIONER_ISAI, 7, "isai")                 /* M^-1 = approximate inverses of A's factors */        \
  X(TS_PRECONDITIONER_AUTO, 8, "auto")                 /* amg or Jacobi, chosen for the matrix */

typedef enum ts_preconditioner_kind {
#define TS_PRECONDITIONER_ENUM(name, value, text) name = value,
  TS_PRECONDITIONER_LIST(TS_PRECONDITIONER_ENUM)
#undef TS_PRECONDITIONER_ENUM
} ts_preconditioner_kind;

/* A kind's text, NULL if there is no such kind; and the kind with a text, -1 if none. Any thread. */
TS_API const char *ts_preconditioner_kind_name(ts_preconditioner_kind kind);
TS_API int ts_preconditioner_kind_from_name(const char *name);

typedef struct ts_preconditioner ts_preconditioner;

/* Computes z = M^-1 r, by calls of the library (ts_matrix_multiply, ts_vector_axpby, ...), so that no host
 * synchronisation is needed. z and r are over the preconditioner's space and have the components of
 * the solve; r must stay as it is, and z may hold anything. A result other than TS_OK ends the solve and is
 * what ts_solver_solve returns; the message of the function that failed is kept. */
typedef ts_status (*ts_precondition_fn)(void *user, ts_vector *z, const ts_vector *r);

/* Fields that do not belong to the kind must be 0. */
typedef struct ts_preconditioner_desc {
  ts_preconditioner_kind kind; /* default: TS_PRECONDITIONER_JACOBI */
  int block_size;              /* block Jacobi: rows of a block, 2 to 16. Default: 4, and in the formats bcrs2
                                  and bcrs4 2 and 4, the only size that they take */
  struct ts_multigrid *multigrid; /* multigrid: must outlive the preconditioner and what uses it */
  const struct ts_amg_desc *amg;  /* amg: how (texsolve/amg.h); NULL: the defaults */
  int degree;                     /* chebyshev: M^-1 has so many terms, one product with A less, 1 to 16.
                                     Default: 4 */
  ts_precondition_fn apply;       /* custom */
  void *user;                     /* custom: the first argument of `apply` */
  int symmetric;                  /* custom: 1 if M is symmetric and positive definite, which conjugate
                                     gradients ask for */
  int reserved[5];                /* 0 */
} ts_preconditioner_desc;

/* Creates a preconditioner for a square matrix with one space for rows and columns, and keeps the matrix alive.
 * For multigrid `matrix` may be NULL: the stencil of the hierarchy. `desc` may be NULL.
 *
 * Jacobi and multigrid follow the matrix's values (multigrid after ts_multigrid_update). Block Jacobi reads
 * them from the matrix's host copy, here and in ts_preconditioner_update. A multigrid cycle used as M is
 * symmetric, whatever ts_multigrid_desc.symmetric says, and takes one component.
 *
 * AMG reads the host copy too, of a matrix that is symmetric and positive on the diagonal.
 *
 * Chebyshev brings the eigenvalues of M^-1 A on [lambda / (1.5 degree^2 + 2), lambda] close to 1, with lambda
 * the largest of D^-1 A, by a polynomial of the first kind in D^-1 A (Saad 2003, "Iterative methods for sparse
 * linear systems", 12.3). Iterations become about `degree` times fewer, with as many products, and fewer sums
 * and host synchronisations. It is for eigenvalues of D^-1 A that are positive, needs no host copy, takes
 * stencils, and is symmetric where A is. lambda is estimated on the device, here and in
 * ts_preconditioner_update, with one host synchronisation.
 *
 * ISAI reads the host copy and approximates the inverses of the triangular factors of A on the pattern of A
 * (Kolotilina and Yeremin 1993, "Factorized sparse approximate inverse preconditionings I"; Anzt, Huckle,
 * Braeckle and Dongarra 2018, "Incomplete sparse approximate inverses for parallel preconditioning"), of a row
 * the 64 largest entries at most, so that M^-1 is two products. It is for matrices that are not symmetric, and
 * where Jacobi takes many iterations; entries on the diagonal may be missing. Where A is symmetric and positive
 * definite M is too.
 *
 * Auto becomes AMG with its defaults, or else Jacobi, when it is created, and stays that. AMG is for a matrix
 * - that is symmetric and positive on the diagonal, with a host copy, no stencil and without constrained rows;
 * - with at least 8192 rows, for half of which |sum_j a_ij| <= a_ii / 512: constants are almost in the null
 *   space;
 * - that is many couplings across: so many entries lie on the way from some row to another. At least 190 on
 *   CPUs, 110 in shaders on a CPU, 320 with CUDA and 800 with OpenGL on a GPU; ts_context_set_tuning changes
 *   "amg_couplings". A grid of 96 x 96 points with couplings to 4 neighbours is 190 across, one of 64 x 64 x
 *   64 points with 6 is 189. A quarter of that, and 64 at most, is enough where coefficients jump: where an
 * eighth of the rows have 1000 times as much on the diagonal as the neighbour that they are least coupled with;
 * - which aggregation brings to a level that is solved exactly.
 * It takes a few ms, whatever the size: values are those of a sample of 2048 rows, and how many couplings A is
 * across is estimated from how the number of rows grows with the distance from some of them, within a factor of
 * 1.5 for grids and meshes. Where A falls into several large parts they count as one.
 *
 * Errors: TS_ERROR_INVALID_ARGUMENT (a field and its value; a block that is singular: its first row is named;
 * no host copy; Chebyshev of a diagonal with a zero, ISAI where A is singular on the pattern of a row, AMG of a
 * matrix that is not symmetric, or not positive on the diagonal: the row is named), TS_ERROR_UNSUPPORTED (block
 * Jacobi, ISAI or AMG of a stencil), memory. */
TS_API ts_status ts_preconditioner_create(ts_matrix *matrix, const ts_preconditioner_desc *desc,
                                          ts_preconditioner **preconditioner);
TS_API void ts_preconditioner_destroy(ts_preconditioner **preconditioner);

/* Computes M from the matrix's present values, after ts_matrix_set_values. Block Jacobi, ISAI, Chebyshev and
 * AMG, which keeps its aggregates and patterns, need it; others do nothing. Errors as above; then M is as it
 * was, except that levels of AMG may have new values already: a further update completes them. */
TS_API ts_status ts_preconditioner_update(ts_preconditioner *preconditioner);

/* z = M^-1 r. z is not r. No host synchronisation, unless the caller's function has one.
 * Errors: TS_ERROR_INVALID_ARGUMENT (z is r), TS_ERROR_INCOMPATIBLE (other spaces or components). */
TS_API ts_status ts_preconditioner_apply(ts_preconditioner *preconditioner, ts_vector *z, const ts_vector *r);

/* The kind; of auto what it has become. */
TS_API ts_preconditioner_kind ts_preconditioner_get_kind(const ts_preconditioner *preconditioner);

/* Which kind auto has become and why, in a few words; "" for other kinds. Lives as long as `preconditioner`. */
TS_API const char *ts_preconditioner_choice(const ts_preconditioner *preconditioner);

#ifdef __cplusplus
}
#endif
#endif
