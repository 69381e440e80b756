/* Conjugate gradients: a singular matrix and a right-hand side with a part that no x reaches.
 *
 * That part is the component of b in the null space. Since A is symmetric, every residual contains it. The
 * directions turn towards it: d^T A d falls to rounding compared with d^T M d. e grows along d without limit,
 * and so does r, through the rounding of A e. Then d is a vector of the null space except for its last digits,
 * and
 *
 *   b = b - (d^T r / d^T d) d;  x = x + e - (d^T e / d^T d) d
 *
 * removes most of that component from b, and keeps the part of e that is not along d. The iterations restart.
 * The remainder left by rounding is removed the same way when it becomes visible. Single precision cannot
 * distinguish such a d from that of an ill-conditioned matrix: auto continues in double. */
#include <math.h>

#include "cg.h"
#include "common/core/core.h"
#include "common/matrix/operator.h"

enum { MOST_PROJECTIONS = 100 };

/* Single and mixed precision can only stop, and do so only if auto continues in double. */
static int may_act(const tsi_solve *s) {
  return s->solver->pairs || s->solver->desc.precision == TS_PRECISION_AUTO;
}

int tsi_cg_seems_singular(const tsi_solve *s, int iteration, double ratio) {
  const ts_solver *k = s->solver;
  const double size = k->m || k->z ? 1 : k->matrix->norm_infinity;
  const double rounding = (k->pairs ? 0x1p-40 : 0x1p-25) * size, growth = k->pairs ? 4 : 100;
  if (!may_act(s) || s->carried || !(ratio > growth * s->phase_low) || !(size > 0)) return 0;
  for (int c = 0; c < k->components; c++) {
    const double delta = tsi_cg_delta_of(s, iteration, c), dq = tsi_cg_dq_of(s, iteration, c);
    const double dmd = iteration == s->phase_start ? delta : s->direction[c];
    if (delta > tsi_cg_visible(s, c) && fabs(dq) <= rounding * dmd) return 1;
  }
  return 0;
}

int tsi_cg_leaves_residual(const tsi_solve *s, int iteration) {
  if (!may_act(s) || tsi_cg_stops_by_delta(s)) return 0;
  for (int c = 0; c < s->solver->components; c++) {
    const double delta = tsi_cg_delta_of(s, iteration, c), start = s->norm_start[c];
    if (!(s->norm_r[c] > s->tolerance[c]) || !(s->delta_0[c] > 0) || !(start > 0)) continue;
    if (sqrt(fabs(delta) / s->delta_0[c]) < tsi_epsilon(s->solver) * s->norm_r[c] / start) return 1;
  }
  return 0;
}

/* Scales d to about 1, so that its squares are in range. */
static ts_status normalise_direction(const ts_solver *k) {
  const tsi_ops *ops = k->context->ops;
  ts_vector *d = k->own[TSI_CG_D];
  const ts_vector first = tsi_first_part(d);
  TSI_TRY(ops->reduce(k->slots, TSI_SLOT_MAX_X, TSI_REDUCE_MAX_ABS, &first, &first));
  TSI_TRY(ops->scalars_normalise(k->slots, TSI_SLOT_MAX_X, TSI_CG_SLOT_PQ));
  return tsi_copy_parts(d, ts_scaled(1, k->slots, TSI_CG_SLOT_PQ), d);
}

/* Numbers of d: d^T D d with D = diag(A), or ||A|| I if the diagonal is unknown; d^T d, r^T d and d^T A d. Also
 * computes A d. */
enum { DDD, DD, RD, DAD, NUMBERS };

static ts_status look_at_direction(const ts_solver *k, double numbers[NUMBERS][4]) {
  enum { FIRST = TSI_CG_SLOT_QMQ }; /* four consecutive slots */
  ts_vector *d = k->own[TSI_CG_D], *q = k->own[TSI_CG_Q];
  TSI_TRY(normalise_direction(k));
  if (tsi_knows_diagonal(k->matrix)) {
    TSI_TRY(tsi_diagonal(q, k->matrix));
    TSI_TRY(k->context->ops->multiply(q, q, d));
  } else {
    TSI_TRY(k->context->ops->axpby(q, ts_constant(k->matrix->norm_infinity), d, ts_constant(0), d));
  }
  TSI_TRY(k->context->ops->reduce(k->slots, FIRST + DDD, TSI_REDUCE_DOT, d, q));
  TSI_TRY(tsi_spmv(q, k->matrix, d));
  const tsi_dot sums[] = {{FIRST + DD, d, d, NULL}, {FIRST + RD, d, k->r, NULL}, {FIRST + DAD, d, q, NULL}};
  TSI_TRY(tsi_dots(k->slots, sums, 3, k->scratch));
  return tsi_scalars_read(k->slots, FIRST, NUMBERS, numbers[0]);
}

static int has_size(const ts_solver *k, double numbers[NUMBERS][4]) {
  for (int c = 0; c < k->components; c++)
    if (numbers[DD][c] > 0 && isfinite(numbers[DD][c])) return 1;
  return 0;
}

/* Whether component c of d is a vector of the null space and b has a significant part along it. The comparison
 * with D makes the units of the unknowns irrelevant. A matrix with such a small eigenvalue is singular in
 * double precision. */
static int is_component_null(const tsi_solve *s, double numbers[NUMBERS][4], int c) {
  const double dd = numbers[DD][c], rd = numbers[RD][c], dad = numbers[DAD][c];
  if (!(dd > 0) || !isfinite(dd) || !isfinite(rd)) return 0;
  return fabs(dad) <= 0x1p-40 * fabs(numbers[DDD][c]) && fabs(rd) / sqrt(dd) > 0.1 * s->tolerance[c];
}

static int is_null(const tsi_solve *s, double numbers[NUMBERS][4]) {
  for (int c = 0; c < s->solver->components; c++)
    if (is_component_null(s, numbers, c)) return 1;
  return 0;
}

/* d = d - w M^-1 A d, which keeps the null space part of a vector, repeated a few times until that is nearly
 * all of d. w alternates between 1 and 1/2, so that parts with eigenvalues near 2, as for Jacobi with a
 * bipartite graph, also decay. */
static ts_status find_null_vector(const tsi_solve *s, double numbers[NUMBERS][4]) {
  enum { STEPS = 10 };
  const ts_solver *k = s->solver;
  ts_vector *d = k->own[TSI_CG_D], *q = k->own[TSI_CG_Q];
  const double norm = k->matrix->norm_infinity, size = k->m || k->z || !(norm > 0) ? 1 : 0.5 * norm;
  TSI_TRY(look_at_direction(k, numbers));
  for (int step = 0; step < STEPS && !is_null(s, numbers); step++) {
    if (k->z) TSI_TRY(tsi_solver_precondition(k, k->z, q));
    TSI_TRY(tsi_solver_update_direction(k, q, q, ts_constant(0)));
    TSI_TRY(k->context->ops->axpby(d, ts_constant(1), d, ts_constant((step % 2 ? -0.5 : -1) / size), q));
    TSI_TRY(look_at_direction(k, numbers));
  }
  return TS_OK;
}

/* The coefficients for removing d from b; 0 for a component that keeps it. */
static void choose_coefficients(tsi_solve *s, double numbers[NUMBERS][4], double of_b[4]) {
  for (int c = 0; c < 4; c++) {
    of_b[c] = 0;
    if (c >= s->solver->components || !is_component_null(s, numbers, c)) continue;
    const double removed = fabs(numbers[RD][c]) / sqrt(numbers[DD][c]);
    of_b[c] = numbers[RD][c] / numbers[DD][c];
    const double all = s->norm_rule[c];
    s->incompatible[c] = fmin(all, hypot(s->incompatible[c], removed));
    s->norm_b[c] = sqrt(fmax(0, all * all - s->incompatible[c] * s->incompatible[c]));
  }
}

/* Removes the part of e along d. If that part is much larger than the rest, its remainder needs a second
 * pass. */
static ts_status clean_e(const tsi_solve *s, double numbers[NUMBERS][4], const double of_b[4]) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  ts_vector *d = k->own[TSI_CG_D];
  for (int pass = 0; pass < 2; pass++) {
    double of_e[4];
    TSI_TRY(ops->reduce(k->slots, TSI_CG_SLOT_PQ, TSI_REDUCE_DOT, d, k->e));
    TSI_TRY(tsi_scalars_read(k->slots, TSI_CG_SLOT_PQ, 1, of_e));
    for (int c = 0; c < 4; c++) of_e[c] = of_b[c] != 0 && isfinite(of_e[c]) ? of_e[c] / numbers[DD][c] : 0;
    TSI_TRY(tsi_scalars_write(k->slots, TSI_CG_SLOT_PR, 1, of_e));
    TSI_TRY(ops->axpby(k->e, ts_scaled(-1, k->slots, TSI_CG_SLOT_PR), d, ts_constant(1), k->e));
  }
  return TS_OK;
}

/* Removes the part of x along d, if it is so large that its rounding is visible. An earlier precision may have
 * left it. */
static ts_status clean_x(const tsi_solve *s, double numbers[NUMBERS][4], const double of_b[4]) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  ts_vector *d = k->own[TSI_CG_D], *q = k->own[TSI_CG_Q];
  const ts_vector first = tsi_first_part(k->x);
  double of_x[4];
  TSI_TRY(ops->reduce(k->slots, TSI_CG_SLOT_PQ, TSI_REDUCE_DOT, d, &first));
  TSI_TRY(tsi_scalars_read(k->slots, TSI_CG_SLOT_PQ, 1, of_x));
  for (int c = 0; c < 4; c++) {
    const double size = of_b[c] != 0 ? fabs(of_x[c]) / sqrt(numbers[DD][c]) : 0;
    const int shows = isfinite(size) && 0x1p-53 * size * k->matrix->norm_infinity > 0.1 * s->tolerance[c];
    of_x[c] = shows ? of_x[c] / numbers[DD][c] : 0;
  }
  TSI_TRY(tsi_scalars_write(k->slots, TSI_CG_SLOT_PR, 1, of_x));
  TSI_TRY(ops->axpby(q, ts_scaled(1, k->slots, TSI_CG_SLOT_PR), d, ts_constant(0), d));
  return tsi_add_to_parts(k->x, ts_constant(-1), q);
}

/* Removes the parts of b and e along d, a vector of the null space. Then the method restarts from x + e, or
 * from x if e was entirely along d and its remainder is only rounding. */
static ts_status project_along_direction(tsi_solve *s, double numbers[NUMBERS][4], int *is_projected) {
  ts_solver *k = s->solver;
  ts_vector *d = k->own[TSI_CG_D], *q = k->own[TSI_CG_Q];
  double of_b[4];
  *is_projected = 1;
  s->projections++;
  s->result->restarts++;
  choose_coefficients(s, numbers, of_b);
  TSI_TRY(tsi_scalars_write(k->slots, TSI_CG_SLOT_PQ, 1, of_b));
  TSI_TRY(k->context->ops->axpby(q, ts_scaled(1, k->slots, TSI_CG_SLOT_PQ), d, ts_constant(0), d));
  TSI_TRY(tsi_add_to_parts(k->b, ts_constant(-1), q));
  TSI_TRY(clean_x(s, numbers, of_b));
  TSI_TRY(clean_e(s, numbers, of_b));
  s->best_is_kept =
      0; /* the best x is this one: its residual is unchanged when the removed part of b is included */
  TSI_TRY(tsi_cg_verify(s));
  if (s->best_is_kept) {
    TSI_TRY(tsi_copy_parts(k->x, ts_constant(1), k->best));
    TSI_TRY(tsi_fill(k->e, 0));
    TSI_TRY(tsi_cg_verify(s));
    s->best = s->result->relative_residual;
    s->best_is_kept = 0;
  }
  s->in_vain = 0;
  s->verified = s->measure;
  tsi_cg_begin_watch(s);
  if (!s->met) return tsi_cg_begin_rescaled(s);
  tsi_solve_finish_converged(s);
  return TS_OK;
}

static int may_project(const tsi_solve *s) {
  return s->solver->pairs && s->projections < MOST_PROJECTIONS && !tsi_cg_stops_by_delta(s);
}

ts_status tsi_cg_project(tsi_solve *s, int *is_projected) {
  ts_solver *k = s->solver;
  double numbers[NUMBERS][4];
  *is_projected = 0;
  if (!may_project(s)) return TS_OK;
  k->residual_parts = 3;
  TSI_TRY(tsi_solver_residual(k, k->x));
  if (!tsi_knows_diagonal(k->matrix)) TSI_TRY(tsi_cg_measure_matrix(k));
  TSI_TRY(find_null_vector(s, numbers));
  if (!has_size(k, numbers)) { /* the first direction already was in the null space */
    if (k->z) TSI_TRY(tsi_solver_precondition(k, k->z, k->r));
    TSI_TRY(tsi_fill(k->e, 0));
    TSI_TRY(tsi_solver_update_direction(k, k->own[TSI_CG_D], k->r, ts_constant(0)));
    TSI_TRY(find_null_vector(s, numbers));
  }
  return is_null(s, numbers) ? project_along_direction(s, numbers, is_projected) : TS_OK;
}

ts_status tsi_cg_project_residual(tsi_solve *s, int *is_projected) {
  ts_solver *k = s->solver;
  double numbers[NUMBERS][4];
  *is_projected = 0;
  if (!may_project(s)) return TS_OK;
  TSI_TRY(tsi_fill(k->e, 0));
  TSI_TRY(tsi_copy_parts(k->own[TSI_CG_D], ts_constant(1), k->r));
  TSI_TRY(find_null_vector(s, numbers));
  return is_null(s, numbers) ? project_along_direction(s, numbers, is_projected) : TS_OK;
}

/* If the preconditioner knows the null space, r has only that part left. */
static ts_status project_residual(tsi_solve *s, int *is_projected) {
  TSI_TRY(tsi_cg_project(s, is_projected));
  if (*is_projected || s->ended) return TS_OK;
  TSI_TRY(tsi_cg_verify(s));
  return s->met ? TS_OK : tsi_cg_project_residual(s, is_projected);
}

ts_status tsi_cg_check_singular(tsi_solve *s, int by_residual, int *is_handled) {
  ts_solver *k = s->solver;
  int is_projected = 0;
  *is_handled = 1;
  if (k->pairs && !by_residual &&
      !s->checked_mode) { /* after many more iterations d may be rounding, or not finite */
    s->checked_mode = s->never_carry = 1;
    s->in_vain = 0; /* the new mode has not been tried yet */
    TSI_TRY(tsi_fill(k->e, 0));
    return tsi_cg_check_residual(s, 0);
  }
  if (k->pairs && !by_residual) {
    TSI_TRY(tsi_cg_project(s, &is_projected));
    if (is_projected) return TS_OK;
    s->never_carry = 1; /* d is lost */
    return tsi_cg_check_residual(s, 0);
  }
  if (by_residual) {
    TSI_TRY(project_residual(s, &is_projected));
    if (is_projected) return TS_OK;
  } else {
    TSI_TRY(tsi_fill(k->e, 0));
    TSI_TRY(tsi_cg_verify(s));
  }
  s->met ? tsi_solve_finish_converged(s) : tsi_solve_finish_stagnated(s);
  return TS_OK;
}

ts_status tsi_cg_restore_b(tsi_solve *s) {
  const ts_solver *k = s->solver;
  ts_result *result = s->result;
  double without[4], b[4];
  for (int c = 0; c < k->components; c++) {
    without[c] = s->norm_r[c];
    b[c] = s->norm_rule[c];
  }
  const int met = s->met;
  TSI_TRY(tsi_solve_load_b(s, s->user_b));
  TSI_TRY(tsi_solve_measure(s, k->x, k->e));
  for (int c = 0; c < k->components; c++) {
    const double whole = sqrt(tsi_number(k, TSI_SLOT_RR, c));
    s->incompatible[c] = sqrt(fmax(0, whole * whole - without[c] * without[c]));
    s->norm_b[c] = sqrt(fmax(0, b[c] * b[c] - s->incompatible[c] * s->incompatible[c]));
  }
  result->incompatible = tsi_solve_incompatible(s);
  if (result->reason == TS_REASON_INCOMPATIBLE)
    met ? tsi_solve_finish_converged(s) : tsi_solve_finish_stagnated(s);
  for (int c = 0; c < k->components; c++) {
    s->incompatible[c] = 0;
    s->norm_b[c] = b[c];
  }
  tsi_solve_read_numbers(s);
  return TS_OK;
}
