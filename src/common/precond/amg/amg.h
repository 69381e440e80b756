/* Smoothed aggregation: the hierarchy.
 *
 * The files of the set-up on the host:
 *
 * - amg.c: descriptor, creation, upload
 * - amg_setup.c: the levels, one after the other
 * - amg_units.c: the near-null space if the application provides none
 * - amg_strength.c: strong connections
 * - amg_aggregate.c: aggregates
 * - amg_eigenvalue.c: the eigenvalue for the damping
 * - amg_tentative.c: tentative prolongator
 * - amg_prolong.c: the smoothed prolongator; amg_twice.c: a second smoothing step
 * - amg_sparse.c: products of sparse matrices; amg_row.c: their rows
 * - amg_coarsest.c: the dense inverse
 *
 * amg_cycle.c runs on the device. If several ranks share the rows, also amg_halo.c (the owners of nodes),
 * amg_ranks.c (the next level), amg_entries.c (rows for other ranks), amg_ranks_coarsest.c (the first and the
 * last level), and amg_ranks_upload.c.
 *
 * An update of the values computes the same bits in existing patterns: amg_smoothing.c (prolongators) and
 * amg_plan.c (R A P), with amg_places.c (where products are added) and amg_multiply.c (the sums).
 *
 * The set-up is bitwise reproducible on every machine and with any number of threads. Sums are computed in the
 * order of columns and rounded to floats once. Its loops are over rows or nodes; each iteration writes only its
 * own data and reads results of earlier loops.
 *
 * If A is not symmetric, its transpose is processed in the same way (amg_unsymmetric.c). Smoothers are then
 * polynomials made for each level (amg_noise.c, amg_roots.c), and the last level is inverted by elimination
 * (amg_eliminate.c). */
#ifndef TSI_AMG_H
#define TSI_AMG_H

#include <texsolve/amg.h>

#include "common/core/array.h"
#include "common/core/core.h"
#include "common/core/pool.h"
#include "common/precond/direct.h"
#include "common/precond/polynomial.h"
#include "common/precond/preconditioner.h"

enum {
  TSI_AMG_MAX_LEVELS = 30,
  TSI_AMG_DENSE = 1000, /* maximum rows of a last level with an inverse */
  TSI_AMG_DEGREE = 32   /* maximum degree of a level's own polynomial */
};

/* A sparse matrix on the host; the columns of a row ascend. If it is created here, TSI_AMG_PIECE zeros follow
 * the last value. */
enum { TSI_AMG_PIECE = 8 };
typedef struct tsi_amg_csr {
  int32_t rows, columns;
  int32_t *offsets, *indices;
  float *values;
} tsi_amg_csr;

/* The treatment of an entry of A when the prolongator is smoothed. */
enum {
  TSI_AMG_WEAK,    /* added to the diagonal */
  TSI_AMG_STRONG,  /* kept; also entries inside a node */
  TSI_AMG_DROPPED, /* ignored: in the row or column of a diagonal that is not positive */
};

/* Numbers begin .. end - 1. */
typedef struct tsi_amg_range {
  int32_t begin, end;
} tsi_amg_range;

/* The largest row sums of magnitudes of D^-1 A and D_F^-1 A_F, the eigenvalue of D^-1 A, and the number of rows
 * with a positive coupling. */
typedef struct tsi_amg_estimates {
  double bound, filtered_bound, eigenvalue, positive;
} tsi_amg_estimates;

typedef struct tsi_amg_halo tsi_amg_halo;           /* amg_halo.h */
typedef struct tsi_amg_plan tsi_amg_plan;           /* amg_plan.c */
typedef struct tsi_amg_smoothing tsi_amg_smoothing; /* amg_smoothing.c */

/* A smoother made for one matrix, in D^-1 A; degree 0: none. */
typedef struct tsi_amg_polynomial {
  int degree;
  tsi_polynomial_step steps[TSI_AMG_DEGREE];
} tsi_amg_polynomial;

/* A level on the host. The last level has only A and its halo. With a halo, the ghosts continue the columns and
 * the arrays over nodes. */
typedef struct tsi_amg_host_level {
  tsi_amg_csr A;         /* level 0: borrowed */
  tsi_amg_halo *halo;    /* of several ranks; NULL: all rows are local */
  tsi_amg_csr P, R;      /* from the next level; and -P^T, so that a correction x - P e is one operation */
  int unknowns;          /* rows per node */
  int vectors;           /* of the near-null space; unknowns per node of the next level */
  unsigned char *strong; /* per entry of A, as above */
  int32_t nodes;
  int32_t *aggregates; /* of each node; -1: none, for nodes without strong neighbours */
  int32_t aggregate_count;
  int32_t ghost_aggregates; /* of other ranks, numbered after the local ones */
  float *tentative;         /* rows x vectors: orthonormal columns per aggregate */
  float *weights;           /* per node: the size of the first near-null vector there */
  double *near_null;        /* rows x vectors, until the next level is created */
  double bound;             /* on the eigenvalues of D^-1 A: the largest row sum of magnitudes */
  double eigenvalue;        /* the largest of D^-1 A: a raised estimate from below, at most the bound */
  int is_unsymmetric;       /* the eigenvalue is the bound */
  double energies;   /* by A_F over A; or that of the level above, if it smooths twice; 0: not measured */
  int smooths_twice; /* P is S^2 T */
  tsi_amg_polynomial polynomial; /* if the matrix is unsymmetric and the descriptor leaves the smoother open */
  tsi_amg_plan *plan;            /* for updates; NULL before the first one */
  tsi_amg_smoothing *smoothing;  /* likewise */
  struct tsi_amg_host_level *transposed; /* A^T, its strong entries, and as P (-R)^T; the rest as here */
} tsi_amg_host_level;

typedef struct tsi_amg_host {
  int levels, is_unsymmetric;
  int depth; /* of the first level: the number of levels above it */
  tsi_amg_host_level level[TSI_AMG_MAX_LEVELS];
  float *inverse; /* of the last level's matrix, rows x rows; NULL: too large, smoothed instead */
} tsi_amg_host;

/* A level on the device. */
typedef struct tsi_amg_level {
  ts_matrix *A;     /* level 0: the user's matrix */
  ts_matrix *P, *R; /* NULL on the last level */
  /* inverse: 1 / D, or its substitute for a smoother; r and d: residual and direction; b and x: not on level
   * 0. */
  ts_vector *inverse, *r, *d, *b, *x;
  double eigenvalue;     /* the largest of D^-1 A, estimated by the set-up */
  int64_t rows, entries; /* of A, over all ranks */
  double transfers;      /* entries of P and R, over all ranks */
} tsi_amg_level;

typedef struct tsi_amg {
  ts_context *context;
  ts_amg_desc desc;       /* resolved; its arrays are released */
  tsi_amg_host host;      /* if the set-up was on the device: the data of the last level that it needs */
  void *device;           /* the backend's state of a set-up on the device; NULL: it was on the host */
  int is_unsymmetric;     /* whether the matrix was unsymmetric when the hierarchy was created */
  int copies;             /* A->copies at that time: another copy has another pattern */
  int depth;              /* the number of levels above the first one, in another hierarchy */
  int levels, components; /* components of the vectors; 0 before they are created */
  tsi_amg_level level[TSI_AMG_MAX_LEVELS];
  ts_matrix *inverse;         /* of the last level; NULL: none */
  tsi_direct_applied factors; /* of a last level without an inverse; with neither, it is smoothed */
  ts_amg_info info;
} tsi_amg;

typedef ts_status tsi_amg_body(const tsi_amg *amg, ts_vector *x, const ts_vector *b);

/* A set-up on the device computes the same bits. */
/* clang-format off */
#define TSI_AMG_OPERATIONS(REQUIRED, prefix)                                                                   \
  /* Makes the levels' matrices and eigenvalues, or with amg->device new numbers in them; amg->inverse, or where \
   * the last level is too large, amg->host.level[] of it with its matrix. Where that is the only level nothing is \
   * made, not even amg->device. On failure what is made is destroyed with `amg`. */                            \
  REQUIRED(prefix, ts_status, setup, (tsi_amg *amg))                                                           \
  /* Gives back amg->device. */                                                                                \
  REQUIRED(prefix, void, drop, (tsi_amg *amg))                                                                 \
  /* A matrix that setup has made, on the host. */                                                              \
  REQUIRED(prefix, ts_status, read, (const ts_matrix *matrix, tsi_amg_csr *csr))                               \
  /* Carries out `body`, or what it has asked for before with these vectors. */                                \
  REQUIRED(prefix, ts_status, cycle,                                                                           \
           (const tsi_amg *amg, ts_vector *x, const ts_vector *b, tsi_amg_body *body))                         \
  /* The next cycles have other vectors, or other numbers in their steps. */                                   \
  REQUIRED(prefix, void, forget_cycles, (const tsi_amg *amg))
/* clang-format on */

struct tsi_amg_ops {
  TSI_AMG_OPERATIONS(TSI_FIELD, )
};

/* ---- amg.c ---- */

/* The first row without a positive diagonal, or -1. */
int32_t tsi_amg_bad_row(const ts_matrix *A, const tsi_amg_csr *csr, float *diagonal);
/* The error for a row without a positive diagonal. */
ts_status tsi_amg_refuse_row(ts_context *context, int32_t row, float diagonal);
/* Reads a level's matrix to the host; tsi_amg_forget_level releases it. */
ts_status tsi_amg_read_level(const tsi_amg *amg, int l, tsi_amg_csr *A);
void tsi_amg_forget_level(const tsi_amg *amg, int l, tsi_amg_csr *A);

/* Makes the levels below A, which has `depth` levels above it in another hierarchy; without vectors. The caller
 * owns the matrix. */
ts_status tsi_amg_create_below(ts_matrix *A, const ts_amg_desc *desc, int depth, tsi_amg **made);
void tsi_amg_destroy(ts_context *context, tsi_amg *amg);

/* ---- amg_setup.c ---- */

/* Creates the whole hierarchy of A. With `keep` only its values are computed; aggregates and patterns stay. */
ts_status tsi_amg_setup(ts_context *context, const ts_amg_desc *desc, const tsi_amg_csr *A, int keep,
                        tsi_amg_host *host);
/* The same function for an A below other levels: the number of its level is `depth`. */
ts_status tsi_amg_setup_below(ts_context *context, const ts_amg_desc *desc, const tsi_amg_csr *A, int depth,
                              tsi_amg_host *host);
/* The same function for an A that is not symmetric. */
ts_status tsi_amg_setup_unsymmetric(ts_context *context, const ts_amg_desc *desc, const tsi_amg_csr *A,
                                    int keep, tsi_amg_host *host);
/* The same function for the rows of ranks. It takes ownership of `halo`, which belongs to A, also on
 * failure. */
ts_status tsi_amg_setup_on_ranks(ts_context *context, const ts_amg_desc *desc, const tsi_amg_csr *A,
                                 tsi_amg_halo *halo, tsi_amg_host *host);
void tsi_amg_host_free(ts_context *context, tsi_amg_host *host);
/* The near-null space of the descriptor, from vectors or from coordinates: rows x vectors, 0 on entry. */
void tsi_amg_near_null(const ts_amg_desc *desc, int32_t nodes, double *modes);
/* The number of its vectors; constants if the descriptor has none. */
int tsi_amg_vectors(const ts_amg_desc *desc);
/* The largest row sum of magnitudes of D^-1 A, over this rank's rows. */
double tsi_amg_bound(const tsi_amg_csr *A);
/* Computes the inverse of the last level, or its eigenvalue if it is too large. */
ts_status tsi_amg_finish(ts_context *context, tsi_amg_host *host);

/* The first of n rows that belong to a part, for loops in which each thread has a workspace. The part ends
 * where the next one begins. */
static inline int32_t tsi_amg_begin(int32_t n, size_t part, int parts) {
  return (int32_t)((int64_t)n * (int64_t)part / parts);
}

/* Sums are computed as sums of runs of this length, so that threads of a device can share long rows. */
enum { TSI_AMG_RUN = 64 };
/* A run of a row's entries has TSI_AMG_LANES partial sums, which are then added in pairs, as threads of a
 * device do. */
enum { TSI_AMG_LANES = 8, TSI_AMG_LANES_RUN = 256 };
static inline double tsi_amg_add_lanes(double sums[TSI_AMG_LANES]) {
  for (int w = TSI_AMG_LANES / 2; w > 0; w /= 2)
    for (int k = 0; k < w; k++) sums[k] += sums[k + w];
  return sums[0];
}

/* ---- amg_factors.c ---- */

/* Computes amg->factors if the module is available and they are cheap. */
ts_status tsi_amg_factor_last(tsi_amg *amg);
static inline int tsi_amg_ends_exactly(const tsi_amg *amg) {
  return amg->inverse || amg->factors.direct;
}

/* ---- amg_units.c ---- */

/* Computes level->near_null, 0 on entry, with one vector per unknown. */
ts_status tsi_amg_units(ts_context *context, const tsi_amg_host_level *level);
/* The two parts of this: counts the votes of some rows, and computes level->near_null. */
ts_status tsi_amg_vote(ts_context *context, const tsi_amg_host_level *level, tsi_amg_range own, double *votes);
ts_status tsi_amg_write_units(ts_context *context, const tsi_amg_host_level *level, int scaled);

/* A row votes for scaled constants if plain ones leave more than 2 % of its diagonal and scaled ones less than
 * half of that. The arguments are the sums of a_ij and of a_ij scale_j, and the row's own `scale`. More than
 * half of all rows decide. */
#define tsi_amg_votes(plain, scaled, scale)                                                                    \
  (fabs(plain) * (scale) * (scale) > 0.02 && fabs(scaled) < 0.5 * (fabs(plain) * (scale)))
#define tsi_amg_elect(votes, rows) (2 * (votes) > (rows))

/* ---- amg_strength.c ---- */

#define TSI_AMG_USUAL 0.25 /* strength of couplings in the five-point Laplacian */
#define TSI_AMG_HELD 0.5   /* a diagonal is dominant if the couplings add up to at most this share */

/* The limit of a node's row of blocks. Strengths are squared; `largest` is that of the largest coupling and
 * below TSI_AMG_USUAL. `sum` is that of all magnitudes, `own` the diagonal's magnitude. It is a macro so that
 * devices compute the same. */
#define tsi_amg_block_limit(limit, largest, sum, own)                                                          \
  ((sum) <= TSI_AMG_HELD * (own) ? (limit) : (limit) * ((largest) / (TSI_AMG_USUAL * TSI_AMG_USUAL)))

/* The limit of a row with one unknown and without a dominant diagonal, from the largest and the sum of its
 * negative couplings. A coupling can be stronger than 1 if the other diagonal is larger. The largest couplings
 * are strong for any `strength`. */
#define tsi_amg_limit(strength, largest)                                                                       \
  (fmin(1., (strength) * (strength) / (TSI_AMG_USUAL * TSI_AMG_USUAL)) * fmin(1., (largest)))

/* The ratio of two weights, one given as its inverse; 1 if one is 0 and the ratio therefore unknown. */
#define tsi_amg_ratio(inverse, weight) ((inverse) != 0 && (weight) != 0 ? (weight) * (inverse) : 1.)

/* The strong connections of each node to others: indices[begins[i]] .. indices[ends[i] - 1] in ascending order,
 * with their magnitudes. Some of them have only one direction. */
typedef struct tsi_amg_graph {
  int32_t nodes;
  int32_t *begins, *ends, *indices;
  float *magnitudes;
} tsi_amg_graph;

/* Fills level->strong and creates the graph. If a node has one unknown and there is one vector, strengths are
 * those of W A W with W = level->near_null, which may be NULL. `depth` is the number of the level. */
ts_status tsi_amg_strength(ts_context *context, const tsi_amg_host_level *level, double strength, int depth,
                           tsi_amg_graph *graph);
void tsi_amg_graph_free(ts_context *context, tsi_amg_graph *graph);

/* ---- amg_unsymmetric.c ---- */

/* Creates level->transposed after level->A, near_null and the node counts are set; and frees its own data. */
ts_status tsi_amg_transposed_create(ts_context *context, tsi_amg_host_level *level);
void tsi_amg_transposed_free(ts_context *context, tsi_amg_host_level *level);
/* Adds the strong connections of the transpose to the graph. */
ts_status tsi_amg_transposed_join(ts_context *context, const tsi_amg_host_level *level, double strength,
                                  int depth, tsi_amg_graph *graph);
/* Computes P from A and R from A^T, or only their values; A^T then gets new values too. */
ts_status tsi_amg_transposed_smooth(ts_context *context, tsi_amg_host_level *level);

/* ---- amg_noise.c ---- */

/* A pseudorandom number from -1 to 1 per row. */
static inline float tsi_amg_noise(uint32_t row) {
  uint32_t h = row * 0x9e3779b1u;
  h = (h ^ h >> 16) * 0x7feb352du;
  h = (h ^ h >> 15) * 0x846ca68bu;
  h ^= h >> 16;
  return (float)(h >> 8) / 8388608.0f - 1;
}

/* Makes the smoother of an unsymmetric matrix. Degree 0: chosen by the reduction of noise. */
ts_status tsi_amg_make_polynomial(ts_context *context, const tsi_amg_csr *A, int degree,
                                  tsi_amg_polynomial *polynomial);

/* ---- amg_roots.c ---- */

/* Converts GMRES's residual polynomial after m steps, from a vector of length 1, to smoothing steps. H is upper
 * Hessenberg, (m + 1) x m with rows of TSI_AMG_DEGREE; y are the coefficients of the solution in the basis.
 * Returns 0 if the roots are not found. */
int tsi_amg_find_roots(const double *h, const double *y, int m, tsi_amg_polynomial *polynomial);

/* ---- amg_aggregate.c ---- */

/* Computes the aggregate of each node. */
ts_status tsi_amg_aggregate(ts_context *context, const tsi_amg_graph *graph, int32_t *aggregates,
                            int32_t *count);

/* ---- amg_tentative.c ---- */

/* Computes level->tentative and level->weights from level->near_null. level->near_null is overwritten with the
 * tentative prolongator in double. `coarse` is the near-null space of the next level: T coarse = fine. Columns
 * that depend on others within an aggregate are 0, and so is their row of `coarse`. */
ts_status tsi_amg_tentative(ts_context *context, const tsi_amg_host_level *level, double *coarse);

/* ---- amg_prolong.c ---- */

/* P = S T with the values of level->A, in the pattern of level->P or, if it has none, in a new one:
 *   S = I - omega D_F^-1 A_F,  omega = 4/3 / (largest eigenvalue of D_F^-1 A_F).
 * A_F consists of the strong entries. Weak entries are added to its diagonal D_F, multiplied by the ratio of
 * weights, so that A_F and A map the first near-null vector to the same. The eigenvalue is level->eigenvalue
 * times the ratio of the bounds by row sums. */
ts_status tsi_amg_smooth(ts_context *context, tsi_amg_host_level *level);
static inline double tsi_amg_omega(double eigenvalue, double bound, double filtered_bound) {
  return 4. / 3 / (eigenvalue > 0 ? eigenvalue * (filtered_bound / bound) : 2);
}

/* Two parts of this for one part of a level's rows (amg_part.h), with results from its own rows. The first sets
 * level->bound and level->eigenvalue, and the second computes level->P. */
ts_status tsi_amg_estimate(ts_context *context, tsi_amg_host_level *level, tsi_amg_range own,
                           tsi_amg_estimates *found);
ts_status tsi_amg_prolong(ts_context *context, tsi_amg_host_level *level, tsi_amg_range own, double omega,
                          int32_t reach, double sums[4]);

/* ---- amg_twice.c ---- */

/* P = S once, with `filtered` the diagonal of A_F, in a new pattern. */
ts_status tsi_amg_smooth_again(ts_context *context, const tsi_amg_host_level *level, const double *filtered,
                               double omega, const tsi_amg_csr *once, tsi_amg_csr *P);
/* Computes S alone: a new pattern, and its values. */
ts_status tsi_amg_smoother_pattern(ts_context *context, const tsi_amg_host_level *level, tsi_amg_csr *S);
void tsi_amg_smoother_values(const ts_context *context, const tsi_amg_host_level *level, const double *filtered,
                             double omega, const tsi_amg_csr *S);

/* If few couplings are positive, smooth errors vary little along strong couplings, and their energy by A_F is
 * at most that by A. A rotated anisotropy has positive couplings in all rows. Errors with almost no energy by A
 * have twice that energy by A_F, and vary within aggregates. P = S^2 T represents some of them, on this level
 * and below. On 64 k rows of rotated bilinear elements, 1:1000, it reduces 37 iterations to 20, with operator
 * complexity 1.44 instead of 1.26.
 *
 * Two steps are harmful for aggregates of few nodes, such as those along lines: 20 iterations of elements
 * stretched along the axes become 80. For aggregates of many nodes, from long rows, they cost more than they
 * save. Elasticity without nodes has 159 iterations and complexity 1.16 with one step, 168 and 1.35 with
 * two. */
static inline int tsi_amg_wants_energies(double rows, double positive, double aggregates) {
  return 2 * positive > rows && rows > 5 * aggregates && rows < 12 * aggregates;
}
static inline int tsi_amg_smooths_twice(double energies, double rows, double aggregates) {
  return energies > 1.9 && rows > 5 * aggregates && rows < 12 * aggregates;
}
/* Whether a weak entry makes its row one with a positive coupling. */
#define tsi_amg_is_positive(value, own) ((value) > (own) / 32)

/* A row of P has an entry for each aggregate that the row's strong entries reach. The row of a hub reaches so
 * many that R A P is dense. A row that reaches more than tsi_amg_reach() aggregates therefore keeps its row of
 * T. Meshes reach 15 at most in `texsolve bench families`, and about equally many from each row: the mean over
 * entries is 1.05 times that over rows. In networks rows with many entries reach many aggregates, and this
 * ratio is 1.2 to 4. A small limit suffices for them.
 *
 * Operator complexity and iterations for graphs with 128 k rows, without and with this limit: R-MAT 8.0, 21 and
 * 1.6, 22; Barabasi-Albert 22, 8 and 1.6, 8; a grid with hubs 65, 15 and 1.5, 12. */
enum { TSI_AMG_REACH = 32, TSI_AMG_HUB_REACH = 4 };

#ifdef __CUDACC__
#define TSI_AMG_INLINE static __host__ __device__ __forceinline__
#else
#define TSI_AMG_INLINE static inline
#endif

/* `sums`: rows; their entries; the sum of the aggregates reached by each row, TSI_AMG_REACH + 1 at most; the
 * sum of these times the row's entries. */
TSI_AMG_INLINE int32_t tsi_amg_reach(const double sums[4]) {
  return sums[3] * sums[0] > 1.2 * sums[2] * sums[1] ? TSI_AMG_HUB_REACH : TSI_AMG_REACH;
}

/* ---- amg_eigenvalue.c ---- */

/* The estimate from the growth of the norm and of the largest number in the last power iteration. Smoothers
 * tolerate an excess of a quarter. */
#define tsi_amg_raised(of_norm, of_largest) fmax(1.1 * (of_norm), (of_largest))

/* Computes level->eigenvalue; level->bound must be set. */
ts_status tsi_amg_eigenvalue(ts_context *context, tsi_amg_host_level *level);

/* Steps e = e - D^-1 A e / root, with the roots of Chebyshev's polynomial on the upper three quarters of the
 * spectrum. */
enum { TSI_AMG_SMOOTHINGS = 4 };
static inline double tsi_amg_smoothing_factor(int step, double eigenvalue) {
  static const double cosines[TSI_AMG_SMOOTHINGS] = {0.92387953251128674, 0.38268343236508977,
                                                     -0.38268343236508977, -0.92387953251128674};
  return -1 / (eigenvalue * (0.625 + 0.375 * cosines[step]));
}

/* Computes level->energies: for a smoothed vector, its energy by A_F (with diagonal `filtered`) over that by A.
 * The ratio is at most 1 if no coupling is positive. For one unknown per node, one vector and one rank. */
ts_status tsi_amg_energies(ts_context *context, tsi_amg_host_level *level, const double *filtered);

/* ---- amg_sparse.c ---- */

ts_status tsi_amg_csr_create(ts_context *context, int32_t rows, int32_t columns, int64_t entries,
                             tsi_amg_csr *A);
/* Creates a matrix in two steps. The first allocates only offsets. The second requires the length of row i in
 * offsets[i + 1]; it accumulates these lengths and allocates the entries. */
ts_status tsi_amg_csr_begin(ts_context *context, int32_t rows, int32_t columns, tsi_amg_csr *A);
ts_status tsi_amg_csr_finish(ts_context *context, tsi_amg_csr *A);
void tsi_amg_csr_free(ts_context *context, tsi_amg_csr *A);
/* Sorts in ascending order. */
void tsi_amg_sort(int32_t *list, int32_t count);
/* T = -A^T, in the pattern of T if it has one. */
ts_status tsi_amg_transpose(ts_context *context, const tsi_amg_csr *A, tsi_amg_csr *T);
/* C = -R (A P), in the pattern of C if it has one. A row of P has entries for all of the `unknowns` of a node
 * of C, or for none. A row of zeros, of an unused unknown, gets the smallest diagonal of its node, or 1. */
ts_status tsi_amg_galerkin(ts_context *context, const tsi_amg_csr *R, const tsi_amg_csr *A,
                           const tsi_amg_csr *P, int unknowns, tsi_amg_csr *C);

/* The two parts of this: the product, and the treatment of rows of zeros. */
ts_status tsi_amg_product(ts_context *context, const tsi_amg_csr *R, const tsi_amg_csr *A, const tsi_amg_csr *P,
                          int unknowns, tsi_amg_csr *C);
void tsi_amg_fill_zeros(const ts_context *context, const tsi_amg_csr *C, int unknowns);

/* ---- amg_smoothing.c ---- */

/* Creates level->smoothing from S T. If P is S^2 T, S T is `once`, and the function takes ownership of it. */
ts_status tsi_amg_smoothing_create(ts_context *context, tsi_amg_host_level *level, tsi_amg_csr *once);
void tsi_amg_smoothing_free(ts_context *context, tsi_amg_host_level *level);
/* Computes the values of P; `filtered` is the diagonal of A_F if a node has one unknown. */
void tsi_amg_smooth_values(const ts_context *context, const tsi_amg_host_level *level, const double *filtered,
                           double omega);

/* ---- amg_plan.c ---- */

/* Computes the values of C = -R A P in its existing pattern, like tsi_amg_galerkin. The first call also finds
 * the places of all products for later calls. */
ts_status tsi_amg_galerkin_again(ts_context *context, tsi_amg_host_level *level, tsi_amg_csr *C);
void tsi_amg_plan_free(ts_context *context, tsi_amg_host_level *level);

/* ---- amg_coarsest.c ---- */

/* Computes the inverse of a small symmetric matrix, row by row. If the matrix is singular, unknowns with pivots
 * at rounding level are excluded. */
ts_status tsi_amg_invert(ts_context *context, const tsi_amg_csr *A, float **inverse);

/* ---- amg_eliminate.c ---- */

/* The same function for a matrix that is not symmetric. */
ts_status tsi_amg_invert_unsymmetric(ts_context *context, const tsi_amg_csr *A, float **inverse);

/* ---- amg_halo.c: trivial in one process ---- */

/* The number of nodes of other ranks in the rows. */
int32_t tsi_amg_ghosts(const tsi_amg_host_level *level);
/* The global number of this rank's first row. */
uint32_t tsi_amg_first_row(const tsi_amg_host_level *level);
/* Fetches the `values` of the ghosts, `bytes` bytes per node. */
ts_status tsi_amg_exchange(ts_context *context, const tsi_amg_host_level *level, void *values, size_t bytes);
/* Sums and maxima over the ranks; bitwise identical on all. */
ts_status tsi_amg_add_up(ts_context *context, const tsi_amg_host_level *level, double *values, int count);
ts_status tsi_amg_largest(ts_context *context, const tsi_amg_host_level *level, double *values, int count);

/* ---- amg_ranks.c ---- */

/* Makes an aggregate of each node that is strongly connected only to nodes of other ranks. */
void tsi_amg_keep_cut_off(const tsi_amg_host_level *level, int32_t *count);
/* Computes P, R and the next level's matrix and halo from the aggregates and the tentative prolongator. */
ts_status tsi_amg_coarsen_on_ranks(ts_context *context, tsi_amg_host_level *level, tsi_amg_host_level *next);

/* ---- amg_ranks_coarsest.c ---- */

/* Copies this rank's rows of the application's matrix. */
ts_status tsi_amg_copy_rows(const ts_matrix *matrix, int unknowns, tsi_amg_csr *A, tsi_amg_halo **halo);
/* Rejects descriptors that differ between ranks, and rows as tsi_amg_refuse_row documents; all ranks return the
 * same error. */
ts_status tsi_amg_check_rows(const ts_matrix *matrix, const ts_amg_desc *desc, const tsi_amg_csr *A);
/* Adds an identical level below, for the inverse. */
ts_status tsi_amg_repeat_level(ts_context *context, tsi_amg_host_level *level, tsi_amg_host_level *next);
/* Inverts the last level's matrix of all ranks; bitwise identical on all. */
ts_status tsi_amg_invert_on_ranks(ts_context *context, const tsi_amg_host_level *level, float **inverse);

/* ---- amg_ranks_upload.c ---- */

/* Uploads the matrices of the levels and the inverse to the devices of the ranks. */
ts_status tsi_amg_upload_on_ranks(tsi_amg *amg);

/* ---- amg_cycle.c ---- */

/* Creates vectors for this number of components if necessary. Must not be called inside another function of the
 * library. */
ts_status tsi_amg_prepare(tsi_amg *amg, int components);
void tsi_amg_drop_vectors(tsi_amg *amg);
/* z = M^-1 r by one cycle; and its cost. */
ts_status tsi_amg_cycle(const tsi_amg *amg, ts_vector *z, const ts_vector *r);
tsi_cost tsi_amg_cost(const tsi_amg *amg);

#endif
