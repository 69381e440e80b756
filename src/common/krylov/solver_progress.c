/* Whether auto should change to double although single or mixed precision has not stagnated. Residuals may
 * decrease slowly or oscillate there until max_iterations, and double needs a share of these iterations.
 *
 * The smallest numbers of the history in two successive windows of iterations give the rate, and so the number
 * of iterations still needed. Conjugate directions solve n unknowns in n iterations, up to rounding. After
 * twice that number, a precision continues only if half of the remaining iterations will be enough. If
 * max_iterations is smaller, the check starts at five eighths of it, and the precision continues if all
 * remaining iterations will be enough. */
#include <math.h>

#include "solver.h"

enum { FEWEST = 20 /* iterations before a decision */, SHORT = 200 /* fewer are not split */ };

void tsi_solve_begin_windows(tsi_solve *s) {
  s->window_start = s->iteration;
  s->window_best = s->window_before = INFINITY;
  s->is_slow = 0;
}

/* The largest number of the history that meets the rule, but at least about the precision of doubles. */
static double goal_of(const tsi_solve *s, const double norms[4]) {
  double goal = 1;
  for (int c = 0; c < s->solver->components; c++)
    if (norms[c] > 0) goal = fmin(goal, s->tolerance[c] / norms[c]);
  return fmax(goal, 1e-16);
}

/* The number of iterations still needed. */
static double forecast(const tsi_solve *s, int length, double goal) {
  const double gain = log(s->window_before / s->window_best), rest = log(s->window_best / goal);
  return gain > 0 ? rest / gain * length : INFINITY;
}

int tsi_solve_should_rise(tsi_solve *s, int checked, const double norms[4]) {
  const ts_solver *k = s->solver;
  const ts_solver_desc *desc = &k->desc;
  const double all = desc->max_iterations, enough = fmax(2.0 * tsi_unknowns(k->matrix), FEWEST);
  const double first = fmin(enough, 0.625 * all), share = enough <= first ? 0.5 : 1;
  const double cycle = k->method == &tsi_gmres ? desc->restart : 1;
  const int length = checked - s->window_start;
  if (enough > first && all < SHORT) return 0;
  if (length >= fmax(first / 4, cycle)) {
    s->is_slow = checked >= first && forecast(s, length, goal_of(s, norms)) > share * (all - checked);
    s->window_before = s->window_best;
    s->window_best = INFINITY;
    s->window_start = checked;
  }
  return s->is_slow && desc->precision == TS_PRECISION_AUTO && !k->pairs;
}
