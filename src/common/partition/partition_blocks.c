/* Contiguous blocks of rows with nearly equal costs. */
#include "partition.h"

/* The cost of rows 0 .. row-1. */
static int64_t cost_before(const tsi_host_csr *csr, int32_t row) {
  return csr->row_offsets[row] + (int64_t)tsi_partition_row_cost * row;
}

/* The row with the costs of its predecessors closest to `target`. */
static int32_t nearest_row(const tsi_host_csr *csr, double target) {
  int32_t low = 0, high = csr->rows;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if ((double)cost_before(csr, middle) < target)
      low = middle + 1;
    else
      high = middle;
  }
  if (low > 0 && target - (double)cost_before(csr, low - 1) < (double)cost_before(csr, low) - target) low--;
  return low;
}

void tsi_partition_blocks(const tsi_host_csr *csr, int parts, int32_t *first) {
  const double total = (double)cost_before(csr, csr->rows);
  first[0] = 0;
  for (int p = 1; p < parts; p++) {
    int32_t row = nearest_row(csr, total * p / parts);
    /* Leaves a row for each part after this boundary, and first of all one for the part that ends here. */
    if (row > csr->rows - (parts - p)) row = csr->rows - (parts - p);
    if (row <= first[p - 1]) row = first[p - 1] + 1;
    first[p] = row < csr->rows ? row : csr->rows;
  }
  first[parts] = csr->rows;
}
