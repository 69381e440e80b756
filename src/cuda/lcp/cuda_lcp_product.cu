/* Products of the matrices with z, for residuals and the first sweep. */
#include "cuda_lcp.cuh"

/* A thread block has a block of rows and takes one in `slices` of its tiles. */
template <typename T> static __global__ __launch_bounds__(LCP_THREADS) void product(lcp_data<T> d, int behind) {
  __shared__ T partial[LCP_SHARES][LCP_BLOCK];
  const size_t problem = blockIdx.x / (unsigned)d.blocks;
  const int block = (int)(blockIdx.x % (unsigned)d.blocks);
  const int row = (int)threadIdx.x % LCP_BLOCK, share = (int)threadIdx.x / LCP_BLOCK;
  const T *z = d.z + problem * d.pitch;
  T sum = 0;
  for (int j = (behind ? block + 1 : 0) + (int)blockIdx.y; row < d.height && j < d.blocks;
       j += (int)gridDim.y) {
    const int first = j * LCP_BLOCK + share * LCP_COLUMNS;
    T tile[LCP_COLUMNS];
    lcp_load_tile(d, lcp_row(d, problem, block, row), first, tile);
#pragma unroll
    for (int c = 0; c < LCP_COLUMNS; c++) sum += first + c < d.n ? tile[c] * z[first + c] : (T)0;
  }
  partial[share][row] = sum;
  __syncthreads();
  if (share != 0 || row >= d.height) return;
  for (int k = 1; k < LCP_SHARES; k++) sum += partial[k][row];
  d.sums[((size_t)blockIdx.y * (size_t)d.batch + problem) * d.pitch + (size_t)(block * LCP_BLOCK + row)] = sum;
}

template <typename T>
static ts_status multiply(ts_context *context, const lcp_data<T> *d, bool behind, int *slices) {
  *slices = d->blocks < LCP_SLICES ? d->blocks : LCP_SLICES;
  const dim3 blocks((unsigned)d->batch * (unsigned)d->blocks, (unsigned)*slices);
  return cuda_launch(context, "lcp_product", product<T>, blocks, dim3(LCP_THREADS), *d, (int)behind);
}

ts_status cuda_lcp_product(ts_context *context, const lcp_data<float> *data, bool behind, int *slices) {
  return multiply(context, data, behind, slices);
}
ts_status cuda_lcp_product(ts_context *context, const lcp_data<double> *data, bool behind, int *slices) {
  return multiply(context, data, behind, slices);
}
