/* MINRES: symmetric matrices that are indefinite or singular. Checked by b - A x in long double. */
#include <texsolve/solver.h>

#include "common/core/backend.h"
#include "helpers.h"

enum { MOST_ROWS = 480, MOST_ENTRIES = 4000 };

static ts_context *context;

/* A symmetric matrix in doubles. */
typedef struct system {
  int rows, components;
  int32_t offsets[MOST_ROWS + 1], columns[MOST_ENTRIES];
  double values[MOST_ENTRIES], bs[4 * MOST_ROWS];
} system_t;

static void begin(system_t *s) {
  s->rows = 0;
  s->offsets[0] = 0;
}

static void end_row(system_t *s, int32_t count) {
  s->offsets[++s->rows] = count;
}

static int32_t add(system_t *s, int32_t count, int32_t column, double value) {
  s->columns[count] = column;
  s->values[count] = value;
  return count + 1;
}

/* The Laplacian of an n x n grid minus `shift`. With free boundaries its null space contains the constants. */
static void make_grid(system_t *s, int n, double shift, int is_free, double scale) {
  int32_t count = 0;
  begin(s);
  for (int i = 0; i < n * n; i++) {
    const int x = i % n, y = i / n, degree = (x > 0) + (x < n - 1) + (y > 0) + (y < n - 1);
    if (y > 0) count = add(s, count, i - n, -scale);
    if (x > 0) count = add(s, count, i - 1, -scale);
    count = add(s, count, i, ((is_free ? degree : 4) - shift) * scale);
    if (x < n - 1) count = add(s, count, i + 1, -scale);
    if (y < n - 1) count = add(s, count, i + n, -scale);
    end_row(s, count);
  }
}

/* D A D with D from 1 to 3. The constants are no longer in the null space. */
static void rescale(system_t *s) {
  double *const d = ref_doubles((size_t)s->rows, 5, 1, 3);
  for (int i = 0; i < s->rows; i++)
    for (int32_t k = s->offsets[i]; k < s->offsets[i + 1]; k++) s->values[k] *= d[i] * d[s->columns[k]];
  free(d);
}

/* [tridiagonal B^T; B 0]. A row of B has two entries. */
static void make_saddle(system_t *s, int n, int constraints, double scale) {
  int32_t count = 0;
  begin(s);
  for (int i = 0; i < n; i++) {
    if (i > 0) count = add(s, count, i - 1, -scale);
    count = add(s, count, i, 2.5 * scale);
    if (i < n - 1) count = add(s, count, i + 1, -scale);
    if (i / 2 < constraints) count = add(s, count, n + i / 2, (i % 2 ? -0.5 : 1) * scale);
    end_row(s, count);
  }
  for (int i = 0; i < constraints; i++) {
    count = add(s, count, 2 * i, scale);
    count = add(s, count, 2 * i + 1, -0.5 * scale);
    end_row(s, count);
  }
}

/* A full symmetric matrix with random entries of both signs, also on the diagonal. */
static void make_random(system_t *s, int n, uint64_t seed) {
  double *const all = ref_doubles((size_t)(n * n), seed, -1, 1);
  int32_t count = 0;
  begin(s);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) count = add(s, count, j, all[i < j ? i * n + j : j * n + i]);
    end_row(s, count);
  }
  free(all);
}

static void multiply(const system_t *s, const double *xs, int c, long double *ys) {
  for (int i = 0; i < s->rows; i++) {
    ys[i] = 0;
    for (int32_t k = s->offsets[i]; k < s->offsets[i + 1]; k++)
      ys[i] += (long double)s->values[k] * (long double)xs[s->columns[k] * s->components + c];
  }
}

/* b = A u of a random u, plus c `part` in each row of component c = 1, 2, ... */
static void make_b(system_t *s, int components, double part) {
  long double ys[MOST_ROWS];
  double *const us = ref_doubles((size_t)(s->rows * components), 11, -1, 1);
  s->components = components;
  for (int c = 0; c < components; c++) {
    multiply(s, us, c, ys);
    for (int i = 0; i < s->rows; i++) s->bs[i * components + c] = (double)ys[i] + part * (c + 1);
  }
  free(us);
}

static double norm(const long double *ys, int n) {
  long double squares = 0;
  for (int i = 0; i < n; i++) squares += ys[i] * ys[i];
  return (double)sqrtl(squares);
}

static double norm_of_b(const system_t *s, int c) {
  long double ys[MOST_ROWS];
  for (int i = 0; i < s->rows; i++) ys[i] = s->bs[i * s->components + c];
  return norm(ys, s->rows);
}

/* ||b - A x|| / ||b||. `left`, which may be NULL, receives ||A (b - A x)|| / ||A b||. */
static double residual(const system_t *s, const double *xs, int c, double *left) {
  long double ys[MOST_ROWS], zs[MOST_ROWS];
  double rs[4 * MOST_ROWS];
  multiply(s, xs, c, ys);
  for (int i = 0; i < s->rows; i++)
    rs[i * s->components + c] = (double)(ys[i] = s->bs[i * s->components + c] - ys[i]);
  if (left) {
    multiply(s, rs, c, zs);
    *left = norm(zs, s->rows);
    multiply(s, s->bs, c, zs);
    *left /= norm(zs, s->rows);
  }
  return norm(ys, s->rows) / norm_of_b(s, c);
}

/* Solves from the content of `xs` and replaces it by x. */
static ts_status solve(const system_t *s, const ts_solver_desc *given, double *xs, ts_result *result) {
  const size_t count = (size_t)(s->rows * s->components);
  const ts_csr csr = ts_host_csr(s->rows, s->rows, s->offsets, s->columns, s->values);
  const ts_vector_desc vector = {.components = s->components, .precision = TS_PRECISION_AUTO};
  ts_solver_desc desc = *given;
  ts_matrix *A = NULL;
  ts_vector *b = NULL, *x = NULL;
  if (!desc.method) desc.method = TS_METHOD_MINRES;
  CHECK_OK(context, ts_matrix_create(context, &(ts_matrix_desc){.csr = csr}, &A));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &b));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &x));
  CHECK_OK(context, ts_vector_write(b, ts_host(s->bs, count)));
  CHECK_OK(context, ts_vector_write(x, ts_host(xs, count)));
  const ts_status status = solve_vectors(A, b, x, &desc, result);
  double *found = read_doubles(x);
  memcpy(xs, found, count * sizeof *xs);
  free(found);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&A);
  return status;
}

static void check_solved(const system_t *s, const ts_solver_desc *desc) {
  double xs[4 * MOST_ROWS] = {0};
  ts_result result;
  if (!CHECK_OK(context, solve(s, desc, xs, &result))) return;
  CHECK_INT(result.reason, TS_REASON_CONVERGED);
  for (int c = 0; c < s->components; c++) {
    const double found = residual(s, xs, c, NULL);
    if (!(found <= 1.01 * desc->rtol))
      test_fail(__FILE__, __LINE__, "component %d: %.3g after %d iterations", c, found, result.iterations);
  }
}

static int has_pairs(void) {
  return context->caps.pairs;
}

static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_NONE, TS_PRECONDITIONER_JACOBI};

/* Every kind of system in every precision, with 1 to 4 components in turn. */
static void solved(void) {
  static system_t s;
  int turn = 0;
  for (int system = 0; system < 5; system++)
    for (int precision = TS_PRECISION_AUTO; precision <= TS_PRECISION_DOUBLE; precision++) {
      if (precision > TS_PRECISION_SINGLE && !has_pairs()) continue;
      if (test_is_brief() && turn++ % 2) continue;
      if (system == 0) make_grid(&s, 15, 0.3, 0, 1);
      if (system == 1) make_grid(&s, 15, 9, 0, 1); /* negative definite */
      if (system == 2) make_saddle(&s, 120, 40, 1);
      if (system == 3) make_random(&s, 24, 3);
      if (system == 4) make_grid(&s, 15, 0, 1, 1); /* singular, with b in its range */
      make_b(&s, 1 + (system + precision) % 4, 0);
      const ts_preconditioner_kind kind = kinds[(system + precision) % 2];
      const ts_solver_desc desc = {.preconditioner_kind = kind,
                                   .precision = (ts_precision)precision,
                                   .max_iterations = 8000,
                                   .rtol = precision == TS_PRECISION_SINGLE || !has_pairs() ? 1e-4 : 1e-9};
      test_context_label("system %d, %s, %s", system, ts_preconditioner_kind_name(kind),
                         ts_precision_name((ts_precision)precision));
      check_solved(&s, &desc);
    }
}

/* One to three unknowns; a permutation with a zero diagonal; a b that is an eigenvector. */
static void small(void) {
  static const double values[][9] = {
      {-2}, {0, 1, 1, 0}, {1, 2, 2, -3}, {0, 0, 1, 0, 1, 0, 1, 0, 0}, {2, 1, 0, 1, -1, 3, 0, 3, 0}};
  static const int sizes[] = {1, 2, 2, 3, 3};
  static system_t s;
  for (int k = 0; k < 5; k++)
    for (int kind = 0; kind < 2; kind++) {
      int32_t count = 0;
      begin(&s);
      for (int i = 0; i < sizes[k]; i++) {
        for (int j = 0; j < sizes[k]; j++) count = add(&s, count, j, values[k][i * sizes[k] + j]);
        end_row(&s, count);
      }
      make_b(&s, 1, 0);
      test_context_label("matrix %d, %s", k, ts_preconditioner_kind_name(kinds[kind]));
      check_solved(&s, &(ts_solver_desc){.preconditioner_kind = kinds[kind], .rtol = 1e-5});
    }
}

/* Matrices with values far from 1. */
static void scales(void) {
  static system_t s;
  if (!has_pairs()) return;
  for (int power = -900; power <= 900; power += 900)
    for (int kind = 0; kind < 2; kind++) {
      make_saddle(&s, 60, 20, ldexp(1, power));
      make_b(&s, 1, 0);
      test_context_label("2^%d, %s", power, ts_preconditioner_kind_name(kinds[kind]));
      check_solved(&s, &(ts_solver_desc){.preconditioner_kind = kinds[kind], .rtol = 1e-8});
    }
}

/* b has a part outside the range of A. The solver finds it, and x is the shortest minimiser of ||b - A x||. */
static void incompatible(void) {
  static system_t s;
  static double xs[4 * MOST_ROWS];
  if (!has_pairs()) return;
  for (int kind = 0; kind < 2; kind++)
    for (int scaled = 0; scaled < 2; scaled++) {
      ts_result result;
      make_grid(&s, 12, 0, 1, 1);
      if (scaled) rescale(&s);
      make_b(&s, 1 + kind, 0.5);
      memset(xs, 0, sizeof xs);
      const ts_solver_desc desc = {.preconditioner_kind = kinds[kind], .rtol = 1e-8};
      test_context_label("%s, %s", ts_preconditioner_kind_name(kinds[kind]), scaled ? "scaled" : "constants");
      CHECK_INT(solve(&s, &desc, xs, &result), TS_NOT_CONVERGED);
      CHECK_INT(result.reason, TS_REASON_INCOMPATIBLE);
      CHECK_CONTAINS(result.message, "no x reaches");
      double worst = 0, largest = 0;
      for (int c = 0; c < s.components; c++) {
        double left;
        worst = fmax(worst, residual(&s, xs, c, &left));
        CHECK(left <= 1e-6);
      }
      for (int i = 0; i < s.rows * s.components; i++) largest = fmax(largest, fabs(xs[i]));
      CHECK(worst > 1e-3);
      CHECK_CLOSE(result.incompatible, worst, 1e-6 * worst);
      CHECK(largest < 10);
    }
}

/* Auto chooses cg if all of the diagonal has one sign, and minres otherwise. A preconditioner that auto has
 * chosen never causes a refusal. */
static void chosen(void) {
  static system_t s;
  static double xs[4 * MOST_ROWS];
  for (int k = 0; k < 4; k++) {
    ts_result result;
    if (k == 0) make_saddle(&s, 60, 20, 1);
    if (k == 1 || k == 3) make_grid(&s, 8, 9, 0, 1);
    if (k == 2) make_grid(&s, 8, 0, 0, 1);
    if (k == 3) s.values[0] = 5;
    make_b(&s, 1, 0);
    const ts_csr csr = ts_host_csr(s.rows, s.rows, s.offsets, s.columns, s.values);
    const size_t rows = (size_t)s.rows;
    ts_matrix *A = NULL;
    memset(xs, 0, sizeof xs);
    test_context_label("system %d", k);
    REQUIRE_OK(context, ts_matrix_create(context, &(ts_matrix_desc){.csr = csr}, &A));
    CHECK_INT(matrix_info(A).negative_diagonal, k == 1 || k == 3);
    CHECK_OK(context, ts_solve(A, ts_host(s.bs, rows), ts_host(xs, rows), NULL, &result));
    CHECK_INT(result.method, k == 1 || k == 2 ? TS_METHOD_CG : TS_METHOD_MINRES);
    CHECK(residual(&s, xs, 0, NULL) <= 1.01e-5);
    ts_matrix_destroy(&A);
  }
}

static ts_status reverse_sign(void *user, ts_vector *z, const ts_vector *r) {
  (void)user;
  return ts_vector_axpby(z, ts_constant(-1), r, ts_constant(0));
}

static void reasons(void) {
  static system_t s;
  static double xs[4 * MOST_ROWS];
  ts_result result;
  make_grid(&s, 15, 0.3, 0, 1);
  make_b(&s, 1, 0);
  const ts_solver_desc few = {.max_iterations = 5};
  CHECK_INT(solve(&s, &few, xs, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_MAX_ITERATIONS);
  CHECK_INT(result.iterations, 5);
  CHECK(residual(&s, xs, 0, NULL) < 1);
  memset(xs, 0, sizeof xs);
  const ts_solver_desc beyond = {.precision = TS_PRECISION_SINGLE, .rtol = 1e-13};
  CHECK_INT(solve(&s, &beyond, xs, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_STAGNATED);
  CHECK(residual(&s, xs, 0, NULL) < 1e-4);
  s.values[1] += 1; /* no longer symmetric */
  CHECK_INT(solve(&s, &(ts_solver_desc){0}, xs, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_NOT_SYMMETRIC);
}

/* A fixed number of iterations gives the residual of a solve that stops there. */
static void fixed(void) {
  static system_t s;
  static double xs[4 * MOST_ROWS], ys[4 * MOST_ROWS];
  ts_result result;
  make_saddle(&s, 60, 20, 1);
  make_b(&s, 1, 0);
  memset(xs, 0, sizeof xs);
  memset(ys, 0, sizeof ys);
  CHECK_OK(context, solve(&s, &(ts_solver_desc){.fixed_iterations = 11}, xs, &result));
  CHECK_INT(result.reason, TS_REASON_FIXED_ITERATIONS);
  CHECK_INT(result.iterations, 11);
  CHECK_INT(solve(&s, &(ts_solver_desc){.max_iterations = 11, .rtol = 1e-12}, ys, &result), TS_NOT_CONVERGED);
  const double found = residual(&s, xs, 0, NULL);
  CHECK(found < 0.5);
  CHECK_CLOSE(residual(&s, ys, 0, NULL), found, 1e-2 * found);
}

/* A preconditioner that is not positive definite. */
static void negative_preconditioner(void) {
  static system_t s;
  if (test_is_multi()) return; /* operators and functions belong to one device */
  make_saddle(&s, 20, 5, 1);
  make_b(&s, 1, 0);
  const ts_csr csr = ts_host_csr(s.rows, s.rows, s.offsets, s.columns, s.values);
  ts_matrix *A = NULL;
  ts_result result;
  double xs[MOST_ROWS] = {0};
  REQUIRE_OK(context, ts_matrix_create(context, &(ts_matrix_desc){.csr = csr}, &A));
  ts_preconditioner *M = make_preconditioner(
      A, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_CUSTOM, .apply = reverse_sign, .symmetric = 1});
  const ts_solver_desc desc = {.method = TS_METHOD_MINRES, .preconditioner = M};
  const size_t rows = (size_t)s.rows;
  CHECK_INT(ts_solve(A, ts_host(s.bs, rows), ts_host(xs, rows), &desc, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_INDEFINITE);
  CHECK_CONTAINS(result.message, "preconditioner is not positive definite");
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
}

TEST_MAIN(CASES_IN_CONTEXT(solved, small, scales, incompatible, chosen, reasons, fixed,
                           negative_preconditioner))
