/* The plan of rows of a matrix on the device, with the row blocks that layout_csr.c makes on the host. The end
 * of a row block depends on its beginning, so one block of threads cuts all rows: each thread looks at a row of
 * the next row block. */
extern "C" {
#include "common/layout/layout_build.h"
}
#include "cuda/core/cuda_split.cuh"
#include "cuda_given.h"

static const char *const plan_name = "a plan of rows";

static __global__ void __launch_bounds__(TSI_ROW_BLOCK_ROWS)
    cut_rows(int32_t rows, const int32_t *offsets, tsi_row_block *row_blocks, int32_t *counted) {
  const int32_t thread = (int32_t)threadIdx.x;
  int32_t count = 0, row = 0, first = 0, pieces = 0; /* pieces: of `row`, before `first` */
  while (row < rows) {
    const int64_t full = (int64_t)first / TSI_ROW_BLOCK_STEPS * TSI_ROW_BLOCK_STEPS + TSI_ROW_BLOCK_ENTRIES;
    const bool ends = thread < rows - row && offsets[row + thread + 1] <= full;
    const bool filled = ends && offsets[row + thread + 1] > offsets[row + thread];
    const int32_t ended = __syncthreads_count(ends), filled_rows = __syncthreads_count(filled);
    const int32_t next = row + ended;
    const bool goes_on =
        next < rows && ended < TSI_ROW_BLOCK_ROWS && full - offsets[next] > TSI_ROW_BLOCK_SLACK;
    const int32_t end = goes_on ? (int32_t)full : offsets[next];
    const int32_t pieces_before = ended > 0 ? pieces : 0, piece = ended > 0 ? 0 : pieces;
    if (thread == 0) row_blocks[count] = {row, ended, first, end, filled_rows, pieces_before, piece, 1};
    for (int32_t p = 1 + thread; p <= pieces_before; p += TSI_ROW_BLOCK_ROWS)
      row_blocks[count - p].pieces = pieces_before + 1;
    pieces = goes_on ? piece + 1 : 0;
    row = next;
    first = end;
    count++;
  }
  if (thread == 0) *counted = count;
}

/* Two of the numbers are a word; all are 0 before. */
static __device__ __forceinline__ void add_bits(unsigned *ends, int32_t number, unsigned bits) {
  atomicOr(ends + number / 2, bits << 16 * (number % 2));
}

/* A thread has a row block. */
static __global__ void __launch_bounds__(CUDA_THREADS)
    mark_ends(const int32_t *offsets, const tsi_row_block *row_blocks, int32_t count, unsigned *ends) {
  const int32_t number = (int32_t)(blockIdx.x * CUDA_THREADS + threadIdx.x);
  if (number >= count) return;
  const tsi_row_block part = row_blocks[number];
  const int32_t start = part.first / TSI_ROW_BLOCK_STEPS * TSI_ROW_BLOCK_STEPS;
  int32_t row = part.row, before = 0;
  for (int64_t at = start; at < part.end; at += TSI_ROW_BLOCK_STEPS) {
    const int32_t place = (int32_t)(at / TSI_ROW_BLOCK_STEPS);
    if ((at - start) % TSI_WARP_ENTRIES == 0) before = 0;
    unsigned bits = at >= part.first ? (unsigned)before << 8 : 0;
    for (; row < part.row + part.rows && offsets[row + 1] - TSI_ROW_BLOCK_STEPS <= at; row++) {
      if (offsets[row + 1] == offsets[row]) continue;
      bits |= 1u << (offsets[row + 1] - 1 - at);
      before++;
    }
    add_bits(ends, place, bits);
  }
}

/* A row block has 889 entries or 512 rows, or is the last. */
static size_t most_row_blocks(const tsi_given *given) {
  const size_t least = TSI_ROW_BLOCK_ENTRIES - TSI_ROW_BLOCK_STEPS + 1 - TSI_ROW_BLOCK_SLACK;
  return (size_t)given->nonzeros / least + (size_t)given->rows / TSI_ROW_BLOCK_ROWS + 2;
}

static ts_status run_cut(ts_context *context, tsi_given *given, int32_t *count) {
  cuda_given *g = (cuda_given *)given->impl;
  TSI_TRY(cuda_launch(context, "cut_rows", cut_rows, 1, TSI_ROW_BLOCK_ROWS, given->rows,
                      (const int32_t *)g->offsets, g->row_blocks, count));
  context->host_synchronisations++;
  return cuda_download(context, &given->row_block_count, count, sizeof *count);
}

ts_status cuda_given_plan(ts_context *context, int64_t thread_steps, tsi_given *given) {
  cuda_given *g = (cuda_given *)given->impl;
  const tsi_row_lengths lengths = {given->rows, given->nonzeros, given->longest_row, thread_steps};
  const size_t bytes = cuda_given_ends_bytes((size_t)given->nonzeros);
  int32_t *count;
  given->log2_subwarp = tsi_choose_subwarp(&context->tuning, given->rows, given->nonzeros);
  if (!tsi_needs_row_blocks(&context->tuning, &lengths)) return TS_OK;
  g->row_block_bytes = most_row_blocks(given) * sizeof *g->row_blocks;
  TSI_TRY(cuda_take(context, (void **)&g->row_blocks, g->row_block_bytes, plan_name));
  TSI_TRY(cuda_take_zeroed(context, (void **)&g->ends, bytes, plan_name));
  TSI_TRY(cuda_take(context, (void **)&count, sizeof *count, plan_name));
  const ts_status status = run_cut(context, given, count);
  cuda_give(context, count, sizeof *count);
  TSI_TRY(status);
  return cuda_launch(context, "mark_ends", mark_ends, cuda_blocks_for((size_t)given->row_block_count),
                     CUDA_THREADS, (const int32_t *)g->offsets, (const tsi_row_block *)g->row_blocks,
                     given->row_block_count, (unsigned *)g->ends);
}
