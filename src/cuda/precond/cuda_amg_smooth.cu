/* The smoothed prolongator P = S T, as documented at tsi_amg_smooth.
 *
 * A team of threads has a row of A: eight threads, or a block for the longest rows. The threads read a chunk of
 * the row together and write the terms to shared memory. Then each thread adds the sums that it needs, in the
 * order of the row. An excluded entry adds 0, which never changes a sum that began as 0. The teams of a warp
 * process as many chunks as the longest of their rows needs. */
#include "cuda_amg_smooth.cuh"

/* ---- The diagonal of A_F, and bounds ---- */

/* The factor of a weak entry when it is added to the diagonal. */
static __device__ __forceinline__ double weight(const smoothing &s, int32_t node, int32_t other) {
  const double own = (double)s.weights[node], theirs = (double)s.weights[other];
  return own != 0 && theirs != 0 ? theirs / own : 1;
}

struct __align__(16) weak_entry {
  double value;
  int32_t unknown;
  float diagonal; /* its positive part */
};

struct __align__(16) magnitudes {
  double all, filtered;
};

template <int SIZE> struct room {
  enum { TEAMS = CUDA_THREADS / SIZE, CHUNK = SIZE * EACH };
  /* One extra per team, so that the teams of a warp read from different banks. */
  union {
    weak_entry weak[TEAMS][CHUNK + 1];
    magnitudes sizes[TEAMS][CHUNK + 1];
  };
  double added[TEAMS][TEAM], diagonal[TEAMS];
};

/* Returns the diagonal of row i of A_F, or 0 if that of A is not positive. Leaves the sums that weak entries
 * add within the node in shared memory. Stores both in global memory too. Counts the row in `positive` of one
 * thread if it has a positive coupling. */
template <int SIZE, bool SINGLE>
static __device__ __forceinline__ double filter_row(const smoothing &s, const row &r, room<SIZE> &shared,
                                                    unsigned long long &positive) {
  enum { CHUNK = SIZE * EACH };
  const int32_t unknowns = SINGLE ? 1 : s.unknowns, i = r.number, node = i / unknowns;
  const int32_t longest = longest_of<SIZE>(r.length);
  const int lane = (int)threadIdx.x % SIZE, team = (int)threadIdx.x / SIZE;
  double added = 0, diagonal = 0, most = 0; /* with several unknowns, thread u has the sum for unknown u */
  for (int32_t done = 0; done < longest; done += CHUNK) {
    const int32_t size = min((int32_t)CHUNK, longest - done);
    for (int32_t k = lane; k < size; k += SIZE) {
      weak_entry x = {0, 0, 0};
      if (done + k < r.length) {
        const int32_t e = r.begin + done + k, j = s.indices[e];
        const float a = s.values[e];
        if (s.strong[e] == TSI_AMG_WEAK) {
          x.value = (double)a * weight(s, node, j / unknowns);
          x.unknown = j % unknowns;
        }
        if (j == i && a > 0) x.diagonal = a;
      }
      shared.weak[team][k] = x;
    }
    team_sync<SIZE>();
    for (int32_t k = 0; k < size; k++) {
      const weak_entry x = shared.weak[team][k];
      if (SINGLE || x.unknown == lane) added += x.value;
      if (SINGLE && x.value > most) most = x.value;
      if (x.diagonal > 0) diagonal = (double)x.diagonal;
    }
    team_sync<SIZE>();
  }
  if (lane < TEAM) shared.added[team][lane] = added;
  team_sync<SIZE>();
  double filtered = diagonal + (i < 0 ? 0 : shared.added[team][i % unknowns]);
  team_sync<SIZE>();
  if (!(filtered > 0.1 * diagonal)) {
    filtered = diagonal;
    added = 0;
  }
  if (lane < TEAM) shared.added[team][lane] = added;
  if (i >= 0 && lane == 0) s.diagonal[i] = filtered;
  positive += lane == 0 && filtered != 0 && is_own(s, i) && tsi_amg_is_positive(most, diagonal);
  if (i >= 0 && !SINGLE && lane < unknowns) s.added[(size_t)i * (size_t)unknowns + lane] = added;
  return filtered;
}

/* Raises the bounds to the sums of this row. */
template <int SIZE, bool SINGLE>
static __device__ __forceinline__ void bound_row(const smoothing &s, const row &r, double filtered,
                                                 room<SIZE> &shared, double bounds[2]) {
  enum { CHUNK = SIZE * EACH };
  const int32_t unknowns = SINGLE ? 1 : s.unknowns, i = r.number, node = i / unknowns;
  const int32_t length = filtered == 0 ? 0 : r.length, longest = longest_of<SIZE>(length);
  const int lane = (int)threadIdx.x % SIZE, team = (int)threadIdx.x / SIZE;
  double sum = 0, filtered_sum = 0;
  if (lane == 0) shared.diagonal[team] = 0;
  team_sync<SIZE>();
  for (int32_t done = 0; done < longest; done += CHUNK) {
    const int32_t size = min((int32_t)CHUNK, longest - done);
    for (int32_t k = lane; k < size; k += SIZE) {
      magnitudes x = {0, 0};
      if (done + k < length) {
        const int32_t e = r.begin + done + k, j = s.indices[e];
        const double a = (double)s.values[e];
        const unsigned char strong = s.strong[e];
        if (strong != TSI_AMG_DROPPED) x.all = fabs(a);
        if (strong != TSI_AMG_DROPPED && j == i) shared.diagonal[team] = a;
        if (strong == TSI_AMG_STRONG)
          x.filtered = fabs(j / unknowns == node ? a + shared.added[team][j % unknowns] : a);
      }
      shared.sizes[team][k] = x;
    }
    team_sync<SIZE>();
    for (int32_t k = 0; k < size; k++) {
      sum += shared.sizes[team][k].all;
      filtered_sum += shared.sizes[team][k].filtered;
    }
    team_sync<SIZE>();
  }
  if (length > 0 && is_own(s, i)) {
    const double bound = sum / shared.diagonal[team], filtered_bound = filtered_sum / filtered;
    if (bound > bounds[0]) bounds[0] = bound;
    if (filtered_bound > bounds[1]) bounds[1] = filtered_bound;
  }
  team_sync<SIZE>();
}

/* If eight threads share a row, long rows go to the list. */
template <int SIZE, bool SINGLE>
__global__ static void __launch_bounds__(CUDA_THREADS) find_bounds(const smoothing s) {
  __shared__ room<SIZE> shared;
  double bounds[2] = {0, 0};
  unsigned long long positive = 0;
  EACH_ROW(s, place, SIZE) {
    const row r = row_at<SIZE>(s, place);
    if (SIZE <= 32 && r.number < 0 && place < s.rows && threadIdx.x % SIZE == 0)
      s.long_rows[atomicAdd(&s.found->long_rows, 1)] = (int32_t)place;
    const double filtered = filter_row<SIZE, SINGLE>(s, r, shared, positive);
    bound_row<SIZE, SINGLE>(s, r, filtered, shared, bounds);
  }
  /* The bits of non-negative doubles compare like the doubles. */
  for (int k = 0; k < 2; k++) {
    unsigned long long bits = (unsigned long long)__double_as_longlong(bounds[k]);
    for (int offset = 16; offset > 0; offset /= 2) bits = max(bits, __shfl_xor_sync(0xffffffffu, bits, offset));
    volatile unsigned long long *to = &s.found->bounds[k];
    if (threadIdx.x % 32 == 0 && bits > *to) atomicMax(&s.found->bounds[k], bits);
  }
  positive = cuda_warp_sum(positive);
  if (threadIdx.x % 32 == 0 && positive > 0) atomicAdd(&s.found->positive, positive);
}

/* ---- The pattern ---- */

/* The aggregate of entry e; NO_AGGREGATE if e is not in the pattern. */
template <bool SINGLE> static __device__ __forceinline__ int32_t aggregate_of(const smoothing &s, int32_t e) {
  if (s.strong[e] != TSI_AMG_STRONG) return NO_AGGREGATE;
  const int32_t j = s.indices[e], aggregate = s.aggregates[SINGLE ? j : j / s.unknowns];
  return aggregate < 0 ? NO_AGGREGATE : aggregate;
}

/* Lists the aggregates of each row in ascending order: repeatedly the smallest one above the previous. Stores
 * their number, at most TSI_AMG_REACH + 1, in the offsets. With WRITE, stores their columns in the indices. If
 * they exceed the row's room, only the row's own aggregate is kept. */
template <int SIZE, bool SINGLE, bool WRITE>
__global__ static void __launch_bounds__(CUDA_THREADS) list_aggregates(const smoothing s) {
  const int lane = (int)threadIdx.x % SIZE;
  EACH_ROW(s, place, SIZE) {
    const row r = row_at<SIZE>(s, place);
    int32_t held[EACH], last = -1, count = 0, most = TSI_AMG_REACH;
    int32_t *to = WRITE && r.length > 0 ? s.P_indices + s.P_offsets[r.number] : NULL;
    if (to) most = (s.P_offsets[r.number + 1] - s.P_offsets[r.number]) / s.vectors;
#pragma unroll
    for (int k = 0; k < EACH; k++)
      held[k] = lane + k * SIZE < r.length ? aggregate_of<SINGLE>(s, r.begin + lane + k * SIZE) : NO_AGGREGATE;
    for (;;) {
      int32_t least = NO_AGGREGATE;
#pragma unroll
      for (int k = 0; k < EACH; k++)
        if (held[k] > last && count <= most) least = min(least, held[k]);
      for (int32_t k = lane + EACH * SIZE; k < r.length && count <= most; k += SIZE) {
        const int32_t aggregate = aggregate_of<SINGLE>(s, r.begin + k);
        if (aggregate > last) least = min(least, aggregate);
      }
      least = team_least<SIZE>(least);
      if (!__any_sync(0xffffffffu, least != NO_AGGREGATE)) break;
      if (least == NO_AGGREGATE) continue;
      if (WRITE && count < most && lane < s.vectors)
        to[(size_t)count * s.vectors + lane] = least * s.vectors + lane;
      last = least;
      count++;
    }
    if (!WRITE && lane == 0 && r.number >= 0) s.P_offsets[r.number + 1] = count;
    if (WRITE && count > most && most > 0 && lane < s.vectors)
      to[lane] = s.aggregates[SINGLE ? r.number : r.number / s.unknowns] * s.vectors + lane;
  }
}

__global__ static void __launch_bounds__(CUDA_THREADS) sum_reached(const smoothing s) {
  unsigned long long sums[2] = {0, 0};
  for (int64_t i = s.own.begin + (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x; i < s.own.end;
       i += (int64_t)gridDim.x * CUDA_THREADS) {
    const unsigned long long reached = (unsigned long long)s.P_offsets[i + 1];
    sums[0] += reached;
    sums[1] += reached * (unsigned long long)(s.offsets[i + 1] - s.offsets[i]);
  }
  for (int k = 0; k < 2; k++) {
    for (int offset = 16; offset > 0; offset /= 2) sums[k] += __shfl_xor_sync(0xffffffffu, sums[k], offset);
    if (threadIdx.x % 32 == 0 && sums[k] > 0) atomicAdd(k ? &s.found->by_entries : &s.found->reached, sums[k]);
  }
}

/* Converts numbers of aggregates to numbers of entries of P. */
__global__ static void __launch_bounds__(CUDA_THREADS) limit_reach(const smoothing s) {
  const double sums[4] = {(double)s.rows, (double)s.offsets[s.rows], (double)s.found->reached,
                          (double)s.found->by_entries};
  const int32_t reach = s.reach > 0 ? s.reach : tsi_amg_reach(sums);
  for (int64_t i = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x; i < s.rows;
       i += (int64_t)gridDim.x * CUDA_THREADS) {
    const int32_t count = s.P_offsets[i + 1];
    const int has_own = count > reach && s.aggregates[i / s.unknowns] >= 0;
    s.P_offsets[i + 1] = (count > reach ? has_own : count) * s.vectors;
  }
}

/* ---- The values ---- */

struct __align__(16) strong_entry {
  double value;
  int32_t aggregate, column;
};

/* Writes the terms of a chunk of the row to shared memory, for the threads of the team. */
template <int SIZE, bool SINGLE>
static __device__ __forceinline__ void read_strong(const smoothing &s, const row &r, double scale, int32_t done,
                                                   int32_t size, strong_entry *to) {
  const int32_t unknowns = SINGLE ? 1 : s.unknowns, i = r.number, node = i / unknowns;
  for (int32_t k = (int)threadIdx.x % SIZE; k < size; k += SIZE) {
    strong_entry x = {0, -1, 0};
    const int32_t e = r.begin + done + k;
    if (done + k < r.length && s.strong[e] == TSI_AMG_STRONG) {
      const int32_t j = s.indices[e];
      const double more =
          !SINGLE && unknowns > 1 && j / unknowns == node ? s.added[(size_t)i * unknowns + j % unknowns] : 0;
      x.value = (double)(float)(j == i ? 1 - s.omega : -scale * ((double)s.values[e] + more));
      if (SINGLE) x.value *= (double)s.tentative[j];
      x.aggregate = s.aggregates[j / unknowns];
      x.column = j;
    }
    to[k] = x;
  }
}

/* A thread has up to EACH entries of P's row at a time, at a distance of SIZE, which is at least the number of
 * vectors: at most one of them is of the aggregate of a term. If a row has entries for one aggregate but
 * reaches another one, it keeps the value of T. */
template <int SIZE, bool SINGLE>
__global__ static void __launch_bounds__(CUDA_THREADS) fill(const smoothing s) {
  enum { CHUNK = SIZE * EACH, OWN = SINGLE || SIZE > 32 ? 1 : EACH };
  __shared__ strong_entry shared[CUDA_THREADS / SIZE][CHUNK + 1];
  const int32_t vectors = SINGLE ? 1 : s.vectors;
  const int lane = (int)threadIdx.x % SIZE, team = (int)threadIdx.x / SIZE;
  static_assert(SIZE >= TEAM, "there are at most TEAM vectors");
  EACH_ROW(s, place, SIZE) {
    const row r = row_at<SIZE>(s, place);
    const int32_t i = r.number;
    const int32_t begin = i < 0 ? 0 : s.P_offsets[i], count = i < 0 ? 0 : s.P_offsets[i + 1] - begin;
    const double diagonal = i < 0 ? 0 : s.diagonal[i];
    const double scale = diagonal > 0 ? s.omega / diagonal : 0;
    const int32_t longest = longest_of<SIZE>(r.length), most = longest_of<SIZE>(count);
    for (int64_t c = lane; c - lane < most; c += OWN * SIZE) {
      int32_t aggregates[OWN], v[OWN];
      double sums[OWN] = {};
      bool keeps = false;
#pragma unroll
      for (int m = 0; m < OWN; m++) {
        const int32_t column = c + m * SIZE < count ? s.P_indices[begin + c + m * SIZE] : -2 * vectors;
        aggregates[m] = column / vectors, v[m] = column % vectors;
      }
      for (int32_t done = 0; done < longest; done += CHUNK) {
        const int32_t size = min((int32_t)CHUNK, longest - done);
        read_strong<SIZE, SINGLE>(s, r, scale, done, size, shared[team]);
        team_sync<SIZE>();
#pragma unroll 4
        for (int32_t k = 0; k < size; k++) {
          const strong_entry x = shared[team][k];
          int32_t vector = 0;
#pragma unroll
          for (int m = 0; m < OWN; m++)
            if (aggregates[m] == x.aggregate) vector = v[m];
          const double t = SINGLE ? 1 : (double)s.tentative[(size_t)x.column * vectors + vector];
          const double term = SINGLE ? x.value : x.value * t;
#pragma unroll
          for (int m = 0; m < OWN; m++)
            if (aggregates[m] == x.aggregate) sums[m] += term;
          keeps |= x.aggregate >= 0 && x.aggregate != aggregates[0];
        }
        team_sync<SIZE>();
      }
      if (count == vectors && keeps && c < count) sums[0] = (double)s.tentative[(size_t)i * vectors + v[0]];
#pragma unroll
      for (int m = 0; m < OWN; m++)
        if (c + m * SIZE < count) s.P_values[begin + c + m * SIZE] = (float)sums[m];
    }
  }
}

/* ---- On the host ---- */

typedef void kernel(const smoothing s);

/* Runs `by_teams` over all rows and `by_blocks` over the long ones. */
static ts_status run_smoothing(ts_context *context, const char *name, const smoothing *s, kernel *by_teams,
                               kernel *by_blocks, int has_long) {
  const size_t blocks = ((size_t)s->rows + CUDA_THREADS / TEAM - 1) / (CUDA_THREADS / TEAM);
  if (s->rows == 0) return TS_OK;
  TSI_TRY(cuda_launch(context, name, by_teams,
                      (unsigned)(blocks < CUDA_AMG_MOST_BLOCKS ? blocks : CUDA_AMG_MOST_BLOCKS), CUDA_THREADS,
                      *s));
  return has_long ? cuda_launch(context, name, by_blocks, LONG_BLOCKS, CUDA_THREADS, *s) : TS_OK;
}

/* Selects the kernel compiled for a single unknown (and vector), or the general one. */
#define RUN(context, s, single, has_long, name, ...)                                                           \
  run_smoothing(                                                                                               \
      (context), #name, (s), (single) ? name<TEAM, true __VA_ARGS__> : name<TEAM, false __VA_ARGS__>,          \
      (single) ? name<CUDA_THREADS, true __VA_ARGS__> : name<CUDA_THREADS, false __VA_ARGS__>, (has_long))

static ts_status find_pattern(ts_context *context, smoothing *s, cuda_amg_level *level, int has_long) {
  cuda_amg_csr *P = &level->P;
  const int single = s->unknowns == 1;
  TSI_TRY(cuda_amg_csr_begin(context, s->rows, level->aggregate_count * level->vectors, P));
  s->P_offsets = P->offsets;
  const size_t blocks = (size_t)s->rows / CUDA_THREADS + 1;
  const unsigned grid = (unsigned)(blocks < FEW_BLOCKS ? blocks : FEW_BLOCKS);
  ts_status status = RUN(context, s, single, has_long, list_aggregates, , false);
  if (status == TS_OK) status = cuda_launch(context, "sum_reached", sum_reached, grid, CUDA_THREADS, *s);
  if (status == TS_OK) status = cuda_launch(context, "limit_reach", limit_reach, grid, CUDA_THREADS, *s);
  if (status < 0) {
    cuda_amg_csr_free(context, P);
    return status;
  }
  TSI_TRY(cuda_amg_csr_finish(context, P));
  s->P_indices = P->indices;
  status = RUN(context, s, single, has_long, list_aggregates, , true);
  if (status < 0) cuda_amg_csr_free(context, P);
  return status;
}

/* Computes S T in the pattern of level->P, or in a new one. */
static ts_status smooth_once(ts_context *context, smoothing *s, cuda_amg_level *level, int has_long) {
  if (!level->P.offsets) TSI_TRY(find_pattern(context, s, level, has_long));
  s->P_offsets = level->P.offsets, s->P_indices = level->P.indices, s->P_values = level->P.values;
  return RUN(context, s, s->unknowns == 1 && s->vectors == 1, has_long, fill);
}

/* Decides whether a level with P = S T needs S^2 T. `before`: the findings with the bounds. */
static ts_status decide(ts_context *context, const smoothing *s, cuda_amg_level *level,
                        const findings *before) {
  findings found;
  const double rows = s->rows;
  const int wants = tsi_amg_wants_energies(rows, (double)before->positive, level->aggregate_count);
  if (s->unknowns > 1 || s->vectors > 1 || (level->energies == 0 && !wants)) return TS_OK;
  TSI_TRY(cuda_download(context, &found, s->found, sizeof found));
  const double sums[4] = {rows, (double)level->A.entries, (double)found.reached, (double)found.by_entries};
  if (tsi_amg_reach(sums) != TSI_AMG_REACH) return TS_OK;
  if (level->energies == 0)
    TSI_TRY(cuda_amg_energies(context, level, s->diagonal, {s->long_rows, before->long_rows}));
  level->smooths_twice = tsi_amg_smooths_twice(level->energies, rows, level->aggregate_count);
  return TS_OK;
}

static ts_status smooth_all(ts_context *context, smoothing *s, cuda_amg_level *level, const findings *found) {
  const int has_long = found->long_rows > 0;
  cuda_amg_csr P = level->P; /* with a pattern, or empty */
  if (level->smooths_twice) level->P = {};
  ts_status status = smooth_once(context, s, level, has_long);
  if (!P.offsets && status == TS_OK) status = decide(context, s, level, found);
  if (!level->smooths_twice) return status;
  cuda_amg_csr once = level->P;
  if (status == TS_OK) status = cuda_amg_smooth_again(context, level, s->diagonal, s->omega, &once, &P);
  cuda_amg_csr_free(context, &once);
  level->P = P;
  return status;
}

/* Allocates what the kernels share. */
static ts_status start_smoothing(cuda_amg_memory *memory, cuda_amg_level *level, tsi_amg_range own,
                                 double *diagonal, smoothing *to) {
  ts_context *context = memory->context;
  const cuda_amg_csr *A = &level->A;
  const size_t rows = (size_t)A->rows;
  smoothing s = {};
  s.rows = A->rows, s.unknowns = level->unknowns, s.vectors = level->vectors, s.own = own;
  s.offsets = A->offsets, s.indices = A->indices, s.values = A->values;
  s.strong = level->strong, s.aggregates = level->aggregates;
  s.weights = level->weights, s.tentative = level->tentative;
  CUDA_AMG_ALLOC(memory, 1, s.found);
  s.diagonal = diagonal;
  if (!diagonal) CUDA_AMG_ALLOC(memory, rows, s.diagonal);
  if (level->unknowns > 1) CUDA_AMG_ALLOC(memory, rows * (size_t)level->unknowns, s.added);
  if (A->columns > LONG) CUDA_AMG_ALLOC(memory, A->entries / LONG + 1, s.long_rows);
  CUDA_TRY(context, cudaMemsetAsync(s.found, 0, sizeof *s.found, cuda_stream(context)));
  *to = s;
  return TS_OK;
}

/* Computes the bounds and the diagonal of A_F, and waits for the findings. */
static ts_status begin_smoothing(cuda_amg_memory *memory, cuda_amg_level *level, tsi_amg_range own,
                                 double *diagonal, smoothing *s, findings *found) {
  TSI_TRY(start_smoothing(memory, level, own, diagonal, s));
  TSI_TRY(RUN(memory->context, s, level->unknowns == 1, s->long_rows != NULL, find_bounds));
  return cuda_download(memory->context, found, s->found, sizeof *found);
}

/* Sets the level's bound and eigenvalue; returns the bound for A_F. */
static ts_status find_eigenvalue(ts_context *context, cuda_amg_level *level, const smoothing *s,
                                 const findings *found, double *filtered_bound) {
  memcpy(&level->bound, &found->bounds[0], sizeof level->bound);
  memcpy(filtered_bound, &found->bounds[1], sizeof *filtered_bound);
  return cuda_amg_eigenvalue(context, level, {s->long_rows, found->long_rows});
}

static ts_status smooth(cuda_amg_memory *memory, cuda_amg_level *level) {
  findings found = {};
  smoothing s;
  double filtered_bound;
  TSI_TRY(begin_smoothing(memory, level, {0, level->A.rows}, NULL, &s, &found));
  TSI_TRY(find_eigenvalue(memory->context, level, &s, &found, &filtered_bound));
  s.omega = tsi_amg_omega(level->eigenvalue, level->bound, filtered_bound);
  return smooth_all(memory->context, &s, level, &found);
}

ts_status cuda_amg_smooth(ts_context *context, cuda_amg_level *level) {
  cuda_amg_memory memory = {context};
  const ts_status status = smooth(&memory, level);
  cuda_amg_free(&memory);
  return status;
}

/* ---- Parts with a window of the rows each ---- */

static ts_status estimate(cuda_amg_memory *memory, cuda_amg_level *level, tsi_amg_range own,
                          tsi_amg_estimates *to, double **diagonal) {
  findings found = {};
  smoothing s;
  double filtered_bound;
  const size_t bytes = (size_t)level->A.rows * sizeof **diagonal;
  if (!*diagonal) TSI_TRY(cuda_alloc(memory->context, (void **)diagonal, bytes, "a level of amg"));
  TSI_TRY(begin_smoothing(memory, level, own, *diagonal, &s, &found));
  TSI_TRY(find_eigenvalue(memory->context, level, &s, &found, &filtered_bound));
  if (found.long_rows > 0) { /* `prolong` needs their list as well */
    cuda_free(memory->context, *diagonal, bytes);
    *diagonal = NULL;
  }
  *to = {level->bound, filtered_bound, level->eigenvalue, (double)found.positive};
  return TS_OK;
}

ts_status cuda_amg_estimate(ts_context *context, cuda_amg_level *level, tsi_amg_range own,
                            tsi_amg_estimates *found, double **diagonal) {
  cuda_amg_memory memory = {context};
  const ts_status status = estimate(&memory, level, own, found, diagonal);
  cuda_amg_free(&memory);
  return status;
}

static ts_status prolong(cuda_amg_memory *memory, cuda_amg_level *level, tsi_amg_range own, double *diagonal,
                         double omega, int32_t reach, double sums[4]) {
  ts_context *context = memory->context;
  findings found = {};
  smoothing s;
  int32_t ends[2];
  if (diagonal)
    TSI_TRY(start_smoothing(memory, level, own, diagonal, &s));
  else
    TSI_TRY(begin_smoothing(memory, level, own, NULL, &s, &found));
  s.omega = omega, s.reach = reach;
  TSI_TRY(smooth_once(context, &s, level, found.long_rows > 0));
  TSI_TRY(cuda_download(context, &ends[0], s.offsets + own.begin, sizeof ends[0]));
  TSI_TRY(cuda_download(context, &ends[1], s.offsets + own.end, sizeof ends[1]));
  TSI_TRY(cuda_download(context, &found, s.found, sizeof found));
  sums[0] = own.end - own.begin, sums[1] = ends[1] - ends[0];
  sums[2] = (double)found.reached, sums[3] = (double)found.by_entries;
  return TS_OK;
}

ts_status cuda_amg_prolong(ts_context *context, cuda_amg_level *level, tsi_amg_range own, double *diagonal,
                           double omega, int32_t reach, double sums[4]) {
  cuda_amg_memory memory = {context};
  const ts_status status = prolong(&memory, level, own, diagonal, omega, reach, sums);
  cuda_amg_free(&memory);
  if (status < 0 && level->P.offsets) cuda_amg_csr_free(context, &level->P);
  return status;
}
