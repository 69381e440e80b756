/* Interpolation weights from the stencil, as defined in src/common/grid/grid.h, computed in double. */
#include <math.h>
#include <stdlib.h>

#include "cpu_level.h"

enum { PARITY_10 = 1, PARITY_01 = 2, PARITY_11 = 3 };

typedef struct weights_job {
  const tsi_level *level;
  cpu_level *l;
  int bilinear;
} weights_job;

static float *weight_at(const cpu_level *l, int direction, int32_t i, int32_t j) {
  return l->weights.to[direction] + (ptrdiff_t)(j >> 1) * l->stride + (i >> 1);
}

/* Sums of three coefficients of a point: towards one side, in the middle, towards the other side. */
typedef struct weights_sums {
  double one, middle, other;
} weights_sums;

static weights_sums across_sums(const double a[CPU_DIRECTIONS]) {
  return (weights_sums){a[CPU_SW] + a[CPU_W] + a[CPU_NW], a[CPU_S] + a[CPU_C] + a[CPU_N],
                        a[CPU_SE] + a[CPU_E] + a[CPU_NE]};
}

static weights_sums up_sums(const double a[CPU_DIRECTIONS]) {
  return (weights_sums){a[CPU_SW] + a[CPU_S] + a[CPU_SE], a[CPU_W] + a[CPU_C] + a[CPU_E],
                        a[CPU_NW] + a[CPU_N] + a[CPU_NE]};
}

static int is_nothing(double a, double beside) {
  return fabs(a) <= 1e-6 * fabs(beside);
}

/* Whether the boundary beyond the last column or row fixes the unknown (Dirichlet). */
static int is_held(weights_sums s) {
  return s.one + s.middle > 0.1 * fabs(s.one);
}

/* The coefficients at (i, j). Towards a coarse point beyond the grid, they mirror those of the opposite side,
 * unless the boundary fixes the unknown. Returns whether the point has an equation. */
static int coefficients_at(const tsi_level *level, int32_t i, int32_t j, double a[CPU_DIRECTIONS]) {
  const cpu_level *l = cpu_level_of(level);
  for (int k = 0; k < CPU_DIRECTIONS; k++)
    a[k] = l->coefficients[k].block ? (double)*cpu_level_at(l, &l->coefficients[k], i, j) : 0;
  const int east = i & 1 && i + 1 == l->width && !level->grid.periodic_x && !is_held(across_sums(a));
  const int north = j & 1 && j + 1 == l->height && !level->grid.periodic_y && !is_held(up_sums(a));
  if (east) a[CPU_E] = a[CPU_W], a[CPU_SE] = a[CPU_SW], a[CPU_NE] = a[CPU_NW];
  if (north) a[CPU_N] = a[CPU_S], a[CPU_NW] = a[CPU_SW], a[CPU_NE] = a[CPU_SE];
  return a[CPU_C] != 0;
}

/* Whether the coarse point of fine point (i, j), both even, has no equation; see src/common/grid/grid.h. */
static int is_dead(const tsi_level *level, int32_t i, int32_t j) {
  const cpu_level *l = cpu_level_of(level);
  if (i >= l->width && level->grid.periodic_x) i = 0;
  if (j >= l->height && level->grid.periodic_y) j = 0;
  if (i < l->width && j < l->height) return *cpu_level_at(l, &l->inverse, i, j) == 0;
  for (int k = 0; k < 9; k++) {
    const int32_t p = i + k % 3 - 1, q = j + k / 3 - 1;
    if (p >= 0 && q >= 0 && p < l->width && q < l->height && *cpu_level_at(l, &l->inverse, p, q) != 0) return 0;
  }
  return 1;
}

/* A point without an equation interpolates only from coarse points without an equation. Coarse rows then keep
 * their coefficients towards given values. */
static void set_without_equation(const tsi_level *level, float *const w[], const int32_t at[][2], int count) {
  int dead[4], sum = 0;
  for (int k = 0; k < count; k++) sum += dead[k] = is_dead(level, at[k][0], at[k][1]);
  for (int k = 0; k < count; k++) *w[k] = dead[k] ? 1 / (float)sum : 0;
}

/* If one of the two sums vanishes, the middle sum determines the distance to a given value. */
static void set_pair(float *one, float *other, weights_sums s) {
  const double sum = is_nothing(s.one, s.other) || is_nothing(s.other, s.one) ? -s.middle : s.one + s.other;
  const int usable = fabs(sum) > 1e-6 * fabs(s.middle) && sum != 0;
  *one = usable ? (float)(s.one / sum) : 0;
  *other = usable ? (float)(s.other / sum) : 0;
}

/* The divisor for a point between four coarse points. */
static double corner_divisor(const double a[CPU_DIRECTIONS]) {
  const weights_sums x = across_sums(a), y = up_sums(a);
  double around = 0;
  for (int k = 0; k < CPU_DIRECTIONS; k++)
    if (k != CPU_C) around -= a[k];
  const int open = is_nothing(x.one, x.other) || is_nothing(x.other, x.one) || is_nothing(y.one, y.other) ||
                   is_nothing(y.other, y.one);
  return open ? a[CPU_C] : around;
}

/* Whether the coarse point in a direction from point (i, j) has no equation and is not coupled to the point: it
 * is inside a wall. */
static int is_walled(const tsi_level *level, int32_t i, int32_t j, const double a[CPU_DIRECTIONS],
                     int direction) {
  return a[direction] == 0 && is_dead(level, i + direction % 3 - 1, j + direction / 3 - 1);
}

/* Adds the coefficients that lead past a coarse point inside a wall to the middle. */
static void fold_walls(const tsi_level *level, int32_t i, int32_t j, const double a[CPU_DIRECTIONS], int one,
                       int other, weights_sums *s) {
  if (is_walled(level, i, j, a, one)) {
    s->middle += s->one;
    s->one = 0;
  }
  if (is_walled(level, i, j, a, other)) {
    s->middle += s->other;
    s->other = 0;
  }
}

static void body_pairs(const void *arguments, size_t first, size_t last) {
  const weights_job *job = arguments;
  cpu_level *l = job->l;
  double a[CPU_DIRECTIONS];
  for (int32_t j = (int32_t)first; j < (int32_t)last; j++)
    for (int32_t i = !(j & 1); i < l->width; i += 2) {
      const int across = !(j & 1);
      float *one = weight_at(l, across ? CPU_W : CPU_S, i, j),
            *other = weight_at(l, across ? CPU_E : CPU_N, i, j);
      if (!coefficients_at(job->level, i, j, a)) {
        const int32_t at[2][2] = {{i - across, j - !across}, {i + across, j + !across}};
        set_without_equation(job->level, (float *const[]){one, other}, at, 2);
        continue;
      }
      if (job->bilinear)
        *one = *other = 0.5f;
      else {
        weights_sums sums = across ? across_sums(a) : up_sums(a);
        fold_walls(job->level, i, j, a, across ? CPU_W : CPU_S, across ? CPU_E : CPU_N, &sums);
        set_pair(one, other, sums);
      }
    }
}

static void body_corners(const void *arguments, size_t first, size_t last) {
  const weights_job *job = arguments;
  const tsi_level *level = job->level;
  cpu_level *l = job->l;
  double a[CPU_DIRECTIONS];
  for (int32_t row = (int32_t)first; row < (int32_t)last; row++)
    for (int32_t i = 1, j = 2 * row + 1; i < l->width && j < l->height; i += 2) {
      const int east_out = i + 1 == l->width && !level->grid.periodic_x;
      const int north_out = j + 1 == l->height && !level->grid.periodic_y;
      const int32_t e = east_out ? i - 1 : i + 1, n = north_out ? j - 1 : j + 1;
      float *w[] = {weight_at(l, CPU_SW, i, j), weight_at(l, CPU_SE, i, j), weight_at(l, CPU_NW, i, j),
                    weight_at(l, CPU_NE, i, j)};
      for (int k = 0; k < 4; k++) *w[k] = 0;
      if (!coefficients_at(level, i, j, a)) {
        const int32_t at[4][2] = {{i - 1, j - 1}, {i + 1, j - 1}, {i - 1, j + 1}, {i + 1, j + 1}};
        set_without_equation(level, w, at, 4);
        continue;
      }
      const double d = corner_divisor(a);
      if (job->bilinear)
        for (int k = 0; k < 4; k++) *w[k] = 0.25f;
      if (job->bilinear || fabs(d) <= 1e-6 * fabs(a[CPU_C])) continue;
      *w[0] = (float)(-(a[CPU_SW] + a[CPU_S] * (double)*weight_at(l, CPU_W, i, j - 1) +
                        a[CPU_W] * (double)*weight_at(l, CPU_S, i - 1, j)) /
                      d);
      *w[1] = (float)(-(a[CPU_SE] + a[CPU_S] * (double)*weight_at(l, CPU_E, i, j - 1) +
                        a[CPU_E] * (double)*weight_at(l, CPU_S, e, j)) /
                      d);
      *w[2] = (float)(-(a[CPU_NW] + a[CPU_N] * (double)*weight_at(l, CPU_W, i, n) +
                        a[CPU_W] * (double)*weight_at(l, CPU_N, i - 1, j)) /
                      d);
      *w[3] = (float)(-(a[CPU_NE] + a[CPU_N] * (double)*weight_at(l, CPU_E, i, n) +
                        a[CPU_E] * (double)*weight_at(l, CPU_N, e, j)) /
                      d);
    }
}

/* ---- Periodic sides ----
 *
 * If the number of columns is odd, column -1 is column w - 1, which is coarse. As an odd column it has weight 1
 * for its western coarse column. Column w is column 0 and has weight 1 for the eastern one. If the number is
 * even, the composition of stencils reaches two columns beyond the grid. */

static const int across[] = {CPU_W, CPU_E}, up[] = {CPU_S, CPU_N};
static const int corners[] = {CPU_SW, CPU_SE, CPU_NW, CPU_NE};

/* Copies the weights of a point of the same parity to (i, j). */
static void copy_weights(cpu_level *l, int32_t i, int32_t j, int32_t from_i, int32_t from_j) {
  if (!(i & 1) && !(j & 1)) return; /* coarse */
  const int *which = i & 1 && j & 1 ? corners : i & 1 ? across : up;
  for (int k = 0; k < (which == corners ? 4 : 2); k++)
    *weight_at(l, which[k], i, j) = *weight_at(l, which[k], from_i, from_j);
}

static void set_odd_column(cpu_level *l, int32_t j, int west) {
  const int32_t to = west ? -1 : l->width, from = west ? l->width - 1 : 0;
  if (j & 1) {
    const float s = *weight_at(l, CPU_S, from, j), n = *weight_at(l, CPU_N, from, j);
    *weight_at(l, CPU_SW, to, j) = west ? s : 0;
    *weight_at(l, CPU_NW, to, j) = west ? n : 0;
    *weight_at(l, CPU_SE, to, j) = west ? 0 : s;
    *weight_at(l, CPU_NE, to, j) = west ? 0 : n;
  } else {
    *weight_at(l, CPU_W, to, j) = (float)west;
    *weight_at(l, CPU_E, to, j) = (float)!west;
  }
}

static void set_odd_row(cpu_level *l, int32_t i, int south) {
  const int32_t to = south ? -1 : l->height, from = south ? l->height - 1 : 0;
  if (i & 1) {
    const float w = *weight_at(l, CPU_W, i, from), e = *weight_at(l, CPU_E, i, from);
    *weight_at(l, CPU_SW, i, to) = south ? w : 0;
    *weight_at(l, CPU_SE, i, to) = south ? e : 0;
    *weight_at(l, CPU_NW, i, to) = south ? 0 : w;
    *weight_at(l, CPU_NE, i, to) = south ? 0 : e;
  } else {
    *weight_at(l, CPU_S, i, to) = (float)south;
    *weight_at(l, CPU_N, i, to) = (float)!south;
  }
}

static void set_columns(cpu_level *l, int32_t j) {
  if (l->width & 1) {
    set_odd_column(l, j, 1);
    set_odd_column(l, j, 0);
  } else {
    for (int32_t i = -2; i < 0; i++) copy_weights(l, i, j, l->width + i, j);
    copy_weights(l, l->width, j, 0, j);
  }
}

static void set_rows(cpu_level *l, int32_t i) {
  if (l->height & 1) {
    set_odd_row(l, i, 1);
    set_odd_row(l, i, 0);
  } else {
    for (int32_t j = -2; j < 0; j++) copy_weights(l, i, j, i, l->height + j);
    copy_weights(l, i, l->height, i, 0);
  }
}

static void set_borders(const tsi_level *level, cpu_level *l) {
  const int x = level->grid.periodic_x;
  for (int32_t j = 0; x && j < l->height; j++) set_columns(l, j);
  for (int32_t i = x ? -2 : 0; level->grid.periodic_y && i < l->width + (x != 0); i++) set_rows(l, i);
}

/* ---- All of them ---- */

ts_status cpu_weights_create(tsi_level *level) {
  cpu_level *l = cpu_level_of(level);
  if (!l->weights.block) {
    const size_t bytes = 8 * l->size * sizeof(float);
    TSI_TRY(tsi_device_alloc(level->context, bytes, "interpolation weights"));
    l->weights.block = tsi_calloc(level->context, 8 * l->size, sizeof(float));
    if (!l->weights.block) {
      tsi_device_free(level->context, bytes);
      return tsi_out_of_memory(level->context, "interpolation weights", bytes);
    }
    l->weights.bytes = bytes;
    for (int k = 0, n = 0; k < CPU_DIRECTIONS; k++)
      if (k != CPU_C) l->weights.to[k] = l->weights.block + (size_t)n++ * l->size + l->stride + 1;
  }
  const weights_job job = {
      .level = level, .l = l, .bilinear = level->interpolation == TS_INTERPOLATION_BILINEAR};
  cpu_for(level->context, (size_t)l->height, 16 * (size_t)l->width, body_pairs, &job);
  set_borders(level, l);
  cpu_for(level->context, (size_t)l->rows, 16 * (size_t)l->width, body_corners, &job);
  set_borders(level, l);
  return TS_OK;
}

/* Whether the weights equal bilinear interpolation up to rounding. Points without an equation are ignored. */
static int are_bilinear(const tsi_level *level) {
  const cpu_level *l = cpu_level_of(level);
  static const int across[] = {CPU_W, CPU_E}, up[] = {CPU_S, CPU_N},
                   corners[] = {CPU_SW, CPU_SE, CPU_NW, CPU_NE};
  if ((level->grid.periodic_x && l->width & 1) || (level->grid.periodic_y && l->height & 1)) return 0;
  for (int32_t j = 0; j < l->height; j++)
    for (int32_t i = !(j & 1); i < l->width; i += 1 + !(j & 1)) {
      if (*cpu_level_at(l, &l->inverse, i, j) == 0) continue;
      const int *which = !(j & 1) ? across : i & 1 ? corners : up;
      const int count = which == corners ? 4 : 2;
      for (int k = 0; k < count; k++)
        if (fabsf(*weight_at(l, which[k], i, j) * (float)count - 1) > 2e-6f) return 0;
    }
  return 1;
}

void cpu_weights_drop_if_bilinear(tsi_level *level) {
  cpu_level *l = cpu_level_of(level);
  if (!are_bilinear(level)) return;
  tsi_free(level->context, l->weights.block);
  tsi_device_free(level->context, l->weights.bytes);
  l->weights = (cpu_weights){0};
}
