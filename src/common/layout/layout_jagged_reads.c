/* Estimates the reads of a product with slices of jagged diagonals, for the choice of the format. It inspects
 * some windows of rows and does not lay out the matrix. */
#include "common/core/pool.h"
#include "layout_build.h"

/* Sums over sampled slices, for one order of the rows. */
typedef struct slices_sample {
  double entries, steps, bytes;
  double counted;           /* bytes of unpadded slices */
  double lines, with_lines; /* of x; entries of the slices whose lines were counted */
} slices_sample;

/* Lines of x that a slice requests, one k at a time. */
static int32_t lines_of_slice(const tsi_host_csr *csr, const int32_t *rows, const uint8_t *lengths,
                              const tsi_slice *s) {
  int32_t lines = 0;
  for (int k = 0; k < s->longest; k++) {
    int32_t columns[TSI_SLICE_ROWS];
    int count = 0;
    for (int lane = 0; lane < TSI_SLICE_ROWS; lane++)
      if (lengths[lane] != TSI_NOT_IN_SLICE && lengths[lane] > k)
        columns[count++] = csr->column_indices[csr->row_offsets[rows[lane]] + k];
    lines += tsi_lines(columns, count);
  }
  return lines;
}

static void sample_slice(const tsi_host_csr *csr, const int32_t *rows, int32_t most, int with_lines,
                         slices_sample *sum) {
  uint8_t lengths[TSI_SLICE_ROWS];
  double entries = 0;
  tsi_slice_lengths(csr, rows, most, lengths);
  for (int lane = 0; lane < TSI_SLICE_ROWS; lane++)
    if (lengths[lane] != TSI_NOT_IN_SLICE) entries += lengths[lane];
  tsi_slice s;
  const double bytes = (double)tsi_slice_bytes(&s, tsi_slice_measure(csr, rows, lengths, &s));
  sum->entries += entries;
  sum->steps += s.longest;
  sum->bytes += bytes;
  if (!s.padded) sum->counted += bytes;
  if (!with_lines) return;
  sum->lines += lines_of_slice(csr, rows, lengths, &s);
  sum->with_lines += entries;
}

/* Window n of the samples: a pseudorandom place in the n-th part of the matrix, so that the samples of a grid
 * do not all have the same place in its lines. */
static int32_t sampled_window(int32_t n, int32_t samples, int32_t count) {
  if (count <= samples) return n;
  const int64_t first = (int64_t)n * count / samples, next = (int64_t)(n + 1) * count / samples;
  return (int32_t)(first + (int64_t)((uint32_t)n * 2654435769u >> 8) * (next - first) / (1 << 24));
}

enum { SAMPLES = 128, WITH_LINES = 4 };

/* The samples of windows, for one order of the rows. */
typedef struct sampling {
  const tsi_host_csr *csr;
  int32_t windows, most;
  int is_sorted;
  slices_sample *samples; /* per window */
} sampling;

static void sample_window(const sampling *s, int32_t n, slices_sample *sum) {
  const tsi_host_csr *csr = s->csr;
  const int32_t first = sampled_window(n, SAMPLES, s->windows) * TSI_WINDOW_ROWS;
  const int32_t count = csr->rows - first < TSI_WINDOW_ROWS ? csr->rows - first : TSI_WINDOW_ROWS;
  uint8_t order[TSI_WINDOW_ROWS];
  if (s->is_sorted) tsi_sort_window(csr, first, s->most, order);
  for (int32_t from = 0; from < count; from += TSI_SLICE_ROWS) {
    int32_t rows[TSI_SLICE_ROWS];
    for (int32_t i = from; i < from + TSI_SLICE_ROWS; i++)
      rows[i - from] = i < count ? first + (s->is_sorted ? order[i] : i) : -1;
    sample_slice(csr, rows, s->most, n % WITH_LINES == 0, sum);
  }
}

static void sample_windows(const void *arguments, size_t first, size_t last) {
  const sampling *s = arguments;
  for (size_t n = first; n < last; n++) {
    s->samples[n] = (slices_sample){0};
    sample_window(s, (int32_t)n, &s->samples[n]);
  }
}

static slices_sample sample(const ts_context *context, const tsi_host_csr *csr, int is_sorted) {
  slices_sample samples[SAMPLES], sum = {0};
  const sampling s = {.csr = csr,
                      .windows = (csr->rows - 1) / TSI_WINDOW_ROWS + 1,
                      .most = tsi_slices_longest(csr->rows, csr->row_offsets[csr->rows]),
                      .is_sorted = is_sorted,
                      .samples = samples};
  const int32_t count = s.windows < SAMPLES ? s.windows : SAMPLES;
  const int few = csr->row_offsets[csr->rows] < TSI_MANY; /* other threads would not wake up in time */
  if (few)
    sample_windows(&s, 0, (size_t)count);
  else
    tsi_parallel(context, (size_t)count, sample_windows, &s);
  for (int32_t n = 0; n < count; n++) {
    sum.entries += samples[n].entries;
    sum.steps += samples[n].steps;
    sum.bytes += samples[n].bytes;
    sum.counted += samples[n].counted;
    sum.lines += samples[n].lines;
    sum.with_lines += samples[n].with_lines;
  }
  return sum;
}

void tsi_slices_sampled_rows(const tsi_host_csr *csr, tsi_range_visitor visit, void *user) {
  const int32_t windows = (csr->rows - 1) / TSI_WINDOW_ROWS + 1;
  for (int32_t n = 0; n < windows && n < SAMPLES; n++) {
    const int32_t first = sampled_window(n, SAMPLES, windows) * TSI_WINDOW_ROWS;
    visit(user, first, csr->rows - first < TSI_WINDOW_ROWS ? csr->rows : first + TSI_WINDOW_ROWS);
  }
}

tsi_reads tsi_slices_reads(const ts_context *context, const tsi_host_csr *csr, double *weight) {
  const tsi_tuning *tuning = &context->tuning;
  slices_sample chosen = sample(context, csr, 0);
  int is_sorted = tsi_pays_to_sort(chosen.steps, 0, chosen.entries);
  if (is_sorted) {
    const slices_sample sorted = sample(context, csr, 1);
    is_sorted = tsi_pays_to_sort(chosen.steps, sorted.steps, chosen.entries);
    if (is_sorted) chosen = sorted;
  }
  *weight = (chosen.bytes + (tuning->counted_weight - 1) * chosen.counted) / chosen.bytes *
            (is_sorted ? tuning->sorted_weight : 1);
  if (chosen.entries <= 0) return (tsi_reads){8, 1};
  tsi_reads reads = {chosen.bytes / chosen.entries, 0};
  if (chosen.with_lines > 0) reads.lines = chosen.lines / chosen.with_lines;
  reads.lines += reads.bytes / TSI_LINE_BYTES;
  return reads;
}
