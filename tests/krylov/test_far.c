/* Systems far from 1, in doubles: A and b at scales from 1e-300 to 1e300, with every method and precision. A
 * system reported as solved is solved by its residual in long double. x never contains a NaN or an infinity.
 * Systems that are solvable in the range of doubles are solved. */
#include <math.h>
#include <stdlib.h>

#include "common/core/core.h"
#include "helpers.h"

static ts_context *context;

/* ||b - A x|| / ||b|| of the worst component. Numbers are divided by their scales first. */
static double relative_residual(const ts_csr *A, const double *xs, const double *bs, int components) {
  const int32_t *offsets = A->row_offsets.data, *columns = A->column_indices.data;
  const double *values = A->values.data;
  double worst = 0;
  for (int c = 0; c < components; c++) {
    long double above = 0, below = 0, largest = 0;
    for (int32_t i = 0; i < A->rows; i++) largest = fmaxl(largest, fabsl((long double)bs[i * components + c]));
    for (int32_t i = 0; i < A->rows; i++) {
      long double left = bs[i * components + c];
      for (int32_t k = offsets[i]; k < offsets[i + 1]; k++)
        left -= (long double)values[k] * (long double)xs[columns[k] * components + c];
      left /= largest;
      const long double b = (long double)bs[i * components + c] / largest;
      above += left * left;
      below += b * b;
    }
    worst = fmax(worst, (double)sqrtl(above / below));
  }
  return worst;
}

typedef struct system {
  ts_csr csr;
  int32_t offsets[13], columns[36];
  double values[36], bs[48];
  int components;
} far_system;

/* A tridiagonal matrix of doubles times 10^a, and b times 10^e. The matrix is symmetric if the method needs
 * it. */
static void make(far_system *s, int rows, int components, int is_symmetric, int a, int e) {
  int32_t count = 0;
  s->offsets[0] = 0;
  for (int32_t i = 0; i < rows; i++) {
    for (int32_t j = i - 1; j <= i + 1; j++) {
      if (j < 0 || j >= rows) continue;
      const double value = i == j ? 2.1 : j > i || is_symmetric ? -1 : -0.7;
      s->columns[count] = j;
      s->values[count++] = value * pow(10, a);
    }
    s->offsets[i + 1] = count;
    for (int c = 0; c < components; c++) s->bs[i * components + c] = (1 + (i + c) % 3 / 3.0) * pow(10, e);
  }
  s->components = components;
  s->csr = ts_host_csr(rows, rows, s->offsets, s->columns, s->values);
}

/* `holds`: the solution and its residual are in the range of doubles. */
static void check_solve(const far_system *s, const ts_solver_desc *desc, double start, int holds) {
  const size_t count = (size_t)(s->csr.rows * s->components);
  const ts_vector_desc vector = {.components = s->components, .precision = TS_PRECISION_DOUBLE};
  double xs[48];
  ts_matrix *A = NULL;
  ts_vector *b = NULL, *x = NULL;
  ts_result result;
  CHECK_OK(context, ts_matrix_create(context, &(ts_matrix_desc){.csr = s->csr, .keep_host_copy = 1}, &A));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &b));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &x));
  CHECK_OK(context, ts_vector_write(b, ts_host(s->bs, count)));
  CHECK_OK(context, ts_vector_fill(x, start));
  const ts_status status = solve_vectors(A, b, x, desc, &result);
  if (holds) CHECK(status >= 0); /* otherwise a preconditioner may find singular blocks */
  CHECK_OK(context, ts_vector_read(x, ts_host(xs, count)));
  for (size_t i = 0; i < count; i++)
    if (!CHECK(isfinite(xs[i]))) break;
  const double found = relative_residual(&s->csr, xs, s->bs, s->components);
  if (status == TS_OK && !(found <= 1.01 * desc->rtol))
    test_fail(__FILE__, __LINE__, "told %.2g, true %.2g: %s", result.relative_residual, found, result.message);
  if (holds && status != TS_OK) test_fail(__FILE__, __LINE__, "true %.2g: %s", found, result.message);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&A);
}

static const ts_method methods[] = {TS_METHOD_CG, TS_METHOD_BICGSTAB, TS_METHOD_GMRES, TS_METHOD_IDR,
                                    TS_METHOD_RICHARDSON};
enum { METHODS = sizeof methods / sizeof *methods };
static const int exponents[] = {-300, -150, -38, -20, 0, 20, 38, 150, 300};
enum { scales = sizeof exponents / sizeof *exponents };

static void solve_all(ts_precision precision, ts_preconditioner_kind kind) {
  int k = 0;
  for (int m = 0; m < METHODS; m++)
    for (int a = 0; a < scales; a++)
      for (int e = 0; e < scales; e++, k++) {
        const int of_x = exponents[e] - exponents[a];
        if (k % (test_is_brief() ? 7 : 3)) continue;
        if (methods[m] == TS_METHOD_RICHARDSON && kind == TS_PRECONDITIONER_NONE) continue;
        static far_system s;
        make(&s, 1 + k % 12, 1 + k % 2, methods[m] == TS_METHOD_CG || kind == TS_PRECONDITIONER_AMG,
             exponents[a], exponents[e]);
        test_context_label("%s, %s, %s, A 1e%d, b 1e%d", ts_method_name(methods[m]),
                           ts_precision_name(precision), ts_preconditioner_kind_name(kind), exponents[a],
                           exponents[e]);
        const double rtol = precision == TS_PRECISION_SINGLE ? 1e-5 : 1e-10;
        const ts_solver_desc desc = {.method = methods[m],
                                     .precision = precision,
                                     .preconditioner_kind = kind,
                                     .rtol = rtol,
                                     .zero_start = k % 5 == 0,
                                     .max_iterations = 300};
        check_solve(&s, &desc, k % 3 ? 0 : pow(10, exponents[k % scales]), abs(of_x) <= 250);
      }
}

static void single(void) {
  solve_all(TS_PRECISION_SINGLE, TS_PRECONDITIONER_JACOBI);
}
static void automatic(void) {
  solve_all(TS_PRECISION_AUTO, TS_PRECONDITIONER_JACOBI);
}
static void mixed(void) {
  solve_all(TS_PRECISION_MIXED, TS_PRECONDITIONER_NONE);
}
static void pairs(void) {
  solve_all(TS_PRECISION_DOUBLE, TS_PRECONDITIONER_JACOBI);
}
static void preconditioned(void) {
  solve_all(TS_PRECISION_AUTO, TS_PRECONDITIONER_AMG);
  solve_all(TS_PRECISION_AUTO, TS_PRECONDITIONER_ISAI);
  solve_all(TS_PRECISION_AUTO, TS_PRECONDITIONER_BLOCK_JACOBI);
}

/* b = 0: x becomes 0 from any start. */
static void zero_b(void) {
  for (int m = 0; m < METHODS; m++)
    for (int e = 0; e < scales; e++)
      for (int columns = 1; columns <= 2; columns++) {
        static far_system s;
        make(&s, 9, columns, 1, 0, 0);
        for (int i = 0; i < 9; i++) s.bs[i * columns] = 0; /* of two components only the first one is 0 */
        test_context_label("%s, x0 1e%d, %d components", ts_method_name(methods[m]), exponents[e], columns);
        const ts_vector_desc vector = {.components = columns, .precision = TS_PRECISION_DOUBLE};
        double xs[18];
        ts_matrix *A = NULL;
        ts_vector *b = NULL, *x = NULL;
        ts_result result;
        CHECK_OK(context, ts_matrix_create(context, &(ts_matrix_desc){.csr = s.csr}, &A));
        CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &b));
        CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &x));
        CHECK_OK(context, ts_vector_write(b, ts_host(s.bs, (size_t)(9 * columns))));
        CHECK_OK(context, ts_vector_fill(x, 1.5 * pow(10, exponents[e])));
        CHECK_OK(context,
                 solve_vectors(A, b, x, &(ts_solver_desc){.method = methods[m], .rtol = 1e-8}, &result));
        CHECK_OK(context, ts_vector_read(x, ts_host(xs, (size_t)(9 * columns))));
        for (int i = 0; i < 9; i++)
          if (!CHECK(xs[i * columns] == 0)) break;
        if (columns == 1) CHECK(result.relative_residual == 0 && result.iterations == 0);
        ts_vector_destroy(&x);
        ts_vector_destroy(&b);
        ts_matrix_destroy(&A);
      }
}

/* b = 0 and a constrained unknown of any size. It keeps its value, and the tolerance is relative to the terms
 * that it adds. */
static void zero_b_constrained(void) {
  for (int m = 0; m < METHODS; m++)
    for (int e = 0; e < scales; e++)
      for (int is_zero = 0; is_zero <= 1; is_zero++) {
        enum { rows = 9 };
        const unsigned char constrained[rows] = {1};
        const ts_vector_desc vector = {.precision = TS_PRECISION_DOUBLE};
        const double fixed = is_zero ? 0 : 1.1 * pow(10, exponents[e]);
        double xs[rows];
        static far_system s;
        make(&s, rows, 1, 1, 0, 0);
        ts_matrix *A = NULL;
        ts_vector *b = NULL, *x = NULL;
        ts_result result;
        test_context_label("%s, %g", ts_method_name(methods[m]), fixed);
        CHECK_OK(context,
                 ts_matrix_create(context, &(ts_matrix_desc){.csr = s.csr, .constrained = constrained}, &A));
        CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &b));
        CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &x));
        for (int i = 0; i < rows; i++) xs[i] = i ? 3 * pow(10, exponents[e]) : fixed;
        CHECK_OK(context, ts_vector_write(x, ts_host(xs, rows)));
        CHECK_OK(context,
                 solve_vectors(A, b, x, &(ts_solver_desc){.method = methods[m], .rtol = 1e-8}, &result));
        CHECK_OK(context, ts_vector_read(x, ts_host(xs, rows)));
        CHECK(xs[0] == fixed);
        double worst = 0, below = fabs(fixed); /* the entry is -1 */
        for (int i = 1; i < rows; i++) {
          double left = 0;
          for (int32_t k = s.offsets[i]; k < s.offsets[i + 1]; k++) left += s.values[k] * xs[s.columns[k]];
          worst = fmax(worst, fabs(left));
        }
        if (is_zero) CHECK(worst == 0 && xs[rows - 1] == 0);
        if (!is_zero) CHECK(worst / below <= 1.01e-8);
        ts_vector_destroy(&x);
        ts_vector_destroy(&b);
        ts_matrix_destroy(&A);
      }
}

/* Random matrices with entries from 10^-width to 10^width. No method solves most of them. */
static void wide_range(void) {
  static const int widths[] = {0, 6, 12, 18, 36, 100, 290};
  static const ts_method all_methods[] = {TS_METHOD_AUTO,  TS_METHOD_CG,  TS_METHOD_BICGSTAB,
                                          TS_METHOD_GMRES, TS_METHOD_IDR, TS_METHOD_RICHARDSON};
  static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_JACOBI, TS_PRECONDITIONER_NONE,
                                                 TS_PRECONDITIONER_BLOCK_JACOBI, TS_PRECONDITIONER_CHEBYSHEV,
                                                 TS_PRECONDITIONER_ISAI};
  const int count = test_is_gl() || test_is_brief() ? 40 : test_is_ranks() ? 200 : 1000;
  for (int w = 0; w < 7; w++)
    for (int t = 0; t < count; t++) {
      const int n = 2 + t % 5, is_symmetric = t % 3 != 0;
      double *us = ref_doubles((size_t)(3 * n * n + n), (uint64_t)(1000 * w + t), -1, 1), dense[6][6];
      far_system s = {.components = 1};
      int32_t entries = 0;
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          const double *u = us + 3 * (i * n + j), sign = u[0] < 0 ? -1 : 1;
          dense[i][j] = u[2] < 0 || i == j ? sign * pow(10, widths[w] * u[1]) : 0;
          if (is_symmetric && j == i) dense[i][i] = fabs(dense[i][i]);
          if (is_symmetric && j < i) dense[i][j] = dense[j][i];
        }
      for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
          if (dense[i][j] != 0) s.columns[entries] = j, s.values[entries++] = dense[i][j];
        s.offsets[i + 1] = entries;
        s.bs[i] = us[3 * n * n + i];
      }
      s.csr = ts_host_csr(n, n, s.offsets, s.columns, s.values);
      const ts_solver_desc desc = {.method = all_methods[t / 3 % 6],
                                   .preconditioner_kind = kinds[t / 5 % 5],
                                   .precision = (ts_precision)(t / 25 % 4),
                                   .rtol = 1e-5,
                                   .zero_start = t / 100 % 2};
      test_context_label("width %d, number %d", widths[w], t);
      check_solve(&s, &desc, 0, 0);
      free(us);
    }
}

static const test_fixture fixture = {.context = &context, .needs_pairs = 1};

TEST_MAIN(CASES_WITH(&fixture, single, automatic, mixed, pairs, preconditioned, wide_range, zero_b,
                     zero_b_constrained))
