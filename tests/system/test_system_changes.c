/* The system builder: changes between two solves, and the small amount of work that they repeat. */
#include "system_solve.h"

/* Browsers round times to 0.1 ms, and small systems are built in less. */
#ifdef __EMSCRIPTEN__
enum { clock_is_coarse = 1 };
#else
enum { clock_is_coarse = 0 };
#endif

/* New values of locked unknowns and new right-hand sides do not change the matrix. Locks do. */
static void changes(void) {
  for (int kind = 0; kind < 3; kind++) {
    const int least_squares = kind > 0;
    dense d = least_squares ? dense_least_squares(120, 50, 3, 3, 21) : dense_square(50, 3, 1, 3, 21);
    dense_lock(&d, 1, 10, 4);
    CHECK(dense_solve(&d));
    ts_system *system = dense_system(context, &d, 0);
    dense_state_rows(system, &d);
    ts_system_result result;
    ts_system_solve_desc desc = tight;
    if (kind == 2) desc.normal = TS_NORMAL_APPLIED;
    test_context_label("kind %d, first", kind);
    solve_and_compare(system, &d, &desc, &result);
    CHECK(clock_is_coarse || (result.seconds_build > 0 && result.seconds_layout > 0));
    const ts_matrix *matrix = ts_system_get_matrix(system);

    test_context_label("kind %d, other values", kind);
    desc.leave_on_device = 1; /* values of locked unknowns reach the device, and the others stay there */
    for (int pass = 0; pass < 2; pass++) {
      for (int c = 0; c < 3; c++) d.values[11 * 3 + c] = 7 + pass + c;
      CHECK(dense_solve(&d));
      CHECK_OK(context, ts_system_set_value(system, 11, d.values + (size_t)11 * 3));
      CHECK_OK(context, solve_system(system, &desc, &result));
      CHECK(isnan(result.relative_residual) && isnan(result.normal_residual));
      CHECK(result.seconds_build == 0 && result.seconds_layout == 0);
      float *on_device = read_vector(ts_system_get_vector(system));
      for (int c = 0; c < 3; c++) CHECK(on_device[11 * 3 + c] == (float)(7 + pass + c));
      CHECK_CLOSE(on_device[0], d.values[0], 1e-3);
      free(on_device);
    }
    CHECK_CLOSE(dense_difference(system, &d), 0, 2e-5);
    desc.leave_on_device = 0;

    test_context_label("kind %d, other right-hand sides", kind);
    for (int k = 0; k < d.rows * 3; k++) d.b[k] = 2 - 0.1 * k;
    CHECK(dense_solve(&d));
    CHECK_OK(context, ts_system_set_right_hand_sides(system, ts_host(d.b, (size_t)d.rows * 3)));
    solve_and_compare(system, &d, &desc, &result);
    CHECK(ts_system_get_matrix(system) == matrix);
    CHECK(result.seconds_build == 0 && result.seconds_layout == 0);

    test_context_label("kind %d, other coefficients", kind);
    for (int k = 0; k < d.rows * d.n; k++) d.a[k] *= 0.5;
    CHECK(dense_solve(&d));
    dense_state_rows(system, &d);
    solve_and_compare(system, &d, &desc, &result);
    CHECK(ts_system_get_matrix(system) == matrix);

    test_context_label("kind %d, other locks", kind);
    CHECK_OK(context, ts_system_unlock(system, 11));
    CHECK_OK(context, ts_system_lock(system, 12));
    CHECK(!ts_system_is_locked(system, 11) && ts_system_is_locked(system, 12));
    d.locked[11] = 0, d.locked[12] = 1;
    CHECK_OK(context, ts_system_get_value(system, 12, d.values + (size_t)12 * 3)); /* that of the solution */
    CHECK(dense_solve(&d));
    solve_and_compare(system, &d, &desc, &result);

    test_context_label("kind %d, another pattern", kind);
    d.a[3 * d.n + 40] = d.a[3 * d.n + 40] == 0 ? 0.25 : 0;
    if (!least_squares) d.a[40 * d.n + 3] = d.a[3 * d.n + 40];
    CHECK(dense_solve(&d));
    dense_state_rows(system, &d);
    solve_and_compare(system, &d, &desc, &result);
    ts_system_destroy(&system);
    dense_free(&d);
  }
}

/* A solve starts from the current values: at the solution it has nothing to do, and repeated short solves reach
 * it. */
static void starts(void) {
  dense d = dense_square(80, 3, 1, 2, 6);
  dense_lock(&d, 0, 19, 2);
  CHECK(dense_solve(&d));
  ts_system *system = dense_system(context, &d, 0);
  dense_state_rows(system, &d);
  ts_system_result result;
  ts_system_solve_desc few = {.solver.max_iterations = 2, .leave_on_device = 1};
  CHECK_INT(ts_system_solve(system, &few, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_MAX_ITERATIONS);
  CHECK_INT(result.iterations, 2);
  double before = dense_difference(system, &d);
  for (int k = 0; k < 3; k++) {
    CHECK(ts_system_solve(system, &few, &result) >= 0);
    const double after = dense_difference(system, &d);
    CHECK(after < 0.5 * before);
    before = after;
  }
  CHECK_OK(context, ts_system_set_values(system, ts_host(d.values, (size_t)d.n * 2)));
  CHECK_OK(context,
           solve_system(system, &(ts_system_solve_desc){.solver.stop = TS_STOP_RESIDUAL, .solver.rtol = 1e-5},
                        &result));
  CHECK_INT(result.iterations, 0);
  /* Sets one value at a time, after a solve with its solution still on the device. */
  for (int j = 0; j < d.n; j++) {
    const double zero[2] = {0};
    if (!d.locked[j]) CHECK_OK(context, ts_system_set_value(system, j, zero));
  }
  solve_and_compare(system, &d, &tight, &result);
  CHECK(result.iterations > 2);
  ts_system_destroy(&system);
  dense_free(&d);
}

/* Locked unknowns keep their values exactly in double precision. If all are locked, nothing is solved. */
static void all_locked(void) {
  dense d = dense_square(9, 2, 1, 1, 6);
  dense_lock(&d, 0, 1, 2);
  ts_system *system = dense_system(context, &d, 0);
  dense_state_rows(system, &d);
  ts_system_result result;
  CHECK_OK(context, solve_system(system, NULL, &result));
  CHECK_INT(result.iterations, 0);
  CHECK_INT(result.unknowns, 0);
  CHECK_CONTAINS(result.message, "all 9 unknowns are locked");
  CHECK(dense_difference(system, &d) == 0);
  CHECK(ts_system_get_vector(system) == NULL);
  CHECK_OK(context, ts_system_unlock(system, 4));
  d.locked[4] = 0;
  CHECK(dense_solve(&d));
  solve_and_compare(system, &d, &tight, &result);
  ts_system_destroy(&system);
  dense_free(&d);
}

/* Conditions with zero right-hand sides, where only locked unknowns have values, as in conformal maps. The
 * residual is relative to the terms of the locked unknowns. */
static void only_locked_values(void) {
  dense d = dense_least_squares(100, 40, 3, 1, 5);
  memset(d.b, 0, 100 * sizeof *d.b);
  dense_lock(&d, 0, 15, 5);
  CHECK(dense_solve(&d));
  ts_system *system = dense_system(context, &d, 0);
  dense_state_rows(system, &d);
  ts_system_result result;
  solve_and_compare(system, &d, &tight, &result);
  CHECK(result.normal_residual > 0);
  ts_system_destroy(&system);
  dense_free(&d);
}

/* A chain of pairs in shuffled order. */
static dense shuffled_pairs(int pairs, int components, int least_squares) {
  dense d = dense_create(2 * pairs, 2 * pairs, components, least_squares);
  for (int i = 0; i < 2 * pairs; i++)
    for (int j = 0; j < 2 * pairs; j++) {
      const int apart = abs(i / 2 - j / 2);
      const int row = 2 * (i / 2 * 7 % pairs) + i % 2, column = 2 * (j / 2 * 7 % pairs) + j % 2;
      d.a[row * d.n + column] = apart > 1 ? 0 : i == j ? 7 : i / 2 == j / 2 ? 0.5 : -0.75;
    }
  for (int k = 0; k < d.rows * components; k++) d.b[k] = 1 + k % 5;
  dense_lock(&d, 3, 17, 4);
  return d;
}

/* Another ordering on the device does not change any result, and neighbours are close together. */
static void orders(void) {
  for (int kind = 0; kind < 4; kind++) {
    const int components = kind & 1 ? 1 : 3, least_squares = kind >> 1;
    dense d = shuffled_pairs(45, components, least_squares); /* 45 is not divisible by 7 */
    CHECK(dense_solve(&d));
    test_context_label("components %d, least squares %d", components, least_squares);
    ts_system *system = dense_system(context, &d, 0);
    ts_system *pairs = NULL;
    const ts_system_desc in_pairs = {
        .unknowns = d.n, .components = components, .least_squares = least_squares, .group = 2};
    CHECK_OK(context, ts_system_create(context, &in_pairs, &pairs));
    dense_lock_system(pairs, &d);
    dense_state_rows(system, &d);
    dense_state_rows(pairs, &d);
    ts_system_solve_desc desc = tight;
    ts_system_result result, together;
    solve_and_compare(system, &d, &desc, &result);
    CHECK_INT(result.bandwidth.maximum, result.bandwidth_natural.maximum);
    for (int j = 0; j < d.n; j++) CHECK_INT(ts_system_get_index(system, j), j);
    desc.order = TS_ORDER_RCM;
    solve_and_compare(pairs, &d, &desc, &together);
    CHECK(together.bandwidth.maximum < together.bandwidth_natural.maximum / 3);
    for (int j = 0; j < d.n; j += 2)
      CHECK(ts_system_get_index(pairs, j) + 1 == ts_system_get_index(pairs, j + 1));
    solve_and_compare(system, &d, &desc, &result);
    CHECK(result.bandwidth.mean < result.bandwidth_natural.mean / 2);

    /* Locked unknowns are found, coefficients and right-hand sides follow, and the system reports the places of
     * unknowns on the device. */
    desc.leave_on_device = 1;
    for (int c = 0; c < components; c++) d.values[20 * components + c] = 9 + c;
    for (int k = 0; k < d.rows * d.n; k++) d.a[k] *= 2;
    CHECK(dense_solve(&d));
    dense_state_rows(system, &d);
    CHECK_OK(context, ts_system_set_value(system, 20, d.values + (ptrdiff_t)20 * components));
    CHECK_OK(context, solve_system(system, &desc, &result));
    float *on_device = read_vector(ts_system_get_vector(system));
    for (int j = 0; j < d.n; j++)
      CHECK_CLOSE(on_device[ts_system_get_index(system, j) * components], d.values[j * components], 1e-4);
    free(on_device);
    CHECK_CLOSE(dense_difference(system, &d), 0, 2e-5);
    CHECK_INT(ts_system_get_index(system, d.n), -1);
    CHECK_INT(ts_system_get_index(NULL, 0), -1);

    /* The original order again. */
    solve_and_compare(system, &d, &tight, &result);
    for (int j = 0; j < d.n; j++) CHECK_INT(ts_system_get_index(system, j), j);
    ts_system_destroy(&system);
    ts_system_destroy(&pairs);
    dense_free(&d);
  }
}

/* Messages name unknowns by their original numbers. */
static void rows_by_name(void) {
  dense d = shuffled_pairs(20, 1, 0);
  d.a[4 * d.n + 38] += 5;
  ts_system *system = dense_system(context, &d, 0);
  dense_state_rows(system, &d);
  const ts_system_solve_desc desc = {.solver.method = TS_METHOD_CG, .order = TS_ORDER_RCM};
  ts_system_result result;
  CHECK_INT(ts_system_solve(system, &desc, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_NOT_SYMMETRIC);
  CHECK(strstr(result.message, "row 4, column 38") || strstr(result.message, "row 38, column 4"));
  ts_system_destroy(&system);
  dense_free(&d);
}

TEST_MAIN(CASES_IN_CONTEXT(changes, orders, rows_by_name, starts, all_locked, only_locked_values))
