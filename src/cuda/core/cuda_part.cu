/* One device as a part of a larger backend. Kernels write ghosts directly into the memory of other devices,
 * over NVLink if available, and events order the streams of all parts. The host does not wait. */
#include "cuda_part.cuh"

enum { MANY_GHOSTS = 8 }; /* ghosts are many if they are at least 1/8 of the elements */

__global__ static void number_listed(int32_t count, const int32_t *indices, int32_t *ghosts) {
  const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) ghosts[indices[k]] = (int32_t)k;
}

/* For each element the number of its ghost, or -1. */
static ts_status number_ghosts(ts_context *context, cuda_index_list *list) {
  const size_t bytes = (size_t)list->size * sizeof *list->ghosts;
  TSI_TRY(cuda_alloc(context, (void **)&list->ghosts, bytes, "a list of ghosts"));
  CUDA_TRY(context, cudaMemsetAsync(list->ghosts, 0xff, bytes, cuda_stream(context)));
  if (list->count == 0) return TS_OK;
  return cuda_launch(context, "number_listed", number_listed, cuda_blocks_for((size_t)list->count),
                     CUDA_THREADS, list->count, list->indices, list->ghosts);
}

__global__ static void write_range(int32_t count, int32_t first, int32_t *indices) {
  const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) indices[k] = first + (int32_t)k;
}

static ts_status write_indices(ts_context *context, const int32_t *indices, int32_t first,
                               cuda_index_list *list) {
  const size_t bytes = (size_t)list->count * sizeof *indices;
  if (indices) return cuda_alloc_copy(context, (void **)&list->indices, indices, bytes, "a list of indices");
  TSI_TRY(cuda_alloc(context, (void **)&list->indices, bytes, "a list of indices"));
  return cuda_launch(context, "write_range", write_range, cuda_blocks_for((size_t)list->count), CUDA_THREADS,
                     list->count, first, list->indices);
}

ts_status cuda_part_list_create(ts_context *context, const int32_t *indices, int32_t first, int32_t count,
                                int32_t size, void **list) {
  cuda_index_list *made = (cuda_index_list *)tsi_calloc(context, 1, sizeof *made);
  if (!made) return tsi_out_of_memory(context, "a list of indices", sizeof *made);
  made->count = count, made->size = size;
  ts_status status = write_indices(context, indices, first, made);
  if (status == TS_OK && count >= size / MANY_GHOSTS) status = number_ghosts(context, made);
  if (status < 0) {
    cuda_part_list_destroy(context, made);
    return status;
  }
  *list = made;
  return TS_OK;
}

void cuda_part_list_destroy(ts_context *context, void *list) {
  cuda_index_list *made = (cuda_index_list *)list;
  if (!made) return;
  cuda_free(context, made->indices, (size_t)made->count * sizeof *made->indices);
  cuda_free(context, made->ghosts, (size_t)made->size * sizeof *made->ghosts);
  tsi_free(context, made);
}

float *cuda_part_ghosts(const ts_vector *x) {
  return cuda_data(x) + (size_t)tsi_first_ghost(x->space) * (size_t)x->components;
}

__global__ static void gather(size_t count, const int32_t *indices, unsigned components, const float *x,
                              float *to) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
    to[i] = x[(size_t)indices[i / components] * components + i % components];
}

ts_status cuda_part_gather(const ts_vector *x, const void *list, float *to) {
  const cuda_index_list *of = (const cuda_index_list *)list;
  const size_t count = (size_t)of->count * (size_t)x->components;
  const unsigned blocks = cuda_blocks_for(count, 256);
  return cuda_launch(x->context, "gather", gather, blocks < 2048 ? blocks : 2048, 256, count, of->indices,
                     (unsigned)x->components, cuda_data(x), to);
}

/* ---- Messages to and from other processes ---- */

/* Host memory is page-locked, so that kernels can write it and copies run without the host. Device memory is
 * not from a pool, because transports cannot register that. Allocating and freeing either may wait for the
 * device. */
ts_status cuda_part_message_create(ts_context *context, size_t bytes, int on_device, void **message) {
  TSI_TRY(cuda_wait_for_messages(context));
  if (on_device)
    CUDA_TRY(context, cudaMalloc(message, bytes));
  else
    CUDA_TRY(context, cudaHostAlloc(message, bytes, cudaHostAllocPortable));
  return TS_OK;
}

void cuda_part_message_destroy(ts_context *context, void *message, int on_device) {
  cuda_wait_for_messages(context);
  if (on_device)
    cudaFree(message);
  else
    cudaFreeHost(message);
}

static ts_status create_beside(ts_context *context, cuda_state *state) {
  if (!state->beside) CUDA_TRY(context, cudaStreamCreateWithFlags(&state->beside, cudaStreamNonBlocking));
  if (!state->come) CUDA_TRY(context, cudaEventCreateWithFlags(&state->come, cudaEventDisableTiming));
  return TS_OK;
}

/* All work before the mark is complete. If the stream is still busy, it computes rows that use no ghosts, and
 * the copy need not wait for them. */
ts_status cuda_part_ghosts_write(const ts_vector *x, size_t first, size_t count, const float *message) {
  ts_context *context = x->context;
  cuda_state *state = cuda_state_of(context);
  cudaStream_t stream = state->stream;
  const cudaError_t error = cudaStreamQuery(stream);
  if (error == cudaErrorNotReady) {
    cudaGetLastError();
    TSI_TRY(create_beside(context, state));
    stream = state->beside;
  } else {
    CUDA_TRY(context, error);
  }
  CUDA_TRY(context, cudaMemcpyAsync(cuda_part_ghosts(x) + first, message, count * sizeof *message,
                                    cudaMemcpyDefault, stream));
  if (stream == state->stream) return TS_OK;
  CUDA_TRY(context, cudaEventRecord(state->come, stream));
  CUDA_TRY(context, cudaStreamWaitEvent(state->stream, state->come, 0));
  return TS_OK;
}

/* ---- Order ---- */

ts_status cuda_part_join(ts_context *const *parts, int count) {
  for (int p = 0; p < count; p++) {
    const cuda_state *state = cuda_state_of(parts[p]);
    CUDA_TRY(parts[0], cudaEventRecord(state->reached, state->stream));
  }
  for (int p = 0; p < count; p++)
    for (int q = 0; q < count; q++)
      if (q != p)
        CUDA_TRY(parts[0], cudaStreamWaitEvent(cuda_stream(parts[p]), cuda_state_of(parts[q])->reached, 0));
  return TS_OK;
}

ts_status cuda_part_mark(ts_context *context) {
  CUDA_TRY(context, cudaEventRecord(cuda_state_of(context)->marked, cuda_stream(context)));
  return TS_OK;
}

ts_status cuda_part_wait_for_mark(ts_context *context) {
  TSI_TRY(cuda_wait_for_messages(context));
  CUDA_TRY(context, cudaEventSynchronize(cuda_state_of(context)->marked));
  return TS_OK;
}

/* ---- Sums ---- */

struct part_sums {
  int count;
  const float *high[MULTI_MOST_PARTS], *low[MULTI_MOST_PARTS];
};

static __device__ double combined(tsi_reduction kind, double total, double part) {
  if (kind == TSI_REDUCE_MAX || kind == TSI_REDUCE_MAX_ABS) return part != part || part > total ? part : total;
  return kind == TSI_REDUCE_NORM2 ? total + part * part : total + part;
}

static __device__ void store_total(tsi_reduction kind, double total, int is_component, float *high,
                                   float *low) {
  if (kind == TSI_REDUCE_NORM2) total = sqrt(total);
  if (!is_component) total = 0;
  *high = (float)total;
  if (low) *low = isfinite(*high) ? (float)(total - (double)*high) : 0;
}

__global__ static void combine(part_sums sums, tsi_reduction kind, int components, float *high, float *low) {
  const int c = (int)threadIdx.x;
  double total = kind == TSI_REDUCE_MAX ? -(double)INFINITY : 0;
  for (int p = 0; p < sums.count; p++)
    total = combined(kind, total, (double)sums.high[p][c] + (sums.low[p] ? (double)sums.low[p][c] : 0));
  store_total(kind, total, c < components, high + c, low ? low + c : NULL);
}

ts_status cuda_part_combine(ts_scalars *out, int index, tsi_reduction kind, int components, int pair,
                            ts_scalars *const *sums, int count, int slot) {
  part_sums from = {};
  from.count = count;
  for (int p = 0; p < count; p++) {
    from.high[p] = cuda_slot(sums[p], slot);
    from.low[p] = pair ? cuda_slot(sums[p]->low, slot) : NULL;
  }
  return cuda_launch(out->context, "combine", combine, 1, 4, from, kind, components, cuda_slot(out, index),
                     pair && out->low ? cuda_slot(out->low, index) : (float *)NULL);
}

struct slot_list {
  int of[TSI_MAX_DOTS];
};

/* One block per slot. The slots of a rank are contiguous. */
__global__ static void combine_ranks(int ranks, const float *highs, const float *lows, tsi_reduction kind,
                                     int components, slot_list index, float *high, float *low) {
  const int c = (int)threadIdx.x, to = 4 * index.of[blockIdx.x] + c;
  double total = kind == TSI_REDUCE_MAX ? -(double)INFINITY : 0;
  for (int r = 0; r < ranks; r++) {
    const size_t i = 4 * ((size_t)r * gridDim.x + blockIdx.x) + (size_t)c;
    total = combined(kind, total, (double)highs[i] + (lows ? (double)lows[i] : 0));
  }
  store_total(kind, total, c < components, high + to, low ? low + to : NULL);
}

ts_status cuda_combine_ranks(ts_scalars *out, const int *index, int count, tsi_reduction kind, int components,
                             int ranks, const float *highs, const float *lows) {
  slot_list slots = {};
  for (int k = 0; k < count; k++) slots.of[k] = index[k];
  return cuda_launch(out->context, "combine_ranks", combine_ranks, (unsigned)count, 4, ranks, highs, lows, kind,
                     components, slots, cuda_slot(out, 0),
                     lows && out->low ? cuda_slot(out->low, 0) : (float *)NULL);
}

/* ---- Peers ---- */

static ts_status reach(ts_context *from, const ts_context *to) {
  const int here = cuda_state_of(from)->device, there = cuda_state_of(to)->device;
  int can = 0;
  CUDA_TRY(from, cudaDeviceCanAccessPeer(&can, here, there));
  if (!can)
    return tsi_fail(from, TS_ERROR_UNSUPPORTED, "device %d cannot reach the memory of device %d", here, there);
  const cudaError_t error = cudaDeviceEnablePeerAccess(there, 0);
  if (error != cudaErrorPeerAccessAlreadyEnabled) CUDA_TRY(from, error);
  cudaGetLastError();
  if (!cuda_state_of(to)->pools) return TS_OK;
  cudaMemPool_t pool;
  cudaMemAccessDesc access = {};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = here;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  CUDA_TRY(from, cudaDeviceGetDefaultMemPool(&pool, there));
  CUDA_TRY(from, cudaMemPoolSetAccess(pool, &access, 1));
  return TS_OK;
}

ts_status cuda_part_connect(ts_context *from, const ts_context *to) {
  return cuda_state_of(from)->device == cuda_state_of(to)->device ? TS_OK : reach(from, to);
}

const tsi_part_ops cuda_part_ops = {TSI_PART_OPERATIONS(TSI_ENTRY, TSI_ENTRY, cuda_part_)
                                        cuda_matrix_has_interior};
