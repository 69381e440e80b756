/* Convection-diffusion -k lap u + w . grad u on a square of n x n points with u = 0 around it. It is multiplied
 * by h^2 / k, so that only the cell Peclet number |w| h / k matters. The matrices are nonsymmetric. */
#include <math.h>
#include <stdlib.h>

#include "family.h"

/* The wind times h / k at a place in the square from -1 to 1. */
static void find_wind(const convection *c, double x, double y, double *wind) {
  wind[0] = c->peclet * (c->is_circulating ? y * (1 - x * x) : cos(0.5));
  wind[1] = c->peclet * (c->is_circulating ? -x * (1 - y * y) : sin(0.5));
}

static int32_t point(int32_t n, int32_t x, int32_t y) {
  return x < 0 || y < 0 || x >= n || y >= n ? -1 : y * n + x;
}

/* ---- Differences ---- */

/* Along an axis, with the component w of the wind. */
static void add_axis(assembly *list, const convection *c, int32_t row, int32_t before, int32_t after,
                     double w) {
  const double up = c->scheme == CONVECTION_UPWIND ? fabs(w) : 0;
  assembly_add(list, row, before, -1 - (w + up) / 2);
  assembly_add(list, row, after, -1 + (w - up) / 2);
  assembly_add(list, row, row, 2 + up);
}

static void add_differences(assembly *list, const convection *c, int32_t n) {
  for (int32_t y = 0; y < n; y++)
    for (int32_t x = 0; x < n; x++) {
      double wind[2];
      find_wind(c, 2.0 * (x + 1) / (n + 1) - 1, 2.0 * (y + 1) / (n + 1) - 1, wind);
      const int32_t row = point(n, x, y);
      add_axis(list, c, row, point(n, x - 1, y), point(n, x + 1, y), wind[0]);
      add_axis(list, c, row, point(n, x, y - 1), point(n, x, y + 1), wind[1]);
    }
}

/* ---- Bilinear elements with streamline diffusion (Brooks and Hughes 1982) ---- */

/* tau = (coth a - 1 / a) / (2 |w|), a = |w| / 2, in cells of length 1 */
static double find_tau(const double *wind) {
  const double speed = sqrt(wind[0] * wind[0] + wind[1] * wind[1]), a = speed / 2;
  return a < 1e-3 ? 1.0 / 12 : (1 / tanh(a) - 1 / a) / (2 * speed);
}

static void add_point(double element[4][4], const double *wind, double x, double y) {
  const double tau = find_tau(wind);
  const double u[4] = {(1 - x) * (1 - y), x * (1 - y), (1 - x) * y, x * y};
  const double dx[4] = {y - 1, 1 - y, -y, y}, dy[4] = {x - 1, -x, 1 - x, x};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      const double along_i = wind[0] * dx[i] + wind[1] * dy[i], along_j = wind[0] * dx[j] + wind[1] * dy[j];
      element[i][j] += (dx[i] * dx[j] + dy[i] * dy[j] + (u[i] + tau * along_i) * along_j) / 4;
    }
}

static void add_elements(assembly *list, const convection *c, int32_t n) {
  static const double places[2] = {0.21132486540518711775, 0.78867513459481288225}; /* Gauss */
  for (int32_t y = 0; y <= n; y++)
    for (int32_t x = 0; x <= n; x++) {
      const int32_t nodes[4] = {point(n, x - 1, y - 1), point(n, x, y - 1), point(n, x - 1, y), point(n, x, y)};
      double element[4][4] = {{0}}, wind[2];
      find_wind(c, (2.0 * x + 1) / (n + 1) - 1, (2.0 * y + 1) / (n + 1) - 1, wind);
      for (int k = 0; k < 4; k++) add_point(element, wind, places[k % 2], places[k / 2]);
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) assembly_add(list, nodes[i], nodes[j], element[i][j]);
    }
}

int generate_convection(generated_problem *p, const convection *c, int32_t rows) {
  const int32_t n = (int32_t)floor(sqrt((double)rows));
  assembly list = {0};
  if (n < 2) return 1;
  if (c->scheme == CONVECTION_ELEMENTS)
    add_elements(&list, c, n);
  else
    add_differences(&list, c, n);
  return assembly_finish(&list, n * n, 1, 0, p);
}
