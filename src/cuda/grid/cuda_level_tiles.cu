/* Interpolation, smoothing steps and restriction of the residual on one level, in one kernel. A block computes
 * a tile of the grid from the halo that the tile depends on. Neighbouring blocks compute the halo too.
 *
 * A thread has a cell of 2 x 2 points and keeps its coefficients and right-hand sides in registers. x is in
 * shared memory, separated by parity. Each step invalidates one more ring of the halo. No block writes what
 * another block reads: the new x goes to the other field. */
#include "cuda_level_smooth.cuh"
#include "cuda_level_transfer.cuh"
#include "common/grid/grid.h"

enum {
  TILE_WIDTH = 32, /* a block's region in cells; its height is HEIGHT */
  TILE_PITCH = TILE_WIDTH + 2,
  TILE_STAGES = 16,
  TILE_HALO = 4, /* maximum, in cells */
  TILE_LOW = 16, /* heights: low for more blocks, high for less halo */
  TILE_HIGH = 32
};

/* A Jacobi or Chebyshev step, or Gauss-Seidel on some parities. */
struct tile_stage {
  float alpha, beta;
  int parities; /* bit mask; 0: Jacobi */
};

struct tile_job {
  cuda_level_view fine, coarse;
  int halo, tiles_wide;
  int x_is_zero, stage_count;
  const float *b, *x, *coarse_x; /* coarse_x: interpolated and added first; may be NULL */
  float *next, *coarse_b;        /* coarse_b: receives the restricted residual at the end; may be NULL */
  tile_stage stages[TILE_STAGES];
};

/* ---- The kernel ---- */

template <int HEIGHT> using tile_field = float[4][HEIGHT + 2][TILE_PITCH];

/* The neighbour of a point of parity q in a direction: its parity, and its cell relative to the point's
 * cell. */
static __host__ __device__ constexpr int tile_parity(int q, int direction) {
  return (q ^ (cuda_x_of(direction) != 1)) ^ (cuda_y_of(direction) != 1) << 1;
}
static __host__ __device__ constexpr int tile_step(int odd, int towards) {
  return odd ? (towards == 2) : -(towards == 0);
}

/* The coefficients of the points of a cell, by parity. If they are uniform, only one set. */
template <bool NINE, bool UNIFORM> struct tile_stencil {
  float centre[UNIFORM ? 1 : 4], a[UNIFORM ? 1 : 4][NINE ? 8 : 4];
};

/* A thread's cell: (I, J) in the grid, (u, v) in the block's region. */
struct tile_region {
  int I, J;
  int u, v;
};

/* Converts (i, j) to its periodic image. Returns whether the point exists. */
static __device__ __forceinline__ bool tile_wrap(const cuda_level_view &l, cuda_point *p) {
  if (l.periodic_x) {
    while (p->i < 0) p->i += l.width;
    while (p->i >= l.width) p->i -= l.width;
  }
  if (l.periodic_y) {
    while (p->j < 0) p->j += l.height;
    while (p->j >= l.height) p->j -= l.height;
  }
  return p->i >= 0 && p->j >= 0 && p->i < l.width && p->j < l.height;
}

/* Whether cell (I, J) is in a uniform patch. */
static __device__ __forceinline__ bool tile_is_uniform(const cuda_level_view &l, int I, int J) {
  if (I < 0 || J < 0 || 2 * I >= l.width || 2 * J >= l.height) return false;
  const int wide = (l.width + CUDA_PATCH - 1) / CUDA_PATCH;
  return l.uniform[(size_t)(2 * J / CUDA_PATCH) * (size_t)wide + 2 * I / CUDA_PATCH];
}

template <bool NINE, bool UNIFORM>
static __device__ __forceinline__ void tile_load_stencil(const cuda_level_view &l, int I, int J,
                                                         tile_stencil<NINE, UNIFORM> *s) {
#pragma unroll
  for (int q = 0; q < (UNIFORM ? 1 : 4); q++) {
    cuda_point p = {2 * I + (q & 1), 2 * J + (q >> 1)};
    const bool exists = UNIFORM || tile_wrap(l, &p);
    const int at = !UNIFORM && exists ? cuda_place(l, p.i, p.j) : 0;
    s->centre[q] = UNIFORM ? l.reference[CUDA_C] : exists ? l.sides[at] : 0;
#pragma unroll
    for (int k = CUDA_W; k < (NINE ? CUDA_DIRECTIONS : CUDA_SIDES); k++)
      s->a[q][k - 1] = UNIFORM ? l.reference[k] : exists ? cuda_coefficient_at(l, k, at) : 0;
  }
}

/* b minus the products with the neighbours. */
template <bool NINE, bool UNIFORM, int HEIGHT>
static __device__ __forceinline__ float tile_without_centre(const tile_stencil<NINE, UNIFORM> &s, float b,
                                                            const tile_field<HEIGHT> &x, int q, int row,
                                                            int column) {
  float sum = b;
#pragma unroll
  for (int k = CUDA_W; k < (NINE ? CUDA_DIRECTIONS : CUDA_SIDES); k++)
    sum -= s.a[UNIFORM ? 0 : q][k - 1] *
           x[tile_parity(q, k)][row + tile_step(q >> 1, cuda_y_of(k))][column + tile_step(q & 1, cuda_x_of(k))];
  return sum;
}

template <bool NINE, bool UNIFORM, int HEIGHT>
static __device__ __forceinline__ void tile_compute(const tile_job &job, const tile_region &region,
                                                    tile_field<HEIGHT> xs[2]) {
  const cuda_level_view &l = job.fine;
  const int column = region.u + 1, row = region.v + 1;
  tile_stencil<NINE, UNIFORM> stencil;
  float inverse[UNIFORM ? 1 : 4], b[4], d[4];
  tile_load_stencil<NINE, UNIFORM>(l, region.I, region.J, &stencil);
  const bool general =
      !(UNIFORM && l.reference[CUDA_DIRECTIONS] != 0) && (job.coarse_x || job.coarse_b) && *l.general;
  cuda_dependent_wait();
#pragma unroll
  for (int q = 0; q < 4; q++) {
    cuda_point p = {2 * region.I + (q & 1), 2 * region.J + (q >> 1)};
    const bool exists = UNIFORM || tile_wrap(l, &p);
    const int at = exists ? cuda_place(l, p.i, p.j) : 0;
    const float centre = stencil.centre[UNIFORM ? 0 : q];
    inverse[UNIFORM ? 0 : q] = centre != 0 ? __frcp_rn(centre) : 0;
    b[q] = exists ? job.b[at] : 0;
    d[q] = 0;
    float x = exists && !job.x_is_zero ? job.x[at] : 0;
    if (job.coarse_x && centre != 0) x += cuda_interpolate(l, job.coarse, p, job.coarse_x, general);
    xs[0][q][row][column] = x;
  }
  int current = 0;
  __syncthreads();
  for (int k = 0; k < job.stage_count; k++) {
    const tile_stage &s = job.stages[k];
    const tile_field<HEIGHT> &x = xs[current];
    const int target = s.parities ? current : 1 - current;
#pragma unroll
    for (int q = 0; q < 4; q++) {
      if (s.parities && !(s.parities >> q & 1)) continue;
      const float centre = stencil.centre[UNIFORM ? 0 : q], old = x[q][row][column];
      const float sum = tile_without_centre<NINE, UNIFORM, HEIGHT>(stencil, b[q], x, q, row, column);
      float value = inverse[UNIFORM ? 0 : q];
      if (s.parities)
        value *= sum;
      else {
        float step = s.alpha * (value * (sum - centre * old));
        if (s.beta != 0) step += s.beta * d[q];
        d[q] = step;
        value = old + step;
      }
      xs[target][q][row][column] = centre != 0 ? value : old;
    }
    current = target;
    __syncthreads();
  }
  if (job.coarse_b) {
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const float centre = stencil.centre[UNIFORM ? 0 : q];
      const float sum = tile_without_centre<NINE, UNIFORM, HEIGHT>(stencil, b[q], xs[current], q, row, column);
      xs[1 - current][q][row][column] = centre != 0 ? sum - centre * xs[current][q][row][column] : 0;
    }
    __syncthreads();
  }
  const int halo = job.halo;
  if (region.u < halo || region.u >= TILE_WIDTH - halo || region.v < halo || region.v >= HEIGHT - halo) return;
  if (job.stage_count || job.coarse_x)
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const int i = 2 * region.I + (q & 1), j = 2 * region.J + (q >> 1);
      if (i < l.width && j < l.height) job.next[cuda_place(l, i, j)] = xs[current][q][row][column];
    }
  if (!job.coarse_b || region.I >= job.coarse.width || region.J >= job.coarse.height) return;
  const int at = cuda_place(job.coarse, region.I, region.J);
  float sum = 0;
  if (job.coarse.sides[at] != 0)
    sum = cuda_restrict_at(l, {region.I, region.J}, general, [&](cuda_point, int u, int v) {
      return xs[1 - current][(u != 1) + 2 * (v != 1)][row - (v == 0)][column - (u == 0)];
    });
  job.coarse_b[at] = sum;
}

template <bool NINE, int HEIGHT>
__global__ static void __launch_bounds__(TILE_WIDTH *HEIGHT)
    smooth_tiles(const __grid_constant__ tile_job job) {
  __shared__ tile_field<HEIGHT> xs[2];
  cuda_dependent_trigger();
  const int tile_y = (int)blockIdx.x / job.tiles_wide, tile_x = (int)blockIdx.x - tile_y * job.tiles_wide;
  tile_region region;
  region.u = (int)threadIdx.x % TILE_WIDTH;
  region.v = (int)threadIdx.x / TILE_WIDTH;
  region.I = tile_x * (TILE_WIDTH - 2 * job.halo) - job.halo + region.u;
  region.J = tile_y * (HEIGHT - 2 * job.halo) - job.halo + region.v;
  if (__syncthreads_and(tile_is_uniform(job.fine, region.I, region.J)))
    tile_compute<NINE, true, HEIGHT>(job, region, xs);
  else
    tile_compute<NINE, false, HEIGHT>(job, region, xs);
}

/* ---- Groups of steps ---- */

typedef struct tile_group {
  tile_job job;
  tsi_level *level;
  /* The distance from the written points to the farthest x that they depend on. Steps count even if x is 0 and
   * not read, because x is not set to 0 around the block's region. */
  int reach;
} tile_group;

static int add_stages(tile_group *g, const tsi_sweep *sweep) {
  cuda_colours colours[4];
  const int jacobi = sweep->kind != TSI_SWEEP_COLOURS;
  const int count = jacobi ? 1 : cuda_list_colours(g->level, sweep, colours);
  if (g->job.stage_count + count > TILE_STAGES || g->reach + count > 2 * TILE_HALO) return 0;
  for (int k = 0; k < count; k++) {
    tile_stage *s = &g->job.stages[g->job.stage_count++];
    if (jacobi)
      *s = {sweep->alpha, sweep->kind == TSI_SWEEP_CHEBYSHEV ? sweep->beta : 0, 0};
    else
      *s = {0, 0, 1 << colours[k].first | 1 << colours[k].second};
  }
  g->reach += count;
  return 1;
}

/* The steps of one Chebyshev polynomial must be in the same group. */
static int is_polynomial(const tsi_step *step) {
  return step->kind == TSI_STEP_SMOOTH && step->sweep.kind == TSI_SWEEP_CHEBYSHEV && step->sweep.beta != 0;
}

/* Gathers the longest group, beginning with the first step, that one kernel can run. */
static int gather_group(tile_group *g, const tsi_step *steps, int count) {
  int taken = 0, whole = 0, stages = 0, reach = 0; /* at the last polynomial boundary */
  for (; taken < count && steps[taken].level == g->level; taken++) {
    const tsi_step *s = &steps[taken];
    if (!is_polynomial(s)) {
      whole = taken;
      stages = g->job.stage_count;
      reach = g->reach;
    }
    if (s->kind == TSI_STEP_PROLONG && taken == 0) {
      g->job.coarse_x = cuda_level_x(s->coarse);
      g->job.coarse = cuda_view_of(s->coarse);
    } else if (s->kind == TSI_STEP_SMOOTH) {
      if (taken == 0 ? is_polynomial(s) : s->sweep.x_is_zero) break;
      if (taken == 0) g->job.x_is_zero = s->sweep.x_is_zero;
      if (!add_stages(g, &s->sweep)) break;
    } else if (s->kind == TSI_STEP_RESTRICT_RESIDUAL && g->reach + 2 <= 2 * TILE_HALO) {
      g->job.coarse_b = cuda_level_of(s->coarse)->b;
      g->job.coarse = cuda_view_of(s->coarse);
      g->reach += 2;
      return taken + 1;
    } else
      break;
  }
  if (taken == count || !is_polynomial(&steps[taken])) return taken;
  g->job.stage_count = stages;
  g->reach = reach;
  return whole;
}

static ts_status launch(tile_group *g) {
  ts_context *context = g->level->context;
  tile_job *job = &g->job;
  cuda_level *impl = cuda_level_of(g->level);
  job->fine = cuda_view_of(g->level);
  job->b = impl->b;
  job->x = cuda_level_x(g->level);
  job->next = cuda_level_next(g->level);
  job->halo = (g->reach + 1) / 2;
  const int wide = job->coarse_b ? job->coarse.width : (job->fine.width + 1) / 2;
  const int high = job->coarse_b ? job->coarse.height : (job->fine.height + 1) / 2;
  const int across = TILE_WIDTH - 2 * job->halo;
  job->tiles_wide = (wide + across - 1) / across;
  /* Nine coefficients per point leave too few registers for more threads. */
  const int64_t high_tiles = (int64_t)job->tiles_wide * high / (TILE_HIGH - 2 * job->halo);
  const int height =
      !job->fine.corners && high_tiles >= 4 * cuda_state_of(context)->multiprocessors ? TILE_HIGH : TILE_LOW;
  const int up = height - 2 * job->halo;
  const unsigned blocks = (unsigned)job->tiles_wide * (unsigned)((high + up - 1) / up);
  const auto kernel = job->fine.corners     ? smooth_tiles<true, TILE_LOW>
                      : height == TILE_HIGH ? smooth_tiles<false, TILE_HIGH>
                                            : smooth_tiles<false, TILE_LOW>;
  TSI_TRY(cuda_start(context, "a tile of a level", kernel, blocks, (unsigned)(TILE_WIDTH * height), *job));
  if (job->stage_count || job->coarse_x) impl->x = 1 - impl->x;
  return TS_OK;
}

ts_status cuda_level_run_tiles(const tsi_step *steps, int count, int *taken) {
  const ts_grid_desc *grid = &steps->level->grid;
  *taken = 0;
  /* At the seam of an odd periodic dimension, cells are not periodic. */
  if ((grid->periodic_x && grid->width & 1) || (grid->periodic_y && grid->height & 1)) return TS_OK;
  tile_group g = {};
  g.level = steps->level;
  const int group = gather_group(&g, steps, count);
  if (group < 2 && !g.job.coarse_b) return TS_OK;
  *taken = group;
  return launch(&g);
}
