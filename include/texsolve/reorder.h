/* Orders of the unknowns of a sparse matrix: host functions, which need no device.
 *
 * A matrix whose rows refer to unknowns that are near in memory multiplies faster where caches are small. An
 * order says which old index comes first, second, ...: order[k] is the old index of the new index k. A system
 * in another order has the same solution in that order:
 *
 *   new b[k] = b[order[k]],  x[order[k]] = new x[k]
 *
 * `context` may be NULL in all of them: it lends its allocator and keeps the message of an error; without one
 * memory comes from malloc and the message is that of ts_last_error(NULL). Matrices must be as
 * ts_matrix_create takes them; their values may be NULL where they are not needed. Any thread where the context
 * is NULL.
 */
#ifndef TEXSOLVE_REORDER_H
#define TEXSOLVE_REORDER_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How far entries are from the diagonal: |row - column|. */
typedef struct ts_bandwidth {
  int32_t maximum;
  double mean; /* over all entries; 0 without any */
} ts_bandwidth;

/* Errors: TS_ERROR_INVALID_ARGUMENT (what is no matrix). */
TS_API ts_status ts_csr_bandwidth(ts_context *context, const ts_csr *csr, ts_bandwidth *bandwidth);

/* Reverse Cuthill-McKee on the pattern of A + A^T of a square matrix: breadth-first from a vertex at the end of
 * the graph (George and Liu 1979, "An implementation of a pseudoperipheral node finder"), neighbours with few
 * neighbours first, the whole order reversed; one part of the graph after the other. Explicit zeros count as
 * entries. The result is the same on every machine. `order` has room for as many indices as there are rows.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT (2^30 entries or more), memory. */
TS_API ts_status ts_reorder_rcm(ts_context *context, const ts_csr *csr, int32_t *order);

/* P A P^T: entry (i, j) of the new matrix is entry (order[i], order[j]) of the old one. The arrays are the
 * caller's, as long as the old ones; values may be NULL where the matrix has none. Columns ascend in each row.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a matrix that is not square, an order that is none: the index is named),
 * memory. */
TS_API ts_status ts_csr_permute(ts_context *context, const ts_csr *csr, const int32_t *order,
                                int32_t *row_offsets, int32_t *column_indices, float *values);

#ifdef __cplusplus
}
#endif
#endif
