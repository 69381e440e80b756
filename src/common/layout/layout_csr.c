/* How threads share the rows of a matrix in CSR.
 *
 * If the rows are about equally long, each uses the same number of threads. If that would leave many threads
 * idle, the entries are cut into row blocks of about equal size, one per block of threads. A row block ends
 * with a row if this leaves few of its threads idle. Otherwise the row continues in the next row block. */
#include "common/core/core.h"
#include "layout_build.h"

static int32_t length_of(const tsi_host_csr *csr, int32_t row) {
  return csr->row_offsets[row + 1] - csr->row_offsets[row];
}

/* 32 times the steps of all warps if 1 << log2_subwarp threads share a row; the longest row of a warp
 * determines its steps. */
static int64_t thread_steps(const tsi_host_csr *csr, int log2_subwarp) {
  const int32_t together = 32 >> log2_subwarp;
  int64_t steps = 0;
  for (int32_t i = 0; i < csr->rows; i += together) {
    int32_t longest = 0;
    for (int32_t j = i; j < i + together && j < csr->rows; j++)
      if (length_of(csr, j) > longest) longest = length_of(csr, j);
    steps += (longest + (1 << log2_subwarp) - 1) >> log2_subwarp;
  }
  return 32 * steps;
}

size_t tsi_most_row_blocks(int64_t rows, int64_t entries) {
  const size_t least = TSI_ROW_BLOCK_ENTRIES - TSI_ROW_BLOCK_STEPS + 1 - TSI_ROW_BLOCK_SLACK;
  return (size_t)entries / least + (size_t)rows / TSI_ROW_BLOCK_ROWS + 2;
}

int32_t tsi_row_blocks_cut(int32_t rows, const int32_t *offsets, tsi_row_block *row_blocks) {
  int32_t count = 0, row = 0, first = 0, pieces = 0; /* pieces: of `row`, before `first` */
  while (row < rows) {
    const int64_t full = (int64_t)first / TSI_ROW_BLOCK_STEPS * TSI_ROW_BLOCK_STEPS + TSI_ROW_BLOCK_ENTRIES;
    int32_t next = row, filled = 0;
    for (; next < rows && next - row < TSI_ROW_BLOCK_ROWS && offsets[next + 1] <= full; next++)
      filled += offsets[next + 1] > offsets[next];
    const int goes_on =
        next < rows && next - row < TSI_ROW_BLOCK_ROWS && full - offsets[next] > TSI_ROW_BLOCK_SLACK;
    const int32_t end = goes_on ? (int32_t)full : offsets[next];
    const int32_t pieces_before = next > row ? pieces : 0, piece = next > row ? 0 : pieces;
    row_blocks[count] = (tsi_row_block){row, next - row, first, end, filled, pieces_before, piece, 1};
    for (int32_t p = 1; p <= pieces_before; p++) row_blocks[count - p].pieces = pieces_before + 1;
    pieces = goes_on ? piece + 1 : 0;
    row = next;
    first = end;
    count++;
  }
  return count;
}

/* Sets tsi_row_plan.ends for the entries of a row block. */
static void mark_ends(const tsi_host_csr *csr, const tsi_row_block *part, uint16_t *ends) {
  const int32_t start = part->first / TSI_ROW_BLOCK_STEPS * TSI_ROW_BLOCK_STEPS;
  int32_t row = part->row, before = 0;
  for (int32_t at = start; at < part->end; at += TSI_ROW_BLOCK_STEPS) {
    if ((at - start) % TSI_WARP_ENTRIES == 0) before = 0;
    if (at >= part->first) ends[at / TSI_ROW_BLOCK_STEPS] = (uint16_t)(before << 8);
    for (; row < part->row + part->rows && csr->row_offsets[row + 1] - TSI_ROW_BLOCK_STEPS <= at; row++) {
      if (length_of(csr, row) == 0) continue;
      ends[at / TSI_ROW_BLOCK_STEPS] |= (uint16_t)(1 << (csr->row_offsets[row + 1] - 1 - at));
      before++;
    }
  }
}

/* One thread for a short row. A longer row uses more threads as long as they shorten it and would be idle
 * otherwise. */
int tsi_choose_subwarp(const tsi_tuning *t, int64_t rows, int64_t entries) {
  int log2_subwarp = 0;
  while (log2_subwarp < 5 && (double)entries > (double)rows * t->csr_shared_mean * (1 << log2_subwarp) &&
         (double)(rows << (log2_subwarp + 1)) <= t->csr_threads)
    log2_subwarp++;
  return log2_subwarp;
}

/* A product of many entries is limited by bytes, so idle threads cost it more. A product of few entries takes
 * as long as its slowest thread. */
static int are_uneven(const tsi_tuning *t, const tsi_row_lengths *l) {
  if (l->longest > TSI_ROW_BLOCK_ENTRIES) return 1;
  if ((double)l->entries < t->many_entries)
    return l->longest > t->csr_steps * (1 << tsi_choose_subwarp(t, l->rows, l->entries));
  return (double)l->thread_steps >
         t->csr_idle_entries * (double)l->entries + t->csr_idle_rows * (double)l->rows;
}

int tsi_needs_row_blocks(const tsi_tuning *t, const tsi_row_lengths *l) {
  const double entries = (double)l->entries;
  const int large = entries >= t->many_entries &&
                    (entries >= t->csr_blocks_mean * (double)l->rows || entries >= t->csr_blocks_entries);
  return large || are_uneven(t, l);
}

static tsi_row_lengths lengths_of(const tsi_tuning *t, const tsi_host_csr *csr) {
  tsi_row_lengths l = {.rows = csr->rows, .entries = csr->row_offsets[csr->rows]};
  for (int32_t i = 0; i < csr->rows; i++)
    if (length_of(csr, i) > l.longest) l.longest = length_of(csr, i);
  if ((double)l.entries >= t->many_entries && l.longest <= TSI_ROW_BLOCK_ENTRIES)
    l.thread_steps = thread_steps(csr, tsi_choose_subwarp(t, l.rows, l.entries));
  return l;
}

int tsi_rows_are_uneven(const tsi_tuning *t, const tsi_host_csr *csr) {
  const tsi_row_lengths l = lengths_of(t, csr);
  return are_uneven(t, &l);
}

ts_status tsi_row_plan_create(ts_context *context, const tsi_host_csr *csr, tsi_row_plan *plan) {
  const tsi_tuning *t = &context->tuning;
  const tsi_row_lengths lengths = lengths_of(t, csr);
  *plan = (tsi_row_plan){.log2_subwarp = tsi_choose_subwarp(t, lengths.rows, lengths.entries)};
  if (!tsi_needs_row_blocks(t, &lengths)) return TS_OK;
  const size_t most = tsi_most_row_blocks(lengths.rows, lengths.entries);
  plan->row_blocks = tsi_malloc(context, most, sizeof *plan->row_blocks);
  if (!plan->row_blocks) return tsi_out_of_memory(context, "a plan of rows", most * sizeof *plan->row_blocks);
  plan->row_block_count = tsi_row_blocks_cut(csr->rows, csr->row_offsets, plan->row_blocks);
  const size_t steps = (size_t)lengths.entries / TSI_ROW_BLOCK_STEPS + 1;
  plan->ends = tsi_calloc(context, steps, sizeof *plan->ends);
  if (!plan->ends) return tsi_out_of_memory(context, "a plan of rows", steps * sizeof *plan->ends);
  for (int32_t w = 0; w < plan->row_block_count; w++) mark_ends(csr, &plan->row_blocks[w], plan->ends);
  return TS_OK;
}

void tsi_row_plan_free(ts_context *context, tsi_row_plan *plan) {
  tsi_free(context, plan->row_blocks);
  tsi_free(context, plan->ends);
  *plan = (tsi_row_plan){0};
}

/* ---- The format ---- */

static ts_status layout_csr_create(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                                   ts_matrix_info *info) {
  (void)info;
  return context->caps.row_plans ? tsi_row_plan_create(context, input->csr, &layout->plan) : TS_OK;
}

/* A backend uses packed->csr. */
static ts_status pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                      tsi_packed *packed) {
  (void)context, (void)layout, (void)input, (void)packed;
  return TS_OK;
}

static ts_status unpack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                        const tsi_packed *packed, tsi_entry_visitor visit, void *user) {
  (void)context, (void)layout, (void)input;
  const tsi_host_csr *A = packed->csr;
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++)
      visit(user, i, A->column_indices[e], A->values[e]);
  return TS_OK;
}

static void estimate(const ts_context *context, const tsi_host_csr *csr, int blocks, tsi_estimate *e) {
  (void)blocks;
  const tsi_tuning *t = &context->tuning;
  e->reads = tsi_csr_bytes(csr);
  if (context->caps.row_plans)
    e->reads = tsi_with_lines(t, e->reads, tsi_lines_of_entries(context, csr) + t->lines_of_sums);
}

const tsi_format tsi_format_csr = {.format = TS_FORMAT_CSR,
                                   .create = layout_csr_create,
                                   .pack = pack,
                                   .unpack = unpack,
                                   .estimate = estimate,
                                   .sampled_entries = tsi_sampled_entries};
