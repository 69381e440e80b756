/* The readers of Matrix Market files, as the command uses them: they check sizes before they allocate
 * memory. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "matrix_market.h"

/* Chunks of a few bytes give the same result. */
static void check_chunks(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  mm_header header;
  mm_entries entries;
  mm_error error[2] = {{""}, {""}};
  if (!text) return;
  if (size) memcpy(text, data, size);
  text[size] = 0;
  mm_source source = {.name = "file", .text = text, .length = size};
  for (int k = 0; k < 2; k++) {
    mm_parse(&source, &header, &entries, &error[k]);
    mm_free_entries(&entries);
    source.chunk_bytes = 1 + size % 16;
  }
  if (strcmp(error[0].text, error[1].text) != 0) abort();
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mm_file file = {0};
  mm_error error;
  check_chunks(data, size);
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
          if (k > csr.row_offsets[i] && csr.column_indices[k - 1] >= csr.column_indices[k]) abort();
          sum += csr.values[k];
        }
    mm_free_csr(&csr);
    mm_close(&file); /* its entries have been taken */
    if (mm_open(&file, fuzz_file("mtx", data, size), &error)) abort();
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
