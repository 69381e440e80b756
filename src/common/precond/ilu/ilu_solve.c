/* Triangular solves in double precision, in the order of the rows. */
#include <math.h>

#include "ilu.h"

static void subtract(const tsi_ilu_rows *rows, int32_t k, int components, double *work) {
  double *to = work + (size_t)k * (size_t)components;
  for (int64_t e = rows->offsets[k]; e < rows->offsets[k + 1]; e++) {
    const double value = rows->values[e];
    const double *from = work + (size_t)rows->columns[e] * (size_t)components;
    for (int c = 0; c < components; c++) to[c] -= value * from[c];
  }
}

static void subtract_one(const tsi_ilu_rows *rows, int32_t k, double *work) {
  double sum = work[k];
  for (int64_t e = rows->offsets[k]; e < rows->offsets[k + 1]; e++)
    sum -= rows->values[e] * work[rows->columns[e]];
  work[k] = sum;
}

void tsi_ilu_solve(const tsi_ilu_order *order, const tsi_ilu_factors *factors, int components, double *r,
                   double *work) {
  const size_t width = (size_t)components;
  for (int32_t k = 0; k < order->n; k++) {
    tsi_poll_rows(k);
    for (size_t c = 0; c < width; c++)
      work[(size_t)k * width + c] = order->row_scales[k] * r[(size_t)order->rows[k] * width + c];
    if (components == 1)
      subtract_one(&factors->lower, k, work);
    else
      subtract(&factors->lower, k, components, work);
  }
  for (int32_t k = order->n - 1; k >= 0; k--) {
    tsi_poll_rows(k);
    for (size_t c = 0; c < width; c++) work[(size_t)k * width + c] *= factors->inverse[k];
    if (components == 1)
      subtract_one(&factors->upper, k, work);
    else
      subtract(&factors->upper, k, components, work);
    for (size_t c = 0; c < width; c++)
      r[(size_t)order->columns[k] * width + c] = order->column_scales[k] * work[(size_t)k * width + c];
  }
}

/* ---- The error of the factors ---- */

static double random_of(int32_t index) {
  return (double)((uint32_t)(index + 1) * 2654435769u) * 0x1p-31 - 1;
}

static void multiply(const tsi_csr *A, const unsigned char *constrained, const double *x, double *r) {
  for (int32_t i = 0; i < A->rows; i++) {
    tsi_poll_rows(i);
    r[i] = constrained && constrained[i] ? x[i] : 0;
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) {
      const int32_t j = A->column_indices[e];
      if (!constrained || !constrained[j]) r[i] += (double)A->values[e] * x[j];
    }
  }
}

ts_status tsi_ilu_error(ts_context *context, const tsi_csr *A, const unsigned char *constrained,
                        const tsi_ilu_order *order, const tsi_ilu_factors *factors, double *error) {
  const size_t n = (size_t)order->n;
  double *r = tsi_malloc(context, 2 * n, sizeof *r), all = 0, wrong = 0;
  if (!r) return tsi_out_of_memory(context, "incomplete factors", 16 * n);
  double *work = r + n;
  for (int32_t k = 0; k < order->n; k++) work[order->columns[k]] = order->column_scales[k] * random_of(k);
  multiply(A, constrained, work, r);
  tsi_poll_here();
  tsi_ilu_solve(order, factors, 1, r, work);
  for (int32_t k = 0; k < order->n; k++) {
    const double difference = r[order->columns[k]] / order->column_scales[k] - random_of(k);
    wrong += difference * difference;
    all += random_of(k) * random_of(k);
  }
  tsi_free(context, r);
  *error = isfinite(wrong) ? sqrt(wrong / fmax(all, 1e-300)) : INFINITY;
  return TS_OK;
}
