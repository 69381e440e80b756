/* The table of the CUDA backend, and opening it. */
#include <stdio.h>
#include <string.h>

#include "cuda.h"
#include "cuda/grid/cuda_grid.h"

/* The driver is missing, or older than the runtime that this library was built with. */
static ts_status no_driver(ts_context *context, cudaError_t error) {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  cudaGetLastError();
  if (driver == 0)
    return tsi_fail(context, TS_ERROR_UNAVAILABLE,
                    "backend cuda: this machine has no NVIDIA driver (libcuda.so.1)");
  if (driver < runtime && error == cudaErrorInsufficientDriver)
    return tsi_fail(
        context, TS_ERROR_UNAVAILABLE,
        "backend cuda: the NVIDIA driver is for CUDA %d.%d; this texsolve was built with CUDA %d.%d",
        driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  return tsi_fail(context, TS_ERROR_UNAVAILABLE, "backend cuda: %s (%s)", cudaGetErrorString(error),
                  cudaGetErrorName(error));
}

static ts_status choose_device(ts_context *context, int *device) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return no_driver(context, error);
  *device = context->device_index < 0 ? 0 : context->device_index;
  if (count == 0) return tsi_fail(context, TS_ERROR_UNAVAILABLE, "backend cuda: there is no CUDA device");
  if (*device >= count)
    return tsi_fail(context, TS_ERROR_UNAVAILABLE, "device %d of backend cuda: there %s %d, numbered from 0",
                    *device, count == 1 ? "is" : "are", count);
  return TS_OK;
}

static ts_status read_properties(ts_context *context, cuda_state *state) {
  struct cudaDeviceProp p;
  CUDA_TRY(context, cudaGetDeviceProperties(&p, state->device));
  int driver = 0, runtime = 0, pools = 0;
  CUDA_TRY(context, cudaDriverGetVersion(&driver));
  CUDA_TRY(context, cudaRuntimeGetVersion(&runtime));
  CUDA_TRY(context, cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, state->device));
  state->multiprocessors = p.multiProcessorCount;
  state->threads = p.maxThreadsPerMultiProcessor;
  state->registers = p.regsPerMultiprocessor;
  state->cooperative = p.cooperativeLaunch;
  state->l2_bytes = p.l2CacheSize > 0 ? (size_t)p.l2CacheSize : 0;
  state->pools = pools;
  context->caps = (tsi_caps){
      .is_hardware = 1,
      .max_texture_size = 0,
      .rectangle_width = 1,
      .rectangle_height = 1,
      .formats = 1u << TS_FORMAT_CSR | 1u << TS_FORMAT_JAGGED | 1u << TS_FORMAT_SEGMENTS |
                 1u << TS_FORMAT_BCRS2 | 1u << TS_FORMAT_BCRS4,
      .grid_storages =
          1u << TS_GRID_STORAGE_PLAIN | 1u << TS_GRID_STORAGE_LAYERED | 1u << TS_GRID_STORAGE_PARITIES,
      .pointwise_storage = TS_GRID_STORAGE_PLAIN,
      .row_plans = 1,
      .check_interval = 25,
      .check_overlap = 4,
  };
  snprintf(context->caps.device, sizeof context->caps.device, "%.127s", p.name);
  snprintf(context->caps.driver, sizeof context->caps.driver, "CUDA %d.%d, driver for CUDA %d.%d",
           runtime / 1000, runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
  return TS_OK;
}

static void release(ts_context *context) {
  cuda_state *state = cuda_state_of(context);
  if (state->stream) cudaStreamSynchronize(state->stream);
  cudaFree(state->partials);
  cudaFree(state->arrivals);
  if (state->own_stream) cudaStreamDestroy(state->own_stream);
  tsi_free(context, state);
  context->backend = NULL;
}

static ts_status prepare(ts_context *context, cuda_state *state) {
  TSI_TRY(read_properties(context, state));
  TSI_TRY(cuda_find_overlap(context));
  CUDA_TRY(context, cudaStreamCreateWithFlags(&state->own_stream, cudaStreamNonBlocking));
  state->stream = state->own_stream;
  /* Of the largest kind: four components in double precision. */
  CUDA_TRY(context, cudaMalloc(&state->partials, (size_t)CUDA_MAX_BLOCKS * 4 * 4 * sizeof(double)));
  CUDA_TRY(context, cudaMalloc((void **)&state->arrivals, CUDA_ARRIVALS * sizeof(unsigned)));
  CUDA_TRY(context, cudaMemset(state->arrivals, 0, CUDA_ARRIVALS * sizeof(unsigned)));
  if (state->pools) {
    /* What is given back stays with the process: taking it again costs microseconds. */
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    CUDA_TRY(context, cudaDeviceGetDefaultMemPool(&pool, state->device));
    CUDA_TRY(context, cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  }
  return TS_OK;
}

/* Contexts of several devices may take turns on one thread, and the application has a current device of its
 * own. */
ts_status cuda_make_current(ts_context *context) {
  cuda_state *state = cuda_state_of(context);
  CUDA_TRY(context, cudaGetDevice(&state->application_device));
  CUDA_TRY(context, cudaSetDevice(state->device));
  return TS_OK;
}

static ts_status cuda_enter(ts_context *context) {
  TSI_TRY(cuda_make_current(context));
  if (cuda_state_of(context)->lent == 0) return TS_OK;
  const ts_status status = cuda_gl_take_back(context);
  if (status < 0) cuda_leave(context);
  return status;
}

void cuda_leave(ts_context *context) {
  const cuda_state *state = cuda_state_of(context);
  if (state->application_device != state->device) cudaSetDevice(state->application_device);
}

static void cuda_close(ts_context *context) {
  const int device = cuda_state_of(context)->device;
  int application_device = device;
  cudaGetDevice(&application_device);
  cudaSetDevice(device);
  release(context);
  if (application_device != device) cudaSetDevice(application_device);
}

static ts_status cuda_open(ts_context *context) {
  int device = 0;
  TSI_TRY(choose_device(context, &device));
  cuda_state *state = tsi_calloc(context, 1, sizeof *state);
  if (!state) return tsi_out_of_memory(context, "the CUDA backend", sizeof *state);
  state->device = device;
  context->backend = state;
  ts_status status = cuda_enter(context);
  if (status == TS_OK) status = prepare(context, state);
  if (status == TS_OK)
    cuda_leave(context);
  else
    cuda_close(context);
  return status;
}

static ts_status cuda_finish(ts_context *context) {
  CUDA_TRY(context, cudaStreamSynchronize(cuda_stream(context)));
  return TS_OK;
}

const tsi_ops tsi_cuda_ops = {
    .open = cuda_open,
    .close = cuda_close,
    .enter = cuda_enter,
    .leave = cuda_leave,
    .finish = cuda_finish,
    .vector_create = cuda_vector_create,
    .vector_destroy = cuda_vector_destroy,
    .vector_write = cuda_vector_write,
    .vector_read = cuda_vector_read,
    .space_destroy = cuda_space_destroy,
    .scalars_create = cuda_scalars_create,
    .scalars_destroy = cuda_scalars_destroy,
    .scalars_write = cuda_scalars_write,
    .scalars_normalise = cuda_scalars_normalise,
    .scalars_read_begin = cuda_scalars_read_begin,
    .scalars_read_end = cuda_scalars_read_end,
    .fill = cuda_fill,
    .axpby = cuda_axpby,
    .multiply = cuda_multiply,
    .reciprocal = cuda_reciprocal,
    .free_rows = cuda_free_rows,
    .reduce = cuda_reduce,
    .matrix_create = cuda_matrix_create,
    .matrix_write = cuda_matrix_write,
    .matrix_destroy = cuda_matrix_destroy,
    .spmv = cuda_spmv,
    .residual = cuda_residual,
    .diagonal = cuda_diagonal,
    /* Fused: each saves passes over memory. */
    .dot3 = cuda_dot3,
    .dots = cuda_dots,
    .axpy2 = cuda_axpy2,
    .axpy2_dot = cuda_axpy2_dot,
    .multiply_add = cuda_multiply_add,
    .cg_update = cuda_cg_update,
    .cg_fits = cuda_cg_fits,
    .cg_iterate = cuda_cg_iterate,
    /* Meshes. */
    .mesh_create = cuda_mesh_create,
    .mesh_destroy = cuda_mesh_destroy,
    .mesh_assemble = cuda_mesh_assemble,
    .mesh_force = cuda_mesh_force,
    /* Grids. */
    .stencil_create = cuda_stencil_create,
    .stencil_write = cuda_stencil_write,
    .stencil_read = cuda_stencil_read,
    .stencil_residual = cuda_stencil_residual,
    .add_to_pair = cuda_add_to_pair,
    .level_create = cuda_level_create,
    .level_destroy = cuda_level_destroy,
    .level_prepare = cuda_level_prepare,
    .level_coarsen = cuda_level_coarsen,
    .level_read = cuda_level_read,
    .level_set_inverse = cuda_level_set_inverse,
    .level_coarse_solve = cuda_level_coarse_solve,
    .level_load = cuda_level_load,
    .level_store = cuda_level_store,
    .level_clear = cuda_level_clear,
    .level_smooth = cuda_level_smooth,
    .level_restrict_residual = cuda_level_restrict_residual,
    .level_restrict = cuda_level_restrict,
    .level_inject = cuda_level_inject,
    .level_prolong = cuda_level_prolong,
    .level_steps = cuda_level_steps,
    .fluid_advect = cuda_fluid_advect,
    .fluid_correct = cuda_fluid_correct,
    .fluid_vorticity = cuda_fluid_vorticity,
    .fluid_forces = cuda_fluid_forces,
    .fluid_stamp_velocity = cuda_fluid_stamp_velocity,
    .fluid_stamp_dye = cuda_fluid_stamp_dye,
    .fluid_boundary = cuda_fluid_boundary,
    .fluid_divergence = cuda_fluid_divergence,
    .fluid_project = cuda_fluid_project,
    .fluid_split = cuda_fluid_split,
    .fluid_merge = cuda_fluid_merge,
    .fluid_transport = cuda_fluid_transport,
    .fluid_particles = cuda_fluid_particles,
    .fluid_speed = cuda_fluid_speed,
};
