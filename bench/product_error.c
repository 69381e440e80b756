#include "product_error.h"

#include <math.h>

double product_error(const generated_matrix *A, int components, const float *x, const float *y) {
  double worst = 0;
  for (int32_t i = 0; i < A->rows; ++i)
    for (int c = 0; c < components; ++c) {
      double sum = 0, magnitude = 0;
      for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; ++k) {
        const double term =
            (double)A->values[k] * x[(size_t)A->column_indices[k] * (size_t)components + (size_t)c];
        sum += term;
        magnitude += fabs(term);
      }
      const double found = y[(size_t)i * (size_t)components + (size_t)c];
      const double error = found == sum ? 0 : fabs(found - sum) / magnitude;
      if (!(error <= worst)) worst = isfinite(error) ? error : INFINITY;
    }
  return worst;
}

double product_error_bound(int32_t longest_row) {
  return (longest_row + 2) * ldexp(1, -24);
}
