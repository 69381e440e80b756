/* Sweeps by the dependency graph over the whole device, and relaxed: cuda_lcp_graph.cuh with words in memory.
 * Also graph-2. */
#include "cuda/krylov/cuda_grid_sum.cuh"
#include "cuda_lcp_graph.cuh"

template <typename T> LCP_INLINE graph_words<T> words_of(const lcp_data<T> &d, bool relaxed = false) {
  return {d.words, d.pitch, relaxed};
}

template <typename T, int DIM>
static __global__ __launch_bounds__(LCP_THREADS, sizeof(T) == 4 ? 2 : 1) void graph(graph_job<T> job) {
  __shared__ alignas(16) graph_room<T, DIM> room;
  const int member = (int)(blockIdx.x % (unsigned)job.team), teams = (int)(gridDim.x / (unsigned)job.team);
  for (int problem = (int)(blockIdx.x / (unsigned)job.team); problem < job.d.batch; problem += teams)
    solve_problem(job, words_of(job.d, job.relaxed), (size_t)problem, member, &room);
}

/* ---- graph-2: tiles of the next row while the row itself waits ---- */

template <typename T> struct graph_task {
  graph_row row;
  graph_part<T> part;
  int done; /* number of tiles */
};

template <typename T>
LCP_INLINE graph_task<T> task_of(const lcp_data<T> &d, size_t problem, int block, int sweep) {
  graph_task<T> task = {{problem, block, sweep, d.blocks}, part_of_thread<T>(), 0};
  task.part.row = lcp_row(d, problem, block, (int)threadIdx.x % LCP_BLOCK);
  return task;
}

template <typename T> LCP_INLINE int column_of(const graph_task<T> &task) {
  return task.row.column(task.done);
}

/* Waits for the unknowns of the row's next tile, or of the next row's if they arrive first. Returns whether
 * they are the next row's. Called by one warp. */
template <typename T>
LCP_INLINE int wait_for_either(const lcp_data<T> &d, const graph_task<T> &task, const graph_task<T> &next,
                               bool has_next, T (&z)[2]) {
  const graph_words<T> words = words_of(d);
  const bool looks_ahead = has_next && next.done < next.row.count();
  for (;;) {
    if (look_at_column(words, task.row, column_of(task), task.part.lane, z)) return 0;
    if (looks_ahead && look_at_column(words, next.row, column_of(next), task.part.lane, z)) return 1;
    if (task.row.distance(column_of(task)) > urgent) lcp_pause();
  }
}

template <typename T>
LCP_INLINE void load_next(const lcp_data<T> &d, const graph_task<T> &task, T (&tile)[LCP_COLUMNS]) {
  lcp_load_tile(d, task.part.row, column_of(task) * LCP_BLOCK + task.part.first, tile);
}

template <typename T, int DIM>
LCP_INLINE void add_tiles_of_two(const lcp_data<T> &d, graph_task<T> *task, graph_task<T> *next, bool has_next,
                                 graph_room<T, DIM> *room) {
  int side = 0; /* of room->z and ahead */
  while (task->done < task->row.count()) {
    T tile[LCP_COLUMNS], other[LCP_COLUMNS];
    load_next(d, *task, tile);
    for (;; side ^= 1) {
      if (task->part.warp == 0) {
        T z[2];
        const int ahead = wait_for_either(d, *task, *next, has_next, z);
        leave_unknowns(room, side, task->part.lane, z);
        if (task->part.lane == 0) room->ahead[side] = ahead;
      }
      __syncthreads();
      if (!room->ahead[side]) break;
      load_next(d, *next, other);
      add_tile(other, room->z[side], &next->part);
      next->done++;
    }
    add_tile(tile, room->z[side], &task->part);
    task->done++;
    side ^= 1;
  }
}

template <typename T, int DIM>
LCP_INLINE void solve_problem_ahead(const graph_job<T> &job, size_t problem, int member,
                                    graph_room<T, DIM> *room) {
  const lcp_data<T> &d = job.d;
  graph_lane<T> lane;
  graph_task<T> task = task_of(d, problem, member, 0);
  int loaded = -1;
  while (task.row.sweep < job.sweeps) {
    const bool is_last = task.row.block + job.team >= d.blocks;
    graph_task<T> next = task_of(d, problem, is_last ? member : task.row.block + job.team,
                                 is_last ? task.row.sweep + 1 : task.row.sweep);
    if (loaded != task.row.block) load_room(job, task.row, room);
    loaded = task.row.block;
    if (task.part.warp == 0) begin_row(job, task.row, room->a, task.part.lane, &lane);
    add_tiles_of_two(d, &task, &next, next.row.sweep < job.sweeps, room);
    leave_sums(task.row, room, &task.part);
    if (task.part.warp == 0) end_row(d, words_of(d), task.row, room, task.part.lane, &lane);
    task = next;
  }
}

template <typename T, int DIM>
static __global__ __launch_bounds__(LCP_THREADS, sizeof(T) == 4 ? 2 : 1) void graph_ahead(graph_job<T> job) {
  __shared__ alignas(16) graph_room<T, DIM> room;
  const int member = (int)(blockIdx.x % (unsigned)job.team), teams = (int)(gridDim.x / (unsigned)job.team);
  for (int problem = (int)(blockIdx.x / (unsigned)job.team); problem < job.d.batch; problem += teams)
    solve_problem_ahead(job, (size_t)problem, member, &room);
}

/* ---- Launch ---- */

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
  if (run->scheme == TS_LCP_SCHEME_GRAPH_2) return start(run->context, graph_ahead<T, DIM>, job);
  return start(run->context, graph<T, DIM>, job);
}

template <typename T> static ts_status sweep_graph(const lcp_run *run, const lcp_data<T> *data) {
  graph_job<T> job = {*data, run->sweeps, 1, 0, run->exact, run->scheme == TS_LCP_SCHEME_RELAXED};
  TSI_TRY(cuda_lcp_product(run->context, data, true, &job.slices));
  bool started = false;
  if (!job.relaxed) TSI_TRY(cuda_lcp_start_cluster(run, job, &started));
  if (started) return TS_OK;
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
