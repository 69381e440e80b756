#include "charts.h"

#include <math.h>
#include <stdlib.h>

#include "triangle.h"

/* A triangle is degenerate if its area is below this fraction of its squared size. */
static const double no_area = 1e-10;

/* Singular values of the matrix (a b; c d). The second is negative if the map reverses orientation. */
static void singular_values(double a, double b, double c, double d, double s[2]) {
  const double same = hypot(a + d, c - b), other = hypot(a - d, b + c);
  s[0] = 0.5 * (same + other);
  s[1] = 0.5 * (same - other);
}

static double image_size(const double *p, const double *q, const double *r) {
  return (q[0] - p[0]) * (q[0] - p[0]) + (q[1] - p[1]) * (q[1] - p[1]) + (r[0] - p[0]) * (r[0] - p[0]) +
         (r[1] - p[1]) * (r[1] - p[1]);
}

static void chart_areas(const mesh *m, const charts *c, const double *uv, const chart *at, double *area,
                        double *image) {
  *area = *image = 0;
  for (int32_t i = at->first_triangle; i < at->first_triangle + at->triangles; i++) {
    const int32_t *corner = c->corner + 3 * (size_t)c->order[i];
    *area += triangle_flat(m, c->order[i]).double_area;
    *image += fabs(triangle_double_area(uv + 2 * (size_t)corner[0], uv + 2 * (size_t)corner[1],
                                        uv + 2 * (size_t)corner[2]));
  }
}

/* Sums over triangles. */
typedef struct sums {
  double weight, angle, area_weight, area;
} sums;

static void measure(const mesh *m, const charts *c, const double *uv, int32_t t, double unit, distortion *d,
                    sums *s) {
  const flat_triangle f = triangle_flat(m, t);
  const int32_t *corner = c->corner + 3 * (size_t)t;
  const double *p = uv + 2 * (size_t)corner[0], *q = uv + 2 * (size_t)corner[1],
               *r = uv + 2 * (size_t)corner[2];
  const double image = triangle_double_area(p, q, r);
  d->angle[t] = INFINITY;
  d->area[t] = 0;
  if (!(f.double_area > no_area * f.squares)) return;
  if (!(fabs(image) > no_area * image_size(p, q, r))) {
    d->collapsed++;
    return;
  }
  double derivative[2][2], value[2];
  for (int k = 0; k < 2; k++) {
    derivative[k][0] = (q[k] - p[k]) / f.x[1];
    derivative[k][1] = (r[k] - p[k] - derivative[k][0] * f.x[2]) / f.y[2];
  }
  singular_values(derivative[0][0], derivative[0][1], derivative[1][0], derivative[1][1], value);
  const double angle = value[0] / fabs(value[1]), area = image / f.double_area * unit;
  d->angle[t] = (float)angle;
  d->area[t] = (float)area;
  s->weight += f.double_area;
  s->angle += f.double_area * angle;
  d->angle_max = fmax(d->angle_max, angle);
  if (image < 0) {
    if (d->flipped++ == 0) d->first_flipped = t;
    return;
  }
  s->area_weight += f.double_area;
  s->area += f.double_area * fmax(area, 1 / area);
  d->area_least = fmin(d->area_least, area);
  d->area_most = fmax(d->area_most, area);
}

int distortion_find(const mesh *m, const charts *c, const double *uv, distortion *d,
                    char message[MESH_MESSAGE]) {
  sums s = {0};
  *d = (distortion){.angle = malloc((size_t)m->triangle_count * sizeof *d->angle),
                    .area = malloc((size_t)m->triangle_count * sizeof *d->area),
                    .area_least = INFINITY,
                    .first_flipped = -1};
  if (!d->angle || !d->area) {
    distortion_free(d);
    return mesh_fail(message, "out of memory for the distortion of %d triangles", (int)m->triangle_count);
  }
  for (int32_t k = 0; k < c->count; k++) {
    const chart *at = &c->chart[k];
    double area, image;
    chart_areas(m, c, uv, at, &area, &image);
    for (int32_t i = at->first_triangle; i < at->first_triangle + at->triangles; i++)
      measure(m, c, uv, c->order[i], image > 0 ? area / image : 1, d, &s);
  }
  d->angle_mean = s.weight > 0 ? s.angle / s.weight : NAN;
  d->area_mean = s.area_weight > 0 ? s.area / s.area_weight : NAN;
  if (!(s.weight > 0)) d->angle_max = NAN;
  if (!(s.area_weight > 0)) d->area_least = d->area_most = NAN;
  return 0;
}

void distortion_free(distortion *d) {
  free(d->angle);
  free(d->area);
  *d = (distortion){0};
}
