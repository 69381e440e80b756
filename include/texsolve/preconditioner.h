/* Preconditioners: a matrix M that is close to A and easy to invert. A solver applies z = M^-1 r once or twice
 * an iteration (texsolve/solver.h); every method takes every preconditioner.
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
 * Kinds without options of their own need no object: ts_solver_desc.preconditioner_kind names them.
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
  X(TS_PRECONDITIONER_AUTO, 0, "auto")                 /* amg, ilu or Jacobi, chosen for the matrix */         \
  X(TS_PRECONDITIONER_NONE, 1, "none")                 /* M = I */                                             \
  X(TS_PRECONDITIONER_JACOBI, 2, "jacobi")             /* M = diag(A) */                                       \
  X(TS_PRECONDITIONER_BLOCK_JACOBI, 3, "block-jacobi") /* M = the blocks on the diagonal of A */               \
  X(TS_PRECONDITIONER_CHEBYSHEV, 4, "chebyshev")       /* M^-1 = a polynomial in D^-1 A, D = diag(A) */        \
  X(TS_PRECONDITIONER_ISAI, 5, "isai")                 /* M^-1 = approximate inverses of A's factors */        \
  X(TS_PRECONDITIONER_AMG, 6, "amg")                   /* M^-1 = one cycle (texsolve/amg.h) */                 \
  X(TS_PRECONDITIONER_MULTIGRID, 7, "multigrid")       /* M^-1 = one symmetric cycle (texsolve/grid.h) */      \
  X(TS_PRECONDITIONER_CUSTOM, 8, "custom")             /* M^-1 = a function of the caller's */                 \
  X(TS_PRECONDITIONER_DIRECT, 9, "direct")             /* M = A, factored on the host */                       \
  X(TS_PRECONDITIONER_ILU, 10, "ilu")                  /* M = L U, incomplete factors of A */                  \
  X(TS_PRECONDITIONER_IC, 11, "ic")                    /* M = L L^T, the same of a symmetric A */

typedef enum ts_preconditioner_kind {
#define TS_PRECONDITIONER_ENUM(name, value, text) name = value,
  TS_PRECONDITIONER_LIST(TS_PRECONDITIONER_ENUM)
#undef TS_PRECONDITIONER_ENUM
} ts_preconditioner_kind;

/* A kind's text, NULL if there is no such kind; and the kind with a text, -1 if none. Any thread. */
TS_API const char *ts_preconditioner_kind_name(ts_preconditioner_kind kind);
TS_API int ts_preconditioner_kind_from_name(const char *name);

/* What incomplete factors do to a matrix first; results are those of the user's matrix whatever it is. */
#define TS_SCALING_LIST(X)                                                                                     \
  X(TS_SCALING_AUTO, 0, "auto")         /* the one of the two whose factors are nearer to A */                 \
  X(TS_SCALING_NONE, 1, "none")         /* rows and columns stay where they are */                             \
  X(TS_SCALING_MATCHING, 2, "matching") /* the diagonal gets the largest product, and is scaled to 1 */

typedef enum ts_scaling {
#define TS_SCALING_ENUM(name, value, text) name = value,
  TS_SCALING_LIST(TS_SCALING_ENUM)
#undef TS_SCALING_ENUM
} ts_scaling;

/* As ts_preconditioner_kind_name and ts_preconditioner_kind_from_name. */
TS_API const char *ts_scaling_name(ts_scaling scaling);
TS_API int ts_scaling_from_name(const char *name);

typedef struct ts_preconditioner ts_preconditioner;

/* Computes z = M^-1 r, by calls of the library (ts_matrix_multiply, ts_vector_axpby, ...), so that no host
 * synchronisation is needed. z and r are over the preconditioner's space and have the components of
 * the solve; r must stay as it is, and z may hold anything. A result other than TS_OK ends the solve and is
 * what ts_solver_solve returns; the message of the function that failed is kept. */
typedef ts_status (*ts_precondition_fn)(void *user, ts_vector *z, const ts_vector *r);

/* Fields that do not belong to the kind must be 0. */
typedef struct ts_preconditioner_desc {
  ts_preconditioner_kind kind; /* default: TS_PRECONDITIONER_AUTO */
  int block_size;              /* block Jacobi: rows of a block, 2 to 16. Default: 4, and in the formats bcrs2
                                  and bcrs4 2 and 4, the only size that they take */
  struct ts_multigrid *multigrid; /* multigrid: must outlive the preconditioner and what uses it */
  const struct ts_amg_desc *amg;  /* amg: how (texsolve/amg.h); NULL: the defaults */
  int degree;                     /* chebyshev: terms of M^-1, 1 to 16, one more than products with A.
                                     Default: 4 */
  int levels; /* ilu, ic: which entries the factors have, instead of fill and drop_tolerance: -1: those of
                 A, which is ILU(0); k, up to 100: those of k levels of fill too, ILU(k). Default: by
                 size */
  ts_precondition_fn apply;  /* custom */
  void *user;                /* custom: the first argument of `apply` */
  int symmetric;             /* custom: 1 if M is symmetric and positive definite, which conjugate
                                gradients ask for */
  double products, sums;     /* custom: what `apply` costs, as in ts_preconditioner_info. Default: 0 */
  double max_factor_entries; /* direct: the most entries that the factors may have, as an analysis of the
                                pattern predicts before any of them is computed; 12 bytes each.
                                Default: 1e8 */
  double fill; /* ilu, ic: entries of L and U together over those of A, 1 to 1000, at most. Default: see
                  drop_tolerance */
  double drop_tolerance; /* ilu, ic: a factor's entries below this, times the mean magnitude of the row, are
                            dropped; below 1; -1: none are. Default of ic: 1e-2, with fill 10; of ilu: 1e-4. If
                            both are 0 and ilu's factors with fill 10 and 1e-4 turn out to be far from A they
                            have 30 and 1e-6 */
  ts_scaling scaling;    /* ilu: default: TS_SCALING_AUTO */
  int sweeps; /* ilu, ic: 0, the default: triangular systems are solved exactly, on the host; 1 to 32: by
                 so many Jacobi sweeps each, on the device */
  uint64_t reserved[3]; /* 0 */
} ts_preconditioner_desc;

/* Creates a preconditioner for a square matrix with one space for rows and columns, and keeps the matrix alive.
 * For multigrid `matrix` may be NULL: the stencil of the hierarchy. `desc` may be NULL.
 *
 * Jacobi and multigrid follow the matrix's values (multigrid after ts_multigrid_update). Block Jacobi reads
 * them from the matrix's host copy, here and in ts_preconditioner_update. A multigrid cycle used as M is
 * symmetric, whatever ts_multigrid_desc.symmetric says, and takes one component.
 *
 * AMG reads the host copy too, of a matrix whose diagonal is all positive or, from arrays on the host, all
 * negative. It is symmetric if the matrix is; over several ranks it has to be, and an update keeps it so
 * (texsolve/amg.h).
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
 * definite M is too. A row whose part of the matrix is singular gets that part with a small shift.
 *
 * Direct computes the factors of A on the host in double precision. A symmetric positive or negative definite A
 * gets L D L^T by LDL (Davis 2005, Algorithm 849), any other L U by KLU (Davis and Palamadai Natarajan 2010,
 * Algorithm 907), both in an order of minimum degree (Amestoy, Davis and Duff 2004, Algorithm 837). It is for
 * matrices that are small or that no iteration solves: zeros on the diagonal, saddle points, large condition
 * numbers. M = A but for rounding, so method auto is richardson and its precision auto is double: x is refined
 * to the tolerance in one to three iterations, by residuals of the solver's precision. Values are those that A
 * stores, which it reads back from the device if they are doubles or there is no host copy. An application has
 * one host synchronisation. Factors need the module texsolve-direct.so, which is built if SuiteSparse is there.
 * It is looked for beside the library and where it was installed; the environment variable
 * TEXSOLVE_DIRECT_MODULE names another file.
 *
 * ILU factorises A incompletely (Saad 1994, "ILUT: a dual threshold incomplete LU factorization"), from the
 * host copy or from entries that it reads back: small entries of the factors are dropped, by `drop_tolerance`,
 * and the largest of the others are kept, as many as `fill` allows. It is for matrices that are not symmetric,
 * with any diagonal, and never symmetric itself. Before, with TS_SCALING_MATCHING, rows are permuted and A is
 * scaled so that the product of the diagonal's entries is the largest there is (Duff and Koster 2001, "On
 * algorithms for permuting large entries to the diagonal of a sparse matrix"); A may be structurally singular,
 * which the log says, with the rows. By default this is done if factors without it are far from A, by |M^-1 A x
 * - x| of a random x, and those with it are nearer. Columns are exchanged where that makes pivots ten times as
 * large; pivots that are too small are replaced, and no matrix is an error. With `levels` it is ILU(k), without
 * exchanges. The set-up is on the host, by up to 8 threads; factors are the same bits with any number of them.
 * L and U take 12 bytes an entry of host memory. M^-1 r is computed on the host in double precision from r in
 * single precision: on a device r is read and z written, with one host synchronisation. CUDA computes the same
 * on the device, without a synchronisation, if it expects to be quicker there: rows that need each other follow
 * one another, about 1 us each, and ts_context_set_tuning changes "ilu_level_nanoseconds". With `sweeps` it is
 * computed on the device by products (Anzt, Chow and Dongarra 2015, "Iterative sparse triangular solves for
 * preconditioning"), as a fixed polynomial: each sweep takes one product with L and one with U, and a solve
 * more iterations. Ranks factorise the square parts of their rows, each by itself.
 *
 * IC is the same for a symmetric A with a positive diagonal, or with a negative one from arrays on the host:
 * incomplete Cholesky factors (Jones and Plassmann 1995, "An improved incomplete Cholesky factorization"). A is
 * scaled to a diagonal of ones. If a pivot is not positive the diagonal gets a shift, which grows until all
 * pivots are (Manteuffel 1980, "An incomplete factorization technique for positive definite linear systems").
 * So M is symmetric and positive definite whatever A is, with `sweeps` too: it is for conjugate gradients and
 * minres.
 *
 * Auto becomes AMG or ILU with its defaults, or else Jacobi, when it is created, and stays that. Instead of
 * Jacobi it becomes none if A has no diagonal, or a 0 on it. It never fails for a matrix that one of them does
 * not take. A solver whose preconditioner_kind is auto begins with this choice, and may change from Jacobi to
 * AMG (ts_solver_get_stage).
 *
 * ILU is for a matrix
 * - that is not symmetric, with a host copy and no stencil. A matrix keeps the host copy by default if ILU is
 *   for it;
 * - with at most 2^23 entries;
 * - that has a 0 on the diagonal, or rows that are not strongly dominant, with |a_ii| less than twice the sum
 *   of the row's other magnitudes. Jacobi solves others within about 30 iterations.
 *
 * AMG is for a matrix
 * - that is symmetric and positive on the diagonal, or all negative, with a host copy, no stencil and without
 * constrained rows. A matrix keeps the host copy by default if AMG is for it (ts_matrix_desc.keep_host_copy);
 * - with at least 8192 rows, for half of which |sum_j a_ij| <= a_ii / 512: constants are almost in the null
 *   space;
 * - that is many couplings across: so many entries lie on the way from some row to another. At least 190 on
 *   CPUs, 110 in shaders on a CPU, 320 with CUDA and 800 with OpenGL on a GPU; ts_context_set_tuning changes
 *   "amg_couplings". A grid of 96 x 96 points with couplings to 4 neighbours is 190 across, one of 64 x 64 x
 *   64 points with 6 is 189. A quarter of that, and 64 at most, is enough where coefficients jump: where an
 *   eighth of the rows have 1000 times as much on the diagonal as the neighbour that they are least coupled
 *   with. For a solver with rtol above 1e-5 the numbers are larger, twice as large at 1e-2;
 * - which aggregation brings to a level that is solved exactly.
 *
 * The choice takes a few ms, whatever the size: values are those of a sample of 2048 rows, and how many
 * couplings A is across is estimated from how the number of rows grows with the distance from some of them,
 * within a factor of 1.5 for grids and meshes. Where A falls into several large parts they count as one.
 *
 * Errors: TS_ERROR_INVALID_ARGUMENT (a field and its value; a block that is singular: its first row is named;
 * no host copy; Chebyshev of a diagonal with a zero; IC of a matrix that is not symmetric, AMG or IC of one
 * that is not positive on the diagonal, AMG of one that is not symmetric over several ranks, in an update of a
 * symmetric one, or with a Chebyshev smoother; direct of a matrix that is singular, also but for rounding: the
 * row is named), TS_ERROR_UNSUPPORTED (block Jacobi, ISAI, ILU, IC, AMG or direct of a stencil, direct of the
 * rows of ranks), TS_ERROR_LIMIT (direct: more entries than max_factor_entries; ILU: of 2^30 entries),
 * TS_ERROR_UNAVAILABLE (direct: no module, and why), memory. */
TS_API ts_status ts_preconditioner_create(ts_matrix *matrix, const ts_preconditioner_desc *desc,
                                          ts_preconditioner **preconditioner);
TS_API void ts_preconditioner_destroy(ts_preconditioner **preconditioner);

/* Computes M from the matrix's present values, after ts_matrix_set_values. Block Jacobi, ISAI, ILU, IC,
 * Chebyshev, direct, and AMG, which keeps its aggregates and patterns, need it; others do nothing. Errors as
 * above; then M is as it was, except that levels of AMG may have new values already: a further update completes
 * them.
 *
 * AMG's first update also notes where the products of its levels' matrices are added up, which takes 0.4 to
 * 0.75 times the time of a set-up. Each later one takes about 0.3 times, of elasticity 0.25. The notes are
 * kept: 4 to 30 bytes per entry of the matrix, on the host. A set-up on a CUDA device keeps none, and each
 * update takes about 0.6 times. Over several ranks an update is a new set-up. */
TS_API ts_status ts_preconditioner_update(ts_preconditioner *preconditioner);

/* z = M^-1 r. z is not r. No host synchronisation but for direct and, on the host, for ILU and IC without
 * sweeps, and unless the caller's function has one. Errors: TS_ERROR_INVALID_ARGUMENT (z is r),
 * TS_ERROR_INCOMPATIBLE (other spaces or components). */
TS_API ts_status ts_preconditioner_apply(ts_preconditioner *preconditioner, ts_vector *z, const ts_vector *r);

/* What a preconditioner is and costs. Solvers go by these numbers, whatever the kind: they choose the distance
 * of checks, and whether double precision matters beside an application. */
typedef struct ts_preconditioner_info {
  ts_preconditioner_kind kind; /* of auto what it has become */
  const char *choice; /* which kind auto has become and why, in a few words; "" for other kinds. Lives as long
                         as the preconditioner */
  double products;    /* work of one application: that of this many products with A, by entries read. Of custom
                         what the descriptor says; so are sums */
  double sums;        /* dot products of one application; only custom has any */
  double operations;  /* passes over vectors or matrices of one application, of any size, about: a few
                         microseconds each on a GPU */
  int symmetric;      /* conjugate gradients may use it with a symmetric A */
  double seconds_setup;   /* of the last creation or update */
  size_t bytes_device;    /* beside A */
  const char *factors;    /* direct: "LDL^T" or "LU"; "" for other kinds */
  int64_t factor_entries; /* direct: entries of the factors; else 0 */
  uint64_t reserved[6];
} ts_preconditioner_info;

/* Describes a preconditioner. */
TS_API ts_status ts_preconditioner_get_info(const ts_preconditioner *preconditioner,
                                            ts_preconditioner_info *info);

/* The libraries that factor matrices for TS_PRECONDITIONER_DIRECT, with their versions: "KLU 1.3.8, LDL 2.2.6,
 * AMD 2.4.6". NULL if there is no module for it; ts_last_error(NULL) then says why. The text stays valid. Any
 * thread. */
TS_API const char *ts_direct_libraries(void);

#ifdef __cplusplus
}
#endif
#endif
