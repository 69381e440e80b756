/* Submits the steps of a cycle to the backend: one at a time, or in lists if the backend accepts several at
 * once. */
#include "multigrid.h"

static ts_status run_one(const tsi_step *step) {
  const tsi_ops *ops = step->level->context->ops;
  switch (step->kind) {
  case TSI_STEP_SMOOTH:
    return ops->grid->level_smooth(step->level, &step->sweep);
  case TSI_STEP_CLEAR:
    return ops->grid->level_clear(step->level);
  case TSI_STEP_RESTRICT_RESIDUAL:
    return ops->grid->level_restrict_residual(step->coarse, step->level);
  case TSI_STEP_PROLONG:
    return ops->grid->level_prolong(step->level, step->coarse, 1);
  default:
    return ops->grid->level_coarse_solve(step->level);
  }
}

ts_status tsi_steps_run(tsi_step_list *list) {
  const int count = list->count;
  list->count = 0;
  return count ? list->steps[0].level->context->ops->grid->level_steps(list->steps, count) : TS_OK;
}

ts_status tsi_steps_add(tsi_step_list *list, const tsi_step *step) {
  const ts_context *context = step->level->context;
  if (!context->ops->grid->level_steps || context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS)
    return run_one(step);
  list->steps[list->count++] = *step;
  return list->count == TSI_MAX_STEPS ? tsi_steps_run(list) : TS_OK;
}
