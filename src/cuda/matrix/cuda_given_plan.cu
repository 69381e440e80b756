/* The row plan of a matrix on the device, with the row blocks of layout_csr.c. */
extern "C" {
#include "common/layout/layout_build.h"
}
#include "cuda/core/cuda_split.cuh"
#include "cuda_given.h"

static const char *const plan_name = "a plan of rows";

/* Two numbers share a word. All are 0 before. */
static __device__ __forceinline__ void add_bits(unsigned *ends, int32_t number, unsigned bits) {
  atomicOr(ends + number / 2, bits << 16 * (number % 2));
}

/* One thread per row block. */
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

/* Runs on the host, because the end of a row block depends on its beginning. */
static ts_status cut_rows(ts_context *context, tsi_given *given, const int32_t *offsets) {
  cuda_given *g = (cuda_given *)given->impl;
  const size_t most = tsi_most_row_blocks(given->rows, given->nonzeros);
  tsi_row_block *row_blocks = (tsi_row_block *)tsi_malloc(context, most, sizeof *row_blocks);
  if (!row_blocks) return tsi_out_of_memory(context, plan_name, most * sizeof *row_blocks);
  given->row_block_count = tsi_row_blocks_cut(given->rows, offsets, row_blocks);
  g->row_block_bytes = (size_t)given->row_block_count * sizeof *row_blocks;
  const ts_status status =
      cuda_alloc_copy(context, (void **)&g->row_blocks, row_blocks, g->row_block_bytes, plan_name);
  tsi_free(context, row_blocks);
  return status;
}

ts_status cuda_given_offsets(ts_context *context, const tsi_given *given, int32_t **offsets) {
  const cuda_given *g = (const cuda_given *)given->impl;
  const size_t count = (size_t)given->rows + 1;
  *offsets = (int32_t *)tsi_malloc(context, count, sizeof **offsets);
  if (!*offsets) return tsi_out_of_memory(context, "row offsets", count * sizeof **offsets);
  context->host_synchronisations++;
  const ts_status status = cuda_download(context, *offsets, g->offsets, count * sizeof **offsets);
  if (status < 0) tsi_free(context, *offsets);
  return status;
}

ts_status cuda_given_plan(ts_context *context, tsi_given *given) {
  cuda_given *g = (cuda_given *)given->impl;
  const tsi_row_lengths lengths = {given->rows, given->nonzeros, given->longest_row, given->thread_steps};
  int32_t *offsets;
  given->log2_subwarp = tsi_choose_subwarp(&context->tuning, given->rows, given->nonzeros);
  if (!tsi_needs_row_blocks(&context->tuning, &lengths)) return TS_OK;
  TSI_TRY(
      cuda_alloc_zeroed(context, (void **)&g->ends, cuda_given_ends_bytes((size_t)given->nonzeros), plan_name));
  TSI_TRY(cuda_given_offsets(context, given, &offsets));
  const ts_status status = cut_rows(context, given, offsets);
  tsi_free(context, offsets);
  TSI_TRY(status);
  return cuda_launch(context, "mark_ends", mark_ends, cuda_blocks_for((size_t)given->row_block_count),
                     CUDA_THREADS, (const int32_t *)g->offsets, (const tsi_row_block *)g->row_blocks,
                     given->row_block_count, (unsigned *)g->ends);
}
