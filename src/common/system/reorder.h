/* What the orders of reorder.c and reorder_rcm.c share. */
#ifndef TSI_REORDER_H
#define TSI_REORDER_H

#include <stddef.h>
#include <texsolve/reorder.h>

#include "common/core/backend.h"

/* Whether the arrays are a matrix; values are not looked at. */
ts_status tsi_reorder_check(ts_context *context, const tsi_csr *csr, int must_be_square);

/* The public functions, of matrices on the host; `context` may be NULL. */
ts_status tsi_csr_bandwidth(ts_context *context, const tsi_csr *csr, ts_bandwidth *bandwidth);
ts_status tsi_reorder_rcm(ts_context *context, const tsi_csr *csr, int32_t *order);
/* Values go to one of the two arrays; both are NULL if there are none. */
ts_status tsi_csr_permute(ts_context *context, const tsi_csr *csr, const int32_t *order, int32_t *row_offsets,
                          int32_t *column_indices, float *values, double *doubles);

#endif
