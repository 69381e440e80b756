/* IDR(s): systems that BiCGSTAB does not solve, every precision, components, fixed iterations, equal shadow
 * vectors on all backends, and breakdowns. Tests shared with bicgstab and gmres are in test_krylov.c and
 * test_krylov_reasons.c. */
#include <math.h>

#include "common/core/core.h"
#include "krylov_solve.h"

static ts_context *context;

/* Solves from 0 with b = 1. */
static ts_status solve_ones(ts_context *of, const ref_matrix *m, const ts_solver_desc *desc, double *residual,
                            ts_result *result) {
  const size_t n = (size_t)m->rows;
  ts_matrix *matrix = make_matrix(of, m, TS_FORMAT_AUTO);
  float *ones = malloc(n * sizeof *ones), *xs = calloc(n, sizeof *xs);
  for (size_t i = 0; i < n; i++) ones[i] = 1;
  ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 1, ones),
            *x = make_vector(ts_matrix_get_row_space(matrix), 1, xs);
  ts_solver *solver = NULL;
  CHECK_OK(of, create_solver(matrix, desc->method, desc, &solver));
  const ts_status status = ts_solver_solve(solver, b, x, result);
  float *found = read_vector(x);
  *residual = ref_relative_residual(m, NULL, 1, 0, found, ones);
  free(ones), free(xs), free(found);
  ts_solver_destroy(&solver);
  ts_vector_destroy(&b), ts_vector_destroy(&x);
  ts_matrix_destroy(&matrix);
  return status;
}

static void check_solved(const char *name, ref_matrix m, const ts_solver_desc *desc, int most) {
  ts_result result;
  double residual;
  test_context_label("%s", name);
  CHECK_OK(context, solve_ones(context, &m, desc, &residual, &result));
  CHECK_INT(result.reason, TS_REASON_CONVERGED);
  CHECK(residual <= 1.05e-5);
  if (result.iterations > most) test_fail(__FILE__, __LINE__, "%d iterations", result.iterations);
  ref_free(&m);
}

/* Spectra on the imaginary axis or close to it, for which bicgstab breaks down or exceeds the maximum number of
 * iterations. */
static void skew(void) {
  if (!context->caps.pairs) return;
  const ts_solver_desc idr = {.method = TS_METHOD_IDR, .preconditioner_kind = TS_PRECONDITIONER_NONE},
                       bicgstab = {.method = TS_METHOD_BICGSTAB, .preconditioner_kind = TS_PRECONDITIONER_NONE};
  static const float shifts[] = {0, 0.01F};
  for (int k = 0; k < 2; k++) {
    ref_matrix m = ref_shifted_skew(60, shifts[k]);
    ts_result result;
    double residual;
    test_context_label("bicgstab, shift %g", (double)shifts[k]);
    CHECK_INT(solve_ones(context, &m, &bicgstab, &residual, &result), TS_NOT_CONVERGED);
    CHECK(residual > 0.1);
    ref_free(&m);
  }
  check_solved("skew-symmetric", ref_skew(60), &idr, 250);
  check_solved("nearly skew-symmetric", ref_shifted_skew(60, 0.01F), &idr, 250);
  check_solved("two unknowns", ref_skew(2), &idr, 3);
  if (!test_is_brief()) check_solved("1000 unknowns", ref_shifted_skew(1000, 0.1F), &idr, 2500);
}

/* Auto uses double precision. The other precisions are used as requested and need more iterations. */
static void precisions(void) {
  ref_matrix m = ref_convection(20, 15, 1);
  for (int precision = 0; precision < (context->caps.pairs ? 4 : 1); precision++) {
    const ts_solver_desc desc = {.method = TS_METHOD_IDR,
                                 .precision = (ts_precision)precision,
                                 .preconditioner_kind = TS_PRECONDITIONER_JACOBI,
                                 .rtol = 1e-4};
    ts_result result;
    double residual;
    test_context_label("%s", ts_precision_name(desc.precision));
    CHECK_OK(context, solve_ones(context, &m, &desc, &residual, &result));
    CHECK(residual <= 1.05e-4);
    const ts_precision expected = precision             ? (ts_precision)precision
                                  : context->caps.pairs ? TS_PRECISION_DOUBLE
                                                        : TS_PRECISION_SINGLE;
    CHECK_INT(result.precision, expected);
    CHECK_INT(result.precision_iterations[expected], result.iterations);
  }
  ref_free(&m);
}

/* Components share the shadow vectors but have their own coefficients: each one is solved as if it were
 * alone. */
static void components(void) {
  enum { MOST = 4 };
  ref_matrix m = ref_convection(12, 11, 2);
  const size_t n = (size_t)m.rows;
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  float *bs = ref_values(MOST * n, 3, -1, 1);
  const ts_solver_desc desc = {
      .preconditioner_kind = TS_PRECONDITIONER_JACOBI, .check_interval = 1, .rtol = -1, .max_iterations = 18};
  for (int count = 1; count <= MOST; count++) {
    float *some = malloc(MOST * n * sizeof *some), *xs = calloc(MOST * n, sizeof *xs);
    const size_t of = (size_t)count;
    for (size_t i = 0; i < n; i++)
      for (size_t c = 0; c < of; c++) some[i * of + c] = bs[i * MOST + c];
    ts_result result;
    test_context_label("%d components", count);
    CHECK_INT(krylov_solve(TS_METHOD_IDR, matrix, &desc, count, some, xs, &result), TS_NOT_CONVERGED);
    CHECK(ref_worst_residual(&m, NULL, count, xs, some) < 0.5);
    free(some), free(xs);
  }
  free(bs);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* The CPU generates the same shadow vectors, so residuals differ only by rounding. */
static void same_shadows(void) {
  if (!context->caps.pairs || test_is_ranks()) return; /* each rank generates the vectors of its rows */
  ts_context *cpu = NULL;
  REQUIRE_OK(NULL, ts_context_create(&(ts_context_desc){.backend = "cpu"}, &cpu));
  ref_matrix m = ref_convection(21, 17, 1);
  const ts_solver_desc desc = {.method = TS_METHOD_IDR,
                               .preconditioner_kind = TS_PRECONDITIONER_JACOBI,
                               .check_interval = 1,
                               .rtol = -1,
                               .max_iterations = 27};
  ts_result here, there;
  double residual;
  CHECK_INT(solve_ones(context, &m, &desc, &residual, &here), TS_NOT_CONVERGED);
  CHECK_INT(solve_ones(cpu, &m, &desc, &residual, &there), TS_NOT_CONVERGED);
  CHECK_CLOSE(here.relative_residual, there.relative_residual, 1e-3 * there.relative_residual);
  ref_free(&m);
  ts_context_destroy(&cpu);
}

/* The only synchronisation is one per round of nine products. */
static void fixed_iterations(void) {
  ref_matrix m = ref_random_dominant(300, 6, 3);
  for (int n = 8; n <= 36; n += 14) {
    const ts_solver_desc desc = {
        .method = TS_METHOD_IDR, .preconditioner_kind = TS_PRECONDITIONER_JACOBI, .fixed_iterations = n};
    ts_result result;
    double residual;
    test_context_label("%d", n);
    CHECK_OK(context, solve_ones(context, &m, &desc, &residual, &result));
    CHECK_INT(result.reason, TS_REASON_FIXED_ITERATIONS);
    CHECK_INT(result.iterations, n);
    CHECK_INT(result.host_synchronisations, n / 9);
    if (n > 30) CHECK(residual < 1e-3);
  }
  ref_free(&m);
}

/* A x = (x_1, 0) cannot produce any part of b = (0, 1): A r is orthogonal to r, and A A r is 0. New shadow
 * vectors do not help. All numbers stay finite. */
static void breakdown(void) {
  const ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_NONE};
  int32_t offsets[] = {0, 1, 1}, columns[] = {1};
  float values[] = {1}, bs[] = {0, 1}, xs[2] = {0};
  ts_matrix *matrix = NULL;
  const ts_matrix_desc how = {.csr = {.rows = 2,
                                      .columns = 2,
                                      .row_offsets = ts_host(offsets, 3),
                                      .column_indices = ts_host(columns, 1),
                                      .values = ts_host(values, 1)}};
  REQUIRE_OK(context, ts_matrix_create(context, &how, &matrix));
  ts_result result;
  CHECK_INT(krylov_solve(TS_METHOD_IDR, matrix, &desc, 1, bs, xs, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_BREAKDOWN);
  CHECK_CONTAINS(result.message, "breakdown of IDR in iteration");
  CHECK_INT(result.restarts, 4);
  CHECK_CLOSE(result.relative_residual, 1, 1e-6);
  CHECK(isfinite(xs[0]) && isfinite(xs[1]));
  ts_matrix_destroy(&matrix);
}

/* After a solve that changed its shadow vectors the next solve begins with the original ones, so the bits are
 * the same. */
static void first_shadows_again(void) {
  ref_matrix m = ref_skew(61); /* singular: one unknown has no partner */
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_NONE, .method = TS_METHOD_IDR};
  ts_space *space = ts_matrix_get_row_space(matrix);
  float *bs = ref_values(61, 5, 0, 1), zeros[61] = {0};
  ts_vector *b = make_vector(space, 1, bs), *x = make_vector(space, 1, zeros);
  ts_solver *solver = NULL;
  ts_result first, second;
  REQUIRE_OK(context, ts_solver_create(matrix, &desc, &solver));
  CHECK_INT(ts_solver_solve(solver, b, x, &first), TS_NOT_CONVERGED);
  CHECK(first.restarts > 0);
  CHECK_OK(context, ts_vector_fill(x, 0));
  CHECK_INT(ts_solver_solve(solver, b, x, &second), TS_NOT_CONVERGED);
  CHECK_INT(second.iterations, first.iterations);
  CHECK(second.relative_residual == first.relative_residual);
  free(bs);
  ts_solver_destroy(&solver);
  ts_vector_destroy(&b), ts_vector_destroy(&x);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

static const test_fixture fixture = {.context = &context};

TEST_MAIN(CASES_WITH(&fixture, skew, precisions, components, same_shadows, fixed_iterations, breakdown,
                     first_shadows_again))
