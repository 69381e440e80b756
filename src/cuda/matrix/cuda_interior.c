/* The rows of a part of a larger matrix that need no ghosts. Products compute them while the ghosts are in
 * flight.
 *
 * The threads of a product share items: slices, row blocks, rows, or block rows. Neighbouring rows of a part
 * are usually neighbours in the whole matrix too, and rows with ghosts are at the ends. So a kernel for a
 * subset of the items receives it as a few runs in its arguments. Threads find their item without reading
 * memory. Interior rows outside the longest runs count as boundary rows. */
#include <string.h>

#include "cuda_matrix.h"

typedef struct item_list {
  const tsi_host_csr *csr;
  const tsi_layout *layout;
  const tsi_row_block *row_blocks; /* NULL if other items are used */
  int32_t count;
  int log2_rows; /* of an item that is not a row block */
} item_list;

typedef struct run {
  int32_t first, end;
} run;

static item_list items_of(const ts_matrix *A, const tsi_host_csr *csr) {
  const tsi_layout *layout = A->layout;
  item_list items = {.csr = csr, .layout = layout, .count = csr->rows};
  if (layout->format == TS_FORMAT_JAGGED) {
    items.count = layout->slices.count;
    items.log2_rows = 5;
  } else if (layout->format == TS_FORMAT_CSR && layout->plan.row_blocks) {
    items.count = layout->plan.row_block_count;
    items.row_blocks = layout->plan.row_blocks;
  } else if (layout->blocks.log2_size) {
    items.count = layout->blocks.block_rows;
    items.log2_rows = layout->blocks.log2_size;
  }
  return items;
}

_Static_assert(TSI_SLICE_ROWS == 1 << 5, "a slice has 32 rows");

/* ---- Boundary ---- */

static int32_t least_of(int64_t a, int32_t b) {
  return a < b ? (int32_t)a : b;
}

/* The first row of an item, which is also the end of the rows that the previous item does not share with it. */
static int32_t first_row(const item_list *items, int32_t item) {
  if (item == items->count) return items->csr->rows;
  if (items->row_blocks) return items->row_blocks[item].row;
  return least_of((int64_t)item << items->log2_rows, items->csr->rows);
}

/* Whether the last row of an item continues in the next one. */
static int goes_on(const item_list *items, int32_t item) {
  return items->row_blocks && items->row_blocks[item].pieces > 1;
}

/* Columns ascend, and ghosts follow all other columns. */
static int have_ghosts(const tsi_host_csr *csr, run rows, int32_t first_ghost) {
  for (int32_t i = rows.first; i < rows.end; i++) {
    const int32_t first = csr->row_offsets[i], end = csr->row_offsets[i + 1];
    if (first < end && csr->column_indices[end - 1] >= first_ghost) return 1;
  }
  return 0;
}

/* In sorted slices, a row may be anywhere in its window. */
static void mark_boundary(const item_list *items, int32_t first_ghost, unsigned char *boundary) {
  const int32_t together = items->layout->slices.order ? TSI_WINDOW_ROWS / TSI_SLICE_ROWS : 1;
  for (int32_t i = 0; i < items->count; i += together) {
    const int32_t end = least_of((int64_t)i + together, items->count);
    const run rows = {first_row(items, i), first_row(items, end) + goes_on(items, i)};
    memset(boundary + i, have_ghosts(items->csr, rows, first_ghost), (size_t)(end - i));
  }
  /* The pieces of a row wait for each other, so they must be in the same kernel. */
  for (int32_t i = 0; i + 1 < items->count; i++)
    if (goes_on(items, i) && boundary[i]) boundary[i + 1] = 1;
  for (int32_t i = items->count - 2; i >= 0; i--)
    if (goes_on(items, i) && boundary[i + 1]) boundary[i] = 1;
}

/* ---- Runs ---- */

static int32_t length_of(run r) {
  return r.end - r.first;
}

/* Keeps the longest runs, in their order. */
static void keep_run(run *runs, int *count, run r) {
  int shortest = 0;
  if (*count == CUDA_MOST_RUNS) {
    for (int k = 1; k < *count; k++)
      if (length_of(runs[k]) < length_of(runs[shortest])) shortest = k;
    if (length_of(runs[shortest]) >= length_of(r)) return;
    --*count;
    memmove(runs + shortest, runs + shortest + 1, (size_t)(*count - shortest) * sizeof *runs);
  }
  runs[(*count)++] = r;
}

static int find_runs(const unsigned char *boundary, int32_t items, run runs[CUDA_MOST_RUNS]) {
  int count = 0;
  for (run r = {0}; r.first < items; r.first = r.end + 1) {
    r.end = r.first;
    while (r.end < items && !boundary[r.end]) r.end++;
    if (r.end > r.first) keep_run(runs, &count, r);
  }
  return count;
}

static void add_run(cuda_runs *to, int *count, run r) {
  if (r.end == r.first) return;
  to->shift[*count] = r.first - to->count;
  to->count += length_of(r);
  to->end[(*count)++] = to->count;
}

static void end_runs(cuda_runs *of, int count) {
  for (int r = count; r <= CUDA_MOST_RUNS; r++) of->end[r] = INT32_MAX;
}

/* Divides all `items` into those of the runs and the others. */
static void divide(const run *runs, int count, int32_t items, cuda_interior *to) {
  int interior = 0, boundary = 0;
  int32_t before = 0;
  for (int k = 0; k < count; k++) {
    add_run(&to->boundary, &boundary, (run){before, runs[k].first});
    add_run(&to->interior, &interior, runs[k]);
    before = runs[k].end;
  }
  add_run(&to->boundary, &boundary, (run){before, items});
  end_runs(&to->interior, interior);
  end_runs(&to->boundary, boundary);
}

static void keep_runs(cuda_matrix *m, const item_list *items, double least, run *runs, int count) {
  double entries = 0;
  run rows[CUDA_MOST_RUNS];
  for (int k = 0; k < count; k++) {
    rows[k] = (run){first_row(items, runs[k].first), first_row(items, runs[k].end)};
    entries += items->csr->row_offsets[rows[k].end] - items->csr->row_offsets[rows[k].first];
  }
  if (entries < least || (count == 1 && length_of(runs[0]) == items->count)) return;
  divide(runs, count, items->count, &m->items);
  if (items->row_blocks) divide(rows, count, items->csr->rows, &m->rows);
}

ts_status cuda_matrix_find_interior(ts_matrix *A, const tsi_host_csr *csr) {
  const ts_space *columns = A->column_space;
  const double least = A->context->tuning.interior_entries;
  if (!columns->ghosts || A->layout->format == TS_FORMAT_SEGMENTS || csr->row_offsets[csr->rows] < least)
    return TS_OK;
  const item_list items = items_of(A, csr);
  unsigned char *boundary = tsi_malloc(A->context, (size_t)items.count, 1);
  if (!boundary) return tsi_out_of_memory(A->context, "a matrix", (size_t)items.count);
  run runs[CUDA_MOST_RUNS];
  mark_boundary(&items, tsi_first_ghost(columns), boundary);
  const int count = find_runs(boundary, items.count, runs);
  tsi_free(A->context, boundary);
  keep_runs(cuda_matrix_of(A), &items, least, runs, count);
  return TS_OK;
}

int cuda_matrix_has_interior(const ts_matrix *A) {
  return A->layout && cuda_matrix_of(A)->items.interior.count > 0;
}
