/* The time of a CG iteration of 65536 rows and of a fluid's step of 256 x 256, for run.mjs --figures: the same
 * program runs in a browser and natively. Prints "NAME MILLISECONDS" per line, medians. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <texsolve/fluid.h>
#include <texsolve/gl.h>
#include <texsolve/texsolve.h>
#include <time.h>

enum { side = 256, rows = side * side, rounds = 9, iterations = 100, steps = 10 };

static int failures;

static void require(ts_context *context, ts_status status) {
  if (status >= 0) return;
  printf("failed: %s\n", ts_last_error(context));
  failures++;
}

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values) {
  qsort(values, rounds, sizeof *values, compare);
  return values[rounds / 2];
}

/* The five-point Laplacian of a square. */
static ts_matrix *make_matrix(ts_context *context) {
  static int32_t offsets[rows + 1], columns[5 * rows];
  static float values[5 * rows];
  int32_t n = 0;
  for (int32_t i = 0; i < rows; i++) {
    const int32_t x = i % side, y = i / side;
    const int32_t neighbours[5] = {y > 0 ? i - side : -1, x > 0 ? i - 1 : -1, i, x + 1 < side ? i + 1 : -1,
                                   y + 1 < side ? i + side : -1};
    for (int k = 0; k < 5; k++) {
      if (neighbours[k] < 0) continue;
      columns[n] = neighbours[k];
      values[n++] = neighbours[k] == i ? 4.f : -1.f;
    }
    offsets[i + 1] = n;
  }
  const ts_matrix_desc desc = {
      .csr = ts_csr_make(rows, rows, ts_host(offsets, rows + 1), ts_host(columns, n), ts_host(values, n))};
  ts_matrix *matrix = NULL;
  require(context, ts_matrix_create(context, &desc, &matrix));
  return matrix;
}

static double time_cg(ts_context *context) {
  static float ones[rows];
  double times[rounds];
  for (int i = 0; i < rows; i++) ones[i] = 1;
  ts_matrix *A = make_matrix(context);
  ts_vector *b = NULL, *x = NULL;
  ts_solver *solver = NULL;
  const ts_solver_desc desc = {.method = TS_METHOD_CG, .fixed_iterations = iterations};
  require(context, ts_vector_create(ts_matrix_get_row_space(A), NULL, &b));
  require(context, ts_vector_create(ts_matrix_get_row_space(A), NULL, &x));
  require(context, ts_vector_write(b, ts_host(ones, rows)));
  require(context, ts_solver_create(A, &desc, &solver));
  for (int round = -1; round < rounds && !failures; round++) { /* the first compiles */
    require(context, ts_vector_fill(x, 0));
    require(context, ts_context_finish(context));
    const double start = now();
    require(context, ts_solver_solve(solver, b, x, NULL));
    require(context, ts_context_finish(context));
    if (round >= 0) times[round] = now() - start;
  }
  ts_solver_destroy(&solver);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&A);
  return median(times) / iterations;
}

static double time_fluid(ts_context *context) {
  double times[rounds];
  ts_fluid_parameters parameters;
  ts_fluid_default_parameters(&parameters);
  parameters.buoyancy = 2;
  const ts_fluid_desc desc = {.width = side, .height = side, .parameters = &parameters};
  ts_fluid_source source = {.x = 0.5f, .y = 0.1f, .half_width = 0.05f, .dye = {1, 1, 1}, .temperature = 1};
  source.sets_dye = source.sets_temperature = 1;
  ts_fluid *fluid = NULL;
  require(context, ts_fluid_create(context, &desc, &fluid));
  if (!failures) require(context, ts_fluid_set_sources(fluid, &source, 1));
  for (int round = -1; round < rounds && !failures; round++) {
    require(context, ts_context_finish(context));
    const double start = now();
    for (int k = 0; k < steps; k++) require(context, ts_fluid_step(fluid, 0, NULL));
    require(context, ts_context_finish(context));
    if (round >= 0) times[round] = now() - start;
  }
  ts_fluid_destroy(&fluid);
  return median(times) / steps;
}

int main(int argc, char **argv) {
  (void)argc, (void)argv;
  ts_context *context = NULL;
  const ts_context_desc desc = {.backend = "gl"};
  require(NULL, ts_context_create(&desc, &context));
  if (failures) return 1;
  ts_gl_info info;
  require(context, ts_gl_get_info(context, &info));
  printf("exact_sums %s\n", info.exact_sums);
  printf("cg_iteration %.4f\n", 1e3 * time_cg(context));
  printf("fluid_step %.4f\n", 1e3 * time_fluid(context));
  ts_context_destroy(&context);
  return failures ? 1 : 0;
}
