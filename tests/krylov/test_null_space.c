/* Null spaces that are given by the user, and constants that the library detects. Their parts are removed from
 * b and x, and singular systems take as many iterations as regular ones. */
#include "helpers.h"

enum { SIDE = 12, PIECE = SIDE * SIDE, PIECES = 2, MOST = PIECE * PIECES };

static ts_context *context;

/* D L D, with the Laplacian L of `pieces` grids with Neumann conditions. Its null space contains D^-1 times the
 * constants on each piece. */
typedef struct neumann {
  int rows, pieces;
  int32_t offsets[MOST + 1], columns[5 * MOST];
  double values[5 * MOST], units[MOST]; /* D */
  double vectors[MOST * PIECES];        /* V, not orthogonal */
} neumann;

static void add(neumann *p, int32_t *count, int i, int j, double value) {
  p->columns[*count] = j;
  p->values[(*count)++] = value * p->units[i] * p->units[j];
}

/* D spans `decades` decades, and `mass` times D^2 is added. */
static void make(neumann *p, int pieces, double decades, double scale, double mass) {
  int32_t count = 0;
  double *units = ref_doubles(MOST, 5, -0.5, 0.5);
  p->pieces = pieces;
  p->rows = PIECE * pieces;
  for (int i = 0; i < p->rows; i++) p->units[i] = decades > 0 ? pow(10, decades * units[i]) : 1;
  free(units);
  p->offsets[0] = 0;
  for (int i = 0; i < p->rows; i++) {
    const int x = i % SIDE, y = i / SIDE % SIDE;
    const double degree = (x > 0) + (x < SIDE - 1) + (y > 0) + (y < SIDE - 1);
    if (y > 0) add(p, &count, i, i - SIDE, -scale);
    if (x > 0) add(p, &count, i, i - 1, -scale);
    add(p, &count, i, i, (degree + mass) * scale);
    if (x < SIDE - 1) add(p, &count, i, i + 1, -scale);
    if (y < SIDE - 1) add(p, &count, i, i + SIDE, -scale);
    p->offsets[i + 1] = count;
    for (int v = 0; v < pieces; v++) p->vectors[i * pieces + v] = i >= v * PIECE ? 1 / p->units[i] : 0;
  }
}

static ts_csr csr_of(const neumann *p) {
  return ts_host_csr(p->rows, p->rows, p->offsets, p->columns, p->values);
}

static ts_matrix *matrix_of(const neumann *p) {
  ts_matrix *A = NULL;
  CHECK_OK(context, ts_matrix_create(context, &(ts_matrix_desc){.csr = csr_of(p), .keep_host_copy = 1}, &A));
  return A;
}

static ts_null_space_desc null_space_of(const neumann *p) {
  return (ts_null_space_desc){.count = p->pieces,
                              .vectors = ts_host(p->vectors, (size_t)(p->rows * p->pieces))};
}

static double dot(const double *x, const double *y, int count) {
  long double sum = 0;
  for (int i = 0; i < count; i++) sum += (long double)x[i] * (long double)y[i];
  return (double)sum;
}

/* The norm of x's part in the null space, relative to that of x. Each piece contributes one vector. */
static double null_part(const neumann *p, const double *x) {
  double squares = 0;
  for (int piece = 0; piece < p->pieces; piece++) {
    double v[PIECE];
    for (int i = 0; i < PIECE; i++) v[i] = 1 / p->units[piece * PIECE + i];
    const double part = dot(v, x + piece * PIECE, PIECE);
    squares += part * part / dot(v, v, PIECE);
  }
  return sqrt(squares / dot(x, x, p->rows));
}

/* b = A u plus `part` times the first piece's null vector. */
static void make_b(const neumann *p, double part, double *b) {
  double *u = ref_doubles((size_t)p->rows, 11, -1, 1);
  for (int i = 0; i < p->rows; i++) {
    b[i] = i < PIECE ? part / p->units[i] : 0;
    for (int32_t e = p->offsets[i]; e < p->offsets[i + 1]; e++) b[i] += p->values[e] * u[p->columns[e]];
  }
  free(u);
}

static double residual_of(const neumann *p, const double *b, const double *x) {
  double r[MOST];
  for (int i = 0; i < p->rows; i++) {
    long double left = b[i];
    for (int32_t e = p->offsets[i]; e < p->offsets[i + 1]; e++)
      left -= (long double)p->values[e] * (long double)x[p->columns[e]];
    r[i] = (double)left;
  }
  return sqrt(dot(r, r, p->rows) / dot(b, b, p->rows));
}

/* x starts from 1, so that it has a part to remove. */
static ts_result solve(const neumann *p, const ts_solver_desc *desc, const double *b, double *x) {
  const ts_vector_desc vector = {.precision = TS_PRECISION_DOUBLE};
  ts_matrix *A = matrix_of(p);
  ts_vector *to_b = NULL, *to_x = NULL;
  ts_result result = {.reason = TS_REASON_BREAKDOWN};
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &to_b));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &to_x));
  CHECK_OK(context, ts_vector_write(to_b, ts_host(b, (size_t)p->rows)));
  CHECK_OK(context, ts_vector_fill(to_x, 1));
  if (solve_vectors(A, to_b, to_x, desc, &result) < 0)
    test_fail(__FILE__, __LINE__, "%s", ts_last_error(context));
  CHECK_OK(context, ts_vector_read(to_x, ts_host(x, (size_t)p->rows)));
  ts_vector_destroy(&to_x), ts_vector_destroy(&to_b), ts_matrix_destroy(&A);
  return result;
}

/* With a part of b outside the range of A, and without. */
static void check_both(const neumann *p, ts_solver_desc desc) {
  double b[MOST], x[MOST];
  int iterations[2];
  for (int k = 0; k < 2; k++) {
    make_b(p, k ? 2 * p->values[0] : 0, b);
    const double least = k ? null_part(p, b) : 0;
    const ts_result result = solve(p, &desc, b, x);
    iterations[k] = result.iterations;
    if (result.reason != (k ? TS_REASON_INCOMPATIBLE : TS_REASON_CONVERGED))
      test_fail(__FILE__, __LINE__, "%s, %d: %s", ts_method_name(result.method), k, result.message);
    CHECK(residual_of(p, b, x) <= hypot(least, 1.01 * desc.rtol) * (1 + 1e-9));
    CHECK(fabs(result.incompatible - least) <= 1e-7);
    CHECK(null_part(p, x) <= 1e-12);
  }
  /* The two right-hand sides differ, but the remaining systems are equally hard. */
  if (!(iterations[1] <= 1.2 * iterations[0] + 3))
    test_fail(__FILE__, __LINE__, "%d iterations, and %d without the part", iterations[1], iterations[0]);
}

static void given(void) {
  static neumann p;
  static const ts_method methods[] = {TS_METHOD_CG, TS_METHOD_MINRES, TS_METHOD_AUTO, TS_METHOD_GMRES,
                                      TS_METHOD_BICGSTAB};
  for (int pieces = 1; pieces <= 2; pieces++)
    for (int m = 0; m < 5; m++) {
      if (test_is_brief() && pieces == 2 && m > 1) continue;
      make(&p, pieces, 1, 1, 0);
      const ts_null_space_desc null_space = null_space_of(&p);
      test_context_label("%s, %d", ts_method_name(methods[m]), pieces);
      check_both(&p, (ts_solver_desc){.method = methods[m],
                                      .rtol = 1e-8,
                                      .null_space = &null_space,
                                      .restart = methods[m] == TS_METHOD_GMRES ? 80 : 0});
    }
}

static void preconditioners(void) {
  static neumann p;
  static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_NONE, TS_PRECONDITIONER_AMG,
                                                 TS_PRECONDITIONER_CHEBYSHEV};
  make(&p, 1, 0.5, 1, 0);
  const ts_null_space_desc null_space = null_space_of(&p);
  for (int k = 0; k < 3; k++) {
    test_context_label("%s", ts_preconditioner_kind_name(kinds[k]));
    check_both(&p, (ts_solver_desc){.method = TS_METHOD_CG,
                                    .preconditioner_kind = kinds[k],
                                    .rtol = 1e-8,
                                    .precision = k == 1 ? TS_PRECISION_DOUBLE : TS_PRECISION_MIXED,
                                    .null_space = &null_space});
  }
}

static void constants(void) {
  static neumann p;
  static const double scales[] = {1, 1e-30, 1e30};
  for (int k = 0; k < 3; k++) {
    make(&p, 1, 0, scales[k], 0);
    test_context_label("%g", scales[k]);
    check_both(&p, (ts_solver_desc){.method = k == 1 ? TS_METHOD_MINRES : TS_METHOD_CG, .rtol = 1e-8});
  }
}

/* The detected null space is updated with the values. */
static void new_values(void) {
  static neumann singular, regular;
  double b[MOST], x[MOST];
  make(&singular, 1, 0, 1, 0);
  make(&regular, 1, 0, 1, 1e-9);
  make_b(&singular, 1, b);
  ts_matrix *A = matrix_of(&singular);
  ts_solver *solver = NULL;
  CHECK_OK(context, ts_solver_create(A, &(ts_solver_desc){.rtol = 1e-6, .method = TS_METHOD_CG}, &solver));
  const ts_vector_desc vector = {.precision = TS_PRECISION_DOUBLE};
  ts_vector *to_b = NULL, *to_x = NULL;
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &to_b));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &to_x));
  CHECK_OK(context, ts_vector_write(to_b, ts_host(b, PIECE)));
  for (int turn = 0; turn < 3; turn++) {
    const neumann *now = turn == 1 ? &regular : &singular;
    const ts_csr csr = csr_of(now);
    ts_result result;
    CHECK_OK(context, ts_matrix_set_values(A, &csr));
    CHECK_OK(context, ts_vector_fill(to_x, 0));
    CHECK(ts_solver_solve(solver, to_b, to_x, &result) >= 0);
    CHECK_INT(result.reason, turn == 1 ? TS_REASON_CONVERGED : TS_REASON_INCOMPATIBLE);
    CHECK_OK(context, ts_vector_read(to_x, ts_host(x, PIECE)));
    if (turn == 1)
      CHECK(residual_of(now, b, x) <= 1.01e-6);
    else
      CHECK(null_part(now, x) <= 1e-12);
  }
  ts_vector_destroy(&to_x), ts_vector_destroy(&to_b);
  ts_solver_destroy(&solver), ts_matrix_destroy(&A);
}

/* All components have the same null space. */
static void components(void) {
  static neumann p;
  double one[MOST], b[2 * MOST], xs[2 * MOST], x[MOST];
  make(&p, 1, 1, 1, 0);
  const ts_null_space_desc null_space = null_space_of(&p);
  make_b(&p, 1, one);
  for (int i = 0; i < PIECE; i++) b[2 * i] = one[i], b[2 * i + 1] = 3 * one[i];
  ts_matrix *A = matrix_of(&p);
  const ts_vector_desc vector = {.components = 2, .precision = TS_PRECISION_DOUBLE};
  ts_vector *to_b = NULL, *to_x = NULL;
  ts_result result;
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &to_b));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &to_x));
  CHECK_OK(context, ts_vector_write(to_b, ts_host(b, 2 * PIECE)));
  CHECK(solve_vectors(A, to_b, to_x,
                      &(ts_solver_desc){.method = TS_METHOD_CG, .rtol = 1e-8, .null_space = &null_space},
                      &result) >= 0);
  CHECK_INT(result.reason, TS_REASON_INCOMPATIBLE);
  CHECK_CLOSE(result.incompatible, null_part(&p, one), 1e-7);
  CHECK_OK(context, ts_vector_read(to_x, ts_host(xs, 2 * PIECE)));
  for (int c = 0; c < 2; c++) {
    for (int i = 0; i < PIECE; i++) x[i] = xs[2 * i + c] / (c ? 3 : 1);
    CHECK(null_part(&p, x) <= 1e-12);
    CHECK(residual_of(&p, one, x) <= null_part(&p, one) * (1 + 1e-9));
  }
  ts_vector_destroy(&to_x), ts_vector_destroy(&to_b), ts_matrix_destroy(&A);
}

static void fixed_iterations(void) {
  static neumann p;
  double b[MOST], x[MOST];
  make(&p, 1, 1, 1, 0);
  const ts_null_space_desc null_space = null_space_of(&p);
  make_b(&p, 1, b);
  const ts_result result = solve(
      &p, &(ts_solver_desc){.method = TS_METHOD_CG, .fixed_iterations = 60, .null_space = &null_space}, b, x);
  CHECK_INT(result.reason, TS_REASON_FIXED_ITERATIONS);
  CHECK(null_part(&p, x) <= 1e-5);
  CHECK(residual_of(&p, b, x) <= null_part(&p, b) * (1 + 1e-3));
}

static void refuse(const neumann *p, const ts_null_space_desc *null_space, ts_method method, const char *text) {
  ts_matrix *A = matrix_of(p);
  ts_solver *solver = NULL;
  const ts_solver_desc desc = {.method = method, .null_space = null_space};
  CHECK_INT(ts_solver_create(A, &desc, &solver), TS_ERROR_INVALID_ARGUMENT);
  CHECK(!solver);
  CHECK_CONTAINS(ts_last_error(context), text);
  ts_matrix_destroy(&A);
}

static void refused(void) {
  static neumann p;
  make(&p, 2, 1, 1, 0);
  ts_null_space_desc n = null_space_of(&p);
  refuse(&p, &n, TS_METHOD_LSMR, "null_space is set, which lsmr does not support");
  n.count = 9;
  refuse(&p, &n, TS_METHOD_CG, "null_space.count is 9; it must be 1 to 8");
  n.count = 1;
  refuse(&p, &n, TS_METHOD_CG, "null_space.vectors");
  n.count = 2;
  n.reserved[0] = 1;
  refuse(&p, &n, TS_METHOD_CG, "null_space.");
  n.reserved[0] = 0;
  p.vectors[7] = NAN;
  refuse(&p, &n, TS_METHOD_CG, "null_space.vectors[3][1] is nan");
  for (int i = 0; i < p.rows; i++) p.vectors[2 * i + 1] = 3 * p.vectors[2 * i];
  refuse(&p, &n, TS_METHOD_CG, "vector 1 is a combination of those before it");
  for (int i = 0; i < p.rows; i++) p.vectors[2 * i] = 0;
  refuse(&p, &n, TS_METHOD_CG, "vector 0 is 0");
  make(&p, 1, 1, 1, 0);
  n = null_space_of(&p);
  p.values[1] *= 2;
  refuse(&p, &n, TS_METHOD_GMRES, "null_space is for symmetric matrices");
}

static const test_fixture fixture = {.context = &context, .needs_pairs = 1};

TEST_MAIN(CASES_WITH(&fixture, given, preconditioners, constants, new_values, components, fixed_iterations,
                     refused))
