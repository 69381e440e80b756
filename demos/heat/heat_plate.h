/* A metal plate with round holes, cut into square cells, and the linear system of its steady temperature.
 *
 * Every cell of the plate is one unknown. A free cell has as much heat flowing in as out: the sum over its
 * neighbours j of (x_i - x_j) is 0. The edges of the plate and the rim of a heated hole are held at a
 * temperature: their rows are constrained, and their temperature stands in x. No heat flows across the rim of
 * an insulated hole, which is what happens when nothing is done about it. */
#ifndef HEAT_PLATE_H
#define HEAT_PLATE_H

#include <stdint.h>

enum { plate_holes = 2, hottest = 100 }; /* degrees; the coldest is 0 */

typedef struct plate_hole {
  float x, y, radius; /* in cells, y upwards; cell (i, j) is at x = i, y = j */
  int heated;         /* held at `hottest`, else insulated */
} plate_hole;

typedef struct plate {
  int width, height; /* in cells */
  plate_hole holes[plate_holes];
  int32_t unknowns, held;
  int32_t *index;             /* unknown of cell (i, j) at [j * width + i], or -1 in a hole */
  unsigned char *constrained; /* of every unknown */
  float *start;               /* temperatures to start from: those that are held, and 0 */
  int32_t *row_offsets, *columns;
  float *values;
} plate;

/* `size` cells high and one and a half times as wide. Returns 0, or -1 without memory. */
int plate_create(plate *p, int size);
void plate_destroy(plate *p);

/* The norm of b - A x over the free unknowns, with b = 0, in double precision. At x = start this is the norm of
 * the right-hand side that remains when the held temperatures are eliminated. */
double plate_residual(const plate *p, const float *x);

#endif
