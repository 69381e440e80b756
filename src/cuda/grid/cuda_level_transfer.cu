/* Between two levels: restriction P = S^T / 4 and interpolation S. */
#include "cuda_level_transfer.cuh"

/* coarse b = P (b - A x). Each residual is recomputed where it is needed, up to four times. */
template <bool NINE>
__global__ static void restrict_residual(cuda_level_view coarse, cuda_level_view fine, float *coarse_b,
                                         const float *b, const float *x) {
  cuda_point I;
  if (!cuda_my_point(coarse, (int)blockIdx.y, &I)) return;
  const int at = cuda_place(coarse, I.i, I.j);
  float sum = 0;
  if (coarse.sides[at] != 0)
    for (int k = 0; k < cuda_count_of(fine, coarse, I); k++)
      sum += cuda_restrict_at(fine, cuda_counted_as(fine, coarse, I, k), *fine.general,
                              [&](cuda_point p, int, int) { return cuda_residual_at<NINE>(fine, p, b, x); });
  coarse_b[at] = sum;
}

ts_status cuda_level_restrict_residual(tsi_level *coarse, tsi_level *fine) {
  const cuda_level_view c = cuda_view_of(coarse), f = cuda_view_of(fine);
  const auto kernel = f.corners ? restrict_residual<true> : restrict_residual<false>;
  TSI_TRY(cuda_launch(fine->context, "restrict_residual", kernel, cuda_level_blocks(&c), CUDA_THREADS, c, f,
                      cuda_level_of(coarse)->b, cuda_level_of(fine)->b, cuda_level_x(fine)));
  return TS_OK;
}

__global__ static void restrict_field(cuda_level_view coarse, cuda_level_view fine, float *coarse_b,
                                      const float *b) {
  cuda_point I;
  if (!cuda_my_point(coarse, (int)blockIdx.y, &I)) return;
  const int at = cuda_place(coarse, I.i, I.j);
  float sum = 0;
  if (coarse.sides[at] != 0)
    for (int k = 0; k < cuda_count_of(fine, coarse, I); k++)
      sum += cuda_restrict_at(fine, cuda_counted_as(fine, coarse, I, k), *fine.general,
                              [&](cuda_point p, int, int) {
                                const int from = cuda_place(fine, p.i, p.j);
                                return fine.sides[from] != 0 ? b[from] : 0;
                              });
  coarse_b[at] = sum;
}

ts_status cuda_level_restrict(tsi_level *coarse, tsi_level *fine) {
  const cuda_level_view c = cuda_view_of(coarse), f = cuda_view_of(fine);
  TSI_TRY(cuda_launch(fine->context, "restrict_field", restrict_field, cuda_level_blocks(&c), CUDA_THREADS, c,
                      f, cuda_level_of(coarse)->b, cuda_level_of(fine)->b));
  return TS_OK;
}

__global__ static void inject(cuda_level_view coarse, cuda_level_view fine, float *coarse_x, const float *x) {
  cuda_point I;
  if (!cuda_my_point(coarse, (int)blockIdx.y, &I)) return;
  const int at = cuda_place(coarse, I.i, I.j);
  const bool given = coarse.sides[at] == 0 && 2 * I.i < fine.width && 2 * I.j < fine.height;
  coarse_x[at] = given ? x[cuda_place(fine, 2 * I.i, 2 * I.j)] : 0;
}

ts_status cuda_level_inject(tsi_level *coarse, tsi_level *fine) {
  const cuda_level_view c = cuda_view_of(coarse), f = cuda_view_of(fine);
  TSI_TRY(cuda_launch(fine->context, "inject", inject, cuda_level_blocks(&c), CUDA_THREADS, c, f,
                      cuda_level_x(coarse), cuda_level_x(fine)));
  return TS_OK;
}

__global__ static void prolong(cuda_level_view fine, cuda_level_view coarse, int add, float *x,
                               const float *coarse_x) {
  cuda_point p;
  if (cuda_my_point(fine, (int)blockIdx.y, &p)) cuda_prolong_at(fine, coarse, p, add, x, coarse_x);
}

ts_status cuda_level_prolong(tsi_level *fine, tsi_level *coarse, int add) {
  const cuda_level_view c = cuda_view_of(coarse), f = cuda_view_of(fine);
  TSI_TRY(cuda_launch(fine->context, "prolong", prolong, cuda_level_blocks(&f), CUDA_THREADS, f, c, add,
                      cuda_level_x(fine), cuda_level_x(coarse)));
  return TS_OK;
}
