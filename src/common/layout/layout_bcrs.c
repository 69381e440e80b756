/* Compressed rows of blocks (Buatois et al. 2008, BCRS): from canonical CSR to the pattern and the values.
 *
 * A block row merges its n rows. Columns ascend in each row, so the next block is the smallest block column
 * that some row has not passed yet. */
#include "common/core/core.h"
#include "common/core/pool.h"
#include "layout_build.h"

enum { most_rows = 4 };

/* The rows of a block row, each with its current entry. */
typedef struct merge {
  const tsi_host_csr *csr;
  int log2_size, rows;
  int32_t at[most_rows], end[most_rows];
} merge;

static merge layout_bcrs_start(const tsi_host_csr *csr, int log2_size, int32_t block_row) {
  merge m = {.csr = csr, .log2_size = log2_size};
  const int32_t first = block_row << log2_size;
  for (; m.rows < 1 << log2_size && m.rows < csr->rows - first; m.rows++) {
    m.at[m.rows] = csr->row_offsets[first + m.rows];
    m.end[m.rows] = csr->row_offsets[first + m.rows + 1];
  }
  return m;
}

/* The next block column, or -1 past the last one. */
static int32_t next_block(merge *m) {
  const int32_t *columns = m->csr->column_indices;
  int32_t next = INT32_MAX;
  for (int r = 0; r < m->rows; r++)
    if (m->at[r] < m->end[r] && columns[m->at[r]] >> m->log2_size < next)
      next = columns[m->at[r]] >> m->log2_size;
  if (next == INT32_MAX) return -1;
  for (int r = 0; r < m->rows; r++)
    while (m->at[r] < m->end[r] && columns[m->at[r]] >> m->log2_size == next) m->at[r]++;
  return next;
}

static int32_t block_rows_of(const tsi_host_csr *csr, int log2_size) {
  return ((csr->rows - 1) >> log2_size) + 1;
}

static int32_t count_blocks(const tsi_host_csr *csr, int log2_size, int32_t block_row) {
  merge m = layout_bcrs_start(csr, log2_size, block_row);
  int32_t count = 0;
  while (next_block(&m) >= 0) count++;
  return count;
}

enum { SAMPLE = 2048 /* block rows, if the matrix has more */ };

/* Block row k of the sample. Multiples of the golden ratio are aperiodic, so they cannot coincide with a period
 * in the numbering of unknowns. */
static int32_t sampled_block_row(int32_t block_rows, int32_t k) {
  return block_rows <= SAMPLE ? k
                              : (int32_t)((uint64_t)((uint32_t)k * 2654435769u) * (uint32_t)block_rows >> 32);
}

typedef struct block_sampling {
  const tsi_host_csr *csr;
  int log2_size;
  int32_t block_rows, samples;
  int64_t *counts, *entries; /* per part of the sample; it has TSI_BLOCKS parts */
} block_sampling;

static void sample_blocks(const void *arguments, size_t first, size_t last) {
  const block_sampling *s = arguments;
  for (size_t b = first; b < last; b++) {
    s->counts[b] = s->entries[b] = 0;
    for (int32_t k = tsi_block_begin(s->samples, b); k < tsi_block_begin(s->samples, b + 1); k++) {
      const int32_t i = sampled_block_row(s->block_rows, k);
      const merge m = layout_bcrs_start(s->csr, s->log2_size, i);
      for (int r = 0; r < m.rows; r++) s->entries[b] += m.end[r] - m.at[r];
      s->counts[b] += count_blocks(s->csr, s->log2_size, i);
    }
  }
}

static double blocks_an_entry(const ts_context *context, const tsi_host_csr *csr, int log2_size) {
  int64_t counts[TSI_BLOCKS], entries[TSI_BLOCKS], all_counts = 0, all_entries = 0;
  block_sampling s = {
      .csr = csr, .log2_size = log2_size, .block_rows = block_rows_of(csr, log2_size), .samples = SAMPLE};
  if (s.block_rows < SAMPLE) s.samples = s.block_rows;
  s.counts = counts, s.entries = entries;
  tsi_in_blocks(context, csr->row_offsets[csr->rows], sample_blocks, &s);
  for (int b = 0; b < TSI_BLOCKS; b++) all_counts += counts[b], all_entries += entries[b];
  return all_entries > 0 ? (double)all_counts / (double)all_entries : 0;
}

ts_status tsi_blocks_create(ts_context *context, const tsi_host_csr *csr, int log2_size, tsi_blocks *blocks) {
  const int32_t block_rows = block_rows_of(csr, log2_size);
  size_t count = 0; /* does not exceed the entries, so it fits in 32 bits */
  for (int32_t i = 0; i < block_rows; i++) count += (size_t)count_blocks(csr, log2_size, i);
  *blocks = (tsi_blocks){.log2_size = log2_size, .block_rows = block_rows};
  blocks->offsets = tsi_malloc(context, (size_t)blocks->block_rows + 1, sizeof *blocks->offsets);
  blocks->columns = tsi_malloc(context, count, sizeof *blocks->columns);
  if (!blocks->offsets || !blocks->columns) {
    tsi_blocks_free(context, blocks);
    return tsi_out_of_memory(context, "the blocks of a matrix", (count + 1) * sizeof *blocks->columns);
  }
  int32_t to = 0;
  for (int32_t i = 0; i < blocks->block_rows; i++) {
    blocks->offsets[i] = to;
    merge m = layout_bcrs_start(csr, log2_size, i);
    for (int32_t column; (column = next_block(&m)) >= 0;) blocks->columns[to++] = column;
  }
  blocks->offsets[blocks->block_rows] = to;
  return TS_OK;
}

tsi_host_csr tsi_blocks_as_csr(const tsi_blocks *blocks, const tsi_host_csr *csr) {
  return (tsi_host_csr){.rows = blocks->block_rows,
                        .columns = ((csr->columns - 1) >> blocks->log2_size) + 1,
                        .row_offsets = blocks->offsets,
                        .column_indices = blocks->columns};
}

void tsi_blocks_free(ts_context *context, tsi_blocks *blocks) {
  tsi_free(context, blocks->offsets);
  tsi_free(context, blocks->columns);
  *blocks = (tsi_blocks){0};
}

ts_status tsi_blocks_values(ts_context *context, const tsi_blocks *blocks, const tsi_host_csr *csr,
                            float **values) {
  const int log2_size = blocks->log2_size;
  const int32_t inside = (1 << log2_size) - 1;
  const size_t count = (size_t)blocks->offsets[blocks->block_rows];
  *values = tsi_calloc(context, count, sizeof **values << (2 * log2_size));
  if (!*values)
    return tsi_out_of_memory(context, "the blocks of a matrix", count * sizeof **values << (2 * log2_size));
  for (int32_t i = 0; csr->values && i < csr->rows; i++) {
    size_t block = (size_t)blocks->offsets[i >> log2_size];
    for (int32_t e = csr->row_offsets[i]; e < csr->row_offsets[i + 1]; e++) {
      const int32_t j = csr->column_indices[e];
      while (blocks->columns[block] < j >> log2_size) block++;
      (*values)[(((block << log2_size) + (size_t)(i & inside)) << log2_size) + (size_t)(j & inside)] =
          csr->values[e];
    }
  }
  return TS_OK;
}

void tsi_visit_block(int log2_size, const tsi_host_csr *csr, int32_t block_row, int32_t block_column,
                     const float *block, tsi_entry_visitor visit, void *user) {
  const int32_t n = 1 << log2_size, row = block_row << log2_size, column = block_column << log2_size;
  for (int32_t r = 0; r < n && row + r < csr->rows; r++)
    for (int32_t c = 0; c < n && column + c < csr->columns; c++)
      visit(user, row + r, column + c, block[(r << log2_size) + c]);
}

/* ---- The formats ---- */

/* Computes the pattern of the blocks and their fill. All further steps treat blocks as the entries of a
 * matrix. */
static ts_status create_pattern(ts_context *context, tsi_layout *layout, int log2_block,
                                const tsi_layout_input *input, ts_matrix_info *info) {
  if (input->blocks && input->blocks->offsets) {
    layout->blocks = *input->blocks;
    *input->blocks = (tsi_blocks){0};
  } else {
    TSI_TRY(tsi_blocks_create(context, input->csr, log2_block, &layout->blocks));
  }
  info->blocks = layout->blocks.offsets[layout->blocks.block_rows];
  info->stored_entries = (int64_t)info->blocks << (2 * log2_block);
  if (info->blocks)
    info->fill_ratio = (double)input->csr->row_offsets[input->csr->rows] / (double)info->stored_entries;
  return TS_OK;
}

static ts_status layout_bcrs_create(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                                    ts_matrix_info *info) {
  const int log2_block = tsi_format_log2_block(layout->format);
  TSI_TRY(create_pattern(context, layout, log2_block, input, info));
  if (input->rows->linear) return TS_OK;
  tsi_block_view view;
  tsi_block_view_of(&layout->blocks, input, &view);
  TSI_TRY(tsi_rectangles_create(context, layout, &view.input, info));
  info->stored_entries <<= 2 * log2_block;
  return TS_OK;
}

static ts_status pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                      tsi_packed *packed) {
  return input->rows->linear ? tsi_blocks_values(context, &layout->blocks, input->csr, &packed->block_values)
                             : tsi_block_texels_pack(context, layout, input, packed);
}

static ts_status unpack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                        const tsi_packed *packed, tsi_entry_visitor visit, void *user) {
  if (!input->rows->linear) return tsi_rectangles_unpack(context, layout, input, packed, visit, user);
  const tsi_blocks *blocks = &layout->blocks;
  for (int32_t i = 0; i < blocks->block_rows; i++)
    for (int32_t k = blocks->offsets[i]; k < blocks->offsets[i + 1]; k++)
      tsi_visit_block(blocks->log2_size, input->csr, i, blocks->columns[k],
                      packed->block_values + ((size_t)k << (2 * blocks->log2_size)), visit, user);
  return TS_OK;
}

static int suits(const ts_context *context, const tsi_host_csr *csr, int blocks) {
  (void)context;
  return blocks && csr->row_offsets[csr->rows] > 0;
}

/* In textures, each block costs one fetch for its pointer, plus fetches of x and of its values four at a time.
 * A texel of four numbers counts as two fetches. */
static void estimate(const ts_context *context, const tsi_host_csr *csr, int log2_block, double weight,
                     tsi_estimate *e) {
  const double rows = csr->rows, entries = csr->row_offsets[csr->rows] > 0 ? csr->row_offsets[csr->rows] : 1;
  const double numbers = (double)(1 << 2 * log2_block), blocks = blocks_an_entry(context, csr, log2_block);
  e->fill = blocks > 0 ? 1 / (blocks * numbers) : 1;
  e->weight = weight;
  if (!context->caps.linear_spaces)
    e->reads = ((log2_block == 1 ? 2 : 3) + 2 * numbers / 4) * blocks;
  else
    e->reads = (4 * numbers + 4) * blocks + 4 * rows / (1 << log2_block) / entries;
  if (!context->caps.row_plans) return;
  const double lines = tsi_lines_of_entries(context, csr);
  e->reads =
      tsi_with_lines(&context->tuning, e->reads, (lines < blocks ? lines : blocks) + e->reads / TSI_LINE_BYTES);
}

static void estimate2(const ts_context *context, const tsi_host_csr *csr, int blocks, tsi_estimate *e) {
  const tsi_tuning *t = &context->tuning;
  estimate(context, csr, 1, blocks == TSI_SEVERAL_COMPONENTS ? t->bcrs2_weight_several : t->bcrs2_weight, e);
}

static void estimate4(const ts_context *context, const tsi_host_csr *csr, int blocks, tsi_estimate *e) {
  const tsi_tuning *t = &context->tuning;
  estimate(context, csr, 2, blocks == TSI_SEVERAL_COMPONENTS ? t->bcrs4_weight_several : t->bcrs4_weight, e);
}

static void sampled_block_rows(const tsi_host_csr *csr, int log2_size, tsi_range_visitor visit, void *user) {
  const int32_t block_rows = block_rows_of(csr, log2_size);
  for (int32_t k = 0; k < SAMPLE && k < block_rows; k++) {
    const int32_t first = sampled_block_row(block_rows, k) << log2_size;
    visit(user, first, csr->rows - first < 1 << log2_size ? csr->rows : first + (1 << log2_size));
  }
}

/* Without the groups of entries, which tsi_format_csr lists. */
static void sampled_rows2(const tsi_host_csr *csr, tsi_range_visitor visit, void *user) {
  sampled_block_rows(csr, 1, visit, user);
}

static void sampled_rows4(const tsi_host_csr *csr, tsi_range_visitor visit, void *user) {
  sampled_block_rows(csr, 2, visit, user);
}

#define BCRS(number, bits, function, ranges)                                                                   \
  {                                                                                                            \
    .format = number, .log2_block = bits, .no_meshes = 1, .shader = "bcrs", .create = layout_bcrs_create,      \
    .pack = pack, .unpack = unpack, .suits = suits, .estimate = function, .sampled_rows = ranges               \
  }
const tsi_format tsi_format_bcrs2 = BCRS(TS_FORMAT_BCRS2, 1, estimate2, sampled_rows2);
const tsi_format tsi_format_bcrs4 = BCRS(TS_FORMAT_BCRS4, 2, estimate4, sampled_rows4);
