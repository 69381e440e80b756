/* Tests the model of mesh-smooth: steps and their history, noise, changes of options and of the device. Usage:
 * test_smoother BACKEND */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_generate.h"
#include "smoother.h"

static int failures;

#define CHECK(condition)                                                                                       \
  do {                                                                                                         \
    if (!(condition)) {                                                                                        \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                          \
      failures++;                                                                                              \
    }                                                                                                          \
  } while (0)
/* For conditions that the rest of a test needs. */
#define REQUIRE(condition)                                                                                     \
  do {                                                                                                         \
    if (!(condition)) {                                                                                        \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, message);                             \
      exit(1);                                                                                                 \
    }                                                                                                          \
  } while (0)

static char message[MESH_MESSAGE];

static void make_mesh(const char *what, double noise, mesh *m) {
  REQUIRE(!mesh_generate(what, m, message));
  if (noise > 0) REQUIRE(!mesh_add_noise(m, noise, 3, message));
}

static smoother *open_smoother(const char *what, double noise, const smoother_options *options) {
  mesh m;
  smoother *s;
  make_mesh(what, noise, &m);
  REQUIRE(!smoother_create(&m, options, &s, message));
  return s;
}

static size_t count(const smoother *s) {
  return 3 * (size_t)s->start->m.vertex_count;
}

static int equal(const double *a, const double *b, size_t numbers) {
  for (size_t k = 0; k < numbers; k++)
    if (a[k] != b[k]) return 0;
  return 1;
}

/* The present positions; the caller frees them. */
static float *positions(const smoother *s) {
  float *p = malloc(count(s) * sizeof *p);
  REQUIRE(p && ts_vector_read(smoother_positions(s), ts_host(p, count(s))) == TS_OK);
  return p;
}

static int stands_at(const smoother *s, const float *expected) {
  float *now = positions(s);
  const int same = !memcmp(now, expected, count(s) * sizeof *now);
  free(now);
  return same;
}

static step_report step(smoother *s) {
  step_report r;
  REQUIRE(!smoother_step(s, 1, 1, &r, message));
  CHECK(r.substeps == 1 && r.converged);
  return r;
}

static void test_past(const smoother_options *options) {
  smoother *s = open_smoother("sphere:500", 0.01, options);
  float *p0 = positions(s);
  CHECK(!memcmp(p0, s->start->unit, count(s) * sizeof *p0));
  CHECK(!s->past && !s->future && s->steps == 0);
  CHECK(smoother_undo(s, message) && strstr(message, "undo"));
  CHECK(smoother_redo(s, message) && strstr(message, "redo"));

  const step_report first = step(s);
  float *p1 = positions(s);
  const step_report second = step(s);
  float *p2 = positions(s);
  CHECK(first.number == 1 && second.number == 2 && s->steps == 2);
  CHECK(second.area < first.area && first.area < s->measures.area);
  CHECK(!stands_at(s, p0) && !stands_at(s, p1));

  const ts_vector *vector = smoother_positions(s);
  CHECK(!smoother_undo(s, message) && stands_at(s, p1) && s->steps == 1);
  CHECK(!smoother_undo(s, message) && stands_at(s, p0) && s->steps == 0);
  CHECK(smoother_undo(s, message));
  CHECK(!smoother_redo(s, message) && stands_at(s, p1) && s->steps == 1);
  CHECK(vector == smoother_positions(s));
  /* A new step replaces the undone ones, and has the same result. */
  const step_report again = step(s);
  CHECK(again.number == 2 && again.area == second.area && stands_at(s, p2));
  CHECK(!s->future && smoother_redo(s, message));

  CHECK(!smoother_reset(s, message) && stands_at(s, p0) && s->steps == 0);
  CHECK(!smoother_undo(s, message) && stands_at(s, p2) && s->steps == 2);
  free(p0);
  free(p1);
  free(p2);
  smoother_destroy(&s);
}

static void test_noise(const smoother_options *options) {
  smoother *s = open_smoother("sphere:500", 0, options);
  step(s);
  float *smooth = positions(s);
  const int start = s->start->number;
  const double area = s->measures.area;
  CHECK(!smoother_add_noise(s, 0.01, 5, message));
  float *noisy = positions(s);
  CHECK(!stands_at(s, smooth) && s->start->number != start && s->steps == 0);
  CHECK(!memcmp(noisy, s->start->unit, count(s) * sizeof *noisy));
  CHECK(s->measures.area > area);
  step(s);
  CHECK(!smoother_reset(s, message) && stands_at(s, noisy));
  CHECK(!smoother_undo(s, message) && !smoother_undo(s, message) && stands_at(s, noisy));
  CHECK(!smoother_undo(s, message) && stands_at(s, smooth));
  CHECK(s->start->number == start && s->steps == 1);
  CHECK(s->measures.area == area);
  CHECK(!smoother_redo(s, message) && stands_at(s, noisy) && s->start->number != start);
  free(smooth);
  free(noisy);
  smoother_destroy(&s);
}

/* Without a history the device memory does not grow. */
static void test_forgetting(const smoother_options *options) {
  smoother_options o = *options;
  o.forgets = 1;
  smoother *s = open_smoother("sphere:500", 0.01, &o);
  step(s);
  CHECK(!smoother_add_noise(s, 0.01, 5, message));
  step(s);
  ts_context_info first, last;
  CHECK(ts_context_get_info(s->device.context, &first) == TS_OK);
  for (int k = 0; k < 20; k++) step(s);
  CHECK(!smoother_reset(s, message));
  CHECK(ts_context_get_info(s->device.context, &last) == TS_OK);
  CHECK(first.bytes_device > 0 && last.bytes_device == first.bytes_device);
  CHECK(!s->past && smoother_undo(s, message) && strstr(message, "nothing to undo"));
  smoother_destroy(&s);
}

/* The residuals are those of the last step's solve. */
static void test_residuals(const smoother_options *options) {
  smoother_options o = *options;
  o.time_step = 1e-3;
  smoother *s = open_smoother("sphere:500", 0.01, &o);
  const step_report r = step(s);
  /* The device may have made more iterations after the last check of the residual. */
  int kept = s->residual_count;
  const float *residuals = s->residuals;
  CHECK(kept > 2 && kept <= r.iterations);
  CHECK(residuals[0] > 1e-4 && residuals[kept - 1] <= 1e-4);
  CHECK(r.seconds_matrix > 0 && r.seconds_solve > 0 && isnan(r.seconds_draw));
  o.cg_iterations = 3;
  CHECK(!smoother_set_options(s, &o, message));
  step_report few;
  CHECK(!smoother_step(s, 0, 0, &few, message));
  kept = s->residual_count;
  CHECK(few.iterations == 3 && kept == 3 && few.substeps == 1 && !few.converged);
  CHECK(isnan(few.area) && isnan(few.volume) && few.seconds_matrix == 0 && few.seconds_solve > 0);
  smoother_destroy(&s);
  /* The boundary is solved first. Its residuals do not belong to the last solve. */
  o.cg_iterations = 0;
  o.boundary = TS_MESH_BOUNDARY_FLOW;
  s = open_smoother("scan:800", 0, &o);
  const step_report two = step(s);
  kept = s->residual_count;
  CHECK(kept > 0 && two.iterations >= kept + 2);
  smoother_destroy(&s);
}

static void refused(smoother *s, const smoother_options *o, const char *why) {
  float *before = positions(s);
  const smoother_options old = s->options;
  message[0] = 0;
  CHECK(smoother_set_options(s, o, message) == 1 && strstr(message, why));
  if (!strstr(message, why)) fprintf(stderr, "  '%s', expected '%s'\n", message, why);
  const smoother_options *now = &s->options;
  CHECK(!strcmp(now->backend, old.backend) && now->format == old.format && now->time_step == old.time_step);
  CHECK(stands_at(s, before));
  free(before);
}

static void test_options(const smoother_options *options) {
  const int gl = !strcmp(options->backend, "gl"), cuda = !strcmp(options->backend, "cuda");
  smoother_options o = *options;
  smoother *s = open_smoother("scan:800", 0, &o);
  CHECK(s->options.time_step == 1e-5 && s->options.rtol == 1e-4);
  step(s);
  float *p1 = positions(s);
  step(s);
  float *p2 = positions(s);

  const double bad_steps[] = {-1e-5, NAN, INFINITY, 1.5};
  for (int k = 0; k < 4; k++) {
    o = *options;
    o.time_step = bad_steps[k];
    refused(s, &o, "the time step is");
  }
  o = *options;
  o.rtol = 1;
  refused(s, &o, "the tolerance is");
  o = *options;
  o.preserve_volume = 1;
  refused(s, &o, "boundary edges");
  o = *options;
  o.backend = "cuda:99";
  refused(s, &o, "cuda");
  if (!cuda) { /* CUDA has both formats */
    o = *options;
    o.format = gl ? TS_FORMAT_CSR : TS_FORMAT_JAGGED;
    refused(s, &o, gl ? "csr" : "jagged");
  }

  /* Changes of format, boundary and device keep the mesh and its history. */
  o = *options;
  if (gl) o.format = TS_FORMAT_SEGMENTS;
  o.boundary = TS_MESH_BOUNDARY_FLOW;
  CHECK(!smoother_set_options(s, &o, message) && stands_at(s, p2));
  o.backend = gl ? "cpu" : "check:cpu";
  o.format = TS_FORMAT_AUTO;
  CHECK(!smoother_set_options(s, &o, message) && stands_at(s, p2));
  CHECK(!strcmp(s->options.backend, o.backend) && s->steps == 2);
  CHECK(!smoother_undo(s, message) && stands_at(s, p1));
  step(s);
  CHECK(!stands_at(s, p2)); /* the boundary moves now */
  CHECK(!smoother_set_options(s, options, message) && !smoother_undo(s, message) && stands_at(s, p1));
  /* Changing the preconditioner keeps them too, with either method. */
  o = *options;
  o.preconditioner = SMOOTHER_AMG;
  CHECK(smoother_needs_other_device(&s->options, &o));
  CHECK(!smoother_set_options(s, &o, message) && stands_at(s, p1));
  CHECK(step(s).setups == 1);
  CHECK(step(s).setups == 0 && !smoother_undo(s, message) && !smoother_undo(s, message) && stands_at(s, p1));
  o.method = SMOOTHER_DSI;
  o.fit = 1;
  CHECK(!smoother_set_options(s, &o, message) && stands_at(s, p1));
  CHECK(step(s).seconds_setup > 0 && !smoother_undo(s, message) && stands_at(s, p1));
  CHECK(!smoother_set_options(s, options, message) && stands_at(s, p1));
  CHECK(step(s).seconds_setup == 0 && !smoother_undo(s, message) && stands_at(s, p1));
  step(s);
  CHECK(stands_at(s, p2));
  free(p1);
  free(p2);
  smoother_destroy(&s);
}

/* A step that fails: it is so long that its single iteration increases the residual. */
static void test_failure(const smoother_options *options) {
  smoother_options o = *options;
  o.time_step = 1;
  o.cg_iterations = 1;
  smoother *s = open_smoother("sphere:500", 0, &o);
  float *p0 = positions(s);
  for (int timed = 0; timed < 2; timed++) {
    step_report r;
    CHECK(!smoother_step(s, 1, timed, &r, message));
    CHECK(r.number == 1 && r.substeps == 0 && !r.converged && r.message[0]);
    CHECK(r.area == s->measures.area);
    CHECK(stands_at(s, p0) && s->steps == 0 && !s->past);
  }
  free(p0);
  smoother_destroy(&s);
}

/* Has a held vertex, and one without triangles, away from the box's centre. Scaling must move neither. */
static void test_volume(const smoother_options *options) {
  smoother_options o = *options;
  o.preserve_volume = 1;
  o.time_step = 1e-3;
  mesh m, larger, now;
  smoother *s;
  make_mesh("sphere:500", 0.01, &m);
  const int32_t n = m.vertex_count;
  REQUIRE(!mesh_create(n + 1, m.triangle_count, &larger, message));
  memcpy(larger.positions, m.positions, 3 * (size_t)n * sizeof *m.positions);
  memcpy(larger.triangles, m.triangles, 3 * (size_t)m.triangle_count * sizeof *m.triangles);
  for (int c = 0; c < 3; c++) larger.positions[3 * (size_t)n + (size_t)c] = 0.1 * (c + 1);
  larger.held = calloc((size_t)n + 1, 1);
  REQUIRE(larger.held);
  larger.held[5] = 1;
  REQUIRE(!smoother_create(&larger, &o, &s, message));
  CHECK(!larger.positions);
  const double volume = s->measures.volume;
  for (int k = 0; k < 3; k++) CHECK(fabs(step(s).volume / volume - 1) < 1e-5);
  REQUIRE(!smoother_current_mesh(s, &now, message));
  CHECK(equal(now.positions + 3 * (size_t)n, s->start->m.positions + 3 * (size_t)n, 3));
  CHECK(equal(now.positions + 3 * (size_t)5, m.positions + 3 * (size_t)5, 3));
  CHECK(!equal(now.positions, m.positions, 3));
  mesh_destroy(&now);
  /* After the reset every digit is the start's. */
  CHECK(!smoother_reset(s, message));
  REQUIRE(!smoother_current_mesh(s, &now, message));
  CHECK(equal(now.positions, m.positions, 3 * (size_t)n));
  mesh_destroy(&now);
  mesh_destroy(&m);
  smoother_destroy(&s);
}

static int skipped(const char *backend) {
  const char *required = getenv("TEXSOLVE_TEST_REQUIRE");
  ts_context *context;
  const ts_context_desc desc = {.backend = backend};
  const ts_status status = ts_context_create(&desc, &context);
  ts_context_destroy(&context);
  if (status == TS_OK || (required && strstr(required, backend))) return 0;
  fprintf(stderr, "skipped: %s\n", ts_last_error(NULL));
  return 1;
}

int main(int argc, char **argv) {
  const smoother_options options = {.backend = argc > 1 ? argv[1] : "cpu"};
  if (skipped(options.backend)) return 77;
  test_past(&options);
  test_noise(&options);
  test_residuals(&options);
  test_forgetting(&options);
  test_options(&options);
  test_failure(&options);
  test_volume(&options);
  if (failures) fprintf(stderr, "%d checks failed\n", failures);
  return failures != 0;
}
