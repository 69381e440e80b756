/* y = A^T x in every format of the backend, compared with double precision, and least squares that use only the
 * matrix. */
#include <float.h>

#include <texsolve/solver.h>

#include "helpers.h"

#include "common/core/backend.h"

static ts_context *context;
static ts_format formats[8];
static int format_count;

/* The entries of A as doubles: those of a reference, possibly times 2^exponent and with more digits. */
typedef struct doubles {
  ref_matrix pattern;
  double *values;
} doubles;

static doubles make_doubles(ref_matrix m, uint64_t seed, int exponent) {
  doubles d = {m, ref_doubles((size_t)ref_nonzeros(&m) + 1, seed, -1, 1)};
  for (int64_t e = 0; e < ref_nonzeros(&m); e++) d.values[e] = ldexp(d.values[e], exponent);
  return d;
}

static void free_doubles(doubles *d) {
  ref_free(&d->pattern);
  free(d->values);
}

static ts_csr csr_of(const doubles *d) {
  ts_csr csr = ref_csr(&d->pattern);
  csr.values = ts_host(d->values, csr.column_indices.count);
  return csr;
}

/* y = A^T x and |A|^T |x| in double precision, without constrained rows and columns. */
static void multiply(const ref_matrix *m, const double *values, const unsigned char *constrained,
                     int components, const double *x, double *y, double *size) {
  const size_t n = (size_t)components, count = (size_t)m->columns * n;
  ref_sum *sums = calloc(count, sizeof *sums);
  for (size_t k = 0; k < count; k++) size[k] = 0;
  for (int32_t i = 0; i < m->rows; i++)
    for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++) {
      const int32_t j = m->indices[e];
      if (constrained && (constrained[i] || constrained[j])) continue;
      const double a = values ? values[e] : (double)m->values[e];
      for (size_t c = 0; c < n; c++) {
        ref_add_product(&sums[(size_t)j * n + c], a, x[(size_t)i * n + c]);
        size[(size_t)j * n + c] += fabs(a * x[(size_t)i * n + c]);
      }
    }
  for (size_t k = 0; k < count; k++) y[k] = sums[k].value + sums[k].low;
  free(sums);
}

static double longest_column(const ref_matrix *m) {
  ref_matrix t = ref_transpose(m);
  const double longest = ref_longest_row(&t);
  ref_free(&t);
  return longest;
}

/* In single precision, into a vector of NaN, and again with the same bits. */
static void check_floats(const ref_matrix *m, const unsigned char *constrained, ts_matrix *A, int components) {
  const size_t rows = (size_t)m->rows * (size_t)components, columns = (size_t)m->columns * (size_t)components;
  float *xs = ref_values(rows, 31, -1, 1), *nans = malloc(columns * sizeof *nans);
  double *x = malloc(rows * sizeof *x), *expected = malloc(columns * sizeof *expected),
         *size = malloc(columns * sizeof *size);
  for (size_t k = 0; k < rows; k++) x[k] = (double)xs[k];
  for (size_t k = 0; k < columns; k++) nans[k] = NAN;
  multiply(m, NULL, constrained, components, x, expected, size);
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), components, xs),
            *y = make_vector(ts_matrix_get_column_space(A), components, nans);
  CHECK_OK(context, ts_matrix_multiply_transposed(y, A, b));
  float *ys = read_vector(y), *after = read_vector(b);
  const double longest = longest_column(m);
  CHECK_VALUES(ys, expected, size, columns, 6 + fmin(longest, 64) * 0.25 + sqrt(longest));
  CHECK_PADDING(y);
  CHECK(memcmp(after, xs, rows * sizeof *xs) == 0);
  CHECK_OK(context, ts_matrix_multiply_transposed(y, A, b));
  float *again = read_vector(y);
  CHECK(memcmp(ys, again, columns * sizeof *ys) == 0);
  free(xs), free(nans), free(x), free(expected), free(size), free(ys), free(after), free(again);
  ts_vector_destroy(&b);
  ts_vector_destroy(&y);
}

static ts_matrix *make(const ts_csr *csr, ts_format format, const unsigned char *constrained, int host_copy) {
  const ts_matrix_desc desc = {
      .csr = *csr, .format = format, .constrained = constrained, .keep_host_copy = host_copy};
  ts_matrix *matrix = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &matrix));
  return matrix;
}

/* In every format, from the host copy and from the entries on the device. */
static void check_matrix(const ref_matrix *m, const unsigned char *constrained, const char *name) {
  for (int f = 0; f < format_count; f++)
    for (int host_copy = 0; host_copy < 2; host_copy++) {
      const int most = most_components(formats[f]), components = 1 + (f + host_copy) % most;
      const ts_csr csr = ref_csr(m);
      test_context_label("%s, %s, %d components%s", name, ts_format_name(formats[f]), components,
                         host_copy ? ", host copy" : "");
      if (test_is_ranks() && !host_copy) continue;
      ts_matrix *A = make(&csr, formats[f], constrained, host_copy);
      if (A) check_floats(m, constrained, A, components);
      ts_matrix_destroy(&A);
    }
}

static void samples(void) {
  ref_sample sample;
  for (int n = 0; ref_get_sample(n, &sample); n++) {
    if (!test_is_brief() || n % 3 == 0) check_matrix(&sample.matrix, NULL, sample.name);
    ref_free(&sample.matrix);
  }
}

/* Empty rows and columns, rows that textures process in stages, a single row, a single column. */
static void shapes(void) {
  struct {
    const char *name;
    ref_matrix matrix;
  } shapes[] = {{"gaps", ref_gaps(61, 43, 2)},
                {"few of many columns", ref_uneven_rows(9, 4000, 7, 3)},
                {"long rows", ref_uneven_rows(40, 3000, 2500, 4)},
                {"a dense row", ref_dense_row(1500, 700, 5)},
                {"a row", ref_dense(1, 300, 6)},
                {"a column", ref_dense(1300, 1, 7)},
                {"an entry", ref_dense(1, 1, 8)}};
  for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
    check_matrix(&shapes[k].matrix, NULL, shapes[k].name);
    ref_free(&shapes[k].matrix);
  }
  if (test_is_brief()) return;
  ref_matrix longest = ref_dense(2, 70000, 9); /* sums of partial sums */
  check_matrix(&longest, NULL, "the longest rows");
  ref_free(&longest);
}

/* Constrained rows contribute nothing, and their elements of y are 0. */
static void constrained_rows(void) {
  ref_matrix m = ref_skewed_grid(17, 13);
  unsigned char *constrained = calloc((size_t)m.rows, 1);
  for (int32_t i = 0; i < m.rows; i++) constrained[i] = i % 5 == 0 || i < 20;
  check_matrix(&m, constrained, "constrained rows");
  free(constrained);
  ref_free(&m);
}

/* Vectors and values in doubles of any size. */
static void check_doubles(const doubles *d, ts_matrix *A, int exponent_of_x, double tolerance) {
  const ref_matrix *m = &d->pattern;
  const size_t rows = (size_t)m->rows, columns = (size_t)m->columns;
  double *x = ref_doubles(rows, 33, -1, 1), *expected = malloc(columns * sizeof *expected),
         *size = malloc(columns * sizeof *size);
  for (size_t k = 0; k < rows; k++) x[k] = ldexp(x[k], exponent_of_x);
  multiply(m, d->values, NULL, 1, x, expected, size);
  ts_vector *b = make_parts(ts_matrix_get_row_space(A), 1, 3, x), *y = NULL;
  CHECK_OK(context, ts_vector_create(ts_matrix_get_column_space(A), NULL, &y)); /* precision auto */
  CHECK_OK(context, ts_matrix_multiply_transposed(y, A, b));
  double *ys = read_doubles(y);
  for (size_t k = 0; k < columns; k++)
    if (!CHECK_CLOSE(ys[k], expected[k], tolerance * size[k])) break;
  free(x), free(expected), free(size), free(ys);
  ts_vector_destroy(&b);
  ts_vector_destroy(&y);
}

static int has_doubles(void) {
  return context->caps.pairs && !test_is_ranks(); /* the low-order parts are with the ranks */
}

static void double_values(void) {
  if (!has_doubles()) return;
  for (int f = 0; f < format_count; f++)
    for (int kind = 0; kind < 2; kind++) {
      doubles d = make_doubles(kind ? ref_random_dominant(300, 7, 4) : ref_uneven_rows(200, 90, 40, 3), 5, 0);
      const ts_csr csr = csr_of(&d);
      test_context_label("%s, kind %d", ts_format_name(formats[f]), kind);
      ts_matrix *A = make(&csr, formats[f], NULL, kind);
      if (A) check_doubles(&d, A, 0, 0x1p-43);
      ts_matrix_destroy(&A);
      free_doubles(&d);
    }
}

static void scales(void) {
  static const int exponents[][2] = {{-990, 0}, {990, 0}, {-600, 700}, {500, -900}, {0, -1000}, {30, 950}};
  if (!has_doubles()) return;
  for (int f = 0; f < format_count; f++)
    for (size_t s = 0; s < sizeof exponents / sizeof exponents[0]; s++) {
      doubles d = make_doubles(ref_uneven_rows(60, 40, 9, 3), 6, exponents[s][0]);
      const ts_csr csr = csr_of(&d);
      test_context_label("%s, 2^%d and 2^%d", ts_format_name(formats[f]), exponents[s][0], exponents[s][1]);
      ts_matrix *A = make(&csr, formats[f], NULL, 0);
      if (A) check_doubles(&d, A, exponents[s][1], 0x1p-42);
      ts_matrix_destroy(&A);
      free_doubles(&d);
    }
}

/* New values in sequence: floats, doubles with low-order parts at another scale, floats. */
static void new_values(void) {
  for (int f = 0; f < format_count; f++)
    for (int host_copy = test_is_ranks() ? 1 : 0; host_copy < 2; host_copy++) {
      ref_matrix m = ref_uneven_rows(120, 70, 30, 3);
      ts_csr csr = ref_csr(&m);
      test_context_label("%s%s", ts_format_name(formats[f]), host_copy ? ", host copy" : "");
      ts_matrix *A = make(&csr, formats[f], NULL, host_copy);
      if (A) {
        check_floats(&m, NULL, A, 1);
        for (int64_t e = 0; e < ref_nonzeros(&m); e++) m.values[e] = 3 - m.values[e];
        CHECK_OK(context, ts_matrix_set_values(A, &csr));
        check_floats(&m, NULL, A, most_components(formats[f]) > 1 ? 2 : 1);
        if (has_doubles()) {
          doubles d = {m, ref_doubles((size_t)ref_nonzeros(&m), 8, -1e200, 1e200)};
          const ts_csr now = csr_of(&d);
          CHECK_OK(context, ts_matrix_set_values(A, &now));
          check_doubles(&d, A, 0, 0x1p-43);
          free(d.values);
        }
        CHECK_OK(context, ts_matrix_set_values(A, &csr));
        check_floats(&m, NULL, A, 1);
      }
      ts_matrix_destroy(&A);
      ref_free(&m);
    }
}

static void solve_least(ts_matrix *A, ts_matrix *At, const float *bs, float *xs, ts_result *result) {
  const ts_solver_desc desc = {.method = TS_METHOD_CGLS, .transposed = At};
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), 1, bs),
            *x = make_vector(ts_matrix_get_column_space(A), 1, NULL);
  CHECK_OK(context, solve_vectors(A, b, x, &desc, result));
  float *found = read_vector(x);
  memcpy(xs, found, vector_count(x) * sizeof *xs);
  free(found);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
}

/* With the matrix's own transpose, and with one that is passed. */
static void least_squares(void) {
  for (int f = 0; f < format_count; f++)
    for (int host_copy = test_is_ranks() ? 1 : 0; host_copy < 2; host_copy++) {
      ref_matrix m = ref_uneven_rows(200, 50, 9, 2), t = ref_transpose(&m);
      const ts_csr csr = ref_csr(&m);
      ts_matrix *A = make(&csr, formats[f], NULL, host_copy);
      const ts_matrix_desc given = {.csr = ref_csr(&t),
                                    .format = formats[f],
                                    .row_space = ts_matrix_get_column_space(A),
                                    .column_space = ts_matrix_get_row_space(A),
                                    .keep_host_copy = 1};
      ts_matrix *At = NULL;
      CHECK_OK(context, ts_matrix_create(context, &given, &At));
      float *bs = ref_values(200, 3, -1, 1), with[50], without[50];
      ts_result result, own;
      test_context_label("%s%s", ts_format_name(formats[f]), host_copy ? ", host copy" : "");
      solve_least(A, At, bs, with, &result);
      solve_least(A, NULL, bs, without, &own);
      CHECK(own.relative_residual <= 1e-5);
      CHECK(abs(own.iterations - result.iterations) <= 1);
      for (int k = 0; k < 50; k++) CHECK_CLOSE(without[k], with[k], 1e-3);
      free(bs);
      ts_matrix_destroy(&A);
      ts_matrix_destroy(&At);
      ref_free(&m);
      ref_free(&t);
    }
}

/* A solver uses new values, and keeps the data that it needs after the matrix is destroyed. */
static void solver_follows_values(void) {
  ref_matrix m = ref_uneven_rows(200, 50, 9, 2);
  ts_csr csr = ref_csr(&m);
  ts_matrix *A = make(&csr, TS_FORMAT_AUTO, NULL, test_is_ranks());
  ts_solver *solver = NULL;
  REQUIRE_OK(context, ts_solver_create(A, NULL, &solver));
  float *bs = ref_values(200, 3, -1, 1);
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), 1, bs),
            *x = make_vector(ts_matrix_get_column_space(A), 1, NULL);
  ts_result result;
  for (int round = 0; round < 3; round++) {
    test_context_label("round %d", round);
    for (int64_t e = 0; e < ref_nonzeros(&m); e++) m.values[e] *= m.indices[e] % 3 ? 1 : 1.0f + (float)round;
    CHECK_OK(context, ts_matrix_set_values(A, &csr));
    if (round == 2) ts_matrix_destroy(&A);
    CHECK_OK(context, ts_solver_solve(solver, b, x, &result));
    CHECK_INT(result.method, TS_METHOD_LSMR); /* the default if a matrix is not square */
    float *xs = read_vector(x);
    double *r = malloc(200 * sizeof *r), above = 0, below = 0;
    ref_spmv(&m, NULL, 1, xs, r, NULL);
    double gradient[50] = {0}, right[50] = {0};
    for (int32_t i = 0; i < 200; i++)
      for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++) {
        gradient[m.indices[e]] += (double)m.values[e] * ((double)bs[i] - r[i]);
        right[m.indices[e]] += (double)m.values[e] * (double)bs[i];
      }
    for (int k = 0; k < 50; k++) above += gradient[k] * gradient[k], below += right[k] * right[k];
    CHECK(sqrt(above / below) <= 1.1e-5);
    free(r), free(xs);
  }
  free(bs);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_solver_destroy(&solver);
  ref_free(&m);
}

static void errors(void) {
  ref_matrix m = ref_uneven_rows(20, 7, 5, 2);
  const ts_csr csr = ref_csr(&m);
  ts_matrix *A = make(&csr, TS_FORMAT_AUTO, NULL, 1);
  ts_vector *x = make_vector(ts_matrix_get_row_space(A), 1, NULL),
            *y = make_vector(ts_matrix_get_column_space(A), 1, NULL),
            *two = make_vector(ts_matrix_get_row_space(A), 2, NULL);
  CHECK_FAILS(NULL, ts_matrix_multiply_transposed(y, NULL, x), TS_ERROR_INVALID_ARGUMENT, "matrix");
  CHECK_FAILS(context, ts_matrix_multiply_transposed(NULL, A, x), TS_ERROR_INVALID_ARGUMENT, "y is NULL");
  CHECK_FAILS(context, ts_matrix_multiply_transposed(y, A, NULL), TS_ERROR_INVALID_ARGUMENT, "x is NULL");
  CHECK_FAILS(context, ts_matrix_multiply_transposed(x, A, y), TS_ERROR_INCOMPATIBLE, "y", "column", "20", "7");
  CHECK_FAILS(context, ts_matrix_multiply_transposed(y, A, y), TS_ERROR_INCOMPATIBLE, "x", "row");
  CHECK_FAILS(context, ts_matrix_multiply_transposed(y, A, two), TS_ERROR_INCOMPATIBLE, "2");
  CHECK_OK(context, ts_matrix_multiply_transposed(y, A, x));
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_vector_destroy(&two);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

static int find_formats(int round) {
  (void)round;
  format_count = list_formats(context, formats);
  return 1;
}

static const test_fixture in_formats = {.context = &context, .setup = find_formats};
TEST_MAIN(CASES_WITH(&in_formats, samples, shapes, constrained_rows, double_values, scales, new_values,
                     least_squares, solver_follows_values, errors))
