/* Teams of threads with one row of A each, for cuda_amg_smooth.cu. */
#ifndef CUDA_AMG_SMOOTH_CUH
#define CUDA_AMG_SMOOTH_CUH

#include <limits.h>

#include "cuda/core/cuda_kernels.cuh"
#include "cuda_amg.h"

enum {
  TEAM = 8,            /* at least the unknowns per node and the vectors */
  EACH = 4,            /* entries of a chunk per thread */
  LONG = CUDA_AMG_LONG /* maximum entries of a row for eight threads */
};
enum { LONG_BLOCKS = 1024, FEW_BLOCKS = 512, NO_AGGREGATE = INT32_MAX };

/* The results that the host waits for. */
struct findings {
  unsigned long long bounds[2]; /* bits of maximum row sums of magnitudes: D^-1 A, D_F^-1 A_F */
  int32_t long_rows;
  unsigned long long reached, by_entries; /* the arguments of tsi_amg_reach() */
  unsigned long long positive;            /* rows with a positive coupling, with one unknown per node */
};

struct smoothing {
  int32_t rows, unknowns, vectors;
  const int32_t *offsets, *indices; /* of A */
  const float *values;
  const unsigned char *strong;
  const int32_t *aggregates;
  const float *weights, *tentative;
  findings *found;
  int32_t *long_rows;
  double *diagonal; /* of A_F; 0: not positive */
  double *added; /* rows x unknowns: the sums that weak entries add within the node; unused with one unknown */
  double omega;
  tsi_amg_range own; /* the rows that the findings are of */
  int32_t reach;     /* 0: from the findings */
  int32_t *P_offsets, *P_indices;
  float *P_values;
};

static __device__ __forceinline__ bool is_own(const smoothing &s, int32_t row) {
  return row >= s.own.begin && row < s.own.end;
}

/* ---- Teams ---- */

template <int SIZE> static __device__ __forceinline__ void team_sync(void) {
  if (SIZE > 32)
    __syncthreads();
  else
    __syncwarp();
}

/* The maximum over the teams that wait for each other. */
template <int SIZE> static __device__ __forceinline__ int32_t longest_of(int32_t length) {
  for (int offset = SIZE; offset < 32; offset *= 2)
    length = max(length, __shfl_xor_sync(0xffffffffu, length, offset));
  return length;
}

/* The minimum over the threads of a team. */
template <int SIZE> static __device__ __forceinline__ int32_t team_least(int32_t number) {
  __shared__ int32_t least[SIZE > 32 ? SIZE / 32 : 1];
  for (int offset = SIZE > 32 ? 16 : SIZE / 2; offset > 0; offset /= 2)
    number = min(number, __shfl_xor_sync(0xffffffffu, number, offset));
  if (SIZE <= 32) return number;
  __syncthreads();
  if (threadIdx.x % 32 == 0) least[threadIdx.x / 32] = number;
  __syncthreads();
  for (int k = 0; k < SIZE / 32; k++) number = min(number, least[k]);
  return number;
}

struct row {
  int32_t number, begin, length; /* 0: nothing to do */
};

/* The row of a team. `place` counts all rows, or for a block the list of long ones. */
template <int SIZE> static __device__ __forceinline__ row row_at(const smoothing &s, int64_t place) {
  row r = {-1, 0, 0};
  if (place >= (SIZE > 32 ? s.found->long_rows : s.rows)) return r;
  const int32_t number = SIZE > 32 ? s.long_rows[place] : (int32_t)place;
  const int32_t begin = s.offsets[number], length = s.offsets[number + 1] - begin;
  if (SIZE <= 32 && length > LONG) return r;
  r.number = number, r.begin = begin, r.length = length;
  return r;
}

/* Loops over the rows of a team; `place` is the number of the row. All threads of a block leave the loop
 * together. */
#define EACH_ROW(s, place, SIZE)                                                                               \
  for (int64_t first_ = (int64_t)blockIdx.x * (CUDA_THREADS / SIZE), place = first_ + threadIdx.x / SIZE;      \
       first_ < (SIZE > 32 ? (s).found->long_rows : (s).rows);                                                 \
       first_ += (int64_t)gridDim.x * (CUDA_THREADS / SIZE), place = first_ + threadIdx.x / SIZE)

#endif
