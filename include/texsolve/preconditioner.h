/* Preconditioners: a matrix M that is close to A and easy to invert. A solver applies z = M^-1 r once or twice
 * per iteration (texsolve/solver.h). Every method accepts every preconditioner.
 *
 *   ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_CHEBYSHEV, .degree = 3};
 *   ts_preconditioner *M;
 *   ts_preconditioner_create(A, &desc, &M);
 *   ts_solver_desc options = {.preconditioner = M};
 *   ts_solver *solver;
 *   ts_solver_create(A, &options, &solver);
 *   ts_solver_solve(solver, b, x, NULL);
 *   ts_solver_destroy(&solver);
 *   ts_preconditioner_destroy(&M);
 *
 * A kind with default options does not need an object: set ts_solver_desc.preconditioner_kind instead.
 *
 * One preconditioner can serve any number of solvers whose solutions are over its space. Solvers keep it alive.
 * Threads, version, errors and ownership are as in texsolve.h. */
#ifndef TEXSOLVE_PRECONDITIONER_H
#define TEXSOLVE_PRECONDITIONER_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TS_PRECONDITIONER_LIST(X)                                                                              \
  X(TS_PRECONDITIONER_AUTO, 0, "auto")     /* amg, ilu, chebyshev or Jacobi, chosen for the matrix */          \
  X(TS_PRECONDITIONER_NONE, 1, "none")     /* M = I */                                                         \
  X(TS_PRECONDITIONER_JACOBI, 2, "jacobi") /* M = diag(A) */                                                   \
  X(TS_PRECONDITIONER_BLOCK_JACOBI, 3, "block-jacobi") /* M = the diagonal blocks of A */                      \
  X(TS_PRECONDITIONER_CHEBYSHEV, 4, "chebyshev")       /* M^-1 = a polynomial in D^-1 A, D = diag(A) */        \
  X(TS_PRECONDITIONER_ISAI, 5, "isai")                 /* M^-1 = approximate inverses of A's factors */        \
  X(TS_PRECONDITIONER_AMG, 6, "amg")                   /* M^-1 = one cycle (texsolve/amg.h) */                 \
  X(TS_PRECONDITIONER_MULTIGRID, 7, "multigrid")       /* M^-1 = one symmetric cycle (texsolve/grid.h) */      \
  X(TS_PRECONDITIONER_CUSTOM, 8, "custom")             /* M^-1 = a function of the application */              \
  X(TS_PRECONDITIONER_DIRECT, 9, "direct")             /* M = A, factored on the host */                       \
  X(TS_PRECONDITIONER_ILU, 10, "ilu")                  /* M = L U, incomplete factors of A */                  \
  X(TS_PRECONDITIONER_IC, 11, "ic")                    /* M = L L^T, incomplete, for a symmetric A */

typedef enum ts_preconditioner_kind {
#define TS_PRECONDITIONER_ENUM(name, value, text) name = value,
  TS_PRECONDITIONER_LIST(TS_PRECONDITIONER_ENUM)
#undef TS_PRECONDITIONER_ENUM
} ts_preconditioner_kind;

/* Return a kind's text, or NULL for other values; and the kind with that text, or -1. Any thread. */
TS_API const char *ts_preconditioner_kind_name(ts_preconditioner_kind kind);
TS_API int ts_preconditioner_kind_from_name(const char *name);

/* Scaling and permutation before an incomplete factorisation. Results are always those of the original matrix.
 * Name, value, text. */
#define TS_SCALING_LIST(X)                                                                                     \
  X(TS_SCALING_AUTO, 0, "auto")         /* none or matching, whichever gives factors closer to A */            \
  X(TS_SCALING_NONE, 1, "none")         /* rows and columns stay in place */                                   \
  X(TS_SCALING_MATCHING, 2, "matching") /* largest product on the diagonal, scaled to 1 */

typedef enum ts_scaling {
#define TS_SCALING_ENUM(name, value, text) name = value,
  TS_SCALING_LIST(TS_SCALING_ENUM)
#undef TS_SCALING_ENUM
} ts_scaling;

/* As ts_preconditioner_kind_name and ts_preconditioner_kind_from_name. */
TS_API const char *ts_scaling_name(ts_scaling scaling);
TS_API int ts_scaling_from_name(const char *name);

typedef struct ts_preconditioner ts_preconditioner;

/* Computes z = M^-1 r. If it calls functions of the library (ts_matrix_multiply, ts_vector_axpby, ...), no host
 * synchronisation is needed. z and r are over the preconditioner's space and have the components of the solve.
 * r must not change; z may initially contain anything. A result other than TS_OK ends the solve.
 * ts_solver_solve then returns it and keeps the message of the function that failed. */
typedef ts_status (*ts_precondition_fn)(void *user, ts_vector *z, const ts_vector *r);

/* Fields that do not belong to the kind must be 0. */
typedef struct ts_preconditioner_desc {
  ts_preconditioner_kind kind; /* default: TS_PRECONDITIONER_AUTO */
  int block_size; /* block Jacobi: rows per block, 2 to 16. Default: 4. In the formats bcrs2 and bcrs4 it is 2
                     and 4; other sizes are invalid */
  struct ts_multigrid *multigrid; /* multigrid: the hierarchy, which must outlive the preconditioner and its
                                     solvers */
  const struct ts_amg_desc *amg;  /* amg: options (texsolve/amg.h). Default: NULL, the defaults */
  int degree; /* chebyshev: terms of M^-1, 1 to 16; products with A are one fewer. Default: 4 */
  int levels; /* ilu, ic: selects entries of the factors by level instead of by fill and drop_tolerance. -1: the
                 pattern of A, ILU(0). k up to 100: k levels of fill, ILU(k). Default: 0, entries are selected
                 by magnitude */
  ts_precondition_fn apply; /* custom */
  void *user;               /* custom: first argument of `apply` */
  int symmetric;         /* custom: 1 if M is symmetric and positive definite, as conjugate gradients require */
  double products, sums; /* custom: cost of `apply`, as in ts_preconditioner_info. Default: 0 */
  double max_factor_entries; /* direct: maximum number of entries of the factors, 12 bytes each, predicted from
                                the pattern before the factorisation. Default: 1e8 */
  double fill; /* ilu, ic: maximum of the entries of L and U together, relative to those of A, 1 to 1000.
                  Default: see drop_tolerance */
  /* ilu, ic: drops entries of a factor below this value times the mean magnitude of the row. Below 1; -1: drop
   * none. Default for ic: 1e-2, with fill 10; for ilu: 1e-4, with fill 10. If both are 0 and these factors of
   * ilu are far from A, ilu uses fill 30 and 1e-6. */
  double drop_tolerance;
  ts_scaling scaling; /* ilu: default: TS_SCALING_AUTO */
  int sweeps; /* ilu, ic: 0 (the default): solve the triangular systems exactly, on the host; 1 to 32: number of
                 Jacobi sweeps for each, on the device */
  uint64_t reserved[3]; /* 0 */
} ts_preconditioner_desc;

/* Creates a preconditioner for a square matrix with one space for rows and columns, and keeps the matrix alive.
 * For multigrid `matrix` may be NULL: it is then the stencil of the hierarchy. `desc` may be NULL.
 *
 * Jacobi and multigrid follow the matrix's values (multigrid after ts_multigrid_update). Block Jacobi reads
 * them from the matrix's host copy, on creation and in ts_preconditioner_update. As a preconditioner a
 * multigrid cycle is always symmetric, regardless of ts_multigrid_desc.symmetric, and supports one component.
 *
 * AMG also reads the host copy. The matrix's diagonal must be positive in all rows or, if it was created from
 * host arrays, negative in all rows. AMG is symmetric if the matrix is. Over several ranks the matrix must be
 * symmetric, and must still be so in an update (texsolve/amg.h).
 *
 * Chebyshev is a polynomial of the first kind in D^-1 A (Saad 2003, "Iterative methods for sparse linear
 * systems", 12.3). It maps eigenvalues of D^-1 A in [lambda / (1.5 degree^2 + 2), lambda] close to 1. lambda is
 * the largest eigenvalue, estimated on the device on creation and in ts_preconditioner_update, with one host
 * synchronisation. A solve needs about `degree` times fewer iterations with the same number of products, and
 * fewer sums and host synchronisations. The eigenvalues of D^-1 A must be positive. Chebyshev does not need a
 * host copy, works for stencils, and is symmetric if A is.
 *
 * ISAI reads the host copy and approximates the inverses of the triangular factors of A on the pattern of A.
 * M^-1 then takes two products (Kolotilina and Yeremin 1993, "Factorized sparse approximate inverse
 * preconditionings I"; Anzt, Huckle, Braeckle and Dongarra 2018, "Incomplete sparse approximate inverses for
 * parallel preconditioning"). It uses at most the 64 largest entries of a row. ISAI is for matrices that are
 * not symmetric, and for those on which Jacobi takes many iterations; diagonal entries may be missing. If A is
 * symmetric and positive definite, so is M. If the part of the matrix that belongs to a row is singular, it
 * gets a small shift.
 *
 * Direct factorises A on the host in double precision. A symmetric positive or negative definite A gets L D L^T
 * by LDL (Davis 2005, Algorithm 849). Any other A gets L U by KLU (Davis and Palamadai Natarajan 2010,
 * Algorithm 907). Both use a minimum degree ordering (Amestoy, Davis and Duff 2004, Algorithm 837). It is for
 * small matrices, and for matrices on which iterations fail: zeros on the diagonal, saddle points, large
 * condition numbers. Except for rounding M = A, so method auto is richardson and its precision auto is double:
 * one to three iterations refine x to the tolerance with residuals of the solver's precision. The values are
 * those that A stores; they are read back from the device if they are doubles or if the matrix lacks a host
 * copy. An application takes one host synchronisation. Direct needs the module texsolve-direct.so, which is
 * built if SuiteSparse is available. The library looks for it next to itself and in the installation directory;
 * the environment variable TEXSOLVE_DIRECT_MODULE selects another file.
 *
 * ILU is an incomplete factorisation of A (Saad 1994, "ILUT: a dual threshold incomplete LU factorization"),
 * from the host copy or from entries that it reads back. It drops entries of the factors below `drop_tolerance`
 * and keeps the largest of the others, within the limit of `fill`. It is for matrices that are not symmetric,
 * with any diagonal. M is never symmetric.
 *
 * - Scaling: TS_SCALING_MATCHING first permutes the rows and scales A. This maximises the product of the
 *   diagonal entries (Duff and Koster 2001, "On algorithms for permuting large entries to the diagonal of a
 *   sparse matrix"). A may be structurally singular; the log then names the rows. The default uses this scaling
 *   if the factors without it are far from A, measured by |M^-1 A x - x| for a random x, and those with it are
 *   closer.
 * - Pivots: columns are exchanged if that makes a pivot ten times larger. Pivots that are too small are
 *   replaced, so the factorisation never fails. With `levels` it is ILU(k), without exchanges.
 * - Set-up: on the host, with up to 8 threads. The factors have the same bits for any number of threads. L and
 *   U take 12 bytes of host memory per entry.
 * - Application on the host: M^-1 r is computed in double precision from r in single precision. On a device r
 *   is read and z written, with one host synchronisation. CUDA applies the factors on the device, without a
 *   synchronisation, if that is expected to be faster. Dependent rows then run one after the other, about 1 us
 *   each; ts_context_set_tuning changes "ilu_level_nanoseconds".
 * - Application with `sweeps`: products on the device approximate the triangular solves by a fixed polynomial
 *   (Anzt, Chow and Dongarra 2015, "Iterative sparse triangular solves for preconditioning"). Each sweep takes
 *   one product with L and one with U, and a solve needs more iterations.
 * - Ranks: each rank factorises the square part of its own rows.
 *
 * IC is the incomplete Cholesky factorisation (Jones and Plassmann 1995, "An improved incomplete Cholesky
 * factorization"), with the options and costs of ILU. A must be symmetric with a positive diagonal or, if it
 * was created from host arrays, with a negative one. A is scaled to a diagonal of ones. If a pivot is not
 * positive, the diagonal is shifted more and more until all pivots are positive (Manteuffel 1980, "An
 * incomplete factorization technique for positive definite linear systems"). M is therefore symmetric and
 * positive definite for every A, with `sweeps` too, and suits conjugate gradients and minres.
 *
 * Auto chooses AMG, ILU or Chebyshev with its defaults, or otherwise Jacobi, on creation, and keeps that
 * choice. It chooses none instead of Jacobi if the diagonal is missing or contains a 0. It never fails because
 * one of these kinds does not support the matrix. A solver with preconditioner_kind auto starts with this
 * choice, and may change from Jacobi or Chebyshev to AMG (ts_solver_get_stage).
 *
 * Auto chooses ILU for a matrix that is not symmetric, if
 *
 * - it has a host copy and is not a stencil. Such a matrix keeps the host copy by default if auto chooses ILU
 *   for it;
 * - it has at most 2^23 entries;
 * - its diagonal contains a 0, or not all rows are strongly dominant: the off-diagonal magnitudes of some row
 *   add up to more than 0.9 |a_ii|. Jacobi solves other matrices within about 30 iterations.
 *
 * Auto chooses AMG for a symmetric matrix, if
 *
 * - its diagonal is positive in all rows, or negative in all rows; it has a host copy, is not a stencil and
 *   does not have constrained rows. Such a matrix keeps the host copy by default if auto chooses AMG for it
 *   (ts_matrix_desc.keep_host_copy);
 * - it has at least 8192 rows, and |sum_j a_ij| <= a_ii / 512 in half of them: constants are almost in the null
 *   space;
 * - its graph diameter, in entries between two rows, is large enough: at least 190 on CPUs, 110 in shaders on a
 *   CPU, 320 with CUDA and 800 with OpenGL on a GPU. ts_context_set_tuning changes "amg_couplings". A grid of
 *   96 x 96 points with 4 neighbours each has diameter 190, one of 64 x 64 x 64 points with 6 neighbours 189.
 *   In space, where the rows within d entries of a row grow faster than d^2.5, the minimum is also the price of
 *   AMG in iterations of Jacobi, divided by 1.15. On CPUs, matrices with entries on few diagonals have quick
 *   products and a larger minimum: about 1200 for 7-point stencils and 980 for 5-point stencils;
 * - aggregation reduces it to a level that is solved exactly.
 *
 * Auto chooses Chebyshev for such a matrix on a CPU if its diameter is smaller than that, but at least 80, and
 * its entries lie on few diagonals, unless ts_matrix_desc.components is above 1. The CPU computes all steps of
 * Chebyshev in one sweep through such a matrix, so that A and the vectors stay in its caches between the steps.
 *
 * With jumping coefficients a quarter of these numbers is enough, and at most 64 is required for AMG, except on
 * CPUs in space if the entries lie on few diagonals. Coefficients jump if in an eighth of the rows the diagonal
 * entry is 1000 times that of the most weakly coupled neighbour. For a solver with rtol above 1e-5 the required
 * diameter is larger, twice as large at 1e-2.
 *
 * Auto also chooses AMG for some matrices that are not symmetric, in one process: those with more than 2^23
 * entries, and those for which ILU's factors fail. They must meet AMG's conditions on the diagonal, the number
 * of rows and the row sums.
 *
 * The choice takes a few milliseconds regardless of the matrix's size. It uses the values of a sample of 2048
 * rows. The diameter is estimated from how the number of rows grows with the distance from some of them, within
 * a factor of 1.5 for grids and meshes. If A consists of several large independent parts, they count as one.
 *
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_UNSUPPORTED (block Jacobi, ISAI, ILU, IC, AMG or direct for a
 * stencil; direct for the rows of ranks), TS_ERROR_LIMIT (direct: more entries than max_factor_entries; ILU:
 * 2^30 entries or more), TS_ERROR_UNAVAILABLE (direct: no module; the message says why), memory. Invalid
 * arguments are an invalid field, a matrix without a host copy, and:
 *
 * - block Jacobi: a singular block; the message names its first row;
 * - Chebyshev: a diagonal with a zero;
 * - IC, AMG: a diagonal that is not positive. IC: a matrix that is not symmetric;
 * - AMG: a matrix that is not symmetric over several ranks, in an update of a symmetric one, or with a
 *   Chebyshev smoother;
 * - direct: a matrix that is singular, or singular within rounding; the message names the row. */
TS_API ts_status ts_preconditioner_create(ts_matrix *matrix, const ts_preconditioner_desc *desc,
                                          ts_preconditioner **preconditioner);
TS_API void ts_preconditioner_destroy(ts_preconditioner **preconditioner);

/* Recomputes M from the matrix's present values, after ts_matrix_set_values. Block Jacobi, ISAI, ILU, IC,
 * Chebyshev, direct and AMG need it; for other kinds it does nothing. AMG keeps its aggregates and patterns.
 * Errors: as ts_preconditioner_create. After an error M is unchanged, except that some levels of AMG may
 * already have new values; a further update completes them.
 *
 * AMG's first update also records where the products of its levels' matrices are summed, which takes 0.4 to
 * 0.75 times as long as a set-up. Each later update takes about 0.3 times as long, or 0.25 times for
 * elasticity. The records take 4 to 30 bytes per entry of the matrix, on the host or, if a CUDA device made the
 * levels, there. Later updates on a CUDA device take 0.33 to 0.55 times as long as a set-up. Over several ranks
 * an update is a new set-up, with other aggregates; so it is if several devices made the levels. */
TS_API ts_status ts_preconditioner_update(ts_preconditioner *preconditioner);

/* z = M^-1 r. z must not be r. No host synchronisation, with three exceptions: direct, ILU and IC without
 * sweeps on the host, and an application's function that synchronises.
 * Errors: TS_ERROR_INVALID_ARGUMENT (z is r), TS_ERROR_INCOMPATIBLE (other spaces or components). */
TS_API ts_status ts_preconditioner_apply(ts_preconditioner *preconditioner, ts_vector *z, const ts_vector *r);

/* The kind and cost of a preconditioner. Solvers use these numbers to choose the interval between checks, and
 * to decide whether double precision is expensive compared with an application. */
typedef struct ts_preconditioner_info {
  ts_preconditioner_kind kind; /* the kind; for auto the chosen one */
  const char *choice; /* the kind that auto chose and why, in a few words; "" for other kinds. Lives as long as
                         the preconditioner */
  double products; /* work of one application, in products with A, by the entries read. custom: the value in the
                      descriptor; so is sums */
  double sums;     /* dot products of one application; only custom has any */
  double operations; /* approximate number of passes over vectors or matrices in one application, of any size;
                        each takes a few microseconds on a GPU */
  int symmetric;     /* 1 if conjugate gradients can use it with a symmetric A */
  double seconds_setup;   /* time of the last creation or update */
  size_t bytes_device;    /* device memory in addition to A's */
  const char *factors;    /* direct: "LDL^T" or "LU"; "" for other kinds */
  int64_t factor_entries; /* direct: entries of the factors; otherwise 0 */
  uint64_t reserved[6];
} ts_preconditioner_info;

/* Describes a preconditioner. */
TS_API ts_status ts_preconditioner_get_info(const ts_preconditioner *preconditioner,
                                            ts_preconditioner_info *info);

/* Returns the libraries that factorise matrices for TS_PRECONDITIONER_DIRECT, with versions: "KLU 1.3.8, LDL
 * 2.2.6, AMD 2.4.6". Returns NULL if the module is not available; ts_last_error(NULL) then says why. The text
 * stays valid. Any thread. */
TS_API const char *ts_direct_libraries(void);

#ifdef __cplusplus
}
#endif
#endif
