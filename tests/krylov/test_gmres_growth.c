/* GMRES with the default restart: its cycle grows if it is too short, as far as memory allows. The systems are
 * a cyclic shift, on which GMRES makes no progress before the last unknown, and a nearly skew-symmetric
 * matrix. */
#include <math.h>

#include "common/core/core.h"
#include "krylov_solve.h"

static ts_context *context;

static const ts_solver_desc plain = {.method = TS_METHOD_GMRES, .preconditioner_kind = TS_PRECONDITIONER_NONE};

/* A system with b = e_0 in every component, x = 0, and a solver. */
typedef struct trial {
  ref_matrix m;
  ts_matrix *A;
  ts_vector *b, *x;
  ts_solver *solver;
} trial;

static void make_vectors(trial *t, int components) {
  const size_t count = (size_t)t->m.rows * (size_t)components;
  float *values = calloc(count, sizeof *values);
  for (int c = 0; c < components; c++) values[c] = 1;
  t->b = make_vector(ts_matrix_get_row_space(t->A), components, values);
  memset(values, 0, count * sizeof *values);
  t->x = make_vector(ts_matrix_get_row_space(t->A), components, values);
  free(values);
}

static trial open_trial(ts_context *of, ref_matrix m, const ts_solver_desc *desc) {
  trial t = {.m = m};
  t.A = make_matrix(of, &t.m, TS_FORMAT_AUTO);
  make_vectors(&t, 1);
  CHECK_OK(of, ts_solver_create(t.A, desc, &t.solver));
  return t;
}

static void close_trial(trial *t) {
  ts_solver_destroy(&t->solver);
  ts_vector_destroy(&t->b), ts_vector_destroy(&t->x);
  ts_matrix_destroy(&t->A);
  ref_free(&t->m);
}

static ts_result solve(const trial *t, ts_status expected) {
  ts_result result = {0};
  CHECK_OK(t->A->context, ts_vector_fill(t->x, 0));
  const ts_status status = ts_solver_solve(t->solver, t->b, t->x, &result);
  if (status != expected)
    test_fail(__FILE__, __LINE__, "status %d, expected %d: %s", status, expected, ts_last_error(t->A->context));
  return result;
}

/* Cycles of 30, 60 and 100 iterations; the next solve begins with 100. Over ranks the cycle does not grow. */
static void cycle_grows(void) {
  enum { N = 100 };
  trial t = open_trial(context, ref_cyclic_shift(N), &plain);
  ts_result result = solve(&t, test_is_ranks() ? TS_NOT_CONVERGED : TS_OK);
  CHECK_INT(result.restart, test_is_ranks() ? 30 : N);
  if (!test_is_ranks()) {
    CHECK_INT(result.iterations, 30 + 60 + N);
    CHECK_INT(result.restarts, 2);
    float *xs = read_vector(t.x);
    for (int i = 0; i < N; i++) CHECK_CLOSE(xs[i], i == 1, 1e-6);
    free(xs);
    result = solve(&t, TS_OK);
    CHECK_INT(result.iterations, N);
  }
  close_trial(&t);
}

static void asked_for(void) {
  ts_solver_desc desc = plain;
  desc.restart = 30;
  trial t = open_trial(context, ref_cyclic_shift(100), &desc);
  const ts_result result = solve(&t, TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_STAGNATED);
  CHECK_INT(result.restart, 30);
  CHECK_CONTAINS(result.message, "GMRES(30) stagnated");
  close_trial(&t);
  desc.restart = 0;
  desc.fixed_iterations = 190;
  trial fixed = open_trial(context, ref_cyclic_shift(100), &desc);
  CHECK_INT(solve(&fixed, TS_OK).restart, 30);
  close_trial(&fixed);
}

static int never_grows(const ts_progress *progress, void *user) {
  double *before = user;
  for (int i = 0; i < progress->count; i++) {
    CHECK(progress->history[i] <= *before * (1 + 1e-4));
    *before = progress->history[i];
  }
  return 0;
}

/* A longer cycle starts from the x of the shorter ones. */
static void x_is_kept(void) {
  if (test_is_ranks()) return;
  double last = 1;
  ts_solver_desc desc = plain;
  desc.rtol = 1e-4;
  desc.progress = never_grows;
  desc.progress_user = &last;
  trial t = open_trial(context, ref_shifted_skew(80, 0.01F), &desc);
  const ts_result result = solve(&t, TS_OK);
  CHECK(result.restart > 30);
  desc.restart = 30;
  last = 1;
  trial short_cycles = open_trial(context, ref_shifted_skew(80, 0.01F), &desc);
  ts_result other = {0};
  (void)ts_solver_solve(short_cycles.solver, short_cycles.b, short_cycles.x, &other);
  if (other.iterations < 2 * result.iterations)
    test_fail(__FILE__, __LINE__, "%d and %d iterations", result.iterations, other.iterations);
  close_trial(&t), close_trial(&short_cycles);
}

enum { LARGE = 4000 };

static ts_context *open_with(size_t bytes) {
  ts_context_desc desc = test_desc();
  ts_context *limited = NULL;
  desc.max_device_bytes = bytes;
  CHECK_OK(NULL, ts_context_create(&desc, &limited));
  return limited;
}

/* A quarter of the limit holds 46 vectors, each of two parts if auto precision may need them. */
static void within_memory(void) {
  if (test_is_ranks()) return;
  const size_t parts = context->caps.pairs ? 2 : 1;
  ts_context *limited = open_with(parts * LARGE * sizeof(float) * 4 * 46);
  trial t = open_trial(limited, ref_cyclic_shift(LARGE), &plain);
  const ts_result result = solve(&t, TS_NOT_CONVERGED);
  CHECK_INT(result.restart, 45);
  CHECK_CONTAINS(result.message, "GMRES(45) stagnated");
  close_trial(&t);
  test_close(&limited);
}

/* If other objects occupy the memory, the cycle stays short. It becomes short again for more components. */
static void memory_is_used(void) {
  const size_t bytes = 50000000, rest = 300000;
  if (!context->caps.linear_spaces || test_is_ranks() || test_is_multi()) return;
  ts_context *limited = open_with(bytes);
  ts_solver_desc desc = plain;
  desc.precision = TS_PRECISION_SINGLE;
  desc.max_iterations = 1000;
  trial t = open_trial(limited, ref_cyclic_shift(LARGE), &desc),
        of_one = open_trial(limited, ref_skew(2), &plain);
  solve(&of_one, TS_OK);
  trial brief = t;
  brief.solver = NULL;
  desc.max_iterations = 1;
  CHECK_OK(limited, ts_solver_create(t.A, &desc, &brief.solver));
  solve(&brief, TS_NOT_CONVERGED); /* it has the same workspace as the other solver */
  size_t used = context_info(limited).bytes_device;
  ts_solver_destroy(&brief.solver);
  ts_space *space = make_space(limited, (int32_t)((bytes - used - rest) / sizeof(float)));
  ts_vector *other = make_vector(space, 1, NULL);
  test_context_label("no memory");
  CHECK_INT(solve(&t, TS_NOT_CONVERGED).restart, 30);
  ts_vector_destroy(&other);
  test_context_label("memory");
  CHECK_INT(solve(&t, TS_NOT_CONVERGED).restart, 200);
  used = context_info(limited).bytes_device;
  ts_space_destroy(&space);
  space = make_space(limited, (int32_t)((bytes - used - 3000000) / sizeof(float)));
  other = make_vector(space, 1, NULL);
  ts_vector_destroy(&t.b), ts_vector_destroy(&t.x);
  make_vectors(&t, 4);
  test_context_label("no memory for four components");
  const ts_result result = solve(&t, TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_STAGNATED);
  CHECK(result.restart >= 30 && result.restart < 200);
  ts_vector_destroy(&other);
  ts_space_destroy(&space);
  close_trial(&t), close_trial(&of_one);
  test_close(&limited);
}

static const test_fixture fixture = {.context = &context};

TEST_MAIN(CASES_WITH(&fixture, cycle_grows, asked_for, x_is_kept, within_memory, memory_is_used))
