/* Stencil matrices and the levels of a multigrid hierarchy, as backends see them (Bolz et al. 2003, section 4).
 *
 * The path: stencil.c (values to a matrix), multigrid.c (descriptor, hierarchy), multigrid_cycle.c (the
 * cycles), multigrid_solve.c (cycles until converged), a backend's level_... operations.
 *
 * Coarse points are the even ones. A dimension of n points becomes n / 2 + 1 coarse ones: where n is even, the
 * last coarse point lies one beyond the grid, and the last fine point is halfway to it. A periodic dimension
 * becomes (n + 1) / 2, down to 1, a point that is its own neighbour. Where n is odd, the last coarse point and
 * the first one are neighbours on the fine grid: their gap stays, and further on a smoother of points could not
 * follow how strongly it couples them. So where it is already at most 0.7 of the others, the two are merged: n
 * becomes (n - 1) / 2, and fine point n - 1 takes the value of coarse point 0.
 *
 * Interpolation S from coarse to fine: an even point takes its coarse point's value. A point between two coarse
 * points I (west) and I + 1 (east) takes w_W e(I) + w_E e(I + 1); north and south likewise; a point between
 * four takes all four. The weights:
 *
 *   bilinear   1/2 and 1/4
 *   operator   with the sums of the stencil's columns c_W = a_SW + a_W + a_NW, c_C and c_E: w_W = c_W / (c_W +
 * c_E), w_E likewise. Where one of c_W, c_E is nothing (at most 1e-6 of the other), the divisor is -c_C. Both 0
 * where the divisor is at most 1e-6 |c_C|. North and south from the rows' sums. Between four: w_SW = -(a_SW +
 * a_S w_W(S) + a_W w_S(W)) / d, with the weights w_W(S) of the point to the south and w_S(W) of the one to the
 * west, d = minus the sum of the eight coefficients around, or a_C where a column's or a row's sum is nothing
 * beside its opposite; the other three likewise. All 0 where |d| <= 1e-6 |a_C|.
 *
 * Where a coarse point has no equation and the point between no coefficient towards it, it is inside a wall:
 * what leads past it, the other two coefficients of the column (row), counts to the middle one.
 *
 * Where the eastern (northern) coarse point lies beyond the grid, eastern (northern) coefficients and
 * neighbours count as mirror images of the western (southern) ones, unless the boundary holds the unknown to a
 * given value: c_W + c_C > 0.1 |c_W|, with the coefficients before any mirroring. Then they are 0, as they are.
 *
 * A point without equation that is not coarse has weights only towards those of its coarse points that have
 * none either, the same for each and 1 in sum: its value is given, and with these the coarse rows keep their
 * coefficients towards given values, from which their own weights come. (A coarse point beyond the grid counts
 * as having none when no fine point beside it has one.)
 *
 * Coarse stencil A_2h = P A_h S with P = S^T / 4. A coarse point whose fine point (2 I, 2 J) is in the grid and
 * has no equation has none either, nor has one merged of two of which one has no equation and the other a
 * coefficient towards it; the others' coefficients towards it stay. One whose centre comes to at most
 * 1e-6 of the largest magnitude of the nine fine centres around has none (nothing of the grid is near it). */
#ifndef TSI_GRID_H
#define TSI_GRID_H

#include <texsolve/grid.h>

#include "common/core/backend.h"

typedef struct tsi_level tsi_level;
typedef struct tsi_sweep tsi_sweep;
typedef struct tsi_step tsi_step;

/* Of a stencil matrix (ts_matrix.stencil). What the host finds in the values. */
struct tsi_stencil {
  int five_point;      /* no corner coefficients anywhere */
  int has_constrained; /* points without equation */
  int periodic_x, periodic_y;
  ts_vector *mask; /* 1 at points with an equation, 0 elsewhere; NULL: all have one */
  /* Singular parts: `part_count` indicator vectors (1 in the part, 0 elsewhere) and their sizes. */
  int part_count;
  ts_vector *parts[8];
  int32_t part_sizes[8];
  int32_t grounded; /* points that lost their equation so that a further component is not singular */
  uint64_t version; /* grows with every set_values */
};

/* The unknown and the right-hand side of a level. */
typedef enum tsi_level_field { TSI_LEVEL_X, TSI_LEVEL_B } tsi_level_field;

struct tsi_level {
  ts_context *context;
  ts_grid_desc grid;
  ts_grid_storage storage;        /* resolved */
  ts_interpolation interpolation; /* from the next coarser level to this one; resolved */
  int five_point;
  ts_matrix *matrix; /* level 0: the stencil; NULL on coarser ones, which have their own */
  int coarsest;      /* level_coarse_solve will be called: level_set_inverse first */
  void *impl;        /* the backend's: stencil, x, b, whatever helper fields, weights */
};

typedef enum tsi_sweep_kind { TSI_SWEEP_JACOBI, TSI_SWEEP_CHEBYSHEV, TSI_SWEEP_COLOURS } tsi_sweep_kind;

/* Whether the last and the first coarse point of a dimension are merged, from its sizes. What is computed of
 * them both is added up in coarse point 0; as the last one it is counted as coarse point `coarse`. */
static inline int tsi_is_merged(int32_t fine, int32_t coarse, int periodic) {
  return periodic && coarse < (fine + 1) / 2;
}

/* One smoothing step. Points without equation keep their values. */
struct tsi_sweep {
  tsi_sweep_kind kind;
  int x_is_zero; /* x counts as 0 whatever it holds: the first step after that */
  /* JACOBI: x = x + alpha D^-1 (b - A x).
   * CHEBYSHEV: d = beta d + alpha D^-1 (b - A x); x = x + d; beta 0: d counts as 0. The level keeps d. */
  float alpha, beta;
  /* COLOURS: Gauss-Seidel on the parities colours[0], [1], ...: 0 (even i, even j), 1 (odd i, even j),
   * 2 (even, odd), 3 (odd, odd). Storage PARITIES only. Where a periodic dimension is odd, neighbours of one
   * colour at the seam count with their values of before. */
  int colours[4];
};

typedef enum tsi_step_kind {
  TSI_STEP_SMOOTH,            /* level_smooth(level, &sweep) */
  TSI_STEP_CLEAR,             /* level_clear(level) */
  TSI_STEP_RESTRICT_RESIDUAL, /* level_restrict_residual(coarse, level) */
  TSI_STEP_PROLONG,           /* level_prolong(level, coarse, 1) */
  TSI_STEP_COARSE_SOLVE       /* level_coarse_solve(level) */
} tsi_step_kind;

/* A step of a cycle: an operation on a level, or between it and the next coarser one. */
struct tsi_step {
  tsi_step_kind kind;
  tsi_level *level, *coarse;
  tsi_sweep sweep;
};

/* ---- The table tsi_ops.grid ---- */

/* clang-format off */
#define TSI_GRID_OPERATIONS(REQUIRED, UNWATCHED, OPTIONAL, prefix)                                             \
  /* ---- Stencil matrices. Only stencil_read and level_read wait ---- */                                      \
                                                                                                               \
  /* A->stencil is set, A->kind is not yet, and A->row_space is a grid; values: nine a point, validated. In    \
   * products rows without equation become 0. */                                                               \
  REQUIRED(prefix, ts_status, stencil_create, (ts_matrix *A, const float *values))                             \
  UNWATCHED(prefix, ts_status, stencil_write, (ts_matrix *A, const float *values))                             \
  REQUIRED(prefix, ts_status, stencil_read, (const ts_matrix *A, float *values))                               \
  /* r = b - A (x + low), in double or with the rounding errors of products and sums as second numbers. r may  \
   * be b and is none of the others. Rows without equation become 0. */                                        \
  REQUIRED(prefix, ts_status, stencil_residual,                                                                \
           (ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x, const ts_vector *low))   \
                                                                                                               \
  /* ---- Levels ---- */                                                                                       \
                                                                                                               \
  /* Everything of `level` but impl is set. Level 0 uses its matrix's coefficients. New fields are 0. */       \
  UNWATCHED(prefix, ts_status, level_create, (tsi_level *level))                                               \
  UNWATCHED(prefix, void, level_destroy, (tsi_level *level))                                                   \
  /* After the coefficients of a level have changed, before anything else is done with it: brings them into the\
   * level's storage. */                                                                                       \
  UNWATCHED(prefix, ts_status, level_prepare, (tsi_level *level))                                              \
  /* The weights between two prepared levels, and then the coarse stencil from them. */                        \
  UNWATCHED(prefix, ts_status, level_coarsen, (tsi_level *coarse, tsi_level *fine))                            \
  REQUIRED(prefix, ts_status, level_read, (const tsi_level *level, float *values)) /* nine a point */          \
  /* x = inverse b, dense, row-major, n x n for the n = width * height points in their order. */               \
  UNWATCHED(prefix, ts_status, level_set_inverse, (tsi_level *level, const float *inverse))                    \
  REQUIRED(prefix, ts_status, level_coarse_solve, (tsi_level *level))                                          \
                                                                                                               \
  /* A field from and to a vector over the finest grid (one component). `add`: v = v + x, else v = x, where    \
   * points without equation keep what v holds. */                                                             \
  REQUIRED(prefix, ts_status, level_load, (tsi_level *level, tsi_level_field field, const ts_vector *v))       \
  REQUIRED(prefix, ts_status, level_store, (ts_vector *v, const tsi_level *level, int add))                    \
  REQUIRED(prefix, ts_status, level_clear, (tsi_level *level)) /* x = 0 */                                     \
                                                                                                               \
  REQUIRED(prefix, ts_status, level_smooth, (tsi_level *level, const tsi_sweep *sweep))                        \
  /* coarse b = P (b - A x); and for full multigrid coarse b = P b. */                                         \
  REQUIRED(prefix, ts_status, level_restrict_residual, (tsi_level *coarse, tsi_level *fine))                   \
  REQUIRED(prefix, ts_status, level_restrict, (tsi_level *coarse, tsi_level *fine))                            \
  /* Coarse x = fine x at coarse points without equation that are fine points, 0 elsewhere. */                 \
  REQUIRED(prefix, ts_status, level_inject, (tsi_level *coarse, tsi_level *fine))                              \
  /* fine x = x + S coarse x, or with `add` 0 fine x = S coarse x. Points without equation keep their          \
   * values. */                                                                                                \
  REQUIRED(prefix, ts_status, level_prolong, (tsi_level *fine, tsi_level *coarse, int add))                    \
  /* Steps of a cycle one after the other, to the same result but for rounding as by the operations that       \
   * tsi_step_kind names. */                                                                                   \
  OPTIONAL(prefix, ts_status, level_steps, (const tsi_step *steps, int count))
/* clang-format on */

struct tsi_grid_ops {
  TSI_GRID_OPERATIONS(TSI_FIELD, TSI_FIELD, TSI_FIELD, )
};

/* ---- stencil.c: what the kind of a stencil has on every backend ---- */

int tsi_stencil_has_constrained(const ts_matrix *A);
ts_status tsi_stencil_drop_constrained(ts_vector *out, const ts_matrix *A, const ts_vector *v, ts_vector *zero);
#define TSI_STENCIL_KIND                                                                                       \
  .has_no_entries = "a stencil", .has_constrained = tsi_stencil_has_constrained,                               \
  .drop_constrained = tsi_stencil_drop_constrained

#endif
