/* The roots of GMRES's residual polynomial, and the corresponding smoothing steps.
 *
 * By Arnoldi's relation the basis vector q_j is p_j(B) q_0,
 *
 *   p_0 = 1,  h_j+1,j p_j+1(z) = z p_j(z) - sum of h_ij p_i(z),   r(z) = 1 - z sum of y_j p_j(z)
 *
 * This evaluates r and r' anywhere without coefficients of powers of z. All roots are found simultaneously
 * (Aberth 1973, "Iteration methods for finding all zeros of a polynomial simultaneously"):
 *
 *   z_k = z_k - w / (1 - w sum of 1 / (z_k - z_l)),  w = r(z_k) / r'(z_k)
 *
 * r is the product of 1 - z / root over its roots. A real root is the step x = x + 1/root D^-1 (b - A x). A
 * pair c, conj c is two steps with one direction, d' = D^-1 r' + beta d, both of length 1 / |c|:
 *
 *   beta = 2 re c / |c| - 2
 *
 * They are in Leja's order: each is the farthest from the previous ones by the product of distances, so that
 * all partial products are moderate (Reichel 1990, "Newton interpolation at Leja points"). */
#include <math.h>

#include "amg.h"

enum { ROUNDS = 200 };
static const double precise = 1e-12, nearly_real = 1e-7;

typedef struct number {
  double re, im;
} number;

static number subtract(number a, number b) {
  return (number){a.re - b.re, a.im - b.im};
}
static number multiply(number a, number b) {
  return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
static number scaled(number a, double factor) {
  return (number){a.re * factor, a.im * factor};
}
static double square(number a) {
  return a.re * a.re + a.im * a.im;
}
static double size(number a) {
  return sqrt(square(a));
}
static number divide(number a, number b) {
  return scaled(multiply(a, (number){b.re, -b.im}), 1 / square(b));
}

/* w = r(z) / r'(z) */
static number newton(const double *h, const double *y, int m, number z) {
  number p[TSI_AMG_DEGREE] = {{1, 0}}, slope[TSI_AMG_DEGREE] = {{0, 0}};
  number r = {0, 0}, of_r = {0, 0};
  for (int j = 0; j < m; j++) {
    r = (number){r.re + y[j] * p[j].re, r.im + y[j] * p[j].im};
    of_r = (number){of_r.re + y[j] * slope[j].re, of_r.im + y[j] * slope[j].im};
    if (j + 1 == m) break;
    number next = multiply(z, p[j]), of_next = multiply(z, slope[j]);
    of_next = (number){of_next.re + p[j].re, of_next.im + p[j].im};
    for (int i = 0; i <= j; i++) {
      next = subtract(next, scaled(p[i], h[i * TSI_AMG_DEGREE + j]));
      of_next = subtract(of_next, scaled(slope[i], h[i * TSI_AMG_DEGREE + j]));
    }
    const double inverse = 1 / h[(j + 1) * TSI_AMG_DEGREE + j];
    p[j + 1] = scaled(next, inverse);
    slope[j + 1] = scaled(of_next, inverse);
  }
  const number product = multiply(z, r), of_product = multiply(z, of_r);
  return divide((number){1 - product.re, -product.im}, (number){-r.re - of_product.re, -r.im - of_product.im});
}

/* Initial values on a circle of the size of H; rotations by (3 + 4i)/5 never coincide. */
static void spread(const double *h, int m, number *roots) {
  double sum = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) sum += h[i * TSI_AMG_DEGREE + j] * h[i * TSI_AMG_DEGREE + j];
  number at = scaled((number){0.96, 0.28}, sqrt(sum / m));
  for (int k = 0; k < m; k++) {
    roots[k] = at;
    at = multiply(at, (number){0.6, 0.8});
  }
}

/* Returns the largest relative change of a root. */
static double improve(const double *h, const double *y, int m, number *roots) {
  double largest = 0;
  for (int k = 0; k < m; k++) {
    const number w = newton(h, y, m, roots[k]);
    number sum = {0, 0};
    for (int l = 0; l < m; l++) {
      if (l == k) continue;
      const number inverse = divide((number){1, 0}, subtract(roots[k], roots[l]));
      sum = (number){sum.re + inverse.re, sum.im + inverse.im};
    }
    const number change = divide(w, subtract((number){1, 0}, multiply(w, sum)));
    roots[k] = subtract(roots[k], change);
    const double relative = size(change) / size(roots[k]);
    if (!(relative <= largest)) largest = relative; /* also if NaN */
  }
  return largest;
}

static int is_real(number root) {
  return fabs(root.im) <= nearly_real * fabs(root.re);
}

/* Keeps real roots and from each pair the one above the axis; returns their number, or 0 if a pair is
 * incomplete. */
static int keep_upper(number *roots, int m) {
  int kept = 0, above = 0, below = 0;
  for (int k = 0; k < m; k++) {
    const int real = is_real(roots[k]);
    above += !real && roots[k].im > 0;
    below += !real && roots[k].im < 0;
    if (real) roots[k].im = 0;
    if (roots[k].im >= 0) roots[kept++] = roots[k];
  }
  return above == below ? kept : 0;
}

/* The product of distances from the previous roots, in units of `unit`; for the first, its size. */
static double distance(const number *roots, int before, number root, double unit) {
  double product = before == 0 ? size(root) / unit : 1;
  for (int k = 0; k < before; k++) {
    product *= size(subtract(root, roots[k])) / unit;
    if (roots[k].im > 0) product *= size(subtract(root, (number){roots[k].re, -roots[k].im})) / unit;
  }
  return product;
}

static void order(number *roots, int count) {
  double unit = 0;
  for (int k = 0; k < count; k++) unit = fmax(unit, size(roots[k]));
  for (int k = 0; k < count; k++) {
    int best = k;
    for (int l = k + 1; l < count; l++)
      if (distance(roots, k, roots[l], unit) > distance(roots, k, roots[best], unit)) best = l;
    const number chosen = roots[best];
    roots[best] = roots[k];
    roots[k] = chosen;
  }
}

int tsi_amg_find_roots(const double *h, const double *y, int m, tsi_amg_polynomial *polynomial) {
  number roots[TSI_AMG_DEGREE];
  double change = 1;
  spread(h, m, roots);
  for (int round = 0; round < ROUNDS && change > precise; round++) change = improve(h, y, m, roots);
  if (!(change <= nearly_real)) return 0;
  const int count = keep_upper(roots, m);
  if (count == 0) return 0;
  order(roots, count);
  polynomial->degree = 0;
  for (int k = 0; k < count; k++) {
    const double length = size(roots[k]);
    const int pair = roots[k].im > 0;
    polynomial->steps[polynomial->degree++] = (tsi_polynomial_step){pair ? 1 / length : 1 / roots[k].re, 0};
    if (pair)
      polynomial->steps[polynomial->degree++] = (tsi_polynomial_step){1 / length, 2 * roots[k].re / length - 2};
  }
  return 1;
}
