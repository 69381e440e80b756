/* --reorder: measures matrices in another order of their unknowns. */
#include "bench.h"

#include <stdlib.h>

#include "report.h"

typedef struct ordered {
  char matrix[BENCH_NAME_SIZE];
  int32_t rows;
  ts_bandwidth before, after;
} ordered;

enum { MAX_ORDERED = 256 };

static reorder_kind wanted;
static ordered matrices[MAX_ORDERED];
static int matrix_count;

void bench_order_set(reorder_kind kind) {
  wanted = kind;
}

int bench_order(generated_matrix *A, const char *name) {
  if (wanted == REORDER_NONE) return 0;
  char error[256] = "";
  ordered m = {.rows = A->rows};
  reorder_matrix other;
  const ts_csr csr = generated_csr(A);
  if (A->rows != A->columns) {
    bench_error("%s: %d rows and %d columns; only square matrices can be reordered", name, A->rows, A->columns);
    return 1;
  }
  int32_t *order = reorder_compute(wanted, &csr, error);
  const int failed = !order || reorder_permute(&csr, order, &other, error);
  free(order);
  if (failed) {
    bench_error("%s: %s", name, error);
    return 1;
  }
  ts_csr_bandwidth(NULL, &csr, &m.before);
  generated_free(A);
  *A = (generated_matrix){A->rows, A->columns, other.row_offsets, other.column_indices, other.values};
  const ts_csr now = generated_csr(A);
  ts_csr_bandwidth(NULL, &now, &m.after);
  bench_short_name(m.matrix, name);
  if (matrix_count < MAX_ORDERED) matrices[matrix_count++] = m;
  return 0;
}

void bench_order_report(report *r) {
  static const report_column columns[] = {
      {"matrix", "matrix", 's', -12, 0},   {"order", "order", 's', -6, 0},
      {"rows", "rows", 'i', 9, 0},         {"bandwidth_before", "before", 'i', 9, 0},
      {"mean_before", "mean", 'f', 10, 1}, {"bandwidth", "after", 'i', 9, 0},
      {"mean", "mean", 'f', 10, 1},
  };
  if (wanted == REORDER_NONE) return;
  report_table(r, "orders", "Bandwidth: maximum and mean of |row - column|", columns,
               sizeof columns / sizeof *columns);
  for (int i = 0; i < matrix_count; ++i) {
    const ordered *m = &matrices[i];
    report_row(r, m->matrix, reorder_names[wanted], (long long)m->rows, (long long)m->before.maximum,
               m->before.mean, (long long)m->after.maximum, m->after.mean);
  }
}
