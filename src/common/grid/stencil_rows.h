/* The values of a stencil row by row, each row as nine arrays, and what is found in a row by loops over them.
 * Host code only. */
#ifndef TSI_STENCIL_ROWS_H
#define TSI_STENCIL_ROWS_H

#include "stencil.h"

/* Of a point: it has an equation; it and its neighbour are connected, as either row has a coefficient for the
 * other; its row leaves constants alone, where nothing is given. */
enum {
  TSI_MARK_EQUATION = 1,
  TSI_MARK_WEST = 2,
  TSI_MARK_SOUTH_WEST = 4,
  TSI_MARK_SOUTH = 8,
  TSI_MARK_SOUTH_EAST = 16,
  TSI_MARK_SINGULAR = 32,
};

/* Row j and its neighbours. Coefficient k of point i is row[k * stride + i], i from -1 to the width: what lies
 * beyond a boundary that is not periodic is 0 there. */
typedef struct tsi_stencil_rows {
  const tsi_grid *grid;
  const float *values;
  int32_t j;
  size_t stride;
  float *below, *row, *above;
  int32_t *marks; /* of the points of row j */
  double *sizes;  /* their |a_0| + ... + |a_8| */
  double *excess; /* not positive where their coefficients add up to 0 but for rounding */
  void *blocks[3];
} tsi_stencil_rows;

typedef struct tsi_row_facts {
  int32_t nonzeros, longest, constrained;
  double size; /* the largest of the row's, or `size` as it was */
  int corners;
  int unsymmetric; /* there are coefficients that differ from their counterparts, perhaps by rounding only */
} tsi_row_facts;

/* Before the first row: tsi_stencil_rows_advance goes to row 0. */
ts_status tsi_stencil_rows_create(ts_context *context, const tsi_grid *grid, const float *values,
                                  tsi_stencil_rows *rows);
void tsi_stencil_rows_free(ts_context *context, tsi_stencil_rows *rows);
/* To the next row; behind the last one of a periodic dimension comes the first. */
void tsi_stencil_rows_advance(tsi_stencil_rows *rows);
/* Whether there may be something wrong in the row above, which was loaded last. */
int tsi_stencil_rows_suspect(const tsi_stencil_rows *rows);
void tsi_stencil_rows_survey(tsi_stencil_rows *rows, tsi_row_facts *facts);
/* The marks of row j, after the survey of the row. */
void tsi_stencil_rows_mark(tsi_stencil_rows *rows);

#endif
