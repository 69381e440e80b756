/* A^T of a matrix in compressed sparse rows by counting sort: its columns ascend in every row. */
#include "csr.h"

void tsi_csr_transposed_free(ts_context *context, tsi_csr *csr) {
  tsi_free(context, (void *)csr->row_offsets);
  tsi_free(context, (void *)csr->column_indices);
  tsi_free(context, (void *)csr->values);
  tsi_free(context, (void *)csr->double_values);
  *csr = (tsi_csr){0};
}

ts_status tsi_csr_transpose(ts_context *context, const tsi_csr *from, tsi_csr *to) {
  const size_t entries = (size_t)from->row_offsets[from->rows];
  int32_t *offsets = tsi_calloc(context, (size_t)from->columns + 2, sizeof *offsets);
  int32_t *columns = tsi_malloc(context, entries + 1, sizeof *columns);
  float *values = from->double_values ? NULL : tsi_calloc(context, entries + 1, sizeof *values);
  double *doubles = from->double_values ? tsi_malloc(context, entries + 1, sizeof *doubles) : NULL;
  *to = (tsi_csr){from->columns, from->rows, offsets, columns, values, doubles};
  if (!offsets || !columns || (!values && !doubles)) {
    tsi_csr_transposed_free(context, to);
    return tsi_out_of_memory(context, "a transposed matrix", entries * (sizeof *columns + sizeof *doubles));
  }
  for (size_t e = 0; e < entries; e++) offsets[from->column_indices[e] + 2]++;
  for (int32_t j = 0; j < from->columns; j++) offsets[j + 2] += offsets[j + 1];
  for (int32_t i = 0; i < from->rows; i++)
    for (int32_t e = from->row_offsets[i]; e < from->row_offsets[i + 1]; e++) {
      const int32_t place = offsets[from->column_indices[e] + 1]++;
      columns[place] = i;
      if (values && from->values) values[place] = from->values[e];
      if (doubles) doubles[place] = from->double_values[e];
    }
  return TS_OK;
}
