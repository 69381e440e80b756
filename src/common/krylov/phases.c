/* Checks of methods that may break down and drift: when r is computed from x, and when the method restarts. */
#include "phases.h"

#include <math.h>
#include <stdio.h>

#include "common/core/core.h"

enum { REPLACEMENT_INTERVAL = 16 /* minimum number of iterations */ };

const char tsi_phases_out_of_range[] = "a number left the range of single precision";
const char tsi_phases_grown[] = "the residual has grown beyond what single precision holds";

/* Marsaglia 2003, "Xorshift RNGs". */
float tsi_phases_random(uint32_t *state) {
  uint32_t x = *state;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  *state = x;
  return ldexpf((float)(x >> 8), -23) - 1;
}

/* ---- Phases ---- */

/* Called for a new e. */
static void forget_best(tsi_solve *s) {
  s->number_kept = INFINITY;
  s->kept_at = -1;
}

ts_status tsi_phases_begin(tsi_solve *s) {
  s->phase_start = s->phase_best_at = s->iteration;
  s->phase_best = INFINITY;
  s->replaced_at = s->iteration;
  s->largest = 0;
  s->false_convergences = 0;
  s->phase_start_measure = s->measure;
  forget_best(s);
  return tsi_fill(s->solver->e, 0);
}

/* Keeps the current e, a few iterations after the check that found `number` so small. */
static ts_status keep_best(tsi_solve *s, const tsi_phases *of, double number) {
  const ts_solver *k = s->solver;
  const double much = 0.25;
  s->number_now = number;
  if (!(number < much * fmin(s->number_kept, s->measure))) return TS_OK;
  s->number_kept = number;
  s->kept_at = s->iteration;
  return k->context->ops->axpby(k->own[of->best], ts_constant(1), k->e, ts_constant(0), k->e);
}

/* x = x + M^-1 e with the better of the current e and the kept e, if that improves x. */
static ts_status try_best(tsi_solve *s, const tsi_phases *of) {
  const ts_solver *k = s->solver;
  const int is_kept = s->number_kept < s->number_now;
  return tsi_solve_try(s, is_kept ? k->own[of->best] : k->e, k->own[of->work]);
}

/* x = x + M^-1 e if that is better, and r recomputed in either case. The directions are kept. */
static ts_status replace_residual(tsi_solve *s, const tsi_phases *of) {
  const ts_solver *k = s->solver;
  const double before = s->measure;
  TSI_TRY(tsi_solve_try(s, k->e, k->own[of->work]));
  if (s->measure < before) {
    TSI_TRY(tsi_fill(k->e, 0));
    forget_best(s);
  } else
    TSI_TRY(tsi_solver_residual(k, k->x_new));
  s->replaced_at = s->phase_best_at = s->iteration;
  s->phase_best = INFINITY;
  s->largest = 0;
  s->false_convergences = s->measure <= 0.5 * before ? 0 : s->false_convergences + 1;
  if (s->met)
    tsi_solve_finish_converged(s);
  else if (s->false_convergences >= 2 && s->result->relative_residual <= s->result->attainable_residual)
    tsi_solve_finish_stagnated(s);
  return s->ended ? TS_OK : of->resume(s);
}

/* Restarts from the best x, or ends the solve if too many restarts gained nothing. */
static ts_status restart(tsi_solve *s, const tsi_phases *of, const char *what, int iteration) {
  const ts_solver *k = s->solver;
  const double before = s->phase_start_measure;
  s->result->restarts++;
  s->in_vain = s->measure <= (what ? 0.9 : 0.5) * before ? 0 : s->in_vain + 1;
  if (s->in_vain) s->shadow++;
  if (s->in_vain < 4) {
    TSI_TRY(tsi_solver_residual(k, k->x));
    return k->method->begin(s);
  }
  if (!what || s->result->relative_residual <= s->result->attainable_residual) {
    tsi_solve_finish_stagnated(s);
    return TS_OK;
  }
  char text[160];
  snprintf(text, sizeof text, "breakdown of %s in iteration %d, where %s, at a relative residual of %.2g",
           of->title, iteration + 1, what, s->result->relative_residual);
  tsi_solve_finish(s, TS_REASON_BREAKDOWN, text);
  return TS_OK;
}

/* ---- Checks ---- */

/* The recurrence residual meets the rule, it has broken down (`what`), or it has stagnated. */
static ts_status look_at_residual(tsi_solve *s, const tsi_phases *of, int converged, const char *what,
                                  int where) {
  if (converged) {
    TSI_TRY(replace_residual(s, of));
    if (s->ended || s->false_convergences < 2) return TS_OK;
  } else {
    TSI_TRY(try_best(s, of));
    if (s->met) {
      tsi_solve_finish_converged(s);
      return TS_OK;
    }
  }
  return restart(s, of, what, where);
}

/* Ends this precision with the best x. */
static ts_status end_at_best(tsi_solve *s, const tsi_phases *of) {
  TSI_TRY(try_best(s, of));
  if (s->met)
    tsi_solve_finish_converged(s);
  else
    tsi_solve_finish_stagnated(s);
  return TS_OK;
}

/* Writes the numbers of the iterations up to `checked` to the history. Returns the first breakdown and its
 * iteration. */
static const char *record_numbers(tsi_solve *s, const tsi_phases *of, int checked, int *where) {
  const ts_solver *k = s->solver;
  const int first = s->reported;
  const char *what = NULL;
  for (int i = first; i < checked; i++) {
    const double ratio = tsi_solve_recurrence_residual(s, of->residual_slot(k, i + 1));
    k->history[i - first] = ratio;
    if (i < s->phase_start) continue;
    tsi_solve_note(s, ratio);
    if (i + 1 == s->kept_at) s->number_kept = ratio;
    if (!what && (what = of->broken(s, i))) *where = i;
    if (i < s->replaced_at) continue;
    s->largest = fmax(s->largest, ratio);
    if (ratio < 0.9 * s->phase_best) {
      s->phase_best = ratio;
      s->phase_best_at = i + 1;
    }
  }
  return what;
}

ts_status tsi_phases_check(tsi_solve *s, const tsi_phases *of, int checked) {
  const ts_solver *k = s->solver;
  const int slot = of->residual_slot(k, checked);
  int where = 0;
  const char *what = record_numbers(s, of, checked, &where);
  TSI_TRY(tsi_solve_progress(s, checked, checked - s->reported));
  if (s->ended) return TS_OK;
  const double now = tsi_solve_recurrence_residual(s, slot);
  if (checked > s->phase_start) TSI_TRY(keep_best(s, of, now));
  const int window = tsi_patience(k->matrix, 3 << s->in_vain);
  const int converged = !what && tsi_solve_recurrence_converged(s, slot);
  if (tsi_solve_should_rise(s, checked, s->norm_rule)) return end_at_best(s, of);
  if (converged || what || checked - s->phase_best_at > window)
    return look_at_residual(s, of, converged, what, where);
  const int may_replace =
      checked - s->replaced_at >= REPLACEMENT_INTERVAL && (!of->may_resume || of->may_resume(s));
  return now <= 1e-3 * s->largest && may_replace ? replace_residual(s, of) : TS_OK;
}

ts_status tsi_phases_finish(tsi_solve *s, const tsi_phases *of) {
  if (s->ended && s->result->reason != TS_REASON_STOPPED) return TS_OK;
  return try_best(s, of);
}
