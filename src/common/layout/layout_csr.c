/* How threads share the rows of a matrix in CSR.
 *
 * Rows of about one length take the same number of threads each. Where that would leave many idle, rows are cut
 * into works of about equally many entries, each for a block of threads: whole rows up to TSI_WORK_ENTRIES
 * together, or a piece of a row that is longer. */
#include "common/core/core.h"
#include "layout_build.h"

static int32_t length_of(const tsi_host_csr *csr, int32_t row) {
  return csr->row_offsets[row + 1] - csr->row_offsets[row];
}

/* Steps of all warps, times 32, when 1 << log2_lanes threads share a row: a warp takes as many as its longest
 * row. */
static int64_t thread_steps(const tsi_host_csr *csr, int log2_lanes) {
  const int32_t together = 32 >> log2_lanes;
  int64_t steps = 0;
  for (int32_t i = 0; i < csr->rows; i += together) {
    int32_t longest = 0;
    for (int32_t j = i; j < i + together && j < csr->rows; j++)
      if (length_of(csr, j) > longest) longest = length_of(csr, j);
    steps += (longest + (1 << log2_lanes) - 1) >> log2_lanes;
  }
  return 32 * steps;
}

int32_t tsi_row_pieces(tsi_row_work *works, int32_t row, int32_t first, int32_t length) {
  const int32_t pieces = (length - 1) / TSI_PIECE_ENTRIES + 1;
  for (int32_t p = 0; works && p < pieces; p++) {
    const int32_t begin = p * TSI_PIECE_ENTRIES;
    const int32_t count = length - begin < TSI_PIECE_ENTRIES ? length - begin : TSI_PIECE_ENTRIES;
    works[p] = (tsi_row_work){row, 0, first + begin, first + begin + count, p, pieces};
  }
  return pieces;
}

/* Cuts all rows; with works NULL only counts. */
static int32_t cut(const tsi_host_csr *csr, tsi_row_work *works) {
  int32_t count = 0;
  for (int32_t i = 0; i < csr->rows;) {
    const int32_t first = csr->row_offsets[i];
    if (length_of(csr, i) > TSI_WORK_ENTRIES) {
      count += tsi_row_pieces(works ? works + count : NULL, i, first, length_of(csr, i));
      i++;
      continue;
    }
    int32_t end = i;
    while (end < csr->rows && end - i < TSI_WORK_ROWS && length_of(csr, end) <= TSI_WORK_ENTRIES &&
           csr->row_offsets[end + 1] - first <= TSI_WORK_ENTRIES)
      end++;
    if (works) works[count] = (tsi_row_work){i, end - i, first, csr->row_offsets[end], 0, 1};
    count++;
    i = end;
  }
  return count;
}

/* Measured on an H200, as are the numbers in here: threads that a product of a small matrix is not held up by,
 * and entries from which on a matrix is not small. */
static const int64_t few_threads = 80000, many_entries = 1 << 20;

/* Entries that a thread may have of a row of a small matrix. */
static const int32_t most_steps = 16;

/* A short row takes one thread, a longer one as many as shorten it while they cost nothing. */
static int choose_lanes(const tsi_host_csr *csr, int64_t entries) {
  const int64_t rows = csr->rows;
  int log2_lanes = 0;
  while (log2_lanes < 5 && entries > rows * (3 << log2_lanes) && rows << (log2_lanes + 1) <= few_threads)
    log2_lanes++;
  return log2_lanes;
}

/* A product of many entries is limited by bytes, and loses more by threads that wait than one of few, which
 * takes as long as its slowest thread: on an H200 0.1 us for each entry beyond what works take for all. With
 * 18 entries a thread works are twice as fast, in conjugate gradients 1 to 1.2 times; with 12 they are slower
 * there, by a tenth. */
int tsi_rows_are_uneven(const tsi_host_csr *csr) {
  const int64_t rows = csr->rows, entries = csr->row_offsets[rows];
  const int log2_lanes = choose_lanes(csr, entries);
  int32_t longest = 0;
  for (int32_t i = 0; i < csr->rows; i++)
    if (length_of(csr, i) > longest) longest = length_of(csr, i);
  if (longest > TSI_WORK_ENTRIES) return 1;
  if (entries < many_entries) return longest > most_steps << log2_lanes;
  return thread_steps(csr, log2_lanes) > 2 * entries + 4 * rows;
}

ts_status tsi_row_plan_create(ts_context *context, const tsi_host_csr *csr, tsi_row_plan *plan) {
  const int64_t rows = csr->rows, entries = csr->row_offsets[rows];
  *plan = (tsi_row_plan){.log2_lanes = choose_lanes(csr, entries)};
  const int large = entries >= many_entries && (entries >= 12 * rows || entries >= 2 * many_entries);
  if (!large && !tsi_rows_are_uneven(csr)) return TS_OK;
  plan->work_count = cut(csr, NULL);
  plan->works = tsi_malloc(context, (size_t)plan->work_count, sizeof *plan->works);
  if (!plan->works)
    return tsi_out_of_memory(context, "a plan of rows", (size_t)plan->work_count * sizeof *plan->works);
  cut(csr, plan->works);
  plan->begins = tsi_calloc(context, (size_t)entries / 8 + 1, 1);
  if (!plan->begins) return tsi_out_of_memory(context, "a plan of rows", (size_t)entries / 8 + 1);
  for (int64_t i = 0; i <= rows; i++)
    plan->begins[csr->row_offsets[i] / 8] |= (uint8_t)(1 << csr->row_offsets[i] % 8);
  return TS_OK;
}

void tsi_row_plan_free(ts_context *context, tsi_row_plan *plan) {
  tsi_free(context, plan->works);
  tsi_free(context, plan->begins);
  *plan = (tsi_row_plan){0};
}
