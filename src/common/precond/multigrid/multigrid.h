/* The multigrid solver, shared by multigrid.c (API, hierarchy), multigrid_coarsest.c (the exact solution),
 * multigrid_cycle.c (cycles), multigrid_steps.c (their steps), multigrid_parts.c (null-space components) and
 * multigrid_solve.c (until converged). */
#ifndef TSI_MULTIGRID_H
#define TSI_MULTIGRID_H

#include "common/grid/grid.h"

enum {
  TSI_MAX_LEVELS = 32,
  TSI_COARSEST_POINTS = 300, /* coarsening goes on above this */
  TSI_INVERSE_POINTS = 400,  /* up to which a coarsest level may have its exact solution */
  TSI_MAX_STEPS = 64         /* of a list that goes to the backend */
};

/* Slots. */
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
  uint64_t version; /* of the values that the hierarchy was built from */
  int stale;        /* the last update failed */
  ts_vector *r, *low;
  ts_vector *scaled_b, *scaled_x; /* of a solve; NULL until one needs them */
  ts_scalars *slots;
  size_t bytes_device;
  double seconds_setup;
  double history[TS_MULTIGRID_HISTORY]; /* of the last solve */
  int history_count;
};

/* ---- multigrid_coarsest.c ---- */

/* Hands the coarsest level the (generalised) inverse of its matrix. Synchronises with the device. */
ts_status tsi_multigrid_invert_coarsest(ts_multigrid *mg);

/* ---- multigrid_cycle.c ---- */

/* The finest level's x = e with A e = r, by `count` cycles from 0. */
ts_status tsi_multigrid_correct(ts_multigrid *mg, const ts_vector *r, int count);
/* Whether solves begin with full multigrid: it was asked for, and there are levels. */
static inline int tsi_multigrid_is_full(const ts_multigrid *mg) {
  return mg->desc.full && mg->level_count > 1;
}
/* r = b - A (x + low) but for what no x can change, with all parts of A and b. */
ts_status tsi_multigrid_residual(ts_multigrid *mg, const ts_vector *b, const ts_vector *x);
/* (x, low) = (x, low) + e, where low is the solver's. */
ts_status tsi_multigrid_add(ts_multigrid *mg, const ts_vector *x, const ts_vector *e);
/* low = x's second part, or 0, and back; x's third part becomes 0. */
ts_status tsi_multigrid_load_low(ts_multigrid *mg, const ts_vector *x);
ts_status tsi_multigrid_store_low(ts_multigrid *mg, const ts_vector *x);
/* (x, low) by one pass of full multigrid on A x = b; points without equation keep the values of x. */
ts_status tsi_multigrid_begin_full(ts_multigrid *mg, const ts_vector *b, ts_vector *x);
/* z = M^-1 r by one symmetric cycle; z is 0 at points without equation before and after it. */
ts_status tsi_multigrid_precondition(ts_multigrid *mg, ts_vector *z, const ts_vector *r);
/* What that costs: its work in products with the stencil, and how many passes it makes. */
void tsi_multigrid_cost(const ts_multigrid *mg, double *products, double *operations);
/* x = 0 in all parts but at points without equation. */
ts_status tsi_multigrid_clear(ts_multigrid *mg, ts_vector *x);

/* ---- multigrid_steps.c ---- */

/* Steps that have been asked for and not yet begun; count 0 at first. */
typedef struct tsi_step_list {
  int count;
  tsi_step steps[TSI_MAX_STEPS];
} tsi_step_list;

/* Begins the step, or puts it on the list. */
ts_status tsi_steps_add(tsi_step_list *list, const tsi_step *step);
/* Begins those on the list. */
ts_status tsi_steps_run(tsi_step_list *list);

/* ---- multigrid_parts.c ---- */

/* Sums of v over each null-space component into slots `first` ... */
ts_status tsi_multigrid_sum_parts(ts_multigrid *mg, const ts_vector *v, int first);
/* v = v - the sums in the slots / the sizes of the parts, in each part: without its means if they are its own.
 */
ts_status tsi_multigrid_remove_means(ts_multigrid *mg, ts_vector *v, int first);
/* Both. */
ts_status tsi_multigrid_project(ts_multigrid *mg, ts_vector *v);
/* The same of (x, low); r is overwritten. */
ts_status tsi_multigrid_center(ts_multigrid *mg, const ts_vector *x);

/* ---- multigrid.c ---- */

/* The hierarchy belongs to the values that the stencil has now. */
ts_status tsi_multigrid_check_current(const ts_multigrid *mg);
ts_status tsi_multigrid_check_vectors(const ts_multigrid *mg, const ts_vector *b, const ts_vector *x);

#endif
