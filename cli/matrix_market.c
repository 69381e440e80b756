#include "matrix_market.h"

#include <stdlib.h>
#include <string.h>

#include "platform.h"
#include "text_file.h"
#include "threads.h"

/* ---- The file ---- */

int mm_open_text(mm_file *file, text_file *text, int may_be_infinite, mm_error *error) {
  const mm_source source = {
      .name = text->name, .text = text->text, .length = text->length, .may_be_infinite = may_be_infinite};
  memset(file, 0, sizeof *file);
  const int failed = mm_parse(&source, &file->header, &file->entries, error);
  if (!failed) {
    file->name = text->name;
    text->name = NULL;
  }
  return failed;
}

static int open_file(mm_file *file, const char *path, int may_be_infinite, mm_error *error) {
  text_file text;
  memset(file, 0, sizeof *file);
  if (text_open(&text, path, "a Matrix Market file", error)) return -1;
  const int failed = mm_open_text(file, &text, may_be_infinite, error);
  text_close(&text);
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
  mm_free_entries(&file->entries);
  memset(file, 0, sizeof *file);
}

/* ---- Checks ---- */

/* The maximum number of rows that the entries can fill. */
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

/* ---- Dense matrices ---- */

void mm_first_place(const mm_header *h, mm_entry *e) {
  *e = (mm_entry){.row = h->symmetry == MM_SKEW_SYMMETRIC};
}

void mm_next_place(const mm_header *h, mm_entry *e) {
  if (++e->row < h->rows) return;
  e->column++;
  e->row = h->symmetry == MM_GENERAL ? 0 : e->column + (h->symmetry == MM_SKEW_SYMMETRIC);
}

typedef struct dense {
  const mm_header *h;
  int by_columns;
  double *values;
  unsigned char *seen; /* marks places in use, to detect duplicates */
} dense;

/* Returns whether the place was in use. */
static int add(const dense *d, int32_t row, int32_t column, double value) {
  const size_t at = d->by_columns ? (size_t)column * (size_t)d->h->rows + (size_t)row
                                  : (size_t)row * (size_t)d->h->columns + (size_t)column;
  const int before = d->seen[at];
  d->values[at] += value;
  d->seen[at] = 1;
  return before;
}

/* Zeros of an array are not entries. A mirrored entry never has the place of an entry in the file. */
static int64_t add_all(const mm_file *file, const dense *d) {
  const mm_header *const h = &file->header;
  const mm_entries *const from = &file->entries;
  int64_t duplicates = 0;
  mm_entry e;
  mm_first_place(h, &e);
  for (int64_t k = 0; k < h->entries; k++) {
    if (from->rows) e = (mm_entry){from->rows[k], from->columns[k], 0};
    e.value = from->values[k];
    if (h->coordinate || e.value != 0) {
      duplicates += add(d, e.row, e.column, e.value);
      if (h->symmetry != MM_GENERAL && e.row != e.column)
        add(d, e.column, e.row, h->symmetry == MM_SKEW_SYMMETRIC ? -e.value : e.value);
    }
    if (!from->rows) mm_next_place(h, &e);
  }
  return duplicates;
}

typedef struct transposition {
  int64_t rows, columns;
  const double *from;
  double *to;
} transposition;

enum { block_rows = 32 };

static void transpose_rows(void *argument, int64_t block) {
  const transposition *const t = argument;
  const int64_t first = block * block_rows, end = first + block_rows < t->rows ? first + block_rows : t->rows;
  for (int64_t c = 0; c < t->columns; c++)
    for (int64_t i = first; i < end; i++) t->to[i * t->columns + c] = t->from[c * t->rows + i] + 0.0;
}

/* The values of an array file that stores all of them. Adding 0.0 removes the sign of zeros, as summing does.
 * Returns NULL for other files, or if memory is exhausted. */
static double *move_values(mm_file *file, int by_columns) {
  const mm_header *const h = &file->header;
  double *const values = file->entries.values;
  if (h->coordinate || file->entries.rows || h->symmetry != MM_GENERAL) return NULL;
  if (by_columns || h->rows == 1 || h->columns == 1) {
    for (int64_t k = 0; k < h->entries; k++) values[k] += 0.0;
    file->entries.values = NULL;
    return values;
  }
  transposition t = {h->rows, h->columns, values, platform_allocate((size_t)h->entries * sizeof *t.to)};
  if (t.to) threads_each((t.rows + block_rows - 1) / block_rows, transpose_rows, &t);
  return t.to;
}

int mm_read_dense(mm_file *file, int by_columns, double **values, int64_t *duplicates, mm_error *error) {
  const mm_header *const h = &file->header;
  const size_t count = (size_t)h->rows * (size_t)h->columns;
  *duplicates = 0;
  *values = move_values(file, by_columns);
  if (*values) return 0;
  const dense d = {h, by_columns, calloc(count, sizeof **values), calloc(count, 1)};
  int failed = !d.values || !d.seen;
  if (!failed) {
    *duplicates = add_all(file, &d);
    *values = d.values;
  } else {
    failed = mm_fail(error, "%.200s: out of memory for %lld x %lld values", file->name, (long long)h->rows,
                     (long long)h->columns);
    free(d.values);
  }
  free(d.seen);
  return failed;
}
