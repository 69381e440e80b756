/* A solve: its start, how x is verified, its end. What is the same for all methods stands here. */
#include <math.h>
#include <stdio.h>

#include "common/core/core.h"
#include "common/grid/grid.h"
#include "solver.h"

/* ---- Reasons ---- */

void tsi_solve_finish(tsi_solve *s, ts_reason reason, const char *message) {
  s->ended = 1;
  s->result->reason = reason;
  snprintf(s->result->message, sizeof s->result->message, "%s", message ? message : ts_reason_text(reason));
}

/* Of b or of a residual, with what no x reaches. */
static double whole_norm(const tsi_solve *s, double norm) {
  return s->incompatible > 0 ? hypot(norm, s->incompatible) : norm;
}

void tsi_solve_finish_converged(tsi_solve *s) {
  const double b = whole_norm(s, s->norm_b[0]);
  char text[160];
  if (!(s->incompatible > fmax(s->solver->desc.rtol * b, s->tolerance[0]))) {
    tsi_solve_finish(s, TS_REASON_CONVERGED, NULL);
    return;
  }
  snprintf(
      text, sizeof text,
      "the matrix is singular, and %.2g of the right-hand side is a part that no x reaches; without it the "
      "relative residual is %.2g",
      s->incompatible / b, s->norm_b[0] > 0 ? s->norm_r[0] / s->norm_b[0] : s->norm_r[0]);
  tsi_solve_finish(s, TS_REASON_INCOMPATIBLE, text);
}

/* What a relative residual is of. */
static const char *measure_name(const tsi_solve *s) {
  return s->solver->transposed ? "||A^T r|| / ||A^T b|| =" : "a relative residual of";
}

/* What may help where a precision has come to its end. */
static const char *advice(const tsi_solve *s) {
  const int can_raise = s->solver->context->caps.pairs;
  switch (s->precision) {
  case TS_PRECISION_SINGLE:
    return can_raise ? "precision auto goes on from there" : "this backend has no more than single precision";
  case TS_PRECISION_MIXED:
    return "precision double or a better preconditioner may help";
  default:
    return "a better preconditioner may help, or a larger tolerance";
  }
}

void tsi_solve_finish_stagnated(tsi_solve *s) {
  const ts_result *result = s->result;
  char text[sizeof s->result->message];
  snprintf(text, sizeof text, "%s stagnated in %s precision at %s %.2g; %s", s->solver->method->name,
           ts_precision_name(s->precision), measure_name(s), result->relative_residual, advice(s));
  tsi_solve_finish(s, TS_REASON_STAGNATED, text);
  s->at_limit = 1;
}

static void finish_at_maximum(tsi_solve *s) {
  char text[160];
  snprintf(text, sizeof text, "the maximum of %d iterations was reached at %s %.2g",
           s->solver->desc.max_iterations, measure_name(s), s->result->relative_residual);
  tsi_solve_finish(s, TS_REASON_MAX_ITERATIONS, text);
}

void tsi_solve_progress(tsi_solve *s, int checked, int count) {
  const ts_solver_desc *desc = &s->solver->desc;
  s->reported = checked;
  if (count > 0 && desc->progress && desc->progress(checked, s->solver->history, count, desc->progress_user))
    tsi_solve_finish(s, TS_REASON_STOPPED, NULL);
}

/* ---- Products ---- */

ts_status tsi_solver_precondition(const ts_solver *k, ts_vector *out, const ts_vector *v) {
  const tsi_ops *ops = k->context->ops;
  if (k->m) return ops->multiply(out, k->m, v);
  if (k->z) {
    const ts_vector rounded = tsi_first_part(v);
    return tsi_precondition(k->preconditioner, out, &rounded);
  }
  return ops->axpby(out, ts_constant(1), v, ts_constant(0), v);
}

ts_status tsi_solver_turn(const ts_solver *k, ts_vector *d, const ts_vector *r, ts_coefficient beta) {
  if (k->m) return tsi_multiply_add(d, k->m, r, beta, d, k->scratch);
  return k->context->ops->axpby(d, ts_constant(1), k->z ? k->z : r, beta, d);
}

ts_status tsi_solver_apply(const ts_solver *k, ts_vector *out, const ts_vector *v) {
  if (!k->z) return tsi_spmv(out, k->matrix, v);
  TSI_TRY(tsi_solver_precondition(k, k->z, v));
  return tsi_spmv(out, k->matrix, k->z);
}

ts_status tsi_solver_multiply(const ts_solver *k, ts_vector *out, const ts_matrix *A, const ts_vector *v) {
  TSI_TRY(tsi_spmv(out, A, v));
  return k->exponent ? tsi_copy_parts(out, ts_constant(ldexpf(1, -k->exponent)), out) : TS_OK;
}

/* ---- Verification ---- */

/* A^T r. Where r has a low part, as 0 - A^T r, whose sums are exact. */
static ts_status compute_gradient(const ts_solver *k) {
  if (!k->r->low || k->exponent) return tsi_solver_multiply(k, k->gradient, k->transposed, k->r);
  TSI_TRY(tsi_fill(k->gradient, 0));
  TSI_TRY(tsi_residual(k->gradient, k->gradient, k->transposed, k->r));
  return k->context->ops->axpby(k->gradient, ts_constant(-1), k->gradient, ts_constant(0), k->gradient);
}

ts_status tsi_solver_residual(const ts_solver *k, const ts_vector *x, ts_vector *work) {
  if (k->exponent) {
    TSI_TRY(tsi_copy_parts(work, ts_constant(ldexpf(1, -k->exponent)), x));
    x = work;
  }
  /* With a low part r has what two parts of x lack. */
  const int whole = k->residual_parts == 3 && k->r_low;
  if (whole) k->r->low = k->r_low;
  ts_status status = tsi_residual_of_parts(k->r, k->b, k->matrix, x, k->residual_parts);
  if (status == TS_OK && k->transposed) status = compute_gradient(k);
  if (whole) k->r->low = NULL;
  return status;
}

/* diag(A) x, or diag(A^T A) x, tells what rounding x leaves of b - A x. Returns 0 where the diagonal is not
 * known. */
static ts_status scale_by_diagonal(const ts_solver *k, ts_vector *out, const ts_vector *x, int *known) {
  const tsi_ops *ops = k->context->ops;
  *known = !k->transposed || k->m;
  if (!*known) return TS_OK;
  TSI_TRY(k->transposed ? ops->reciprocal(out, k->m) : tsi_diagonal(out, k->matrix));
  return ops->multiply(out, out, x);
}

/* Sums of the residual: its norm, one more if the recurrence begins with it, and `more`. */
static ts_status sum_residual(const tsi_solve *s, const tsi_dot *more) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  if (k->transposed) {
    TSI_TRY(ops->reduce(k->slots, TSI_SLOT_RR, TSI_REDUCE_DOT, k->r, k->r));
    TSI_TRY(ops->reduce(k->slots, TSI_SLOT_GG, TSI_REDUCE_DOT, k->gradient, k->gradient));
    return more ? ops->reduce(k->slots, more->index, TSI_REDUCE_DOT, more->x, more->y) : TS_OK;
  }
  tsi_dot sums[TSI_MAX_DOTS];
  int count = 0;
  if (k->method->residual_sum) TSI_TRY(k->method->residual_sum(s, &sums[count++]));
  sums[count++] = (tsi_dot){TSI_SLOT_RR, k->r, k->r, NULL};
  if (more) sums[count++] = *more;
  return tsi_dots(k->slots, sums, count, k->scratch);
}

static ts_status read_slots(const ts_solver *k) {
  return tsi_scalars_read(k->slots, 0, TSI_SLOT_OWN + (k->method->residual_sum ? k->own_slots : 0), k->numbers);
}

/* The residual of x, and the numbers that tell what x is worth, on the host. */
static ts_status measure(const tsi_solve *s, const ts_vector *x, ts_vector *work) {
  const ts_solver *k = s->solver;
  int known;
  if (s->may_overflow) TSI_TRY(k->context->ops->reduce(k->slots, TSI_SLOT_MAX_X, TSI_REDUCE_MAX_ABS, x, x));
  TSI_TRY(tsi_solver_residual(k, x, work));
  TSI_TRY(scale_by_diagonal(k, work, x, &known));
  TSI_TRY(sum_residual(s, known ? &(tsi_dot){TSI_SLOT_DX, work, work, NULL} : NULL));
  return read_slots(k);
}

static int norm_slot(const ts_solver *k) {
  return k->transposed ? TSI_SLOT_GG : TSI_SLOT_RR;
}

/* What a residual of two parts of x and A may be wrong by, beside ||diag(A) x||. Measured: 2^-50. */
static const double two_parts = 0x1p-49;

/* The norm in the slots, with about what rounding in single precision adds to it, as far as A's size is known.
 */
static double certain_norm(const tsi_solve *s, int c) {
  const ts_solver *k = s->solver;
  const double norm = sqrt(tsi_number(k, norm_slot(k), c));
  if (!k->transposed) {
    const double dx = sqrt(tsi_number(k, TSI_SLOT_DX, c)), error = tsi_residual_error(k->matrix, dx);
    return hypot(norm, k->x->low ? (k->residual_parts == 3 ? 0x1p-66 : two_parts) * dx : error);
  }
  const int bits = k->x->low ? -50 : -26;
  return hypot(norm, k->m ? ldexp(k->frobenius * sqrt(tsi_number(k, TSI_SLOT_RR, c)), bits) : 0);
}

/* The largest of the norms in the slots relative to the rule's, and whether all are within the tolerance. */
static double judge_norms(const tsi_solve *s, int *met) {
  double largest = 0;
  *met = 1;
  for (int c = 0; c < s->solver->components; c++) {
    const double norm = certain_norm(s, c);
    if (!(s->norm_rule[c] > 0)) continue;
    largest = tsi_larger(largest, norm / s->norm_rule[c]);
    if (!(norm <= s->tolerance[c])) *met = 0;
  }
  return largest;
}

/* Of x's number, about what rounding leaves. */
static double epsilon_of_x(const tsi_solve *s) {
  const int parts = tsi_parts(s->solver->x);
  return parts == 1 ? 0x1p-23 : 0x1p-52;
}

/* About the smallest relative residual that x can have in its precision. */
static double attainable(const tsi_solve *s, int c) {
  const ts_solver *k = s->solver;
  const double dx = sqrt(tsi_number(k, TSI_SLOT_DX, c));
  if (k->transposed) { /* what rounding x leaves, and what rounding A^T r does */
    const double floor = epsilon_of_x(s) * (dx + 0.5 * k->frobenius * sqrt(tsi_number(k, TSI_SLOT_RR, c)));
    return k->m ? floor / (s->norm_rule[c] > 0 ? s->norm_rule[c] : 1) : NAN;
  }
  const double b = whole_norm(s, s->norm_b[c]), floor = dx * epsilon_of_x(s);
  return b > 0 ? floor / b : floor;
}

/* The numbers in the slots are those of x. */
static void take_over(tsi_solve *s) {
  const ts_solver *k = s->solver;
  ts_result *result = s->result;
  s->settled = 1;
  s->measure = judge_norms(s, &s->met);
  result->relative_residual = result->attainable_residual = result->reduction = 0;
  for (int c = 0; c < k->components; c++) {
    const double norm = sqrt(tsi_number(k, norm_slot(k), c)), r = sqrt(tsi_number(k, TSI_SLOT_RR, c));
    const double b = k->transposed ? s->norm_rule[c] : whole_norm(s, s->norm_b[c]), whole = whole_norm(s, norm);
    s->norm_r[c] = norm;
    s->dx[c] = k->transposed ? 0 : sqrt(tsi_number(k, TSI_SLOT_DX, c));
    if (s->may_overflow) s->max_x[c] = tsi_number(k, TSI_SLOT_MAX_X, c);
    result->relative_residual = tsi_larger(result->relative_residual, b > 0 ? whole / b : whole);
    result->attainable_residual = tsi_larger(result->attainable_residual, attainable(s, c));
    const double start = k->transposed ? s->norm_b[c] : s->norm_start[c];
    if (start > 0 || k->transposed)
      result->reduction = tsi_larger(result->reduction, start > 0 ? r / start : r);
  }
}

/* ---- Precision ---- */

static int has_constrained(const ts_solver *k) {
  const tsi_stencil *stencil = k->matrix->stencil;
  return k->matrix->row_space->constrained || (stencil && stencil->has_constrained);
}

/* out = v where there are equations, else 0, of a matrix that has constrained rows. */
static ts_status drop_constrained(const ts_solver *k, ts_vector *out, const ts_vector *v) {
  const tsi_ops *ops = k->context->ops;
  if (!k->matrix->stencil) return ops->zero_constrained(out, v);
  /* v - A 0, which is 0 at points without equation, whatever v holds there. */
  ts_vector zero = tsi_first_part(k->e);
  TSI_TRY(ops->fill(&zero, 0));
  return k->matrix->kind->residual(out, v, k->matrix, &zero);
}

static int scale_target(const ts_solver *k) {
  return k->transposed ? 0 : tsi_scale_target(k->matrix);
}

static void set_precision(tsi_solve *s, ts_precision precision) {
  ts_result *result = s->result;
  result->precision_iterations[s->precision] += s->iteration - s->precision_from;
  s->precision_from = s->iteration;
  s->precision = result->precision = precision;
}

/* The low parts of b, like its first one. */
static ts_status take_in_low_b(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  if (!k->b->low && !s->user_b->low) return TS_OK;
  const ts_coefficient scale = ts_scaled(ldexp(1, scale_target(k)), k->slots, TSI_SLOT_SCALE);
  TSI_TRY(tsi_vector_add_parts(k->b, tsi_parts(s->user_b)));
  TSI_TRY(tsi_copy_parts(k->b->low, scale, s->user_b->low));
  for (ts_vector *low = k->b->low; low && has_constrained(k); low = low->low) {
    ts_vector part = tsi_first_part(low);
    TSI_TRY(drop_constrained(k, &part, &part));
  }
  return TS_OK;
}

static ts_status take_in_mixed(tsi_solve *s) {
  ts_solver *k = s->solver;
  TSI_TRY(tsi_vector_add_parts(k->x, 3));
  if (k->x_new) TSI_TRY(tsi_vector_add_parts(k->x_new, 3));
  if (k->pairs || k->r_low) return TS_OK;
  return tsi_arena_create(k->matrix->row_space, k->components, 1, &k->r_low, 1, 0, NULL);
}

ts_status tsi_solve_rescale(tsi_solve *s, double *factor) {
  const ts_solver *k = s->solver;
  double largest = 0;
  int exponent = 0;
  for (int c = 0; c < k->components; c++) largest = fmax(largest, s->norm_r[c]);
  enum { small = -16 };
  if (largest > 0 && isfinite(largest) && largest < ldexp(1, small)) frexp(largest, &exponent);
  s->scale = ldexp(1, -exponent);
  *factor = s->scale / s->scale_before;
  return exponent ? tsi_copy_parts(k->r, ts_constant(s->scale), k->r) : TS_OK;
}

/* ---- x + e ---- */

ts_status tsi_solve_add(const tsi_solve *s, ts_vector *out, const ts_vector *e) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  const ts_coefficient one = ts_constant(1), back = ts_constant(1 / s->scale);
  const int from_right = k->method->preconditioned_from_right && (k->m || k->z);
  if (out->low) {
    if (from_right) TSI_TRY(tsi_solver_precondition(k, k->z, e));
    if (out != k->x) TSI_TRY(tsi_copy_parts(out, one, k->x));
    return tsi_add_to_parts(out, back, from_right ? k->z : e);
  }
  if (!from_right) return ops->axpby(out, back, e, one, k->x);
  if (k->m && s->scale == 1) return tsi_multiply_add(out, k->m, e, one, k->x, k->scratch);
  TSI_TRY(tsi_solver_precondition(k, k->z, e));
  return ops->axpby(out, back, k->z, one, k->x);
}

/* The first sum is exact without low parts; where auto has more to add, x gets them. */
static ts_status make_room(tsi_solve *s) {
  const int rounds = !s->x_is_zero;
  s->x_is_zero = 0;
  if (!rounds || s->precision != TS_PRECISION_SINGLE || s->solver->desc.precision != TS_PRECISION_AUTO)
    return TS_OK;
  TSI_TRY(take_in_low_b(s));
  TSI_TRY(take_in_mixed(s));
  set_precision(s, TS_PRECISION_MIXED);
  return TS_OK;
}

/* A residual that is known to be large needs no more than two parts of x and A, whose products are simpler. */
static void choose_parts(const tsi_solve *s) {
  ts_solver *k = s->solver;
  k->residual_parts = 2;
  for (int c = 0; c < k->components; c++)
    if (!(s->dx[c] > 0 && 64 * two_parts * s->dx[c] <= fmax(s->norm_r[c], s->tolerance[c])))
      k->residual_parts = 3;
}

ts_status tsi_solve_accept(tsi_solve *s, const ts_vector *e, ts_vector *work) {
  TSI_TRY(make_room(s));
  choose_parts(s);
  TSI_TRY(tsi_solve_add(s, s->solver->x, e));
  TSI_TRY(measure(s, s->solver->x, work));
  s->scale_before = s->scale;
  s->scale = 1;
  s->scale_from = s->iteration;
  take_over(s);
  return TS_OK;
}

ts_status tsi_solve_try(tsi_solve *s, const ts_vector *e, ts_vector *work) {
  ts_solver *k = s->solver;
  int met;
  TSI_TRY(make_room(s));
  TSI_TRY(tsi_solve_add(s, k->x_new, e));
  TSI_TRY(measure(s, k->x_new, work));
  if (!(judge_norms(s, &met) < s->measure)) return tsi_solver_residual(k, k->x, work);
  ts_vector *better = k->x_new;
  k->x_new = k->x;
  k->x = better;
  take_over(s);
  return TS_OK;
}

/* ---- Start ---- */

/* What x is multiplied by, or with `back` what brings it back. */
static ts_coefficient scale_of(const ts_solver *k, int back) {
  const int target = k->transposed ? k->exponent : tsi_scale_target(k->matrix);
  return ts_scaled(ldexpf(1, back ? -target : target), k->slots, back ? TSI_SLOT_UNSCALE : TSI_SLOT_SCALE);
}

static ts_status fill_preconditioner(const ts_solver *k) {
  const tsi_ops *ops = k->context->ops;
  if (!k->m || k->transposed) return TS_OK;
  const ts_preconditioner *M = k->preconditioner;
  if ((M ? M->desc.kind : k->desc.preconditioner_kind) == TS_PRECONDITIONER_NONE)
    return ops->fill(k->m, ldexpf(1, -tsi_scale_exponent(k->matrix)));
  TSI_TRY(tsi_diagonal(k->m, M ? M->matrix : k->matrix));
  return ops->reciprocal(k->m, k->m);
}

/* Brings b and x into the workspace, scaled. Constrained rows of b are no equations and become 0. */
static ts_status take_in(tsi_solve *s, const ts_vector *b, const ts_vector *x, int from_zero) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  ts_vector first = tsi_first_part(k->b), given = tsi_first_part(b);
  if (has_constrained(k)) {
    TSI_TRY(drop_constrained(k, &first, &given));
    given = first;
  }
  TSI_TRY(ops->reduce(k->slots, TSI_SLOT_MAX_B, TSI_REDUCE_MAX_ABS, &given, &given));
  TSI_TRY(ops->scalars_normalise(k->slots, TSI_SLOT_MAX_B, TSI_SLOT_SCALE));
  TSI_TRY(ops->axpby(&first, ts_scaled(ldexpf(1, scale_target(k)), k->slots, TSI_SLOT_SCALE), &given,
                     ts_constant(0), &given));
  if (k->preconditioner) TSI_TRY(tsi_preconditioner_project(k->preconditioner, &first, &s->incompatible));
  if (s->precision != TS_PRECISION_SINGLE) TSI_TRY(take_in_low_b(s));
  if (k->desc.precision == TS_PRECISION_AUTO && !from_zero) {
    const ts_vector start = tsi_first_part(x);
    TSI_TRY(ops->reduce(k->slots, TSI_SLOT_MAX_X, TSI_REDUCE_MAX_ABS, &start, &start));
  }
  TSI_TRY(from_zero ? tsi_fill(k->x, 0) : tsi_copy_parts(k->x, scale_of(k, 0), x));
  return fill_preconditioner(k);
}

/* The first residual, and the norm of b. With a start from 0 the residual is b. */
static ts_status first_residual(const tsi_solve *s, int from_zero) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  const tsi_dot bb = {TSI_SLOT_BB, k->b, k->b, NULL};
  if (k->transposed) {
    TSI_TRY(tsi_solver_multiply(k, k->gradient, k->transposed, k->b));
    TSI_TRY(ops->reduce(k->slots, TSI_SLOT_GB, TSI_REDUCE_DOT, k->gradient, k->gradient));
    int known;
    TSI_TRY(scale_by_diagonal(k, k->e, k->x, &known));
    if (known) TSI_TRY(ops->reduce(k->slots, TSI_SLOT_DX, TSI_REDUCE_DOT, k->e, k->e));
    TSI_TRY(tsi_solver_residual(k, k->x, k->e));
    return sum_residual(s, &bb);
  }
  if (!from_zero) {
    TSI_TRY(tsi_solver_residual(k, k->x, k->e));
    return sum_residual(s, &bb);
  }
  TSI_TRY(tsi_copy_parts(k->r, ts_constant(1), k->b));
  return sum_residual(s, NULL);
}

/* Something is not finite at the start: was it so before? */
static ts_status name_the_infinite(tsi_solve *s, const ts_vector *x) {
  const ts_solver *k = s->solver;
  TSI_TRY(k->context->ops->reduce(k->slots, TSI_SLOT_MAX_X, TSI_REDUCE_MAX_ABS, x, x));
  TSI_TRY(read_slots(k));
  for (int c = 0; c < k->components; c++) {
    const int b_is_finite = isfinite(tsi_number(k, TSI_SLOT_MAX_B, c));
    if (b_is_finite && (k->desc.zero_start || isfinite(tsi_number(k, TSI_SLOT_MAX_X, c)))) continue;
    tsi_solve_finish(s, TS_REASON_NAN_INPUT,
                     b_is_finite ? "the starting value holds a NaN or an infinity"
                                 : "the right-hand side holds a NaN or an infinity");
    return TS_OK;
  }
  tsi_solve_finish(s, TS_REASON_BREAKDOWN,
                   "breakdown: the first residual leaves the range of single precision; scale the system");
  return TS_OK;
}

/* The numbers of x as the solve begins. */
static void set_start(tsi_solve *s) {
  const ts_solver *k = s->solver;
  ts_result *result = s->result;
  result->reduction = k->transposed ? s->left_start : 0;
  result->relative_residual = 0;
  for (int c = 0; c < k->components; c++) {
    if (!k->transposed && s->norm_start[c] > 0) result->reduction = 1;
    const double b = k->transposed ? s->norm_rule[c] : whole_norm(s, s->norm_b[c]);
    const double r = whole_norm(s, s->norm_start[c]);
    result->relative_residual = fmax(result->relative_residual, b > 0 ? r / b : r);
  }
}

/* The norms of a component at the start, and what the rule asks for. */
static void take_norms(tsi_solve *s, int c, int from_zero) {
  const ts_solver *k = s->solver;
  const double rr = tsi_number(k, TSI_SLOT_RR, c), start = sqrt(tsi_number(k, norm_slot(k), c));
  const double rule = k->transposed ? sqrt(tsi_number(k, TSI_SLOT_GB, c))
                      : from_zero   ? start
                                    : sqrt(tsi_number(k, TSI_SLOT_BB, c));
  s->norm_b[c] = k->transposed ? sqrt(tsi_number(k, TSI_SLOT_BB, c)) : rule;
  s->norm_r[c] = start;
  if (s->iteration == 0) s->norm_start[c] = start;
  s->norm_rule[c] = rule > 0 ? rule : start;
  s->unscale[c] = tsi_unscale_factor((float)tsi_number(k, TSI_SLOT_MAX_B, c),
                                     k->transposed ? k->exponent : tsi_scale_target(k->matrix));
  if (s->unscale[c] > 1) s->may_overflow = 1;
  const double atol = ldexp(k->desc.atol / s->unscale[c], -2 * k->exponent);
  s->tolerance[c] = fmax(k->desc.rtol * s->norm_rule[c], atol);
  if (s->iteration == 0)
    s->left_start = tsi_larger(s->left_start, s->norm_b[c] > 0 ? sqrt(rr) / s->norm_b[c] : sqrt(rr));
}

/* Ends the solve where there is nothing to iterate. */
static ts_status judge_start(tsi_solve *s, const ts_vector *x, int from_zero) {
  const ts_solver *k = s->solver;
  int all_zero = 1, met = 1;
  s->x_is_zero = from_zero || k->desc.precision == TS_PRECISION_AUTO;
  for (int c = 0; c < k->components; c++) {
    const double max_b = tsi_number(k, TSI_SLOT_MAX_B, c);
    const double bb = k->transposed || !from_zero ? tsi_number(k, TSI_SLOT_BB, c) : 0;
    if (!isfinite(max_b) || !isfinite(bb) || !isfinite(tsi_number(k, TSI_SLOT_RR, c)) ||
        !isfinite(tsi_number(k, norm_slot(k), c)))
      return name_the_infinite(s, x);
    take_norms(s, c, from_zero);
    if (!from_zero && tsi_number(k, TSI_SLOT_MAX_X, c) != 0) s->x_is_zero = 0;
    if (max_b > 0 && s->norm_b[c] == 0 && !(s->incompatible > 0)) {
      tsi_solve_finish(s, TS_REASON_BREAKDOWN, tsi_scale_b_vanishes);
      return TS_OK;
    }
    if (s->norm_start[c] > ldexp(s->incompatible, -20)) all_zero = 0; /* else what rounding left of that part */
    if (!(s->norm_start[c] <= s->tolerance[c])) met = 0;
  }
  s->measure = 0;
  for (int c = 0; c < k->components; c++)
    if (s->norm_rule[c] > 0) s->measure = tsi_larger(s->measure, s->norm_start[c] / s->norm_rule[c]);
  set_start(s);
  if (k->transposed) take_over(s); /* its iterations look at what can be attained */
  s->settled = 0;
  if (all_zero) {
    const double b = whole_norm(s, s->norm_b[0]);
    s->result->reduction = k->transposed ? s->left_start : 0;
    s->result->relative_residual = s->incompatible > 0 ? s->incompatible / b : 0;
    tsi_solve_finish_converged(s);
    if (s->result->reason == TS_REASON_CONVERGED) tsi_solve_finish(s, TS_REASON_ZERO_RESIDUAL, NULL);
    return TS_OK;
  }
  if (!met || k->desc.stop != TS_STOP_RESIDUAL) return TS_OK;
  TSI_TRY(measure(s, k->x, k->e));
  take_over(s);
  for (int c = 0; c < k->components; c++) s->max_x[c] = 0; /* x is still the user's */
  if (s->met) tsi_solve_finish_converged(s);
  return TS_OK;
}

/* ---- Checks ---- */

void tsi_solve_plan_steps(const tsi_solve *s, int done, int *steps, int *pipelined) {
  const ts_solver *k = s->solver;
  const int left = k->desc.max_iterations - s->iteration;
  *steps = done < 1 ? 1 : done;
  *pipelined = 0;
  if (*steps >= k->desc.check_interval) {
    *steps = k->desc.check_interval;
    *pipelined = k->pipelined;
  }
  if (*steps > left) *steps = left;
  if (*pipelined > left - *steps) *pipelined = left - *steps;
}

ts_status tsi_solve_read(tsi_solve *s, int first, int count, int pipelined, tsi_iterate_fn iterate) {
  const ts_solver *k = s->solver;
  TSI_TRY(tsi_scalars_read_begin(k->slots, first, count));
  for (int i = 0; i < pipelined; i++) TSI_TRY(iterate(s));
  return tsi_scalars_read_end(k->slots, k->numbers + 4 * (size_t)first);
}

/* Up to a check, then its numbers, until the end. */
ts_status tsi_solve_run(tsi_solve *s) {
  const ts_solver *k = s->solver;
  TSI_TRY(k->method->begin(s));
  while (!s->ended && s->iteration < k->desc.max_iterations) {
    int steps, pipelined;
    tsi_solve_plan_steps(s, s->iteration - s->phase_start, &steps, &pipelined);
    for (int i = 0; i < steps; i++) TSI_TRY(k->method->iterate(s));
    const int checked = s->iteration;
    TSI_TRY(tsi_solve_read(s, 0, TSI_SLOT_OWN + k->own_slots, pipelined, k->method->iterate));
    TSI_TRY(k->method->judge(s, checked));
  }
  return TS_OK;
}

ts_status tsi_solve_run_fixed(tsi_solve *s) {
  const ts_solver *k = s->solver;
  TSI_TRY(k->method->begin(s));
  while (s->iteration < k->desc.fixed_iterations) TSI_TRY(k->method->iterate(s));
  return TS_OK;
}

double tsi_solve_recurrence_residual(const tsi_solve *s, int slot) {
  double largest = 0;
  for (int c = 0; c < s->solver->components; c++) {
    const double norm = sqrt(tsi_number(s->solver, slot, c));
    if (!isfinite(norm)) return INFINITY;
    if (s->norm_rule[c] > 0) largest = fmax(largest, norm / s->norm_rule[c]);
  }
  return largest;
}

int tsi_solve_recurrence_converged(const tsi_solve *s, int slot) {
  for (int c = 0; c < s->solver->components; c++)
    if (s->norm_rule[c] > 0 && !(sqrt(tsi_number(s->solver, slot, c)) <= s->tolerance[c])) return 0;
  return 1;
}

/* ---- The end ---- */

/* The residual of x's first part, which is all that the user's vector holds. */
static ts_status measure_rounded(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  const ts_vector rounded = tsi_first_part(k->x);
  double largest = 0;
  TSI_TRY(measure(s, &rounded, k->e));
  for (int c = 0; c < k->components; c++) {
    const double norm = whole_norm(s, sqrt(tsi_number(k, norm_slot(k), c)));
    const double b = k->transposed ? s->norm_rule[c] : whole_norm(s, s->norm_b[c]);
    largest = tsi_larger(largest, b > 0 ? norm / b : norm);
  }
  s->result->rounded_residual = largest;
  return TS_OK;
}

/* The user's x from the workspace's, unless single precision does not hold it: then it stays what it was. */
static ts_status hand_back(tsi_solve *s, ts_vector *x) {
  ts_solver *k = s->solver;
  ts_result *result = s->result;
  const double size = k->matrix->norm_infinity;
  tsi_scale_end end = {.components = k->components,
                       .unknowns = tsi_unknowns(k->matrix),
                       .size = k->transposed ? ldexp(size, -k->exponent) *
                                                   ldexp(k->transposed->norm_infinity, -k->exponent)
                                             : size};
  for (int c = 0; c < k->components; c++) {
    end.unscale[c] = s->unscale[c];
    end.tolerance[c] = s->tolerance[c];
    if (s->may_overflow) end.max_x[c] = s->max_x[c];
  }
  char text[160];
  const double largest = tsi_scale_overflow(&end);
  if (largest > 0) {
    set_start(s);
    tsi_scale_say_overflow(text, sizeof text, largest);
    tsi_solve_finish(s, TS_REASON_BREAKDOWN, text);
    return k->desc.zero_start ? tsi_fill(x, 0) : TS_OK;
  }
  TSI_TRY(tsi_copy_parts(x, scale_of(k, 1), k->x));
  result->rounded_residual = result->relative_residual;
  if (k->x->low && !x->low) TSI_TRY(measure_rounded(s));
  if (!tsi_scale_underflow(&end)) return TS_OK;
  TSI_TRY(tsi_copy_parts(k->x, scale_of(k, 0), x));
  TSI_TRY(measure(s, k->x, k->e));
  take_over(s);
  if (result->reason != TS_REASON_CONVERGED || s->met) return TS_OK;
  tsi_scale_say_underflow(text, sizeof text, result->relative_residual);
  tsi_solve_finish(s, TS_REASON_BREAKDOWN, text);
  return TS_OK;
}

/* auto goes on with pairs where single precision has stagnated or broken down. What there is of x is kept for
 * it. */
static ts_status keep(tsi_solve *s) {
  ts_solver *k = s->solver;
  const ts_reason reason = s->result->reason;
  if (k->desc.precision != TS_PRECISION_AUTO || k->pairs || !s->ended) return TS_OK;
  if (!(reason == TS_REASON_STAGNATED && s->at_limit) && reason != TS_REASON_BREAKDOWN) return TS_OK;
  TSI_TRY(tsi_arena_create(k->matrix->column_space, k->components, 3, &s->kept, 1, 0, NULL));
  return tsi_copy_parts(s->kept, scale_of(k, 1), k->x);
}

/* Iterations and nothing else: no number comes to the host. */
static ts_status run_fixed(tsi_solve *s, ts_vector *x) {
  ts_solver *k = s->solver;
  TSI_TRY(first_residual(s, k->desc.zero_start));
  TSI_TRY(k->method->run_fixed(s));
  TSI_TRY(tsi_solve_add(s, k->x, k->e));
  s->result->iterations = s->iteration;
  set_precision(s, s->precision);
  tsi_solve_finish(s, TS_REASON_FIXED_ITERATIONS, NULL);
  return tsi_copy_parts(x, scale_of(k, 1), k->x);
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

/* auto begins with what a start from x needs, or with what is there already. */
static ts_precision first_precision(const ts_solver *k, const ts_vector *x) {
  const ts_precision asked = k->desc.precision;
  if (k->pairs) return TS_PRECISION_DOUBLE;
  if (asked != TS_PRECISION_AUTO) return asked;
  return k->x->low || (x->low && !k->desc.zero_start) ? TS_PRECISION_MIXED : TS_PRECISION_SINGLE;
}

/* Pairs gained nothing: x is what single precision had come to. */
static ts_status take_back(tsi_solve *s, const ts_vector *start, ts_vector *x) {
  ts_result *result = s->result;
  TSI_TRY(tsi_copy_parts(s->solver->x, scale_of(s->solver, 0), start));
  TSI_TRY(measure(s, s->solver->x, s->solver->e));
  take_over(s);
  result->rounded_residual = result->relative_residual;
  return tsi_copy_parts(x, ts_constant(1), start);
}

/* There is nothing to iterate; x is as it was. */
static ts_status leave(ts_vector *x, int from_zero) {
  return from_zero ? tsi_fill(x, 0) : TS_OK;
}

ts_status tsi_solver_run(tsi_solve *s, const ts_vector *b, ts_vector *x) {
  ts_solver *k = s->solver;
  ts_result *result = s->result;
  ts_vector *start = s->kept ? s->kept : x;
  const int from_zero = k->desc.zero_start && !s->kept;
  s->kept = NULL;
  s->ended = s->at_limit = s->checked_mode = s->in_vain = 0;
  s->verified = INFINITY;
  s->scale = s->scale_before = 1;
  s->scale_from = s->iteration;
  s->reported = s->phase_start = s->phase_best_at = s->iteration;
  k->residual_parts = 3;
  set_precision(s, first_precision(k, start));
  if (s->precision != TS_PRECISION_SINGLE) TSI_TRY(take_in_mixed(s));
  TSI_TRY(take_in(s, b, start, from_zero));
  if (k->desc.fixed_iterations) return run_fixed(s, x);
  TSI_TRY(first_residual(s, from_zero));
  TSI_TRY(read_slots(k));
  TSI_TRY(judge_start(s, start, from_zero));
  if (s->incompatible > 0) result->incompatible = s->incompatible / whole_norm(s, s->norm_b[0]);
  if (s->ended) return start == x ? leave(x, from_zero) : hand_back(s, x);
  const double before = s->measure;
  TSI_TRY(k->method->run(s));
  if (s->ended && s->iteration == 0 && !s->settled) return leave(x, from_zero);
  TSI_TRY(k->method->settle(s));
  if (!s->ended && s->met) tsi_solve_finish_converged(s);
  if (!s->ended) finish_at_maximum(s);
  result->iterations = s->iteration;
  set_precision(s, s->precision);
  TSI_TRY(keep(s));
  TSI_TRY(hand_back(s, x));
  const int is_worse = result->reason > TS_REASON_FIXED_ITERATIONS && !(s->measure <= before);
  return start != x && is_worse ? take_back(s, start, x) : TS_OK;
}
