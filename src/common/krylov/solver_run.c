/* A whole solve: copies b and x into the workspace, prepares the start, runs the iterations of the method, and
 * returns x to the user. */
#include <math.h>

#include "common/core/core.h"
#include "cg.h"

/* ---- Returning x to the user ---- */

/* Takes the residual of the first part of x, if the user's vector has only one part, from the numbers in the
 * slots. Returns whether it meets the rule. */
static int read_rounded(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  double largest = 0;
  int met = 1;
  for (int c = 0; c < k->components; c++) {
    const double norm = sqrt(tsi_number(k, tsi_norm_slot(k), c));
    largest = tsi_larger(largest, tsi_solve_relative(s, c, norm));
    met = met && norm <= s->tolerance[c];
  }
  s->result->rounded_residual = largest;
  return met;
}

static ts_status measure_rounded(const tsi_solve *s, int *met) {
  const ts_vector rounded = tsi_first_part(s->solver->x);
  TSI_TRY(tsi_solve_measure(s, &rounded, s->solver->e));
  *met = read_rounded(s);
  return TS_OK;
}

/* x is written with an exponent if its exponent is outside -ordinary .. ordinary. */
enum { ordinary = 40 };

static int largest_exponent(const tsi_solve *s) {
  int largest = INT16_MIN;
  for (int c = 0; c < s->solver->components; c++)
    if (-s->scale_x[c] > largest) largest = -s->scale_x[c];
  return largest >= -ordinary && largest <= ordinary ? 0 : largest;
}

/* Ensures that the user's vector can represent x: it gets doubles, if permitted, when floats would miss the
 * rule. */
static ts_status hold_x(const tsi_solve *s, ts_vector *x) {
  const ts_vector *found = s->solver->x;
  ts_result *result = s->result;
  int met;
  if (largest_exponent(s) || (found->low && !s->met)) TSI_TRY(tsi_hold_doubles(x));
  if (x->low || !found->low) return TS_OK;
  TSI_TRY(measure_rounded(s, &met));
  if (met) return TS_OK;
  TSI_TRY(tsi_hold_doubles(x));
  if (x->low)
    result->rounded_residual = result->relative_residual;
  else if (result->reason == TS_REASON_CONVERGED)
    tsi_say_rounded(result);
  return TS_OK;
}

int tsi_solve_exponent_of_x(const tsi_solve *s, const ts_vector *x) {
  enum { smallest = -1010 }; /* smaller numbers lose digits in doubles too, and this loss must be detected */
  const int largest = largest_exponent(s);
  if (!tsi_may_have_exponent(x)) return 0;
  if (largest < smallest) return -TSI_LARGEST_EXPONENT;
  return largest < TSI_LARGEST_EXPONENT ? largest : TSI_LARGEST_EXPONENT;
}

/* Writes all parts of the workspace's x to x. */
static ts_status write_x(const tsi_solve *s, ts_vector *x) {
  return tsi_solve_write_x(s, x, tsi_solve_exponent_of_x(s, x));
}

/* The residual of the x that the user's vector holds, if its numbers may have left the range of floats. A
 * vector in single precision always rounds x: the effect of that is not a loss of range. */
static ts_status measure_what_is_left(tsi_solve *s, const ts_vector *x, const char *precision) {
  const ts_solver *k = s->solver;
  ts_result *result = s->result;
  const double before = result->rounded_residual;
  TSI_TRY(tsi_solve_read_x(s, x));
  TSI_TRY(tsi_solve_measure(s, k->x, k->e));
  if (k->x->low && !x->low) {
    (void)read_rounded(s);
    if (result->rounded_residual <= 2 * before) return TS_OK;
  }
  tsi_solve_read_numbers(s);
  if (result->reason != TS_REASON_CONVERGED || s->met) return TS_OK;
  char text[160];
  tsi_scale_say_underflow(text, sizeof text, precision, result->relative_residual);
  tsi_solve_finish(s, TS_REASON_BREAKDOWN, text);
  return TS_OK;
}

/* The residual, in doubles, of an x that does not meet the rule. */
static ts_status report_doubles(tsi_solve *s, ts_vector *x) {
  ts_solver *k = s->solver;
  ts_result *result = s->result;
  if (s->met || s->kept || !tsi_solve_rounding_may_show(s)) return TS_OK;
  TSI_TRY(tsi_round_to_doubles(x));
  TSI_TRY(tsi_solve_read_x(s, x));
  k->residual_parts = 3;
  TSI_TRY(tsi_solve_measure(s, k->x, k->e));
  tsi_solve_read_numbers(s);
  result->rounded_residual = result->relative_residual;
  const int at_maximum = result->reason == TS_REASON_MAX_ITERATIONS;
  if (!at_maximum && result->reason != TS_REASON_STAGNATED) return TS_OK;
  if (s->met && k->desc.stop == TS_STOP_RESIDUAL)
    tsi_solve_finish_converged(s);
  else if (at_maximum)
    tsi_solve_finish_at_maximum(s);
  else
    tsi_solve_finish_stagnated(s);
  return TS_OK;
}

/* Writes the workspace's x to the user's x, unless that vector cannot represent it: then it is unchanged. */
static ts_status hand_back(tsi_solve *s, ts_vector *x) {
  ts_solver *k = s->solver;
  ts_result *result = s->result;
  const double size = k->matrix->norm_infinity;
  result->rounded_residual = result->relative_residual;
  TSI_TRY(hold_x(s, x));
  const int exponent = tsi_solve_exponent_of_x(s, x);
  const char *precision = exponent ? "double" : "single";
  tsi_scale_end end = {.components = k->components,
                       .unknowns = tsi_unknowns(k->matrix),
                       .size = k->transposed ? size * k->transposed->norm_infinity : size};
  for (int c = 0; c < k->components; c++) {
    end.unscale[c] = ldexp(1, -s->scale_x[c] - exponent);
    end.tolerance[c] = s->tolerance[c];
    if (s->is_far) end.max_x[c] = s->max_x[c];
  }
  char text[160];
  const double largest = tsi_scale_overflow(&end);
  if (largest > 0) {
    tsi_solve_set_start(s, s->norm_start);
    tsi_scale_say_overflow(text, sizeof text, precision, ldexp(largest, exponent));
    tsi_solve_finish(s, TS_REASON_BREAKDOWN, text);
    return k->desc.zero_start ? tsi_set_zero(x) : TS_OK;
  }
  TSI_TRY(write_x(s, x));
  return tsi_scale_underflow(&end) ? measure_what_is_left(s, x, precision) : report_doubles(s, x);
}

/* Auto continues with pairs if single precision stagnated or broke down. The current x is kept as their
 * start. */
static ts_status keep(tsi_solve *s) {
  ts_solver *k = s->solver;
  const ts_reason reason = s->result->reason;
  if (k->desc.precision != TS_PRECISION_AUTO || k->pairs || !s->ended) return TS_OK;
  if (!(reason == TS_REASON_STAGNATED && s->at_limit) && reason != TS_REASON_BREAKDOWN) return TS_OK;
  TSI_TRY(tsi_arena_create(k->matrix->column_space, k->components, 3, &s->kept, 1, 0, NULL));
  return write_x(s, s->kept);
}

/* ---- The solve ---- */

/* Iterations only: the host reads no numbers. */
static ts_status run_fixed(tsi_solve *s, ts_vector *x) {
  ts_solver *k = s->solver;
  TSI_TRY(tsi_solve_first_residual(s, k->desc.zero_start));
  TSI_TRY(k->method->run_fixed(s));
  TSI_TRY(tsi_solve_add(s, k->x, k->e));
  TSI_TRY(tsi_solve_leave_null_space(s));
  s->result->iterations = s->iteration;
  tsi_solve_set_precision(s, s->precision);
  tsi_solve_finish(s, TS_REASON_FIXED_ITERATIONS, NULL);
  if (k->x->low) TSI_TRY(tsi_hold_doubles(x));
  return write_x(s, x);
}

tsi_solve tsi_solve_of(ts_solver *k, const ts_vector *b, ts_result *result) {
  return (tsi_solve){.solver = k,
                     .result = result,
                     .user_b = b,
                     .precision = TS_PRECISION_SINGLE,
                     .scale = 1,
                     .scale_before = 1,
                     .verified = INFINITY};
}

/* Auto starts with the precision that x as a start needs, or that the workspace already has. */
static ts_precision first_precision(const ts_solver *k, const ts_vector *x) {
  const ts_precision asked = k->desc.precision;
  if (k->pairs) return TS_PRECISION_DOUBLE;
  if (asked != TS_PRECISION_AUTO) return asked;
  return k->x->low || (x->low && !k->desc.zero_start) ? TS_PRECISION_MIXED : TS_PRECISION_SINGLE;
}

/* Restores the workspace's x to the start of the solve. */
static ts_status go_back(tsi_solve *s, const ts_vector *start, int from_zero) {
  ts_solver *k = s->solver;
  k->residual_parts = 3;
  TSI_TRY(from_zero ? tsi_fill(k->x, 0) : tsi_solve_read_x(s, start));
  TSI_TRY(tsi_solve_measure(s, k->x, k->e));
  tsi_solve_read_numbers(s);
  return TS_OK;
}

/* No iteration is needed, and the user's x is unchanged. If it solves the system, it is set to the x that was
 * measured. */
static ts_status leave(const tsi_solve *s, ts_vector *x, int from_zero) {
  if (from_zero) return tsi_set_zero(x);
  if (s->result->reason > TS_REASON_FIXED_ITERATIONS) return TS_OK;
  if (!s->solver->x->low) return tsi_clear_low(x);
  return s->is_rounded ? tsi_round_to_doubles(x) : TS_OK;
}

/* For the stages, which include a method for least squares. */
static ts_status measure_gradient(const tsi_solve *s) {
  ts_solver *k = s->solver;
  const double size = k->matrix->norm_infinity;
  k->least_gradient = 0;
  if (!k->part_of || s->result->reason != TS_REASON_INCOMPATIBLE || !k->matrix->info.symmetric) return TS_OK;
  k->residual_parts = 3;
  TSI_TRY(tsi_solver_residual(k, k->x));
  TSI_TRY(tsi_spmv(k->e, k->matrix, k->r));
  TSI_TRY(k->context->ops->reduce(k->slots, TSI_SLOT_RR, TSI_REDUCE_DOT, k->e, k->e));
  TSI_TRY(tsi_solver_read_slots(k));
  for (int c = 0; c < k->components; c++) {
    const double whole = size * tsi_solve_whole_norm(s, c, s->norm_r[c]);
    if (whole > 0) k->least_gradient = fmax(k->least_gradient, sqrt(tsi_number(k, TSI_SLOT_RR, c)) / whole);
  }
  return TS_OK;
}

ts_status tsi_solver_run(tsi_solve *s, const ts_vector *b, ts_vector *x) {
  ts_solver *k = s->solver;
  ts_result *result = s->result;
  ts_vector *start = s->kept ? s->kept : x;
  const int from_zero = k->desc.zero_start && !s->kept;
  s->kept = NULL;
  s->ended = s->at_limit = s->checked_mode = s->never_carry = s->in_vain = 0;
  s->purified = 0;
  s->verified = INFINITY;
  s->scale = s->scale_before = 1;
  s->scale_from = s->iteration;
  s->reported = s->phase_start = s->phase_best_at = s->iteration;
  tsi_solve_begin_windows(s);
  s->read_as_doubles = x->low || tsi_may_grow(x);
  s->is_rounded = 0;
  k->residual_parts = 3;
  tsi_solve_set_precision(s, first_precision(k, start));
  TSI_TRY(tsi_solve_load(s, b, start, from_zero));
  if (k->desc.fixed_iterations) return run_fixed(s, x);
  TSI_TRY(tsi_solve_first_residual(s, from_zero));
  TSI_TRY(tsi_solver_read_slots(k));
  TSI_TRY(tsi_solve_check_start(s, start, from_zero));
  result->incompatible = tsi_solve_incompatible(s);
  const int is_kept = start != x || s->x_was_zeroed;
  if (s->ended) return is_kept ? hand_back(s, x) : leave(s, x, from_zero);
  const double before = s->measure;
  s->best = result->relative_residual;
  s->best_is_kept = 0;
  TSI_TRY(k->method->run(s));
  if (s->ended && s->iteration == 0 && !s->x_is_current)
    return is_kept ? hand_back(s, x) : leave(s, x, from_zero);
  TSI_TRY(k->method->finish(s));
  if (!s->ended && s->met) tsi_solve_finish_converged(s);
  if (!s->ended) tsi_solve_finish_at_maximum(s);
  result->iterations = s->iteration;
  if (s->projections) TSI_TRY(tsi_cg_restore_b(s));
  TSI_TRY(tsi_solve_leave_null_space(s));
  tsi_solve_set_precision(s, s->precision);
  TSI_TRY(tsi_solve_restore_best(s));
  /* The next precision starts from the kept x. An x that pairs have made worse, or that is not finite, is not
   * returned. */
  const int is_worse = result->reason > TS_REASON_FIXED_ITERATIONS && !(s->measure <= before);
  if (!isfinite(result->relative_residual) || (start != x && is_worse)) TSI_TRY(go_back(s, start, from_zero));
  TSI_TRY(measure_gradient(s));
  TSI_TRY(keep(s));
  return hand_back(s, x);
}
