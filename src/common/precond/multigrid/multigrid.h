/* The multigrid solver: multigrid.c (API, hierarchy), multigrid_coarsest.c (the exact solution),
 * multigrid_cycle.c (cycles), multigrid_steps.c (the steps of cycles), multigrid_parts.c (null-space
 * components) and multigrid_solve.c (iteration until convergence). */
#ifndef TSI_MULTIGRID_H
#define TSI_MULTIGRID_H

#include "common/grid/grid.h"

enum {
  TSI_MAX_LEVELS = 32,
  TSI_COARSEST_POINTS = 300, /* coarsening continues above this */
  TSI_INVERSE_POINTS = 400,  /* maximum points of a coarsest level with exact solution */
  TSI_MAX_STEPS = 64         /* of a list that the backend receives */
};

/* The slots of the scalars. */
enum {
  TSI_MG_NORM,   /* ||r|| */
  TSI_MG_NORM_B, /* ||b|| over points with an equation */
  TSI_MG_SUMS_B, /* sums of b over the null-space components */
  TSI_MG_SUMS = TSI_MG_SUMS_B + 8,
  TSI_MG_SLOTS = TSI_MG_SUMS + 8
};

struct ts_multigrid {
  ts_context *context;
  ts_matrix *matrix;
  ts_multigrid_desc desc; /* resolved */
  tsi_level levels[TSI_MAX_LEVELS];
  int level_count;
  int exact;        /* the coarsest level has its inverse */
  uint64_t version; /* of the stencil's values that the hierarchy was built from */
  int stale;        /* the last update failed */
  ts_vector *r, *low;
  ts_vector *scaled_b, *scaled_x; /* of a solve; NULL until needed */
  ts_scalars *slots;
  size_t bytes_device;
  double seconds_setup;
  double history[TS_MULTIGRID_HISTORY]; /* of the last solve */
  int history_count;
};

/* ---- multigrid_coarsest.c ---- */

/* Computes the (generalised) inverse of the matrix of the coarsest level and uploads it. Waits for the
 * device. */
ts_status tsi_multigrid_invert_coarsest(ts_multigrid *mg);

/* ---- multigrid_cycle.c ---- */

/* Solves A e = r approximately by `count` cycles from 0; e is x of the finest level. */
ts_status tsi_multigrid_correct(ts_multigrid *mg, const ts_vector *r, int count);
/* Whether solves begin with full multigrid: the descriptor requests it, and there is more than one level. */
static inline int tsi_multigrid_is_full(const ts_multigrid *mg) {
  return mg->desc.full && mg->level_count > 1;
}
/* r = b - A (x + low) with all parts of A and b, without its component outside the range of A. */
ts_status tsi_multigrid_residual(ts_multigrid *mg, const ts_vector *b, const ts_vector *x);
/* (x, low) = (x, low) + e; `low` belongs to the solver. */
ts_status tsi_multigrid_add(ts_multigrid *mg, const ts_vector *x, const ts_vector *e);
/* low = the second part of x, or 0; and the reverse, which sets the third part of x to 0. */
ts_status tsi_multigrid_load_low(ts_multigrid *mg, const ts_vector *x);
ts_status tsi_multigrid_store_low(ts_multigrid *mg, const ts_vector *x);
/* Computes (x, low) by one pass of full multigrid for A x = b; points without an equation keep the values of
 * x. */
ts_status tsi_multigrid_begin_full(ts_multigrid *mg, const ts_vector *b, ts_vector *x);
/* z = M^-1 r by one symmetric cycle. z must be 0 at points without an equation, and remains 0 there. */
ts_status tsi_multigrid_precondition(ts_multigrid *mg, ts_vector *z, const ts_vector *r);
/* The cost of this: its work relative to products with the stencil, and the number of its passes. */
void tsi_multigrid_cost(const ts_multigrid *mg, double *products, double *operations);
/* x = 0 in all parts, except at points without an equation. */
ts_status tsi_multigrid_clear(ts_multigrid *mg, ts_vector *x);

/* ---- multigrid_steps.c ---- */

/* Steps that are requested but not yet begun; count is 0 initially. */
typedef struct tsi_step_list {
  int count;
  tsi_step steps[TSI_MAX_STEPS];
} tsi_step_list;

/* Begins the step, or appends it to the list. */
ts_status tsi_steps_add(tsi_step_list *list, const tsi_step *step);
/* Begins the listed steps. */
ts_status tsi_steps_run(tsi_step_list *list);

/* ---- multigrid_parts.c ---- */

/* Writes the sum of v over each null-space component to slots `first` ... */
ts_status tsi_multigrid_sum_parts(ts_multigrid *mg, const ts_vector *v, int first);
/* In each component, v = v - the sum in its slot / the component's size. If the sums are those of v, this
 * removes its means. */
ts_status tsi_multigrid_remove_means(ts_multigrid *mg, ts_vector *v, int first);
/* Removes the means of v: both functions above. */
ts_status tsi_multigrid_project(ts_multigrid *mg, ts_vector *v);
/* Removes the means of (x, low); r is overwritten. */
ts_status tsi_multigrid_center(ts_multigrid *mg, const ts_vector *x);

/* ---- multigrid.c ---- */

/* Checks that the hierarchy belongs to the current values of the stencil. */
ts_status tsi_multigrid_check_current(const ts_multigrid *mg);
ts_status tsi_multigrid_check_vectors(const ts_multigrid *mg, const ts_vector *b, const ts_vector *x);

#endif
