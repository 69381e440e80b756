/* What the files of conjugate gradients share; cg.c has the recurrence. */
#ifndef TSI_CG_H
#define TSI_CG_H

#include "solver.h"

/* Vectors and slots of its own: a few numbers, then delta and d^T A d of every iteration in a ring. */
enum { TSI_CG_D, TSI_CG_Q, TSI_CG_R_NEXT, TSI_CG_D_NEXT, TSI_CG_VECTORS };
enum {
  TSI_CG_SLOT_DD = TSI_SLOT_OWN, /* d^T d, in checked mode */
  TSI_CG_SLOT_QMQ,               /* q^T M^-1 q, with one reduction */
  TSI_CG_SLOT_PQ, /* of the direction that is kept where r is replaced: p^T A p, p^T r and r^T M^-1 A p */
  TSI_CG_SLOT_PR,
  TSI_CG_SLOT_QZ,
  TSI_CG_SLOT_DONE, /* iterations that the device has carried out by itself since the last check */
  TSI_CG_SLOT_RING
};

static inline int tsi_cg_delta_slot(const ts_solver *k, int iteration) {
  return TSI_CG_SLOT_RING + 2 * (iteration % k->ring);
}
static inline int tsi_cg_dq_slot(const ts_solver *k, int iteration) {
  return tsi_cg_delta_slot(k, iteration) + 1;
}
/* Numbers of an iteration, without the scale that r had in it. */
static inline double tsi_cg_unscaled(const tsi_solve *s, int iteration, double squared) {
  const double scale = iteration >= s->scale_from ? s->scale : s->scale_before;
  return squared / (scale * scale);
}
static inline double tsi_cg_delta_of(const tsi_solve *s, int iteration, int component) {
  return tsi_cg_unscaled(s, iteration,
                         tsi_number(s->solver, tsi_cg_delta_slot(s->solver, iteration), component));
}
static inline double tsi_cg_dq_of(const tsi_solve *s, int iteration, int component) {
  return tsi_cg_unscaled(s, iteration, tsi_number(s->solver, tsi_cg_dq_slot(s->solver, iteration), component));
}

static inline int tsi_cg_stops_by_delta(const tsi_solve *s) {
  return s->solver->desc.stop == TS_STOP_DELTA;
}

/* ---- cg.c ---- */

/* delta of the present r. */
ts_status tsi_cg_sum_delta(const tsi_solve *s, tsi_dot *sum);
/* Since when, and from what, the history is looked at. */
void tsi_cg_begin_watch(tsi_solve *s);
/* e = 0 */
ts_status tsi_cg_begin_sum(tsi_solve *s);
/* Reads the numbers of r as it is now, after the iterations that went on while a check was awaited. */
ts_status tsi_cg_read_present(tsi_solve *s);
/* e = 0, d = M^-1 r; and of an r that has just been computed from x, which is brought to about 1. */
ts_status tsi_cg_begin(tsi_solve *s);
ts_status tsi_cg_begin_rescaled(tsi_solve *s);

/* ---- cg_check.c ---- */

/* delta of the start: M may not be positive, or the numbers not in range. */
void tsi_cg_judge_start(tsi_solve *s);
/* Looks at the numbers of iterations reported .. checked-1. */
ts_status tsi_cg_judge(tsi_solve *s, int checked);
/* The largest of sqrt(delta / delta_0) of the components. */
double tsi_cg_delta_ratio(const tsi_solve *s, int iteration);

/* ---- cg_replace.c ---- */

/* The size of r in an iteration by what ends the solve: delta, or r^T r, which is known at checks. */
double tsi_cg_size(const tsi_solve *s, int iteration, int component);
/* The size at which r is small enough to be looked at: in components that are not solved, a part of what it
 * was. */
double tsi_cg_enough(const tsi_solve *s, int component);
/* r is so small in all components, and may be replaced. */
int tsi_cg_has_fallen_far(const tsi_solve *s, int iteration);
/* x = x + e, and what is left then. To go on from there, begin. */
ts_status tsi_cg_verify(tsi_solve *s);
/* Begins again from x + e, with the directions of its residual. */
ts_status tsi_cg_drop_directions(tsi_solve *s);
/* The recurrence residual meets the rule, or has fallen far, or has not improved for long: look at b - A x. */
ts_status tsi_cg_judge_residual(tsi_solve *s, int must_end);

/* ---- cg_curvature.c ---- */

/* d^T q <= 0 means something where delta is above this. */
double tsi_cg_visible(const tsi_solve *s, int component);
/* d^T q <= 0 where delta is not yet small. Returns the component, or -1. */
int tsi_cg_lost_curvature(const tsi_solve *s, int iteration);
/* Keeps d^T M d of the iteration after this one. */
void tsi_cg_follow_direction(tsi_solve *s, int iteration);
/* The norm of a matrix whose values the device computed. */
ts_status tsi_cg_measure_matrix(const ts_solver *k);
/* d^T q <= 0 against d^T M d there: ends the solve, or begins again in checked mode. */
ts_status tsi_cg_judge_curvature(tsi_solve *s, int iteration, int component, double dmd);

/* ---- cg_singular.c ---- */

/* d^T A d is hardly more than rounding beside d^T M d, and r grows. */
int tsi_cg_seems_singular(const tsi_solve *s, int iteration, double ratio);
/* M^-1 r has become 0 beside r, in the numbers of a check. */
int tsi_cg_leaves_residual(const tsi_solve *s, int iteration);
/* In pairs: takes the part of b along d out of it, if A d is 0, and begins again; else d and r are lost, and e
 * stays. */
ts_status tsi_cg_project(tsi_solve *s, int *is_projected);
/* The same along r, the residual of x, when e is a part of x. */
ts_status tsi_cg_project_rest(tsi_solve *s, int *is_projected);
/* At the end: the parts that were taken out of b, and the residual with them, by the user's b. */
ts_status tsi_cg_restore_b(tsi_solve *s);
/* What follows from that: a projection, or the end of this precision. `by_residual`: M^-1 r has vanished and r
 * has not. */
ts_status tsi_cg_judge_singular(tsi_solve *s, int by_residual, int *is_settled);

#endif
