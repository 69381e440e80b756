/* Matrices from lists of entries equal matrices from rows, for any order, with duplicates and with empty
 * rows. */
#include "common/core/core.h"
#include "helpers.h"

static ts_context *context;

/* ---- A matrix as a list of entries ---- */

enum { LONGEST = 4000 };

typedef struct list {
  ts_triplets triplets;
  size_t count;
  int32_t rows[LONGEST], columns[LONGEST];
  int64_t wide_rows[LONGEST], wide_columns[LONGEST];
  float floats[LONGEST];
  double doubles[LONGEST];
} list;

static void add(list *l, int32_t row, int32_t column, double value) {
  l->rows[l->count] = row;
  l->columns[l->count] = column;
  l->doubles[l->count++] = value;
}

static void swap(list *l, size_t a, size_t b) {
  const int32_t row = l->rows[a], column = l->columns[a];
  const double value = l->doubles[a];
  l->rows[a] = l->rows[b], l->columns[a] = l->columns[b], l->doubles[a] = l->doubles[b];
  l->rows[b] = row, l->columns[b] = column, l->doubles[b] = value;
}

/* Returns the entries as arrays of the given types. */
static const ts_triplets *triplets_of(list *l, int32_t rows, int32_t columns, int wide, int doubles) {
  for (size_t k = 0; k < l->count; k++) {
    l->wide_rows[k] = l->rows[k];
    l->wide_columns[k] = l->columns[k];
    l->floats[k] = (float)l->doubles[k];
  }
  l->triplets =
      (ts_triplets){.rows = rows,
                    .columns = columns,
                    .row_indices = wide ? ts_host(l->wide_rows, l->count) : ts_host(l->rows, l->count),
                    .column_indices = wide ? ts_host(l->wide_columns, l->count) : ts_host(l->columns, l->count),
                    .values = doubles ? ts_host(l->doubles, l->count) : ts_host(l->floats, l->count)};
  return &l->triplets;
}

static void shuffle(list *l, uint64_t seed) {
  ref_random random = {seed};
  for (size_t k = l->count; k > 1; k--) swap(l, k - 1, (size_t)ref_below(&random, (int32_t)k));
}

/* Every third entry is split into two entries with an exact sum. */
static void list_of(list *l, const ref_matrix *m, uint64_t seed) {
  l->count = 0;
  for (int32_t i = 0; i < m->rows; i++)
    for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
      const double value = (double)m->values[k];
      if (k % 3 == 0) add(l, i, m->indices[k], value / 4);
      add(l, i, m->indices[k], k % 3 == 0 ? 0.75 * value : value);
    }
  shuffle(l, seed);
}

/* ---- Comparison with rows ---- */

/* Both copies are in canonical form. */
static void compare_copies(const ts_matrix *from_list, const ts_matrix *from_rows) {
  ts_csr a, b;
  if (!CHECK_OK(context, ts_matrix_get_host_copy(from_list, &a)) ||
      !CHECK_OK(context, ts_matrix_get_host_copy(from_rows, &b)) ||
      !CHECK_INT(a.column_indices.count, b.column_indices.count))
    return;
  CHECK(a.rows == b.rows && a.columns == b.columns);
  CHECK(memcmp(a.row_offsets.data, b.row_offsets.data, b.row_offsets.count * sizeof(int32_t)) == 0);
  CHECK(memcmp(a.column_indices.data, b.column_indices.data, b.column_indices.count * sizeof(int32_t)) == 0);
  CHECK(memcmp(a.values.data, b.values.data, b.values.count * sizeof(float)) == 0);
}

static void compare_products(ts_matrix *from_list, ts_matrix *from_rows, const float *xs) {
  ts_matrix *matrices[2] = {from_list, from_rows};
  float *found[2];
  size_t rows = 0;
  for (int k = 0; k < 2; k++) {
    ts_vector *x = make_vector(ts_matrix_get_column_space(matrices[k]), 1, xs),
              *y = make_vector(ts_matrix_get_row_space(matrices[k]), 1, NULL);
    CHECK_OK(context, ts_matrix_multiply(y, matrices[k], x));
    found[k] = read_vector(y);
    rows = vector_count(y);
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
  }
  CHECK(memcmp(found[0], found[1], rows * sizeof *xs) == 0);
  free(found[0]), free(found[1]);
}

/* `kind` selects int32 or int64, and floats or doubles. */
static void check_matrix(const ref_matrix *m, list *l, ts_format format, int kind) {
  const ts_matrix_desc rows = {.csr = ref_csr(m), .format = format, .keep_host_copy = 1};
  const ts_matrix_desc entries = {.triplets = triplets_of(l, m->rows, m->columns, kind & 1, kind / 2),
                                  .format = format,
                                  .keep_host_copy = 1};
  ts_matrix *from_rows = NULL, *from_list = NULL;
  float *xs = ref_values((size_t)m->columns, 5, -1, 1);
  if (CHECK_OK(context, ts_matrix_create(context, &rows, &from_rows)) &&
      CHECK_OK(context, ts_matrix_create(context, &entries, &from_list))) {
    CHECK_INT(matrix_info(from_list).format, matrix_info(from_rows).format);
    CHECK_INT(matrix_info(from_list).duplicates, (int64_t)l->count - ref_nonzeros(m));
    compare_copies(from_list, from_rows);
    compare_products(from_list, from_rows, xs);
    /* New values in the same order and in the other type. */
    ref_matrix changed = *m;
    changed.values = malloc((size_t)ref_nonzeros(m) * sizeof *changed.values + 1);
    for (int64_t k = 0; k < ref_nonzeros(m); k++) changed.values[k] = -2 * m->values[k];
    for (size_t k = 0; k < l->count; k++) l->doubles[k] *= -2;
    const ts_csr csr = ref_csr(&changed);
    CHECK_OK(context, ts_matrix_set_values(from_rows, &csr));
    CHECK_OK(context,
             ts_matrix_set_triplets(from_list, triplets_of(l, m->rows, m->columns, !(kind & 1), !(kind / 2))));
    compare_copies(from_list, from_rows);
    compare_products(from_list, from_rows, xs);
    for (size_t k = 0; k < l->count; k++) l->doubles[k] /= -2;
    free(changed.values);
  }
  free(xs);
  ts_matrix_destroy(&from_list);
  ts_matrix_destroy(&from_rows);
}

static void against_rows(void) {
  list *l = malloc(sizeof *l);
  ts_format formats[8];
  const int count = list_formats(context, formats);
  ref_matrix matrices[] = {ref_grid(9, 7), ref_gaps(40, 30, 3), ref_uneven_rows(60, 25, 20, 4),
                           ref_dense(12, 30, 1), ref_diagonal(1, 3, 3)};
  for (size_t k = 0; k < sizeof matrices / sizeof *matrices; k++) {
    list_of(l, &matrices[k], k + 1);
    for (int f = 0; f < count; f++)
      for (int kind = 0; kind < 4; kind++) {
        test_context_label("matrix %d, %s, kind %d", (int)k, ts_format_name(formats[f]), kind);
        check_matrix(&matrices[k], l, formats[f], kind);
      }
    ref_free(&matrices[k]);
  }
  free(l);
}

/* A list without entries is a matrix of zeros. A list without values is one too, until values are set. */
static void empty(void) {
  const int32_t indices[] = {1, 0};
  const float values[] = {3, 4}, xs[] = {1, 10};
  ts_triplets none = {.rows = 2, .columns = 2}, later = none;
  later.row_indices = later.column_indices = HOST(indices);
  const ts_triplets *lists[] = {&none, &later};
  for (int k = 0; k < 2; k++) {
    ts_matrix *A = NULL;
    test_context_label("list %d", k);
    if (!CHECK_OK(context, ts_matrix_create(context, &(ts_matrix_desc){.triplets = lists[k]}, &A))) continue;
    ts_vector *x = make_vector(ts_matrix_get_column_space(A), 1, xs),
              *y = make_vector(ts_matrix_get_row_space(A), 1, xs);
    CHECK_OK(context, ts_matrix_multiply(y, A, x));
    float *ys = read_vector(y);
    CHECK(ys[0] == 0 && ys[1] == 0);
    free(ys);
    if (k == 1) {
      ts_triplets now = later;
      now.values = HOST(values);
      CHECK_OK(context, ts_matrix_set_triplets(A, &now));
      CHECK_OK(context, ts_matrix_multiply(y, A, x));
      ys = read_vector(y);
      CHECK(ys[0] == 4 && ys[1] == 30);
      free(ys);
    }
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
    ts_matrix_destroy(&A);
  }
}

/* Duplicates are summed in double precision in the order of the list: 2^60 + 1 is 2^60. */
static void order_of_sums(void) {
  const int32_t zeros[3] = {0, 0, 0};
  const double large_first[] = {0x1p60, 1, -0x1p60}, large_last[] = {0x1p60, -0x1p60, 1};
  for (int k = 0; k < 2; k++) {
    const ts_triplets sum = {.rows = 1,
                             .columns = 1,
                             .row_indices = HOST(zeros),
                             .column_indices = HOST(zeros),
                             .values = k ? HOST(large_last) : HOST(large_first)};
    ts_matrix *A = NULL;
    ts_csr copy;
    test_context_label("%d", k);
    if (!CHECK_OK(context,
                  ts_matrix_create(context, &(ts_matrix_desc){.triplets = &sum, .keep_host_copy = 1}, &A)))
      continue;
    CHECK_OK(context, ts_matrix_get_host_copy(A, &copy));
    CHECK(*(const float *)copy.values.data == (float)k);
    ts_matrix_destroy(&A);
  }
}

/* Doubles of any size: products have a relative error of at most 1e-6. */
static void scales(void) {
  static const int exponents[] = {-300, -150, -20, 0, 20, 150, 300};
  if (!context->caps.pairs) return;
  list *l = malloc(sizeof *l);
  ref_matrix m = ref_grid(5, 4);
  for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
    const double scale = pow(10, exponents[e]);
    double *xs = ref_doubles((size_t)m.columns, 2, 1, 2);
    test_context_label("10^%d", exponents[e]);
    list_of(l, &m, 7);
    for (size_t k = 0; k < l->count; k++) l->doubles[k] *= scale;
    ts_matrix *A = NULL;
    CHECK_OK(context, ts_matrix_create(
                          context, &(ts_matrix_desc){.triplets = triplets_of(l, m.rows, m.columns, 0, 1)}, &A));
    const ts_vector_desc doubles = {.precision = TS_PRECISION_DOUBLE};
    ts_vector *x = make_parts(ts_matrix_get_column_space(A), 1, 1, xs), *y = NULL;
    CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &doubles, &y));
    CHECK_OK(context, ts_matrix_multiply(y, A, x));
    double *ys = read_doubles(y);
    for (int32_t i = 0; i < m.rows; i++) {
      double sum = 0, size = 0;
      for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++) {
        sum += (double)m.values[k] * xs[m.indices[k]];
        size += fabs((double)m.values[k] * xs[m.indices[k]]);
      }
      CHECK_CLOSE(ys[i] / scale, sum, 1e-6 * size);
    }
    free(xs), free(ys);
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
    ts_matrix_destroy(&A);
  }
  ref_free(&m);
  free(l);
}

/* ---- Refusals ---- */

static void refuse(const ts_triplets *given, const char *first, const char *second) {
  ts_matrix *A = (ts_matrix *)(uintptr_t)1;
  CHECK_FAILS(context, ts_matrix_create(context, &(ts_matrix_desc){.triplets = given}, &A),
              TS_ERROR_INVALID_ARGUMENT, first, second);
  CHECK(A == NULL);
}

static void refusals(void) {
  const int32_t rows[] = {0, 1, 2}, columns[] = {1, 0, 3}, below[] = {0, -1, 2}, beyond[] = {0, 1, 3};
  const int32_t far[] = {0, 4, 1};
  const float values[] = {1, 2, 3};
  const double no_number[] = {1, NAN, 2};
  const ts_triplets good = {.rows = 3,
                            .columns = 4,
                            .row_indices = HOST(rows),
                            .column_indices = HOST(columns),
                            .values = HOST(values)};
  ts_triplets bad = good;
  bad.row_indices = HOST(beyond);
  refuse(&bad, "row_indices[2] is 3", "0 to 2");
  bad.row_indices = HOST(below);
  refuse(&bad, "row_indices[1] is -1", "0 to 2");
  bad = good, bad.column_indices = HOST(below);
  refuse(&bad, "column_indices[1] is -1", "0 to 3");
  bad = good, bad.column_indices = HOST(far);
  refuse(&bad, "column_indices[1] is 4", "0 to 3");
  bad = good, bad.row_indices.count = 2;
  refuse(&bad, "row_indices has 2 numbers", "3");
  bad = good, bad.column_indices.count = 2;
  refuse(&bad, "row_indices has 3 numbers", "2");
  bad = good, bad.values.count = 2;
  refuse(&bad, "values has 2 numbers", "3");
  bad = good, bad.values = HOST(no_number);
  refuse(&bad, "nan", "row 1, column 0");
  bad = good, bad.rows = 0;
  refuse(&bad, "0 x 4", "at least one row");
  const ts_matrix_desc both = {.csr = ts_host_csr(2, 2, rows, columns, values), .triplets = &good};
  ts_matrix *A = NULL;
  CHECK_FAILS(context, ts_matrix_create(context, &both, &A), TS_ERROR_INVALID_ARGUMENT, "csr and triplets");
  CHECK_FAILS(context, ts_matrix_create(context, &(ts_matrix_desc){0}, &A), TS_ERROR_INVALID_ARGUMENT,
              "neither csr nor triplets");
}

/* New values of a different list are refused and change nothing. */
static void other_pattern(void) {
  const int32_t rows[] = {1, 0, 1}, columns[] = {1, 0, 0}, other[] = {1, 0, 1}, moved[] = {0, 1, 1};
  const float values[] = {5, 6, 7}, xs[] = {1, 10};
  const ts_triplets good = {.rows = 2,
                            .columns = 2,
                            .row_indices = HOST(rows),
                            .column_indices = HOST(columns),
                            .values = HOST(values)};
  const double no_number[] = {1, 2, INFINITY};
  ts_matrix *A = NULL;
  REQUIRE_OK(context, ts_matrix_create(context, &(ts_matrix_desc){.triplets = &good}, &A));
  ts_triplets bad = good;
  bad.column_indices = HOST(other);
  CHECK_FAILS(context, ts_matrix_set_triplets(A, &bad), TS_ERROR_INCOMPATIBLE, "differ");
  bad = good, bad.row_indices = HOST(moved);
  CHECK_FAILS(context, ts_matrix_set_triplets(A, &bad), TS_ERROR_INCOMPATIBLE, "differ");
  bad = good, bad.row_indices.count = bad.column_indices.count = bad.values.count = 2;
  CHECK_FAILS(context, ts_matrix_set_triplets(A, &bad), TS_ERROR_INCOMPATIBLE, "differ");
  bad = good, bad.rows = 3;
  CHECK_FAILS(context, ts_matrix_set_triplets(A, &bad), TS_ERROR_INCOMPATIBLE, "3", "2");
  bad = good, bad.values = HOST(no_number);
  CHECK_FAILS(context, ts_matrix_set_triplets(A, &bad), TS_ERROR_INVALID_ARGUMENT, "inf", "row 1, column 0");
  CHECK_FAILS(context, ts_matrix_set_triplets(A, NULL), TS_ERROR_INVALID_ARGUMENT, "triplets is NULL");
  CHECK_FAILS(NULL, ts_matrix_set_triplets(NULL, &good), TS_ERROR_INVALID_ARGUMENT, "matrix is NULL");
  ts_vector *x = make_vector(ts_matrix_get_column_space(A), 1, xs),
            *y = make_vector(ts_matrix_get_row_space(A), 1, NULL);
  CHECK_OK(context, ts_matrix_multiply(y, A, x));
  float *ys = read_vector(y);
  CHECK(ys[0] == 6 && ys[1] == 57);
  free(ys);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_matrix_destroy(&A);
}

TEST_MAIN(CASES_IN_CONTEXT(against_rows, empty, order_of_sums, scales, refusals, other_pattern))
