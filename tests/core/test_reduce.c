/* Reductions compared with double precision: accuracy, padding, independent components, and the same bits every
 * time. */
#include <texsolve/grid.h>

#include "helpers.h"

static ts_context *context;

static const int32_t sizes[] = {1, 2, 3, 5, 16, 17, 255, 256, 257, 1021, 4095, 4096, 4097, 65537, 300007};
enum { size_count = sizeof sizes / sizeof sizes[0] };

/* The largest error of a pairwise sum in single precision, in epsilons of the sum of magnitudes. Adding 300007
 * numbers one by one has an error of thousands of epsilons. */
#define SUM_TOLERANCE 24

static void check_sums(ts_space *space, int components, const float *xs, const float *ys, int32_t size) {
  ts_vector *x = make_vector(space, components, xs), *y = make_vector(space, components, ys);
  ts_scalars *scalars = make_scalars(context, 5);
  float *ones = malloc(sizeof *ones * (size_t)size * (size_t)components);
  for (size_t i = 0; i < (size_t)size * (size_t)components; i++) ones[i] = 1;
  CHECK_OK(context, ts_vector_dot(scalars, 0, x, y));
  CHECK_OK(context, ts_vector_dot(scalars, 1, x, x));
  CHECK_OK(context, ts_vector_sum(scalars, 2, x));
  CHECK_OK(context, ts_vector_norm(scalars, 3, x, TS_NORM_2));
  CHECK_OK(context, ts_vector_norm(scalars, 4, x, TS_NORM_INFINITY));
  float values[20];
  CHECK_OK(context, ts_scalars_read(scalars, 0, ts_host(values, 20)));
  for (int c = 0; c < 4; c++) {
    if (c >= components) { /* components that the vectors lack are 0 */
      for (int slot = 0; slot < 5; slot++) CHECK_CLOSE(values[4 * slot + c], 0, 0);
      continue;
    }
    double size_of_sum, largest = 0;
    const double dot = ref_dot((size_t)size, components, c, xs, ys, &size_of_sum);
    CHECK_CLOSE(values[c], dot, SUM_TOLERANCE * EPSILON * size_of_sum);
    const double square = ref_dot((size_t)size, components, c, xs, xs, NULL);
    CHECK_CLOSE(values[4 + c], square, SUM_TOLERANCE * EPSILON * square);
    const double sum = ref_dot((size_t)size, components, c, xs, ones, &size_of_sum);
    CHECK_CLOSE(values[8 + c], sum, SUM_TOLERANCE * EPSILON * size_of_sum);
    CHECK_CLOSE(values[12 + c], sqrt(square), SUM_TOLERANCE * EPSILON * sqrt(square));
    for (int32_t i = 0; i < size; i++)
      largest = fmax(largest, fabs((double)xs[(size_t)i * (size_t)components + c]));
    CHECK_CLOSE(values[16 + c], largest, 0);
  }
  free(ones);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_scalars_destroy(&scalars);
}

/* A brief run uses one number of components per size, which changes from size to size. */
static int is_left_out(size_t n, int components) {
  return test_is_brief() && components != 1 + (int)n % 4;
}

/* A grid's texture can have any size: no row or column at its end is skipped or counted twice. */
static void sums_over_grids(void) {
  static const int32_t shapes[][2] = {{1, 1}, {1, 7}, {7, 1}, {2, 3}, {17, 16}, {16, 17}, {33, 65}, {129, 255}};
  for (size_t n = 0; n < sizeof shapes / sizeof shapes[0]; n++)
    for (int components = 1; components <= 4; components++) {
      if (is_left_out(n, components)) continue;
      const ts_grid_desc desc = {.width = shapes[n][0], .height = shapes[n][1]};
      ts_space *grid = NULL;
      test_context_label("grid of %d x %d, %d components", desc.width, desc.height, components);
      if (!CHECK_OK(context, ts_grid_create(context, &desc, &grid))) return;
      const size_t count = (size_t)desc.width * (size_t)desc.height * (size_t)components;
      float *xs = ref_values(count, 1, 0.5f, 1), *ys = ref_values(count, 2, -1, 1);
      check_sums(grid, components, xs, ys, desc.width * desc.height);
      ts_vector *x = make_vector(grid, components, xs);
      ts_scalars *scalars = make_scalars(context, 1);
      float largest[4], expected = 0;
      for (size_t k = 0; k < count; k += (size_t)components) expected = fmaxf(expected, xs[k]);
      CHECK_OK(context, ts_vector_max(scalars, 0, x));
      read_slot(scalars, 0, largest);
      CHECK_CLOSE((double)largest[0], (double)expected, 0);
      ts_scalars_destroy(&scalars);
      ts_vector_destroy(&x);
      free(xs);
      free(ys);
      ts_space_destroy(&grid);
    }
  test_context_label("%s", "");
}

static void sums(void) {
  for (int n = 0; n < size_count; n++)
    for (int components = 1; components <= 4; components++) {
      const int32_t size = sizes[n];
      if (size > 70000 ? components % 3 != 1 : is_left_out((size_t)n, components)) continue;
      ts_space *space = make_space(context, size);
      for (int kind = 0; kind < 2; kind++) {
        test_context_label("%d x %d, %s", size, components, kind ? "positive" : "both signs");
        float *xs = ref_values((size_t)size * (size_t)components, 1, kind ? 0.5f : -1, 1);
        float *ys = ref_values((size_t)size * (size_t)components, 2, kind ? 0.5f : -1, 1);
        check_sums(space, components, xs, ys, size);
        free(xs);
        free(ys);
      }
      ts_space_destroy(&space);
    }
}

/* The maximum covers the indices only: the zeros of padding must not win against negative numbers. It is found
 * at any place. */
static void maximum(void) {
  for (int n = 0; n < size_count; n++)
    for (int components = 1; components <= 4; components++) {
      const int32_t size = sizes[n];
      if (size > 70000 ? components != 1 : is_left_out((size_t)n, components)) continue;
      test_context_label("%d x %d", size, components);
      ts_space *space = make_space(context, size);
      float *xs = ref_values((size_t)size * (size_t)components, 7, -9, -2);
      ts_vector *x = make_vector(space, components, NULL);
      ts_scalars *scalars = make_scalars(context, 1);
      const int32_t places[] = {0, size / 2, size - 1};
      for (int k = 0; k < 3; k++) {
        float kept[4], values[4];
        for (int c = 0; c < components; c++) {
          float *at = &xs[(size_t)places[k] * (size_t)components + (size_t)c];
          kept[c] = *at;
          *at = -1.5f + 0.1f * (float)c;
        }
        CHECK_OK(context, ts_vector_write(x, ts_host(xs, (size_t)size * (size_t)components)));
        CHECK_OK(context, ts_vector_max(scalars, 0, x));
        read_slot(scalars, 0, values);
        for (int c = 0; c < 4; c++)
          CHECK_CLOSE(values[c], c < components ? (double)(-1.5f + 0.1f * (float)c) : 0, 0);
        for (int c = 0; c < components; c++) xs[(size_t)places[k] * (size_t)components + (size_t)c] = kept[c];
      }
      free(xs);
      ts_vector_destroy(&x);
      ts_scalars_destroy(&scalars);
      ts_space_destroy(&space);
    }
}

/* In a matrix's space rows are sorted and packed, and constrained rows are stored separately. All of them
 * count. */
static void space_of_a_matrix(void) {
  const int32_t nx = 37, ny = 29, size = nx * ny;
  ref_matrix m = ref_grid(nx, ny);
  unsigned char *constrained = calloc((size_t)size, 1);
  for (int32_t i = 0; i < size; i++) constrained[i] = i % 5 == 0;
  for (int kind = 0; kind < 2; kind++) {
    ts_matrix_desc desc = {0};
    desc.csr = ref_csr(&m);
    desc.constrained = kind ? constrained : NULL;
    ts_matrix *matrix = NULL;
    test_context_label("matrix, %s", kind ? "constrained rows" : "all free");
    if (!CHECK_OK(context, ts_matrix_create(context, &desc, &matrix))) continue;
    float *xs = ref_values((size_t)size * 2, 3, -8, -1), *ys = ref_values((size_t)size * 2, 4, -1, 1),
          values[4];
    check_sums(ts_matrix_get_row_space(matrix), 2, xs, ys, size);
    xs[2 * 125] = -0.5f; /* constrained, in the round with constrained indices */
    xs[2 * 126 + 1] = -0.25f;
    ts_vector *x = make_vector(ts_matrix_get_row_space(matrix), 2, xs);
    ts_scalars *scalars = make_scalars(context, 1);
    CHECK_OK(context, ts_vector_max(scalars, 0, x));
    read_slot(scalars, 0, values);
    CHECK_CLOSE(values[0], -0.5, 0);
    CHECK_CLOSE(values[1], -0.25, 0);
    free(xs);
    free(ys);
    ts_vector_destroy(&x);
    ts_scalars_destroy(&scalars);
    ts_matrix_destroy(&matrix);
  }
  free(constrained);
  ref_free(&m);
}

static void same_bits(void) {
  for (int n = 0; n < size_count; n++) {
    const int32_t size = sizes[n];
    ts_space *space = make_space(context, size);
    float *xs = ref_values((size_t)size, 5, -1, 1), *ys = ref_values((size_t)size, 6, -1, 1);
    ts_vector *x = make_vector(space, 1, xs), *y = make_vector(space, 1, ys);
    ts_scalars *scalars = make_scalars(context, 10);
    float values[40];
    test_context_label("%d", size);
    for (int run = 0; run < 10; run++) CHECK_OK(context, ts_vector_dot(scalars, run, x, y));
    CHECK_OK(context, ts_scalars_read(scalars, 0, ts_host(values, 40)));
    for (int run = 1; run < 10; run++) CHECK(memcmp(values, values + 4 * run, sizeof(float)) == 0);
    free(xs);
    free(ys);
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
    ts_scalars_destroy(&scalars);
    ts_space_destroy(&space);
  }
}

/* Slots next to the result keep their values, and a new result can be used as a coefficient at once. */
static void slots_apart(void) {
  ts_space *space = make_space(context, 1000);
  ts_vector *x = make_vector(space, 1, NULL);
  ts_scalars *scalars = make_scalars(context, 3);
  const float before[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  float values[12];
  CHECK_OK(context, ts_scalars_write(scalars, 0, ts_host(before, 12)));
  CHECK_OK(context, ts_vector_fill(x, 2));
  CHECK_OK(context, ts_vector_sum(scalars, 1, x));
  CHECK_OK(context, ts_scalars_read(scalars, 0, ts_host(values, 12)));
  for (int k = 0; k < 4; k++) {
    CHECK_CLOSE(values[k], before[k], 0);
    CHECK_CLOSE(values[8 + k], before[8 + k], 0);
    CHECK_CLOSE(values[4 + k], k == 0 ? 2000 : 0, 0);
  }
  const ts_slot sum = {scalars, 1};
  const ts_slot five = {scalars, 0}; /* holds 1 */
  CHECK_OK(context, ts_vector_scale(x, ts_quotient(3, five, sum)));
  CHECK_OK(context, ts_vector_sum(scalars, 1, x)); /* overwrites the slot that was just used as a coefficient */
  read_slot(scalars, 1, values);
  CHECK_CLOSE(values[0], 3, 3 * 16 * EPSILON);
  ts_vector_destroy(&x);
  ts_scalars_destroy(&scalars);
  ts_space_destroy(&space);
}

/* A single NaN propagates to the sums and to both norms. An infinity gives infinity. */
static void not_numbers(void) {
  const int32_t size = 5003, places[] = {0, 1, 257, 2500, 5002};
  ts_space *space = make_space(context, size);
  ts_vector *x = make_vector(space, 1, NULL);
  ts_scalars *scalars = make_scalars(context, 5);
  float *xs = ref_values((size_t)size, 5, -1, 1), values[20];
  for (int kind = 0; kind < 2; kind++)
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
      const float kept = xs[places[k]];
      test_context_label("%s at %d", kind ? "infinity" : "NaN", places[k]);
      xs[places[k]] = kind ? INFINITY : NAN;
      CHECK_OK(context, ts_vector_write(x, ts_host(xs, (size_t)size)));
      CHECK_OK(context, ts_vector_dot(scalars, 0, x, x));
      CHECK_OK(context, ts_vector_sum(scalars, 1, x));
      CHECK_OK(context, ts_vector_norm(scalars, 2, x, TS_NORM_2));
      CHECK_OK(context, ts_vector_norm(scalars, 3, x, TS_NORM_INFINITY));
      CHECK_OK(context, ts_vector_max(scalars, 4, x));
      CHECK_OK(context, ts_scalars_read(scalars, 0, ts_host(values, 20)));
      for (int slot = 0; slot < 5; slot++) CHECK(kind ? isinf(values[4 * slot]) : isnan(values[4 * slot]));
      xs[places[k]] = kept;
    }
  free(xs);
  ts_vector_destroy(&x);
  ts_scalars_destroy(&scalars);
  ts_space_destroy(&space);
}

TEST_MAIN(CASES_IN_CONTEXT(sums, sums_over_grids, maximum, space_of_a_matrix, same_bits, slots_apart,
                           not_numbers))
