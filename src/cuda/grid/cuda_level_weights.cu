/* Interpolation weights from the stencil, as defined in src/common/grid/grid.h, in double precision. A thread
 * computes the weights of a cell between coarse points. First those of the midpoints of its southern and
 * western sides, then those of its centre, which need the sides of neighbouring cells. */
#include "cuda_level.cuh"

/* Directions in the order of ts_stencil_create. */
enum { SW, S, SE, W, C, E, NW, N, NE };

/* Three sums of a point's coefficients: towards one side, along the middle, towards the other side. */
struct sums {
  double one, middle, other;
};

static __device__ sums across_sums(const double *a) {
  return {a[SW] + a[W] + a[NW], a[S] + a[C] + a[N], a[SE] + a[E] + a[NE]};
}

static __device__ sums up_sums(const double *a) {
  return {a[SW] + a[S] + a[SE], a[W] + a[C] + a[E], a[NW] + a[N] + a[NE]};
}

static __device__ bool is_nothing(double a, double beside) {
  return fabs(a) <= 1e-6 * fabs(beside);
}

static __device__ bool is_one_sided(const sums &s) {
  return is_nothing(s.one, s.other) || is_nothing(s.other, s.one);
}

/* For the last column or row: whether the boundary holds the unknown to a given value. */
static __device__ bool is_held(const sums &s) {
  return s.one + s.middle > 0.1 * fabs(s.one);
}

/* The coefficients of a point. Towards a coarse point outside the grid they are mirrored, unless the boundary
 * holds the unknown. Returns whether the point has an equation. */
static __device__ bool coefficients_at(const cuda_level_view &l, int i, int j, double *a) {
  const int at = cuda_place(l, i, j);
  for (int k = 0; k < CUDA_DIRECTIONS; k++)
    a[3 * cuda_y_of(k) + cuda_x_of(k)] =
        k >= CUDA_SIDES && !l.corners ? 0 : (double)cuda_coefficient_at(l, k, at);
  const bool east = i & 1 && i + 1 == l.width && !l.periodic_x && !is_held(across_sums(a));
  const bool north = j & 1 && j + 1 == l.height && !l.periodic_y && !is_held(up_sums(a));
  if (east) a[E] = a[W], a[SE] = a[SW], a[NE] = a[NW];
  if (north) a[N] = a[S], a[NW] = a[SW], a[NE] = a[SE];
  return a[C] != 0;
}

/* Whether the coarse point of fine point (i, j), with i and j even, has no equation. */
static __device__ bool is_dead(const cuda_level_view &l, int i, int j) {
  if (i >= l.width && l.periodic_x) i = 0;
  if (j >= l.height && l.periodic_y) j = 0;
  if (i < l.width && j < l.height) return l.sides[cuda_place(l, i, j)] == 0;
  for (int k = 0; k < 9; k++) {
    const int p = i + k % 3 - 1, q = j + k / 3 - 1;
    if (p >= 0 && q >= 0 && p < l.width && q < l.height && l.sides[cuda_place(l, p, q)] != 0) return false;
  }
  return true;
}

struct pair {
  float one, other;
};

/* A point between (i, j) and (i + 2 dx, j + 2 dy). Either dx or dy is 1, the other 0. */
static __device__ pair between_two(const cuda_level_view &l, int bilinear, int i, int j, int dx, int dy) {
  double a[9];
  if (i + dx >= l.width || j + dy >= l.height) return {0, 0};
  if (!coefficients_at(l, i + dx, j + dy, a)) {
    /* A point without an equation follows coarse points without one. */
    const int one = is_dead(l, i, j), other = is_dead(l, i + 2 * dx, j + 2 * dy);
    const float share = one + other ? 1 / (float)(one + other) : 0;
    return {one * share, other * share};
  }
  if (bilinear) return {0.5f, 0.5f};
  sums s = dx ? across_sums(a) : up_sums(a);
  /* Coefficients past a coarse point inside a wall are added to the middle. */
  if (a[dx ? W : S] == 0 && is_dead(l, i, j)) {
    s.middle += s.one;
    s.one = 0;
  }
  if (a[dx ? E : N] == 0 && is_dead(l, i + 2 * dx, j + 2 * dy)) {
    s.middle += s.other;
    s.other = 0;
  }
  /* If one of the two has no coefficient, the middle sum measures the distance of a given value. */
  const double divisor = is_one_sided(s) ? -s.middle : s.one + s.other;
  if (!(fabs(divisor) > 1e-6 * fabs(s.middle)) || divisor == 0) return {0, 0};
  return {(float)(s.one / divisor), (float)(s.other / divisor)};
}

/* Whether a weight equals that of bilinear interpolation, except for rounding. */
static __device__ bool is_bilinear(float weight, int count) {
  return fabsf(weight * count - 1) <= 2e-6f;
}

static __device__ float *weights_to(const cuda_level_view &l, float *weights, int direction) {
  return weights + (size_t)(direction - 1) * l.cells;
}

__global__ static void make_sides(cuda_level_view l, int bilinear, float *weights, int *general) {
  const size_t cell = (size_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (cell >= l.cells) return;
  const int i = 2 * (int)(cell % (size_t)l.cells_wide), j = 2 * (int)(cell / (size_t)l.cells_wide);
  const pair x = between_two(l, bilinear, i, j, 1, 0), y = between_two(l, bilinear, i, j, 0, 1);
  weights_to(l, weights, CUDA_W)[cell] = x.one;
  weights_to(l, weights, CUDA_E)[cell] = x.other;
  weights_to(l, weights, CUDA_S)[cell] = y.one;
  weights_to(l, weights, CUDA_N)[cell] = y.other;
  /* Points without an equation are ignored. */
  const bool has_x = i + 1 < l.width && l.sides[cuda_place(l, i + 1, j)] != 0;
  const bool has_y = j + 1 < l.height && l.sides[cuda_place(l, i, j + 1)] != 0;
  if ((has_x && !(is_bilinear(x.one, 2) && is_bilinear(x.other, 2))) ||
      (has_y && !(is_bilinear(y.one, 2) && is_bilinear(y.other, 2))))
    *general = 1;
}

/* The centre of a cell, from its sides. A side outside the grid is the mirror image of the opposite one. */
static __device__ void between_four(const cuda_level_view &l, int bilinear, int i, int j, float *weights,
                                    float *w) {
  double a[9];
  for (int k = 0; k < 4; k++) w[k] = 0;
  if (i >= l.width || j >= l.height) return;
  if (!coefficients_at(l, i, j, a)) {
    int dead[4], sum = 0;
    for (int k = 0; k < 4; k++) sum += dead[k] = is_dead(l, i - 1 + 2 * (k & 1), j - 1 + (k & 2));
    for (int k = 0; k < 4; k++) w[k] = dead[k] ? 1 / (float)sum : 0;
    return;
  }
  if (bilinear) {
    for (int k = 0; k < 4; k++) w[k] = 0.25f;
    return;
  }
  double d = 0;
  for (int k = 0; k < 9; k++) d -= k == C ? 0 : a[k];
  if (is_one_sided(across_sums(a)) || is_one_sided(up_sums(a))) d = a[C];
  if (fabs(d) <= 1e-6 * fabs(a[C])) return;
  const size_t I = (size_t)(i >> 1), J = (size_t)(j >> 1), wide = (size_t)l.cells_wide;
  const size_t next_i = i + 1 < l.width ? I + 1 : l.periodic_x ? 0 : I;
  const size_t next_j = j + 1 < l.height ? J + 1 : l.periodic_y ? 0 : J;
  const size_t south = J * wide + I, north = next_j * wide + I, west = south, east = J * wide + next_i;
  const float *to_w = weights_to(l, weights, CUDA_W), *to_e = weights_to(l, weights, CUDA_E);
  const float *to_s = weights_to(l, weights, CUDA_S), *to_n = weights_to(l, weights, CUDA_N);
  w[0] = (float)(-(a[SW] + a[S] * (double)to_w[south] + a[W] * (double)to_s[west]) / d);
  w[1] = (float)(-(a[SE] + a[S] * (double)to_e[south] + a[E] * (double)to_s[east]) / d);
  w[2] = (float)(-(a[NW] + a[N] * (double)to_w[north] + a[W] * (double)to_n[west]) / d);
  w[3] = (float)(-(a[NE] + a[N] * (double)to_e[north] + a[E] * (double)to_n[east]) / d);
}

__global__ static void make_middles(cuda_level_view l, int bilinear, float *weights, int *general) {
  const size_t cell = (size_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (cell >= l.cells) return;
  const int i = 2 * (int)(cell % (size_t)l.cells_wide) + 1, j = 2 * (int)(cell / (size_t)l.cells_wide) + 1;
  float w[4];
  between_four(l, bilinear, i, j, weights, w);
  bool same = true;
  for (int k = 0; k < 4; k++) {
    weights_to(l, weights, CUDA_SW + k)[cell] = w[k];
    same = same && is_bilinear(w[k], 4);
  }
  if (!same && i < l.width && j < l.height && l.sides[cuda_place(l, i, j)] != 0) *general = 1;
}

ts_status cuda_level_make_weights(tsi_level *level) {
  ts_context *context = level->context;
  cuda_level *impl = cuda_level_of(level);
  const cudaStream_t stream = cuda_stream(context);
  if (!impl->weights)
    TSI_TRY(
        cuda_alloc(context, (void **)&impl->weights, 8 * impl->cells * sizeof(float), "interpolation weights"));
  if (!impl->general)
    TSI_TRY(cuda_alloc(context, (void **)&impl->general, sizeof *impl->general, "interpolation weights"));
  CUDA_TRY(context, cudaMemsetAsync(impl->general, 0, sizeof *impl->general, stream));
  const cuda_level_view l = cuda_view_of(level);
  const int bilinear = level->interpolation == TS_INTERPOLATION_BILINEAR;
  TSI_TRY(cuda_launch(context, "make_sides", make_sides, cuda_blocks_for(l.cells), CUDA_THREADS, l, bilinear,
                      impl->weights, impl->general));
  TSI_TRY(cuda_launch(context, "make_middles", make_middles, cuda_blocks_for(l.cells), CUDA_THREADS, l,
                      bilinear, impl->weights, impl->general));
  return TS_OK;
}
