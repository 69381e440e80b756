/* Shared by the iterations of all methods: products with M and A, the check interval, and the loop of methods
 * that alternate between iterations and checks. */
#include <math.h>

#include "common/core/core.h"
#include "solver.h"

/* ---- Products ---- */

ts_status tsi_solver_precondition(const ts_solver *k, ts_vector *out, const ts_vector *v) {
  const tsi_ops *ops = k->context->ops;
  if (k->m) return ops->multiply(out, k->m, v);
  if (k->z) {
    const ts_vector rounded = tsi_first_part(v);
    const int exponent = k->matrix->exponent - tsi_preconditioner_exponent(k->preconditioner);
    TSI_TRY(tsi_precondition(k->preconditioner, out, &rounded));
    if (k->transposed) return TS_OK;
    const tsi_preconditioner_kind *kind = k->preconditioner->kind;
    ts_vector first = tsi_first_part(out), *written = kind->writes_low || kind->is_double ? out : &first;
    if (tsi_differs_in_sign(k)) TSI_TRY(tsi_negate(written));
    return exponent ? tsi_multiply_by_power(written, exponent) : TS_OK;
  }
  return ops->axpby(out, ts_constant(1), v, ts_constant(0), v);
}

ts_status tsi_solver_update_direction(const ts_solver *k, ts_vector *d, const ts_vector *r,
                                      ts_coefficient beta) {
  if (k->m) return tsi_multiply_add(d, k->m, r, beta, d, k->scratch);
  return k->context->ops->axpby(d, ts_constant(1), k->z ? k->z : r, beta, d);
}

ts_status tsi_solver_apply(const ts_solver *k, ts_vector *out, const ts_vector *v) {
  if (!k->z) return tsi_spmv(out, k->matrix, v);
  TSI_TRY(tsi_solver_precondition(k, k->z, v));
  return tsi_spmv(out, k->matrix, k->z);
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

/* Iterates until a check and reads its numbers, until the solve ends. */
ts_status tsi_solve_run(tsi_solve *s) {
  const ts_solver *k = s->solver;
  TSI_TRY(k->method->begin(s));
  while (!s->ended && s->iteration < k->desc.max_iterations) {
    int steps, pipelined;
    tsi_solve_plan_steps(s, s->iteration - s->phase_start, &steps, &pipelined);
    if (k->method->round_steps) steps = k->method->round_steps(s, steps);
    for (int i = 0; i < steps; i++) TSI_TRY(k->method->iterate(s));
    const int checked = s->iteration;
    TSI_TRY(tsi_solve_read(s, 0, TSI_SLOT_OWN + k->own_slots, pipelined, k->method->iterate));
    TSI_TRY(k->method->check(s, checked));
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
