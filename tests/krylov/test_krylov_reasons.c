/* Why and how Krylov methods end: reasons with their messages, host synchronisations, history, and the same
 * bits on every run. */
#include "common/core/core.h"
#include "krylov_solve.h"

static ts_context *context;
static ts_method method;

/* Solves A x = b with the given b, or a random one, and expects a reason and a part of its message. */
static ts_result expect_reason(const ref_matrix *m, const ts_solver_desc *desc, const float *b, float *x,
                               ts_reason reason, const char *part) {
  ts_matrix *matrix = make_matrix(context, m, TS_FORMAT_AUTO);
  float *bs = b ? NULL : ref_values((size_t)m->rows, 8, -1, 1), *xs = calloc((size_t)m->rows, sizeof *xs);
  ts_result result = {0};
  if (matrix) {
    const ts_status status = krylov_solve(method, matrix, desc, 1, b ? b : bs, x ? x : xs, &result);
    CHECK_INT(status, reason <= TS_REASON_ZERO_RESIDUAL ? TS_OK : TS_NOT_CONVERGED);
    if (result.reason != reason)
      test_fail(__FILE__, __LINE__, "the reason is \"%s\", expected \"%s\": \"%s\"",
                ts_reason_text(result.reason), ts_reason_text(reason), result.message);
    CHECK_CONTAINS(result.message, part);
    CHECK(strchr(result.message, '\n') == NULL && strlen(result.message) > 5);
    const double residual = ref_relative_residual(m, NULL, 1, 0, x ? x : xs, b ? b : bs);
    /* If b - A x is rounded to single precision, it has an error of half a unit of b in the last place. */
    const double rounding = has_precise_residuals(context) ? 0 : 6e-8;
    if (isfinite(result.rounded_residual) && reason != TS_REASON_NAN_INPUT)
      CHECK_CLOSE(result.rounded_residual, residual,
                  1e-3 * residual + rounding + 4 * result.attainable_residual);
  }
  free(bs), free(xs);
  ts_matrix_destroy(&matrix);
  return result;
}

/* The side of a grid. A solve that stagnates takes more iterations than the grid has points. */
static int32_t side(int32_t n) {
  return test_is_brief() ? n / 3 : n;
}

/* The restart of GMRES. An iteration launches as many kernels as its cycle has vectors, so a brief run uses a
 * short cycle. */
static int restart(void) {
  return test_is_brief() && method == TS_METHOD_GMRES ? 8 : 0;
}

static int is_gmres(void) {
  return method == TS_METHOD_GMRES;
}

static const ts_solver_desc plain = {.preconditioner_kind = TS_PRECONDITIONER_NONE};

static void zero_diagonal(void) {
  ref_matrix m = ref_grid(10, 10);
  for (int32_t k = m.offsets[42]; k < m.offsets[43]; k++)
    if (m.indices[k] == 42) m.values[k] = 0;
  const ts_solver_desc jacobi = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI};
  expect_reason(&m, &jacobi, NULL, NULL, TS_REASON_ZERO_DIAGONAL, "row 42");
  ref_free(&m);
}

static void nan_input(void) {
  ref_matrix m = ref_grid(10, 10);
  for (int kind = 0; kind < 2; kind++) {
    float *bs = ref_values(100, 9, -1, 1), *xs = calloc(100, sizeof *xs);
    bs[77] = kind ? INFINITY : NAN;
    test_context_label("%s, %s", ts_method_name(method), kind ? "infinity" : "NaN");
    expect_reason(&m, NULL, bs, NULL, TS_REASON_NAN_INPUT, "right-hand side");
    bs[77] = 0;
    xs[33] = kind ? -INFINITY : NAN;
    expect_reason(&m, NULL, bs, xs, TS_REASON_NAN_INPUT, "starting value");
    free(bs), free(xs);
  }
  ref_free(&m);
}

static void zero_right_side(void) {
  ref_matrix m = ref_convection(12, 12, 1);
  float *zeros = calloc(144, sizeof *zeros), *xs = ref_values(144, 12, -1, 1);
  const ts_result result = expect_reason(&m, NULL, zeros, NULL, TS_REASON_ZERO_RESIDUAL, "already");
  CHECK_INT(result.iterations, 0);
  const ts_result warm = expect_reason(&m, NULL, zeros, xs, TS_REASON_CONVERGED, "the right-hand side is 0");
  CHECK_INT(warm.iterations, 0);
  for (int i = 0; i < 144; i++)
    if (!CHECK(xs[i] == 0)) break;
  free(zeros), free(xs);
  ref_free(&m);
}

static void max_iterations(void) {
  ref_matrix m = ref_convection(40, 40, 1);
  for (int most = 1; most <= 21; most += 5) {
    if (test_is_brief() && most / 5 % 2) continue;
    const ts_solver_desc desc = {
        .preconditioner_kind = TS_PRECONDITIONER_JACOBI, .max_iterations = most, .restart = restart()};
    test_context_label("%s, %d", ts_method_name(method), most);
    const ts_result result = expect_reason(&m, &desc, NULL, NULL, TS_REASON_MAX_ITERATIONS, "maximum");
    CHECK_INT(result.iterations, most);
    CHECK(result.relative_residual > 1e-5 && result.relative_residual <= 1);
  }
  ref_free(&m);
}

/* A tolerance below the limit of single precision is not reached. The solver reports this, and stops long
 * before the maximum number of iterations. */
static void beyond_single_precision(void) {
  ref_matrix m = ref_convection(side(30), side(30), 1);
  const ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI,
                               .rtol = 1e-12,
                               .precision = TS_PRECISION_SINGLE,
                               .restart = restart()};
  const ts_result result = expect_reason(&m, &desc, NULL, NULL, TS_REASON_STAGNATED, "single precision");
  CHECK(result.iterations < 3000);
  CHECK(result.relative_residual < 1e-5); /* the reachable residual was reached */
  CHECK(result.attainable_residual > 1e-9 && result.attainable_residual < 1e-4);
  ref_free(&m);
}

/* A singular system may end for any reason, but convergence is reported only if it is true. */
static void singular(void) {
  ref_matrix m = ref_convection(side(15), side(15), 1);
  float *ones = malloc(225 * sizeof *ones), *b = malloc(225 * sizeof *b);
  double *image = malloc(225 * sizeof *image);
  for (int i = 0; i < 225; i++) ones[i] = 1;
  ref_spmv(&m, NULL, 1, ones, image, NULL); /* the loop below makes all row sums 0 */
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++)
      if (m.indices[k] == i) m.values[k] -= (float)image[i];
  float *x = ref_values(225, 5, -1, 1);
  ref_spmv(&m, NULL, 1, x, image, NULL);
  for (int i = 0; i < m.rows; i++) b[i] = (float)image[i];
  memset(x, 0, 225 * sizeof *x);
  expect_reason(&m, NULL, b, x, TS_REASON_CONVERGED, "converged"); /* one of its solutions */
  /* A right-hand side without a solution. */
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  ts_result result;
  const ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI,
                               .max_iterations = test_is_brief() ? 30 : 0,
                               .restart = restart()};
  CHECK_INT(krylov_solve(method, matrix, &desc, 1, ones, x, &result), TS_NOT_CONVERGED);
  CHECK(result.reason == TS_REASON_STAGNATED || result.reason == TS_REASON_BREAKDOWN ||
        result.reason == TS_REASON_MAX_ITERATIONS);
  CHECK(isfinite(result.relative_residual) && result.relative_residual > 1e-3);
  for (int i = 0; i < 225; i++)
    if (!CHECK(isfinite(x[i]))) break;
  free(ones), free(b), free(image), free(x);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* t^T s is s^T A s, which is 0 for every s if A is skew-symmetric. */
static void breakdown(void) {
  if (method != TS_METHOD_BICGSTAB) return; /* idr solves these systems, see test_idr.c */
  const float b[2] = {1, 2};
  ref_matrix m = ref_skew(2);
  const ts_result result = expect_reason(&m, &plain, b, NULL, TS_REASON_BREAKDOWN, "breakdown of BiCGSTAB");
  CHECK(result.restarts >= 1 && result.iterations < 50);
  ref_free(&m);
  m = ref_skew(60);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  float *bs = ref_values(60, 8, -1, 1), xs[60] = {0};
  ts_result larger;
  if (krylov_solve(method, matrix, &plain, 1, bs, xs, &larger) == TS_OK)
    CHECK(ref_relative_residual(&m, NULL, 1, 0, xs, bs) <= 1.05e-5);
  else
    CHECK(larger.reason == TS_REASON_BREAKDOWN || larger.reason == TS_REASON_STAGNATED);
  CHECK(ref_relative_residual(&m, NULL, 1, 0, xs, bs) <= 1.01);
  free(bs);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* A cyclic shift of all unknowns: GMRES makes no progress before the last iteration. Every restart before it
 * loses the work, and without restarts the system is solved. */
static void restarts_in_vain(void) {
  if (!is_gmres()) return;
  ref_matrix m = ref_cyclic_shift(12);
  float b[12] = {1}, x[12] = {0};
  ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_NONE, .restart = 5};
  const ts_result result = expect_reason(&m, &desc, b, x, TS_REASON_STAGNATED, "GMRES(5) stagnated");
  CHECK_CLOSE(result.relative_residual, 1, 1e-6);
  CHECK_INT(result.iterations, context->caps.pairs ? 20 : 10); /* single precision, then double */
  for (int i = 0; i < 12; i++) CHECK(x[i] == 0);
  desc.restart = 12;
  const ts_result whole = expect_reason(&m, &desc, b, x, TS_REASON_CONVERGED, "converged");
  CHECK_INT(whole.iterations, 12);
  for (int i = 0; i < 12; i++) CHECK_CLOSE(x[i], i == 1, 1e-6);
  ref_free(&m);
  /* A skew-symmetric matrix, on which BiCGSTAB breaks down. */
  m = ref_skew(40);
  desc.restart = 40;
  expect_reason(&m, &desc, NULL, NULL, TS_REASON_CONVERGED, "converged");
  ref_free(&m);
}

/* Without restarts the recurrence's residual never grows, and at the end of a cycle it is the true residual. */
static int never_grows(const ts_progress *progress, void *user) {
  double *before = user;
  for (int i = 0; i < progress->count; i++) {
    CHECK(progress->history[i] <= *before * (1 + 1e-6));
    *before = progress->history[i];
  }
  return 0;
}

static void monotone(void) {
  if (!is_gmres()) return;
  ref_matrix m = ref_convection(20, 20, 5);
  double last = 1;
  const ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI,
                               .restart = 60,
                               .max_iterations = 25,
                               .check_interval = 4,
                               .rtol = 1e-7,
                               .progress = never_grows,
                               .progress_user = &last};
  const ts_result result = expect_reason(&m, &desc, NULL, NULL, TS_REASON_MAX_ITERATIONS, "maximum of 25");
  CHECK_CLOSE(result.relative_residual, last, 1e-4 * last + 1e-6);
  ref_free(&m);
}

static void stopped(void) {
  ref_matrix m = ref_convection(40, 40, 1);
  watch w = {.stop_at = 7};
  const ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI,
                               .check_interval = 1,
                               .progress = observe,
                               .progress_user = &w};
  const ts_result result = expect_reason(&m, &desc, NULL, NULL, TS_REASON_STOPPED, "callback");
  CHECK_INT(w.last_iteration, 7);
  CHECK_INT(w.calls, 7);
  CHECK_INT(w.out_of_order, 0);
  CHECK(result.iterations >= 7 && result.iterations <= 16);
  CHECK(isfinite(result.relative_residual) && result.relative_residual > 0);
  ref_free(&m);
}

/* IDR(8) synchronises once per round of nine products. */
static int own_waits(const ts_result *result) {
  return method == TS_METHOD_IDR ? result->iterations / 9 : 0;
}

/* The host synchronises at checks, plus a constant number of times. The distance between checks doubles up to
 * the interval. */
static void host_synchronisations(void) {
  ref_matrix m = ref_convection(70, 70, 0.1f);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t n = (size_t)m.rows;
  float *bs = ref_values(n, 13, -1, 1), *xs = malloc(n * sizeof *xs);
  static const int intervals[] = {1, 4, 16};
  int constant = -1;
  for (int k = 0; k < 3; k++)
    for (int checks = 1; checks <= 3; checks++) {
      if (test_is_brief() && checks != 1 + k % 2) continue;
      watch w = {0};
      ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI,
                             .rtol = 1e-7,
                             .precision = TS_PRECISION_SINGLE,
                             .check_interval = intervals[k],
                             .max_iterations = checks * 16,
                             .restart = restart()};
      desc.progress = observe;
      desc.progress_user = &w;
      ts_result result;
      memset(xs, 0, n * sizeof *xs);
      const uint64_t before = context_info(context).host_synchronisations;
      test_context_label("%s, interval %d, %d iterations", ts_method_name(method), intervals[k],
                         desc.max_iterations);
      CHECK_INT(krylov_solve(method, matrix, &desc, 1, bs, xs, &result), TS_NOT_CONVERGED);
      if (!is_gmres()) CHECK_INT(result.restarts, 0);
      CHECK_INT(result.iterations, checks * 16);
      /* `krylov_solve` then reads x and b, which adds two synchronisations to those of the solver. */
      CHECK_INT(context_info(context).host_synchronisations - before, result.host_synchronisations + 2);
      const int waits = w.calls + result.restarts + own_waits(&result);
      if (constant < 0) constant = result.host_synchronisations - waits;
      CHECK_INT(result.host_synchronisations, waits + constant);
      const int doubling = intervals[k] == 1 ? 0 : intervals[k] == 4 ? 2 : 4;
      /* idr checks at the end of a round. */
      const int interval = method == TS_METHOD_IDR && intervals[k] > 9 ? 9 : intervals[k];
      CHECK(w.calls >= 1 && w.calls <= checks * 16 / interval + doubling + result.restarts);
      CHECK(constant >= 0 && constant <= 3);
      CHECK_INT(w.out_of_order, 0);
    }
  free(bs), free(xs);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

static void same_bits(void) {
  ref_matrix m = ref_convection(side(40), side(26), 2);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t n = (size_t)m.rows * 3;
  float *bs = ref_values(n, 14, -1, 1), *xs = calloc(n, sizeof *xs), *again = calloc(n, sizeof *again);
  ts_result one, two;
  CHECK_OK(context, krylov_solve(method, matrix, NULL, 3, bs, xs, &one));
  CHECK_OK(context, krylov_solve(method, matrix, NULL, 3, bs, again, &two));
  CHECK(memcmp(xs, again, n * sizeof *xs) == 0);
  CHECK_INT(one.iterations, two.iterations);
  CHECK(one.reduction == two.reduction && one.relative_residual == two.relative_residual);
  free(bs), free(xs), free(again);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

static void errors(void) {
  ref_matrix m = ref_convection(5, 5, 1), wide = ref_dense(3, 5, 1);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO),
            *rectangular = make_matrix(context, &wide, TS_FORMAT_AUTO);
  ts_space *other = make_space(context, 25);
  ts_solver *solver = NULL;
  test_context_label("%s", ts_method_name(method));
  CHECK_FAILS(NULL, create_solver(NULL, method, NULL, &solver), TS_ERROR_INVALID_ARGUMENT, "matrix");
  CHECK_FAILS(context, create_solver(matrix, method, NULL, NULL), TS_ERROR_INVALID_ARGUMENT, "NULL");
  CHECK_FAILS(context, create_solver(rectangular, method, NULL, &solver), TS_ERROR_INVALID_ARGUMENT, "3 x 5");
#define REFUSED(text, ...)                                                                                     \
  CHECK_FAILS(context, create_solver(matrix, method, &(const ts_solver_desc){__VA_ARGS__}, &solver),           \
              TS_ERROR_INVALID_ARGUMENT, text)
  REFUSED("preconditioner_kind is multigrid", .preconditioner_kind = TS_PRECONDITIONER_MULTIGRID);
  REFUSED("rtol is 1", .rtol = 1);
  REFUSED("rtol is nan", .rtol = NAN);
  REFUSED("max_iterations is -1", .max_iterations = -1);
  REFUSED(method == TS_METHOD_GMRES ? "restart is 201" : "restart is set", .restart = 201);
  REFUSED("check_interval is 1025", .check_interval = 1025);
  CHECK(solver == NULL);
  REQUIRE_OK(context, create_solver(matrix, method, NULL, &solver));
  ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 1, NULL), *x2 = NULL, *elsewhere = NULL;
  x2 = make_vector(ts_matrix_get_row_space(matrix), 2, NULL);
  elsewhere = make_vector(other, 1, NULL);
  CHECK_FAILS(NULL, ts_solver_solve(NULL, b, x2, NULL), TS_ERROR_INVALID_ARGUMENT, "solver");
  CHECK_FAILS(context, ts_solver_solve(solver, NULL, b, NULL), TS_ERROR_INVALID_ARGUMENT, "b is NULL");
  CHECK_FAILS(context, ts_solver_solve(solver, b, NULL, NULL), TS_ERROR_INVALID_ARGUMENT, "x is NULL");
  CHECK_FAILS(context, ts_solver_solve(solver, b, b, NULL), TS_ERROR_INVALID_ARGUMENT, "same vector");
  CHECK_FAILS(context, ts_solver_solve(solver, b, x2, NULL), TS_ERROR_INCOMPATIBLE, "2");
  CHECK_FAILS(context, ts_solver_solve(solver, b, elsewhere, NULL), TS_ERROR_INCOMPATIBLE, "x is not over");
  ts_vector_destroy(&b);
  ts_vector_destroy(&x2);
  ts_vector_destroy(&elsewhere);
  ts_solver_destroy(&solver);
  CHECK(solver == NULL);
  ts_solver_destroy(&solver);
  ts_solver_destroy(NULL);
  ts_space_destroy(&other);
  ts_matrix_destroy(&matrix);
  ts_matrix_destroy(&rectangular);
  ref_free(&m);
  ref_free(&wide);
}

static int choose_method(int round) {
  method = krylov_methods[round];
  test_context_label("%s", ts_method_name(method));
  return 1;
}

static const test_fixture fixture = {.context = &context, .rounds = KRYLOV_METHODS, .setup = choose_method};

TEST_MAIN(CASES_WITH(&fixture, zero_diagonal, nan_input, zero_right_side, max_iterations,
                     beyond_single_precision, singular, breakdown, restarts_in_vain, monotone, stopped,
                     host_synchronisations, same_bits, errors))
