/* The momentum of accelerated sweeps (lcp/lcp_accelerate.c) in two passes: first the products, then the
 * starting point of the next sweep. Block sums are added in order, so the result does not depend on the
 * threads. */
#include "cpu_lcp.h"

enum { lanes = 8 }; /* cpu_lcp_rows_at_once is a multiple of it */

typedef struct momentum_job {
  cpu_parts z, from, last;
  size_t count;
  double *sums; /* per block: d^T d and d^T m */
  double weight;
} momentum_job;

CPU_CLONES static void body_products(const void *arguments, size_t first, size_t end) {
  const momentum_job *job = arguments;
  for (size_t block = first; block < end; block++) {
    const size_t begin = block * cpu_lcp_rows_at_once, left = job->count - begin;
    const size_t count = left < cpu_lcp_rows_at_once ? left : cpu_lcp_rows_at_once;
    const cpu_operand z = cpu_operand_at(job->z, begin), from = cpu_operand_at(job->from, begin),
                      last = cpu_operand_at(job->last, begin);
    double dd[lanes] = {0}, dm[lanes] = {0};
    size_t g = 0;
    for (; g + lanes <= count; g += lanes) {
      CPU_SIMD
      for (size_t l = 0; l < lanes; l++) {
        const double now = cpu_value(z, g + l), d = now - cpu_value(from, g + l);
        dd[l] += d * d;
        dm[l] += d * (now - cpu_value(last, g + l));
      }
    }
    for (size_t l = 0; g + l < count; l++) {
      const double now = cpu_value(z, g + l), d = now - cpu_value(from, g + l);
      dd[l] += d * d;
      dm[l] += d * (now - cpu_value(last, g + l));
    }
    for (size_t l = 1; l < lanes; l++) dd[0] += dd[l], dm[0] += dm[l];
    job->sums[2 * block] = dd[0];
    job->sums[2 * block + 1] = dm[0];
  }
}

CPU_CLONES static void body_extrapolate(const void *arguments, size_t first, size_t end) {
  const momentum_job *job = arguments;
  const size_t begin = first * cpu_lcp_rows_at_once, until = end * cpu_lcp_rows_at_once;
  const size_t last = until < job->count ? until : job->count;
  const double weight = job->weight;
  float *from = job->from.high, *from_low = job->from.low, *before = job->last.high,
        *before_low = job->last.low;
  const float *z = job->z.high, *z_low = job->z.low;
  if (z_low) {
    CPU_SIMD
    for (size_t i = begin; i < last; i++) {
      const double now = (double)z[i] + (double)z_low[i], m = now - ((double)before[i] + (double)before_low[i]);
      cpu_split(now + weight * m, &from[i], &from_low[i]);
      before[i] = z[i];
      before_low[i] = z_low[i];
    }
  } else {
    CPU_SIMD
    for (size_t i = begin; i < last; i++) {
      const double now = (double)z[i];
      from[i] = (float)(now + weight * (now - (double)before[i]));
      before[i] = z[i];
    }
  }
}

ts_status cpu_lcp_add_momentum(const ts_lcp *lcp, ts_vector *from, ts_vector *last, ts_vector *state,
                               double growth) {
  const cpu_lcp *impl = lcp->impl;
  float *k = cpu_data(state), *before = k + 1; /* k, and d^T d of the previous sweep */
  const size_t count = tsi_lcp_unknowns(lcp), blocks = cpu_lcp_row_blocks(count);
  momentum_job job = {.z = cpu_parts_of(lcp->z),
                      .from = cpu_parts_of(from),
                      .last = cpu_parts_of(last),
                      .count = count,
                      .sums = impl->sums};
  cpu_for(lcp->context, blocks, cpu_lcp_rows_at_once, body_products, &job);
  double dd = 0, dm = 0;
  for (size_t b = 0; b < blocks; b++) dd += job.sums[2 * b], dm += job.sums[2 * b + 1];
  const double next = dd < growth * (double)*before && dm > 0 ? (double)*k + 1 : 0;
  job.weight = next / (next + 3);
  cpu_for(lcp->context, blocks, cpu_lcp_rows_at_once, body_extrapolate, &job);
  *k = (float)next;
  *before = (float)dd;
  return TS_OK;
}
