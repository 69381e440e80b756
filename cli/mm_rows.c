#include "mm_rows.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "threads.h"

/* Entries per group of rows, approximately. */
enum { group_entries = 1 << 16 };

typedef struct group {
  int32_t first_row, begin, end; /* entries */
  int32_t nonzeros;              /* remaining entries, from `begin` */
  int64_t duplicates;
} group;

typedef struct job {
  mm_csr *csr;
  int has_mirrors;
  int64_t groups; /* a sentinel follows the last row */
  group *group;
  atomic_int out_of_memory;
} job;

static int64_t make_groups(const mm_csr *csr, group *groups) {
  int64_t count = 0;
  for (int32_t i = 0, next = 0; i < csr->rows; i++) {
    if (csr->row_offsets[i] < next) continue;
    if (groups) groups[count] = (group){.first_row = i, .begin = csr->row_offsets[i]};
    if (groups && count) groups[count - 1].end = csr->row_offsets[i];
    count++;
    next = csr->row_offsets[i] > INT32_MAX - group_entries ? INT32_MAX : csr->row_offsets[i] + group_entries;
  }
  if (groups) groups[count] = (group){.first_row = csr->rows};
  if (groups) groups[count - 1].end = csr->row_offsets[csr->rows];
  return count;
}

/* ---- Sorting a row ---- */

static int is_sorted(const int32_t *columns, int32_t count) {
  for (int32_t k = 1; k < count; k++)
    if (columns[k - 1] > columns[k]) return 0;
  return 1;
}

static void sort_short(int32_t *columns, double *values, int32_t count) {
  for (int32_t k = 1; k < count; k++) {
    const int32_t column = columns[k];
    const double value = values[k];
    int32_t to = k;
    for (; to > 0 && columns[to - 1] > column; to--) {
      columns[to] = columns[to - 1];
      values[to] = values[to - 1];
    }
    columns[to] = column;
    values[to] = value;
  }
}

typedef struct item {
  int32_t column;
  double value;
} item;

/* Merges two sorted runs. For equal columns the first run's entries precede. */
static void merge(const item *from, int32_t middle, int32_t count, item *to) {
  int32_t a = 0, b = middle;
  for (int32_t k = 0; k < count; k++)
    to[k] = b >= count || (a < middle && from[a].column <= from[b].column) ? from[a++] : from[b++];
}

/* `items`: room for twice the count. */
static void sort_long(int32_t *columns, double *values, int32_t count, item *items) {
  item *from = items, *to = items + count;
  for (int32_t k = 0; k < count; k++) from[k] = (item){columns[k], values[k]};
  for (int64_t run = 1; run < count; run *= 2) {
    for (int64_t k = 0; k < count; k += 2 * run) {
      const int32_t left = (int32_t)(count - k < 2 * run ? count - k : 2 * run);
      merge(from + k, left < run ? left : (int32_t)run, left, to + k);
    }
    item *const sorted = to;
    to = from;
    from = sorted;
  }
  for (int32_t k = 0; k < count; k++) {
    columns[k] = from[k].column;
    values[k] = from[k].value;
  }
}

/* Nonzero: out of memory. */
static int sort_row(int32_t *columns, double *values, int32_t count) {
  if (is_sorted(columns, count)) return 0;
  if (count <= 32) {
    sort_short(columns, values, count);
    return 0;
  }
  item *const items = malloc(2 * (size_t)count * sizeof *items);
  if (!items) return -1;
  sort_long(columns, values, count, items);
  free(items);
  return 0;
}

/* ---- Groups of rows ---- */

/* Adds up the duplicates of sorted row i and moves the row to `to`. Returns the place after it. */
static int32_t add_up(mm_csr *csr, int has_mirrors, int32_t i, int32_t begin, int32_t end, int32_t to,
                      int64_t *duplicates) {
  const int32_t first = to;
  for (int32_t k = begin; k < end; k++) {
    if (to > first && csr->column_indices[to - 1] == csr->column_indices[k]) {
      csr->values[to - 1] += csr->values[k];
      *duplicates += !has_mirrors || csr->column_indices[k] <= i;
    } else {
      csr->column_indices[to] = csr->column_indices[k];
      csr->values[to++] = csr->values[k];
    }
  }
  return to;
}

/* Sorts the rows of a group and adds up duplicates. The rows stay contiguous, so all offsets but the first
 * change. */
static void finish_group(void *argument, int64_t number) {
  job *const j = argument;
  mm_csr *const csr = j->csr;
  group *const own = &j->group[number];
  int32_t begin = own->begin, to = own->begin;
  for (int32_t i = own->first_row; i < own[1].first_row; i++) {
    /* The next group owns its first offset. */
    const int32_t end = i + 1 < own[1].first_row ? csr->row_offsets[i + 1] : own->end;
    if (sort_row(csr->column_indices + begin, csr->values + begin, end - begin))
      atomic_store(&j->out_of_memory, 1);
    to = add_up(csr, j->has_mirrors, i, begin, end, to, &own->duplicates);
    if (i + 1 < own[1].first_row) csr->row_offsets[i + 1] = to;
    begin = end;
  }
  own->nonzeros = to - own->begin;
}

/* Closes the gaps that removed duplicates leave between groups. */
static void close_gaps(const job *j) {
  mm_csr *const csr = j->csr;
  int32_t to = 0;
  for (int64_t g = 0; g < j->groups; g++) {
    const group *const own = &j->group[g];
    const int32_t back = own->begin - to;
    if (back) {
      memmove(csr->column_indices + to, csr->column_indices + own->begin,
              (size_t)own->nonzeros * sizeof *csr->column_indices);
      memmove(csr->values + to, csr->values + own->begin, (size_t)own->nonzeros * sizeof *csr->values);
      for (int32_t i = own->first_row; i < own[1].first_row; i++) csr->row_offsets[i] -= back;
    }
    to += own->nonzeros;
    csr->duplicates += own->duplicates;
  }
  csr->row_offsets[csr->rows] = to;
  csr->nonzeros = to;
}

int mm_sort_rows(mm_csr *csr, int has_mirrors) {
  job j = {.csr = csr, .has_mirrors = has_mirrors, .groups = make_groups(csr, NULL)};
  j.group = calloc((size_t)j.groups + 1, sizeof *j.group);
  if (!j.group) return -1;
  make_groups(csr, j.group);
  threads_each(j.groups, finish_group, &j);
  close_gaps(&j);
  free(j.group);
  return atomic_load(&j.out_of_memory);
}
