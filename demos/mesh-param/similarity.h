/* Similarities of the plane: turned, scaled and moved, not turned over. */
#ifndef SIMILARITY_H
#define SIMILARITY_H

#include "charts.h"

typedef struct similarity {
  double a, b, move[2]; /* (u, v) becomes (a u - b v, b u + a v) + move */
} similarity;

/* What brings places nearest to others, by least squares: `count` of them, two numbers each. One place, or
 * places that are all the same, only move. */
similarity similarity_fit(const double *from, const double *to, int32_t count);
/* First `first`, then `second`. */
similarity similarity_then(const similarity *first, const similarity *second);
/* Of one that does not shrink everything to a point. */
similarity similarity_inverse(const similarity *s);
/* To `count` places. */
void similarity_apply(const similarity *s, double *uv, int32_t count);

/* The coordinates in which a chart is solved for: the middle of its pinned vertices is 0, and the farthest of
 * them is 1 away. There a residual means the same wherever pins are and however large the UV map is. Returns
 * what brings these coordinates back to those of `uv`. */
similarity similarity_of_pins(const chart *at, const unsigned char *pinned, const double *uv);

#endif
