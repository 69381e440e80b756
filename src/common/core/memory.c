/* Host memory from the context's allocator, and the account of device memory. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

#undef tsi_out_of_memory /* the analyzer's form */

void *tsi_malloc(ts_context *context, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) return NULL;
  const size_t bytes = count > 0 && size > 0 ? count * size : 1;
  const ts_allocator *allocator = &context->desc.allocator;
  return allocator->malloc_fn ? allocator->malloc_fn(bytes, allocator->user) : malloc(bytes);
}

void *tsi_calloc(ts_context *context, size_t count, size_t size) {
  void *block = tsi_malloc(context, count, size);
  if (block) memset(block, 0, count * size);
  return block;
}

void tsi_free(ts_context *context, void *block) {
  if (!block) return;
  const ts_allocator *allocator = &context->desc.allocator;
  if (allocator->free_fn)
    allocator->free_fn(block, allocator->user);
  else
    free(block);
}

ts_status tsi_out_of_memory(ts_context *context, const char *what, size_t bytes) {
  return tsi_fail(context, TS_ERROR_OUT_OF_HOST_MEMORY, "no host memory for %s (%zu bytes)", what, bytes);
}

ts_status tsi_device_take(ts_context *context, size_t bytes, const char *what) {
  const size_t limit = context->desc.max_device_bytes;
  if (limit && (bytes > limit || context->bytes_device > limit - bytes))
    return tsi_fail(context, TS_ERROR_OUT_OF_DEVICE_MEMORY,
                    "%s needs %zu bytes of device memory; %zu are in use and max_device_bytes is %zu", what,
                    bytes, context->bytes_device, limit);
  context->bytes_device += bytes;
  return TS_OK;
}

void tsi_device_give(ts_context *context, size_t bytes) {
  context->bytes_device -= bytes;
}
