/* The null-space components of a stencil: connected points that determine their unknowns only up to a constant.
 *
 * Consecutive connected points of a row are a run, and runs are joined with those of the row below. This is a
 * union-find structure with trees that point to earlier runs. Its memory is therefore proportional to the
 * number of runs, not of points. */
#include <stdlib.h>
#include <string.h>

#include "common/core/core.h"
#include "stencil_parts.h"

/* ---- Runs ---- */

static int32_t find(tsi_stencil_run *runs, int32_t r) {
  while (runs[r].parent != r) r = runs[r].parent = runs[runs[r].parent].parent;
  return r;
}

static void join(tsi_stencil_run *runs, int32_t r, int32_t s) {
  const int32_t a = find(runs, r), b = find(runs, s);
  if (a < b)
    runs[b].parent = a;
  else
    runs[a].parent = b;
}

/* Ensures room for `count` more runs. */
static ts_status reserve(ts_context *context, tsi_stencil_runs *runs, int32_t count) {
  if (count <= runs->capacity - runs->count) return TS_OK;
  const size_t least = (size_t)runs->count + (size_t)count, twice = 2 * (size_t)runs->capacity;
  const size_t capacity = least > twice ? least : twice;
  tsi_stencil_run *list = tsi_malloc(context, capacity, sizeof *list);
  if (!list) return tsi_out_of_memory(context, "the parts of a grid", capacity * sizeof *list);
  if (runs->count) memcpy(list, runs->list, (size_t)runs->count * sizeof *list);
  tsi_free(context, runs->list);
  runs->list = list;
  runs->capacity = capacity < INT32_MAX ? (int32_t)capacity : INT32_MAX;
  return TS_OK;
}

static void find_runs(const tsi_stencil_rows *rows, tsi_stencil_runs *runs) {
  const int32_t width = rows->grid->width, start = rows->j * width;
  tsi_stencil_run *run = NULL;
  for (int32_t i = 0; i < width; i++) {
    const int32_t mark = rows->marks[i];
    if (!(mark & TSI_MARK_EQUATION)) {
      run = NULL;
      continue;
    }
    if (!run || !(mark & TSI_MARK_WEST)) {
      const int32_t at = runs->count++;
      run = &runs->list[at];
      *run = (tsi_stencil_run){start + i, 0, at, 1};
    }
    run->count++;
    if (!(mark & TSI_MARK_SINGULAR)) run->size = -1;
  }
}

/* Whether a run of points first .. end - 1 is connected with a run of the row below. The points of each run are
 * relative to the start of its row. */
static int is_joined(const int32_t *marks, int32_t first, int32_t end, int32_t below_first, int32_t below_end) {
  const int32_t from = first > below_first - 1 ? first : below_first - 1;
  const int32_t to = end < below_end + 1 ? end : below_end + 1;
  for (int32_t i = from; i < to; i++) {
    if ((marks[i] & TSI_MARK_SOUTH_WEST) && i > below_first && i <= below_end) return 1;
    if ((marks[i] & TSI_MARK_SOUTH) && i >= below_first && i < below_end) return 1;
    if ((marks[i] & TSI_MARK_SOUTH_EAST) && i + 1 >= below_first && i + 1 < below_end) return 1;
  }
  return 0;
}

/* The runs of a row: from .. to - 1 of the list. */
typedef struct range {
  int32_t from, to;
} range;

static void join_below(const tsi_stencil_rows *rows, tsi_stencil_run *list, range row, range below) {
  const int32_t width = rows->grid->width, *marks = rows->marks;
  if (row.from == row.to || below.from == below.to) return;
  const int32_t start = list[row.from].first / width * width, south = list[below.from].first / width * width;
  int32_t next = below.from;
  for (int32_t r = row.from; r < row.to; r++) {
    const int32_t first = list[r].first - start, end = first + list[r].count;
    while (next < below.to && list[next].first - south + list[next].count < first) next++;
    for (int32_t b = next; b < below.to && list[b].first - south <= end; b++) {
      const int32_t below_first = list[b].first - south;
      if (is_joined(marks, first, end, below_first, below_first + list[b].count)) join(list, r, b);
    }
  }
  /* Across the seam of a periodic dimension; other grids lack these marks. */
  if (marks[0] & TSI_MARK_SOUTH_WEST) join(list, row.from, below.to - 1);
  if (marks[width - 1] & TSI_MARK_SOUTH_EAST) join(list, row.to - 1, below.from);
}

ts_status tsi_stencil_runs_add(ts_context *context, const tsi_stencil_rows *rows, tsi_stencil_runs *runs) {
  TSI_TRY(reserve(context, runs, rows->grid->width));
  runs->below = runs->row;
  runs->row = runs->count;
  find_runs(rows, runs);
  if (rows->j == 0) runs->first_count = runs->count;
  if (rows->marks[0] & TSI_MARK_WEST) join(runs->list, runs->row, runs->count - 1);
  join_below(rows, runs->list, (range){runs->row, runs->count}, (range){runs->below, runs->row});
  return TS_OK;
}

void tsi_stencil_runs_close(tsi_stencil_rows *rows, tsi_stencil_runs *runs) {
  tsi_stencil_rows_mark(rows);
  join_below(rows, runs->list, (range){0, runs->first_count}, (range){runs->row, runs->count});
}

/* Accumulates the size of each part in its first run; all other runs point to that run. */
static void add_up_runs(tsi_stencil_run *list, int32_t count) {
  for (int32_t r = 0; r < count; r++) {
    const int32_t root = list[r].parent = find(list, r);
    const int singular = list[r].size > 0 && list[root].size > 0;
    const int32_t size = (root == r ? 0 : abs(list[root].size)) + list[r].count;
    list[root].size = singular ? size : -size;
  }
}

/* ---- Selection of parts ---- */

/* Drops the equation of the part's first point. */
static ts_status pin(ts_context *context, size_t points, tsi_stencil_facts *facts, int32_t run) {
  if (!facts->own_values) {
    facts->own_values = tsi_malloc(context, 9 * points, sizeof(float));
    if (!facts->own_values) return tsi_out_of_memory(context, "a stencil", 9 * points * sizeof(float));
    memcpy(facts->own_values, facts->values, 9 * points * sizeof(float));
  }
  memset(facts->own_values + 9 * (size_t)facts->runs[run].first, 0, 9 * sizeof(float));
  facts->grounded++;
  facts->constrained++;
  return TS_OK;
}

/* Keeps the largest parts; the others are grounded. */
static ts_status add_part(ts_context *context, size_t points, tsi_stencil_facts *facts, int32_t run,
                          int32_t size) {
  if (facts->part_count < TSI_MAX_PARTS) {
    facts->part_first[facts->part_count] = run;
    facts->part_sizes[facts->part_count++] = size;
    return TS_OK;
  }
  int smallest = 0;
  for (int k = 1; k < TSI_MAX_PARTS; k++)
    if (facts->part_sizes[k] <= facts->part_sizes[smallest]) smallest = k;
  if (facts->part_sizes[smallest] >= size) return pin(context, points, facts, run);
  const int32_t smaller = facts->part_first[smallest];
  facts->part_first[smallest] = run;
  facts->part_sizes[smallest] = size;
  return pin(context, points, facts, smaller);
}

ts_status tsi_stencil_find_parts(ts_context *context, size_t points, tsi_stencil_runs *runs,
                                 tsi_stencil_facts *facts) {
  add_up_runs(runs->list, runs->count);
  facts->runs = runs->list;
  facts->run_count = runs->count;
  *runs = (tsi_stencil_runs){0};
  for (int32_t r = 0; r < facts->run_count; r++)
    if (facts->runs[r].parent == r && facts->runs[r].size > 0)
      TSI_TRY(add_part(context, points, facts, r, facts->runs[r].size));
  return TS_OK;
}

/* ---- Masks ---- */

static void fill_run(const tsi_stencil_run *run, float *mask) {
  for (int32_t p = run->first; p < run->first + run->count; p++) mask[p] = 1;
}

void tsi_stencil_fill_mask(const tsi_stencil_facts *facts, size_t points, float *mask) {
  memset(mask, 0, points * sizeof *mask);
  for (int32_t r = 0; r < facts->run_count; r++) {
    const tsi_stencil_run *run = &facts->runs[r];
    fill_run(run, mask);
    /* A grounded point is the first of its run. */
    if (facts->values[9 * (size_t)run->first + TSI_CENTRE] == 0) mask[run->first] = 0;
  }
}

void tsi_stencil_fill_part(const tsi_stencil_facts *facts, int part, size_t points, float *mask) {
  memset(mask, 0, points * sizeof *mask);
  for (int32_t r = 0; r < facts->run_count; r++)
    if (facts->runs[r].parent == facts->part_first[part]) fill_run(&facts->runs[r], mask);
}
