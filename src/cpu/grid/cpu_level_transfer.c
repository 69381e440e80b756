/* Transfers between two levels: restriction P = S^T / 4 and interpolation S.
 *
 * The weights belong to the fine points, by the direction of the coarse point. Points between two columns of
 * coarse points have a horizontal pair, and points between two rows a vertical pair. Points between four coarse
 * points have four weights. */
#include "cpu_level.h"

typedef struct transfer_job {
  const cpu_level *fine, *coarse;
  const cpu_parities *from; /* field of the fine level to restrict */
  int add;
  int merged_x, merged_y;
} transfer_job;

/* ---- Residual ---- */

CPU_INLINE void residual_row(const cpu_level *l, int c, int32_t j, int five_point) {
  const int32_t i = c & 1, count = (l->width - i + 1) / 2;
  const float *a[CPU_DIRECTIONS], *x[CPU_DIRECTIONS];
  for (int k = 0; k < CPU_DIRECTIONS; k++) {
    a[k] = l->coefficients[k].block ? cpu_level_at(l, &l->coefficients[k], i, j) : NULL;
    x[k] = cpu_level_at(l, &l->x, i + k % 3 - 1, j + k / 3 - 1);
  }
  const float *b = cpu_level_at(l, &l->b, i, j), *inverse = cpu_level_at(l, &l->inverse, i, j);
  float *restrict r = cpu_level_at(l, &l->r, i, j);
  CPU_SIMD
  for (int32_t k = 0; k < count; k++) {
    float sum = b[k] - a[CPU_C][k] * x[CPU_C][k];
    sum -= a[CPU_W][k] * x[CPU_W][k];
    sum -= a[CPU_E][k] * x[CPU_E][k];
    sum -= a[CPU_S][k] * x[CPU_S][k];
    sum -= a[CPU_N][k] * x[CPU_N][k];
    if (!five_point) {
      sum -= a[CPU_SW][k] * x[CPU_SW][k];
      sum -= a[CPU_SE][k] * x[CPU_SE][k];
      sum -= a[CPU_NW][k] * x[CPU_NW][k];
      sum -= a[CPU_NE][k] * x[CPU_NE][k];
    }
    r[k] = inverse[k] == 0 ? 0 : sum;
  }
}

CPU_CLONES static void body_residual(const void *arguments, size_t first, size_t last) {
  const transfer_job *job = arguments;
  const cpu_level *l = job->fine;
  const int five = !l->coefficients[CPU_SW].block;
  for (int32_t j = (int32_t)first; j < (int32_t)last; j++)
    for (int a = 0; a < 2 && a < l->width; a++) {
      const int c = a + 2 * (j & 1);
      if (five)
        residual_row(l, c, j, 1);
      else
        residual_row(l, c, j, 0);
    }
}

/* ---- Restriction ---- */

/* Coarse points (I, J) to (I + count - 1, J), from the fine points 2 I + e, 2 J + g. Points outside the grid
 * are 0 in the border. */
CPU_INLINE void restrict_piece(const transfer_job *job, int32_t I, int32_t J, int32_t count, float *out) {
  const cpu_level *l = job->fine;
  const cpu_parities *v = job->from;
  const int plain = !l->weights.block;
  for (int32_t k = 0; k < count; k++) out[k] = 0;
  for (int e = -1; e <= 1; e++)
    for (int g = -1; g <= 1; g++) {
      const int32_t i = 2 * I + e, j = 2 * J + g;
      const float *restrict from = cpu_level_at(l, v, i, j);
      const int towards = 4 - e - 3 * g; /* direction from the fine point to the coarse one */
      const float weight = (e ? 0.5f : 1) * (g ? 0.5f : 1);
      if (plain || towards == CPU_C) {
        CPU_SIMD
        for (int32_t k = 0; k < count; k++) out[k] += weight * from[k];
      } else {
        const float *restrict w = l->weights.to[towards] + (ptrdiff_t)(j >> 1) * l->stride + (i >> 1);
        CPU_SIMD
        for (int32_t k = 0; k < count; k++) out[k] += w[k] * from[k];
      }
    }
}

/* restrict_piece, plus the fine points around merged points. */
CPU_INLINE void restrict_merged(const transfer_job *job, int32_t I, int32_t J, int32_t count, float *out) {
  float more[CPU_PIECE];
  restrict_piece(job, I, J, count, out);
  if (I == 0 && job->merged_x) {
    restrict_piece(job, job->coarse->width, J, 1, more);
    out[0] += more[0];
  }
  if (J != 0 || !job->merged_y) return;
  restrict_piece(job, I, job->coarse->height, count, more);
  for (int32_t k = 0; k < count; k++) out[k] += more[k];
  if (I != 0 || !job->merged_x) return;
  restrict_piece(job, job->coarse->width, job->coarse->height, 1, more);
  out[0] += more[0];
}

CPU_CLONES static void body_restrict(const void *arguments, size_t first, size_t last) {
  const transfer_job *job = arguments;
  const cpu_level *coarse = job->coarse;
  float piece[CPU_PIECE];
  for (int32_t J = (int32_t)first; J < (int32_t)last; J++)
    for (int32_t I = 0; I < coarse->width; I += CPU_PIECE) {
      const int32_t left = coarse->width - I, count = left < CPU_PIECE ? left : CPU_PIECE;
      restrict_merged(job, I, J, count, piece);
      for (int a = 0; a < 2 && a < count; a++) {
        float *restrict b = cpu_level_at(coarse, &coarse->b, I + a, J);
        const float *restrict inverse = cpu_level_at(coarse, &coarse->inverse, I + a, J);
        for (int32_t k = 0; 2 * k + a < count; k++) b[k] = inverse[k] == 0 ? 0 : 0.25f * piece[2 * k + a];
      }
    }
}

static void restrict_field(const tsi_level *coarse, const tsi_level *fine, const cpu_parities *from) {
  cpu_sync(fine, from);
  const ts_grid_desc *grid = &coarse->grid;
  const transfer_job job = {.fine = cpu_level_of(fine),
                            .coarse = cpu_level_of(coarse),
                            .from = from,
                            .merged_x = tsi_is_merged(fine->grid.width, grid->width, grid->periodic_x),
                            .merged_y = tsi_is_merged(fine->grid.height, grid->height, grid->periodic_y)};
  cpu_for(coarse->context, (size_t)job.coarse->height, 10 * (size_t)job.coarse->width, body_restrict, &job);
}

ts_status cpu_level_restrict_residual(tsi_level *coarse, tsi_level *fine) {
  cpu_level *l = cpu_level_of(fine);
  const transfer_job job = {.fine = l};
  cpu_for(fine->context, (size_t)l->height, 14 * (size_t)l->width, body_residual, &job);
  restrict_field(coarse, fine, &l->r);
  return TS_OK;
}

ts_status cpu_level_restrict(tsi_level *coarse, tsi_level *fine) {
  restrict_field(coarse, fine, &cpu_level_of(fine)->b);
  return TS_OK;
}

static void body_inject(const void *arguments, size_t first, size_t last) {
  const transfer_job *job = arguments;
  const cpu_level *fine = job->fine, *coarse = job->coarse;
  for (int32_t J = (int32_t)first; J < (int32_t)last; J++)
    for (int32_t I = 0; I < coarse->width; I++) {
      const int given =
          2 * I < fine->width && 2 * J < fine->height && *cpu_level_at(coarse, &coarse->inverse, I, J) == 0;
      *cpu_level_at(coarse, &coarse->x, I, J) = given ? *cpu_level_at(fine, &fine->x, 2 * I, 2 * J) : 0;
    }
}

ts_status cpu_level_inject(tsi_level *coarse, tsi_level *fine) {
  const transfer_job job = {.fine = cpu_level_of(fine), .coarse = cpu_level_of(coarse)};
  cpu_for(coarse->context, (size_t)job.coarse->height, 2 * (size_t)job.coarse->width, body_inject, &job);
  cpu_sync(coarse, &job.coarse->x);
  return TS_OK;
}

/* ---- Interpolation ---- */

/* Fine points of one parity in row j, elements first to first + count - 1 of their array. south and north are
 * the coarse rows below and above (the same row if j is even), starting at coarse column `first`. */
CPU_INLINE void prolong_piece(const transfer_job *job, int c, int32_t j, int32_t first, int32_t count,
                              const float *south, const float *north) {
  const cpu_level *l = job->fine;
  float *restrict x = cpu_level_at(l, &l->x, c & 1, j) + first;
  const float *restrict inverse = cpu_level_at(l, &l->inverse, c & 1, j) + first;
  const ptrdiff_t at = (ptrdiff_t)(j >> 1) * l->stride + first;
  const int add = job->add;
  const int plain = !l->weights.block;
  float e[CPU_PIECE];
  if (c == 0) {
    for (int32_t k = 0; k < count; k++) e[k] = south[k];
  } else if (c == 1) {
    const float *w = plain ? NULL : l->weights.to[CPU_W] + at, *q = plain ? NULL : l->weights.to[CPU_E] + at;
    for (int32_t k = 0; k < count; k++)
      e[k] = plain ? 0.5f * (south[k] + south[k + 1]) : w[k] * south[k] + q[k] * south[k + 1];
  } else if (c == 2) {
    const float *w = plain ? NULL : l->weights.to[CPU_S] + at, *q = plain ? NULL : l->weights.to[CPU_N] + at;
    for (int32_t k = 0; k < count; k++)
      e[k] = plain ? 0.5f * (south[k] + north[k]) : w[k] * south[k] + q[k] * north[k];
  } else if (plain) {
    for (int32_t k = 0; k < count; k++) e[k] = 0.25f * ((south[k] + south[k + 1]) + (north[k] + north[k + 1]));
  } else {
    const float *sw = l->weights.to[CPU_SW] + at, *se = l->weights.to[CPU_SE] + at;
    const float *nw = l->weights.to[CPU_NW] + at, *ne = l->weights.to[CPU_NE] + at;
    for (int32_t k = 0; k < count; k++)
      e[k] = (sw[k] * south[k] + se[k] * south[k + 1]) + (nw[k] * north[k] + ne[k] * north[k + 1]);
  }
  CPU_SIMD
  for (int32_t k = 0; k < count; k++) {
    const float old = x[k];
    x[k] = inverse[k] == 0 ? old : add ? old + e[k] : e[k];
  }
}

CPU_CLONES static void body_prolong(const void *arguments, size_t first, size_t last) {
  const transfer_job *job = arguments;
  const cpu_level *l = job->fine, *coarse = job->coarse;
  float below[CPU_PIECE + 1], above[CPU_PIECE + 1];
  for (int32_t j = (int32_t)first; j < (int32_t)last; j++)
    for (int32_t at = 0; at < l->columns; at += CPU_PIECE) {
      const int32_t left = l->columns - at, count = left < CPU_PIECE ? left : CPU_PIECE;
      cpu_level_row(coarse, &coarse->x, j >> 1, at, count + 1, below);
      if (j & 1) cpu_level_row(coarse, &coarse->x, (j >> 1) + 1, at, count + 1, above);
      for (int a = 0; a < 2; a++) {
        const int32_t points = (l->width - a + 1) / 2 - at;
        if (points > 0)
          prolong_piece(job, a + 2 * (j & 1), j, at, points < count ? points : count, below, above);
      }
    }
}

ts_status cpu_level_prolong(tsi_level *fine, tsi_level *coarse, int add) {
  const transfer_job job = {.fine = cpu_level_of(fine), .coarse = cpu_level_of(coarse), .add = add};
  cpu_for(fine->context, (size_t)job.fine->height, 4 * (size_t)job.fine->width, body_prolong, &job);
  cpu_sync(fine, &job.fine->x);
  return TS_OK;
}
