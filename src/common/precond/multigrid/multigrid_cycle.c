/* The cycles of multigrid (Bolz et al. 2003, section 4.1), written once for all backends on the ops table:
 *
 *   cycle(h):  on the coarsest grid:  x = A^-1 b
 *              smooth x `pre` times
 *              b_2h = P (b - A x);  x_2h = 0
 *              V: cycle(2h) once;  W: twice;  F: an F-cycle, then a V-cycle
 *              x = x + S x_2h
 *              smooth x `post` times
 *
 *   full multigrid:  b of all levels by restriction;  x = A^-1 b on the coarsest;
 *                    then level by level x = S x_2h and a cycle
 *
 * They use the fields of the levels and always solve a correction equation A e = r. So x begins with 0 on every
 * level, and points without an equation hold 0. */
#include "common/core/core.h"
#include "multigrid.h"

/* The parameters of a cycle. */
typedef struct cycle_plan {
  ts_cycle cycle;
  int pre, post;
  int symmetric;
} cycle_plan;

/* A running cycle. */
typedef struct cycle_run {
  ts_multigrid *mg;
  const cycle_plan *plan;
  tsi_step_list steps;
} cycle_run;

/* ---- Smoothing ---- */

static ts_status sweep(cycle_run *run, tsi_level *level, const tsi_sweep *sweep) {
  return tsi_steps_add(&run->steps, &(tsi_step){.kind = TSI_STEP_SMOOTH, .level = level, .sweep = *sweep});
}

static ts_status jacobi(cycle_run *run, tsi_level *level, int steps, int x_is_zero) {
  tsi_sweep s = {.kind = TSI_SWEEP_JACOBI, .alpha = (float)run->mg->desc.damping};
  for (int k = 0; k < steps; k++) {
    s.x_is_zero = x_is_zero && k == 0;
    TSI_TRY(sweep(run, level, &s));
  }
  return TS_OK;
}

/* The polynomial that is small on [1/4, 1] times the largest eigenvalue of D^-1 A. This eigenvalue is at most 2
 * if A is symmetric and no row's off-diagonal magnitudes exceed its centre. */
static ts_status chebyshev(cycle_run *run, tsi_level *level, int degree, int x_is_zero) {
  const double largest = 2, smallest = largest / 4;
  const double middle = (largest + smallest) / 2, half = (largest - smallest) / 2, sigma = middle / half;
  double rho = 1 / sigma;
  tsi_sweep s = {.kind = TSI_SWEEP_CHEBYSHEV, .alpha = (float)(1 / middle)};
  for (int k = 0; k < degree; k++) {
    if (k > 0) {
      const double next = 1 / (2 * sigma - rho);
      s.alpha = (float)(2 * next / half);
      s.beta = (float)(next * rho);
      rho = next;
    }
    s.x_is_zero = x_is_zero && k == 0;
    TSI_TRY(sweep(run, level, &s));
  }
  return TS_OK;
}

/* In a five-point stencil two diagonally adjacent parities have the same colour: no coefficient connects
 * them. */
static tsi_sweep colours(const ts_multigrid *mg, const tsi_level *level, int reversed) {
  static const int orders[2][2][4] = {{{0, 1, 2, 3}, {3, 2, 1, 0}}, {{0, 3, 1, 2}, {2, 1, 3, 0}}};
  const int red_black = mg->desc.smoother == TS_SMOOTHER_RED_BLACK && level->five_point;
  tsi_sweep s = {.kind = TSI_SWEEP_COLOURS};
  for (int k = 0; k < 4; k++) s.colours[k] = orders[red_black][reversed][k];
  return s;
}

static ts_status smooth(cycle_run *run, tsi_level *level, int steps, int reversed, int x_is_zero) {
  const ts_smoother smoother = run->mg->desc.smoother;
  if (steps == 0 && x_is_zero)
    return tsi_steps_add(&run->steps, &(tsi_step){.kind = TSI_STEP_CLEAR, .level = level});
  if (smoother == TS_SMOOTHER_JACOBI) return jacobi(run, level, steps, x_is_zero);
  if (smoother == TS_SMOOTHER_CHEBYSHEV) return chebyshev(run, level, steps, x_is_zero);
  tsi_sweep s = colours(run->mg, level, reversed);
  for (int k = 0; k < steps; k++) {
    s.x_is_zero = x_is_zero && k == 0;
    TSI_TRY(sweep(run, level, &s));
  }
  return TS_OK;
}

static ts_status solve_coarsest(cycle_run *run, tsi_level *level, int x_is_zero) {
  const ts_multigrid *mg = run->mg;
  if (mg->exact) return tsi_steps_add(&run->steps, &(tsi_step){.kind = TSI_STEP_COARSE_SOLVE, .level = level});
  const int sweeps = mg->desc.coarsest_sweeps ? mg->desc.coarsest_sweeps : 50;
  if (!run->plan->symmetric) return smooth(run, level, sweeps, 0, x_is_zero);
  TSI_TRY(smooth(run, level, (sweeps + 1) / 2, 0, x_is_zero));
  return smooth(run, level, (sweeps + 1) / 2, 1, 0);
}

/* ---- Cycles ---- */

static ts_status descend(cycle_run *run, int l, ts_cycle kind, int x_is_zero) {
  const ts_multigrid *mg = run->mg;
  const cycle_plan *plan = run->plan;
  tsi_level *level = &run->mg->levels[l];
  const int coarsest = mg->level_count - 1;
  if (l == coarsest) return solve_coarsest(run, level, x_is_zero);
  tsi_step step = {.kind = TSI_STEP_RESTRICT_RESIDUAL, .level = level, .coarse = &run->mg->levels[l + 1]};
  TSI_TRY(smooth(run, level, plan->pre, 0, x_is_zero));
  TSI_TRY(tsi_steps_add(&run->steps, &step));
  TSI_TRY(descend(run, l + 1, kind, 1));
  /* A second exact solution would change nothing. */
  if (kind > TS_CYCLE_V && !(l + 1 == coarsest && mg->exact))
    TSI_TRY(descend(run, l + 1, kind == TS_CYCLE_F ? TS_CYCLE_V : kind, 0));
  step.kind = TSI_STEP_PROLONG;
  TSI_TRY(tsi_steps_add(&run->steps, &step));
  return smooth(run, level, plan->post, plan->symmetric, 0);
}

/* A cycle that begins on level l. */
static ts_status cycle(ts_multigrid *mg, int l, const cycle_plan *plan, int x_is_zero) {
  cycle_run run;
  run.mg = mg;
  run.plan = plan;
  run.steps.count = 0;
  TSI_TRY(descend(&run, l, plan->cycle, x_is_zero));
  return tsi_steps_run(&run.steps);
}

/* Restricts b and the given values to every level. The solution is interpolated upwards from the second
 * coarsest level, where cycles are cheap and converge from 0. */
static ts_status full_multigrid(ts_multigrid *mg, const cycle_plan *plan) {
  enum { first_cycles = 4 };
  const tsi_ops *ops = mg->context->ops;
  const int first = mg->level_count - 2;
  for (int l = 0; l < first; l++) {
    TSI_TRY(ops->grid->level_restrict(&mg->levels[l + 1], &mg->levels[l]));
    TSI_TRY(ops->grid->level_inject(&mg->levels[l + 1], &mg->levels[l]));
  }
  for (int k = 0; k < first_cycles; k++) TSI_TRY(cycle(mg, first, plan, 0));
  for (int l = first - 1; l >= 0; l--) {
    TSI_TRY(ops->grid->level_prolong(&mg->levels[l], &mg->levels[l + 1], 0));
    if (l > 0) TSI_TRY(cycle(mg, l, plan, 0));
  }
  return TS_OK;
}

ts_status tsi_multigrid_correct(ts_multigrid *mg, const ts_vector *r, int count) {
  const ts_multigrid_desc *desc = &mg->desc;
  const cycle_plan plan = {desc->cycle, desc->pre, desc->post, desc->symmetric};
  TSI_TRY(mg->context->ops->grid->level_load(&mg->levels[0], TSI_LEVEL_B, r));
  for (int k = 0; k < count; k++) TSI_TRY(cycle(mg, 0, &plan, k == 0));
  return TS_OK;
}

ts_status tsi_multigrid_add(ts_multigrid *mg, const ts_vector *x, const ts_vector *e) {
  ts_vector pair = tsi_first_part(x);
  pair.low = mg->low;
  return mg->context->ops->add_to_parts(&pair, ts_constant(1), e);
}

ts_status tsi_multigrid_residual(ts_multigrid *mg, const ts_vector *b, const ts_vector *x) {
  const ts_matrix *A = mg->matrix;
  ts_vector pair = tsi_first_part(x);
  pair.low = mg->low;
  if (b->low) {
    TSI_TRY(tsi_residual(mg->r, b, A, &pair));
  } else {
    TSI_TRY(mg->context->ops->grid->stencil_residual(mg->r, b, A, x, mg->low));
    if (A->low) TSI_TRY(tsi_residual_of_parts(mg->r, mg->r, A->low, &pair, 2));
  }
  return tsi_multigrid_project(mg, mg->r);
}

ts_status tsi_multigrid_load_low(ts_multigrid *mg, const ts_vector *x) {
  if (!x->low) return mg->context->ops->fill(mg->low, 0);
  const ts_vector part = tsi_first_part(x->low);
  return tsi_copy_parts(mg->low, ts_constant(1), &part);
}

ts_status tsi_multigrid_store_low(ts_multigrid *mg, const ts_vector *x) {
  return x->low ? tsi_copy_parts(x->low, ts_constant(1), mg->low) : TS_OK;
}

ts_status tsi_multigrid_begin_full(ts_multigrid *mg, const ts_vector *b, ts_vector *x) {
  const tsi_ops *ops = mg->context->ops;
  const ts_multigrid_desc *desc = &mg->desc;
  const cycle_plan plan = {desc->cycle, desc->pre, desc->post, desc->symmetric};
  TSI_TRY(tsi_multigrid_clear(mg, x));
  TSI_TRY(ops->axpby(mg->r, ts_constant(1), b, ts_constant(0), b));
  TSI_TRY(tsi_multigrid_project(mg, mg->r));
  TSI_TRY(ops->grid->level_load(&mg->levels[0], TSI_LEVEL_B, mg->r));
  TSI_TRY(ops->grid->level_load(&mg->levels[0], TSI_LEVEL_X, x));
  TSI_TRY(full_multigrid(mg, &plan));
  TSI_TRY(ops->grid->level_store(x, &mg->levels[0], 0));
  TSI_TRY(tsi_multigrid_load_low(mg, x));
  if (mg->level_count == 2) return TS_OK;
  /* The cycle on the finest level is a correction with an exact residual: on fine grids the error of b - A x in
   * single precision is as large as that of the discretisation. */
  TSI_TRY(tsi_multigrid_residual(mg, b, x));
  TSI_TRY(tsi_multigrid_correct(mg, mg->r, 1));
  TSI_TRY(ops->grid->level_store(mg->r, &mg->levels[0], 0));
  return tsi_multigrid_add(mg, x, mg->r);
}

/* Equal numbers of steps before and after, and no F-cycle; otherwise the operator would be unsymmetric. */
static cycle_plan symmetric_plan(const ts_multigrid *mg) {
  const ts_multigrid_desc *desc = &mg->desc;
  const int steps = (desc->pre + desc->post + 1) / 2;
  return (cycle_plan){desc->cycle == TS_CYCLE_W ? TS_CYCLE_W : TS_CYCLE_V, steps, steps, 1};
}

ts_status tsi_multigrid_precondition(ts_multigrid *mg, ts_vector *z, const ts_vector *r) {
  const cycle_plan plan = symmetric_plan(mg);
  TSI_TRY(mg->context->ops->grid->level_load(&mg->levels[0], TSI_LEVEL_B, r));
  TSI_TRY(cycle(mg, 0, &plan, 1));
  TSI_TRY(mg->context->ops->grid->level_store(z, &mg->levels[0], 0));
  return tsi_multigrid_project(mg, z);
}

ts_status tsi_multigrid_clear(ts_multigrid *mg, ts_vector *x) {
  TSI_TRY(mg->context->ops->grid->level_clear(&mg->levels[0]));
  for (; x; x = x->low) TSI_TRY(mg->context->ops->grid->level_store(x, &mg->levels[0], 0));
  return TS_OK;
}

/* ---- Cycles on the user's vectors ---- */

/* Uses `low` if x has a second part. */
static ts_status multigrid_cycle_run(ts_multigrid *mg, const ts_vector *b, ts_vector *x, int count) {
  const tsi_ops *ops = mg->context->ops;
  if (tsi_multigrid_is_full(mg)) {
    TSI_TRY(tsi_multigrid_begin_full(mg, b, x));
    TSI_TRY(tsi_multigrid_store_low(mg, x));
    count--;
  }
  if (count > 0) {
    TSI_TRY(tsi_residual(mg->r, b, mg->matrix, x));
    TSI_TRY(tsi_multigrid_project(mg, mg->r));
    TSI_TRY(tsi_multigrid_correct(mg, mg->r, count));
    if (!x->low) {
      TSI_TRY(ops->grid->level_store(x, &mg->levels[0], 1));
    } else {
      TSI_TRY(ops->grid->level_store(mg->r, &mg->levels[0], 0));
      TSI_TRY(tsi_add_to_parts(x, ts_constant(1), mg->r));
    }
  }
  if (!x->low) return tsi_multigrid_project(mg, x);
  TSI_TRY(tsi_multigrid_load_low(mg, x));
  TSI_TRY(tsi_multigrid_center(mg, x));
  return tsi_multigrid_store_low(mg, x);
}

ts_status ts_multigrid_cycle(ts_multigrid *multigrid, const ts_vector *b, ts_vector *x, int count) {
  TSI_BEGIN(multigrid, multigrid->context);
  ts_context *context = multigrid->context;
  TSI_REQUIRE(context, b);
  TSI_REQUIRE(context, x);
  TSI_TRY(tsi_multigrid_check_vectors(multigrid, b, x));
  if (count < 1 || count > 1000)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "count is %d; it must be 1 to 1000", count);
  TSI_TRY(TSI_ENTER_WITH(context, b, x));
  return tsi_leave(context, multigrid_cycle_run(multigrid, b, x, count));
}

/* A smoothing step is one product, in one pass per colour; a residual is one more product. */
void tsi_multigrid_cost(const ts_multigrid *mg, double *products, double *operations) {
  const cycle_plan plan = symmetric_plan(mg);
  const ts_smoother smoother = mg->desc.smoother;
  const int passes = smoother == TS_SMOOTHER_FOUR_COLOUR ? 4 : smoother == TS_SMOOTHER_RED_BLACK ? 2 : 1;
  const ts_grid_desc *finest = &mg->levels[0].grid;
  const double steps = plan.pre + plan.post, entries = mg->matrix->stencil->five_point ? 5 : 9;
  double visits = 1;
  *products = *operations = 0;
  for (int l = 0; l < mg->level_count; l++) {
    const ts_grid_desc *grid = &mg->levels[l].grid;
    const double points = (double)grid->width * grid->height,
                 part = points / ((double)finest->width * finest->height);
    const int is_coarsest = l == mg->level_count - 1, is_exact = is_coarsest && mg->exact;
    const double here = is_exact ? points / entries : is_coarsest ? mg->desc.coarsest_sweeps : steps + 1;
    *products += visits * part * here;
    *operations += visits * (is_exact ? 1 : is_coarsest ? passes * here : passes * steps + 2);
    if (plan.cycle == TS_CYCLE_W && !(l + 2 == mg->level_count && mg->exact)) visits *= 2;
  }
}
