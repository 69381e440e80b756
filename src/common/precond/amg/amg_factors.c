/* The factors of a last level that is too large for an inverse, if the module for them is there (direct.h): of
 * a hierarchy that stalls or is cut off. Smoothing there would leave the smooth errors. The host applies them,
 * which takes a wait in each cycle on a device. */
#include "amg.h"
#include "common/core/core.h"

/* Entries of the factors over those of the first level, at most. */
static const double most_entries = 4;

ts_status tsi_amg_factor_last(tsi_amg *amg) {
  ts_context *context = amg->context;
  const tsi_amg_csr *A = &amg->host.level[amg->levels - 1].A;
  const ts_matrix *first = amg->level[0].A;
  tsi_direct_drop(context, &amg->factors);
  if (amg->inverse || amg->levels < 2 || first->all_rows || !A->offsets) return TS_OK;
  const tsi_csr csr = {.rows = A->rows,
                       .columns = A->columns,
                       .row_offsets = A->offsets,
                       .column_indices = A->indices,
                       .values = A->values};
  const ts_status status =
      tsi_direct_create(context, &csr, NULL, most_entries * (double)first->info.nonzeros, &amg->factors.direct);
  if (status == TS_OK) return TS_OK;
  tsi_log(context, TS_LOG_LEVEL_INFO, "amg: the last level is smoothed because it was not factored: %s",
          context->error);
  tsi_clear_error(context);
  return TS_OK;
}
