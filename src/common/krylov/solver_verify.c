/* Verification: the residual computed from x, its numbers, and x + e. Only these numbers decide convergence. */
#include <float.h>
#include <math.h>

#include "common/core/core.h"
#include "common/matrix/operator.h"
#include "solver.h"

/* ---- The residual ---- */

/* A^T r. If r has a low part, it is computed as 0 - A^T r, since residuals have exact sums. */
static ts_status compute_gradient(const ts_solver *k) {
  if (!k->r->low) return tsi_spmv(k->gradient, k->transposed, k->r);
  TSI_TRY(tsi_fill(k->gradient, 0));
  TSI_TRY(tsi_residual(k->gradient, k->gradient, k->transposed, k->r));
  return k->context->ops->axpby(k->gradient, ts_constant(-1), k->gradient, ts_constant(0), k->gradient);
}

ts_status tsi_solver_residual(const ts_solver *k, const ts_vector *x) {
  /* The low part of r holds the digits beyond the first two parts of x. */
  const int whole = k->residual_parts == 3 && k->r_low;
  if (whole) k->r->low = k->r_low;
  ts_status status = tsi_residual_of_parts(k->r, k->b, k->matrix, x, k->residual_parts);
  if (status == TS_OK && k->transposed) status = compute_gradient(k);
  if (whole) k->r->low = NULL;
  return status;
}

/* diag(A) x, or diag(A^T A) x, estimates the effect of rounding x on b - A x. `out` has one part. *known is 0
 * if the diagonal is unknown. */
static ts_status scale_by_diagonal(const ts_solver *k, ts_vector *out, const ts_vector *x, int *known) {
  const tsi_ops *ops = k->context->ops;
  const ts_vector first = tsi_first_part(x);
  *known = k->transposed ? k->m != NULL : tsi_knows_diagonal(k->matrix);
  if (!*known) return TS_OK;
  TSI_TRY(k->transposed ? ops->reciprocal(out, k->m) : tsi_diagonal(out, k->matrix));
  return ops->multiply(out, out, &first);
}

/* Sums of the residual: its norm, an additional sum if the recurrence starts from one, and `more`. */
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

ts_status tsi_solve_first_residual(const tsi_solve *s, int from_zero) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  if (from_zero && !k->transposed) {
    TSI_TRY(tsi_copy_parts(k->r, ts_constant(1), k->b));
    return sum_residual(s, NULL);
  }
  if (k->transposed) {
    int known;
    TSI_TRY(tsi_spmv(k->gradient, k->transposed, k->b));
    TSI_TRY(ops->reduce(k->slots, TSI_SLOT_GB, TSI_REDUCE_DOT, k->gradient, k->gradient));
    ts_vector dx = tsi_first_part(k->e);
    TSI_TRY(scale_by_diagonal(k, &dx, k->x, &known));
    if (known) TSI_TRY(ops->reduce(k->slots, TSI_SLOT_DX, TSI_REDUCE_DOT, &dx, &dx));
  }
  TSI_TRY(tsi_solver_residual(k, k->x));
  return sum_residual(s, &(tsi_dot){TSI_SLOT_BB, k->b, k->b, NULL});
}

ts_status tsi_solver_read_slots(const ts_solver *k) {
  return tsi_scalars_read(k->slots, 0, TSI_SLOT_OWN + (k->method->residual_sum ? k->own_slots : 0), k->numbers);
}

/* ---- The quality of x ---- */

ts_status tsi_solve_measure(const tsi_solve *s, const ts_vector *x, ts_vector *work) {
  const ts_solver *k = s->solver;
  ts_vector dx = tsi_first_part(work); /* the low part of `work` is stale */
  int known;
  if (tsi_solve_needs_max_x(s)) {
    const ts_vector first = tsi_first_part(x);
    TSI_TRY(k->context->ops->reduce(k->slots, TSI_SLOT_MAX_X, TSI_REDUCE_MAX_ABS, &first, &first));
  }
  TSI_TRY(tsi_solver_residual(k, x));
  TSI_TRY(scale_by_diagonal(k, &dx, x, &known));
  TSI_TRY(sum_residual(s, known ? &(tsi_dot){TSI_SLOT_DX, &dx, &dx, NULL} : NULL));
  return tsi_solver_read_slots(k);
}

/* Error of a residual with two parts of x and A, relative to ||diag(A) x||. Measured: 2^-50. */
static const double two_parts = 0x1p-49;

/* Upper bound for the contribution to the norm of digits of A below the range of floats. */
static double lost_with_matrix(const tsi_solve *s, int c) {
  const ts_matrix *A = s->solver->matrix;
  if (!A->loses_digits) return 0;
  return (double)FLT_MIN * (double)A->info.longest_row * sqrt(tsi_unknowns(A)) *
         tsi_number(s->solver, TSI_SLOT_MAX_X, c);
}

/* The norm of A, for least squares. One product with a function gives a lower bound of its norm. */
static double norm_of_matrix(const tsi_solve *s, int c) {
  if (s->solver->frobenius > 0) return s->solver->frobenius;
  return s->norm_b[c] > 0 ? s->norm_rule[c] / s->norm_b[c] : 0;
}

/* The norm in the slots, including approximately the effect of rounding in single precision, if the size of A
 * is known. */
static double certain_norm(const tsi_solve *s, int c) {
  const ts_solver *k = s->solver;
  const double norm = sqrt(tsi_number(k, tsi_norm_slot(k), c));
  if (!k->transposed) {
    const double dx = sqrt(tsi_number(k, TSI_SLOT_DX, c)), error = tsi_residual_error(k->matrix, dx);
    const double lost = lost_with_matrix(s, c);
    if (isnan(dx)) return NAN; /* no entry refers to the NaN in x */
    if (!k->x->low) return hypot(norm, fmax(error, two_parts * dx) + lost);
    return hypot(norm, (k->residual_parts == 3 ? 0x1p-66 : two_parts) * dx + lost);
  }
  /* A^T r is rounded, and in single precision r is b - A x rounded to floats. */
  const double r = sqrt(tsi_number(k, TSI_SLOT_RR, c)), size = norm_of_matrix(s, c);
  return hypot(norm, k->x->low ? ldexp(size * r, -50) : ldexp(size * (r + s->norm_b[c]), -26));
}

/* The maximum of the norms in the slots, relative to the rule's, and whether all are within the tolerance. */
static double check_norms(const tsi_solve *s, int *met) {
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

/* The relative rounding error of a number of x. */
static double epsilon_of_x(const tsi_solve *s) {
  const int parts = tsi_parts(s->solver->x);
  return parts == 1 ? 0x1p-23 : 0x1p-52;
}

/* Approximately the smallest relative residual that x can reach in its precision. */
static double attainable(const tsi_solve *s, int c) {
  const ts_solver *k = s->solver;
  const double dx = sqrt(tsi_number(k, TSI_SLOT_DX, c));
  if (k->transposed) { /* the effects of rounding x and of rounding A^T r */
    const double floor = epsilon_of_x(s) * (dx + 0.5 * k->frobenius * sqrt(tsi_number(k, TSI_SLOT_RR, c)));
    return k->m ? floor / (s->norm_rule[c] > 0 ? s->norm_rule[c] : 1) : NAN;
  }
  if (!tsi_knows_diagonal(k->matrix)) return NAN;
  const double b = tsi_solve_whole_norm(s, c, s->norm_b[c]), floor = dx * epsilon_of_x(s);
  return b > 0 ? floor / b : floor;
}

double tsi_solve_relative(const tsi_solve *s, int c, double norm) {
  const double b = s->solver->transposed ? s->norm_rule[c] : tsi_solve_whole_norm(s, c, s->norm_b[c]);
  const double whole = tsi_solve_whole_norm(s, c, norm);
  return b > 0 ? whole / b : whole;
}

void tsi_solve_read_numbers(tsi_solve *s) {
  const ts_solver *k = s->solver;
  ts_result *result = s->result;
  s->x_is_current = 1;
  s->measure = check_norms(s, &s->met);
  result->relative_residual = result->attainable_residual = result->reduction = 0;
  for (int c = 0; c < k->components; c++) {
    const double norm = sqrt(tsi_number(k, tsi_norm_slot(k), c)), r = sqrt(tsi_number(k, TSI_SLOT_RR, c));
    s->norm_r[c] = norm;
    s->dx[c] = k->transposed ? 0 : sqrt(tsi_number(k, TSI_SLOT_DX, c));
    if (tsi_solve_needs_max_x(s)) s->max_x[c] = tsi_number(k, TSI_SLOT_MAX_X, c);
    const double certain = certain_norm(s, c),
                 reported = isnan(certain) || (isfinite(certain) && certain > 2 * norm) ? certain : norm;
    result->relative_residual = tsi_larger(result->relative_residual, tsi_solve_relative(s, c, reported));
    result->attainable_residual = tsi_larger(result->attainable_residual, attainable(s, c));
    const double start = k->transposed ? s->norm_b[c] : s->norm_start[c];
    if (start > 0 || k->transposed)
      result->reduction = tsi_larger(result->reduction, start > 0 ? r / start : r);
  }
}

/* ---- x + e ---- */

int tsi_solve_rounding_may_show(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  const double size = k->matrix->norm_infinity * (k->transposed ? k->transposed->norm_infinity : 1);
  if (!s->read_as_doubles || !k->x->low) return 0;
  if (k->matrix->function) return 1; /* its norm is unknown */
  for (int c = 0; c < k->components; c++) {
    const double each = fmax(size * s->max_x[c] * sqrt(tsi_unknowns(k->matrix)), s->dx[c]);
    if (0x1p-53 * each > 0x1p-2 * fmax(s->tolerance[c], s->norm_r[c])) return 1;
  }
  return 0;
}

ts_status tsi_solve_round(tsi_solve *s, ts_vector *work) {
  if (!s->met || !tsi_solve_rounding_may_show(s)) return TS_OK;
  s->solver->residual_parts = 3;
  s->is_rounded = 1;
  TSI_TRY(tsi_round_to_doubles(s->solver->x));
  TSI_TRY(tsi_solve_measure(s, s->solver->x, work));
  tsi_solve_read_numbers(s);
  return TS_OK;
}

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

/* If the residual is known to be large, two parts of x and A are sufficient, and their products are simpler. */
static void choose_parts(const tsi_solve *s) {
  ts_solver *k = s->solver;
  k->residual_parts = 2;
  for (int c = 0; c < k->components; c++)
    if (!(s->dx[c] > 0 && 64 * two_parts * s->dx[c] <= fmax(s->norm_r[c], s->tolerance[c])))
      k->residual_parts = 3;
}

/* ---- The best x ---- */

static ts_status reserve_best(ts_solver *k) {
  if (k->best && tsi_parts(k->best) == tsi_parts(k->x)) return TS_OK;
  tsi_vector_destroy(k->best);
  k->best = NULL;
  return tsi_arena_create(k->matrix->column_space, k->components, tsi_parts(k->x), &k->best, 1, 0, NULL);
}

ts_status tsi_solve_keep_before(tsi_solve *s, const ts_vector *e, double scale) {
  ts_solver *k = s->solver;
  if (s->best_is_kept || !isfinite(s->best)) return TS_OK;
  TSI_TRY(reserve_best(k));
  TSI_TRY(tsi_copy_parts(k->best, ts_constant(1), k->x));
  TSI_TRY(tsi_add_to_parts(k->best, ts_constant(-1 / scale), e));
  s->best_is_kept = 1;
  return TS_OK;
}

/* Called after e was added to x and x was measured. */
static ts_status watch(tsi_solve *s, const ts_vector *e, double scale) {
  const double now = s->result->relative_residual;
  if (!(now <= s->best)) return tsi_solve_keep_before(s, e, scale);
  s->best = now;
  s->best_is_kept = 0;
  return TS_OK;
}

ts_status tsi_solve_restore_best(tsi_solve *s) {
  ts_solver *k = s->solver;
  const ts_result *result = s->result;
  const double now = result->relative_residual;
  const int is_cut_off = result->reason == TS_REASON_MAX_ITERATIONS || result->reason == TS_REASON_STOPPED;
  if (result->reason <= TS_REASON_FIXED_ITERATIONS || !s->best_is_kept || now <= s->best) return TS_OK;
  /* The last iterate may have the smaller error although its residual is larger, but not if that residual
   * exceeds b. */
  if (is_cut_off && now <= 1) return TS_OK;
  k->residual_parts = 3;
  TSI_TRY(tsi_copy_parts(k->x, ts_constant(1), k->best));
  TSI_TRY(tsi_solve_measure(s, k->x, k->e));
  tsi_solve_read_numbers(s);
  return TS_OK;
}

/* ---- x + e: accept or try ---- */

ts_status tsi_solve_accept(tsi_solve *s, const ts_vector *e, ts_vector *work) {
  const double scale = s->scale;
  TSI_TRY(tsi_solve_make_room(s));
  choose_parts(s);
  TSI_TRY(tsi_solve_add(s, s->solver->x, e));
  TSI_TRY(tsi_solve_measure(s, s->solver->x, work));
  s->scale_before = s->scale;
  s->scale = 1;
  s->scale_from = s->iteration;
  tsi_solve_read_numbers(s);
  if (!s->solver->x_new) TSI_TRY(watch(s, e, scale));
  return tsi_solve_round(s, work);
}

/* Accepts x + e if its measure is below `most`. */
static ts_status try_below(tsi_solve *s, const ts_vector *e, ts_vector *work, double most) {
  ts_solver *k = s->solver;
  int met;
  TSI_TRY(tsi_solve_make_room(s));
  TSI_TRY(tsi_solve_add(s, k->x_new, e));
  TSI_TRY(tsi_solve_measure(s, k->x_new, work));
  if (!(check_norms(s, &met) < most)) return tsi_solver_residual(k, k->x);
  ts_vector *better = k->x_new;
  k->x_new = k->x;
  k->x = better;
  tsi_solve_read_numbers(s);
  return tsi_solve_round(s, work);
}

ts_status tsi_solve_try(tsi_solve *s, const ts_vector *e, ts_vector *work) {
  return try_below(s, e, work, s->measure);
}

ts_status tsi_solve_try_anyway(tsi_solve *s, const ts_vector *e, ts_vector *work) {
  ts_solver *k = s->solver;
  const double now = s->result->relative_residual;
  if (!s->best_is_kept || now <= s->best) {
    TSI_TRY(reserve_best(k));
    TSI_TRY(tsi_copy_parts(k->best, ts_constant(1), k->x));
    s->best = now;
    s->best_is_kept = 1;
  }
  return try_below(s, e, work, INFINITY);
}
