/* The watched operations on grids. The fields of a level can be read only by level_store, so only on the finest
 * level and only if all of its points have an equation. There, poison is loaded into x before an operation that
 * must not read it. */
#include "check/core/check.h"

static const tsi_grid_ops *inner_of(const ts_context *context) {
  return check_state_of(context)->inner->grid;
}

/* ---- Stencils ---- */

ts_status check_stencil_create(ts_matrix *A, const float *values) {
  TSI_TRY(inner_of(A->context)->stencil_create(A, values));
  return check_watch_products(A);
}

ts_status check_stencil_read(const ts_matrix *A, float *values) {
  check_count_synchronisation(A->context);
  return inner_of(A->context)->stencil_read(A, values);
}

ts_status check_stencil_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x,
                                 const ts_vector *low) {
  if (r != b) TSI_TRY(check_poison(r));
  TSI_TRY(check_remember(x));
  TSI_TRY(inner_of(r->context)->stencil_residual(r, b, A, x, low));
  check_count(r->context, "stencil_residual");
  TSI_TRY(check_unchanged("stencil_residual", x));
  return check_vector("stencil_residual", r, 1);
}

/* ---- Reading a level ---- */

static int can_see(const tsi_level *level) {
  return level->matrix && !level->matrix->stencil->has_constrained;
}

/* A step that uses a vector over the finest grid. */
typedef ts_status (*probe_step)(const char *operation, ts_vector *probe, tsi_level *level);

static ts_status with_probe(probe_step step, const char *operation, tsi_level *level) {
  if (!can_see(level)) return TS_OK;
  ts_vector probe = {.context = level->context, .space = level->matrix->row_space, .components = 1};
  const tsi_ops *inner = check_state_of(level->context)->inner;
  TSI_TRY(inner->vector_create(&probe));
  const ts_status status = step(operation, &probe, level);
  inner->vector_destroy(&probe);
  return status;
}

static ts_status poison_step(const char *operation, ts_vector *probe, tsi_level *level) {
  (void)operation;
  TSI_TRY(check_poison(probe));
  return inner_of(level->context)->level_load(level, TSI_LEVEL_X, probe);
}

static ts_status look_step(const char *operation, ts_vector *probe, tsi_level *level) {
  TSI_TRY(inner_of(level->context)->level_store(probe, level, 0));
  return check_vector(operation, probe, 0);
}

/* check_remember holds the values that were loaded. */
static ts_status compare_step(const char *operation, ts_vector *probe, tsi_level *level) {
  TSI_TRY(inner_of(level->context)->level_store(probe, level, 0));
  return check_unchanged(operation, probe);
}

static ts_status poison_x(tsi_level *level) {
  return with_probe(poison_step, NULL, level);
}

static ts_status written(const char *operation, tsi_level *level) {
  check_count(level->context, operation);
  return with_probe(look_step, operation, level);
}

/* ---- Levels ---- */

ts_status check_level_read(const tsi_level *level, float *values) {
  check_count_synchronisation(level->context);
  return inner_of(level->context)->level_read(level, values);
}

ts_status check_level_load(tsi_level *level, tsi_level_field field, const ts_vector *v) {
  TSI_TRY(check_remember(v));
  TSI_TRY(inner_of(level->context)->level_load(level, field, v));
  check_count(level->context, "level_load");
  TSI_TRY(check_unchanged("level_load", v));
  return field == TSI_LEVEL_X ? with_probe(compare_step, "level_load", level) : TS_OK;
}

ts_status check_level_store(ts_vector *v, const tsi_level *level, int add) {
  if (!add && can_see(level)) TSI_TRY(check_poison(v));
  TSI_TRY(inner_of(level->context)->level_store(v, level, add));
  check_count(level->context, "level_store");
  return check_vector("level_store", v, 0);
}

ts_status check_level_clear(tsi_level *level) {
  TSI_TRY(poison_x(level));
  TSI_TRY(inner_of(level->context)->level_clear(level));
  return written("level_clear", level);
}

ts_status check_level_coarse_solve(tsi_level *level) {
  TSI_TRY(poison_x(level));
  TSI_TRY(inner_of(level->context)->level_coarse_solve(level));
  return written("level_coarse_solve", level);
}

ts_status check_level_smooth(tsi_level *level, const tsi_sweep *sweep) {
  if (sweep->x_is_zero) TSI_TRY(poison_x(level));
  TSI_TRY(inner_of(level->context)->level_smooth(level, sweep));
  return written("level_smooth", level);
}

ts_status check_level_restrict_residual(tsi_level *coarse, tsi_level *fine) {
  TSI_TRY(inner_of(fine->context)->level_restrict_residual(coarse, fine));
  return written("level_restrict_residual", fine);
}

ts_status check_level_restrict(tsi_level *coarse, tsi_level *fine) {
  TSI_TRY(inner_of(fine->context)->level_restrict(coarse, fine));
  return written("level_restrict", fine);
}

ts_status check_level_inject(tsi_level *coarse, tsi_level *fine) {
  TSI_TRY(poison_x(coarse));
  TSI_TRY(inner_of(fine->context)->level_inject(coarse, fine));
  return written("level_inject", coarse);
}

ts_status check_level_prolong(tsi_level *fine, tsi_level *coarse, int add) {
  TSI_TRY(inner_of(fine->context)->level_prolong(fine, coarse, add));
  return written("level_prolong", fine);
}
