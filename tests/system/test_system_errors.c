/* The system builder: every refused call names the faulty row or unknown and loses nothing, and the system
 * remains usable. The same holds for a call that runs out of memory. */
#include "dense.h"
#include "heap.h"

static ts_context *context;

#define INVALID(call, ...) CHECK_FAILS(context, call, TS_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static ts_system *make(ts_system_desc desc) {
  ts_system *system = NULL;
  CHECK_OK(context, ts_system_create(context, &desc, &system));
  return system;
}

/* A chain of n unknowns: 2 on the diagonal, -1 next to it, 1 on the right, and `extra` additional rows. */
static void state_chain(ts_system *system, int32_t n) {
  CHECK_OK(context, ts_system_begin(system));
  for (int32_t i = 0; i < n; i++) {
    const int32_t unknowns[] = {i, i - 1, i + 1};
    const double a[] = {2, -1, -1}, b[] = {1};
    if (i == 0 || i == n - 1)
      CHECK_OK(context, ts_system_row(system, 2, (const int32_t[]){i, i ? i - 1 : 1}, a, b, 1));
    else
      CHECK_OK(context, ts_system_row(system, 3, unknowns, a, b, 1));
  }
}

/* x_k = (k + 1) (n - k) / 2 solves the chain. */
static void check_chain(ts_system *system, int32_t n) {
  CHECK_OK(context, ts_system_solve(system, NULL, NULL));
  for (int32_t k = 0; k < n; k++) {
    double value = NAN;
    CHECK_OK(context, ts_system_get_value(system, k, &value));
    CHECK_CLOSE(value, 0.5 * (k + 1) * (n - k), 1e-4);
  }
}

static void descriptors(void) {
  ts_system *system = (ts_system *)(uintptr_t)1;
  ts_system_desc desc = {.unknowns = 0};
  INVALID(ts_system_create(context, &desc, &system), "unknowns", "0");
  CHECK(system == NULL);
  INVALID(ts_system_create(context, NULL, &system), "desc");
  desc.unknowns = 5;
  INVALID(ts_system_create(context, &desc, NULL), "out");
  CHECK_FAILS(NULL, ts_system_create(NULL, &desc, &system), TS_ERROR_INVALID_ARGUMENT, "context");
  desc.components = 5;
  INVALID(ts_system_create(context, &desc, &system), "components", "5");
  desc.components = 1, desc.group = 5;
  INVALID(ts_system_create(context, &desc, &system), "group", "5");
  desc.group = 0, desc.symmetric = desc.least_squares = 1;
  INVALID(ts_system_create(context, &desc, &system), "symmetric", "least_squares");
  desc.least_squares = 0, desc.allow_singular = 1;
  INVALID(ts_system_create(context, &desc, &system), "allow_singular", "least_squares");
  desc = (ts_system_desc){.unknowns = INT32_MAX, .components = 2};
  CHECK_FAILS(context, ts_system_create(context, &desc, &system), TS_ERROR_LIMIT, "2147483647", "2");
  desc.components = 1;
  CHECK_FAILS(context, ts_system_create(context, &desc, &system), TS_ERROR_LIMIT, "2147483647", "2147482624");
  CHECK_FAILS(NULL, ts_system_begin(NULL), TS_ERROR_INVALID_ARGUMENT, "system");
  CHECK_FAILS(NULL, ts_system_solve(NULL, NULL, NULL), TS_ERROR_INVALID_ARGUMENT, "system");
  ts_system_destroy(NULL);
  ts_system_destroy(&system);
  CHECK(ts_system_get_context(NULL) == NULL && ts_system_get_vector(NULL) == NULL &&
        ts_system_get_matrix(NULL) == NULL);
  CHECK(!ts_system_is_locked(NULL, 0));
}

static void unknowns(void) {
  ts_system *system = make((ts_system_desc){.unknowns = 4, .components = 2});
  const double good[2] = {1, 2}, bad[2] = {1, NAN}, huge[2] = {1e39, 0};
  double read[8] = {0}, all[8] = {1, 2, 3, 4, 5, -INFINITY, 7, 8};
  INVALID(ts_system_set_value(system, 4, good), "unknown 4", "3");
  INVALID(ts_system_set_value(system, -1, good), "unknown -1");
  INVALID(ts_system_set_value(system, 2, bad), "unknown 2", "nan", "component 1");
  INVALID(ts_system_set_value(system, 2, huge), "unknown 2", "1e+39");
  INVALID(ts_system_set_value(system, 2, NULL), "value");
  INVALID(ts_system_get_value(system, 4, read), "unknown 4");
  INVALID(ts_system_get_value(system, 0, NULL), "value");
  INVALID(ts_system_set_values(system, ts_host(all, 8)), "unknown 2", "-inf");
  INVALID(ts_system_set_values(system, ts_host(all, 4)), "4", "8");
  INVALID(ts_system_get_values(system, ts_host(read, 9)), "9", "8");
  INVALID(ts_system_lock(system, 4), "unknown 4");
  INVALID(ts_system_unlock(system, -7), "unknown -7");
  CHECK_OK(context, ts_system_get_values(system, ts_host(read, 8)));
  for (int k = 0; k < 8; k++) CHECK(read[k] == 0);
  ts_system_destroy(&system);
}

/* The state machine: each call in every state in which it is invalid. */
static void out_of_order(void) {
  ts_system *system = make((ts_system_desc){.unknowns = 3});
  const double one = 1;
  const int32_t first = 0;
  ts_system_result result;
  INVALID(ts_system_solve(system, NULL, &result), "no equations", "ts_system_begin");
  INVALID(ts_system_begin_row(system), "ts_system_begin_row", "ts_system_begin comes first");
  INVALID(ts_system_coefficient(system, 0, 1), "ts_system_coefficient", "ts_system_begin comes first");
  INVALID(ts_system_right_hand_side(system, 0, 1), "ts_system_begin comes first");
  INVALID(ts_system_end_row(system, 1), "ts_system_begin comes first");
  INVALID(ts_system_row(system, 1, &first, &one, &one, 1), "ts_system_begin comes first");
  INVALID(ts_system_add(system, 0, 0, 1), "ts_system_begin comes first");
  INVALID(ts_system_add_right_hand_side(system, 0, 0, 1), "ts_system_begin comes first");
  INVALID(ts_system_end(system), "ts_system_begin comes first");
  INVALID(ts_system_set_right_hand_side(system, 0, &one), "no equations");

  CHECK_OK(context, ts_system_begin(system));
  INVALID(ts_system_begin(system), "ts_system_end comes first");
  INVALID(ts_system_coefficient(system, 0, 1), "no row is open");
  INVALID(ts_system_right_hand_side(system, 0, 1), "no row is open");
  INVALID(ts_system_end_row(system, 1), "no row is open");
  INVALID(ts_system_solve(system, NULL, &result), "ts_system_end comes first");
  INVALID(ts_system_set_right_hand_sides(system, ts_host(&one, 1)), "ts_system_end comes first");
  INVALID(ts_system_end(system), "no equation has a coefficient");

  CHECK_OK(context, ts_system_begin_row(system));
  INVALID(ts_system_begin(system), "ts_system_end comes first");
  INVALID(ts_system_begin_row(system), "a row is open", "ts_system_end_row");
  INVALID(ts_system_row(system, 1, &first, &one, &one, 1), "a row is open");
  INVALID(ts_system_add(system, 0, 0, 1), "a row is open");
  INVALID(ts_system_add_right_hand_side(system, 0, 0, 1), "a row is open");
  INVALID(ts_system_end(system), "a row is open");
  INVALID(ts_system_solve(system, NULL, &result), "ts_system_end comes first");

  /* Earlier rows are kept: rows 1 and 2 complete the chain. */
  CHECK_OK(context, ts_system_coefficient(system, 0, 2));
  CHECK_OK(context, ts_system_coefficient(system, 1, -1));
  CHECK_OK(context, ts_system_right_hand_side(system, 0, 1));
  CHECK_OK(context, ts_system_end_row(system, 1));
  INVALID(ts_system_end(system), "1 rows", "3 unknowns");
  CHECK_OK(context, ts_system_row(system, 3, (const int32_t[]){0, 1, 2}, (const double[]){-1, 2, -1}, &one, 1));
  CHECK_OK(context, ts_system_row(system, 2, (const int32_t[]){1, 2}, (const double[]){-1, 2}, &one, 1));
  INVALID(ts_system_begin_row(system), "row 3", "least_squares");
  INVALID(ts_system_row(system, 1, &first, &one, &one, 1), "row 3");
  CHECK_OK(context, ts_system_end(system));
  INVALID(ts_system_end(system), "ts_system_begin comes first");
  INVALID(ts_system_row(system, 1, &first, &one, &one, 1), "ts_system_begin comes first");
  check_chain(system, 3);
  ts_system_destroy(&system);
}

static void bad_numbers(void) {
  ts_system *system = make((ts_system_desc){.unknowns = 3});
  CHECK_OK(context, ts_system_begin(system));
  CHECK_OK(context, ts_system_begin_row(system));
  INVALID(ts_system_coefficient(system, 3, 1), "unknown 3", "2");
  INVALID(ts_system_coefficient(system, -1, 1), "unknown -1");
  INVALID(ts_system_coefficient(system, 1, NAN), "row 0", "unknown 1", "nan");
  INVALID(ts_system_coefficient(system, 1, -INFINITY), "row 0", "unknown 1", "-inf");
  INVALID(ts_system_right_hand_side(system, 1, 1), "component", "1");
  INVALID(ts_system_right_hand_side(system, 0, NAN), "row 0", "nan");
  INVALID(ts_system_end_row(system, -2), "row 0", "-2");
  INVALID(ts_system_end_row(system, NAN), "row 0", "nan");
  INVALID(ts_system_end_row(system, 0), "row 0", "weight is 0");
  CHECK_OK(context, ts_system_coefficient(system, 0, 2));
  CHECK_OK(context, ts_system_coefficient(system, 1, -1));
  CHECK_OK(context, ts_system_right_hand_side(system, 0, 1));
  CHECK_OK(context, ts_system_end_row(system, 1));
  const int32_t all[] = {0, 1, 2}, wrong[] = {0, 7, 2};
  const double a[] = {-1, 2, -1}, bad[] = {-1, 2, NAN}, one = 1, infinite = INFINITY;
  INVALID(ts_system_row(system, 3, wrong, a, &one, 1), "unknown 7");
  INVALID(ts_system_row(system, 3, all, bad, &one, 1), "row 1", "unknown 2", "nan");
  INVALID(ts_system_row(system, 3, all, a, &infinite, 1), "row 1", "inf");
  INVALID(ts_system_row(system, 3, all, a, &one, -1), "row 1", "-1");
  INVALID(ts_system_row(system, -3, all, a, &one, 1), "count", "-3");
  INVALID(ts_system_row(system, 3, NULL, a, &one, 1), "unknowns");
  INVALID(ts_system_row(system, 3, all, NULL, &one, 1), "coefficients");
  INVALID(ts_system_add(system, 3, 0, 1), "equation 3");
  INVALID(ts_system_add(system, 0, 3, 1), "unknown 3");
  INVALID(ts_system_add(system, 0, 2, NAN), "equation 0", "unknown 2", "nan");
  INVALID(ts_system_add_right_hand_side(system, -1, 0, 1), "equation -1");
  INVALID(ts_system_add_right_hand_side(system, 0, 1, 1), "component", "1");
  INVALID(ts_system_add_right_hand_side(system, 2, 0, NAN), "equation 2", "nan");
  CHECK_OK(context, ts_system_row(system, 3, all, a, &one, 1));
  CHECK_OK(context, ts_system_row(system, 2, (const int32_t[]){1, 2}, (const double[]){-1, 2}, &one, 1));
  CHECK_OK(context, ts_system_end(system));
  INVALID(ts_system_set_right_hand_side(system, 3, &one), "row 3");
  INVALID(ts_system_set_right_hand_side(system, 1, &infinite), "row 1", "inf");
  INVALID(ts_system_set_right_hand_sides(system, ts_host(a, 2)), "2", "3");
  INVALID(ts_system_set_right_hand_sides(system, ts_host(bad, 3)), "row 2", "nan");
  check_chain(system, 3);
  /* Each number is in double precision, but their combination is outside the range of single precision. */
  state_chain(system, 3);
  CHECK_OK(context, ts_system_add(system, 1, 1, 1e300));
  CHECK_OK(context, ts_system_end(system));
  INVALID(ts_system_solve(system, NULL, NULL), "equation 0", "single precision");
  state_chain(system, 3);
  CHECK_OK(context, ts_system_end(system));
  check_chain(system, 3);
  ts_system_destroy(&system);
}

static void options(void) {
  ts_system *system = make((ts_system_desc){.unknowns = 3});
  state_chain(system, 3);
  CHECK_OK(context, ts_system_end(system));
  ts_system_result result;
  ts_system_solve_desc desc = {.solver.method = (ts_method)17};
  INVALID(ts_system_solve(system, &desc, &result), "method", "17");
  desc = (ts_system_solve_desc){.normal = (ts_normal)3};
  INVALID(ts_system_solve(system, &desc, &result), "normal", "3");
  desc = (ts_system_solve_desc){.normal = TS_NORMAL_FORMED};
  INVALID(ts_system_solve(system, &desc, &result), "normal", "square");
  desc = (ts_system_solve_desc){.order = (ts_order)3};
  INVALID(ts_system_solve(system, &desc, &result), "order", "3");
  desc = (ts_system_solve_desc){.solver.rtol = 1.5};
  INVALID(ts_system_solve(system, &desc, &result), "rtol", "1.5");
  desc = (ts_system_solve_desc){.solver.atol = -1};
  INVALID(ts_system_solve(system, &desc, &result), "atol", "-1");
  desc = (ts_system_solve_desc){.format = (ts_format)77};
  INVALID(ts_system_solve(system, &desc, &result), "format", "77");
  desc = (ts_system_solve_desc){.solver.method = TS_METHOD_CGLS};
  INVALID(ts_system_solve(system, &desc, &result), "cgls", "square");
  desc = (ts_system_solve_desc){.solver.method = TS_METHOD_GMRES, .solver.restart = 1000};
  INVALID(ts_system_solve(system, &desc, &result), "restart", "1000");
  const ts_format missing = missing_format(context);
  desc = (ts_system_solve_desc){.format = missing};
  if (missing)
    CHECK_FAILS(context, ts_system_solve(system, &desc, &result), TS_ERROR_UNSUPPORTED,
                ts_format_name(missing));
  check_chain(system, 3);
  ts_system_destroy(&system);
  system = make((ts_system_desc){.unknowns = 3, .least_squares = 1});
  state_chain(system, 3);
  CHECK_OK(context, ts_system_end(system));
  desc = (ts_system_solve_desc){.solver.method = TS_METHOD_CGLS, .normal = TS_NORMAL_FORMED};
  INVALID(ts_system_solve(system, &desc, &result), "cgls", "TS_NORMAL_FORMED");
  desc = (ts_system_solve_desc){.order = TS_ORDER_RCM, .normal = TS_NORMAL_APPLIED};
  CHECK_FAILS(context, ts_system_solve(system, &desc, &result), TS_ERROR_UNSUPPORTED, "order");
  desc = (ts_system_solve_desc){.solver.method = TS_METHOD_CG, .normal = TS_NORMAL_APPLIED};
  INVALID(ts_system_solve(system, &desc, &result), "TS_NORMAL_APPLIED", "cg");
  check_chain(system, 3);
  ts_system_destroy(&system);
}

static void too_little_said(void) {
  ts_system *system = make((ts_system_desc){.unknowns = 4});
  ts_system_result result;
  /* Unknown 3 and its equation are missing. */
  CHECK_OK(context, ts_system_begin(system));
  for (int32_t i = 0; i < 3; i++) CHECK_OK(context, ts_system_add(system, i, i, 2));
  CHECK_OK(context, ts_system_end(system));
  INVALID(ts_system_solve(system, NULL, &result), "equation 3", "no coefficient");
  CHECK_OK(context, ts_system_lock(system, 3));
  CHECK_OK(context, ts_system_solve(system, NULL, &result));
  /* Unknown 3 has an equation, but is not in any. */
  CHECK_OK(context, ts_system_unlock(system, 3));
  CHECK_OK(context, ts_system_begin(system));
  for (int32_t i = 0; i < 4; i++) CHECK_OK(context, ts_system_add(system, i, i == 3 ? 0 : i, 2));
  CHECK_OK(context, ts_system_end(system));
  INVALID(ts_system_solve(system, NULL, &result), "unknown 3", "in no equation");
  /* All unknowns of equation 1 are locked. */
  CHECK_OK(context, ts_system_lock(system, 0));
  CHECK_OK(context, ts_system_lock(system, 3));
  CHECK_OK(context, ts_system_begin(system));
  CHECK_OK(context, ts_system_add(system, 1, 0, 2));
  CHECK_OK(context, ts_system_add(system, 2, 1, 2));
  CHECK_OK(context, ts_system_end(system));
  INVALID(ts_system_solve(system, NULL, &result), "equation 1", "unlocked");
  ts_system_destroy(&system);
}

/* x_k+1 - x_k = 1 for neighbours in a chain of n. */
static void state_differences(ts_system *system, int32_t n, int32_t gap) {
  const double a[] = {-1, 1}, b[] = {1};
  CHECK_OK(context, ts_system_begin(system));
  for (int32_t k = 0; k + 1 < n; k++)
    if (k != gap) CHECK_OK(context, ts_system_row(system, 2, (const int32_t[]){k, k + 1}, a, b, 1));
}

static void singular_least_squares(void) {
  ts_system *system = make((ts_system_desc){.unknowns = 9, .least_squares = 1});
  const double one = 1;
  ts_system_result result;
  CHECK_OK(context, ts_system_begin(system));
  INVALID(ts_system_add(system, 0, 0, 1), "least squares");
  INVALID(ts_system_add_right_hand_side(system, 0, 0, 1), "least squares");
  CHECK_OK(context, ts_system_row(system, 1, (const int32_t[]){1}, &one, &one, 1));
  CHECK_OK(context, ts_system_end(system));
  INVALID(ts_system_solve(system, NULL, &result), "unknown 0", "no condition");
  /* A condition with weight 0 does not count. */
  state_differences(system, 9, -1);
  CHECK_OK(context, ts_system_row(system, 1, (const int32_t[]){0}, &one, &one, 0));
  CHECK_OK(context, ts_system_end(system));
  INVALID(ts_system_solve(system, NULL, &result), "8 conditions", "9 unlocked");
  /* Enough conditions, in two parts. One part is determined only up to a constant. */
  state_differences(system, 9, 3);
  CHECK_OK(context, ts_system_row(system, 1, (const int32_t[]){0}, &one, &one, 1));
  CHECK_OK(context, ts_system_row(system, 2, (const int32_t[]){4, 8}, (const double[]){-0.1, 0.1}, &one, 1));
  CHECK_OK(context, ts_system_end(system));
  INVALID(ts_system_solve(system, NULL, &result), "unknown 4", "4 unknowns", "lock");
  const double five = 5;
  CHECK_OK(context, ts_system_set_value(system, 6, &five));
  CHECK_OK(context, ts_system_lock(system, 6));
  CHECK_OK(context, ts_system_solve(system, NULL, &result));
  double values[9];
  CHECK_OK(context, ts_system_get_values(system, ts_host(values, 9)));
  for (int k = 0; k < 4; k++) CHECK_CLOSE(values[k], 1 + k, 1e-4);
  CHECK_CLOSE(values[5], 4, 0.1);
  ts_system_destroy(&system);

  /* On request: the solution near the start. */
  system = make((ts_system_desc){.unknowns = 9, .least_squares = 1, .allow_singular = 1});
  state_differences(system, 9, -1);
  CHECK_OK(context, ts_system_end(system));
  CHECK_OK(context, ts_system_solve(system, NULL, &result));
  CHECK_OK(context, ts_system_get_values(system, ts_host(values, 9)));
  for (int k = 0; k < 9; k++) CHECK_CLOSE(values[k] - values[0], k, 1e-4);
  CHECK_CLOSE(values[4], 0, 1e-4); /* the mean of the start */
  ts_system_destroy(&system);
}

/* If the method does not converge, this is not an error, but it is reported. */
static void methods_break_down(void) {
  ts_system *system = make((ts_system_desc){.unknowns = 2});
  ts_system_result result;
  CHECK_OK(context, ts_system_begin(system));
  CHECK_OK(context, ts_system_add(system, 0, 0, 1));
  CHECK_OK(context, ts_system_add(system, 0, 1, 3));
  CHECK_OK(context, ts_system_add(system, 1, 0, -3));
  CHECK_OK(context, ts_system_add(system, 1, 1, 1));
  CHECK_OK(context, ts_system_add_right_hand_side(system, 0, 0, 1));
  CHECK_OK(context, ts_system_end(system));
  CHECK_OK(context, ts_system_solve(system, NULL, &result)); /* by another method */
  CHECK_INT(result.method, TS_METHOD_BICGSTAB);
  const ts_system_solve_desc cg = {.solver.method = TS_METHOD_CG};
  CHECK_INT(ts_system_solve(system, &cg, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_NOT_SYMMETRIC);
  CHECK_CONTAINS(result.message, "row 0, column 1");
  ts_system_destroy(&system);
}

/* ---- Memory ---- */

/* The progress of writing the equations: a call that ran out of memory is repeated. */
typedef struct progress {
  int begun, rows, ended;
} progress;

static ts_status state_row(ts_system *system, const dense *d, int row) {
  int32_t list[60];
  double a[60];
  int count = 0;
  for (int j = d->n - 1; j >= 0; j--)
    if (d->a[row * d->n + j] != 0) {
      list[count] = j;
      a[count++] = d->a[row * d->n + j];
    }
  return ts_system_row(system, count, list, a, d->b + row * d->components, d->weights[row]);
}

static ts_status state_and_solve(ts_system *system, const dense *d, int applied, progress *done) {
  const ts_system_solve_desc desc = {.solver.stop = TS_STOP_RESIDUAL,
                                     .solver.rtol = 1e-6,
                                     .normal = applied ? TS_NORMAL_APPLIED : TS_NORMAL_AUTO,
                                     .order = applied ? TS_ORDER_NATURAL : TS_ORDER_RCM};
  ts_status status = TS_OK;
  if (!done->begun) status = ts_system_begin(system);
  done->begun = 1;
  while (status == TS_OK && done->rows < d->rows) {
    status = state_row(system, d, done->rows);
    done->rows += status == TS_OK;
  }
  if (status == TS_OK && !done->ended) {
    status = ts_system_end(system);
    done->ended = status == TS_OK;
  }
  return status == TS_OK ? ts_system_solve(system, &desc, NULL) : status;
}

/* The n-th allocation fails, between the first row and the solution. The call reports it, and when memory is
 * available again everything continues from there. Returns 1 if there were at most n allocations. */
static int fail_at(const dense *d, int applied, long n) {
  ts_system *system = dense_system(context, d, 0);
  progress done = {0};
  memory.failed = 0;
  memory.countdown = n;
  const ts_status status = state_and_solve(system, d, applied, &done);
  const int finished = memory.failed == 0;
  memory.countdown = -1;
  if (finished)
    CHECK_OK(context, status);
  else
    CHECK_FAILS(context, status, TS_ERROR_OUT_OF_HOST_MEMORY, "memory");
  if (status < 0) CHECK_OK(context, state_and_solve(system, d, applied, &done));
  CHECK_CLOSE(dense_difference(system, d), 0, 2e-5);
  ts_system_destroy(&system);
  return finished;
}

static void memory_runs_out(void) {
  if (test_is_ranks()) return; /* some of these calls are rank-local; see test_ranks */
  const ts_system_desc desc = {.unknowns = 50, .least_squares = 1};
  ts_system *system = NULL;
  FAIL_EACH_CREATION(context, system, ts_system_create(context, &desc, &system));
  ts_system_destroy(&system);
  for (int kind = test_is_gl() ? 2 : 0; kind < 3; kind++) { /* the last one takes longest */
    dense d = kind ? dense_least_squares(100, 50, 3, 2, 9) : dense_square(50, 3, 1, 2, 9);
    dense_lock(&d, 3, 9, 9);
    CHECK(dense_solve(&d));
    int finished = 0;
    for (long n = 0; n < 1000 && !finished && !test_failures(); n = heap_next(n)) {
      test_context_label("kind %d, allocation %ld", kind, n);
      finished = fail_at(&d, kind == 2, n);
    }
    CHECK(finished);
    dense_free(&d);
  }
}

static ts_context_desc count_memory(int round) {
  (void)round;
  return heap_desc();
}

static const test_fixture fixture = {.context = &context, .desc = count_memory};

TEST_MAIN(CASES_WITH(&fixture, descriptors, unknowns, out_of_order, bad_numbers, options, too_little_said,
                     singular_least_squares, methods_break_down, memory_runs_out))
