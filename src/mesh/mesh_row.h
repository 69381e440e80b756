/* A row of a mesh operator's matrix, computed on the host from positions. The CPU backend uses it, and
 * preconditioners made from a host copy of the values. The arithmetic is in double until values are stored,
 * because loading the positions takes longer. */
#ifndef TSI_MESH_ROW_H
#define TSI_MESH_ROW_H

#include <math.h>

#include "common/core/core.h"

typedef struct tsi_mesh_rows {
  const int32_t *offsets, *columns;
  const int32_t *previous, *next; /* third vertices of the triangles at each entry; both NULL for a curve */
  const float *x;
  double scale, factor, shortest; /* factor and shortest are in the unit of length given by `scale` */
} tsi_mesh_rows;

/* ---- Triangles ---- */

typedef struct tsi_mesh_vec3 {
  double x, y, z;
} tsi_mesh_vec3;

static inline tsi_mesh_vec3 tsi_mesh_difference(const float *x, int32_t a, int32_t b) {
  const float *p = x + 3 * (size_t)a, *q = x + 3 * (size_t)b;
  return (tsi_mesh_vec3){(double)p[0] - q[0], (double)p[1] - q[1], (double)p[2] - q[2]};
}

static inline double tsi_mesh_dot(tsi_mesh_vec3 u, tsi_mesh_vec3 v) {
  return u.x * v.x + u.y * v.y + u.z * v.z;
}

/* |u x v|: twice the area of a triangle. */
static inline double tsi_mesh_cross_length(tsi_mesh_vec3 u, tsi_mesh_vec3 v) {
  const tsi_mesh_vec3 n = {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
  return sqrt(tsi_mesh_dot(n, n));
}

/* The cotangent of the angle at b; see include/texsolve/mesh.h for its floor. */
static inline double tsi_mesh_cotangent(const float *x, int32_t a, int32_t b, int32_t c) {
  const tsi_mesh_vec3 u = tsi_mesh_difference(x, a, b), v = tsi_mesh_difference(x, c, b),
                      w = tsi_mesh_difference(x, a, c);
  const double least = 1e-3 * (tsi_mesh_dot(u, u) + tsi_mesh_dot(v, v) + tsi_mesh_dot(w, w));
  const double sine = tsi_mesh_cross_length(u, v), over = sine > least ? sine : least;
  return over != 0 ? tsi_mesh_dot(u, v) / over : 0;
}

/* ---- Rows: entries, with the diagonal among them ---- */

typedef struct tsi_mesh_entry {
  float value; /* a_ij */
  double mass; /* the entry's contribution to m_i */
} tsi_mesh_entry;

static inline tsi_mesh_entry tsi_mesh_surface_entry(const tsi_mesh_rows *rows, int32_t i, int32_t j,
                                                    int32_t e) {
  const float *x = rows->x;
  const int32_t p = rows->previous[e], n = rows->next[e];
  /* Both entries of an edge use the same order, so their bits are equal. */
  const double sum = i < j ? tsi_mesh_cotangent(x, i, p, j) + tsi_mesh_cotangent(x, i, n, j)
                           : tsi_mesh_cotangent(x, j, n, i) + tsi_mesh_cotangent(x, j, p, i);
  const double area = tsi_mesh_cross_length(tsi_mesh_difference(x, p, i), tsi_mesh_difference(x, j, i));
  return (tsi_mesh_entry){(float)(-rows->factor * sum), 2 * rows->scale * rows->scale * area};
}

static inline tsi_mesh_entry tsi_mesh_curve_entry(const tsi_mesh_rows *rows, int32_t i, int32_t j) {
  const tsi_mesh_vec3 u = tsi_mesh_difference(rows->x, i, j);
  const double length = rows->scale * sqrt(tsi_mesh_dot(u, u));
  return (tsi_mesh_entry){(float)(-rows->factor / (length > rows->shortest ? length : rows->shortest)), length};
}

/* Writes the values of row i. */
static inline void tsi_mesh_fill_row(const tsi_mesh_rows *rows, int32_t i, float *values) {
  const int32_t begin = rows->offsets[i], end = rows->offsets[i + 1];
  if (begin == end) return;
  int32_t diagonal = begin;
  double sum = 0;
  for (int32_t e = begin; e < end; e++) {
    const int32_t j = rows->columns[e];
    if (j == i) {
      diagonal = e;
      continue;
    }
    const tsi_mesh_entry a =
        rows->next ? tsi_mesh_surface_entry(rows, i, j, e) : tsi_mesh_curve_entry(rows, i, j);
    values[e] = a.value;
    sum += a.mass - a.value;
  }
  values[diagonal] = sum == 0 ? 1 : (float)sum;
}

#endif
