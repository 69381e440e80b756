#include "reorder.h"

#include <stdio.h>
#include <stdlib.h>

enum { ERROR_SIZE = 256 };

const char *const reorder_names[] = {"none", "rcm", "random", NULL};

static int fail(char *error, const char *text) {
  snprintf(error, ERROR_SIZE, "%s", text);
  return -1;
}

/* Fisher-Yates shuffle with a xorshift generator and a fixed seed. */
static void by_chance(int32_t count, int32_t *order) {
  uint64_t x = 88172645463325252u;
  for (int32_t i = 0; i < count; i++) order[i] = i;
  for (int32_t i = count - 1; i > 0; i--) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    const int32_t j = (int32_t)((x >> 11) % ((uint64_t)i + 1)), k = order[i];
    order[i] = order[j];
    order[j] = k;
  }
}

int32_t *reorder_compute(reorder_kind kind, const ts_csr *csr, char *error) {
  const int32_t rows = (int32_t)csr->rows;
  int32_t *order = calloc((size_t)rows, sizeof *order);
  if (!order) {
    fail(error, "out of memory for an order");
  } else if (kind == REORDER_RANDOM) {
    by_chance(rows, order);
  } else if (ts_reorder_rcm(NULL, csr, order) < 0) {
    fail(error, ts_last_error(NULL));
    free(order);
    order = NULL;
  }
  return order;
}

int reorder_permute(const ts_csr *csr, const int32_t *order, reorder_matrix *out, char *error) {
  const size_t entries = csr->column_indices.count;
  *out = (reorder_matrix){.row_offsets = malloc(((size_t)csr->rows + 1) * sizeof(int32_t)),
                          .column_indices = malloc((entries + 1) * sizeof(int32_t)),
                          .values = malloc((entries + 1) * sizeof(double))}; /* or floats */
  ts_status status = TS_OK;
  int failed = 0;
  const ts_csr result = {.row_offsets = ts_host(out->row_offsets, (size_t)csr->rows + 1),
                         .column_indices = ts_host(out->column_indices, entries),
                         .values = ts_array_make(out->values, entries, csr->values.type, 0)};
  if (!out->row_offsets || !out->column_indices || !out->values)
    failed = fail(error, "out of memory for a matrix in another order");
  else
    status = ts_csr_permute(NULL, csr, order, &result);
  if (status < 0) failed = fail(error, ts_last_error(NULL));
  if (failed) reorder_free(out);
  return failed;
}

void reorder_free(reorder_matrix *m) {
  free(m->row_offsets);
  free(m->column_indices);
  free(m->values);
  *m = (reorder_matrix){0};
}
