#include "plot_range.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

float plot_range(const float *values, int count) {
  float sorted[PLOT_RANGE_MOST];
  int used = 0;
  for (int k = 0; k < count && used < PLOT_RANGE_MOST; k++)
    if (isfinite(values[k])) sorted[used++] = values[k];
  if (!used) return 0;
  qsort(sorted, (size_t)used, sizeof *sorted, compare);
  const int others = used - (used < 20 ? 1 : used / 20);
  const float all = sorted[used - 1], most = others > 0 ? sorted[others - 1] : all;
  return all > 2 * most && most > 0 ? 1.25F * most : all;
}
