/* Complementarity problems of every scale: q and M from 1e-30 to 1e30, checked on the host in long double
 * without cancellation. TS_OK is never wrong, z is finite, and well-scaled problems converge. */
#include <float.h>
#include <math.h>
#include <texsolve/lcp.h>

#include "helpers.h"
#include "lcp_contacts.h"
#include "lcp_samples.h"

static ts_context *context;

enum { most = 48 };

/* If H is not NULL, M is also H I H^T / mass with `bodies` bodies. All numbers are floats. */
typedef struct problem {
  const char *name;
  int dimension;
  int32_t n, bodies;
  ts_lcp_storage storage;
  int is_boxed, has_factors;
  double M[most * most], H[most * most], mass, q[most], lower[most], upper[most], friction[most];
} problem;

static double as_float(double value) {
  return (double)(float)value;
}

/* ---- Problems ---- */

static problem unknowns(const char *name, int32_t n, ts_lcp_storage storage, int is_boxed) {
  problem p = {.name = name, .dimension = 1, .n = n, .storage = storage, .is_boxed = is_boxed};
  for (int32_t i = 0; i < n; i++) {
    p.q[i] = i % 3 ? -1 - 0.125 * (i % 5) : 0.75;
    for (int32_t j = 0; j < n; j++)
      p.M[i * n + j] = i == j ? 3 : storage == TS_LCP_STORAGE_SPARSE ? -(double)(abs(i - j) == 1) : -0.0625;
  }
  return p;
}

static problem contacts(const char *name, int dimension, ts_lcp_storage storage, double friction,
                        unsigned seed) {
  lcp_contacts c = lcp_contacts_random(dimension, 8, friction, seed);
  problem p = {.name = name, .dimension = dimension, .n = c.n, .storage = storage};
  for (int32_t i = 0; i < c.n * c.n; i++) p.M[i] = c.matrix[i];
  for (int32_t i = 0; i < c.n; i++) p.M[i * c.n + i] += 1; /* makes all problems converge fast */
  for (int32_t i = 0; i < c.n; i++) p.q[i] = c.q[i];
  for (int32_t k = 0; k < c.contacts; k++) p.friction[k] = c.friction[k];
  lcp_contacts_free(&c);
  return p;
}

/* A tower: contact c is between bodies c and c + 1, with one unknown each. */
static problem tower(void) {
  problem p = {.name = "factors", .dimension = 1, .n = 10, .bodies = 10, .has_factors = 1, .mass = 1};
  p.storage = TS_LCP_STORAGE_SPARSE;
  for (int32_t c = 0; c < p.n; c++) {
    p.q[c] = -1;
    p.H[c * p.bodies + c] = 1;
    if (c > 0) p.H[c * p.bodies + c - 1] = -0.5;
  }
  for (int32_t i = 0; i < p.n; i++)
    for (int32_t j = 0; j < p.n; j++)
      for (int32_t b = 0; b < p.bodies; b++) p.M[i * p.n + j] += p.H[i * p.bodies + b] * p.H[j * p.bodies + b];
  return p;
}

/* Scales M and q, and bounds by the scale of z. */
static problem scaled(const problem *p, double m, double q) {
  problem s = *p;
  const double z = q / m;
  for (int32_t i = 0; i < s.n * s.n; i++) s.M[i] = as_float(p->M[i] * m);
  for (int32_t i = 0; i < s.n; i++) {
    s.q[i] = as_float(p->q[i] * q);
    s.lower[i] = p->is_boxed ? as_float(-0.25 * z) : 0;
    s.upper[i] = p->is_boxed ? as_float(0.5 * z) : INFINITY;
  }
  s.mass = as_float(p->mass * m);
  return s;
}

/* ---- The check ---- */

static long double velocity(const problem *p, const double *z, int32_t i) {
  long double sum = p->q[i];
  if (p->has_factors) { /* the factors that the library gets, because their products are not floats */
    for (int32_t b = 0; b < p->bodies; b++)
      for (int32_t j = 0; j < p->n; j++)
        sum += (long double)p->H[i * p->bodies + b] * p->mass * p->H[j * p->bodies + b] * z[j];
    return sum;
  }
  for (int32_t j = 0; j < p->n; j++) sum += (long double)p->M[i * p->n + j] * z[j];
  return sum;
}

/* r - P(r - v), or, if r is larger than v, the projection v - P'(v - r) onto the dual cone. */
static long double contact_part(const problem *p, const double *r, const long double *u, double mu) {
  const long double U = p->dimension == 2 ? fabsl(u[1]) : hypotl(u[1], u[2]);
  long double y[3] = {r[0] - u[0] - mu * U, 0, 0}, map[3] = {u[0] + mu * U, 0, 0}, T, e;
  for (int k = 1; k < p->dimension; k++) y[k] = r[k] - u[k], map[k] = u[k];
  T = hypotl(y[1], y[2]);
  e = T - mu * y[0];
  if (mu * T <= -y[0]) {
    for (int k = 0; k < 3; k++) map[k] = k < p->dimension ? r[k] : 0;
  } else if (e > 0) { /* outside the cone by e / sqrt(1 + mu^2) */
    map[0] -= mu * e / (1 + (long double)mu * mu);
    for (int k = 1; k < 3; k++) map[k] += e / (1 + (long double)mu * mu) * y[k] / T;
  }
  return hypotl(map[0], hypotl(map[1], map[2]));
}

static long double true_residual(const problem *p, const double *z) {
  long double sum = 0, w[3];
  for (int32_t i = 0; i < p->n; i += p->dimension) {
    for (int k = 0; k < p->dimension; k++) w[k] = velocity(p, z, i + k);
    if (p->dimension > 1)
      sum = hypotl(sum, contact_part(p, z + i, w, p->friction[i / p->dimension]));
    else
      sum = hypotl(sum, fmaxl(z[i] - (long double)p->upper[i], fminl(w[0], z[i] - (long double)p->lower[i])));
  }
  return sum;
}

/* ---- Solves ---- */

static ts_lcp *make(const problem *p, ts_precision precision) {
  int32_t offsets[most + 1] = {0}, columns[most * most], count = 0;
  double values[most * most], mass[most];
  const size_t n = (size_t)p->n;
  for (int32_t i = 0; i < p->n; i++) {
    for (int32_t b = 0; b < p->bodies; b++)
      if (p->H[i * p->bodies + b] != 0) columns[count] = b, values[count++] = p->H[i * p->bodies + b];
    offsets[i + 1] = count;
  }
  for (int32_t b = 0; b < p->bodies; b++) mass[b] = p->mass;
  const ts_csr H = ts_host_csr(p->n, p->bodies, offsets, columns, values);
  const ts_lcp_desc desc = {.size = p->n,
                            .dimension = p->dimension,
                            .matrix = ts_host(p->has_factors ? NULL : p->M, n * n),
                            .jacobian = p->has_factors ? &H : NULL,
                            .inverse_mass = ts_host(p->has_factors ? mass : NULL, (size_t)p->bodies),
                            .storage = p->storage,
                            .lower = ts_host(p->is_boxed ? p->lower : NULL, n),
                            .upper = ts_host(p->is_boxed ? p->upper : NULL, n),
                            .friction =
                                ts_host(p->dimension > 1 ? p->friction : NULL, n / (size_t)p->dimension),
                            .precision = precision};
  ts_lcp *lcp = NULL;
  CHECK_OK(context, ts_lcp_create(context, &desc, &lcp));
  return lcp;
}

/* `start`: the start of z. */
static void solve(const problem *p, ts_lcp *lcp, ts_precision precision, double start, double rtol,
                  int converges) {
  const int parts = precision == TS_PRECISION_DOUBLE ? 2 : 1;
  double first[most], norm_q = 0, size = 0, again = NAN;
  for (int32_t i = 0; i < p->n; i++) first[i] = as_float(start * (1 + 0.25 * (i % 3)));
  for (int32_t i = 0; i < p->n; i++) norm_q = hypot(norm_q, p->q[i]);
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, parts, p->q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, parts, first);
  ts_lcp_result result;
  const ts_lcp_settings settings = {.rtol = rtol, .max_sweeps = 200};
  const ts_status status = ts_lcp_solve(lcp, q, z, &settings, &result);
  double *found = read_doubles(z);
  for (int32_t i = 0; i < p->n; i++) size = hypot(size, found[i]);
  CHECK(isfinite(size));
  const double residual = (double)true_residual(p, found);
  /* The check rounds z to the digits of long double, and the device sums squares in floats. */
  const double slack = 8 * (double)LDBL_EPSILON * size;
  CHECK(status == TS_OK || status == TS_NOT_CONVERGED);
  if (status == TS_OK) CHECK(residual <= rtol * norm_q * (1 + 1e-5) + slack);
  /* Without pairs the rounding error is estimated. */
  CHECK(residual <= result.residual * (has_pairs(context) ? 1 + 1e-5 : 2) + 1e-15 * norm_q + slack);
  if (converges) CHECK_INT(status, TS_OK);
  CHECK_OK(context, ts_lcp_residual(lcp, q, z, &again));
  CHECK_CLOSE(again, result.residual, 1e-4 * result.residual);
  free(found);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
}

static void solve_starts(const problem *p, ts_precision precision, double z, double rtol, int converges) {
  ts_lcp *lcp = make(p, precision);
  if (!lcp) return;
  solve(p, lcp, precision, 0, rtol, converges);
  if (z < 1e38) solve(p, lcp, precision, z, rtol, converges);
  solve(p, lcp, precision, 1, rtol, 0);
  ts_lcp_destroy(&lcp);
}

static void solve_scales(const problem *p, ts_precision precision) {
  static const double scales[] = {1, 1e-30, 1e-20, 1e-17, 1e-12, 1e-6, 1e6, 1e12, 1e20, 1e30};
  enum { count = sizeof scales / sizeof scales[0] };
  static int calls; /* scales alternate between problems if there are few */
  const int is_double = precision == TS_PRECISION_DOUBLE;
  const int stride = test_is_gl() ? test_is_brief() ? 31 : 17 : test_is_brief() ? 7 : 1, first = calls++ * 5;
  for (int k = 0; k < count * count; k++) {
    const double m = scales[k / count], q = scales[k % count], z = q / m;
    if ((k + first) % stride) continue;
    test_context_label("%s, %s, M about %g, q about %g", p->name, ts_precision_name(precision), m, q);
    const problem s = scaled(p, m, q);
    if (p->is_boxed && !(z > 1e-37 && z < 1e37)) continue;
    /* A sliding contact may be off the edge of the cone by the rounding of r, and u may be small compared with
     * it. */
    const int is_stiff = p->dimension == 1 || m >= 1;
    solve_starts(&s, precision, z, is_double ? 1e-9 : 1e-4, is_stiff && z > 1e-20 && z < 1e20);
  }
}

/* q outside the range of floats, in vectors in double precision. */
static void solve_far(const problem *p) {
  static const double scales[] = {1e-290, 1e-100, 1e-45, 1e45, 1e100, 1e290};
  if (p->is_boxed || (test_is_gl() && p->storage == TS_LCP_STORAGE_SPARSE)) return;
  const problem s = scaled(p, 1, 1);
  ts_lcp *lcp = make(&s, TS_PRECISION_DOUBLE);
  for (int k = 0; lcp && k < 6; k++) {
    double q[most], norm_q = 0;
    test_context_label("%s, q about %g", p->name, scales[k]);
    for (int32_t i = 0; i < p->n; i++) q[i] = s.q[i] * scales[k];
    ts_vector *b = make_parts(ts_lcp_get_space(lcp), 1, 3, q),
              *z = make_parts(ts_lcp_get_space(lcp), 1, 3, NULL);
    ts_lcp_result result;
    CHECK_OK(context, ts_lcp_solve(lcp, b, z, &(ts_lcp_settings){.rtol = 1e-9, .max_sweeps = 1000}, &result));
    double *found = read_doubles(z);
    for (int32_t i = 0; i < p->n; i++) { /* the problem is homogeneous, so it is checked at scale 1 */
      found[i] /= scales[k];
      norm_q = hypot(norm_q, s.q[i]);
    }
    CHECK(true_residual(&s, found) <= 1e-9L * (long double)norm_q * 1.01L);
    free(found);
    ts_vector_destroy(&b);
    ts_vector_destroy(&z);
  }
  ts_lcp_destroy(&lcp);
}

static void all_scales(const problem *p) {
  solve_scales(p, TS_PRECISION_SINGLE);
  if (has_pairs(context)) solve_scales(p, TS_PRECISION_DOUBLE);
  if (has_pairs(context)) solve_far(p);
}

static void dense(void) {
  const problem p = unknowns("dense", 12, TS_LCP_STORAGE_DENSE, 0),
                boxed = unknowns("boxed", 12, TS_LCP_STORAGE_DENSE, 1);
  all_scales(&p);
  all_scales(&boxed);
}

static void sparse(void) {
  const problem p = unknowns("sparse", 30, TS_LCP_STORAGE_SPARSE, 0),
                boxed = unknowns("sparse and boxed", 30, TS_LCP_STORAGE_SPARSE, 1), factors = tower();
  all_scales(&p);
  all_scales(&boxed);
  all_scales(&factors);
}

static void plane(void) {
  const problem p = contacts("2-D, dense", 2, TS_LCP_STORAGE_DENSE, 0.6, 3),
                s = contacts("2-D, sparse", 2, TS_LCP_STORAGE_SPARSE, 0.6, 3);
  all_scales(&p);
  all_scales(&s);
}

static void spatial(void) {
  const problem p = contacts("3-D, dense", 3, TS_LCP_STORAGE_DENSE, 0.6, 3),
                s = contacts("3-D, sparse", 3, TS_LCP_STORAGE_SPARSE, 0.6, 3);
  all_scales(&p);
  all_scales(&s);
}

/* The reactions of sliding contacts are on the edges of their cones up to rounding, which here is larger than
 * the velocities. A residual must not say less than that. */
static void edges(void) {
  static const double frictions[] = {0.1, 0.6, 3};
  for (int k = 0; has_pairs(context) && k < 6; k++) {
    const ts_lcp_storage storage = k < 3 ? TS_LCP_STORAGE_DENSE : TS_LCP_STORAGE_SPARSE;
    const problem p = contacts("edge", 3, storage, frictions[k % 3], 2), weak = scaled(&p, 1e-20, 1e12);
    ts_lcp *lcp = make(&weak, TS_PRECISION_DOUBLE);
    test_context_label("edge, %s, friction %g", k < 3 ? "dense" : "sparse", frictions[k % 3]);
    if (lcp) solve(&weak, lcp, TS_PRECISION_DOUBLE, 0, 1e-9, 0);
    ts_lcp_destroy(&lcp);
  }
}

TEST_MAIN(CASES_IN_CONTEXT(dense, sparse, plane, spatial, edges))
