/* The rows of `texsolve bench compare`. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *compare_operation_name(compare_operation operation) {
  static const char *const names[COMPARE_OPERATIONS] = {"spmv", "cg", "axpy", "dot", "nrm2"};
  return names[operation];
}

compare_row *compare_add(compare_results *results, const char *matrix, const generated_matrix *A,
                         const char *backend) {
  if (results->count == results->capacity) {
    const int capacity = results->capacity ? 2 * results->capacity : 64;
    compare_row *rows = realloc(results->rows, (size_t)capacity * sizeof *rows);
    if (!rows) {
      bench_error("no memory for the results");
      return NULL;
    }
    results->rows = rows;
    results->capacity = capacity;
  }
  compare_row *row = &results->rows[results->count++];
  memset(row, 0, sizeof *row);
  bench_short_name(row->matrix, matrix);
  snprintf(row->backend, sizeof row->backend, "%s", backend);
  snprintf(row->implementation, sizeof row->implementation, "%s", backend);
  row->rows = A->rows;
  row->nonzeros = A->row_offsets[A->rows];
  row->spmv_bytes = 8.0 * (double)row->nonzeros + 4.0 * (A->rows + 1.0) + 4.0 * ((double)A->rows + A->columns);
  for (int i = 0; i < COMPARE_OPERATIONS; ++i) row->seconds[i] = row->spread[i] = NAN;
  return row;
}

void compare_free(compare_results *results) {
  free(results->rows);
  results->rows = NULL;
  results->count = results->capacity = 0;
}

double compare_flops(const compare_row *row, compare_operation operation) {
  const double product = 2.0 * (double)row->nonzeros, n = row->rows;
  return operation == COMPARE_SPMV ? product : operation == COMPARE_CG ? product + 12 * n : 2 * n;
}

double compare_bytes(const compare_row *row, compare_operation operation) {
  static const double vectors[COMPARE_OPERATIONS] = {0, 13 - 2, 3, 2, 1};
  const double product = operation == COMPARE_SPMV || operation == COMPARE_CG ? row->spmv_bytes : 0;
  return product + 4 * vectors[operation] * row->rows;
}

/* "gl,cuda,cpu" */
static int split_backends(const char *list, compare_results *results) {
  while (*list) {
    const size_t length = strcspn(list, ",");
    compare_backend *backend = &results->backends[results->backend_count];
    if (length) {
      if (results->backend_count == COMPARE_BACKENDS || length >= sizeof backend->name) {
        bench_error("--backends: more than %d, or a name of more than %d letters", (int)COMPARE_BACKENDS,
                    (int)sizeof backend->name - 1);
        return 1;
      }
      memcpy(backend->name, list, length);
      ++results->backend_count;
    }
    list += length + (list[length] == ',');
  }
  if (results->backend_count) return 0;
  bench_error("--backends names no backend, expected gl, cuda or cpu");
  return 1;
}

int compare_open_all(const bench_options *o, compare_results *results) {
  const char *list = o->backends ? o->backends : o->backend ? o->backend : "gl,cuda,cpu";
  int present = 0;
  if (split_backends(list, results)) return 1;
  for (int i = 0; i < results->backend_count; ++i) {
    if (!compare_open(o, &results->backends[i]))
      ++present;
    else if (o->backends)
      results->left_out = 1;
  }
  return present == 0;
}
