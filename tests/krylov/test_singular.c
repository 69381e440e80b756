/* Singular symmetric matrices and right-hand sides with a part in the null space. Conjugate gradients report
 * the part and reach the smallest residual with any preconditioner. No method returns an x that is worse than
 * its start. */
#include <math.h>
#include <string.h>

#include "common/core/core.h"
#include "helpers.h"

enum { MOST = 900 };

static ts_context *context;

/* A Laplacian with Neumann boundaries on `pieces` grids of n x n points. Its null space has `pieces`
 * dimensions. */
typedef struct neumann {
  int n, pieces, rows;
  int32_t offsets[MOST + 1], columns[5 * MOST];
  double values[5 * MOST], bs[2 * MOST];
  int components;
  double norm_b[2], norm_null[2]; /* of b, and of its part in the null space */
} neumann;

static void add(neumann *p, int32_t *count, int32_t column, double value) {
  p->columns[*count] = column;
  p->values[(*count)++] = value;
}

static void make(neumann *p, int n, int pieces, double scale) {
  int32_t count = 0;
  p->n = n;
  p->pieces = pieces;
  p->rows = n * n * pieces;
  p->offsets[0] = 0;
  for (int i = 0; i < p->rows; i++) {
    const int x = i % n, y = i / n % n;
    const double degree = (x > 0) + (x < n - 1) + (y > 0) + (y < n - 1);
    if (y > 0) add(p, &count, i - n, -scale);
    if (x > 0) add(p, &count, i - 1, -scale);
    add(p, &count, i, degree * scale);
    if (x < n - 1) add(p, &count, i + 1, -scale);
    if (y < n - 1) add(p, &count, i + n, -scale);
    p->offsets[i + 1] = count;
  }
}

/* b = A u + part. The second of two components has no part. */
static void make_b(neumann *p, int components, double part) {
  double *us = ref_doubles((size_t)p->rows, 11, -1, 1);
  p->components = components;
  for (int c = 0; c < components; c++) {
    long double all = 0, null = 0;
    for (int i = 0; i < p->rows; i++) {
      long double sum = 0;
      for (int32_t k = p->offsets[i]; k < p->offsets[i + 1]; k++)
        sum += (long double)p->values[k] * (long double)us[p->columns[k]];
      const double constant = c == 0 ? part * (1 + i / (p->n * p->n)) : 0;
      p->bs[i * components + c] = (double)sum + constant;
      all += (long double)p->bs[i * components + c] * (long double)p->bs[i * components + c];
      null += (long double)constant * (long double)constant;
    }
    p->norm_b[c] = sqrt((double)all);
    p->norm_null[c] = sqrt((double)null);
  }
  free(us);
}

static double residual_norm(const neumann *p, const double *xs, int c) {
  long double squares = 0;
  for (int i = 0; i < p->rows; i++) {
    long double left = p->bs[i * p->components + c];
    for (int32_t k = p->offsets[i]; k < p->offsets[i + 1]; k++)
      left -= (long double)p->values[k] * (long double)xs[p->columns[k] * p->components + c];
    squares += left * left;
  }
  return (double)sqrtl(squares);
}

/* `finds`: the method must find the part. */
static void check(const neumann *p, const ts_solver_desc *desc, int finds) {
  const size_t count = (size_t)(p->rows * p->components);
  const ts_vector_desc vector = {.components = p->components, .precision = TS_PRECISION_DOUBLE};
  const ts_csr csr = ts_host_csr(p->rows, p->rows, p->offsets, p->columns, p->values);
  ts_matrix *A = NULL;
  ts_vector *b = NULL, *x = NULL;
  ts_result result;
  CHECK_OK(context, ts_matrix_create(context, &(ts_matrix_desc){.csr = csr, .keep_host_copy = 1}, &A));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &b));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &x));
  CHECK_OK(context, ts_vector_write(b, ts_host(p->bs, count)));
  const ts_status status = solve_vectors(A, b, x, desc, &result);
  CHECK(status >= 0);
  double *xs = read_doubles(x);
  int is_finite = 1, is_compatible = 1;
  /* A null space of several dimensions is found one direction at a time. The preconditioner limits the
   * accuracy. */
  const double slack = p->pieces > 1 ? 1e-4 : 1e-6;
  for (size_t i = 0; i < count; i++) is_finite = is_finite && isfinite(xs[i]);
  CHECK(is_finite);
  for (int c = 0; c < p->components; c++) {
    const double found = residual_norm(p, xs, c) / p->norm_b[c], least = p->norm_null[c] / p->norm_b[c];
    if (least > 2 * desc->rtol) is_compatible = 0;
    CHECK(found <= 1.0001);
    if (status == TS_OK) CHECK(found <= 1.01 * desc->rtol);
    if (finds && !(found <= hypot(least, 1.01 * desc->rtol) * (1 + slack)))
      test_fail(__FILE__, __LINE__, "component %d: %.9g, at least %.9g: %s", c, found, least, result.message);
    if (finds && c == 0 && least > 2 * desc->rtol)
      CHECK_CLOSE(result.incompatible, least, fmax(1e-3, slack) * least);
  }
  if (finds) {
    CHECK_INT(result.reason, is_compatible ? TS_REASON_CONVERGED : TS_REASON_INCOMPATIBLE);
    if (!is_compatible) CHECK_CONTAINS(result.message, "no x reaches");
  }
  if (!is_compatible) CHECK_INT(status, TS_NOT_CONVERGED);
  free(xs);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&A);
}

static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_JACOBI, TS_PRECONDITIONER_NONE,
                                               TS_PRECONDITIONER_AMG, TS_PRECONDITIONER_BLOCK_JACOBI,
                                               TS_PRECONDITIONER_CHEBYSHEV};
static const double parts[] = {1, 1e-3, 1e-6, 0};

static void conjugate_gradients(void) {
  static neumann p;
  int k = 0;
  for (int kind = 0; kind < 5; kind++)
    for (int part = 0; part < 4; part++)
      for (int size = 0; size < 4; size++, k++) {
        static const int sizes[] = {2, 5, 12, 21}, pieces[] = {1, 2, 1, 2};
        if ((test_is_brief() || test_is_gl()) && k % 3) continue;
        if (kinds[kind] == TS_PRECONDITIONER_BLOCK_JACOBI && sizes[size] == 2)
          continue; /* its block is singular */
        const double scale = k % 5 == 0 ? 1e-20 : 1;
        make(&p, sizes[size], pieces[size], scale);
        make_b(&p, 1 + k % 2, parts[part] * scale);
        test_context_label("%s, part %g, %d of %d x %d", ts_preconditioner_kind_name(kinds[kind]), parts[part],
                           pieces[size], sizes[size], sizes[size]);
        const ts_solver_desc desc = {.method = TS_METHOD_CG,
                                     .preconditioner_kind = kinds[kind],
                                     .precision = k % 4 == 3 ? TS_PRECISION_DOUBLE : TS_PRECISION_AUTO,
                                     .rtol = 1e-8,
                                     .max_iterations = 3000};
        check(&p, &desc, 1);
      }
}

/* b is entirely in the null space, and so is the first direction. */
static void nothing_but_the_part(void) {
  static neumann p;
  for (int kind = 0; kind < 5; kind++) {
    make(&p, 9, 1, 1);
    make_b(&p, 1, 1);
    for (int i = 0; i < p.rows; i++) p.bs[i] = 1;
    p.norm_b[0] = p.norm_null[0] = 9;
    test_context_label("%s", ts_preconditioner_kind_name(kinds[kind]));
    check(&p, &(ts_solver_desc){.method = TS_METHOD_CG, .preconditioner_kind = kinds[kind], .rtol = 1e-8}, 1);
  }
}

static void other_methods(void) {
  static neumann p;
  static const ts_method methods[] = {TS_METHOD_CG, TS_METHOD_BICGSTAB, TS_METHOD_GMRES, TS_METHOD_IDR,
                                      TS_METHOD_RICHARDSON};
  int k = 0;
  for (int m = 0; m < 5; m++)
    for (int part = 0; part < 4; part++)
      for (int precision = 0; precision < 4; precision++, k++) {
        if ((test_is_brief() || test_is_gl()) && k % 3) continue;
        make(&p, 10, 1, 1);
        make_b(&p, 1 + k % 2, parts[part]);
        test_context_label("%s, %s, part %g", ts_method_name(methods[m]),
                           ts_precision_name((ts_precision)precision), parts[part]);
        const ts_solver_desc desc = {.method = methods[m],
                                     .preconditioner_kind =
                                         k % 2 ? TS_PRECONDITIONER_JACOBI : TS_PRECONDITIONER_AMG,
                                     .precision = (ts_precision)precision,
                                     .rtol = precision == TS_PRECISION_SINGLE ? 1e-4 : 1e-8,
                                     .max_iterations = 400};
        check(&p, &desc, 0);
      }
}

/* No equation depends on the unknown of an empty column, so its x may become a NaN while A x - b stays finite.
 */
static void empty_column(void) {
  enum { N = 26 };
  for (uint64_t seed = 1; seed <= (test_is_brief() ? 10 : 40); seed++) {
    double A[N][N] = {{0}}, values[N * N], bs[N] = {0}, *u = ref_doubles(N, seed, -1, 1);
    int32_t offsets[N + 1] = {0}, columns[N * N], count = 0;
    ref_random random = {seed};
    const int empty = ref_below(&random, N);
    for (int i = 0; i < N; i++) {
      for (int k = 0; k < N / 3; k++) A[i][ref_below(&random, N)] = (double)ref_uniform(&random, 0, 1);
      A[i][i] = (double)ref_uniform(&random, 1, 2);
      for (int j = 0; j < N; j++) {
        if (j == empty || A[i][j] == 0) continue;
        columns[count] = j;
        values[count++] = A[i][j];
        bs[i] += A[i][j] * u[j];
      }
      offsets[i + 1] = count;
    }
    free(u);
    ts_matrix *matrix = NULL;
    const ts_matrix_desc desc = {.csr = ts_host_csr(N, N, offsets, columns, values)};
    if (!CHECK_OK(context, ts_matrix_create(context, &desc, &matrix))) return;
    const ts_method methods[] = {TS_METHOD_BICGSTAB, TS_METHOD_GMRES, TS_METHOD_IDR, TS_METHOD_AUTO};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
      const ts_solver_desc solver = {
          .method = methods[m], .preconditioner_kind = TS_PRECONDITIONER_ILU, .rtol = 1e-8, .zero_start = 1};
      double x[N];
      ts_result result;
      test_context_label("seed %d, %s", (int)seed, ts_method_name(methods[m]));
      const ts_status status = ts_solve(matrix, ts_host(bs, N), ts_host(x, N), &solver, &result);
      CHECK(status == TS_OK || status == TS_NOT_CONVERGED);
      for (int i = 0; i < N; i++) CHECK(isfinite(x[i]));
      if (methods[m] == TS_METHOD_AUTO) CHECK_INT(status, TS_OK);
    }
    ts_matrix_destroy(&matrix);
  }
}

static const test_fixture fixture = {.context = &context, .needs_pairs = 1};

TEST_MAIN(CASES_WITH(&fixture, conjugate_gradients, nothing_but_the_part, other_methods, empty_column))
