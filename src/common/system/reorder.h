/* What the orders of reorder.c and reorder_rcm.c share. */
#ifndef TSI_REORDER_H
#define TSI_REORDER_H

#include <stddef.h>
#include <texsolve/reorder.h>

/* From the context's allocator, or without one from malloc. */
void *tsi_reorder_malloc(ts_context *context, size_t count, size_t size);
void tsi_reorder_free(ts_context *context, void *block);

/* Whether the arrays are a matrix; values are not looked at. */
ts_status tsi_reorder_check(ts_context *context, const ts_csr *csr, int must_be_square);

#endif
