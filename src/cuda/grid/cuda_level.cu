/* Levels: their memory, transfer of values, and the exact solution on the coarsest level. */
#include <limits.h>

#include "cuda_level.cuh"

static const char level_name[] = "a multigrid level";

/* ---- Geometry ---- */

cuda_level_view cuda_view_of_grid(int width, int height, int periodic_x, int periodic_y,
                                  ts_grid_storage storage) {
  cuda_level_view l = {};
  l.width = width;
  l.height = height;
  l.periodic_x = periodic_x;
  l.periodic_y = periodic_y;
  l.layered = storage == TS_GRID_STORAGE_LAYERED;
  l.shift = storage != TS_GRID_STORAGE_PLAIN;
  l.layers = storage == TS_GRID_STORAGE_PARITIES ? 4 : 1;
  l.step = l.layered ? 4 : 1;
  l.columns = l.step * ((width + l.shift) >> l.shift);
  l.rows = (height + l.shift) >> l.shift;
  l.plane = (size_t)l.columns * (size_t)l.rows * (size_t)l.layers;
  l.across = l.layered ? 1 : l.columns * l.rows;
  l.up = 2 * l.across;
  l.cells_wide = (width + 1) / 2;
  l.cells = (size_t)l.cells_wide * (size_t)((height + 1) / 2);
  return l;
}

static cuda_level_view geometry_of(const tsi_level *level) {
  const ts_grid_desc *g = &level->grid;
  return cuda_view_of_grid(g->width, g->height, g->periodic_x, g->periodic_y, level->storage);
}

cuda_level_view cuda_view_of(const tsi_level *level) {
  const cuda_level *impl = cuda_level_of(level);
  cuda_level_view l = geometry_of(level);
  l.sides = impl->sides;
  l.corners = impl->corners;
  l.weights = impl->weights;
  l.general = impl->general;
  l.uniform = impl->uniform;
  l.reference = impl->reference;
  return l;
}

/* ---- Coefficients ---- */

/* Copies from natural order to the storage of `to`. */
__global__ static void rearrange(cuda_level_view from, cuda_level_view to, float *sides, float *corners) {
  cuda_point p;
  if (!cuda_my_point(to, (int)blockIdx.y, &p)) return;
  const int source = cuda_place(from, p.i, p.j), at = cuda_place(to, p.i, p.j);
#pragma unroll
  for (int k = 0; k < CUDA_SIDES; k++) sides[k * to.plane + at] = cuda_coefficient_at(from, k, source);
  if (!corners) return;
#pragma unroll
  for (int k = CUDA_SIDES; k < CUDA_DIRECTIONS; k++)
    corners[(k - CUDA_SIDES) * to.plane + at] = from.corners ? cuda_coefficient_at(from, k, source) : 0;
}

/* ---- Creation ---- */

static size_t field_bytes(const cuda_level *l, int fields) {
  return (size_t)fields * l->size * sizeof(float);
}

static ts_status create_arrays(tsi_level *level) {
  ts_context *context = level->context;
  cuda_level *l = cuda_level_of(level);
  TSI_TRY(cuda_level_create_uniform(level));
  l->borrowed = level->matrix && level->storage == TS_GRID_STORAGE_PLAIN;
  for (int k = 0; k < 2; k++)
    TSI_TRY(cuda_alloc_zeroed(context, (void **)&l->fields[k], field_bytes(l, 1), level_name));
  TSI_TRY(cuda_alloc_zeroed(context, (void **)&l->b, field_bytes(l, 1), level_name));
  if (l->borrowed) return TS_OK;
  TSI_TRY(cuda_alloc_zeroed(context, (void **)&l->sides, field_bytes(l, CUDA_SIDES), level_name));
  if (level->five_point) return TS_OK;
  return cuda_alloc_zeroed(context, (void **)&l->corners, field_bytes(l, CUDA_CORNERS), level_name);
}

ts_status cuda_level_create(tsi_level *level) {
  ts_context *context = level->context;
  const ts_grid_desc *grid = &level->grid;
  if (((int64_t)grid->width + 1) * ((int64_t)grid->height + 1) > INT_MAX)
    return tsi_fail(context, TS_ERROR_LIMIT, "multigrid on %d x %d points: backend cuda has at most %d",
                    grid->width, grid->height, INT_MAX);
  cuda_level *l = (cuda_level *)tsi_calloc(context, 1, sizeof *l);
  if (!l) return tsi_out_of_memory(context, level_name, sizeof *l);
  const cuda_level_view view = geometry_of(level);
  l->size = view.plane;
  l->cells = view.cells;
  level->impl = l;
  const ts_status status = create_arrays(level);
  if (status < 0) cuda_level_destroy(level);
  return status;
}

static size_t dense_bytes(const tsi_level *level) {
  const size_t n = (size_t)level->grid.width * (size_t)level->grid.height;
  return n * n * sizeof(float);
}

void cuda_level_destroy(tsi_level *level) {
  ts_context *context = level->context;
  cuda_level *l = cuda_level_of(level);
  if (!l) return;
  cuda_free(context, l->fields[0], field_bytes(l, 1));
  cuda_free(context, l->fields[1], field_bytes(l, 1));
  cuda_free(context, l->b, field_bytes(l, 1));
  cuda_free(context, l->direction, field_bytes(l, 1));
  if (!l->borrowed) {
    cuda_free(context, l->sides, field_bytes(l, CUDA_SIDES));
    cuda_free(context, l->corners, field_bytes(l, CUDA_CORNERS));
  }
  cuda_free(context, l->weights, 8 * l->cells * sizeof(float));
  cuda_free(context, l->general, sizeof *l->general);
  cuda_level_destroy_uniform(level);
  cuda_free(context, l->dense, dense_bytes(level));
  tsi_free(context, l);
  level->impl = NULL;
}

static ts_status create_coefficients(tsi_level *level) {
  cuda_level *l = cuda_level_of(level);
  const cuda_stencil *s = cuda_stencil_of(level->matrix);
  if (l->borrowed) {
    l->sides = s->sides;
    l->corners = s->corners;
    return TS_OK;
  }
  const ts_grid_desc *g = &level->grid;
  cuda_level_view from =
      cuda_view_of_grid(g->width, g->height, g->periodic_x, g->periodic_y, TS_GRID_STORAGE_PLAIN);
  from.sides = s->sides;
  from.corners = s->corners;
  const cuda_level_view to = geometry_of(level);
  TSI_TRY(cuda_launch(level->context, "rearrange", rearrange, cuda_level_blocks(&to), CUDA_THREADS, from, to,
                      l->sides, l->corners));
  return TS_OK;
}

ts_status cuda_level_prepare(tsi_level *level) {
  if (level->matrix) TSI_TRY(create_coefficients(level));
  return cuda_level_find_uniform(level);
}

ts_status cuda_level_read(const tsi_level *level, float *values) {
  const cuda_level_view l = cuda_view_of(level);
  return cuda_planes_read(level->context, &l, values);
}

/* ---- Fields ---- */

__global__ static void load(cuda_level_view l, float *field, const float *v) {
  cuda_point p;
  if (cuda_my_point(l, (int)blockIdx.y, &p))
    field[cuda_place(l, p.i, p.j)] = v[(size_t)p.j * (size_t)l.width + (size_t)p.i];
}

ts_status cuda_level_load(tsi_level *level, tsi_level_field field, const ts_vector *v) {
  const cuda_level_view l = geometry_of(level);
  TSI_TRY(cuda_launch(level->context, "load", load, cuda_level_blocks(&l), CUDA_THREADS, l,
                      field == TSI_LEVEL_X ? cuda_level_x(level) : cuda_level_of(level)->b, cuda_data(v)));
  return TS_OK;
}

__global__ static void store(cuda_level_view l, float *v, const float *x, int add) {
  cuda_point p;
  if (!cuda_my_point(l, (int)blockIdx.y, &p)) return;
  const int at = cuda_place(l, p.i, p.j);
  float *to = v + ((size_t)p.j * (size_t)l.width + (size_t)p.i);
  if (l.sides[at] != 0) *to = add ? *to + x[at] : x[at];
}

ts_status cuda_level_store(ts_vector *v, const tsi_level *level, int add) {
  const cuda_level_view l = cuda_view_of(level);
  TSI_TRY(cuda_launch(level->context, "store", store, cuda_level_blocks(&l), CUDA_THREADS, l, cuda_data(v),
                      cuda_level_x(level), add));
  return TS_OK;
}

ts_status cuda_level_clear(tsi_level *level) {
  CUDA_TRY(level->context, cudaMemsetAsync(cuda_level_x(level), 0, field_bytes(cuda_level_of(level), 1),
                                           cuda_stream(level->context)));
  return TS_OK;
}

/* ---- The coarsest level ---- */

enum {
  DENSE_LANES = 13,             /* elements of a row per thread */
  DENSE_MOST = 32 * DENSE_LANES /* points; the limit in multigrid.h is lower */
};

ts_status cuda_level_set_inverse(tsi_level *level, const float *inverse) {
  cuda_level *l = cuda_level_of(level);
  if (!l->dense)
    TSI_TRY(cuda_alloc(level->context, (void **)&l->dense, dense_bytes(level), "the coarsest level's inverse"));
  return cuda_upload(level->context, l->dense, inverse, dense_bytes(level));
}

struct dense_job {
  cuda_level_view level;
  float *x;
  const float *b, *inverse;
};

/* A warp computes one element of x = inverse b. It loads its row before b is complete. */
__global__ static void dense_solve(const dense_job job) {
  __shared__ float natural[DENSE_MOST];
  const cuda_level_view &l = job.level;
  const int n = l.width * l.height, lane = (int)threadIdx.x % 32;
  const int row = (int)(blockIdx.x * (CUDA_THREADS / 32) + threadIdx.x / 32);
  float inverse[DENSE_LANES];
  cuda_dependent_trigger();
#pragma unroll
  for (int k = 0; k < DENSE_LANES; k++) {
    const int p = lane + 32 * k;
    inverse[k] = row < n && p < n ? job.inverse[(size_t)row * n + p] : 0;
  }
  cuda_dependent_wait();
  for (int p = (int)threadIdx.x; p < DENSE_MOST; p += CUDA_THREADS)
    natural[p] = p < n ? job.b[cuda_place(l, p % l.width, p / l.width)] : 0;
  __syncthreads();
  double sum = 0;
#pragma unroll
  for (int k = 0; k < DENSE_LANES; k++) sum += (double)inverse[k] * (double)natural[lane + 32 * k];
  sum = cuda_warp_sum(sum);
  if (lane == 0 && row < n) job.x[cuda_place(l, row % l.width, row / l.width)] = (float)sum;
}

ts_status cuda_level_coarse_solve(tsi_level *level) {
  const cuda_level *impl = cuda_level_of(level);
  const dense_job job = {cuda_view_of(level), cuda_level_x(level), impl->b, impl->dense};
  const unsigned blocks = cuda_blocks_for((size_t)level->grid.width * (size_t)level->grid.height * 32);
  TSI_TRY(cuda_start(level->context, "dense_solve", dense_solve, blocks, CUDA_THREADS, job));
  return TS_OK;
}

const tsi_grid_ops cuda_grid_ops = {TSI_GRID_OPERATIONS(TSI_ENTRY, TSI_ENTRY, TSI_ENTRY, cuda_)};
