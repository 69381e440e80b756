/* The matrices of reference.h that are derived from others. */
#include <stdlib.h>

#include "reference.h"

void ref_add_jumps(const ref_matrix *m) {
  for (int32_t i = 0; i < m->rows; i++) {
    float sum = 0;
    int32_t diagonal = -1;
    for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
      const uint32_t j = (uint32_t)m->indices[k];
      const int large = (int)((uint32_t)i * 2654435769u >> 31) + (int)(j * 2654435769u >> 31);
      if (j == (uint32_t)i)
        diagonal = k;
      else
        sum += m->values[k] *= large == 2 ? 1e6f : large == 1 ? 2 : 1;
    }
    if (diagonal >= 0) m->values[diagonal] = -sum;
  }
}

ref_matrix ref_central(int32_t nx, int32_t ny, float peclet) {
  ref_matrix m = ref_convection(nx, ny, 0);
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++) {
      const int32_t distance = m.indices[e] - i, sign = (distance > 0) - (distance < 0);
      if (distance != 0) m.values[e] += (float)sign * peclet / (abs(distance) == 1 ? 2.0f : 4.0f);
    }
  return m;
}

ref_matrix ref_in_blocks(const ref_matrix *m, const float block[4]) {
  const int64_t count = 4 * ref_nonzeros(m);
  ref_matrix d = {.rows = 2 * m->rows, .columns = 2 * m->columns};
  d.offsets = calloc((size_t)d.rows + 1, sizeof *d.offsets);
  d.indices = malloc((size_t)count * sizeof *d.indices);
  d.values = malloc((size_t)count * sizeof *d.values);
  int32_t to = 0;
  for (int32_t row = 0; row < d.rows; row++) {
    for (int32_t e = m->offsets[row / 2]; e < m->offsets[row / 2 + 1]; e++)
      for (int32_t u = 0; u < 2; u++) {
        d.indices[to] = 2 * m->indices[e] + u;
        d.values[to++] = m->values[e] * block[2 * (row % 2) + u];
      }
    d.offsets[row + 1] = to;
  }
  return d;
}
