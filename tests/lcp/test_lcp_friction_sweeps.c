/* Contacts with friction sweep by sweep: every scheme against the sequential loop, and relaxed, which ends at a
 * solution. */
#include <texsolve/lcp.h>

#include "common/core/core.h"
#include "helpers.h"
#include "lcp_contacts.h"
#include "lcp_law_calls.h"
#include "lcp_samples.h"

static ts_context *context;

/* ---- The sequential loop ---- */

static void sweep_once(const lcp_contacts *s, int exact, double *r) {
  const size_t n = (size_t)s->n, dimension = (size_t)s->dimension;
  for (size_t first = 0; first < n; first += dimension) {
    double W[9], b[3], own[3] = {0};
    for (size_t k = 0; k < dimension; k++) {
      const double *row = s->matrix + (first + k) * n;
      b[k] = s->q[first + k];
      for (size_t j = 0; j < n; j++) b[k] += j < first || j >= first + dimension ? row[j] * r[j] : 0;
      for (size_t l = 0; l < dimension; l++) W[k * dimension + l] = row[first + l];
      own[k] = r[first + k];
    }
    law_contact_double(own, W, b, s->friction[first / dimension], s->dimension, exact);
    for (size_t k = 0; k < dimension; k++) r[first + k] = own[k];
  }
}

/* ---- Problems of one size, as one batch ---- */

enum { most_problems = 4 };

typedef struct problems {
  lcp_contacts of[most_problems];
  size_t count, n; /* unknowns of each */
  ts_lcp *lcp;
  ts_vector *q, *z;
} problems;

static double *copy_into(double *to, const double *from, size_t count) {
  memcpy(to, from, count * sizeof *to);
  return to + count;
}

/* Multiplies what contacts do to each other. */
static void weaken(lcp_contacts *s, double coupling) {
  for (int32_t i = 0; i < s->n; i++)
    for (int32_t j = 0; j < s->n; j++)
      if (i / s->dimension != j / s->dimension) s->matrix[(size_t)i * (size_t)s->n + (size_t)j] *= coupling;
}

static problems make_problems(int dimension, int32_t contacts, size_t count, double coupling,
                              ts_precision precision) {
  problems p = {.count = count, .n = (size_t)dimension * (size_t)contacts};
  double *matrix = calloc(count * p.n * p.n, sizeof *matrix), *next_matrix = matrix,
         *q = calloc(count * p.n, sizeof *q), *next_q = q, *friction = calloc(count * p.n, sizeof *friction),
         *next_friction = friction;
  for (size_t k = 0; k < count; k++) {
    p.of[k] = lcp_contacts_random(dimension, contacts, 0.8, (unsigned)(contacts + 7 * (int)k));
    weaken(&p.of[k], coupling);
    next_matrix = copy_into(next_matrix, p.of[k].matrix, p.n * p.n);
    next_q = copy_into(next_q, p.of[k].q, p.n);
    next_friction = copy_into(next_friction, p.of[k].friction, (size_t)contacts);
  }
  const ts_lcp_desc desc = {.size = (int32_t)p.n,
                            .batch = (int32_t)count,
                            .dimension = dimension,
                            .double_matrix = matrix,
                            .friction = friction,
                            .precision = precision};
  if (CHECK_OK(context, ts_lcp_create(context, &desc, &p.lcp))) {
    const int parts = precision == TS_PRECISION_DOUBLE ? 2 : 1;
    p.q = make_parts(ts_lcp_space(p.lcp), 1, parts, q);
    p.z = make_parts(ts_lcp_space(p.lcp), 1, parts, NULL);
  }
  free(matrix), free(q), free(friction);
  return p;
}

static void free_problems(problems *p) {
  ts_vector_destroy(&p->q);
  ts_vector_destroy(&p->z);
  ts_lcp_destroy(&p->lcp);
  for (size_t k = 0; k < p->count; k++) lcp_contacts_free(&p->of[k]);
}

/* Whether the scheme is there with friction: on the CPU not all are. */
static int solve(const problems *p, const ts_lcp_settings *settings, ts_lcp_result *result) {
  const ts_status status = ts_lcp_solve(p->lcp, p->q, p->z, settings, result);
  if (status == TS_ERROR_UNSUPPORTED && test_is_cpu() && settings->scheme > TS_LCP_SCHEME_ROW) return 0;
  CHECK_OK(context, status);
  return 1;
}

/* ---- Sweep by sweep ---- */

static void check_iterates(const problems *p, const double *expected, double tolerance) {
  double *found = read_doubles(p->z);
  for (size_t i = 0; i < p->count * p->n; i++)
    CHECK_CLOSE(found[i], expected[i], tolerance * (1 + fabs(expected[i])));
  free(found);
}

static void compare_sweeps(const problems *p, ts_precision precision, ts_lcp_scheme scheme,
                           ts_lcp_local local) {
  test_context_label("dimension %d, %d contacts, batch %d, %s, %s, %s", p->of[0].dimension, p->of[0].contacts,
                     (int)p->count, ts_precision_name(precision), ts_lcp_scheme_name(scheme),
                     ts_lcp_local_name(local));
  double *expected = calloc(p->count * p->n, sizeof *expected), size = 0;
  ts_vector_fill(p->z, 0);
  for (int sweep = 1; sweep <= 4; sweep++) {
    const int count = sweep == 3 ? 3 : 1;
    if (!solve(p, &(ts_lcp_settings){.scheme = scheme, .local = local, .fixed_sweeps = count}, NULL)) break;
    for (size_t k = 0; k < p->count; k++)
      for (int c = 0; c < count; c++)
        sweep_once(&p->of[k], local != TS_LCP_LOCAL_PROJECTION, expected + k * p->n);
    check_iterates(p, expected, precision == TS_PRECISION_DOUBLE ? 0x1p-44 : 0x1p-18);
    for (size_t i = 0; i < p->n; i++) size = fmax(size, fabs(expected[i]));
    CHECK(size > 0.01);
  }
  free(expected);
}

static void compare_schemes(int dimension, int32_t contacts, size_t batch, ts_precision precision) {
  problems p = make_problems(dimension, contacts, batch, 1, precision);
  for (int scheme = 0; p.lcp && scheme < TS_LCP_SCHEME_RELAXED; scheme++)
    for (ts_lcp_local local = TS_LCP_LOCAL_PROJECTION; local <= TS_LCP_LOCAL_EXACT; local++)
      if (ts_lcp_has_scheme(context, (ts_lcp_scheme)scheme))
        compare_sweeps(&p, precision, (ts_lcp_scheme)scheme, local);
  free_problems(&p);
}

/* Of one block of 64 rows and of several, which whole contacts fill or do not, and batches. */
static const int32_t sizes[][2] = {{1, 1},  {5, 1},  {10, 1}, {11, 1}, {16, 1}, {21, 1}, {22, 1},
                                   {32, 1}, {33, 1}, {43, 1}, {70, 1}, {5, 4},  {25, 3}, {42, 2}};

static void sweeps(void) {
  context = test_open();
  if (!context) return;
  for (int dimension = 2; dimension <= 3; dimension++)
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
      compare_schemes(dimension, sizes[k][0], (size_t)sizes[k][1], TS_PRECISION_SINGLE);
      if (has_pairs(context)) compare_schemes(dimension, sizes[k][0], (size_t)sizes[k][1], TS_PRECISION_DOUBLE);
    }
  test_close(&context);
}

/* ---- To the end ----
 * Thread blocks that are late may leave relaxed sweeps nothing but each other's start, as in Jacobi's method by
 * blocks, which need not converge: of these problems that of 90 contacts in two dimensions does not. Contacts
 * that are coupled an eighth as strongly are solved however the sweeps are timed. */

static void solve_relaxed(int dimension, int32_t contacts, ts_precision precision) {
  test_context_label("dimension %d, %d contacts, %s", dimension, contacts, ts_precision_name(precision));
  problems p = make_problems(dimension, contacts, 2, 0.125, precision);
  const double rtol = precision == TS_PRECISION_DOUBLE ? 1e-10 : 1e-4;
  const ts_lcp_settings settings = {.scheme = TS_LCP_SCHEME_RELAXED, .rtol = rtol, .max_sweeps = 5000};
  ts_lcp_result result = {.reason = TS_REASON_DIVERGED};
  if (p.lcp && solve(&p, &settings, &result)) {
    double *r = read_doubles(p.z);
    const double residuals[] = {lcp_contacts_residual(&p.of[0], r), lcp_contacts_residual(&p.of[1], r + p.n)};
    CHECK_INT(result.reason, TS_REASON_CONVERGED);
    CHECK_CLOSE(hypot(residuals[0], residuals[1]), result.residual, rtol * (1 + result.residual));
    free(r);
  }
  free_problems(&p);
}

static void relaxed(void) {
  context = test_open();
  if (!context) return;
  for (int dimension = 2; ts_lcp_has_scheme(context, TS_LCP_SCHEME_RELAXED) && dimension <= 3; dimension++)
    for (int32_t contacts = 10; contacts <= 90; contacts += 40) {
      solve_relaxed(dimension, contacts, TS_PRECISION_SINGLE);
      if (has_pairs(context)) solve_relaxed(dimension, contacts, TS_PRECISION_DOUBLE);
    }
  test_close(&context);
}

int main(int argc, char **argv) {
  static const test_case cases[] = {{"sweeps", sweeps}, {"relaxed", relaxed}};
  return test_main(argc, argv, cases, sizeof cases / sizeof cases[0], 0);
}
