/* Refusals of stencils and multigrid: the status, and a message that names the fault. */
#include "grid_solve.h"

static ts_context *context;

static void bad_values(void) {
  const ts_grid_desc desc = {.width = 7, .height = 5, .periodic_y = 1};
  ts_space *grid = make_grid(context, &desc), *line = make_space(context, 35);
  grid_sample good = grid_random(&desc, 1, 0, 9);
  ts_matrix *matrix = NULL;
#define REFUSED(at, value, ...)                                                                                \
  do {                                                                                                         \
    const float kept = good.values[at];                                                                        \
    good.values[at] = value;                                                                                   \
    CHECK_FAILS(context, ts_stencil_create(grid, stencil_over(grid, good.values), &matrix),                    \
                TS_ERROR_INVALID_ARGUMENT, __VA_ARGS__);                                                       \
    CHECK(matrix == NULL);                                                                                     \
    good.values[at] = kept;                                                                                    \
  } while (0)
  const size_t point = 9 * (2 * 7 + 3), corner = 9 * (4 * 7 + 6);
  REFUSED(point + 2, NAN, "south-east", "(3, 2)", "nan");
  REFUSED(point + 4, INFINITY, "centre", "(3, 2)", "inf");
  REFUSED(point + 4, 0, "(3, 2)", "no equation", "south-west");
  REFUSED(corner + 5, 0.25f, "east", "(6, 4)", "0.25", "out of the 7 x 5 grid");
  CHECK_OK(context, ts_stencil_create(grid, stencil_over(grid, good.values), &matrix));
  CHECK_FAILS(context, ts_stencil_set_values(matrix, (ts_array){0}), TS_ERROR_INVALID_ARGUMENT,
              "values is NULL");
  CHECK_FAILS(context, ts_stencil_read(matrix, (ts_array){0}), TS_ERROR_INVALID_ARGUMENT, "values is NULL");
  ts_matrix *other = NULL;
  double *doubles = calloc(grid_points(&good), 9 * sizeof *doubles);
  for (size_t k = 0; k < 9 * grid_points(&good); k++) doubles[k] = (double)good.values[k] / 3;
#define REFUSED_DOUBLE(at, value, ...)                                                                         \
  do {                                                                                                         \
    const double kept = doubles[at];                                                                           \
    doubles[at] = value;                                                                                       \
    CHECK_FAILS(context, ts_stencil_create(grid, stencil_over(grid, doubles), &other),                         \
                TS_ERROR_INVALID_ARGUMENT, __VA_ARGS__);                                                       \
    CHECK_FAILS(context, ts_stencil_set_values(matrix, stencil_of(matrix, doubles)),                           \
                TS_ERROR_INVALID_ARGUMENT, __VA_ARGS__);                                                       \
    doubles[at] = kept;                                                                                        \
  } while (0)
  REFUSED_DOUBLE(point + 2, (double)NAN, "south-east", "(3, 2)", "nan");
  REFUSED_DOUBLE(point + 4, (double)-INFINITY, "centre", "(3, 2)", "inf");
  REFUSED_DOUBLE(point + 2, 1e39, "south-east", "(3, 2)", "1e+39", "range of single precision");
  REFUSED_DOUBLE(point + 4, 1e-50, "centre", "(3, 2)", "1e-50", "range of single precision");
  REFUSED_DOUBLE(point + 4, 0, "(3, 2)", "no equation", "south-west");
  REFUSED_DOUBLE(corner + 5, 0.25, "east", "(6, 4)", "out of the 7 x 5 grid");
  CHECK_FAILS(context, ts_stencil_set_values(matrix, (ts_array){0}), TS_ERROR_INVALID_ARGUMENT,
              "values is NULL");
  CHECK_FAILS(context, ts_stencil_create(line, stencil_over(line, doubles), &other), TS_ERROR_INVALID_ARGUMENT,
              "not a grid");
  free(doubles);
  CHECK_FAILS(context, ts_stencil_create(line, stencil_over(line, good.values), &other),
              TS_ERROR_INVALID_ARGUMENT, "not a grid");
  CHECK_FAILS(context, ts_stencil_create(grid, (ts_array){0}, &other), TS_ERROR_INVALID_ARGUMENT,
              "values is NULL");
  CHECK_FAILS(context, ts_stencil_create(grid, stencil_over(grid, good.values), NULL),
              TS_ERROR_INVALID_ARGUMENT, "matrix is NULL");
  CHECK_FAILS(NULL, ts_stencil_create(NULL, stencil_over(NULL, good.values), &other), TS_ERROR_INVALID_ARGUMENT,
              "grid is NULL");
  CHECK(other == NULL);
  ts_matrix_destroy(&matrix);
  ts_space_destroy(&grid);
  ts_space_destroy(&line);
  grid_free(&good);
}

/* A stencil is not a CSR matrix, and vice versa. */
static void wrong_kind(void) {
  const ts_grid_desc desc = {.width = 4, .height = 4};
  ts_space *grid = make_grid(context, &desc);
  grid_sample sample = grid_random(&desc, 1, 0, 9);
  ref_matrix rows = ref_grid(4, 4);
  ts_matrix *stencil = make_stencil(context, &sample), *csr = make_matrix(context, &rows, TS_FORMAT_AUTO);
  ts_matrix *none = NULL;
  const ts_csr values = ref_csr(&rows);
  ts_csr copy;
  CHECK_FAILS(context, ts_matrix_set_values(stencil, &values), TS_ERROR_INVALID_ARGUMENT,
              "ts_stencil_set_values");
  CHECK_FAILS(context, ts_matrix_get_host_copy(stencil, &copy), TS_ERROR_INVALID_ARGUMENT, "ts_stencil_read");
  CHECK_FAILS(context, ts_stencil_set_values(csr, stencil_of(csr, sample.values)), TS_ERROR_INVALID_ARGUMENT,
              "not a stencil");
  CHECK_FAILS(context, ts_stencil_read(csr, stencil_of(csr, sample.values)), TS_ERROR_INVALID_ARGUMENT,
              "not a stencil");
  ts_matrix_desc over = {.csr = values, .row_space = grid};
  CHECK_FAILS(context, ts_matrix_create(context, &over, &none), TS_ERROR_UNSUPPORTED, "grid",
              "ts_stencil_create");
  over = (ts_matrix_desc){.csr = values, .format = TS_FORMAT_STENCIL};
  CHECK_FAILS(context, ts_matrix_create(context, &over, &none), TS_ERROR_UNSUPPORTED, "ts_stencil_create");
  CHECK(none == NULL);
  ts_matrix_destroy(&stencil);
  ts_matrix_destroy(&csr);
  ts_space_destroy(&grid);
  grid_free(&sample);
  ref_free(&rows);
}

TEST_MAIN(CASES_IN_CONTEXT(bad_values, wrong_kind))
