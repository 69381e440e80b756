/* Complementarity problems with dense and sparse matrices, with and without friction, solved by parallel
 * Gauss-Seidel (Courtecuisse and Allard 2009). This example has two nonnegative unknowns:
 *
 *   const double M[] = {2, 1, 1, 2}, numbers[] = {-3, 1};
 *   double solution[2];
 *   ts_lcp_desc desc = {.size = 2, .matrix = ts_host(M, 4)};
 *   ts_lcp *lcp;
 *   ts_vector *q, *z;
 *   ts_lcp_create(context, &desc, &lcp);
 *   ts_vector_create(ts_lcp_get_space(lcp), NULL, &q);
 *   ts_vector_create(ts_lcp_get_space(lcp), NULL, &z);
 *   ts_vector_write(q, ts_host(numbers, 2));
 *   ts_lcp_solve(lcp, q, z, NULL, NULL);
 *   ts_vector_read(z, ts_host(solution, 2)); // 1.5 0
 *   ts_vector_destroy(&z);
 *   ts_vector_destroy(&q);
 *   ts_lcp_destroy(&lcp);
 *
 * Given M, n x n, and q, find z and w with
 *
 *   w = M z + q,   lower <= z <= upper,   w_i >= 0 where z_i = lower_i,  w_i <= 0 where z_i = upper_i,
 *   w_i = 0 elsewhere
 *
 * With bounds 0 and infinity this is the linear complementarity problem (LCP) 0 <= z, 0 <= w, z^T w = 0. With
 * friction the unknowns are grouped into contacts of 2 or 3, the normal one first: z is the reaction r, and w
 * the relative velocity u. Every contact obeys Signorini's law along the normal and Coulomb's law in the
 * tangent plane:
 *
 *   0 <= u_n, 0 <= r_n, u_n r_n = 0,   ||r_t|| <= mu r_n,   u_t = 0 or r_t = -mu r_n u_t / ||u_t||
 *
 * A Gauss-Seidel sweep solves the equations of the unknowns, or the laws of the contacts, one after the other,
 * each with the newest values of all others. The schemes (section III) divide this work among threads in
 * different ways. All except relaxed and colour preserve the order of dependencies: except for rounding they
 * compute the iterates of the sequential loop.
 *
 * Threads, version, common errors and ownership are as in texsolve.h. */
#ifndef TEXSOLVE_LCP_H
#define TEXSOLVE_LCP_H

#include <texsolve/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Problems -------------------------------------------------------------------------------- */

/* Storage of a matrix. Name, value, text. */
#define TS_LCP_STORAGE_LIST(X)                                                                                 \
  X(TS_LCP_STORAGE_AUTO, 0,                                                                                    \
    "auto") /* for a jacobian or a sparse_matrix the storage with less to read per sweep; for arrays dense */  \
  X(TS_LCP_STORAGE_DENSE, 1, "dense")   /* all n * n numbers */                                                \
  X(TS_LCP_STORAGE_SPARSE, 2, "sparse") /* the nonzero blocks, dimension x dimension. For a jacobian H and     \
                                           M_0^-1 H^T are stored, and the latter's product with z. The         \
                                           problems of a batch become one problem with independent parts */

typedef enum ts_lcp_storage {
#define TS_LCP_STORAGE_ENUM(name, value, text) name = value,
  TS_LCP_STORAGE_LIST(TS_LCP_STORAGE_ENUM)
#undef TS_LCP_STORAGE_ENUM
} ts_lcp_storage;

/* Return a storage's text, or NULL for other values; and the storage with that text, or -1. Any thread. */
TS_API const char *ts_lcp_storage_name(ts_lcp_storage storage);
TS_API int ts_lcp_storage_from_name(const char *name);

typedef struct ts_lcp_desc {
  int32_t size;  /* n, unknowns per problem; with friction a multiple of `dimension` */
  int32_t batch; /* number of problems of this size, solved at once. Default: 1 */
  int dimension; /* unknowns per contact: 2 or 3 with friction. Default: 1, no friction */
  /* Give the matrix in one of three forms; the problems of a batch follow one another: */
  ts_array matrix;             /* 1. batch * n * n numbers, row by row */
  const ts_csr *jacobian;      /* 2. H, batch * n rows: M = H M_0^-1 H^T of each problem, computed in double
                                  precision */
  ts_array inverse_mass;       /* 2. M_0^-1: symmetric diagonal blocks one after the other, row by row */
  int32_t mass_block;          /* 2. rows per block (body), a divisor of the columns of H. Default: 1 */
  const ts_csr *sparse_matrix; /* 3. M, batch * n rows and columns, with the problems as diagonal blocks */
  ts_lcp_storage storage;      /* for any of the three forms. Default: auto */
  ts_array lower, upper;  /* without friction: batch * n bounds, which may be infinite. Default: 0, infinity */
  ts_array friction;      /* with friction: mu of each contact, batch * n / dimension nonnegative numbers */
  ts_precision precision; /* of M, z and the sweeps: single (default) or double; about 48 bits in OpenGL */
  uint64_t reserved[8];   /* 0 */
} ts_lcp_desc;

typedef struct ts_lcp ts_lcp;

/* Creates problems with their matrices on the device; all arrays are copied.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT, TS_ERROR_UNSUPPORTED (a backend that does not support
 * these problems, such as a multi-device one), memory. Invalid arguments are an invalid field, NaN and
 * infinity, lower above upper, and a negative mu. A diagonal entry must be positive, and with friction the
 * normal one of a contact positive and its tangent ones not negative; the message names the row and the
 * problem. */
TS_API ts_status ts_lcp_create(ts_context *context, const ts_lcp_desc *desc, ts_lcp **lcp);
/* Destroys the problems and sets the handle to NULL. Host memory of a sparse problem, in blocks of up to 64
 * MiB, stays with the context for the next problem, such as that of a game's next frame. */
TS_API void ts_lcp_destroy(ts_lcp **lcp);

/* Replaces the matrices. Only the descriptor's fields of the matrix are read. The storage stays the same; the
 * pattern may change. On failure the old matrices are kept. Errors: as ts_lcp_create. */
TS_API ts_status ts_lcp_set_matrix(ts_lcp *lcp, const ts_lcp_desc *desc);
/* Replaces the bounds; an array that is not given selects the default. Errors: as ts_lcp_create;
 * TS_ERROR_INVALID_ARGUMENT with friction. */
TS_API ts_status ts_lcp_set_bounds(ts_lcp *lcp, ts_array lower, ts_array upper);
/* Replaces the friction coefficients. Errors: as ts_lcp_create; TS_ERROR_INVALID_ARGUMENT without friction. */
TS_API ts_status ts_lcp_set_friction(ts_lcp *lcp, ts_array friction);

/* Returns the space of q, z and w, borrowed: batch * n indices, one component, the problems one after the
 * other. */
TS_API ts_space *ts_lcp_get_space(const ts_lcp *lcp);

/* ---- Solving --------------------------------------------------------------------------------- */

/* How a sweep is divided among threads (Courtecuisse and Allard 2009, section III). Name, value, text. Sparse
 * problems support row, graph and colour, dense ones all except colour. In OpenGL sparse problems support row
 * and colour. Both draw contacts without a common neighbour at once; row draws them in levels, with the
 * iterates of the loop. */
#define TS_LCP_SCHEME_LIST(X)                                                                                  \
  X(TS_LCP_SCHEME_AUTO, 0, "auto") /* the fastest for the size, according to measurements */                   \
  X(TS_LCP_SCHEME_ROW, 1, "row")   /* the product of one row at once, III.A; the plain loop with one thread */ \
  X(TS_LCP_SCHEME_COLUMN, 2, "column") /* the contribution of one unknown to all rows at once, III.B */        \
  X(TS_LCP_SCHEME_BLOCK, 3, "block")   /* a diagonal block, then its contribution to all rows, III.C */        \
  X(TS_LCP_SCHEME_GRAPH, 4, "graph")   /* rows of blocks that wait for a counter, III.D; for sparse problems   \
                                          levels of contacts, each after its predecessors. Not on gl */        \
  X(TS_LCP_SCHEME_GRAPH_2, 5,                                                                                  \
    "graph-2") /* as graph, with work on the next row while waiting, IV.A. Not on gl */                        \
  X(TS_LCP_SCHEME_RELAXED, 6, "relaxed") /* as graph, without waiting, IV.A: other iterates, which depend on   \
                                            the timing and may not converge. Not on gl */                      \
  X(TS_LCP_SCHEME_COLOUR, 7, "colour")   /* contacts without a common neighbour at once, in few steps: another \
                                            order and other iterates, independent of the number of threads */

typedef enum ts_lcp_scheme {
#define TS_LCP_SCHEME_ENUM(name, value, text) name = value,
  TS_LCP_SCHEME_LIST(TS_LCP_SCHEME_ENUM)
#undef TS_LCP_SCHEME_ENUM
} ts_lcp_scheme;

/* Return a scheme's text, or NULL for other values; and the scheme with that text, or -1. Any thread. */
TS_API const char *ts_lcp_scheme_name(ts_lcp_scheme scheme);
TS_API int ts_lcp_scheme_from_name(const char *name);

/* Returns the storage that a scheme needs: DENSE or SPARSE, or AUTO if it supports both. Any thread. */
TS_API ts_lcp_storage ts_lcp_scheme_storage(ts_lcp_scheme scheme);
/* Returns whether a context's backend supports a scheme. */
TS_API int ts_lcp_has_scheme(const ts_context *context, ts_lcp_scheme scheme);

/* How a sweep solves a contact's own law, with all other reactions fixed. Name, value, text. */
#define TS_LCP_LOCAL_LIST(X)                                                                                   \
  X(TS_LCP_LOCAL_AUTO, 0, "auto")             /* exact; projection after it stagnates, diverges or cycles */   \
  X(TS_LCP_LOCAL_PROJECTION, 1, "projection") /* a few steps r = P(r - (u_n + mu ||u_t||, u_t) / bound of the  \
                                                 block's eigenvalues): cheaper, but needs more sweeps */       \
  X(TS_LCP_LOCAL_EXACT, 2,                                                                                     \
    "exact") /* by cases: takes off, sticks, slides; the sliding direction is the root of a quartic.           \
                Projection for blocks too far from positive semidefinite */

typedef enum ts_lcp_local {
#define TS_LCP_LOCAL_ENUM(name, value, text) name = value,
  TS_LCP_LOCAL_LIST(TS_LCP_LOCAL_ENUM)
#undef TS_LCP_LOCAL_ENUM
} ts_lcp_local;

/* Return a local solver's text, or NULL for other values; and the local solver with that text, or -1. Any
 * thread. */
TS_API const char *ts_lcp_local_name(ts_lcp_local local);
TS_API int ts_lcp_local_from_name(const char *name);

/* Acceleration: the point from which a sweep starts. Name, value, text. Only sweeps without acceleration
 * compute the iterates of the sequential loop. Accelerated sweeps restart if an extrapolation does not improve
 * z. If they still stagnate, diverge or cycle, sweeps without acceleration continue from the best z. With
 * fixed_sweeps they only restart.
 *
 * All problems of a batch share one extrapolation. For sparse contacts on cpu and cuda each pair of bodies
 * (consecutive contacts between the same bodies) has momentum and restarts of its own, so slipping contacts do
 * not delay others. The exact local law is then tracked instead of solved to the last bit; the solutions are
 * the same. */
#define TS_LCP_ACCELERATION_LIST(X)                                                                            \
  X(TS_LCP_ACCELERATION_AUTO, 0,                                                                               \
    "auto") /* none, then momentum if M is symmetric and many sweeps are left after 20, except for dense       \
               problems on cuda. None with fixed_sweeps */                                                     \
  X(TS_LCP_ACCELERATION_NONE, 1, "none")         /* from the previous sweep's z */                             \
  X(TS_LCP_ACCELERATION_MOMENTUM, 2, "momentum") /* from beyond it: Nesterov's momentum, with restarts */

typedef enum ts_lcp_acceleration {
#define TS_LCP_ACCELERATION_ENUM(name, value, text) name = value,
  TS_LCP_ACCELERATION_LIST(TS_LCP_ACCELERATION_ENUM)
#undef TS_LCP_ACCELERATION_ENUM
} ts_lcp_acceleration;

/* Return an acceleration's text, or NULL for other values; and the acceleration with that text, or -1. Any
 * thread. */
TS_API const char *ts_lcp_acceleration_name(ts_lcp_acceleration acceleration);
TS_API int ts_lcp_acceleration_from_name(const char *name);

/* Fields that are 0 select the defaults. */
typedef struct ts_lcp_settings {
  ts_lcp_scheme scheme;
  ts_lcp_local local; /* with friction; ignored without friction, where each row has a formula */
  ts_lcp_acceleration acceleration;
  double rtol;      /* default: 1e-5; a negative value means 0 */
  double atol;      /* default: 0 */
  int max_sweeps;   /* default: 1000 */
  int fixed_sweeps; /* exact sweep count, for a fixed cost per frame: no test, and no wait for the device. rtol,
                       atol, max_sweeps, check_interval and progress must be 0. Default: 0, sweep until the
                       stopping rule is met */
  int check_interval; /* sweeps between two tests; a test takes about as long as a sweep. Default: 10. With
                         scheme row on the cpu, without acceleration, it adapts up to 10, so that a test comes
                         when the residual may be small enough */
  int zero_start;     /* 1: start from the point within the bounds closest to 0, and ignore the contents of z.
                         Default: 0, start from z */
  ts_progress_fn progress; /* called after every test, with the residual relative to ||q||. Default: none */
  void *progress_user;
  uint64_t reserved[8]; /* 0 */
} ts_lcp_settings;

typedef struct ts_lcp_result {
  ts_reason reason;
  ts_lcp_scheme scheme; /* the scheme used */
  ts_lcp_storage storage;
  int sweeps;
  int host_synchronisations;
  double residual; /* as computed by ts_lcp_residual for the returned z, as its vector rounded it; NaN after
                      fixed_sweeps */
  double relative_residual; /* residual / ||q||; the residual if q is 0 */
  char message[160];
  uint64_t reserved[8];
} ts_lcp_result;

/* Solves all problems of a batch from the start in z, which may violate the bounds. q and z are over the space
 * of the problems, and z must not be q. `settings` and `result` may be NULL.
 *
 * A q with a magnitude far from 1 is scaled by a power of two, together with z and the bounds, except with
 * fixed_sweeps. A start for which M z overflows is replaced by 0. If q of a problem is 0 and z = 0 solves it, a
 * start that does not is also replaced by 0. On OpenGL numbers below 1.2e-38 count as 0.
 *
 * The solve ends when residual <= max(rtol ||q||, atol) for the returned z, with norms over the whole batch. A
 * z with TS_PRECISION_SINGLE may be unable to hold the solution of a problem in double, which is
 * TS_REASON_STAGNATED. If the solution is beyond the range of floats, the reason is TS_REASON_BREAKDOWN and z
 * becomes 0.
 *
 * Returns TS_OK if the rule is met, and after fixed_sweeps. Returns TS_NOT_CONVERGED otherwise, with the reason
 * in `result` and ts_last_error, and the iterate with the smallest computed residual in z. After an error z is
 * undefined.
 *
 * Gauss-Seidel converges for a symmetric positive definite M, and for an M with a dominant diagonal. It also
 * converges for a positive semidefinite M if a solution exists and bounds do not make the problem infeasible.
 * With friction it usually converges. Without a solution the reason is TS_REASON_DIVERGED, TS_REASON_CYCLING or
 * TS_REASON_STAGNATED.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_INCOMPATIBLE (vectors over other spaces), TS_ERROR_UNSUPPORTED (a
 * scheme that the backend does not support, at all or for this storage), memory. */
TS_API ts_status ts_lcp_solve(ts_lcp *lcp, const ts_vector *q, ts_vector *z, const ts_lcp_settings *settings,
                              ts_lcp_result *result);

/* Computes the norm of the natural map, ||z - P(z - w)|| over all unknowns, where P projects onto the bounds.
 * With friction it is ||r - P(r - (u_n + mu ||u_t||, u_t))||, where P projects onto Coulomb's cone ||r_t|| <=
 * mu r_n, in two and three dimensions. This is De Saxce's form, the measure of Siconos. fc2d_compute_error and
 * fc3d_compute_error of Siconos 4.4 divide it by the maximum of the given norm, ||r|| and ||u||; ts_lcp_solve
 * divides by ||q|| only. A mu above 10 can hide a penetrating contact, u_n < 0, from that map. For such a
 * contact a tenth of min(r_n, u_n) is used instead if it is larger. The residual is exactly 0 for solutions.
 *
 * The computation avoids cancellation and holds w with more digits than z. Problems in single precision are
 * evaluated in double precision. Those in double are evaluated with the errors of sums or, on OpenGL, in pairs
 * of floats, plus a bound of what these may hide. Synchronises with the device. */
TS_API ts_status ts_lcp_residual(const ts_lcp *lcp, const ts_vector *q, const ts_vector *z, double *residual);

#ifdef __cplusplus
}
#endif
#endif
