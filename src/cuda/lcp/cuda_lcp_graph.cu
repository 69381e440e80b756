/* Sweeps by the graph of dependencies (Courtecuisse and Allard 2009, III.D and IV.A).
 *
 * Thread blocks have the blocks of rows in turn and go through a row's tiles in the order in which their
 * unknowns are solved: those behind the diagonal from the sweep before, then those before it. Each waits for
 * the unknowns of its column alone, whose words carry the sweep (the paper's counter; cuda_lcp_words.cuh). A
 * row's words cannot be overwritten too early: the next sweep of a block needs this sweep of all others, which
 * have read it. All thread blocks run at the same time, so every wait ends.
 *
 * The path that nothing shortens is: words of the block before, its tile, the diagonal block, own words. So a
 * row's tiles are loaded before their unknowns are there, and only the rows that come next poll without rest.
 */
#include "cuda/krylov/cuda_grid_sum.cuh"
#include "cuda_lcp_contacts.cuh"
#include "cuda_lcp_words.cuh"

enum {
  urgent = 2 /* blocks of rows behind the newest unknowns that poll without rest */
};

template <typename T> struct graph_job {
  lcp_data<T> d;
  int sweeps, team; /* thread blocks that share a problem */
  int slices;       /* of the products with the start */
  int exact;        /* contacts */
};

template <typename T, int DIM> struct graph_room {
  T a[LCP_BLOCK * LCP_BLOCK];
  lcp_limit<T, DIM> limits[lcp_contacts_of_block<DIM>];
  T z[2][LCP_BLOCK]; /* of two tiles in turn */
  T partial[LCP_SHARES][LCP_BLOCK];
  int ahead[2]; /* graph-2, with z: whether they are for the next row */
};

/* A row of blocks in a sweep. */
struct graph_row {
  size_t problem;
  int block, sweep, blocks;
  /* Tiles beside the diagonal one. Those behind it are in the products with the start at first. */
  __device__ __forceinline__ int count() const { return sweep ? blocks - 1 : block; }
  __device__ __forceinline__ int column(int tile) const {
    const int j = sweep ? block + 1 + tile : tile;
    return j < blocks ? j : j - blocks;
  }
  /* The mark of its unknowns: how many sweeps have solved them. */
  __device__ __forceinline__ unsigned mark(int j) const { return (unsigned)(j < block ? sweep + 1 : sweep); }
  __device__ __forceinline__ int distance(int j) const { return block - j + (j < block ? 0 : blocks); }
};

/* ---- Unknowns of a column, by one warp ---- */

template <typename T>
LCP_INLINE unsigned long long *words_of(const lcp_data<T> &d, size_t problem, int block, int i) {
  return d.words + (problem * d.pitch + (size_t)block * LCP_BLOCK + (size_t)i) * lcp_words<T>::count;
}

/* Whether all unknowns of column j are there; each lane has those of two. */
template <typename T, bool RELAXED>
LCP_INLINE bool look_at_column(const lcp_data<T> &d, const graph_row &row, int j, int lane, T (&z)[2]) {
  unsigned mark[2];
  const bool whole = lcp_look(words_of(d, row.problem, j, lane), &mark[0], &z[0]) &
                     lcp_look(words_of(d, row.problem, j, lane + 32), &mark[1], &z[1]);
  const unsigned expected = row.mark(j);
  return __all_sync(0xffffffffu, whole && (RELAXED || (mark[0] == expected && mark[1] == expected)));
}

/* For one word of the column, with rests. */
template <typename T> LCP_INLINE void wait_for_last(const lcp_data<T> &d, const graph_row &row, int j) {
  unsigned mark;
  T last;
  while (!lcp_look(words_of(d, row.problem, j, LCP_BLOCK - 1), &mark, &last) || mark != row.mark(j)) lcp_rest();
}

/* Until they are. Who is far behind does not disturb the others' polling. */
template <typename T, bool RELAXED>
LCP_INLINE void wait_for_column(const lcp_data<T> &d, const graph_row &row, int j, int lane, T (&z)[2]) {
  while (!look_at_column<T, RELAXED>(d, row, j, lane, z))
    if constexpr (!RELAXED)
      if (row.distance(j) > urgent) wait_for_last(d, row, j);
}

/* ---- A row's tiles ---- */

/* A thread's part of row `thread % LCP_BLOCK` of the block. */
template <typename T> struct graph_part {
  const T *row; /* its first pack */
  int first;    /* its first column in each tile */
  int warp, lane;
  T sum[2];
};

template <typename T> LCP_INLINE void add_tile(const T (&tile)[LCP_COLUMNS], const T *z, graph_part<T> *p) {
#pragma unroll
  for (int c = 0; c < LCP_COLUMNS; c++) p->sum[c % 2] += tile[c] * z[p->first + c];
}

template <bool RELAXED, typename T, int DIM>
LCP_INLINE void add_tiles(const lcp_data<T> &d, const graph_row &row, graph_room<T, DIM> *room,
                          graph_part<T> *p) {
  constexpr int depth = sizeof(T) == 4 ? 4 : 2; /* tiles on their way */
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
      if (p->warp == 0) {
        T z[2];
        wait_for_column<T, RELAXED>(d, row, row.column(tile), p->lane, z);
        room->z[k % 2][p->lane] = z[0], room->z[k % 2][p->lane + 32] = z[1];
      }
      __syncthreads();
      add_tile(tiles[k], room->z[k % 2], p);
      if (tile + depth < count)
        lcp_load_tile(d, p->row, row.column(tile + depth) * LCP_BLOCK + p->first, tiles[k]);
    }
}

/* ---- The diagonal block ---- */

/* By all threads, before a row and where it is another block than before. */
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

/* What is known of the block's unknowns before its tiles. By one warp. */
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

/* Solves the block's unknowns and hands them on. By the warp that began. */
template <typename T, int DIM>
LCP_INLINE void end_row(const lcp_data<T> &d, const graph_row &row, const graph_room<T, DIM> *room, int lane,
                        graph_lane<T> *l) {
#pragma unroll
  for (int h = 0; h < 2; h++) {
    T sum = 0;
#pragma unroll
    for (int s = 0; s < LCP_SHARES; s++) sum += room->partial[s][lcp_row_of<2>(lane, h)];
    l->rows.next[h] -= l->inverse[h] * sum;
  }
  lcp_solve_block(room->a, room->limits, lcp_contacts_of_block<DIM>, lane, &l->rows);
#pragma unroll
  for (int h = 0; h < 2; h++)
    lcp_publish(words_of(d, row.problem, row.block, lcp_row_of<2>(lane, h)), (unsigned)row.sweep + 1,
                l->rows.z[h]);
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const size_t at = row.problem * d.pitch + (size_t)(row.block * LCP_BLOCK + lcp_row_of<2>(lane, h));
    d.z[at] = l->rows.z[h];
    d.carried[at] = l->rows.next[h];
  }
}

/* The sums of all threads meet. */
template <typename T, int DIM> LCP_INLINE void leave_sums(graph_room<T, DIM> *room, const graph_part<T> *p) {
  room->partial[p->first / LCP_COLUMNS][threadIdx.x % LCP_BLOCK] = p->sum[0] + p->sum[1];
  __syncthreads();
}

template <typename T> LCP_INLINE graph_part<T> part_of_thread(void) {
  const int thread = (int)threadIdx.x;
  return {NULL, thread / LCP_BLOCK * LCP_COLUMNS, thread / 32, thread % 32, {0, 0}};
}

/* ---- graph and relaxed: row after row ---- */

template <bool RELAXED, typename T, int DIM>
LCP_INLINE void solve_problem(const graph_job<T> &job, size_t problem, int member, graph_room<T, DIM> *room) {
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
      add_tiles<RELAXED>(d, row, room, &p);
      leave_sums(room, &p);
      if (p.warp == 0) end_row(d, row, room, p.lane, &lane);
    }
}

template <typename T, int DIM, bool RELAXED>
static __global__ __launch_bounds__(LCP_THREADS, sizeof(T) == 4 ? 2 : 1) void graph(graph_job<T> job) {
  __shared__ alignas(16) graph_room<T, DIM> room;
  const int member = (int)(blockIdx.x % (unsigned)job.team), teams = (int)(gridDim.x / (unsigned)job.team);
  for (int problem = (int)(blockIdx.x / (unsigned)job.team); problem < job.d.batch; problem += teams)
    solve_problem<RELAXED>(job, (size_t)problem, member, &room);
}

/* ---- graph-2: tiles of the next row while the row's own have to wait ---- */

template <typename T> struct graph_turn {
  graph_row row;
  graph_part<T> part;
  int done; /* tiles */
};

template <typename T>
LCP_INLINE graph_turn<T> turn_of(const lcp_data<T> &d, size_t problem, int block, int sweep) {
  graph_turn<T> turn = {{problem, block, sweep, d.blocks}, part_of_thread<T>(), 0};
  turn.part.row = lcp_row(d, problem, block, (int)threadIdx.x % LCP_BLOCK);
  return turn;
}

template <typename T> LCP_INLINE int column_of(const graph_turn<T> &turn) {
  return turn.row.column(turn.done);
}

/* The unknowns of the row's next tile, or of the next row's where those come first. Whether it is the latter.
 * By one warp. */
template <typename T>
LCP_INLINE int wait_for_either(const lcp_data<T> &d, const graph_turn<T> &turn, const graph_turn<T> &next,
                               bool has_next, T (&z)[2]) {
  const bool looks_ahead = has_next && next.done < next.row.count();
  for (;;) {
    if (look_at_column<T, false>(d, turn.row, column_of(turn), turn.part.lane, z)) return 0;
    if (looks_ahead && look_at_column<T, false>(d, next.row, column_of(next), turn.part.lane, z)) return 1;
    if (turn.row.distance(column_of(turn)) > urgent) lcp_rest();
  }
}

template <typename T>
LCP_INLINE void load_next(const lcp_data<T> &d, const graph_turn<T> &turn, T (&tile)[LCP_COLUMNS]) {
  lcp_load_tile(d, turn.part.row, column_of(turn) * LCP_BLOCK + turn.part.first, tile);
}

template <typename T, int DIM>
LCP_INLINE void add_tiles_of_two(const lcp_data<T> &d, graph_turn<T> *turn, graph_turn<T> *next, bool has_next,
                                 graph_room<T, DIM> *room) {
  int side = 0; /* of room->z and ahead */
  while (turn->done < turn->row.count()) {
    T tile[LCP_COLUMNS], other[LCP_COLUMNS];
    load_next(d, *turn, tile);
    for (;; side ^= 1) {
      if (turn->part.warp == 0) {
        T z[2];
        const int ahead = wait_for_either(d, *turn, *next, has_next, z);
        room->z[side][turn->part.lane] = z[0], room->z[side][turn->part.lane + 32] = z[1];
        if (turn->part.lane == 0) room->ahead[side] = ahead;
      }
      __syncthreads();
      if (!room->ahead[side]) break;
      load_next(d, *next, other);
      add_tile(other, room->z[side], &next->part);
      next->done++;
    }
    add_tile(tile, room->z[side], &turn->part);
    turn->done++;
    side ^= 1;
  }
}

template <typename T, int DIM>
LCP_INLINE void solve_problem_ahead(const graph_job<T> &job, size_t problem, int member,
                                    graph_room<T, DIM> *room) {
  const lcp_data<T> &d = job.d;
  graph_lane<T> lane;
  graph_turn<T> turn = turn_of(d, problem, member, 0);
  int loaded = -1;
  while (turn.row.sweep < job.sweeps) {
    const bool is_last = turn.row.block + job.team >= d.blocks;
    graph_turn<T> next = turn_of(d, problem, is_last ? member : turn.row.block + job.team,
                                 is_last ? turn.row.sweep + 1 : turn.row.sweep);
    if (loaded != turn.row.block) load_room(job, turn.row, room);
    loaded = turn.row.block;
    if (turn.part.warp == 0) begin_row(job, turn.row, room->a, turn.part.lane, &lane);
    add_tiles_of_two(d, &turn, &next, next.row.sweep < job.sweeps, room);
    leave_sums(room, &turn.part);
    if (turn.part.warp == 0) end_row(d, turn.row, room, turn.part.lane, &lane);
    turn = next;
  }
}

template <typename T, int DIM>
static __global__ __launch_bounds__(LCP_THREADS, sizeof(T) == 4 ? 2 : 1) void graph_ahead(graph_job<T> job) {
  __shared__ alignas(16) graph_room<T, DIM> room;
  const int member = (int)(blockIdx.x % (unsigned)job.team), teams = (int)(gridDim.x / (unsigned)job.team);
  for (int problem = (int)(blockIdx.x / (unsigned)job.team); problem < job.d.batch; problem += teams)
    solve_problem_ahead(job, (size_t)problem, member, &room);
}

/* ---- Starting ---- */

template <typename T, typename KERNEL>
static ts_status start(ts_context *context, KERNEL kernel, graph_job<T> job) {
  unsigned blocks = 1;
  TSI_TRY(cuda_blocks_at_once(context, (const void *)kernel, LCP_THREADS, &blocks));
  const unsigned most = blocks / (unsigned)job.d.batch, rows = (unsigned)job.d.blocks;
  job.team = (int)(most < 1 ? 1 : most < rows ? most : rows);
  const unsigned teams = blocks / (unsigned)job.team, problems = (unsigned)job.d.batch;
  return cuda_start_together(context, (const void *)kernel,
                             (teams < problems ? teams : problems) * (unsigned)job.team, LCP_THREADS, &job);
}

template <typename T, int DIM> static ts_status start_scheme(const lcp_run *run, const graph_job<T> &job) {
  if (run->scheme == TS_LCP_SCHEME_RELAXED) return start(run->context, graph<T, DIM, true>, job);
  if (run->scheme == TS_LCP_SCHEME_GRAPH_2) return start(run->context, graph_ahead<T, DIM>, job);
  return start(run->context, graph<T, DIM, false>, job);
}

template <typename T> static ts_status sweep_graph(const lcp_run *run, const lcp_data<T> *data) {
  graph_job<T> job = {*data, run->sweeps, 1, 0, run->exact};
  TSI_TRY(cuda_lcp_product(run->context, data, true, &job.slices));
  return run->dimension == 1   ? start_scheme<T, 1>(run, job)
         : run->dimension == 2 ? start_scheme<T, 2>(run, job)
                               : start_scheme<T, 3>(run, job);
}

ts_status cuda_lcp_sweep_graph(const lcp_run *run, const lcp_data<float> *data) {
  return sweep_graph(run, data);
}
ts_status cuda_lcp_sweep_graph(const lcp_run *run, const lcp_data<double> *data) {
  return sweep_graph(run, data);
}
