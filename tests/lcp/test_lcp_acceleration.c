/* Accelerated sweeps: the recurrence compared with one on the host, the solutions of plain sweeps, fewer sweeps
 * for slow problems, and the behaviour if extrapolation makes no progress. */
#include <string.h>
#include <texsolve/lcp.h>

#include "common/core/core.h"
#include "helpers.h"
#include "lcp/lcp.h"
#include "lcp_contacts.h"
#include "lcp_graphs.h"
#include "lcp_samples.h"

static ts_context *context;

/* ---- The recurrence in double precision ---- */

typedef struct reference {
  double *from, *last, *step, *z; /* y; z; d; F(y) */
  double dd;
  int k;
} reference;

static double product(const double *x, const double *y, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

static void accelerate(const lcp_sample *s, reference *r) {
  const size_t n = (size_t)(s->n * s->batch);
  memcpy(r->z, r->from, n * sizeof *r->z);
  lcp_sample_sweep(s, r->z);
  for (size_t i = 0; i < n; i++) r->step[i] = r->z[i] - r->from[i];
  const double dd = product(r->step, r->step, n);
  for (size_t i = 0; i < n; i++) r->last[i] = r->z[i] - r->last[i];
  r->k = dd < 1.2 * r->dd && product(r->step, r->last, n) > 0 ? r->k + 1 : 0;
  for (size_t i = 0; i < n; i++) r->from[i] = r->z[i] + r->k / (r->k + 3.0) * r->last[i];
  memcpy(r->last, r->z, n * sizeof *r->z);
  r->dd = dd;
}

/* The factor `by` makes sweeps contract unevenly, so that there are restarts of every kind. */
static void make_skew(lcp_sample *s, double by) {
  const size_t n = (size_t)s->n;
  for (size_t row = 0; row < n * (size_t)s->batch; row++)
    for (size_t j = 0; j < n; j++) s->matrix[row * n + j] += j < row % n ? by : j > row % n ? -by : 0;
}

/* Every solve starts from a reset state, although the previous one leaves large numbers. */
static void compare_iterates(int32_t n, int32_t batch, ts_precision precision, double skew) {
  const ts_lcp_acceleration kind = TS_LCP_ACCELERATION_MOMENTUM;
  test_context_label("n %d, batch %d, %s, skew %g", n, batch, ts_precision_name(precision), skew);
  const size_t count = (size_t)(n * batch);
  lcp_sample s = lcp_sample_batch(n, batch, 5);
  make_skew(&s, skew);
  ts_lcp *lcp = lcp_make(context, &s, precision);
  const int is_double = precision == TS_PRECISION_DOUBLE;
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, is_double + 1, s.q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, is_double + 1, NULL);
  double *numbers = calloc(4 * count, sizeof *numbers);
  reference r = {
      .from = numbers, .last = numbers + count, .step = numbers + 2 * count, .z = numbers + 3 * count};
  for (int sweeps = 1; sweeps <= 12; sweeps++) {
    ts_lcp_result result;
    CHECK_OK(context, ts_vector_fill(z, 100));
    CHECK_OK(context,
             ts_lcp_solve(lcp, q, z, &(ts_lcp_settings){.acceleration = kind, .fixed_sweeps = 1}, NULL));
    const ts_lcp_settings settings = {.acceleration = kind, .fixed_sweeps = sweeps, .zero_start = 1};
    CHECK_OK(context, ts_lcp_solve(lcp, q, z, &settings, &result));
    CHECK_INT(result.host_synchronisations, 0);
    CHECK_INT(result.sweeps, sweeps);
    accelerate(&s, &r);
    double *found = read_doubles(z);
    /* The weights are in single precision. */
    for (size_t i = 0; i < count; i++)
      CHECK_CLOSE(found[i], r.z[i], (is_double ? 0x1p-18 : 0x1p-15) * (1 + fabs(r.z[i])));
    free(found);
  }
  free(numbers);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
  lcp_sample_free(&s);
}

static void iterates(void) {
  static const int32_t sizes[][2] = {{1, 1}, {7, 1}, {65, 1}, {30, 4}};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
    for (double skew = 0; skew < 0.5; skew += 0.4) {
      if (test_is_brief() && (k % 2 != 0) != (skew > 0)) continue;
      compare_iterates(sizes[k][0], sizes[k][1], TS_PRECISION_SINGLE, skew);
      if (has_pairs(context)) compare_iterates(sizes[k][0], sizes[k][1], TS_PRECISION_DOUBLE, skew);
    }
}

/* ---- Momentum by units of sparse contacts ---- */

typedef struct unit_reference {
  ts_lcp *lcp;
  ts_vector *q, *z;
  double *from, *last, *counts;
} unit_reference;

/* Plain sweeps on the host from y, followed by each unit's own recurrence. Returns z. */
static double *sweep_by_units(const unit_reference *r, ts_context *host, const ts_lcp_settings *settings) {
  const tsi_lcp_sparse *s = r->lcp->sparse;
  const int32_t d = s->dimension;
  CHECK_OK(host, ts_vector_write(r->z, ts_host(r->from, (size_t)(s->contacts * d))));
  CHECK_OK(host, ts_lcp_solve(r->lcp, r->q, r->z, settings, NULL));
  double *z = read_doubles(r->z);
  for (int32_t u = 0; u < s->units; u++) {
    double ahead = 0, straight = 0;
    const int32_t first = s->unit_start[u] * d, end = s->unit_start[u + 1] * d;
    for (int32_t i = first; i < end; i++) {
      ahead += (z[i] - r->from[i]) * (z[i] - r->last[i]);
      straight += (r->from[i] - r->last[i]) * (z[i] - r->last[i]);
    }
    r->counts[u] = ahead >= 0 && straight >= 0 ? r->counts[u] + 1 : floor(r->counts[u] / 3);
    for (int32_t i = first; i < end; i++) {
      r->from[i] = z[i] + r->counts[u] / (r->counts[u] + 3) * (z[i] - r->last[i]);
      r->last[i] = z[i];
    }
  }
  return z;
}

/* With three unknowns only by projection, because the exact law of accelerated sweeps depends on the last
 * reaction. */
static void compare_units(const lcp_graph *g, lcp_graph_form form, ts_lcp_scheme scheme, ts_precision precision,
                          ts_context *host) {
  test_context_label("dimension %d, n %d, batch %d, form %d, %s, %s", g->dimension, g->n, g->batch, (int)form,
                     ts_lcp_scheme_name(scheme), ts_precision_name(precision));
  const ts_lcp_desc desc = lcp_graph_desc(g, form, TS_LCP_STORAGE_SPARSE, precision),
                    in_double = lcp_graph_desc(g, form, TS_LCP_STORAGE_SPARSE, TS_PRECISION_DOUBLE);
  const size_t count = (size_t)(g->n * g->batch);
  const int is_double = precision == TS_PRECISION_DOUBLE;
  const ts_lcp_local local = g->dimension == 3 ? TS_LCP_LOCAL_PROJECTION : TS_LCP_LOCAL_EXACT;
  ts_lcp *lcp = NULL;
  unit_reference r = {.from = calloc(3 * count, sizeof *r.from)};
  r.last = r.from + count, r.counts = r.last + count;
  REQUIRE_OK(context, ts_lcp_create(context, &desc, &lcp));
  REQUIRE_OK(host, ts_lcp_create(host, &in_double, &r.lcp));
  r.q = make_parts(ts_lcp_get_space(r.lcp), 1, 2, g->q), r.z = make_parts(ts_lcp_get_space(r.lcp), 1, 2, NULL);
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, is_double + 1, g->q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, is_double + 1, NULL);
  double extrapolated = 0;
  for (int sweeps = 1; sweeps <= 12; sweeps++) {
    const ts_lcp_settings plain = {.scheme = scheme, .local = local, .fixed_sweeps = 1},
                          settings = {.scheme = scheme,
                                      .local = local,
                                      .acceleration = TS_LCP_ACCELERATION_MOMENTUM,
                                      .fixed_sweeps = sweeps,
                                      .zero_start = 1};
    ts_lcp_result result;
    CHECK_OK(context, ts_lcp_solve(lcp, q, z, &settings, &result));
    CHECK_INT(result.host_synchronisations, 0);
    CHECK_INT(result.sweeps, sweeps);
    double *found = read_doubles(z), *expected = sweep_by_units(&r, host, &plain);
    for (size_t i = 0; i < count; i++) {
      CHECK_CLOSE(found[i], expected[i], (is_double ? 1e-9 : 1e-3) * (1 + fabs(expected[i])));
      extrapolated += fabs(r.from[i] - expected[i]);
    }
    free(found), free(expected);
  }
  CHECK(extrapolated > 0.1);
  free(r.from);
  ts_vector_destroy(&q), ts_vector_destroy(&z), ts_vector_destroy(&r.q), ts_vector_destroy(&r.z);
  ts_lcp_destroy(&lcp);
  ts_lcp_destroy(&r.lcp);
}

static void units(void) {
  ts_context *host = NULL;
  REQUIRE_OK(NULL, ts_context_create(&(ts_context_desc){.backend = "cpu"}, &host));
  static const int32_t sizes[][2] = {{1, 1}, {23, 1}, {6, 4}};
  static const ts_lcp_scheme schemes[] = {TS_LCP_SCHEME_ROW, TS_LCP_SCHEME_GRAPH, TS_LCP_SCHEME_COLOUR};
  for (int dimension = 2; context->ops->lcp->sweep_ahead && dimension <= 3; dimension++)
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
      lcp_graph g = lcp_graph_make(dimension, sizes[k][0], sizes[k][1], (unsigned)k + 3);
      for (lcp_graph_form form = 0; form < LCP_GRAPH_FORMS; form++)
        for (size_t s = 0; s < sizeof schemes / sizeof schemes[0]; s++) {
          if (!ts_lcp_has_scheme(context, schemes[s])) continue;
          if (test_is_brief() && (k + s + (size_t)form) % 3) continue;
          compare_units(&g, form, schemes[s], TS_PRECISION_SINGLE, host);
          if (has_pairs(context)) compare_units(&g, form, schemes[s], TS_PRECISION_DOUBLE, host);
        }
      lcp_graph_free(&g);
    }
  ts_context_destroy(&host);
}

/* ---- Solves ---- */

/* `found` receives the solution. */
static ts_lcp_result solve(const lcp_sample *s, ts_precision precision, const ts_lcp_settings *settings,
                           ts_status expected, double *found) {
  test_context_label("n %d, %s, %s", s->n, ts_precision_name(precision),
                     ts_lcp_acceleration_name(settings->acceleration));
  ts_lcp *lcp = lcp_make(context, s, precision);
  const int parts = precision == TS_PRECISION_DOUBLE ? 2 : 1;
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, parts, s->q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, parts, found);
  ts_lcp_result result;
  CHECK_INT(ts_lcp_solve(lcp, q, z, settings, &result), expected);
  double *read = read_doubles(z);
  memcpy(found, read, (size_t)s->n * sizeof *read);
  free(read);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
  return result;
}

static double largest_difference(const double *x, const double *y, int32_t n) {
  double most = 0;
  for (int32_t i = 0; i < n; i++) most = fmax(most, fabs(x[i] - y[i]));
  return most;
}

static void answers(void) {
  for (int is_double = 0; is_double <= has_pairs(context); is_double++) {
    const ts_precision precision = is_double ? TS_PRECISION_DOUBLE : TS_PRECISION_SINGLE;
    lcp_sample s = lcp_sample_spd(130, 3);
    double plain[130] = {0};
    solve(&s, precision, &(ts_lcp_settings){.rtol = is_double ? 1e-10 : 1e-5}, TS_OK, plain);
    double z[130] = {0};
    const ts_lcp_settings settings = {.acceleration = TS_LCP_ACCELERATION_MOMENTUM,
                                      .rtol = is_double ? 1e-10 : 1e-5};
    const ts_lcp_result r = solve(&s, precision, &settings, TS_OK, z);
    CHECK_INT(r.reason, TS_REASON_CONVERGED);
    CHECK(largest_difference(z, plain, 130) <= (is_double ? 1e-8 : 1e-3));
    for (int i = 0; i < 130; i++) CHECK(z[i] >= 0);
    lcp_sample_free(&s);
  }
}

enum { most_links = 60 };

/* A chain of bodies on top of each other, the first one on the ground. Its condition grows as links^2. */
static void make_chain(int links, double *matrix, double *q) {
  memset(matrix, 0, (size_t)(links * links) * sizeof *matrix);
  for (int i = 0; i < links; i++) {
    matrix[i * links + i] = i ? 2 : 1;
    if (i) matrix[i * links + i - 1] = matrix[(i - 1) * links + i] = -1;
    q[i] = i ? 0 : -1;
  }
}

static int sweeps_of_chain(int links, ts_lcp_acceleration kind) {
  double matrix[most_links * most_links], q[most_links], z[most_links] = {0};
  make_chain(links, matrix, q);
  const lcp_sample s = {.n = links, .batch = 1, .matrix = matrix, .q = q};
  /* Without pairs the estimate of the rounding error of w is about 1e-4 for a long chain. */
  const double rtol = has_pairs(context) || links < most_links ? 1e-4 : 3e-4;
  const ts_lcp_settings settings = {.acceleration = kind, .rtol = rtol, .max_sweeps = 5000};
  const ts_lcp_result r = solve(&s, TS_PRECISION_SINGLE, &settings, TS_OK, z);
  for (int i = 0; i < links; i++) CHECK_CLOSE(z[i], links - i, 0.02 * links);
  return r.sweeps;
}

/* 1860 sweeps without momentum, 100 with it. Longer chains need the restarts by the product: 230 sweeps with
 * them, 310 with those by growth only. */
static void fewer_sweeps(void) {
  const int plain = sweeps_of_chain(24, TS_LCP_ACCELERATION_NONE);
  CHECK(sweeps_of_chain(24, TS_LCP_ACCELERATION_MOMENTUM) <= plain / 8);
  CHECK(sweeps_of_chain(most_links, TS_LCP_ACCELERATION_MOMENTUM) <= 270);
}

static int sweeps_with(const double *matrix, const double *q_numbers, int32_t n, ts_lcp_storage storage,
                       ts_lcp_acceleration kind) {
  const ts_lcp_desc desc = {.size = n, .matrix = ts_host(matrix, (size_t)n * (size_t)n), .storage = storage};
  const ts_lcp_settings settings = {.acceleration = kind, .rtol = 1e-4, .max_sweeps = 5000};
  ts_lcp *lcp = NULL;
  ts_lcp_result result = {.sweeps = -1};
  if (!CHECK_OK(context, ts_lcp_create(context, &desc, &lcp))) return -1;
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, 1, q_numbers),
            *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
  CHECK_OK(context, ts_lcp_solve(lcp, q, z, &settings, &result));
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
  return result.sweeps;
}

/* By default momentum begins after 20 sweeps, if it is cheap and the matrix is known to be symmetric, or nearly
 * so. */
static void by_default(void) {
  const int links = 24;
  double matrix[most_links * most_links], q[most_links];
  make_chain(links, matrix, q);
  for (int storage = TS_LCP_STORAGE_DENSE; storage <= TS_LCP_STORAGE_SPARSE; storage++) {
    const ts_lcp_storage kept = (ts_lcp_storage)storage;
    const int is_known = kept == TS_LCP_STORAGE_SPARSE || context->ops->lcp->is_symmetric;
    for (int skew = 0; skew < 3; skew++) { /* none, a negligible one, and a significant one */
      test_context_label("%s, skew %d", ts_lcp_storage_name(kept), skew);
      matrix[1] = -1 + (skew == 1 ? 0.01 : skew == 2 ? 0.1 : 0);
      const int plain = sweeps_with(matrix, q, links, kept, TS_LCP_ACCELERATION_NONE);
      const int found = sweeps_with(matrix, q, links, kept, TS_LCP_ACCELERATION_AUTO);
      CHECK(plain >= 150);
      if (is_known && skew < 2)
        CHECK(found <= plain / 2);
      else
        CHECK_INT(found, plain);
    }
  }
  const double quick[] = {2, 1, 1, 2}, loads[] = {-5, -6};
  CHECK_INT(sweeps_with(quick, loads, 2, TS_LCP_STORAGE_DENSE, TS_LCP_ACCELERATION_AUTO),
            sweeps_with(quick, loads, 2, TS_LCP_STORAGE_DENSE, TS_LCP_ACCELERATION_NONE));
}

/* Unsymmetric matrices. Plain sweeps converge, and momentum might not. */
static void not_symmetric(void) {
  static const struct {
    int32_t n;
    unsigned seed;
    double skew;
  } samples[] = {{4, 2, 1.2}, {4, 16, 1.2}, {8, 4, 1}};
  for (size_t k = 0; k < 3; k++) {
    lcp_sample s = lcp_sample_spd(samples[k].n, samples[k].seed);
    make_skew(&s, samples[k].skew);
    for (int32_t i = 0; i < s.n; i++) s.q[i] -= 1;
    double z[8] = {0}, map = 0, norm = 0;
    const ts_lcp_settings settings = {
        .acceleration = TS_LCP_ACCELERATION_MOMENTUM, .rtol = 1e-4, .check_interval = 4, .max_sweeps = 10000};
    const ts_lcp_result r = solve(&s, TS_PRECISION_SINGLE, &settings, TS_OK, z);
    CHECK_INT(r.reason, TS_REASON_CONVERGED);
    for (int32_t i = 0; i < s.n; i++)
      map = hypot(map, z[i] - fmax(z[i] - lcp_sample_row(&s, z, i), 0)), norm = hypot(norm, s.q[i]);
    CHECK(map <= 1.1e-4 * norm);
    lcp_sample_free(&s);
  }
}

/* Problems without a solution, and too few sweeps, from a good start. */
static void never_worse(void) {
  double cyclic[] = {1, 2, 0, 0, 1, 2, 2, 0, 1}, unbounded[] = {1, -3, 0, -3, 1, 0, 0, 0, 1},
         q[] = {-1, -1, -1};
  double slow[] = {1, 0.999, 0, 0.999, 1, 0, 0, 0, 1};
  double *matrices[] = {cyclic, unbounded, slow};
  for (int k = 0; k < 3; k++)
    for (int most = 1; most <= 1000; most *= 10) {
      double z[3] = {0.2, 0.3, 0.9}, before = 0, after = 0;
      const lcp_sample s = {.n = 3, .batch = 1, .matrix = matrices[k], .q = q};
      for (int i = 0; i < 3; i++) before = hypot(before, z[i] - fmax(z[i] - lcp_sample_row(&s, z, i), 0));
      const ts_lcp_settings settings = {
          .acceleration = TS_LCP_ACCELERATION_MOMENTUM, .rtol = -1, .check_interval = 1, .max_sweeps = most};
      const ts_lcp_result r = solve(&s, TS_PRECISION_SINGLE, &settings, TS_NOT_CONVERGED, z);
      for (int i = 0; i < 3; i++) after = hypot(after, z[i] - fmax(z[i] - lcp_sample_row(&s, z, i), 0));
      CHECK(after <= before * 1.0001);
      CHECK_CLOSE(r.residual, after, 1e-4 * after + 1e-6);
      CHECK(r.sweeps <= most);
    }
}

/* ---- Contacts ---- */

static void friction(void) {
  const int parts = has_pairs(context) ? 2 : 1;
  const double rounding = parts > 1 ? 1e-12 : 1e-5;
  for (int dimension = 2; dimension <= 3; dimension++)
    for (int local = 0; ts_lcp_local_name((ts_lcp_local)local); local++) {
      test_context_label("dimension %d, %s", dimension, ts_lcp_local_name((ts_lcp_local)local));
      lcp_contacts s = lcp_contacts_random(dimension, 40, 0.8, 4);
      ts_lcp *lcp = lcp_contacts_make(context, &s, parts > 1 ? TS_PRECISION_DOUBLE : TS_PRECISION_SINGLE);
      if (!lcp) break;
      ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, parts, s.q),
                *z = make_parts(ts_lcp_get_space(lcp), 1, parts, NULL);
      const ts_lcp_settings settings = {.acceleration = TS_LCP_ACCELERATION_MOMENTUM,
                                        .local = (ts_lcp_local)local,
                                        .rtol = parts > 1 ? 1e-8 : 1e-5};
      ts_lcp_result result;
      CHECK_OK(context, ts_lcp_solve(lcp, q, z, &settings, &result));
      double *found = read_doubles(z);
      CHECK_CLOSE(lcp_contacts_residual(&s, found), result.residual, 1e-3 * result.residual + rounding);
      free(found);
      ts_vector_destroy(&q);
      ts_vector_destroy(&z);
      ts_lcp_destroy(&lcp);
      lcp_contacts_free(&s);
    }
}

/* ---- Names ---- */

static void names(void) {
  for (int k = 0; k < 3; k++)
    CHECK_INT(ts_lcp_acceleration_from_name(ts_lcp_acceleration_name((ts_lcp_acceleration)k)), k);
  CHECK(ts_lcp_acceleration_name((ts_lcp_acceleration)3) == NULL);
  CHECK_INT(ts_lcp_acceleration_from_name("nesterov"), -1);
  CHECK_INT(ts_lcp_acceleration_from_name(NULL), -1);
  lcp_sample s = lcp_sample_spd(3, 1);
  ts_lcp *lcp = lcp_make(context, &s, TS_PRECISION_SINGLE);
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, 1, s.q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
  const ts_lcp_settings settings = {.acceleration = (ts_lcp_acceleration)3};
  CHECK_FAILS(context, ts_lcp_solve(lcp, q, z, &settings, NULL), TS_ERROR_INVALID_ARGUMENT,
              "acceleration is 3, not a ts_lcp_acceleration");
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
  lcp_sample_free(&s);
}

TEST_MAIN(CASES_IN_CONTEXT(iterates, units, answers, fewer_sweeps, by_default, not_symmetric, never_worse,
                           friction, names))
