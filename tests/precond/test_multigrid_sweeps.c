/* Many smoothing steps in one call, which backends may group. The results match the host in double precision,
 * the same steps one by one, and a context without fused operations. */
#include "common/core/core.h"
#include "grid_solve.h"
#ifdef TEXSOLVE_HAVE_CUDA
#include "cuda_shared.h"
#endif

static ts_context *context;

/* Numbers of steps. A cycle with one level consists of these steps. */
static const int counts[] = {1, 2, 7, 8, 9, 16, 17, 40};
enum { COUNTS = sizeof counts / sizeof counts[0] };

#define DAMPING 0.7
/* The rounding error of one step, one per neighbour. Later steps reduce it. */
#define TOLERANCE 8

/* Wider and higher than the part that a block of threads processes, with odd and even sizes, with and without a
 * seam. */
static int get_sample(int index, grid_sample *sample, const char **name) {
  float *blob = grid_blob(71, 69);
  unsigned char *solid = grid_obstacles(68, 70);
  const struct {
    const char *name;
    grid_problem problem;
  } samples[] = {{"square", {130, 67, "DDDD", NULL, NULL, 0}},
                 {"blob", {71, 69, "DDNN", blob, NULL, 0}},
                 {"walls", {68, 70, "DNNN", NULL, solid, 0}},
                 {"tube", {72, 67, "PPDD", NULL, NULL, 0}},
                 {"wide", {500, 3, "DDNN", NULL, NULL, 0.1f}}};
  const int five_point = (int)(sizeof samples / sizeof samples[0]);
  const int found = index <= five_point;
  if (index < five_point) {
    *name = samples[index].name;
    *sample = grid_poisson(&samples[index].problem);
  } else if (found) {
    *name = "nine points";
    *sample = grid_nine_point(99, 66);
  }
  free(blob), free(solid);
  return found;
}

static double largest(const double *values, size_t count) {
  double most = 0;
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs(values[i]));
  return most;
}

/* Every error is within the tolerance of the largest value's rounding. */
static void check_field(const float *xs, const double *expected, size_t count) {
  const double most = largest(expected, count);
  double *scale = malloc(count * sizeof *scale);
  for (size_t i = 0; i < count; i++) scale[i] = most;
  CHECK_VALUES(xs, expected, scale, count, TOLERANCE);
  free(scale);
}

/* Fills shared memory with NaN, to reveal kernels that read memory which they have not written. */
static void leave_nothing(void) {
#ifdef TEXSOLVE_HAVE_CUDA
  if (strstr(test_backend, "cuda")) CHECK_INT(cuda_fill_shared(), 0);
#endif
}

/* Applies `count` cycles to b from x = 0. */
static float *cycles(ts_matrix *matrix, const ts_multigrid_desc *desc, const float *bs, int count,
                     size_t points) {
  ts_multigrid *multigrid = make_multigrid(matrix, desc);
  float *xs = calloc(points, sizeof *xs);
  leave_nothing();
  multigrid_cycle(multigrid, ts_matrix_get_row_space(matrix), bs, xs, count);
  ts_multigrid_destroy(&multigrid);
  return xs;
}

static double *widen(const float *xs, size_t count) {
  double *wide = malloc(count * sizeof *wide);
  for (size_t i = 0; i < count; i++) wide[i] = (double)xs[i];
  return wide;
}

/* One further step of Jacobi on x, which is stored in two floats per point. */
static void host_step(const grid_sample *sample, const float *bs, float *high, float *low) {
  const size_t points = grid_points(sample);
  double *product = malloc(points * sizeof *product);
  grid_apply(sample, 1, high, low, product, NULL);
  for (size_t p = 0; p < points; p++) {
    if (!grid_has_equation(sample, p)) continue;
    const double x = (double)high[p] + (double)low[p] +
                     (double)(float)DAMPING * ((double)bs[p] - product[p]) / (double)sample->values[9 * p + 4];
    high[p] = (float)x;
    low[p] = (float)(x - (double)high[p]);
  }
  free(product);
}

static void jacobi(void) {
  grid_sample sample;
  const char *name;
  for (int n = 0; get_sample(n, &sample, &name); n++) {
    const size_t points = grid_points(&sample);
    ts_matrix *matrix = make_stencil(context, &sample);
    float *bs = ref_values(points, 21, -1, 1), *high = calloc(points, sizeof *high),
          *low = calloc(points, sizeof *low);
    double *expected = malloc(points * sizeof *expected);
    for (int k = 0, steps = 0; k < COUNTS && matrix; k++) {
      for (; steps < counts[k]; steps++) host_step(&sample, bs, high, low);
      for (size_t p = 0; p < points; p++) expected[p] = (double)high[p] + (double)low[p];
      for (int s = TS_GRID_STORAGE_PLAIN; s <= TS_GRID_STORAGE_PARITIES; s++) {
        if (!(context->caps.grid_storages & 1u << s)) continue;
        if (test_is_brief() && (n + k + s) % 4) continue;
        const ts_multigrid_desc desc = {.smoother = TS_SMOOTHER_JACOBI,
                                        .storage = (ts_grid_storage)s,
                                        .damping = DAMPING,
                                        .max_levels = 1,
                                        .coarsest_sweeps = steps};
        test_context_label("%s, %s, %d steps", name, ts_grid_storage_name(desc.storage), steps);
        float *xs = cycles(matrix, &desc, bs, 1, points);
        check_field(xs, expected, points);
        free(xs);
      }
    }
    free(bs), free(high), free(low), free(expected);
    ts_matrix_destroy(&matrix);
    grid_free(&sample);
  }
}

/* Compared with the same number of cycles of one step each. */
static void colours(void) {
  grid_sample sample;
  const char *name;
  for (int n = 0; get_sample(n, &sample, &name); n++) {
    const size_t points = grid_points(&sample);
    ts_matrix *matrix = make_stencil(context, &sample);
    float *bs = ref_values(points, 22, -1, 1);
    for (int red_black = 0; red_black < 2 && matrix; red_black++) {
      ts_multigrid_desc desc = {.smoother = red_black ? TS_SMOOTHER_RED_BLACK : TS_SMOOTHER_FOUR_COLOUR,
                                .max_levels = 1};
      for (int k = 1; k < COUNTS; k += 2) {
        if (test_is_brief() && (n + k / 2 + red_black) % 4) continue;
        test_context_label("%s, %s, %d steps", name, ts_smoother_name(desc.smoother), counts[k]);
        desc.coarsest_sweeps = 1;
        float *single = cycles(matrix, &desc, bs, counts[k], points);
        desc.coarsest_sweeps = counts[k];
        float *xs = cycles(matrix, &desc, bs, 1, points);
        double *expected = widen(single, points);
        check_field(xs, expected, points);
        free(single), free(xs), free(expected);
      }
    }
    free(bs);
    ts_matrix_destroy(&matrix);
    grid_free(&sample);
  }
}

/* Chebyshev polynomials of any degree, and V-cycles with any number of steps before and after. Two cycles, so
 * that they begin from 0 and from an x. */
static void not_grouped(void) {
  ts_context_desc alone_desc = test_desc();
  alone_desc.flags |= TS_CONTEXT_NO_FUSED_OPERATIONS;
  ts_context *alone = NULL;
  REQUIRE_OK(NULL, ts_context_create(&alone_desc, &alone));
  grid_sample sample;
  const char *name;
  for (int n = 0; get_sample(n, &sample, &name); n += 5) {
    const size_t points = grid_points(&sample);
    ts_matrix *matrix = make_stencil(context, &sample), *alone_matrix = make_stencil(alone, &sample);
    float *bs = ref_values(points, 23, -1, 1);
    for (int k = 0; k < 22 && matrix && alone_matrix; k++) {
      const int steps = 1 + k % 11;
      if (test_is_brief() && (k + n / 5) % 4) continue;
      const ts_multigrid_desc desc = {.smoother = k < 11 ? TS_SMOOTHER_CHEBYSHEV : TS_SMOOTHER_JACOBI,
                                      .max_levels = 2,
                                      .coarsest_sweeps = 12 - steps,
                                      .pre = steps,
                                      .post = 12 - steps};
      test_context_label("%s, %s, V(%d,%d)", name, ts_smoother_name(desc.smoother), desc.pre, desc.post);
      float *xs = cycles(matrix, &desc, bs, 2, points), *single = cycles(alone_matrix, &desc, bs, 2, points);
      double *expected = widen(single, points);
      check_field(xs, expected, points);
      free(xs), free(single), free(expected);
    }
    free(bs);
    ts_matrix_destroy(&matrix);
    ts_matrix_destroy(&alone_matrix);
    grid_free(&sample);
  }
  test_close(&alone);
}

TEST_MAIN(CASES_IN_CONTEXT(jacobi, colours, not_grouped))
