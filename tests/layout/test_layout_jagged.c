/* Jagged diagonals in slices on the host, without a device. The test reads the packed arrays in double
 * precision in exactly the order of a warp, and compares the result with the product from CSR. */
#include "helpers.h"
#include "unpacked.h"

#include "common/core/core.h"
#include "common/core/pool.h"
#include "common/matrix/csr.h"
#include "common/layout/layout_build.h"

typedef struct laid_out {
  ts_context context; /* it has no backend */
  tsi_tiling rows, columns;
  tsi_layout_input input;
  tsi_host_csr csr;
  tsi_layout *layout;
  tsi_packed packed;
  ts_matrix_info info;
} laid_out;

static void release(laid_out *l) {
  tsi_packed_free(&l->context, &l->packed);
  tsi_layout_destroy(&l->context, l->layout);
  tsi_csr_free(&l->context, &l->csr);
#ifdef TEXSOLVE_HAVE_THREADS
  tsi_pool_destroy(&l->context, &l->context.pool);
#endif
}

static ts_status lay_out(laid_out *l, const ref_matrix *m, const unsigned char *constrained, ts_format format) {
  memset(l, 0, sizeof *l);
  l->context.caps.row_plans = 1;
  l->context.caps.linear_spaces = 1;
  l->context.tuning = tsi_tuning_cuda;
  l->context.desc.threads = 4; /* used only if there are many rows */
  const tsi_csr csr = {.rows = m->rows,
                       .columns = m->columns,
                       .row_offsets = m->offsets,
                       .column_indices = m->indices,
                       .values = m->values};
  int64_t duplicates = 0;
  ts_status status = tsi_threads_for(&l->context, m->rows);
  if (status == TS_OK)
    status = tsi_csr_canonical(&l->context, &csr, constrained, NULL, 0, &l->csr, &duplicates);
  if (status == TS_OK) status = tsi_tiling_create(&l->context, m->rows, NULL, constrained, &l->rows);
  if (status == TS_OK) status = tsi_tiling_create(&l->context, m->columns, NULL, NULL, &l->columns);
  l->input = (tsi_layout_input){
      .rows = &l->rows, .columns = &l->columns, .csr = &l->csr, .has_diagonal = m->rows == m->columns};
  if (status == TS_OK) status = tsi_layout_create(&l->context, format, &l->input, &l->layout, &l->info);
  if (status == TS_OK) status = tsi_layout_pack(&l->context, l->layout, &l->input, &l->packed);
  return status;
}

/* Walks the rows of a slice in the order of a warp. No entry may be read twice. */
static void walk_slice(const laid_out *l, int32_t number, const float *x, unsigned char *read, double *y) {
  const tsi_slices *slices = &l->layout->slices;
  const tsi_slice *s = &slices->slices[number];
  const uint8_t *lengths = slices->lengths + (size_t)number * TSI_SLICE_ROWS;
  const uint32_t *words = l->packed.words + s->first_word;
  uint32_t entry = 0, padding = 0;
  for (int k = 0; k < s->longest; k++)
    for (int lane = 0; lane < TSI_SLICE_ROWS; lane++) {
      if (lengths[lane] == TSI_NOT_IN_SLICE || lengths[lane] <= k) {
        padding += s->padded && l->packed.values[s->first + entry] == 0;
        entry += s->padded;
        continue;
      }
      CHECK(!s->padded || entry == (uint32_t)(k * TSI_SLICE_ROWS + lane));
      uint32_t column = s->column_bytes == 1   ? ((const uint8_t *)words)[entry]
                        : s->column_bytes == 2 ? ((const uint16_t *)words)[entry]
                                               : words[entry];
      if (s->column_bytes < 4) column += (uint32_t)l->packed.bases[s->first_base + (uint32_t)k];
      const int32_t row = tsi_slice_row(slices, &l->csr, number, lane);
      const uint32_t place = s->first + entry++;
      if (!CHECK(row >= 0 && column < (uint32_t)l->csr.columns && place < slices->entries && !read[place]))
        return;
      read[place] = 1;
      y[row] += (double)l->packed.values[place] * x[column];
    }
  CHECK(!s->padded || (entry == (uint32_t)(TSI_SLICE_ROWS * s->longest) && 8 * padding <= entry));
  CHECK(s->first % 4 == 0 && s->first_word % 4 == 0 && s->first + entry <= slices->entries);
  CHECK(s->first_base % 4 == 0 && (s->column_bytes == 4 || s->first_base + s->longest <= slices->bases));
  CHECK(s->first_word + (entry * s->column_bytes + 3) / 4 <= slices->words);
}

static void walk_long_rows(const laid_out *l, const float *x, unsigned char *read, double *y) {
  const tsi_slices *slices = &l->layout->slices;
  for (int32_t w = 0; w < slices->row_block_count; w++) {
    const tsi_row_block *part = &slices->row_blocks[w];
    CHECK(part->rows == 0 && part->end > part->first && part->end - part->first <= TSI_PIECE_ENTRIES);
    CHECK(part->piece < part->pieces && (part->piece == 0 || part[-1].row == part->row));
    for (int32_t e = part->first; e < part->end; e++) {
      const size_t place = (size_t)slices->entries + (size_t)e;
      if (!CHECK(e < slices->long_entries && !read[place])) return;
      read[place] = 1;
      y[part->row] += (double)l->packed.values[place] * x[l->packed.long_columns[e]];
    }
  }
}

static void check_slices(const ref_matrix *m, const unsigned char *constrained) {
  laid_out l;
  if (CHECK_OK(NULL, lay_out(&l, m, constrained, TS_FORMAT_JAGGED))) {
    const tsi_slices *slices = &l.layout->slices;
    const size_t rows = (size_t)m->rows, entries = (size_t)l.csr.row_offsets[rows];
    float *x = ref_values((size_t)m->columns, 5, -1, 1);
    double *expected = malloc(sizeof *expected * rows), *size = malloc(sizeof *size * rows);
    double *y = calloc(rows, sizeof *y);
    unsigned char *read = calloc((size_t)slices->entries + (size_t)slices->long_entries + 1, 1);
    ref_spmv(m, constrained, 1, x, expected, size);
    for (int32_t s = 0; s < slices->count; s++) walk_slice(&l, s, x, read, y);
    walk_long_rows(&l, x, read, y);
    for (size_t i = 0; i < rows; i++)
      if (!CHECK_CLOSE(y[i], expected[i], 1e-12 * size[i])) break;
    /* At most one stored entry in eight is padding, plus the alignment of slices to 16 bytes. */
    const size_t stored = (size_t)slices->entries + (size_t)slices->long_entries;
    CHECK(stored >= entries && 7 * stored <= 8 * entries + 28 * (size_t)slices->count);
    CHECK_INT(l.info.stored_entries, stored);
    /* Every row is either in one slice or is a long row. */
    unsigned char *seen = calloc(rows, 1);
    for (int32_t w = 0; w < slices->row_block_count; w++)
      seen[slices->row_blocks[w].row] |= slices->row_blocks[w].piece == 0;
    for (int32_t p = 0; p < slices->count * TSI_SLICE_ROWS; p++) {
      const int32_t row = tsi_slice_row(slices, &l.csr, p / TSI_SLICE_ROWS, p % TSI_SLICE_ROWS);
      if (slices->lengths[p] == TSI_NOT_IN_SLICE) continue;
      if (!CHECK(row >= 0 && !seen[row])) break;
      CHECK_INT(slices->lengths[p], l.csr.row_offsets[row + 1] - l.csr.row_offsets[row]);
      seen[row] = 1;
    }
    CHECK(memchr(seen, 0, rows) == NULL);
    int32_t *places = malloc(sizeof *places * (entries + 1));
    tsi_format_of(l.layout->format)->places(l.layout, &l.input, places);
    for (size_t e = 0; e < entries; e++)
      if (!CHECK(l.packed.values[places[e]] == l.csr.values[e])) break;
    check_unpacked(&l.context, l.layout, &l.input, &l.packed);
    free(x), free(expected), free(size), free(y), free(read), free(seen), free(places);
  }
  release(&l);
}

/* The other formats of linear spaces. */
static void unpacked(void) {
  static const ts_format formats[] = {TS_FORMAT_CSR, TS_FORMAT_SEGMENTS, TS_FORMAT_BCRS2, TS_FORMAT_BCRS4};
  ref_sample sample;
  for (int n = 0; ref_get_sample(n, &sample); n++) {
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
      laid_out l;
      test_context_label("%s, %s", sample.name, ts_format_name(formats[f]));
      if (CHECK_OK(NULL, lay_out(&l, &sample.matrix, NULL, formats[f])))
        check_unpacked(&l.context, l.layout, &l.input, &l.packed);
      release(&l);
    }
    ref_free(&sample.matrix);
  }
}

static void slices(void) {
  ref_sample sample;
  for (int n = 0; ref_get_sample(n, &sample); n++) {
    test_context_label("%s", sample.name);
    check_slices(&sample.matrix, NULL);
    ref_free(&sample.matrix);
  }
  /* Sizes around the rows of a slice and around the longest row of a slice, and long rows in several pieces. */
  static const int32_t sizes[] = {31, 32, 33, 253, 254, 255, 256, 257, 511, 513};
  for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
    ref_matrix square = ref_dense(sizes[n], sizes[n], n), wide = ref_dense(3, 40 * sizes[n], n);
    test_context_label("%d rows and columns", sizes[n]);
    check_slices(&square, NULL);
    check_slices(&wide, NULL);
    ref_free(&square);
    ref_free(&wide);
  }
  ref_matrix uneven = ref_uneven_rows(20000, 300000, 900, 4), grid = ref_grid(300, 40);
  unsigned char *constrained = malloc((size_t)grid.rows);
  for (int32_t i = 0; i < grid.rows; i++) constrained[i] = i % 7 == 0 || i < 500;
  test_context_label("uneven and long rows");
  check_slices(&uneven, NULL);
  test_context_label("constrained rows");
  check_slices(&grid, constrained);
  free(constrained);
  ref_free(&uneven);
  ref_free(&grid);
}

/* Enough rows for several threads. */
static void many_rows(void) {
  ref_matrix uneven = ref_uneven_rows(TSI_MANY + 77, 300000, 300, 4), grid = ref_grid(300, 260);
  test_context_label("uneven and long rows");
  check_slices(&uneven, NULL);
  test_context_label("grid");
  check_slices(&grid, NULL);
  ref_free(&uneven);
  ref_free(&grid);
}

/* A column takes one byte if rows have neighbours close by, two bytes in a band, and four bytes anywhere. Only
 * rows of uneven lengths are sorted. */
static void slice_columns(void) {
  struct {
    const char *name;
    ref_matrix matrix;
    int bytes, sorted;
  } kinds[] = {{"grid", ref_grid(64, 200), 1, 0},
               {"in a band", ref_uneven_rows(3000, 40000, 60, 3), 2, 1},
               {"anywhere", ref_uneven_rows(3000, 200000, 60, 2), 4, 1}};
  for (size_t n = 0; n < sizeof kinds / sizeof kinds[0]; n++) {
    laid_out l;
    test_context_label("%s", kinds[n].name);
    if (CHECK_OK(NULL, lay_out(&l, &kinds[n].matrix, NULL, TS_FORMAT_JAGGED))) {
      const tsi_slices *slices = &l.layout->slices;
      int as_said = 0;
      for (int32_t s = 0; s < slices->count; s++) as_said += slices->slices[s].column_bytes == kinds[n].bytes;
      CHECK(as_said > slices->count * 3 / 4);
      CHECK_INT(slices->order != NULL, kinds[n].sorted);
    }
    release(&l);
    ref_free(&kinds[n].matrix);
  }
}

static int32_t nonempty(const ref_matrix *m, int32_t row, int32_t rows) {
  int32_t count = 0;
  for (int32_t i = row; i < row + rows; i++) count += m->offsets[i + 1] > m->offsets[i];
  return count;
}

/* Checks the end bits of a row block's entries, and for each of its steps the number of rows that end earlier
 * in its warp. `end_of` marks the last entry of each row. */
static void check_ends(const tsi_row_plan *plan, const tsi_row_block *part, const unsigned char *end_of) {
  const int32_t start = part->first / TSI_ROW_BLOCK_STEPS * TSI_ROW_BLOCK_STEPS;
  int32_t before = 0;
  for (int32_t k = part->first; k < part->end; k++) {
    const uint16_t ends = plan->ends[k / TSI_ROW_BLOCK_STEPS];
    if ((k - start) % TSI_WARP_ENTRIES == 0) before = 0;
    if (k % TSI_ROW_BLOCK_STEPS == 0) CHECK_INT(ends >> 8, before);
    CHECK_INT(ends >> k % TSI_ROW_BLOCK_STEPS & 1, end_of[k]);
    before += end_of[k];
  }
}

/* Row blocks cover every entry and every row once, in order, and none exceeds its maximum size. A row continues
 * in the next row block only if the row block would be too short without a piece of it. */
static void check_row_blocks(const ref_matrix *m, const tsi_row_plan *plan) {
  unsigned char *end_of = calloc((size_t)ref_nonzeros(m) + 1, 1);
  int32_t row = 0, entry = 0, pieces = 0; /* pieces of `row` so far */
  for (int32_t i = 0; i < m->rows; i++)
    if (m->offsets[i + 1] > m->offsets[i]) end_of[m->offsets[i + 1] - 1] = 1;
  for (int32_t w = 0; w < plan->row_block_count; w++) {
    const tsi_row_block *part = &plan->row_blocks[w];
    const int32_t full = part->first / TSI_ROW_BLOCK_STEPS * TSI_ROW_BLOCK_STEPS + TSI_ROW_BLOCK_ENTRIES;
    if (!CHECK(part->row == row && part->first == entry && part->end >= entry && part->end <= full)) break;
    CHECK(part->rows >= 0 && part->rows <= TSI_ROW_BLOCK_ROWS);
    CHECK_INT(part->filled, nonempty(m, row, part->rows));
    CHECK_INT(part->pieces_before, part->rows ? pieces : 0);
    for (int32_t p = 1; p <= part->pieces_before; p++) CHECK_INT(part[-p].pieces, pieces + 1);
    check_ends(plan, part, end_of);
    row += part->rows, entry = part->end;
    if (row == m->rows || entry == m->offsets[row]) {
      CHECK(part->piece == 0 && part->pieces == 1 && entry == m->offsets[row]);
      CHECK(row == m->rows || part->rows == TSI_ROW_BLOCK_ROWS || m->offsets[row + 1] > full);
      pieces = 0;
    } else {
      CHECK(entry == full && full - m->offsets[row] > TSI_ROW_BLOCK_SLACK && part->pieces > 1);
      CHECK_INT(part->piece, part->rows ? 0 : pieces);
      pieces = part->piece + 1;
    }
  }
  CHECK_INT(row, m->rows);
  CHECK_INT(entry, ref_nonzeros(m));
  free(end_of);
}

static void check_plan(const ref_matrix *m) {
  laid_out l;
  if (CHECK_OK(NULL, lay_out(&l, m, NULL, TS_FORMAT_CSR))) {
    const tsi_row_plan *plan = &l.layout->plan;
    CHECK(plan->log2_subwarp >= 0 && plan->log2_subwarp <= 5);
    if (plan->row_block_count) check_row_blocks(m, plan);
    CHECK(plan->row_block_count > 0 || ref_longest_row(m) <= TSI_ROW_BLOCK_ENTRIES);
    /* If a matrix has few entries, no thread has many entries of one row. */
    CHECK(plan->row_block_count > 0 || ref_nonzeros(m) >= 1 << 20 ||
          ref_longest_row(m) <= 16 << plan->log2_subwarp);
  }
  release(&l);
}

static void plans(void) {
  ref_sample sample;
  for (int n = 0; ref_get_sample(n, &sample); n++) {
    test_context_label("%s", sample.name);
    check_plan(&sample.matrix);
    ref_free(&sample.matrix);
  }
  ref_matrix dense = ref_dense_row(200000, 777, 5), uneven = ref_uneven_rows(20000, 300000, 2000, 4);
  test_context_label("a dense row");
  check_plan(&dense);
  test_context_label("uneven rows");
  check_plan(&uneven);
  ref_free(&dense);
  ref_free(&uneven);
}

TEST_MAIN_ON_HOST(CASES(slices, unpacked, many_rows, slice_columns, plans))
