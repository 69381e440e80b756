/* Bandwidth reduction: orderings of the unknowns of a sparse matrix, computed on the host.
 *
 * A matrix multiplies faster if its rows refer to unknowns that are close in memory, especially if caches are
 * small. An order is a permutation: order[k] is the old index of the new index k. This example computes P A P^T
 * of a matrix with 3 rows:
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
 * All functions run on the host. `context` supplies the allocator and keeps error messages; only the thread
 * that uses it may call. If `context` is NULL, malloc supplies memory, ts_last_error(NULL) returns the message,
 * and any thread may call. The version is as in texsolve.h. Matrices must be valid as for ts_matrix_create, and
 * are not kept. Their values may be NULL if a function does not need them. */
#ifndef TEXSOLVE_REORDER_H
#define TEXSOLVE_REORDER_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Distance of entries from the diagonal, |row - column|. */
typedef struct ts_bandwidth {
  int32_t maximum;
  double mean; /* mean over all entries; 0 without entries */
  uint64_t reserved[2];
} ts_bandwidth;

/* Computes the bandwidth of a matrix; its values are not needed.
 * Errors: TS_ERROR_INVALID_ARGUMENT (not a valid matrix). */
TS_API ts_status ts_csr_bandwidth(ts_context *context, const ts_csr *csr, ts_bandwidth *bandwidth);

/* Computes the reverse Cuthill-McKee order of the pattern of A + A^T, for a square matrix, in time linear in
 * the entries. A breadth-first search starts from a pseudoperipheral vertex (George and Liu 1979, "An
 * implementation of a pseudoperipheral node finder") and visits neighbours by increasing degree. Connected
 * components follow one another, and the whole order is reversed. Explicit zeros count as entries; values are
 * not needed. The result is identical on every machine. `order` receives one index per row.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT (2^30 entries or more), memory. */
TS_API ts_status ts_reorder_rcm(ts_context *context, const ts_csr *csr, int32_t *order);

/* Computes P A P^T: entry (i, j) of the new matrix is entry (order[i], order[j]) of the old one. `result`
 * contains the caller's host arrays, which have the lengths of the old ones: 32-bit integers, and floats or
 * doubles, which are optional for a matrix without values. Its rows and columns fields are not read. Columns
 * ascend in each row.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a matrix that is not square; an order that is not a permutation, and the
 * message names the index; an array of `result`), memory. */
TS_API ts_status ts_csr_permute(ts_context *context, const ts_csr *csr, const int32_t *order,
                                const ts_csr *result);

#ifdef __cplusplus
}
#endif
#endif
