#include "generate_edges.h"

#include <stdlib.h>

float generated_weight(int64_t i, int64_t j) {
  return 0.5f + generated_noise((uint32_t)(i < j ? i : j), (uint32_t)(i < j ? j : i));
}

int generated_allocate(generated_matrix *A, int32_t rows, int64_t entries) {
  if (entries < 1 || entries > INT32_MAX) return 2;
  A->rows = A->columns = rows;
  A->row_offsets = malloc(((size_t)rows + 1) * sizeof *A->row_offsets);
  A->column_indices = malloc((size_t)entries * sizeof *A->column_indices);
  A->values = malloc((size_t)entries * sizeof *A->values);
  if (A->row_offsets && A->column_indices && A->values) return 0;
  generated_free(A);
  return 2;
}

/* Values for a symmetric pattern with diagonal: off-diagonals -w, diagonal the sum of w plus
 * GENERATED_SHIFT. */
void generated_fill_values(generated_matrix *A) {
  for (int32_t i = 0; i < A->rows; ++i) {
    double sum = GENERATED_SHIFT;
    int32_t diagonal = A->row_offsets[i];
    for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; ++k) {
      const int32_t j = A->column_indices[k];
      if (j == i) {
        diagonal = k;
        continue;
      }
      A->values[k] = -generated_weight(i, j);
      sum -= (double)A->values[k];
    }
    A->values[diagonal] = (float)sum;
  }
}

static int ascending(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

int edges_add(edge_list *list, int32_t i, int32_t j) {
  if (j < 0 || i == j) return 0;
  if (list->count == list->room) {
    const int64_t room = list->room ? 2 * list->room : 1 << 16;
    int32_t(*more)[2] = realloc(list->edges, (size_t)room * sizeof *more);
    if (!more) return 1;
    list->edges = more;
    list->room = room;
  }
  list->edges[list->count][0] = i;
  list->edges[list->count++][1] = j;
  return 0;
}

void edges_free(edge_list *list) {
  free(list->edges);
  *list = (edge_list){0};
}

/* Writes every row with its diagonal and all its edges, including duplicates. */
static void scatter(const edge_list *list, generated_matrix *A, int32_t *next) {
  A->row_offsets[0] = 0;
  for (int32_t i = 0; i < A->rows; ++i) {
    A->row_offsets[i + 1] = A->row_offsets[i] + next[i];
    next[i] = A->row_offsets[i];
    A->column_indices[next[i]++] = i;
  }
  for (int64_t k = 0; k < list->count; ++k) {
    const int32_t i = list->edges[k][0], j = list->edges[k][1];
    A->column_indices[next[i]++] = j;
    A->column_indices[next[j]++] = i;
  }
}

static void sort_rows(generated_matrix *A) {
  int32_t kept = 0, begin = 0;
  for (int32_t i = 0; i < A->rows; ++i) {
    const int32_t end = A->row_offsets[i + 1], first = kept;
    qsort(A->column_indices + begin, (size_t)(end - begin), sizeof *A->column_indices, ascending);
    for (int32_t k = begin; k < end; ++k)
      if (kept == first || A->column_indices[kept - 1] != A->column_indices[k])
        A->column_indices[kept++] = A->column_indices[k];
    A->row_offsets[i] = first;
    begin = end;
  }
  A->row_offsets[A->rows] = kept;
}

int edges_to_matrix(const edge_list *list, int32_t rows, generated_matrix *A) {
  int32_t *next = malloc((size_t)rows * sizeof *next);
  if (!next) return 2;
  for (int32_t i = 0; i < rows; ++i) next[i] = 1;
  for (int64_t k = 0; k < list->count; ++k) ++next[list->edges[k][0]], ++next[list->edges[k][1]];
  const int failed = generated_allocate(A, rows, rows + 2 * list->count);
  if (!failed) {
    scatter(list, A, next);
    sort_rows(A);
    generated_fill_values(A);
  }
  free(next);
  return failed;
}
