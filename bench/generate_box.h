/* The points of a square or cube in lines, its extension along the last axis, and parts of it. These matrices
 * can be generated row by row. */
#ifndef BENCH_GENERATE_BOX_H
#define BENCH_GENERATE_BOX_H

#include "generate.h"

/* A box of points. The last layer may be partly filled. */
typedef struct generated_box {
  int64_t rows, width, height;
  int diagonals; /* also neighbours along (1, 1), as in a triangulation */
  int poisson;   /* 0: values of a weighted graph; otherwise the number of dimensions */
} generated_box;

enum { GENERATED_BOX_ENTRIES = 9 };

/* "grid", "laplace2d", "laplace3d", "poisson2d" or "poisson3d", extended along the last axis to `times` squares
 * or cubes of `rows` points. Returns 1 for any other name. */
int generated_box_find(const char *name, int32_t rows, int times, generated_box *box);
/* The columns of row i, ascending; returns their number. */
int generated_box_row(const generated_box *box, int64_t i, int64_t columns[GENERATED_BOX_ENTRIES]);

/* Consecutive rows, with the columns of the whole matrix. */
typedef struct generated_rows {
  int32_t rows;
  int32_t *row_offsets;
  int64_t *column_indices;
  float *values;
} generated_rows;

/* Rows first .. first + count - 1 of a box, with the values of generate_grown. Returns 0, or 2 if memory is
 * exhausted or the entries exceed a 32-bit offset. */
int generate_rows(generated_rows *A, const generated_box *box, int64_t first, int32_t count);
void generated_rows_free(generated_rows *A);

#endif
