/* Products of matrices whose rows are divided by every method of a backend: lengths around those of a warp, a
 * slice and a row block; exceptionally long rows; columns far apart. Every format is compared with double
 * precision. */
#include "helpers.h"

static ts_context *context;
static ts_format formats[8];
static int format_count;

/* y = A x and r = b - A x into vectors of NaN, and again with the same bits. */
static void check_products(const ref_matrix *m, ts_matrix *matrix, int components) {
  const size_t rows = (size_t)m->rows * (size_t)components, columns = (size_t)m->columns * (size_t)components;
  float *xs = ref_values(columns, 21, -1, 1), *bs = ref_values(rows, 22, -1, 1),
        *nans = malloc(rows * sizeof *nans);
  double *product = malloc(rows * sizeof *product), *size = malloc(rows * sizeof *size);
  ref_spmv(m, NULL, components, xs, product, size);
  for (size_t i = 0; i < rows; i++) nans[i] = NAN;
  ts_vector *x = make_vector(ts_matrix_get_column_space(matrix), components, xs);
  ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), components, bs);
  ts_vector *y = make_vector(ts_matrix_get_row_space(matrix), components, nans);
  const double tolerance = 12 + sqrt((double)ref_longest_row(m));
  CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
  float *first = read_vector(y);
  CHECK_VALUES(first, product, size, rows, tolerance);
  CHECK_OK(context, ts_vector_write(y, ts_host(nans, rows)));
  CHECK_OK(context, ts_matrix_multiply(y, matrix, x));
  float *again = read_vector(y);
  CHECK(memcmp(first, again, rows * sizeof *first) == 0);
  CHECK_OK(context, ts_vector_write(y, ts_host(nans, rows)));
  CHECK_OK(context, ts_matrix_residual(y, b, matrix, x));
  float *rest = read_vector(y);
  for (size_t i = 0; i < rows; i++) {
    product[i] = bs[i] - product[i];
    size[i] += fabs((double)bs[i]);
  }
  CHECK_VALUES(rest, product, size, rows, tolerance);
  free(xs), free(bs), free(nans), free(product), free(size), free(first), free(again), free(rest);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_vector_destroy(&y);
}

/* Takes ownership of the matrix. A brief run uses one number of components per format, which changes from
 * matrix to matrix. */
static void check_formats(const char *name, ref_matrix m, int most_components) {
  static int calls;
  calls++;
  for (int f = 0; f < format_count; f++) {
    ts_matrix *matrix = make_matrix(context, &m, formats[f]);
    if (!matrix) continue;
    const ts_format format = matrix_info(matrix).format;
    const int is_blocks = format == TS_FORMAT_BCRS2 || format == TS_FORMAT_BCRS4;
    const int most = test_is_gl() && is_blocks ? 1 : most_components;
    for (int components = 1; components <= most; components++) {
      if (test_is_brief() && components != 1 + (calls + f) % most) continue;
      test_context_label("%s, %s, %d components", name, ts_format_name(formats[f]), components);
      check_products(&m, matrix, components);
    }
    ts_matrix_destroy(&matrix);
  }
  ref_free(&m);
}

static void lengths(void) {
  static const int32_t sizes[] = {31, 32, 33, 64, 65, 255, 256, 257};
  for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
    char name[32];
    snprintf(name, sizeof name, "%d rows and columns", sizes[n]);
    check_formats(name, ref_dense(sizes[n], sizes[n], n), 4);
  }
  check_formats("rows of 1023", ref_dense(5, 1023, 1), 2);
  check_formats("rows of 1024", ref_dense(5, 1024, 1), 2);
  check_formats("rows of 1025", ref_dense(5, 1025, 1), 2);
  check_formats("rows of 4097", ref_dense(3, 4097, 1), 4);
}

static void long_rows(void) {
  check_formats("a row of 200000", ref_dense_row(200000, 777, 32), 2);
  check_formats("few long rows, columns far apart", ref_uneven_rows(3000, 300000, 900, 4), 4);
  check_formats("uneven, columns in two bytes", ref_uneven_rows(3000, 40000, 60, 5), 4);
  check_formats("uneven, columns far apart", ref_uneven_rows(3000, 300000, 60, 6), 4);
}

static void many_entries(void) {
  check_formats("dense", ref_dense(1100, 1100, 3), 1);
  check_formats("grid", ref_grid(420, 400), 3);
}

static int find_formats(int round) {
  (void)round;
  format_count = list_formats(context, formats);
  return 1;
}

static const test_fixture fixture = {.context = &context, .setup = find_formats};

TEST_MAIN(CASES_WITH(&fixture, lengths, long_rows, many_entries))
