#include "generate_box.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generate_edges.h"

static const struct {
  const char *name;
  int dimensions, diagonals, poisson;
} boxes[] = {{"grid", 2, 1, 0},
             {"laplace2d", 2, 0, 0},
             {"laplace3d", 3, 0, 0},
             {"poisson2d", 2, 0, 2},
             {"poisson3d", 3, 0, 3}};

int generated_box_find(const char *name, int32_t rows, int times, generated_box *box) {
  int k = (int)(sizeof boxes / sizeof *boxes) - 1;
  while (k >= 0 && strcmp(name, boxes[k].name)) k--;
  if (k < 0) return 1;
  const double n = (double)rows;
  *box = (generated_box){.rows = (int64_t)rows * times,
                         .width = (int64_t)ceil((boxes[k].dimensions == 2 ? sqrt(n) : cbrt(n)) - 1e-9),
                         .diagonals = boxes[k].diagonals,
                         .poisson = boxes[k].poisson};
  /* In two dimensions the box is a single layer. */
  box->height = boxes[k].dimensions == 2 ? (box->rows - 1) / box->width + 1 : box->width;
  return 0;
}

int generated_box_row(const generated_box *box, int64_t i, int64_t columns[GENERATED_BOX_ENTRIES]) {
  const int64_t w = box->width, h = box->height, layer = w * h, x = i % w, y = i / w % h;
  int count = 0;
  if (i >= layer) columns[count++] = i - layer;
  if (box->diagonals && x > 0 && y > 0) columns[count++] = i - w - 1;
  if (y > 0) columns[count++] = i - w;
  if (x > 0) columns[count++] = i - 1;
  columns[count++] = i;
  if (x < w - 1 && i + 1 < box->rows) columns[count++] = i + 1;
  if (y < h - 1 && i + w < box->rows) columns[count++] = i + w;
  if (box->diagonals && x < w - 1 && y < h - 1 && i + w + 1 < box->rows) columns[count++] = i + w + 1;
  if (i + layer < box->rows) columns[count++] = i + layer;
  return count;
}

/* ---- Rows ---- */

static int allocate(generated_rows *A, int32_t rows, int64_t entries) {
  if (entries < 1 || entries > INT32_MAX) return 2;
  *A = (generated_rows){.rows = rows,
                        .row_offsets = malloc(((size_t)rows + 1) * sizeof *A->row_offsets),
                        .column_indices = malloc((size_t)entries * sizeof *A->column_indices),
                        .values = malloc((size_t)entries * sizeof *A->values)};
  if (A->row_offsets && A->column_indices && A->values) return 0;
  generated_rows_free(A);
  return 2;
}

static void fill_values(const generated_box *box, int64_t i, const int64_t *columns, int count, float *values) {
  double sum = GENERATED_SHIFT;
  int diagonal = 0;
  for (int k = 0; k < count; k++) {
    values[k] = box->poisson ? -1.0f : -generated_weight(i, columns[k]);
    if (columns[k] == i)
      diagonal = k;
    else
      sum -= (double)values[k];
  }
  values[diagonal] = box->poisson ? 2.0f * (float)box->poisson : (float)sum;
}

int generate_rows(generated_rows *A, const generated_box *box, int64_t first, int32_t count) {
  int64_t columns[GENERATED_BOX_ENTRIES], entries = 0;
  for (int64_t i = first; i < first + count; i++) entries += generated_box_row(box, i, columns);
  const int failed = allocate(A, count, entries);
  if (failed) return failed;
  int32_t to = 0;
  for (int32_t k = 0; k < count; k++) {
    A->row_offsets[k] = to;
    const int length = generated_box_row(box, first + k, A->column_indices + to);
    fill_values(box, first + k, A->column_indices + to, length, A->values + to);
    to += length;
  }
  A->row_offsets[count] = to;
  return 0;
}

void generated_rows_free(generated_rows *A) {
  free(A->row_offsets);
  free(A->column_indices);
  free(A->values);
  *A = (generated_rows){0};
}
