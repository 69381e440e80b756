/* Converts entries of a Matrix Market file to CSR. If the file is sorted by rows and columns, its arrays are
 * used directly. Otherwise a stable counting sort by row follows; each thread counts and moves the entries of a
 * part of the file. Then a stable sort by column follows in each row. So duplicates are added in the file's
 * order, and the result does not depend on the number of threads. */
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "matrix_market.h"
#include "mm_rows.h"
#include "platform.h"
#include "threads.h"

/* Entries per task if threads only read. */
enum { part_entries = 1 << 18 };

static int64_t count_parts(int64_t count) {
  return count / part_entries + 1;
}

/* ---- Arrays ---- */

/* Assigns places to the entries of an array and drops its zeros. Other entries stay. */
static int place_entries(mm_file *file) {
  mm_entries *const to = &file->entries;
  mm_header *const h = &file->header;
  const size_t count = (size_t)h->entries + 1;
  mm_entry e;
  if (to->rows) return 0;
  to->rows = malloc(count * sizeof *to->rows);
  to->columns = malloc(count * sizeof *to->columns);
  if (!to->rows || !to->columns) return -1;
  const int64_t entries = h->entries;
  h->entries = 0;
  mm_first_place(h, &e);
  for (int64_t k = 0; k < entries; k++, mm_next_place(h, &e)) {
    if (to->values[k] == 0) continue;
    const int64_t at = h->entries++;
    to->rows[at] = e.row;
    to->columns[at] = e.column;
    to->values[at] = to->values[k];
  }
  return 0;
}

/* ---- Files that are already in order ---- */

typedef struct ordered {
  const mm_entries *entries;
  int64_t count;
  int32_t *row_offsets;
  atomic_int is_not;
} ordered;

static void look_for_order(void *argument, int64_t part) {
  ordered *const o = argument;
  const int32_t *const rows = o->entries->rows, *const columns = o->entries->columns;
  const int64_t first = part ? part * part_entries : 1, end = (part + 1) * part_entries;
  if (atomic_load(&o->is_not)) return;
  int bad = 0;
  for (int64_t k = first; k < end && k < o->count; k++)
    bad |= rows[k - 1] > rows[k] || (rows[k - 1] == rows[k] && columns[k - 1] >= columns[k]);
  if (bad) atomic_store(&o->is_not, 1);
}

/* Sets the offsets of rows that begin in this part, and of empty rows before them. */
static void find_offsets(void *argument, int64_t part) {
  const ordered *const o = argument;
  const int32_t *const rows = o->entries->rows;
  const int64_t first = part * part_entries, end = (part + 1) * part_entries;
  int32_t row = first ? rows[first - 1] : -1;
  for (int64_t k = first; k < end && k < o->count; k++)
    while (row < rows[k]) o->row_offsets[++row] = (int32_t)k;
}

/* Returns 1 if the arrays are in order; the matrix then owns them. */
static int copy_ordered(mm_file *file, mm_csr *csr) {
  mm_entries *const from = &file->entries;
  const int64_t count = file->header.entries;
  ordered o = {.entries = from, .count = count, .row_offsets = csr->row_offsets};
  atomic_init(&o.is_not, file->header.symmetry != MM_GENERAL);
  threads_each(count_parts(count), look_for_order, &o);
  if (atomic_load(&o.is_not)) return 0;
  threads_each(count_parts(count), find_offsets, &o);
  for (int32_t row = count ? from->rows[count - 1] : -1; row < csr->rows;)
    csr->row_offsets[++row] = (int32_t)count;
  csr->nonzeros = count;
  csr->column_indices = from->columns;
  csr->values = from->values;
  free(from->rows);
  *from = (mm_entries){0};
  return 1;
}

/* ---- Other files ---- */

typedef struct sorter {
  const mm_header *h;
  const mm_entries *entries;
  mm_csr *csr;
  int parts;       /* of the entries */
  int32_t *places; /* parts x rows: entries of a part in a row, then the place of the next one */
} sorter;

static int32_t *places_of(const sorter *s, int64_t part) {
  return s->places + (size_t)part * (size_t)s->csr->rows;
}

static int64_t begin_of(const sorter *s, int64_t part) {
  return s->h->entries * part / s->parts;
}

static int is_mirrored(const sorter *s, int64_t k) {
  return s->h->symmetry != MM_GENERAL && s->entries->rows[k] != s->entries->columns[k];
}

static void count_part(void *argument, int64_t part) {
  const sorter *const s = argument;
  int32_t *const counts = places_of(s, part);
  for (int64_t k = begin_of(s, part), end = begin_of(s, part + 1); k < end; k++) {
    counts[s->entries->rows[k]]++;
    if (is_mirrored(s, k)) counts[s->entries->columns[k]]++;
  }
}

static void find_places(const sorter *s) {
  mm_csr *const csr = s->csr;
  int32_t place = 0;
  for (int32_t i = 0; i < csr->rows; i++) {
    csr->row_offsets[i] = place;
    for (int part = 0; part < s->parts; part++) {
      int32_t *const own = places_of(s, part) + i;
      const int32_t count = *own;
      *own = place;
      place += count;
    }
  }
  csr->row_offsets[csr->rows] = place;
  csr->nonzeros = place;
}

/* A mirrored entry never has the place of an entry in the file, so their order does not matter. */
static void move_part(void *argument, int64_t part) {
  const sorter *const s = argument;
  const mm_entries *const from = s->entries;
  int32_t *const places = places_of(s, part);
  for (int64_t k = begin_of(s, part), end = begin_of(s, part + 1); k < end; k++) {
    const int32_t row = from->rows[k], column = from->columns[k], at = places[row]++;
    s->csr->column_indices[at] = column;
    s->csr->values[at] = from->values[k];
    if (!is_mirrored(s, k)) continue;
    const int32_t mirror = places[column]++;
    s->csr->column_indices[mirror] = row;
    s->csr->values[mirror] = s->h->symmetry == MM_SKEW_SYMMETRIC ? -from->values[k] : from->values[k];
  }
}

/* A part has more entries than the matrix has rows, so that the counts take less memory than the entries. At
 * least one part is used. */
static int choose_parts(int64_t count, int32_t rows) {
  const int64_t most = count / ((int64_t)rows + 1), threads = threads_count();
  const int64_t parts = most < threads ? most : threads;
  return count < part_entries || parts < 1 ? 1 : (int)parts;
}

static int sort(mm_file *file, int64_t count, mm_csr *csr) {
  const mm_header *const h = &file->header;
  sorter s = {.h = h, .entries = &file->entries, .csr = csr, .parts = choose_parts(count, csr->rows)};
  s.places = calloc((size_t)s.parts * (size_t)csr->rows, sizeof *s.places);
  csr->column_indices = platform_allocate(((size_t)count + 1) * sizeof *csr->column_indices);
  csr->values = platform_allocate(((size_t)count + 1) * sizeof *csr->values);
  int failed = !s.places || !csr->column_indices || !csr->values;
  if (!failed) {
    threads_each(s.parts, count_part, &s);
    find_places(&s);
    threads_each(s.parts, move_part, &s);
  }
  free(s.places);
  mm_free_entries(&file->entries);
  return failed ? -1 : mm_sort_rows(csr, h->symmetry != MM_GENERAL);
}

int mm_read_csr(mm_file *file, mm_csr *csr, mm_error *error) {
  const mm_header *const h = &file->header;
  const int64_t entries = h->entries, count = h->symmetry == MM_GENERAL ? entries : 2 * entries;
  *csr = (mm_csr){.rows = (int32_t)h->rows, .columns = (int32_t)h->columns};
  if (count > INT_MAX)
    return mm_fail(error, "%.200s: %lld entries, expected at most %d with both triangles", file->name,
                   (long long)entries, INT_MAX);
  csr->row_offsets = malloc(((size_t)h->rows + 1) * sizeof *csr->row_offsets);
  if (csr->row_offsets && !place_entries(file) && (copy_ordered(file, csr) || !sort(file, count, csr)))
    return 0;
  mm_free_csr(csr);
  return mm_fail(error, "%.200s: out of memory for %lld entries", file->name, (long long)entries);
}

void mm_free_csr(mm_csr *csr) {
  free(csr->row_offsets);
  free(csr->column_indices);
  free(csr->values);
  memset(csr, 0, sizeof *csr);
}
