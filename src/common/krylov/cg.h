/* Declarations shared by the files of conjugate gradients. cg.c documents the recurrence. */
#ifndef TSI_CG_H
#define TSI_CG_H

#include "solver.h"

/* The method's vectors and slots: a few numbers, then delta and d^T A d of each iteration in a ring. */
enum { TSI_CG_D, TSI_CG_Q, TSI_CG_R_NEXT, TSI_CG_D_NEXT, TSI_CG_VECTORS };
enum {
  TSI_CG_SLOT_DD = TSI_SLOT_OWN, /* d^T d, in checked mode */
  TSI_CG_SLOT_QMQ,               /* q^T M^-1 q, with one reduction */
  TSI_CG_SLOT_PQ, /* of the kept direction p when r is replaced: p^T A p, p^T r and r^T M^-1 A p */
  TSI_CG_SLOT_PR,
  TSI_CG_SLOT_QZ,
  TSI_CG_SLOT_DONE, /* iterations that the device did on its own since the last check */
  TSI_CG_SLOT_RING
};

static inline int tsi_cg_delta_slot(const ts_solver *k, int iteration) {
  return TSI_CG_SLOT_RING + 2 * (iteration % k->ring);
}
static inline int tsi_cg_dq_slot(const ts_solver *k, int iteration) {
  return tsi_cg_delta_slot(k, iteration) + 1;
}
/* Removes the scale that r had in this iteration from a squared number. */
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

/* delta of the current r. */
ts_status tsi_cg_sum_delta(const tsi_solve *s, tsi_dot *sum);
/* Resets the numbers that watch the progress of the history. */
void tsi_cg_begin_watch(tsi_solve *s);
/* e = 0 */
ts_status tsi_cg_begin_sum(tsi_solve *s);
/* Reads the numbers of the current r, after the iterations that ran during a check. */
ts_status tsi_cg_read_present(tsi_solve *s);
/* e = 0, d = M^-1 r. The second function first scales an r that was just computed from x to about 1. */
ts_status tsi_cg_begin(tsi_solve *s);
ts_status tsi_cg_begin_rescaled(tsi_solve *s);

/* ---- cg_check.c ---- */

/* Checks delta of the start: M may not be positive, or the numbers may be out of range. */
void tsi_cg_check_start(tsi_solve *s);
/* Checks the numbers of iterations reported .. checked-1. */
ts_status tsi_cg_check(tsi_solve *s, int checked);
/* The maximum of sqrt(delta / delta_0) over the components. */
double tsi_cg_delta_ratio(const tsi_solve *s, int iteration);

/* ---- cg_replace.c ---- */

/* The size of r in an iteration, by the stopping rule: from delta, or from r^T r, which is known at checks. */
double tsi_cg_size(const tsi_solve *s, int iteration, int component);
/* The size at which r is small enough for a check. For an unsolved component this is a fraction of its peak. */
double tsi_cg_enough(const tsi_solve *s, int component);
/* All components of r are that small, and r may be replaced. */
int tsi_cg_has_fallen_far(const tsi_solve *s, int iteration);
/* x = x + e, and its residual. A new start must follow if the iterations continue. */
ts_status tsi_cg_verify(tsi_solve *s);
/* Restarts from x + e with the direction of its residual. */
ts_status tsi_cg_drop_directions(tsi_solve *s);
/* Checks b - A x: the recurrence residual meets the rule, has fallen far, or has stagnated. */
ts_status tsi_cg_check_residual(tsi_solve *s, int must_end);

/* ---- cg_curvature.c ---- */

/* The lower limit of delta for which d^T q <= 0 is significant. */
double tsi_cg_visible(const tsi_solve *s, int component);
/* d^T q <= 0 while delta is not yet small. Returns the component, or -1. */
int tsi_cg_lost_curvature(const tsi_solve *s, int iteration);
/* Updates d^T M d for the next iteration. */
void tsi_cg_follow_direction(tsi_solve *s, int iteration);
/* Estimates the norm of a matrix with values computed by the device. */
ts_status tsi_cg_measure_matrix(const ts_solver *k);
/* Handles d^T q <= 0, given d^T M d of that iteration: ends the solve, or restarts in checked mode. */
ts_status tsi_cg_check_curvature(tsi_solve *s, int iteration, int component, double dmd);

/* ---- cg_singular.c ---- */

/* d^T A d is close to rounding compared with d^T M d, and r grows. */
int tsi_cg_seems_singular(const tsi_solve *s, int iteration, double ratio);
/* M^-1 r is 0 compared with r, by the numbers of a check. */
int tsi_cg_leaves_residual(const tsi_solve *s, int iteration);
/* In pairs: removes the part of b along d, if A d is 0, and restarts. Otherwise d and r are lost, and e is
 * kept. */
ts_status tsi_cg_project(tsi_solve *s, int *is_projected);
/* The same along r, the residual of x, after e was added to x. */
ts_status tsi_cg_project_residual(tsi_solve *s, int *is_projected);
/* At the end: computes the removed parts of b, and the residual, from the user's b. */
ts_status tsi_cg_restore_b(tsi_solve *s);
/* Projects, or ends this precision, after one of these findings. `by_residual`: M^-1 r has vanished but r has
 * not. */
ts_status tsi_cg_check_singular(tsi_solve *s, int by_residual, int *is_handled);

#endif
