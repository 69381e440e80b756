/* Complementarity problems with dense and sparse matrices, with and without friction, by parallel Gauss-Seidel
 * (Courtecuisse and Allard 2009). Two unknowns that are not negative:
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
 * which for bounds 0 and infinity is the linear complementarity problem (LCP) 0 <= z, 0 <= w, z^T w = 0. With
 * friction unknowns come in contacts of 2 or 3, the normal one first: z is then the reaction r, w the relative
 * velocity u, and every contact obeys Signorini's law along the normal and Coulomb's law in the tangent plane:
 *
 *   0 <= u_n, 0 <= r_n, u_n r_n = 0,   ||r_t|| <= mu r_n,   u_t = 0 or r_t = -mu r_n u_t / ||u_t||
 *
 * A sweep of Gauss-Seidel solves the equation of each unknown, or the law of each contact, after the other,
 * with the newest values of all others. The schemes (section III) share its work among threads in different
 * ways and respect its order of dependencies, so that all but relaxed and colour compute the iterates of the
 * sequential loop, rounding aside.
 *
 * Threads, version, common errors and ownership are as in texsolve.h. */
#ifndef TEXSOLVE_LCP_H
#define TEXSOLVE_LCP_H

#include <texsolve/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Problems -------------------------------------------------------------------------------- */

/* How a matrix is kept. */
#define TS_LCP_STORAGE_LIST(X)                                                                                 \
  X(TS_LCP_STORAGE_AUTO, 0, "auto")     /* of a jacobian or a sparse_matrix the one whose sweeps read less; of \
                                           arrays dense */                                                     \
  X(TS_LCP_STORAGE_DENSE, 1, "dense")   /* all n * n numbers */                                                \
  X(TS_LCP_STORAGE_SPARSE, 2, "sparse") /* the blocks, dimension x dimension, that are not 0; of a jacobian H  \
                                           and M_0^-1 H^T, whose product with z is kept beside z. The          \
                                           problems of a batch are one, whose parts have nothing in common */

typedef enum ts_lcp_storage {
#define TS_LCP_STORAGE_ENUM(name, value, text) name = value,
  TS_LCP_STORAGE_LIST(TS_LCP_STORAGE_ENUM)
#undef TS_LCP_STORAGE_ENUM
} ts_lcp_storage;

/* The text of a value, NULL if there is no such value; and the value with a text, -1 if there is none. Any
 * thread. */
TS_API const char *ts_lcp_storage_name(ts_lcp_storage storage);
TS_API int ts_lcp_storage_from_name(const char *name);

typedef struct ts_lcp_desc {
  int32_t size;  /* n, unknowns of a problem; with friction a multiple of `dimension` */
  int32_t batch; /* problems of this size, solved at once. Default: 1 */
  int dimension; /* unknowns of a contact: 2 or 3 with friction; 1, the default: none */
  /* One of three, in which the problems of a batch follow each other: */
  ts_array matrix;        /* batch * n * n numbers, row by row */
  const ts_csr *jacobian; /* H, batch * n rows: M = H M_0^-1 H^T of each problem, computed in double, */
  ts_array inverse_mass;  /* and M_0^-1, symmetric blocks on the diagonal one after the other, row by row; */
  int32_t mass_block;     /* rows of a block, a body, which divide the columns of H. Default: 1 */
  const ts_csr *sparse_matrix; /* M, batch * n rows and columns, the problems as blocks on the diagonal */
  ts_lcp_storage storage;      /* whichever it is given as. Default: auto */
  ts_array lower, upper;  /* without friction: batch * n bounds, which may be infinite. Default: 0, infinity */
  ts_array friction;      /* with friction: mu of each contact, batch * n / dimension, not negative */
  ts_precision precision; /* of M, z and the sweeps: single (default) or double, about 48 bits in OpenGL */
  uint64_t reserved[8];   /* 0 */
} ts_lcp_desc;

typedef struct ts_lcp ts_lcp;

/* Creates problems with their matrices on the device; everything is copied.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a field; NaN or Inf; a diagonal entry, or one of a contact's normal, that
 * is 0 or negative, or one of its tangents that is negative: row and problem are named; lower above upper; mu
 * negative), TS_ERROR_LIMIT, TS_ERROR_UNSUPPORTED (a backend without such problems, such as one of several
 * devices), memory. */
TS_API ts_status ts_lcp_create(ts_context *context, const ts_lcp_desc *desc, ts_lcp **lcp);
/* Host memory of a sparse problem, blocks of up to 64 MiB, stays with the context for the next one: in a game,
 * of the next frame. */
TS_API void ts_lcp_destroy(ts_lcp **lcp);

/* Replaces the matrices by others, given as in the descriptor, of which only the fields of the matrix are read.
 * The storage stays as it is; what is not 0 may stand elsewhere. On failure the old ones are kept. Errors: as
 * ts_lcp_create. */
TS_API ts_status ts_lcp_set_matrix(ts_lcp *lcp, const ts_lcp_desc *desc);
/* Replaces the bounds; not given: the default. Errors: as ts_lcp_create; TS_ERROR_INVALID_ARGUMENT with
 * friction. */
TS_API ts_status ts_lcp_set_bounds(ts_lcp *lcp, ts_array lower, ts_array upper);
/* Replaces the coefficients of friction. Errors: as ts_lcp_create; TS_ERROR_INVALID_ARGUMENT without friction.
 */
TS_API ts_status ts_lcp_set_friction(ts_lcp *lcp, ts_array friction);

/* The space of q, z and w: batch * n indices, vectors of one component, the problems one after the other.
 * Borrowed. */
TS_API ts_space *ts_lcp_get_space(const ts_lcp *lcp);

/* ---- Solving --------------------------------------------------------------------------------- */

/* How a sweep is shared among threads (Courtecuisse and Allard 2009, section III). Sparse problems have row,
 * graph and colour, dense ones all but colour. Sparse problems in OpenGL have row and colour; both draw
 * contacts without a common neighbour at once, those of row in levels, with the iterates of the loop. */
#define TS_LCP_SCHEME_LIST(X)                                                                                  \
  X(TS_LCP_SCHEME_AUTO, 0, "auto")       /* the fastest for the size, by measurements */                       \
  X(TS_LCP_SCHEME_ROW, 1, "row")         /* a row's product at once, III.A; with one thread the plain loop */  \
  X(TS_LCP_SCHEME_COLUMN, 2, "column")   /* what an unknown adds to all rows at once, III.B */                 \
  X(TS_LCP_SCHEME_BLOCK, 3, "block")     /* a diagonal block, then what it adds to all rows, III.C */          \
  X(TS_LCP_SCHEME_GRAPH, 4, "graph")     /* rows of blocks that wait for a counter, III.D; of a sparse problem \
                                            levels of contacts, each after the neighbours before it. Not on gl \
                                          */                                                                   \
  X(TS_LCP_SCHEME_GRAPH_2, 5, "graph-2") /* the same, with work on the next row while waiting, IV.A. Not on gl \
                                          */                                                                   \
  X(TS_LCP_SCHEME_RELAXED, 6, "relaxed") /* the same without waiting, IV.A: other iterates, which depend on    \
                                            the timing and may not converge. Not on gl */                      \
  X(TS_LCP_SCHEME_COLOUR, 7, "colour")   /* contacts without a common neighbour at once, in few steps: another \
                                            order and other iterates, however many threads there are */

typedef enum ts_lcp_scheme {
#define TS_LCP_SCHEME_ENUM(name, value, text) name = value,
  TS_LCP_SCHEME_LIST(TS_LCP_SCHEME_ENUM)
#undef TS_LCP_SCHEME_ENUM
} ts_lcp_scheme;

/* The text of a value, NULL if there is no such value; and the value with a text, -1 if there is none. Any
 * thread. */
TS_API const char *ts_lcp_scheme_name(ts_lcp_scheme scheme);
TS_API int ts_lcp_scheme_from_name(const char *name);

/* The storage that a scheme needs: DENSE or SPARSE, or AUTO where it has both. Any thread. */
TS_API ts_lcp_storage ts_lcp_scheme_storage(ts_lcp_scheme scheme);
/* Whether a context's backend has a scheme. */
TS_API int ts_lcp_has_scheme(const ts_context *context, ts_lcp_scheme scheme);

/* How a contact's own law is solved in a sweep, with all other reactions as they are. */
#define TS_LCP_LOCAL_LIST(X)                                                                                   \
  X(TS_LCP_LOCAL_AUTO, 0, "auto") /* exact; from where it stagnates, diverges or cycles projection */          \
  X(TS_LCP_LOCAL_PROJECTION, 1, "projection") /* a few steps r = P(r - (u_n + mu ||u_t||, u_t) / bound of the  \
                                                 block's eigenvalues): cheaper, and more sweeps */             \
  X(TS_LCP_LOCAL_EXACT, 2, "exact")           /* by cases: takes off, sticks, slides; the direction of sliding \
                                                 is the root of a quartic. Projection for blocks that are too  \
                                                 far from positive semidefinite */

typedef enum ts_lcp_local {
#define TS_LCP_LOCAL_ENUM(name, value, text) name = value,
  TS_LCP_LOCAL_LIST(TS_LCP_LOCAL_ENUM)
#undef TS_LCP_LOCAL_ENUM
} ts_lcp_local;

/* The text of a value, NULL if there is no such value; and the value with a text, -1 if there is none. Any
 * thread. */
TS_API const char *ts_lcp_local_name(ts_lcp_local local);
TS_API int ts_lcp_local_from_name(const char *name);

/* What a sweep starts from. Only without acceleration are the iterates those of the sequential loop.
 * Accelerated sweeps restart where an extrapolation does not lead on; where they stagnate, diverge or cycle all
 * the same, sweeps without acceleration go on from the best z. With fixed_sweeps they only restart. A batch has
 * one extrapolation for all its problems. Momentum of sparse contacts, on cpu and cuda, is of each two bodies
 * for themselves (of contacts that follow each other and have the same bodies), and so are restarts: contacts
 * that slip keep no others from converging. A contact's exact law is followed then, not solved to the last bit,
 * with the same solutions. */
#define TS_LCP_ACCELERATION_LIST(X)                                                                            \
  X(TS_LCP_ACCELERATION_AUTO, 0, "auto")         /* none; if M is symmetric and after 20 sweeps many are left, \
                                                    momentum from there on, but for dense problems on cuda.    \
                                                    None with fixed_sweeps */                                  \
  X(TS_LCP_ACCELERATION_NONE, 1, "none")         /* from the last one's z */                                   \
  X(TS_LCP_ACCELERATION_MOMENTUM, 2, "momentum") /* from beyond it, Nesterov's momentum with restarts */

typedef enum ts_lcp_acceleration {
#define TS_LCP_ACCELERATION_ENUM(name, value, text) name = value,
  TS_LCP_ACCELERATION_LIST(TS_LCP_ACCELERATION_ENUM)
#undef TS_LCP_ACCELERATION_ENUM
} ts_lcp_acceleration;

/* The text of a value, NULL if there is no such value; and the value with a text, -1 if there is none. Any
 * thread. */
TS_API const char *ts_lcp_acceleration_name(ts_lcp_acceleration acceleration);
TS_API int ts_lcp_acceleration_from_name(const char *name);

/* Fields of 0 mean the defaults. */
typedef struct ts_lcp_settings {
  ts_lcp_scheme scheme;
  ts_lcp_local local; /* with friction; without, a row is solved by its formula whatever this is */
  ts_lcp_acceleration acceleration;
  double rtol;        /* default: 1e-5; negative: none */
  double atol;        /* default: 0 */
  int max_sweeps;     /* default: 1000 */
  int fixed_sweeps;   /* exactly so many, without a test and without waiting for the device: for a frame. rtol,
                         atol, max_sweeps, check_interval and progress must be 0. Default: 0, sweeps end by the
                         rule */
  int check_interval; /* sweeps between two tests, each of which costs about a sweep. Default: 10; by rows on
                         the cpu without acceleration up to 10, so that a test comes when the residual may be
                         small enough */
  int zero_start;     /* start from the point of the bounds next to 0, whatever z holds. Default: from z */
  ts_progress_fn progress; /* after every test, with the residual relative to ||q||. Default: none */
  void *progress_user;
  uint64_t reserved[8]; /* 0 */
} ts_lcp_settings;

typedef struct ts_lcp_result {
  ts_reason reason;
  ts_lcp_scheme scheme; /* that was used */
  ts_lcp_storage storage;
  int sweeps;
  int host_synchronisations;
  double residual; /* as ts_lcp_residual computes it, of the z that is returned, as its vector has rounded it;
                      NaN after fixed_sweeps */
  double relative_residual; /* the same by ||q||; itself where q is 0 */
  char message[160];
  uint64_t reserved[8];
} ts_lcp_result;

/* Solves all problems of a batch from the start in z, which may violate its bounds. q and z are over the space
 * of the problems, and z is not q. `settings` and `result` may be NULL.
 *
 * A q far from 1 is brought near it by a power of two, z and the bounds with it; but not with fixed_sweeps. A
 * start from which M z overflows is replaced by 0, and so is one that does not solve a problem whose q is 0 if
 * 0 does. On OpenGL numbers below 1.2e-38 count as 0.
 *
 * Ends when residual <= max(rtol ||q||, atol), the norms over the whole batch, for the z that is returned. A z
 * with TS_PRECISION_SINGLE may not hold the solution of a problem in double, which is TS_REASON_STAGNATED, or
 * one beyond the range of floats, which is TS_REASON_BREAKDOWN: z becomes 0.
 * Returns TS_OK if it is met, and after fixed_sweeps; TS_NOT_CONVERGED with the reason in `result` and in
 * ts_last_error, and in z the iterate with the smallest residual that was computed; or an error, z undefined.
 * Gauss-Seidel converges for symmetric positive definite M and, without bounds that make the problem
 * infeasible, for positive semidefinite ones with a solution; for M with a dominant diagonal; with friction as
 * a rule. Without a solution the reason is TS_REASON_DIVERGED, TS_REASON_CYCLING or TS_REASON_STAGNATED.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_INCOMPATIBLE (vectors over other spaces), TS_ERROR_UNSUPPORTED (a
 * scheme that the backend does not have, or not for the storage), memory. */
TS_API ts_status ts_lcp_solve(ts_lcp *lcp, const ts_vector *q, ts_vector *z, const ts_lcp_settings *settings,
                              ts_lcp_result *result);

/* The norm of the natural map, ||z - P(z - w)|| over all unknowns, where P projects onto the bounds; with
 * friction ||r - P(r - (u_n + mu ||u_t||, u_t))||, where P projects onto Coulomb's cone ||r_t|| <= mu r_n, in
 * two dimensions as in three: De Saxce's form, the measure of Siconos. fc2d_compute_error and
 * fc3d_compute_error of Siconos 4.4 divide it by the largest of the norm that they are given, ||r|| and ||u||;
 * a solve here by ||q|| alone. A large mu hides from that map a contact that penetrates, u_n < 0, so a tenth of
 * min(r_n, u_n) counts instead if it is larger, which needs a mu above 10. 0 exactly for solutions.
 *
 * Computed without cancellation, and w with more digits than z has: in double of problems in single precision;
 * of those in double with the errors of sums, or on OpenGL in pairs, with about what these may hide added.
 * Synchronises with the device. */
TS_API ts_status ts_lcp_residual(const ts_lcp *lcp, const ts_vector *q, const ts_vector *z, double *residual);

#ifdef __cplusplus
}
#endif
#endif
