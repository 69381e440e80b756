/* Stencil matrices and the levels of a multigrid hierarchy, as backends see them (Bolz et al. 2003, section 4).
 *
 * The files: stencil.c (from values to a matrix), multigrid.c (descriptor, hierarchy), multigrid_cycle.c (the
 * cycles), multigrid_solve.c (cycles until convergence), and the level_... operations of a backend.
 *
 * Coarse points are the even ones. A dimension of n points gets n / 2 + 1 coarse points. If n is even, the last
 * coarse point is one beyond the grid, and the last fine point is halfway to it.
 *
 * A periodic dimension gets (n + 1) / 2 coarse points, down to 1, a point that is its own neighbour. If n is
 * odd, the last and the first coarse point are neighbours on the fine grid. Their gap is not doubled, so on
 * coarser levels their coupling becomes too strong for a point smoother. If the gap already is at most 0.7 of
 * the others, the two points are therefore merged: n becomes (n - 1) / 2, and fine point n - 1 gets the value
 * of coarse point 0.
 *
 * Interpolation S from coarse to fine: an even point has the value of its coarse point. A point between two
 * coarse points I (west) and I + 1 (east) has w_W e(I) + w_E e(I + 1), and likewise between north and south. A
 * point between four coarse points uses all four. The bilinear weights are 1/2 and 1/4.
 *
 * Operator-dependent weights between west and east use the sums of the stencil's columns c_W = a_SW + a_W +
 * a_NW, c_C and c_E:
 *
 *   w_W = c_W / (c_W + c_E),  w_E likewise
 *
 * If one of c_W and c_E is negligible (at most 1e-6 of the other), the divisor is -c_C. Both weights are 0 if
 * the divisor is at most 1e-6 |c_C|. North and south use the sums of rows. Between four coarse points:
 *
 *   w_SW = -(a_SW + a_S w_W(S) + a_W w_S(W)) / d,  the other three likewise
 *
 * with the weights w_W(S) of the point to the south and w_S(W) of the point to the west. d is minus the sum of
 * the eight outer coefficients. If the sum of a column or row is negligible compared with the opposite one, d
 * is a_C. All four weights are 0 if |d| <= 1e-6 |a_C|.
 *
 * If a coarse point has no equation, and the point between has a zero coefficient towards it, it is inside a
 * wall. The other two coefficients of this column (row), which lead past it, are then added to the middle one.
 *
 * If the eastern (northern) coarse point is beyond the grid, eastern (northern) coefficients and neighbours are
 * mirror images of the western (southern) ones. There is one exception: the boundary fixes the unknown, c_W +
 * c_C > 0.1 |c_W| with the coefficients before mirroring. The coefficients then remain 0.
 *
 * A fine point without an equation between coarse points has equal weights with sum 1, towards those of its
 * coarse points that also lack one. Its value is given. With these weights the coarse rows keep their
 * coefficients towards given values, which determine their own weights. (A coarse point beyond the grid counts
 * as one without an equation if no adjacent fine point has one.)
 *
 * Coarse stencil A_2h = P A_h S with P = S^T / 4. A coarse point has no equation in the following cases:
 *
 * - its fine point (2 I, 2 J) is in the grid and has none;
 * - it is merged from two points, one has none, and the other has a coefficient towards it;
 * - its centre is at most 1e-6 of the largest magnitude of the nine fine centres around it (no part of the grid
 *   is near it).
 *
 * In the first two cases the coefficients of other points towards it remain. */
#ifndef TSI_GRID_H
#define TSI_GRID_H

#include <texsolve/grid.h>

#include "common/core/backend.h"

typedef struct tsi_level tsi_level;
typedef struct tsi_sweep tsi_sweep;
typedef struct tsi_step tsi_step;

/* Data of a stencil matrix (ts_matrix.stencil), found in its values on the host. */
struct tsi_stencil {
  int five_point;      /* all corner coefficients are 0 */
  int has_constrained; /* some points have no equation */
  int periodic_x, periodic_y;
  ts_vector *mask; /* 1 at points with an equation, 0 elsewhere; NULL: 1 everywhere */
  /* Singular parts: `part_count` indicator vectors (1 in the part, 0 elsewhere) and their sizes. */
  int part_count;
  ts_vector *parts[8];
  int32_t part_sizes[8];
  int32_t grounded; /* points without their equation, so that additional components are not singular */
  uint64_t version; /* incremented by every set_values */
};

/* The unknown and the right-hand side of a level. */
typedef enum tsi_level_field { TSI_LEVEL_X, TSI_LEVEL_B } tsi_level_field;

struct tsi_level {
  ts_context *context;
  ts_grid_desc grid;
  ts_grid_storage storage;        /* resolved */
  ts_interpolation interpolation; /* from the next coarser level to this one; resolved */
  int five_point;
  ts_matrix *matrix; /* level 0: the stencil; NULL on coarser levels, which store their own */
  int coarsest;      /* level_coarse_solve will be called, after level_set_inverse */
  void *impl;        /* owned by the backend: stencil, x, b, auxiliary fields, weights */
};

typedef enum tsi_sweep_kind { TSI_SWEEP_JACOBI, TSI_SWEEP_CHEBYSHEV, TSI_SWEEP_COLOURS } tsi_sweep_kind;

/* Whether the last and the first coarse point of a dimension are merged, from its sizes. Contributions to both
 * are added to coarse point 0. As the last point it has the number `coarse`. */
static inline int tsi_is_merged(int32_t fine, int32_t coarse, int periodic) {
  return periodic && coarse < (fine + 1) / 2;
}

/* One smoothing step. Points without an equation keep their values. */
struct tsi_sweep {
  tsi_sweep_kind kind;
  int x_is_zero; /* x is treated as 0 regardless of its contents, for the first step */
  /* - JACOBI: x = x + alpha D^-1 (b - A x).
   * - CHEBYSHEV: d = beta d + alpha D^-1 (b - A x); x = x + d. If beta is 0, d is treated as 0. The level
   *   stores d. */
  float alpha, beta;
  /* COLOURS: Gauss-Seidel on the parities colours[0], [1], ...: 0 (even i, even j), 1 (odd i, even j), 2 (even,
   * odd), 3 (odd, odd). Storage PARITIES only. If a periodic dimension is odd, neighbours of the same colour at
   * the seam enter with their old values. */
  int colours[4];
};

typedef enum tsi_step_kind {
  TSI_STEP_SMOOTH,            /* level_smooth(level, &sweep) */
  TSI_STEP_CLEAR,             /* level_clear(level) */
  TSI_STEP_RESTRICT_RESIDUAL, /* level_restrict_residual(coarse, level) */
  TSI_STEP_PROLONG,           /* level_prolong(level, coarse, 1) */
  TSI_STEP_COARSE_SOLVE       /* level_coarse_solve(level) */
} tsi_step_kind;

/* A step of a cycle: an operation on one level, or between it and the next coarser one. */
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

/* ---- stencil.c: common functions of the kind, for every backend ---- */

int tsi_stencil_has_constrained(const ts_matrix *A);
ts_status tsi_stencil_drop_constrained(ts_vector *out, const ts_matrix *A, const ts_vector *v, ts_vector *zero);
#define TSI_STENCIL_KIND                                                                                       \
  .has_no_entries = "a stencil", .has_constrained = tsi_stencil_has_constrained,                               \
  .drop_constrained = tsi_stencil_drop_constrained

#endif
