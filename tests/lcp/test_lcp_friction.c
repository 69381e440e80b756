/* Contacts with friction: known solutions, random bodies, both local solvers, rotated frames, slopes. */
#include <texsolve/lcp.h>

#include "helpers.h"
#include "lcp_contacts.h"
#include "lcp_samples.h"

static ts_context *context;

/* ---- Solving ---- */

/* Returns r of a problem, n numbers. `result` may be NULL. */
static double *solve(const lcp_contacts *s, ts_precision precision, const ts_lcp_settings *settings,
                     ts_lcp_result *result) {
  ts_lcp *lcp = lcp_contacts_make(context, s, precision);
  if (!lcp) return calloc((size_t)s->n, sizeof(double));
  const int parts = precision == TS_PRECISION_DOUBLE ? 2 : 1;
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, parts, s->q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, parts, NULL);
  CHECK_OK(context, ts_lcp_solve(lcp, q, z, settings, result));
  double *r = read_doubles(z);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
  return r;
}

static double *solve_to(const lcp_contacts *s, ts_precision precision, double rtol, ts_lcp_local local) {
  const ts_lcp_settings settings = {.local = local, .rtol = rtol, .max_sweeps = 20000, .check_interval = 1};
  return solve(s, precision, &settings, NULL);
}

static double *solve_exactly(const lcp_contacts *s, ts_lcp_local local) {
  return solve_to(s, TS_PRECISION_DOUBLE, 1e-12, local);
}

static double norm(const double *v, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += v[i] * v[i];
  return sqrt(sum);
}

/* ---- One contact ---- */

static void check_one(int dimension, const double *W, const double *b, double mu, const double *expected) {
  lcp_contacts s = lcp_contacts_given(dimension, 1, W, b, &mu);
  for (ts_lcp_local local = TS_LCP_LOCAL_PROJECTION; local <= TS_LCP_LOCAL_EXACT; local++) {
    test_context_label("dimension %d, b (%g, %g), %s", dimension, b[0], b[1], ts_lcp_local_name(local));
    double *r = solve_to(&s, TS_PRECISION_SINGLE, 1e-5, local);
    for (int k = 0; k < dimension; k++) CHECK_CLOSE(r[k], expected[k], 1e-4);
    free(r);
    if (!has_pairs(context)) continue;
    r = solve_exactly(&s, local);
    for (int k = 0; k < dimension; k++) CHECK_CLOSE(r[k], expected[k], 1e-10);
    free(r);
  }
  lcp_contacts_free(&s);
}

static void one_contact(void) {
  const double W2[] = {2, 0, 0, 1}, W3[] = {2, 0, 0, 0, 1, 0, 0, 0, 1};
  check_one(2, W2, (const double[]){1, 7}, 0.5, (const double[]){0, 0});
  check_one(2, W2, (const double[]){-2, 0.3}, 0.5, (const double[]){1, -0.3});
  check_one(2, W2, (const double[]){-2, 3}, 0.5, (const double[]){1, -0.5});
  check_one(2, W2, (const double[]){-2, -3}, 0.5, (const double[]){1, 0.5});
  check_one(2, W2, (const double[]){-2, -3}, 0, (const double[]){1, 0});
  check_one(3, W3, (const double[]){1, 7, -3}, 0.5, (const double[]){0, 0, 0});
  check_one(3, W3, (const double[]){-2, 0.3, -0.4}, 0.6, (const double[]){1, -0.3, 0.4});
  check_one(3, W3, (const double[]){-2, 3, 4}, 0.5, (const double[]){1, -0.3, -0.4});
  check_one(3, W3, (const double[]){-2, 3, 4}, 0, (const double[]){1, 0, 0});
  check_one(3, W3, (const double[]){-2, 0, 0}, 0.5, (const double[]){1, 0, 0});
  /* Symmetric up to rounding, at the limit of the range of single precision. */
  const double nearly3[] = {2, 0, 0, 0, 1, 1e-33, 0, 1e-33, 1};
  check_one(3, nearly3, (const double[]){-2, 0.3, -0.4}, 0.6, (const double[]){1, -0.3, 0.4});
  check_one(3, nearly3, (const double[]){-2, 3, 4}, 0.5, (const double[]){1, -0.3, -0.4});
  /* Full blocks with b = u - W r, for chosen sliding velocities u and reactions r. */
  const double full2[] = {2, 0.5, 0.5, 1.5}, full3[] = {2, 0.5, -0.4, 0.5, 1.5, 0.3, -0.4, 0.3, 1};
  const double mu = 0.4, r2[] = {1, 0.4}, u2[] = {0, -2}, r3[] = {1, -0.24, 0.32}, u3[] = {0, 1.5, -2};
  double b2[2], b3[3];
  for (int i = 0; i < 2; i++) b2[i] = u2[i] - full2[2 * i] * r2[0] - full2[2 * i + 1] * r2[1];
  for (int i = 0; i < 3; i++)
    b3[i] = u3[i] - full3[3 * i] * r3[0] - full3[3 * i + 1] * r3[1] - full3[3 * i + 2] * r3[2];
  check_one(2, full2, b2, mu, r2);
  check_one(3, full3, b3, mu, r3);
}

/* A force causes no tangential motion: W_tt = 0. The contact slides with b_t. */
static void singular_blocks(void) {
  const double W2[] = {2, 0, 0, 0}, W3[] = {2, 0, 0, 0, 0, 0, 0, 0, 0};
  check_one(2, W2, (const double[]){-2, 3}, 0.5, (const double[]){1, -0.5});
  check_one(3, W3, (const double[]){-2, 3, 4}, 0.5, (const double[]){1, -0.3, -0.4});
  /* Rank 2: only the first tangent moves. */
  const double rank[] = {2, 0, 0, 0, 1, 0, 0, 0, 0};
  check_one(3, rank, (const double[]){-2, 0.2, 0}, 0.5, (const double[]){1, -0.2, 0});
}

/* One exact sweep solves one contact exactly, and one sweep by projection only approximately. This shows that
 * the setting is used. */
static void locals(void) {
  const double W3[] = {2, 0.5, -0.4, 0.5, 1.5, 0.3, -0.4, 0.3, 1}, b[] = {-2, 3, 1}, mu = 0.4;
  for (int dimension = 2; dimension <= 3; dimension++) {
    const double W2[] = {2, 0.5, 0.5, 1.5};
    lcp_contacts s = lcp_contacts_given(dimension, 1, dimension == 2 ? W2 : W3, b, &mu);
    for (ts_lcp_local local = TS_LCP_LOCAL_AUTO; local <= TS_LCP_LOCAL_EXACT; local++) {
      test_context_label("dimension %d, %s", dimension, ts_lcp_local_name(local));
      const ts_lcp_settings settings = {.local = local, .fixed_sweeps = 1};
      double *r = solve(&s, TS_PRECISION_DOUBLE, &settings, NULL);
      const double residual = lcp_contacts_residual(&s, r);
      if (local == TS_LCP_LOCAL_PROJECTION)
        CHECK(residual > 1e-9 && residual < 0.5);
      else
        CHECK(residual < 1e-13);
      free(r);
    }
    lcp_contacts_free(&s);
  }
}

/* ---- Random bodies ---- */

static void solve_random(int dimension, int32_t contacts, ts_precision precision, ts_lcp_local local) {
  test_context_label("dimension %d, %d contacts, %s, %s", dimension, contacts, ts_precision_name(precision),
                     ts_lcp_local_name(local));
  lcp_contacts s = lcp_contacts_random(dimension, contacts, 0.8, (unsigned)contacts);
  const int is_double = precision == TS_PRECISION_DOUBLE;
  const ts_lcp_settings settings = {
      .local = local, .rtol = is_double ? 1e-11 : 1e-5, .max_sweeps = 5000, .check_interval = 5};
  ts_lcp_result result = {.residual = NAN};
  double *r = solve(&s, precision, &settings, &result), *u = calloc((size_t)s.n, sizeof *u);
  const double size = norm(s.q, s.n);
  CHECK_INT(result.reason, TS_REASON_CONVERGED);
  CHECK(result.relative_residual <= settings.rtol);
  /* With pairs of floats the residual of a contact at the edge of its cone includes the rounding error of its
   * gap, 8 * 7.1e-15 of r. See lcp_map_contact in the shaders. */
  const double actual = lcp_contacts_residual(&s, r),
               allowed = (is_double ? 1e-14 : 1e-6) * (size + norm(r, s.n));
  CHECK(result.residual >= actual - allowed);
  CHECK(result.residual <= actual + allowed + (is_double && test_is_gl() ? 5.7e-14 * norm(r, s.n) : 0));
  lcp_contacts_velocity(&s, r, u);
  for (int32_t k = 0; k < contacts; k++)
    CHECK(lcp_contacts_fault(&s, r, u, k) <= (is_double ? 1e-10 : 1e-4) * size * (1 + norm(r, s.n)));
  free(r), free(u);
  lcp_contacts_free(&s);
}

static void random_bodies(void) {
  static const int32_t counts[] = {1, 2, 5, 8, 17, 40, 70};
  for (int dimension = 2; dimension <= 3; dimension++)
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
      for (ts_lcp_local local = TS_LCP_LOCAL_AUTO; local <= TS_LCP_LOCAL_EXACT; local++) {
        if (test_is_brief() && (k + (size_t)local) % 3) continue;
        solve_random(dimension, counts[k], TS_PRECISION_SINGLE, local);
        if (has_pairs(context)) solve_random(dimension, counts[k], TS_PRECISION_DOUBLE, local);
      }
}

/* The natural map far from 0: inside the cone, outside and below it. */
static void residuals(void) {
  for (int dimension = 2; dimension <= 3; dimension++) {
    test_context_label("dimension %d", dimension);
    lcp_contacts s = lcp_contacts_random(dimension, 30, 1.5, 11);
    s.friction[3] = 0;
    ts_lcp *lcp = lcp_contacts_make(context, &s, TS_PRECISION_DOUBLE);
    ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, 2, s.q);
    for (unsigned k = 0; k < 4; k++) {
      double *r = ref_doubles((size_t)s.n, 40 + k, k % 2 ? -1 : -0.2, 1), residual = NAN;
      ts_vector *z = make_parts(ts_lcp_get_space(lcp), 1, 2, r);
      const double expected = lcp_contacts_residual(&s, r);
      CHECK_OK(context, ts_lcp_residual(lcp, q, z, &residual));
      CHECK(expected > 0.1);
      CHECK_CLOSE(residual, expected, 1e-12 * expected);
      ts_vector_destroy(&z);
      free(r);
    }
    ts_vector_destroy(&q);
    ts_lcp_destroy(&lcp);
    lcp_contacts_free(&s);
  }
}

/* The problems of a batch are solved as if each were alone. */
static void batches(void) {
  enum { count = 3 };
  for (int dimension = 2; dimension <= 3; dimension++) {
    test_context_label("dimension %d", dimension);
    lcp_contacts one[count];
    const size_t n = (size_t)dimension * 9;
    double *matrix = calloc(count * n * n, sizeof *matrix), *numbers = calloc(count * n, sizeof *numbers),
           *friction = calloc(count * 9, sizeof *friction);
    for (size_t k = 0; k < count; k++) {
      one[k] = lcp_contacts_random(dimension, 9, 0.7, (unsigned)k + 50);
      memcpy(matrix + k * n * n, one[k].matrix, n * n * sizeof *matrix);
      memcpy(numbers + k * n, one[k].q, n * sizeof *numbers);
      memcpy(friction + k * 9, one[k].friction, 9 * sizeof *friction);
    }
    const ts_lcp_desc desc = {.size = (int32_t)n,
                              .batch = count,
                              .dimension = dimension,
                              .matrix = ts_host(matrix, count * n * n),
                              .friction = ts_host(friction, count * 9)};
    ts_lcp *lcp = NULL;
    CHECK_OK(context, ts_lcp_create(context, &desc, &lcp));
    ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, 1, numbers),
              *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
    CHECK_OK(context, ts_lcp_solve(lcp, q, z, &(ts_lcp_settings){.fixed_sweeps = 7}, NULL));
    double *all = read_doubles(z);
    for (size_t k = 0; k < count; k++) {
      double *r = solve(&one[k], TS_PRECISION_SINGLE, &(ts_lcp_settings){.fixed_sweeps = 7}, NULL);
      for (size_t i = 0; i < n; i++) CHECK_CLOSE(all[k * n + i], r[i], 0);
      CHECK(norm(r, (int32_t)n) > 0);
      free(r);
      lcp_contacts_free(&one[k]);
    }
    free(all), free(matrix), free(numbers), free(friction);
    ts_vector_destroy(&q);
    ts_vector_destroy(&z);
    ts_lcp_destroy(&lcp);
  }
}

/* ---- Without friction, in other frames, on a slope ---- */

/* mu = 0: only the problem of the normals, and tangential reactions are 0. */
static void frictionless(void) {
  for (int dimension = 2; dimension <= 3; dimension++) {
    test_context_label("dimension %d", dimension);
    lcp_contacts s = lcp_contacts_random(dimension, 20, 0, 9);
    lcp_sample normals = {.n = 20, .batch = 1, .matrix = calloc(400, sizeof(double))};
    normals.q = calloc(20, sizeof(double));
    for (int32_t i = 0; i < 20; i++) {
      normals.q[i] = s.q[i * dimension];
      for (int32_t j = 0; j < 20; j++)
        normals.matrix[i * 20 + j] = s.matrix[i * dimension * s.n + j * dimension];
    }
    ts_lcp *lcp = lcp_make(context, &normals, TS_PRECISION_DOUBLE);
    ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, 2, normals.q),
              *z = make_parts(ts_lcp_get_space(lcp), 1, 2, NULL);
    CHECK_OK(context, ts_lcp_solve(lcp, q, z, &(ts_lcp_settings){.rtol = 1e-12}, NULL));
    double *expected = read_doubles(z), *r = solve_exactly(&s, TS_LCP_LOCAL_EXACT);
    for (int32_t i = 0; i < s.n; i++)
      CHECK_CLOSE(r[i], i % dimension ? 0 : expected[i / dimension], i % dimension ? 0 : 1e-9);
    CHECK(norm(r, s.n) > 0.1);
    free(expected), free(r);
    ts_vector_destroy(&q);
    ts_vector_destroy(&z);
    ts_lcp_destroy(&lcp);
    lcp_sample_free(&normals);
    lcp_contacts_free(&s);
  }
}

/* x = R x of each contact: its tangents are rotated by an individual angle, or reversed in two dimensions. */
static void turn(int dimension, int32_t contacts, double *x, size_t stride) {
  for (int32_t k = 0; k < contacts; k++) {
    double *t = x + ((size_t)k * (size_t)dimension + 1) * stride, first = t[0];
    if (dimension == 2) {
      t[0] = -first;
      continue;
    }
    t[0] = cos(k) * first - sin(k) * t[stride];
    t[stride] = sin(k) * first + cos(k) * t[stride];
  }
}

/* The law does not prefer any tangents. */
static void frames(void) {
  for (int dimension = 2; dimension <= 3; dimension++) {
    test_context_label("dimension %d", dimension);
    lcp_contacts s = lcp_contacts_random(dimension, 20, 0.4, 21);
    double *r = solve_exactly(&s, TS_LCP_LOCAL_EXACT), *projected = solve_exactly(&s, TS_LCP_LOCAL_PROJECTION);
    for (int32_t i = 0; i < s.n; i++) turn(dimension, s.contacts, s.matrix + (size_t)i * (size_t)s.n, 1);
    for (int32_t i = 0; i < s.n; i++) turn(dimension, s.contacts, s.matrix + i, (size_t)s.n);
    turn(dimension, s.contacts, s.q, 1);
    double *turned = solve_exactly(&s, TS_LCP_LOCAL_EXACT);
    for (int32_t i = 0; i < s.n; i++) CHECK_CLOSE(projected[i], r[i], 1e-8);
    turn(dimension, s.contacts, r, 1);
    for (int32_t i = 0; i < s.n; i++) CHECK_CLOSE(turned[i], r[i], 1e-8);
    free(r), free(projected), free(turned);
    lcp_contacts_free(&s);
  }
}

static void check_box(int dimension, double tangent, double phi, double mu, ts_lcp_local local) {
  test_context_label("dimension %d, slope %g, direction %g, %s", dimension, tangent, phi,
                     ts_lcp_local_name(local));
  lcp_contacts s = lcp_contacts_box(dimension, tangent, phi, mu);
  double *r = solve_exactly(&s, local), *u = calloc((size_t)s.n, sizeof *u), weight = 0;
  const double angle = atan(tangent), speed = fmax(sin(angle) - mu * cos(angle), 0);
  lcp_contacts_velocity(&s, r, u);
  for (int32_t k = 0; k < s.contacts; k++) {
    const double *uk = u + k * dimension;
    weight += r[k * dimension];
    CHECK_CLOSE(uk[0], 0, 1e-9);
    CHECK_CLOSE(uk[1], speed * cos(phi), 1e-9);
    if (dimension == 3) CHECK_CLOSE(uk[2], speed * sin(phi), 1e-9);
  }
  CHECK_CLOSE(weight, cos(angle), 1e-9);
  free(r), free(u);
  lcp_contacts_free(&s);
}

/* A box on a slope sticks if tan(angle) <= mu, and otherwise slides down with sin(angle) - mu cos(angle). */
static void slopes(void) {
  static const double tangents[] = {0, 0.3, 0.499, 0.501, 0.7};
  for (size_t k = 0; k < sizeof tangents / sizeof tangents[0]; k++)
    for (ts_lcp_local local = TS_LCP_LOCAL_PROJECTION; local <= TS_LCP_LOCAL_EXACT; local++) {
      check_box(2, tangents[k], 0, 0.5, local);
      for (int direction = 0; direction < 3; direction++)
        check_box(3, tangents[k], 0.7 * direction, 0.5, local);
    }
}

/* These also run in double precision. */
static const test_fixture exact = {.context = &context, .needs_pairs = 1};

TEST_MAIN(CASES_IN_CONTEXT(one_contact, singular_blocks, random_bodies, batches),
          CASES_WITH(&exact, locals, residuals, frictionless, frames, slopes))
