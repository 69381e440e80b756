/* Steps of a cycle, in as few kernels as possible. On an H200, a kernel that depends on the previous one costs
 * about 3 us. That exceeds its computing time except on large grids. A V(4,2)-cycle on 513 x 513 points has 41
 * steps. */
#include "cuda_level.cuh"

static ts_status run_one(const tsi_step *step) {
  switch (step->kind) {
  case TSI_STEP_SMOOTH:
    return cuda_level_smooth(step->level, &step->sweep);
  case TSI_STEP_CLEAR:
    return cuda_level_clear(step->level);
  case TSI_STEP_RESTRICT_RESIDUAL:
    return cuda_level_restrict_residual(step->coarse, step->level);
  case TSI_STEP_PROLONG:
    return cuda_level_prolong(step->level, step->coarse, 1);
  default:
    return cuda_level_coarse_solve(step->level);
  }
}

ts_status cuda_level_steps(const tsi_step *steps, int count) {
  while (count > 0) {
    int taken = 0;
    TSI_TRY(cuda_level_run_tiles(steps, count, &taken));
    if (!taken) {
      TSI_TRY(run_one(steps));
      taken = 1;
    }
    steps += taken;
    count -= taken;
  }
  return TS_OK;
}
