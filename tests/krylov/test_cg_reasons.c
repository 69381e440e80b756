/* Why and how conjugate gradients end: every reason with its message, the host synchronisations, the history,
 * and the same bits on every run. */
#include "common/core/core.h"
#include "krylov_solve.h"

static ts_context *context;

/* Solves A x = b with the given b, or a random one, and expects a reason and parts of its message. */
static ts_result expect_reason(const ref_matrix *m, const ts_solver_desc *desc, const float *b,
                               ts_reason reason, const char *part, const char *other) {
  ts_matrix *matrix = make_matrix(context, m, TS_FORMAT_AUTO);
  float *bs = b ? NULL : ref_values((size_t)m->rows, 8, -1, 1), *xs = calloc((size_t)m->rows, sizeof *xs);
  ts_result result = {0};
  if (matrix) {
    const ts_status status = krylov_solve(TS_METHOD_CG, matrix, desc, 1, b ? b : bs, xs, &result);
    CHECK_INT(status, reason <= TS_REASON_ZERO_RESIDUAL ? TS_OK : TS_NOT_CONVERGED);
    if (result.reason != reason)
      test_fail(__FILE__, __LINE__, "the reason is \"%s\", expected \"%s\": \"%s\"",
                ts_reason_text(result.reason), ts_reason_text(reason), result.message);
    CHECK_CONTAINS(result.message, part);
    CHECK_CONTAINS(result.message, other);
    CHECK(strchr(result.message, '\n') == NULL && strlen(result.message) > 5);
  }
  free(bs), free(xs);
  ts_matrix_destroy(&matrix);
  return result;
}

static void not_symmetric(void) {
  ref_matrix m = ref_grid(20, 20);
  /* One entry differs from its mirror image: row 107, column 108. */
  for (int32_t k = m.offsets[107]; k < m.offsets[108]; k++)
    if (m.indices[k] == 108) m.values[k] *= 1.01f;
  expect_reason(&m, NULL, NULL, TS_REASON_NOT_SYMMETRIC, "107", "108");
  ref_free(&m);
  m = ref_skewed_grid(9, 9);
  expect_reason(&m, NULL, NULL, TS_REASON_NOT_SYMMETRIC, "row 0", "column 1");
  ref_free(&m);
}

/* If a solve is refused, x keeps its start. With zero_start it becomes 0, regardless of its content. */
static void refused_from_zero(void) {
  ref_matrix m = ref_skewed_grid(9, 9);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t count = (size_t)m.rows;
  float *bs = ref_values(count, 8, -1, 1), *xs = ref_values(count, 9, 1, 2);
  ts_result result;
  const ts_solver_desc plain = {0}, zero = {.zero_start = 1};
  CHECK_INT(krylov_solve(TS_METHOD_CG, matrix, &plain, 1, bs, xs, &result), TS_NOT_CONVERGED);
  for (size_t i = 0; i < count; i++)
    if (!CHECK(xs[i] >= 1)) break;
  xs[5] = NAN;
  CHECK_INT(krylov_solve(TS_METHOD_CG, matrix, &zero, 1, bs, xs, &result), TS_NOT_CONVERGED);
  for (size_t i = 0; i < count; i++)
    if (!CHECK(xs[i] == 0)) break;
  free(bs), free(xs);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

static void indefinite(void) {
  for (int kind = 0; kind < 2; kind++) {
    ts_solver_desc desc = {0};
    desc.preconditioner_kind = kind ? TS_PRECONDITIONER_NONE : TS_PRECONDITIONER_JACOBI;
    test_context_label("preconditioner %d", kind);
    ref_matrix m = ref_indefinite(17, 13); /* the whole diagonal is positive */
    float *ones = malloc(sizeof *ones * (size_t)m.rows);
    for (int32_t i = 0; i < m.rows; i++) ones[i] = 1 + 0.01f * (float)(i % 7);
    expect_reason(&m, &desc, ones, TS_REASON_INDEFINITE, "not positive definite", "");
    free(ones);
    ref_free(&m);
  }
}

/* Some indefinite systems converge. The solver reports convergence only if it is true, and otherwise that the
 * system is indefinite. */
static void indefinite_or_solved(void) {
  for (int kind = 0; kind < 4; kind++) {
    ts_solver_desc desc = {0};
    desc.preconditioner_kind = kind & 1 ? TS_PRECONDITIONER_NONE : TS_PRECONDITIONER_JACOBI;
    ref_matrix m = ref_diagonal(50, 1, 3);
    m.values[31] = -2;
    for (int i = 0; kind & 2 && i < 50; i++) m.values[i] = -1;
    test_context_label("kind %d", kind);
    ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
    float *bs = ref_values(50, 8, -1, 1), xs[50] = {0};
    ts_result result;
    if (krylov_solve(TS_METHOD_CG, matrix, &desc, 1, bs, xs, &result) == TS_OK) {
      CHECK(ref_relative_residual(&m, NULL, 1, 0, xs, bs) <= 1e-5);
    } else {
      CHECK_INT(result.reason, TS_REASON_INDEFINITE);
      CHECK_CONTAINS(result.message, "not positive definite");
    }
    free(bs);
    ts_matrix_destroy(&matrix);
    ref_free(&m);
  }
}

/* Between two checks the iteration may pass the negative curvature and even converge. */
static void indefinite_between_checks(void) {
  static const int intervals[] = {1, 7, 25, 500};
  for (int kind = 0; kind < 8; kind++) {
    ts_solver_desc desc = {.check_interval = intervals[kind / 2]};
    desc.preconditioner_kind = kind & 1 ? TS_PRECONDITIONER_NONE : TS_PRECONDITIONER_JACOBI;
    test_context_label("kind %d", kind);
    ref_matrix m = kind & 1 ? ref_diagonal(50, 1, 3) : ref_indefinite(17, 13);
    if (kind & 1) m.values[31] = -2;
    float *bs = ref_values((size_t)m.rows, 8, -1, 1);
    expect_reason(&m, &desc, bs, TS_REASON_INDEFINITE, "not positive definite", "");
    free(bs);
    ref_free(&m);
  }
}

/* The Laplacian of a graph is never indefinite, and its entries are integers. It is singular, so d^T A d ends
 * as rounding errors. Iterations that began during a pending check must not be judged by the numbers of other
 * iterations. */
static void never_indefinite(void) {
  const double pipelined = context->tuning.pipelined_iterations;
  for (int32_t n = 5; n < (test_is_brief() ? 10 : 40); n++) {
    ref_matrix m = ref_graph(n, 3);
    ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
    float *bs = ref_values((size_t)m.rows, (uint64_t)n, -1, 1), *xs = calloc((size_t)m.rows, sizeof *xs);
    for (int more = 0; matrix && more < 5; more++) {
      const ts_solver_desc desc = {.check_interval = 6, .zero_start = 1};
      ts_result result = {0};
      context->tuning.pipelined_iterations = more;
      krylov_solve(TS_METHOD_CG, matrix, &desc, 1, bs, xs, &result);
      if (result.reason == TS_REASON_INDEFINITE)
        test_fail(__FILE__, __LINE__, "%d x 3 points, %d iterations beside a check: %s", n, more,
                  result.message);
    }
    context->tuning.pipelined_iterations = pipelined;
    free(bs), free(xs);
    ts_matrix_destroy(&matrix);
    ref_free(&m);
  }
}

static void zero_diagonal(void) {
  ref_matrix m = ref_grid(10, 10);
  for (int32_t k = m.offsets[42]; k < m.offsets[43]; k++)
    if (m.indices[k] == 42) m.values[k] = 0;
  const ts_solver_desc jacobi = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI};
  expect_reason(&m, &jacobi, NULL, TS_REASON_ZERO_DIAGONAL, "row 42", "Jacobi");
  ref_free(&m);
}

static void nan_input(void) {
  ref_matrix m = ref_grid(10, 10);
  for (int kind = 0; kind < 2; kind++) {
    float *bs = ref_values(100, 9, -1, 1), *xs = calloc(100, sizeof *xs);
    bs[77] = kind ? INFINITY : NAN;
    test_context_label("%s in b", kind ? "infinity" : "NaN");
    expect_reason(&m, NULL, bs, TS_REASON_NAN_INPUT, "right-hand side", "");
    bs[77] = 0;
    xs[33] = kind ? -INFINITY : NAN;
    test_context_label("%s in x", kind ? "infinity" : "NaN");
    ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
    ts_result result;
    CHECK_INT(krylov_solve(TS_METHOD_CG, matrix, NULL, 1, bs, xs, &result), TS_NOT_CONVERGED);
    CHECK_INT(result.reason, TS_REASON_NAN_INPUT);
    CHECK_CONTAINS(result.message, "starting value");
    ts_matrix_destroy(&matrix);
    free(bs), free(xs);
  }
  ref_free(&m);
}

static void max_iterations(void) {
  ref_matrix m = ref_grid(60, 60);
  ts_solver_desc desc = {0};
  for (int most = 1; most <= 21; most += 5) {
    desc.max_iterations = most;
    test_context_label("%d", most);
    const ts_result result = expect_reason(&m, &desc, NULL, TS_REASON_MAX_ITERATIONS, "maximum", "");
    CHECK_INT(result.iterations, most);
    CHECK(result.relative_residual > 1e-5 && result.reduction > 1e-5 && isfinite(result.relative_residual));
  }
  ref_free(&m);
}

/* A tolerance below the limit of single precision is not reached. The solver reports this, and stops long
 * before the maximum number of iterations. */
static void stagnation(void) {
  ref_matrix m = ref_grid(40, 40);
  for (int stop = 0; stop < 2; stop++) {
    ts_solver_desc desc = {0};
    desc.rtol = 1e-12;
    desc.precision = TS_PRECISION_SINGLE;
    desc.stop = stop ? TS_STOP_RESIDUAL : TS_STOP_DELTA;
    test_context_label("stop rule %d", stop);
    const ts_result result = expect_reason(&m, &desc, NULL, TS_REASON_STAGNATED, "stagnated", "");
    CHECK(result.iterations < 3000);
    CHECK(result.relative_residual < 1e-5); /* the reachable residual was reached */
    CHECK(result.attainable_residual > 1e-9 && result.attainable_residual < 1e-4);
  }
  ref_free(&m);
}

static void stopped(void) {
  ref_matrix m = ref_grid(60, 60);
  watch w = {0};
  w.stop_at = 7;
  ts_solver_desc desc = {0};
  desc.check_interval = 1;
  desc.progress = observe;
  desc.progress_user = &w;
  const ts_result result = expect_reason(&m, &desc, NULL, TS_REASON_STOPPED, "callback", "");
  CHECK_INT(w.last_iteration, 7);
  CHECK_INT(w.calls, 7);
  CHECK_INT(w.out_of_order, 0);
  CHECK(result.iterations >= 7 && result.iterations <= 16);
  CHECK(isfinite(result.relative_residual) && result.relative_residual > 0);
  ref_free(&m);
}

static void zero_right_side(void) {
  ref_matrix m = ref_grid(12, 12);
  float *zeros = calloc(144, sizeof *zeros);
  const ts_result result = expect_reason(&m, NULL, zeros, TS_REASON_ZERO_RESIDUAL, "already", "");
  CHECK_INT(result.iterations, 0);
  CHECK_CLOSE(result.relative_residual, 0, 0);
  /* b = 0 and x is not 0: the solver iterates towards 0 as in any other solve. */
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  float *xs = ref_values(144, 12, -1, 1);
  ts_result homing;
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, NULL, 1, zeros, xs, &homing));
  CHECK_INT(homing.reason, TS_REASON_CONVERGED);
  for (int i = 0; i < 144; i++)
    if (!CHECK(fabsf(xs[i]) < 1e-3f)) break;
  free(zeros), free(xs);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* ---- Host synchronisations, history, repeatability, scaling ---- */

/* A solve with a fixed number of iterations synchronises once per check, plus a constant number of times. */
static void host_synchronisations(void) {
  ref_matrix m = ref_grid(70, 70);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t n = (size_t)m.rows;
  float *bs = ref_values(n, 13, -1, 1), *xs = malloc(n * sizeof *xs);
  static const int intervals[] = {1, 4, 16};
  for (int k = 0; k < 3; k++) {
    int constant = -1;
    for (int checks = 1; checks <= 4; checks++) {
      watch w = {0};
      ts_solver_desc desc = {0};
      desc.rtol = 1e-7;
      desc.precision = TS_PRECISION_SINGLE;
      desc.check_interval = intervals[k];
      desc.max_iterations = checks * intervals[k];
      desc.progress = observe;
      desc.progress_user = &w;
      ts_result result;
      memset(xs, 0, n * sizeof *xs);
      const uint64_t before = context_info(context).host_synchronisations;
      test_context_label("interval %d, %d checks", intervals[k], checks);
      CHECK_INT(krylov_solve(TS_METHOD_CG, matrix, &desc, 1, bs, xs, &result), TS_NOT_CONVERGED);
      CHECK_INT(result.restarts, 0);
      CHECK_INT(result.iterations, checks * intervals[k]);
      /* `solve` then reads x and b, which adds two synchronisations to those of the solver. */
      CHECK_INT(context_info(context).host_synchronisations - before, result.host_synchronisations + 2);
      if (constant < 0) constant = result.host_synchronisations - w.calls;
      CHECK_INT(result.host_synchronisations, w.calls + constant);
      CHECK(w.calls >= 1 && w.calls <= checks);
      CHECK(constant >= 0 && constant <= 3);
      CHECK_INT(w.out_of_order, 0);
    }
  }
  free(bs), free(xs);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* The history has one number per iteration, regardless of the interval of checks. */
typedef struct record {
  int count;
  double numbers[64];
} record;

static int keep(const ts_progress *progress, void *user) {
  record *r = user;
  for (int k = 0; k < progress->count && r->count < 64; k++) r->numbers[r->count++] = progress->history[k];
  return 0;
}

static void history(void) {
  ref_matrix m = ref_grid(50, 50);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t n = (size_t)m.rows;
  float *bs = ref_values(n, 13, -1, 1), *xs = malloc(n * sizeof *xs);
  record records[3];
  static const int intervals[] = {1, 7, 64};
  for (int k = 0; k < 3; k++) {
    records[k].count = 0;
    ts_solver_desc desc = {0};
    desc.max_iterations = 28;
    desc.rtol = 1e-7;
    desc.precision = TS_PRECISION_SINGLE;
    desc.check_interval = intervals[k];
    desc.progress = keep;
    desc.progress_user = &records[k];
    ts_result result;
    memset(xs, 0, n * sizeof *xs);
    krylov_solve(TS_METHOD_CG, matrix, &desc, 1, bs, xs, &result);
    test_context_label("interval %d", intervals[k]);
    CHECK_INT(result.iterations, 28);
    CHECK(records[k].count >= 14 && records[k].count <= 28);
    for (int i = 0; i < records[k].count && i < records[0].count; i++)
      if (!CHECK(records[k].numbers[i] == records[0].numbers[i])) break;
  }
  CHECK(records[0].numbers[20] < 0.9 * records[0].numbers[0]);
  free(bs), free(xs);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

static void same_bits(void) {
  ref_matrix m = ref_torus_mesh(40, 26, 3000, 5);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t n = (size_t)m.rows * 3;
  float *bs = ref_values(n, 14, -1, 1), *xs = calloc(n, sizeof *xs), *again = calloc(n, sizeof *again);
  ts_result one, two;
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, NULL, 3, bs, xs, &one));
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, NULL, 3, bs, again, &two));
  CHECK(memcmp(xs, again, n * sizeof *xs) == 0);
  CHECK_INT(one.iterations, two.iterations);
  CHECK(one.reduction == two.reduction && one.relative_residual == two.relative_residual);
  free(bs), free(xs), free(again);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* A solver's vectors may share one texture, which passes read while they write it. Here one pass reads a vector
 * and the next one overwrites it. The write must not overtake the read. */
static void write_after_read(void) {
  enum { size = 300000, rounds = 20 };
  const ts_space_desc desc = {.size = size};
  ts_space *space = NULL;
  ts_vector *v[5] = {NULL};
  REQUIRE_OK(context, ts_space_create(context, &desc, &space));
  float *values = malloc(size * sizeof *values);
  REQUIRE_OK(context, tsi_enter(context));
  ts_scalars *slots = NULL;
  if (CHECK_OK(context, tsi_arena_create(space, 1, 1, v, 5, 4, &slots))) {
    const tsi_ops *ops = context->ops;
    CHECK_OK(context, ops->fill(v[4], 0));
    for (int k = 0; k < rounds; k++) {
      CHECK_OK(context, ops->fill(v[0], (float)(k + 1)));
      CHECK_OK(context, ops->axpby(v[4], ts_constant(1), v[0], ts_constant(1), v[4]));
    }
    CHECK_OK(context, ops->fill(v[0], -1));
    tsi_leave(context, TS_OK);
    CHECK_OK(context, ts_vector_read(v[4], ts_host(values, size)));
    for (int i = 0; i < size; i++)
      if (!CHECK(values[i] == rounds * (rounds + 1) / 2)) break;
  }
  for (int k = 0; k < 5; k++) ts_vector_destroy(&v[k]);
  ts_scalars_destroy(&slots);
  ts_space_destroy(&space);
  free(values);
}

TEST_MAIN(CASES_IN_CONTEXT(not_symmetric, refused_from_zero, indefinite, indefinite_or_solved,
                           indefinite_between_checks, never_indefinite, zero_diagonal, nan_input,
                           max_iterations, stagnation, stopped, zero_right_side, host_synchronisations, history,
                           same_bits, write_after_read))
