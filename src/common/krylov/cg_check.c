/* Conjugate gradients: the checks of the numbers since the last check. */
#include <math.h>
#include <stdio.h>

#include "cg.h"
#include "common/core/core.h"
#include "stages.h"

double tsi_cg_delta_ratio(const tsi_solve *s, int iteration) {
  double largest = 0;
  for (int c = 0; c < s->solver->components; c++) {
    const double delta = tsi_cg_delta_of(s, iteration, c);
    if (!isfinite(delta)) return NAN;
    if (s->delta_0[c] > 0) largest = fmax(largest, sqrt(fabs(delta) / s->delta_0[c]));
  }
  return largest;
}

/* The recurrence residual meets the rule. */
static int recurrence_has_converged(const tsi_solve *s, int iteration) {
  if (tsi_cg_stops_by_delta(s)) return tsi_cg_delta_ratio(s, iteration) <= s->solver->desc.rtol;
  for (int c = 0; c < s->solver->components; c++)
    if (s->norm_rule[c] > 0 && !(s->norm_r[c] <= s->tolerance[c])) return 0;
  return 1;
}

ts_status tsi_cg_check(tsi_solve *s, int checked) {
  const ts_solver *k = s->solver;
  const int first = s->reported;
  int curvature_at = -1, component = -1, singular_at = -1, is_lost = 0;
  double dmd = 0; /* of that component in that iteration */
  for (int i = first; i < checked; i++) {
    const double ratio = tsi_cg_delta_ratio(s, i + 1);
    k->history[i - first] = ratio;
    tsi_solve_note(s, ratio);
    /* Directions from before a restart, which the iterations still used during its check, are ignored. */
    if (i >= s->phase_start && curvature_at < 0 && (component = tsi_cg_lost_curvature(s, i)) >= 0) {
      curvature_at = i;
      dmd = i == s->phase_start ? tsi_cg_delta_of(s, i, component) : s->direction[component];
    }
    if (i >= s->phase_start && singular_at < 0 && tsi_cg_seems_singular(s, i, ratio)) singular_at = i;
    tsi_cg_follow_direction(s, i);
    tsi_stage_note_iteration(s, i);
    if (i < s->phase_start) continue;
    if (isnan(ratio) && k->pairs && !s->checked_mode && singular_at < 0) singular_at = i;
    /* Directions kept from a residual that was 0 up to rounding are only rounding, and their quotients are
     * arbitrary. */
    if (isnan(ratio) && s->carried && !k->pairs) is_lost = 1;
    if (curvature_at < 0 && singular_at < 0 && !is_lost && isnan(ratio)) {
      char text[160];
      snprintf(text, sizeof text, "breakdown: a number left the range of single precision in iteration %d",
               i + 1);
      s->reported = checked;
      tsi_solve_finish(s, TS_REASON_BREAKDOWN, text);
      return TS_OK;
    }
    /* The criterion is the fall of r from its peak. The peak may be much later than the start of the rise. */
    s->phase_low = fmin(s->phase_low, ratio);
    const int peaks = ratio > 2 * s->phase_peak;
    if (peaks) s->phase_peak = ratio;
    if (peaks || ratio < 0.9 * s->phase_best) {
      s->phase_best = ratio;
      s->phase_best_at = i + 1;
    }
  }
  TSI_TRY(tsi_solve_progress(s, checked, checked - first));
  if (s->ended) return TS_OK;
  if (is_lost) {
    TSI_TRY(tsi_fill(k->e, 0));
    return tsi_cg_drop_directions(s);
  }
  const int vanishes = tsi_cg_leaves_residual(s, checked) && !recurrence_has_converged(s, checked);
  if (singular_at >= 0 || vanishes) {
    int is_handled;
    TSI_TRY(tsi_cg_check_singular(s, singular_at < 0, &is_handled));
    if (is_handled) return TS_OK;
  }
  if (curvature_at >= 0) return tsi_cg_check_curvature(s, curvature_at, component, dmd);
  for (int c = 0; c < k->components; c++) s->peak[c] = fmax(s->peak[c], tsi_cg_size(s, checked, c));
  /* If the first direction is not that of its residual, the method may be no faster than steepest descent
   * (Powell 1976, "Some convergence properties of the conjugate gradient method"). */
  const int waited = checked - s->phase_best_at;
  if (s->carried && waited > tsi_patience(k->matrix, 1)) return tsi_cg_drop_directions(s);
  const int must_end = waited > tsi_window(k->matrix) || tsi_solve_should_rise(s, checked, s->norm_start);
  if (!recurrence_has_converged(s, checked) && !must_end && !tsi_cg_has_fallen_far(s, checked)) return TS_OK;
  if (checked == s->iteration) return tsi_cg_check_residual(s, must_end);
  /* Residuals do not fall evenly: after the iterations since the check, the residual may be many times larger.
   * Comparing b - A x with the earlier one would then look like stagnation. */
  TSI_TRY(tsi_cg_read_present(s));
  return tsi_cg_check(s, s->iteration);
}

void tsi_cg_check_start(tsi_solve *s) {
  const ts_solver *k = s->solver;
  for (int c = 0; c < k->components; c++) {
    const double delta = tsi_cg_delta_of(s, s->iteration, c);
    if (s->iteration == 0) s->delta_0[c] = delta;
    s->delta_begin[c] = delta;
    if (s->norm_start[c] <= ldexp(tsi_solve_unreachable(s, c), -20)) continue;
    char text[160];
    if (!isfinite(delta)) {
      tsi_solve_finish(s, TS_REASON_BREAKDOWN,
                       "breakdown: the first residual leaves the range of single precision; scale the system");
      return;
    }
    if (delta < 0) {
      snprintf(text, sizeof text, "the matrix is not positive definite: r^T M^-1 r is %.3g at the start%s",
               delta, k->m ? ", so its diagonal has negative entries" : "");
      tsi_solve_finish(s, TS_REASON_INDEFINITE, text);
      return;
    }
    if (delta == 0) {
      tsi_solve_finish(s, TS_REASON_BREAKDOWN,
                       "breakdown: r^T M^-1 r is 0 at the start, and r is not: the matrix is not positive "
                       "definite, or out of the range of single precision");
      return;
    }
  }
}
