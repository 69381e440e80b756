/* Cycles until convergence. The solution is x + low, two floats per point:
 *
 *   r = b - A (x + low);  e = a cycle on A e = r from 0;  (x, low) = (x, low) + e
 *
 * so that the residual keeps falling after x itself is accurate to the last bit. If the user's x has a second
 * part, it is the initial and the final `low`; a third part becomes 0. The host reads one number per cycle,
 * ||r||.
 *
 * If squares of b or r would leave the range of single precision before the residual is small enough, the solve
 * uses copies of b and x. They are scaled by a power of two. Other solves avoid this cost. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "common/core/core.h"
#include "multigrid.h"

enum {
  FACTOR_CYCLES = 5,
  STAGNATION_CYCLES = 5 /* without a reduction by a twentieth */
};

typedef struct solve {
  ts_multigrid *mg;
  const ts_vector *b;
  ts_vector *x;   /* b and x are the user's, or the scaled copies */
  ts_vector *out; /* the user's x */
  int exponent;   /* of the scale; 0: not scaled */
  ts_result *result;
  double norm; /* reference of the relative residual: ||b||, or if that is 0 the contribution of points without
                  an equation */
  double recent[FACTOR_CYCLES + 1]; /* relative residuals of the last cycles, at cycle modulo size */
  double best;
  int best_cycle;
} solve;

/* ---- Numbers ---- */

static ts_status read_slots(ts_multigrid *mg, double slots[4 * TSI_MG_SLOTS]) {
  return tsi_scalars_read(mg->slots, 0, TSI_MG_SLOTS, slots);
}

static double number(const double *slots, int index) {
  return slots[4 * (size_t)index];
}

/* r = b - A (x + low) without its component outside the range of A; its norm goes to a slot. */
static ts_status compute_residual(const solve *s) {
  ts_multigrid *mg = s->mg;
  TSI_TRY(tsi_multigrid_residual(mg, s->b, s->x));
  return mg->context->ops->reduce(mg->slots, TSI_MG_NORM, TSI_REDUCE_NORM2, mg->r, mg->r);
}

/* r = b - A 0: b at points with an equation. `low` is overwritten. */
static ts_status measure_right_hand_side(const solve *s) {
  ts_multigrid *mg = s->mg;
  const tsi_ops *ops = mg->context->ops;
  const ts_vector b = tsi_first_part(s->b);
  TSI_TRY(ops->fill(mg->low, 0));
  TSI_TRY(tsi_residual(mg->r, &b, mg->matrix, mg->low));
  TSI_TRY(ops->reduce(mg->slots, TSI_MG_NORM_B, TSI_REDUCE_NORM2, mg->r, mg->r));
  return tsi_multigrid_sum_parts(mg, mg->r, TSI_MG_SUMS_B);
}

static double incompatible_part(const ts_multigrid *mg, const double *slots) {
  const tsi_stencil *stencil = mg->matrix->stencil;
  double squares = 0;
  for (int k = 0; k < stencil->part_count; k++) {
    const double sum = number(slots, TSI_MG_SUMS_B + k);
    squares += sum * sum / stencil->part_sizes[k];
  }
  return sqrt(squares);
}

static void record(solve *s, int cycle, double relative) {
  ts_result *result = s->result;
  s->recent[cycle % (FACTOR_CYCLES + 1)] = relative;
  result->iterations = cycle;
  result->relative_residual = relative;
  const int place = cycle < TS_MULTIGRID_HISTORY ? cycle : TS_MULTIGRID_HISTORY - 1;
  s->mg->history[place] = relative;
  s->mg->history_count = place + 1;
  const int count = cycle < FACTOR_CYCLES ? cycle : FACTOR_CYCLES;
  if (count == 0) return;
  const double first = s->recent[(cycle - count) % (FACTOR_CYCLES + 1)];
  result->factor = first > 0 ? pow(relative / first, 1.0 / count) : 0;
}

/* ---- Reasons ---- */

static int finish(ts_result *result, ts_reason reason, const char *message) {
  result->reason = reason;
  snprintf(result->message, sizeof result->message, "%s", message);
  return 1;
}

static int check_start(solve *s, const double *slots) {
  ts_result *result = s->result;
  const double norm_b = number(slots, TSI_MG_NORM_B), norm_r = number(slots, TSI_MG_NORM);
  if (!isfinite(norm_b) || !isfinite(norm_r)) {
    result->relative_residual = NAN;
    return finish(result, TS_REASON_NAN_INPUT,
                  isfinite(norm_b) ? "the starting value holds a NaN, an infinity or too large numbers"
                                   : "the right-hand side holds a NaN or an infinity");
  }
  if (norm_b > 0) s->norm = norm_b;
  if (norm_b > 0) result->incompatible = incompatible_part(s->mg, slots) / norm_b;
  record(s, 0, s->norm > 0 ? norm_r / s->norm : 0);
  s->best = result->relative_residual;
  if (norm_r > 0) return 0;
  return finish(result, TS_REASON_ZERO_RESIDUAL, ts_reason_text(TS_REASON_ZERO_RESIDUAL));
}

/* *stopped: why the application stops the solve after `cycle` cycles, or NULL. */
static ts_status ask(const solve *s, int cycle, const char **stopped) {
  const ts_multigrid_desc *desc = &s->mg->desc;
  const double relative = s->result->relative_residual;
  const ts_progress progress = {
      .iteration = cycle, .count = 1, .history = &relative, .relative_residual = relative};
  int stops = 0;
  *stopped = tsi_poll_stops(s->mg->context) ? ts_status_text(TS_ERROR_STOPPED) : NULL;
  if (desc->progress)
    TSI_TRY(tsi_call_progress(s->mg->context, desc->progress, &progress, desc->progress_user, &stops));
  if (stops) *stopped = ts_reason_text(TS_REASON_STOPPED);
  return TS_OK;
}

/* Checks for an end after `cycle` cycles. Returns 1 if the solve ends. */
static int check(solve *s, int cycle, const char *stopped) {
  const ts_multigrid_desc *desc = &s->mg->desc;
  ts_result *result = s->result;
  const double relative = result->relative_residual;
  char text[160];
  if (relative <= desc->rtol) {
    snprintf(text, sizeof text, "converged to a relative residual of %.2g in %d cycle%s", relative, cycle,
             cycle == 1 ? "" : "s");
    return finish(result, TS_REASON_CONVERGED, text);
  }
  if (stopped) return finish(result, TS_REASON_STOPPED, stopped);
  if (isnan(relative)) { /* regardless of its sign */
    snprintf(text, sizeof text, "diverged: the relative residual is not a number after %d cycle%s", cycle,
             cycle == 1 ? "" : "s");
    return finish(result, TS_REASON_DIVERGED, text);
  }
  if (isinf(relative) || relative > 1e3 * fmax(1, s->mg->history[0])) {
    snprintf(text, sizeof text, "diverged: the relative residual is %.2g after %d cycle%s", relative, cycle,
             cycle == 1 ? "" : "s");
    return finish(result, TS_REASON_DIVERGED, text);
  }
  if (relative < 0.95 * s->best) {
    s->best = relative;
    s->best_cycle = cycle;
  }
  if (cycle - s->best_cycle >= STAGNATION_CYCLES) {
    snprintf(text, sizeof text,
             "stagnated: the relative residual is %.2g after %d cycles and was %.2g after %d", relative, cycle,
             s->best, s->best_cycle);
    return finish(result, TS_REASON_STAGNATED, text);
  }
  if (cycle >= desc->max_cycles) {
    snprintf(text, sizeof text, "the maximum of %d cycles was reached at a relative residual of %.2g", cycle,
             relative);
    return finish(result, TS_REASON_MAX_ITERATIONS, text);
  }
  return 0;
}

/* ---- Scale ---- */

/* Whether squares are in range. They must be far enough from 0, including those of single elements after the
 * residual has fallen to rtol. They must also be far enough from the largest number, including those of growing
 * residuals before the solve is declared divergent. */
static int is_in_range(const solve *s, const double *slots) {
  const tsi_grid *g = &s->mg->matrix->row_space->grid;
  const double norm_b = number(slots, TSI_MG_NORM_B), norm_r = number(slots, TSI_MG_NORM),
               norm = norm_b > 0 ? norm_b : s->norm;
  const double least = 1e-17 * sqrt((double)g->width * g->height) / fmax(s->mg->desc.rtol, 1e-10), most = 1e14;
  return norm >= least && norm_b <= most && norm_r <= most;
}

/* max |b| over points with an equation and max |b - A x|; r is overwritten. */
static ts_status measure_range(const solve *s, double *slots) {
  ts_multigrid *mg = s->mg;
  const tsi_ops *ops = mg->context->ops;
  const ts_vector b = tsi_first_part(s->b), x = tsi_first_part(s->x);
  TSI_TRY(ops->fill(mg->low, 0));
  TSI_TRY(tsi_residual(mg->r, &b, mg->matrix, mg->low));
  TSI_TRY(ops->reduce(mg->slots, TSI_MG_NORM_B, TSI_REDUCE_MAX_ABS, mg->r, mg->r));
  TSI_TRY(tsi_residual(mg->r, &b, mg->matrix, &x));
  TSI_TRY(ops->reduce(mg->slots, TSI_MG_NORM, TSI_REDUCE_MAX_ABS, mg->r, mg->r));
  return read_slots(mg, slots);
}

/* Allocates copies of b and x with these numbers of parts. */
static ts_status create_scaled(ts_multigrid *mg, int b_parts, int x_parts) {
  ts_space *space = mg->matrix->row_space;
  if (mg->scaled_b && tsi_parts(mg->scaled_b) == b_parts && tsi_parts(mg->scaled_x) == x_parts) return TS_OK;
  tsi_vector_destroy(mg->scaled_b);
  tsi_vector_destroy(mg->scaled_x);
  mg->scaled_b = mg->scaled_x = NULL;
  TSI_TRY(tsi_arena_create(space, 1, b_parts, &mg->scaled_b, 1, 0, NULL));
  return tsi_arena_create(space, 1, x_parts, &mg->scaled_x, 1, 0, NULL);
}

/* Replaces s->b and s->x by copies with a largest number of about 1, in b or in the first residual if that is
 * larger. */
static ts_status scale(solve *s, double *slots) {
  ts_multigrid *mg = s->mg;
  TSI_TRY(measure_range(s, slots));
  const double largest = fmax(number(slots, TSI_MG_NORM_B), number(slots, TSI_MG_NORM));
  int exponent = 0;
  if (isfinite(largest) && largest > 0) frexp(largest, &exponent);
  exponent = exponent < -125 ? 125 : exponent > 125 ? -125 : -exponent;
  if (exponent == 0) return TS_OK;
  TSI_TRY(create_scaled(mg, tsi_parts(s->b), tsi_parts(s->x)));
  const ts_coefficient factor = ts_constant(ldexpf(1, exponent));
  TSI_TRY(tsi_copy_parts(mg->scaled_b, factor, s->b));
  TSI_TRY(tsi_copy_parts(mg->scaled_x, factor, s->x));
  s->exponent = exponent;
  s->b = mg->scaled_b;
  s->x = mg->scaled_x;
  return TS_OK;
}

/* Copies the solution at points with an equation to the user's x. `largest` is max |x| of the scaled copy. */
static ts_status unscale(const solve *s, double largest) {
  ts_multigrid *mg = s->mg;
  const tsi_ops *ops = mg->context->ops;
  const double unscaled = ldexp(largest, -s->exponent);
  if (unscaled > FLT_MAX || (largest > 0 && unscaled < FLT_MIN)) {
    char text[160];
    snprintf(text, sizeof text, "the solution, as large as %.2g, leaves the range of single precision",
             unscaled);
    finish(s->result, TS_REASON_DIVERGED, text);
    if (unscaled > FLT_MAX) return TS_OK;
  }
  const ts_vector *from = s->x;
  for (ts_vector *to = s->out; to; to = to->low, from = from->low) {
    const ts_vector part = tsi_first_part(from);
    ts_vector to_part = tsi_first_part(to);
    TSI_TRY(ops->axpby(mg->r, ts_constant(ldexpf(1, -s->exponent)), &part, ts_constant(0), &part));
    TSI_TRY(ops->grid->level_load(&mg->levels[0], TSI_LEVEL_X, mg->r));
    TSI_TRY(ops->grid->level_store(&to_part, &mg->levels[0], 0));
  }
  return TS_OK;
}

/* ---- b = 0 ---- */

/* Computes the norms of b and of the first residual. */
static ts_status multigrid_solve_begin(const solve *s, double *slots) {
  TSI_TRY(measure_right_hand_side(s));
  if (tsi_multigrid_is_full(s->mg)) TSI_TRY(tsi_multigrid_clear(s->mg, s->x)); /* the history begins here */
  TSI_TRY(tsi_multigrid_load_low(s->mg, s->x));
  TSI_TRY(compute_residual(s));
  return read_slots(s->mg, slots);
}

/* r = x at points with an equation, 0 elsewhere. */
static ts_status load_free_points(ts_multigrid *mg, const ts_vector *x) {
  const tsi_ops *ops = mg->context->ops;
  const ts_vector part = tsi_first_part(x);
  TSI_TRY(ops->grid->level_load(&mg->levels[0], TSI_LEVEL_X, &part));
  TSI_TRY(ops->fill(mg->r, 0));
  return ops->grid->level_store(mg->r, &mg->levels[0], 0);
}

/* If b = 0, the solution is 0 for any start, except for the contribution of points without an equation. s->norm
 * becomes the norm of that contribution. *is_over returns whether the solve ends. */
static ts_status treat_zero_b(solve *s, double *slots, int *is_over) {
  ts_multigrid *mg = s->mg;
  const tsi_ops *ops = mg->context->ops;
  *is_over = 0;
  if (number(slots, TSI_MG_NORM_B) != 0 || !isfinite(number(slots, TSI_MG_NORM))) return TS_OK;
  TSI_TRY(measure_range(s, slots));
  if (number(slots, TSI_MG_NORM_B) != 0 || number(slots, TSI_MG_NORM) == 0)
    return multigrid_solve_begin(s, slots);
  const ts_vector x = tsi_first_part(s->x);
  TSI_TRY(load_free_points(mg, s->x));
  TSI_TRY(ops->axpby(mg->low, ts_constant(1), &x, ts_constant(-1), mg->r));
  TSI_TRY(tsi_residual(mg->r, s->b, mg->matrix, mg->low));
  TSI_TRY(ops->reduce(mg->slots, TSI_MG_NORM, TSI_REDUCE_NORM2, mg->r, mg->r));
  TSI_TRY(ops->reduce(mg->slots, TSI_MG_NORM_B, TSI_REDUCE_MAX_ABS, mg->r, mg->r));
  TSI_TRY(read_slots(mg, slots));
  s->norm = number(slots, TSI_MG_NORM);
  if (number(slots, TSI_MG_NORM_B) != 0) return multigrid_solve_begin(s, slots);
  for (ts_vector *p = s->x; p; p = p->low) {
    ts_vector part = tsi_first_part(p);
    TSI_TRY(load_free_points(mg, &part));
    TSI_TRY(ops->axpby(&part, ts_constant(1), &part, ts_constant(-1), mg->r));
  }
  *is_over = 1;
  record(s, 0, 0);
  finish(s->result, TS_REASON_CONVERGED, "the right-hand side is 0, and so is the solution");
  return TS_OK;
}

/* ---- The method ---- */

static ts_status advance(const solve *s, int cycle) {
  ts_multigrid *mg = s->mg;
  const tsi_ops *ops = mg->context->ops;
  if (cycle == 0 && tsi_multigrid_is_full(mg)) return tsi_multigrid_begin_full(mg, s->b, s->x);
  TSI_TRY(tsi_multigrid_correct(mg, mg->r, 1));
  TSI_TRY(ops->grid->level_store(mg->r, &mg->levels[0], 0));
  return tsi_multigrid_add(mg, s->x, mg->r);
}

/* b - A x for x as stored in its vector. */
static ts_status measure_rounded(const solve *s, double *slots) {
  ts_multigrid *mg = s->mg;
  const tsi_ops *ops = mg->context->ops;
  TSI_TRY(tsi_multigrid_store_low(mg, s->x));
  TSI_TRY(tsi_residual(mg->r, s->b, mg->matrix, s->x));
  TSI_TRY(tsi_multigrid_project(mg, mg->r));
  TSI_TRY(ops->reduce(mg->slots, TSI_MG_NORM, TSI_REDUCE_NORM2, mg->r, mg->r));
  if (s->exponent) {
    /* At points without an equation x is given and not part of the solution. */
    TSI_TRY(load_free_points(mg, s->x));
    TSI_TRY(ops->reduce(mg->slots, TSI_MG_NORM_B, TSI_REDUCE_MAX_ABS, mg->r, mg->r));
  }
  TSI_TRY(read_slots(mg, slots));
  s->result->rounded_residual = s->norm > 0 ? number(slots, TSI_MG_NORM) / s->norm : 0;
  return TS_OK;
}

/* Extends the user's vector to doubles, and the scaled copy with it. */
static ts_status hold_doubles(const solve *s) {
  TSI_TRY(tsi_hold_doubles(s->out));
  return s->x == s->out ? TS_OK : tsi_vector_add_parts(s->x, tsi_parts(s->out));
}

/* Gives x mean 0 in null-space components. Extends its vector if the stopping rule requires it and the vector
 * permits it. */
static ts_status conclude(const solve *s) {
  ts_multigrid *mg = s->mg;
  ts_result *result = s->result;
  double slots[4 * TSI_MG_SLOTS];
  TSI_TRY(tsi_multigrid_center(mg, s->x));
  TSI_TRY(measure_rounded(s, slots));
  const int is_rounded = result->reason == TS_REASON_CONVERGED && result->rounded_residual > mg->desc.rtol;
  if (is_rounded && tsi_may_grow(s->out)) {
    TSI_TRY(hold_doubles(s));
    TSI_TRY(measure_rounded(s, slots));
  } else if (is_rounded) {
    tsi_say_rounded(result);
  }
  return s->exponent ? unscale(s, number(slots, TSI_MG_NORM_B)) : TS_OK;
}

static ts_status multigrid_solve_run(solve *s) {
  ts_multigrid *mg = s->mg;
  double slots[4 * TSI_MG_SLOTS];
  int is_over;
  TSI_TRY(multigrid_solve_begin(s, slots));
  TSI_TRY(treat_zero_b(s, slots, &is_over));
  if (is_over) return TS_OK;
  if (!is_in_range(s, slots)) {
    TSI_TRY(scale(s, slots));
    TSI_TRY(multigrid_solve_begin(s, slots));
    TSI_TRY(treat_zero_b(s, slots, &is_over));
  }
  if (check_start(s, slots)) return TS_OK;
  for (int cycle = 0;; cycle++) {
    const char *stopped;
    TSI_TRY(ask(s, cycle, &stopped));
    if (check(s, cycle, stopped)) break;
    TSI_TRY(advance(s, cycle));
    TSI_TRY(compute_residual(s));
    TSI_TRY(read_slots(mg, slots));
    record(s, cycle + 1, number(slots, TSI_MG_NORM) / s->norm);
  }
  return conclude(s);
}

/* Gives b and x a common exponent, that of the vector with the larger numbers; the system is linear. */
static ts_status align(const ts_multigrid *mg, const ts_vector *b, ts_vector *x) {
  const tsi_ops *ops = mg->context->ops;
  double slots[8];
  int size_b, size_x;
  if (b->exponent == x->exponent) return TS_OK;
  TSI_TRY(tsi_hold_doubles(x));
  TSI_TRY(ops->reduce(mg->slots, 0, TSI_REDUCE_MAX_ABS, b, b));
  TSI_TRY(ops->reduce(mg->slots, 1, TSI_REDUCE_MAX_ABS, x, x));
  TSI_TRY(tsi_scalars_read(mg->slots, 0, 2, slots));
  frexp(number(slots, 0), &size_b);
  frexp(number(slots, 1), &size_x);
  const int b_is_larger = number(slots, 1) == 0 || size_b + b->exponent > size_x + x->exponent;
  const int exponent = !tsi_may_have_exponent(x) ? 0 : b_is_larger ? b->exponent : x->exponent;
  const ts_vector *const both[] = {b, x};
  for (int k = 0; k < 2; k++) {
    TSI_TRY(tsi_multiply_by_power((ts_vector *)both[k], both[k]->exponent - exponent));
    ((ts_vector *)both[k])->exponent = exponent;
  }
  return TS_OK;
}

ts_status ts_multigrid_solve(ts_multigrid *multigrid, const ts_vector *b, ts_vector *x, ts_result *result) {
  TSI_BEGIN(multigrid, multigrid->context);
  ts_context *context = multigrid->context;
  TSI_REQUIRE(context, b);
  TSI_REQUIRE(context, x);
  TSI_TRY(tsi_multigrid_check_vectors(multigrid, b, x));
  ts_result own;
  if (!result) result = &own;
  *result = (ts_result){.reduction = NAN, .attainable_residual = NAN, .precision = TS_PRECISION_MIXED};
  multigrid->history_count = 0;
  const uint64_t before = context->host_synchronisations;
  solve s = {.mg = multigrid, .b = b, .x = x, .out = x, .result = result};
  TSI_TRY(tsi_enter(context));
  tsi_polls_begin(context);
  ts_status status = align(multigrid, b, x);
  if (status == TS_OK) status = multigrid_solve_run(&s);
  tsi_polls_end_in_time(context);
  TSI_TRY(tsi_leave(context, tsi_polls_end(context, status)));
  result->precision_iterations[TS_PRECISION_MIXED] = result->iterations;
  result->host_synchronisations = (int)(context->host_synchronisations - before);
  return result->reason <= TS_REASON_ZERO_RESIDUAL ? TS_OK
                                                   : tsi_fail(context, TS_NOT_CONVERGED, "%s", result->message);
}

const double *ts_multigrid_get_history(const ts_multigrid *multigrid, int *count) {
  const int known = multigrid ? multigrid->history_count : 0;
  if (count) *count = known;
  return known ? multigrid->history : NULL;
}
