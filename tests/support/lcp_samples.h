/* Complementarity problems for tests, and the sequential loop in double precision. */
#ifndef LCP_SAMPLES_H
#define LCP_SAMPLES_H

#include <texsolve/lcp.h>

/* `batch` problems in sequence. Dimension 0 means without friction. */
typedef struct lcp_sample {
  int32_t n, batch;
  double *matrix, *q;
  const double *lower, *upper; /* NULL: 0 and infinity; not freed */
} lcp_sample;

/* B B^T / n + I with a random B, and q of both signs. All numbers are floats. */
lcp_sample lcp_sample_spd(int32_t n, unsigned seed);
lcp_sample lcp_sample_batch(int32_t n, int32_t batch, unsigned seed);
void lcp_sample_free(lcp_sample *s);

ts_lcp *lcp_make(ts_context *context, const lcp_sample *s, ts_precision precision);
/* w_i, where i counts the unknowns of all problems. */
double lcp_sample_row(const lcp_sample *s, const double *z, int32_t i);
/* One sweep of the sequential loop over every problem. */
void lcp_sample_sweep(const lcp_sample *s, double *z);

/* True if vectors may be pairs. */
int has_pairs(ts_context *context);

#endif
