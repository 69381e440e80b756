/* Smoothing steps on parities.
 *
 *   Gauss-Seidel, colour c   x_c = D_c^-1 (b_c - sum over the eight others of A^d x)
 *   Jacobi                   x' = x + alpha D^-1 (b - A x)
 *   Chebyshev                d' = beta d + alpha D^-1 (b - A x);  x' = x + d'
 *
 * A point of one colour has no neighbour of that colour, so a row is a loop without dependences. Two colours
 * that share their grid rows are updated row by row, one directly after the other. The other two follow once
 * both adjacent rows are updated, so all data is read from memory once. The values equal those of four sweeps,
 * for any number of threads: rows at the seam between two threads' parts wait until all others are done. */
#include <string.h>

#include "cpu_level.h"

/* Which neighbours can be nonzero. */
typedef enum smooth_reach { REACH_NONE, REACH_ROW, REACH_ALL } smooth_reach;

typedef struct smooth_job {
  const tsi_level *level;
  cpu_level *l;
  int colours[4]; /* in order */
  smooth_reach reach[4];
  int first_colour; /* of the two colours that body_colours processes */
  int clears;       /* whether the rows of the last two colours must be cleared first */
  int parts;
  float alpha, beta;
  int has_direction; /* Chebyshev */
} smooth_job;

/* One row of points of one parity: its coefficients and its neighbours. */
typedef struct smooth_row {
  const float *a[CPU_DIRECTIONS], *x[CPU_DIRECTIONS];
  const float *inverse, *b;
} smooth_row;

static smooth_row row_of(const cpu_level *l, int colour, int32_t row) {
  const int32_t i = colour & 1, j = 2 * row + (colour >> 1);
  smooth_row s = {.inverse = cpu_level_at(l, &l->inverse, i, j), .b = cpu_level_at(l, &l->b, i, j)};
  for (int k = 0; k < CPU_DIRECTIONS; k++) {
    s.a[k] = l->coefficients[k].block ? cpu_level_at(l, &l->coefficients[k], i, j) : NULL;
    s.x[k] = cpu_level_at(l, &l->x, i + k % 3 - 1, j + k / 3 - 1);
  }
  return s;
}

/* b minus the eight off-centre terms, for element k. */
CPU_INLINE float without_centre(const smooth_row *s, int32_t k, int five_point, smooth_reach reach) {
  float sum = s->b[k];
  if (reach != REACH_NONE) {
    sum -= s->a[CPU_W][k] * s->x[CPU_W][k];
    sum -= s->a[CPU_E][k] * s->x[CPU_E][k];
  }
  if (reach == REACH_ALL) {
    sum -= s->a[CPU_S][k] * s->x[CPU_S][k];
    sum -= s->a[CPU_N][k] * s->x[CPU_N][k];
    if (!five_point) {
      sum -= s->a[CPU_SW][k] * s->x[CPU_SW][k];
      sum -= s->a[CPU_SE][k] * s->x[CPU_SE][k];
      sum -= s->a[CPU_NW][k] * s->x[CPU_NW][k];
      sum -= s->a[CPU_NE][k] * s->x[CPU_NE][k];
    }
  }
  return sum;
}

CPU_INLINE void relax_row(const smooth_row *row, float *x, int32_t count, int five_point, smooth_reach reach) {
  const smooth_row s = *row;
  CPU_SIMD
  for (int32_t k = 0; k < count; k++) {
    const float value = s.inverse[k] * without_centre(&s, k, five_point, reach);
    x[k] = s.inverse[k] != 0 ? value : reach == REACH_ALL ? x[k] : 0;
  }
}

CPU_LARGE void relax(const smooth_job *job, int which, int32_t row) {
  const cpu_level *l = job->l;
  const int colour = job->colours[which];
  const int32_t j = 2 * row + (colour >> 1);
  if (j >= l->height || (colour & 1) >= l->width) return;
  const smooth_row s = row_of(l, colour, row);
  float *x = cpu_level_at(l, &l->x, colour & 1, j);
  const int32_t count = (l->width - (colour & 1) + 1) / 2;
  const int five = !l->coefficients[CPU_SW].block;
  const smooth_reach reach = job->reach[which];
  if (reach == REACH_NONE)
    relax_row(&s, x, count, 1, REACH_NONE);
  else if (reach == REACH_ROW)
    relax_row(&s, x, count, 1, REACH_ROW);
  else if (five)
    relax_row(&s, x, count, 1, REACH_ALL);
  else
    relax_row(&s, x, count, 0, REACH_ALL);
  cpu_sync_columns(job->level, &l->x, j);
}

/* Updates two colours in a pair of rows. */
CPU_INLINE void relax_two(const smooth_job *job, int which, int32_t row) {
  relax(job, which, row);
  relax(job, which + 1, row);
}

CPU_CLONES static void body_colours(const void *arguments, size_t first, size_t last) {
  const smooth_job *job = arguments;
  for (int32_t row = (int32_t)first; row < (int32_t)last; row++) relax_two(job, job->first_colour, row);
}

static int32_t first_row(const smooth_job *job, size_t part) {
  return (int32_t)((int64_t)job->l->rows * (int64_t)part / job->parts);
}

/* Updates the last two colours in a row, which is between rows of the first two. */
CPU_INLINE void relax_trailing(const smooth_job *job, int32_t row) {
  const cpu_level *l = job->l;
  const int32_t j = 2 * row + (job->colours[2] >> 1);
  if (j >= l->height) return;
  for (int32_t i = 0; i < 2 && job->clears; i++)
    memset(cpu_level_at(l, &l->x, i, j), 0, (size_t)l->columns * sizeof(float));
  relax_two(job, 2, row);
}

/* Updates the first two colours row by row, and the last two once both adjacent rows are updated. */
CPU_CLONES static void body_wave(const void *arguments, size_t first, size_t last) {
  const smooth_job *job = arguments;
  const int odd_first = job->colours[0] >> 1;
  for (size_t part = first; part < last; part++) {
    const int32_t begin = first_row(job, part), end = first_row(job, part + 1);
    for (int32_t row = begin; row < end; row++) {
      relax_two(job, 0, row);
      if (row > begin) relax_trailing(job, odd_first ? row : row - 1);
    }
  }
}

/* Updates the row of each part that depends on the adjacent part. */
static void relax_seams(const smooth_job *job) {
  const int odd_first = job->colours[0] >> 1;
  for (size_t part = 0; part < (size_t)job->parts; part++) {
    const int32_t begin = first_row(job, part), end = first_row(job, part + 1);
    if (begin < end) relax_trailing(job, odd_first ? begin : end - 1);
  }
}

static size_t cost_of_row(const cpu_level *l) {
  return (size_t)l->columns * (l->coefficients[CPU_SW].block ? 14 : 9);
}

static void sync_rows(const tsi_level *level) {
  if (level->grid.periodic_y) cpu_sync(level, &cpu_level_of(level)->x);
}

static void smooth_by_rows(smooth_job *job) {
  const tsi_level *level = job->level;
  const cpu_level *l = job->l;
  const int threads = cpu_state_of(level->context)->threads;
  job->parts = threads < l->rows ? threads : l->rows;
  cpu_for(level->context, (size_t)job->parts, 4 * cost_of_row(l) * (size_t)l->rows / (size_t)job->parts,
          body_wave, job);
  sync_rows(level);
  relax_seams(job);
  sync_rows(level);
}

/* Red-black on five points: each half consists of two parities that are not coupled to each other. */
static void smooth_by_halves(smooth_job *job) {
  for (job->first_colour = 0; job->first_colour < 4; job->first_colour += 2) {
    cpu_for(job->level->context, (size_t)job->l->rows, 2 * cost_of_row(job->l), body_colours, job);
    sync_rows(job->level);
  }
}

static ts_status smooth_colours(tsi_level *level, const tsi_sweep *sweep) {
  cpu_level *l = cpu_level_of(level);
  const int *c = sweep->colours;
  const int by_rows = c[0] >> 1 == c[1] >> 1, periodic = level->grid.periodic_x || level->grid.periodic_y;
  /* If x is 0, the first two colours need not read values known to be 0. */
  const int shortcut = sweep->x_is_zero && by_rows && !periodic;
  if (sweep->x_is_zero && !shortcut) TSI_TRY(cpu_level_clear(level));
  smooth_job job = {
      .level = level,
      .l = l,
      .colours = {c[0], c[1], c[2], c[3]},
      .reach = {shortcut ? REACH_NONE : REACH_ALL, shortcut ? REACH_ROW : REACH_ALL, REACH_ALL, REACH_ALL},
      .clears = shortcut};
  if (by_rows)
    smooth_by_rows(&job);
  else
    smooth_by_halves(&job);
  return TS_OK;
}

/* ---- Jacobi and Chebyshev ---- */

CPU_INLINE void jacobi_row(const smooth_job *job, const smooth_row *row, float *restrict next,
                           float *restrict d, int32_t count, int five_point) {
  const smooth_row s = *row;
  const float alpha = job->alpha, beta = job->beta;
  CPU_SIMD
  for (int32_t k = 0; k < count; k++) {
    const float r = without_centre(&s, k, five_point, REACH_ALL) - s.a[CPU_C][k] * s.x[CPU_C][k];
    float step = s.inverse[k] == 0 ? 0 : alpha * (s.inverse[k] * r);
    if (d) {
      step += beta != 0 ? beta * d[k] : 0;
      d[k] = step;
    }
    next[k] = s.x[CPU_C][k] + step;
  }
}

CPU_CLONES static void body_jacobi(const void *arguments, size_t first, size_t last) {
  const smooth_job *job = arguments;
  const cpu_level *l = job->l;
  const int five = !l->coefficients[CPU_SW].block;
  for (int32_t row = (int32_t)first; row < (int32_t)last; row++)
    for (int c = 0; c < 4; c++) {
      const int32_t i = c & 1, j = 2 * row + (c >> 1), count = (l->width - i + 1) / 2;
      if (j >= l->height || i >= l->width) continue;
      const smooth_row s = row_of(l, c, row);
      float *next = cpu_level_at(l, &l->r, i, j);
      float *d = job->has_direction ? cpu_level_at(l, &l->d, i, j) : NULL;
      if (five)
        jacobi_row(job, &s, next, d, count, 1);
      else
        jacobi_row(job, &s, next, d, count, 0);
    }
}

static ts_status smooth_jacobi(tsi_level *level, const tsi_sweep *sweep) {
  cpu_level *l = cpu_level_of(level);
  const int chebyshev = sweep->kind == TSI_SWEEP_CHEBYSHEV;
  if (chebyshev && !l->d.block) TSI_TRY(cpu_parities_create(level->context, l, &l->d, "a level's directions"));
  if (sweep->x_is_zero) TSI_TRY(cpu_level_clear(level));
  const smooth_job job = {.level = level,
                          .l = l,
                          .alpha = sweep->alpha,
                          .beta = chebyshev ? sweep->beta : 0,
                          .has_direction = chebyshev};
  cpu_for(level->context, (size_t)l->rows, 4 * cost_of_row(l), body_jacobi, &job);
  const cpu_parities x = l->x;
  l->x = l->r;
  l->r = x;
  cpu_sync(level, &l->x);
  return TS_OK;
}

ts_status cpu_level_smooth(tsi_level *level, const tsi_sweep *sweep) {
  return sweep->kind == TSI_SWEEP_COLOURS ? smooth_colours(level, sweep) : smooth_jacobi(level, sweep);
}
