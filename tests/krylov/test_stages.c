/* Auto in stages: the order of the stages and what is reported about them. A request by the user disables
 * stages. Solutions are checked by b - A x in long double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/core.h"
#include "direct_samples.h"
#include "krylov_solve.h"

static ts_context *context;

typedef struct outcome {
  ts_status status;
  ts_result result;
  double residual; /* ||b - A x|| / ||b|| */
  double gradient; /* ||A^T r|| / (||A|| ||r||) with the Frobenius norm; NAN if x is not finite */
  int stages;
  ts_method first, last;
} outcome;

static double *right_hand_side(const direct_sample *s) {
  double *b = malloc((size_t)s->n * sizeof *b);
  for (int i = 0; i < s->n; i++) b[i] = ldexp(1 + 0.37 * ((i * 29) % 17), direct_row_exponent(s, i));
  return b;
}

static void read_stages(const ts_solver *solver, outcome *out) {
  ts_stage_info info = {.iterations = -1};
  int iterations = 0;
  out->stages = ts_solver_get_stage_count(solver);
  for (int i = 0; i < out->stages; i++) {
    CHECK_OK(context, ts_solver_get_stage(solver, i, &info));
    CHECK(info.choice && info.message && info.iterations >= 0);
    iterations += info.iterations;
    if (i == 0) out->first = info.method;
    out->last = info.method;
  }
  if (out->stages) CHECK(iterations == out->result.iterations && info.method == out->result.method);
  if (out->stages)
    CHECK(info.reason == out->result.reason && info.message && !strcmp(info.message, out->result.message));
}

static double gradient_of(const direct_sample *s, const double *x, const double *b) {
  long double sum = 0, residual = 0, size = 0;
  long double *r = malloc((size_t)s->n * sizeof *r);
  for (int i = 0; i < s->n; i++) {
    r[i] = b[i];
    for (int j = 0; j < s->n; j++) r[i] -= (long double)s->dense[i * s->n + j] * x[j];
    residual += r[i] * r[i];
  }
  for (int j = 0; j < s->n; j++) {
    long double g = 0;
    for (int i = 0; i < s->n; i++) {
      g += s->dense[i * s->n + j] * r[i];
      size += (long double)s->dense[i * s->n + j] * s->dense[i * s->n + j];
    }
    sum += g * g;
  }
  free(r);
  return (double)sqrtl(sum / size / residual);
}

static outcome run(ts_solver *solver, const direct_sample *s, const ts_matrix *A) {
  outcome out = {0};
  double *bs = right_hand_side(s);
  ts_vector *b = NULL, *x = NULL;
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), NULL, &b));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), NULL, &x));
  CHECK_OK(context, ts_vector_write(b, ts_host(bs, (size_t)s->n)));
  out.status = ts_solver_solve(solver, b, x, &out.result);
  double *xs = read_doubles(x);
  out.residual = direct_residual(s, 1, xs, bs);
  out.gradient = gradient_of(s, xs, bs);
  read_stages(solver, &out);
  free(bs), free(xs);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  return out;
}

static outcome solve(const direct_sample *s, const ts_solver_desc *desc) {
  ts_matrix *A = direct_matrix(context, s, 0);
  ts_solver *solver = NULL;
  CHECK_OK(context, ts_solver_create(A, desc, &solver));
  const outcome out = run(solver, s, A);
  ts_solver_destroy(&solver);
  ts_matrix_destroy(&A);
  return out;
}

static double tolerance(void) {
  return context->caps.pairs ? 1e-10 : 1e-4;
}

/* Every family is solved, and a status of TS_OK is true. */
static void families(void) {
  if (!direct_is_built()) return;
  for (int family = 0; family < DIRECT_FAMILIES; family++) {
    direct_sample s = direct_make(family, 50);
    if (!context->caps.pairs && family == DIRECT_UNITS) continue;
    test_context_label("family %d", family);
    const outcome out = solve(&s, &(ts_solver_desc){.rtol = tolerance()});
    CHECK_INT(out.status, TS_OK);
    if (!CHECK(out.residual <= tolerance())) printf("  %g after %d stages\n", out.residual, out.stages);
    CHECK(out.stages >= 1);
    direct_free(&s);
  }
}

/* A symmetric matrix with a positive diagonal that is not positive definite: cg detects it, and minres
 * continues. */
static void cg_becomes_minres(void) {
  direct_hide("/nonexistent");
  double *dense = calloc((size_t)40 * 40, sizeof *dense);
  for (int i = 0; i < 40; i += 2) {
    dense[i * 40 + i] = dense[(i + 1) * 40 + i + 1] = 1 + 0.01 * i;
    dense[i * 40 + i + 1] = dense[(i + 1) * 40 + i] = 3;
  }
  direct_sample s = direct_of(40, dense);
  const outcome out = solve(&s, &(ts_solver_desc){.rtol = 1e-4});
  CHECK_INT(out.status, TS_OK);
  CHECK(out.residual <= 1e-4 && out.stages == 2);
  CHECK(out.first == TS_METHOD_CG && out.last == TS_METHOD_MINRES);
  direct_free(&s);
}

/* The fourth difference: its condition grows as n^4, and cg needs many times n iterations. */
static direct_sample fourth_difference(int n) {
  static const double row[] = {6, -4, 1};
  double *dense = calloc((size_t)n * (size_t)n, sizeof *dense);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (abs(i - j) < 3) dense[i * n + j] = row[abs(i - j)];
  return direct_of(n, dense);
}

static void slow_becomes_direct(void) {
  if (!direct_is_built() || !context->caps.pairs) return;
  direct_sample s = fourth_difference(100);
  const double iteration = context->tuning.iteration_nanoseconds;
  if (iteration > 0) CHECK_OK(context, ts_context_set_tuning(context, "iteration_nanoseconds", 1e5));
  const outcome out = solve(&s, &(ts_solver_desc){.rtol = 1e-8, .check_interval = 8});
  if (iteration > 0) CHECK_OK(context, ts_context_set_tuning(context, "iteration_nanoseconds", iteration));
  CHECK_INT(out.status, TS_OK);
  CHECK(out.residual <= 1e-8);
  CHECK(out.first == TS_METHOD_CG && out.stages == 2 && out.last == TS_METHOD_RICHARDSON);
  CHECK(out.result.iterations < 100);
  direct_free(&s);
}

/* Unsymmetric, with rows i and i + 1 equal for one i but b different: a least-squares x exists, but not a
 * solution. */
static void singular(void) {
  enum { N = 30 };
  if (!direct_is_built() || !context->caps.pairs) return;
  double *dense = calloc((size_t)N * N, sizeof *dense);
  for (int i = 0; i < N; i++) {
    dense[i * N + i] = 4;
    dense[i * N + (i + 1) % N] = -1 - 0.1 * (i % 3);
    dense[i * N + (i + 7) % N] = 0.5;
  }
  memcpy(dense + (size_t)11 * N, dense + (size_t)10 * N, N * sizeof *dense);
  direct_sample s = direct_of(N, dense);
  const outcome out = solve(&s, &(ts_solver_desc){.rtol = 1e-9});
  CHECK_INT(out.status, TS_NOT_CONVERGED);
  CHECK(out.result.reason == TS_REASON_INCOMPATIBLE && out.last == TS_METHOD_LSMR);
  /* The solution satisfies the mean of rows 10 and 11. */
  double *b = right_hand_side(&s), norm = 0;
  for (int i = 0; i < N; i++) norm = hypot(norm, b[i]);
  const double least = fabs(b[10] - b[11]) / sqrt(2) / norm;
  CHECK(fabs(out.residual - least) <= 1e-6 * least);
  CHECK(fabs(out.result.incompatible - least) <= 1e-4 * least);
  free(b);
  direct_free(&s);
}

/* The product of random matrices of small integers, n x rank and rank x n. In the symmetric case the second one
 * is the transpose of the first. */
static double *low_rank(size_t n, size_t rank, int is_symmetric, uint64_t seed) {
  double *left = ref_doubles(n * rank, seed, -2.5, 2.5), *other = ref_doubles(n * rank, seed + 100, -2.5, 2.5),
         *dense = calloc(n * n, sizeof *dense);
  const double *right = is_symmetric ? left : other;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      for (size_t k = 0; k < rank; k++)
        dense[i * n + j] += rint(left[i * rank + k]) * rint(right[j * rank + k]);
  free(left), free(other);
  return dense;
}

/* Sparse, with a dominant diagonal of both signs, but column 0 and row n / 2 are empty. */
static double *with_empty_lines(size_t n, uint64_t seed) {
  double *dense = ref_doubles(n * n, seed, -0.5, 0.5);
  for (size_t i = 0; i < n; i++) {
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += fabs(dense[i * n + j] *= fabs(dense[i * n + j]) > 0.475);
    dense[i * n + i] = (i % 3 ? 1 : -1) * (1.05 * sum + 0.1);
  }
  for (size_t i = 0; i < n; i++) dense[i * n] = dense[n / 2 * n + i] = 0;
  return dense;
}

/* b has a part outside the range of A: the last stage reaches the smallest residual, regardless of its
 * start. */
static void least_squares(void) {
  if (!direct_is_built() || !context->caps.pairs) return;
  double *const singular_ones[] = {low_rank(17, 8, 1, 11), low_rank(17, 15, 0, 9), with_empty_lines(77, 1)};
  const int sizes[] = {17, 17, 77};
  for (int i = 0; i < 3; i++) {
    direct_sample s = direct_of(sizes[i], singular_ones[i]);
    test_context_label("matrix %d", i);
    const outcome out = solve(&s, &(ts_solver_desc){.rtol = 1e-9});
    CHECK_INT(out.status, TS_NOT_CONVERGED);
    CHECK(out.result.reason == TS_REASON_INCOMPATIBLE && out.last == TS_METHOD_LSMR);
    if (!CHECK(out.gradient <= 1e-7)) printf("  %g\n", out.gradient);
    CHECK(fabs(out.result.incompatible - out.residual) <= 1e-6 * out.residual);
    direct_free(&s);
  }
}

/* Central differences of a strong wind on n x n points: nearly skew-symmetric. */
static ref_matrix wind(int32_t n, float peclet) {
  ref_matrix m = ref_convection(n, n, 1);
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++) {
      const int32_t step = m.indices[e] - i;
      const float along = step == 1 || step == -1 ? peclet : 0.5F * peclet;
      m.values[e] = step == 0 ? 4 : step > 0 ? along - 1 : -along - 1;
    }
  return m;
}

/* With incomplete factors, whose pivots must be replaced here, idr and gmres break down. Without them gmres
 * solves the system. */
static void without_factors(void) {
  if (!test_is_cpu() || test_is_brief() || test_is_ranks() || test_is_multi()) return;
  direct_hide("/nonexistent");
  ref_matrix m = wind(110, 150);
  const size_t n = (size_t)m.rows;
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  float *ones = malloc(n * sizeof *ones), *zeros = calloc(n, sizeof *zeros);
  for (size_t i = 0; i < n; i++) ones[i] = 1;
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), 1, ones),
            *x = make_vector(ts_matrix_get_row_space(A), 1, zeros);
  ts_solver *solver = NULL;
  ts_result result;
  outcome out = {0};
  CHECK_OK(context, ts_solver_create(A, &(ts_solver_desc){.rtol = 1e-4}, &solver));
  CHECK_OK(context, ts_solver_solve(solver, b, x, &result));
  out.result = result;
  read_stages(solver, &out);
  CHECK_INT(out.stages, 3);
  CHECK_INT(out.first, TS_METHOD_IDR);
  CHECK_INT(out.last, TS_METHOD_GMRES);
  CHECK(result.restart > 30);
  ts_preconditioner_info info;
  CHECK_OK(context, ts_preconditioner_get_info(ts_solver_get_preconditioner(solver), &info));
  CHECK_INT(info.kind, TS_PRECONDITIONER_JACOBI);
  float *xs = read_vector(x);
  CHECK(ref_worst_residual(&m, NULL, 1, xs, ones) <= 1.05e-4);
  free(ones), free(zeros), free(xs);
  ts_solver_destroy(&solver);
  ts_vector_destroy(&b), ts_vector_destroy(&x);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* The solver's next solve begins with the stage that solved the system, even after new values. */
static void later_solves(void) {
  if (!direct_is_built() || !context->caps.pairs) return;
  direct_sample s = direct_make(DIRECT_ZERO_DIAGONAL, 50);
  ts_matrix *A = direct_matrix(context, &s, 0);
  ts_solver *solver = NULL;
  CHECK_OK(context, ts_solver_create(A, &(ts_solver_desc){.rtol = 1e-10}, &solver));
  CHECK(ts_solver_get_stage_count(solver) == 0);
  outcome out = run(solver, &s, A);
  CHECK_INT(out.status, TS_OK);
  const ts_method last = out.last;
  direct_scale(&s, 3);
  const ts_csr csr = ts_host_csr(s.n, s.n, s.offsets, s.columns, s.values);
  CHECK_OK(context, ts_matrix_set_values(A, &csr));
  out = run(solver, &s, A);
  CHECK_INT(out.status, TS_OK);
  CHECK(out.stages == 1 && out.last == last && out.residual <= 1e-10);
  ts_stage_info info;
  CHECK_INT(ts_solver_get_stage(solver, 1, &info), TS_ERROR_INVALID_ARGUMENT);
  CHECK_INT(ts_solver_get_stage(solver, -1, &info), TS_ERROR_INVALID_ARGUMENT);
  CHECK_INT(ts_solver_get_stage(solver, 0, NULL), TS_ERROR_INVALID_ARGUMENT);
  ts_solver_destroy(&solver);
  ts_matrix_destroy(&A);
  direct_free(&s);
}

/* All stages share max_iterations, and the callback's iteration count continues over all stages. */
static void budget(void) {
  direct_hide("/nonexistent");
  direct_sample s = direct_make(DIRECT_INDEFINITE, 50);
  watch w = {0};
  const ts_solver_desc desc = {.rtol = 1e-13, .max_iterations = 30, .progress = observe, .progress_user = &w};
  const outcome out = solve(&s, &desc);
  CHECK(out.result.iterations <= 30);
  CHECK(w.calls > 0 && w.last_iteration <= 30);
  w = (watch){.stop_at = 2};
  const outcome stopped = solve(&s, &desc);
  CHECK_INT(stopped.status, TS_NOT_CONVERGED);
  CHECK(stopped.result.reason == TS_REASON_STOPPED && stopped.stages == 1);
  direct_free(&s);
}

/* A requested method or preconditioner disables stages. */
static void only_what_was_asked_for(void) {
  direct_sample s = direct_make(DIRECT_INDEFINITE, 50);
  const ts_solver_desc asked[] = {
      {.method = TS_METHOD_CG}, {.preconditioner_kind = TS_PRECONDITIONER_JACOBI}, {.fixed_iterations = 3}};
  for (int i = 0; i < 3; i++) CHECK(solve(&s, &asked[i]).stages == 0);
  CHECK(ts_solver_get_stage_count(NULL) == 0);
  direct_free(&s);
}

/* ts_solve with more columns than one group holds. */
static void columns(void) {
  enum { N = 50, COLUMNS = 6 };
  if (!direct_is_built() || !context->caps.pairs) return;
  direct_sample s = direct_make(DIRECT_ZERO_DIAGONAL, N);
  ts_matrix *A = direct_matrix(context, &s, 0);
  double *b = ref_doubles((size_t)N * COLUMNS, 3, -1, 1), *x = calloc((size_t)N * COLUMNS, sizeof *x);
  ts_result result;
  CHECK_OK(context, ts_solve(A, ts_host(b, (size_t)N * COLUMNS), ts_host(x, (size_t)N * COLUMNS),
                             &(ts_solver_desc){.rtol = 1e-10}, &result));
  CHECK(direct_residual(&s, COLUMNS, x, b) <= 1e-10);
  free(b), free(x);
  ts_matrix_destroy(&A);
  direct_free(&s);
}

TEST_MAIN(CASES_IN_CONTEXT(families, cg_becomes_minres, slow_becomes_direct, singular, least_squares,
                           without_factors, later_solves, budget, only_what_was_asked_for, columns))
