/* Iterations of conjugate gradients in one kernel, with a stencil as the matrix. */
#include "cuda_cg_kernels.cuh"
#include "cuda/grid/cuda_level.cuh"

/* One thread per point, in the order of the grid. */
struct cg_stencil {
  cuda_level_view l;
  static constexpr bool few_registers = false, in_parts = false;
  __host__ __device__ size_t threads() const { return (size_t)l.width * (size_t)l.height; }
  struct place {
    int32_t row;
  };
  __device__ __forceinline__ place place_of(size_t thread) const {
    return {thread < threads() ? (int32_t)thread : -1};
  }
  template <int N, typename X>
  __device__ __forceinline__ void multiply(const place &p, const X &x, float sum[N]) const {
    const int own = p.row;
    if (own < 0) return;
    const float centre = l.sides[own];
    if (centre == 0) return; /* no equation */
    const cuda_around at = cuda_look_around(l, {own % l.width, own / l.width});
#pragma unroll
    for (int k = 0; k < CUDA_DIRECTIONS; k++) {
      if (k == CUDA_SIDES && !l.corners) break;
      const float value = k ? cuda_coefficient_at(l, k, own) : centre;
      const cuda_components<N> xj = cuda_load<N>(x, at.column[cuda_x_of(k)] + at.row[cuda_y_of(k)]);
      for (int c = 0; c < N; c++) sum[c] += value * xj.c[c];
    }
  }
};

static ts_status iterate(ts_context *context, const ts_matrix *A, const cg_job *job, int components) {
  return start_components(context, cg_stencil{cuda_stencil_view(A)}, *job, components);
}

const tsi_cg_kernels cuda_stencil_cg = {NULL, iterate};
