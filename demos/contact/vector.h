/* Vectors with three components. */
#ifndef VECTOR_H
#define VECTOR_H

#include <math.h>

static inline double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross(const double a[3], const double b[3], double out[3]) {
  const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

/* sum += factor v */
static inline void add_scaled(double sum[3], double factor, const double v[3]) {
  for (int k = 0; k < 3; k++) sum[k] += factor * v[k];
}

static inline void subtract(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

static inline void multiply(const double rows[3][3], const double v[3], double out[3]) {
  const double x = dot(rows[0], v), y = dot(rows[1], v), z = dot(rows[2], v);
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

#endif
