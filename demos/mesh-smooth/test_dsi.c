/* Compares discrete smooth interpolation with a dense solution in double precision, implemented separately from
 * the definition. Usage: test_dsi BACKEND [VERTICES]. With VERTICES, a sphere of this size is compared with
 * CHOLMOD only, and the largest difference is printed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cholmod.h>

#include "dsi.h"
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
#define REQUIRE(condition)                                                                                     \
  do {                                                                                                         \
    if (!(condition)) {                                                                                        \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, message);                             \
      exit(1);                                                                                                 \
    }                                                                                                          \
  } while (0)

static char message[MESH_MESSAGE];

/* ---- The reference ---- */

static double *zeros(size_t count) {
  double *numbers = calloc(count, sizeof *numbers);
  REQUIRE(numbers);
  return numbers;
}

static double cotangent_at(const mesh *m, int32_t apex, int32_t a, int32_t b) {
  double aa = 0, bb = 0, cc = 0; /* squared lengths of the sides opposite a, b and the apex */
  for (int c = 0; c < 3; c++) {
    const double pa = m->positions[3 * a + c], pb = m->positions[3 * b + c], pc = m->positions[3 * apex + c];
    aa += (pc - pb) * (pc - pb);
    bb += (pc - pa) * (pc - pa);
    cc += (pa - pb) * (pa - pb);
  }
  const double s = (aa + bb + cc) / 2, area = sqrt((s * s - (aa * aa + bb * bb + cc * cc) / 2) / 4);
  return (aa + bb - cc) / (4 * area);
}

/* Row v of W has the weights of the neighbours, which add up to 1. */
static double *weight_matrix(const mesh *m, dsi_weights kind, unsigned char *boundary) {
  const size_t n = (size_t)m->vertex_count;
  double *W = zeros(n * n), *triangles = zeros(n * n);
  for (int32_t t = 0; t < m->triangle_count; t++)
    for (int k = 0; k < 3; k++) {
      const int32_t a = m->triangles[3 * t + k], b = m->triangles[3 * t + (k + 1) % 3];
      const int32_t apex = m->triangles[3 * t + (k + 2) % 3];
      const double w = kind == DSI_UNIFORM ? 1 : cotangent_at(m, apex, a, b);
      for (int turn = 0; turn < 2; turn++) {
        const size_t at = turn ? (size_t)b * n + (size_t)a : (size_t)a * n + (size_t)b;
        triangles[at]++;
        W[at] = kind == DSI_UNIFORM ? 1 : W[at] + w;
      }
    }
  for (size_t a = 0; a < n; a++)
    for (size_t b = 0; b < n; b++)
      if (triangles[a * n + b] == 1) boundary[a] = boundary[b] = 1;
  for (size_t a = 0; a < n; a++) {
    double sum = 0;
    for (size_t b = 0; b < n; b++) {
      if (boundary[a] && triangles[a * n + b] != 1) W[a * n + b] = 0;
      if (boundary[a] && triangles[a * n + b] == 1 && kind == DSI_COTANGENT) {
        double squares = 0;
        for (size_t c = 0; c < 3; c++) squares += pow(m->positions[3 * a + c] - m->positions[3 * b + c], 2);
        W[a * n + b] = 1 / sqrt(squares);
      }
      sum += W[a * n + b];
    }
    for (size_t b = 0; b < n; b++) W[a * n + b] /= sum;
  }
  free(triangles);
  return W;
}

/* Gauss-Jordan elimination with pivoting; `right` has 3 numbers per row. */
static void solve_dense(double *A, double *right, size_t n) {
  for (size_t k = 0; k < n; k++) {
    size_t pivot = k;
    for (size_t i = k; i < n; i++)
      if (fabs(A[i * n + k]) > fabs(A[pivot * n + k])) pivot = i;
    REQUIRE(fabs(A[pivot * n + k]) > 1e-13);
    for (size_t j = k; j < n && pivot != k; j++) {
      const double swap = A[k * n + j];
      A[k * n + j] = A[pivot * n + j];
      A[pivot * n + j] = swap;
    }
    for (size_t c = 0; c < 3 && pivot != k; c++) {
      const double swap = right[3 * k + c];
      right[3 * k + c] = right[3 * pivot + c];
      right[3 * pivot + c] = swap;
    }
    for (size_t i = 0; i < n; i++) {
      const double factor = i == k ? 0 : A[i * n + k] / A[k * n + k];
      if (factor == 0) continue;
      for (size_t j = k; j < n; j++) A[i * n + j] -= factor * A[k * n + j];
      for (size_t c = 0; c < 3; c++) right[3 * i + c] -= factor * right[3 * k + c];
    }
  }
  for (size_t k = 0; k < n; k++)
    for (size_t c = 0; c < 3; c++) right[3 * k + c] /= A[k * n + k];
}

/* The exact positions, in the file's units. */
static double *reference(const mesh *m, const smoother_options *o, const dsi_controls *controls) {
  const size_t n = (size_t)m->vertex_count;
  unsigned char *boundary = calloc(n, 1), *constrained = calloc(n, 1);
  double *W = weight_matrix(m, o->weights, boundary), *A = zeros(n * n), *x = zeros(3 * n);
  double *weights = zeros(n), *targets = zeros(3 * n);
  memcpy(targets, m->positions, 3 * n * sizeof *targets);
  for (size_t v = 0; v < n; v++) {
    constrained[v] = boundary[v] && o->boundary == TS_MESH_BOUNDARY_FIXED;
    weights[v] = o->fit;
  }
  for (int k = 0; k < controls->count; k++) {
    const size_t v = (size_t)controls->points[k].vertex;
    memcpy(targets + 3 * v, controls->points[k].place, 3 * sizeof *targets);
    constrained[v] = isinf(controls->points[k].weight) != 0;
    weights[v] = controls->points[k].weight;
  }
  for (size_t r = 0; r < n; r++) W[r * n + r] -= 1;
  for (size_t r = 0; r < n; r++)
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n && W[r * n + i] != 0; j++) A[i * n + j] += W[r * n + i] * W[r * n + j];
  for (size_t i = 0; i < n; i++) {
    if (constrained[i]) {
      for (size_t j = 0; j < n; j++) A[i * n + j] = i == j;
    } else {
      A[i * n + i] += weights[i];
    }
    for (size_t c = 0; c < 3; c++) x[3 * i + c] = (constrained[i] ? 1 : weights[i]) * targets[3 * i + c];
  }
  solve_dense(A, x, n);
  free(A);
  free(W);
  free(weights);
  free(targets);
  free(boundary);
  free(constrained);
  return x;
}

/* ---- Runs ---- */

static smoother *open_smoother(const char *what, double noise, const smoother_options *options) {
  mesh m;
  smoother *s;
  REQUIRE(!mesh_generate(what, &m, message));
  if (noise > 0) REQUIRE(!mesh_add_noise(&m, noise, 3, message));
  REQUIRE(!smoother_create(&m, options, &s, message));
  return s;
}

static void add(smoother *s, dsi_controls *list, int32_t vertex, double x, double y, double z, double weight) {
  const dsi_control point = {vertex, {x, y, z}, weight};
  REQUIRE(!dsi_controls_add(list, &s->start->m, &point, message));
}

/* The largest difference of a coordinate, relative to the diagonal. */
static double away(const smoother *s, const double *expected) {
  mesh m;
  double most = 0;
  REQUIRE(!smoother_current_mesh(s, &m, message));
  for (int32_t k = 0; k < 3 * m.vertex_count; k++) most = fmax(most, fabs(m.positions[k] - expected[k]));
  mesh_destroy(&m);
  return most / s->measures.diagonal;
}

static void check_controls(const smoother *s) {
  const dsi_controls *list = &s->controls;
  mesh m;
  REQUIRE(!smoother_current_mesh(s, &m, message));
  for (int k = 0; k < list->count; k++) {
    const double *place = m.positions + 3 * (size_t)list->points[k].vertex;
    for (int c = 0; c < 3 && isinf(list->points[k].weight); c++) CHECK(place[c] == list->points[k].place[c]);
  }
  mesh_destroy(&m);
}

static step_report step_to(smoother *s, const dsi_controls *list, double tolerance) {
  step_report r;
  double *expected = reference(&s->start->m, &s->options, list);
  REQUIRE(!smoother_set_controls(s, list, message));
  REQUIRE(!smoother_step(s, 1, 1, &r, message));
  CHECK(r.converged && r.substeps == 1 && r.roughness >= 0);
  CHECK(away(s, expected) < tolerance);
  check_controls(s);
  free(expected);
  return r;
}

static void test_fit(smoother_options o, const char *what) {
  const dsi_controls none = {0};
  for (int k = 0; k < 4; k++) {
    o.weights = k % 2 ? DSI_COTANGENT : DSI_UNIFORM;
    o.boundary = k / 2 ? TS_MESH_BOUNDARY_FLOW : TS_MESH_BOUNDARY_FIXED;
    smoother *s = open_smoother(what, k % 2 ? 0.01 : 0.02, &o);
    const step_report r = step_to(s, &none, 2e-6);
    CHECK(r.roughness < r.roughness_before);
    smoother_destroy(&s);
  }
}

static void test_controls(smoother_options o) {
  for (int k = 0; k < 2; k++) {
    o.fit = k ? 1e-3 : 0;
    dsi_controls list = {0};
    smoother *s = open_smoother("sphere:100", 0, &o);
    add(s, &list, 0, 0.1, 1.23456789012, 2, DSI_FIXED);
    add(s, &list, 30, -1.5, 0, 0.1, DSI_FIXED);
    add(s, &list, 41, 0, 1, 0, 0.3);
    add(s, &list, 60, 1, -1, 1, DSI_FIXED);
    add(s, &list, 61, 0, 0, -2, 20);
    step_to(s, &list, 5e-5);
    CHECK(s->dsi_result.unknowns == s->start->m.vertex_count - 3);
    /* Change kinds, places and weights; remove one; then remove all, leaving only the fit. */
    list.points[0].weight = 2;
    list.points[2].weight = DSI_FIXED;
    list.points[4].place[2] = 1;
    dsi_controls_remove(&list, 1);
    step_to(s, &list, 5e-5);
    dsi_controls_free(&list);
    if (k) step_to(s, &list, 2e-5);
    smoother_destroy(&s);
  }
}

/* Dragging ends at the solution of a complete solve, without rebuilding a matrix. */
static void test_drag(smoother_options o, int fixed) {
  dsi_controls list = {0};
  int converged;
  o.fit = 0.02;
  smoother *s = open_smoother("cap:100", 0, &o);
  const ts_vector *still = smoother_positions(s);
  add(s, &list, 50, 0, 0, 1.2, fixed ? DSI_FIXED : 5);
  add(s, &list, 20, 0.2, 0.3, 1, DSI_FIXED);
  REQUIRE(!smoother_set_controls(s, &list, message));
  for (int frame = 0; frame < 60; frame++) {
    list.points[0].place[0] = 0.01 * (frame < 20 ? frame : 20);
    REQUIRE(!smoother_set_controls(s, &list, message) && !smoother_follow(s, 4, &converged, message));
    CHECK(s->dsi_result.iterations <= 4 && s->live);
    if (frame > 0) CHECK(s->dsi_result.seconds_build + s->dsi_result.seconds_layout == 0);
    if (frame > 20 && converged) break;
  }
  CHECK(converged && smoother_positions(s) != still);
  REQUIRE(!smoother_commit(s, message));
  CHECK(!s->live && smoother_positions(s) == still && s->steps == 1);
  double *expected = reference(&s->start->m, &o, &list);
  CHECK(away(s, expected) < 5e-5);
  check_controls(s);
  /* That was one undoable step. Control points remain after noise. */
  REQUIRE(!smoother_undo(s, message));
  CHECK(away(s, s->start->m.positions) == 0);
  REQUIRE(!smoother_add_noise(s, 0.01, 1, message));
  CHECK(s->controls.count == 2);
  step_to(s, &list, 5e-5);
  free(expected);
  dsi_controls_free(&list);
  smoother_destroy(&s);
}

static void test_noise_falls(smoother_options o) {
  double before = 0, after = 0;
  step_report r;
  mesh m;
  smoother *s = open_smoother("sphere:3000", 0.005, &o);
  REQUIRE(!smoother_step(s, 1, 1, &r, message) && !smoother_current_mesh(s, &m, message));
  for (int32_t v = 0; v < m.vertex_count; v++) {
    const double *p = s->start->m.positions + 3 * (size_t)v, *q = m.positions + 3 * (size_t)v;
    before += pow(sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - 1, 2);
    after += pow(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) - 1, 2);
  }
  CHECK(after < before / 4);
  CHECK(r.roughness < r.roughness_before / 3 && r.area < s->measures.area);
  CHECK(fabs(r.volume / s->measures.volume - 1) < 0.01);
  mesh_destroy(&m);
  smoother_destroy(&s);
}

/* An irregular grid in the plane z = 0. */
static void make_flat(mesh *m) {
  enum { side = 12 };
  REQUIRE(!mesh_create(side * side, 2 * (side - 1) * (side - 1), m, message));
  double *p = m->positions;
  for (int y = 0; y < side; y++)
    for (int x = 0; x < side; x++, p += 3) {
      p[0] = x + 0.3 * sin(7.0 * x + 84.0 * y);
      p[1] = y + 0.3 * cos(11.0 * x + 132.0 * y);
    }
  int32_t *t = m->triangles;
  for (int v = 0; v < side * (side - 1); v++) {
    if (v % side == side - 1) continue;
    const int32_t corners[6] = {v, v + 1, v + side, v + 1, v + side + 1, v + side};
    memcpy(t, corners, sizeof corners);
    t += 6;
  }
}

static void test_flat(smoother_options o) {
  for (int k = 0; k < 4; k++) {
    mesh m;
    smoother *s;
    step_report r;
    make_flat(&m);
    o.weights = k % 2 ? DSI_COTANGENT : DSI_UNIFORM;
    o.boundary = k / 2 ? TS_MESH_BOUNDARY_FLOW : TS_MESH_BOUNDARY_FIXED;
    REQUIRE(!smoother_create(&m, &o, &s, message));
    REQUIRE(!smoother_step(s, 1, 1, &r, message) && !smoother_current_mesh(s, &m, message));
    for (int32_t v = 0; v < m.vertex_count; v++) CHECK(m.positions[3 * v + 2] == 0);
    mesh_destroy(&m);
    smoother_destroy(&s);
  }
}

static void test_refusals(smoother_options o) {
  dsi_controls list = {0};
  o.fit = 0;
  smoother *s = open_smoother("sphere:100", 0, &o);
  const mesh *m = &s->start->m;
  CHECK(smoother_set_controls(s, &list, message) && strstr(message, "vertex 0"));
  const dsi_control outside = {m->vertex_count, {0, 0, 0}, 1}, negative = {-1, {0, 0, 0}, 1};
  const dsi_control nowhere = {1, {0, NAN, 0}, 1}, weightless = {1, {0, 0, 0}, 0}, fine = {1, {0, 0, 0}, 1};
  CHECK(dsi_controls_add(&list, m, &outside, message) && strstr(message, "no vertex"));
  CHECK(dsi_controls_add(&list, m, &negative, message) && strstr(message, "no vertex -1"));
  CHECK(dsi_controls_add(&list, m, &nowhere, message) && strstr(message, "y coordinate"));
  CHECK(dsi_controls_add(&list, m, &weightless, message) && strstr(message, "weight"));
  CHECK(!dsi_controls_add(&list, m, &fine, message));
  CHECK(dsi_controls_add(&list, m, &fine, message) && strstr(message, "two control points"));
  CHECK(list.count == 1 && !smoother_set_controls(s, &list, message));
  dsi_controls_free(&list);
  smoother_destroy(&s);
}

/* ---- A mesh too large for a dense matrix ---- */

/* Row r: the mean of the neighbours of vertex r minus its position. Below: each position times the square root
 * of fit. */
static cholmod_sparse *state_conditions(const mesh *m, const smoother_options *o, cholmod_common *common) {
  const size_t n = (size_t)m->vertex_count;
  dsi_rows rows;
  REQUIRE(!dsi_rows_create(m, o->weights, &rows, message));
  cholmod_triplet *t =
      cholmod_allocate_triplet(n, 2 * n, (size_t)rows.offsets[n] + 2 * n, 0, CHOLMOD_REAL, common);
  REQUIRE(t);
  int *vertex = t->i, *condition = t->j;
  double *number = t->x;
  for (int32_t r = 0; r < m->vertex_count; r++) {
    for (int32_t e = rows.offsets[r]; e < rows.offsets[r + 1]; e++) {
      vertex[t->nnz] = rows.neighbours[e];
      condition[t->nnz] = r;
      number[t->nnz++] = rows.weights[e];
    }
    vertex[t->nnz] = vertex[t->nnz + 1] = r;
    condition[t->nnz] = r;
    condition[t->nnz + 1] = (int)n + r;
    number[t->nnz++] = -1;
    number[t->nnz++] = sqrt(o->fit);
  }
  cholmod_sparse *A = cholmod_triplet_to_sparse(t, t->nnz, common);
  cholmod_free_triplet(&t, common);
  dsi_rows_free(&rows);
  return A;
}

/* For a mesh without boundary and control points: A A^T p = fit times the start. */
static double *reference_sparse(const mesh *m, const smoother_options *o) {
  const size_t n = (size_t)m->vertex_count;
  cholmod_common common;
  cholmod_start(&common);
  cholmod_sparse *A = state_conditions(m, o, &common);
  cholmod_factor *L = cholmod_analyze(A, &common);
  cholmod_factorize(A, L, &common);
  cholmod_dense *b = cholmod_zeros(n, 3, CHOLMOD_REAL, &common);
  for (size_t v = 0; v < n; v++)
    for (size_t c = 0; c < 3; c++) ((double *)b->x)[c * n + v] = o->fit * m->positions[3 * v + c];
  cholmod_dense *x = cholmod_solve(CHOLMOD_A, L, b, &common);
  double *places = zeros(3 * n);
  CHECK(x && common.status == CHOLMOD_OK);
  for (size_t v = 0; v < n && x; v++)
    for (size_t c = 0; c < 3; c++) places[3 * v + c] = ((double *)x->x)[c * n + v];
  cholmod_free_sparse(&A, &common);
  cholmod_free_factor(&L, &common);
  cholmod_free_dense(&b, &common);
  cholmod_free_dense(&x, &common);
  cholmod_finish(&common);
  return places;
}

static void test_large(smoother_options o, int vertices, int say) {
  step_report r;
  char what[40];
  snprintf(what, sizeof what, "sphere:%d", vertices);
  smoother *s = open_smoother(what, 0.002, &o);
  double *expected = reference_sparse(&s->start->m, &o);
  REQUIRE(!smoother_step(s, 1, 1, &r, message));
  const double most = away(s, expected);
  CHECK(r.converged && most < 5e-6);
  if (say)
    printf("%d vertices: the largest difference of a coordinate is %.2g of the diagonal\n",
           (int)s->start->m.vertex_count, most);
  free(expected);
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
  smoother_options o = {
      .method = SMOOTHER_DSI, .backend = argc > 1 ? argv[1] : "cpu", .rtol = 3e-6, .fit = 0.1};
  if (skipped(o.backend)) return 77;
  if (argc > 2) {
    test_large(o, atoi(argv[2]), 1);
    return failures != 0;
  }
  test_large(o, 2000, 0);
  test_fit(o, "sphere:60");
  test_fit(o, "cap:80");
  test_controls(o);
  test_drag(o, 0);
  test_drag(o, 1);
  test_flat(o);
  test_refusals(o);
  o.rtol = 0;
  test_noise_falls(o);
  if (failures) fprintf(stderr, "%d checks failed\n", failures);
  return failures != 0;
}
