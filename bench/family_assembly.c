#include "family.h"

#include <stdlib.h>
#include <string.h>

void assembly_add(assembly *list, int32_t row, int32_t column, double value) {
  if (row < 0 || column < 0 || list->failed) return;
  if (list->count == list->room) {
    const int64_t room = list->room ? 2 * list->room : 1 << 16;
    assembly_entry *more = realloc(list->entries, (size_t)room * sizeof *more);
    list->failed = !more;
    if (!more) return;
    list->entries = more;
    list->room = room;
  }
  list->entries[list->count++] = (assembly_entry){row, column, value};
}

/* Sorts entries by `key`, stably. `starts` has room for `rows` + 1. */
static void sort_by(const assembly_entry *from, int64_t count, int by_row, int32_t rows, int64_t *starts,
                    assembly_entry *to) {
  memset(starts, 0, ((size_t)rows + 1) * sizeof *starts);
  for (int64_t k = 0; k < count; k++) starts[(by_row ? from[k].row : from[k].column) + 1]++;
  for (int32_t i = 0; i < rows; i++) starts[i + 1] += starts[i];
  for (int64_t k = 0; k < count; k++) to[starts[by_row ? from[k].row : from[k].column]++] = from[k];
}

static int is_same_place(const assembly_entry *a, const assembly_entry *b) {
  return a->row == b->row && a->column == b->column;
}

/* The entries are sorted. */
static int add_up(const assembly_entry *entries, int64_t count, int32_t rows, int unknowns, int dimensions,
                  generated_problem *p) {
  int64_t places = 0;
  for (int64_t k = 0; k < count; k++) places += k == 0 || !is_same_place(&entries[k], &entries[k - 1]);
  const int failed = generated_problem_allocate(p, rows, places, unknowns, dimensions);
  if (failed) return failed;
  int32_t at = -1, row = 0;
  for (int64_t k = 0; k < count; k++) {
    if (k == 0 || !is_same_place(&entries[k], &entries[k - 1])) {
      p->column_indices[++at] = entries[k].column;
      while (row < entries[k].row) p->row_offsets[++row] = at;
    }
    p->values[at] += entries[k].value;
  }
  while (row < rows) p->row_offsets[++row] = at + 1;
  return 0;
}

int assembly_finish(assembly *list, int32_t rows, int unknowns, int dimensions, generated_problem *p) {
  assembly_entry *other = malloc((size_t)list->count * sizeof *other);
  int64_t *starts = malloc(((size_t)rows + 1) * sizeof *starts);
  int failed = 2;
  if (other && starts && !list->failed) {
    sort_by(list->entries, list->count, 0, rows, starts, other);
    sort_by(other, list->count, 1, rows, starts, list->entries);
    failed = add_up(list->entries, list->count, rows, unknowns, dimensions, p);
  }
  free(other);
  free(starts);
  free(list->entries);
  *list = (assembly){0};
  return failed;
}
