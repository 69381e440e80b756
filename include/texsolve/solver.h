/* Krylov solvers: A x = b, and least squares min ||A x - b||. A is a matrix, b and x are vectors over its rows
 * and columns:
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
 * ts_solve() does all this in one call, with arrays instead of vectors. The methods:
 *
 *   cg         Hestenes and Stiefel 1952, for symmetric positive definite matrices, and negative definite ones
 *              whose arrays are on the host. In one reduction an iteration: Meurant 1987.
 *   bicgstab   van der Vorst 1992, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution
 *              of nonsymmetric linear systems". Two products an iteration, a fixed number of vectors.
 *   idr        Sonneveld and van Gijzen 2008, "IDR(s): a family of simple and fast algorithms for solving
 *              large nonsymmetric systems of linear equations", with s = 8 in the bi-orthogonal variant of
 *              2011. One product an iteration, as a rule fewer products than bicgstab, and 26 vectors of its
 *              own. It solves nearly skew-symmetric systems where bicgstab breaks down; in double precision.
 *   gmres      Saad and Schultz 1986, "GMRES: a generalized minimal residual algorithm for solving
 *              nonsymmetric linear systems", restarted after `restart` iterations. One product an iteration
 *              and the smallest residual in the cycle's Krylov space, for restart + 1 vectors to keep and to
 *              orthogonalise against.
 *   cgls       Hestenes and Stiefel 1952: conjugate gradients on A^T A x = A^T b without forming A^T A, as
 *              stable as LSQR (Paige and Saunders 1982). Any number of rows and columns.
 *   minres     Paige and Saunders 1975, "Solution of sparse indefinite systems of linear equations", for
 *              symmetric matrices that may be indefinite or singular: the smallest residual in the Krylov space
 *              from a short recurrence. The preconditioner is symmetric positive definite; Jacobi takes
 *              magnitudes of the diagonal, and where that is 0 sum_j a_ij^2 / |a_jj|, the diagonal of the Schur
 *              complement.
 *   lsmr       Fong and Saunders 2011, "LSMR: an iterative algorithm for sparse least-squares problems": minres
 *              on A^T A x = A^T b, as cgls is cg on it. ||A^T r|| falls in every iteration, and hard problems
 *              take fewer than with cgls.
 *   richardson Richardson 1910: x = x + M^-1 (b - A x), a preconditioner by itself: multigrid, Jacobi's method.
 *              It converges where the eigenvalues of I - M^-1 A are within the unit circle, and looks at the
 *              residual in every iteration.
 *
 * All run on every backend and solve for up to four components at once, each with its own coefficients. Scalars
 * stay on the device: only a check synchronises with the host. bicgstab, idr and gmres are preconditioned from
 * the right, so that the residual they look at is that of the system itself. minres and lsmr make the norm of
 * M^-1 small: the residual's own is predicted from that and verified.
 *
 * Threads, version, errors and ownership are as in texsolve.h.
 */
#ifndef TEXSOLVE_SOLVER_H
#define TEXSOLVE_SOLVER_H

#include <texsolve/preconditioner.h>
#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a system is solved. */
#define TS_METHOD_LIST(X)                                                                                      \
  X(TS_METHOD_AUTO, 0, "auto") /* lsmr if the matrix is not square; if it is not symmetric bicgstab, or idr    \
                                     with ilu; of a symmetric one cg if its diagonal is positive, else minres; \
                                     richardson with direct */                                                 \
  X(TS_METHOD_CG, 1, "cg")     /* conjugate gradients */                                                       \
  X(TS_METHOD_BICGSTAB, 2, "bicgstab")     /* stabilised bi-conjugate gradients */                             \
  X(TS_METHOD_GMRES, 3, "gmres")           /* generalised minimal residual, restarted */                       \
  X(TS_METHOD_CGLS, 4, "cgls")             /* conjugate gradients for least squares */                         \
  X(TS_METHOD_RICHARDSON, 5, "richardson") /* x = x + M^-1 (b - A x): a preconditioner by itself */            \
  X(TS_METHOD_MINRES, 6, "minres")         /* minimal residual for symmetric matrices */                       \
  X(TS_METHOD_LSMR, 7, "lsmr")             /* minimal ||A^T r|| for least squares */                           \
  X(TS_METHOD_IDR, 8, "idr")               /* induced dimension reduction, IDR(8) */

typedef enum ts_method {
#define TS_METHOD_ENUM(name, value, text) name = value,
  TS_METHOD_LIST(TS_METHOD_ENUM)
#undef TS_METHOD_ENUM
} ts_method;

/* A method's text, NULL if there is no such method; and the method with a text, -1 if none. Any thread. */
TS_API const char *ts_method_name(ts_method method);
TS_API int ts_method_from_name(const char *name);

/* What `rtol` and `atol` bound. */
typedef enum ts_stop {
  TS_STOP_RESIDUAL = 0, /* ||b - A x|| <= max(rtol ||b||, atol), with b - A x computed from x on the device.
                           cgls, lsmr: ||A^T (b - A x)|| <= max(rtol ||A^T b||, atol) */
  TS_STOP_DELTA = 1     /* cg: delta <= rtol^2 delta_0 with delta = r^T M^-1 r (Buatois et al. 2008, 1.2), if
                           the computed b - A x agrees */
} ts_stop;

/* Why a solve ended; name, value, text. The first three are success. */
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
  X(TS_REASON_NAN_INPUT, 9, "the right-hand side or the starting value holds a NaN or an infinity")            \
  X(TS_REASON_BREAKDOWN, 10, "breakdown: a number left the range of floats")                                   \
  X(TS_REASON_STOPPED, 11, "stopped by the progress callback")                                                 \
  X(TS_REASON_INCOMPATIBLE, 12, "the matrix is singular and the right-hand side has a part that no x reaches") \
  X(TS_REASON_CYCLING, 13, "cycling: the iterates repeat")

typedef enum ts_reason {
#define TS_REASON_ENUM(name, value, text) name = value,
  TS_REASON_LIST(TS_REASON_ENUM)
#undef TS_REASON_ENUM
} ts_reason;

/* A reason's text; "unknown reason" for other values. Any thread. */
TS_API const char *ts_reason_text(ts_reason reason);

/* The state of a solve after a check. */
typedef struct ts_progress {
  int iteration;            /* iterations done: cycles of multigrid, sweeps of a complementarity problem */
  int count;                /* numbers in `history` */
  const double *history;    /* a number for each iteration since the last call, the largest of the components:
                               history[0] belongs to iteration `iteration - count + 1`. It is what the recurrence
                               says: sqrt(delta / delta_0) of cg, ||r|| / ||b|| of bicgstab, idr and gmres,
                               ||A^T r|| / ||A^T b|| of cgls, and with minres and lsmr what is predicted of
                               these. Valid during the call */
  double relative_residual; /* ||r|| / ||b|| of the recurrence at this check; NaN of cg with TS_STOP_DELTA */
  uint64_t reserved[4];
} ts_progress;

/* Called after every check, on the calling thread. Returning nonzero stops the solve. */
typedef int (*ts_progress_fn)(const ts_progress *progress, void *user);

/* Vectors v with A v = 0 of a symmetric matrix A: constants of Neumann conditions, rigid-body motions of a body
 * that nothing holds. A solver takes their part out of b, since no x reaches it, and out of x, which A does not
 * see. Constants that A maps to 0 are found by themselves, unless iterations are fixed or the precision is
 * single. */
typedef struct ts_null_space_desc {
  int count;        /* 1 to 8 */
  ts_array vectors; /* unknowns x count floats or doubles, row by row, of any length; the solver copies them */
  uint64_t reserved[4]; /* 0 */
} ts_null_space_desc;

/* Fields that do not belong to the method must be 0. */
typedef struct ts_solver_desc {
  ts_method method;      /* default: TS_METHOD_AUTO */
  ts_matrix *transposed; /* cgls, lsmr: A^T over the same two spaces. Default: the matrix's own */
  ts_preconditioner_kind preconditioner_kind; /* made from the matrix: auto (default), none, Jacobi, block
                                                 Jacobi, chebyshev, isai, ilu, amg, direct; with the matrix's
                                                 new values too. cgls and lsmr take auto, none and Jacobi. With
                                                 these, with minres, with cg if the matrix is not symmetric, and
                                                 with fixed_iterations, auto is Jacobi, or none if the matrix
                                                 has no diagonal to divide by */
  ts_preconditioner *preconditioner;          /* instead of a kind, which must then be auto. Default: NULL */
  ts_precision precision; /* how it computes, see ts_solver_solve. Default: auto; with fixed_iterations single,
                             of idr double */
  ts_stop stop;           /* default: TS_STOP_RESIDUAL */
  double rtol;            /* less than 1; negative: none. Default: 1e-5 */
  double atol;            /* default: 0 */
  int max_iterations;     /* default: 10 times the unknowns, at least 1000, at most 100000 */
  int fixed_iterations; /* exactly so many, without a test and, except with idr, gmres, minres and lsmr, without
                           host synchronisation: for a frame. stop, rtol, atol, max_iterations, check_interval
                           and progress must be 0. Default: 0, iterations end by the rule */
  int check_interval; /* iterations between two checks, 1 to 1024: only a check synchronises with the host, and
                         a solve can only end at one. Methods other than cg begin with a check in every
                         iteration and double the distance up to this; idr waits once in 9
                         iterations besides, and checks after a multiple of 9 if this is larger; gmres checks
                         at the end of a cycle too, minres and lsmr after 8 at the latest. Default: the
                         backend's, less if the preconditioner costs much */
  int zero_start;     /* start from x = 0, whatever x holds, which saves a product; constrained rows become 0
                         too. Default: start from the values in x */
  int reductions;     /* cg: reductions an iteration: 2 (Hestenes and Stiefel 1952), or 1, which sums one
                         product more and takes three dependent passes instead of five (Meurant 1987).
                         Default: 1 for small systems on a GPU, else 2 */
  int restart;        /* gmres: 1 to 200; more than there are unknowns counts as that many. Default: 30, and
                         twice as many after a cycle that left more than half of the residual, up to 200 */
  ts_progress_fn progress; /* default: none */
  void *progress_user;
  const ts_null_space_desc *null_space; /* of a symmetric matrix without constrained rows, in one process; not
                                           for cgls and lsmr. Default: NULL */
  uint64_t reserved[7];                 /* 0 */
} ts_solver_desc;

/* How a solve went. */
typedef struct ts_result {
  ts_reason reason;
  ts_method method;            /* that was used */
  int iterations;              /* that went into x; of multigrid, cycles */
  ts_precision precision;      /* in which it ended: single, mixed or double */
  int precision_iterations[4]; /* how many of the iterations were done in each, by ts_precision */
  int restarts;                /* how often the method restarted from x and b - A x */
  int host_synchronisations;   /* how often the host waited for the device */
  double relative_residual;    /* ||b - A x|| / ||b|| computed from x on the device at the end, the largest
                                  component; if b is 0, relative to the constrained unknowns' part; of cgls and
                                  lsmr ||A^T (b - A x)|| / ||A^T b||. NaN if it was not computed */
  double attainable_residual;  /* estimate of the smallest relative residual that the precision can reach: about
                                  what rounding x leaves, ||diag(A) x|| / ||b|| times 2^-23 in single
                                  precision, 2^-52 in mixed and double. NaN where it is not known */
  double reduction;            /* the method's own measure at the end, relative to the start: of cg
                                  sqrt(delta / delta_0), of bicgstab, idr, gmres and minres ||b - A x||, the largest
                                  component. Of cgls and lsmr ||b - A x|| / ||b||: what the best x leaves of b, which
                                  need not be small */
  double factor;               /* of multigrid: the mean reduction of the residual by a cycle, of the last 5 */
  double rounded_residual;     /* the relative residual of x as its vector holds it: above relative_residual if
                                  that holds floats and rounds it */
  double incompatible; /* ||the part of b that no x reaches|| / ||b||, if A has a null space that is known, or
                          if cg, minres or multigrid finds one */
  char message[160];   /* the reason in one line, with the row, column or number concerned */
  int restart;         /* of gmres: the length of its cycles at the end; else 0 */
  uint64_t reserved[7];
} ts_result;

typedef struct ts_solver ts_solver;

/* Creates a solver. It keeps its workspace between solves, and the matrix and the preconditioner alive. After
 * ts_matrix_set_values it uses the new values. `desc` may be NULL.
 *
 * The matrix is square with one space for rows and columns, except with cgls and lsmr, which multiply by A^T
 * too: by that of ts_matrix_multiply_transposed, or by `transposed`, made of A^T with
 * ts_matrix_get_column_space(A) as row_space and ts_matrix_get_row_space(A) as column_space. Jacobi of these is
 * M = diag(A^T A), which an operator does not have; another preconditioner approximates A^T A and is over the
 * column space.
 *
 * Errors: TS_ERROR_INVALID_ARGUMENT (a field and its value; a field of another method; a matrix that is not
 * square; constrained rows with cgls or lsmr), TS_ERROR_INCOMPATIBLE (a preconditioner or `transposed` over
 * other spaces), TS_ERROR_UNSUPPORTED (one reduction on a backend that has only two, or with a preconditioner
 * that is not diagonal), memory. */
TS_API ts_status ts_solver_create(ts_matrix *matrix, const ts_solver_desc *desc, ts_solver **solver);
TS_API void ts_solver_destroy(ts_solver **solver);

/* Its preconditioner, for ts_preconditioner_get_info and ts_preconditioner_get_amg_info: the one given or the
 * one that it has made; of auto in stages that of the last solve's last stage. Lives as long as
 * the solver. NULL if `solver` is NULL. Any thread. */
TS_API const ts_preconditioner *ts_solver_get_preconditioner(const ts_solver *solver);

/* If neither a method, a preconditioner, `transposed`, fixed_iterations nor TS_STOP_DELTA is asked for, auto
 * goes on where its first choice does not solve the system, each time from the x that it has reached: with
 * minres if cg finds that the matrix is not positive definite, with gmres and ilu after bicgstab, idr and
 * minres, also without ilu if the matrix is not symmetric, and with the factors of the matrix
 * (TS_PRECONDITIONER_DIRECT) if the module for them is there and they have at most 1e8 entries. If the matrix
 * turns out to be singular, lsmr begins from 0 and finds the shortest x with the smallest residual. These
 * stages share max_iterations. One is left before it fails if direct factors are expected to take no longer
 * than it already has, or half of max_iterations is over, unless at its pace it will soon be done. Operations
 * are counted, not seconds, so that the same system takes the same stages. The solver's next solve begins with
 * the stage that solved this one. On several ranks only amg and minres may follow.
 *
 * The first change is one of cg from Jacobi to AMG, if that takes less time than Jacobi still needs; also if
 * the method that is asked for is cg. How many iterations Jacobi needs is estimated from the condition of M^-1
 * A that its coefficients show, and from the pace of the last half of the iterations; the smaller number
 * counts. AMG's price, set-up and cycles, is a number of iterations by the entries and rows of A:
 * ts_context_set_tuning changes "amg_nanoseconds", "amg_entry_nanoseconds" and "amg_row_nanoseconds", and for
 * an iteration "iteration_nanoseconds", "entry_nanoseconds" and "row_nanoseconds". No clock is read: a solve
 * changes in the same iteration each time, and on all ranks, as a rule within a fifth of that price. The
 * solver's next solve begins with AMG; so it does once its solves with Jacobi together have taken as much
 * longer than cycles as the set-up takes, while the matrix's values stay. The matrix has at least 2000 rows,
 * not several of one pattern each, and a host copy, or entries that can be read back: those of a matrix of one
 * process that was made from arrays on the host, unless its keep_host_copy is -1. It has a host copy from then
 * on. */
typedef struct ts_stage_info {
  ts_method method;
  ts_preconditioner_kind preconditioner;
  const char *choice; /* why this preconditioner, if it was auto; else "" */
  int iterations;
  double relative_residual; /* as in ts_result, at the end of the stage */
  ts_reason reason;         /* TS_REASON_STOPPED too if the stage was left */
  const char *message;
  uint64_t reserved[4];
} ts_stage_info;

/* The stages of a solver's last solve, in the order in which they ran: how many there were (0 if auto had
 * nothing to go on with, or has not solved), and each. Texts are valid until the next solve. Any thread, but
 * not during a solve. Errors: TS_ERROR_INVALID_ARGUMENT (no such stage, NULL). */
TS_API int ts_solver_get_stage_count(const ts_solver *solver);
TS_API ts_status ts_solver_get_stage(const ts_solver *solver, int stage, ts_stage_info *info);

/* Solves A x = b for every component at once, each with its own step lengths, starting from the values in x (a
 * new vector holds 0) or, with zero_start, from 0. b is over the row space and x over the column space.
 * Unknowns of constrained rows keep their values; with zero_start they become 0. cgls, lsmr: if A does not have
 * full rank, a start from 0 leads to the shortest solution (with Jacobi: in the norm of M).
 *
 * Returns TS_OK only if every component meets the rule of ts_solver_desc.stop with the residual computed from
 * x; after fixed_iterations without a test; TS_NOT_CONVERGED with the reason in `result` and in ts_last_error,
 * and the last iterate in x, or after a failure the one with the smallest residual that was computed (of
 * bicgstab, idr, gmres, minres, cgls and lsmr always); or an error, x undefined (but for those of the
 * arguments: TS_ERROR_INVALID_ARGUMENT where b is x, TS_ERROR_INCOMPATIBLE where they are over other spaces or
 * differ in components). `result` may be NULL. Host synchronisations at checks only.
 *
 * Precision. single: everything is in floats, and no residual is smaller than what rounding x leaves. mixed:
 * iterations are in floats; x and b are held as doubles, and b - A x is computed from x to about 48 bits
 * whenever the residual has fallen by a factor; the directions of cg, bicgstab and idr go on then, gmres begins
 * a cycle, cgls a phase; minres and lsmr go on if their recurrence agrees, else they begin again (reliable
 * updates: Sleijpen and van der Vorst 1996; Clark et al. 2010; Strzodka and Goeddeke 2006; Cevahir et al. 2009,
 * section 2.2). double: iterations compute with pairs of floats of about 48 bits (in fragment shaders, with
 * fp64 elsewhere), and b - A x to more than that. auto: begins in single, goes on in mixed where the rule needs
 * it, and in double where mixed stagnates or, at its pace, max_iterations would not be enough, each from the x
 * that the one before has reached; memory and workspace grow at these steps only. cg with a preconditioner that
 * costs 3.5 products or more (ts_preconditioner_info), as cycles of amg and multigrid do, is in double from the
 * start: what is around an application costs little beside it. So is idr, which takes up to three times the
 * iterations in single. A backend without exact arithmetic
 * (ts_gl_info.exact_sums) has single only: mixed and double are TS_ERROR_UNSUPPORTED there.
 *
 * x meets the rule as ts_vector_read reads it into doubles: if doubles cannot hold an x that does, the reason
 * is TS_REASON_STAGNATED. Only a vector created with TS_PRECISION_SINGLE, or whose texture or pointer the
 * application has, receives the rounded solution: the rule is about the solution before that,
 * ts_result.rounded_residual about what the vector holds, and if that does not meet the rule the message says
 * so.
 * All digits of A and of a b in double precision count in b - A x, in single precision too.
 *
 * A, b and x may have any scale that doubles have (ts_csr, ts_vector_write). If x's vector cannot hold
 * the solution the reason is TS_REASON_BREAKDOWN: x that would overflow keeps its values, or is 0 with
 * zero_start; x that would underflow holds what is left of it. x never gets a NaN or an infinity: after a
 * failure by cg or richardson it is the x with the smallest residual that was measured, and the start if
 * nothing else is finite. If A x of the start is beyond any scale of b, the solve starts from 0. Some devices
 * flush numbers below 1.18e-38 to 0, which is less than vectors in single precision hold. With fixed_iterations
 * none of this is tested.
 *
 * If b is 0, x becomes 0, regardless of the start; constrained unknowns keep their values. If those are not 0,
 * the rule is relative to their contribution, ||A x|| with all other unknowns 0.
 *
 * If A is singular and symmetric, b may have a part that no x reaches: one in the null space. cg and minres
 * find that part in double precision, to which auto changes, and solve the rest: the final residual is the
 * smallest possible one, up to rtol ||b||, and the reason is TS_REASON_INCOMPATIBLE. Multigrid as a
 * preconditioner knows the part from the start. Other methods end at the best x without converging.
 *
 * bicgstab and idr may break down: a divisor becomes 0, or only rounding. They then restart from the best x, as
 * they do after many iterations without a better residual, and if that gains nothing, with other shadow
 * vectors; after four restarts in a row without gain the solve ends with TS_REASON_BREAKDOWN. Their first
 * shadow vectors are random, but always the same. When their residual has fallen by 1000 from a peak it is
 * recomputed from x, and the iterations go on.
 *
 * Restarted gmres may stagnate where gmres would not. With the default restart its cycle is twice as long after
 * one that was too short, up to 200 iterations, or as long as the vectors take at most a quarter of the
 * device's memory (of ts_context_desc.max_device_bytes if set, 256 MiB if neither is known); x is kept,
 * ts_result.restart has the length at the end, and so has the solver's next solve. Over several ranks, with
 * fixed_iterations and with a restart of the caller's it stays as it is. After two restarts without gain the
 * solve ends with TS_REASON_STAGNATED, and the message names the restart. */
TS_API ts_status ts_solver_solve(ts_solver *solver, const ts_vector *b, ts_vector *x, ts_result *result);

/* Solves A X = B for arrays of floats or doubles with n columns, n = b.count / rows: column c of row i is
 * number i * n + c, in b and in x, which has n columns too. x holds the starting values and receives the
 * solution. Groups of 4 columns are solved one after the other and share the solver.
 *
 * `result` has the first reason that is not success, the sums of iterations and host synchronisations, and the
 * largest residuals. Returns TS_NOT_CONVERGED if a column has not converged; the others have been solved.
 * Errors: as ts_solver_create and ts_solver_solve; TS_ERROR_INVALID_ARGUMENT (b or x has not n columns, with n
 * at least 1); after an error x is unchanged. Synchronises with the device. */
TS_API ts_status ts_solve(ts_matrix *matrix, ts_array b, ts_array x, const ts_solver_desc *desc,
                          ts_result *result);

#ifdef __cplusplus
}
#endif
#endif
