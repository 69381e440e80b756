/* The sparsity pattern of a batch: sorted columns, the diagonal, mirrored entries, and the given values of each
 * entry. All steps take linear time. */
#include <string.h>

#include "batch_solve.h"
#include "common/matrix/csr.h"

/* Work arrays. */
typedef struct sorting {
  const int32_t *offsets, *columns; /* as given */
  int32_t *start;                   /* rows + 1: where a column's entries begin; then a position in each row */
  int32_t *by_column, *row_of;      /* given: the entries sorted by columns; the row of an entry */
} sorting;

static void sort_by_columns(int32_t rows, const sorting *s) {
  memset(s->start, 0, ((size_t)rows + 1) * sizeof *s->start);
  for (int32_t i = 0; i < rows; i++)
    for (int32_t k = s->offsets[i]; k < s->offsets[i + 1]; k++) {
      s->row_of[k] = i;
      s->start[s->columns[k] + 1]++;
    }
  for (int32_t j = 0; j < rows; j++) s->start[j + 1] += s->start[j];
  for (int32_t k = 0; k < s->offsets[rows]; k++) s->by_column[s->start[s->columns[k]]++] = k;
}

/* Distributes the entries to their rows in the order of columns, so that columns ascend. Duplicates keep their
 * order. */
static void sort_in_rows(const sorting *s, tsi_batch_pattern *p) {
  int32_t *position = s->start;
  memcpy(position, s->offsets, (size_t)p->rows * sizeof *position);
  for (int32_t a = 0; a < p->given; a++) {
    const int32_t k = s->by_column[a];
    p->sources[position[s->row_of[k]]++] = k;
  }
}

/* Entries of one row and column become one. */
static void merge(const sorting *s, tsi_batch_pattern *p) {
  int32_t e = 0;
  p->in_order = 1;
  for (int32_t i = 0; i < p->rows; i++) {
    p->offsets[i] = e;
    p->diagonal[i] = -1;
    for (int32_t a = s->offsets[i]; a < s->offsets[i + 1]; a++) {
      const int32_t column = s->columns[p->sources[a]];
      if (p->sources[a] != e) p->in_order = 0;
      if (e > p->offsets[i] && p->columns[e - 1] == column) continue;
      if (column == i) p->diagonal[i] = e;
      p->first[e] = a;
      p->columns[e++] = column;
    }
  }
  p->offsets[p->rows] = p->entries = e;
  p->first[e] = p->given;
  if (e != p->given) p->in_order = 0;
}

/* The entries (j, i) are requested in ascending order of i, so that one position per row advances. */
static void find_mirrors(int32_t *position, tsi_batch_pattern *p) {
  memcpy(position, p->offsets, (size_t)p->rows * sizeof *position);
  p->has_mirrors = 1;
  for (int32_t i = 0; i < p->rows; i++)
    for (int32_t e = p->offsets[i]; e < p->offsets[i + 1]; e++) {
      const int32_t j = p->columns[e];
      while (position[j] < p->offsets[j + 1] && p->columns[position[j]] < i) position[j]++;
      const int is_there = position[j] < p->offsets[j + 1] && p->columns[position[j]] == i;
      p->mirror[e] = is_there ? position[j] : -1;
      if (!is_there) p->has_mirrors = 0;
    }
}

static ts_status allocate(ts_context *context, tsi_batch_pattern *p) {
  const size_t rows = (size_t)p->rows, given = (size_t)p->given, count = 2 * rows + 2 + 4 * given;
  int32_t *at = tsi_malloc(context, count, sizeof *at);
  if (!at) return tsi_out_of_memory(context, "the pattern of a batch", count * sizeof *at);
  p->count = count;
  p->offsets = at, at += rows + 1;
  p->diagonal = at, at += rows;
  p->first = at, at += given + 1;
  p->columns = at, at += given;
  p->mirror = at, at += given;
  p->sources = at;
  return TS_OK;
}

ts_status tsi_batch_pattern_create(ts_context *context, int32_t rows, int32_t given, const int32_t *offsets,
                                   const int32_t *columns, tsi_batch_pattern *pattern) {
  const tsi_csr csr = {.rows = rows, .columns = rows, .row_offsets = offsets, .column_indices = columns};
  const size_t count = (size_t)rows + 1 + 2 * (size_t)given;
  *pattern = (tsi_batch_pattern){.rows = rows, .given = given};
  TSI_TRY(tsi_csr_validate(context, &csr));
  int32_t *work = tsi_malloc(context, count, sizeof *work);
  if (!work) return tsi_out_of_memory(context, "the pattern of a batch", count * sizeof *work);
  const sorting s = {offsets, columns, work, work + rows + 1, work + rows + 1 + given};
  const ts_status status = allocate(context, pattern);
  if (status == TS_OK) {
    sort_by_columns(rows, &s);
    sort_in_rows(&s, pattern);
    merge(&s, pattern);
    find_mirrors(s.start, pattern);
  }
  tsi_free(context, work);
  return status;
}

void tsi_batch_pattern_free(ts_context *context, tsi_batch_pattern *pattern) {
  tsi_free(context, pattern->offsets);
  *pattern = (tsi_batch_pattern){0};
}
