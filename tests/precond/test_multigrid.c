/* Multigrid solves: every smoother in every storage and cycle converges to the requested tolerance, checked in
 * double precision. Grids have any size and any kinds of sides, with walls and jumps. */
#include "common/core/core.h"
#include "grid_solve.h"

static ts_context *context;

typedef struct method {
  ts_smoother smoother;
  ts_cycle cycle;
  int symmetric, full;
  double factor; /* the largest allowed factor for the Laplacian */
} method;

/* Factors of a model in NumPy, with a margin for small grids. */
static const method methods[] = {
    {TS_SMOOTHER_AUTO, TS_CYCLE_V, 0, 0, 0.075},       {TS_SMOOTHER_FOUR_COLOUR, TS_CYCLE_W, 0, 0, 0.07},
    {TS_SMOOTHER_FOUR_COLOUR, TS_CYCLE_F, 0, 1, 0.07}, {TS_SMOOTHER_FOUR_COLOUR, TS_CYCLE_V, 1, 0, 0.3},
    {TS_SMOOTHER_RED_BLACK, TS_CYCLE_V, 0, 0, 0.12},   {TS_SMOOTHER_JACOBI, TS_CYCLE_V, 0, 0, 0.12},
    {TS_SMOOTHER_CHEBYSHEV, TS_CYCLE_V, 0, 1, 0.2},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

static const char *label_of(const method *m) {
  static char text[80];
  snprintf(text, sizeof text, "%s, %s%s%s", ts_smoother_name(m->smoother), ts_cycle_name(m->cycle),
           m->symmetric ? ", symmetric" : "", m->full ? ", full" : "");
  return text;
}

/* Storages that the backend supports with the smoother. The first one is AUTO. */
static int list_storages(ts_smoother smoother, ts_grid_storage storages[4]) {
  const int pointwise = smoother == TS_SMOOTHER_JACOBI || smoother == TS_SMOOTHER_CHEBYSHEV;
  int count = 0;
  storages[count++] = TS_GRID_STORAGE_AUTO;
  for (int s = TS_GRID_STORAGE_PLAIN; pointwise && s <= TS_GRID_STORAGE_PARITIES; s++)
    if (context->caps.grid_storages & 1u << s) storages[count++] = (ts_grid_storage)s;
  return count;
}

/* In double precision the residual of x is at most the tolerance plus the rounding of x. */
static void check_solution(const grid_sample *sample, const float *xs, const float *bs, const ts_result *result,
                           double rtol) {
  double x_norm = 0, b_norm = 0, row = 0;
  for (size_t p = 0; p < grid_points(sample); p++) {
    double sum = 0;
    for (int k = 0; k < 9; k++) sum += fabs((double)sample->values[9 * p + (size_t)k]);
    row = fmax(row, sum);
    x_norm += (double)xs[p] * (double)xs[p];
    if (grid_has_equation(sample, p)) b_norm += (double)bs[p] * (double)bs[p];
  }
  const double rounding = 0.5 * EPSILON * row * sqrt(x_norm / b_norm);
  const double residual = grid_relative_residual(sample, xs, bs);
  CHECK_CLOSE(residual, 0, rtol + rounding);
  /* Without precise residuals the device's residual also contains rounding errors of differences between
   * neighbours. */
  CHECK_CLOSE(result->rounded_residual, residual,
              1e-3 * residual + (has_precise_residuals(context) ? 0.1 : 1) * rounding);
  CHECK(result->relative_residual <= rtol);
}

static void check_history(const ts_multigrid *multigrid, const ts_result *result) {
  int count;
  const double *history = ts_multigrid_get_history(multigrid, &count);
  const int n = result->iterations;
  if (!CHECK(n > 0 && n < TS_MULTIGRID_HISTORY) || !CHECK_INT(count, n + 1)) return;
  CHECK(history[n] == result->relative_residual);
  const int first = n > 5 ? n - 5 : 0;
  const double mean = pow(history[n] / history[first], 1.0 / (n - first));
  CHECK_CLOSE(result->factor, mean, 1e-6);
}

static void solve_with(const grid_sample *sample, ts_matrix *matrix, const method *m, ts_grid_storage storage,
                       double factor) {
  const size_t points = grid_points(sample);
  const ts_multigrid_desc desc = {.smoother = m->smoother,
                                  .storage = storage,
                                  .cycle = m->cycle,
                                  .symmetric = m->symmetric,
                                  .full = m->full,
                                  .rtol = has_precise_residuals(context) ? 1e-8 : 1e-6};
  float *bs = ref_values(points, 3, -1, 1), *xs = ref_values(points, 4, -1, 1),
        *start = malloc(points * sizeof *xs);
  memcpy(start, xs, points * sizeof *xs);
  ts_multigrid *multigrid = make_multigrid(matrix, &desc);
  ts_result result = {0};
  if (multigrid) {
    CHECK_OK(context, multigrid_solve(multigrid, ts_matrix_get_row_space(matrix), bs, xs, &result));
    CHECK_INT(result.reason, TS_REASON_CONVERGED);
    CHECK_CONTAINS(result.message, "converged");
    CHECK_CLOSE(result.factor, 0, factor);
    check_solution(sample, xs, bs, &result, desc.rtol);
    check_history(multigrid, &result);
    CHECK_GIVEN(sample, start, xs);
  }
  ts_multigrid_destroy(&multigrid);
  free(bs), free(xs), free(start);
}

/* Every method in every storage. A brief run has a quarter of them, which changes with each call. `slack`: the
 * factor may exceed that of the Laplacian by this ratio. */
static void solve_all(const char *name, grid_sample *sample, double slack) {
  static int calls;
  ts_matrix *matrix = make_stencil(context, sample);
  calls++;
  for (int k = 0; k < METHODS && matrix; k++) {
    ts_grid_storage storages[4];
    const int count = list_storages(methods[k].smoother, storages);
    for (int s = 0; s < count; s++) {
      if (test_is_brief() && (calls + k + s) % 4) continue;
      test_context_label("%s, %s, %s", name, label_of(&methods[k]), ts_grid_storage_name(storages[s]));
      solve_with(sample, matrix, &methods[k], storages[s], pow(methods[k].factor, 1 / slack));
    }
  }
  ts_matrix_destroy(&matrix);
  grid_free(sample);
}

static void laplacian(void) {
  const grid_problem problems[] = {{65, 65, "HHHH", NULL, NULL, 0}, {64, 64, "DDDD", NULL, NULL, 0},
                                   {40, 23, "DNDN", NULL, NULL, 0}, {48, 33, "PPDD", NULL, NULL, 0},
                                   {33, 40, "DNPP", NULL, NULL, 0}, {40, 32, "PPPP", NULL, NULL, 0.1f}};
  for (size_t k = 0; k < sizeof problems / sizeof problems[0]; k++) {
    char name[64];
    grid_sample sample = grid_poisson(&problems[k]);
    snprintf(name, sizeof name, "%d x %d, %s", problems[k].width, problems[k].height, problems[k].boundaries);
    solve_all(name, &sample, 1);
  }
}

static void nine_points(void) {
  grid_sample sample = grid_nine_point(65, 40);
  solve_all("nine points", &sample, 1);
}

static void walls_and_jumps(void) {
  float *blob = grid_blob(65, 64);
  unsigned char *solid = grid_obstacles(64, 65);
  grid_sample jumps = grid_poisson(&(grid_problem){65, 64, "DDNN", blob, NULL, 0});
  solve_all("a blob of 1:1000", &jumps, 2);
  grid_sample walls = grid_poisson(&(grid_problem){64, 65, "DNNN", NULL, solid, 0});
  solve_all("walls", &walls, 1.5);
  free(blob), free(solid);
}

/* Lines, few points, and odd periodic sizes, which have equal colours on both sides of the seam. */
static void odd_shapes(void) {
  const grid_problem problems[] = {{1, 1, "DDDD", NULL, NULL, 0},      {2, 2, "DNNN", NULL, NULL, 0},
                                   {700, 1, "DDNN", NULL, NULL, 0.5f}, {2, 301, "NNDN", NULL, NULL, 0.5f},
                                   {3, 3, "PPPP", NULL, NULL, 1},      {33, 17, "PPDD", NULL, NULL, 0},
                                   {25, 27, "PPPP", NULL, NULL, 0.2f}};
  for (size_t k = 0; k < sizeof problems / sizeof problems[0]; k++) {
    grid_sample sample = grid_poisson(&problems[k]);
    ts_matrix *matrix = make_stencil(context, &sample);
    for (int m = 0; m < METHODS && matrix; m += 5) { /* four colours and Jacobi */
      if (test_is_brief() && (m + (int)k) % 2) continue;
      test_context_label("%d x %d, %s, %s", problems[k].width, problems[k].height, problems[k].boundaries,
                         label_of(&methods[m]));
      solve_with(&sample, matrix, &methods[m], TS_GRID_STORAGE_AUTO, 0.3);
    }
    ts_matrix_destroy(&matrix);
    grid_free(&sample);
  }
}

/* Fewer levels, sweeps instead of an exact solution, more steps, bilinear interpolation. */
static void fields(void) {
  grid_sample sample = grid_poisson(&(grid_problem){65, 65, "DDDD", NULL, NULL, 0.01f});
  ts_matrix *matrix = make_stencil(context, &sample);
  const size_t points = grid_points(&sample);
  const struct {
    ts_multigrid_desc desc;
    int levels;
    double factor;
  } kinds[] = {
      {{.max_levels = 2}, 2, 0.075},
      {{.max_levels = 1, .coarsest_sweeps = 200, .max_cycles = 60}, 1, 0.8},
      {{.coarsest_sweeps = 40}, 3, 0.075},
      {{.pre = 2, .post = 0}, 3, 0.12},
      {{.pre = 0, .post = 2}, 3, 0.12},
      {{.pre = 3, .post = 2}, 3, 0.03},
      {{.interpolation = TS_INTERPOLATION_BILINEAR}, 3, 0.075},
      {{.smoother = TS_SMOOTHER_JACOBI, .damping = 0.8, .pre = 1, .post = 1}, 3, 0.4},
  };
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    test_context_label("fields %zu", k);
    float *bs = ref_values(points, 3, -1, 1), *xs = calloc(points, sizeof *xs);
    ts_multigrid_desc desc = kinds[k].desc;
    if (test_is_brief()) desc.rtol = 1e-3;
    ts_multigrid *multigrid = make_multigrid(matrix, &desc);
    ts_result result = {0};
    CHECK_INT(multigrid_info(multigrid).levels, kinds[k].levels);
    CHECK_OK(context, multigrid_solve(multigrid, ts_matrix_get_row_space(matrix), bs, xs, &result));
    CHECK_CLOSE(result.factor, 0, kinds[k].factor);
    /* The first cycles reduce the residual more, and a brief run has no others. */
    CHECK(test_is_brief() || result.factor >= kinds[k].factor / 20);
    check_solution(&sample, xs, bs, &result, test_is_brief() ? 1e-3 : 1e-6);
    ts_multigrid_destroy(&multigrid);
    free(bs), free(xs);
  }
  ts_matrix_destroy(&matrix);
  grid_free(&sample);
}

/* One pass of full multigrid reaches the discretisation error at any size, and ignores the content of x. */
static void full_multigrid(void) {
  for (int32_t n = 65; n <= 129; n += 64) {
    test_context_label("%d", n);
    grid_sample sample = grid_poisson(&(grid_problem){n, n, "HHHH", NULL, NULL, 0});
    ts_matrix *matrix = make_stencil(context, &sample);
    const size_t points = grid_points(&sample);
    const double pi = 3.14159265358979324, h = 1.0 / (n - 1);
    float *bs = calloc(points, sizeof *bs), *once = calloc(points, sizeof *once),
          *xs = calloc(points, sizeof *xs);
    for (int32_t j = 1; j < n - 1; j++)
      for (int32_t i = 1; i < n - 1; i++)
        bs[j * n + i] = (float)(2 * pi * pi * h * h * sin(pi * i * h) * sin(pi * j * h));
    for (size_t p = 0; p < points; p++) once[p] = grid_has_equation(&sample, p) ? 1e6f : 0;
    ts_multigrid *multigrid = make_multigrid(matrix, &(ts_multigrid_desc){.full = 1});
    multigrid_cycle(multigrid, ts_matrix_get_row_space(matrix), bs, once, 1);
    CHECK_OK(context, multigrid_solve(multigrid, ts_matrix_get_row_space(matrix), bs, xs, NULL));
    double total = 0, discretisation = 0;
    for (int32_t j = 1; j < n - 1; j++) {
      for (int32_t i = 1; i < n - 1; i++) {
        const double exact = sin(pi * i * h) * sin(pi * j * h), x = (double)xs[j * n + i];
        total = fmax(total, fabs((double)once[j * n + i] - exact));
        discretisation = fmax(discretisation, fabs(x - exact));
      }
    }
    CHECK_CLOSE(total, 0, discretisation);
    CHECK_CLOSE(discretisation, pi * pi / 12 * h * h, 0.05 * h * h);
    ts_multigrid_destroy(&multigrid);
    ts_matrix_destroy(&matrix);
    grid_free(&sample);
    free(bs), free(once), free(xs);
  }
}

TEST_MAIN(CASES_IN_CONTEXT(laplacian, nine_points, walls_and_jumps, odd_shapes, fields, full_multigrid))
