/* The second smoothing step of the prolongator, as a product of sparse matrices; see amg_twice.c. */
#include "cuda/core/cuda_kernels.cuh"

#include "cuda_amg.h"

struct second_step {
  cuda_amg_csr A, S, R; /* R: minus the identity */
  const unsigned char *strong;
  const double *filtered; /* the diagonal of A_F */
  double omega;
};

__global__ static void __launch_bounds__(CUDA_THREADS) count_strong(const second_step s) {
  const int64_t i = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (i >= s.A.rows) return;
  int32_t count = 0;
  for (int32_t e = s.A.offsets[i]; e < s.A.offsets[i + 1]; e++) count += s.strong[e] == TSI_AMG_STRONG;
  s.S.offsets[i + 1] = count;
  s.R.offsets[i + 1] = 1;
}

__global__ static void __launch_bounds__(CUDA_THREADS) fill_factors(const second_step s) {
  const int64_t i = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (i >= s.A.rows) return;
  const double scale = s.filtered[i] > 0 ? s.omega / s.filtered[i] : 0;
  int32_t to = s.S.offsets[i];
  for (int32_t e = s.A.offsets[i]; e < s.A.offsets[i + 1]; e++) {
    if (s.strong[e] != TSI_AMG_STRONG) continue;
    const int32_t j = s.A.indices[e];
    s.S.indices[to] = j;
    s.S.values[to++] = (float)(j == (int32_t)i ? 1 - s.omega : -scale * (double)s.A.values[e]);
  }
  s.R.indices[i] = (int32_t)i;
  s.R.values[i] = -1;
}

/* cuda_amg_csr_finish frees a factor on failure. */
static ts_status multiply(ts_context *context, second_step *s, const cuda_amg_csr *once, cuda_amg_csr *P) {
  const unsigned blocks = cuda_blocks_for((size_t)s->A.rows);
  TSI_TRY(cuda_launch(context, "count_strong", count_strong, blocks, CUDA_THREADS, *s));
  TSI_TRY(cuda_amg_csr_finish(context, &s->S));
  TSI_TRY(cuda_amg_csr_finish(context, &s->R));
  TSI_TRY(cuda_launch(context, "fill_factors", fill_factors, blocks, CUDA_THREADS, *s));
  return cuda_amg_product(context, &s->R, &s->S, once, 1, P);
}

ts_status cuda_amg_smooth_again(ts_context *context, const cuda_amg_level *level, const double *filtered,
                                double omega, const cuda_amg_csr *once, cuda_amg_csr *P) {
  second_step s = {level->A};
  s.strong = level->strong, s.filtered = filtered, s.omega = omega;
  ts_status status = cuda_amg_csr_begin(context, level->A.rows, level->A.rows, &s.S);
  if (status == TS_OK) status = cuda_amg_csr_begin(context, level->A.rows, level->A.rows, &s.R);
  if (status == TS_OK) status = multiply(context, &s, once, P);
  cuda_amg_csr_free(context, &s.S);
  cuda_amg_csr_free(context, &s.R);
  return status;
}
