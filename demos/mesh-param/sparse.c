#include "sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int sparse_create(int32_t rows, int32_t columns, int64_t entries, sparse *A) {
  *A = (sparse){.rows = rows, .columns = columns, .capacity = entries};
  if (entries > INT32_MAX) return 1;
  A->offsets = calloc((size_t)rows + 1, sizeof *A->offsets);
  A->column = malloc(((size_t)entries + 1) * sizeof *A->column);
  A->value = malloc(((size_t)entries + 1) * sizeof *A->value);
  if (A->offsets && A->column && A->value) return 0;
  sparse_free(A);
  return 1;
}

void sparse_free(sparse *A) {
  free(A->offsets);
  free(A->column);
  free(A->value);
  *A = (sparse){0};
}

int sparse_transpose(const sparse *A, sparse *T) {
  if (sparse_create(A->columns, A->rows, A->offsets[A->rows], T)) return 1;
  for (int32_t e = 0; e < A->offsets[A->rows]; e++) T->offsets[A->column[e]]++;
  int32_t end = 0;
  for (int32_t j = 0; j <= A->columns; j++) T->offsets[j] = end += T->offsets[j];
  for (int32_t i = A->rows - 1; i >= 0; i--)
    for (int32_t e = A->offsets[i + 1] - 1; e >= A->offsets[i]; e--) {
      const int32_t to = --T->offsets[A->column[e]];
      T->column[to] = i;
      T->value[to] = A->value[e];
    }
  return 0;
}

/* Entries of A B, an entry that several products go into counted once. `mark`: a number for each column. */
static int64_t count_product(const sparse *A, const sparse *B, int32_t *mark) {
  int64_t count = 0;
  memset(mark, 0, (size_t)B->columns * sizeof *mark);
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
      for (int32_t k = B->offsets[A->column[e]]; k < B->offsets[A->column[e] + 1]; k++)
        if (mark[B->column[k]] != i + 1) {
          mark[B->column[k]] = i + 1;
          count++;
        }
  return count;
}

int sparse_multiply(const sparse *A, const sparse *B, sparse *C) {
  int32_t *place = malloc(((size_t)B->columns + 1) * sizeof *place);
  *C = (sparse){0};
  if (!place || sparse_create(A->rows, B->columns, count_product(A, B, place), C)) {
    free(place);
    return 1;
  }
  for (int32_t j = 0; j < B->columns; j++) place[j] = -1;
  int32_t count = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    const int32_t first = count;
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
      for (int32_t k = B->offsets[A->column[e]]; k < B->offsets[A->column[e] + 1]; k++) {
        const int32_t j = B->column[k];
        if (place[j] < first) {
          place[j] = count;
          C->column[count] = j;
          C->value[count++] = 0;
        }
        C->value[place[j]] += A->value[e] * B->value[k];
      }
    C->offsets[i + 1] = count;
  }
  free(place);
  return 0;
}

double sparse_diagonal(const sparse *A, int32_t row) {
  double sum = 0;
  for (int32_t e = A->offsets[row]; e < A->offsets[row + 1]; e++) sum += A->column[e] == row ? A->value[e] : 0;
  return sum;
}

int sparse_prune(sparse *A, double rounding) {
  double *root = malloc(((size_t)A->rows + 1) * sizeof *root);
  if (!root) return 1;
  for (int32_t i = 0; i < A->rows; i++) root[i] = sqrt(fabs(sparse_diagonal(A, i)));
  int32_t count = 0, from = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    const int32_t to = A->offsets[i + 1];
    for (int32_t e = from; e < to; e++) {
      if (A->column[e] != i && fabs(A->value[e]) <= rounding * root[i] * root[A->column[e]]) continue;
      A->column[count] = A->column[e];
      A->value[count++] = A->value[e];
    }
    from = to;
    A->offsets[i + 1] = count;
  }
  free(root);
  return 0;
}

void sparse_scale(sparse *A, const double *left, const double *right) {
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) A->value[e] *= left[i] * right[A->column[e]];
}
