/* ts_solve and ts_solver_solve_arrays, on arrays of several columns. */
#include <float.h>

#include "common/core/core.h"
#include "krylov_solve.h"

static ts_context *context;

enum { MOST_COLUMNS = 9 };

/* ||b - A x|| / ||b|| of one column. */
static double residual_of(const ref_matrix *m, const double *xs, const double *bs, size_t columns, size_t c) {
  double left = 0, size = 0;
  for (int32_t i = 0; i < m->rows; i++) {
    const double b = bs[(size_t)i * columns + c];
    double sum = b;
    for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++)
      sum -= (double)m->values[k] * xs[(size_t)m->indices[k] * columns + c];
    left += sum * sum, size += b * b;
  }
  return sqrt(left / size);
}

/* b and x as floats or doubles. */
typedef struct arrays {
  size_t columns, count;
  double *bs, *xs;
  float *float_bs, *float_xs;
} arrays;

static arrays make(const ref_matrix *m, size_t columns) {
  arrays a = {.columns = columns, .count = (size_t)m->rows * columns};
  a.bs = ref_doubles(a.count, columns, -1, 1);
  a.xs = calloc(a.count, sizeof *a.xs);
  a.float_bs = malloc(a.count * sizeof *a.float_bs);
  a.float_xs = calloc(a.count, sizeof *a.float_xs);
  for (size_t k = 0; k < a.count; k++) a.float_bs[k] = (float)a.bs[k], a.bs[k] = (double)a.float_bs[k];
  return a;
}

static void free_arrays(arrays *a) {
  free(a->bs), free(a->xs), free(a->float_bs), free(a->float_xs);
}

/* ---- Solutions ---- */

static void check_columns(const ref_matrix *m, ts_matrix *A, size_t columns, int as_floats, int warm) {
  arrays a = make(m, columns);
  const ts_solver_desc desc = {.rtol = 1e-5, .zero_start = !warm && columns % 2};
  ts_result result;
  memset(&result, 0x55, sizeof result);
  test_context_label("%zu columns of %s%s", columns, as_floats ? "floats" : "doubles", warm ? ", warm" : "");
  /* A start with wrong values is corrected, and with zero_start the values are ignored. */
  for (size_t k = 0; k < a.count; k++) a.float_xs[k] = (float)(a.xs[k] = warm ? 0.01 * (double)(k % 7) : 0);
  if (desc.zero_start)
    for (size_t k = 0; k < a.count; k++) a.float_xs[k] = k % 2 ? NAN : FLT_MAX, a.xs[k] = k % 2 ? NAN : 1e300;
  CHECK_OK(context, as_floats ? ts_solve(A, ts_host((const float *)a.float_bs, a.count),
                                         ts_host(a.float_xs, a.count), &desc, &result)
                              : ts_solve(A, ts_host((const double *)a.bs, a.count), ts_host(a.xs, a.count),
                                         &desc, &result));
  for (size_t k = 0; k < a.count && as_floats; k++) a.xs[k] = (double)a.float_xs[k];
  double worst = 0;
  for (size_t c = 0; c < columns; c++) worst = fmax(worst, residual_of(m, a.xs, a.bs, columns, c));
  CHECK(worst <= 1.05e-5);
  CHECK(result.relative_residual <= 1e-5 && result.reason == TS_REASON_CONVERGED);
  CHECK(result.iterations > 0 && result.host_synchronisations > 0);
  CHECK_CONTAINS(result.message, "converged");
  /* A second solve has no work left, and floats hold a solution that meets the tolerance. */
  if (warm || !desc.zero_start) {
    CHECK_OK(context, ts_solve(A, ts_host(a.bs, a.count), ts_host(a.xs, a.count), &desc, &result));
    CHECK_INT(result.iterations, 0);
    CHECK(result.reason <= TS_REASON_ZERO_RESIDUAL);
  }
  free_arrays(&a);
}

static void solutions(void) {
  ref_matrix m = ref_random_spd(150, 6, 3);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  for (size_t columns = 1; columns <= MOST_COLUMNS && A; columns++)
    for (int kind = 0; kind < 4; kind++) check_columns(&m, A, columns, kind % 2, kind / 2);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* On OpenGL vectors over the space of blocks have one component, so columns are solved one by one. */
static void blocks(void) {
  ref_matrix m = ref_random_spd(96, 6, 3);
  for (ts_format format = TS_FORMAT_BCRS2; format <= TS_FORMAT_BCRS4; format++) {
    if (!(context_info(context).formats & 1U << format)) continue;
    ts_matrix *A = make_matrix(context, &m, format);
    for (size_t columns = 1; columns <= MOST_COLUMNS && A; columns += 4) check_columns(&m, A, columns, 0, 0);
    ts_matrix_destroy(&A);
  }
  ref_free(&m);
}

/* A column has the same bits as in a vector that holds only its group of columns. */
static void same_as_vectors(void) {
  enum { columns = 6 };
  ref_matrix m = ref_grid(12, 9);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t n = (size_t)m.rows;
  const ts_solver_desc desc = {.method = TS_METHOD_CG, .rtol = context->caps.pairs ? 1e-6 : 1e-5};
  arrays a = make(&m, columns);
  if (A) CHECK_OK(context, ts_solve(A, ts_host(a.bs, a.count), ts_host(a.xs, a.count), &desc, NULL));
  const int width = most_components(matrix_info(A).format) < 4 ? 1 : 4;
  for (int first = 0; A && first < columns; first += width) {
    const int now = columns - first < width ? columns - first : width;
    float *part = malloc(n * (size_t)now * sizeof *part);
    for (size_t i = 0; i < n; i++)
      for (int c = 0; c < now; c++)
        part[i * (size_t)now + (size_t)c] = a.float_bs[i * columns + (size_t)(first + c)];
    ts_vector *b = make_vector(ts_matrix_get_row_space(A), now, part), *x = NULL;
    CHECK_OK(context,
             ts_vector_create(ts_matrix_get_column_space(A), &(ts_vector_desc){.components = now}, &x));
    CHECK_OK(context, solve_vectors(A, b, x, &desc, NULL));
    double *found = read_doubles(x);
    for (size_t i = 0; i < n; i++)
      for (int c = 0; c < now; c++)
        if (!CHECK(found[i * (size_t)now + (size_t)c] == a.xs[i * columns + (size_t)(first + c)])) i = n;
    free(part), free(found);
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
  }
  free_arrays(&a);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* A system with more unknowns than rows. */
static void least_squares(void) {
  ref_matrix m = ref_dense(20, 33, 5), t = ref_transpose(&m);
  enum { columns = 5 };
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO), *At = NULL;
  const ts_matrix_desc transposed = {.csr = ref_csr(&t),
                                     .row_space = ts_matrix_get_column_space(A),
                                     .column_space = ts_matrix_get_row_space(A),
                                     .keep_host_copy = 1};
  CHECK_OK(context, ts_matrix_create(context, &transposed, &At));
  double *bs = ref_doubles(20 * columns, 1, -1, 1), xs[33 * columns] = {0};
  const ts_solver_desc desc = {.method = TS_METHOD_CGLS, .transposed = At, .rtol = 1e-4};
  CHECK_OK(context, ts_solve(A, ts_host(bs, 20 * columns), HOST(xs), &desc, NULL));
  for (size_t c = 0; c < columns; c++) CHECK(residual_of(&m, xs, bs, columns, c) <= 1e-3);
  CHECK_FAILS(context, ts_solve(A, ts_host(bs, 20 * columns), ts_host(xs, 20 * columns), &desc, NULL),
              TS_ERROR_INVALID_ARGUMENT, "x has 100 numbers", "165");
  free(bs);
  ts_matrix_destroy(&At);
  ts_matrix_destroy(&A);
  ref_free(&m);
  ref_free(&t);
}

/* ---- Columns that do not converge ---- */

/* Column `bad` holds a NaN: the message names its group, and the groups before and after it are solved. */
static void one_bad_column(void) {
  enum { columns = 9 };
  ref_matrix m = ref_random_spd(80, 6, 3);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t width = most_components(matrix_info(A).format) < 4 ? 1 : 4;
  for (size_t bad = 0; bad < columns; bad += 3) {
    arrays a = make(&m, columns);
    ts_result result;
    char name[40];
    const size_t first = bad / width * width, last = first + width > columns ? columns - 1 : first + width - 1;
    test_context_label("column %zu", bad);
    a.bs[11 * columns + bad] = NAN;
    snprintf(name, sizeof name, first == last ? "column %zu: " : "columns %zu to %zu: ", first, last);
    CHECK_FAILS(
        context,
        ts_solve(A, ts_host(a.bs, a.count), ts_host(a.xs, a.count), &(ts_solver_desc){.rtol = 1e-5}, &result),
        TS_NOT_CONVERGED, name, "NaN");
    CHECK_INT(result.reason, TS_REASON_NAN_INPUT);
    CHECK_CONTAINS(result.message, name);
    for (size_t c = 0; c < columns; c++)
      if (c < first || c > last) CHECK(residual_of(&m, a.xs, a.bs, columns, c) <= 1.05e-5);
    for (size_t k = 0; k < a.count; k++)
      if (!CHECK(isfinite(a.xs[k]))) break;
    free_arrays(&a);
  }
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* No column converges within the iterations: every group is tried, and the first reason is reported. */
static void no_column(void) {
  ref_matrix m = ref_grid(20, 20);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  arrays a = make(&m, 8);
  ts_result one, all;
  const ts_solver_desc desc = {
      .max_iterations = 2, .check_interval = 1, .rtol = 1e-6, .precision = TS_PRECISION_SINGLE};
  CHECK(ts_solve(A, ts_host(a.bs, (size_t)m.rows), ts_host(a.xs, (size_t)m.rows), &desc, &one) ==
        TS_NOT_CONVERGED);
  CHECK_INT(one.reason, TS_REASON_MAX_ITERATIONS);
  CHECK(strncmp(one.message, "column", 6) != 0); /* a single column is not numbered */
  memset(a.xs, 0, a.count * sizeof *a.xs);
  CHECK_FAILS(context, ts_solve(A, ts_host(a.bs, a.count), ts_host(a.xs, a.count), &desc, &all),
              TS_NOT_CONVERGED, "columns 0 to 3: ", "maximum of 2 iterations");
  CHECK_INT(all.reason, TS_REASON_MAX_ITERATIONS);
  CHECK_INT(all.iterations % one.iterations, 0);
  CHECK(all.iterations >= 2 * one.iterations && all.host_synchronisations >= 2 * one.host_synchronisations - 1);
  CHECK(all.relative_residual > 1e-6);
  for (size_t c = 0; c < 8; c++) CHECK(residual_of(&m, a.xs, a.bs, 8, c) < 1); /* x holds the last iterates */
  free_arrays(&a);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* ---- A solver that is kept ---- */

static ts_solver *make_solver(ts_matrix *A, const ts_solver_desc *desc) {
  ts_solver *solver = NULL;
  CHECK_OK(context, ts_solver_create(A, desc, &solver));
  return solver;
}

/* The bits of ts_solve, from x0 in another array and type, from x itself and from 0, in calls one after the
 * other with other numbers of columns. */
static void kept_solver(void) {
  ref_matrix m = ref_grid(20, 20);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  const ts_solver_desc desc = {
      .method = TS_METHOD_CG, .preconditioner_kind = TS_PRECONDITIONER_JACOBI, .rtol = 1e-6, .keep_history = 1};
  ts_solver *solver = make_solver(A, &desc);
  for (size_t columns = 9; columns > 1; columns -= 2) {
    arrays a = make(&m, columns);
    const ts_array b = ts_host((const double *)a.bs, a.count);
    double *x = calloc(a.count, sizeof *x);
    ts_result expected, found;
    test_context_label("%zu columns", columns);
    CHECK_OK(context, ts_solve(A, b, ts_host(a.xs, a.count), &desc, &expected));
    CHECK_OK(context, ts_solver_solve_arrays(solver, b, (ts_array){0}, ts_host(x, a.count), &found));
    /* Later solves may begin in the precision in which the last one ended. */
    if (columns == 9) {
      CHECK(memcmp(x, a.xs, a.count * sizeof *x) == 0);
      CHECK_INT(found.iterations, expected.iterations);
    }
    for (size_t c = 0; c < columns; c++) CHECK(residual_of(&m, x, a.bs, columns, c) <= 1.05e-6);
    int count = 0;
    CHECK(ts_solver_get_history(solver, &count) != NULL);
    CHECK(count >= found.iterations); /* of all groups, each with the number of its start */
    /* The start is a solution, so that no iteration is left. */
    for (size_t k = 0; k < a.count; k++) a.float_xs[k] = (float)x[k];
    memset(x, 0, a.count * sizeof *x);
    const ts_array start = ts_host((const float *)a.float_xs, a.count);
    CHECK(ts_solver_solve_arrays(solver, b, start, ts_host(x, a.count), &found) >= 0);
    CHECK(found.iterations < expected.iterations / 4);
    memcpy(x, a.xs, a.count * sizeof *x);
    CHECK_OK(context, ts_solver_solve_arrays(solver, b, ts_host(x, a.count), ts_host(x, a.count), &found));
    CHECK_INT(found.iterations, 0);
    CHECK(memcmp(x, a.xs, a.count * sizeof *x) == 0);
    free(x);
    free_arrays(&a);
  }
  ts_solver_destroy(&solver);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

static int stop_now(const ts_progress *progress, void *user) {
  (void)progress;
  ++*(int *)user;
  return 1;
}

/* A stop ends the call: later groups are not begun, and their columns are the start. */
static void stopped(void) {
  ref_matrix m = ref_grid(30, 30);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t width = most_components(matrix_info(A).format) < 4 ? 1 : 4, columns = 9;
  int calls = 0;
  const ts_solver_desc desc = {
      .rtol = 1e-6, .check_interval = 1, .progress = stop_now, .progress_user = &calls, .method = TS_METHOD_CG};
  ts_solver *solver = make_solver(A, &desc);
  arrays a = make(&m, columns);
  for (size_t k = 0; k < a.count; k++) a.float_xs[k] = 3;
  for (int given = 0; given <= 1; given++) {
    const ts_array start = given ? ts_host((const float *)a.float_xs, a.count) : (ts_array){0};
    ts_result result;
    calls = 0;
    CHECK_INT(ts_solver_solve_arrays(solver, ts_host(a.bs, a.count), start, ts_host(a.xs, a.count), &result),
              TS_NOT_CONVERGED);
    CHECK_INT(result.reason, TS_REASON_STOPPED);
    CHECK_INT(calls, 1);
    for (size_t k = 0; k < a.count; k++)
      if (k % columns >= width && !CHECK_CLOSE(a.xs[k], given ? 3 : 0, 0)) break;
  }
  free_arrays(&a);
  ts_solver_destroy(&solver);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* ---- Refusals: x is unchanged ---- */

static void refusals(void) {
  enum { n = 30 };
  ref_matrix m = ref_random_spd(n, 4, 3);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  double bs[3 * n], xs[3 * n], kept[3 * n];
  int32_t integers[n] = {0};
  ts_result result;
  for (int k = 0; k < 3 * n; k++) bs[k] = 1, kept[k] = xs[k] = k;
#define REFUSED(b, x, desc, ...)                                                                               \
  CHECK_FAILS(context, ts_solve(A, b, x, desc, &result), TS_ERROR_INVALID_ARGUMENT, __VA_ARGS__)
  REFUSED(ts_host(bs, n - 1), ts_host(xs, n), NULL, "b has 29 numbers", "30 rows");
  REFUSED(ts_host(bs, 2 * n + 1), ts_host(xs, 2 * n), NULL, "b has 61 numbers", "30 rows");
  REFUSED(ts_host(bs, 0), ts_host(xs, 0), NULL, "b has 0 numbers");
  REFUSED(ts_host(bs, 2 * n), ts_host(xs, 3 * n), NULL, "x has 90 numbers", "60");
  REFUSED(ts_host(bs, 2 * n), ts_host(xs, n), NULL, "x has 30 numbers", "60");
  REFUSED((ts_array){0}, HOST(xs), NULL, "b is NULL");
  REFUSED(HOST(bs), (ts_array){0}, NULL, "x is NULL");
  REFUSED(ts_host(integers, n), ts_host(xs, n), NULL, "b holds integers");
  REFUSED(ts_host(bs, n), ts_host(integers, n), NULL, "x holds integers");
  REFUSED(HOST(bs), ts_host((const double *)xs, 3 * n), NULL, "x", "pointer to const");
  REFUSED(HOST(bs), HOST(xs), &(ts_solver_desc){.rtol = 2}, "rtol is 2");
  REFUSED(HOST(bs), HOST(xs), &(ts_solver_desc){.method = (ts_method)99}, "method is 99");
  ts_solver *solver = make_solver(A, NULL);
  CHECK_FAILS(context, ts_solver_solve_arrays(solver, HOST(bs), ts_host(bs, n), HOST(xs), &result),
              TS_ERROR_INVALID_ARGUMENT, "x0 has 30 numbers", "90");
  CHECK_FAILS(context,
              ts_solver_solve_arrays(solver, ts_host(bs, n), ts_host(integers, n), ts_host(xs, n), NULL),
              TS_ERROR_INVALID_ARGUMENT, "x0 holds integers");
  CHECK_FAILS(NULL, ts_solver_solve_arrays(NULL, HOST(bs), HOST(xs), HOST(xs), NULL), TS_ERROR_INVALID_ARGUMENT,
              "solver is NULL");
  ts_solver_destroy(&solver);
  CHECK_FAILS(NULL, ts_solve(NULL, HOST(bs), HOST(xs), NULL, NULL), TS_ERROR_INVALID_ARGUMENT,
              "matrix is NULL");
  CHECK(memcmp(xs, kept, sizeof xs) == 0);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* b and x may be the same array. */
static void in_place(void) {
  ref_matrix m = ref_random_spd(60, 4, 3);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  arrays a = make(&m, 2);
  memcpy(a.xs, a.bs, a.count * sizeof *a.xs);
  CHECK_OK(context, ts_solve(A, ts_host(a.xs, a.count), ts_host(a.xs, a.count), NULL, NULL));
  for (size_t c = 0; c < 2; c++) CHECK(residual_of(&m, a.xs, a.bs, 2, c) <= 1.05e-5);
  free_arrays(&a);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

TEST_MAIN(CASES_IN_CONTEXT(solutions, blocks, same_as_vectors, least_squares, one_bad_column, no_column,
                           kept_solver, stopped, refusals, in_place))
