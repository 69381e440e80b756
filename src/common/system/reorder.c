/* Bandwidth, and permuted matrices. */
#include <texsolve/reorder.h>

#include <stdlib.h>
#include <string.h>

#include "common/core/array.h"
#include "common/matrix/csr.h"
#include "reorder.h"

ts_status tsi_reorder_check(ts_context *context, const tsi_csr *csr, int must_be_square) {
  const tsi_csr pattern = {.rows = csr->rows,
                           .columns = csr->columns,
                           .row_offsets = csr->row_offsets,
                           .column_indices = csr->column_indices};
  TSI_TRY(tsi_csr_validate(context, &pattern));
  if (must_be_square && csr->rows != csr->columns)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "an order needs a square matrix; this one is %d x %d",
                    csr->rows, csr->columns);
  return TS_OK;
}

ts_status tsi_csr_bandwidth(ts_context *context, const tsi_csr *csr, ts_bandwidth *bandwidth) {
  TSI_TRY(tsi_reorder_check(context, csr, 0));
  int32_t maximum = 0;
  int64_t sum = 0;
  for (int32_t i = 0; i < csr->rows; i++)
    for (int32_t k = csr->row_offsets[i]; k < csr->row_offsets[i + 1]; k++) {
      const int32_t distance = abs(csr->column_indices[k] - i);
      if (distance > maximum) maximum = distance;
      sum += distance;
    }
  const int32_t entries = csr->row_offsets[csr->rows];
  *bandwidth = (ts_bandwidth){.maximum = maximum, .mean = entries > 0 ? (double)sum / entries : 0};
  return TS_OK;
}

/* place[order[k]] = k. */
static ts_status invert(ts_context *context, int32_t count, const int32_t *order, int32_t *place) {
  for (int32_t i = 0; i < count; i++) place[i] = -1;
  for (int32_t k = 0; k < count; k++) {
    const int32_t old = order[k];
    if (old < 0 || old >= count)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "order[%d] is %d; it must be 0 to %d", k, old,
                      count - 1);
    if (place[old] >= 0)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "order[%d] and order[%d] are both %d", place[old], k,
                      old);
    place[old] = k;
  }
  return TS_OK;
}

/* Sorts a row with float or double values; at least one of the two arrays is NULL. Shell sort, since rows are
 * short and often partly sorted. */
static void sort_row(int32_t count, int32_t *columns, float *values, double *doubles) {
  int32_t gap = 1;
  while (gap < count / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3)
    for (int32_t i = gap; i < count; i++) {
      const int32_t column = columns[i];
      const float value = values ? values[i] : 0;
      const double precise = doubles ? doubles[i] : 0;
      int32_t j = i;
      for (; j >= gap && columns[j - gap] > column; j -= gap) {
        columns[j] = columns[j - gap];
        if (values) values[j] = values[j - gap];
        if (doubles) doubles[j] = doubles[j - gap];
      }
      columns[j] = column;
      if (values) values[j] = value;
      if (doubles) doubles[j] = precise;
    }
}

ts_status tsi_csr_permute(ts_context *context, const tsi_csr *csr, const int32_t *order, int32_t *row_offsets,
                          int32_t *column_indices, float *values, double *doubles) {
  TSI_TRY(tsi_reorder_check(context, csr, 1));
  int32_t *place = tsi_malloc(context, (size_t)csr->rows, sizeof *place);
  if (!place) return tsi_out_of_memory(context, "an order", (size_t)csr->rows * sizeof *place);
  const ts_status status = invert(context, csr->rows, order, place);
  int32_t next = 0;
  row_offsets[0] = 0;
  for (int32_t i = 0; i < csr->rows && status == TS_OK; i++) {
    for (int32_t k = csr->row_offsets[order[i]]; k < csr->row_offsets[order[i] + 1]; k++) {
      column_indices[next] = place[csr->column_indices[k]];
      if (values) values[next] = csr->values ? csr->values[k] : (float)csr->double_values[k];
      if (doubles) doubles[next] = csr->values ? (double)csr->values[k] : csr->double_values[k];
      next++;
    }
    const int32_t first = row_offsets[i];
    sort_row(next - first, column_indices + first, values ? values + first : NULL,
             doubles ? doubles + first : NULL);
    row_offsets[i + 1] = next;
  }
  tsi_free(context, place);
  return status;
}

/* ---- Public functions ---- */

ts_status ts_csr_bandwidth(ts_context *context, const ts_csr *csr, ts_bandwidth *bandwidth) {
  if (context) tsi_clear_error(context);
  TSI_REQUIRE(context, csr);
  TSI_REQUIRE(context, bandwidth);
  tsi_loans loans = {0};
  tsi_csr host;
  ts_status status = tsi_csr_given(context, csr, &loans, &host);
  if (status == TS_OK) status = tsi_csr_bandwidth(context, &host, bandwidth);
  tsi_loans_free(context, &loans);
  return status;
}

ts_status ts_reorder_rcm(ts_context *context, const ts_csr *csr, int32_t *order) {
  if (context) tsi_clear_error(context);
  TSI_REQUIRE(context, csr);
  TSI_REQUIRE(context, order);
  tsi_loans loans = {0};
  tsi_csr host;
  ts_status status = tsi_csr_given(context, csr, &loans, &host);
  if (status == TS_OK) status = tsi_reorder_rcm(context, &host, order);
  tsi_loans_free(context, &loans);
  return status;
}

/* Checks the arrays of the result: 32-bit integers, and numbers on the host. */
static ts_status check_result(ts_context *context, const ts_csr *result, const tsi_csr *csr) {
  const size_t entries = (size_t)csr->row_offsets[csr->rows];
  const ts_array *arrays[3] = {&result->row_offsets, &result->column_indices, &result->values};
  const char *names[3] = {"result.row_offsets", "result.column_indices", "result.values"};
  const int types[3] = {1 << TS_TYPE_INT32, 1 << TS_TYPE_INT32, TSI_FLOATING};
  const size_t counts[3] = {(size_t)csr->rows + 1, entries, entries};
  TSI_TRY(tsi_check_reserved(context, "result.", result->reserved, sizeof result->reserved));
  for (int k = 0; k < (csr->values || csr->double_values ? 3 : 2); k++) {
    if (arrays[k]->memory == TS_MEMORY_CUDA)
      return tsi_fail(context, TS_ERROR_UNSUPPORTED, "%s is not in host memory", names[k]);
    TSI_TRY(tsi_array_check(context, names[k], arrays[k], counts[k], types[k], TSI_WRITE));
  }
  return TS_OK;
}

static ts_status permute_into(ts_context *context, const tsi_csr *csr, const int32_t *order,
                              const ts_csr *result) {
  TSI_TRY(tsi_reorder_check(context, csr, 1));
  TSI_TRY(check_result(context, result, csr));
  const int has_values = csr->values || csr->double_values, doubles = result->values.type == TS_TYPE_DOUBLE;
  return tsi_csr_permute(context, csr, order, result->row_offsets.data, result->column_indices.data,
                         has_values && !doubles ? result->values.data : NULL,
                         has_values && doubles ? result->values.data : NULL);
}

ts_status ts_csr_permute(ts_context *context, const ts_csr *csr, const int32_t *order, const ts_csr *result) {
  if (context) tsi_clear_error(context);
  TSI_REQUIRE(context, csr);
  TSI_REQUIRE(context, order);
  TSI_REQUIRE(context, result);
  tsi_loans loans = {0};
  tsi_csr host;
  ts_status status = tsi_csr_given(context, csr, &loans, &host);
  if (status == TS_OK) status = permute_into(context, &host, order, result);
  tsi_loans_free(context, &loans);
  return status;
}
