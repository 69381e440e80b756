/* The coarse stencil by composition, A_2h = S^T A_h S / 4 (Bolz et al. 2003, section 4.2):
 *
 *   A_2h^d[I] = 1/4 sum over e, g in {-1, 0, 1}^2 of w[I, 2 I + e] A_h^g[2 I + e] w[I + d, 2 I + e + g]
 *
 * Here w[I, i] is the weight of coarse point I at fine point i. For each e and g, the loop runs over
 * neighbouring I. */
#include <math.h>
#include <string.h>

#include "cpu_level.h"

typedef struct coarsen_job {
  const cpu_level *fine;
  cpu_level *coarse;
  const ts_grid_desc *grid; /* of the coarse level */
  int merged_x, merged_y;
} coarsen_job;

typedef double coarsen_sums[CPU_DIRECTIONS][CPU_PIECE];

/* A contribution to fine point q = 2 I + (qx, qy) from a coarse point near I: up to two per dimension. */
typedef struct coarsen_parent {
  int d;          /* direction from I */
  const float *w; /* weights at q for consecutive I; NULL: 1 */
} coarsen_parent;

static int parents_of(const cpu_level *l, int32_t I, int32_t J, int qx, int qy, coarsen_parent out[4]) {
  const int x_odd = qx & 1, y_odd = qy & 1;
  int count = 0;
  for (int v = y_odd ? -1 : 0; v <= y_odd; v += 2)
    for (int u = x_odd ? -1 : 0; u <= x_odd; u += 2) {
      const int dx = (qx + u) / 2, dy = (qy + v) / 2;
      const int32_t i = 2 * I + qx, j = 2 * J + qy;
      const float *w =
          u || v ? l->weights.to[CPU_C + u + 3 * v] + (ptrdiff_t)(j >> 1) * l->stride + (i >> 1) : NULL;
      out[count++] = (coarsen_parent){CPU_C + dx + 3 * dy, w};
    }
  return count;
}

CPU_INLINE void add_products(double *restrict sum, int32_t count, const float *w, const float *a,
                             const float *v) {
  if (w && v)
    for (int32_t k = 0; k < count; k++) sum[k] += (double)w[k] * (double)a[k] * (double)v[k];
  else if (w || v) {
    const float *one = w ? w : v;
    for (int32_t k = 0; k < count; k++) sum[k] += (double)one[k] * (double)a[k];
  } else
    for (int32_t k = 0; k < count; k++) sum[k] += (double)a[k];
}

CPU_INLINE void compose_piece(const cpu_level *l, int32_t I, int32_t J, int32_t count, coarsen_sums sums) {
  for (int d = 0; d < CPU_DIRECTIONS; d++)
    for (int32_t k = 0; k < count; k++) sums[d][k] = 0;
  for (int e = 0; e < CPU_DIRECTIONS; e++) {
    const int ex = e % 3 - 1, ey = e / 3 - 1;
    const int32_t i = 2 * I + ex, j = 2 * J + ey;
    const float *w =
        e != CPU_C ? l->weights.to[2 * CPU_C - e] + (ptrdiff_t)(j >> 1) * l->stride + (i >> 1) : NULL;
    for (int g = 0; g < CPU_DIRECTIONS; g++) {
      if (!l->coefficients[g].block) continue;
      coarsen_parent parents[4];
      const int parent_count = parents_of(l, I, J, ex + g % 3 - 1, ey + g / 3 - 1, parents);
      const float *a = cpu_level_at(l, &l->coefficients[g], i, j);
      for (int p = 0; p < parent_count; p++) add_products(sums[parents[p].d], count, w, a, parents[p].w);
    }
  }
}

/* For a coarse point in one dimension: whether its western (southern) neighbour, bit 0, and its eastern
 * (northern) one, bit 1, are the point itself. */
static int inward(int32_t at, int32_t size, int periodic, int is_merged) {
  if (!periodic) return 0;
  if (size == 1) return 3;
  return !is_merged ? 0 : at == 0 ? 1 : at == size ? 2 : 0;
}

/* Adds up coefficients of `count` points. Coefficients towards the point itself are added to the centre column
 * or row. */
static void add_sums(coarsen_sums to, coarsen_sums from, int32_t first, int32_t count, int inward_x,
                     int inward_y) {
  for (int d = 0; d < CPU_DIRECTIONS; d++) {
    const int x = d % 3, y = d / 3;
    const int fold_x = (x == 0 && inward_x & 1) || (x == 2 && inward_x & 2),
              fold_y = (y == 0 && inward_y & 1) || (y == 2 && inward_y & 2);
    double *sum = to[(fold_x ? 1 : x) + 3 * (fold_y ? 1 : y)];
    for (int32_t k = first; k < first + count; k++) sum[k] += from[d][k];
  }
}

/* Computes coarse points (I, J) to (I + count - 1, J), including the points merged with them. */
static void compose(const coarsen_job *job, int32_t I, int32_t J, int32_t count, coarsen_sums sums) {
  const int32_t width = job->coarse->width, height = job->coarse->height;
  const int again_x = job->merged_x && I == 0, again_y = job->merged_y && J == 0;
  coarsen_sums part;
  memset(sums, 0, sizeof part);
  for (int32_t row = 0; row <= again_y; row++) {
    const int32_t at = row ? height : J;
    const int inward_y = inward(at, height, job->grid->periodic_y, job->merged_y);
    compose_piece(job->fine, I, at, count, part);
    add_sums(sums, part, 0, 1, inward(I, width, job->grid->periodic_x, job->merged_x), inward_y);
    add_sums(sums, part, 1, count - 1, 0, inward_y);
    if (!again_x) continue;
    compose_piece(job->fine, width, at, 1, part);
    add_sums(sums, part, 0, 1, inward(width, width, 1, 1), inward_y);
  }
}

/* Whether coarse point (I, J) has no equation because of its fine point or of the points merged with it. */
static int is_dead(const coarsen_job *job, int32_t I, int32_t J) {
  const cpu_level *l = job->fine;
  const int wide = 1 + (job->merged_x && I == 0), count = wide * (1 + (job->merged_y && J == 0));
  int32_t i[4], j[4];
  int alive = 0;
  for (int p = 0; p < count; p++) {
    i[p] = 2 * (I + p % wide * job->coarse->width);
    j[p] = 2 * (J + p / wide * job->coarse->height);
    if (i[p] >= l->width || j[p] >= l->height) return 0;
    if (*cpu_level_at(l, &l->inverse, i[p], j[p]) != 0) alive |= 1 << p;
  }
  for (int p = 0; p < count; p++)
    for (int q = 0; q < count; q++) {
      const int direction = CPU_C + p % wide - q % wide + 3 * (p / wide - q / wide); /* from p to q */
      const cpu_parities *a = &l->coefficients[direction];
      if (alive >> p & 1 && !(alive >> q & 1) && a->block && *cpu_level_at(l, a, i[p], j[p]) != 0) return 1;
    }
  return !alive;
}

/* Whether coarse point (I, J) has an equation. */
static int is_equation(const coarsen_job *job, int32_t I, int32_t J, double centre) {
  const cpu_level *l = job->fine;
  const int32_t i = 2 * I, j = 2 * J;
  if (is_dead(job, I, J)) return 0;
  double largest = 0;
  for (int k = 0; k < 9; k++)
    largest =
        fmax(largest, fabs((double)*cpu_level_at(l, &l->coefficients[CPU_C], i + k % 3 - 1, j + k / 3 - 1)));
  return fabs(centre) > 1e-6 * largest;
}

CPU_CLONES static void body_coarsen(const void *arguments, size_t first, size_t last) {
  const coarsen_job *job = arguments;
  cpu_level *coarse = job->coarse;
  coarsen_sums sums;
  for (int32_t J = (int32_t)first; J < (int32_t)last; J++)
    for (int32_t I = 0; I < coarse->width; I += CPU_PIECE) {
      const int32_t left = coarse->width - I, count = left < CPU_PIECE ? left : CPU_PIECE;
      compose(job, I, J, count, sums);
      for (int32_t k = 0; k < count; k++) {
        const double scale = is_equation(job, I + k, J, sums[CPU_C][k] / 4) ? 0.25 : 0;
        for (int d = 0; d < CPU_DIRECTIONS; d++)
          *cpu_level_at(coarse, &coarse->coefficients[d], I + k, J) = (float)(scale * sums[d][k]);
      }
    }
}

ts_status cpu_level_coarsen(tsi_level *coarse, tsi_level *fine) {
  TSI_TRY(cpu_weights_create(fine));
  const ts_grid_desc *grid = &coarse->grid;
  const coarsen_job job = {.fine = cpu_level_of(fine),
                           .coarse = cpu_level_of(coarse),
                           .grid = grid,
                           .merged_x = tsi_is_merged(fine->grid.width, grid->width, grid->periodic_x),
                           .merged_y = tsi_is_merged(fine->grid.height, grid->height, grid->periodic_y)};
  cpu_for(coarse->context, (size_t)job.coarse->height, 200 * (size_t)job.coarse->width, body_coarsen, &job);
  cpu_weights_drop_if_bilinear(fine);
  return TS_OK;
}
