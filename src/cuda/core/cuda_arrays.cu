/* The application's arrays in device-accessible memory: checks, ordering with the application's streams, and
 * conversions to and from vectors. */
#include <stdint.h>
#include <string.h>

#include "cuda_split.cuh"

/* ---- Order ---- */

/* Orders later work on `to` after all work on `from`. */
static ts_status follow(ts_context *context, cudaStream_t from, cudaStream_t to) {
  cudaEvent_t event;
  if (from == to) return TS_OK;
  CUDA_TRY(context, cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  cudaError_t error = cudaEventRecord(event, from);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(to, event, 0);
  cudaEventDestroy(event);
  return error == cudaSuccess ? TS_OK : cuda_report(context, error, "cudaEventRecord", __FILE__, __LINE__);
}

ts_status cuda_after(ts_context *context, const ts_array *array) {
  return follow(context, array->stream, cuda_stream(context));
}

ts_status cuda_before(ts_context *context, const ts_array *array) {
  return follow(context, cuda_stream(context), array->stream);
}

/* ---- Checks ---- */

static ts_status check_pointer(ts_context *context, const char *name, const ts_array *array) {
  struct cudaPointerAttributes found;
  const int device = cuda_state_of(context)->device;
  if ((uintptr_t)array->data % tsi_type_size(array->type))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s points to %p, which is not aligned to its type",
                    name, array->data);
  CUDA_TRY(context, cudaPointerGetAttributes(&found, array->data));
  if (found.type == cudaMemoryTypeDevice && found.device != device)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s points to memory of device %d; the context has %d",
                    name, found.device, device);
  if (found.type == cudaMemoryTypeUnregistered || found.devicePointer != array->data)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "%s points to memory of the host and its memory is TS_MEMORY_CUDA", name);
  return TS_OK;
}

/* Relies on the fact that an event of this device cannot be recorded on a stream of another device. */
static ts_status check_stream(ts_context *context, const char *name, cudaStream_t stream) {
  cudaEvent_t event;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (stream == cuda_stream(context)) return TS_OK;
  cudaError_t error = cudaStreamIsCapturing(stream, &capture);
  if (error == cudaSuccess && capture != cudaStreamCaptureStatusNone)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "%s.stream is being captured into a graph", name);
  CUDA_TRY(context, cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  if (error == cudaSuccess) error = cudaEventRecord(event, stream);
  cudaEventDestroy(event);
  if (error == cudaSuccess) return TS_OK;
  cudaGetLastError();
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                  "%s.stream is not a stream of device %d, the context's (%s)", name,
                  cuda_state_of(context)->device, cudaGetErrorString(error));
}

/* For functions that are called outside cuda_enter and cuda_leave. */
static ts_status begin_outside(ts_context *context, int *before) {
  CUDA_TRY(context, cudaGetDevice(before));
  CUDA_TRY(context, cudaSetDevice(cuda_state_of(context)->device));
  return TS_OK;
}

static ts_status end_outside(int before, ts_status status) {
  cudaSetDevice(before);
  return status;
}

static ts_status array_check(ts_context *context, const char *name, const ts_array *array) {
  int before;
  TSI_TRY(begin_outside(context, &before));
  ts_status status = check_pointer(context, name, array);
  if (status == TS_OK) status = check_stream(context, name, array->stream);
  return end_outside(before, status);
}

/* ---- To and from the host ---- */

static ts_status copy_and_wait(ts_context *context, const ts_array *array, void *to, const void *from,
                               size_t bytes) {
  TSI_TRY(cuda_after(context, array));
  TSI_TRY(cuda_wait_for_messages(context));
  CUDA_TRY(context, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, cuda_stream(context)));
  context->host_synchronisations++;
  CUDA_TRY(context, cudaStreamSynchronize(cuda_stream(context)));
  return TS_OK;
}

static ts_status array_read(ts_context *context, const ts_array *array, void *host, size_t bytes) {
  int before;
  TSI_TRY(begin_outside(context, &before));
  return end_outside(before, copy_and_wait(context, array, host, array->data, bytes));
}

static ts_status array_write(ts_context *context, const ts_array *array, const void *host, size_t bytes) {
  int before;
  TSI_TRY(begin_outside(context, &before));
  return end_outside(before, copy_and_wait(context, array, array->data, host, bytes));
}

/* ---- Writing doubles ---- */

struct looked {
  cuda_range range;
  int others;                      /* some values are not exactly representable as floats */
  unsigned long long out_of_range; /* ~ the first such index */
};

static __global__ void __launch_bounds__(CUDA_THREADS)
    look_at_doubles(size_t count, const double *values, looked *found) {
  cuda_range range = {};
  int others = 0;
  unsigned long long out_of_range = 0;
  CUDA_EACH(i, count) {
    const double value = values[i];
    const float rounded = (float)value;
    cuda_count_exponent(&range, value);
    if (!isnan(value) && value != (double)rounded) others = 1;
    if (isfinite(value) && !isfinite(rounded)) out_of_range = max(out_of_range, ~(unsigned long long)i);
  }
  cuda_store_largest(&found->range.largest, range.largest);
  cuda_store_largest(&found->range.smallest, range.smallest);
  cuda_store_largest(&found->others, others);
  cuda_store_largest(&found->out_of_range, out_of_range);
}

static ts_status download_looked(ts_context *context, const ts_array *array, looked *on_device,
                                 tsi_looked *to) {
  looked found;
  TSI_TRY(cuda_launch(context, "look_at_doubles", look_at_doubles, cuda_blocks_each(context, array->count),
                      CUDA_THREADS, array->count, (const double *)array->data, on_device));
  context->host_synchronisations++;
  TSI_TRY(cuda_download(context, &found, on_device, sizeof found));
  *to = {cuda_exponents_of(found.range), !found.others, (size_t)~found.out_of_range, 0};
  if (to->out_of_range == SIZE_MAX) return TS_OK;
  CUDA_TRY(context, cudaMemcpyAsync(&to->value, (const double *)array->data + to->out_of_range,
                                    sizeof to->value, cudaMemcpyDefault, cuda_stream(context)));
  CUDA_TRY(context, cudaStreamSynchronize(cuda_stream(context)));
  return TS_OK;
}

static ts_status array_look(ts_context *context, const ts_array *array, tsi_looked *found) {
  looked *on_device;
  TSI_TRY(cuda_after(context, array));
  TSI_TRY(cuda_alloc_zeroed(context, (void **)&on_device, sizeof *on_device, "what is looked for"));
  const ts_status status = download_looked(context, array, on_device, found);
  cuda_free(context, on_device, sizeof *on_device);
  return status;
}

static __global__ void __launch_bounds__(CUDA_THREADS)
    split_doubles(size_t count, const double *from, cuda_parts to, int exponent) {
  CUDA_EACH(i, count) {
    cuda_store_parts(to, i, cuda_split(exponent ? ldexp(from[i], -exponent) : from[i]));
  }
}

static ts_status copy_floats(ts_context *context, void *to, const void *from, size_t count) {
  CUDA_TRY(context, cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDefault, cuda_stream(context)));
  return TS_OK;
}

static ts_status run_split(ts_vector *v, const ts_array *array, int exponent) {
  ts_context *context = v->context;
  if (array->type == TS_TYPE_DOUBLE)
    return cuda_launch(context, "split_doubles", split_doubles, cuda_blocks_each(context, array->count),
                       CUDA_THREADS, array->count, (const double *)array->data, cuda_parts_of(v), exponent);
  TSI_TRY(copy_floats(context, cuda_data(v), array->data, array->count));
  for (const ts_vector *part = v->low; part; part = part->low)
    CUDA_TRY(context, cudaMemsetAsync(cuda_data(part), 0, array->count * sizeof(float), cuda_stream(context)));
  return TS_OK;
}

static ts_status array_split(ts_vector *v, const ts_array *array, int exponent) {
  TSI_TRY(cuda_after(v->context, array));
  TSI_TRY(run_split(v, array, exponent));
  return cuda_before(v->context, array);
}

/* ---- Reading ---- */

static __global__ void __launch_bounds__(CUDA_THREADS)
    find_largest(size_t count, const float *values, unsigned *largest) {
  unsigned mine = 0; /* the bits of magnitudes compare like the magnitudes */
  CUDA_EACH(i, count) {
    if (isfinite(values[i])) mine = max(mine, __float_as_uint(fabsf(values[i])));
  }
  cuda_store_largest(largest, mine);
}

static ts_status array_largest(const ts_vector *v, float *found) {
  ts_context *context = v->context;
  unsigned *on_device;
  TSI_TRY(cuda_alloc_zeroed(context, (void **)&on_device, sizeof *on_device, "what is looked for"));
  ts_status status =
      cuda_launch(context, "find_largest", find_largest, cuda_blocks_each(context, cuda_count(v)), CUDA_THREADS,
                  cuda_count(v), cuda_data(v), on_device);
  context->host_synchronisations++;
  if (status == TS_OK) status = cuda_download(context, found, on_device, sizeof *found);
  cuda_free(context, on_device, sizeof *on_device);
  return status;
}

static __global__ void __launch_bounds__(CUDA_THREADS)
    join_doubles(size_t count, cuda_parts from, double *to, int exponent) {
  CUDA_EACH(i, count) {
    const double value = cuda_join(cuda_load_parts(from, i));
    to[i] = exponent ? ldexp(value, exponent) : value;
  }
}

static __global__ void __launch_bounds__(CUDA_THREADS)
    multiply_floats(size_t count, const float *from, float *to, int exponent) {
  CUDA_EACH(i, count) to[i] = (float)ldexp((double)from[i], exponent);
}

static ts_status run_join(const ts_vector *v, const ts_array *array) {
  ts_context *context = v->context;
  const unsigned blocks = cuda_blocks_each(context, array->count);
  if (array->type == TS_TYPE_DOUBLE)
    return cuda_launch(context, "join_doubles", join_doubles, blocks, CUDA_THREADS, array->count,
                       cuda_parts_of(v), (double *)array->data, v->exponent);
  if (!v->exponent) return copy_floats(context, array->data, cuda_data(v), array->count);
  return cuda_launch(context, "multiply_floats", multiply_floats, blocks, CUDA_THREADS, array->count,
                     (const float *)cuda_data(v), (float *)array->data, v->exponent);
}

static ts_status array_join(const ts_vector *v, const ts_array *array) {
  TSI_TRY(cuda_after(v->context, array));
  TSI_TRY(run_join(v, array));
  return cuda_before(v->context, array);
}

/* ---- Columns ---- */

static ts_status array_alloc(ts_context *context, size_t count, ts_type type, ts_array *array) {
  *array = ts_array_on_cuda(ts_array_make(NULL, count, type, 0), cuda_stream(context));
  return cuda_alloc(context, &array->data, count * tsi_type_size(type), "columns");
}

static ts_status array_upload(ts_context *context, const ts_array *host, ts_array *array) {
  TSI_TRY(array_alloc(context, host->count, host->type, array));
  const ts_status status =
      cuda_upload(context, array->data, host->data, host->count * tsi_type_size(host->type));
  if (status < 0) cuda_free(context, array->data, host->count * tsi_type_size(host->type));
  return status;
}

static void array_free(ts_context *context, const ts_array *array) {
  cuda_free(context, array->data, array->count * tsi_type_size(array->type));
}

static ts_status array_copy_columns(ts_context *context, const ts_array *whole, size_t count, size_t first,
                                    const ts_array *part, size_t width, int to_part) {
  const size_t size = tsi_type_size(whole->type), pitch = count * size, bytes = width * size;
  char *at = (char *)whole->data + first * size;
  TSI_TRY(cuda_after(context, whole));
  if (width == count)
    CUDA_TRY(context, cudaMemcpyAsync(to_part ? part->data : at, to_part ? at : part->data, whole->count * size,
                                      cudaMemcpyDefault, cuda_stream(context)));
  else
    CUDA_TRY(context, cudaMemcpy2DAsync(to_part ? part->data : at, to_part ? bytes : pitch,
                                        to_part ? at : part->data, to_part ? pitch : bytes, bytes,
                                        whole->count / count, cudaMemcpyDefault, cuda_stream(context)));
  return cuda_before(context, whole);
}

const tsi_array_ops cuda_array_ops = {
    .check = array_check,
    .read = array_read,
    .write = array_write,
    .look = array_look,
    .largest = array_largest,
    .split = array_split,
    .join = array_join,
    .alloc = array_alloc,
    .upload = array_upload,
    .free = array_free,
    .copy_columns = array_copy_columns,
    .convert_matrix = cuda_given_create,
    .free_matrix = cuda_given_free,
    .read_samples = cuda_given_samples,
    .lay_out = cuda_given_lay_out,
    .has_pattern = cuda_given_has_pattern,
};
