/* Stencils: products, residuals and the diagonal compared with double precision, new values, the facts that the
 * host finds in them, and conjugate gradients. */
#include <float.h>

#include "krylov_solve.h"
#include "common/core/core.h"
#include "common/grid/grid.h"
#include "grid_solve.h"

static ts_context *context;

/* Nine products and sums, each with a rounding error. */
#define TOLERANCE 11

typedef struct fixture {
  const grid_sample *sample;
  ts_matrix *matrix;
  ts_space *grid;
  int components;
  size_t count;
  float *xs, *bs;
  double *product, *size; /* A x and |A| |x| */
} fixture;

static fixture open_fixture(const grid_sample *sample, ts_matrix *matrix, int components) {
  const size_t count = grid_points(sample) * (size_t)components;
  const fixture f = {.sample = sample,
                     .matrix = matrix,
                     .grid = ts_matrix_get_row_space(matrix),
                     .components = components,
                     .count = count,
                     .xs = ref_values(count, 21, -1, 1),
                     .bs = ref_values(count, 22, -1, 1),
                     .product = malloc(count * sizeof(double)),
                     .size = malloc(count * sizeof(double))};
  grid_apply(sample, components, f.xs, NULL, f.product, f.size);
  return f;
}

static void close_fixture(fixture *f) {
  free(f->xs), free(f->bs), free(f->product), free(f->size);
}

/* A vector of NaN. It shows if an output is read, or if a part of it is not written. */
static ts_vector *poisoned(ts_space *grid, int components) {
  const size_t count = (size_t)ts_space_get_size(grid) * (size_t)components;
  float *values = malloc(count * sizeof *values);
  for (size_t i = 0; i < count; i++) values[i] = NAN;
  ts_vector *v = make_vector(grid, components, values);
  free(values);
  return v;
}

static void check_multiply(const fixture *f) {
  ts_vector *x = make_vector(f->grid, f->components, f->xs), *y = poisoned(f->grid, f->components);
  CHECK_OK(context, ts_matrix_multiply(y, f->matrix, x));
  float *ys = read_vector(y), *xs = read_vector(x);
  CHECK_VALUES(ys, f->product, f->size, f->count, TOLERANCE);
  CHECK(memcmp(xs, f->xs, f->count * sizeof *xs) == 0);
  CHECK_OK(context, ts_matrix_multiply(y, f->matrix, x));
  float *again = read_vector(y);
  CHECK(memcmp(ys, again, f->count * sizeof *ys) == 0);
  free(ys), free(xs), free(again);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
}

/* b - A (x + low). `size` receives the scale of its rounding errors. */
static void expect_residual(const fixture *f, const float *bs, const float *low, double *expected,
                            double *size) {
  grid_apply(f->sample, f->components, f->xs, low, expected, size);
  for (size_t i = 0; i < f->count; i++) {
    const int has = grid_has_equation(f->sample, i / (size_t)f->components);
    expected[i] = has ? (double)bs[i] - expected[i] : 0;
    size[i] = has ? fabs((double)bs[i]) + size[i] : 0;
  }
}

/* Into a separate vector, over b, and with x as b. */
static void check_residual(const fixture *f) {
  double *expected = malloc(f->count * sizeof *expected), *size = malloc(f->count * sizeof *size);
  ts_vector *x = make_vector(f->grid, f->components, f->xs), *b = make_vector(f->grid, f->components, f->bs);
  ts_vector *r = poisoned(f->grid, f->components);
  const struct {
    ts_vector *r, *b;
    const float *bs;
  } ways[] = {{r, b, f->bs}, {b, b, f->bs}, {r, x, f->xs}};
  for (int way = 0; way < 3; way++) {
    expect_residual(f, ways[way].bs, NULL, expected, size);
    CHECK_OK(context, ts_matrix_residual(ways[way].r, ways[way].b, f->matrix, x));
    float *rs = read_vector(ways[way].r);
    CHECK_VALUES(rs, expected, size, f->count, TOLERANCE);
    free(rs);
  }
  free(expected), free(size);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_vector_destroy(&r);
}

static void check_diagonal(const fixture *f) {
  ts_vector *d = poisoned(f->grid, f->components);
  CHECK_OK(context, ts_matrix_diagonal(d, f->matrix));
  float *ds = read_vector(d);
  for (size_t i = 0; i < f->count; i++)
    if (!CHECK(ds[i] == f->sample->values[9 * (i / (size_t)f->components) + 4])) break;
  free(ds);
  ts_vector_destroy(&d);
}

static void check_read(const grid_sample *sample, const ts_matrix *matrix) {
  const size_t count = 9 * grid_points(sample);
  float *values = calloc(count, sizeof *values);
  const uint64_t before = context_info(context).host_synchronisations;
  CHECK_OK(context, ts_stencil_read(matrix, stencil_of(matrix, values)));
  CHECK_INT(context_info(context).host_synchronisations - before, 1);
  for (size_t i = 0; i < count; i++)
    if (!CHECK(values[i] == sample->values[i])) break;
  free(values);
}

/* x + low nearly solves the system, so the remaining b is of the size of rounding errors in single
 * precision. */
static void check_pair_residual(const fixture *f) {
  float *low = malloc(f->count * sizeof *low), *bs = malloc(f->count * sizeof *bs);
  double *expected = malloc(f->count * sizeof *expected), *size = malloc(f->count * sizeof *size);
  ref_random random = {77};
  for (size_t i = 0; i < f->count; i++) low[i] = f->xs[i] * ref_uniform(&random, -1, 1) * (float)EPSILON;
  for (size_t i = 0; i < f->count; i++) bs[i] = (float)f->product[i];
  expect_residual(f, bs, low, expected, size);
  for (size_t i = 0; i < f->count; i++)
    size[i] =
        has_precise_residuals(context) ? 2 * fabs(expected[i]) + 16 * EPSILON * size[i] : TOLERANCE * size[i];
  ts_vector *x = make_vector(f->grid, 1, f->xs), *l = make_vector(f->grid, 1, low);
  ts_vector *b = make_vector(f->grid, 1, bs), *r = poisoned(f->grid, 1);
  CHECK_OK(context, tsi_enter(context));
  CHECK_OK(context, context->ops->grid->stencil_residual(r, b, f->matrix, x, l));
  CHECK_OK(context, context->ops->grid->stencil_residual(b, b, f->matrix, x, l));
  CHECK_OK(context, tsi_leave(context, TS_OK));
  float *rs = read_vector(r), *over = read_vector(b);
  CHECK_VALUES(rs, expected, size, f->count, 1);
  CHECK(memcmp(rs, over, f->count * sizeof *rs) == 0);
  free(rs), free(over), free(low), free(bs), free(expected), free(size);
  ts_vector_destroy(&x);
  ts_vector_destroy(&l);
  ts_vector_destroy(&b);
  ts_vector_destroy(&r);
}

static void check_products(const grid_sample *sample, ts_matrix *matrix, int components) {
  fixture f = open_fixture(sample, matrix, components);
  check_multiply(&f);
  check_residual(&f);
  check_diagonal(&f);
  if (components == 1) check_pair_residual(&f);
  close_fixture(&f);
}

static void check_info(const grid_sample *sample, const ts_matrix *matrix) {
  const ts_matrix_info info = matrix_info(matrix);
  const int32_t points = (int32_t)grid_points(sample);
  int32_t constrained = 0, longest = 0;
  int64_t nonzeros = 0;
  for (int32_t p = 0; p < points; p++) {
    int32_t length = 0;
    for (int k = 0; k < 9; k++) length += sample->values[9 * p + k] != 0;
    constrained += !grid_has_equation(sample, (size_t)p);
    nonzeros += length;
    if (length > longest) longest = length;
  }
  CHECK_INT(info.rows, points);
  CHECK_INT(info.columns, points);
  CHECK_INT(info.format, TS_FORMAT_STENCIL);
  CHECK_INT(info.nonzeros, nonzeros);
  CHECK(info.stored_entries >= nonzeros);
  CHECK_INT(info.longest_row, longest);
  CHECK_INT(info.constrained_rows, constrained);
  CHECK_INT(info.zero_diagonal_row, -1);
  CHECK(info.bytes_device > 0 && info.bytes_device <= context_info(context).bytes_device);
}

static void products(void) {
  grid_sample sample;
  const char *name;
  for (int n = 0; get_grid_sample(n, &sample, &name); n++) {
    test_context_label("%s", name);
    ts_matrix *matrix = make_stencil(context, &sample);
    if (matrix) {
      check_info(&sample, matrix);
      check_read(&sample, matrix);
      for (int components = 1; components <= 4; components++) {
        test_context_label("%s, %d components", name, components);
        check_products(&sample, matrix, components);
      }
    }
    ts_matrix_destroy(&matrix);
    grid_free(&sample);
  }
}

/* Changes between five and nine points, and of the constrained points. */
static void set_values(void) {
  const ts_grid_desc desc = {.width = 29, .height = 18, .periodic_x = 1};
  ts_space *grid = make_grid(context, &desc);
  ts_matrix *matrix = NULL;
  for (int k = 0; k < 6 && grid; k++) {
    test_context_label("values %d", k);
    grid_sample sample = grid_random(&desc, k % 2, k / 2 % 2 ? 4 : 0, 40 + (uint64_t)k);
    CHECK_OK(context, matrix ? ts_stencil_set_values(matrix, stencil_of(matrix, sample.values))
                             : ts_stencil_create(grid, stencil_over(grid, sample.values), &matrix));
    check_info(&sample, matrix);
    check_read(&sample, matrix);
    check_products(&sample, matrix, 1 + k % 4);
    check_products(&sample, matrix, 1);
    if (k == 4) {
      sample.values[9 * 100 + 5] = NAN;
      CHECK_FAILS(context, ts_stencil_set_values(matrix, stencil_of(matrix, sample.values)),
                  TS_ERROR_INVALID_ARGUMENT, "nan");
      grid_free(&sample);
      sample = grid_random(&desc, k % 2, 0, 40 + (uint64_t)k);
      check_read(&sample, matrix);
      check_products(&sample, matrix, 1);
    }
    grid_free(&sample);
  }
  ts_space_destroy(&grid);
  ts_matrix_destroy(&matrix);
}

static void symmetry(void) {
  unsigned char *solid = grid_obstacles(24, 17);
  const grid_problem problem = {24, 17, "PPDN", NULL, solid, 0.5f};
  grid_sample sample = grid_poisson(&problem);
  ts_matrix *matrix = make_stencil(context, &sample);
  CHECK_INT(matrix_info(matrix).symmetric, 1);
  CHECK_INT(matrix_info(matrix).unsymmetric_row, -1);
  sample.values[9 * (3 * 24 + 23) + 5] *= 1.01f; /* across the seam */
  CHECK_OK(context, ts_stencil_set_values(matrix, stencil_of(matrix, sample.values)));
  const ts_matrix_info info = matrix_info(matrix);
  CHECK_INT(info.symmetric, 0);
  const int32_t low =
      info.unsymmetric_row < info.unsymmetric_column ? info.unsymmetric_row : info.unsymmetric_column;
  CHECK_INT(low, 3 * 24);
  CHECK_INT(info.unsymmetric_row + info.unsymmetric_column - low, 3 * 24 + 23);
  ts_matrix_destroy(&matrix);
  grid_free(&sample);
  free(solid);
}

static void check_parts(const grid_problem *problem, int parts, int32_t first_size, int grounded) {
  grid_sample sample = grid_poisson(problem);
  ts_matrix *matrix = make_stencil(context, &sample);
  if (CHECK(matrix != NULL)) {
    const tsi_stencil *stencil = matrix->stencil;
    CHECK_INT(stencil->part_count, parts);
    CHECK_INT(stencil->grounded, grounded);
    int32_t largest = 0;
    for (int k = 0; k < stencil->part_count; k++)
      if (stencil->part_sizes[k] > largest) largest = stencil->part_sizes[k];
    CHECK_INT(largest, first_size);
    /* The device drops the equation of a grounded point and counts the point. */
    int constrained = grounded;
    for (size_t p = 0; p < grid_points(&sample); p++) constrained += !grid_has_equation(&sample, p);
    CHECK_INT(matrix_info(matrix).constrained_rows, constrained);
  }
  ts_matrix_destroy(&matrix);
  grid_free(&sample);
}

static void null_space_components(void) {
  unsigned char *rooms = grid_rooms(29, 24), *few = grid_rooms(17, 9);
  test_context_label("Dirichlet");
  check_parts(&(grid_problem){29, 24, "DNNN", NULL, NULL, 0}, 0, 0, 0);
  test_context_label("Neumann");
  check_parts(&(grid_problem){29, 24, "NNNN", NULL, NULL, 0}, 1, 29 * 24, 0);
  test_context_label("with sigma");
  check_parts(&(grid_problem){29, 24, "NNNN", NULL, NULL, 0.01f}, 0, 0, 0);
  test_context_label("torus");
  check_parts(&(grid_problem){29, 24, "PPPP", NULL, NULL, 0}, 1, 29 * 24, 0);
  test_context_label("one side of given values");
  check_parts(&(grid_problem){29, 24, "HNNN", NULL, NULL, 0}, 0, 0, 0);
  test_context_label("rooms");
  /* 5 x 5 rooms of 5 x 4 points. With a Dirichlet boundary on the left the rooms there are regular. */
  check_parts(&(grid_problem){29, 24, "NNNN", NULL, rooms, 0}, 8, 20, 17);
  check_parts(&(grid_problem){29, 24, "DNNN", NULL, rooms, 0}, 8, 20, 12);
  check_parts(&(grid_problem){17, 9, "NNNN", NULL, few, 0}, 6, 20, 0);
  free(rooms), free(few);
}

/* Conjugate gradients on symmetric stencils. At points without an equation x and b may hold anything. */
static void conjugate_gradients(void) {
  unsigned char *solid = grid_obstacles(40, 23);
  const grid_problem problems[] = {
      {40, 23, "DDDD", NULL, NULL, 0}, {40, 23, "HHNN", NULL, solid, 0.1f}, {24, 17, "PPHD", NULL, NULL, 0}};
  for (int n = 0; n < 3; n++) {
    grid_sample sample = grid_poisson(&problems[n]);
    ts_matrix *matrix = make_stencil(context, &sample);
    for (int components = 1; components <= 4; components += 3) {
      const size_t count = grid_points(&sample) * (size_t)components, c = (size_t)components;
      float *bs = ref_values(count, 4, -1, 1), *xs = ref_values(count, 5, -1, 1),
            *start = malloc(count * sizeof *xs);
      memcpy(start, xs, count * sizeof *xs);
      for (size_t i = 0; i < count; i++)
        if (!grid_has_equation(&sample, i / c)) bs[i] = i % 3 ? NAN : 1e30f;
      test_context_label("problem %d, %d components", n, components);
      const ts_solver_desc desc = {.rtol = 1e-5, .stop = TS_STOP_RESIDUAL};
      ts_result result;
      CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &desc, components, bs, xs, &result));
      CHECK_INT(result.reason, TS_REASON_CONVERGED);
      float *one = malloc(count * sizeof *one), *right = malloc(count * sizeof *right);
      for (size_t component = 0; component < c; component++) {
        for (size_t p = 0; p < grid_points(&sample); p++)
          one[p] = xs[p * c + component], right[p] = bs[p * c + component];
        CHECK(grid_relative_residual(&sample, one, right) < 2e-5);
      }
      for (size_t i = 0; i < count; i++)
        if (!grid_has_equation(&sample, i / c) && !CHECK(xs[i] == start[i])) break;
      free(bs), free(xs), free(start), free(one), free(right);
    }
    ts_matrix_destroy(&matrix);
    grid_free(&sample);
  }
  free(solid);
}

TEST_MAIN(CASES_IN_CONTEXT(products, set_values, symmetry, null_space_components, conjugate_gradients))
