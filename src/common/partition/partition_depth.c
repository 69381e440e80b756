/* Whether cutting the graph of a matrix can help at all. In networks and random graphs a few steps lead from
 * one row to most others. Every partition then leaves most rows with neighbours in other parts (expander
 * graphs). A mesh of 64 k rows in any order takes more steps, and larger meshes take even more. */
#include "common/core/core.h"
#include "partition.h"

static const int few_steps = 7;

static int32_t longest_row(const tsi_host_csr *csr) {
  int32_t longest = 0;
  for (int32_t i = 1; i < csr->rows; i++) {
    const int32_t length = csr->row_offsets[i + 1] - csr->row_offsets[i];
    if (length > csr->row_offsets[longest + 1] - csr->row_offsets[longest]) longest = i;
  }
  return longest;
}

/* Breadth-first search. `queue` has room for all rows; `reached` is 0 on entry. Returns the number of rows
 * reached. */
static int32_t count_near(const tsi_host_csr *csr, int32_t *queue, unsigned char *reached) {
  int32_t count = 1, next = 0;
  queue[0] = longest_row(csr);
  reached[queue[0]] = 1;
  for (int step = 0; step < few_steps; step++)
    for (const int32_t end = count; next < end; next++)
      for (int32_t e = csr->row_offsets[queue[next]]; e < csr->row_offsets[queue[next] + 1]; e++) {
        const int32_t j = csr->column_indices[e];
        if (!reached[j]) queue[count++] = j;
        reached[j] = 1;
      }
  return count;
}

int tsi_partition_expands(ts_context *context, const tsi_host_csr *csr) {
  const size_t rows = (size_t)csr->rows;
  int32_t *queue = tsi_malloc(context, rows, sizeof *queue);
  unsigned char *reached = tsi_calloc(context, rows, sizeof *reached);
  const int expands = queue && reached && 2 * (int64_t)count_near(csr, queue, reached) >= csr->rows;
  tsi_free(context, queue);
  tsi_free(context, reached);
  return expands;
}
