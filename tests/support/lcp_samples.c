#include "lcp_samples.h"

#include "common/core/core.h"
#include "helpers.h"

lcp_sample lcp_sample_batch(int32_t n, int32_t batch, unsigned seed) {
  const size_t order = (size_t)n, entries = order * order;
  lcp_sample s = {.n = n, .batch = batch};
  s.matrix = calloc(entries * (size_t)batch, sizeof *s.matrix);
  s.q = ref_doubles(order * (size_t)batch, seed + 1, -1, 1);
  for (size_t i = 0; i < order * (size_t)batch; i++) s.q[i] = (double)(float)s.q[i];
  double *b = ref_doubles(entries * (size_t)batch, seed, -1, 1);
  for (size_t k = 0; k < (size_t)batch; k++)
    for (size_t i = 0; i < order; i++)
      for (size_t j = 0; j <= i; j++) {
        const double *bi = b + k * entries + i * order, *bj = b + k * entries + j * order;
        double sum = i == j ? 1 : 0;
        for (size_t c = 0; c < order; c++) sum += bi[c] * bj[c] / n;
        s.matrix[k * entries + i * order + j] = s.matrix[k * entries + j * order + i] = (double)(float)sum;
      }
  free(b);
  return s;
}

lcp_sample lcp_sample_spd(int32_t n, unsigned seed) {
  return lcp_sample_batch(n, 1, seed);
}

void lcp_sample_free(lcp_sample *s) {
  free(s->matrix);
  free(s->q);
  *s = (lcp_sample){0};
}

ts_lcp *lcp_make(ts_context *context, const lcp_sample *s, ts_precision precision) {
  const size_t count = (size_t)s->n * (size_t)s->batch;
  const ts_lcp_desc desc = {.size = s->n,
                            .batch = s->batch,
                            .matrix = ts_host(s->matrix, (size_t)s->n * count),
                            .lower = ts_host(s->lower, count),
                            .upper = ts_host(s->upper, count),
                            .precision = precision};
  ts_lcp *lcp = NULL;
  CHECK_OK(context, ts_lcp_create(context, &desc, &lcp));
  return lcp;
}

double lcp_sample_row(const lcp_sample *s, const double *z, int32_t i) {
  const size_t n = (size_t)s->n, problem = (size_t)i / n;
  double sum = s->q[i];
  for (size_t j = 0; j < n; j++) sum += s->matrix[(size_t)i * n + j] * z[problem * n + j];
  return sum;
}

void lcp_sample_sweep(const lcp_sample *s, double *z) {
  const size_t n = (size_t)s->n;
  for (int32_t i = 0; i < s->n * s->batch; i++) {
    const double lower = s->lower ? s->lower[i] : 0, upper = s->upper ? s->upper[i] : INFINITY;
    const double next = z[i] - lcp_sample_row(s, z, i) / s->matrix[(size_t)i * n + (size_t)i % n];
    z[i] = fmin(fmax(next, lower), upper);
  }
}

int has_pairs(ts_context *context) {
  return context->caps.pairs;
}
