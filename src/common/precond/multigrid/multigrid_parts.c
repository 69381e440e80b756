/* Singular parts of a grid, where the solution is unique up to a constant: removes their means. */
#include "common/core/core.h"
#include "multigrid.h"

ts_status tsi_multigrid_sum_parts(ts_multigrid *mg, const ts_vector *v, int first) {
  const tsi_stencil *stencil = mg->matrix->stencil;
  for (int k = 0; k < stencil->part_count; k++)
    TSI_TRY(mg->context->ops->reduce(mg->slots, first + k, TSI_REDUCE_DOT, v, stencil->parts[k]));
  return TS_OK;
}

ts_status tsi_multigrid_remove_means(ts_multigrid *mg, ts_vector *v, int first) {
  const tsi_stencil *stencil = mg->matrix->stencil;
  for (int k = 0; k < stencil->part_count; k++) {
    const ts_coefficient mean = ts_scaled(-1.0f / (float)stencil->part_sizes[k], mg->slots, first + k);
    TSI_TRY(mg->context->ops->axpby(v, ts_constant(1), v, mean, stencil->parts[k]));
  }
  return TS_OK;
}

ts_status tsi_multigrid_center(ts_multigrid *mg, const ts_vector *x) {
  const ts_vector high = tsi_first_part(x);
  if (!mg->matrix->stencil->part_count) return TS_OK;
  TSI_TRY(tsi_multigrid_sum_parts(mg, &high, TSI_MG_SUMS));
  TSI_TRY(mg->context->ops->fill(mg->r, 0));
  TSI_TRY(tsi_multigrid_remove_means(mg, mg->r, TSI_MG_SUMS));
  return tsi_multigrid_add(mg, x, mg->r);
}

ts_status tsi_multigrid_project(ts_multigrid *mg, ts_vector *v) {
  TSI_TRY(tsi_multigrid_sum_parts(mg, v, TSI_MG_SUMS));
  return tsi_multigrid_remove_means(mg, v, TSI_MG_SUMS);
}
