/* Cache lines that a product in linear memory requests.
 *
 * A warp's load takes one cycle of the multiprocessor's cache for each 128-byte line that its 32 threads
 * request. If columns are scattered, that is one line per entry and costs more than the bytes do. Rows and
 * columns are counted in a sample of the matrix. */
#include <math.h>
#include <string.h>

#include "common/core/core.h"
#include "common/core/pool.h"
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

void tsi_sampled_entries(const tsi_host_csr *csr, tsi_range_visitor visit, void *user) {
  const int64_t groups = csr->row_offsets[csr->rows] / GROUP;
  for (int64_t n = 0; n < groups && n < SAMPLES; n++) {
    const int32_t first = (int32_t)sampled_entry(groups, n);
    visit(user, first, first + GROUP);
  }
}

/* Samples of a matrix: groups of entries or rows. */
typedef struct sampling {
  const tsi_host_csr *csr;
  int64_t groups;
  double lines_of_runs;
  double *lines, *counted; /* lines and entries of each sample */
} sampling;

/* Lines per entry of all samples. */
static double count_samples(const ts_context *context, tsi_body body, const tsi_host_csr *csr, int64_t groups) {
  const size_t count = (size_t)(groups < SAMPLES ? groups : SAMPLES);
  double lines_of[SAMPLES], counted_of[SAMPLES], lines = 0, counted = 0;
  const sampling s = {csr, groups, context->tuning.lines_of_runs, lines_of, counted_of};
  if (csr->row_offsets[csr->rows] < TSI_MANY) /* other threads would not wake up in time */
    body(&s, 0, count);
  else
    tsi_parallel(context, count, body, &s);
  for (size_t n = 0; n < count; n++) lines += lines_of[n], counted += counted_of[n];
  return counted > 0 ? lines / counted : 1;
}

static void count_entries(const void *arguments, size_t first, size_t last) {
  const sampling *s = arguments;
  for (size_t n = first; n < last; n++) {
    const int32_t *from = s->csr->column_indices + sampled_entry(s->groups, (int64_t)n);
    s->lines[n] = 0, s->counted[n] = GROUP;
    for (int step = 0; step < STEPS; step++) {
      int32_t columns[WARP];
      for (int thread = 0; thread < WARP; thread++) columns[thread] = from[thread * STEPS + step];
      s->lines[n] += tsi_lines(columns, WARP);
    }
  }
}

double tsi_lines_of_entries(const ts_context *context, const tsi_host_csr *csr) {
  return count_samples(context, count_entries, csr, csr->row_offsets[csr->rows] / GROUP);
}

/* The first row of sample n; the samples are groups of rows. */
static int32_t sampled_row(int32_t groups, int32_t n) {
  return WARP * (groups <= SAMPLES ? n : (int32_t)((int64_t)n * groups / SAMPLES));
}

void tsi_sampled_rows(const tsi_host_csr *csr, tsi_range_visitor visit, void *user) {
  const int32_t groups = csr->rows / WARP;
  for (int32_t n = 0; n < groups && n < SAMPLES; n++) {
    const int32_t first = sampled_row(groups, n);
    visit(user, first, first + WARP);
  }
}

/* Adds the lines of one step of a warp. Each thread is at place at[thread] of its row's run, which excludes the
 * diagonal. Returns the number of threads that have an entry, and moves them on. */
static int count_step(const sampling *s, int32_t first, int32_t at[WARP], double *lines) {
  const tsi_host_csr *csr = s->csr;
  int32_t columns[WARP], places[WARP];
  int count = 0;
  for (int thread = 0; thread < WARP; thread++) {
    const int32_t row = first + thread, end = csr->row_offsets[row + 1];
    int32_t *e = &at[thread];
    if (*e < end && csr->column_indices[*e] == row) ++*e;
    if (*e == end) continue;
    places[count] = *e - row;
    columns[count++] = csr->column_indices[*e];
    ++*e;
  }
  if (count) *lines += tsi_lines(columns, count) + 2 * s->lines_of_runs * tsi_lines(places, count);
  return count;
}

static void count_rows(const void *arguments, size_t first, size_t last) {
  const sampling *s = arguments;
  for (size_t n = first; n < last; n++) {
    const int32_t row = sampled_row((int32_t)s->groups, (int32_t)n);
    int32_t at[WARP];
    memcpy(at, s->csr->row_offsets + row, sizeof at);
    s->lines[n] = 0, s->counted[n] = WARP; /* the diagonal */
    for (int count; (count = count_step(s, row, at, &s->lines[n])) > 0;) s->counted[n] += count;
  }
}

/* Counts the lines of x, and those of values and pointers together, because the runs of neighbouring threads
 * are apart. A line of values or pointers also serves the next entries, so it has a smaller weight. */
double tsi_lines_of_rows(const ts_context *context, const tsi_host_csr *csr) {
  return count_samples(context, count_rows, csr, csr->rows / WARP);
}
