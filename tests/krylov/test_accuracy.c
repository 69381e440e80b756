/* What a user reads from vectors created with default precision: the digits that the tolerance asks for, for
 * any A, b and scale. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/core.h"
#include "helpers.h"

enum { SIDE = 24, N = SIDE * SIDE };

static ts_context *context;

/* The negative Laplacian on a unit square. The unsymmetric version adds a small derivative in x. */
typedef struct laplacian {
  int32_t offsets[N + 1], indices[5 * N];
  double values[5 * N];
  float floats[5 * N];
} laplacian;

static laplacian *make_laplacian(double convection, double scale) {
  static const int dx[] = {0, -1, 0, 1, 0}, dy[] = {-1, 0, 0, 0, 1};
  laplacian *a = calloc(1, sizeof *a);
  int32_t count = 0;
  for (int i = 0; a && i < N; i++) {
    for (int k = 0; k < 5; k++) {
      const int x = i % SIDE + dx[k], y = i / SIDE + dy[k];
      if (x < 0 || x >= SIDE || y < 0 || y >= SIDE) continue;
      a->indices[count] = y * SIDE + x;
      a->values[count] = scale * (k == 2 ? 4.1 : -1 + convection * dx[k]) * (SIDE + 1) * (SIDE + 1) / 3.0;
      a->floats[count] = (float)a->values[count];
      count++;
    }
    a->offsets[i + 1] = count;
  }
  return a;
}

/* ||b - A x|| / ||b|| for the x that the user reads. */
static double residual_of(const laplacian *a, int as_floats, const double *b, const double *x) {
  long double rr = 0, bb = 0;
  for (int i = 0; i < N; i++) {
    long double r = (long double)b[i];
    for (int32_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
      r -= (long double)(as_floats ? (double)a->floats[k] : a->values[k]) * (long double)x[a->indices[k]];
    rr += r * r;
    bb += (long double)b[i] * (long double)b[i];
  }
  return (double)sqrtl(rr / bb);
}

static ts_matrix *make(const laplacian *a, int as_floats) {
  ts_matrix_desc desc = {.csr = ts_host_csr(N, N, a->offsets, a->indices, a->values)};
  if (as_floats) desc.csr.values = ts_host(a->floats, desc.csr.column_indices.count);
  ts_matrix *A = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &A));
  return A;
}

typedef struct outcome {
  ts_status status;
  ts_result result;
  double residual;
  int parts;
} outcome;

static outcome solve(const laplacian *a, int as_floats, double b_scale, const ts_vector_desc *of_x,
                     const ts_solver_desc *desc) {
  outcome o = {.status = TS_ERROR_DEVICE, .residual = NAN};
  double bs[N], xs[N];
  ts_matrix *A = make(a, as_floats);
  ts_vector *b = NULL, *x = NULL;
  for (int i = 0; i < N; i++) bs[i] = b_scale * (1 + i % 7) / 3.0;
  if (A && CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), NULL, &b)) &&
      CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), of_x, &x)) &&
      CHECK_OK(context, ts_vector_write(b, ts_host(bs, N)))) {
    o.status = solve_vectors(A, b, x, desc, &o.result);
    if (o.status < 0) test_fail(__FILE__, __LINE__, "an error: %s", ts_last_error(context));
    CHECK_OK(context, ts_vector_read(x, ts_host(xs, N)));
    o.residual = residual_of(a, as_floats, bs, xs);
    o.parts = tsi_parts(x);
  }
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&A);
  return o;
}

static void solves(void) {
  static const double rtols[] = {1e-5, 1e-10}, scales[] = {1, 1e-100, 1e60};
  for (int k = 0; context->caps.pairs && k < 36; k++) {
    const int method = TS_METHOD_CG + k % 3, as_floats = k / 3 % 2;
    const double rtol = rtols[k / 6 % 2], scale = scales[k / 12 % 3];
    if (test_is_brief() && k % 5) continue;
    laplacian *a = make_laplacian(method == TS_METHOD_CG ? 0 : 0.1, 1);
    const ts_solver_desc desc = {.method = (ts_method)method, .rtol = rtol};
    test_context_label("%s, A of %s, b about %g, rtol %g", ts_method_name(desc.method),
                       as_floats ? "floats" : "doubles", scale, rtol);
    const outcome o = solve(a, as_floats, scale, NULL, &desc);
    CHECK_INT(o.status, TS_OK);
    if (!(o.residual <= 1.02 * rtol))
      test_fail(__FILE__, __LINE__, "x has a residual of %.3g, told %.3g: %s", o.residual,
                o.result.relative_residual, o.result.message);
    if (rtol < 1e-8 || scale != 1) CHECK_INT(o.parts, 3);
    free(a);
  }
}

/* Vectors that are representable as floats stay in single precision and use no extra memory. */
static void stays_single(void) {
  laplacian *a = make_laplacian(0, 1);
  ts_matrix *A = make(a, 1);
  ts_vector *b = NULL, *x = NULL;
  const ts_solver_desc fixed = {.fixed_iterations = 5};
  if (A && CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), NULL, &b)) &&
      CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), NULL, &x))) {
    double halves[N];
    for (int i = 0; i < N; i++) halves[i] = 0.5 * i;
    CHECK_OK(context, ts_vector_write(b, ts_host(halves, N)));
    if (!test_is_ranks()) CHECK_INT(tsi_parts(b), 1); /* ranks do not communicate about this */
    CHECK_OK(context, ts_vector_fill(b, 0.25));
    CHECK_OK(context, solve_vectors(A, b, x, &fixed, NULL));
    CHECK_OK(context, solve_vectors(A, b, x, &(ts_solver_desc){.rtol = 1e-3}, NULL)); /* from a nonzero start */
    CHECK_OK(context, ts_vector_axpby(x, ts_constant(1 / 3.0), x, ts_constant(2)));
    CHECK_INT(tsi_parts(x), 1);
  }
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&A);
  free(a);
}

/* The result reports the rounding of a solution to a vector of floats. */
static void rounding_is_reported(void) {
  const ts_vector_desc floats = {.precision = TS_PRECISION_SINGLE};
  laplacian *a = make_laplacian(0, 1);
  if (context->caps.pairs) {
    const outcome o = solve(a, 0, 1, &floats, &(ts_solver_desc){.rtol = 1e-10});
    CHECK_INT(o.status, TS_OK);
    CHECK_INT(o.parts, 1);
    CHECK(o.residual > 1e-10 && o.result.relative_residual <= 1e-10);
    CHECK_CLOSE(o.result.rounded_residual, o.residual, 1e-2 * o.residual);
    CHECK_CONTAINS(o.result.message, "x holds floats, which leave a relative residual of");
    const outcome enough = solve(a, 0, 1, &floats, &(ts_solver_desc){.rtol = 1e-3});
    CHECK_INT(enough.status, TS_OK);
    CHECK(!strstr(enough.result.message, "floats"));
  }
  free(a);
}

static void check_each(const ts_vector *v, double expected, double error, const char *what) {
  double values[N];
  test_context_label("%s", what);
  CHECK_OK(context, ts_vector_read(v, ts_host(values, N)));
  for (int i = 0; i < N; i++)
    if (!CHECK_CLOSE(values[i], expected, error * fabs(expected))) break;
  test_context_label("%s", "");
}

/* Operations preserve doubles. */
static void operations(void) {
  ts_space *space = make_space(context, N);
  ts_vector *v[5] = {NULL};
  int made = 0;
  while (space && made < 5 && CHECK_OK(context, ts_vector_create(space, NULL, &v[made]))) made++;
  if (made == 5 && context->caps.pairs) {
    const double third = 1 / 3.0;
    CHECK_OK(context, ts_vector_fill(v[0], third));
    check_each(v[0], third, 0, "fill");
    CHECK_OK(context, ts_vector_copy(v[1], v[0]));
    check_each(v[1], third, 0, "copy");
    CHECK_OK(context, ts_vector_fill(v[2], 2));
    CHECK_OK(context, ts_vector_axpby(v[2], ts_constant(1), v[0], ts_constant(1)));
    check_each(v[2], 2 + third, 1e-13, "axpby");
    CHECK_OK(context, ts_vector_multiply(v[3], v[0], v[1]));
    check_each(v[3], third * third, 1e-13, "multiply");
    CHECK_OK(context, ts_vector_reciprocal(v[4], v[2]));
    check_each(v[4], 1 / (2 + third), 1e-13, "reciprocal");
  }
  while (made > 0) ts_vector_destroy(&v[--made]);
  ts_space_destroy(&space);
}

/* An application that has borrowed a vector's texture or pointer writes floats. */
static void lent(void) {
  ts_space *space = make_space(context, N);
  ts_vector *v = NULL;
  if (space && context->caps.pairs && CHECK_OK(context, ts_vector_create(space, NULL, &v))) {
    CHECK_OK(context, ts_vector_fill(v, 1 / 3.0));
    CHECK_INT(tsi_parts(v), 3);
    CHECK_OK(context, tsi_lend(v));
    CHECK_INT(tsi_parts(v), 1);
    check_each(v, (double)(float)(1 / 3.0), 0, "lent");
    CHECK_OK(context, ts_vector_fill(v, 1 / 7.0));
    CHECK_INT(tsi_parts(v), 1);
    check_each(v, (double)(float)(1 / 7.0), 0, "filled when lent");
  }
  ts_vector_destroy(&v);
  ts_space_destroy(&space);
}

/* Numbers outside the range of floats are refused instead of being read as 0 or infinity. */
static void out_of_range(void) {
  static const double scales[] = {1e-80, 1e80};
  float values[N];
  ts_space *space = make_space(context, N);
  for (int k = 0; space && context->caps.pairs && k < 2; k++) {
    ts_vector *v = NULL;
    CHECK_OK(context, ts_vector_create(space, NULL, &v));
    CHECK_OK(context, ts_vector_fill(v, scales[k]));
    check_each(v, scales[k], 1e-15, "fill");
    CHECK_FAILS(context, ts_vector_read(v, ts_host(values, N)), TS_ERROR_INVALID_ARGUMENT,
                k ? "1e+80" : "1e-80", k ? "beyond" : "below", "an array of doubles");
    ts_vector_destroy(&v);
  }
  ts_space_destroy(&space);
}

/* The multigrid of a grid: the vector has the precision that the tolerance needs. */
static void multigrid(void) {
  static const double rtols[] = {1e-2, 1e-10};
  const ts_poisson_desc poisson = {.width = 65, .height = 65};
  float *values = malloc((size_t)9 * 65 * 65 * sizeof *values);
  ts_grid_desc grid;
  context = test_is_multi() ? NULL : test_open();
  ts_space *space = NULL;
  ts_matrix *A = NULL;
  if (context && context->caps.pairs && CHECK_OK(context, ts_poisson_grid(&poisson, &grid)) &&
      CHECK_OK(context, ts_poisson_stencil(context, &poisson, ts_host(values, 9 * POINTS(&poisson)))) &&
      CHECK_OK(context, ts_grid_create(context, &grid, &space)))
    CHECK_OK(context, ts_stencil_create(space, stencil_over(space, values), &A));
  for (int k = 0; A && k < 2; k++) {
    const ts_multigrid_desc desc = {.rtol = rtols[k]};
    ts_multigrid *mg = NULL;
    ts_vector *b = NULL, *x = NULL;
    ts_result result;
    CHECK_OK(context, ts_multigrid_create(A, &desc, &mg));
    CHECK_OK(context, ts_vector_create(space, NULL, &b));
    CHECK_OK(context, ts_vector_create(space, NULL, &x));
    CHECK_OK(context, ts_vector_fill(b, 1));
    test_context_label("multigrid to %g", rtols[k]);
    CHECK_OK(context, ts_multigrid_solve(mg, b, x, &result));
    CHECK(result.rounded_residual <= rtols[k]);
    CHECK_INT(tsi_parts(x), k ? 3 : 1);
    ts_vector_destroy(&x);
    ts_vector_destroy(&b);
    ts_multigrid_destroy(&mg);
  }
  test_context_label("%s", "");
  ts_matrix_destroy(&A);
  ts_space_destroy(&space);
  free(values);
  if (context) test_close(&context);
}

TEST_MAIN(CASES_IN_CONTEXT(solves, stays_single, rounding_is_reported, operations, lent, out_of_range),
          CASES(multigrid))
