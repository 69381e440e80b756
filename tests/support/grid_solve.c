#include "grid_solve.h"

#include "common/core/core.h"

ts_space *make_grid(ts_context *context, const ts_grid_desc *desc) {
  ts_space *grid = NULL;
  CHECK_OK(context, ts_grid_create(context, desc, &grid));
  return grid;
}

ts_matrix *make_stencil(ts_context *context, const grid_sample *sample) {
  ts_matrix *matrix = NULL;
  ts_space *grid = make_grid(context, &sample->grid);
  if (grid) CHECK_OK(context, ts_stencil_create(grid, stencil_over(grid, sample->values), &matrix));
  ts_space_destroy(&grid);
  return matrix;
}

ts_multigrid *make_multigrid(ts_matrix *matrix, const ts_multigrid_desc *desc) {
  ts_multigrid *multigrid = NULL;
  if (CHECK(matrix != NULL)) CHECK_OK(matrix->context, ts_multigrid_create(matrix, desc, &multigrid));
  return multigrid;
}

ts_multigrid_info multigrid_info(const ts_multigrid *multigrid) {
  ts_multigrid_info info = {0};
  CHECK_OK(NULL, ts_multigrid_get_info(multigrid, &info));
  return info;
}

int get_grid_sample(int index, grid_sample *sample, const char **name) {
  static const struct {
    const char *name;
    ts_grid_desc grid;
    int corners, constrained;
  } samples[] = {
      {"one point", {1, 1, 0, 0, {0}}, 1, 0},
      {"a row", {17, 1, 0, 0, {0}}, 1, 0},
      {"a column", {1, 17, 0, 0, {0}}, 1, 4},
      {"two rows", {9, 2, 0, 0, {0}}, 1, 0},
      {"a ring", {5, 1, 1, 0, {0}}, 1, 0},
      {"two rings", {2, 7, 0, 1, {0}}, 1, 0},
      {"the smallest torus", {3, 3, 1, 1, {0}}, 1, 0},
      {"five points", {33, 17, 0, 0, {0}}, 0, 0},
      {"five points, some constrained", {31, 18, 0, 0, {0}}, 0, 5},
      {"nine points", {40, 23, 0, 0, {0}}, 1, 0},
      {"nine points, some constrained", {23, 40, 0, 0, {0}}, 1, 5},
      {"a tube", {24, 17, 1, 0, {0}}, 1, 7},
      {"a tube upright", {17, 25, 0, 1, {0}}, 0, 0},
      {"a torus", {21, 20, 1, 1, {0}}, 1, 0},
  };
  if (index >= (int)(sizeof samples / sizeof samples[0])) return 0;
  *name = samples[index].name;
  *sample = grid_random(&samples[index].grid, samples[index].corners, samples[index].constrained,
                        5 + (uint64_t)index);
  return 1;
}

int check_given(const char *file, int line, const grid_sample *sample, const float *before,
                const float *after) {
  for (size_t p = 0; p < grid_points(sample); p++) {
    if (grid_has_equation(sample, p) || memcmp(&before[p], &after[p], sizeof *before) == 0) continue;
    test_fail(file, line, "point %zu has no equation; it held %g and holds %g", p, (double)before[p],
              (double)after[p]);
    return 0;
  }
  return 1;
}

ts_status multigrid_solve(ts_multigrid *multigrid, ts_space *grid, const float *bs, float *xs,
                          ts_result *result) {
  if (!CHECK(multigrid != NULL)) return TS_ERROR_DEVICE;
  ts_vector *b = make_vector(grid, 1, bs);
  ts_vector *x = make_vector(grid, 1, xs);
  const size_t bytes = vector_count(b) * sizeof *bs;
  const ts_status status = ts_multigrid_solve(multigrid, b, x, result);
  float *solution = read_vector(x), *unchanged = read_vector(b);
  CHECK(memcmp(unchanged, bs, bytes) == 0);
  memcpy(xs, solution, bytes);
  free(solution), free(unchanged);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  return status;
}

void multigrid_cycle(ts_multigrid *multigrid, ts_space *grid, const float *bs, float *xs, int count) {
  REQUIRE(multigrid != NULL);
  ts_vector *b = make_vector(grid, 1, bs);
  ts_vector *x = make_vector(grid, 1, xs);
  CHECK_OK(grid->context, ts_multigrid_cycle(multigrid, b, x, count));
  float *result = read_vector(x);
  memcpy(xs, result, vector_count(x) * sizeof *xs);
  free(result);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
}
