/* Iterative solvers for A x = b, and for least squares, min ||A x - b||. A is a matrix; b and x are vectors
 * over its rows and columns:
 *
 *   ts_solver_desc desc = {.method = TS_METHOD_CG, .rtol = 1e-10};
 *   ts_result result;
 *   ts_solver *solver;
 *   ts_solver_create(A, &desc, &solver);     // once
 *   ts_solver_solve(solver, b, x, &result);  // as often as b or the values of A change
 *   printf("%s, %d iterations, residual %.1e\n", ts_reason_text(result.reason), result.iterations,
 *          result.relative_residual);
 *   ts_solver_destroy(&solver);
 *
 * ts_solver_solve_arrays() takes arrays instead of vectors. ts_solve() does all this in one call, with arrays.
 * The methods:
 *
 *   cg         Hestenes and Stiefel 1952. For symmetric positive definite matrices, and for negative definite
 *              ones whose arrays are on the host. Variant with one reduction per iteration: Meurant 1987.
 *   bicgstab   van der Vorst 1992, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution
 *              of nonsymmetric linear systems". Two products per iteration, a fixed number of vectors.
 *   idr        Sonneveld and van Gijzen 2008, "IDR(s): a family of simple and fast algorithms for solving
 *              large nonsymmetric systems of linear equations", with s = 8, in the bi-orthogonal variant of
 *              2011. One product per iteration, usually fewer products in total than bicgstab, and 26 vectors
 *              of workspace. It solves nearly skew-symmetric systems on which bicgstab breaks down, and
 *              computes in double precision.
 *   gmres      Saad and Schultz 1986, "GMRES: a generalized minimal residual algorithm for solving
 *              nonsymmetric linear systems", restarted after `restart` iterations. One product per iteration.
 *              It minimises the residual over the cycle's Krylov space, and stores and orthogonalises against
 *              restart + 1 vectors.
 *   cgls       Hestenes and Stiefel 1952: conjugate gradients on A^T A x = A^T b without forming A^T A, as
 *              stable as LSQR (Paige and Saunders 1982). Any number of rows and columns.
 *   minres     Paige and Saunders 1975, "Solution of sparse indefinite systems of linear equations". For
 *              symmetric matrices that may be indefinite or singular: a short recurrence minimises the
 *              residual over the Krylov space. The preconditioner must be symmetric positive definite. Jacobi
 *              uses |a_ii|; if a_ii is 0 it uses sum_j a_ij^2 / |a_jj|, the diagonal of the Schur complement.
 *   lsmr       Fong and Saunders 2011, "LSMR: an iterative algorithm for sparse least-squares problems":
 *              minres on A^T A x = A^T b, as cgls is cg on it. ||A^T r|| decreases in every iteration, and
 *              hard problems need fewer iterations than with cgls.
 *   richardson Richardson 1910: x = x + M^-1 (b - A x), a preconditioner as a standalone iteration, such as
 *              multigrid or Jacobi's method. It converges if all eigenvalues of I - M^-1 A are inside the unit
 *              circle, and computes the residual in every iteration.
 *
 * All methods run on every backend and solve for up to four components at once, each with its own coefficients.
 * Scalars stay on the device: only a check synchronises with the host. bicgstab, idr and gmres use right
 * preconditioning, so they check the residual of the system itself. minres and lsmr minimise the residual in
 * the norm of M^-1: they predict the system's residual from it and verify the prediction.
 *
 * Threads, version, errors and ownership are as in texsolve.h. */
#ifndef TEXSOLVE_SOLVER_H
#define TEXSOLVE_SOLVER_H

#include <texsolve/preconditioner.h>
#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The method of solution. Name, value, text. */
#define TS_METHOD_LIST(X)                                                                                      \
  X(TS_METHOD_AUTO, 0,                                                                                         \
    "auto") /* lsmr if the matrix is not square; cg if it is symmetric with a positive diagonal, otherwise     \
               minres; if it is not symmetric bicgstab, or idr with ilu; richardson with direct */             \
  X(TS_METHOD_CG, 1, "cg")                 /* conjugate gradients */                                           \
  X(TS_METHOD_BICGSTAB, 2, "bicgstab")     /* stabilised bi-conjugate gradients */                             \
  X(TS_METHOD_GMRES, 3, "gmres")           /* generalised minimal residual, restarted */                       \
  X(TS_METHOD_CGLS, 4, "cgls")             /* conjugate gradients for least squares */                         \
  X(TS_METHOD_RICHARDSON, 5, "richardson") /* x = x + M^-1 (b - A x): standalone preconditioner */             \
  X(TS_METHOD_MINRES, 6, "minres")         /* minimal residual for symmetric matrices */                       \
  X(TS_METHOD_LSMR, 7, "lsmr")             /* minimal ||A^T r|| for least squares */                           \
  X(TS_METHOD_IDR, 8, "idr")               /* induced dimension reduction, IDR(8) */

typedef enum ts_method {
#define TS_METHOD_ENUM(name, value, text) name = value,
  TS_METHOD_LIST(TS_METHOD_ENUM)
#undef TS_METHOD_ENUM
} ts_method;

/* Return a method's text, or NULL for other values; and the method with that text, or -1. Any thread. */
TS_API const char *ts_method_name(ts_method method);
TS_API int ts_method_from_name(const char *name);

/* The quantity that `rtol` and `atol` bound. */
typedef enum ts_stop {
  TS_STOP_RESIDUAL = 0, /* ||b - A x|| <= max(rtol ||b||, atol), with b - A x computed from x on the device.
                           cgls, lsmr: ||A^T (b - A x)|| <= max(rtol ||A^T b||, atol) */
  TS_STOP_DELTA = 1 /* cg: delta <= rtol^2 delta_0 with delta = r^T M^-1 r (Buatois et al. 2008, section 1.2),
                       provided that the computed b - A x agrees */
} ts_stop;

/* Why a solve ended. Name, value, text. The first three are success. */
#define TS_REASON_LIST(X)                                                                                      \
  X(TS_REASON_CONVERGED, 0, "converged")                                                                       \
  X(TS_REASON_ZERO_RESIDUAL, 1, "the starting value already solves the system")                                \
  X(TS_REASON_FIXED_ITERATIONS, 2, "the fixed number of iterations was done")                                  \
  X(TS_REASON_MAX_ITERATIONS, 3, "the maximum number of iterations was reached")                               \
  X(TS_REASON_STAGNATED, 4, "stagnated: the residual is at the limit of the precision")                        \
  X(TS_REASON_DIVERGED, 5, "diverged: the residual grows")                                                     \
  X(TS_REASON_INDEFINITE, 6, "the matrix is not positive definite")                                            \
  X(TS_REASON_NOT_SYMMETRIC, 7, "the matrix is not symmetric")                                                 \
  X(TS_REASON_ZERO_DIAGONAL, 8, "the Jacobi preconditioner needs a diagonal without zeros")                    \
  X(TS_REASON_NAN_INPUT, 9, "the values, the right-hand side or the starting value hold a NaN or an infinity") \
  X(TS_REASON_BREAKDOWN, 10, "breakdown: a number left the range of floats")                                   \
  X(TS_REASON_STOPPED, 11, "stopped by a callback")                                                            \
  X(TS_REASON_INCOMPATIBLE, 12, "the matrix is singular and the right-hand side has a part that no x reaches") \
  X(TS_REASON_CYCLING, 13, "cycling: the iterates repeat")

typedef enum ts_reason {
#define TS_REASON_ENUM(name, value, text) name = value,
  TS_REASON_LIST(TS_REASON_ENUM)
#undef TS_REASON_ENUM
} ts_reason;

/* Returns a reason's text; "unknown reason" for other values. Any thread. */
TS_API const char *ts_reason_text(ts_reason reason);

/* The state of a solve at a check. */
typedef struct ts_progress {
  int iteration; /* iterations done; cycles of multigrid, sweeps of a complementarity problem */
  int count;     /* number of values in `history` */
  /* One value per iteration since the last call, the maximum over the components; history[0] belongs to
   * iteration `iteration - count + 1`. The values are those of the recurrence: sqrt(delta / delta_0) for cg,
   * ||r|| / ||b|| for bicgstab, idr and gmres, ||A^T r|| / ||A^T b|| for cgls. minres and lsmr predict ||r|| /
   * ||b|| and ||A^T r|| / ||A^T b||. Valid during the call. */
  const double *history;
  double relative_residual; /* ||r|| / ||b|| from the recurrence at this check; NaN for cg with TS_STOP_DELTA */
  uint64_t reserved[4];
} ts_progress;

/* Called after every check, on the calling thread. A nonzero result stops the solve. In an OpenGL application
 * the state is the application's own, so the function may draw. */
typedef int (*ts_progress_fn)(const ts_progress *progress, void *user);

/* Null vectors of a symmetric matrix: vectors v with A v = 0, such as constants with Neumann conditions, or the
 * rigid-body motions of a free body. The solver removes their part from b, since no x reaches it, and from x,
 * since A does not see it. Constant null vectors are detected automatically, unless fixed_iterations is set or
 * the precision is single. */
typedef struct ts_null_space_desc {
  int count;        /* 1 to 8 */
  ts_array vectors; /* unknowns x count floats or doubles, row by row. The vectors need not be normalised; the
                       solver copies them */
  uint64_t reserved[4]; /* 0 */
} ts_null_space_desc;

/* Fields that do not belong to the method must be 0. */
typedef struct ts_solver_desc {
  ts_method method;      /* default: TS_METHOD_AUTO */
  ts_matrix *transposed; /* cgls, lsmr: A^T over the same two spaces. Default: made from the matrix */
  /* Created from the matrix and updated with its values: auto (default), none, Jacobi, block Jacobi, chebyshev,
   * isai, ilu, ic, amg or direct. cgls and lsmr accept auto, none and Jacobi. With cgls, lsmr, minres and
   * fixed_iterations, and with cg if the matrix is not symmetric, auto is Jacobi, or none if the diagonal is
   * missing or contains a 0. */
  ts_preconditioner_kind preconditioner_kind;
  ts_preconditioner *preconditioner; /* a preconditioner object; the kind must then be auto. Default: NULL */
  ts_precision precision;            /* precision of the computation, see ts_solver_solve. Default: auto; with
                                        fixed_iterations single, for idr double */
  ts_stop stop;                      /* default: TS_STOP_RESIDUAL */
  double rtol;                       /* below 1; a negative value means 0. Default: 1e-5 */
  double atol;                       /* default: 0 */
  int max_iterations;                /* default: 10 times the unknowns, at least 1000 and at most 100000 */
  /* Exact iteration count, for a fixed cost per frame: the solver does not test for convergence and, except
   * with idr, gmres, minres and lsmr, does not synchronise with the host. stop, rtol, atol, max_iterations,
   * check_interval and progress must be 0. Default: 0, iterate until the stopping rule is met. */
  int fixed_iterations;
  /* Iterations between two checks, 1 to 1024. Only a check synchronises with the host, and a solve can only end
   * at a check. Methods other than cg start with a check in every iteration and double the interval up to this
   * value. idr also waits once every 9 iterations, and rounds a larger interval to a multiple of 9. gmres also
   * checks at the end of a cycle; minres and lsmr check at least every 8 iterations. Default: the backend's,
   * shorter for an expensive preconditioner. */
  int check_interval;
  int zero_start; /* 1: start from x = 0 and ignore the contents of x, which saves a product. Constrained
                     unknowns also become 0. Default: 0, start from the values in x */
  int reductions; /* cg: reductions per iteration: 2 (Hestenes and Stiefel 1952), or 1, which sums one more
                     product but needs three dependent passes instead of five (Meurant 1987). Default: 1 for
                     small systems on a GPU, otherwise 2 */
  int restart; /* gmres: cycle length, 1 to 200, limited by the number of unknowns. Default: 30, doubled up to
                  200 after each cycle that leaves more than half of the residual */
  ts_progress_fn progress; /* default: none */
  void *progress_user;
  const ts_null_space_desc *null_space; /* null vectors of a symmetric matrix without constrained rows, in one
                                           process; not with cgls and lsmr. Default: NULL */
  int keep_history;     /* 1: keep the numbers of every iteration for ts_solver_get_history. Default: 0 */
  uint64_t reserved[6]; /* 0 */
} ts_solver_desc;

/* The outcome of a solve. */
typedef struct ts_result {
  ts_reason reason;
  ts_method method;            /* the method used */
  int iterations;              /* iterations that contributed to x; cycles of multigrid */
  ts_precision precision;      /* precision at the end: single, mixed or double */
  int precision_iterations[4]; /* iterations done in each precision, indexed by ts_precision */
  int restarts;                /* restarts from x and b - A x */
  int host_synchronisations;   /* times the host waited for the device */
  /* ||b - A x|| / ||b||, or for cgls and lsmr ||A^T (b - A x)|| / ||A^T b||, computed from x on the device at
   * the end; maximum over the components. If b is 0 it is relative to the contribution of the constrained
   * unknowns. NaN if it was not computed. */
  double relative_residual;
  double attainable_residual; /* estimate of the smallest relative residual that the precision can reach,
                                 limited by the rounding of x: ||diag(A) x|| / ||b|| times 2^-23 in single
                                 precision, 2^-52 in mixed and double. NaN if unknown */
  /* The method's own measure at the end, relative to the start: sqrt(delta / delta_0) for cg; ||b - A x|| for
   * bicgstab, idr, gmres and minres; maximum over the components. For cgls and lsmr ||b - A x|| / ||b||, the
   * part of b that the best x does not fit, which need not be small. */
  double reduction;
  double factor; /* multigrid: mean factor by which the last 5 cycles reduced the residual, per cycle */
  double rounded_residual; /* relative residual of x as stored in its vector; larger than relative_residual if
                              the vector rounds x to floats */
  double incompatible; /* ||the part of b that no x reaches|| / ||b||, if a null space of A is known, or if cg,
                          minres or multigrid finds one */
  char message[160];   /* the reason in one line, with the row, column or number concerned */
  int restart;         /* gmres: the cycle length at the end; otherwise 0 */
  uint64_t reserved[7];
} ts_result;

typedef struct ts_solver ts_solver;

/* Creates a solver, which keeps its workspace between solves. It keeps the matrix and the preconditioner alive,
 * and uses the new values after ts_matrix_set_values. `desc` may be NULL.
 *
 * The matrix must be square with one space for rows and columns, except for cgls and lsmr. These also multiply
 * by A^T: by that of ts_matrix_multiply_transposed, or by `transposed`, a matrix A^T with
 * ts_matrix_get_column_space(A) as row_space and ts_matrix_get_row_space(A) as column_space. Their Jacobi
 * preconditioner is M = diag(A^T A), which is not available for an operator. Any other preconditioner must
 * approximate A^T A and be over the column space.
 *
 * Errors: TS_ERROR_INVALID_ARGUMENT (an invalid field, a field of another method, a matrix that is not square,
 * constrained rows with cgls or lsmr), TS_ERROR_INCOMPATIBLE (a preconditioner or `transposed` over other
 * spaces), TS_ERROR_UNSUPPORTED (one reduction on a backend that supports only two, or with a preconditioner
 * that is not diagonal), memory. */
TS_API ts_status ts_solver_create(ts_matrix *matrix, const ts_solver_desc *desc, ts_solver **solver);
TS_API void ts_solver_destroy(ts_solver **solver);

/* Returns the solver's preconditioner, given or created, for ts_preconditioner_get_info and
 * ts_preconditioner_get_amg_info. If auto ran in stages it is that of the last stage of the last solve. It
 * lives as long as the solver. NULL if `solver` is NULL. Any thread. */
TS_API const ts_preconditioner *ts_solver_get_preconditioner(const ts_solver *solver);

/* One stage of method auto.
 *
 * If its first choice does not solve the system, auto continues with other methods, called stages. Each stage
 * starts from the x that the previous one reached:
 *
 * - minres, if cg finds that the matrix is not positive definite;
 * - gmres with ilu, after bicgstab, idr or minres;
 * - gmres without ilu, if the matrix is not symmetric;
 * - the factors of the matrix (TS_PRECONDITIONER_DIRECT), if their module is available and they have at most
 *   1e8 entries;
 * - lsmr, if the matrix turns out to be singular. It starts from 0 and finds the shortest x with the smallest
 *   residual.
 *
 * Auto runs in stages if the descriptor does not set a method, a preconditioner, `transposed`, fixed_iterations
 * or TS_STOP_DELTA. All stages share max_iterations. A stage is left early if direct factors are expected to
 * take no longer than the stage already has, or after half of max_iterations. It is not left if its pace shows
 * that it will converge soon. The solver counts operations instead of seconds, so the same system runs through
 * the same stages. The solver's next solve starts with the stage that solved this one. On several ranks only
 * amg and minres can follow the first choice.
 *
 * Before all other stages, cg can change from Jacobi to AMG, also if the caller requested method cg. It changes
 * if AMG is expected to take less time than Jacobi still needs:
 *
 * - Jacobi's remaining iterations are estimated from the condition number of M^-1 A, which the coefficients of
 *   cg show, and from the pace of the last half of the iterations. The smaller estimate counts.
 * - The cost of AMG, set-up and cycles, is converted into a number of iterations by the entries and rows of A.
 *   ts_context_set_tuning changes "amg_nanoseconds", "amg_entry_nanoseconds" and "amg_row_nanoseconds", and for
 *   an iteration "iteration_nanoseconds", "entry_nanoseconds" and "row_nanoseconds".
 * - The solver does not read a clock. A solve changes in the same iteration each time and on all ranks, usually
 *   within a fifth of AMG's cost.
 * - The solver's next solve starts with AMG. It also starts with AMG once its solves with Jacobi have together
 *   lost more time than the set-up takes, while the matrix's values are the same.
 * - The matrix needs at least 2000 rows, and its rows must not be groups of one pattern, as those of several
 *   unknowns per node are. It also needs a host copy, or entries that can be read back: those of a matrix of
 *   one process, created from host arrays, with keep_host_copy not -1. It has a host copy afterwards. */
typedef struct ts_stage_info {
  ts_method method;
  ts_preconditioner_kind preconditioner;
  const char *choice; /* why auto chose this preconditioner; "" if it was requested */
  int iterations;
  double relative_residual; /* as in ts_result, at the end of the stage */
  ts_reason reason;         /* TS_REASON_STOPPED also if the stage was left early */
  const char *message;
  uint64_t reserved[4];
} ts_stage_info;

/* Return the number of stages of the solver's last solve, and stage `stage`, from 0, in the order in which they
 * ran. The number is 0 if auto could not continue with other stages, or if the solver has not solved yet. Texts
 * are valid until the next solve. Any thread, but not during a solve.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a stage out of range, NULL). */
TS_API int ts_solver_get_stage_count(const ts_solver *solver);
TS_API ts_status ts_solver_get_stage(const ts_solver *solver, int stage, ts_stage_info *info);

/* Returns what the progress callback got during the last solve, without a callback: ts_progress.history of all
 * checks and stages, `count` numbers, borrowed until the next solve. NULL and 0 without keep_history and before
 * the first check. If the host runs out of memory the last numbers are left out. Any thread, but not during a
 * solve. */
TS_API const double *ts_solver_get_history(const ts_solver *solver, int *count);

/* Solves A x = b for every component at once, each with its own step lengths. It starts from the values in x (0
 * in a new vector) or, with zero_start, from 0. b is over the row space and x over the column space.
 * Constrained unknowns keep their values; with zero_start they become 0. If A does not have full rank, cgls and
 * lsmr started from 0 find the shortest solution (with Jacobi: in the norm of M). The host synchronises only at
 * checks. `result` may be NULL.
 *
 * Returns TS_OK if the residual computed from x meets the rule of ts_solver_desc.stop for every component, or
 * after fixed_iterations, without a test. Returns TS_NOT_CONVERGED otherwise, with the reason in `result` and
 * ts_last_error. x then contains the last iterate or, after a failure, the iterate with the smallest computed
 * residual; with bicgstab, idr, gmres, minres, cgls and lsmr it is always the latter. After an error x is
 * undefined, except that an invalid argument leaves it unchanged.
 * Errors: TS_ERROR_INVALID_ARGUMENT (b is x), TS_ERROR_INCOMPATIBLE (b or x over other spaces, or with
 * different components), TS_ERROR_UNSUPPORTED (precision mixed or double on a backend without exact
 * arithmetic), memory.
 *
 * Precision:
 *
 * - single: all arithmetic is in floats, and the rounding of x limits the residual.
 * - mixed: iterations compute in floats, but x and b are doubles. Whenever the residual has fallen by a certain
 *   factor, b - A x is computed from x to about 48 bits (reliable updates: Sleijpen and van der Vorst 1996;
 *   Clark et al. 2010; Strzodka and Goeddeke 2006; Cevahir et al. 2009, section 2.2). cg, bicgstab and idr then
 *   continue with their directions, gmres starts a cycle and cgls a phase. minres and lsmr continue if their
 *   recurrence agrees, and otherwise restart.
 * - double: iterations compute with about 48 bits (pairs of floats in fragment shaders, fp64 elsewhere), and b
 *   - A x with more.
 * - auto: starts in single. It changes to mixed if the rule needs it, and to double if mixed stagnates or
 *   would, at its pace, exceed max_iterations. Each precision starts from the x of the one before, and memory
 *   and workspace grow only then. idr starts in double because single would take up to three times the
 *   iterations. cg also starts in double if its preconditioner costs 3.5 products or more
 *   (ts_preconditioner_info), as cycles of amg and multigrid do: the rest of the iteration is then cheap in
 *   comparison.
 *
 * A backend without exact arithmetic (ts_gl_info.exact_sums) supports only single.
 *
 * The stopping rule applies to x as ts_vector_read reads it into doubles. If no vector of doubles meets it, the
 * reason is TS_REASON_STAGNATED. A vector receives a rounded solution if it was created with
 * TS_PRECISION_SINGLE, or if the application has its texture or pointer. The rule then applies before rounding,
 * ts_result.rounded_residual describes the rounded vector, and the message reports a rounded x that misses the
 * rule. b - A x uses all digits of A and of a b in double precision, even in single precision.
 *
 * Scale: A, b and x may have any scale that doubles can represent (ts_csr, ts_vector_write). If x's vector
 * cannot hold the solution, the reason is TS_REASON_BREAKDOWN. An x that would overflow keeps its values, or is
 * 0 with zero_start; an x that would underflow keeps the digits that remain. x never becomes NaN or infinite.
 * If cg or richardson fails, x is the iterate with the smallest measured residual, or the start if no other is
 * finite. If A x of the start exceeds any scale of b, the solve starts from 0. Some devices flush numbers below
 * 1.18e-38 to 0, which limits vectors in single precision. fixed_iterations skips all of these tests.
 *
 * If b is 0, x becomes 0 regardless of the start; constrained unknowns keep their values. If those are not 0,
 * the rule is relative to their contribution, ||A x|| with all other unknowns 0.
 *
 * If A is singular and symmetric, b may have a part in the null space, which no x reaches. cg and minres find
 * that part in double precision, to which auto changes, and solve the rest. The final residual is then the
 * smallest possible one, up to rtol ||b||, and the reason is TS_REASON_INCOMPATIBLE. With multigrid as a
 * preconditioner the part is known from the start. Other methods end at the best x without converging.
 *
 * bicgstab and idr break down if a divisor becomes 0 or consists of rounding errors only. They then restart
 * from the best x, as they do after many iterations without a better residual. If that does not help, they
 * restart with other shadow vectors. After four restarts in a row without progress the solve ends with
 * TS_REASON_BREAKDOWN. The first shadow vectors are random but always the same. After the residual has fallen
 * by a factor of 1000 from a peak, it is recomputed from x.
 *
 * Restarted gmres may stagnate when full gmres would not. With the default restart it doubles its cycle after
 * one that was too short. The limit is 200 iterations, or fewer if the vectors would take more than a quarter
 * of the memory. The memory is that of the device or ts_context_desc.max_device_bytes, whichever is less; if
 * both are unknown the vectors take at most 256 MiB. x is kept, ts_result.restart reports the final length, and
 * the next solve starts with it. The length is constant on several ranks, with fixed_iterations, and with a
 * restart given by the caller. After two restarts without progress the solve ends with TS_REASON_STAGNATED, and
 * the message names the restart. */
TS_API ts_status ts_solver_solve(ts_solver *solver, const ts_vector *b, ts_vector *x, ts_result *result);

/* Copies the x of a running solve into an array of unknowns x components floats or doubles, as ts_vector_read
 * does. Only for the solver's progress callback. This x belongs to the check's iteration or to one at most a
 * few iterations before or after it. Synchronises with the device and allocates memory for the call.
 * Errors: TS_ERROR_INVALID_ARGUMENT (`x`; called outside the callback), TS_ERROR_UNSUPPORTED (gmres, which
 * computes x at the end of a cycle; minres while it removes the null space of a singular matrix), memory. */
TS_API ts_status ts_solver_read_iterate(ts_solver *solver, ts_array x);

/* Solves A X = B for arrays of floats or doubles with n columns, n = b.count / rows. Column c of row i is
 * number i * n + c, in b, x0 and x, which have n columns each. x receives the solution. x0 contains the
 * starting values and may be x; if x0.data is NULL or the solver has zero_start, the solve starts from 0.
 * Groups of 4 columns are solved one after the other. The vectors of a group stay with the solver, so that a
 * later call does not allocate memory. Synchronises with the device.
 *
 * `result` contains the first reason that is not success, the sums of iterations and host synchronisations, and
 * the largest residuals. ts_solver_get_history returns the numbers of all groups. Returns TS_NOT_CONVERGED if a
 * column did not converge; the other columns are solved, except after TS_REASON_STOPPED, when columns of later
 * groups keep their starting values.
 * Errors: as ts_solver_solve; TS_ERROR_INVALID_ARGUMENT (b, x0 or x does not have n columns, n at least 1).
 * After an error x is unchanged, unless the device fails while x is read. */
TS_API ts_status ts_solver_solve_arrays(ts_solver *solver, ts_array b, ts_array x0, ts_array x,
                                        ts_result *result);

/* Creates a solver, calls ts_solver_solve_arrays with x0 = x, and destroys the solver.
 * Errors: as these. */
TS_API ts_status ts_solve(ts_matrix *matrix, ts_array b, ts_array x, const ts_solver_desc *desc,
                          ts_result *result);

#ifdef __cplusplus
}
#endif
#endif
