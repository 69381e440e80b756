/* Complementarity problems: known solutions, sweeps compared with the sequential loop, reasons, precisions. */
#include <texsolve/lcp.h>

#include "common/core/core.h"
#include "helpers.h"
#include "lcp_samples.h"

static ts_context *context;

/* ---- Solutions ---- */

/* The tests use lower bounds of 0, so the signs of z and w show which bound is active. */
static void check_complementary(const lcp_sample *s, const double *z, double tolerance) {
  for (int32_t i = 0; i < s->n; i++) {
    const double w = lcp_sample_row(s, z, i);
    CHECK(z[i] >= 0);
    CHECK(w >= -tolerance);
    CHECK(fabs(z[i] * w) <= tolerance);
  }
}

static void solve_sample(int32_t n, ts_precision precision, ts_lcp_scheme scheme) {
  test_context_label("n %d, %s, %s", n, ts_precision_name(precision), ts_lcp_scheme_name(scheme));
  lcp_sample s = lcp_sample_spd(n, 3);
  ts_lcp *lcp = lcp_make(context, &s, precision);
  if (!lcp) return;
  const int is_double = precision == TS_PRECISION_DOUBLE;
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, is_double + 1, s.q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, is_double + 1, NULL);
  ts_lcp_result result;
  const ts_lcp_settings settings = {.scheme = scheme, .rtol = is_double ? 1e-11 : 1e-5};
  CHECK_OK(context, ts_lcp_solve(lcp, q, z, &settings, &result));
  CHECK_INT(result.reason, TS_REASON_CONVERGED);
  CHECK(result.relative_residual <= settings.rtol);
  double *found = read_doubles(z), residual = NAN;
  check_complementary(&s, found, is_double ? 1e-9 : 1e-3);
  CHECK_OK(context, ts_lcp_residual(lcp, q, z, &residual));
  CHECK_CLOSE(residual, result.residual, 1e-3 * result.residual + 1e-14);
  free(found);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
  lcp_sample_free(&s);
}

static void answers(void) {
  static const int32_t sizes[] = {1, 2, 15, 16, 17, 63, 64, 65, 130, 257};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
    for (int scheme = 0; scheme <= TS_LCP_SCHEME_RELAXED; scheme++) {
      if (!ts_lcp_has_scheme(context, (ts_lcp_scheme)scheme)) continue;
      if (test_is_brief() && (k + (size_t)scheme) % 3) continue;
      solve_sample(sizes[k], TS_PRECISION_SINGLE, (ts_lcp_scheme)scheme);
      if (has_pairs(context)) solve_sample(sizes[k], TS_PRECISION_DOUBLE, (ts_lcp_scheme)scheme);
    }
}

/* ---- Sweep by sweep ---- */

/* `skew`: a factor of the entries above the diagonal. */
static void compare_sweeps(int32_t n, int32_t batch, ts_precision precision, ts_lcp_scheme scheme,
                           double skew) {
  test_context_label("n %d, batch %d, %s, %s, skew %g", n, batch, ts_precision_name(precision),
                     ts_lcp_scheme_name(scheme), skew);
  lcp_sample s = lcp_sample_batch(n, batch, 5);
  for (int32_t i = 0; i < n * batch; i++)
    for (int32_t j = i % n + 1; j < n; j++) s.matrix[(size_t)i * (size_t)n + (size_t)j] *= skew;
  ts_lcp *lcp = lcp_make(context, &s, precision);
  if (!lcp) return;
  const int is_double = precision == TS_PRECISION_DOUBLE;
  const double tolerance = is_double ? 0x1p-44 : 0x1p-18;
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, is_double + 1, s.q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, is_double + 1, NULL);
  double *expected = calloc((size_t)n * (size_t)batch, sizeof *expected);
  for (int sweep = 1; sweep <= 6; sweep++) {
    const int count = sweep == 4 ? 3 : sweep == 6 && n < 130 ? 35 : 1; /* w is recomputed after 16 */
    CHECK_OK(context,
             ts_lcp_solve(lcp, q, z, &(ts_lcp_settings){.scheme = scheme, .fixed_sweeps = count}, NULL));
    for (int k = 0; k < count; k++) lcp_sample_sweep(&s, expected);
    double *found = read_doubles(z);
    for (int32_t i = 0; i < n * batch; i++)
      CHECK_CLOSE(found[i], expected[i], tolerance * (1 + fabs(expected[i])));
    free(found);
  }
  free(expected);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
  lcp_sample_free(&s);
}

/* All schemes except relaxed compute the iterates of the sequential loop. */
static void sweeps(void) {
  static const int32_t sizes[][2] = {{1, 1},   {7, 1},   {64, 1}, {65, 1}, {127, 1},
                                     {200, 1}, {333, 1}, {1, 9},  {60, 5}, {65, 3}};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
    for (int scheme = 0; scheme < TS_LCP_SCHEME_RELAXED; scheme++) {
      if (!ts_lcp_has_scheme(context, (ts_lcp_scheme)scheme)) continue;
      if (test_is_brief() && (k + (size_t)scheme) % 3) continue;
      compare_sweeps(sizes[k][0], sizes[k][1], TS_PRECISION_SINGLE, (ts_lcp_scheme)scheme, 1);
      if (has_pairs(context))
        compare_sweeps(sizes[k][0], sizes[k][1], TS_PRECISION_DOUBLE, (ts_lcp_scheme)scheme, 0.5);
    }
}

/* Schemes by columns discard the columns of a matrix that is replaced. */
static void replaced(void) {
  lcp_sample s = lcp_sample_spd(130, 5), next = lcp_sample_spd(130, 6);
  s.matrix[1] = s.matrix[129] = 0; /* unsymmetric */
  for (int scheme = 0; scheme < TS_LCP_SCHEME_RELAXED; scheme++) {
    if (!ts_lcp_has_scheme(context, (ts_lcp_scheme)scheme)) continue;
    test_context_label("%s", ts_lcp_scheme_name((ts_lcp_scheme)scheme));
    ts_lcp *lcp = lcp_make(context, &s, TS_PRECISION_SINGLE);
    ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, 1, s.q),
              *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
    const ts_lcp_settings once = {.scheme = (ts_lcp_scheme)scheme, .fixed_sweeps = 1};
    double expected[130] = {0};
    CHECK_OK(context, ts_lcp_solve(lcp, q, z, &once, NULL));
    CHECK_OK(context,
             ts_lcp_set_matrix(
                 lcp, &(ts_lcp_desc){.size = 130, .batch = 1, .matrix = ts_host(next.matrix, 130 * 130)}));
    CHECK_OK(context, ts_lcp_solve(lcp, q, z, &once, NULL));
    lcp_sample_sweep(&s, expected);
    double *kept = s.matrix;
    s.matrix = next.matrix;
    lcp_sample_sweep(&s, expected);
    s.matrix = kept;
    double *found = read_doubles(z);
    for (int i = 0; i < 130; i++) CHECK_CLOSE(found[i], expected[i], 0x1p-18 * (1 + fabs(expected[i])));
    free(found);
    ts_vector_destroy(&q);
    ts_vector_destroy(&z);
    ts_lcp_destroy(&lcp);
  }
  lcp_sample_free(&s);
  lcp_sample_free(&next);
}

/* Any number of threads may share a problem, including more threads than shares. */
static void with_threads(int threads) {
  ts_context_desc desc = test_desc();
  desc.threads = threads;
  if (!CHECK_OK(NULL, test_context_create(&desc, &context))) return;
  CHECK_OK(context, ts_context_set_tuning(context, "thread_floats", 1));
  static const int32_t sizes[][2] = {{40, 1}, {65, 1}, {200, 1}, {450, 1}, {330, 2}, {130, 4}};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
    for (int scheme = 0; scheme < TS_LCP_SCHEME_RELAXED; scheme++) {
      compare_sweeps(sizes[k][0], sizes[k][1], TS_PRECISION_SINGLE, (ts_lcp_scheme)scheme, 0.5);
      compare_sweeps(sizes[k][0], sizes[k][1], TS_PRECISION_DOUBLE, (ts_lcp_scheme)scheme, 1);
    }
  for (int scheme = 0; scheme <= TS_LCP_SCHEME_RELAXED; scheme++) {
    solve_sample(333, TS_PRECISION_SINGLE, (ts_lcp_scheme)scheme);
    solve_sample(257, TS_PRECISION_DOUBLE, (ts_lcp_scheme)scheme);
  }
  test_close(&context);
}

static void threads(void) {
  context = test_open();
  if (!context) return;
  ts_context_info info;
  const int has_threads = CHECK_OK(context, ts_context_get_info(context, &info)) && info.threads > 0;
  test_close(&context);
  for (int count = 1; count <= 5 && has_threads; count += count < 3 ? 1 : 2) with_threads(count);
}

/* If the largest texture is small, OpenGL places the matrices of a batch side by side. Without texture barriers
 * rows are drawn next to z. */
static void small_textures(void) {
  if (!test_is_gl()) return;
  ts_context_desc desc = test_desc();
  test_gl()->max_texture_size = 256;
  test_gl()->flags |= TS_GL_NO_TEXTURE_BARRIER;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  for (int scheme = 0; scheme < TS_LCP_SCHEME_RELAXED; scheme++)
    if (ts_lcp_has_scheme(context, (ts_lcp_scheme)scheme)) {
      compare_sweeps(18, 80, TS_PRECISION_SINGLE, (ts_lcp_scheme)scheme, 1);
      if (has_pairs(context)) compare_sweeps(18, 80, TS_PRECISION_DOUBLE, (ts_lcp_scheme)scheme, 1);
    }
  const double one = 1;
  ts_lcp *lcp = NULL;
  CHECK_FAILS(context,
              ts_lcp_create(context,
                            &(ts_lcp_desc){.size = 60, .batch = 100, .matrix = ts_host(&one, 60 * 60 * 100)},
                            &lcp),
              TS_ERROR_LIMIT, "the largest is 256");
  test_close(&context);
}

/* ---- Reasons ---- */

static ts_lcp_result solve_small(const double *matrix, const double *numbers, int n, ts_lcp_settings settings,
                                 ts_status expected, double *z_out) {
  const ts_lcp_desc desc = {.size = n, .matrix = ts_host(matrix, (size_t)(n * n))};
  ts_lcp *lcp = NULL;
  ts_lcp_result result = {.reason = (ts_reason)-1};
  if (!CHECK_OK(context, ts_lcp_create(context, &desc, &lcp))) return result;
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, 1, numbers),
            *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
  CHECK_INT(ts_lcp_solve(lcp, q, z, &settings, &result), expected);
  double *found = read_doubles(z);
  for (int i = 0; i < n && z_out; i++) z_out[i] = found[i];
  free(found);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
  return result;
}

static int stop_at_once(const ts_progress *progress, void *user) {
  (void)progress, (void)user;
  return 1;
}

static void reasons(void) {
  double z[2];
  const double good[] = {2, 1, 1, 2}, q[] = {-5, -6}, positive[] = {1, 2};
  ts_lcp_result r = solve_small(good, q, 2, (ts_lcp_settings){.rtol = 1e-6}, TS_OK, z);
  CHECK_INT(r.reason, TS_REASON_CONVERGED);
  CHECK_CLOSE(z[0], 4.0 / 3, 1e-5);
  CHECK_CLOSE(z[1], 7.0 / 3, 1e-5);
  r = solve_small(good, positive, 2, (ts_lcp_settings){0}, TS_OK, z);
  CHECK_INT(r.reason, TS_REASON_ZERO_RESIDUAL);
  CHECK_INT(r.sweeps, 0);
  CHECK(z[0] == 0 && z[1] == 0);
  r = solve_small(good, q, 2, (ts_lcp_settings){.rtol = 1e-6, .max_sweeps = 2}, TS_NOT_CONVERGED, z);
  CHECK_INT(r.reason, TS_REASON_MAX_ITERATIONS);
  CHECK_INT(r.sweeps, 2);
  r = solve_small(good, q, 2, (ts_lcp_settings){.rtol = 1e-6, .progress = stop_at_once}, TS_NOT_CONVERGED, z);
  CHECK_INT(r.reason, TS_REASON_STOPPED);
  r = solve_small(good, q, 2, (ts_lcp_settings){.fixed_sweeps = 3}, TS_OK, z);
  CHECK_INT(r.reason, TS_REASON_FIXED_ITERATIONS);
  CHECK_INT(r.host_synchronisations, 0);
  CHECK(isnan(r.residual));
  /* Not positive definite: z grows without bound. */
  const double unbounded[] = {1, -3, -3, 1};
  r = solve_small(unbounded, q, 2, (ts_lcp_settings){0}, TS_NOT_CONVERGED, z);
  CHECK_INT(r.reason, TS_REASON_DIVERGED);
  CHECK(isfinite(z[0]) && isfinite(z[1]));
  const double no_number[] = {1, NAN};
  r = solve_small(good, no_number, 2, (ts_lcp_settings){0}, TS_NOT_CONVERGED, z);
  CHECK_INT(r.reason, TS_REASON_NAN_INPUT);
  /* Slow convergence is not stagnation: a sweep gains 0.05 %, and thirty gain more than 1 %. */
  const double c = -sqrt(0.9995), slow[] = {1, c, 0, c, 1, 0, 0, 0, 1}, slow_q[] = {-1, -1, -100};
  const ts_lcp_settings plain = {
      .acceleration = TS_LCP_ACCELERATION_NONE, .check_interval = 1, .max_sweeps = 300};
  r = solve_small(slow, slow_q, 3, plain, TS_NOT_CONVERGED, NULL);
  CHECK_INT(r.reason, TS_REASON_MAX_ITERATIONS);
  CHECK_INT(r.sweeps, 300);
}

/* Without a solution: the first row of w is 1 - z_1, the second z_0 - 2, ... and the sweeps of Gauss-Seidel
 * cycle. */
static void cycles(void) {
  const double matrix[] = {1, 2, 0, 0, 1, 2, 2, 0, 1}, q[] = {-1, -1, -1};
  double z[3];
  const ts_lcp_result r =
      solve_small(matrix, q, 3, (ts_lcp_settings){.check_interval = 1}, TS_NOT_CONVERGED, z);
  CHECK(r.reason == TS_REASON_CYCLING || r.reason == TS_REASON_STAGNATED);
}

/* ---- Bounds, H M^-1 H^T, new values ---- */

static void bounds(void) {
  lcp_sample s = lcp_sample_spd(70, 8);
  double *lower = ref_doubles(70, 1, -1, 0), *upper = ref_doubles(70, 2, 0, 0.5);
  for (int32_t i = 0; i < 70; i += 7) lower[i] = -INFINITY, upper[i] = INFINITY;
  s.lower = lower, s.upper = upper;
  ts_lcp *lcp = lcp_make(context, &s, TS_PRECISION_SINGLE);
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, 1, s.q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
  CHECK_OK(context, ts_lcp_solve(lcp, q, z, NULL, NULL));
  double *found = read_doubles(z);
  for (int32_t i = 0; i < 70; i++) {
    const double w = lcp_sample_row(&s, found, i);
    CHECK(found[i] >= (double)(float)lower[i] && found[i] <= (double)(float)upper[i]);
    if (found[i] > lower[i] + 1e-4) CHECK(w <= 1e-3);
    if (found[i] < upper[i] - 1e-4) CHECK(w >= -1e-3);
  }
  free(found);
  CHECK_OK(context, ts_lcp_set_bounds(lcp, (ts_array){0}, (ts_array){0}));
  s.lower = s.upper = NULL;
  CHECK_OK(context, ts_lcp_solve(lcp, q, z, NULL, NULL));
  found = read_doubles(z);
  check_complementary(&s, found, 1e-3);
  free(found), free(lower), free(upper);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
  lcp_sample_free(&s);
}

/* H = (1 2 0; 0 1 -1), with blocks of size 1 and 3. */
static void factors(void) {
  const int32_t offsets[] = {0, 2, 4}, columns[] = {0, 1, 1, 2};
  const double values[] = {1, 2, 1, -1}, q[] = {-3, -1};
  const double diagonal[] = {1, 0.5, 2}, block[] = {1, 0.25, 0, 0.25, 0.5, 0, 0, 0, 2};
  const ts_csr H = ts_host_csr(2, 3, offsets, columns, values);
  for (int k = 0; k < 2; k++) {
    const double a = k ? 4 : 3, b = k ? 1.25 : 1, c = 2.5; /* M = (a b; b c) */
    const ts_lcp_desc desc = {
        .size = 2, .jacobian = &H, .inverse_mass = k ? HOST(block) : HOST(diagonal), .mass_block = k ? 3 : 0};
    ts_lcp *lcp = NULL;
    if (!CHECK_OK(context, ts_lcp_create(context, &desc, &lcp))) break;
    ts_vector *qs = make_parts(ts_lcp_get_space(lcp), 1, 1, q),
              *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
    CHECK_OK(context, ts_lcp_solve(lcp, qs, z, &(ts_lcp_settings){.rtol = 1e-6}, NULL));
    double *found = read_doubles(z);
    const double second = (a * 1 - b * 3) / (a * c - b * b), z1 = second > 0 ? second : 0;
    CHECK_CLOSE(found[1], z1, 1e-5);
    CHECK_CLOSE(found[0], (3 - b * z1) / a, 1e-5);
    free(found);
    ts_vector_destroy(&qs);
    ts_vector_destroy(&z);
    ts_lcp_destroy(&lcp);
  }
}

/* ---- Problems that OpenGL does not support, or that exceed its limits ---- */

static void refuse(const ts_lcp_desc *desc, ts_status expected, const char *words) {
  ts_lcp *lcp = NULL;
  CHECK_FAILS(context, ts_lcp_create(context, desc, &lcp), expected, words);
  CHECK(lcp == NULL);
}

static void refusals(void) {
  const double matrix[] = {2, 0, 0, 2}, q[] = {1, 1};
  ts_lcp_desc desc = {.size = 2, .matrix = HOST(matrix)};
  ts_lcp *lcp = NULL;
  CHECK_OK(context, ts_lcp_create(context, &desc, &lcp));
  ts_vector *qs = make_parts(ts_lcp_get_space(lcp), 1, 1, q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
  for (int k = 0; k <= TS_LCP_SCHEME_RELAXED; k++) {
    const ts_lcp_settings settings = {.scheme = (ts_lcp_scheme)k};
    if (ts_lcp_has_scheme(context, settings.scheme))
      CHECK_OK(context, ts_lcp_solve(lcp, qs, z, &settings, NULL));
    else
      CHECK_FAILS(context, ts_lcp_solve(lcp, qs, z, &settings, NULL), TS_ERROR_UNSUPPORTED,
                  ts_lcp_scheme_name(settings.scheme));
  }
  ts_vector_destroy(&qs);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
  if (test_is_gl()) {
    for (int k = TS_LCP_SCHEME_GRAPH; k <= TS_LCP_SCHEME_RELAXED; k++)
      CHECK(!ts_lcp_has_scheme(context, (ts_lcp_scheme)k));
    /* Limits are checked before the matrix is read. */
    desc.size = context->caps.max_texture_size + 1;
    desc.matrix.count = (size_t)desc.size * (size_t)desc.size;
    refuse(&desc, TS_ERROR_LIMIT, "size is");
    desc.size = 1, desc.batch = context->caps.max_texture_size + 1;
    desc.matrix.count = (size_t)desc.batch;
    refuse(&desc, TS_ERROR_LIMIT, "a row each");
  }
}

TEST_MAIN(CASES_IN_CONTEXT(answers, sweeps, replaced, reasons, cycles, bounds, factors, refusals),
          CASES(threads, small_textures))
