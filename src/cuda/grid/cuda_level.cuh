/* Levels of multigrid in kernels: the storage order of fields, and the computations at a point.
 *
 * In every storage, the place of a point in a field is the sum of a column term and a row term:
 *   plain      j * width + i
 *   parities   the four parities (i & 1) + 2 (j & 1) as consecutive layers
 *   layered    the four parities of 2 x 2 points as neighbours
 *
 * Threads iterate over elements in storage order, so that neighbouring threads read neighbouring numbers. A
 * coefficient across a non-periodic boundary is 0. It is multiplied by the value in the point's own row or
 * column. */
#ifndef CUDA_LEVEL_CUH
#define CUDA_LEVEL_CUH

#include "cuda_grid.h"
#include "cuda/core/cuda_kernels.cuh"

enum { CUDA_TILE_WIDTH = 32, CUDA_TILE_HEIGHT = CUDA_THREADS / CUDA_TILE_WIDTH };

struct cuda_level_view {
  int width, height; /* of the grid */
  int periodic_x, periodic_y;
  int columns, rows, layers; /* of the storage */
  int layered;
  int shift, step, across, up; /* see cuda_column and cuda_row */
  size_t plane;                /* distance between planes of coefficients */
  const float *sides, *corners;
  int cells_wide;
  size_t cells;
  const float *weights;
  const int *general;
  const unsigned char *uniform;
  const float *reference;
};

/* The geometry of a storage, without pointers. */
cuda_level_view cuda_view_of_grid(int width, int height, int periodic_x, int periodic_y,
                                  ts_grid_storage storage);
cuda_level_view cuda_view_of(const tsi_level *level);
cuda_level_view cuda_stencil_view(const ts_matrix *A);

/* Convert nine values per point, in host memory, to planes of coefficients and back. A read synchronises with
 * the device. */
ts_status cuda_planes_write(ts_context *context, const cuda_level_view *l, float *sides, float *corners,
                            const float *values);
ts_status cuda_planes_read(ts_context *context, const cuda_level_view *l, float *values);

/* Number of blocks for one thread per element of a layer. */
static inline unsigned cuda_tiles(const cuda_level_view *l) {
  const unsigned across = (unsigned)(l->columns + CUDA_TILE_WIDTH - 1) / CUDA_TILE_WIDTH;
  return across * ((unsigned)(l->rows + CUDA_TILE_HEIGHT - 1) / CUDA_TILE_HEIGHT);
}
static inline dim3 cuda_level_blocks(const cuda_level_view *l) {
  return dim3(cuda_tiles(l), (unsigned)l->layers);
}

/* Level kernels launched by cuda_start may read coefficients, weights and uniform patches before
 * cuda_dependent_wait. A kernel launched in the regular way wrote them before the fields were loaded. */

/* ---- Storage order ---- */

static __device__ __forceinline__ int cuda_column(const cuda_level_view &l, int i) {
  return (i >> l.shift) * l.step + (i & l.shift) * l.across;
}
static __device__ __forceinline__ int cuda_row(const cuda_level_view &l, int j) {
  return (j >> l.shift) * l.columns + (j & l.shift) * l.up;
}
static __device__ __forceinline__ int cuda_place(const cuda_level_view &l, int i, int j) {
  return cuda_column(l, i) + cuda_row(l, j);
}

struct cuda_point {
  int i, j;
};

/* The point of element u of row v of a layer. Returns whether it exists. */
static __device__ __forceinline__ bool cuda_point_of(const cuda_level_view &l, int u, int v, int layer,
                                                     cuda_point *p) {
  if (l.layered)
    *p = {2 * (u >> 2) + (u & 1), 2 * v + (u >> 1 & 1)};
  else
    *p = {(u << l.shift) + (layer & 1), (v << l.shift) + (layer >> 1)};
  return u < l.columns && p->i < l.width && p->j < l.height;
}

/* The point of this thread, in a launch with cuda_tiles blocks. */
static __device__ __forceinline__ bool cuda_my_point(const cuda_level_view &l, int layer, cuda_point *p) {
  const unsigned across = (unsigned)(l.columns + CUDA_TILE_WIDTH - 1) / CUDA_TILE_WIDTH;
  const unsigned tile_v = blockIdx.x / across, tile_u = blockIdx.x - tile_v * across;
  const int u = (int)(tile_u * CUDA_TILE_WIDTH + threadIdx.x % CUDA_TILE_WIDTH);
  const int v = (int)(tile_v * CUDA_TILE_HEIGHT + threadIdx.x / CUDA_TILE_WIDTH);
  return cuda_point_of(l, u, v, layer, p);
}

/* The coordinates around a point: [0] is west or south, [1] its own, [2] east or north. */
struct cuda_around {
  int i[3], j[3];
  int column[3], row[3];
};

static __device__ __forceinline__ cuda_around cuda_look_around(const cuda_level_view &l, cuda_point p) {
  cuda_around at;
  at.i[0] = p.i > 0 ? p.i - 1 : l.periodic_x ? l.width - 1 : 0;
  at.i[1] = p.i;
  at.i[2] = p.i + 1 < l.width ? p.i + 1 : l.periodic_x ? 0 : p.i;
  at.j[0] = p.j > 0 ? p.j - 1 : l.periodic_y ? l.height - 1 : 0;
  at.j[1] = p.j;
  at.j[2] = p.j + 1 < l.height ? p.j + 1 : l.periodic_y ? 0 : p.j;
#pragma unroll
  for (int k = 0; k < 3; k++) {
    at.column[k] = cuda_column(l, at.i[k]);
    at.row[k] = cuda_row(l, at.j[k]);
  }
  return at;
}

/* The target of a direction, as an index of cuda_around's arrays. */
static __host__ __device__ constexpr int cuda_x_of(int direction) {
  return direction == CUDA_W || direction == CUDA_SW || direction == CUDA_NW   ? 0
         : direction == CUDA_E || direction == CUDA_SE || direction == CUDA_NE ? 2
                                                                               : 1;
}
static __host__ __device__ constexpr int cuda_y_of(int direction) {
  return direction == CUDA_S || direction == CUDA_SW || direction == CUDA_SE   ? 0
         : direction == CUDA_N || direction == CUDA_NW || direction == CUDA_NE ? 2
                                                                               : 1;
}

/* The coefficient of the element `at`. */
static __device__ __forceinline__ float cuda_coefficient_at(const cuda_level_view &l, int direction, int at) {
  return direction < CUDA_SIDES ? l.sides[(size_t)direction * l.plane + at]
                                : l.corners[(size_t)(direction - CUDA_SIDES) * l.plane + at];
}

/* ---- Computations at a point ---- */

/* b minus the products with the neighbours of parities in `known`; the others are 0. */
template <bool NINE>
static __device__ __forceinline__ float cuda_without_centre(const cuda_level_view &l, const cuda_around &at,
                                                            float b, const float *x, int known) {
  const int own = at.column[1] + at.row[1];
  float sum = b;
#pragma unroll
  for (int k = CUDA_W; k < (NINE ? CUDA_DIRECTIONS : CUDA_SIDES); k++) {
    const int u = cuda_x_of(k), v = cuda_y_of(k);
    if (known != 15 && !(known >> ((at.i[u] & 1) + 2 * (at.j[v] & 1)) & 1)) continue;
    sum -= cuda_coefficient_at(l, k, own) * x[at.column[u] + at.row[v]];
  }
  return sum;
}

template <bool NINE>
static __device__ __forceinline__ float cuda_residual_at(const cuda_level_view &l, cuda_point p, const float *b,
                                                         const float *x) {
  const cuda_around at = cuda_look_around(l, p);
  const int own = at.column[1] + at.row[1];
  const float centre = l.sides[own];
  if (centre == 0) return 0;
  return cuda_without_centre<NINE>(l, at, b[own], x, 15) - centre * x[own];
}

/* ---- Between two levels ---- */

/* Converts (i, j), at most two outside the grid, to the point that it coincides with. Returns whether that is a
 * point with weights. Beyond the seam of an odd periodic dimension it is a separate coarse point. */
static __device__ __forceinline__ bool cuda_find_fine(const cuda_level_view &l, cuda_point *p) {
  if (p->i < 0 || p->i >= l.width) {
    if (!l.periodic_x || l.width & 1) return false;
    p->i += p->i < 0 ? l.width : -l.width;
  }
  if (p->j < 0 || p->j >= l.height) {
    if (!l.periodic_y || l.height & 1) return false;
    p->j += p->j < 0 ? l.height : -l.height;
  }
  return true;
}

/* Whether the last and the first coarse points are merged (src/common/grid/grid.h). */
static __host__ __device__ __forceinline__ int cuda_is_merged_x(const cuda_level_view &fine,
                                                                const cuda_level_view &coarse) {
  return fine.periodic_x && coarse.width < (fine.width + 1) / 2;
}
static __host__ __device__ __forceinline__ int cuda_is_merged_y(const cuda_level_view &fine,
                                                                const cuda_level_view &coarse) {
  return fine.periodic_y && coarse.height < (fine.height + 1) / 2;
}

/* The number of coarse points that I represents, and the k-th of them. */
static __device__ __forceinline__ int cuda_count_of(const cuda_level_view &fine, const cuda_level_view &coarse,
                                                    cuda_point I) {
  return (1 + (I.i == 0 && cuda_is_merged_x(fine, coarse))) *
         (1 + (I.j == 0 && cuda_is_merged_y(fine, coarse)));
}
static __device__ __forceinline__ cuda_point cuda_counted_as(const cuda_level_view &fine,
                                                             const cuda_level_view &coarse, cuda_point I,
                                                             int k) {
  const bool x = I.i == 0 && cuda_is_merged_x(fine, coarse);
  return {I.i + (x ? k & 1 : 0) * coarse.width, I.j + (x ? k >> 1 : k) * coarse.height};
}

/* For a point that is not coarse: the weight of the coarse point in a direction. */
static __device__ __forceinline__ float cuda_weight(const cuda_level_view &l, cuda_point p, int direction) {
  return l.weights[(size_t)(direction - 1) * l.cells + (size_t)(p.j >> 1) * (size_t)l.cells_wide + (p.i >> 1)];
}

/* The direction from fine point 2 I + (u, v) - 1 to coarse point I. */
static __host__ __device__ constexpr int cuda_towards_coarse(int u, int v) {
  return v == 1 ? (u == 0   ? CUDA_E
                   : u == 2 ? CUDA_W
                            : CUDA_C)
                : (v == 0 ? (u == 0   ? CUDA_NE
                             : u == 2 ? CUDA_NW
                                      : CUDA_N)
                          : (u == 0   ? CUDA_SE
                             : u == 2 ? CUDA_SW
                                      : CUDA_S));
}

/* Interpolates x of the coarse level at a fine point. `general`: the weights are not bilinear. */
static __device__ __forceinline__ float cuda_interpolate(const cuda_level_view &fine,
                                                         const cuda_level_view &coarse, cuda_point p,
                                                         const float *x, bool general) {
  const int odd_x = p.i & 1, odd_y = p.j & 1;
  /* The last coarse point may be merged with the first. */
  const int I = p.i >> 1 == coarse.width ? 0 : p.i >> 1, J = p.j >> 1 == coarse.height ? 0 : p.j >> 1;
  const int west = cuda_column(coarse, I), south = cuda_row(coarse, J);
  const float here = x[west + south];
  if (!odd_x && !odd_y) return here;
  const int east = cuda_column(coarse, coarse.periodic_x && I + 1 == coarse.width ? 0 : I + 1);
  const int north = cuda_row(coarse, coarse.periodic_y && J + 1 == coarse.height ? 0 : J + 1);
  if (!odd_y || !odd_x) {
    const float other = x[odd_x ? east + south : west + north];
    if (!general) return 0.5f * (here + other);
    return cuda_weight(fine, p, odd_x ? CUDA_W : CUDA_S) * here +
           cuda_weight(fine, p, odd_x ? CUDA_E : CUDA_N) * other;
  }
  const float se = x[east + south], nw = x[west + north], ne = x[east + north];
  if (!general) return 0.25f * ((here + se) + (nw + ne));
  return (cuda_weight(fine, p, CUDA_SW) * here + cuda_weight(fine, p, CUDA_SE) * se) +
         (cuda_weight(fine, p, CUDA_NW) * nw + cuda_weight(fine, p, CUDA_NE) * ne);
}

#endif
