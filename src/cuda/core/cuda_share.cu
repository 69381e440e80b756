/* Memory of the device that ranks of the same host read by themselves, by CUDA IPC.
 *
 * A share is an allocation of its own: [a word][a message][a message]. The word becomes something else than 0
 * when the process that has mapped the share lets go of it. Until then the memory must not be freed: its copies
 * may be under way. Nobody waits for that when a share is destroyed, as the ranks may be there at different
 * times; it is given up, and freed where the context comes by later. */
#include <stdio.h>
#include <string.h>

#include "cuda_part.cuh"

/* Memory is shared in such blocks: smaller allocations would bring their neighbours along. */
static const size_t share_block = 2u << 20;
static const size_t share_alignment = 256;

struct cuda_share {
  char *memory;
  size_t bytes, message_bytes;
  int is_imported;
  cuda_share *next; /* of those that were given up */
};

static_assert(sizeof(cudaIpcMemHandle_t) <= TSI_SHARE_BYTES, "a description has room for a handle");

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

static cuda_share *new_share(ts_context *context, size_t bytes) {
  cuda_share *share = (cuda_share *)tsi_calloc(context, 1, sizeof *share);
  if (!share) return NULL;
  share->message_bytes = rounded(bytes, share_alignment);
  share->bytes = rounded(share_alignment + 2 * share->message_bytes, share_block);
  return share;
}

float *cuda_part_share_message(const void *share, int turn) {
  const cuda_share *s = (const cuda_share *)share;
  return (float *)(s->memory + share_alignment + (size_t)turn * s->message_bytes);
}

/* ---- Freeing ---- */

/* A device that does not answer any more has nothing to keep either. */
static int is_let_go(const ts_context *context, const cuda_share *share) {
  unsigned word = 0;
  cudaError_t error =
      cudaMemcpyAsync(&word, share->memory, sizeof word, cudaMemcpyDeviceToHost, cuda_stream(context));
  if (error == cudaSuccess) error = cudaStreamSynchronize(cuda_stream(context));
  return error != cudaSuccess || word != 0;
}

static void free_share(ts_context *context, cuda_share *share) {
  cudaFree(share->memory);
  cudaGetLastError();
  tsi_free(context, share);
}

static void free_let_go(ts_context *context) {
  cuda_share **at = &cuda_state_of(context)->given_up;
  while (*at) {
    cuda_share *share = *at;
    if (is_let_go(context, share)) {
      *at = share->next;
      free_share(context, share);
    } else {
      at = &share->next;
    }
  }
}

/* Whoever has not let go by then is gone, or does not read any more: the ranks destroy their objects in one
 * order. Memory that is freed now stays with the driver until the last process has unmapped it. */
void cuda_shares_close(ts_context *context) {
  cuda_state *state = cuda_state_of(context);
  const double end = tsi_seconds() + context->tuning.peer_seconds;
  for (free_let_go(context); state->given_up && tsi_seconds() < end; free_let_go(context)) {
  }
  while (state->given_up) {
    cuda_share *share = state->given_up;
    state->given_up = share->next;
    free_share(context, share);
  }
}

/* ---- The part that writes ---- */

static cudaError_t open_memory(const ts_context *context, cuda_share *share, cudaIpcMemHandle_t *handle) {
  cudaError_t error = cudaMalloc((void **)&share->memory, share->bytes);
  if (error == cudaSuccess) error = cudaMemsetAsync(share->memory, 0, share_alignment, cuda_stream(context));
  if (error == cudaSuccess) error = cudaStreamSynchronize(cuda_stream(context));
  return error == cudaSuccess ? cudaIpcGetMemHandle(handle, share->memory) : error;
}

ts_status cuda_part_share_export(ts_context *context, size_t bytes, void *description, void **out) {
  *out = NULL;
  free_let_go(context);
  cuda_share *share = new_share(context, bytes);
  if (!share) return tsi_out_of_memory(context, "shared memory", sizeof *share);
  ts_status status = tsi_device_take(context, share->bytes, "shared memory");
  if (status < 0) {
    tsi_free(context, share);
    return status;
  }
  cudaIpcMemHandle_t handle;
  const cudaError_t error = open_memory(context, share, &handle);
  if (error != cudaSuccess) {
    tsi_device_give(context, share->bytes);
    status = cuda_report(context, error, "cudaIpcGetMemHandle", __FILE__, __LINE__);
    free_share(context, share);
    return status;
  }
  memcpy(description, &handle, sizeof handle);
  *out = share;
  return TS_OK;
}

static void give_up(ts_context *context, cuda_share *share, int imported) {
  cuda_state *state = cuda_state_of(context);
  tsi_device_give(context, share->bytes);
  if (!imported) {
    free_share(context, share);
    return;
  }
  share->next = state->given_up;
  state->given_up = share;
  free_let_go(context);
}

/* ---- The part that reads ---- */

ts_status cuda_part_share_import(ts_context *context, size_t bytes, const void *description, void **out) {
  *out = NULL;
  cuda_share *share = new_share(context, bytes);
  if (!share) return tsi_out_of_memory(context, "shared memory", sizeof *share);
  cudaIpcMemHandle_t handle;
  memcpy(&handle, description, sizeof handle);
  const cudaError_t error =
      cudaIpcOpenMemHandle((void **)&share->memory, handle, cudaIpcMemLazyEnablePeerAccess);
  if (error != cudaSuccess) {
    tsi_free(context, share);
    return cuda_report(context, error, "cudaIpcOpenMemHandle", __FILE__, __LINE__);
  }
  share->is_imported = 1;
  *out = share;
  return TS_OK;
}

/* Behind the copies out of it. */
static void let_go(ts_context *context, cuda_share *share) {
  cudaMemsetAsync(share->memory, 1, sizeof(unsigned), cuda_stream(context));
  cudaStreamSynchronize(cuda_stream(context));
  cudaIpcCloseMemHandle(share->memory);
  cudaGetLastError();
  tsi_free(context, share);
}

void cuda_part_share_destroy(ts_context *context, void *share, int imported) {
  cuda_share *s = (cuda_share *)share;
  cudaStreamSynchronize(cuda_stream(context));
  if (s->is_imported)
    let_go(context, s);
  else
    give_up(context, s, imported);
}
