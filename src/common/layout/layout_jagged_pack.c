/* The arrays that slices of jagged diagonals upload; layout_jagged.c determines the order and sizes. The k-th
 * entries of a slice are side by side. Columns are stored as their difference from the smallest one. Long rows
 * follow all slices. */
#include <string.h>

#include "common/core/clones.h"
#include "common/core/core.h"
#include "common/core/pool.h"
#include "layout_build.h"

/* The place of entry k of the row in `lane`; `before` entries of the slice precede it. */
static uint32_t place_in_slice(const tsi_slice *s, uint32_t before, int k, int lane) {
  return s->padded ? (uint32_t)(k * TSI_SLICE_ROWS + lane) : before;
}

/* Without padding: sets next[k] to the place of the first k-th entry. It advances by one from lane to lane.
 * `next` is 0 on entry. */
static void begin_places(const tsi_slice *s, const uint8_t *lengths, uint32_t *next) {
  for (int lane = 0; lane < TSI_SLICE_ROWS; lane++)
    for (int k = 0; lengths[lane] != TSI_NOT_IN_SLICE && k < lengths[lane]; k++) next[k]++;
  for (uint32_t k = 0, before = 0; k < s->longest; k++) {
    const uint32_t here = next[k];
    next[k] = before;
    before += here;
  }
}

CPU_INLINE void put_column(void *columns, int bytes, uint32_t place, uint32_t column) {
  if (bytes == 4)
    ((uint32_t *)columns)[place] = column;
  else if (bytes == 2)
    ((uint16_t *)columns)[place] = (uint16_t)column;
  else
    ((uint8_t *)columns)[place] = (uint8_t)column;
}

/* Row by row, in the storage order of the matrix. */
CPU_INLINE void put_rows(const tsi_slice *s, int bytes, const tsi_host_csr *csr, const int32_t *rows,
                         const uint8_t *lengths, const int32_t *least, uint32_t *next, tsi_packed *packed) {
  float *values = packed->values + s->first;
  void *columns = packed->words + s->first_word;
  for (int lane = 0; lane < TSI_SLICE_ROWS; lane++) {
    if (lengths[lane] == TSI_NOT_IN_SLICE) continue;
    const int32_t first = csr->row_offsets[rows[lane]];
    for (int k = 0; k < lengths[lane]; k++) {
      const uint32_t at = s->padded ? (uint32_t)(k * TSI_SLICE_ROWS + lane) : next[k]++;
      if (csr->values) values[at] = csr->values[first + k];
      put_column(columns, bytes, at, (uint32_t)(csr->column_indices[first + k] - (bytes < 4 ? least[k] : 0)));
    }
  }
}

static void pack_slice(const tsi_slices *slices, const tsi_host_csr *csr, int32_t number, tsi_packed *packed) {
  const tsi_slice *s = &slices->slices[number];
  const uint8_t *lengths = slices->lengths + (size_t)number * TSI_SLICE_ROWS;
  int32_t rows[TSI_SLICE_ROWS];
  uint32_t next[TSI_SLICE_LONGEST] = {0};
  tsi_slice_columns c = {{0}, {0}};
  tsi_slice_rows(slices, csr, number, rows);
  if (!s->padded) begin_places(s, lengths, next);
  if (s->column_bytes < 4) {
    tsi_slice_bounds(csr, rows, lengths, s->longest, &c);
    memcpy(packed->bases + s->first_base, c.least, s->longest * sizeof *c.least);
  }
  if (s->column_bytes == 4)
    put_rows(s, 4, csr, rows, lengths, NULL, next, packed);
  else if (s->column_bytes == 2)
    put_rows(s, 2, csr, rows, lengths, c.least, next, packed);
  else
    put_rows(s, 1, csr, rows, lengths, c.least, next, packed);
}

typedef struct pack_work {
  const tsi_slices *slices;
  const tsi_host_csr *csr;
  tsi_packed *packed;
} pack_work;

static void pack_slices(const void *arguments, size_t first, size_t last) {
  const pack_work *w = arguments;
  const int32_t count = w->slices->count;
  for (int32_t s = tsi_block_begin(count, first); s < tsi_block_begin(count, last); s++)
    pack_slice(w->slices, w->csr, s, w->packed);
}

ts_status tsi_slices_pack(ts_context *context, const tsi_slices *slices, const tsi_host_csr *csr,
                          tsi_packed *packed) {
  const size_t entries = (size_t)slices->entries + (size_t)slices->long_entries;
  packed->values = tsi_calloc(context, entries, sizeof(float));
  packed->words = tsi_calloc(context, slices->words, sizeof(uint32_t));
  packed->bases = tsi_calloc(context, slices->bases, sizeof(int32_t));
  packed->long_columns = tsi_malloc(context, (size_t)slices->long_entries, sizeof(int32_t));
  if (!packed->values || !packed->words || !packed->bases || !packed->long_columns)
    return tsi_out_of_memory(context, "the matrix in slices", entries * 8);
  const pack_work work = {.slices = slices, .csr = csr, .packed = packed};
  tsi_in_blocks(context, csr->rows, pack_slices, &work);
  for (int32_t w = 0; w < slices->row_block_count; w++) {
    const tsi_row_block *part = &slices->row_blocks[w];
    const size_t count = (size_t)(part->end - part->first);
    const int32_t from = csr->row_offsets[part->row] + part->piece * TSI_PIECE_ENTRIES;
    memcpy(packed->long_columns + part->first, csr->column_indices + from, count * sizeof(int32_t));
    if (csr->values)
      memcpy(packed->values + slices->entries + part->first, csr->values + from, count * sizeof(float));
  }
  return TS_OK;
}

static uint32_t column_at(const uint32_t *words, const tsi_slice *s, uint32_t number) {
  if (s->column_bytes == 4) return words[s->first_word + number];
  if (s->column_bytes == 2) return ((const uint16_t *)(words + s->first_word))[number];
  return ((const uint8_t *)(words + s->first_word))[number];
}

void tsi_slices_unpack(const tsi_slices *slices, const tsi_host_csr *csr, const tsi_packed *packed,
                       tsi_entry_visitor visit, void *user) {
  for (int32_t number = 0; number < slices->count; number++) {
    const tsi_slice *s = &slices->slices[number];
    const uint8_t *lengths = slices->lengths + (size_t)number * TSI_SLICE_ROWS;
    int32_t rows[TSI_SLICE_ROWS];
    uint32_t before = 0;
    tsi_slice_rows(slices, csr, number, rows);
    for (int k = 0; k < s->longest; k++) {
      const int32_t base = s->column_bytes < 4 ? packed->bases[s->first_base + (uint32_t)k] : 0;
      for (int lane = 0; lane < TSI_SLICE_ROWS; lane++) {
        if (lengths[lane] == TSI_NOT_IN_SLICE || lengths[lane] <= k) continue;
        const uint32_t at = place_in_slice(s, before++, k, lane);
        visit(user, rows[lane], base + (int32_t)column_at(packed->words, s, at), packed->values[s->first + at]);
      }
    }
  }
  for (int32_t w = 0; w < slices->row_block_count; w++) {
    const tsi_row_block *part = &slices->row_blocks[w];
    for (int32_t k = part->first; k < part->end; k++)
      visit(user, part->row, packed->long_columns[k], packed->values[slices->entries + (uint32_t)k]);
  }
}

void tsi_slices_places(const tsi_slices *slices, const tsi_host_csr *csr, int32_t *places) {
  for (int32_t number = 0; number < slices->count; number++) {
    const tsi_slice *s = &slices->slices[number];
    const uint8_t *lengths = slices->lengths + (size_t)number * TSI_SLICE_ROWS;
    int32_t rows[TSI_SLICE_ROWS];
    uint32_t before = 0;
    tsi_slice_rows(slices, csr, number, rows);
    for (int k = 0; k < s->longest; k++)
      for (int lane = 0; lane < TSI_SLICE_ROWS; lane++)
        if (lengths[lane] != TSI_NOT_IN_SLICE && lengths[lane] > k)
          places[csr->row_offsets[rows[lane]] + k] = (int32_t)(s->first + place_in_slice(s, before++, k, lane));
  }
  for (int32_t w = 0; w < slices->row_block_count; w++) {
    const tsi_row_block *part = &slices->row_blocks[w];
    const int32_t from = csr->row_offsets[part->row] + part->piece * TSI_PIECE_ENTRIES;
    for (int32_t k = 0; k < part->end - part->first; k++)
      places[from + k] = (int32_t)slices->entries + part->first + k;
  }
}
