/* Layouts: the loop length of every rectangle, then the placement of a format, then the packing of values.
 *
 * Bolz et al. 2003, section 3.2.2: rows sorted by length fill equal rectangles, and each rectangle uses the
 * cheapest loop that covers its rows. One long row among short ones would lengthen the loop of its whole
 * rectangle. Such a row is split: earlier passes sum the entries past the loop (layout_split.c), and one
 * additional entry of the row points to that sum. */
#include <stdlib.h>

#include "common/core/core.h"
#include "common/core/pool.h"
#include "layout_build.h"

typedef struct ordering {
  const tsi_tiling *tiling;
  int32_t *order;
} ordering;

static void order_rows(const void *arguments, size_t first, size_t last) {
  const ordering *o = arguments;
  const tsi_tiling *t = o->tiling;
  for (int32_t i = tsi_block_begin(t->size, first); i < tsi_block_begin(t->size, last); i++) {
    const int32_t p = tsi_position(t, i);
    if (p < t->free_count) o->order[p] = i;
  }
}

ts_status tsi_rows_in_order(ts_context *context, const tsi_tiling *t, int32_t **order) {
  const size_t count = t->free_count ? (size_t)t->free_count : 1;
  *order = tsi_malloc(context, count, sizeof **order);
  if (!*order) return tsi_out_of_memory(context, "the order of rows", count * sizeof **order);
  TSI_TRY(tsi_threads_for(context, t->size));
  tsi_in_blocks(context, t->size, order_rows, &(ordering){t, *order});
  return TS_OK;
}

int32_t tsi_row_length(const tsi_layout_input *input, int32_t i) {
  const tsi_host_csr *A = input->csr;
  const int32_t first = A->row_offsets[i], last = A->row_offsets[i + 1];
  int32_t length = last - first;
  if (!input->has_diagonal || length == 0) return length;
  if (input->is_diagonal_full) return length - 1;
  /* Columns ascend: find i by bisection. */
  int32_t low = first, high = last;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (A->column_indices[middle] < i)
      low = middle + 1;
    else
      high = middle;
  }
  return low < last && A->column_indices[low] == i ? length - 1 : length;
}

static int compare_descending(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return x > y ? -1 : x < y;
}

/* Chooses the loop of one rectangle from the lengths of its rows. The loop is as long as the longest row, with
 * two exceptions: a few rows (fewer than a quarter) are so long that padding would dominate, or the longest
 * exceeds the limit of one pass. */
static void choose_loop(tsi_rectangle *rectangle, int32_t *lengths, int32_t count, int32_t most) {
  int sorted = 1;
  for (int32_t k = 1; k < count && sorted; k++) sorted = lengths[k] <= lengths[k - 1];
  if (!sorted) qsort(lengths, (size_t)count, sizeof *lengths, compare_descending);
  const int32_t longest = lengths[0], quarter = lengths[count / 4];
  int32_t loop = longest;
  if (longest > 2 * quarter + 16 && longest > 32) loop = quarter;
  if (loop > most) loop = most;
  rectangle->length = loop;
  rectangle->spill = longest > loop;
}

typedef struct measuring {
  const tsi_layout_input *input;
  const int32_t *order; /* NULL: row k */
  int32_t count, *lengths;
} measuring;

static void measure_rows(const void *arguments, size_t first, size_t last) {
  const measuring *m = arguments;
  for (int32_t k = tsi_block_begin(m->count, first); k < tsi_block_begin(m->count, last); k++)
    m->lengths[k] = tsi_row_length(m->input, m->order ? m->order[k] : k);
}

ts_status tsi_measure_rows(ts_context *context, const tsi_layout_input *input, const int32_t *order,
                           int32_t count, int32_t **lengths) {
  *lengths = tsi_malloc(context, (size_t)count, sizeof **lengths);
  if (!*lengths) return tsi_out_of_memory(context, "row lengths", (size_t)count * sizeof **lengths);
  ts_status status = tsi_threads_for(context, count);
  if (status == TS_OK)
    tsi_in_blocks(context, count, measure_rows, &(measuring){input, order, count, *lengths});
  else
    tsi_free(context, *lengths);
  return status;
}

static ts_status choose_loops(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                              const int32_t *order) {
  const tsi_tiling *t = input->rows;
  const int32_t area = 1 << (t->log2_width + t->log2_height);
  /* The entries of a rectangle are side by side in one texture, including the entry for the spilled sum. */
  const int32_t slabs = (input->max_texture_size >> (t->log2_width + input->log2_texels)) - 1;
  const int32_t most = slabs < TSI_MAX_LOOP ? slabs : TSI_MAX_LOOP;
  int32_t *lengths;
  TSI_TRY(tsi_measure_rows(context, input, order, t->free_count, &lengths));
  for (int32_t r = 0; r < t->free_rectangles; r++) {
    const int32_t first = r * area, count = t->free_count - first < area ? t->free_count - first : area;
    choose_loop(&layout->rectangles[r], lengths + first, count, most);
  }
  tsi_free(context, lengths);
  return TS_OK;
}

/* ---- Creation ---- */

const tsi_format *tsi_format_of(ts_format format) {
#define ROW(name, number) [number] = &tsi_format_##name,
  static const tsi_format *const rows[] = {TSI_FORMATS(ROW)};
#undef ROW
  return (size_t)format < sizeof rows / sizeof rows[0] ? rows[format] : NULL;
}

int tsi_format_log2_block(ts_format format) {
  const tsi_format *row = tsi_format_of(format);
  return row ? row->log2_block : 0;
}

void tsi_layout_destroy(ts_context *context, tsi_layout *layout) {
  if (!layout) return;
  tsi_row_plan_free(context, &layout->plan);
  tsi_slices_free(context, &layout->slices);
  tsi_free(context, layout->rectangles);
  tsi_blocks_free(context, &layout->blocks);
  tsi_free(context, layout);
}

static ts_status build(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                       const int32_t *order, ts_matrix_info *info) {
  const tsi_tiling *t = input->rows;
  TSI_TRY(choose_loops(context, layout, input, order));
  TSI_TRY(tsi_split_build(context, layout, input, order, info));
  TSI_TRY(tsi_layout_place(context, layout, input));
  info->rectangles = t->free_rectangles;
  info->loops = 0;
  for (int32_t r = 0; r < t->free_rectangles; r++)
    info->loops += r == 0 || layout->rectangles[r].length != layout->rectangles[r - 1].length ||
                   layout->rectangles[r].spill != layout->rectangles[r - 1].spill;
  info->stored_entries = (int64_t)layout->width * layout->height;
  if (input->has_diagonal) info->stored_entries += (int64_t)t->width * t->height;
  for (int s = 0; s < layout->stage_count; s++)
    info->stored_entries += ((int64_t)1 << layout->stages[s].log2_width) * layout->stages[s].height;
  return TS_OK;
}

ts_status tsi_rectangles_create(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                                ts_matrix_info *info) {
  int32_t *order = NULL;
  const size_t rectangles = (size_t)input->rows->free_rectangles;
  layout->rectangles = tsi_calloc(context, rectangles, sizeof *layout->rectangles);
  if (!layout->rectangles)
    return tsi_out_of_memory(context, "a layout", rectangles * sizeof *layout->rectangles);
  ts_status status = tsi_rows_in_order(context, input->rows, &order);
  if (status == TS_OK) status = build(context, layout, input, order, info);
  tsi_free(context, order);
  return status;
}

ts_status tsi_layout_create(ts_context *context, ts_format format, const tsi_layout_input *input,
                            tsi_layout **out, ts_matrix_info *info) {
  tsi_layout *layout = tsi_calloc(context, 1, sizeof *layout);
  if (!layout) return tsi_out_of_memory(context, "a layout", sizeof *layout);
  layout->format = format;
  layout->runs = tsi_format_of(format)->runs;
  info->fill_ratio = 1;
  info->stored_entries = input->csr->row_offsets[input->csr->rows];
  const ts_status status = tsi_format_of(format)->create(context, layout, input, info);
  if (status < 0) {
    tsi_layout_destroy(context, layout);
    return status;
  }
  *out = layout;
  return TS_OK;
}

/* ---- Packing ---- */

void tsi_packed_free(ts_context *context, tsi_packed *packed) {
  tsi_free(context, packed->diagonal);
  tsi_free(context, packed->entries);
  tsi_free(context, packed->values);
  tsi_free(context, packed->pointers);
  tsi_free(context, packed->starts);
  tsi_free(context, packed->block_values);
  tsi_free(context, packed->words);
  tsi_free(context, packed->bases);
  tsi_free(context, packed->long_columns);
  tsi_free(context, packed->block_diagonal);
  tsi_free(context, packed->stage_blocks);
  for (int s = 0; s < TSI_MAX_STAGES; s++) tsi_free(context, packed->stages[s]);
  *packed = (tsi_packed){0};
}

typedef struct filling {
  size_t texels;
  uint32_t pointer;
  tsi_packed *packed;
} filling;

/* Writes entries of 0, for texels that no row uses. */
static void fill_blocks(const void *arguments, size_t first, size_t last) {
  const filling *f = arguments;
  const size_t begin = f->texels * first / TSI_BLOCKS, end = f->texels * last / TSI_BLOCKS;
  if (f->packed->entries)
    for (size_t k = begin; k < end; k++) f->packed->entries[k] = (tsi_entry){0, f->pointer};
  else
    for (size_t k = begin; k < end; k++) f->packed->pointers[k] = f->pointer;
}

static ts_status allocate(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                          tsi_packed *packed) {
  const size_t vector_texels = (size_t)input->rows->width * (size_t)input->rows->height;
  const size_t texels = (size_t)layout->width * (size_t)layout->height;
  const uint32_t zero = tsi_pointer(input->columns, input->columns->zero_position);
  const tsi_format *format = tsi_format_of(layout->format);
  int ok = 1;
  if (input->has_diagonal) ok = (packed->diagonal = tsi_calloc(context, vector_texels, sizeof(float))) != NULL;
  if (format->pairs) {
    ok = ok && (packed->entries = tsi_malloc(context, texels, sizeof(tsi_entry))) != NULL;
  } else {
    ok = ok && (packed->values = tsi_calloc(context, texels, sizeof(float))) != NULL;
    ok = ok && (packed->pointers = tsi_malloc(context, texels, sizeof(uint32_t))) != NULL;
    if (format->runs)
      ok = ok && (packed->starts = tsi_calloc(context, vector_texels, sizeof(uint32_t))) != NULL;
  }
  if (!ok) return tsi_out_of_memory(context, "the matrix in texel order", texels * 8 + vector_texels * 8);
  TSI_TRY(tsi_threads_for(context, input->rows->size));
  tsi_in_blocks(context, input->rows->size, fill_blocks, &(filling){texels, zero, packed});
  return TS_OK;
}

/* Blocks of rectangles, shared among threads. */
typedef struct packing {
  const tsi_layout *layout;
  const tsi_layout_input *input;
  const int32_t *order;
  const uint32_t *pointers; /* of columns */
  int64_t sums[TSI_BLOCKS]; /* sums of the first stage before each block */
  tsi_packed *packed;
} packing;

CPU_INLINE void put_entry(tsi_packed *packed, size_t texel, tsi_entry entry) {
  if (packed->entries) {
    packed->entries[texel] = entry;
  } else {
    if (packed->values) packed->values[texel] = entry.value; /* blocks have no value for a pointer to a sum */
    packed->pointers[texel] = entry.pointer;
  }
}

/* Copies of pointers, which a thread keeps in registers. */
typedef struct target {
  const float *values;
  const int32_t *columns;
  const uint32_t *pointers;
  int log2_block;
  tsi_packed packed;
} target;

CPU_INLINE void pack_entry(void *user, int32_t row, int32_t e, tsi_place place, size_t texel) {
  (void)row;
  target *t = user;
  const tsi_entry entry = {t->values ? t->values[e] : 0, t->pointers[t->columns[e] >> t->log2_block]};
  if (place == TSI_PLACE_DIAGONAL)
    t->packed.diagonal[texel] = entry.value;
  else if (place == TSI_PLACE_STAGE)
    t->packed.stages[0][texel] = entry;
  else
    put_entry(&t->packed, texel, entry);
}

static void pack_blocks(const void *arguments, size_t first, size_t last) {
  const packing *p = *(packing *const *)arguments;
  const int32_t rectangles = p->input->rows->free_rectangles;
  target t = {p->input->csr->values, p->input->csr->column_indices, p->pointers, p->input->columns->log2_block,
              *p->packed};
  for (size_t b = first; b < last; b++)
    tsi_visit_rectangles(p->layout, p->input, p->order, tsi_block_begin(rectangles, b),
                         tsi_block_begin(rectangles, b + 1), p->sums[b], pack_entry, &t);
}

typedef struct pointing {
  const tsi_tiling *tiling;
  uint32_t *pointers;
} pointing;

static void point_blocks(const void *arguments, size_t first, size_t last) {
  const pointing *p = arguments;
  const tsi_tiling *t = p->tiling;
  const int32_t texels = tsi_texels_in_use(t);
  for (int32_t k = tsi_block_begin(texels, first); k < tsi_block_begin(texels, last); k++)
    p->pointers[k] = tsi_pointer(t, t->positions ? t->positions[k] : k);
}

/* Divides once per column instead of once per entry. */
static uint32_t *create_pointers(ts_context *context, const tsi_tiling *t) {
  const int32_t texels = tsi_texels_in_use(t);
  uint32_t *pointers = tsi_malloc(context, (size_t)texels, sizeof *pointers);
  if (pointers) tsi_in_blocks(context, texels, point_blocks, &(pointing){t, pointers});
  return pointers;
}

static ts_status pack_entries(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                              const int32_t *order, tsi_packed *packed) {
  packing p = {.layout = layout, .input = input, .order = order, .packed = packed}, *const one = &p;
  const int32_t rectangles = input->rows->free_rectangles;
  TSI_TRY(tsi_threads_for(context, input->rows->size));
  uint32_t *pointers = create_pointers(context, input->columns);
  if (!pointers) return tsi_out_of_memory(context, "the texels of columns", (size_t)input->columns->size * 4);
  p.pointers = pointers;
  for (size_t b = 1; b < TSI_BLOCKS; b++)
    p.sums[b] = p.sums[b - 1] + tsi_sums_between(layout, input, order, tsi_block_begin(rectangles, b - 1),
                                                 tsi_block_begin(rectangles, b));
  tsi_in_blocks(context, input->rows->size, pack_blocks, &one);
  tsi_free(context, pointers);
  return TS_OK;
}

/* Writes the start of every row, and the pointers to the sums of split rows. */
void tsi_layout_link(const tsi_layout *layout, const tsi_layout_input *input, const int32_t *order,
                     tsi_packed *packed) {
  const tsi_tiling *t = input->rows;
  const int bits = t->log2_width + t->log2_height;
  int32_t split = 0; /* split rows so far */
  for (int32_t p = 0; p < t->free_rectangles << bits; p++) {
    const tsi_rectangle *rectangle = &layout->rectangles[p >> bits];
    if (!packed->starts && !rectangle->spill) {
      p |= (1 << bits) - 1; /* the last of its rectangle */
      continue;
    }
    const int32_t inside = p & ((1 << bits) - 1);
    if (packed->starts) {
      const tsi_texel start = tsi_entry_texel(layout, t, rectangle, inside, 0);
      packed->starts[tsi_texel_number(t, p)] = (uint32_t)start.x | (uint32_t)start.y << 16;
    }
    if (!rectangle->spill) continue;
    const int has_sum = p < t->free_count && tsi_row_length(input, order[p]) > rectangle->length;
    const int32_t none = layout->stages[layout->stage_count - 1].count - 1;
    const tsi_texel at = tsi_entry_texel(layout, t, rectangle, inside, rectangle->length);
    put_entry(packed, (size_t)at.y * (size_t)layout->width + (size_t)at.x,
              (tsi_entry){1, tsi_split_sum_pointer(layout, has_sum ? split++ : none)});
  }
}

ts_status tsi_rectangles_pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                              tsi_packed *packed) {
  int32_t *order = NULL;
  ts_status status = allocate(context, layout, input, packed);
  if (status == TS_OK) status = tsi_rows_in_order(context, input->rows, &order);
  if (status == TS_OK) status = tsi_split_pack(context, layout, input, order, packed);
  if (status == TS_OK) {
    status = pack_entries(context, layout, input, order, packed);
    if (status == TS_OK) tsi_layout_link(layout, input, order, packed);
  }
  tsi_free(context, order);
  return status;
}

ts_status tsi_layout_pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                          tsi_packed *packed) {
  *packed = (tsi_packed){.csr = input->csr};
  const ts_status status = tsi_format_of(layout->format)->pack(context, layout, input, packed);
  if (status < 0) tsi_packed_free(context, packed);
  return status;
}
