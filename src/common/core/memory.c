/* Host memory from the context's allocator, and accounting of device memory. */
#if defined(__linux__)
#define _GNU_SOURCE 1 /* madvise */
#endif
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core.h"

#undef tsi_out_of_memory /* the analyzer's form */

/* The system fills large blocks page by page on the first write, which takes longer than the write itself.
 * Pages of 2 MB are 512 times fewer. In a sparse block, however, each would be filled for the sake of a few
 * numbers, so there the system's default does not apply either. */
static void choose_pages(void *block, size_t bytes, int is_sparse) {
#if defined(MADV_HUGEPAGE) && defined(MADV_NOHUGEPAGE)
  enum { PAGE = 2 << 20, LEAST = 2 * PAGE };
  if (bytes < LEAST) return;
  const uintptr_t first = ((uintptr_t)block + PAGE - 1) / PAGE * PAGE,
                  end = ((uintptr_t)block + bytes) / PAGE * PAGE;
  if (end > first)
    madvise((char *)block + (first - (uintptr_t)block), end - first,
            is_sparse ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
#else
  (void)block, (void)bytes, (void)is_sparse;
#endif
}

static void *allocate(ts_context *context, size_t count, size_t size, int is_sparse) {
  if (size && count > SIZE_MAX / size) return NULL;
  const size_t bytes = count > 0 && size > 0 ? count * size : 1;
  const ts_allocator *allocator = context ? &context->desc.allocator : NULL;
  if (allocator && allocator->malloc_fn) return allocator->malloc_fn(bytes, allocator->user);
  void *block = malloc(bytes);
  if (block) choose_pages(block, bytes, is_sparse);
  return block;
}

void *tsi_malloc(ts_context *context, size_t count, size_t size) {
  return allocate(context, count, size, 0);
}

void *tsi_malloc_sparse(ts_context *context, size_t count, size_t size) {
  return allocate(context, count, size, 1);
}

void *tsi_calloc(ts_context *context, size_t count, size_t size) {
  void *block = tsi_malloc(context, count, size);
  if (block) memset(block, 0, count * size);
  return block;
}

void tsi_free(ts_context *context, void *block) {
  if (!block) return;
  const ts_allocator *allocator = context ? &context->desc.allocator : NULL;
  if (allocator && allocator->free_fn)
    allocator->free_fn(block, allocator->user);
  else
    free(block);
}

/* ---- Kept blocks ---- */

static void swap(tsi_memory *a, tsi_memory *b) {
  const tsi_memory before = *a;
  *a = *b;
  *b = before;
}

/* Reuses the smallest kept block that is large enough, or allocates a quarter more than needed: scenes grow
 * from frame to frame. */
ts_status tsi_reserve(ts_context *context, tsi_memory *memory, size_t bytes, const char *what) {
  tsi_memory *found = NULL;
  if (memory->bytes >= bytes) return TS_OK;
  for (int k = 0; k < TSI_KEPT_BLOCKS; k++) {
    tsi_memory *kept = &context->kept[k];
    if (kept->bytes >= bytes && (!found || kept->bytes < found->bytes)) found = kept;
  }
  if (found) {
    swap(found, memory);
    return TS_OK;
  }
  tsi_memory made = {.bytes = bytes + bytes / 4};
  made.block = tsi_malloc(context, made.bytes, 1);
  if (!made.block) return tsi_out_of_memory(context, what, bytes);
  tsi_free(context, memory->block);
  *memory = made;
  return TS_OK;
}

enum { most_kept = 64 << 20 };

/* Replaces the smallest kept block. */
void tsi_keep(ts_context *context, tsi_memory *memory) {
  tsi_memory *least = &context->kept[0];
  for (int k = 1; k < TSI_KEPT_BLOCKS; k++)
    if (context->kept[k].bytes < least->bytes) least = &context->kept[k];
  if (memory->bytes > least->bytes && memory->bytes <= most_kept) swap(least, memory);
  tsi_free(context, memory->block);
  *memory = (tsi_memory){0};
}

ts_status tsi_out_of_memory(ts_context *context, const char *what, size_t bytes) {
  return tsi_fail(context, TS_ERROR_OUT_OF_HOST_MEMORY, "no host memory for %s (%zu bytes)", what, bytes);
}

ts_status tsi_device_alloc(ts_context *context, size_t bytes, const char *what) {
  const size_t limit = context->desc.max_device_bytes;
  if (limit && (bytes > limit || context->bytes_device > limit - bytes))
    return tsi_fail(context, TS_ERROR_OUT_OF_DEVICE_MEMORY,
                    "%s needs %zu bytes of device memory; %zu are in use and max_device_bytes is %zu", what,
                    bytes, context->bytes_device, limit);
  context->bytes_device += bytes;
  return TS_OK;
}

void tsi_device_free(ts_context *context, size_t bytes) {
  context->bytes_device -= bytes;
}
