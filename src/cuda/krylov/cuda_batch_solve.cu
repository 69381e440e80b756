/* Batches of systems: one launch, with one block per system. The block of a small system is one warp, which
 * works without barriers. The values and the vectors of a system are in shared memory if they fit, otherwise in
 * a workspace. In that case each multiprocessor has one block, which solves one system after the other. */
#include "cuda_batch_iterate.cuh"

/* Where the arrays of a system are. */
enum { ALL_SHARED, VECTORS_SHARED, NONE_SHARED };

/* The number of one-warp blocks of a multiprocessor that have enough registers. An H200 has shared memory for
 * about 20 systems with 100 rows; other generations have at most 16 blocks. */
#define BATCH_WARPS (MULTIPROCESSOR_THREADS >= 2048 ? 20 : 16)

template <bool WARP, int PLACE>
static __global__ void __launch_bounds__(WARP ? 32 : BATCH_THREADS, WARP ? BATCH_WARPS : 1)
    solve_batch(batch_call call) {
  extern __shared__ double batch_shared[];
  const size_t rows = (size_t)call.rows;
  const int count = call.method == TS_METHOD_CG ? BATCH_CG_VECTORS : BATCH_ALL_VECTORS;
  double *own = call.workspace + (size_t)blockIdx.x * call.stride;
  double *v = PLACE == NONE_SHARED ? own : batch_shared + BATCH_SCRATCH;
  double *values = PLACE == VECTORS_SHARED ? own : v + (size_t)count * rows;
  /* cg does not use the last three. */
  double *last = v + (size_t)(count - 3) * rows;
  for (size_t system = blockIdx.x; system < call.systems; system += gridDim.x) {
    batch_solver<WARP> s = {call,     system,       batch_shared,   values,       v,
                            v + rows, v + 2 * rows, v + 3 * rows,   v + 4 * rows, v + 5 * rows,
                            last,     last + rows,  last + 2 * rows};
    batch_load(s);
    if (!s.state.ended) batch_iterate(s);
    batch_store(s);
    batch_sync<WARP>();
  }
}

/* ---- The launch ---- */

typedef struct plan {
  const void *kernel;
  unsigned threads, blocks;
  size_t shared_bytes, workspace_bytes;
  size_t stride;
} plan;

static unsigned at_most(size_t count, size_t most) {
  return (unsigned)(count < most ? count : most);
}

static ts_status make_plan(ts_context *context, const tsi_batch_job *job, plan *p) {
  const cuda_state *state = cuda_state_of(context);
  const size_t rows = (size_t)job->pattern->rows, entries = (size_t)job->pattern->entries;
  const size_t vectors = rows * (job->method == TS_METHOD_CG ? BATCH_CG_VECTORS : BATCH_ALL_VECTORS);
  const size_t all = (BATCH_SCRATCH + vectors + entries) * sizeof(double),
               some = (BATCH_SCRATCH + vectors) * sizeof(double);
  int most = 0;
  CUDA_TRY(context, cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, state->device));
  *p = {};
  p->threads = rows <= 512 ? 128 : rows <= 2048 ? 256 : BATCH_THREADS;
  p->blocks = at_most(job->systems, INT32_MAX);
  p->shared_bytes = all;
  p->kernel = (const void *)solve_batch<false, ALL_SHARED>;
  if (all <= (size_t)most && rows > 128) return TS_OK;
  if (all <= (size_t)most) {
    p->threads = 32;
    p->kernel = (const void *)solve_batch<true, ALL_SHARED>;
    return TS_OK;
  }
  const bool has_vectors = some <= (size_t)most;
  p->blocks = at_most(job->systems, (size_t)state->multiprocessors);
  p->kernel = has_vectors ? (const void *)solve_batch<false, VECTORS_SHARED>
                          : (const void *)solve_batch<false, NONE_SHARED>;
  p->shared_bytes = has_vectors ? some : BATCH_SCRATCH * sizeof(double);
  p->stride = has_vectors ? entries : entries + vectors;
  p->workspace_bytes = p->blocks * p->stride * sizeof(double);
  return TS_OK;
}

static ts_status start(ts_context *context, const plan *p, batch_call *call) {
  void *arguments[] = {call};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(p->blocks);
  config.blockDim = dim3(p->threads);
  config.dynamicSmemBytes = p->shared_bytes;
  config.stream = cuda_stream(context);
  CUDA_TRY(context,
           cudaFuncSetAttribute(p->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)p->shared_bytes));
  const cudaError_t error = cudaLaunchKernelExC(&config, p->kernel, arguments);
  return error == cudaSuccess ? TS_OK : cuda_report(context, error, "solve_batch", __FILE__, __LINE__);
}

/* ---- Memory ---- */

/* Memory of one call. */
typedef struct batch_memory {
  void *blocks[6];
  size_t bytes[6];
  int count;
} batch_memory;

static ts_status batch_alloc(ts_context *context, batch_memory *memory, size_t bytes, const char *what,
                             void **block) {
  TSI_TRY(cuda_alloc(context, block, bytes, what));
  memory->blocks[memory->count] = *block;
  memory->bytes[memory->count++] = bytes;
  return TS_OK;
}

static void batch_free_all(ts_context *context, batch_memory *memory) {
  while (memory->count > 0) {
    memory->count--;
    cuda_free(context, memory->blocks[memory->count], memory->bytes[memory->count]);
  }
}

/* The array in place, or a copy of a host array. */
static ts_status place(ts_context *context, batch_memory *memory, const ts_array *array, const char *what,
                       bool is_read, void **numbers) {
  const size_t bytes = array->count * tsi_type_size(array->type);
  *numbers = array->data;
  if (array->memory == TS_MEMORY_CUDA) return cuda_after(context, array);
  TSI_TRY(batch_alloc(context, memory, bytes, what, numbers));
  return is_read ? cuda_upload(context, *numbers, array->data, bytes) : TS_OK;
}

static ts_status place_pattern(ts_context *context, batch_memory *memory, const tsi_batch_pattern *pattern,
                               batch_call *call) {
  void *block;
  TSI_TRY(batch_alloc(context, memory, pattern->count * sizeof(int32_t), "the pattern of a batch", &block));
  TSI_TRY(cuda_upload(context, block, pattern->offsets, pattern->count * sizeof(int32_t)));
  const int32_t *at = (const int32_t *)block, *from = pattern->offsets;
  call->rows = pattern->rows;
  call->entries = pattern->entries;
  call->given = pattern->given;
  call->offsets = at;
  call->columns = at + (pattern->columns - from);
  call->diagonal = at + (pattern->diagonal - from);
  call->mirror = at + (pattern->mirror - from);
  call->first = pattern->in_order ? NULL : at + (pattern->first - from);
  call->sources = at + (pattern->sources - from);
  return TS_OK;
}

static ts_status place_all(ts_context *context, batch_memory *memory, const tsi_batch_job *job, const plan *p,
                           batch_call *call) {
  void *values, *b, *results, *workspace = NULL;
  TSI_TRY(place_pattern(context, memory, job->pattern, call));
  TSI_TRY(place(context, memory, &job->values, "the values of a batch", true, &values));
  TSI_TRY(place(context, memory, &job->b, "b", true, &b));
  TSI_TRY(place(context, memory, &job->x, "x", !job->zero_start, &call->x));
  TSI_TRY(
      batch_alloc(context, memory, job->systems * sizeof *job->results, "the results of a batch", &results));
  if (p->workspace_bytes)
    TSI_TRY(batch_alloc(context, memory, p->workspace_bytes, "the vectors of a batch", &workspace));
  call->values = {values, job->values.type == TS_TYPE_FLOAT};
  call->b = {b, job->b.type == TS_TYPE_FLOAT};
  call->start = {call->x, job->x.type == TS_TYPE_FLOAT};
  call->x_is_float = job->x.type == TS_TYPE_FLOAT;
  call->systems = job->systems;
  call->zero_start = job->zero_start;
  call->max_iterations = job->max_iterations;
  call->method = job->method;
  call->preconditioner = job->preconditioner;
  call->rtol = job->rtol;
  call->results = (ts_batch_result *)results;
  call->workspace = (double *)workspace;
  call->stride = p->stride;
  return TS_OK;
}

/* Later work in the arrays' streams waits for the solve. */
static ts_status release_arrays(ts_context *context, const tsi_batch_job *job) {
  const ts_array *const arrays[] = {&job->values, &job->b, &job->x};
  for (const ts_array *array : arrays)
    if (array->memory == TS_MEMORY_CUDA) TSI_TRY(cuda_before(context, array));
  return TS_OK;
}

static ts_status run(ts_context *context, batch_memory *memory, const tsi_batch_job *job) {
  batch_call call = {};
  plan p = {};
  TSI_TRY(make_plan(context, job, &p));
  TSI_TRY(place_all(context, memory, job, &p, &call));
  TSI_TRY(start(context, &p, &call));
  TSI_TRY(release_arrays(context, job));
  context->host_synchronisations++;
  if (job->x.memory == TS_MEMORY_HOST)
    TSI_TRY(cuda_download(context, job->x.data, call.x, job->x.count * tsi_type_size(job->x.type)));
  return cuda_download(context, job->results, call.results, job->systems * sizeof *job->results);
}

static ts_status cuda_batch_solve(ts_context *context, const tsi_batch_job *job) {
  batch_memory memory = {};
  int threads; /* which copy large host arrays */
  TSI_TRY(tsi_threads(context, &threads));
  const ts_status status = run(context, &memory, job);
  batch_free_all(context, &memory);
  return status;
}

const tsi_batch_ops cuda_batch_ops = {cuda_batch_solve};
