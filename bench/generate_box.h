/* The points of a square or a cube in lines, of what it is continued to along its last axis, and of parts of
 * it: the matrices that can be generated row by row. */
#ifndef BENCH_GENERATE_BOX_H
#define BENCH_GENERATE_BOX_H

#include "generate.h"

/* A box of points whose last layer may be partly filled. */
typedef struct generated_box {
  int64_t rows, width, height;
  int diagonals; /* also the neighbours along (1, 1), as a triangulation has */
  int poisson;   /* 0: the values are those of a weighted graph; else the number of dimensions */
} generated_box;

enum { GENERATED_BOX_ENTRIES = 9 };

/* "grid", "laplace2d", "laplace3d", "poisson2d" or "poisson3d": as long along its last axis as `times` squares
 * or cubes of `rows` points. Returns 1 for any other name. */
int generated_box_find(const char *name, int32_t rows, int times, generated_box *box);
/* The columns of row i, ascending; returns how many there are. */
int generated_box_row(const generated_box *box, int64_t i, int64_t columns[GENERATED_BOX_ENTRIES]);

/* Rows that follow each other, with the columns of the whole. */
typedef struct generated_rows {
  int32_t rows;
  int32_t *row_offsets;
  int64_t *column_indices;
  float *values;
} generated_rows;

/* Rows first .. first + count - 1 of a box, with the same values as generate_grown. Returns 0; 2 without memory
 * or with more entries than a 32-bit offset counts. */
int generate_rows(generated_rows *A, const generated_box *box, int64_t first, int32_t count);
void generated_rows_free(generated_rows *A);

#endif
