/* Matrices in device memory: creation, new values, destruction. */
#include <string.h>

#include "cuda_given.h"
#include "cuda_matrix.h"

ts_status cuda_matrix_alloc(ts_matrix *A, const void *from, size_t count, size_t size, void **to) {
  cuda_matrix *m = cuda_matrix_of(A);
  const size_t bytes = count * size;
  TSI_TRY(from ? cuda_alloc_copy(A->context, to, from, bytes, "a matrix")
               : cuda_alloc_zeroed(A->context, to, bytes, "a matrix"));
  m->blocks[m->block_count].data = *to;
  m->blocks[m->block_count++].bytes = bytes;
  return TS_OK;
}

/* The sums and tickets that thread blocks exchange. */
static ts_status create_sums(ts_matrix *A) {
  cuda_row_blocks *w = &cuda_matrix_of(A)->row_blocks;
  if (w->count == 0) return TS_OK;
  CUDA_ALLOC(A, NULL, (size_t)(2 * CUDA_PIECE_WORDS) * (size_t)w->count, w->sums);
  CUDA_ALLOC(A, NULL, w->count, w->tickets);
  return TS_OK;
}

ts_status cuda_matrix_create_row_blocks(ts_matrix *A, const tsi_row_block *row_blocks, int32_t count) {
  cuda_row_blocks *w = &cuda_matrix_of(A)->row_blocks;
  w->count = count;
  if (count > 0) CUDA_ALLOC(A, row_blocks, count, w->row_blocks);
  return create_sums(A);
}

/* Loads of eight entries at once read past the last one. */
static ts_status alloc_padded(ts_matrix *A, const void *from, size_t count, void **to) {
  TSI_TRY(cuda_matrix_alloc(A, NULL, (count + 7) / 8 * 8, 4, to));
  return from ? cuda_upload(A->context, *to, from, 4 * count) : TS_OK;
}

static void own(cuda_matrix *m, const void *data, size_t bytes) {
  m->blocks[m->block_count].data = (void *)data;
  m->blocks[m->block_count++].bytes = bytes;
}

/* Takes over the arrays. */
static ts_status create_given(ts_matrix *A, const tsi_given *given) {
  cuda_matrix *m = cuda_matrix_of(A);
  cuda_given *g = given->impl;
  const size_t entries = cuda_given_room((size_t)given->nonzeros) * 4;
  m->value_count = (size_t)given->nonzeros;
  m->values = g->values[0];
  m->csr = (cuda_csr){.rows = given->rows,
                      .log2_subwarp = given->log2_subwarp,
                      .row_offsets = g->offsets,
                      .columns = g->columns,
                      .values = g->values[0],
                      .ends = g->ends};
  own(m, g->offsets, ((size_t)given->rows + 1) * sizeof *g->offsets);
  own(m, g->columns, entries);
  own(m, g->values[0], entries);
  if (g->ends) own(m, g->ends, cuda_given_ends_bytes((size_t)given->nonzeros));
  if (g->row_blocks) own(m, g->row_blocks, g->row_block_bytes);
  m->row_blocks = (cuda_row_blocks){.count = given->row_block_count,
                                    .row_blocks = g->row_blocks,
                                    .columns = g->columns,
                                    .values = g->values[0]};
  g->offsets = g->columns = NULL;
  g->values[0] = NULL;
  g->ends = NULL;
  g->row_blocks = NULL;
  return create_sums(A);
}

static ts_status create_csr(ts_matrix *A, const tsi_packed *packed) {
  if (packed->given) return create_given(A, packed->given);
  const tsi_host_csr *csr = packed->csr;
  cuda_matrix *m = cuda_matrix_of(A);
  const tsi_row_plan *plan = &A->layout->plan;
  const size_t rows = (size_t)csr->rows;
  m->value_count = (size_t)csr->row_offsets[rows];
  m->csr.rows = csr->rows;
  m->csr.log2_subwarp = plan->log2_subwarp;
  CUDA_ALLOC(A, csr->row_offsets, rows + 1, m->csr.row_offsets);
  TSI_TRY(alloc_padded(A, csr->column_indices, m->value_count, (void **)&m->csr.columns));
  TSI_TRY(alloc_padded(A, csr->values, m->value_count, (void **)&m->values));
  m->csr.values = m->values;
  if (plan->ends) CUDA_ALLOC(A, plan->ends, m->value_count / TSI_ROW_BLOCK_STEPS + 1, m->csr.ends);
  TSI_TRY(cuda_matrix_create_row_blocks(A, plan->row_blocks, plan->row_block_count));
  m->row_blocks.columns = m->csr.columns;
  m->row_blocks.values = m->csr.values;
  return TS_OK;
}

static int32_t count_unpadded(const tsi_slices *slices) {
  int32_t count = 0;
  for (int32_t s = 0; s < slices->count; s++)
    count += !slices->slices[s].padded && slices->slices[s].longest > 0;
  return count;
}

static void choose_kernels(const tsi_tuning *t, cuda_slices *to, const tsi_slices *from, double mean,
                           double cache) {
  const double bytes = 4.0 * from->entries + 4.0 * from->words;
  const int is_short = mean <= t->lean_short_mean;
  const int even = 8 * (int64_t)count_unpadded(from) <= from->count; /* nearly all slices are padded */
  to->prefetched = bytes <= cache;
  to->streamed = bytes > t->stream_caches * cache;
  to->lean = even && mean <= t->lean_mean && bytes > (is_short ? t->lean_short_caches : 1) * cache;
  to->lean_product = even && (is_short ? bytes > t->lean_product_short_caches * cache
                                       : mean <= t->lean_product_mean &&
                                             bytes > t->lean_product_caches * cache && !to->streamed);
}

/* The arrays of slices: packed on the host, or by the device from a matrix in its memory. */
static ts_status fill_slices(ts_matrix *A, const tsi_packed *packed) {
  cuda_matrix *m = cuda_matrix_of(A);
  const tsi_slices *from = &A->layout->slices;
  cuda_slices *to = &m->slices;
  CUDA_ALLOC(A, packed->words, from->words, to->words);
  CUDA_ALLOC(A, packed->bases, from->bases, to->bases);
  CUDA_ALLOC(A, packed->values, m->value_count, m->values);
  to->values = m->values;
  if (from->row_block_count) CUDA_ALLOC(A, packed->long_columns, from->long_entries, m->row_blocks.columns);
  m->row_blocks.values = to->values + from->entries;
  TSI_TRY(cuda_matrix_create_row_blocks(A, from->row_blocks, from->row_block_count));
  if (!packed->given) return TS_OK;
  TSI_TRY(cuda_given_pack(A->context, packed->given, 0, m, 1));
  return cuda_given_fingerprint(A->context, packed->given, &m->fingerprint);
}

static ts_status create_slices(ts_matrix *A, const tsi_packed *packed) {
  cuda_matrix *m = cuda_matrix_of(A);
  const tsi_slices *from = &A->layout->slices;
  cuda_slices *to = &m->slices;
  const size_t places = (size_t)from->count * TSI_SLICE_ROWS;
  m->value_count = (size_t)from->entries + (size_t)from->long_entries;
  to->rows = packed->csr->rows;
  to->count = from->count;
  CUDA_ALLOC(A, from->slices, from->count, to->slices);
  CUDA_ALLOC(A, from->lengths, places, to->lengths);
  if (from->order) CUDA_ALLOC(A, from->order, places, to->order);
  const double rows = packed->csr->rows > 0 ? packed->csr->rows : 1;
  choose_kernels(&A->context->tuning, to, from, (double)A->info.nonzeros / rows,
                 (double)cuda_state_of(A->context)->l2_bytes);
  return fill_slices(A, packed);
}

static ts_status create_segments(ts_matrix *A, const tsi_packed *packed) {
  cuda_matrix *m = cuda_matrix_of(A);
  cuda_segments *to = &m->segments;
  const size_t rows = (size_t)packed->csr->rows, runs = packed->starts[rows];
  to->rows = packed->csr->rows;
  m->value_count = runs + (A->has_diagonal ? rows : 0);
  CUDA_ALLOC(A, packed->starts, rows + 1, to->starts);
  CUDA_ALLOC(A, packed->pointers, runs, to->pointers);
  CUDA_ALLOC(A, packed->values, m->value_count, m->values);
  to->values = m->values;
  if (A->has_diagonal) to->diagonal = to->values + runs;
  return TS_OK;
}

static ts_status create_bcrs(ts_matrix *A, const tsi_packed *packed) {
  cuda_matrix *m = cuda_matrix_of(A);
  const tsi_blocks *from = &A->layout->blocks;
  cuda_bcrs *to = &m->bcrs;
  to->log2_block = from->log2_size;
  to->rows = from->block_rows;
  to->count = from->offsets[from->block_rows];
  to->width = A->info.columns;
  m->value_count = (size_t)to->count << (2 * from->log2_size);
  CUDA_ALLOC(A, from->offsets, to->rows + 1, to->offsets);
  CUDA_ALLOC(A, from->columns, to->count, to->columns);
  CUDA_ALLOC(A, packed->block_values, m->value_count, m->values);
  to->values = m->values;
  return TS_OK;
}

ts_status cuda_matrix_write(ts_matrix *A, const tsi_packed *packed) {
  const cuda_matrix *m = cuda_matrix_of(A);
  const size_t bytes = m->value_count * sizeof(float);
  if (packed->given && packed->given->parts > 0) {
    const cuda_given *g = packed->given->impl;
    if (A->layout->format == TS_FORMAT_JAGGED)
      return cuda_given_pack(A->context, packed->given, packed->given_part, m, 0);
    CUDA_TRY(A->context, cudaMemcpyAsync(m->values, g->values[packed->given_part], bytes,
                                         cudaMemcpyDeviceToDevice, cuda_stream(A->context)));
    return TS_OK;
  }
  const float *from = packed->block_values ? packed->block_values
                      : packed->values     ? packed->values
                                           : packed->csr->values;
  if (from) return cuda_upload(A->context, m->values, from, bytes);
  CUDA_TRY(A->context, cudaMemsetAsync(m->values, 0, bytes, cuda_stream(A->context)));
  return TS_OK;
}

void cuda_matrix_destroy(ts_matrix *A) {
  cuda_matrix *m = cuda_matrix_of(A);
  while (m->block_count > 0) {
    m->block_count--;
    cuda_free(A->context, m->blocks[m->block_count].data, m->blocks[m->block_count].bytes);
  }
  tsi_free(A->context, m);
  A->impl = NULL;
}

/* ---- Formats ---- */

#define KIND(name, ...)                                                                                        \
  static const tsi_matrix_kind name##_kind = {.destroy = cuda_matrix_destroy,                                  \
                                              TSI_MATRIX_OPERATIONS(TSI_ENTRY, cuda_##name##_) __VA_ARGS__};
#define QUICK_KIND(name, ...)                                                                                  \
  KIND(name, .cg = &cuda_##name##_cg, .quick_residual = cuda_##name##_quick_residual,                          \
       .smooth = cuda_##name##_smooth, __VA_ARGS__)
QUICK_KIND(csr, )
QUICK_KIND(jagged, .spmv_dot = cuda_jagged_spmv_dot)
QUICK_KIND(bcrs, )
KIND(segments, ) /* for comparison only */

const cuda_format cuda_format_csr = {&csr_kind, sizeof(cuda_matrix), create_csr};
const cuda_format cuda_format_jagged = {&jagged_kind, sizeof(cuda_matrix), create_slices};
const cuda_format cuda_format_segments = {&segments_kind, sizeof(cuda_matrix), create_segments};
const cuda_format cuda_format_bcrs2 = {&bcrs_kind, sizeof(cuda_matrix), create_bcrs};
const cuda_format cuda_format_bcrs4 = {&bcrs_kind, sizeof(cuda_matrix), create_bcrs};

/* Moves the pointer to the same offset among the values of `low`. */
static void rebase(const float **pointer, const cuda_matrix *whole, const cuda_matrix *low) {
  if (*pointer) *pointer = low->values + (*pointer - whole->values);
}

/* Has its own values and takes everything else from the whole matrix, including its scratch memory: only one of
 * the two is in use at a time. */
static ts_status create_low_part(ts_matrix *A, size_t size, const tsi_packed *packed) {
  const cuda_matrix *whole = cuda_matrix_of(A->whole);
  cuda_matrix *m = cuda_matrix_of(A);
  memcpy(m, whole, size);
  m->block_count = 0;
  TSI_TRY(alloc_padded(A, NULL, whole->value_count, (void **)&m->values));
  rebase(&m->csr.values, whole, m);
  rebase(&m->slices.values, whole, m);
  rebase(&m->segments.values, whole, m);
  rebase(&m->segments.diagonal, whole, m);
  rebase(&m->bcrs.values, whole, m);
  rebase(&m->row_blocks.values, whole, m);
  return cuda_matrix_write(A, packed);
}

static ts_status create(ts_matrix *A, const cuda_format *format, const tsi_packed *packed) {
  if (A->whole) return create_low_part(A, format->size, packed);
  cuda_matrix *m = cuda_matrix_of(A);
  if (A->row_space->constrained)
    CUDA_ALLOC(A, A->row_space->constrained, A->row_space->tiling.size, m->constrained);
  TSI_TRY(format->create(A, packed));
  return cuda_matrix_find_interior(A, packed->csr);
}

ts_status cuda_matrix_create(ts_matrix *A, const tsi_packed *packed) {
#define ROW(name, number) [number] = &cuda_format_##name,
  static const cuda_format *const formats[] = {TSI_CUDA_FORMATS(ROW)};
#undef ROW
  const cuda_format *format = formats[A->layout->format];
  A->impl = tsi_calloc(A->context, 1, format->size);
  if (!A->impl) return tsi_out_of_memory(A->context, "a matrix", format->size);
  A->kind = format->kind;
  const ts_status status = create(A, format, packed);
  if (status < 0) cuda_matrix_destroy(A);
  return status;
}

/* ---- Reading back ---- */

/* Waits for the copy, which is all that still uses `from`. */
static ts_status read_back(const ts_matrix *A, const void *from, size_t count, void *out) {
  void **to = out;
  *to = tsi_malloc(A->context, count, 4);
  if (!*to) return tsi_out_of_memory(A->context, "the entries of a matrix", 4 * count);
  return count ? cuda_download(A->context, *to, from, 4 * count) : TS_OK;
}

ts_status cuda_matrix_read(const ts_matrix *A, tsi_packed *packed, tsi_host_csr *csr) {
  const cuda_matrix *m = cuda_matrix_of(A);
  const tsi_layout *layout = A->layout;
  const size_t rows = (size_t)A->info.rows;
  switch (layout->format) {
  case TS_FORMAT_CSR:
    *csr = (tsi_host_csr){.rows = A->info.rows, .columns = A->info.columns, .owned = 1};
    TSI_TRY(read_back(A, m->csr.row_offsets, rows + 1, &csr->row_offsets));
    TSI_TRY(read_back(A, m->csr.columns, m->value_count, &csr->column_indices));
    return read_back(A, m->values, m->value_count, &csr->values);
  case TS_FORMAT_JAGGED:
    TSI_TRY(read_back(A, m->slices.words, layout->slices.words, &packed->words));
    TSI_TRY(read_back(A, m->slices.bases, layout->slices.bases, &packed->bases));
    TSI_TRY(read_back(A, m->row_blocks.columns, (size_t)layout->slices.long_entries, &packed->long_columns));
    return read_back(A, m->values, m->value_count, &packed->values);
  case TS_FORMAT_SEGMENTS:
    TSI_TRY(read_back(A, m->segments.starts, rows + 1, &packed->starts));
    TSI_TRY(read_back(A, m->segments.pointers, packed->starts[rows], &packed->pointers));
    return read_back(A, m->values, m->value_count, &packed->values);
  default:
    return read_back(A, m->values, m->value_count, &packed->block_values);
  }
}
