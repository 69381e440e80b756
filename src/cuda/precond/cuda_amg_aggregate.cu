/* Aggregates around the roots of a maximal independent set of distance 2, as on the host.
 *
 * Undecided nodes are not listed: a round checks the states of all nodes, which takes little time compared with
 * its launches. The host enqueues AHEAD rounds at once and then checks whether more are needed. Rounds that
 * find no candidates do nothing. The numbers of roots stay on the device, where the second search continues
 * with them. */
#include <string.h>

#include "cuda/core/cuda_kernels.cuh"

#include "cuda_amg.h"

enum {
  NEIGHBOURS = 4, /* as on the host */
  AHEAD = 10,     /* rounds */
  MANY = 1 << 18, /* from this number on, a node has one thread; below it, a subwarp */
  LONG_NEAR = 64  /* maximum neighbours for one thread; the warp takes more */
};

/* As on the host: the smallest candidate within distance 2 becomes a root. */
#define ROOT 0ull
#define OUT (~0ull)

static __device__ __forceinline__ unsigned long long candidate(int32_t node, uint32_t round) {
  uint32_t h = (uint32_t)node * 0x9e3779b1u + round * 0x85ebca77u;
  h = (h ^ h >> 16) * 0x7feb352du;
  h = (h ^ h >> 15) * 0x846ca68bu;
  h ^= h >> 16;
  return (unsigned long long)h << 32 | ((uint32_t)node + 1u);
}

struct search {
  cuda_amg_graph graph;
  unsigned long long *states, *nearest; /* per node: its state, and the minimum in its neighbourhood */
  int32_t *numbers;                     /* roots before each node, and the total */
  int32_t *aggregates;
  int32_t *left;   /* whether candidates are left before each of AHEAD rounds, and after them */
  int32_t *totals; /* numbers of aggregates before each search and after the last */
};

/* ---- Subwarps of LANES threads ---- */

template <int LANES> static __device__ __forceinline__ int64_t node_of(void) {
  return ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
}
template <int LANES> static __device__ __forceinline__ int32_t lane_of(void) {
  return (int32_t)threadIdx.x % LANES;
}
template <int LANES> static __device__ __forceinline__ unsigned mask_of(void) {
  return ((1u << LANES) - 1) << (threadIdx.x % 32 / LANES * LANES);
}

template <int LANES> static __device__ __forceinline__ unsigned long long least_of(unsigned long long value) {
  for (int offset = LANES / 2; offset > 0; offset /= 2) {
    const unsigned long long other = __shfl_xor_sync(mask_of<LANES>(), value, offset, LANES);
    if (other < value) value = other;
  }
  return value;
}

/* The minimum over this thread's share of a node's neighbours: every `step`-th one. */
static __device__ __forceinline__ unsigned long long
least_of_share(const cuda_amg_graph &graph, const unsigned long long *of, int64_t e, int64_t end, int step) {
  unsigned long long least = OUT;
#pragma unroll 4
  for (; e < end; e += step) {
    const unsigned long long other = of[graph.indices[e]];
    if (other < least) least = other;
  }
  return least;
}

static __device__ __forceinline__ unsigned long long least_of_warp(unsigned long long value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xffffffffu, value, offset);
    if (other < value) value = other;
  }
  return value;
}

/* The minimum over a node and its neighbours; undefined if not `is_asked`. All threads of the warp must call
 * it. */
template <int LANES>
static __device__ __forceinline__ unsigned long long
least_near(const cuda_amg_graph &graph, const unsigned long long *of, int64_t node, bool is_asked) {
  const int64_t begin = is_asked ? graph.begins[node] : 0, end = is_asked ? graph.ends[node] : 0;
  const unsigned long long own = is_asked ? of[node] : OUT;
  const bool is_long = LANES == 1 && end - begin > LONG_NEAR;
  unsigned long long least = is_long ? OUT : least_of_share(graph, of, begin + lane_of<LANES>(), end, LANES);
  if (LANES > 1) least = least_of<LANES>(least);
  if (LANES == 1)
    for (unsigned left = __ballot_sync(0xffffffffu, is_long); left; left &= left - 1) {
      const int lane = (int)threadIdx.x % 32, of_lane = __ffs((int)left) - 1;
      const int64_t first = __shfl_sync(0xffffffffu, begin, of_lane),
                    last = __shfl_sync(0xffffffffu, end, of_lane);
      const unsigned long long found = least_of_warp(least_of_share(graph, of, first + lane, last, 32));
      if (lane == of_lane) least = found;
    }
  return own < least ? own : least;
}

/* ---- Roots ---- */

__global__ static void begin_search(const search s) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= AHEAD) s.left[i] = i == 0;
  if (i >= s.graph.nodes) return;
  const bool is_candidate = s.aggregates[i] < 0 && s.graph.begins[i] < s.graph.ends[i];
  s.states[i] = s.nearest[i] = is_candidate ? candidate((int32_t)i, 0) : OUT;
}

template <int LANES> __global__ static void look_near(const search s, int ahead) {
  const int64_t i = node_of<LANES>();
  if (!s.left[ahead]) return;
  const bool is_asked = i < s.graph.nodes && s.nearest[i] != ROOT && s.nearest[i] != OUT;
  const unsigned long long least = least_near<LANES>(s.graph, s.states, i, is_asked);
  if (is_asked && lane_of<LANES>() == 0) s.nearest[i] = least;
}

template <int LANES> __global__ static void decide(const search s, int ahead, uint32_t round) {
  if (!s.left[ahead]) return;
  const int64_t i = node_of<LANES>();
  const unsigned long long state = i < s.graph.nodes ? s.states[i] : OUT;
  const bool is_asked = state != ROOT && state != OUT;
  const unsigned long long least = least_near<LANES>(s.graph, s.nearest, i, is_asked);
  bool stays = false;
  if (is_asked) {
    stays = least != ROOT && least != state;
    if (lane_of<LANES>() == 0)
      s.states[i] = least == ROOT ? OUT : stays ? candidate((int32_t)i, round + 1) : ROOT;
  }
  if (__syncthreads_or(stays) && threadIdx.x == 0) s.left[ahead + 1] = 1;
}

/* A number becomes 1 for a root with enough neighbours without an aggregate, otherwise 0. */
template <int LANES> __global__ static void mark_roots(const search s, int32_t neighbours) {
  const int64_t i = node_of<LANES>();
  if (i >= s.graph.nodes) return;
  int32_t count = 0;
  if (s.states[i] == ROOT) {
    const int64_t end = s.graph.ends[i];
    for (int64_t e = s.graph.begins[i] + lane_of<LANES>(); e < end; e += LANES)
      count += s.aggregates[s.graph.indices[e]] < 0;
    for (int offset = LANES / 2; offset > 0; offset /= 2)
      count += __shfl_xor_sync(mask_of<LANES>(), count, offset, LANES);
  }
  if (lane_of<LANES>() == 0) s.numbers[i] = s.states[i] == ROOT && count >= neighbours;
}

/* ---- Aggregates ---- */

static __device__ __forceinline__ bool is_root(const search &s, int32_t node) {
  return s.numbers[node] < s.numbers[node + 1];
}

/* A root receives its own aggregate, any other node that of its first neighbour that is a root. */
template <int LANES> __global__ static void join_neighbours(const search s, int which) {
  const int64_t i = node_of<LANES>();
  const int32_t before = s.totals[which];
  if (i == 0 && lane_of<LANES>() == 0) s.totals[which + 1] = before + s.numbers[s.graph.nodes];
  if (i >= s.graph.nodes || s.aggregates[i] >= 0) return;
  int32_t root = (int32_t)i;
  if (!is_root(s, root)) {
    const int64_t end = s.graph.ends[i];
    unsigned long long first = OUT;
    for (int64_t e = s.graph.begins[i] + lane_of<LANES>(); e < end && first == OUT; e += LANES)
      if (is_root(s, s.graph.indices[e])) first = (unsigned long long)e;
    first = least_of<LANES>(first);
    root = first == OUT ? -1 : s.graph.indices[first];
  }
  if (root >= 0 && lane_of<LANES>() == 0) s.aggregates[i] = before + s.numbers[root];
}

/* A number becomes the node's aggregate. A node without one joins the most strongly connected aggregate; the
 * lowest aggregate wins a tie. */
template <int LANES> __global__ static void join(const search s) {
  const int64_t i = node_of<LANES>();
  if (i >= s.graph.nodes) return;
  int32_t aggregate = s.aggregates[i];
  if (aggregate < 0) {
    const int64_t end = s.graph.ends[i];
    unsigned long long best = OUT; /* ordered by descending magnitude, then by ascending aggregate */
    for (int64_t e = s.graph.begins[i] + lane_of<LANES>(); e < end; e += LANES) {
      const int32_t other = s.aggregates[s.graph.indices[e]];
      const unsigned magnitude = __float_as_uint(s.graph.magnitudes[e]);
      const unsigned long long found = (unsigned long long)~magnitude << 32 | (uint32_t)other;
      if (other >= 0 && found < best) best = found;
    }
    best = least_of<LANES>(best);
    aggregate = best == OUT ? -1 : (int32_t)(uint32_t)best;
  }
  if (lane_of<LANES>() == 0) s.numbers[i] = aggregate;
}

/* ---- The searches ---- */

/* Finds roots among the nodes without an aggregate, and assigns their neighbours. */
template <int LANES>
static ts_status search_roots(ts_context *context, const search *s, int which, int32_t neighbours) {
  const size_t nodes = (size_t)s->graph.nodes;
  const unsigned blocks = cuda_blocks_for(nodes * LANES);
  TSI_TRY(cuda_launch(context, "begin_search", begin_search, cuda_blocks_for(nodes), CUDA_THREADS, *s));
  int32_t left = 1;
  for (uint32_t round = 0; left;) {
    for (int ahead = 0; ahead < AHEAD; ahead++, round++) {
      TSI_TRY(cuda_launch(context, "look_near", look_near<LANES>, blocks, CUDA_THREADS, *s, ahead));
      TSI_TRY(cuda_launch(context, "decide", decide<LANES>, blocks, CUDA_THREADS, *s, ahead, round));
    }
    TSI_TRY(cuda_download(context, &left, s->left + AHEAD, sizeof left));
    if (left) CUDA_TRY(context, cudaMemsetAsync(s->left + 1, 0, AHEAD * sizeof left, cuda_stream(context)));
  }
  TSI_TRY(cuda_launch(context, "mark_roots", mark_roots<LANES>, blocks, CUDA_THREADS, *s, neighbours));
  TSI_TRY(cuda_amg_scan(context, s->numbers, nodes));
  return cuda_launch(context, "take_neighbours", join_neighbours<LANES>, blocks, CUDA_THREADS, *s, which);
}

template <int LANES> static ts_status group(ts_context *context, const search *s) {
  const size_t nodes = (size_t)s->graph.nodes;
  TSI_TRY(search_roots<LANES>(context, s, 0, 0));
  TSI_TRY(search_roots<LANES>(context, s, 1, NEIGHBOURS));
  return cuda_launch(context, "join", join<LANES>, cuda_blocks_for(nodes * LANES), CUDA_THREADS, *s);
}

static ts_status aggregate(cuda_amg_memory *memory, search *s, int32_t *count) {
  ts_context *context = memory->context;
  const size_t nodes = (size_t)s->graph.nodes, bytes = nodes * sizeof *s->aggregates;
  CUDA_AMG_ALLOC(memory, nodes, s->states);
  CUDA_AMG_ALLOC(memory, nodes, s->nearest);
  CUDA_AMG_ALLOC(memory, nodes + 1, s->numbers);
  CUDA_AMG_ALLOC(memory, AHEAD + 1, s->left);
  CUDA_AMG_ALLOC(memory, 3, s->totals);
  CUDA_TRY(context, cudaMemsetAsync(s->totals, 0, sizeof *s->totals, cuda_stream(context)));
  CUDA_TRY(context, cudaMemsetAsync(s->aggregates, 0xff, bytes, cuda_stream(context)));
  TSI_TRY(nodes < MANY ? group<8>(context, s) : group<1>(context, s));
  CUDA_TRY(context,
           cudaMemcpyAsync(s->aggregates, s->numbers, bytes, cudaMemcpyDeviceToDevice, cuda_stream(context)));
  return cuda_download(context, count, s->totals + 2, sizeof *count);
}

ts_status cuda_amg_aggregate(ts_context *context, const cuda_amg_graph *graph, int32_t *aggregates,
                             int32_t *count) {
  cuda_amg_memory memory = {context};
  search s = {*graph};
  s.aggregates = aggregates;
  *count = 0;
  const ts_status status = graph->nodes > 0 ? aggregate(&memory, &s, count) : TS_OK;
  cuda_amg_free(&memory);
  return status;
}
