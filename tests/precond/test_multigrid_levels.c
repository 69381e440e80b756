/* The hierarchy: coarse stencils equal the host's triple product in double precision, and the information about
 * the levels is right. */
#include "common/core/core.h"
#include "grid_solve.h"

static ts_context *context;

/* Each term is a product of two weights, which are quotients of sums of three numbers. Up to 36 terms are
 * added. */
#define TOLERANCE 40

static grid_sample read_level(const ts_multigrid *multigrid, int level) {
  grid_sample sample = {.values = NULL};
  CHECK_OK(context, ts_multigrid_read_level(multigrid, level, &sample.grid, (ts_array){0}));
  sample.values = calloc(9 * grid_points(&sample), sizeof *sample.values);
  CHECK_OK(context,
           ts_multigrid_read_level(multigrid, level, NULL, ts_host(sample.values, 9 * grid_points(&sample))));
  return sample;
}

/* Compares a level with the triple product of the finer one, using the values that the device stores. */
static void check_level(const grid_sample *fine, grid_sample *coarse, double gaps[2],
                        ts_interpolation interpolation) {
  grid_coarse expected = grid_coarsen(fine, gaps, interpolation);
  CHECK_INT(coarse->grid.width, expected.grid.width);
  CHECK_INT(coarse->grid.height, expected.grid.height);
  CHECK_INT(coarse->grid.periodic_x, expected.grid.periodic_x);
  CHECK_INT(coarse->grid.periodic_y, expected.grid.periodic_y);
  if (coarse->grid.width == expected.grid.width && coarse->grid.height == expected.grid.height) {
    float *folded = malloc(9 * grid_points(coarse) * sizeof *folded);
    memcpy(folded, coarse->values, 9 * grid_points(coarse) * sizeof *folded);
    grid_fold(&coarse->grid, folded);
    CHECK_VALUES(folded, expected.values, expected.size, 9 * grid_points(coarse), TOLERANCE);
    free(folded);
  }
  free(expected.values), free(expected.size);
}

static void check_levels(const char *name, const grid_sample *sample, const ts_multigrid *multigrid) {
  const ts_multigrid_info info = multigrid_info(multigrid);
  grid_sample fine = read_level(multigrid, 0);
  double gaps[2] = {1, 1};
  CHECK_INT(fine.grid.width, sample->grid.width);
  CHECK_INT(fine.grid.height, sample->grid.height);
  CHECK(memcmp(fine.values, sample->values, 9 * grid_points(sample) * sizeof *fine.values) == 0);
  for (int level = 1; level < info.levels; level++) {
    test_context_label("%s, level %d, %s, %s", name, level, ts_interpolation_name(info.interpolation),
                       ts_grid_storage_name(info.storage));
    grid_sample coarse = read_level(multigrid, level);
    check_level(&fine, &coarse, gaps, info.interpolation);
    grid_free(&fine);
    fine = coarse;
  }
  CHECK_INT(info.coarsest_width, fine.grid.width);
  CHECK_INT(info.coarsest_height, fine.grid.height);
  grid_free(&fine);
}

/* With both interpolations in every storage. */
static void check_sample(const char *name, grid_sample *sample) {
  ts_matrix *matrix = make_stencil(context, sample);
  for (int s = TS_GRID_STORAGE_PLAIN; s <= TS_GRID_STORAGE_PARITIES && matrix; s++) {
    if (!(context->caps.grid_storages & 1u << s)) continue;
    for (int i = TS_INTERPOLATION_BILINEAR; i <= TS_INTERPOLATION_OPERATOR; i++) {
      const ts_multigrid_desc desc = {
          .smoother = TS_SMOOTHER_JACOBI, .storage = (ts_grid_storage)s, .interpolation = (ts_interpolation)i};
      ts_multigrid *multigrid = make_multigrid(matrix, &desc);
      if (multigrid) check_levels(name, sample, multigrid);
      ts_multigrid_destroy(&multigrid);
    }
  }
  ts_matrix_destroy(&matrix);
  grid_free(sample);
}

static void problems(void) {
  float *blob = grid_blob(65, 48), *board = grid_checkerboard(40, 23);
  unsigned char *walls = grid_obstacles(40, 23), *disk = grid_obstacles(65, 64), *rooms = grid_rooms(48, 33);
  const struct {
    const char *name;
    grid_problem problem;
  } samples[] = {
      {"square", {65, 65, "HHHH", NULL, NULL, 0}},     {"even", {40, 64, "DNDN", NULL, NULL, 0}},
      {"blob", {65, 48, "DDNN", blob, NULL, 0}},       {"checkerboard", {40, 23, "NNDD", board, NULL, 0}},
      {"walls", {40, 23, "DNNN", NULL, walls, 0}},     {"disk", {65, 64, "DNHN", NULL, disk, 0}},
      {"rooms", {48, 33, "DHNH", NULL, rooms, 0.01f}}, {"tube", {48, 33, "PPHD", NULL, NULL, 0}},
      {"torus", {33, 17, "PPPP", NULL, NULL, 0.2f}},   {"row", {700, 1, "DDNN", NULL, NULL, 0.5f}},
      {"narrow", {2, 301, "NNDN", NULL, NULL, 0.5f}},  {"ribbon", {251, 3, "DDDN", NULL, NULL, 0}},
      {"ring", {500, 3, "PPPP", NULL, NULL, 0}},       {"thin ring", {4, 270, "PPPP", NULL, NULL, 0.1f}},
      {"seam", {9, 133, "PPPP", NULL, NULL, 0}},       {"held", {133, 9, "DNPP", NULL, NULL, 0}},
  };
  for (size_t k = 0; k < sizeof samples / sizeof samples[0]; k++) {
    grid_sample sample = grid_poisson(&samples[k].problem);
    check_sample(samples[k].name, &sample);
  }
  free(blob), free(board), free(walls), free(disk), free(rooms);
}

/* All coefficients differ, so that none can be mistaken for another. Off-diagonal ones are negative, because
 * weights relative to sums of both signs have large errors. */
static void irregular(void) {
  static const ts_grid_desc grids[] = {{37, 23, 0, 0, {0}}, {38, 24, 0, 0, {0}}, {36, 21, 1, 0, {0}},
                                       {27, 34, 0, 1, {0}}, {25, 25, 1, 1, {0}}, {65, 5, 0, 1, {0}},
                                       {65, 33, 1, 1, {0}}};
  for (int k = 0; k < 28; k++) {
    char name[64];
    grid_sample sample = grid_random(&grids[k / 4], k % 2, k % 4 / 2 * 6, 90 + (uint64_t)k);
    for (size_t i = 0; i < 9 * grid_points(&sample); i++)
      if (i % 9 != 4 && sample.values[i] > 0) sample.values[i] *= -1;
    for (size_t p = 0; p < grid_points(&sample); p++) sample.values[9 * p + 4] *= 5;
    snprintf(name, sizeof name, "%d x %d, %s%s", grids[k / 4].width, grids[k / 4].height,
             k % 2 ? "nine points" : "five points", k % 4 / 2 ? ", constrained points" : "");
    check_sample(name, &sample);
  }
}

/* New values reach every level, also when they change from five points to nine and back. No old values
 * remain. */
static void update(void) {
  float *blob = grid_blob(40, 33);
  unsigned char *solid = grid_obstacles(40, 33);
  grid_sample samples[] = {grid_poisson(&(grid_problem){40, 33, "DDDD", NULL, NULL, 0}),
                           grid_nine_point(40, 33),
                           grid_poisson(&(grid_problem){40, 33, "DNNN", NULL, solid, 0}),
                           grid_poisson(&(grid_problem){40, 33, "NDHN", blob, NULL, 0.1f})};
  ts_matrix *matrix = make_stencil(context, &samples[0]);
  ts_multigrid *multigrid = make_multigrid(matrix, NULL);
  size_t bytes = 0;
  for (int k = 1; k <= 8 && multigrid; k++) {
    const grid_sample *sample = &samples[k % 4];
    CHECK_OK(context, ts_stencil_set_values(matrix, stencil_of(matrix, sample->values)));
    const uint64_t before = context_info(context).host_synchronisations;
    CHECK_OK(context, ts_multigrid_update(multigrid));
    CHECK_INT(context_info(context).host_synchronisations - before, 1);
    check_levels("update", sample, multigrid);
    test_context_label("update %d", k);
    if (k == 4) bytes = context_info(context).bytes_device;
  }
  CHECK_INT(context_info(context).bytes_device, bytes);
  ts_multigrid_destroy(&multigrid);
  ts_matrix_destroy(&matrix);
  for (int k = 0; k < 4; k++) grid_free(&samples[k]);
  free(blob), free(solid);
}

static void defaults(void) {
  grid_sample sample = grid_poisson(&(grid_problem){129, 40, "DDDD", NULL, NULL, 0});
  ts_matrix *matrix = make_stencil(context, &sample);
  const struct {
    ts_multigrid_desc desc;
    ts_smoother smoother;
    int pre, post, levels;
  } kinds[] = {{{0}, TS_SMOOTHER_FOUR_COLOUR, 1, 1, 4},
               {{.smoother = TS_SMOOTHER_JACOBI}, TS_SMOOTHER_JACOBI, 4, 2, 4},
               {{.smoother = TS_SMOOTHER_RED_BLACK, .post = 3}, TS_SMOOTHER_RED_BLACK, 0, 3, 4},
               {{.max_levels = 2}, TS_SMOOTHER_FOUR_COLOUR, 1, 1, 2}};
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    test_context_label("%zu", k);
    const size_t bytes = context_info(context).bytes_device;
    ts_multigrid *multigrid = make_multigrid(matrix, &kinds[k].desc);
    const ts_multigrid_info info = multigrid_info(multigrid);
    CHECK_INT(info.smoother, kinds[k].smoother);
    CHECK_INT(info.pre, kinds[k].pre);
    CHECK_INT(info.post, kinds[k].post);
    CHECK_INT(info.levels, kinds[k].levels);
    CHECK(info.storage != TS_GRID_STORAGE_AUTO && context->caps.grid_storages & 1u << info.storage);
    CHECK(info.interpolation != TS_INTERPOLATION_AUTO);
    CHECK_INT(info.null_space_components, 0);
    CHECK_INT(info.grounded_points, 0);
    CHECK(info.coarsest_width * info.coarsest_height <= 300 || info.levels == 2);
    CHECK(info.bytes_device > 0 && info.seconds_setup > 0);
    CHECK_INT(context_info(context).bytes_device - bytes, info.bytes_device);
    ts_multigrid_destroy(&multigrid);
    CHECK_INT(context_info(context).bytes_device, bytes);
  }
  ts_matrix_destroy(&matrix);
  grid_free(&sample);
}

TEST_MAIN(CASES_IN_CONTEXT(problems, irregular, update, defaults))
