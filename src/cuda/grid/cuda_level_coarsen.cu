/* The coarse stencil by composition, A_2h = S^T A_h S / 4 (Bolz et al. 2003, section 4.2). One thread per
 * coarse point, in double precision:
 *
 *   A_2h^d[I] = 1/4 sum over e, g in {-1, 0, 1}^2 of w[I, 2 I + e] A_h^g[2 I + e] w[I + d, 2 I + e + g]
 *
 * with w[I, i] the weight of coarse point I at fine point i. The numbering of fine points continues beyond
 * periodic boundaries. If the number of columns w is odd, column -1 is column w - 1, which is coarse. As an odd
 * column it takes everything from its western coarse column. Column w, which is column 0, takes everything from
 * its eastern one. */
#include "cuda_level.cuh"

/* Whether (i, j) is in the grid, and the point there. */
static __device__ bool find(const cuda_level_view &l, int i, int j, cuda_point *p) {
  if (l.periodic_x) i = i < 0 ? i + l.width : i >= l.width ? i - l.width : i;
  if (l.periodic_y) j = j < 0 ? j + l.height : j >= l.height ? j - l.height : j;
  *p = {i, j};
  return i >= 0 && j >= 0 && i < l.width && j < l.height;
}

static __device__ bool is_beyond_odd(int i, int size, int periodic) {
  return periodic && size & 1 && (i == -1 || i == size);
}

/* The weight of the coarse point in direction (dx, dy) at fine point (i, j). The coarse point is adjacent in
 * the odd coordinates. */
static __device__ float weight_of(const cuda_level_view &l, int i, int j, int dx, int dy) {
  if (is_beyond_odd(i, l.width, l.periodic_x)) {
    if (dx != (i < 0 ? -1 : 1)) return 0;
    i = i < 0 ? l.width - 1 : 0;
    dx = 0;
  }
  if (is_beyond_odd(j, l.height, l.periodic_y)) {
    if (dy != (j < 0 ? -1 : 1)) return 0;
    j = j < 0 ? l.height - 1 : 0;
    dy = 0;
  }
  cuda_point p;
  if (!find(l, i, j, &p)) return 0;
  return dx == 0 && dy == 0 ? 1 : cuda_weight(l, p, cuda_towards_coarse(1 - dx, 1 - dy));
}

/* In one dimension: the target of the coefficient of coarse point I towards I + to, which may be the point
 * itself. */
static __device__ int fold_inward(int I, int to, int size, int periodic, int merged) {
  if (!periodic) return to;
  const bool inward = size == 1 || (merged && (I == 0 ? to < 0 : I == size && to > 0));
  return inward ? 0 : to;
}

/* Adds the contribution of fine point 2 I + (ex, ey). */
static __device__ void compose(const cuda_level_view &l, const cuda_level_view &coarse, cuda_point I, int ex,
                               int ey, double sums[9], double *largest) {
  const int i = 2 * I.i + ex, j = 2 * I.j + ey;
  cuda_point p;
  if (!find(l, i, j, &p)) return;
  const int at = cuda_place(l, p.i, p.j);
  *largest = fmax(*largest, fabs((double)l.sides[at]));
  const double w = weight_of(l, i, j, -ex, -ey);
  if (w == 0) return;
#pragma unroll 1
  for (int g = 0; g < (l.corners ? CUDA_DIRECTIONS : CUDA_SIDES); g++) {
    const double a = w * (double)cuda_coefficient_at(l, g, at);
    if (a == 0) continue;
    const int qx = ex + cuda_x_of(g) - 1, qy = ey + cuda_y_of(g) - 1;
    const int odd_x = qx & 1, odd_y = qy & 1;
    for (int v = -odd_y; v <= odd_y; v += 2)
      for (int u = -odd_x; u <= odd_x; u += 2) {
        const int x = fold_inward(I.i, (qx + u) / 2, coarse.width, l.periodic_x, cuda_is_merged_x(l, coarse));
        const int y = fold_inward(I.j, (qy + v) / 2, coarse.height, l.periodic_y, cuda_is_merged_y(l, coarse));
        sums[x + 1 + 3 * (y + 1)] += a * (double)weight_of(l, 2 * I.i + qx, 2 * I.j + qy, u, v);
      }
  }
}

/* Whether coarse point I has no equation because of its fine point, or of the fine points merged in it. */
static __device__ bool is_dead_coarse(const cuda_level_view &l, const cuda_level_view &coarse, cuda_point I) {
  const int count = cuda_count_of(l, coarse, I);
  bool alive = false;
  for (int k = 0; k < count; k++) {
    const cuda_point K = cuda_counted_as(l, coarse, I, k);
    if (2 * K.i >= l.width || 2 * K.j >= l.height) return false;
    const int at = cuda_place(l, 2 * K.i, 2 * K.j);
    if (l.sides[at] == 0) continue;
    alive = true;
    for (int q = 0; q < count; q++) {
      const cuda_point Q = cuda_counted_as(l, coarse, I, q);
      if (l.sides[cuda_place(l, 2 * Q.i, 2 * Q.j)] != 0) continue;
      /* Across the seam only. */
      const int u = K.i == Q.i ? 1 : K.i > Q.i ? 2 : 0, v = K.j == Q.j ? 1 : K.j > Q.j ? 2 : 0;
      const int direction = cuda_towards_coarse(2 - u, 2 - v);
      if ((direction < CUDA_SIDES || l.corners) && cuda_coefficient_at(l, direction, at) != 0) return true;
    }
  }
  return !alive;
}

__global__ static void coarsen(cuda_level_view coarse, cuda_level_view fine, float *sides, float *corners) {
  cuda_point I;
  if (!cuda_my_point(coarse, (int)blockIdx.y, &I)) return;
  double sums[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0}, largest = 0;
  for (int k = 0; k < cuda_count_of(fine, coarse, I); k++) {
    const cuda_point counted = cuda_counted_as(fine, coarse, I, k);
#pragma unroll 1
    for (int e = 0; e < 9; e++) compose(fine, coarse, counted, e % 3 - 1, e / 3 - 1, sums, &largest);
  }
  const bool none = fabs(sums[4] / 4) <= 1e-6 * largest || is_dead_coarse(fine, coarse, I);
  const int at = cuda_place(coarse, I.i, I.j);
  for (int k = 0; k < CUDA_DIRECTIONS; k++) {
    const float value = none ? 0 : (float)(0.25 * sums[3 * cuda_y_of(k) + cuda_x_of(k)]);
    float *plane = k < CUDA_SIDES ? sides + k * coarse.plane : corners + (k - CUDA_SIDES) * coarse.plane;
    plane[at] = value;
  }
}

ts_status cuda_level_coarsen(tsi_level *coarse, tsi_level *fine) {
  TSI_TRY(cuda_level_make_weights(fine));
  const cuda_level_view c = cuda_view_of(coarse), f = cuda_view_of(fine);
  const cuda_level *impl = cuda_level_of(coarse);
  TSI_TRY(cuda_launch(fine->context, "coarsen", coarsen, cuda_level_blocks(&c), CUDA_THREADS, c, f, impl->sides,
                      impl->corners));
  return TS_OK;
}
