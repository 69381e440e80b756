/* b, x and r in the workspace: scaled by powers of two, and stored in the number of parts that the precision
 * needs. */
#include <math.h>

#include "common/core/core.h"
#include "solver.h"

/* ---- Reading b and x ---- */

int tsi_solve_has_constrained(const ts_solver *k) {
  const ts_matrix *A = k->matrix;
  return A->row_space->constrained || (A->kind->has_constrained && A->kind->has_constrained(A));
}

ts_status tsi_solve_drop_constrained(const ts_solver *k, ts_vector *out, const ts_vector *v) {
  ts_vector zero = tsi_first_part(k->e);
  const ts_matrix *A = k->matrix;
  return A->kind->drop_constrained ? A->kind->drop_constrained(out, A, v, &zero)
                                   : k->context->ops->zero_constrained(out, v);
}

static int scale_target(const ts_solver *k) {
  return k->transposed ? 0 : tsi_scale_target(k->matrix);
}

/* The low parts of b, scaled like the first part. Single precision needs them too: x may be exact there when b
 * is not. */
static ts_status load_low_b(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  if (!k->b->low && !s->user_b->low) return TS_OK;
  const ts_coefficient scale = ts_scaled(ldexp(1, scale_target(k)), k->slots, TSI_SLOT_SCALE);
  TSI_TRY(tsi_vector_add_parts(k->b, tsi_parts(s->user_b)));
  TSI_TRY(tsi_copy_parts(k->b->low, scale, s->user_b->low));
  for (ts_vector *low = k->b->low; low && tsi_solve_has_constrained(k); low = low->low) {
    ts_vector part = tsi_first_part(low);
    TSI_TRY(tsi_solve_drop_constrained(k, &part, &part));
  }
  return TS_OK;
}

static ts_status add_mixed_parts(tsi_solve *s) {
  ts_solver *k = s->solver;
  TSI_TRY(tsi_vector_add_parts(k->x, 3));
  if (k->x_new) TSI_TRY(tsi_vector_add_parts(k->x_new, 3));
  if (k->pairs || k->r_low) return TS_OK;
  return tsi_arena_create(k->matrix->row_space, k->components, 1, &k->r_low, 1, 0, NULL);
}

/* The exponent of x's scale, in addition to the slot of b. */
static int scale_exponent(const tsi_solve *s) {
  return scale_target(s->solver) + s->solver->matrix->exponent - s->b_exponent;
}

/* The coefficient covers the powers that a float and its inverse can represent. A negated matrix has -x. */
static ts_status scale_x(const tsi_solve *s, ts_vector *out, const ts_vector *x, int power, int slot) {
  enum { far = 100 };
  const int sign = s->solver->matrix->negated ? -1 : 1;
  const int near = power > far ? far : power < -far ? -far : power;
  TSI_TRY(tsi_copy_parts(out, ts_scaled(ldexp(sign, near), s->solver->slots, slot), x));
  return tsi_multiply_by_power(out, power - near);
}

ts_status tsi_solve_read_x(const tsi_solve *s, const ts_vector *x) {
  return scale_x(s, s->solver->x, x, scale_exponent(s) + x->exponent, TSI_SLOT_SCALE);
}

ts_status tsi_solve_write_x(const tsi_solve *s, ts_vector *x, int exponent) {
  x->exponent = exponent;
  return scale_x(s, x, s->solver->x, -scale_exponent(s) - exponent, TSI_SLOT_UNSCALE);
}

static ts_status fill_preconditioner(const ts_solver *k) {
  const ts_preconditioner *M = k->preconditioner;
  if (!k->m || k->transposed || tsi_writes_jacobi(k)) return TS_OK;
  TSI_TRY(M->kind->write_diagonal(M, k->m));
  if (tsi_differs_in_sign(k)) TSI_TRY(tsi_negate(k->m));
  return tsi_multiply_by_power(k->m, M->kind->has_scale ? k->matrix->exponent - M->matrix->exponent
                                                        : -tsi_scale_exponent(k->matrix));
}

static int has_null_space(const ts_solver *k) {
  return k->null_space && k->null_space->count > 0;
}

/* Without low parts, rounding the remainder to floats would put a part of it back into the null space. */
static ts_status project_b(tsi_solve *s) {
  const ts_solver *k = s->solver;
  if (k->desc.fixed_iterations) return tsi_null_space_remove(k->null_space, k->b, NULL);
  if (k->context->caps.pairs) TSI_TRY(tsi_vector_add_parts(k->b, 3));
  return tsi_null_space_remove(k->null_space, k->b, s->null_part);
}

ts_status tsi_solve_load(tsi_solve *s, const ts_vector *b, const ts_vector *x, int from_zero) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  s->b_exponent = b->exponent;
  for (int c = 0; c < k->components; c++) s->scale_x[c] = scale_exponent(s);
  if (s->precision != TS_PRECISION_SINGLE) TSI_TRY(add_mixed_parts(s));
  TSI_TRY(tsi_solve_load_b(s, b));
  if (k->desc.precision == TS_PRECISION_AUTO && !from_zero) {
    const ts_vector start = tsi_first_part(x);
    TSI_TRY(ops->reduce(k->slots, TSI_SLOT_MAX_X, TSI_REDUCE_MAX_ABS, &start, &start));
  }
  TSI_TRY(from_zero ? tsi_fill(k->x, 0) : tsi_solve_read_x(s, x));
  return fill_preconditioner(k);
}

ts_status tsi_solve_load_b(tsi_solve *s, const ts_vector *b) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  ts_vector first = tsi_first_part(k->b), given = tsi_first_part(b);
  if (tsi_solve_has_constrained(k)) {
    TSI_TRY(tsi_solve_drop_constrained(k, &first, &given));
    given = first;
  }
  TSI_TRY(ops->reduce(k->slots, TSI_SLOT_MAX_B, TSI_REDUCE_MAX_ABS, &given, &given));
  TSI_TRY(ops->scalars_normalise(k->slots, TSI_SLOT_MAX_B, TSI_SLOT_SCALE));
  TSI_TRY(ops->axpby(&first, ts_scaled(ldexpf(1, scale_target(k)), k->slots, TSI_SLOT_SCALE), &given,
                     ts_constant(0), &given));
  const ts_preconditioner *M = k->preconditioner;
  if (M->kind->project) {
    s->incompatible[0] = 0;
    TSI_TRY(M->kind->project(M, &first, &s->incompatible[0]));
  }
  const int has_low_parts = s->precision != TS_PRECISION_SINGLE || !k->desc.fixed_iterations;
  if (has_low_parts) TSI_TRY(load_low_b(s));
  return has_null_space(k) ? project_b(s) : TS_OK;
}

ts_status tsi_solve_leave_null_space(tsi_solve *s) {
  const ts_solver *k = s->solver;
  double norms[4];
  if (!has_null_space(k)) return TS_OK;
  if (k->desc.fixed_iterations) return tsi_null_space_remove(k->null_space, k->x, NULL);
  TSI_TRY(tsi_null_space_remove(k->null_space, k->x, norms));
  TSI_TRY(tsi_solve_measure(s, k->x, k->e));
  tsi_solve_read_numbers(s);
  if (s->result->reason == TS_REASON_CONVERGED && !s->met) tsi_solve_finish_stagnated(s);
  return TS_OK;
}

/* ---- During the solve ---- */

void tsi_solve_set_precision(tsi_solve *s, ts_precision precision) {
  ts_result *result = s->result;
  result->precision_iterations[s->precision] += s->iteration - s->precision_from;
  s->precision_from = s->iteration;
  s->precision = result->precision = precision;
}

ts_status tsi_solve_make_room(tsi_solve *s) {
  const int rounds = !s->x_is_zero;
  s->x_is_zero = 0;
  if (!rounds || s->precision != TS_PRECISION_SINGLE || s->solver->desc.precision != TS_PRECISION_AUTO)
    return TS_OK;
  TSI_TRY(add_mixed_parts(s));
  tsi_solve_set_precision(s, TS_PRECISION_MIXED);
  return TS_OK;
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
