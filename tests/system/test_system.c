/* The system builder solves what elimination in double precision solves, up to single precision, for any way to
 * write the equations. */
#include "common/core/core.h"
#include "system_solve.h"

/* True for combinations that are left out. With the first format, the library's choice, none are left out. A
 * brief run has one combination per format, with changing numbers of components, or two if all have one
 * component. */
static int is_left_out(ts_format format, int f, int components, int locked) {
  if (components > most_components(format)) return 1;
  if (!test_is_brief()) return f && (components + f + locked) % 3;
  return most_components(format) > 1 && (2 * components + locked + 3 * f) % 8;
}

static void squares(void) {
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  for (int components = 1; components <= 4; components++)
    for (int f = 0; f < format_count; f++)
      for (int locked = 0; locked < 2; locked++) {
        if (is_left_out(formats[f], f, components, locked)) continue;
        dense d = dense_square(67, 4, 1, components, 5);
        if (locked) dense_lock(&d, 3, 11, 9);
        CHECK(dense_solve(&d));
        test_context_label("%s, %d components, %s", ts_format_name(formats[f]), components,
                           locked ? "locked" : "");
        ts_system *system = dense_system(context, &d, 0);
        dense_state_rows(system, &d);
        ts_system_solve_desc desc = tight;
        desc.format = formats[f];
        ts_system_result result;
        solve_and_compare(system, &d, &desc, &result);
        CHECK_CLOSE(result.relative_residual, 0, 2e-6);
        CHECK_INT(result.unknowns, locked ? 61 : 67);
        CHECK_INT(result.method, TS_METHOD_CG);
        CHECK_INT(result.normal, TS_NORMAL_AUTO);
        if (formats[f]) CHECK_INT(result.format, formats[f]);
        ts_system_destroy(&system);
        dense_free(&d);
      }
}

static void least_squares(void) {
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  for (int components = 1; components <= 4; components++)
    for (int f = 0; f < format_count; f++)
      for (int locked = 0; locked < 2; locked++) {
        if (is_left_out(formats[f], f, components, locked)) continue;
        dense d = dense_least_squares(150, 60, 3, components, 7);
        if (locked) dense_lock(&d, 2, 9, 9);
        CHECK(dense_solve(&d));
        test_context_label("%s, %d components, %s", ts_format_name(formats[f]), components,
                           locked ? "locked" : "");
        ts_system *system = dense_system(context, &d, 0);
        dense_state_rows(system, &d);
        ts_system_solve_desc desc = tight;
        desc.format = formats[f];
        ts_system_result result;
        solve_and_compare(system, &d, &desc, &result);
        CHECK(result.relative_residual > 0.1 && result.relative_residual < 1);
        ts_system_destroy(&system);
        dense_free(&d);
      }
}

/* Different preconditioners in turn on one system. If a preconditioner needs a copy of the matrix, the system
 * makes one, and later values reach the preconditioner. */
static void preconditioners(void) {
  static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_JACOBI,    TS_PRECONDITIONER_ISAI,
                                                 TS_PRECONDITIONER_AMG,       TS_PRECONDITIONER_BLOCK_JACOBI,
                                                 TS_PRECONDITIONER_CHEBYSHEV, TS_PRECONDITIONER_NONE};
  for (int locked = 0; locked < 2; locked++) {
    dense d = dense_square(67, 4, 1, 2, 5);
    if (locked) dense_lock(&d, 3, 11, 9);
    CHECK(dense_solve(&d));
    ts_system *system = dense_system(context, &d, 0);
    for (int k = 0; k < 12; k++) {
      ts_system_solve_desc desc = tight;
      desc.solver.preconditioner_kind = kinds[k / 2];
      desc.solver.max_iterations = 1000 + k; /* a new solver with the existing preconditioner */
      ts_system_result result;
      test_context_label("%s%s", ts_preconditioner_kind_name(desc.solver.preconditioner_kind),
                         locked ? ", locked" : "");
      dense_state_rows(system, &d);
      solve_and_compare(system, &d, &desc, &result);
    }
    ts_system_destroy(&system);
    dense_free(&d);
  }
}

/* Unsymmetric coefficients use another method, which may also be requested by name. */
static void not_symmetric(void) {
  for (int components = 1; components <= 4; components++) {
    if (test_is_brief() && components / 2 == 1) continue;
    dense d = dense_square(67, 4, 0, components, 5);
    if (components & 1) dense_lock(&d, 3, 11, 9);
    CHECK(dense_solve(&d));
    test_context_label("%d components", components);
    ts_system *system = dense_system(context, &d, 0);
    dense_state_rows(system, &d);
    ts_system_result result;
    solve_and_compare(system, &d, &tight, &result);
    CHECK_INT(result.method, TS_METHOD_BICGSTAB);
    ts_system_destroy(&system);
    dense_free(&d);
  }
  dense d = dense_square(40, 4, 1, 2, 5);
  CHECK(dense_solve(&d));
  ts_system *system = dense_system(context, &d, 0);
  dense_state_rows(system, &d);
  for (ts_method method = TS_METHOD_CG; method <= TS_METHOD_GMRES; method++) {
    const double zeros[80] = {0};
    CHECK_OK(context, ts_system_set_values(system, ts_host(zeros, 80)));
    ts_system_solve_desc desc = tight;
    desc.solver.method = method;
    desc.solver.restart = method == TS_METHOD_GMRES ? 12 : 0;
    ts_system_result result;
    test_context_label("%s", ts_method_name(method));
    CHECK_INT(ts_method_from_name(ts_method_name(method)), method);
    solve_and_compare(system, &d, &desc, &result);
    CHECK_INT(result.method, method);
  }
  ts_system_destroy(&system);
  dense_free(&d);
}

/* All digits of doubles are returned, also with default precision, and locked values on the device keep
 * theirs. */
static void precisions(void) {
  static const struct {
    const char *name;
    int least_squares, symmetric;
    ts_system_solve_desc desc;
  } kinds[] = {
      {"symmetric", 0, 1, {.solver.rtol = 1e-11}},
      {"symmetric, mixed, in another order",
       0,
       1,
       {.solver.rtol = 1e-11, .solver.precision = TS_PRECISION_MIXED, .order = TS_ORDER_RCM}},
      {"applied", 1, 1, {.solver.rtol = 1e-11, .normal = TS_NORMAL_APPLIED}},
      {"normal equations", 1, 1, {.solver.rtol = 1e-11}},
      {"single", 0, 1, {.solver.rtol = 1e-5, .solver.precision = TS_PRECISION_SINGLE}},
  };
  if (!context->caps.pairs) return;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    dense d = kinds[k].least_squares ? dense_least_squares(120, 50, 3, 2, 21)
                                     : dense_square(67, 4, kinds[k].symmetric, 2, 5);
    dense_lock(&d, 1, 10, 4);
    CHECK(dense_solve(&d));
    ts_system *system = dense_system(context, &d, 0);
    dense_state_rows(system, &d);
    ts_system_solve_desc desc = kinds[k].desc;
    for (int pass = 0; pass < 2; pass++) {
      ts_system_result result;
      test_context_label("%s, pass %d", kinds[k].name, pass);
      desc.leave_on_device = pass;
      CHECK_OK(context, solve_system(system, &desc, &result));
      const int single = desc.solver.precision == TS_PRECISION_SINGLE;
      if (!pass) CHECK(result.normal_residual <= 1.1 * desc.solver.rtol);
      CHECK_CLOSE(dense_difference(system, &d), 0, single ? 2e-5 : 2e-10);
      CHECK((result.precision == TS_PRECISION_SINGLE) == single);
      CHECK_INT(result.precision_iterations[1] + result.precision_iterations[2] +
                    result.precision_iterations[3],
                result.iterations);
      d.values[(size_t)11 * 2] = 1.0 / 3;
      CHECK(dense_solve(&d));
      CHECK_OK(context, ts_system_set_value(system, 11, d.values + (size_t)11 * 2));
    }
    /* The stored matrix also serves single precision. In the other direction it is made again. */
    const ts_matrix *matrix = ts_system_get_matrix(system);
    ts_system_result result;
    test_context_label("%s, then single", kinds[k].name);
    desc.solver.rtol = 1e-5;
    desc.solver.precision = TS_PRECISION_SINGLE;
    CHECK_OK(context, solve_system(system, &desc, &result));
    CHECK_CLOSE(dense_difference(system, &d), 0, 2e-5);
    CHECK_INT(result.precision, TS_PRECISION_SINGLE);
    CHECK(ts_system_get_matrix(system) == matrix);
    desc.solver.rtol = 1e-11;
    desc.solver.precision = TS_PRECISION_AUTO;
    CHECK_OK(context, solve_system(system, &desc, &result));
    CHECK_CLOSE(dense_difference(system, &d), 0, 2e-10);
    ts_system_destroy(&system);
    dense_free(&d);
  }
}

/* In units for which squares of coefficients are outside the range of single precision. */
static void units(void) {
  for (int kind = 0; kind < 4; kind++) {
    if (test_is_brief() && kind / 2 != kind % 2) continue;
    dense d = kind & 1 ? dense_least_squares(90, 40, 3, 2, 3) : dense_square(40, 3, 1, 2, 3);
    const double unit = kind & 2 ? 1e-25 : 1e30;
    for (int k = 0; k < d.rows * d.n; k++) d.a[k] *= unit;
    for (int k = 0; k < d.rows * 2; k++) d.b[k] *= unit;
    dense_lock(&d, 5, 13, 3);
    CHECK(dense_solve(&d));
    test_context_label("least squares %d, unit %g", kind & 1, unit);
    ts_system *system = dense_system(context, &d, 0);
    dense_state_rows(system, &d);
    ts_system_result result;
    solve_and_compare(system, &d, &tight, &result);
    /* Other units at the same places also change the right-hand sides. */
    for (int k = 0; k < d.rows * d.n; k++) d.a[k] /= unit;
    for (int k = 0; k < d.rows * 2; k++) d.b[k] /= unit;
    dense_state_rows(system, &d);
    solve_and_compare(system, &d, &tight, &result);
    ts_system_destroy(&system);
    dense_free(&d);
  }
}

/* ---- Ways to write the same equations ---- */

typedef struct entry {
  int row, column;
  double value;
} entry;

/* The coefficients of `d` (only the lower triangle of a symmetric one), in pieces and in random order. */
static entry *shuffled_entries(const dense *d, int symmetric, int *count) {
  entry *entries = calloc(2 * (size_t)d->n * (size_t)d->n, sizeof *entries);
  ref_random random = {31};
  *count = 0;
  for (int i = 0; i < d->n; i++)
    for (int j = 0; j < (symmetric ? i + 1 : d->n); j++) {
      const double a = d->a[i * d->n + j], part = (double)ref_uniform(&random, -1, 1);
      if (a == 0) continue;
      const int upper = symmetric && ref_below(&random, 2); /* either triangle is accepted */
      entries[(*count)++] = (entry){upper ? j : i, upper ? i : j, a - part};
      entries[(*count)++] = (entry){i, j, part};
    }
  for (int k = *count - 1; k > 0; k--) {
    const int other = ref_below(&random, k + 1);
    const entry t = entries[k];
    entries[k] = entries[other], entries[other] = t;
  }
  return entries;
}

static void state_entries(ts_system *system, const dense *d, const entry *entries, int count) {
  CHECK_OK(context, ts_system_begin(system));
  for (int k = 0; k < count; k++)
    CHECK_OK(context, ts_system_add(system, entries[k].row, entries[k].column, entries[k].value));
  for (int i = d->n - 1; i >= 0; i--)
    for (int c = 0; c < d->components; c++) {
      const double b = d->b[i * d->components + c];
      CHECK_OK(context, ts_system_add_right_hand_side(system, i, c, b - 1));
      CHECK_OK(context, ts_system_add_right_hand_side(system, i, c, 1));
    }
  CHECK_OK(context, ts_system_end(system));
}

static void entries_in_any_order(void) {
  for (int kind = 0; kind < 4; kind++) {
    if (test_is_brief() && kind / 2 == kind % 2) continue;
    const int symmetric = kind & 1;
    dense d = dense_square(45, 4, 1, 2, 12);
    if (kind & 2) dense_lock(&d, 0, 7, 3);
    CHECK(dense_solve(&d));
    test_context_label("symmetric %d, locked %d", symmetric, kind & 2);
    ts_system *system = dense_system(context, &d, symmetric);
    int count;
    entry *entries = shuffled_entries(&d, symmetric, &count);
    state_entries(system, &d, entries, count);
    ts_system_result result;
    solve_and_compare(system, &d, &tight, &result);
    /* The same places with other numbers: the matrix is kept, and nothing is added twice. */
    const ts_matrix *matrix = ts_system_get_matrix(system);
    for (int k = 0; k < count; k++) entries[k].value *= 2;
    for (int i = 0; i < d.n * d.components; i++) d.b[i] *= 4;
    for (int j = 0; j < d.n * d.n; j++) d.a[j] *= 2;
    CHECK(dense_solve(&d));
    state_entries(system, &d, entries, count);
    solve_and_compare(system, &d, &tight, &result);
    CHECK(ts_system_get_matrix(system) == matrix);
    free(entries);
    ts_system_destroy(&system);
    dense_free(&d);
  }
}

/* begin_row .. end_row, with coefficients of one unknown in pieces, and a weight that multiplies the
 * equation. */
static void rows_in_pieces(void) {
  for (int least_squares = 0; least_squares < 2; least_squares++) {
    dense d = least_squares ? dense_least_squares(90, 40, 3, 3, 3) : dense_square(40, 3, 1, 3, 3);
    dense_lock(&d, 5, 13, 3);
    CHECK(dense_solve(&d));
    test_context_label("least squares %d", least_squares);
    ts_system *system = dense_system(context, &d, 0);
    CHECK_OK(context, ts_system_begin(system));
    for (int r = 0; r < d.rows; r++) {
      const double scale = least_squares ? 1 : 1 + 0.25 * (r % 3);
      CHECK_OK(context, ts_system_begin_row(system));
      for (int j = d.n - 1; j >= 0; j--)
        if (d.a[r * d.n + j] != 0)
          CHECK_OK(context, ts_system_coefficient(system, j, d.a[r * d.n + j] / scale - 1));
      for (int j = 0; j < d.n; j++)
        if (d.a[r * d.n + j] != 0) CHECK_OK(context, ts_system_coefficient(system, j, 1));
      for (int c = 0; c < 3; c++) {
        CHECK_OK(context, ts_system_right_hand_side(system, c, 2));
        CHECK_OK(context, ts_system_right_hand_side(system, c, d.b[r * 3 + c] / scale - 2));
      }
      CHECK_OK(context, ts_system_end_row(system, least_squares ? d.weights[r] : scale));
    }
    CHECK_OK(context, ts_system_end(system));
    ts_system_result result;
    solve_and_compare(system, &d, &tight, &result);
    /* Right-hand sides that are set later have the same meaning as in a row. */
    for (int k = 0; k < d.rows * 3; k++) d.b[k] = 1 + 0.01 * k;
    CHECK(dense_solve(&d));
    CHECK_OK(context, ts_system_begin(system));
    for (int r = 0; r < d.rows; r++) {
      const double scale = least_squares ? d.weights[r] : 1 + 0.25 * (r % 3);
      CHECK_OK(context, ts_system_begin_row(system));
      for (int j = 0; j < d.n; j++)
        if (d.a[r * d.n + j] != 0)
          CHECK_OK(context, ts_system_coefficient(system, j, d.a[r * d.n + j] / (least_squares ? 1 : scale)));
      CHECK_OK(context, ts_system_end_row(system, scale));
    }
    CHECK_OK(context, ts_system_end(system));
    for (int r = 0; r < d.rows; r++) {
      const double scale = least_squares ? 1 : 1 + 0.25 * (r % 3);
      double b[3];
      for (int c = 0; c < 3; c++) b[c] = d.b[r * 3 + c] / scale;
      CHECK_OK(context, ts_system_set_right_hand_side(system, r, b));
    }
    solve_and_compare(system, &d, &tight, &result);
    ts_system_destroy(&system);
    dense_free(&d);
  }
}

/* Rows and single entries combined, with as many rows as unlocked unknowns. */
static void rows_and_entries(void) {
  dense d = dense_square(30, 3, 1, 1, 8);
  dense_lock(&d, 4, 6, 8);
  CHECK(dense_solve(&d));
  for (int all_rows = 0; all_rows < 2; all_rows++) {
    test_context_label("all rows %d", all_rows);
    ts_system *system = dense_system(context, &d, 0);
    CHECK_OK(context, ts_system_begin(system));
    for (int i = 0; i < d.n; i++) {
      if (!all_rows && d.locked[i]) continue;
      CHECK_OK(context, ts_system_begin_row(system));
      for (int j = 0; j < d.n; j++) {
        const double a = d.a[i * d.n + j];
        if (a != 0 && j != i) CHECK_OK(context, ts_system_coefficient(system, j, a));
      }
      CHECK_OK(context, ts_system_right_hand_side(system, 0, d.b[i] / 2));
      CHECK_OK(context, ts_system_end_row(system, 1));
    }
    for (int i = 0; i < d.n; i++) {
      CHECK_OK(context, ts_system_add(system, i, i, d.a[i * d.n + i]));
      CHECK_OK(context, ts_system_add_right_hand_side(system, i, 0, d.b[i] / 2));
    }
    CHECK_OK(context, ts_system_end(system));
    ts_system_result result;
    solve_and_compare(system, &d, &tight, &result);
    ts_system_destroy(&system);
  }
  dense_free(&d);
}

/* Normal equations that are applied instead of formed. */
static void applied(void) {
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  for (int components = 1; components <= 4; components++)
    for (int f = 0; f < format_count; f++)
      for (int locked = 0; locked < 2; locked++) {
        if (is_left_out(formats[f], f, components, locked)) continue;
        dense d = dense_least_squares(150, 60, 3, components, 7);
        if (locked) dense_lock(&d, 2, 9, 9);
        CHECK(dense_solve(&d));
        test_context_label("%s, %d components, %s", ts_format_name(formats[f]), components,
                           locked ? "locked" : "");
        ts_system *system = dense_system(context, &d, 0);
        dense_state_rows(system, &d);
        ts_system_solve_desc desc = tight;
        desc.format = formats[f];
        desc.normal = locked ? TS_NORMAL_APPLIED : TS_NORMAL_AUTO;
        desc.solver.method = locked ? TS_METHOD_AUTO : TS_METHOD_CGLS;
        ts_system_result result;
        solve_and_compare(system, &d, &desc, &result);
        CHECK_INT(result.method, TS_METHOD_CGLS);
        CHECK_INT(result.normal, TS_NORMAL_APPLIED);
        CHECK_INT(result.rows, 150);
        CHECK_CONTAINS(result.choice, "asked for");
        /* Back to formed equations, with the same solution. */
        desc.normal = TS_NORMAL_FORMED;
        desc.solver.method = TS_METHOD_AUTO;
        CHECK_OK(context, ts_system_solve(system, &desc, &result));
        CHECK_CLOSE(dense_difference(system, &d), 0, 2e-5);
        CHECK_INT(result.method, TS_METHOD_CG);
        ts_system_destroy(&system);
        dense_free(&d);
      }
}

/* The library's choice: formed if A^T A is small, applied if one condition contains all unknowns. */
static void formed_or_applied(void) {
  for (int full = 0; full < 2; full++) {
    dense d = dense_least_squares(150, 60, 2, 1, 7);
    for (int j = 0; full && j < 60; j++) d.a[149 * 60 + j] = 1;
    CHECK(dense_solve(&d));
    ts_system *system = dense_system(context, &d, 0);
    dense_state_rows(system, &d);
    ts_system_result result;
    solve_and_compare(system, &d, &tight, &result);
    CHECK_INT(result.normal, full ? TS_NORMAL_APPLIED : TS_NORMAL_FORMED);
    CHECK_CONTAINS(result.choice, full ? "A and A^T applied: " : "A^T W A formed: ");
    CHECK_CONTAINS(result.choice, "MB an iteration");
    ts_system_destroy(&system);
    dense_free(&d);
  }
}

/* Pairs of unknowns that are given together are stored in blocks, also in textures, if vectors have one
 * component. On a GPU so few entries are faster without blocks. */
static void blocks(void) {
  ts_context_info info;
  REQUIRE_OK(context, ts_context_get_info(context, &info));
  for (int components = 1; components <= 2; components++)
    for (int least_squares = 0; least_squares < 2; least_squares++) {
      enum { PAIRS = 40 };
      dense d = dense_create(2 * PAIRS, 2 * PAIRS, components, least_squares);
      for (int i = 0; i < 2 * PAIRS; i++)
        for (int j = 0; j < 2 * PAIRS; j++) {
          const int apart = abs(i / 2 - j / 2);
          d.a[i * d.n + j] = apart > 1 ? 0 : i == j ? 7 : i / 2 == j / 2 ? 0.5 : -0.75;
        }
      for (int k = 0; k < d.rows * components; k++) d.b[k] = 1 + k % 3;
      CHECK(dense_solve(&d));
      test_context_label("%d components, least squares %d", components, least_squares);
      ts_system *system = dense_system(context, &d, 0);
      dense_state_rows(system, &d);
      for (int applied = 0; applied <= least_squares; applied++) {
        ts_system_solve_desc desc = tight;
        ts_system_result result;
        if (applied) desc.normal = TS_NORMAL_APPLIED;
        solve_and_compare(system, &d, &desc, &result);
        if (test_is_gl()) CHECK((result.format >= TS_FORMAT_BCRS2) == (components == 1 && !info.is_hardware));
        CHECK_CONTAINS(result.choice, ts_format_name(result.format));
        CHECK(strstr(result.choice, "asked for") == NULL || applied);
      }
      ts_system_destroy(&system);
      dense_free(&d);
    }
}

TEST_MAIN(CASES_IN_CONTEXT(squares, least_squares, applied, formed_or_applied, blocks, not_symmetric,
                           preconditioners, precisions, units, entries_in_any_order, rows_in_pieces,
                           rows_and_entries))
