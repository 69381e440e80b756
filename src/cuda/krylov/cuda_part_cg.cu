/* Iterations of conjugate gradients on several devices without the host: the state of each part, and the launch
 * of its kernel.
 *
 * The kernels wait for each other, so all must be resident at once. A part that has a device alone uses all
 * blocks that fit. Parts that share a device and run the same kernel have equal shares of these blocks. If the
 * kernels differ, it is unknown how their blocks fit together on a multiprocessor. Each part then has a share
 * of the multiprocessors with one block each, which always remain free for it. Parts that share a device are
 * not launched as cooperative kernels, because nothing guarantees that those run at the same time. */
#include <string.h>

#include "cuda/core/cuda_part.cuh"
#include "cuda_cg.cuh"

struct cuda_peers {
  ts_context *context;
  cuda_mailbox *box;
  volatile int *silent; /* page-locked */
  cuda_plan plan;       /* of the prepared run */
  unsigned each;        /* blocks of its kernel per multiprocessor */
  cuda_parts parts;
  cuda_peers *all[CUDA_MOST_PEERS];
  int count;
};

static int device_of(const cuda_peers *peers) {
  return cuda_state_of(peers->context)->device;
}

static ts_status alloc_memory(ts_context *context, cuda_peers *peers) {
  /* Owned by the context, like the partial sums of reductions, so it does not count towards a memory limit. */
  CUDA_TRY(context, cudaMalloc(&peers->box, sizeof *peers->box));
  CUDA_TRY(context, cudaMemsetAsync(peers->box, 0, sizeof *peers->box, cuda_stream(context)));
  CUDA_TRY(context, cudaHostAlloc((void **)&peers->silent, sizeof *peers->silent,
                                  cudaHostAllocMapped | cudaHostAllocPortable));
  *peers->silent = 0;
  /* Other parts may write to the mailbox as soon as this returns. */
  CUDA_TRY(context, cudaStreamSynchronize(cuda_stream(context)));
  return TS_OK;
}

ts_status cuda_part_peers_create(ts_context *context, void **out) {
  cuda_peers *peers = (cuda_peers *)tsi_calloc(context, 1, sizeof *peers);
  if (!peers) return tsi_out_of_memory(context, "a mailbox", sizeof *peers);
  peers->context = context;
  const ts_status status = alloc_memory(context, peers);
  if (status < 0) {
    cuda_part_peers_destroy(context, peers);
    return status;
  }
  *out = peers;
  return TS_OK;
}

void cuda_part_peers_destroy(ts_context *context, void *peers) {
  cuda_peers *own = (cuda_peers *)peers;
  if (!own) return;
  cudaFree(own->box);
  if (own->silent) cudaFreeHost((void *)own->silent);
  tsi_free(context, own);
}

ts_status cuda_part_peers_clear(ts_context *context, void *peers) {
  cuda_peers *own = (cuda_peers *)peers;
  CUDA_TRY(context, cudaMemsetAsync(own->box, 0, sizeof *own->box, cuda_stream(context)));
  return TS_OK;
}

/* The number of parts that share the device of `own`. */
static int sharing(const cuda_peers *own, cuda_peers *const *all, int count) {
  int parts = 0;
  for (int p = 0; p < count; p++) parts += device_of(all[p]) == device_of(own);
  return parts;
}

/* A kernel for three components needs at least three blocks. */
int cuda_part_cg_fits(void *const *peers, int count) {
  cuda_peers *const *all = (cuda_peers *const *)peers;
  if (count > CUDA_MOST_PEERS) return 0;
  for (int p = 0; p < count; p++)
    if (cuda_state_of(all[p]->context)->multiprocessors < 3 * sharing(all[p], all, count)) return 0;
  return 1;
}

/* ---- Before a run ---- */

static void copy_parts(cuda_peers *own, const tsi_part_cg *with) {
  cuda_parts *parts = &own->parts;
  memset(parts, 0, sizeof *parts);
  parts->box = own->box;
  parts->silent = (int *)own->silent;
  parts->number = with->number, parts->count = own->count = with->count;
  parts->run = with->run;
  parts->first_tag = with->first_round;
  parts->wait = (unsigned long long)(with->wait_seconds * 1e9);
  for (int p = 0; p < with->count; p++) {
    own->all[p] = (cuda_peers *)with->peers[p];
    parts->boxes[p] = own->all[p]->box;
  }
  parts->push_count = with->push_count;
  for (int k = 0; k < with->push_count; k++) {
    const tsi_part_push *push = &with->pushes[k];
    const cuda_index_list *list = (const cuda_index_list *)push->list;
    parts->pushes[k] = {list->indices, list->ghosts,       list->count, push->d,
                        push->r,       {push->q, push->e}, push->m};
  }
}

ts_status cuda_part_cg_prepare(const tsi_cg_iterations *run, const tsi_part_cg *with) {
  ts_context *context = run->e->context;
  cuda_peers *own = (cuda_peers *)with->peers[with->number];
  const size_t components = (size_t)run->e->components;
  copy_parts(own, with);
  cg_job job = cuda_cg_job_of(run);
  job.plan = &own->plan;
  job.first_ghost = (size_t)tsi_first_ghost(run->d->space) * components;
  job.ghosts = (size_t)with->ghosts * components;
  TSI_TRY(run->matrix->kind->cg->iterate(context, run->matrix, &job, run->e->components));
  /* This also loads the kernel. Loading later could block the device between the launches. */
  return cuda_blocks_of(context, own->plan.kernel, own->plan.threads, &own->each);
}

/* ---- Launch ---- */

static bool all_run_one_kernel(const cuda_peers *own) {
  for (int p = 0; p < own->count; p++)
    if (device_of(own->all[p]) == device_of(own) && own->all[p]->plan.kernel != own->plan.kernel) return false;
  return true;
}

static unsigned count_blocks(const cuda_peers *own) {
  const cuda_plan *plan = &own->plan;
  unsigned blocks = (unsigned)cuda_state_of(own->context)->multiprocessors;
  if (all_run_one_kernel(own)) blocks *= own->each;
  blocks /= (unsigned)sharing(own, own->all, own->count);
  if (blocks > plan->most) blocks = plan->most;
  if (blocks > CUDA_PEER_BLOCKS) blocks = CUDA_PEER_BLOCKS;
  blocks -= blocks % plan->multiple;
  return blocks < plan->multiple ? plan->multiple : blocks;
}

static bool pushes_by_rows(const cuda_peers *own) {
  for (int k = 0; k < own->parts.push_count; k++)
    if (!own->parts.pushes[k].ghosts) return false;
  return own->plan.pushes_rows;
}

static bool all_push_by_rows(const cuda_peers *own) {
  for (int p = 0; p < own->count; p++)
    if (!pushes_by_rows(own->all[p])) return false;
  return true;
}

ts_status cuda_part_cg_start(void *peers) {
  cuda_peers *own = (cuda_peers *)peers;
  ts_context *context = own->context;
  cuda_plan *plan = &own->plan;
  for (int p = 0; p < own->count; p++) own->parts.blocks[p] = count_blocks(own->all[p]);
  own->parts.by_rows = all_push_by_rows(own);
  const dim3 blocks(own->parts.blocks[own->parts.number]), threads(plan->threads);
  void *arguments[] = {plan->work, &own->parts};
  if (sharing(own, own->all, own->count) == 1)
    CUDA_TRY(context,
             cudaLaunchCooperativeKernel(plan->kernel, blocks, threads, arguments, 0, cuda_stream(context)));
  else
    CUDA_TRY(context, cudaLaunchKernel(plan->kernel, blocks, threads, arguments, 0, cuda_stream(context)));
  return TS_OK;
}

int cuda_part_cg_silent(void *peers) {
  cuda_peers *own = (cuda_peers *)peers;
  const int silent = *own->silent;
  *own->silent = 0;
  return silent;
}
