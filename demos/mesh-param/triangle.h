/* One triangle of a mesh in its own plane, in double precision. Internal. */
#ifndef TRIANGLE_H
#define TRIANGLE_H

#include <math.h>

#include "mesh.h"

/* The corners are (0, 0), (x[1], 0) and (x[2], y[2]), counterclockwise seen from outside. */
typedef struct flat_triangle {
  double x[3], y[3];
  double double_area, squares; /* double_area: twice the area; squares: sum of the squared edges */
} flat_triangle;

static inline flat_triangle triangle_flat(const mesh *m, int32_t t) {
  const double *p = m->positions + 3 * (size_t)m->triangles[3 * (size_t)t],
               *q = m->positions + 3 * (size_t)m->triangles[3 * (size_t)t + 1],
               *r = m->positions + 3 * (size_t)m->triangles[3 * (size_t)t + 2];
  const double u[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]}, v[3] = {r[0] - p[0], r[1] - p[1], r[2] - p[2]};
  const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
  const double uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2], vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2],
               uv = u[0] * v[0] + u[1] * v[1] + u[2] * v[2], length = sqrt(uu);
  flat_triangle f = {{0}, {0}, sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), 2 * (uu + vv - uv)};
  f.x[1] = length;
  f.x[2] = length > 0 ? uv / length : 0;
  f.y[2] = length > 0 ? f.double_area / length : sqrt(vv);
  return f;
}

/* Twice the signed area of a triangle in the plane. */
static inline double triangle_double_area(const double *p, const double *q, const double *r) {
  return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
}

#endif
