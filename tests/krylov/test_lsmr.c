/* LSMR: least squares of tall, wide and rank-deficient matrices. Checked by A^T (b - A x) in long double, and
 * by the shortest solution if there are several. */
#include <texsolve/solver.h>

#include "common/core/backend.h"
#include "dense.h"
#include "helpers.h"

enum { MOST_ROWS = 160, MOST_COLUMNS = 120, COMPONENTS = 4 };

static ts_context *context;

/* A matrix in doubles and b. If `is_dense`, zeros are stored too. */
typedef struct problem {
  int rows, columns, components;
  int32_t offsets[MOST_ROWS + 1], indices[MOST_ROWS * MOST_COLUMNS];
  double values[MOST_ROWS * MOST_COLUMNS], bs[COMPONENTS * MOST_ROWS];
} problem;

/* Converts a full matrix without its zeros. */
static void fill_problem(problem *p, int rows, int columns, const double *a) {
  int32_t count = 0;
  p->rows = rows;
  p->columns = columns;
  p->offsets[0] = 0;
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns; j++) {
      if (a[i * columns + j] == 0) continue;
      p->indices[count] = j;
      p->values[count++] = a[i * columns + j];
    }
    p->offsets[i + 1] = count;
  }
}

/* A random matrix with `per_row` entries per row and columns of different sizes. */
static void make_random(problem *p, int rows, int columns, int per_row, double scale) {
  double *const a = calloc((size_t)(rows * columns), sizeof *a);
  ref_random random = {7};
  for (int i = 0; i < rows; i++) {
    a[i * columns + i % columns] = 2 * scale;
    for (int k = 0; k < per_row; k++) {
      const int j = ref_below(&random, columns);
      a[i * columns + j] = (double)ref_uniform(&random, -1, 1) * scale * (j % 3 ? 1 : 10);
    }
  }
  fill_problem(p, rows, columns, a);
  free(a);
}

/* The product of two random matrices, which has rank `rank`. */
static void make_deficient(problem *p, int rows, int columns, int rank) {
  double *const left = ref_doubles((size_t)(rows * rank), 3, -1, 1),
                *const right = ref_doubles((size_t)(rank * columns), 4, -1, 1),
                *const a = calloc((size_t)(rows * columns), sizeof *a);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      for (int k = 0; k < rank; k++) a[i * columns + j] += left[i * rank + k] * right[k * columns + j];
  fill_problem(p, rows, columns, a);
  free(left), free(right), free(a);
}

static void make_b(problem *p, int components) {
  double *const bs = ref_doubles((size_t)(p->rows * components), 9, -1, 1);
  p->components = components;
  memcpy(p->bs, bs, (size_t)(p->rows * components) * sizeof *bs);
  free(bs);
}

/* || A^T (b - A x) || / || A^T b || of one component. */
static double gradient(const problem *p, const double *xs, int c) {
  long double of_r[MOST_COLUMNS] = {0}, of_b[MOST_COLUMNS] = {0}, above = 0, below = 0;
  for (int i = 0; i < p->rows; i++) {
    const long double b = p->bs[i * p->components + c];
    long double r = b;
    for (int32_t k = p->offsets[i]; k < p->offsets[i + 1]; k++)
      r -= (long double)p->values[k] * (long double)xs[p->indices[k] * p->components + c];
    for (int32_t k = p->offsets[i]; k < p->offsets[i + 1]; k++) {
      of_r[p->indices[k]] += (long double)p->values[k] * r;
      of_b[p->indices[k]] += (long double)p->values[k] * b;
    }
  }
  for (int j = 0; j < p->columns; j++) {
    above += of_r[j] * of_r[j];
    below += of_b[j] * of_b[j];
  }
  return (double)sqrtl(above / below);
}

/* Solves from the content of `xs` and replaces it by x. */
static ts_status solve(const problem *p, const ts_solver_desc *given, double *xs, ts_result *result) {
  const ts_csr csr = ts_host_csr(p->rows, p->columns, p->offsets, p->indices, p->values);
  ts_solver_desc desc = *given;
  ts_matrix *A = NULL;
  if (!desc.method) desc.method = TS_METHOD_LSMR;
  if (!CHECK_OK(context, ts_matrix_create(context, &(ts_matrix_desc){.csr = csr}, &A))) return TS_OK;
  const ts_status status = ts_solve(A, ts_host(p->bs, (size_t)(p->rows * p->components)),
                                    ts_host(xs, (size_t)(p->columns * p->components)), &desc, result);
  ts_matrix_destroy(&A);
  return status;
}

static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_NONE, TS_PRECONDITIONER_JACOBI};

static void solved(void) {
  static problem p;
  static double xs[COMPONENTS * MOST_COLUMNS];
  int turn = 0;
  for (int shape = 0; shape < 4; shape++)
    for (int precision = TS_PRECISION_AUTO; precision <= TS_PRECISION_DOUBLE; precision++) {
      ts_result result;
      if (precision > TS_PRECISION_SINGLE && !context->caps.pairs) continue;
      if (test_is_brief() && turn++ % 2) continue;
      if (shape == 0) make_random(&p, 160, 40, 4, 1);
      if (shape == 1) make_random(&p, 60, 120, 5, 1);
      /* The condition is 3e4, or 50 for mixed precision: corrections in single precision cannot handle the
       * square of 3e4. */
      if (shape == 2) make_random(&p, 50, 50, precision == TS_PRECISION_MIXED ? 1 : 4, 1);
      if (shape == 3) make_deficient(&p, 60, 40, 15);
      make_b(&p, 1 + (shape + precision) % COMPONENTS);
      const ts_preconditioner_kind kind = kinds[(shape + precision) % 2];
      const double rtol = precision == TS_PRECISION_SINGLE || !context->caps.pairs ? 1e-4
                          : precision == TS_PRECISION_MIXED                        ? 1e-6
                                                                                   : 1e-9;
      const ts_solver_desc desc = {.preconditioner_kind = kind,
                                   .precision = (ts_precision)precision,
                                   .max_iterations = 4000,
                                   .rtol = rtol};
      test_context_label("shape %d, %s, %s", shape, ts_preconditioner_kind_name(kind),
                         ts_precision_name((ts_precision)precision));
      memset(xs, 0, sizeof xs);
      CHECK_OK(context, solve(&p, &desc, xs, &result));
      for (int c = 0; c < p.components; c++) {
        const double found = gradient(&p, xs, c);
        if (!(found <= 1.1 * rtol))
          test_fail(__FILE__, __LINE__, "component %d: %.3g after %d iterations", c, found, result.iterations);
      }
    }
}

/* Few unknowns, for which the residual in single precision may be 0 by chance. */
static void few_unknowns(void) {
  static problem p;
  const ts_method methods[] = {TS_METHOD_CGLS, TS_METHOD_LSMR};
  const double rtol = context->caps.pairs ? 1e-10 : 1e-5;
  int converged = 0, all = 0;
  for (uint64_t seed = 1; seed <= (test_is_brief() ? 30 : 200); seed++)
    for (int k = 0; k < 4; k++, all++) {
      const int rows = 2 + (int)(seed % 4), columns = 1 + (int)(seed / 4 % 2);
      double *const a = ref_doubles((size_t)(rows * columns), seed, -1, 1), xs[2] = {0};
      const ts_solver_desc desc = {
          .method = methods[k / 2], .preconditioner_kind = kinds[k % 2], .rtol = rtol, .max_iterations = 100};
      ts_result result;
      fill_problem(&p, rows, columns, a);
      free(a);
      make_b(&p, 1);
      test_context_label("seed %d, %s, %s", (int)seed, ts_method_name(desc.method),
                         ts_preconditioner_kind_name(desc.preconditioner_kind));
      const ts_status status = solve(&p, &desc, xs, &result);
      CHECK(status == TS_OK || status == TS_NOT_CONVERGED);
      if (status != TS_OK) continue;
      converged++;
      const double found = gradient(&p, xs, 0);
      if (!(found <= 1.1 * rtol)) test_fail(__FILE__, __LINE__, "%.3g", found);
    }
  CHECK(converged > all * 9 / 10);
}

/* More unknowns than equations, and A of low rank: from 0 the solution is x = A^T y. */
static void shortest(void) {
  enum { ROWS = 7, COLUMNS = 40 };
  static problem p;
  double *const a = ref_doubles(ROWS * COLUMNS, 3, -1, 1), square[ROWS * ROWS] = {0}, y[ROWS],
                xs[COLUMNS] = {0};
  ts_result result;
  fill_problem(&p, ROWS, COLUMNS, a);
  make_b(&p, 1);
  const ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_NONE, .rtol = 1e-5};
  CHECK_OK(context, solve(&p, &desc, xs, &result));
  CHECK(result.reduction < 1e-4); /* b is reached */
  for (int i = 0; i < ROWS; i++) {
    y[i] = p.bs[i];
    for (int j = 0; j < ROWS; j++)
      for (int k = 0; k < COLUMNS; k++) square[ROWS * i + j] += a[COLUMNS * i + k] * a[COLUMNS * j + k];
  }
  CHECK(dense_eliminate(ROWS, 1, square, y));
  for (int k = 0; k < COLUMNS; k++) {
    double x = 0;
    for (int i = 0; i < ROWS; i++) x += a[COLUMNS * i + k] * y[i];
    CHECK_CLOSE(xs[k], x, 1e-4);
  }
  free(a);
}

/* A single row, column or entry, and matrices far from 1. */
static void small_and_far(void) {
  static const double ones[] = {3, 0, 4};
  static problem p;
  double xs[MOST_COLUMNS] = {0};
  ts_result result;
  fill_problem(&p, 1, 1, ones);
  make_b(&p, 1);
  CHECK_OK(context, solve(&p, &(ts_solver_desc){0}, xs, &result));
  CHECK_CLOSE(xs[0], p.bs[0] / 3, 1e-5);
  fill_problem(&p, 3, 1, ones);
  make_b(&p, 1);
  xs[0] = 0;
  CHECK_OK(context, solve(&p, &(ts_solver_desc){0}, xs, &result));
  CHECK_CLOSE(xs[0], (3 * p.bs[0] + 4 * p.bs[2]) / 25, 1e-5);
  fill_problem(&p, 1, 3, ones);
  make_b(&p, 1);
  xs[0] = 0;
  CHECK_OK(context, solve(&p, &(ts_solver_desc){.preconditioner_kind = TS_PRECONDITIONER_NONE}, xs, &result));
  CHECK_CLOSE(xs[2], 4 * p.bs[0] / 25, 1e-5);
  CHECK_CLOSE(xs[0], 3 * p.bs[0] / 25, 1e-5);
  for (int power = -300; power <= 300 && context->caps.pairs; power += 300) {
    make_random(&p, 60, 20, 4, ldexp(1, power));
    make_b(&p, 1);
    memset(xs, 0, sizeof xs);
    test_context_label("2^%d", power);
    CHECK_OK(context, solve(&p, &(ts_solver_desc){.rtol = 1e-7}, xs, &result));
    CHECK(gradient(&p, xs, 0) <= 1.1e-7);
  }
}

/* Auto chooses lsmr if a matrix is not square. With fixed iterations ||A^T r|| decreases as in a solve with
 * that maximum. */
static void chosen_and_fixed(void) {
  static problem p;
  double xs[MOST_COLUMNS] = {0}, ys[MOST_COLUMNS] = {0};
  ts_result result;
  make_random(&p, 160, 40, 4, 1);
  make_b(&p, 1);
  const ts_csr csr = ts_host_csr(p.rows, p.columns, p.offsets, p.indices, p.values);
  ts_matrix *A = NULL;
  REQUIRE_OK(context, ts_matrix_create(context, &(ts_matrix_desc){.csr = csr}, &A));
  CHECK_OK(context, ts_solve(A, ts_host(p.bs, 160), ts_host(xs, 40), NULL, &result));
  CHECK_INT(result.method, TS_METHOD_LSMR);
  CHECK(gradient(&p, xs, 0) <= 1.1e-5);
  ts_matrix_destroy(&A);
  memset(xs, 0, sizeof xs);
  CHECK_OK(context, solve(&p, &(ts_solver_desc){.fixed_iterations = 9}, xs, &result));
  CHECK_INT(result.iterations, 9);
  CHECK_INT(solve(&p, &(ts_solver_desc){.max_iterations = 9, .rtol = 1e-12}, ys, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_MAX_ITERATIONS);
  const double found = gradient(&p, xs, 0);
  CHECK(found < 0.5);
  CHECK_CLOSE(gradient(&p, ys, 0), found, 1e-2 * found);
}

static void reasons(void) {
  static problem p;
  double xs[MOST_COLUMNS] = {0};
  ts_result result;
  make_random(&p, 160, 40, 4, 1);
  make_b(&p, 1);
  const ts_solver_desc beyond = {.precision = TS_PRECISION_SINGLE, .rtol = 1e-13};
  CHECK_INT(solve(&p, &beyond, xs, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_STAGNATED);
  CHECK(gradient(&p, xs, 0) < 1e-5);
  memset(p.bs, 0, sizeof p.bs);
  CHECK_OK(context, solve(&p, &(ts_solver_desc){.zero_start = 1}, xs, &result));
  CHECK_INT(result.reason, TS_REASON_ZERO_RESIDUAL);
}

TEST_MAIN(CASES_IN_CONTEXT(solved, few_unknowns, shortest, small_and_far, chosen_and_fixed, reasons))
