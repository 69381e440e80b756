/* Conjugate gradients: r is computed from x again, to confirm that the rule is met, or earlier to replace r
 * (cg.c: "reliable updates"). A replacement keeps the directions. */
#include <math.h>
#include <string.h>

#include "cg.h"
#include "common/core/core.h"

/* ---- When ---- */

/* The fall of a residual before it is computed from x again. In single precision, conjugate gradients for
 * Poisson problems and stiffness matrices need the fewest iterations with 0.03 to 0.1. At 1e-3 they need a
 * tenth more, from 1e-4 on twice as many. */
static double replacement_factor(const ts_solver *k) {
  return k->pairs ? 1e-6 : 3e-2;
}

/* In single precision b - A x is only as accurate as the rounded x, so the directions restart. */
static int may_replace(const tsi_solve *s) {
  return s->precision != TS_PRECISION_SINGLE || s->solver->desc.precision == TS_PRECISION_AUTO;
}

double tsi_cg_size(const tsi_solve *s, int iteration, int component) {
  return tsi_cg_stops_by_delta(s) ? sqrt(fabs(tsi_cg_delta_of(s, iteration, component))) : s->norm_r[component];
}

double tsi_cg_enough(const tsi_solve *s, int component) {
  const double rtol = fmax(0, s->solver->desc.rtol);
  const double rule = tsi_cg_stops_by_delta(s) ? rtol * sqrt(s->delta_0[component]) : s->tolerance[component];
  return may_replace(s) ? fmax(rule, replacement_factor(s->solver) * s->peak[component]) : rule;
}

int tsi_cg_has_fallen_far(const tsi_solve *s, int iteration) {
  for (int c = 0; c < s->solver->components; c++)
    if (!(tsi_cg_size(s, iteration, c) <= tsi_cg_enough(s, c))) return 0;
  return may_replace(s);
}

/* ---- How ---- */

ts_status tsi_cg_verify(tsi_solve *s) {
  TSI_TRY(tsi_solve_accept(s, s->solver->e, s->solver->own[TSI_CG_Q])); /* q is free until the next iteration */
  s->result->reduction = tsi_cg_delta_ratio(s, s->iteration);
  for (int c = 0; c < s->solver->components; c++) s->delta_begin[c] = tsi_cg_delta_of(s, s->iteration, c);
  if (!tsi_cg_stops_by_delta(s)) return TS_OK;
  s->measure = s->result->reduction;
  s->met = s->measure <= s->solver->desc.rtol;
  return TS_OK;
}

/* Whether b - A x equals the recurrence's r, with the norms `before`, up to rounding. */
static int is_as_before(const tsi_solve *s, const double before[4]) {
  for (int c = 0; c < s->solver->components; c++)
    if (!(fabs(s->norm_r[c] - before[c]) <= 1e-3 * before[c])) return 0;
  return !tsi_cg_stops_by_delta(s);
}

/* delta after r was replaced and multiplied by `factor`. If r has hardly changed, M^-1 r is reused: applying M
 * again costs as much as an iteration. */
static ts_status sum_replaced_delta(const tsi_solve *s, int as_before, double factor, tsi_dot *sum) {
  const ts_solver *k = s->solver;
  if (!k->z || !as_before) return tsi_cg_sum_delta(s, sum);
  *sum = (tsi_dot){tsi_cg_delta_slot(k, s->iteration), k->r, k->z, NULL};
  return factor != 1 ? tsi_copy_parts(k->z, ts_constant(factor), k->z) : TS_OK;
}

/* Replaces r by b - A (x + e) and keeps the directions. d = M^-1 r + p has already been updated, and only p =
 * beta d_k is kept. */
static ts_status replace_residual(tsi_solve *s) {
  ts_solver *k = s->solver;
  double norms[4], factor;
  memcpy(norms, s->norm_r, sizeof norms);
  ts_vector *p = k->own[TSI_CG_D], *q = k->own[TSI_CG_Q];
  const ts_slot pq = {k->slots, TSI_CG_SLOT_PQ}, pr = {k->slots, TSI_CG_SLOT_PR},
                qz = {k->slots, TSI_CG_SLOT_QZ};
  TSI_TRY(tsi_solver_update_direction(k, p, k->r, ts_constant(-1)));
  TSI_TRY(tsi_cg_verify(s));
  if (s->met) return TS_OK;
  const int as_before = is_as_before(s, norms);
  TSI_TRY(tsi_solve_rescale(s, &factor));
  TSI_TRY(tsi_cg_begin_sum(s));
  TSI_TRY(tsi_spmv(q, k->matrix, p));
  const tsi_dot before[2] = {{TSI_CG_SLOT_PQ, p, q, NULL}, {TSI_CG_SLOT_PR, p, k->r, NULL}};
  TSI_TRY(tsi_dots(k->slots, before, 2, k->scratch));
  TSI_TRY(tsi_axpy2(k->e, ts_quotient(1, pr, pq), p, k->r, ts_quotient(-1, pr, pq), q));
  tsi_dot after[2];
  TSI_TRY(sum_replaced_delta(s, as_before, factor, &after[0]));
  after[1] = k->z ? (tsi_dot){TSI_CG_SLOT_QZ, q, k->z, NULL} : (tsi_dot){TSI_CG_SLOT_QZ, q, k->r, k->m};
  TSI_TRY(tsi_dots(k->slots, after, 2, k->scratch));
  tsi_cg_begin_watch(s);
  s->carried = 1;
  return tsi_solver_update_direction(k, p, k->r, ts_quotient(-1, qz, pq));
}

ts_status tsi_cg_drop_directions(tsi_solve *s) {
  s->never_carry = 1;
  TSI_TRY(tsi_cg_verify(s));
  s->verified = fmin(s->measure, s->verified);
  if (s->met) {
    tsi_solve_finish_converged(s);
    return TS_OK;
  }
  s->result->restarts++;
  tsi_cg_begin_watch(s);
  return tsi_cg_begin_rescaled(s);
}

/* If rounding in x exceeds the rule, x may have grown along a null space of several dimensions, which the
 * residual does not show. The checked mode finds its directions one by one. */
static int may_be_singular(const tsi_solve *s) {
  return s->solver->pairs && !s->checked_mode && s->result->attainable_residual > s->solver->desc.rtol;
}

ts_status tsi_cg_check_residual(tsi_solve *s, int must_end) {
  const int keeps = may_replace(s) && !s->checked_mode && !s->never_carry && !must_end;
  TSI_TRY(keeps ? replace_residual(s) : tsi_cg_verify(s));
  if (s->met) {
    tsi_solve_finish_converged(s);
    return TS_OK;
  }
  s->in_vain = s->measure > 0.5 * s->verified ? s->in_vain + 1 : 0;
  s->verified = fmin(s->measure, s->verified);
  if (keeps && !s->in_vain) return TS_OK;
  s->result->restarts++;
  if (must_end || s->in_vain >= 2) {
    int is_projected;
    TSI_TRY(tsi_cg_project_residual(s, &is_projected));
    if (is_projected) return TS_OK;
    if (!may_be_singular(s)) {
      tsi_solve_finish_stagnated(s);
      return TS_OK;
    }
    s->checked_mode = s->never_carry = 1;
    s->in_vain = 0;
    return tsi_cg_begin_rescaled(s);
  }
  return keeps ? tsi_cg_begin(s) : tsi_cg_begin_rescaled(s);
}
