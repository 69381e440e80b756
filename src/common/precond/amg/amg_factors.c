/* Factors of a last level that is too large for an inverse, because the hierarchy stalls or is cut off; they
 * require the module (direct.h). Smoothing would not reduce smooth errors there. The host applies the factors,
 * so a device waits once per cycle. */
#include "amg.h"
#include "common/core/core.h"

/* Maximum entries of the factors, relative to those of the first level. */
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
  if (status == TS_OK || status == TS_ERROR_STOPPED) return status;
  tsi_log(context, TS_LOG_LEVEL_INFO, "amg: the last level is smoothed because it was not factored: %s",
          context->error);
  tsi_clear_error(context);
  return TS_OK;
}
