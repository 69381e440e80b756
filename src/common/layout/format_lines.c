/* Cache lines that a product in linear memory requests.
 *
 * A warp's load takes one cycle of the multiprocessor's cache for each 128-byte line that its 32 threads
 * request. If columns are scattered, that is one line per entry and costs more than the bytes do. Rows and
 * columns are counted in a sample of the matrix. */
#include <math.h>
#include <stdlib.h>

#include "common/core/core.h"
#include "layout_build.h"

enum { WARP = 32, COLUMNS_A_LINE = TSI_LINE_BYTES / 4, STEPS = 8, GROUP = WARP * STEPS, SAMPLES = 128 };

int32_t tsi_lines(const int32_t *columns, int count) {
  enum { LOG2_SLOTS = 6, SLOTS = 1 << LOG2_SLOTS }; /* twice the columns, so that a slot is always free */
  int32_t slots[SLOTS], lines = 0;
  for (int i = 0; i < SLOTS; i++) slots[i] = INT32_MIN; /* empty */
  for (int i = 0; i < count; i++) {
    const int32_t line = columns[i] / COLUMNS_A_LINE;
    uint32_t k = (uint32_t)line * 2654435769u >> (32 - LOG2_SLOTS);
    while (slots[k] != INT32_MIN && slots[k] != line) k = (k + 1) % SLOTS;
    lines += slots[k] != line;
    slots[k] = line;
  }
  return lines;
}

double tsi_csr_bytes(const tsi_host_csr *csr) {
  const double rows = csr->rows, entries = csr->row_offsets[csr->rows] > 0 ? csr->row_offsets[csr->rows] : 1;
  return 8 + 4 * rows / entries;
}

double tsi_with_lines(const tsi_tuning *t, double bytes, double lines) {
  return sqrt(bytes * bytes + t->line_bytes * t->line_bytes * lines * lines);
}

/* The first entry of sample n; the samples are groups of entries. */
static int64_t sampled_entry(int64_t groups, int64_t n) {
  return GROUP * (groups <= SAMPLES ? n : n * groups / SAMPLES);
}

void tsi_samples_of_entries(const tsi_host_csr *csr, tsi_range_visitor visit, void *user) {
  const int64_t groups = csr->row_offsets[csr->rows] / GROUP;
  for (int64_t n = 0; n < groups && n < SAMPLES; n++) {
    const int32_t first = (int32_t)sampled_entry(groups, n);
    visit(user, first, first + GROUP);
  }
}

double tsi_lines_of_entries(const tsi_host_csr *csr) {
  const int64_t entries = csr->row_offsets[csr->rows], groups = entries / GROUP;
  double lines = 0, counted = 0;
  for (int64_t n = 0; n < groups && n < SAMPLES; n++) {
    const int32_t *from = csr->column_indices + sampled_entry(groups, n);
    for (int step = 0; step < STEPS; step++) {
      int32_t columns[WARP];
      for (int thread = 0; thread < WARP; thread++) columns[thread] = from[thread * STEPS + step];
      lines += tsi_lines(columns, WARP);
      counted += WARP;
    }
  }
  return counted > 0 ? lines / counted : 1;
}

/* Entry k of a row's run, which excludes the diagonal; -1 past the end. */
static int32_t entry_of_run(const tsi_host_csr *csr, int32_t row, int32_t k) {
  int32_t e = csr->row_offsets[row];
  for (const int32_t end = csr->row_offsets[row + 1]; e < end; e++)
    if (csr->column_indices[e] != row && k-- == 0) return e;
  return -1;
}

/* The first row of sample n; the samples are groups of rows. */
static int32_t sampled_row(int32_t groups, int32_t n) {
  return WARP * (groups <= SAMPLES ? n : (int32_t)((int64_t)n * groups / SAMPLES));
}

void tsi_samples_of_rows(const tsi_host_csr *csr, tsi_range_visitor visit, void *user) {
  const int32_t groups = csr->rows / WARP;
  for (int32_t n = 0; n < groups && n < SAMPLES; n++) {
    const int32_t first = sampled_row(groups, n);
    visit(user, csr->row_offsets[first], csr->row_offsets[first + WARP]);
  }
}

/* Counts the lines of x, and those of values and pointers together, because the runs of neighbouring threads
 * are apart. A line of values or pointers also serves the next entries, so it has a smaller weight. */
double tsi_lines_of_rows(const tsi_tuning *tuning, const tsi_host_csr *csr) {
  const int32_t groups = csr->rows / WARP;
  double lines = 0, counted = 0;
  for (int32_t n = 0; n < groups && n < SAMPLES; n++) {
    const int32_t first = sampled_row(groups, n);
    for (int32_t k = 0;; k++) {
      int32_t columns[WARP], places[WARP];
      int count = 0;
      for (int32_t row = first; row < first + WARP; row++) {
        const int32_t entry = entry_of_run(csr, row, k);
        if (entry < 0) continue;
        places[count] = entry - row;
        columns[count++] = csr->column_indices[entry];
      }
      if (count == 0) break;
      lines += tsi_lines(columns, count) + 2 * tuning->lines_of_runs * tsi_lines(places, count);
      counted += count;
    }
    counted += WARP; /* the diagonal */
  }
  return counted > 0 ? lines / counted : 1;
}
