/* How multigrid solves end, the results that they report, and the number of synchronisations; singular
 * problems; the same bits on every run. */
#include "common/core/core.h"
#include "grid_solve.h"

static ts_context *context;

typedef struct fixture {
  grid_sample sample;
  ts_matrix *matrix;
  ts_multigrid *multigrid;
  size_t points;
  float *bs, *xs;
  ts_result result;
  int full;
} fixture;

static fixture open_fixture(grid_sample sample, const ts_multigrid_desc *desc) {
  fixture f = {.sample = sample, .points = grid_points(&sample)};
  f.matrix = make_stencil(context, &sample);
  f.multigrid = make_multigrid(f.matrix, desc);
  f.bs = ref_values(f.points, 31, -1, 1);
  f.xs = calloc(f.points, sizeof *f.xs);
  return f;
}

static ts_status solve_fixture(fixture *f) {
  memset(&f->result, 0x55, sizeof f->result);
  return multigrid_solve(f->multigrid, ts_matrix_get_row_space(f->matrix), f->bs, f->xs, &f->result);
}

static void close_fixture(fixture *f) {
  ts_multigrid_destroy(&f->multigrid);
  ts_matrix_destroy(&f->matrix);
  grid_free(&f->sample);
  free(f->bs), free(f->xs);
}

static grid_sample square(int32_t n, const char *boundaries) {
  return grid_poisson(&(grid_problem){n, n, boundaries, NULL, NULL, 0});
}

static void expect_reason(fixture *f, ts_reason reason, const char *part) {
  const int solved = reason <= TS_REASON_ZERO_RESIDUAL;
  CHECK_INT(solve_fixture(f), solved ? TS_OK : TS_NOT_CONVERGED);
  CHECK_INT(f->result.reason, reason);
  CHECK_CONTAINS(f->result.message, part);
  CHECK(strchr(f->result.message, '\n') == NULL);
}

/* ---- How solves end ---- */

static void nan_input(void) {
  fixture f = open_fixture(square(40, "HDDD"), NULL);
  static const float bad[] = {NAN, INFINITY};
  for (int k = 0; k < 2; k++) {
    test_context_label("%g in b", (double)bad[k]);
    f.bs[777] = bad[k];
    expect_reason(&f, TS_REASON_NAN_INPUT, "right-hand side");
    CHECK_INT(f.result.iterations, 0);
    test_context_label("%g in x", (double)bad[k]);
    f.bs[777] = 1;
    memset(f.xs, 0, f.points * sizeof *f.xs);
    f.xs[888] = bad[k];
    expect_reason(&f, TS_REASON_NAN_INPUT, "starting value");
    memset(f.xs, 0, f.points * sizeof *f.xs);
  }
  /* At points without an equation b may hold anything. */
  test_context_label("%s", "NaN in b without an equation");
  f.bs[40 * 7] = NAN;
  expect_reason(&f, TS_REASON_CONVERGED, "converged");
  CHECK(grid_relative_residual(&f.sample, f.xs, f.bs) < 3e-6);
  close_fixture(&f);
}

static void zero_right_side(void) {
  fixture f = open_fixture(square(40, "DDDD"), NULL);
  memset(f.bs, 0, f.points * sizeof *f.bs);
  expect_reason(&f, TS_REASON_ZERO_RESIDUAL, "already");
  CHECK_INT(f.result.iterations, 0);
  CHECK(f.result.relative_residual == 0);
  for (size_t p = 0; p < f.points; p++) f.xs[p] = (float)(p % 7) - 3;
  expect_reason(&f, TS_REASON_CONVERGED, "the right-hand side is 0");
  for (size_t p = 0; p < f.points; p++)
    if (!CHECK(f.xs[p] == 0)) break;
  close_fixture(&f);
}

static void max_cycles(void) {
  fixture f = open_fixture(square(65, "DDDD"), &(ts_multigrid_desc){.max_cycles = 3});
  expect_reason(&f, TS_REASON_MAX_ITERATIONS, "maximum of 3 cycles");
  CHECK_INT(f.result.iterations, 3);
  CHECK(ts_multigrid_get_history(f.multigrid, NULL)[0] == 1 &&
        ts_multigrid_get_history(f.multigrid, NULL)[3] < 0.01 &&
        ts_multigrid_get_history(f.multigrid, NULL)[3] > 1e-6);
  /* A second solve continues from x. */
  const double before = f.result.rounded_residual;
  solve_fixture(&f);
  CHECK_CLOSE(ts_multigrid_get_history(f.multigrid, NULL)[0], before, 1e-3 * before);
  close_fixture(&f);
}

/* A tolerance below the limit of two floats per point is not reached. The solver reports this, and stops long
 * before the maximum number of cycles. */
static void stagnation(void) {
  fixture f = open_fixture(square(65, "DDDD"), &(ts_multigrid_desc){.rtol = 1e-30});
  expect_reason(&f, TS_REASON_STAGNATED, "stagnated");
  CHECK(f.result.iterations < 40);
  const int is_precise = has_precise_residuals(context);
  CHECK(f.result.relative_residual < (is_precise ? 1e-10 : 1e-4));
  CHECK(f.result.rounded_residual < 1e-4);
  /* Without precise residuals the device's residual has the errors of differences between neighbours, which are
   * up to 1/64, divided by h^2: 2^-24 / 64 64^2. */
  const double exact = grid_relative_residual(&f.sample, f.xs, f.bs);
  CHECK_CLOSE(exact, f.result.rounded_residual, is_precise ? 1e-7 : 4e-6);
  close_fixture(&f);
}

/* Indefinite: the coarse grids' corrections of the smooth parts have the wrong sign or size. */
static void divergence(void) {
  fixture f = open_fixture(grid_poisson(&(grid_problem){65, 65, "DDDD", NULL, NULL, -1.5f}), NULL);
  expect_reason(&f, TS_REASON_DIVERGED, "diverged");
  CHECK(f.result.iterations < 60);
  close_fixture(&f);
}

typedef struct watch {
  int calls, wrong, stop_at;
  double seen[64];
} watch;

static int observe(const ts_progress *progress, void *user) {
  watch *w = user;
  w->wrong += progress->iteration != w->calls || progress->count != 1 ||
              progress->history[0] != progress->relative_residual;
  if (w->calls < 64) w->seen[w->calls] = progress->relative_residual;
  w->calls++;
  return progress->iteration == w->stop_at;
}

static void progress(void) {
  watch w = {.stop_at = -1};
  fixture f = open_fixture(square(65, "DDDD"), &(ts_multigrid_desc){.progress = observe, .progress_user = &w});
  expect_reason(&f, TS_REASON_CONVERGED, "converged");
  CHECK_INT(w.calls, f.result.iterations + 1);
  CHECK_INT(w.wrong, 0);
  for (int k = 0; k <= f.result.iterations && k < 64; k++)
    CHECK(w.seen[k] == ts_multigrid_get_history(f.multigrid, NULL)[k]);
  for (int stop = 0; stop <= 2; stop += 2) {
    test_context_label("stop at %d", stop);
    w = (watch){.stop_at = stop};
    memset(f.xs, 0, f.points * sizeof *f.xs);
    expect_reason(&f, TS_REASON_STOPPED, "callback");
    CHECK_INT(f.result.iterations, stop);
    CHECK_INT(w.calls, stop + 1);
    CHECK_CLOSE(grid_relative_residual(&f.sample, f.xs, f.bs),
                ts_multigrid_get_history(f.multigrid, NULL)[stop], 1e-5);
  }
  close_fixture(&f);
}

/* If there are more cycles than places, the last place of the history holds the last residual. */
static void long_history(void) {
  const ts_multigrid_desc desc = {
      .smoother = TS_SMOOTHER_JACOBI, .damping = 0.05, .pre = 1, .post = 0, .max_cycles = 130};
  fixture f = open_fixture(square(40, "DDDD"), &desc);
  expect_reason(&f, TS_REASON_MAX_ITERATIONS, "130");
  CHECK_INT(f.result.iterations, 130);
  CHECK(ts_multigrid_get_history(f.multigrid, NULL)[TS_MULTIGRID_HISTORY - 1] == f.result.relative_residual);
  CHECK(ts_multigrid_get_history(f.multigrid, NULL)[TS_MULTIGRID_HISTORY - 1] <
        ts_multigrid_get_history(f.multigrid, NULL)[TS_MULTIGRID_HISTORY - 2]);
  CHECK(f.result.factor > 0.5 && f.result.factor < 1);
  close_fixture(&f);
}

/* ---- Singular problems ---- */

/* Labels the parts on which constants are in the null space, one label per point and -1 outside. Returns the
 * number of parts. Rooms are numbered as in grid_rooms. */
static int label_parts(const fixture *f, int rooms, int *labels) {
  const int32_t width = f->sample.grid.width, across = (width + 5) / 6;
  int count = 0;
  for (size_t p = 0; p < f->points; p++) {
    const int32_t i = (int32_t)p % width, j = (int32_t)p / width;
    labels[p] = !grid_has_equation(&f->sample, p) ? -1 : rooms ? j / 5 * across + i / 6 : 0;
    if (labels[p] >= count) count = labels[p] + 1;
  }
  return count;
}

/* The mean of b over each part is removed and reported. x had the mean `offset` and now has mean 0. */
static void check_singular(fixture *f, int rooms, double offset) {
  int *labels = malloc(f->points * sizeof *labels);
  const int parts = label_parts(f, rooms, labels);
  double *sum = calloc((size_t)parts, sizeof *sum), *x = calloc((size_t)parts, sizeof *x);
  double *size = calloc((size_t)parts, sizeof *size), left_out = 0, norm = 0, largest = 0;
  for (size_t p = 0; p < f->points; p++) {
    if (labels[p] < 0) continue;
    sum[labels[p]] += (double)f->bs[p], x[labels[p]] += (double)f->xs[p], size[labels[p]]++;
    norm += (double)f->bs[p] * (double)f->bs[p];
    largest = fmax(largest, fabs((double)f->xs[p]));
  }
  for (int k = 0; k < parts; k++) {
    left_out += size[k] > 0 ? sum[k] * sum[k] / size[k] : 0;
    CHECK_CLOSE(x[k] / fmax(size[k], 1), 0, 2e-7 * (largest + offset));
  }
  CHECK_CLOSE(f->result.incompatible, sqrt(left_out / norm), 1e-5);
  for (size_t p = 0; p < f->points; p++)
    if (labels[p] >= 0) f->bs[p] -= (float)(sum[labels[p]] / size[labels[p]]);
  CHECK(grid_relative_residual(&f->sample, f->xs, f->bs) < 3e-6);
  free(labels), free(sum), free(x), free(size);
}

static void neumann(void) {
  static const ts_multigrid_desc descs[] = {
      {0}, {.full = 1}, {.cycle = TS_CYCLE_W}, {.smoother = TS_SMOOTHER_JACOBI}};
  static const grid_problem problems[] = {{65, 65, "NNNN", NULL, NULL, 0},
                                          {40, 34, "PPNN", NULL, NULL, 0},
                                          {40, 32, "PPPP", NULL, NULL, 0},
                                          {33, 21, "PPPP", NULL, NULL, 0},
                                          {12, 11, "NNNN", NULL, NULL, 0}};
  for (size_t n = 0; n < sizeof problems / sizeof problems[0]; n++) {
    for (size_t k = 0; k < sizeof descs / sizeof descs[0]; k++) {
      if (test_is_brief() && k != n % 4) continue;
      test_context_label("%d x %d %s, method %zu", problems[n].width, problems[n].height,
                         problems[n].boundaries, k);
      fixture f = open_fixture(grid_poisson(&problems[n]), &descs[k]);
      CHECK_INT(multigrid_info(f.multigrid).null_space_components, 1);
      for (size_t p = 0; p < f.points; p++) f.bs[p] += 0.5f, f.xs[p] = 100;
      expect_reason(&f, TS_REASON_CONVERGED, "converged");
      CHECK(f.result.iterations < 16);
      check_singular(&f, 0, 100);
      close_fixture(&f);
    }
  }
}

/* Rooms without doors, in rows of three. Each one has its own mean. */
static void rooms(void) {
  unsigned char *solid = grid_rooms(17, 9), *many = grid_rooms(29, 24);
  test_context_label("%s", "six rooms");
  fixture f = open_fixture(grid_poisson(&(grid_problem){17, 9, "NNNN", NULL, solid, 0}), NULL);
  CHECK_INT(multigrid_info(f.multigrid).null_space_components, 6);
  expect_reason(&f, TS_REASON_CONVERGED, "converged");
  check_singular(&f, 1, 0);
  close_fixture(&f);
  /* More rooms than null-space components: one point of each further room is fixed, and the other points are
   * solved. */
  test_context_label("%s", "25 rooms");
  f = open_fixture(grid_poisson(&(grid_problem){29, 24, "NNNN", NULL, many, 0}), NULL);
  CHECK_INT(multigrid_info(f.multigrid).null_space_components, 8);
  CHECK_INT(multigrid_info(f.multigrid).grounded_points, 17);
  expect_reason(&f, TS_REASON_CONVERGED, "converged");
  close_fixture(&f);
  free(solid), free(many);
}

/* ---- Host synchronisations and bits ---- */

static void host_synchronisations(void) {
  for (int most = 2; most <= 4; most++) {
    test_context_label("%d cycles", most);
    fixture f = open_fixture(square(65, most % 2 ? "NNNN" : "DDDD"), &(ts_multigrid_desc){.max_cycles = most});
    ts_space *grid = ts_matrix_get_row_space(f.matrix);
    ts_vector *b = make_vector(grid, 1, f.bs), *x = make_vector(grid, 1, NULL);
    uint64_t before = context_info(context).host_synchronisations;
    CHECK_OK(context, ts_multigrid_cycle(f.multigrid, b, x, most));
    CHECK_INT(context_info(context).host_synchronisations - before, 0);
    ts_vector_destroy(&x);
    x = make_vector(grid, 1, NULL);
    before = context_info(context).host_synchronisations;
    CHECK_INT(ts_multigrid_solve(f.multigrid, b, x, &f.result), TS_NOT_CONVERGED);
    CHECK_INT(context_info(context).host_synchronisations - before, f.result.host_synchronisations);
    CHECK_INT(f.result.host_synchronisations,
              f.result.iterations + 2); /* one before the first cycle, one for the rounded x */
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
    close_fixture(&f);
  }
}

static void same_bits(void) {
  static const ts_multigrid_desc descs[] = {{0}, {.smoother = TS_SMOOTHER_CHEBYSHEV, .cycle = TS_CYCLE_F}};
  for (int k = 0; k < 2; k++) {
    test_context_label("method %d", k);
    unsigned char *solid = grid_obstacles(64, 40);
    fixture f = open_fixture(grid_poisson(&(grid_problem){64, 40, "DNNN", NULL, solid, 0}), &descs[k]);
    expect_reason(&f, TS_REASON_CONVERGED, "converged");
    float *first = f.xs;
    const ts_result before = f.result;
    double history[TS_MULTIGRID_HISTORY];
    memcpy(history, ts_multigrid_get_history(f.multigrid, NULL), (size_t)before.iterations * sizeof *history);
    f.xs = calloc(f.points, sizeof *f.xs);
    ts_multigrid_destroy(&f.multigrid);
    f.multigrid = make_multigrid(f.matrix, &descs[k]);
    solve_fixture(&f);
    CHECK(memcmp(first, f.xs, f.points * sizeof *first) == 0);
    CHECK_INT(f.result.iterations, before.iterations);
    CHECK(memcmp(ts_multigrid_get_history(f.multigrid, NULL), history,
                 (size_t)before.iterations * sizeof *history) == 0);
    free(first), free(solid);
    close_fixture(&f);
  }
}

/* Standalone cycles equal those of a solve, and continue from the values in x. */
static void cycles(void) {
  fixture f = open_fixture(square(65, "HDDH"), NULL);
  ts_space *grid = ts_matrix_get_row_space(f.matrix);
  float *start = ref_values(f.points, 8, -1, 1), *once = malloc(f.points * sizeof *once);
  memcpy(once, start, f.points * sizeof *once);
  double last = grid_relative_residual(&f.sample, once, f.bs);
  for (int k = 0; k < 3; k++) {
    multigrid_cycle(f.multigrid, grid, f.bs, once, 1);
    const double next = grid_relative_residual(&f.sample, once, f.bs);
    CHECK_CLOSE(next / last, 0, 0.1);
    last = next;
  }
  CHECK_GIVEN(&f.sample, start, once);
  memcpy(f.xs, start, f.points * sizeof *start);
  multigrid_cycle(f.multigrid, grid, f.bs, f.xs, 3);
  CHECK_CLOSE(grid_relative_residual(&f.sample, f.xs, f.bs), last, 0.05 * last);
  free(start), free(once);
  close_fixture(&f);
}

/* ---- Very large and very small numbers ---- */

/* Scaling by a power of two changes no other bits, from 0 and from a start, and leaves fixed values
 * unchanged. */
static void check_scale(fixture *f, const float *bs, const float *start, const float *xs, int exponent) {
  size_t wrong = 0;
  for (size_t p = 0; p < f->points; p++) {
    f->bs[p] = ldexpf(bs[p], exponent);
    f->xs[p] = grid_has_equation(&f->sample, p) ? ldexpf(start[p], exponent) : 0;
  }
  CHECK_INT(solve_fixture(f), TS_OK);
  CHECK_INT(f->result.reason, TS_REASON_CONVERGED);
  for (size_t p = 0; p < f->points; p++)
    wrong += grid_has_equation(&f->sample, p) ? f->xs[p] != ldexpf(xs[p], exponent) : f->xs[p] != 0;
  CHECK_INT(wrong, 0);
}

static void scales(void) {
  static const int exponents[] = {-100, -80, -63, -40, 40, 63, 80, 100, 115};
  static const ts_multigrid_desc methods[] = {
      {0},
      {.full = 1},
      {.smoother = TS_SMOOTHER_JACOBI, .storage = TS_GRID_STORAGE_PLAIN},
      {.smoother = TS_SMOOTHER_CHEBYSHEV, .storage = TS_GRID_STORAGE_LAYERED},
      {.smoother = TS_SMOOTHER_JACOBI, .storage = TS_GRID_STORAGE_PARITIES}};
  for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
    if (methods[m].storage && !(context->caps.grid_storages & 1u << methods[m].storage)) continue;
    fixture f = open_fixture(square(33, m % 2 ? "PPNN" : "HDNN"), &methods[m]);
    float *bs = malloc(f.points * sizeof *bs), *start = ref_values(f.points, 8, -1, 1),
          *xs = malloc(f.points * sizeof *xs);
    memcpy(bs, f.bs, f.points * sizeof *bs);
    for (size_t p = 0; p < f.points; p++) f.xs[p] = grid_has_equation(&f.sample, p) ? start[p] : 0;
    CHECK_INT(solve_fixture(&f), TS_OK);
    memcpy(xs, f.xs, f.points * sizeof *xs);
    for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
      if (test_is_brief() && (k + m) % 4) continue;
      test_context_label("method %zu, 2^%d", m, exponents[k]);
      check_scale(&f, bs, start, xs, exponents[k]);
    }
    free(bs), free(start), free(xs);
    close_fixture(&f);
  }
}

/* ||b - A x|| / ||b|| over points with an equation, for doubles, which two floats represent to 48 bits. */
static double residual_of_doubles(const fixture *f, const double *xs, const double *bs) {
  float *high = malloc(f->points * sizeof *high), *low = malloc(f->points * sizeof *low);
  double *y = malloc(f->points * sizeof *y), r = 0, b = 0;
  for (size_t p = 0; p < f->points; p++) {
    high[p] = (float)xs[p];
    low[p] = (float)(xs[p] - (double)high[p]);
  }
  grid_apply(&f->sample, 1, high, low, y, NULL);
  for (size_t p = 0; p < f->points; p++) {
    if (!grid_has_equation(&f->sample, p)) continue;
    r += (bs[p] - y[p]) * (bs[p] - y[p]);
    b += bs[p] * bs[p];
  }
  free(high), free(low), free(y);
  return sqrt(r / b);
}

/* A start, fixed values and b in doubles. The result is accurate to a pair. */
static void check_doubles(fixture *f, int exponent) {
  ts_space *grid = ts_matrix_get_row_space(f->matrix);
  const ts_vector_desc desc = {.precision = TS_PRECISION_DOUBLE};
  ts_vector *b = NULL, *x = NULL;
  double *bs = malloc(f->points * sizeof *bs), *xs = malloc(f->points * sizeof *xs),
         *given = malloc(f->points * sizeof *given);
  CHECK_OK(context, ts_vector_create(grid, &desc, &b));
  CHECK_OK(context, ts_vector_create(grid, &desc, &x));
  for (size_t p = 0; p < f->points; p++) {
    bs[p] = ldexp((double)f->bs[p] * (1 + 0x1.8p-26), exponent);
    given[p] = ldexp(sin((double)p) * 3, exponent);
  }
  CHECK_OK(context, ts_vector_write(b, ts_host(bs, f->points)));
  CHECK_OK(context, ts_vector_write(x, ts_host(given, f->points)));
  CHECK_INT(ts_multigrid_solve(f->multigrid, b, x, &f->result), TS_OK);
  CHECK_INT(f->result.precision, TS_PRECISION_MIXED);
  CHECK_INT(f->result.precision_iterations[TS_PRECISION_MIXED], f->result.iterations);
  CHECK_OK(context, ts_vector_read(x, ts_host(xs, f->points)));
  const double residual = residual_of_doubles(f, xs, bs);
  CHECK(residual <= 1.1e-11);
  CHECK_CLOSE(f->result.rounded_residual, residual, 1e-12);
  for (size_t p = 0; p < f->points; p++)
    if (!grid_has_equation(&f->sample, p)) CHECK(fabs(xs[p] - given[p]) <= ldexp(fabs(given[p]), -44));
  /* Cycles continue from the solution: single steps do not increase the residual. */
  CHECK_OK(context, ts_multigrid_cycle(f->multigrid, b, x, 1));
  CHECK_OK(context, ts_vector_read(x, ts_host(xs, f->points)));
  CHECK(f->full || residual_of_doubles(f, xs, bs) <= residual);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  free(bs), free(xs), free(given);
}

static void doubles(void) {
  if (!context->caps.pairs) return;
  unsigned char *solid = grid_obstacles(40, 40);
  const grid_problem problems[] = {{40, 40, "HDDD", NULL, NULL, 0}, {40, 40, "DDNN", NULL, solid, 0}};
  static const int exponents[] = {0, -80, 80};
  for (size_t n = 0; n < 2; n++)
    for (int full = 0; full < 2; full++)
      for (size_t k = 0; k < 3; k++) {
        if (test_is_brief() && (k + n) % 2) continue;
        test_context_label("problem %zu, full %d, 2^%d", n, full, exponents[k]);
        fixture f = open_fixture(grid_poisson(&problems[n]), &(ts_multigrid_desc){.full = full, .rtol = 1e-11});
        f.full = full;
        check_doubles(&f, exponents[k]);
        close_fixture(&f);
      }
  free(solid);
}

/* A solution outside the range of single precision is reported. With b = 0 fixed values and the start set the
 * scale. */
static void out_of_range(void) {
  fixture f = open_fixture(square(33, "HDDD"), NULL);
  for (size_t p = 0; p < f.points; p++) {
    f.bs[p] = 3e38F;
    f.xs[p] = 7;
  }
  expect_reason(&f, TS_REASON_DIVERGED, "leaves the range of single precision");
  for (size_t p = 0; p < f.points; p++) CHECK(f.xs[p] == 7);
  for (size_t p = 0; p < f.points; p++) {
    f.bs[p] = 0;
    f.xs[p] = grid_has_equation(&f.sample, p) ? 1e-25F : 0;
  }
  CHECK_INT(solve_fixture(&f), TS_OK);
  for (size_t p = 0; p < f.points; p++) CHECK(fabsf(f.xs[p]) < 1e-29F);
  for (size_t p = 0; p < f.points; p++) f.xs[p] = grid_has_equation(&f.sample, p) ? 0 : 1e-25F;
  CHECK_INT(solve_fixture(&f), TS_OK);
  double largest = 0;
  for (size_t p = 0; p < f.points; p++) {
    CHECK(grid_has_equation(&f.sample, p) || f.xs[p] == 1e-25F);
    if (grid_has_equation(&f.sample, p)) largest = fmax(largest, (double)f.xs[p]);
  }
  CHECK(largest > 0.5e-25 && largest < 1e-25);
  close_fixture(&f);
}

TEST_MAIN(CASES_IN_CONTEXT(nan_input, zero_right_side, max_cycles, stagnation, divergence, progress,
                           long_history, neumann, rooms, host_synchronisations, scales, doubles, out_of_range,
                           same_bits, cycles))
