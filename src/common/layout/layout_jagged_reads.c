/* About what a product reads of slices of jagged diagonals, from some windows of rows, without laying the
 * matrix out: for the choice of the format. */
#include "layout_build.h"

/* What slices of rows in one order take. */
typedef struct slices_sample {
  double entries, steps, bytes;
  double counted;           /* bytes of unpadded slices */
  double lines, with_lines; /* of x, and the entries of the slices where they were counted */
} slices_sample;

/* Lines of x that a slice asks for, k by k. */
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

/* Window number n of the samples: anywhere in the n-th part of the matrix, lest they all meet the same place of
 * the lines of a grid. */
static int32_t sampled_window(int32_t n, int32_t samples, int32_t count) {
  if (count <= samples) return n;
  const int64_t first = (int64_t)n * count / samples, next = (int64_t)(n + 1) * count / samples;
  return (int32_t)(first + (int64_t)((uint32_t)n * 2654435769u >> 8) * (next - first) / (1 << 24));
}

static void sample_window(const tsi_host_csr *csr, int32_t window, int32_t most, int with_lines,
                          slices_sample *natural, slices_sample *sorted) {
  const int32_t first = window * TSI_WINDOW_ROWS;
  const int32_t count = csr->rows - first < TSI_WINDOW_ROWS ? csr->rows - first : TSI_WINDOW_ROWS;
  uint8_t order[TSI_WINDOW_ROWS];
  tsi_sort_window(csr, first, most, order);
  for (int32_t from = 0; from < count; from += TSI_SLICE_ROWS) {
    int32_t rows[2][TSI_SLICE_ROWS];
    for (int32_t i = from; i < from + TSI_SLICE_ROWS; i++) {
      rows[0][i - from] = i < count ? first + i : -1;
      rows[1][i - from] = i < count ? first + order[i] : -1;
    }
    sample_slice(csr, rows[0], most, with_lines, natural);
    sample_slice(csr, rows[1], most, with_lines, sorted);
  }
}

tsi_reads tsi_slices_reads(const tsi_tuning *tuning, const tsi_host_csr *csr, double *weight) {
  enum { samples = 128, with_lines = 4 };
  const int32_t windows = (csr->rows - 1) / TSI_WINDOW_ROWS + 1, most = tsi_slices_longest(csr);
  slices_sample natural = {0}, sorted = {0};
  for (int32_t n = 0; n < windows && n < samples; n++)
    sample_window(csr, sampled_window(n, samples, windows), most, n % with_lines == 0, &natural, &sorted);
  const int is_sorted = tsi_pays_to_sort(natural.steps, sorted.steps, natural.entries);
  const slices_sample *taken = is_sorted ? &sorted : &natural;
  *weight = (taken->bytes + (tuning->counted_weight - 1) * taken->counted) / taken->bytes *
            (is_sorted ? tuning->sorted_weight : 1);
  if (taken->entries <= 0) return (tsi_reads){8, 1};
  tsi_reads reads = {taken->bytes / taken->entries, 0};
  if (taken->with_lines > 0) reads.lines = taken->lines / taken->with_lines;
  reads.lines += reads.bytes / TSI_LINE_BYTES;
  return reads;
}
