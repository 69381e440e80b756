/* The passes of a cycle, per level, as listed in docs/limits.md. */
#include "multigrid_model.h"

#include <string.h>

/* Sums up passes. `points`: the number of points of the pass. */
typedef struct counter {
  const device_limits *limits;
  cycle_model *model;
} counter;

static void add(const counter *c, const work *w) {
  c->model->seconds += limits_seconds(c->limits, w);
  c->model->fetches += work_fetches(w);
  c->model->bytes += w->bytes;
  c->model->passes++;
}

typedef struct level_shape {
  double points, coarse_points;
  int five_point, layered;
  int neighbours;
} level_shape;

/* A row of the matrix for `points` points: the coefficients except the centre, and the same number of
 * neighbours in x. A share below 1 excludes coefficients and neighbours that are known to be unused. */
static void add_row(const level_shape *s, double points, double share, work *w) {
  w->streamed[LIMIT_RGBA32F] += points * (s->five_point ? 1 : 2) * share;
  w->reused[LIMIT_R32F] += points * s->neighbours * share;
  w->bytes += 4 * points * s->neighbours * share;
}

/* In a layered texture a texel has four points, with a texel of every coefficient for each point. */
static work layered_pass(const level_shape *s, int row) {
  work w;
  memset(&w, 0, sizeof w);
  const double texels = s->points / 4;
  w.streamed[LIMIT_RGBA32F] = texels * (2 + (row ? s->neighbours : 0)); /* b, the centre, the row */
  if (row) w.reused[LIMIT_RGBA32F] = texels * (1 + s->neighbours);
  w.written[LIMIT_RGBA32F] = texels;
  w.bytes = 16 * texels * (2 + (row ? s->neighbours + 2 : 1));
  return w;
}

/* b, the centre and x in addition to the row; x is written. */
static work plain_pass(const level_shape *s, double points, double row, int reads_x) {
  work w;
  memset(&w, 0, sizeof w);
  w.streamed[LIMIT_R32F] = points * (2 + reads_x);
  w.written[LIMIT_R32F] = points;
  w.bytes = 4 * points * (3 + reads_x);
  add_row(s, points, row, &w);
  return w;
}

static void add_step(const counter *c, const level_shape *s, ts_smoother smoother, int x_is_zero) {
  /* In a first step the four colours use none, two, six and all of their nine-point neighbours, or none, two,
   * two and all of their five-point ones. */
  static const double known_nine[4] = {0, 0.25, 0.75, 1}, known_five[4] = {0, 0.5, 0.5, 1};
  work w;
  if (smoother != TS_SMOOTHER_FOUR_COLOUR && smoother != TS_SMOOTHER_RED_BLACK) {
    w = s->layered ? layered_pass(s, !x_is_zero) : plain_pass(s, s->points, x_is_zero ? 0 : 1, !x_is_zero);
    add(c, &w);
    return;
  }
  if (!c->limits->is_gl) {
    w = plain_pass(s, s->points, x_is_zero ? 0.5 : 1, 0);
    add(c, &w);
    return;
  }
  for (int k = 0; k < 4; k++) {
    const double known = s->five_point ? known_five[k] : known_nine[k];
    w = plain_pass(s, s->points / 4, x_is_zero ? known : 1, 0);
    add(c, &w);
  }
}

/* The residual, a separate pass in OpenGL, and its restriction. */
static void add_restriction(const counter *c, const level_shape *s, int operator_weights) {
  work w = s->layered ? layered_pass(s, 1) : plain_pass(s, s->points, 1, 1), coarse;
  memset(&coarse, 0, sizeof coarse);
  const double n = s->coarse_points;
  coarse.reused[s->layered ? LIMIT_RGBA32F : LIMIT_R32F] = 9 * n;
  coarse.streamed[LIMIT_R32F] = n;
  if (operator_weights) coarse.streamed[LIMIT_RGBA32F] = 2 * n;
  coarse.written[LIMIT_R32F] = n;
  coarse.bytes = 4 * n * (operator_weights ? 10 : 2);
  if (c->limits->is_gl) {
    add(c, &w);
    add(c, &coarse);
    return;
  }
  w.bytes += coarse.bytes - 4 * s->points; /* the residual stays in a cache */
  add(c, &w);
}

static void add_interpolation(const counter *c, const level_shape *s, int operator_weights) {
  work w;
  memset(&w, 0, sizeof w);
  const double n = s->points;
  /* Points use 1, 2, 2 or 4 coarse values, and all but one kind use weights. */
  w.reused[LIMIT_R32F] = 2.25 * n;
  w.streamed[LIMIT_R32F] = 2 * n;
  if (operator_weights) w.streamed[LIMIT_RGBA32F] = 0.75 * n;
  w.written[LIMIT_R32F] = n;
  w.bytes = 4 * (3 * n + s->coarse_points * (operator_weights ? 9 : 1));
  add(c, &w);
}

static void add_coarsest(const counter *c, double points) {
  work w;
  memset(&w, 0, sizeof w);
  w.streamed[LIMIT_R32F] = points * points;
  w.reused[LIMIT_R32F] = points * points;
  w.written[LIMIT_R32F] = points;
  w.bytes = 4 * points * (points + 2);
  add(c, &w);
}

typedef struct cycle_shape {
  const ts_multigrid_desc *desc;
  ts_multigrid_info info;
  level_shape levels[32];
} cycle_shape;

static void add_cycle(const counter *c, const cycle_shape *s, int l, ts_cycle kind, int x_is_zero) {
  const level_shape *level = &s->levels[l];
  const int operator_weights = s->info.interpolation == TS_INTERPOLATION_OPERATOR;
  const int coarsest = s->info.levels - 1;
  if (l == coarsest) {
    add_coarsest(c, level->points);
    return;
  }
  for (int k = 0; k < s->info.pre; k++) add_step(c, level, s->info.smoother, x_is_zero && k == 0);
  add_restriction(c, level, operator_weights);
  add_cycle(c, s, l + 1, kind, 1);
  if (kind != TS_CYCLE_V && l + 1 < coarsest) add_cycle(c, s, l + 1, kind == TS_CYCLE_F ? TS_CYCLE_V : kind, 0);
  add_interpolation(c, level, operator_weights);
  for (int k = 0; k < s->info.post; k++) add_step(c, level, s->info.smoother, 0);
}

int cycle_model_of(const device_limits *limits, const ts_multigrid *multigrid, const ts_multigrid_desc *desc,
                   cycle_model *model) {
  cycle_shape s;
  ts_grid_desc grid;
  memset(&s, 0, sizeof s);
  memset(model, 0, sizeof *model);
  s.desc = desc;
  if (ts_multigrid_get_info(multigrid, &s.info) < 0) return 1;
  for (int l = 0; l < s.info.levels && l < 32; l++) {
    if (ts_multigrid_read_level(multigrid, l, &grid, (ts_array){0}) < 0) return 1;
    level_shape *level = &s.levels[l];
    level->points = (double)grid.width * grid.height;
    level->five_point = l == 0;
    level->neighbours = l == 0 ? 4 : 8;
    level->layered = s.info.storage == TS_GRID_STORAGE_LAYERED;
    if (l) s.levels[l - 1].coarse_points = level->points;
  }
  const counter c = {limits, model};
  add_cycle(&c, &s, 0, desc->cycle, 0);
  return 0;
}
