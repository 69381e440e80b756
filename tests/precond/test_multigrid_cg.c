/* One cycle of multigrid as the preconditioner of conjugate gradients: it is symmetric, and few iterations are
 * needed. */
#include "krylov_solve.h"
#include "common/core/core.h"
#include "grid_solve.h"

static ts_context *context;

static double dot(const float *x, const float *y, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += (double)x[i] * (double)y[i];
  return sum;
}

/* |(z1, M z2) - (M z1, z2)| relative to |z1| |M z2| + |M z1| |z2|. */
static double asymmetry(const grid_sample *sample, ts_matrix *matrix, const ts_multigrid_desc *desc) {
  const size_t points = grid_points(sample);
  float *z[2], *mz[2];
  ts_multigrid *multigrid = make_multigrid(matrix, desc);
  ts_preconditioner *cycle = make_cycle(multigrid);
  for (int k = 0; k < 2; k++) {
    z[k] = ref_values(points, 61 + (uint64_t)k, -1, 1);
    mz[k] = calloc(points, sizeof *mz[k]);
    for (size_t p = 0; p < points; p++)
      if (!grid_has_equation(sample, p)) z[k][p] = 0;
    multigrid_cycle(multigrid, ts_matrix_get_row_space(matrix), z[k], mz[k], 1);
    CHECK(dot(z[k], mz[k], points) > 0);
  }
  const double difference = fabs(dot(z[0], mz[1], points) - dot(mz[0], z[1], points));
  const double size = sqrt(dot(z[0], z[0], points) * dot(mz[1], mz[1], points)) +
                      sqrt(dot(mz[0], mz[0], points) * dot(z[1], z[1], points));
  for (int k = 0; k < 2; k++) free(z[k]), free(mz[k]);
  ts_preconditioner_destroy(&cycle);
  ts_multigrid_destroy(&multigrid);
  return difference / size;
}

static void symmetric(void) {
  unsigned char *solid = grid_obstacles(40, 41);
  grid_sample sample = grid_poisson(&(grid_problem){40, 41, "DHNN", NULL, solid, 0});
  ts_matrix *matrix = make_stencil(context, &sample);
  for (int s = TS_SMOOTHER_JACOBI; s <= TS_SMOOTHER_FOUR_COLOUR && matrix; s++) {
    for (int cycle = TS_CYCLE_V; cycle <= TS_CYCLE_W; cycle++) {
      test_context_label("%s, %s", ts_smoother_name((ts_smoother)s), ts_cycle_name((ts_cycle)cycle));
      ts_multigrid_desc desc = {
          .smoother = (ts_smoother)s, .cycle = (ts_cycle)cycle, .pre = 2, .post = 2, .symmetric = 1};
      CHECK_CLOSE(asymmetry(&sample, matrix, &desc), 0, 1e-6);
      desc.symmetric = 0;
      /* The check above can fail: without the reversal the asymmetry is larger. */
      desc.pre = desc.post = 1;
      if (s >= TS_SMOOTHER_RED_BLACK && cycle == TS_CYCLE_V) CHECK(asymmetry(&sample, matrix, &desc) > 1e-5);
    }
  }
  ts_matrix_destroy(&matrix);
  grid_free(&sample);
  free(solid);
}

/* b = A y for a random y, so that rounding x leaves a small residual for any coefficients. NaN at points
 * without an equation. */
static float *make_right_side(const grid_sample *sample) {
  const size_t points = grid_points(sample);
  float *y = ref_values(points, 4, -1, 1);
  double *product = malloc(points * sizeof *product);
  grid_apply(sample, 1, y, NULL, product, NULL);
  for (size_t p = 0; p < points; p++) y[p] = grid_has_equation(sample, p) ? (float)product[p] : NAN;
  free(product);
  return y;
}

static void check_solve(const char *name, grid_sample *sample, const ts_multigrid_desc *desc) {
  const size_t points = grid_points(sample);
  ts_matrix *matrix = make_stencil(context, sample);
  ts_multigrid *multigrid = make_multigrid(matrix, desc);
  ts_preconditioner *cycle = make_cycle(multigrid);
  float *bs = make_right_side(sample), *xs = ref_values(points, 5, -1, 1), *start = malloc(points * sizeof *xs);
  memcpy(start, xs, points * sizeof *xs);
  const ts_solver_desc cg = {.preconditioner = cycle, .stop = TS_STOP_RESIDUAL, .rtol = 1e-5};
  ts_result result;
  test_context_label("%s", name);
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &cg, 1, bs, xs, &result));
  CHECK_INT(result.reason, TS_REASON_CONVERGED);
  CHECK(grid_relative_residual(sample, xs, bs) < 2e-5);
  CHECK(result.iterations <= 7); /* a factor of 0.2 per iteration */
  CHECK_GIVEN(sample, start, xs);
  free(bs), free(xs), free(start);
  ts_preconditioner_destroy(&cycle);
  ts_multigrid_destroy(&multigrid);
  ts_matrix_destroy(&matrix);
  grid_free(sample);
}

static void solves(void) {
  float *blob = grid_blob(64, 65), *board = grid_checkerboard(65, 64);
  unsigned char *solid = grid_obstacles(64, 65);
  static const ts_multigrid_desc jacobi = {.smoother = TS_SMOOTHER_JACOBI, .pre = 2, .post = 2};
  static const ts_multigrid_desc w = {.cycle = TS_CYCLE_W};
  grid_sample sample = grid_poisson(&(grid_problem){65, 65, "DDDD", NULL, NULL, 0});
  check_solve("Laplacian", &sample, NULL);
  sample = grid_poisson(&(grid_problem){65, 65, "HHHH", NULL, NULL, 0});
  check_solve("Laplacian, given values", &sample, &jacobi);
  sample = grid_poisson(&(grid_problem){64, 65, "DNNN", NULL, solid, 0});
  check_solve("walls", &sample, NULL);
  sample = grid_poisson(&(grid_problem){64, 65, "DDDD", blob, NULL, 0});
  check_solve("blob", &sample, NULL);
  sample = grid_poisson(&(grid_problem){65, 64, "DDDD", board, NULL, 0});
  check_solve("checkerboard", &sample, &w);
  free(blob), free(board), free(solid);
}

/* A singular system is solved if b is compatible with it. */
static void neumann(void) {
  grid_sample sample = grid_poisson(&(grid_problem){48, 40, "NNNN", NULL, NULL, 0});
  const size_t points = grid_points(&sample);
  ts_matrix *matrix = make_stencil(context, &sample);
  ts_multigrid *multigrid = make_multigrid(matrix, NULL);
  ts_preconditioner *cycle = make_cycle(multigrid);
  float *bs = make_right_side(&sample), *xs = calloc(points, sizeof *xs);
  const ts_solver_desc cg = {.preconditioner = cycle};
  ts_result result;
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &cg, 1, bs, xs, &result));
  CHECK(grid_relative_residual(&sample, xs, bs) < 2e-5);
  CHECK(result.iterations < 12);
  free(bs), free(xs);
  ts_preconditioner_destroy(&cycle);
  ts_multigrid_destroy(&multigrid);
  ts_matrix_destroy(&matrix);
  grid_free(&sample);
}

/* The part of b outside the range of A counts towards the residual, so convergence is reported only if it is
 * true. */
static void incompatible(void) {
  grid_sample sample = grid_poisson(&(grid_problem){24, 20, "NNNN", NULL, NULL, 0});
  const size_t points = grid_points(&sample);
  ts_matrix *matrix = make_stencil(context, &sample);
  ts_multigrid *multigrid = make_multigrid(matrix, NULL);
  ts_preconditioner *cycle = make_cycle(multigrid);
  static const float shares[] = {0.02f, 0.6f, 1e-7f};
  for (int k = 0; k < 6; k++) {
    float *bs = make_right_side(&sample), *xs = calloc(points, sizeof *xs);
    for (size_t p = 0; p < points; p++) bs[p] = (k % 3 == 1 ? 0.2f * bs[p] : bs[p]) + 2 * shares[k % 3];
    const ts_solver_desc cg = {.preconditioner = cycle, .stop = k < 3 ? TS_STOP_RESIDUAL : TS_STOP_DELTA};
    ts_result result;
    test_context_label("a share of %g", shares[k % 3]);
    const ts_status status = krylov_solve(TS_METHOD_CG, matrix, &cg, 1, bs, xs, &result);
    const double left = grid_relative_residual(&sample, xs, bs);
    CHECK_INT(status, k % 3 == 2 ? TS_OK : TS_NOT_CONVERGED);
    CHECK_INT(result.reason, k % 3 == 2 ? TS_REASON_CONVERGED : TS_REASON_INCOMPATIBLE);
    CHECK(k % 3 == 2 ? left < 2e-5 : left > 0.01);
    CHECK_CLOSE(result.relative_residual, left, 1e-3 * left + 2e-6);
    if (k % 3 < 2) CHECK_CONTAINS(result.message, "no x reaches");
    free(bs), free(xs);
  }
  /* b has no other part, so x = 0 is optimal. */
  float *bs = malloc(points * sizeof *bs), *xs = calloc(points, sizeof *xs);
  for (size_t p = 0; p < points; p++) bs[p] = 3;
  const ts_solver_desc cg = {.preconditioner = cycle};
  ts_result result;
  CHECK_INT(krylov_solve(TS_METHOD_CG, matrix, &cg, 1, bs, xs, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_INCOMPATIBLE);
  CHECK_CLOSE(result.relative_residual, 1, 1e-3);
  free(bs), free(xs);
  ts_preconditioner_destroy(&cycle);
  ts_multigrid_destroy(&multigrid);
  ts_matrix_destroy(&matrix);
  grid_free(&sample);
}

TEST_MAIN(CASES_IN_CONTEXT(symmetric, solves, neumann, incompatible))
