/* Complementarity problems on the CPU: storage, and the operations over the problems of a batch. */
#include <math.h>
#include <string.h>

#include "cpu_lcp.h"

/* ---- Storage ---- */

static void put(const ts_lcp *lcp, void *to, size_t at, double value) {
  if (lcp->is_double)
    ((double *)to)[at] = value;
  else
    ((float *)to)[at] = (float)value;
}

/* Divides one block of memory; if `block` is NULL, counts the bytes. The matrix is last, so that it has
 * separate pages. A sparse matrix has a separate block. */
static size_t lay_out(const ts_lcp *lcp, cpu_lcp *impl, unsigned char *block) {
  const size_t n = (size_t)lcp->size, batch = (size_t)lcp->batch, size = cpu_lcp_size_of(lcp);
  const size_t is_dense = !cpu_lcp_is_sparse(lcp), threads = is_dense ? cpu_lcp_threads(lcp) : 1;
  const size_t several = is_dense && (cpu_lcp_blocks(lcp) > 1 || lcp->dimension > 1);
  const size_t copies = threads > 1 ? threads : 0;
  size_t used = 0;
  impl->stride = is_dense ? (n + CPU_LCP_LANES - 1) / CPU_LCP_LANES * CPU_LCP_LANES : n;
  impl->rows = several ? (n + 3) / 4 * 4 : n;
  impl->z = cpu_lcp_suballoc(block, &used, batch * impl->stride * size);
  impl->q = cpu_lcp_suballoc(block, &used, batch * impl->stride * size);
  impl->w = cpu_lcp_suballoc(block, &used, several * batch * impl->stride * size);
  impl->deltas = cpu_lcp_suballoc(block, &used, several * batch * impl->stride * size);
  impl->copies = cpu_lcp_suballoc(block, &used, copies * impl->stride * size);
  impl->shared = cpu_lcp_suballoc(block, &used, (copies > 0) * impl->stride * size);
  impl->lower = cpu_lcp_suballoc(block, &used, batch * n * size);
  impl->upper = cpu_lcp_suballoc(block, &used, batch * n * size);
  impl->friction = cpu_lcp_suballoc(block, &used, batch * n * size);
  impl->sums = cpu_lcp_suballoc(block, &used, 2 * batch * cpu_lcp_row_blocks(n) * sizeof *impl->sums);
  impl->vector_bytes = used;
  impl->diagonal = cpu_lcp_suballoc(block, &used, several * batch * impl->rows * cpu_lcp_block(lcp) * size);
  if (!several) impl->diagonal = NULL;
  const size_t reduced =
      is_dense && lcp->dimension > 1 ? batch * n / (size_t)lcp->dimension * CPU_LCP_REDUCED : 0;
  impl->reduced = cpu_lcp_suballoc(block, &used, reduced * size);
  impl->matrix = cpu_lcp_suballoc(block, &used, is_dense * batch * impl->rows * impl->stride * size);
  return used;
}

/* Does not touch the matrix, so that its pages belong to the threads that write it. */
ts_status cpu_lcp_create(ts_lcp *lcp) {
  ts_context *context = lcp->context;
  cpu_lcp sizes;
  const size_t bytes = lay_out(lcp, &sizes, NULL) + CPU_ALIGNMENT;
  TSI_TRY(tsi_device_alloc(context, bytes, "a dense matrix"));
  cpu_lcp *impl = tsi_calloc(context, 1, sizeof *impl);
  void *block = impl ? tsi_malloc(context, bytes, 1) : NULL;
  if (!block) {
    tsi_free(context, impl);
    tsi_device_free(context, bytes);
    return tsi_out_of_memory(context, "a dense matrix", bytes);
  }
  const uintptr_t start = ((uintptr_t)block + CPU_ALIGNMENT - 1) / CPU_ALIGNMENT * CPU_ALIGNMENT;
  lay_out(lcp, impl, (unsigned char *)start);
  memset((void *)start, 0, impl->vector_bytes);
  impl->block = block;
  impl->bytes = bytes;
  lcp->impl = impl;
  return TS_OK;
}

void cpu_lcp_destroy(ts_lcp *lcp) {
  cpu_lcp *impl = lcp->impl;
  cpu_lcp_forget_columns(lcp);
  cpu_lcp_forget_sparse(lcp);
  tsi_device_free(lcp->context, impl->bytes);
  tsi_free(lcp->context, impl->block);
  tsi_free(lcp->context, impl);
  lcp->impl = NULL;
}

ts_status cpu_lcp_write_limits(const ts_lcp *lcp) {
  cpu_lcp *impl = lcp->impl;
  for (size_t i = 0; i < tsi_lcp_unknowns(lcp); i++) {
    put(lcp, impl->lower, i, tsi_lcp_bound(lcp, lcp->lower, i, 0));
    put(lcp, impl->upper, i, tsi_lcp_bound(lcp, lcp->upper, i, INFINITY));
  }
  for (size_t k = 0; lcp->friction && k < tsi_lcp_unknowns(lcp) / (size_t)lcp->dimension; k++)
    put(lcp, impl->friction, k, lcp->friction[k]);
  return TS_OK;
}

/* ---- Vectors, in the form that sweeps use ---- */

/* Copies n numbers starting at `begin`, and back. Writing also replaces `from` by the stored, rounded
 * values. */
#define COPY_NUMBERS(type)                                                                                     \
  static void read_##type(cpu_parts from, size_t begin, size_t n, type *to) {                                  \
    const float *high = from.high + begin, *low = from.low ? from.low + begin : NULL;                          \
    const float *lowest = from.lowest ? from.lowest + begin : NULL;                                            \
    for (size_t i = 0; i < n && !low; i++) to[i] = (type)high[i];                                              \
    for (size_t i = 0; i < n && low; i++) to[i] = (type)((double)high[i] + (double)low[i]);                    \
    for (size_t i = 0; i < n && low && lowest; i++)                                                            \
      to[i] = (type)((double)high[i] + ((double)low[i] + (double)lowest[i]));                                  \
  }                                                                                                            \
  static void write_##type(cpu_parts to, size_t begin, size_t n, type *from) {                                 \
    float *high = to.high + begin, *low = to.low ? to.low + begin : NULL;                                      \
    for (size_t i = 0; i < n; i++) high[i] = (float)from[i];                                                   \
    for (size_t i = 0; i < n && low; i++) {                                                                    \
      const double remainder = (double)from[i] - (double)high[i]; /* of what is not finite NaN */              \
      low[i] = remainder == remainder ? (float)remainder : 0;                                                  \
    }                                                                                                          \
    read_##type((cpu_parts){to.high, to.low, NULL}, begin, n, from);                                           \
  }
COPY_NUMBERS(float)
COPY_NUMBERS(double)

/* Converts each problem to the matrix's type. A vector always has a first part; the check is for the static
 * analyser. */
static void read_vector(const ts_lcp *lcp, const ts_vector *v, void *to) {
  const cpu_lcp *impl = lcp->impl;
  const size_t n = (size_t)lcp->size;
  const cpu_parts from = cpu_parts_of(v);
  for (size_t k = 0; from.high && k < (size_t)lcp->batch; k++)
    if (lcp->is_double)
      read_double(from, k * n, n, (double *)to + k * impl->stride);
    else
      read_float(from, k * n, n, (float *)to + k * impl->stride);
}

static void write_vector(const ts_lcp *lcp, ts_vector *v, void *from) {
  const cpu_lcp *impl = lcp->impl;
  const size_t n = (size_t)lcp->size;
  const cpu_parts to = cpu_parts_of(v);
  for (size_t k = 0; to.high && k < (size_t)lcp->batch; k++)
    if (lcp->is_double)
      write_double(to, k * n, n, (double *)from + k * impl->stride);
    else
      write_float(to, k * n, n, (float *)from + k * impl->stride);
}

/* ---- Sweeps ---- */

size_t cpu_lcp_threads(const ts_lcp *lcp) {
  const size_t threads = (size_t)cpu_state_of(lcp->context)->threads, blocks = cpu_lcp_blocks(lcp);
  if ((size_t)lcp->batch >= threads) return 1;
  const size_t most = blocks < threads ? blocks : threads;
  return most < CPU_LCP_MEMBERS ? most : CPU_LCP_MEMBERS;
}

/* Minimum number of blocks for two threads. In single precision they were 1.2 times as fast as one with 500
 * unknowns and 1.6 times with 700. With 300 they gained nothing, because the diagonal blocks are sequential.
 * With contacts they were 1.7 times as fast with 500 unknowns and 1.6 times with 1389. If many contacts have no
 * reaction, `block` skips their columns and is even faster. If most have one, it is slower than the loop by
 * rows, so it is used only on request. */
enum { least_blocks = 8 };

/* One thread, unknowns of several blocks. If all unknowns change, `block` took 0.6 of the loop's time with 100
 * and 300 unknowns. It took as long with 1000 and 1.4 times as long with 2000 and 3000. If half of them stay at
 * their bounds, it took 0.3 to 0.5. With more numbers than this, the columns of unsymmetric matrices use too
 * much memory. */
enum { most_by_columns = 1 << 23 };

static int pays_by_columns(const ts_lcp *lcp) {
  return lcp->dimension == 1 && cpu_lcp_threads(lcp) == 1 && cpu_lcp_blocks(lcp) > 1 &&
         tsi_lcp_entries(lcp) <= most_by_columns;
}

ts_lcp_scheme cpu_lcp_scheme(const ts_context *context, const ts_lcp *lcp, ts_lcp_scheme scheme) {
  (void)context;
  if (lcp && cpu_lcp_is_sparse(lcp)) return cpu_lcp_sparse_scheme(lcp, scheme);
  if (scheme != TS_LCP_SCHEME_AUTO) return scheme;
  if (lcp && pays_by_columns(lcp)) return TS_LCP_SCHEME_BLOCK;
  const int pays = lcp && cpu_lcp_threads(lcp) > 1 && cpu_lcp_blocks(lcp) >= least_blocks;
  return pays ? TS_LCP_SCHEME_GRAPH : TS_LCP_SCHEME_ROW;
}

typedef struct sweep_job {
  const ts_lcp *lcp;
  ts_lcp_scheme scheme;
  int sweeps;
  size_t problem;     /* the problem of a team */
  cpu_lcp_team *team; /* NULL: one thread per problem */
} sweep_job;

static void sweep_problem(const sweep_job *job, size_t problem, const cpu_lcp_member *self) {
  const cpu_lcp_run run = {
      .lcp = job->lcp, .self = self, .problem = problem, .scheme = job->scheme, .sweeps = job->sweeps};
  (job->lcp->is_double ? cpu_lcp_sweep_double : cpu_lcp_sweep_float)(&run);
}

static void body_problems(const void *arguments, size_t first, size_t last) {
  for (size_t k = first; k < last; k++) {
    cpu_lcp_team team;
    cpu_lcp_team_init(&team, 1, 0);
    sweep_problem(arguments, k, &(cpu_lcp_member){.team = &team, .members = 1});
  }
}

static void body_shared(const void *arguments, size_t first, size_t last) {
  const sweep_job *job = arguments;
  cpu_lcp_member self;
  if (cpu_lcp_join(job->team, first, last - first < job->team->asked, &self))
    sweep_problem(job, job->problem, &self);
}

/* Sweeps one problem with several threads, each with enough work. The row scheme uses one thread, because each
 * row's product would have to be passed on. Threads wait for each other within the job, so the cost of a lost
 * core appears in those waits. */
static void sweep_shared(const sweep_job *of, size_t threads) {
  const ts_context *context = of->lcp->context;
  const size_t n = (size_t)of->lcp->size, work = n * n * (size_t)of->sweeps;
  const size_t worth = work / (size_t)context->tuning.thread_floats;
  cpu_lcp_team team;
  sweep_job job = *of;
  if (of->scheme == TS_LCP_SCHEME_ROW || worth < 2) threads = 1;
  if (worth < threads) threads = worth;
  if (threads < 2) {
    body_problems(&job, job.problem, job.problem + 1);
    return;
  }
  const double quarter = (double)work * 3e-11; /* about a quarter of one thread's time */
  cpu_lcp_team_init(&team, threads, fmin(fmax(quarter, 20e-6), 500e-6));
  job.team = &team;
  cpu_for(context, threads, work / threads + 1, body_shared, &job);
  if (team.lost > 0) cpu_pace_note(&cpu_state_of(context)->pace, tsi_seconds(), team.lost);
}

/* A single block of contacts uses columns with every scheme. */
static int needs_columns(const ts_lcp *lcp, ts_lcp_scheme scheme) {
  if (cpu_lcp_is_sparse(lcp)) return 0;
  if (cpu_lcp_blocks(lcp) == 1) return lcp->dimension > 1;
  return scheme == TS_LCP_SCHEME_COLUMN || scheme == TS_LCP_SCHEME_BLOCK;
}

/* Computes impl->z after `sweeps` sweeps with impl->q. */
static ts_status run_sweeps(const ts_lcp *lcp, ts_lcp_scheme scheme, int sweeps) {
  const size_t n = (size_t)lcp->size, threads = cpu_lcp_threads(lcp);
  sweep_job job = {.lcp = lcp, .scheme = scheme, .sweeps = sweeps};
  if (cpu_lcp_is_sparse(lcp)) return cpu_lcp_sweep_sparse(lcp, scheme, sweeps, 0);
  if (needs_columns(lcp, scheme)) TSI_TRY(cpu_lcp_make_columns(lcp));
  if (threads == 1) cpu_for(lcp->context, (size_t)lcp->batch, n * n * (size_t)sweeps, body_problems, &job);
  for (; threads > 1 && job.problem < (size_t)lcp->batch; job.problem++) sweep_shared(&job, threads);
  return TS_OK;
}

ts_status cpu_lcp_sweep(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme, int sweeps) {
  const cpu_lcp *impl = lcp->impl;
  read_vector(lcp, q, impl->q);
  read_vector(lcp, z, impl->z);
  TSI_TRY(run_sweeps(lcp, scheme, sweeps));
  write_vector(lcp, z, impl->z);
  return TS_OK;
}

/* ---- Residuals ---- */

typedef struct map_job {
  const ts_lcp *lcp;
  const ts_vector *q; /* for an exact w; NULL: w as in the sweeps */
  ts_vector *map;     /* NULL: compute sums of squares */
  double *sums;
} map_job;

static void body_map(const void *arguments, size_t first, size_t last) {
  const map_job *job = arguments;
  const ts_lcp *lcp = job->lcp;
  const size_t n = (size_t)lcp->size, blocks = cpu_lcp_row_blocks((size_t)lcp->size);
  for (size_t b = first; b < last; b++) {
    const size_t problem = b / blocks, row = b % blocks * cpu_lcp_rows_at_once;
    const size_t end = row + cpu_lcp_rows_at_once < n ? row + cpu_lcp_rows_at_once : n;
    double q[cpu_lcp_rows_at_once], values[cpu_lcp_rows_at_once], sum = 0;
    if (job->q) read_double(cpu_parts_of(job->q), problem * n + row, end - row, q);
    (lcp->is_double ? cpu_lcp_map_double : cpu_lcp_map_float)(lcp, job->q ? q : NULL, problem, row, end,
                                                              values);
    if (job->map) {
      write_double(cpu_parts_of(job->map), problem * n + row, end - row, values);
    } else {
      for (size_t i = 0; i < end - row; i++) sum += values[i] * values[i];
      job->sums[b] = sum;
    }
  }
}

/* Uses impl->z and impl->q. */
static void find_map(const map_job *job) {
  const ts_lcp *lcp = job->lcp;
  if (cpu_lcp_is_sparse(lcp))
    (lcp->is_double ? cpu_lcp_velocity_sparse_double : cpu_lcp_velocity_sparse_float)(lcp, job->q != NULL);
  cpu_for(lcp->context, cpu_lcp_row_blocks((size_t)lcp->size) * (size_t)lcp->batch,
          (size_t)lcp->size * cpu_lcp_rows_at_once, body_map, job);
}

ts_status cpu_lcp_residual(ts_vector *map, const ts_lcp *lcp, const ts_vector *q, const ts_vector *z,
                           int exact) {
  const cpu_lcp *impl = lcp->impl;
  read_vector(lcp, q, impl->q);
  read_vector(lcp, z, impl->z);
  find_map(&(map_job){.lcp = lcp, .q = exact ? q : NULL, .map = map});
  return TS_OK;
}

/* Includes the padding of each problem, which is 0. */
#define NORM(type)                                                                                             \
  static double norm_##type(const type *x, size_t count) {                                                     \
    double sums[4] = {0};                                                                                      \
    for (size_t i = 0; i < count; i++) sums[i % 4] += (double)x[i] * (double)x[i];                             \
    return sqrt((sums[0] + sums[1]) + (sums[2] + sums[3]));                                                    \
  }
NORM(float)
NORM(double)

static double norm_of(const ts_lcp *lcp, const void *x) {
  const size_t count = (size_t)lcp->batch * ((const cpu_lcp *)lcp->impl)->stride;
  return lcp->is_double ? norm_double(x, count) : norm_float(x, count);
}

/* Adds up the blocks in order, so the sum does not depend on the threads. */
static ts_status sweep_and_test(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme,
                                int sweeps, double *residual, double *norm_q) {
  const cpu_lcp *impl = lcp->impl;
  double sum = 0;
  if (needs_columns(lcp, scheme)) TSI_TRY(cpu_lcp_make_columns(lcp));
  read_vector(lcp, q, impl->q);
  read_vector(lcp, z, impl->z);
  if (sweeps > 0) {
    TSI_TRY(run_sweeps(lcp, scheme, sweeps));
    write_vector(lcp, z, impl->z);
  }
  find_map(&(map_job){.lcp = lcp, .sums = impl->sums});
  for (size_t b = 0; b < cpu_lcp_row_blocks((size_t)lcp->size) * (size_t)lcp->batch; b++) sum += impl->sums[b];
  *residual = sqrt(sum);
  if (norm_q) *norm_q = norm_of(lcp, impl->q);
  return TS_OK;
}

static ts_status sweep_ahead(const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme, int sweeps,
                             ts_vector *from, ts_vector *last, ts_vector *counts) {
  const cpu_lcp *impl = lcp->impl;
  read_vector(lcp, q, impl->q);
  read_vector(lcp, from, impl->sparse.from);
  read_vector(lcp, last, impl->sparse.last);
  read_vector(lcp, counts, impl->sparse.counts);
  TSI_TRY(cpu_lcp_sweep_sparse(lcp, scheme, sweeps, 1));
  write_vector(lcp, from, impl->sparse.from);
  write_vector(lcp, last, impl->sparse.last);
  write_vector(lcp, counts, impl->sparse.counts);
  write_vector(lcp, lcp->z, impl->z);
  return TS_OK;
}

const tsi_lcp_ops cpu_lcp_ops = {TSI_LCP_OPERATIONS(TSI_ENTRY, TSI_ENTRY, cpu_lcp_).sweep_and_test =
                                     sweep_and_test,
                                 .add_momentum = cpu_lcp_add_momentum, .sweep_ahead = sweep_ahead,
                                 .is_symmetric = cpu_lcp_is_nearly_symmetric, .tests_early = 1};
