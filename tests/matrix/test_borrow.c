/* Matrices that may refer to the application's pattern: they give the same products, own their values, and
 * never write to the application's arrays. */
#include "helpers.h"

static ts_context *context;

typedef struct given {
  ref_matrix m;
  double *values;
  int64_t *wide_offsets;
} given;

static given make_given(ref_matrix m) {
  const size_t rows = (size_t)m.rows, entries = (size_t)m.offsets[rows];
  given g = {m, malloc(entries * sizeof *g.values), malloc((rows + 1) * sizeof *g.wide_offsets)};
  for (size_t e = 0; e < entries; e++) g.values[e] = (double)m.values[e] + 1e-12;
  for (size_t i = 0; i <= rows; i++) g.wide_offsets[i] = m.offsets[i];
  return g;
}

static void release(given *g) {
  ref_free(&g->m);
  free(g->values);
  free(g->wide_offsets);
}

enum { WIDE = 1, DOUBLES = 2, COPY = 4, KINDS = 8 };

static ts_matrix *make(const given *g, int kind, int borrow) {
  const size_t rows = (size_t)g->m.rows, entries = (size_t)g->m.offsets[rows];
  const ts_matrix_desc desc = {
      .csr = {.rows = g->m.rows,
              .columns = g->m.columns,
              .row_offsets = kind & WIDE ? ts_host(g->wide_offsets, rows + 1) : ts_host(g->m.offsets, rows + 1),
              .column_indices = ts_host(g->m.indices, entries),
              .values = kind & DOUBLES ? ts_host(g->values, entries) : ts_host(g->m.values, entries)},
      .keep_host_copy = kind & COPY ? 1 : -1,
      .borrow = borrow};
  ts_matrix *A = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &A));
  return A;
}

static double *multiply(const ts_matrix *A) {
  const ts_vector_desc desc = {.components = 1};
  const size_t rows = (size_t)matrix_info(A).rows, columns = (size_t)matrix_info(A).columns;
  double *xs = ref_doubles(columns, 8, -1, 1), *ys = calloc(rows, sizeof *ys);
  ts_vector *x = NULL, *y = NULL;
  CHECK_OK(context, ts_vector_create(ts_matrix_get_column_space(A), &desc, &x));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &desc, &y));
  CHECK_OK(context, ts_vector_write(x, ts_host(xs, columns)));
  CHECK_OK(context, ts_matrix_multiply(y, A, x));
  CHECK_OK(context, ts_vector_read(y, ts_host(ys, rows)));
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  free(xs);
  return ys;
}

static void compare(const ts_matrix *A, const ts_matrix *B) {
  double *a = multiply(A), *b = multiply(B);
  for (int32_t i = 0; i < matrix_info(A).rows; i++)
    if (!CHECK(a[i] == b[i])) break;
  free(a);
  free(b);
}

static void set_values(ts_matrix *A, const given *g, const float *values) {
  const ts_csr csr = ts_host_csr(g->m.rows, g->m.columns, g->m.offsets, g->m.indices, values);
  CHECK_OK(context, ts_matrix_set_values(A, &csr));
}

static void check(given *g, int kind) {
  const size_t entries = (size_t)g->m.offsets[g->m.rows];
  float *before = malloc(entries * sizeof *before), *after = ref_values(entries, 4, -1, 1);
  int32_t *indices = malloc(entries * sizeof *indices);
  memcpy(before, g->m.values, entries * sizeof *before);
  memcpy(indices, g->m.indices, entries * sizeof *indices);
  ts_matrix *A = make(g, kind, 1), *B = make(g, kind, 0);
  compare(A, B);
  const char *backend = context_info(context).backend;
  const int on_host =
      matrix_info(A).format == TS_FORMAT_CSR && strstr(backend, "cpu") && !strstr(backend, "multi");
  const size_t pattern = ((size_t)g->m.rows + 1 + entries) * sizeof(int32_t);
  CHECK(matrix_info(A).bytes_device + (on_host && !(kind & WIDE) ? pattern : 0) == matrix_info(B).bytes_device);
  ts_csr copy;
  if (kind & COPY && CHECK_OK(context, ts_matrix_get_host_copy(A, &copy))) {
    CHECK((copy.column_indices.data == g->m.indices) == !(kind & WIDE));
    CHECK(copy.values.data != g->m.values);
  }
  set_values(A, g, after);
  set_values(B, g, after);
  compare(A, B);
  CHECK(!memcmp(before, g->m.values, entries * sizeof *before));
  CHECK(!memcmp(indices, g->m.indices, entries * sizeof *indices));
  ts_matrix_destroy(&A);
  ts_matrix_destroy(&B);
  free(before);
  free(after);
  free(indices);
}

static void in_order(void) {
  given grid = make_given(ref_grid(30, 20)), wide = make_given(ref_uneven_rows(70, 90, 20, 3));
  for (int kind = 0; kind < KINDS; kind++) {
    test_context_label("grid, kind %d", kind);
    check(&grid, kind);
    test_context_label("rectangular, kind %d", kind);
    check(&wide, kind);
  }
  release(&grid);
  release(&wide);
}

/* If rows must be sorted, no array is borrowed, so the application may free its arrays. */
static void out_of_order(void) {
  given g = make_given(ref_grid(12, 12));
  for (int32_t i = 0; i < g.m.rows; i++) {
    const int32_t first = g.m.offsets[i], last = g.m.offsets[i + 1] - 1, column = g.m.indices[first];
    g.m.indices[first] = g.m.indices[last];
    g.m.indices[last] = column;
  }
  ts_matrix *A = make(&g, DOUBLES | COPY, 1), *B = make(&g, DOUBLES | COPY, 0);
  for (int32_t e = 0; e < g.m.offsets[g.m.rows]; e++) g.m.indices[e] = 0;
  compare(A, B);
  ts_matrix_destroy(&A);
  ts_matrix_destroy(&B);
  release(&g);
}

TEST_MAIN(CASES_IN_CONTEXT(in_order, out_of_order))
