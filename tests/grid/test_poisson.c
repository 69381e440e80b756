/* Poisson problems with a known solution on every backend: the order of the discretisation, the error of full
 * multigrid, and right-hand sides without a solution. */
#include "poisson_samples.h"

static ts_context *context;

/* Far below the discretisation errors that are examined, which are 1e-5 and more. */
static double tolerance(void) {
  return has_precise_residuals(context) ? 1e-9 : 1e-6;
}

/* ---- Order ---- */

typedef struct error_norms {
  double rms, largest;
} error_norms;

/* The difference between x and the solution of the differential equation. Singular problems ignore its mean. */
static error_norms error_of(const poisson_sample *s, const float *x, int singular) {
  const size_t n = sample_count(s);
  error_norms e = {0, 0};
  double shift = 0;
  for (size_t k = 0; singular && k < n; k++) shift += (x[k] - s->exact[k]) / (double)n;
  for (size_t k = 0; k < n; k++) {
    const double difference = fabs(x[k] - s->exact[k] - shift);
    e.rms += difference * difference / (double)n;
    if (!(difference <= e.largest)) e.largest = difference;
  }
  e.rms = sqrt(e.rms);
  return e;
}

static int solve(const sample_desc *desc, error_norms *error, double *spacing) {
  poisson_sample s;
  sample_objects o;
  const ts_multigrid_desc method = {.rtol = tolerance()};
  ts_result result = {0};
  ts_multigrid_info info = {0};
  int solved = 0;
  sample_make(desc, &s);
  if (sample_upload(context, &s, &method, &o)) {
    solved = CHECK_OK(context, ts_multigrid_solve(o.multigrid, o.b, o.x, &result));
    CHECK_OK(context, ts_multigrid_get_info(o.multigrid, &info));
    const int singular = desc->sigma == 0 && !sample_has_dirichlet(desc);
    CHECK_INT(info.null_space_components, singular);
    float *x = read_vector(o.x);
    *error = error_of(&s, x, singular);
    *spacing = s.desc.spacing;
    free(x);
  }
  sample_destroy(&o);
  sample_free(&s);
  return solved;
}

/* A rectangle of 4 : 3 with cells of 1/32, 1/64, ... of its width. */
static void set_size(sample_desc *d, int32_t cells) {
  const int points = d->centring == TS_CENTRING_VERTEX;
  d->width = cells + (points && d->boundaries->left != TS_BOUNDARY_PERIODIC);
  d->height = 3 * cells / 4 + (points && d->boundaries->bottom != TS_BOUNDARY_PERIODIC);
}

static void check_order(const sample_desc *base, const char *name) {
  const int32_t sizes[] = {32, 64, 128, 256};
  const int count = test_is_brief() ? 2 : test_is_gl() || test_is_check() ? 3 : 4;
  error_norms before = {0, 0}, error = {0, 0};
  double spacing_before = 0, spacing = 0;
  for (int k = 0; k < count; k++) {
    sample_desc desc = *base;
    set_size(&desc, sizes[k]);
    test_context_label("%s, %dx%d", name, desc.width, desc.height);
    if (!solve(&desc, &error, &spacing)) break;
    if (k > 0) {
      const double step = log(spacing_before / spacing);
      CHECK_CLOSE(log(before.rms / error.rms) / step, 2, 0.1);
      CHECK_CLOSE(log(before.largest / error.largest) / step, 2, 0.25);
    }
    before = error;
    spacing_before = spacing;
  }
  test_context_label("%s", "");
}

static void second_order(void) {
  for (int k = 0; sample_boundaries[k].name; k++)
    for (int cells = 0; cells < 2; cells++) {
      char name[100];
      if (test_is_brief() && (k + cells) % 2) continue;
      sample_desc desc = {.boundaries = &sample_boundaries[k],
                          .centring = cells ? TS_CENTRING_CELL : TS_CENTRING_VERTEX};
      snprintf(name, sizeof name, "%s, %s", desc.boundaries->name, cells ? "cells" : "points");
      check_order(&desc, name);
    }
}

static void second_order_of_coefficients(void) {
  for (int k = 0; sample_boundaries[k].name; k++) {
    char name[100];
    sample_desc desc = {.boundaries = &sample_boundaries[k],
                        .centring = k % 2 ? TS_CENTRING_CELL : TS_CENTRING_VERTEX};
    desc.variable = 1;
    snprintf(name, sizeof name, "%s, variable k", desc.boundaries->name);
    if (!test_is_brief() || k / 2 % 2 == 0) check_order(&desc, name);
    desc.sigma = 10;
    desc.centring = k % 2 ? TS_CENTRING_VERTEX : TS_CENTRING_CELL;
    snprintf(name, sizeof name, "%s, variable k, sigma 10", desc.boundaries->name);
    if (!test_is_brief() || k / 2 % 2) check_order(&desc, name);
  }
}

/* ---- Full multigrid ---- */

/* If the boundary values are 0, one pass of V(2,2) from 0 must leave an error that is small compared with that
 * of the discretisation: 0.2 to 5 %. (Passes of V(1,1) leave an error of the same size.) On finer grids the
 * rounding errors of the pass in single precision exceed the discretisation error, which decreases with h^2. */
static void check_full(const sample_desc *desc) {
  poisson_sample s;
  sample_objects o;
  const ts_multigrid_desc method = {.full = 1, .pre = 2, .post = 2, .rtol = tolerance()};
  sample_make(desc, &s);
  if (sample_upload(context, &s, &method, &o)) {
    const size_t n = sample_count(&s);
    CHECK_OK(context, ts_multigrid_cycle(o.multigrid, o.b, o.x, 1));
    float *pass = read_vector(o.x);
    CHECK_OK(context, ts_multigrid_solve(o.multigrid, o.b, o.x, NULL));
    float *converged = read_vector(o.x);
    double squares = 0, shift = 0;
    for (size_t k = 0; k < n; k++) shift += ((double)pass[k] - converged[k]) / (double)n;
    if (sample_has_dirichlet(desc)) shift = 0;
    for (size_t k = 0; k < n; k++) {
      const double d = (double)pass[k] - converged[k] - shift;
      squares += d * d / (double)n;
    }
    const double discretisation = error_of(&s, converged, !sample_has_dirichlet(desc)).rms;
    CHECK_CLOSE(sqrt(squares) / discretisation, 0, 0.1);
    free(pass);
    free(converged);
  }
  sample_destroy(&o);
  sample_free(&s);
}

static void full_multigrid(void) {
  for (int k = 0; sample_boundaries[k].name; k++) {
    if (test_is_brief() && k % 2) continue;
    sample_desc desc = {.boundaries = &sample_boundaries[k], .homogeneous = 1};
    set_size(&desc, 64);
    test_context_label("%s", desc.boundaries->name);
    check_full(&desc);
  }
}

/* ---- Right-hand sides without a solution ---- */

static void incompatible(void) {
  const sample_desc desc = {.boundaries = sample_boundaries_named("neumann"), .width = 65, .height = 40};
  poisson_sample s;
  sample_objects o;
  ts_result result = {0};
  sample_make(&desc, &s);
  /* g = cos(pi x) has mean 0 up to discretisation. With 1 added it has no solution. */
  for (int32_t j = 0; j < desc.height; j++)
    for (int32_t i = 0; i < desc.width; i++)
      s.g[j * desc.width + i] = (float)(1 + sqrt(2) * cos(3.14159265358979 * i / (desc.width - 1)));
  for (int k = 0; k < 4; k++)
    memset(s.boundaries[k], 0, (size_t)(k < 2 ? desc.height : desc.width) * sizeof(float));
  if (sample_upload(context, &s, NULL, &o)) {
    CHECK_OK(context, ts_multigrid_solve(o.multigrid, o.b, o.x, &result));
    /* ||1|| / ||1 + sqrt(2) cos|| = 1 / sqrt(2) for continuous functions. */
    CHECK_CLOSE(result.incompatible, sqrt(0.5), 0.02);
    CHECK(result.relative_residual <= 1e-6);
    float *x = read_vector(o.x);
    double mean = 0, largest = 0;
    for (size_t k = 0; k < sample_count(&s); k++) {
      mean += x[k] / (double)sample_count(&s);
      largest = fmax(largest, fabs((double)x[k]));
    }
    CHECK_CLOSE(mean, 0, 1e-6 * largest);
    /* pi^2 u = g */
    CHECK_CLOSE(largest, sqrt(2) / (3.14159265358979 * 3.14159265358979), 0.01);
    free(x);
  }
  sample_destroy(&o);
  sample_free(&s);
}

/* A right-hand side outside the range of single precision is reported. */
static void range(void) {
  const ts_poisson_desc desc = {.width = 33, .height = 33};
  float g[33 * 33], b[33 * 33], x[33 * 33];
  for (int k = 0; k < 33 * 33; k++) g[k] = 1e-39F;
  CHECK_FAILS(context,
              ts_poisson_right_hand_side(context, &desc, ts_host(g, (size_t)desc.width * (size_t)desc.height),
                                         NULL, ts_host(b, (size_t)desc.width * (size_t)desc.height),
                                         ts_host(x, (size_t)desc.width * (size_t)desc.height)),
              TS_ERROR_INVALID_ARGUMENT, "1e-39");
  for (int k = 0; k < 33 * 33; k++) g[k] = 1e-30F;
  CHECK_OK(context,
           ts_poisson_right_hand_side(context, &desc, ts_host(g, (size_t)desc.width * (size_t)desc.height),
                                      NULL, ts_host(b, (size_t)desc.width * (size_t)desc.height),
                                      ts_host(x, (size_t)desc.width * (size_t)desc.height)));
}

TEST_MAIN(CASES_IN_CONTEXT(second_order, second_order_of_coefficients, full_multigrid, incompatible, range))
