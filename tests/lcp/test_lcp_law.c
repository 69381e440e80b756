/* The law of one contact in floats and in doubles: random blocks of every rank and scale, exactly and by
 * projection, and corners of the cone. */
#include "helpers.h"
#include "lcp_contacts.h"
#include "lcp_law_calls.h"

typedef struct contact {
  int dimension;
  double W[9], b[3], mu;
} contact;

static double uniform(ref_random *random) {
  return (double)ref_uniform(random, -1, 1);
}

/* W = G G^T, where G has `rank` columns, plus an unsymmetric part. With `sticking` W r = -b has a solution,
 * which a singular block otherwise lacks. */
static contact random_contact(ref_random *random, int dimension, int rank, double most_mu, double skew,
                              int sticking) {
  contact c = {.dimension = dimension, .mu = (double)ref_uniform(random, 0, (float)most_mu)};
  double G[3][3] = {{0}}, r[3];
  for (int i = 0; i < dimension; i++) {
    r[i] = uniform(random);
    for (int k = 0; k < rank; k++) G[i][k] = uniform(random) + (i == k);
  }
  for (int i = 0; i < dimension; i++) {
    c.b[i] = sticking ? 0 : uniform(random);
    for (int j = 0; j < dimension; j++) {
      for (int k = 0; k < rank; k++) c.W[i * dimension + j] += G[i][k] * G[j][k];
      c.W[i * dimension + j] += (i < j) * skew - (i > j) * skew;
      if (sticking) c.b[i] -= c.W[i * dimension + j] * r[j];
    }
  }
  return c;
}

/* Computes r by the law in one of the types, and returns its residual in double precision. Steps of projection
 * continue from r. */
static double solve(contact *c, int is_double, int exact, int steps, double *r) {
  const int n = c->dimension;
  float W[9], b[3], found[3] = {0, 0, 0};
  for (int k = 0; k < n * n; k++) W[k] = (float)c->W[k];
  for (int k = 0; k < n; k++) b[k] = (float)c->b[k], r[k] = 0;
  for (int step = 0; step < steps; step++)
    if (is_double)
      law_contact_double(r, c->W, c->b, c->mu, n, exact);
    else
      law_contact_float(found, W, b, (float)c->mu, n, exact);
  for (int k = 0; k < n && !is_double; k++) r[k] = (double)found[k];
  lcp_contacts s = {.dimension = n, .contacts = 1, .n = n, .matrix = c->W, .q = c->b, .friction = &c->mu};
  double size = 0;
  for (int k = 0; k < n; k++) size += fabs(c->b[k]) + fabs(r[k]);
  return lcp_contacts_residual(&s, r) / size;
}

typedef struct family {
  int rank; /* 0: the dimension */
  double most_mu, skew, tolerance[2];
} family;

static void check_family(const family *f, int dimension, int is_double, int exact) {
  ref_random random = {(uint64_t)f->rank + 5};
  const int rank = f->rank ? f->rank : dimension;
  double worst = 0, r[3];
  if (rank > dimension) return;
  test_context_label("dimension %d, rank %d, mu to %g, %s, %s", dimension, rank, f->most_mu,
                     is_double ? "double" : "single", exact ? "exact" : "projection");
  for (int k = 0; k < 20000; k++) {
    contact c = random_contact(&random, dimension, rank, f->most_mu, f->skew, k % 2);
    if (c.W[0] < 1e-3) continue;
    const double residual = solve(&c, is_double, exact, exact ? 1 : 2000, r);
    worst = residual <= worst ? worst : residual; /* includes NaN */
    if (!exact) k += 400;
  }
  CHECK(worst <= f->tolerance[is_double]);
}

static void blocks(void) {
  static const family exact[] = {{0, 1, 0, {1e-5, 1e-13}},
                                 {0, 10, 0, {1e-4, 1e-12}},
                                 {1, 1, 0, {1e-5, 1e-12}},
                                 {2, 1, 0, {1e-4, 1e-12}},
                                 {0, 0.5, 0.05, {1e-5, 1e-12}}};
  for (size_t k = 0; k < sizeof exact / sizeof exact[0]; k++)
    for (int dimension = 2; dimension <= 3; dimension++)
      for (int is_double = 0; is_double < 2; is_double++) check_family(&exact[k], dimension, is_double, 1);
}

/* Steps continue from r, so enough of them solve the law. Their number depends on the block. */
static void projections(void) {
  ref_random random = {77};
  for (int dimension = 2; dimension <= 3; dimension++)
    for (int k = 0; k < 50; k++) {
      test_context_label("dimension %d, problem %d", dimension, k);
      contact c = random_contact(&random, dimension, dimension, 0.5, 0, 0);
      for (int i = 0; i < dimension; i++) c.W[(dimension + 1) * i] += 1;
      double exact[3], r[3];
      CHECK(solve(&c, 1, 1, 1, exact) <= 1e-13);
      CHECK(solve(&c, 1, 0, 200, r) <= 1e-12);
      CHECK(solve(&c, 0, 0, 200, r) <= 1e-6);
      for (int i = 0; i < dimension; i++) CHECK_CLOSE(r[i], exact[i], 1e-5);
    }
}

static void check_map(const double *r, const double *u, double mu, const double *expected) {
  for (int dimension = 2; dimension <= 3; dimension++) {
    test_context_label("dimension %d, r (%g, %g), u (%g, %g), mu %g", dimension, r[0], r[1], u[0], u[1], mu);
    double map[3];
    law_map_contact(map, r, u, mu, dimension);
    for (int k = 0; k < dimension; k++) CHECK_CLOSE(map[k], expected[k], 1e-15);
  }
}

/* Points on the axis, on the edge, at the tip and in the polar cone. The third numbers are 0. */
static void corners(void) {
  static const double zero[3] = {0, 0, 0};
  check_map(zero, (const double[]){1, 0, 0}, 0, zero);
  check_map(zero, (const double[]){1, 0, 0}, 0.5, zero);
  check_map(zero, (const double[]){1, 2, 0}, 0.5, zero);
  check_map((const double[]){2, 1, 0}, zero, 0.5, zero);
  check_map((const double[]){-1, 0, 0}, zero, 0, (const double[]){-1, 0, 0});
  check_map((const double[]){-1, 0.5, 0}, zero, 0, (const double[]){-1, 0.5, 0});
  check_map((const double[]){1, 1, 0}, zero, 0, (const double[]){0, 1, 0});
  check_map((const double[]){0, 5, 0}, zero, 0.5, (const double[]){-2, 4, 0});
  check_map((const double[]){1, 0.5, 0}, (const double[]){0, -3, 0}, 0.5, zero);
  check_map((const double[]){1, 0.5, 0}, (const double[]){0, 3, 0}, 0.5, (const double[]){0.4, 0.8, 0});
}

/* Reactions much larger than the velocity: r - P(r - u) is 0 in doubles, but the map is not. */
static void large_reactions(void) {
  static const double large[] = {1, 1e8, 1e17, 1e30};
  for (size_t k = 0; k < sizeof large / sizeof large[0]; k++) {
    const double z = large[k], r[3] = {z, 0, 0}, mu = 0.5, on_edge[3] = {z, mu * z, 0};
    double map[3];
    test_context_label("r about %g", z);
    CHECK_CLOSE(law_map_unknown(z, 1e-3, 0, INFINITY), 1e-3, 0);
    CHECK_CLOSE(law_map_unknown(-z, -1e-3, -INFINITY, 0), -1e-3, 0);
    CHECK_CLOSE(law_map_unknown(2 * z, -1e-3, 0, 2 * z), 0, 0);
    check_map(r, (const double[]){-0.25, 0, 0}, mu, (const double[]){-0.25, 0, 0});
    check_map(r, (const double[]){0.25, 0.125, 0}, mu, (const double[]){0.3125, 0.125, 0});
    check_map(on_edge, (const double[]){0, -0.25, 0}, mu, (const double[]){0, 0, 0});
    for (int dimension = 2; dimension <= 3; dimension++) {
      law_map_contact(map, on_edge, (const double[]){-0.25, -0.25, 0}, mu, dimension); /* only u_n is wrong */
      CHECK_CLOSE(map[0], -0.2, 1e-15);
      CHECK_CLOSE(map[1], -0.1, 1e-15);
    }
  }
}

/* Velocities into the obstacle, which the natural map divides by mu. */
static void large_friction(void) {
  for (double mu = 1; mu < 1e300; mu *= 1e5)
    for (int dimension = 2; dimension <= 3; dimension++) {
      double map[3] = {0, 0, 0};
      test_context_label("dimension %d, mu %g", dimension, mu);
      law_map_contact(map, (const double[]){0, 0, 0}, (const double[]){-1, 0.5, 0}, mu, dimension);
      CHECK(hypot(map[0], map[1]) >= 0.0995);
      law_map_contact(map, (const double[]){1, 0.5, 0}, (const double[]){1, 0, 0}, mu, dimension);
      CHECK(hypot(map[0], map[1]) >= 0.0995);
      law_map_contact(map, (const double[]){1, -0.5, 0}, (const double[]){0, 0, 0}, mu, dimension);
      CHECK_CLOSE(hypot(map[0], map[1]), 0, 1e-15);
    }
}

TEST_MAIN(CASES(blocks, projections, corners, large_reactions, large_friction))
