/* Complementarity problems on the CPU: storage, and what runs over the problems of a batch. */
#include <math.h>
#include <string.h>

#include "cpu_lcp.h"

TSI_LCP_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, cpu_lcp_)

/* ---- Storage ---- */

static size_t size_of(const ts_lcp *lcp) {
  return lcp->is_double ? sizeof(double) : sizeof(float);
}

static void put(const ts_lcp *lcp, void *to, size_t at, double value) {
  if (lcp->is_double)
    ((double *)to)[at] = value;
  else
    ((float *)to)[at] = (float)value;
}

static double get(const ts_lcp *lcp, const void *from, size_t at) {
  return lcp->is_double ? ((const double *)from)[at] : (double)((const float *)from)[at];
}

static void *take(unsigned char **next, size_t bytes) {
  void *taken = *next;
  *next += (bytes + CPU_ALIGNMENT - 1) / CPU_ALIGNMENT * CPU_ALIGNMENT;
  return taken;
}

/* Parts of one block; NULL: counts what they need. */
static size_t lay_out(const ts_lcp *lcp, cpu_lcp *impl, unsigned char *block) {
  const size_t n = (size_t)lcp->size, batch = (size_t)lcp->batch, size = size_of(lcp);
  unsigned char *next = block;
  impl->stride = (n + CPU_LCP_LANES - 1) / CPU_LCP_LANES * CPU_LCP_LANES;
  impl->matrix = take(&next, batch * n * impl->stride * size);
  impl->z = take(&next, batch * impl->stride * size);
  impl->q = take(&next, batch * impl->stride * size);
  impl->lower = take(&next, batch * n * size);
  impl->upper = take(&next, batch * n * size);
  impl->friction = take(&next, batch * n * size);
  return (size_t)(next - block);
}

ts_status cpu_lcp_create(ts_lcp *lcp) {
  ts_context *context = lcp->context;
  cpu_lcp sizes;
  const size_t bytes = lay_out(lcp, &sizes, NULL) + CPU_ALIGNMENT;
  TSI_TRY(tsi_device_take(context, bytes, "a dense matrix"));
  cpu_lcp *impl = tsi_calloc(context, 1, sizeof *impl);
  void *block = impl ? tsi_calloc(context, bytes, 1) : NULL;
  if (!block) {
    tsi_free(context, impl);
    tsi_device_give(context, bytes);
    return tsi_out_of_memory(context, "a dense matrix", bytes);
  }
  const uintptr_t start = ((uintptr_t)block + CPU_ALIGNMENT - 1) / CPU_ALIGNMENT * CPU_ALIGNMENT;
  lay_out(lcp, impl, (unsigned char *)start);
  impl->block = block;
  impl->bytes = bytes;
  lcp->impl = impl;
  return TS_OK;
}

void cpu_lcp_destroy(ts_lcp *lcp) {
  cpu_lcp *impl = lcp->impl;
  tsi_device_give(lcp->context, impl->bytes);
  tsi_free(lcp->context, impl->block);
  tsi_free(lcp->context, impl);
  lcp->impl = NULL;
}

typedef struct write_job {
  const ts_lcp *lcp;
  const tsi_lcp_matrix *matrix;
} write_job;

static void body_write(const void *arguments, size_t first, size_t last) {
  const write_job *job = arguments;
  const cpu_lcp *impl = job->lcp->impl;
  const size_t n = (size_t)job->lcp->size;
  for (size_t i = first; i < last; i++)
    for (size_t j = 0; j < n; j++)
      put(job->lcp, impl->matrix, i * impl->stride + j,
          job->matrix->single ? (double)job->matrix->single[i * n + j] : job->matrix->doubles[i * n + j]);
}

ts_status cpu_lcp_write_matrix(ts_lcp *lcp, const tsi_lcp_matrix *matrix) {
  cpu_for(lcp->context, tsi_lcp_unknowns(lcp), (size_t)lcp->size, body_write, &(write_job){lcp, matrix});
  return TS_OK;
}

ts_status cpu_lcp_write_limits(ts_lcp *lcp) {
  cpu_lcp *impl = lcp->impl;
  for (size_t i = 0; i < tsi_lcp_unknowns(lcp); i++) {
    put(lcp, impl->lower, i, lcp->lower ? lcp->lower[i] : 0);
    put(lcp, impl->upper, i, lcp->upper ? lcp->upper[i] : INFINITY);
  }
  for (size_t k = 0; lcp->friction && k < tsi_lcp_unknowns(lcp) / (size_t)lcp->dimension; k++)
    put(lcp, impl->friction, k, lcp->friction[k]);
  return TS_OK;
}

/* ---- Vectors, as the sweeps have them ---- */

static void read_vector(const ts_lcp *lcp, const ts_vector *v, void *to) {
  const cpu_lcp *impl = lcp->impl;
  const size_t n = (size_t)lcp->size;
  const float *first = cpu_data(v), *low = v->low ? cpu_data(v->low) : NULL;
  const float *third = low && v->low->low ? cpu_data(v->low->low) : NULL;
  for (size_t i = 0; i < tsi_lcp_unknowns(lcp); i++) {
    const double value = (double)first[i] + ((low ? (double)low[i] : 0) + (third ? (double)third[i] : 0));
    put(lcp, to, i / n * impl->stride + i % n, value);
  }
}

static void write_number(ts_vector *v, size_t i, double value) {
  cpu_data(v)[i] = (float)value;
  if (v->low) cpu_data(v->low)[i] = isfinite(value) ? (float)(value - (double)(float)value) : 0;
}

/* ---- Sweeps ---- */

ts_lcp_scheme cpu_lcp_scheme(const ts_context *context, const ts_lcp *lcp, ts_lcp_scheme scheme) {
  (void)context;
  (void)lcp;
  return scheme == TS_LCP_SCHEME_AUTO || scheme == TS_LCP_SCHEME_ROW ? TS_LCP_SCHEME_ROW : TS_LCP_SCHEME_AUTO;
}

typedef struct sweep_job {
  const ts_lcp *lcp;
  ts_lcp_scheme scheme;
  int sweeps;
} sweep_job;

static void body_sweep(const void *arguments, size_t first, size_t last) {
  const sweep_job *job = arguments;
  for (size_t k = first; k < last; k++) {
    const cpu_lcp_run run = {.lcp = job->lcp, .problem = k, .scheme = job->scheme, .sweeps = job->sweeps};
    (job->lcp->is_double ? cpu_lcp_sweep_double : cpu_lcp_sweep_float)(&run);
  }
}

ts_status cpu_lcp_sweep(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme, int sweeps) {
  const cpu_lcp *impl = lcp->impl;
  const size_t n = (size_t)lcp->size;
  read_vector(lcp, q, impl->q);
  read_vector(lcp, z, impl->z);
  cpu_for(lcp->context, (size_t)lcp->batch, n * n * (size_t)sweeps, body_sweep,
          &(sweep_job){.lcp = lcp, .scheme = scheme, .sweeps = sweeps});
  for (size_t i = 0; i < tsi_lcp_unknowns(lcp); i++)
    write_number(z, i, get(lcp, impl->z, i / n * impl->stride + i % n));
  return TS_OK;
}

typedef struct map_job {
  const ts_lcp *lcp;
  ts_vector *map;
} map_job;

enum { map_block = 48 }; /* rows, a multiple of every dimension */

static void body_map(const void *arguments, size_t first, size_t last) {
  const map_job *job = arguments;
  const ts_lcp *lcp = job->lcp;
  const size_t n = (size_t)lcp->size, blocks = (n + map_block - 1) / map_block;
  for (size_t b = first; b < last; b++) {
    const size_t problem = b / blocks, row = b % blocks * map_block;
    const size_t end = row + map_block < n ? row + map_block : n;
    double values[map_block];
    (lcp->is_double ? cpu_lcp_map_double : cpu_lcp_map_float)(lcp, problem, row, end, values);
    for (size_t i = row; i < end; i++) write_number(job->map, problem * n + i, values[i - row]);
  }
}

ts_status cpu_lcp_residual(ts_vector *map, const ts_lcp *lcp, const ts_vector *q, const ts_vector *z) {
  const cpu_lcp *impl = lcp->impl;
  const size_t n = (size_t)lcp->size, blocks = (n + map_block - 1) / map_block;
  read_vector(lcp, q, impl->q);
  read_vector(lcp, z, impl->z);
  cpu_for(lcp->context, blocks * (size_t)lcp->batch, n * map_block, body_map, &(map_job){lcp, map});
  return TS_OK;
}

const tsi_lcp_ops cpu_lcp_ops = {TSI_LCP_OPERATIONS(TSI_ENTRY, TSI_ENTRY, cpu_lcp_)};
