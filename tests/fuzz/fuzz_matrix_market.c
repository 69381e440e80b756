/* The readers of Matrix Market files, as the command uses them: sizes are looked at before anything is
 * allocated. */
#include <stdlib.h>

#include "fuzz.h"
#include "matrix_market.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mm_file file = {0};
  mm_error error;
  if (mm_open(&file, fuzz_file("mtx", data, size), &error)) return 0;
  const mm_header *h = &file.header;
  if (h->rows <= 4096 && h->columns <= 4096) {
    mm_csr csr;
    double *values;
    int64_t duplicates;
    double sum = 0;
    if (!mm_read_csr(&file, &csr, &error))
      for (int32_t i = 0; i < csr.rows; i++)
        for (int32_t k = csr.row_offsets[i]; k < csr.row_offsets[i + 1]; k++) {
          if (csr.column_indices[k] < 0 || csr.column_indices[k] >= csr.columns) abort();
          sum += csr.values[k];
        }
    mm_free_csr(&csr);
    if (h->rows * h->columns <= 1 << 16 &&
        !mm_read_dense(&file, h->rows > h->columns, &values, &duplicates, &error)) {
      for (int64_t k = 0; k < h->rows * h->columns; k++) sum += values[k];
      free(values);
    }
    (void)sum;
  }
  mm_close(&file);
  return 0;
}
