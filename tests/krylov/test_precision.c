/* Every method in every precision, compared with a solution in long double. Matrices and right-hand sides are
 * doubles that are not floats, and the result meets the tolerance. */
#include "common/core/core.h"
#include "helpers.h"

static ts_context *context;

/* ---- Systems ---- */

typedef struct problem {
  ref_matrix pattern;
  double *values; /* of the pattern's entries */
  int n, components;
  double *b;
  long double *x; /* the solution */
} problem;

/* Computes b and the solution by elimination with pivoting. */
static void solve_exactly(problem *p) {
  const int n = p->n, m = p->components, width = n + m;
  long double *a = calloc((size_t)n * (size_t)width, sizeof *a);
#define AT(i, j) a[(size_t)(i) * (size_t)width + (size_t)(j)]
  for (int i = 0; i < n; i++) {
    for (int32_t e = p->pattern.offsets[i]; e < p->pattern.offsets[i + 1]; e++)
      AT(i, p->pattern.indices[e]) += (long double)p->values[e];
    for (int c = 0; c < m; c++) AT(i, n + c) = (long double)p->b[i * m + c];
  }
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++)
      if (fabsl(AT(i, k)) > fabsl(AT(pivot, k))) pivot = i;
    for (int j = k; j < width; j++) {
      const long double other = AT(pivot, j);
      AT(pivot, j) = AT(k, j);
      AT(k, j) = other;
    }
    for (int i = k + 1; i < n; i++) {
      const long double factor = AT(i, k) / AT(k, k);
      for (int j = k; factor != 0 && j < width; j++) AT(i, j) -= factor * AT(k, j);
    }
  }
  for (int c = 0; c < m; c++)
    for (int i = n - 1; i >= 0; i--) {
      long double sum = AT(i, n + c);
      for (int j = i + 1; j < n; j++) sum -= AT(i, j) * p->x[j * m + c];
      p->x[i * m + c] = sum / AT(i, i);
    }
#undef AT
  free(a);
}

/* Takes ownership of the pattern and its values. Component c of b is scale^c times as large as the first. */
static problem problem_of(ref_matrix pattern, double *values, int components, double scale) {
  problem p = {.pattern = pattern, .values = values, .n = pattern.rows, .components = components};
  const size_t count = (size_t)p.n * (size_t)components;
  p.b = calloc(count, sizeof *p.b);
  p.x = calloc(count, sizeof *p.x);
  for (size_t i = 0; i < count; i++)
    p.b[i] = sin(1 + (double)i * 1.7) * pow(scale, (double)(i % (size_t)components));
  solve_exactly(&p);
  return p;
}

/* Changes each value of the pattern a little, and preserves its symmetry. */
static problem make_problem(ref_matrix pattern, int components, double scale) {
  double *values = calloc((size_t)ref_nonzeros(&pattern), sizeof *values);
  for (int i = 0; i < pattern.rows; i++)
    for (int32_t e = pattern.offsets[i]; e < pattern.offsets[i + 1]; e++)
      values[e] = (double)pattern.values[e] * (1 + 1 / (1000.0 + (i + pattern.indices[e]) % 7));
  return problem_of(pattern, values, components, scale);
}

/* The problem with A^T A, for a symmetric A: repeated use gives any condition. */
static problem squared(const problem *p) {
  const size_t n = (size_t)p->n;
  const ref_matrix *m = &p->pattern;
  ref_matrix s = {.rows = p->n, .columns = p->n};
  double *row = calloc(n, sizeof *row), *values = calloc(n * n, sizeof *values);
  s.offsets = calloc(n + 1, sizeof *s.offsets);
  s.indices = calloc(n * n, sizeof *s.indices);
  s.values = calloc(n * n, sizeof *s.values);
  for (int32_t i = 0; i < p->n; i++) {
    memset(row, 0, n * sizeof *row);
    for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
      for (int32_t f = m->offsets[m->indices[e]]; f < m->offsets[m->indices[e] + 1]; f++)
        row[m->indices[f]] += p->values[e] * p->values[f];
    int32_t to = s.offsets[i];
    for (int32_t j = 0; j < p->n; j++) {
      if (row[j] == 0) continue;
      s.indices[to] = j;
      values[to++] = row[j];
    }
    s.offsets[i + 1] = to;
  }
  free(row);
  return problem_of(s, values, 1, 1);
}

static void free_problem(problem *p) {
  free(p->values), free(p->b), free(p->x);
  ref_free(&p->pattern);
}

static ts_csr csr_of(const problem *p) {
  ts_csr csr = ref_csr(&p->pattern);
  csr.values = ts_host(p->values, csr.column_indices.count);
  return csr;
}

/* ---- Solves ---- */

static ts_vector *make_double_vector(ts_space *space, int components, const double *values) {
  const ts_vector_desc desc = {.components = components, .precision = TS_PRECISION_DOUBLE};
  ts_vector *v = NULL;
  CHECK_OK(context, ts_vector_create(space, &desc, &v));
  if (v && values) CHECK_OK(context, ts_vector_write(v, ts_host(values, vector_count(v))));
  return v;
}

/* The largest relative residual of a component, and the largest difference from the solution. */
static double residual_of(const problem *p, const double *xs) {
  double worst = 0;
  for (int c = 0; c < p->components; c++) {
    long double rr = 0, bb = 0;
    for (int i = 0; i < p->n; i++) {
      const long double b = (long double)p->b[i * p->components + c];
      long double r = b;
      for (int32_t e = p->pattern.offsets[i]; e < p->pattern.offsets[i + 1]; e++)
        r -= (long double)p->values[e] * (long double)xs[p->pattern.indices[e] * p->components + c];
      rr += r * r;
      bb += b * b;
    }
    worst = fmax(worst, (double)sqrtl(rr / bb));
  }
  return worst;
}

static double error_of(const problem *p, const double *xs) {
  double worst = 0;
  for (int c = 0; c < p->components; c++) {
    long double ee = 0, xx = 0;
    for (int i = 0; i < p->n; i++) {
      const long double x = p->x[i * p->components + c], e = (long double)xs[i * p->components + c] - x;
      ee += e * e;
      xx += x * x;
    }
    worst = fmax(worst, (double)sqrtl(ee / xx));
  }
  return worst;
}

static int solve_problem(const problem *p, ts_format format, const ts_solver_desc *desc, double *xs,
                         ts_result *result) {
  const ts_matrix_desc matrix_desc = {.csr = csr_of(p), .format = format, .keep_host_copy = 1};
  ts_matrix *A = NULL;
  if (!CHECK_OK(context, ts_matrix_create(context, &matrix_desc, &A))) return TS_ERROR_DEVICE;
  ts_vector *b = make_double_vector(ts_matrix_get_row_space(A), p->components, p->b);
  ts_vector *x = make_double_vector(ts_matrix_get_row_space(A), p->components, NULL);
  const ts_status status = solve_vectors(A, b, x, desc, result);
  if (status < 0) test_fail(__FILE__, __LINE__, "an error: %s", ts_last_error(context));
  if (status > 0) CHECK_CONTAINS(ts_last_error(context), result->message);
  CHECK_OK(context, ts_vector_read(x, ts_host(xs, vector_count(x))));
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&A);
  return status;
}

static void check_account(const ts_result *result) {
  const int *each = result->precision_iterations;
  CHECK_INT(each[TS_PRECISION_SINGLE] + each[TS_PRECISION_MIXED] + each[TS_PRECISION_DOUBLE],
            result->iterations);
  CHECK(result->precision >= TS_PRECISION_SINGLE && result->precision <= TS_PRECISION_DOUBLE);
}

/* `condition`: an upper bound of A's condition. */
static void check_solution(const problem *p, ts_format format, const ts_solver_desc *desc, double condition) {
  double *xs = calloc((size_t)p->n * (size_t)p->components, sizeof *xs);
  ts_result result = {0};
  CHECK_INT(solve_problem(p, format, desc, xs, &result), TS_OK);
  check_account(&result);
  const double residual = residual_of(p, xs), error = error_of(p, xs);
  if (!(residual <= 1.02 * desc->rtol))
    test_fail(__FILE__, __LINE__, "the residual is %.3g, it says %.3g: %s", residual, result.relative_residual,
              result.message);
  if (!(error <= condition * desc->rtol))
    test_fail(__FILE__, __LINE__, "the error is %.3g with a residual of %.3g", error, residual);
  if (desc->precision != TS_PRECISION_AUTO) {
    CHECK_INT(result.precision, desc->precision);
    CHECK_INT(result.precision_iterations[desc->precision], result.iterations);
  }
  free(xs);
}

static const double rtol_of[] = {[TS_PRECISION_AUTO] = 1e-11,
                                 [TS_PRECISION_SINGLE] = 1e-4,
                                 [TS_PRECISION_MIXED] = 1e-11,
                                 [TS_PRECISION_DOUBLE] = 1e-13};

static void check_method(ref_matrix pattern, ts_method method, ts_preconditioner_kind kind, double condition) {
  problem p = make_problem(pattern, 1, 1);
  for (int precision = TS_PRECISION_AUTO; precision <= TS_PRECISION_DOUBLE; precision++) {
    const ts_solver_desc desc = {.method = method,
                                 .preconditioner_kind = kind,
                                 .precision = (ts_precision)precision,
                                 .restart = method == TS_METHOD_GMRES ? 60 : 0,
                                 .rtol = rtol_of[precision]};
    test_context_label("%s, %s, %s", ts_method_name(method), ts_preconditioner_kind_name(kind),
                       ts_precision_name(desc.precision));
    check_solution(&p, TS_FORMAT_AUTO, &desc, condition);
  }
  free_problem(&p);
}

static void methods(void) {
  check_method(ref_grid(13, 11), TS_METHOD_CG, TS_PRECONDITIONER_JACOBI, 300);
  check_method(ref_grid(13, 11), TS_METHOD_CG, TS_PRECONDITIONER_NONE, 300);
  check_method(ref_grid(12, 12), TS_METHOD_CG, TS_PRECONDITIONER_BLOCK_JACOBI, 300);
  check_method(ref_convection(12, 11, 1), TS_METHOD_BICGSTAB, TS_PRECONDITIONER_JACOBI, 1000);
  check_method(ref_convection(12, 11, 1), TS_METHOD_BICGSTAB, TS_PRECONDITIONER_NONE, 1000);
  check_method(ref_convection(12, 11, 1), TS_METHOD_GMRES, TS_PRECONDITIONER_JACOBI, 1000);
  check_method(ref_convection(12, 11, 1), TS_METHOD_GMRES, TS_PRECONDITIONER_NONE, 1000);
}

/* Every format of the backend. */
static void formats(void) {
  ts_format all[8];
  const int count = list_formats(context, all);
  for (int f = 0; f < count; f++)
    for (int precision = TS_PRECISION_MIXED; precision <= TS_PRECISION_DOUBLE; precision++) {
      problem p = make_problem(f % 2 ? ref_hubs(150, 120, 6) : ref_random_spd(151, 9, 3), 1, 1);
      const ts_solver_desc desc = {.precision = (ts_precision)precision, .rtol = rtol_of[precision]};
      test_context_label("%s, %s", ts_format_name(all[f]), ts_precision_name(desc.precision));
      check_solution(&p, all[f], &desc, 1000);
      free_problem(&p);
    }
}

/* Components as large as b, and 1e-6 times as large. Each must meet its own tolerance. */
static void components(void) {
  for (int n = 2; n <= 4; n++)
    for (int precision = TS_PRECISION_AUTO; precision <= TS_PRECISION_DOUBLE; precision++) {
      if (precision == TS_PRECISION_SINGLE) continue;
      problem p = make_problem(ref_grid(13, 11), n, 1e-6);
      const ts_solver_desc desc = {.precision = (ts_precision)precision, .rtol = 1e-11};
      test_context_label("%d components, %s", n, ts_precision_name(desc.precision));
      check_solution(&p, TS_FORMAT_AUTO, &desc, 300);
      const ts_solver_desc krylov = {
          .method = TS_METHOD_BICGSTAB, .precision = (ts_precision)precision, .rtol = 1e-11};
      check_solution(&p, TS_FORMAT_AUTO, &krylov, 300);
      free_problem(&p);
    }
}

/* Single precision stagnates on the fourth power of a Laplacian. Auto solves it, and continues from the result
 * of mixed precision. */
static void check_ill_conditioned(int width, int height) {
  problem grid = make_problem(ref_grid(width, height), 1, 1), once = squared(&grid), p = squared(&once);
  double *xs = calloc((size_t)p.n, sizeof *xs);
  ts_result result = {0};
  const ts_solver_desc single = {.precision = TS_PRECISION_SINGLE, .rtol = 1e-10, .max_iterations = 20000};
  test_context_label("single");
  CHECK_INT(solve_problem(&p, TS_FORMAT_AUTO, &single, xs, &result), TS_NOT_CONVERGED);
  CHECK(residual_of(&p, xs) > 1e-9);
  for (int k = 0; k < 2; k++) {
    const ts_solver_desc desc = {
        .precision = k ? TS_PRECISION_DOUBLE : TS_PRECISION_AUTO, .rtol = 1e-10, .max_iterations = 20000};
    test_context_label("%d x %d, %s", width, height, ts_precision_name(desc.precision));
    check_solution(&p, TS_FORMAT_AUTO, &desc, 1e8);
  }
  free(xs);
  free_problem(&p);
  free_problem(&grid);
  free_problem(&once);
}

static void ill_conditioned(void) {
  check_ill_conditioned(9, 9);
  check_ill_conditioned(7, 9);
  check_ill_conditioned(7, 10);
}

/* A tolerance that no precision reaches: convergence is never reported, and the reachable residual is
 * reached. */
static void unreachable(void) {
  problem p = make_problem(ref_grid(13, 11), 1, 1);
  double *xs = calloc((size_t)p.n, sizeof *xs);
  for (int precision = TS_PRECISION_AUTO; precision <= TS_PRECISION_DOUBLE; precision++) {
    const ts_solver_desc desc = {.precision = (ts_precision)precision, .rtol = 1e-30, .max_iterations = 3000};
    ts_result result = {0};
    test_context_label("%s", ts_precision_name(desc.precision));
    CHECK_INT(solve_problem(&p, TS_FORMAT_AUTO, &desc, xs, &result), TS_NOT_CONVERGED);
    /* When r becomes tiny its squares are not finite numbers, which is a breakdown. */
    CHECK(result.reason == TS_REASON_STAGNATED || result.reason == TS_REASON_BREAKDOWN);
    CHECK(residual_of(&p, xs) < (precision == TS_PRECISION_SINGLE ? 1e-5 : 1e-12));
    check_account(&result);
  }
  free(xs);
  free_problem(&p);
}

/* A vector in single precision receives the rounded solution, and the result reports the residual after
 * rounding. */
static void rounded(void) {
  problem p = make_problem(ref_grid(13, 11), 1, 1);
  const ts_matrix_desc matrix_desc = {.csr = csr_of(&p)};
  const ts_solver_desc desc = {.rtol = 1e-11};
  ts_matrix *A = NULL;
  ts_result result;
  CHECK_OK(context, ts_matrix_create(context, &matrix_desc, &A));
  ts_vector *b = make_double_vector(ts_matrix_get_row_space(A), 1, p.b),
            *x = make_vector(ts_matrix_get_row_space(A), 1, NULL);
  CHECK_OK(context, solve_vectors(A, b, x, &desc, &result));
  float *found = read_vector(x);
  double *xs = calloc((size_t)p.n, sizeof *xs);
  for (int i = 0; i < p.n; i++) {
    xs[i] = (double)found[i];
    if (!CHECK_CLOSE(found[i], (double)p.x[i], 0x1p-24 * fabs((double)p.x[i]) + 1e-9)) break;
  }
  const double residual = residual_of(&p, xs);
  CHECK(result.relative_residual <= 1e-11);
  CHECK_CLOSE(result.rounded_residual, residual, 1e-3 * residual);
  free(found), free(xs);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&A);
  free_problem(&p);
}

/* If single precision meets the tolerance, auto takes no more memory than single precision. */
static void memory(void) {
  ref_matrix m = ref_grid(40, 40);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  float *bs = ref_values(1600, 3, -1, 1);
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), 1, bs),
            *x = make_vector(ts_matrix_get_row_space(A), 1, NULL);
  size_t bytes[2];
  for (int k = 0; k < 2; k++) {
    const ts_solver_desc desc = {.precision = k ? TS_PRECISION_AUTO : TS_PRECISION_SINGLE, .rtol = 0.05};
    ts_solver *solver = NULL;
    ts_result result;
    CHECK_OK(context, ts_solver_create(A, &desc, &solver));
    CHECK_OK(context, ts_vector_fill(x, 0));
    CHECK_OK(context, ts_solver_solve(solver, b, x, &result));
    CHECK_INT(result.precision, TS_PRECISION_SINGLE);
    bytes[k] = context_info(context).bytes_device;
    ts_solver_destroy(&solver);
  }
  CHECK(bytes[1] <= bytes[0]);
  free(bs);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* Earlier solves with the same solver have no influence. */
static void again(void) {
  problem p = make_problem(ref_grid(13, 11), 1, 1), q = squared(&p);
  const ts_solver_desc desc = {.rtol = 1e-11, .max_iterations = 20000};
  for (int k = 0; k < 2; k++) {
    const problem *each = k ? &q : &p;
    const ts_matrix_desc matrix_desc = {.csr = csr_of(each)};
    ts_matrix *A = NULL;
    ts_solver *solver = NULL;
    CHECK_OK(context, ts_matrix_create(context, &matrix_desc, &A));
    CHECK_OK(context, ts_solver_create(A, &desc, &solver));
    float *single = calloc((size_t)each->n, sizeof *single);
    double *xs = calloc((size_t)each->n, sizeof *xs);
    ts_vector *b = make_double_vector(ts_matrix_get_row_space(A), 1, each->b);
    for (int i = 0; i < each->n; i++) single[i] = (float)each->b[i];
    ts_vector *rounded_b = make_vector(ts_matrix_get_row_space(A), 1, single);
    ts_vector *x = make_double_vector(ts_matrix_get_row_space(A), 1, NULL);
    for (int solve = 0; solve < 4; solve++) {
      test_context_label("system %d, solve %d", k, solve);
      CHECK_OK(context, ts_vector_fill(x, solve < 2 ? 0 : 1));
      CHECK_OK(context, ts_solver_solve(solver, solve % 2 ? rounded_b : b, x, NULL));
      CHECK_OK(context, ts_vector_read(x, ts_host(xs, (size_t)each->n)));
      if (solve % 2 == 0) CHECK(residual_of(each, xs) <= 1.02e-11);
    }
    free(single), free(xs);
    ts_vector_destroy(&x);
    ts_vector_destroy(&b);
    ts_vector_destroy(&rounded_b);
    ts_solver_destroy(&solver);
    ts_matrix_destroy(&A);
  }
  free_problem(&q);
  free_problem(&p);
}

static void refused(void) {
  ref_matrix m = ref_grid(5, 5);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  ts_solver *solver = NULL;
  const ts_solver_desc fixed = {.precision = TS_PRECISION_MIXED, .fixed_iterations = 3};
  CHECK_FAILS(context, ts_solver_create(A, &fixed, &solver), TS_ERROR_INVALID_ARGUMENT, "mixed",
              "fixed_iterations");
  const ts_vector_desc mixed = {.precision = TS_PRECISION_MIXED};
  ts_vector *v = NULL;
  CHECK_FAILS(context, ts_vector_create(ts_matrix_get_row_space(A), &mixed, &v), TS_ERROR_INVALID_ARGUMENT,
              "mixed", "solvers");
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* Fixed iterations in pair arithmetic. */
static void fixed_iterations(void) {
  problem p = make_problem(ref_random_spd(151, 9, 3), 1, 1);
  double *xs = calloc((size_t)p.n, sizeof *xs);
  for (int method = TS_METHOD_CG; method <= TS_METHOD_GMRES; method++) {
    const ts_solver_desc desc = {
        .method = (ts_method)method, .precision = TS_PRECISION_DOUBLE, .fixed_iterations = 60, .zero_start = 1};
    ts_result result;
    test_context_label("%s", ts_method_name(desc.method));
    CHECK_INT(solve_problem(&p, TS_FORMAT_AUTO, &desc, xs, &result), TS_OK);
    CHECK(residual_of(&p, xs) < 1e-10);
  }
  free(xs);
  free_problem(&p);
}

static const test_fixture fixture = {.context = &context, .needs_pairs = 1};

TEST_MAIN(CASES_WITH(&fixture, methods, formats, components, ill_conditioned, unreachable, rounded, memory,
                     again, refused, fixed_iterations))
