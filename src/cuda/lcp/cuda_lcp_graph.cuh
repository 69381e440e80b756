/* Sweeps by the dependency graph (Courtecuisse and Allard 2009, III.D and IV.A).
 *
 * Thread blocks take the blocks of rows in turn. A row's tiles are processed in the order in which their
 * unknowns are solved: those after the diagonal with unknowns of the previous sweep, then those before it. Each
 * tile waits only for the unknowns of its column. Published unknowns cannot be overwritten too early. The next
 * sweep of a block needs this sweep of all other blocks, and they have read the unknowns by then. All thread
 * blocks are resident at once, so every wait ends.
 *
 * The paper's counter depends on the type Unknowns. graph_words: in memory, in words that contain the sweep
 * (cuda_lcp_graph.cu, cuda_lcp_words.cuh). cluster_unknowns: in the shared memory of a cluster, with barriers
 * that count arrivals (cuda_lcp_cluster.cu).
 *
 * The critical path is: unknowns of the previous block, its tile, the diagonal block, own unknowns. So a row's
 * tiles are loaded before their unknowns arrive, and only the rows that are due next poll without pauses.
 */
#ifndef CUDA_LCP_GRAPH_CUH
#define CUDA_LCP_GRAPH_CUH

#include "cuda_lcp_contacts.cuh"
#include "cuda_lcp_words.cuh"

enum {
  urgent = 2 /* blocks of rows, counted from the newest unknowns, that poll without pauses */
};

template <typename T> struct graph_job {
  lcp_data<T> d;
  int sweeps, team; /* thread blocks per problem */
  int slices;       /* of the products with the initial z */
  int exact;        /* local solver of contacts */
  bool relaxed;
};

template <typename T, int DIM> struct graph_room {
  T a[LCP_BLOCK * LCP_BLOCK];
  lcp_limit<T, DIM> limits[lcp_contacts_of_block<DIM>];
  alignas(16) T z[2][LCP_BLOCK];       /* two alternating tiles */
  T partial[2][LCP_SHARES][LCP_BLOCK]; /* two alternating sweeps */
  int ahead[2]; /* graph-2, alternating like z: whether the unknowns are for the next row */
};

/* A block row in a sweep. */
struct graph_row {
  size_t problem;
  int block, sweep, blocks;
  /* The tiles besides the diagonal one. In the first sweep, the tiles after it are in the products with the
   * initial z. */
  __device__ __forceinline__ int count() const { return sweep ? blocks - 1 : block; }
  __device__ __forceinline__ int column(int tile) const {
    const int j = sweep ? block + 1 + tile : tile;
    return j < blocks ? j : j - blocks;
  }
  /* The mark of the unknowns of block j: the number of sweeps that have solved them. */
  __device__ __forceinline__ unsigned mark(int j) const { return (unsigned)(j < block ? sweep + 1 : sweep); }
  __device__ __forceinline__ int distance(int j) const { return block - j + (j < block ? 0 : blocks); }
};

/* ---- The unknowns of a column, by one warp ---- */

/* Words in memory, for all thread blocks. A lane has the words of two unknowns. */
template <typename T> struct graph_words {
  unsigned long long *words;
  size_t pitch;
  bool relaxed; /* accepts unknowns of any sweep */
  __device__ __forceinline__ unsigned long long *of(const graph_row &row, int block, int lane) const {
    return words + (row.problem * pitch + (size_t)block * LCP_BLOCK + (size_t)lcp_row_of<2>(lane, 0)) *
                       lcp_words<T>::count;
  }
  __device__ __forceinline__ lcp_pair<T> look(const graph_row &row, int block, int lane) const {
    const unsigned long long *word = of(row, block, lane);
    lcp_pair<T> pair;
#pragma unroll
    for (int k = 0; k < 2 * lcp_words<T>::count; k += 2)
      asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                   : "=l"(pair.word[k]), "=l"(pair.word[k + 1])
                   : "l"(word + k)
                   : "memory");
    return pair;
  }
  __device__ __forceinline__ void publish(const graph_row &row, int lane, const T (&z)[2]) const {
    unsigned long long *word = of(row, row.block, lane);
    const lcp_pair<T> pair = lcp_pair_of((unsigned)row.sweep + 1, z);
#pragma unroll
    for (int k = 0; k < 2 * lcp_words<T>::count; k += 2)
      asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(word + k), "l"(pair.word[k]),
                   "l"(pair.word[k + 1])
                   : "memory");
  }
};

/* Whether all unknowns of column j have arrived. Each lane receives two. */
template <typename T>
LCP_INLINE bool look_at_column(const graph_words<T> &words, const graph_row &row, int j, int lane, T (&z)[2]) {
  const lcp_pair<T> pair = words.look(row, j, lane);
  lcp_numbers_of(pair, z);
  return __all_sync(0xffffffffu, words.relaxed ? lcp_is_whole(pair) : lcp_has_mark(pair, row.mark(j)));
}

/* Waits until they have arrived. A row that is far behind pauses, so that it does not disturb the polling of
 * others. */
template <typename T>
LCP_INLINE void wait_for_column(const graph_words<T> &words, const graph_row &row, int j, int lane, T (&z)[2]) {
  while (!look_at_column(words, row, j, lane, z))
    if (!words.relaxed && row.distance(j) > urgent)
      while (!lcp_has_mark(words.look(row, j, 31), row.mark(j))) lcp_pause();
}

/* Stores the unknowns of a lane's two rows for all threads of the block. */
template <typename T, int DIM>
LCP_INLINE void leave_unknowns(graph_room<T, DIM> *room, int side, int lane, const T (&z)[2]) {
  *(lcp_numbers<T, 2> *)(room->z[side] + lcp_row_of<2>(lane, 0)) = {{z[0], z[1]}};
}

/* ---- A row's tiles ---- */

/* A thread's share of row `thread % LCP_BLOCK` of the block. */
template <typename T> struct graph_part {
  const T *row; /* the first pack of the row */
  int first;    /* the thread's first column in each tile */
  int warp, lane;
  T sum[2];
};

/* The address of a tile's unknowns, once all threads can read them. */
template <typename T, int DIM>
LCP_INLINE const T *await_column(const graph_words<T> &words, const graph_row &row, int tile,
                                 const graph_part<T> &p, graph_room<T, DIM> *room) {
  const int side = tile % 2;
  if (p.warp == 0) {
    T z[2];
    wait_for_column(words, row, row.column(tile), p.lane, z);
    leave_unknowns(room, side, p.lane, z);
  }
  __syncthreads();
  return room->z[side];
}

template <typename T> LCP_INLINE void add_tile(const T (&tile)[LCP_COLUMNS], const T *z, graph_part<T> *p) {
#pragma unroll
  for (int c = 0; c < LCP_COLUMNS; c++) p->sum[c % 2] += tile[c] * z[p->first + c];
}

template <typename Unknowns, typename T, int DIM>
LCP_INLINE void add_tiles(const lcp_data<T> &d, const Unknowns &unknowns, const graph_row &row,
                          graph_room<T, DIM> *room, graph_part<T> *p) {
  constexpr int depth = sizeof(T) == 4 ? 4 : 2; /* tiles in flight */
  T tiles[depth][LCP_COLUMNS];
  const int count = row.count();
#pragma unroll
  for (int k = 0; k < depth; k++)
    if (k < count) lcp_load_tile(d, p->row, row.column(k) * LCP_BLOCK + p->first, tiles[k]);
#pragma unroll 1
  for (int first = 0; first < count; first += depth)
#pragma unroll
    for (int k = 0; k < depth; k++) {
      const int tile = first + k;
      if (tile >= count) break;
      add_tile(tiles[k], await_column(unknowns, row, tile, *p, room), p);
      if (tile + depth < count)
        lcp_load_tile(d, p->row, row.column(tile + depth) * LCP_BLOCK + p->first, tiles[k]);
    }
}

/* ---- The diagonal block ---- */

/* Loads the diagonal block and the limits. All threads call it before a row, if the block has changed. */
template <typename T, int DIM>
LCP_INLINE void load_room(const graph_job<T> &job, const graph_row &row, graph_room<T, DIM> *room) {
  const lcp_data<T> &d = job.d;
  const int thread = (int)threadIdx.x;
  __syncthreads();
  lcp_load_block<T, LCP_BLOCK, DIM>(d, row.problem, row.block, thread, LCP_THREADS, room->a);
  if (thread < lcp_contacts_of_block<DIM>) {
    const size_t at = row.problem * d.pitch + (size_t)(row.block * LCP_BLOCK + DIM * thread);
    room->limits[thread] = lcp_load_limit<T, DIM>(d, row.problem, at, job.exact);
  }
  __syncthreads();
}

template <typename T> struct graph_lane {
  lcp_rows<T, 2> rows;
  T inverse[2];
};

/* Computes the known part of the block's unknowns before its tiles. Called by one warp. */
template <typename T>
LCP_INLINE void begin_row(const graph_job<T> &job, const graph_row &row, const T *a, int lane,
                          graph_lane<T> *l) {
  const lcp_data<T> &d = job.d;
  const size_t place = row.problem * d.pitch + (size_t)(row.block * LCP_BLOCK + lcp_row_of<2>(lane, 0));
  for (int h = 0; h < 2; h++) {
    const size_t at = place + (size_t)h;
    l->inverse[h] = d.inverse[at];
    l->rows.base[h] = -d.q[at] * l->inverse[h];
    l->rows.z[h] = d.z[at];
    if (row.sweep) l->rows.next[h] = d.carried[at];
  }
  if (row.sweep) return;
  lcp_begin_block<T, 2>(a, lane, &l->rows);
  for (int h = 0; h < 2; h++) {
    T sum = 0;
    for (int s = 0; s < job.slices; s++)
      sum += d.sums[(size_t)s * (size_t)d.batch * d.pitch + place + (size_t)h];
    l->rows.next[h] -= l->inverse[h] * sum;
  }
}

/* Solves the block's unknowns and publishes them. Called by the warp that called begin_row. */
template <typename Unknowns, typename T, int DIM>
LCP_INLINE void end_row(const lcp_data<T> &d, const Unknowns &unknowns, const graph_row &row,
                        const graph_room<T, DIM> *room, int lane, graph_lane<T> *l) {
#pragma unroll
  for (int h = 0; h < 2; h++) {
    T sum = 0;
#pragma unroll
    for (int s = 0; s < LCP_SHARES; s++) sum += room->partial[row.sweep % 2][s][lcp_row_of<2>(lane, h)];
    l->rows.next[h] -= l->inverse[h] * sum;
  }
  lcp_solve_block(room->a, room->limits, lcp_contacts_of_block<DIM>, lane, &l->rows);
  unknowns.publish(row, lane, l->rows.z);
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const size_t at = row.problem * d.pitch + (size_t)(row.block * LCP_BLOCK + lcp_row_of<2>(lane, h));
    d.z[at] = l->rows.z[h];
    d.carried[at] = l->rows.next[h];
  }
}

/* Stores the sums of all threads in shared memory. */
template <typename T, int DIM>
LCP_INLINE void leave_sums(const graph_row &row, graph_room<T, DIM> *room, const graph_part<T> *p) {
  room->partial[row.sweep % 2][p->first / LCP_COLUMNS][threadIdx.x % LCP_BLOCK] = p->sum[0] + p->sum[1];
  __syncthreads();
}

template <typename T> LCP_INLINE graph_part<T> part_of_thread(void) {
  const int thread = (int)threadIdx.x;
  return {NULL, thread / LCP_BLOCK * LCP_COLUMNS, thread / 32, thread % 32, {0, 0}};
}

/* ---- graph and relaxed: one row after another ---- */

template <typename Unknowns, typename T, int DIM>
LCP_INLINE void solve_problem(const graph_job<T> &job, const Unknowns &unknowns, size_t problem, int member,
                              graph_room<T, DIM> *room) {
  const lcp_data<T> &d = job.d;
  graph_part<T> p = part_of_thread<T>();
  graph_lane<T> lane;
  int loaded = -1;
  for (int sweep = 0; sweep < job.sweeps; sweep++)
    for (int block = member; block < d.blocks; block += job.team) {
      const graph_row row = {problem, block, sweep, d.blocks};
      if (loaded != block) load_room(job, row, room);
      loaded = block;
      if (p.warp == 0) begin_row(job, row, room->a, p.lane, &lane);
      p.row = lcp_row(d, problem, block, (int)threadIdx.x % LCP_BLOCK);
      p.sum[0] = p.sum[1] = 0;
      add_tiles(d, unknowns, row, room, &p);
      leave_sums(row, room, &p);
      if (p.warp == 0) end_row(d, unknowns, row, room, p.lane, &lane);
    }
}

/* cuda_lcp_cluster.cu: sweeps by the graph in clusters. *started is false if clusters do not support this
 * problem size, or not for all problems at once. */
ts_status cuda_lcp_start_cluster(const lcp_run *run, const graph_job<float> &job, bool *started);
ts_status cuda_lcp_start_cluster(const lcp_run *run, const graph_job<double> &job, bool *started);

#endif
