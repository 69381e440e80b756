/* Batches on the host: each thread solves other systems, eight of them at once if their numbers fit into its
 * cache. */
#include <math.h>
#include <string.h>

#include "batch_solve.h"
#include "common/core/clones.h"
#include "common/core/pool.h"

#define BATCH_FUNCTION static inline
#include "batch_rules.h"

enum {
  VECTORS = 10,          /* of each system, in batch_kernel.h */
  CACHE_BYTES = 4 << 20, /* for systems that are solved together */
  ALIGNMENT = 64
};

/* ---- One system: scaled by powers of two into a lane, and back ---- */

typedef struct batch_lane {
  batch_state state;
  batch_facts facts;
  batch_power x_to_user; /* the user's x is this one times the power */
  batch_power x_from_user;
  int is_rounded; /* x in its array differs */
} batch_lane;

/* Numbers of one lane, `stride` apart. */
typedef struct batch_view {
  size_t stride;
  double *values, *b, *x;
} batch_view;

/* Numbers offset .. offset + count - 1 of an array as doubles; floats are converted into `scratch`. */
static const double *doubles_at(const ts_array *array, size_t offset, size_t count, double *scratch) {
  if (array->type == TS_TYPE_DOUBLE) return (const double *)array->data + offset;
  const float *floats = (const float *)array->data + offset;
  for (size_t k = 0; k < count; k++) scratch[k] = (double)floats[k];
  return scratch;
}

/* The largest magnitude. The bits of magnitudes compare like the magnitudes, and NaN is the largest. Comparing
 * bits can be vectorised. */
static CPU_CLONES double largest_of(const double *numbers, size_t count) {
  uint64_t most = 0;
  double value;
  for (size_t k = 0; k < count; k++) {
    uint64_t bits;
    memcpy(&bits, &numbers[k], sizeof bits);
    bits &= UINT64_MAX >> 1;
    most = bits > most ? bits : most;
  }
  memcpy(&value, &most, sizeof value);
  return value;
}

static void load_values(const tsi_batch_job *job, const double *given, const batch_power *power,
                        const batch_view *to) {
  const tsi_batch_pattern *p = job->pattern;
  if (p->in_order) {
    for (int32_t e = 0; e < p->entries; e++) to->values[(size_t)e * to->stride] = batch_times(given[e], power);
    return;
  }
  for (int32_t e = 0; e < p->entries; e++) {
    double sum = 0;
    for (int32_t s = p->first[e]; s < p->first[e + 1]; s++) sum += batch_times(given[p->sources[s]], power);
    to->values[(size_t)e * to->stride] = sum;
  }
}

/* Sets every number of the lane to 0: a system that does not exist or is not finite. */
static void clear_lane(const tsi_batch_pattern *p, const batch_view *to) {
  for (int32_t e = 0; e < p->entries; e++) to->values[(size_t)e * to->stride] = 0;
  for (int32_t i = 0; i < p->rows; i++) to->b[(size_t)i * to->stride] = to->x[(size_t)i * to->stride] = 0;
}

/* The start; 0 if none is given, if b is 0, or if it is not representable in the scale of the solution. */
static void load_start(const tsi_batch_pattern *p, const double *given, const batch_view *to, batch_lane *lane,
                       int b_is_zero) {
  int is_usable = given && !b_is_zero;
  for (int32_t i = 0; i < p->rows && given; i++) {
    if (b_is_zero && given[i] != 0) lane->state.x_was_zeroed = 1;
    if (!batch_is_finite(batch_times(given[i], &lane->x_from_user))) is_usable = 0;
  }
  for (int32_t i = 0; i < p->rows; i++)
    to->x[(size_t)i * to->stride] = is_usable ? batch_times(given[i], &lane->x_from_user) : 0;
}

/* Loads system k. */
static void batch_load(const tsi_batch_job *job, size_t k, const batch_view *to, batch_lane *lane,
                       double *scratch) {
  const tsi_batch_pattern *p = job->pattern;
  const size_t rows = (size_t)p->rows, given = (size_t)p->given;
  *lane = (batch_lane){0};
  if (k >= job->systems) {
    clear_lane(p, to);
    return;
  }
  const double *values = doubles_at(&job->values, k * given, given, scratch);
  const double largest = largest_of(values, given);
  const int exponent = batch_exponent(largest);
  const batch_power from_values = batch_power_of_two(-exponent);
  if (batch_is_finite(largest)) load_values(job, values, &from_values, to);

  const double *b = doubles_at(&job->b, k * rows, rows, scratch);
  const double largest_b = largest_of(b, rows);
  const int exponent_b = batch_exponent(largest_b);
  const batch_power from_b = batch_power_of_two(-exponent_b);
  for (size_t i = 0; i < rows; i++) to->b[i * to->stride] = batch_times(b[i], &from_b);
  lane->x_to_user = batch_power_of_two(exponent_b - exponent);
  lane->x_from_user = batch_power_of_two(exponent - exponent_b);

  const double *start = job->zero_start ? NULL : doubles_at(&job->x, k * rows, rows, scratch);
  lane->facts.is_finite = batch_is_finite(largest) && batch_is_finite(largest_b) &&
                          (!start || batch_is_finite(largest_of(start, rows)));
  if (!lane->facts.is_finite)
    clear_lane(p, to);
  else
    load_start(p, start, to, lane, largest_b == 0);
}

/* Whether the array of x can hold the solution. */
static int fits(const tsi_batch_job *job, const batch_view *from, const batch_lane *lane) {
  const double most = batch_largest_of(job->x.type);
  for (int32_t i = 0; i < job->pattern->rows; i++)
    if (!(fabs(batch_times(from->x[(size_t)i * from->stride], &lane->x_to_user)) <= most)) return 0;
  return 1;
}

/* Stores a solution and replaces it by the stored numbers. Returns whether that differs. */
static int store_x(const tsi_batch_job *job, size_t k, const batch_view *from, const batch_lane *lane) {
  const size_t rows = (size_t)job->pattern->rows;
  int differs = 0;
  for (size_t i = 0; i < rows; i++) {
    double *x = &from->x[i * from->stride];
    tsi_array_set(&job->x, k * rows + i, batch_times(*x, &lane->x_to_user));
    const double stored = batch_times(tsi_array_number(&job->x, k * rows + i, 0), &lane->x_from_user);
    differs |= stored != *x;
    *x = stored;
  }
  return differs;
}

/* Stores the outcome of system k. Returns whether its residual must be computed for x as stored. */
static int batch_store(const tsi_batch_job *job, size_t k, const batch_view *from, batch_lane *lane) {
  const batch_state *s = &lane->state;
  const size_t rows = (size_t)job->pattern->rows;
  ts_batch_result *result = &job->results[k];
  const int is_finite = lane->facts.is_finite, is_kept = !is_finite || !fits(job, from, lane);
  *result = (ts_batch_result){
      .relative_residual = is_finite ? batch_relative(s->best, s) : NAN,
      .reason = is_finite && is_kept ? TS_REASON_BREAKDOWN : s->reason,
      .method = s->method,
      .iterations = s->iterations,
      .restarts = s->restarts,
  };
  result->rounded_residual = is_kept ? NAN : result->relative_residual;
  lane->is_rounded = !is_kept && store_x(job, k, from, lane);
  for (size_t i = 0; i < rows && is_kept && job->zero_start; i++) tsi_array_set(&job->x, k * rows + i, 0);
  return lane->is_rounded;
}

/* ---- Eight systems at once, or one ---- */

#define LANE(pack, lane) (((double *)&(pack))[lane])

#if defined(__GNUC__)
typedef double batch_pack __attribute__((vector_size(64)));
typedef int64_t batch_mask __attribute__((vector_size(64)));
#define PACK batch_pack
#define LANES 8
#define MASK batch_mask
#define MASK_LANE(mask, lane) ((mask)[lane] != 0)
#define KERNEL(name) batch_eight_##name
#include "batch_kernel.h"
#undef PACK
#undef LANES
#undef MASK
#undef MASK_LANE
#undef KERNEL
#endif

#define PACK double
#define LANES 1
#define MASK int
#define MASK_LANE(mask, lane) (mask)
#define KERNEL(name) batch_one_##name
#include "batch_kernel.h"
#undef PACK
#undef LANES
#undef MASK
#undef MASK_LANE
#undef KERNEL

/* ---- Threads ---- */

typedef struct shares {
  const tsi_batch_job *job;
  size_t lanes, count; /* count: shares, one after the other; each has a block of memory */
  char *blocks;
  size_t block_bytes;
} shares;

static size_t first_of_share(const shares *s, size_t share) {
  const size_t groups = (s->job->systems + s->lanes - 1) / s->lanes;
  const size_t first = groups / s->count * share + (share < groups % s->count ? share : groups % s->count);
  const size_t system = first * s->lanes;
  return system < s->job->systems ? system : s->job->systems;
}

static void solve_shares(const void *arguments, size_t first, size_t last) {
  const shares *s = arguments;
  for (size_t k = first; k < last; k++) {
    void *block = s->blocks + k * s->block_bytes;
    const size_t begin = first_of_share(s, k), end = first_of_share(s, k + 1);
#if defined(__GNUC__)
    if (s->lanes > 1) {
      batch_eight_solve_range(s->job, begin, end, block);
      continue;
    }
#endif
    batch_one_solve_range(s->job, begin, end, block);
  }
}

static size_t block_bytes(const tsi_batch_pattern *p, size_t lanes) {
  const size_t rows = (size_t)p->rows, given = (size_t)p->given;
  const size_t doubles = lanes * ((size_t)p->entries + VECTORS * rows) + (given > rows ? given : rows);
  return (doubles * sizeof(double) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Eight systems at once take about as long as two. */
static size_t choose_lanes(const tsi_batch_job *job, int threads) {
#if defined(__GNUC__)
  if (job->systems > 2 * (size_t)threads && block_bytes(job->pattern, 8) <= CACHE_BYTES) return 8;
#else
  (void)job, (void)threads;
#endif
  return 1;
}

static ts_status solve_host_arrays(ts_context *context, const tsi_batch_job *job) {
  shares s = {.job = job};
  int threads;
  TSI_TRY(tsi_threads(context, &threads));
  s.lanes = choose_lanes(job, threads);
  const size_t groups = (job->systems + s.lanes - 1) / s.lanes;
  s.count = groups < (size_t)threads ? groups : (size_t)threads;
  s.block_bytes = block_bytes(job->pattern, s.lanes);
  const size_t bytes = s.count * s.block_bytes + ALIGNMENT;
  char *memory = tsi_malloc(context, bytes, 1);
  if (!memory) return tsi_out_of_memory(context, "the vectors of a batch", bytes);
  s.blocks = memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT) % ALIGNMENT;
  tsi_parallel(context, s.count, solve_shares, &s);
  tsi_free(context, memory);
  return TS_OK;
}

/* ---- Arrays ---- */

static ts_status on_host(ts_context *context, const tsi_batch_job *job, tsi_loans *loans, tsi_batch_job *host) {
  const void *values, *b;
  void *x;
  *host = *job;
  TSI_TRY(tsi_array_borrow(context, "values", &job->values, job->values.count, TSI_FLOATING, loans, &values));
  TSI_TRY(tsi_array_borrow(context, "b", &job->b, job->b.count, TSI_FLOATING, loans, &b));
  TSI_TRY(tsi_array_lend(context, &job->x, loans, &x));
  host->values = ts_array_make(values, job->values.count, job->values.type, 1);
  host->b = ts_array_make(b, job->b.count, job->b.type, 1);
  host->x = ts_array_make(x, job->x.count, job->x.type, 0);
  if (x == job->x.data) return TS_OK;
  return context->device_ops->arrays->read(context, &job->x, x, job->x.count * tsi_type_size(job->x.type));
}

ts_status tsi_batch_solve_on_host(ts_context *context, const tsi_batch_job *job) {
  tsi_loans loans = {0};
  tsi_batch_job host;
  ts_status status = on_host(context, job, &loans, &host);
  if (status == TS_OK) status = solve_host_arrays(context, &host);
  if (status == TS_OK) status = tsi_array_return(context, &job->x, host.x.data);
  tsi_loans_free(context, &loans);
  return status;
}
