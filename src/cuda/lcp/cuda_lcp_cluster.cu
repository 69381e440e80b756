/* Sweeps by the graph of dependencies in a cluster of thread blocks, one for each block of rows of a problem:
 * cuda_lcp_graph.cuh, where each thread block has a copy of the words in its shared memory. Who has solved
 * unknowns writes them into all copies, and who waits polls its own, which takes a fraction of the time that
 * memory takes: 6.4 us for a sweep of 300 unknowns on an H200 in place of 7.0. More problems than fit at once
 * go by memory: there few thread blocks have all rows of a problem, and seldom wait. Clusters are there from
 * compute capability 9.0 on. */
#include "cuda_lcp_graph.cuh"

#if CUDART_VERSION >= 11080
#include <cooperative_groups.h>

/* Words in shared memory. A lane has those of two unknowns. */
template <typename T> struct cluster_words {
  static constexpr bool rests = false;
  unsigned long long *own;
  int blocks;
  __device__ __forceinline__ static int place(int block, int lane) {
    return (block * LCP_BLOCK + lcp_row_of<2>(lane, 0)) * lcp_words<T>::count;
  }
  __device__ __forceinline__ lcp_pair<T> look(const graph_row &, int block, int lane) const {
    const unsigned from = (unsigned)__cvta_generic_to_shared(own + place(block, lane));
    lcp_pair<T> pair;
#pragma unroll
    for (int k = 0; k < 2 * lcp_words<T>::count; k += 2)
      asm volatile("ld.volatile.shared.v2.u64 {%0, %1}, [%2];"
                   : "=l"(pair.word[k]), "=l"(pair.word[k + 1])
                   : "r"(from + 8 * (unsigned)k)
                   : "memory");
    return pair;
  }
  /* First to those whose turn comes next. */
  __device__ __forceinline__ void publish(const graph_row &row, int lane, const lcp_pair<T> &pair) const {
#if __CUDA_ARCH__ >= 900
    const unsigned from = (unsigned)__cvta_generic_to_shared(own + place(row.block, lane));
    for (int step = 1; step < blocks; step++) {
      const int next = row.block + step;
      unsigned to;
      asm("mapa.shared::cluster.u32 %0, %1, %2;"
          : "=r"(to)
          : "r"(from), "r"(next < blocks ? next : next - blocks));
#pragma unroll
      for (int k = 0; k < 2 * lcp_words<T>::count; k += 2)
        asm volatile("st.volatile.shared::cluster.v2.u64 [%0], {%1, %2};" ::"r"(to + 8 * (unsigned)k),
                     "l"(pair.word[k]), "l"(pair.word[k + 1])
                     : "memory");
    }
#endif
  }
};

template <typename T, int DIM>
static __global__ __launch_bounds__(LCP_THREADS) void graph_in_cluster(graph_job<T> job) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(16) graph_room<T, DIM> room;
  extern __shared__ __align__(16) unsigned long long words[];
  const int blocks = job.d.blocks;
  for (int i = (int)threadIdx.x; i < blocks * LCP_BLOCK * lcp_words<T>::count; i += LCP_THREADS) words[i] = 0;
  cooperative_groups::this_cluster().sync();
  solve_problem<false>(job, cluster_words<T>{words, blocks}, (size_t)blockIdx.x / (size_t)blocks,
                       (int)blockIdx.x % blocks, &room);
  cooperative_groups::this_cluster().sync(); /* none is gone while others write to it */
#endif
}

/* Clusters of the kernel that the device holds at once; 0: none. */
static ts_status count_clusters(ts_context *context, const void *kernel, const cudaLaunchConfig_t *config,
                                int *count) {
  cudaFuncAttributes compiled;
  CUDA_TRY(context, cudaFuncGetAttributes(&compiled, kernel));
  *count = 0;
  if (compiled.ptxVersion < 90) return TS_OK; /* for an earlier device, also where this one is later */
  CUDA_TRY(context, cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CUDA_TRY(context, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         (int)config->dynamicSmemBytes));
  if (cudaOccupancyMaxActiveClusters(count, kernel, config) != cudaSuccess) {
    (void)cudaGetLastError(); /* not of this size */
    *count = 0;
  }
  return TS_OK;
}

template <typename T, int DIM> static ts_status start(const lcp_run *run, graph_job<T> job, bool *started) {
  ts_context *context = run->context;
  const void *kernel = (const void *)graph_in_cluster<T, DIM>;
  job.team = job.d.blocks;
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = (unsigned)job.team;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)(job.team * job.d.batch));
  config.blockDim = dim3(LCP_THREADS);
  config.dynamicSmemBytes = sizeof(unsigned long long) * lcp_words<T>::count * LCP_BLOCK * (size_t)job.team;
  config.stream = cuda_stream(context);
  config.attrs = &cluster;
  config.numAttrs = 1;
  int clusters;
  TSI_TRY(count_clusters(context, kernel, &config, &clusters));
  if (clusters < job.d.batch) return TS_OK;
  void *arguments[] = {&job};
  CUDA_TRY(context, cudaLaunchKernelExC(&config, kernel, arguments));
  *started = true;
  return TS_OK;
}
#endif

enum { most_blocks = 16 }; /* of a cluster */

template <typename T>
static ts_status start_where_there_is(const lcp_run *run, const graph_job<T> &job, bool *started) {
  *started = false;
#if CUDART_VERSION >= 11080
  if (job.d.blocks <= most_blocks)
    return run->dimension == 1   ? start<T, 1>(run, job, started)
           : run->dimension == 2 ? start<T, 2>(run, job, started)
                                 : start<T, 3>(run, job, started);
#endif
  return TS_OK;
}

ts_status cuda_lcp_start_cluster(const lcp_run *run, const graph_job<float> &job, bool *started) {
  return start_where_there_is(run, job, started);
}
ts_status cuda_lcp_start_cluster(const lcp_run *run, const graph_job<double> &job, bool *started) {
  return start_where_there_is(run, job, started);
}
