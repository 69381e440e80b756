/* Memory of the device that ranks of the same host read by themselves, by CUDA IPC.
 *
 * A block is an allocation of its own: [a word][a message][a message]. Memory that another process has mapped
 * must not be freed, cudaIpcOpenMemHandle may return what it mapped before, and no process knows when another
 * one has unmapped. So blocks are never freed, nor unmapped, while the process lives: they belong to it and not
 * to a context. A rank that no longer reads a block writes the word, behind its last copy; its owner then uses
 * the block for another share, with the same handle, for which that rank finds the mapping that it has. */
#define _GNU_SOURCE 1 /* sched_getcpu in thread.h */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/thread.h"
#include "cuda.h"
#include "cuda_part.h"

/* Of allocations of whole blocks of this size no others are mapped along with them. */
#define BLOCK_BYTES ((size_t)2 << 20)
#define ALIGNMENT ((size_t)256)

typedef enum block_use {
  BLOCK_IDLE,
  BLOCK_USED,
  BLOCK_GIVEN_BACK, /* another process may read it until it writes the word */
  BLOCK_LOST
} block_use;

typedef struct block {
  struct block *next;
  int device;
  block_use use;
  size_t bytes, message_bytes;
  char *memory;
  cudaIpcMemHandle_t handle;
} block;

/* Of this process, and those that it has mapped of others, whose `bytes` are 0. Only one share at a time is in
 * a block, so what belongs to the share is of whoever has it. */
static block *own, *mapped;
static tsi_lock lock = TSI_LOCK_INITIAL; /* of both */

_Static_assert(sizeof(cudaIpcMemHandle_t) <= TSI_SHARE_BYTES, "a description has room for a handle");

/* Processes of one boot are on one host. Whether their containers let them share is seen by trying. */
void cuda_part_share_place(ts_context *context, char place[TSI_PLACE_BYTES]) {
  (void)context;
  place[0] = 0;
#ifdef __linux__
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (!file) return;
  if (!fgets(place, TSI_PLACE_BYTES, file)) place[0] = 0;
  place[strcspn(place, "\n")] = 0;
  fclose(file);
#endif
}

static size_t rounded(size_t bytes, size_t to) {
  return (bytes + to - 1) / to * to;
}

float *cuda_part_share_message(const void *share, int turn) {
  const block *b = share;
  return (float *)(void *)(b->memory + ALIGNMENT + (size_t)turn * b->message_bytes);
}

/* ---- The part that writes ---- */

static cudaError_t write_word(const ts_context *context, const block *b, int value) {
  const cudaError_t error = cudaMemsetAsync(b->memory, value, sizeof(unsigned), cuda_stream(context));
  return error == cudaSuccess ? cudaStreamSynchronize(cuda_stream(context)) : error;
}

static cudaError_t read_word(const ts_context *context, const block *b, unsigned *word) {
  const cudaError_t error =
      cudaMemcpyAsync(word, b->memory, sizeof *word, cudaMemcpyDeviceToHost, cuda_stream(context));
  return error == cudaSuccess ? cudaStreamSynchronize(cuda_stream(context)) : error;
}

/* Memory that cannot be read is no longer this process's: the application has reset the device, say. */
static void look_at_word(const ts_context *context, block *b) {
  unsigned word = 0;
  const cudaError_t error = read_word(context, b, &word);
  if (error != cudaSuccess)
    b->use = BLOCK_LOST;
  else if (word)
    b->use = BLOCK_IDLE;
}

/* The smallest one that is large enough; NULL: none. */
static block *find_idle(const ts_context *context, size_t bytes) {
  const int device = cuda_state_of(context)->device;
  block *found = NULL;
  for (block *b = own; b; b = b->next) {
    if (b->device != device || b->bytes < bytes || (found && found->bytes <= b->bytes)) continue;
    if (b->use == BLOCK_GIVEN_BACK) look_at_word(context, b);
    if (b->use == BLOCK_IDLE) found = b;
  }
  return found;
}

static cudaError_t make_block(const ts_context *context, size_t bytes, block **out) {
  block *b = calloc(1, sizeof *b);
  if (!b) return cudaErrorMemoryAllocation;
  *b = (block){.device = cuda_state_of(context)->device, .bytes = bytes};
  cudaError_t error = cudaMalloc((void **)&b->memory, bytes);
  if (error == cudaSuccess) error = cudaIpcGetMemHandle(&b->handle, b->memory);
  if (error != cudaSuccess) {
    cudaFree(b->memory);
    free(b);
    return error;
  }
  b->next = own;
  own = *out = b;
  return cudaSuccess;
}

/* With the lock. */
static cudaError_t take_block(const ts_context *context, size_t bytes, block **out) {
  *out = find_idle(context, bytes);
  cudaError_t error = *out ? cudaSuccess : make_block(context, bytes, out);
  if (error != cudaSuccess) return error;
  error = write_word(context, *out, 0);
  (*out)->use = error == cudaSuccess ? BLOCK_USED : BLOCK_LOST;
  return error;
}

static void give_block(block *b, block_use use) {
  tsi_lock_take(&lock);
  b->use = use;
  tsi_lock_give(&lock);
}

ts_status cuda_part_share_export(ts_context *context, size_t bytes, void *description, void **share) {
  const size_t message_bytes = rounded(bytes, ALIGNMENT);
  block *b = NULL;
  *share = NULL;
  TSI_TRY(cuda_wait_for_messages(context));
  tsi_lock_take(&lock);
  const cudaError_t error = take_block(context, rounded(ALIGNMENT + 2 * message_bytes, BLOCK_BYTES), &b);
  tsi_lock_give(&lock);
  CUDA_TRY(context, error);
  const ts_status status = tsi_device_take(context, b->bytes, "shared memory");
  if (status < 0) {
    give_block(b, BLOCK_IDLE);
    return status;
  }
  b->message_bytes = message_bytes;
  memcpy(description, &b->handle, sizeof b->handle);
  *share = b;
  return TS_OK;
}

/* ---- The part that reads ---- */

/* With the lock. */
static cudaError_t find_mapping(const ts_context *context, const cudaIpcMemHandle_t *handle, block **out) {
  const int device = cuda_state_of(context)->device;
  for (block *b = mapped; b; b = b->next)
    if (b->device == device && !memcmp(&b->handle, handle, sizeof *handle)) {
      *out = b;
      return cudaSuccess;
    }
  block *b = calloc(1, sizeof *b);
  if (!b) return cudaErrorMemoryAllocation;
  *b = (block){.device = device, .handle = *handle};
  const cudaError_t error = cudaIpcOpenMemHandle((void **)&b->memory, *handle, cudaIpcMemLazyEnablePeerAccess);
  if (error != cudaSuccess) {
    free(b);
    return error;
  }
  b->next = mapped;
  mapped = *out = b;
  return cudaSuccess;
}

ts_status cuda_part_share_import(ts_context *context, size_t bytes, const void *description, void **share) {
  cudaIpcMemHandle_t handle;
  block *b = NULL;
  *share = NULL;
  memcpy(&handle, description, sizeof handle);
  tsi_lock_take(&lock);
  const cudaError_t error = find_mapping(context, &handle, &b);
  tsi_lock_give(&lock);
  CUDA_TRY(context, error);
  b->message_bytes = rounded(bytes, ALIGNMENT);
  *share = b;
  return TS_OK;
}

/* ---- Both ---- */

/* Behind what this part does with it. Nothing can be reported: without the word, the owner keeps the block for
 * nobody. */
void cuda_part_share_destroy(ts_context *context, void *share, int imported) {
  block *b = share;
  const int is_own = b->bytes != 0;
  cuda_wait_for_messages(context);
  if (is_own)
    cudaStreamSynchronize(cuda_stream(context));
  else
    write_word(context, b, 1);
  cudaGetLastError();
  if (!is_own) return;
  tsi_device_give(context, b->bytes);
  give_block(b, imported ? BLOCK_GIVEN_BACK : BLOCK_IDLE);
}
