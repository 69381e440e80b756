/* Smoothed aggregation: the hierarchy.
 *
 * The path: amg.c (descriptor, creation, upload), amg_setup.c (level by level, on the host), with amg_units.c
 * (the near-null space that nobody gives), amg_strength.c (strong connections), amg_aggregate.c,
 * amg_eigenvalue.c (for the damping), amg_prolong.c (tentative prolongator, smoothing), amg_twice.c (a second
 * step of it), amg_sparse.c (products of sparse matrices), amg_row.c (their rows), amg_coarsest.c (the dense
 * inverse); then amg_cycle.c on the device. Where several ranks have the rows, also amg_halo.c (whose nodes are
 * where), amg_ranks.c (the next level), amg_entries.c (rows for other ranks), amg_ranks_coarsest.c (the first
 * level and the last), amg_ranks_upload.c.
 *
 * An update of the numbers makes the same bits in patterns that are there: amg_smoothing.c (prolongators) and
 * amg_plan.c (R A P), with amg_places.c (where products are added up) and amg_multiply.c (the sums).
 *
 * The set-up makes the same bits on every machine and with any number of threads: sums run in the order of
 * columns and are rounded to floats once. Its loops are over rows or nodes, each of which writes what is its
 * own and reads what earlier loops have written.
 *
 * If A is not symmetric its transpose goes the same way beside it (amg_unsymmetric.c), smoothers are
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
  TSI_AMG_DENSE = 1000, /* rows of the largest last level that gets an inverse */
  TSI_AMG_DEGREE = 32   /* the largest of a level's own polynomial */
};

/* A sparse matrix on the host, columns of a row ascending. There is room for TSI_AMG_PIECE numbers behind the
 * last value of one that is made here, and they are 0. */
enum { TSI_AMG_PIECE = 8 };
typedef struct tsi_amg_csr {
  int32_t rows, columns;
  int32_t *offsets, *indices;
  float *values;
} tsi_amg_csr;

/* What becomes of an entry of A in the smoothing of the prolongator. */
enum {
  TSI_AMG_WEAK,    /* added to the diagonal */
  TSI_AMG_STRONG,  /* or within a node */
  TSI_AMG_DROPPED, /* left out: towards a row without a positive diagonal, or in one */
};

typedef struct tsi_amg_halo tsi_amg_halo;           /* amg_halo.h */
typedef struct tsi_amg_plan tsi_amg_plan;           /* amg_plan.c */
typedef struct tsi_amg_smoothing tsi_amg_smoothing; /* amg_smoothing.c */

/* A smoother made for one matrix, in D^-1 A; degree 0: there is none. */
typedef struct tsi_amg_polynomial {
  int degree;
  tsi_polynomial_step steps[TSI_AMG_DEGREE];
} tsi_amg_polynomial;

/* A level on the host. The last one has A alone, and its halo. Where there is a halo, columns and what is told
 * of nodes go on with the ghosts. */
typedef struct tsi_amg_host_level {
  tsi_amg_csr A;      /* level 0: borrowed */
  tsi_amg_halo *halo; /* of several ranks; NULL: all rows are here */
  tsi_amg_csr P, R;   /* from the next level, and -P^T: a cycle's correction is then x - P e, one operation */
  int unknowns;       /* rows of a node */
  int vectors;        /* of the near-null space: unknowns on the next level */
  unsigned char *strong; /* of each entry of A, as above */
  int32_t nodes;
  int32_t *aggregates; /* of each node; -1: in none, as nodes without a strong neighbour */
  int32_t aggregate_count;
  int32_t ghost_aggregates;      /* of other ranks, numbered behind the own */
  float *tentative;              /* rows x vectors: orthonormal columns for each aggregate */
  float *weights;                /* of nodes: how large the first near-null vector is there */
  double *near_null;             /* rows x vectors, until the next level is made */
  double bound;                  /* of the eigenvalues of D^-1 A: the largest row sum of magnitudes */
  double eigenvalue;             /* the largest of D^-1 A, estimated from below and raised; at most the bound */
  int is_unsymmetric;            /* the eigenvalue is the bound */
  double energies;               /* of A_F over A; of the level above, if that smooths twice; 0: not measured */
  int smooths_twice;             /* P is S^2 T */
  tsi_amg_polynomial polynomial; /* if it is unsymmetric and the smoother was not chosen */
  tsi_amg_plan *plan;            /* of updates; NULL before the first one */
  tsi_amg_smoothing *smoothing;  /* the same */
  struct tsi_amg_host_level
      *transposed; /* A^T, its strong entries and the transpose of -R as P; the rest is as here */
} tsi_amg_host_level;

typedef struct tsi_amg_host {
  int levels, is_unsymmetric;
  tsi_amg_host_level level[TSI_AMG_MAX_LEVELS];
  float *inverse; /* of the last level's matrix, rows x rows; NULL where it is too large: it is smoothed */
} tsi_amg_host;

/* A level on the device. */
typedef struct tsi_amg_level {
  ts_matrix *A;     /* level 0: the user's */
  ts_matrix *P, *R; /* NULL on the last level */
  /* inverse: 1 / D, or what a smoother takes in its place; residual and direction; b and x not on level 0. */
  ts_vector *inverse, *r, *d, *b, *x;
  double eigenvalue;     /* the largest of D^-1 A, estimated by the set-up */
  int64_t rows, entries; /* of A, of all ranks */
  double transfers;      /* entries of P and R, of all ranks */
} tsi_amg_level;

typedef struct tsi_amg {
  ts_context *context;
  ts_amg_desc desc;       /* resolved; its arrays are no longer there */
  tsi_amg_host host;      /* of a set-up on the device: of the last level what that needs */
  void *device;           /* what the backend keeps of a set-up on the device; NULL: it was on the host */
  int is_unsymmetric;     /* the matrix was, when the hierarchy was made */
  int levels, components; /* components of the vectors, 0 before they are made */
  tsi_amg_level level[TSI_AMG_MAX_LEVELS];
  ts_matrix *inverse;         /* of the last level; NULL: it has none */
  tsi_direct_applied factors; /* of a last level without an inverse; without either it is smoothed */
  ts_amg_info info;
} tsi_amg;

typedef ts_status tsi_amg_body(const tsi_amg *amg, ts_vector *x, const ts_vector *b);

/* A set-up on the device makes the same bits. */
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

/* The first row that is not positive on the diagonal, or -1. */
int32_t tsi_amg_bad_row(const ts_matrix *A, const tsi_amg_csr *csr, float *diagonal);
/* The error of a row that is not positive on the diagonal. */
ts_status tsi_amg_refuse_row(ts_context *context, int32_t row, float diagonal);
/* A level's matrix on the host, which tsi_amg_forget_level gives back. */
ts_status tsi_amg_read_level(const tsi_amg *amg, int l, tsi_amg_csr *A);
void tsi_amg_forget_level(const tsi_amg *amg, int l, tsi_amg_csr *A);

/* ---- amg_setup.c ---- */

/* The whole hierarchy of A, or with `keep` its numbers alone: aggregates and patterns stay. */
ts_status tsi_amg_setup(ts_context *context, const ts_amg_desc *desc, const tsi_amg_csr *A, int keep,
                        tsi_amg_host *host);
/* The same of an A that is not symmetric. */
ts_status tsi_amg_setup_unsymmetric(ts_context *context, const ts_amg_desc *desc, const tsi_amg_csr *A,
                                    int keep, tsi_amg_host *host);
/* The same of the rows of ranks: `halo` is A's, and taken over, also on failure. */
ts_status tsi_amg_setup_on_ranks(ts_context *context, const ts_amg_desc *desc, const tsi_amg_csr *A,
                                 tsi_amg_halo *halo, tsi_amg_host *host);
void tsi_amg_host_free(ts_context *context, tsi_amg_host *host);
/* The near-null space that the descriptor gives, by vectors or by coordinates: rows x vectors, all 0 before. */
void tsi_amg_near_null(const ts_amg_desc *desc, int32_t nodes, double *modes);
/* How many vectors it has, constants where none are given. */
int tsi_amg_vectors(const ts_amg_desc *desc);
/* The largest sum of magnitudes of a row of D^-1 A, of this rank's rows. */
double tsi_amg_bound(const tsi_amg_csr *A);
/* The last level's inverse, or where it is too large the eigenvalue. */
ts_status tsi_amg_finish(ts_context *context, tsi_amg_host *host);

/* Of n rows those of a part, for loops in which each thread has a workspace, begin here; the end is where the
 * next one's begin. */
static inline int32_t tsi_amg_begin(int32_t n, size_t part, int parts) {
  return (int32_t)((int64_t)n * (int64_t)part / parts);
}

/* Sums are sums of runs of so many neighbours, so that threads of a device can share what is long. */
enum { TSI_AMG_RUN = 64 };
/* A run of a row's entries in TSI_AMG_LANES parts, which are then added in pairs: threads of a device do the
 * same. */
enum { TSI_AMG_LANES = 8, TSI_AMG_LANES_RUN = 256 };
static inline double tsi_amg_add_lanes(double sums[TSI_AMG_LANES]) {
  for (int w = TSI_AMG_LANES / 2; w > 0; w /= 2)
    for (int k = 0; k < w; k++) sums[k] += sums[k + w];
  return sums[0];
}

/* ---- amg_factors.c ---- */

/* amg->factors, if they can be had and cost little. */
ts_status tsi_amg_factor_last(tsi_amg *amg);
static inline int tsi_amg_ends_exactly(const tsi_amg *amg) {
  return amg->inverse || amg->factors.direct;
}

/* ---- amg_units.c ---- */

/* level->near_null, 0 before, of one vector for each unknown. */
ts_status tsi_amg_units(ts_context *context, const tsi_amg_host_level *level);

/* A row is for scaled constants if plain ones leave more than 2 % of its diagonal, and scaled ones less than
 * half of that: sums of a_ij and of a_ij scale_j; `scale` is its own. More than half of all rows decide. */
#define tsi_amg_votes(plain, scaled, scale)                                                                    \
  (fabs(plain) * (scale) * (scale) > 0.02 && fabs(scaled) < 0.5 * (fabs(plain) * (scale)))
#define tsi_amg_elect(votes, rows) (2 * (votes) > (rows))

/* ---- amg_strength.c ---- */

#define TSI_AMG_USUAL 0.25 /* the strength of couplings in the five-point Laplacian */
#define TSI_AMG_HELD 0.5   /* a diagonal is dominant if couplings add up to no more than this share of it */

/* The limit of a node's row of blocks: strengths squared, `largest` that of its largest coupling, which is
 * below TSI_AMG_USUAL; `sum` the magnitudes of all, `own` the diagonal's. A macro, so that devices compute the
 * same. */
#define tsi_amg_block_limit(limit, largest, sum, own)                                                          \
  ((sum) <= TSI_AMG_HELD * (own) ? (limit) : (limit) * ((largest) / (TSI_AMG_USUAL * TSI_AMG_USUAL)))

/* The limit of a row with one unknown, if its diagonal is not dominant, with `largest` and `sum` of its
 * negative couplings. A coupling can be stronger than 1 if the other diagonal is larger; and the largest ones
 * are strong whatever the strength. */
#define tsi_amg_limit(strength, largest)                                                                       \
  (fmin(1., (strength) * (strength) / (TSI_AMG_USUAL * TSI_AMG_USUAL)) * fmin(1., (largest)))

/* Of two weights, one as its inverse; 1 if one is 0: nothing is known of the row then. */
#define tsi_amg_ratio(inverse, weight) ((inverse) != 0 && (weight) != 0 ? (weight) * (inverse) : 1.)

/* The strong connections of each node to others, of which some go one way: indices[begins[i]] to
 * indices[ends[i] - 1], ascending, and their magnitudes. */
typedef struct tsi_amg_graph {
  int32_t nodes;
  int32_t *begins, *ends, *indices;
  float *magnitudes;
} tsi_amg_graph;

/* Fills level->strong, and makes the graph. Strengths are those of W A W with W = level->near_null, which may
 * be NULL, if a node has one unknown and there is one vector. `depth`: the level's number. */
ts_status tsi_amg_strength(ts_context *context, const tsi_amg_host_level *level, double strength, int depth,
                           tsi_amg_graph *graph);
void tsi_amg_graph_free(ts_context *context, tsi_amg_graph *graph);

/* ---- amg_unsymmetric.c ---- */

/* level->transposed, once level->A, near_null and the counts of nodes are there; and what it owns is given
 * back. */
ts_status tsi_amg_transposed_create(ts_context *context, tsi_amg_host_level *level);
void tsi_amg_transposed_free(ts_context *context, tsi_amg_host_level *level);
/* Its strong connections too: the graph becomes that of both. */
ts_status tsi_amg_transposed_join(ts_context *context, const tsi_amg_host_level *level, double strength,
                                  int depth, tsi_amg_graph *graph);
/* P from A, R from A^T, or their values alone; those of A^T are computed again. */
ts_status tsi_amg_transposed_smooth(ts_context *context, tsi_amg_host_level *level);

/* ---- amg_noise.c ---- */

/* A number from -1 to 1 for each row. */
static inline float tsi_amg_noise(uint32_t row) {
  uint32_t h = row * 0x9e3779b1u;
  h = (h ^ h >> 16) * 0x7feb352du;
  h = (h ^ h >> 15) * 0x846ca68bu;
  h ^= h >> 16;
  return (float)(h >> 8) / 8388608.0f - 1;
}

/* The smoother of a matrix that is not symmetric. degree 0: what its noise needs. */
ts_status tsi_amg_make_polynomial(ts_context *context, const tsi_amg_csr *A, int degree,
                                  tsi_amg_polynomial *polynomial);

/* ---- amg_roots.c ---- */

/* GMRES's residual polynomial after m steps from a vector of length 1, as steps of smoothing. H is upper
 * Hessenberg, (m + 1) x m with rows of TSI_AMG_DEGREE, and y the coefficients of the solution in the basis.
 * Returns 0 if the roots are not found. */
int tsi_amg_find_roots(const double *h, const double *y, int m, tsi_amg_polynomial *polynomial);

/* ---- amg_aggregate.c ---- */

/* The aggregate of each node. */
ts_status tsi_amg_aggregate(ts_context *context, const tsi_amg_graph *graph, int32_t *aggregates,
                            int32_t *count);

/* ---- amg_prolong.c ---- */

/* level->tentative and level->weights from level->near_null, which becomes the first in double, and the
 * near-null space of the next level: T coarse = fine. Columns that depend on others within an aggregate are 0,
 * and so is their row of `coarse`. */
ts_status tsi_amg_tentative(ts_context *context, const tsi_amg_host_level *level, double *coarse);

/* P = S T by the values of level->A, in the pattern of level->P or, if it has none, in a new one:
 *   S = I - omega D_F^-1 A_F,  omega = 4/3 / (largest eigenvalue of D_F^-1 A_F),
 * where A_F has the strong entries, and the weak ones on its diagonal D_F, by the ratio of weights, so that it
 * maps the first near-null vector to what A maps it to. The eigenvalue is level->eigenvalue
 * times the ratio of the bounds by row sums. */
ts_status tsi_amg_smooth(ts_context *context, tsi_amg_host_level *level);

/* ---- amg_twice.c ---- */

/* P = S once, with the diagonal of A_F, in a new pattern. */
ts_status tsi_amg_smooth_again(ts_context *context, const tsi_amg_host_level *level, const double *filtered,
                               double omega, const tsi_amg_csr *once, tsi_amg_csr *P);
/* S alone: its pattern, in which nothing is before, and its values. */
ts_status tsi_amg_smoother_pattern(ts_context *context, const tsi_amg_host_level *level, tsi_amg_csr *S);
void tsi_amg_smoother_values(const ts_context *context, const tsi_amg_host_level *level, const double *filtered,
                             double omega, const tsi_amg_csr *S);

/* If few couplings are positive, smooth errors are even along strong couplings, and A_F has at most the energy
 * that A has of them. A rotated anisotropy has positive ones on all rows: errors that A hardly feels have
 * twice the energy by A_F, and are not even within aggregates. P = S^2 T spans some of them, from here down:
 * with 64 k rows of rotated bilinear elements, 1:1000, 37 iterations become 20, with operator complexity 1.44
 * instead of 1.26. Of aggregates of few nodes, such as those along lines, two steps do more harm than good: 20
 * iterations of elements that are stretched along the axes become 80. Of those of many, from long rows, they
 * cost more than they save: of elasticity without nodes, 159 iterations and 1.16 become 168 and 1.35. */
static inline int tsi_amg_wants_energies(double rows, double positive, double aggregates) {
  return 2 * positive > rows && rows > 5 * aggregates && rows < 12 * aggregates;
}
static inline int tsi_amg_smooths_twice(double energies, double rows, double aggregates) {
  return energies > 1.9 && rows > 5 * aggregates && rows < 12 * aggregates;
}
/* Whether an entry that is weak makes a row one with a positive coupling. */
#define tsi_amg_is_positive(value, own) ((value) > (own) / 32)

/* A row of P has an entry for each aggregate that the row's strong entries reach. The row of a hub reaches so
 * many that R A P is dense, so a row that reaches more than tsi_amg_reach() aggregates keeps that of T. Meshes
 * reach 15 at most in `texsolve bench families`, and about as many from each row: by entries the mean is 1.05
 * times that by rows. In networks, whose rows of many entries reach many, it is 1.2 to 4 times; there few are
 * enough. Operator complexities of graphs with 128 k rows, without this and with it, and iterations: R-MAT 8.0,
 * 21 and 1.6, 22; Barabasi-Albert 22, 8 and 1.6, 8; a grid with hubs 65, 15 and 1.5, 12. */
enum { TSI_AMG_REACH = 32, TSI_AMG_HUB_REACH = 4 };

#ifdef __CUDACC__
#define TSI_AMG_INLINE static __host__ __device__ __forceinline__
#else
#define TSI_AMG_INLINE static inline
#endif

/* Of rows, their entries, the sum of the aggregates that they reach, TSI_AMG_REACH + 1 at most, and the sum of
 * these times the row's entries. */
TSI_AMG_INLINE int32_t tsi_amg_reach(const double sums[4]) {
  return sums[3] * sums[0] > 1.2 * sums[2] * sums[1] ? TSI_AMG_HUB_REACH : TSI_AMG_REACH;
}

/* ---- amg_eigenvalue.c ---- */

/* The estimate from the growths in the last power iteration, of the norm and of the largest number. Smoothers
 * bear a quarter more. */
#define tsi_amg_raised(of_norm, of_largest) fmax(1.1 * (of_norm), (of_largest))

/* level->eigenvalue; level->bound is there. */
ts_status tsi_amg_eigenvalue(ts_context *context, tsi_amg_host_level *level);

/* Steps e = e - D^-1 A e / root, with the roots of Chebyshev's polynomial on the upper three quarters of the
 * eigenvalues. */
enum { TSI_AMG_SMOOTHINGS = 4 };
static inline double tsi_amg_smoothing_factor(int step, double eigenvalue) {
  static const double cosines[TSI_AMG_SMOOTHINGS] = {0.92387953251128674, 0.38268343236508977,
                                                     -0.38268343236508977, -0.92387953251128674};
  return -1 / (eigenvalue * (0.625 + 0.375 * cosines[step]));
}

/* level->energies: of a vector as smoothing leaves it the energy by A_F, with this diagonal, over that by A.
 * It is 1 at most if no coupling is positive. One unknown a node, one vector, one rank. */
ts_status tsi_amg_energies(ts_context *context, tsi_amg_host_level *level, const double *filtered);

/* ---- amg_sparse.c ---- */

ts_status tsi_amg_csr_create(ts_context *context, int32_t rows, int32_t columns, int64_t entries,
                             tsi_amg_csr *A);
/* The same in two steps: offsets alone; then, when offsets[i + 1] is the length of row i, these are added up
 * and the entries have room. */
ts_status tsi_amg_csr_begin(ts_context *context, int32_t rows, int32_t columns, tsi_amg_csr *A);
ts_status tsi_amg_csr_finish(ts_context *context, tsi_amg_csr *A);
void tsi_amg_csr_free(ts_context *context, tsi_amg_csr *A);
/* Ascending. */
void tsi_amg_sort(int32_t *list, int32_t count);
/* T = -A^T, in the pattern of T where it has one. */
ts_status tsi_amg_transpose(ts_context *context, const tsi_amg_csr *A, tsi_amg_csr *T);
/* C = -R (A P), in the pattern of C where it has one. Rows of P have entries for all of the `unknowns` of a
 * node of C or for none. A row of zeros, of an unknown that nothing needs, gets the smallest diagonal of its
 * node, or 1. */
ts_status tsi_amg_galerkin(ts_context *context, const tsi_amg_csr *R, const tsi_amg_csr *A,
                           const tsi_amg_csr *P, int unknowns, tsi_amg_csr *C);

/* The two halves of that: the product, and the rows of zeros. */
ts_status tsi_amg_product(ts_context *context, const tsi_amg_csr *R, const tsi_amg_csr *A, const tsi_amg_csr *P,
                          int unknowns, tsi_amg_csr *C);
void tsi_amg_fill_zeros(const ts_context *context, const tsi_amg_csr *C, int unknowns);

/* ---- amg_smoothing.c ---- */

/* level->smoothing, from S T, which is `once` if P is S^2 T; that is taken over then. */
ts_status tsi_amg_smoothing_create(ts_context *context, tsi_amg_host_level *level, tsi_amg_csr *once);
void tsi_amg_smoothing_free(ts_context *context, tsi_amg_host_level *level);
/* P's values; `filtered` is the diagonal of A_F if a node has one unknown. */
void tsi_amg_smooth_values(const ts_context *context, const tsi_amg_host_level *level, const double *filtered,
                           double omega);

/* ---- amg_plan.c ---- */

/* The values of C = -R A P as tsi_amg_galerkin computes them, in the pattern that C has. The first time it also
 * finds where all products go, for the next times. */
ts_status tsi_amg_galerkin_again(ts_context *context, tsi_amg_host_level *level, tsi_amg_csr *C);
void tsi_amg_plan_free(ts_context *context, tsi_amg_host_level *level);

/* ---- amg_coarsest.c ---- */

/* The inverse of a small symmetric matrix, row by row; where it is singular, of what is left without the
 * unknowns whose pivots are rounding. */
ts_status tsi_amg_invert(ts_context *context, const tsi_amg_csr *A, float **inverse);

/* ---- amg_eliminate.c ---- */

/* The same of a matrix that is not symmetric. */
ts_status tsi_amg_invert_unsymmetric(ts_context *context, const tsi_amg_csr *A, float **inverse);

/* ---- amg_halo.c: in one process these do nothing ---- */

/* How many nodes of other ranks the rows refer to. */
int32_t tsi_amg_ghosts(const tsi_amg_host_level *level);
/* The number of this rank's first row among those of all. */
uint32_t tsi_amg_first_row(const tsi_amg_host_level *level);
/* `values`, so many bytes of each node, get those of the ghosts. */
ts_status tsi_amg_bring(ts_context *context, const tsi_amg_host_level *level, void *values, size_t bytes);
/* Sums and maxima over the ranks, the same bits on all. */
ts_status tsi_amg_add_up(ts_context *context, const tsi_amg_host_level *level, double *values, int count);
ts_status tsi_amg_largest(ts_context *context, const tsi_amg_host_level *level, double *values, int count);

/* ---- amg_ranks.c ---- */

/* Nodes that are strongly connected to nodes of other ranks only become aggregates of their own. */
void tsi_amg_keep_cut_off(const tsi_amg_host_level *level, int32_t *count);
/* P, R and the next level's matrix and halo, from the aggregates and the tentative prolongator. */
ts_status tsi_amg_coarsen_on_ranks(ts_context *context, tsi_amg_host_level *level, tsi_amg_host_level *next);

/* ---- amg_ranks_coarsest.c ---- */

/* This rank's rows of the application's matrix. */
ts_status tsi_amg_take_rows(const ts_matrix *matrix, int unknowns, tsi_amg_csr *A, tsi_amg_halo **halo);
/* What is refused: descriptors that differ, and rows as tsi_amg_refuse_row tells; the same error on all. */
ts_status tsi_amg_check_rows(const ts_matrix *matrix, const ts_amg_desc *desc, const tsi_amg_csr *A);
/* A level below that is the same, for the inverse. */
ts_status tsi_amg_repeat_level(ts_context *context, tsi_amg_host_level *level, tsi_amg_host_level *next);
/* Of the last level's matrix of all ranks, the same bits on all. */
ts_status tsi_amg_invert_on_ranks(ts_context *context, const tsi_amg_host_level *level, float **inverse);

/* ---- amg_ranks_upload.c ---- */

/* The levels' matrices and the inverse on the devices of the ranks. */
ts_status tsi_amg_upload_on_ranks(tsi_amg *amg);

/* ---- amg_cycle.c ---- */

/* Vectors for so many components, if they are not there. Not within another function of the library. */
ts_status tsi_amg_prepare(tsi_amg *amg, int components);
void tsi_amg_drop_vectors(tsi_amg *amg);
/* z = M^-1 r by one cycle; and what that costs. */
ts_status tsi_amg_cycle(const tsi_amg *amg, ts_vector *z, const ts_vector *r);
tsi_cost tsi_amg_cost(const tsi_amg *amg);

#endif
