#include "matrix_market.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "compressed.h"
#include "platform.h"
#include "progress.h"

/* ---- The file ---- */

/* The stream's text and a zero byte; 0 or an errno. */
static int read_all(FILE *stream, char **text, size_t *length) {
  size_t capacity = 1 << 16;
  size_t bytes;
  if (platform_kind_of_stream(stream, &bytes) == PLATFORM_FILE && bytes > 0) capacity = bytes + 1;
  *text = malloc(capacity);
  if (!*text) return ENOMEM;
  for (*length = 0;;) {
    const size_t wanted = capacity - *length;
    errno = 0;
    const size_t got = fread(*text + *length, 1, wanted, stream);
    *length += got;
    if (got < wanted) {
      (*text)[*length] = 0;
      return ferror(stream) ? (errno ? errno : EIO) : 0;
    }
    char *larger = capacity > SIZE_MAX / 2 ? NULL : realloc(*text, 2 * capacity);
    if (!larger) return ENOMEM;
    *text = larger;
    capacity *= 2;
  }
}

/* The byte order mark that some editors put before UTF-8. */
static void skip_mark(char *text, size_t *length) {
  if (*length < 3 || memcmp(text, "\xef\xbb\xbf", 3) != 0) return;
  *length -= 3;
  memmove(text, text + 3, *length + 1);
}

int mm_read_text(const char *path, const char *expected, char **name, char **text, size_t *length,
                 mm_error *error) {
  const int standard_input = !strcmp(path, "-");
  progress_begin("reading %.50s", standard_input ? "standard input" : path);
  *name = *text = NULL;
  FILE *stream = standard_input ? stdin : fopen(path, "rb");
  if (!stream) return mm_fail(error, "%.200s: %s, expected %s", path, strerror(errno), expected);
  int failed = read_all(stream, text, length);
  if (!standard_input) fclose(stream);
  *name = copy_text(standard_input ? "standard input" : path);
  const char *const program = failed ? NULL : compressed_by(*text, *length);
  if (!failed && *name && !program) {
    skip_mark(*text, length);
    return 0;
  }
  free(*name);
  free(*text);
  *name = *text = NULL;
  if (program)
    return mm_fail(error, "%.200s: compressed by %s, expected %s (hint: `%s -d' uncompresses it)",
                   standard_input ? "standard input" : path, program, expected, program);
  return mm_fail(error, "%.200s: %s, expected %s", path, strerror(failed ? failed : ENOMEM), expected);
}

static int open_file(mm_file *file, const char *path, int may_be_infinite, mm_error *error) {
  char *text;
  size_t length;
  memset(file, 0, sizeof *file);
  if (mm_read_text(path, "a Matrix Market file", &file->name, &text, &length, error)) return -1;
  const int failed = mm_parse(file->name, text, length, may_be_infinite, &file->header, &file->entries, error);
  free(text);
  if (failed) mm_close(file);
  return failed;
}

int mm_open(mm_file *file, const char *path, mm_error *error) {
  return open_file(file, path, 0, error);
}

int mm_open_bounds(mm_file *file, const char *path, mm_error *error) {
  return open_file(file, path, 1, error);
}

void mm_close(mm_file *file) {
  free(file->name);
  free(file->entries);
  memset(file, 0, sizeof *file);
}

/* ---- Sparse matrices ---- */

/* Rows that entries can reach. */
static int64_t most_filled(const mm_header *h) {
  if (h->coordinate) return h->entries * (h->symmetry == MM_GENERAL ? 1 : 2);
  return h->entries ? h->rows : 0;
}

int mm_check_square(const mm_file *file, mm_error *error) {
  const mm_header *h = &file->header;
  if (h->rows != h->columns)
    return mm_fail(error, "%.200s:%lld: %lld rows and %lld columns, expected a square matrix", file->name,
                   (long long)h->size_line, (long long)h->rows, (long long)h->columns);
  const int64_t filled = most_filled(h);
  if (filled >= h->rows) return 0;
  return mm_fail(
      error,
      "%.200s:%lld: %lld entries leave some of the %lld rows empty, expected a matrix with an entry in each",
      file->name, (long long)h->size_line, (long long)h->entries, (long long)h->rows);
}

int mm_check_filled(const mm_file *file, mm_error *error) {
  const mm_header *h = &file->header;
  const int64_t longer = h->rows > h->columns ? h->rows : h->columns;
  if (!h->coordinate || longer <= 1000000 || longer / 16 <= most_filled(h)) return 0;
  return mm_fail(error,
                 "%.200s:%lld: %lld entries leave most of the %lld %s empty, expected one for 16 of them",
                 file->name, (long long)h->size_line, (long long)h->entries, (long long)longer,
                 h->rows > h->columns ? "rows" : "columns");
}

/* Entry k of both triangles: those of the file, then their mirrors. Zeros of an array and mirrors of the
 * diagonal are none. */
static int get_entry(const mm_file *file, int64_t k, mm_entry *e) {
  const mm_header *h = &file->header;
  const int mirrored = k >= h->entries;
  const mm_entry *from = &file->entries[mirrored ? k - h->entries : k];
  *e = *from;
  if (mirrored) {
    e->row = from->column;
    e->column = from->row;
    if (h->symmetry == MM_SKEW_SYMMETRIC) e->value = -e->value;
  }
  return (h->coordinate || e->value != 0) && !(mirrored && e->row == e->column);
}

/* Counts become the places where each index begins. */
static void sum_up(int32_t *starts, int32_t count) {
  for (int32_t i = 0; i < count; i++) starts[i + 1] += starts[i];
}

/* Stable counting sorts by column and then by row leave duplicates in the file's order. */
static void sort(const mm_file *file, int64_t count, mm_csr *csr, int32_t *column_starts, int32_t *by_column) {
  int32_t *const row_ends = csr->row_offsets; /* begins of rows until they are filled */
  mm_entry e;
  for (int64_t k = 0; k < count; k++)
    if (get_entry(file, k, &e)) {
      column_starts[e.column + 1]++;
      row_ends[e.row + 1]++;
    }
  sum_up(column_starts, csr->columns);
  sum_up(row_ends, csr->rows);
  csr->nonzeros = row_ends[csr->rows];
  for (int64_t k = 0; k < count; k++)
    if (get_entry(file, k, &e)) by_column[column_starts[e.column]++] = (int32_t)k;
  for (int64_t k = 0; k < csr->nonzeros; k++) {
    get_entry(file, by_column[k], &e);
    const int32_t to = row_ends[e.row]++;
    csr->column_indices[to] = e.column;
    csr->values[to] = e.value;
  }
  /* Each row now begins where the one before ends. */
  memmove(row_ends + 1, row_ends, (size_t)csr->rows * sizeof *row_ends);
  row_ends[0] = 0;
}

/* Adds up entries at one place, and counts those of the file. */
static void add_duplicates(mm_csr *csr, int is_mirrored) {
  int32_t to = 0;
  for (int32_t i = 0, k = 0; i < csr->rows; i++) {
    const int32_t first = to;
    for (; k < csr->row_offsets[i + 1]; k++)
      if (to > first && csr->column_indices[to - 1] == csr->column_indices[k]) {
        csr->values[to - 1] += csr->values[k];
        csr->duplicates += !is_mirrored || csr->column_indices[k] <= i;
      } else {
        csr->column_indices[to] = csr->column_indices[k];
        csr->values[to++] = csr->values[k];
      }
    csr->row_offsets[i + 1] = to;
  }
  csr->nonzeros = to;
}

int mm_read_csr(const mm_file *file, mm_csr *csr, mm_error *error) {
  const mm_header *h = &file->header;
  const int64_t count = h->symmetry == MM_GENERAL ? h->entries : 2 * h->entries;
  *csr = (mm_csr){.rows = (int32_t)h->rows, .columns = (int32_t)h->columns};
  if (count > INT_MAX)
    return mm_fail(error, "%.200s: %lld entries, expected at most %d with both triangles", file->name,
                   (long long)h->entries, INT_MAX);
  int32_t *column_starts = calloc((size_t)h->columns + 1, sizeof *column_starts);
  int32_t *by_column = calloc((size_t)count + 1, sizeof *by_column);
  csr->row_offsets = calloc((size_t)h->rows + 1, sizeof *csr->row_offsets);
  csr->column_indices = calloc((size_t)count + 1, sizeof *csr->column_indices);
  csr->values = calloc((size_t)count + 1, sizeof *csr->values);
  int failed = 0;
  if (column_starts && by_column && csr->row_offsets && csr->column_indices && csr->values) {
    sort(file, count, csr, column_starts, by_column);
    add_duplicates(csr, h->symmetry != MM_GENERAL);
  } else {
    failed = mm_fail(error, "%.200s: out of memory for %lld entries", file->name, (long long)h->entries);
    mm_free_csr(csr);
  }
  free(column_starts);
  free(by_column);
  return failed;
}

void mm_free_csr(mm_csr *csr) {
  free(csr->row_offsets);
  free(csr->column_indices);
  free(csr->values);
  memset(csr, 0, sizeof *csr);
}

/* ---- Dense matrices ---- */

int mm_read_dense(const mm_file *file, int by_columns, double **values, int64_t *duplicates, mm_error *error) {
  const mm_header *h = &file->header;
  const size_t count = (size_t)h->rows * (size_t)h->columns;
  unsigned char *seen = calloc(count, 1); /* tells entries apart that a file has twice */
  *duplicates = 0;
  *values = calloc(count, sizeof **values);
  if (!*values || !seen) {
    mm_fail(error, "%.200s: out of memory for %lld x %lld values", file->name, (long long)h->rows,
            (long long)h->columns);
    free(seen);
    free(*values);
    *values = NULL;
    return -1;
  }
  mm_entry e;
  for (int64_t k = 0; k < (h->symmetry == MM_GENERAL ? h->entries : 2 * h->entries); k++) {
    if (!get_entry(file, k, &e)) continue;
    const size_t at = by_columns ? (size_t)e.column * (size_t)h->rows + (size_t)e.row
                                 : (size_t)e.row * (size_t)h->columns + (size_t)e.column;
    (*values)[at] += e.value;
    if (k < h->entries) *duplicates += seen[at];
    seen[at] = 1;
  }
  free(seen);
  return 0;
}

void mm_write_dense(FILE *stream, const char *comment, int32_t rows, int columns, int by_columns,
                    const double *values) {
  fprintf(stream, "%%%%MatrixMarket matrix array real general\n%% %s\n%d %d\n", comment, (int)rows, columns);
  for (int c = 0; c < columns; c++)
    for (int32_t i = 0; i < rows; i++) {
      fprintf(
          stream, "%.17g\n",
          values[by_columns ? (size_t)c * (size_t)rows + (size_t)i : (size_t)i * (size_t)columns + (size_t)c]);
      if (i % 4096 == 0)
        progress_step(((double)c * rows + i) / ((double)columns * rows), "row %d of %d", (int)i, (int)rows);
    }
}
