/* Problems with a known solution: u is chosen; g and the boundary values follow from it. */
#include "poisson.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* A function of one coordinate with its first two derivatives. */
typedef struct profile {
  double f, d, dd;
} profile;

/* u is a product of two of these. It is periodic only if required, and not 0 on boundaries. */
static profile unknown(double s, double length, int periodic) {
  profile p;
  if (periodic) {
    const double w = 2 * pi / length;
    p.f = sin(w * s) + 0.5 * cos(2 * w * s + 1);
    p.d = w * cos(w * s) - w * sin(2 * w * s + 1);
    p.dd = -w * w * sin(w * s) - 2 * w * w * cos(2 * w * s + 1);
    return p;
  }
  const double w = 2.2 / length;
  p.f = cos(w * s + 0.3) + 0.5 * w * w * s * s;
  p.d = -w * sin(w * s + 0.3) + w * w * s;
  p.dd = -w * w * cos(w * s + 0.3) + w * w;
  return p;
}

static profile wave(double s, double length, double phase) {
  const double w = 2 * pi / length;
  return (profile){sin(w * s + phase), w * cos(w * s + phase), -w * w * sin(w * s + phase)};
}

double poisson_position(const ts_poisson_desc *desc, int32_t index) {
  return desc->spacing * (index + (desc->centring == TS_CENTRING_CELL ? 0.5 : 0.0));
}

double poisson_length(const ts_poisson_desc *desc, int32_t count, int periodic) {
  return desc->spacing * (count - (desc->centring == TS_CENTRING_VERTEX && !periodic));
}

void poisson_manufactured(const ts_poisson_desc *desc, poisson_problem_name name, double x, double y,
                          manufactured *m) {
  const int periodic_x = desc->left == TS_BOUNDARY_PERIODIC, periodic_y = desc->bottom == TS_BOUNDARY_PERIODIC;
  const double width = poisson_length(desc, desc->width, periodic_x);
  const double height = poisson_length(desc, desc->height, periodic_y);
  const profile X = unknown(x, width, periodic_x), Y = unknown(y, height, periodic_y);
  double k = 1, k_x = 0, k_y = 0;
  if (name == PROBLEM_VARIABLE) {
    const profile a = wave(x, width, 0.4), b = wave(y, height, 1.1);
    k += 0.5 * a.f * b.f;
    k_x = 0.5 * a.d * b.f;
    k_y = 0.5 * a.f * b.d;
  }
  m->k = k;
  m->u = X.f * Y.f;
  m->flux_x = k * X.d * Y.f;
  m->flux_y = k * X.f * Y.d;
  m->g = -(k_x * X.d * Y.f + k_y * X.f * Y.d + k * (X.dd * Y.f + X.f * Y.dd)) + desc->uniform_sigma * m->u;
}
