/* The solver object: the choice of the method, the rule of rtol and atol, a fixed number of iterations, fields
 * of other methods, and the reason in ts_last_error. */
#include "common/core/core.h"
#include "krylov_solve.h"

static ts_context *context;

static const ts_method square_methods[] = {TS_METHOD_CG, TS_METHOD_BICGSTAB, TS_METHOD_GMRES, TS_METHOD_IDR};
enum { SQUARE_METHODS = 4 };

/* A system and all that a solve needs. */
typedef struct fixture {
  ref_matrix reference, transposed_reference;
  ts_matrix *matrix, *transposed;
  float *bs;
  ts_vector *b, *x;
} fixture;

static fixture open_fixture(ref_matrix m) {
  fixture f = {
      .reference = m, .transposed_reference = ref_transpose(&m), .bs = ref_values((size_t)m.rows, 4, -1, 1)};
  f.matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const ts_matrix_desc transposed = {.csr = ref_csr(&f.transposed_reference),
                                     .row_space = ts_matrix_get_column_space(f.matrix),
                                     .column_space = ts_matrix_get_row_space(f.matrix),
                                     .keep_host_copy = 1};
  CHECK_OK(context, ts_matrix_create(context, &transposed, &f.transposed));
  f.b = make_vector(ts_matrix_get_row_space(f.matrix), 1, f.bs);
  f.x = make_vector(ts_matrix_get_column_space(f.matrix), 1, NULL);
  return f;
}

static void close_fixture(fixture *f) {
  ts_vector_destroy(&f->b);
  ts_vector_destroy(&f->x);
  ts_matrix_destroy(&f->matrix);
  ts_matrix_destroy(&f->transposed);
  ref_free(&f->reference);
  ref_free(&f->transposed_reference);
  free(f->bs);
}

static ts_status solve_fixture(fixture *f, ts_solver_desc desc, ts_result *result) {
  if (desc.method == TS_METHOD_CGLS) desc.transposed = f->transposed;
  CHECK_OK(context, ts_vector_fill(f->x, 0));
  return solve_vectors(f->matrix, f->b, f->x, &desc, result);
}

static double residual(const fixture *f) {
  float *xs = read_vector(f->x);
  const double r = ref_relative_residual(&f->reference, NULL, 1, 0, xs, f->bs);
  free(xs);
  return r;
}

static double norm_of_b(const fixture *f) {
  double sum = 0;
  for (int32_t i = 0; i < f->reference.rows; i++) sum += (double)f->bs[i] * (double)f->bs[i];
  return sqrt(sum);
}

static void method_auto(void) {
  ts_result result;
  fixture f = open_fixture(ref_grid(12, 9));
  CHECK_OK(context, solve_fixture(&f, (ts_solver_desc){0}, &result));
  CHECK_INT(result.method, TS_METHOD_CG);
  CHECK_OK(context, solve_fixture(&f, (ts_solver_desc){.transposed = f.transposed}, &result));
  CHECK_INT(result.method, TS_METHOD_LSMR);
  close_fixture(&f);
  f = open_fixture(ref_skewed_grid(12, 9));
  CHECK_OK(context, solve_fixture(&f, (ts_solver_desc){0}, &result));
  CHECK_INT(result.method, TS_METHOD_IDR); /* with factors */
  CHECK_OK(context,
           solve_fixture(&f, (ts_solver_desc){.preconditioner_kind = TS_PRECONDITIONER_JACOBI}, &result));
  CHECK_INT(result.method, TS_METHOD_BICGSTAB);
  close_fixture(&f);
}

/* ||b - A x|| <= max(rtol ||b||, atol). If rtol is negative, only atol applies. */
static void tolerances(void) {
  fixture f = open_fixture(ref_grid(23, 17));
  const double b = norm_of_b(&f);
  for (int k = 0; k < SQUARE_METHODS; k++) {
    const ts_method method = square_methods[k];
    ts_result loose, tight, absolute, alone;
    test_context_label("%s", ts_method_name(method));
    CHECK_OK(context,
             solve_fixture(&f, (ts_solver_desc){.method = method, .rtol = 1e-2, .check_interval = 1}, &loose));
    CHECK(residual(&f) <= 1e-2 && residual(&f) > 1e-4);
    CHECK_OK(context,
             solve_fixture(&f, (ts_solver_desc){.method = method, .rtol = 1e-5, .check_interval = 1}, &tight));
    CHECK(residual(&f) <= 1.01e-5 && tight.iterations > loose.iterations);
    CHECK_OK(context,
             solve_fixture(
                 &f, (ts_solver_desc){.method = method, .rtol = 1e-5, .atol = 1e-2 * b, .check_interval = 1},
                 &absolute));
    CHECK_INT(absolute.iterations, loose.iterations);
    CHECK_OK(
        context,
        solve_fixture(&f, (ts_solver_desc){.method = method, .rtol = -1, .atol = 1e-2 * b, .check_interval = 1},
                      &alone));
    CHECK_INT(alone.iterations, loose.iterations);
    /* Without either, a solve continues to the limit of the precision or to max_iterations. */
    ts_result none;
    CHECK_INT(solve_fixture(&f, (ts_solver_desc){.method = method, .rtol = -1, .max_iterations = 7}, &none),
              TS_NOT_CONVERGED);
    CHECK_INT(none.reason, TS_REASON_MAX_ITERATIONS);
    CHECK_INT(none.iterations, 7);
  }
  /* b and x of another scale: atol refers to the unscaled system. */
  for (int32_t i = 0; i < f.reference.rows; i++) f.bs[i] *= 1e-12f;
  CHECK_OK(context, ts_vector_write(f.b, ts_host(f.bs, (size_t)f.reference.rows)));
  ts_result small;
  CHECK_OK(context,
           solve_fixture(&f, (ts_solver_desc){.rtol = -1, .atol = 1e-14 * b, .check_interval = 1}, &small));
  CHECK(residual(&f) <= 1e-2 && residual(&f) > 1e-4);
  CHECK_OK(context,
           solve_fixture(&f, (ts_solver_desc){.rtol = -1, .atol = 2e-12 * b}, &small)); /* x = 0 meets it */
  CHECK_INT(small.iterations, 0);
  close_fixture(&f);
}

/* After n iterations x equals that of a solve with max_iterations = n. The only synchronisations are for the
 * columns of gmres and for the step of idr's round. */
static void fixed_iterations(void) {
  fixture f = open_fixture(ref_grid(23, 17));
  const size_t count = (size_t)f.reference.rows;
  const ts_method methods[] = {TS_METHOD_CG, TS_METHOD_BICGSTAB, TS_METHOD_GMRES, TS_METHOD_CGLS,
                               TS_METHOD_IDR};
  for (int k = 0; k < 5; k++) {
    ts_result fixed, limited;
    const ts_method method = methods[k];
    /* The residual of idr oscillates, and a solve with max_iterations returns its best x. */
    const int n = method == TS_METHOD_IDR ? 9 : 12;
    test_context_label("%s", ts_method_name(method));
    CHECK_INT(solve_fixture(
                  &f, (ts_solver_desc){.method = method, .rtol = -1, .max_iterations = n, .check_interval = 1},
                  &limited),
              TS_NOT_CONVERGED);
    CHECK_INT(limited.iterations, n);
    float *expected = read_vector(f.x);
    CHECK_OK(context, solve_fixture(&f, (ts_solver_desc){.method = method, .fixed_iterations = n}, &fixed));
    CHECK_INT(fixed.reason, TS_REASON_FIXED_ITERATIONS);
    CHECK_INT(fixed.iterations, n);
    CHECK_INT(fixed.host_synchronisations, method == TS_METHOD_GMRES || method == TS_METHOD_IDR ? 1 : 0);
    CHECK(isnan(fixed.relative_residual) && isnan(fixed.attainable_residual));
    float *actual = read_vector(f.x);
    double difference = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
      difference = fmax(difference, fabs((double)actual[i] - (double)expected[i]));
      size = fmax(size, fabs((double)expected[i]));
    }
    CHECK_CLOSE(difference, 0, 2e-6 * size);
    free(actual), free(expected);
  }
  /* Several cycles of GMRES, and iterations that continue at a residual of 0. */
  ts_result result;
  CHECK_OK(context,
           solve_fixture(&f, (ts_solver_desc){.method = TS_METHOD_GMRES, .restart = 10, .fixed_iterations = 95},
                         &result));
  CHECK_INT(result.host_synchronisations, 10);
  CHECK(residual(&f) < 1e-2);
  const int beyond[] = {150, 60, 150, 600, 150};
  for (int k = 0; k < 5; k++) {
    test_context_label("%s, far beyond", ts_method_name(methods[k]));
    CHECK_OK(context,
             solve_fixture(&f, (ts_solver_desc){.method = methods[k], .fixed_iterations = beyond[k]}, &result));
    /* In single precision idr has the largest drift of the recurrence's residual. */
    CHECK(residual(&f) < (methods[k] == TS_METHOD_IDR && !context->caps.pairs ? 1e-2 : 1e-3));
    CHECK_OK(context, ts_vector_fill(f.b, 0));
    CHECK_OK(context,
             solve_fixture(&f, (ts_solver_desc){.method = methods[k], .fixed_iterations = 3}, &result));
    float *xs = read_vector(f.x);
    for (size_t i = 0; i < count; i++)
      if (!CHECK(xs[i] == 0)) break;
    free(xs);
    CHECK_OK(context, ts_vector_write(f.b, ts_host(f.bs, count)));
  }
  close_fixture(&f);
}

/* After an odd number of iterations with one reduction, r and d have exchanged their vectors with two others.
 * No memory is lost, and the next solve is identical. */
static void one_reduction(void) {
  if (!has_one_reduction(context)) return;
  fixture f = open_fixture(ref_grid(23, 17));
  ts_solver *solver = NULL;
  const ts_solver_desc desc = {.method = TS_METHOD_CG, .reductions = 1, .fixed_iterations = 7, .zero_start = 1};
  CHECK_OK(context, ts_solver_create(f.matrix, &desc, &solver));
  float *first = NULL;
  for (int round = 0; round < 3; round++) {
    CHECK_OK(context, ts_solver_solve(solver, f.b, f.x, NULL));
    float *xs = read_vector(f.x);
    if (first)
      CHECK(memcmp(first, xs, (size_t)f.reference.rows * sizeof *xs) == 0);
    else
      CHECK(residual(&f) < 0.5);
    free(first);
    first = xs;
  }
  free(first);
  ts_solver_destroy(&solver);
  close_fixture(&f);
}

static void last_error(void) {
  fixture f = open_fixture(ref_skewed_grid(9, 9));
  ts_result result;
  CHECK_INT(solve_fixture(&f, (ts_solver_desc){.method = TS_METHOD_CG}, &result), TS_NOT_CONVERGED);
  CHECK_CONTAINS(ts_last_error(context), "not symmetric");
  CHECK(strcmp(ts_last_error(context), result.message) == 0);
  CHECK_INT(
      solve_fixture(&f, (ts_solver_desc){.preconditioner_kind = TS_PRECONDITIONER_JACOBI, .max_iterations = 1},
                    &result),
      TS_NOT_CONVERGED);
  CHECK_CONTAINS(ts_last_error(context), "maximum of 1 iterations");
  CHECK_OK(context, solve_fixture(&f, (ts_solver_desc){0}, &result));
  CHECK(ts_last_error(context)[0] == 0);
  close_fixture(&f);
}

#define REFUSED(text, ...)                                                                                     \
  CHECK_FAILS(context, ts_solver_create(f.matrix, &(const ts_solver_desc){__VA_ARGS__}, &solver),              \
              TS_ERROR_INVALID_ARGUMENT, text)

/* Fields of other methods are refused instead of being ignored. */
static void foreign_fields(void) {
  fixture f = open_fixture(ref_grid(5, 5));
  ts_solver *solver = NULL;
  REFUSED("method is 9", .method = (ts_method)9);
  REFUSED("restart is set", .method = TS_METHOD_CG, .restart = 20);
  REFUSED("reductions is set", .method = TS_METHOD_GMRES, .reductions = 2);
  REFUSED("transposed is set", .method = TS_METHOD_CG, .transposed = f.transposed);
  REFUSED("TS_STOP_DELTA is set", .method = TS_METHOD_BICGSTAB, .stop = TS_STOP_DELTA);
  REFUSED("atol is set", .stop = TS_STOP_DELTA, .atol = 1);
  REFUSED("atol is -1", .atol = -1);
  REFUSED("atol is inf", .atol = INFINITY);
  REFUSED("fixed_iterations is set", .fixed_iterations = 3, .rtol = 1e-3);
  REFUSED("fixed_iterations is set", .fixed_iterations = 3, .max_iterations = 3);
  REFUSED("fixed_iterations is -3", .fixed_iterations = -3);
  REFUSED("reserved[2]", .reserved = {0, 0, 1});
  CHECK_FAILS(context, ts_solver_create(f.matrix, &(ts_solver_desc){.precision = (ts_precision)9}, &solver),
              TS_ERROR_INVALID_ARGUMENT, "precision is 9");
  CHECK(solver == NULL);
  close_fixture(&f);
}

TEST_MAIN(CASES_IN_CONTEXT(method_auto, tolerances, fixed_iterations, one_reduction, last_error,
                           foreign_fields))
