/* The operations table of the CUDA backend, and its initialisation. */
#include <stdio.h>
#include <string.h>

#include "cuda.h"

/* The driver is missing or older than the runtime that the library was built with. */
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
  state->cooperative = p.cooperativeLaunch;
  state->l2_bytes = p.l2CacheSize > 0 ? (size_t)p.l2CacheSize : 0;
  state->pools = pools;
  context->caps = (tsi_caps){
      .pairs = 1,
      .is_hardware = 1,
      .linear_spaces = 1,
      .rectangle_width = 1,
      .rectangle_height = 1,
      .formats = 0 TSI_CUDA_FORMATS(TSI_FORMAT_BIT),
      .amg_formats = 1u << TS_FORMAT_CSR | 1u << TS_FORMAT_JAGGED,
      .grid_storages =
          1u << TS_GRID_STORAGE_PLAIN | 1u << TS_GRID_STORAGE_LAYERED | 1u << TS_GRID_STORAGE_PARITIES,
      .pointwise_storage = TS_GRID_STORAGE_PLAIN,
      .row_plans = 1,
      .bytes_total = p.totalGlobalMem,
  };
  context->tuning = tsi_tuning_cuda;
  snprintf(context->caps.device, sizeof context->caps.device, "%.127s", p.name);
  snprintf(context->caps.driver, sizeof context->caps.driver, "CUDA %d.%d, driver for CUDA %d.%d",
           runtime / 1000, runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
  return TS_OK;
}

static void release(ts_context *context) {
  cuda_state *state = cuda_state_of(context);
  if (state->stream) cudaStreamSynchronize(state->stream);
  cuda_staging_destroy(context);
  cuda_locked_destroy(context);
  cudaFree(state->partials);
  cudaFree(state->tickets);
  if (state->reached) cudaEventDestroy(state->reached);
  if (state->marked) cudaEventDestroy(state->marked);
  if (state->come) cudaEventDestroy(state->come);
  if (state->beside) cudaStreamDestroy(state->beside);
  if (state->own_stream) cudaStreamDestroy(state->own_stream);
  tsi_free(context, state);
  context->backend = NULL;
}

static ts_status prepare(ts_context *context, cuda_state *state) {
  TSI_TRY(read_properties(context, state));
  TSI_TRY(cuda_find_dependent_launch(context));
  CUDA_TRY(context, cudaStreamCreateWithFlags(&state->own_stream, cudaStreamNonBlocking));
  state->stream = state->own_stream;
  CUDA_TRY(context, cudaEventCreateWithFlags(&state->reached, cudaEventDisableTiming));
  CUDA_TRY(context, cudaEventCreateWithFlags(&state->marked, cudaEventDisableTiming));
  /* Sized for the largest kind: four components in double precision. */
  CUDA_TRY(context, cudaMalloc(&state->partials, (size_t)CUDA_MAX_BLOCKS * 4 * 4 * sizeof(double)));
  CUDA_TRY(context, cudaMalloc((void **)&state->tickets, CUDA_TICKETS * sizeof(unsigned)));
  CUDA_TRY(context, cudaMemset(state->tickets, 0, CUDA_TICKETS * sizeof(unsigned)));
  if (state->pools) {
    /* The process keeps freed memory, so that the next allocation takes only microseconds. */
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    CUDA_TRY(context, cudaDeviceGetDefaultMemPool(&pool, state->device));
    CUDA_TRY(context, cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  }
  return TS_OK;
}

ts_status cuda_blocks_of(ts_context *context, const void *kernel, unsigned threads, unsigned *blocks) {
  cuda_occupancy *known = cuda_state_of(context)->occupancies;
  int i = 0;
  while (i < CUDA_OCCUPANCIES && known[i].kernel && (known[i].kernel != kernel || known[i].threads != threads))
    i++;
  if (i < CUDA_OCCUPANCIES && known[i].kernel) {
    *blocks = known[i].blocks;
    return TS_OK;
  }
  int each = 0;
  CUDA_TRY(context, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, (int)threads, 0));
  *blocks = each > 1 ? (unsigned)each : 1;
  if (i < CUDA_OCCUPANCIES) known[i] = (cuda_occupancy){kernel, threads, *blocks};
  return TS_OK;
}

/* Contexts of several devices may alternate on one thread, and the application has its own current device. */
ts_status cuda_make_current(ts_context *context) {
  cuda_state *state = cuda_state_of(context);
  CUDA_TRY(context, cudaGetDevice(&state->application_device));
  CUDA_TRY(context, cudaSetDevice(state->device));
  return TS_OK;
}

ts_status cuda_enter(ts_context *context) {
  const cuda_state *state = cuda_state_of(context);
  TSI_TRY(cuda_make_current(context));
  ts_status status = state->lent ? cuda_gl_remap(context) : TS_OK;
  if (status == TS_OK && state->mirrors) status = cuda_mirrors_split(context);
  if (status < 0) cuda_leave(context);
  return status;
}

void cuda_leave(ts_context *context) {
  const cuda_state *state = cuda_state_of(context);
  if (state->mirrors) cuda_mirrors_join(context);
  if (state->application_device != state->device) cudaSetDevice(state->application_device);
}

void cuda_close(ts_context *context) {
  const int device = cuda_state_of(context)->device;
  int application_device = device;
  cudaGetDevice(&application_device);
  cudaSetDevice(device);
  release(context);
  if (application_device != device) cudaSetDevice(application_device);
}

ts_status cuda_open(ts_context *context) {
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

ts_status cuda_finish(ts_context *context) {
  TSI_TRY(cuda_wait_for_messages(context));
  CUDA_TRY(context, cudaStreamSynchronize(cuda_stream(context)));
  return TS_OK;
}

const tsi_ops tsi_cuda_ops = {.space_destroy = cuda_space_destroy,
                              .dot3 = cuda_dot3,
                              .dots = cuda_dots,
                              .axpy2 = cuda_axpy2,
                              .axpy2_dot = cuda_axpy2_dot,
                              .multiply_add = cuda_multiply_add,
                              .cg = &cuda_cg_ops,
                              .batch = &cuda_batch_ops,
                              .grid = &cuda_grid_ops,
                              .mesh = &cuda_mesh_ops,
                              .amg = &cuda_amg_ops,
                              .ilu = &cuda_ilu_ops,
                              .fluid = &cuda_fluid_ops,
                              .lcp = &cuda_lcp_ops,
                              .part = &cuda_part_ops,
                              .amg_part = &cuda_amg_part_ops,
                              .arrays = &cuda_array_ops,
                              TSI_CORE_OPERATIONS(TSI_ENTRY, TSI_ENTRY, TSI_OMIT, cuda_)};
