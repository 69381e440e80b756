#include "normal_equations.h"

#include <stdlib.h>
#include <string.h>

int conditions_create(conditions *c, int32_t count, int32_t unknowns, int64_t entries) {
  memset(c, 0, sizeof *c);
  if (entries > INT32_MAX) return 1;
  c->count = count;
  c->unknowns = unknowns;
  c->starts = calloc((size_t)count + 1, sizeof *c->starts);
  c->columns = malloc((size_t)(entries + !entries) * sizeof *c->columns);
  c->values = malloc((size_t)(entries + !entries) * sizeof *c->values);
  c->weights = malloc(((size_t)count + 1) * sizeof *c->weights);
  c->right = calloc((size_t)count + 1, sizeof *c->right);
  if (c->starts && c->columns && c->values && c->weights && c->right) return 0;
  conditions_free(c);
  return 1;
}

void conditions_free(conditions *c) {
  free(c->starts);
  free(c->columns);
  free(c->values);
  free(c->weights);
  free(c->right);
  memset(c, 0, sizeof *c);
}

/* For each unknown, its conditions in ascending order, and its place in each of them. */
typedef struct transpose {
  int32_t *starts, *rows, *places;
} transpose;

static void transpose_free(transpose *t) {
  free(t->starts);
  free(t->rows);
  free(t->places);
}

static int transpose_make(transpose *t, const conditions *c) {
  const size_t entries = (size_t)c->starts[c->count], unknowns = (size_t)c->unknowns;
  t->starts = calloc(unknowns + 2, sizeof *t->starts);
  t->rows = malloc((entries + !entries) * sizeof *t->rows);
  t->places = malloc((entries + !entries) * sizeof *t->places);
  if (!t->starts || !t->rows || !t->places) return 1;
  /* starts[i + 1] is the beginning of unknown i; filling in its entries advances it to the end. */
  for (size_t k = 0; k < entries; ++k) ++t->starts[c->columns[k] + 2];
  for (size_t i = 0; i < unknowns; ++i) t->starts[i + 2] += t->starts[i + 1];
  for (int32_t r = 0; r < c->count; ++r)
    for (int32_t k = c->starts[r]; k < c->starts[r + 1]; ++k) {
      const int32_t at = t->starts[c->columns[k] + 1]++;
      t->rows[at] = r;
      t->places[at] = k;
    }
  return 0;
}

static int ascending(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Finds the columns of row i of A. `seen[j]` is i + 1 for those found. Returns their number. */
static int32_t find_columns(const conditions *c, const transpose *t, int32_t i, int32_t *seen,
                            int32_t *columns) {
  int32_t count = 0;
  for (int32_t at = t->starts[i]; at < t->starts[i + 1]; ++at)
    for (int32_t k = c->starts[t->rows[at]]; k < c->starts[t->rows[at] + 1]; ++k) {
      const int32_t j = c->columns[k];
      if (seen[j] == i + 1) continue;
      seen[j] = i + 1;
      if (columns) columns[count] = j;
      ++count;
    }
  return count;
}

static void fill_row(generated_matrix *A, const conditions *c, const transpose *t, int32_t i, double *sums) {
  const int32_t begin = A->row_offsets[i], end = A->row_offsets[i + 1];
  for (int32_t at = t->starts[i]; at < t->starts[i + 1]; ++at) {
    const int32_t r = t->rows[at];
    const double own = c->values[t->places[at]];
    for (int32_t k = c->starts[r]; k < c->starts[r + 1]; ++k)
      sums[c->columns[k]] += c->weights[r] * (own * c->values[k]);
  }
  for (int32_t k = begin; k < end; ++k) {
    A->values[k] = (float)sums[A->column_indices[k]];
    sums[A->column_indices[k]] = 0;
  }
}

static void right_hand_side(const conditions *c, double *b) {
  memset(b, 0, (size_t)c->unknowns * sizeof *b);
  for (int32_t r = 0; r < c->count; ++r)
    for (int32_t k = c->starts[r]; k < c->starts[r + 1]; ++k)
      b[c->columns[k]] += c->weights[r] * (c->right[r] * c->values[k]);
}

static int count_entries(generated_matrix *A, const conditions *c, const transpose *t, int32_t *seen) {
  int64_t entries = 0;
  A->row_offsets[0] = 0;
  for (int32_t i = 0; i < c->unknowns; ++i) {
    entries += find_columns(c, t, i, seen, NULL);
    if (entries > INT32_MAX) return 1;
    A->row_offsets[i + 1] = (int32_t)entries;
  }
  A->column_indices = malloc((size_t)(entries + !entries) * sizeof *A->column_indices);
  A->values = malloc((size_t)(entries + !entries) * sizeof *A->values);
  return !A->column_indices || !A->values;
}

int normal_equations(generated_matrix *A, const conditions *c, double *b) {
  transpose t = {0};
  memset(A, 0, sizeof *A);
  A->rows = A->columns = c->unknowns;
  A->row_offsets = malloc(((size_t)c->unknowns + 1) * sizeof *A->row_offsets);
  int32_t *seen = calloc((size_t)c->unknowns + 1, sizeof *seen);
  double *sums = calloc((size_t)c->unknowns + 1, sizeof *sums);
  int failed = !A->row_offsets || !seen || !sums || transpose_make(&t, c);
  failed = failed || count_entries(A, c, &t, seen);
  if (!failed) {
    memset(seen, 0, (size_t)c->unknowns * sizeof *seen);
    for (int32_t i = 0; i < c->unknowns; ++i) {
      int32_t *row = A->column_indices + A->row_offsets[i];
      const int32_t count = find_columns(c, &t, i, seen, row);
      qsort(row, (size_t)count, sizeof *row, ascending);
      fill_row(A, c, &t, i, sums);
    }
    if (b) right_hand_side(c, b);
  } else {
    generated_free(A);
  }
  transpose_free(&t);
  free(seen);
  free(sums);
  return failed;
}
