/* The values of a stencil row by row, each row as nine arrays, and the facts found in a row by loops over them.
 * Host code only. */
#ifndef TSI_STENCIL_ROWS_H
#define TSI_STENCIL_ROWS_H

#include "stencil.h"

/* Marks of a point. EQUATION: it has an equation. WEST etc.: it is connected with this neighbour, because
 * either row has a coefficient for the other. SINGULAR: its row maps constants to 0 and refers to no given
 * value. */
enum {
  TSI_MARK_EQUATION = 1,
  TSI_MARK_WEST = 2,
  TSI_MARK_SOUTH_WEST = 4,
  TSI_MARK_SOUTH = 8,
  TSI_MARK_SOUTH_EAST = 16,
  TSI_MARK_SINGULAR = 32,
};

/* Row j and its neighbours. Coefficient k of point i is row[k * stride + i], with i from -1 to the width.
 * Beyond a boundary that is not periodic it is 0. */
typedef struct tsi_stencil_rows {
  const tsi_grid *grid;
  const float *values;
  int32_t j;
  size_t stride;
  float *below, *row, *above;
  int32_t *marks; /* of the points in row j */
  double *sizes;  /* |a_0| + ... + |a_8| of each */
  double *excess; /* of each; not positive if the coefficients add up to 0 within rounding */
  void *blocks[3];
} tsi_stencil_rows;

typedef struct tsi_row_facts {
  int32_t nonzeros, longest, constrained;
  double size; /* the maximum of its input and the sizes of the row */
  int corners;
  int unsymmetric; /* some coefficients differ from their counterparts, possibly only by rounding */
} tsi_row_facts;

/* Starts before the first row: tsi_stencil_rows_advance moves to row 0. */
ts_status tsi_stencil_rows_create(ts_context *context, const tsi_grid *grid, const float *values,
                                  tsi_stencil_rows *rows);
void tsi_stencil_rows_free(ts_context *context, tsi_stencil_rows *rows);
/* Moves to the next row; in a periodic dimension the first row follows the last. */
void tsi_stencil_rows_advance(tsi_stencil_rows *rows);
/* Whether the row above, loaded last, may have an error. */
int tsi_stencil_rows_suspect(const tsi_stencil_rows *rows);
void tsi_stencil_rows_survey(tsi_stencil_rows *rows, tsi_row_facts *facts);
/* Sets the marks of row j, after its survey. */
void tsi_stencil_rows_mark(tsi_stencil_rows *rows);

#endif
