/* Uniform patches: the points of a patch share one stencil, which need not be read at each. The grids of simple
 * problems are uniform except at boundaries and walls. */
#include "cuda_level.cuh"

static const char uniform_name[] = "a multigrid level";

static size_t patches_of(const tsi_level *level) {
  const size_t wide = (size_t)(level->grid.width + CUDA_PATCH - 1) / CUDA_PATCH;
  return wide * ((size_t)(level->grid.height + CUDA_PATCH - 1) / CUDA_PATCH);
}

ts_status cuda_level_create_uniform(tsi_level *level) {
  cuda_level *l = cuda_level_of(level);
  TSI_TRY(cuda_alloc_zeroed(level->context, (void **)&l->uniform, patches_of(level), uniform_name));
  return cuda_alloc_zeroed(level->context, (void **)&l->reference, CUDA_REFERENCE * sizeof(float),
                           uniform_name);
}

void cuda_level_destroy_uniform(tsi_level *level) {
  const cuda_level *l = cuda_level_of(level);
  cuda_free(level->context, l->uniform, patches_of(level));
  cuda_free(level->context, l->reference, CUDA_REFERENCE * sizeof(float));
}

/* The coefficients of a point. */
static __device__ void stencil_at(const cuda_level_view &l, cuda_point p, float *a) {
  const int at = cuda_place(l, p.i, p.j);
#pragma unroll
  for (int k = 0; k < CUDA_DIRECTIONS; k++)
    a[k] = k >= CUDA_SIDES && !l.corners ? 0 : cuda_coefficient_at(l, k, at);
}

/* The coefficients of the first candidate point that has an equation. */
static __device__ void choose_reference(const cuda_level_view &l, float *a) {
  enum { CANDIDATES = 16 };
  for (int k = 0; k < CANDIDATES; k++) {
    const int u = 8 + (k & 1 ? -1 : 1) * (k + 1) / 2, v = 8 + (k & 2 ? -1 : 1) * (k + 1) / 2;
    stencil_at(l, {(int)((long long)l.width * u / 17), (int)((long long)l.height * v / 17)}, a);
    if (a[CUDA_C] != 0) return;
  }
}

static __device__ bool are_equal(float a, float b) {
  return fabsf(a - b) <= 1e-6f * fabsf(a);
}

/* One block per patch. */
__global__ static void find_uniform(cuda_level_view l, unsigned char *uniform, float *reference) {
  float own[CUDA_DIRECTIONS], a[CUDA_DIRECTIONS];
  const unsigned wide = (unsigned)(l.width + CUDA_PATCH - 1) / CUDA_PATCH, row = blockIdx.x / wide;
  const cuda_point p = {(int)((blockIdx.x - row * wide) * CUDA_PATCH + threadIdx.x % CUDA_PATCH),
                        (int)(row * CUDA_PATCH + threadIdx.x / CUDA_PATCH)};
  choose_reference(l, a);
  bool same = a[CUDA_C] != 0 && p.i < l.width && p.j < l.height;
  if (same) {
    stencil_at(l, p, own);
    for (int k = 0; k < CUDA_DIRECTIONS; k++) same = same && own[k] == a[k];
  }
  const int all = __syncthreads_and(same);
  if (threadIdx.x == 0) uniform[blockIdx.x] = (unsigned char)(all != 0);
  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  for (int k = 0; k < CUDA_DIRECTIONS; k++) reference[k] = a[k];
  const bool bilinear = are_equal(a[CUDA_W], a[CUDA_E]) && are_equal(a[CUDA_S], a[CUDA_N]) &&
                        are_equal(a[CUDA_SW], a[CUDA_SE]) && are_equal(a[CUDA_SW], a[CUDA_NW]) &&
                        are_equal(a[CUDA_SW], a[CUDA_NE]) && a[CUDA_W] != 0 && a[CUDA_S] != 0;
  reference[CUDA_DIRECTIONS] = bilinear;
}

ts_status cuda_level_find_uniform(tsi_level *level) {
  const cuda_level_view l = cuda_view_of(level);
  const cuda_level *impl = cuda_level_of(level);
  TSI_TRY(cuda_launch(level->context, "find_uniform", find_uniform, (unsigned)patches_of(level),
                      CUDA_PATCH * CUDA_PATCH, l, impl->uniform, impl->reference));
  return TS_OK;
}
