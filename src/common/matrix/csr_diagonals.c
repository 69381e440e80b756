/* Whether the entries of a matrix lie on few diagonals. */
#include "csr.h"

#include <string.h>

enum { FEWEST_ROWS = 512, SAMPLES = 32 /* rows that show the diagonals */, HALVES = 2 * SAMPLES };
/* Least part of the positions on the diagonals that are entries, and of the rows that have all their columns.
 */
static const double least_fill = 0.7, least_middle = 0.75;

/* Returns the new number of offsets, which ascend, or 0 if there are too many. */
static int insert(int32_t *offsets, int count, int32_t offset) {
  int k = 0;
  while (k < count && offsets[k] < offset) k++;
  if (k < count && offsets[k] == offset) return count;
  if (count == TSI_MOST_DIAGONALS) return 0;
  memmove(offsets + k + 1, offsets + k, (size_t)(count - k) * sizeof *offsets);
  offsets[k] = offset;
  return count + 1;
}

int tsi_csr_diagonals(int32_t rows, const int32_t *row_offsets, const int32_t *columns, int32_t *offsets) {
  int count = insert(offsets, 0, 0);
  if (rows < FEWEST_ROWS) return 0;
  for (int64_t s = 1; s < HALVES; s += 2) {
    const int32_t row = (int32_t)(rows * s / HALVES);
    for (int32_t k = row_offsets[row]; k < row_offsets[row + 1]; k++) {
      const int32_t offset = columns[k] - row;
      count = insert(offsets, count, offset);
      if (count) count = insert(offsets, count, -offset);
      if (!count) return 0;
    }
  }
  const double reach = offsets[count - 1], all = rows;
  return row_offsets[rows] >= least_fill * all * count && all - 2 * reach >= least_middle * all ? count : 0;
}
