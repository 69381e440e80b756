/* Doubles in the application's memory, mirrored by vectors of three floats per number. They are split when the
 * library is entered and joined when it is left. */
#include "cuda_split.cuh"

static __global__ void __launch_bounds__(CUDA_THREADS)
    split_mirrored(size_t count, const double *from, cuda_parts to) {
  CUDA_EACH(i, count) cuda_store_parts(to, i, cuda_split(from[i]));
}

/* A double that three floats cannot represent keeps its bits unless the parts have changed. */
static __global__ void __launch_bounds__(CUDA_THREADS)
    join_mirrored(size_t count, cuda_parts from, double *to) {
  CUDA_EACH(i, count) {
    const cuda_three before = cuda_split(to[i]), now = cuda_load_parts(from, i);
    bool same = true;
    for (int p = 0; p < 3; p++) same = same && __float_as_uint(before.part[p]) == __float_as_uint(now.part[p]);
    if (!same) to[i] = cuda_join(now);
  }
}

ts_status cuda_mirrors_split(ts_context *context) {
  for (const cuda_vector *m = cuda_state_of(context)->mirrors; m; m = m->next_mirror)
    TSI_TRY(cuda_launch(context, "split_mirrored", split_mirrored, cuda_blocks_each(context, m->count),
                        CUDA_THREADS, m->count, (const double *)m->mirrored, cuda_parts_of(m->mirror)));
  return TS_OK;
}

/* If a launch fails, the next call fails too and reports it. */
void cuda_mirrors_join(ts_context *context) {
  for (const cuda_vector *m = cuda_state_of(context)->mirrors; m; m = m->next_mirror)
    cuda_launch(context, "join_mirrored", join_mirrored, cuda_blocks_each(context, m->count), CUDA_THREADS,
                m->count, cuda_parts_of(m->mirror), m->mirrored);
}

void cuda_mirror_forget(ts_context *context, cuda_vector *impl) {
  cuda_vector **at = &cuda_state_of(context)->mirrors;
  while (*at && *at != impl) at = &(*at)->next_mirror;
  if (*at) *at = impl->next_mirror;
  impl->mirrored = NULL;
}
