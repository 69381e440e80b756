/* Sweeps and residuals in one type: REAL, and CPU_LCP(name) for the names that have a type in them. */
#define LCP_FUNCTION CPU_INLINE
#include "lcp/lcp_law.h"

typedef struct CPU_LCP(problem) {
  const REAL *matrix, *q, *lower, *upper;
  REAL *z;
  size_t n, stride;
} CPU_LCP(problem);

static CPU_LCP(problem) CPU_LCP(problem_of)(const ts_lcp *lcp, size_t k) {
  const cpu_lcp *impl = lcp->impl;
  const size_t n = (size_t)lcp->size;
  return (CPU_LCP(problem)){.matrix = (const REAL *)impl->matrix + k * n * impl->stride,
                            .q = (const REAL *)impl->q + k * impl->stride,
                            .z = (REAL *)impl->z + k * impl->stride,
                            .lower = (const REAL *)impl->lower + k * n,
                            .upper = (const REAL *)impl->upper + k * n,
                            .n = n,
                            .stride = impl->stride};
}

/* Sums in lanes, so that all compilations add in one order. */
CPU_INLINE REAL CPU_LCP(dot)(const REAL *row, const REAL *z, size_t stride) {
  REAL sums[CPU_LCP_LANES] = {0};
  for (size_t j = 0; j < stride; j += CPU_LCP_LANES) {
    CPU_SIMD
    for (size_t l = 0; l < CPU_LCP_LANES; l++) sums[l] += row[j + l] * z[j + l];
  }
  for (size_t half = CPU_LCP_LANES / 2; half > 0; half /= 2)
    for (size_t l = 0; l < half; l++) sums[l] += sums[l + half];
  return sums[0];
}

CPU_CLONES
static void CPU_LCP(sweep_rows)(const CPU_LCP(problem) * p, int sweeps) {
  for (int sweep = 0; sweep < sweeps; sweep++)
    for (size_t i = 0; i < p->n; i++) {
      const REAL *row = p->matrix + i * p->stride;
      const REAL w = p->q[i] + CPU_LCP(dot)(row, p->z, p->stride);
      p->z[i] = lcp_unknown(p->z[i], w, row[i], p->lower[i], p->upper[i]);
    }
}

CPU_CLONES
static void CPU_LCP(map_rows)(const CPU_LCP(problem) * p, size_t first, size_t last, double *out) {
  for (size_t i = first; i < last; i++) {
    const REAL w = p->q[i] + CPU_LCP(dot)(p->matrix + i * p->stride, p->z, p->stride);
    out[i - first] = (double)(p->z[i] - lcp_clamp(p->z[i] - w, p->lower[i], p->upper[i]));
  }
}

void CPU_LCP(sweep)(const cpu_lcp_run *run) {
  const CPU_LCP(problem) p = CPU_LCP(problem_of)(run->lcp, run->problem);
  CPU_LCP(sweep_rows)(&p, run->sweeps);
}

void CPU_LCP(map)(const ts_lcp *lcp, size_t problem, size_t first, size_t last, double *out) {
  const CPU_LCP(problem) p = CPU_LCP(problem_of)(lcp, problem);
  CPU_LCP(map_rows)(&p, first, last, out);
}
