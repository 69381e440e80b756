/* Bandwidth reduction: orders of the unknowns of a sparse matrix, computed on the host.
 *
 * A matrix whose rows refer to unknowns that are near in memory multiplies faster, the more so the smaller the
 * cache. An order is a permutation: order[k] is the old index of the new index k. P A P^T of a matrix with 3
 * rows:
 *
 *   const int offsets[] = {0, 2, 4, 7}, columns[] = {0, 2, 1, 2, 0, 1, 2};
 *   const double values[] = {2, -1, 2, -1, -1, -1, 2};
 *   int order[3], new_offsets[4], new_columns[7];
 *   double new_values[7];
 *   ts_csr csr = ts_host_csr(3, 3, offsets, columns, values);
 *   ts_reorder_rcm(context, &csr, order);
 *   ts_csr result = {.row_offsets = ts_host(new_offsets, 4), .column_indices = ts_host(new_columns, 7)};
 *   result.values = ts_host(new_values, 7);
 *   ts_csr_permute(context, &csr, order, &result);
 *
 * The reordered system has the same solution in the new order:
 *
 *   new b[k] = b[order[k]],  x[order[k]] = new x[k]
 *
 * All functions are host code. `context` supplies the allocator and keeps the message of an error. It may be
 * NULL: then memory comes from malloc, the message is that of ts_last_error(NULL), and any thread may call;
 * otherwise the thread that uses the context. The version is as in texsolve.h. Matrices must be as
 * ts_matrix_create requires, and are not kept; their values may be NULL if the function does not need them.
 */
#ifndef TEXSOLVE_REORDER_H
#define TEXSOLVE_REORDER_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The distance of entries from the diagonal, |row - column|. */
typedef struct ts_bandwidth {
  int32_t maximum;
  double mean; /* over all entries; 0 without any */
  uint64_t reserved[2];
} ts_bandwidth;

/* Computes the bandwidth of a matrix; does not need its values.
 * Errors: TS_ERROR_INVALID_ARGUMENT (not a valid matrix). */
TS_API ts_status ts_csr_bandwidth(ts_context *context, const ts_csr *csr, ts_bandwidth *bandwidth);

/* Computes the reverse Cuthill-McKee order of the pattern of A + A^T of a square matrix, in time linear in its
 * entries: breadth-first search from a pseudoperipheral vertex (George and Liu 1979, "An implementation of a
 * pseudoperipheral node finder"), neighbours by rising degree, the whole order reversed, one connected
 * component after the other. Explicit zeros count as entries; values are not needed. The result is the same on
 * every machine. `order` has room for as many indices as there are rows. Errors: TS_ERROR_INVALID_ARGUMENT,
 * TS_ERROR_LIMIT (2^30 entries or more), memory. */
TS_API ts_status ts_reorder_rcm(ts_context *context, const ts_csr *csr, int32_t *order);

/* Computes P A P^T: entry (i, j) of the new matrix is entry (order[i], order[j]) of the old one. `result` has
 * the caller's arrays on the host, as long as the old ones: integers of 32 bits, and floats or doubles, which
 * may be left out if the matrix has no values. Its rows and columns are not read. Columns ascend in each row.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a matrix that is not square, an order that is not a permutation: the index
 * is named; an array of `result`), memory. */
TS_API ts_status ts_csr_permute(ts_context *context, const ts_csr *csr, const int32_t *order,
                                const ts_csr *result);

#ifdef __cplusplus
}
#endif
#endif
