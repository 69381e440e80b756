/* Least-squares conformal maps on every backend, compared with known properties and with a direct solver. */
#include "test.h"

#include <cholmod.h>

#include "flattening.h"
#include "mesh_generate.h"
#include "amg_solver.h"

static char message[MESH_MESSAGE];
static ts_context *context;

static int create(const char *what, int cut, flattening *f) {
  mesh m;
  const flattening_options options = {.cut = cut};
  if (CHECK(mesh_generate(what, &m, message) == 0) && CHECK(flattening_create(&m, &options, f, message) == 0))
    return 0;
  test_fail(__FILE__, __LINE__, "%s", message);
  return 1;
}

static conformal_result solve(flattening *f, double rtol) {
  const conformal_options options = {.rtol = rtol};
  conformal_result result = {0};
  if (!CHECK(flattening_solve(f, context, &options, NULL, &result, message) == 0))
    test_fail(__FILE__, __LINE__, "%s", message);
  CHECK(result.converged && result.residual <= rtol);
  return result;
}

/* ---- Known properties ---- */

/* Developable surfaces: the image is the mesh itself, up to a similarity. */
static void developable(void) {
  static const char *const patches[] = {"bent:300", "cone:300", "bent:60", "cone:60"};
  for (int i = 0; i < 2; i++) {
    flattening f;
    test_context_label("%s", patches[i]);
    if (create(patches[i + (test_is_brief() ? 2 : 0)], 0, &f)) continue;
    solve(&f, 1e-8);
    CHECK_CLOSE(f.d.angle_max, 1, 1e-5);
    CHECK_CLOSE(f.d.area_least, 1, 1e-4);
    CHECK_CLOSE(f.d.area_most, 1, 1e-4);
    CHECK_INT(f.d.flipped, 0);
    flattening_destroy(&f);
  }
}

/* For a hemisphere the distortion of angles decreases with refinement, and no triangle is flipped. */
static void refinement(void) {
  static const char *const caps[] = {"cap:60", "cap:240", "cap:960"};
  double before = INFINITY;
  for (int i = 0; i < (test_is_brief() ? 2 : 3); i++) {
    flattening f;
    if (create(caps[i], 0, &f)) continue;
    const conformal_result r = solve(&f, 1e-6);
    CHECK(f.d.angle_mean - 1 < 0.6 * before);
    CHECK(r.energy > 0);
    CHECK_INT(f.d.flipped, 0);
    CHECK_INT(f.d.collapsed, 0);
    before = f.d.angle_mean - 1;
    flattening_destroy(&f);
  }
}

/* ---- A direct solver ----
 *
 * It minimises the energy in another form: half the Dirichlet energy of u and v, with cotangents, minus the
 * area of the image. */

static double cotangent(const mesh *m, int32_t t, int k) {
  const double *p = m->positions + 3 * m->triangles[3 * t + k],
               *q = m->positions + 3 * m->triangles[3 * t + (k + 1) % 3],
               *r = m->positions + 3 * m->triangles[3 * t + (k + 2) % 3];
  const double u[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]}, v[3] = {r[0] - p[0], r[1] - p[1], r[2] - p[2]};
  const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
  return (u[0] * v[0] + u[1] * v[1] + u[2] * v[2]) / sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

typedef struct direct {
  cholmod_triplet *entries;
  double *b; /* contributions of pinned unknowns to the right-hand side */
  const flattening *f;
  const double *pinned_uv;
} direct;

/* Adds (i, j) and, if off-diagonal, also (j, i). */
static void add(direct *s, int32_t i, int32_t j, double a) {
  const int pinned_i = s->f->pinned[i / 2], pinned_j = s->f->pinned[j / 2];
  if (pinned_i && pinned_j) return;
  if (pinned_i || pinned_j) {
    s->b[pinned_i ? j : i] -= a * s->pinned_uv[pinned_i ? i : j];
    return;
  }
  const size_t k = s->entries->nnz++;
  ((int *)s->entries->i)[k] = i > j ? i : j;
  ((int *)s->entries->j)[k] = i > j ? j : i;
  ((double *)s->entries->x)[k] = a;
}

/* Returns u and v of every flat vertex, with the given values for pinned ones. */
static double *solve_directly(const flattening *f, const double *pinned_uv) {
  const size_t unknowns = 2 * (size_t)f->c.vertices;
  cholmod_common common;
  cholmod_start(&common);
  direct s = {.f = f, .pinned_uv = pinned_uv};
  s.entries = cholmod_allocate_triplet(unknowns, unknowns, 60 * (size_t)f->m.triangle_count + unknowns, -1,
                                       CHOLMOD_REAL, &common);
  cholmod_dense *b = cholmod_zeros(unknowns, 1, CHOLMOD_REAL, &common);
  s.b = b->x;
  for (int32_t t = 0; t < f->m.triangle_count; t++)
    for (int k = 0; k < 3; k++) {
      const int32_t i = f->c.corner[3 * t + (k + 1) % 3], j = f->c.corner[3 * t + (k + 2) % 3];
      const double weight = 0.5 * cotangent(&f->m, t, k);
      for (int c = 0; c < 2; c++) {
        add(&s, 2 * i + c, 2 * i + c, weight);
        add(&s, 2 * j + c, 2 * j + c, weight);
        add(&s, 2 * i + c, 2 * j + c, -weight);
      }
      add(&s, 2 * i, 2 * j + 1, -0.5);
      add(&s, 2 * i + 1, 2 * j, 0.5);
    }
  for (size_t i = 0; i < unknowns; i++)
    if (f->pinned[i / 2]) {
      const size_t k = s.entries->nnz++;
      ((int *)s.entries->i)[k] = ((int *)s.entries->j)[k] = (int)i;
      ((double *)s.entries->x)[k] = 1;
      s.b[i] = pinned_uv[i];
    }
  cholmod_sparse *A = cholmod_triplet_to_sparse(s.entries, s.entries->nnz, &common);
  cholmod_factor *L = cholmod_analyze(A, &common);
  cholmod_factorize(A, L, &common);
  cholmod_dense *x = cholmod_solve(CHOLMOD_A, L, b, &common);
  double *uv = malloc(unknowns * sizeof *uv);
  memcpy(uv, x->x, unknowns * sizeof *uv);
  CHECK(common.status == CHOLMOD_OK);
  cholmod_free_triplet(&s.entries, &common);
  cholmod_free_sparse(&A, &common);
  cholmod_free_factor(&L, &common);
  cholmod_free_dense(&b, &common);
  cholmod_free_dense(&x, &common);
  cholmod_finish(&common);
  return uv;
}

static void as_direct_solver(void) {
  static const char *const meshes[] = {"face:400", "scan:500", "patches:500", "torus:300",
                                       "face:60",  "scan:60",  "patches:80",  "torus:60"};
  for (int i = 0; i < 4; i++) {
    flattening f;
    test_context_label("%s", meshes[i]);
    if (create(meshes[i + (test_is_brief() ? 4 : 0)], 1, &f)) continue;
    double *known = solve_directly(&f, f.solved), most = 0;
    solve(&f, 1e-7);
    for (int32_t k = 0; k < 2 * f.c.vertices; k++) most = fmax(most, fabs(known[k] - f.solved[k]));
    /* A chart has an area of 1 at the start. */
    if (!(most < 1e-4)) test_fail(__FILE__, __LINE__, "u, v differ by %g", most);
    free(known);
    flattening_destroy(&f);
  }
}

/* ---- Algebraic multigrid ---- */

static conformal_result solve_amg(flattening *f, double rtol) {
  const conformal_options options = {.rtol = rtol, .preconditioner = CONFORMAL_AMG};
  conformal_result result = {0};
  if (!CHECK(flattening_solve(f, context, &options, NULL, &result, message) == 0))
    test_fail(__FILE__, __LINE__, "%s", message);
  CHECK(result.converged && result.residual <= rtol);
  return result;
}

/* The direct solver's map in far fewer iterations than with Jacobi's preconditioner. */
static void amg_maps(void) {
  static const struct {
    const char *mesh;
    int coarser, iterations;
  } known[] = {{"face:1500", 2, 30}, {"torus:1300", 2, 100}, {"patches:1500", 2, 60}, {"scan:300", 1, 30}};
  for (int i = 0; i < 4; i++) {
    flattening f;
    test_context_label("%s", known[i].mesh);
    if (create(known[i].mesh, 1, &f)) continue;
    double *direct = solve_directly(&f, f.solved), most = 0;
    const conformal_result r = solve_amg(&f, 1e-7);
    CHECK_INT(r.coarser, known[i].coarser);
    if (r.iterations > known[i].iterations) test_fail(__FILE__, __LINE__, "%d iterations", r.iterations);
    CHECK(r.unknowns == 2 * f.c.vertices - 4 * f.c.count && r.nonzeros > r.unknowns && r.bytes_device > 0);
    for (int32_t k = 0; k < 2 * f.c.vertices; k++) most = fmax(most, fabs(direct[k] - f.solved[k]));
    if (!(most < 1e-4)) test_fail(__FILE__, __LINE__, "u, v differ by %g", most);
    free(direct);
    flattening_destroy(&f);
  }
}

/* Computes b - A^T W A x in b, for an x that is 0 at pinned vertices. */
static void subtract_product(const flattening *f, const double *x, double *b) {
  for (int32_t t = 0; t < f->m.triangle_count; t++) {
    const conformal_condition row = conformal_condition_of(&f->m, t);
    const int32_t *corner = f->c.corner + 3 * t;
    double re = 0, im = 0;
    for (int k = 0; k < 3; k++) {
      re += row.re[k] * x[2 * corner[k]] - row.im[k] * x[2 * corner[k] + 1];
      im += row.im[k] * x[2 * corner[k]] + row.re[k] * x[2 * corner[k] + 1];
    }
    for (int k = 0; k < 3; k++) {
      if (f->pinned[corner[k]]) continue;
      b[2 * corner[k]] -= row.weight * (row.re[k] * re + row.im[k] * im);
      b[2 * corner[k] + 1] -= row.weight * (row.re[k] * im - row.im[k] * re);
    }
  }
}

/* A single solve reaches double precision. */
static void amg_doubles(void) {
  flattening f;
  amg_solver *s = NULL;
  ts_system_result r;
  REQUIRE(!create("face:1500", 0, &f));
  REQUIRE(!amg_solver_create(context, &f.m, &f.c, f.pinned, f.solved, TS_FORMAT_AUTO, &s, message));
  const size_t numbers = 2 * (size_t)f.c.vertices;
  double *b = calloc(numbers, sizeof *b), *x = calloc(numbers, sizeof *x), all = 0, left = 0;
  for (size_t i = 0; i < numbers; i++) b[i] = f.pinned[i / 2] ? 0 : sin((double)i);
  for (size_t i = 0; i < numbers; i++) all += b[i] * b[i];
  const ts_system_solve_desc desc = {.solver.rtol = 1e-11, .solver.max_iterations = 200};
  CHECK(!amg_solver_solve(s, &desc, b, x, &r, message));
  /* If residuals are plain sums of floats, a solve in double precision restarts more often. */
  const int most = strcmp(test_backend, "gl-plain") ? 60 : 180;
  CHECK(r.iterations > 5 && r.iterations < most && r.reason == TS_REASON_CONVERGED);
  for (size_t i = 0; i < numbers; i++) CHECK(!f.pinned[i / 2] || x[i] == 0);
  subtract_product(&f, x, b);
  for (size_t i = 0; i < numbers; i++) left += b[i] * b[i];
  if (r.precision != TS_PRECISION_SINGLE && !(left <= 1e-20 * all))
    test_fail(__FILE__, __LINE__, "a residual of %g", sqrt(left / all));
  free(b);
  free(x);
  amg_solver_destroy(&s);
  flattening_destroy(&f);
}

/* ---- Pins ---- */

static void moved_pins(void) {
  flattening f;
  if (create("bent:200", 0, &f)) return;
  const flattening_pin two[] = {{100, 3, 4, 0}, {5, -1, 0.5, 0}};
  REQUIRE(flattening_set_pins(&f, two, 2, message) == 0);
  solve(&f, 1e-6);
  for (int i = 0; i < 2; i++) {
    CHECK_CLOSE(f.uv[2 * two[i].vertex], two[i].u, 0);
    CHECK_CLOSE(f.uv[2 * two[i].vertex + 1], two[i].v, 0);
  }
  CHECK_INT(f.d.flipped, 0);
  CHECK(f.packed.scale == 0);
  /* Two pins only move, rotate and scale the image, if it is exact. */
  const double mean = f.d.angle_mean;
  REQUIRE(flattening_set_pins(&f, NULL, 0, message) == 0);
  solve(&f, 1e-6);
  CHECK_CLOSE(f.d.angle_mean, mean, 1e-4);
  /* Pins far away or close together do not change the convergence. The tolerance is the precision of u and v as
   * floats. Next to 1e4 it is 1e-3, which is a twentieth of an edge in a map of width 0.1. */
  static const struct {
    flattening_pin pins[2];
    double tolerance;
  } far[] = {{{{100, 1e4, -1e4, 0}, {5, 1e4 + 0.1, -1e4, 0}}, 0.1},
             {{{100, 1e4, -1e4, 0}, {5, 1.1e4, -1e4, 0}}, 1e-4},
             {{{100, 1e25, 0, 0}, {5, -1e25, 0, 0}}, 1e-4}};
  for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
    REQUIRE(flattening_restart(&f, message) == 0);
    REQUIRE(flattening_set_pins(&f, far[i].pins, 2, message) == 0);
    const conformal_result r = solve(&f, 1e-6);
    CHECK(r.residual_start > 1e-4);
    CHECK_CLOSE(f.d.angle_mean, mean, far[i].tolerance);
  }
  /* One given pin, and one that is chosen. */
  REQUIRE(flattening_set_pins(&f, two, 1, message) == 0);
  solve(&f, 1e-6);
  CHECK_CLOSE(f.uv[2 * 100], 3, 0);
  CHECK_CLOSE(f.d.angle_mean, mean, 1e-4);

  const flattening_pin outside = {f.m.vertex_count, 0, 0, 0}, negative = {-1, 0, 0, 0}, nan = {1, NAN, 0, 0};
  CHECK(flattening_set_pins(&f, &outside, 1, message) == 1);
  CHECK_CONTAINS(message, "expected one of 0 to");
  CHECK(flattening_set_pins(&f, &negative, 1, message) == 1);
  CHECK(flattening_set_pins(&f, &nan, 1, message) == 1);
  CHECK_CONTAINS(message, "finite");
  const flattening_pin away = {1, 1e31, 0, 0}, near_by[] = {{7, 1e9, 0, 0}, {8, 1e9 + 1, 0, 0}};
  CHECK(flattening_set_pins(&f, &away, 1, message) == 1);
  CHECK_CONTAINS(message, "at most 1e+30");
  CHECK(flattening_set_pins(&f, near_by, 2, message) == 1);
  CHECK_CONTAINS(message, "expected at least two positions");
  const flattening_pin twice[] = {{7, 0, 0, 0}, {7, 1, 0, 0}}, together[] = {{7, 1, 2, 0}, {8, 1, 2, 0}};
  CHECK(flattening_set_pins(&f, twice, 2, message) == 1);
  CHECK_CONTAINS(message, "two pins at vertex 7");
  CHECK(flattening_set_pins(&f, together, 2, message) == 1);
  CHECK_CONTAINS(message, "expected at least two positions");
  CHECK_INT(f.pin_count, 1);
  flattening_destroy(&f);
}

/* A chart with pins stays at the pins. The other charts are placed next to it with the same scale. */
static void pins_of_one_part(void) {
  flattening f;
  if (create("patches:200", 0, &f)) return;
  const int32_t first = f.c.vertex[f.c.chart[1].first_vertex];
  const flattening_pin two[] = {{first, 0, 0, 0}, {first + 5, 1, 0, 0}};
  REQUIRE(flattening_set_pins(&f, two, 2, message) == 0);
  solve(&f, 1e-6);
  CHECK_INT(f.pinned_charts, 1);
  double right = -INFINITY, left = INFINITY;
  for (int32_t k = 0; k < f.c.count; k++)
    for (int32_t v = f.c.chart[k].first_vertex; v < f.c.chart[k].first_vertex + f.c.chart[k].vertices; v++)
      if (k == 1)
        right = fmax(right, f.uv[2 * v]);
      else
        left = fmin(left, f.uv[2 * v]);
  CHECK(left > right);
  CHECK_CLOSE(f.uv[2 * f.c.chart[1].first_vertex], 0, 0);
  flattening_destroy(&f);
}

/* The map on the device is the same up to rounding, for any placement of the charts. */
static void where_they_are(void) {
  static const ts_format formats[] = {TS_FORMAT_AUTO, TS_FORMAT_BCRS2,  TS_FORMAT_BCRS4,
                                      TS_FORMAT_CSR,  TS_FORMAT_JAGGED, TS_FORMAT_AUTO};
  const size_t count = sizeof formats / sizeof formats[0]; /* the last one uses AMG */
  ts_context_info info;
  REQUIRE(ts_context_get_info(context, &info) == TS_OK);
  for (size_t k = 0; k < count; k++) {
    const conformal_options options = {
        .rtol = 1e-6, .format = formats[k], .preconditioner = k + 1 < count ? CONFORMAL_JACOBI : CONFORMAL_AMG};
    conformal_result result;
    flattening_places places;
    flattening f;
    if (formats[k] != TS_FORMAT_AUTO && !(info.formats >> formats[k] & 1)) continue;
    test_context_label("%s", ts_format_name(formats[k]));
    if (create(test_is_brief() ? "patches:60" : "patches:300", 0, &f)) continue;
    const size_t numbers = 2 * (size_t)f.c.vertices;
    float *single = malloc(numbers * sizeof *single);
    double *uv = malloc(numbers * sizeof *uv), most = 0;
    CHECK(flattening_solve(&f, context, &options, &places, &result, message) == 0);
    CHECK(places.places && ts_vector_read(places.places, ts_host(single, numbers)) == TS_OK);
    for (size_t i = 0; i < numbers; i++) uv[i] = (double)single[i];
    for (int32_t c = 0; c < f.c.count; c++) {
      const similarity placement = flattening_placement(&f, c),
                       all = similarity_then(&places.frame[c], &placement);
      similarity_apply(&all, uv + 2 * f.c.chart[c].first_vertex, f.c.chart[c].vertices);
    }
    for (size_t i = 0; i < numbers; i++) most = fmax(most, fabs(uv[i] - f.uv[i]));
    if (!(most < 1e-6)) test_fail(__FILE__, __LINE__, "u, v differ by %g", most);
    CHECK(f.packed.fill > 0.6); /* low boxes fit next to high ones */
    flattening_places_free(&places);
    /* A solve from the solution has no work. */
    CHECK(flattening_solve(&f, context, &options, &places, &result, message) == 0);
    CHECK(result.passes == 0 && !places.places);
    flattening_places_free(&places);
    flattening_destroy(&f);
    free(single);
    free(uv);
  }
}

/* ---- Solves that do not converge ---- */

static int stop(const ts_progress *progress, void *user) {
  (void)user;
  return progress->iteration >= 5;
}

static void check_not_converged(conformal_preconditioner preconditioner) {
  flattening f;
  conformal_result r;
  if (create("face:3000", 0, &f)) return;
  const conformal_options few = {.preconditioner = preconditioner, .rtol = 1e-6, .max_iterations = 10},
                          stopped = {.preconditioner = preconditioner, .rtol = 1e-6, .progress = stop};
  CHECK(flattening_solve(&f, context, &few, NULL, &r, message) == 0);
  CHECK(!r.converged && r.iterations <= 10 && r.residual > 1e-6 && isfinite(f.d.angle_mean));
  CHECK(flattening_solve(&f, context, &stopped, NULL, &r, message) == 0);
  CHECK(!r.converged && r.passes == 1 && isfinite(f.d.angle_mean));
  /* The next solve starts from the result. */
  const double before = r.residual;
  CHECK(flattening_solve(&f, context, &few, NULL, &r, message) == 0);
  CHECK_CLOSE(r.residual_start, before, 1e-12);
  const conformal_options stencil = {.format = TS_FORMAT_STENCIL};
  CHECK(flattening_solve(&f, context, &stencil, NULL, &r, message) == 1);
  CHECK(strlen(message) > 10);
  flattening_destroy(&f);
}

static void not_converged(void) {
  test_context_label("jacobi");
  check_not_converged(CONFORMAL_JACOBI);
  test_context_label("amg");
  check_not_converged(CONFORMAL_AMG);
}

/* A tolerance beyond double precision: the last pass may have converged, but the map has not, and the reason is
 * reported. */
static void exhausted(void) {
  flattening f;
  conformal_result r;
  const conformal_options exact = {.rtol = 1e-18};
  if (create("cap:60", 0, &f)) return;
  CHECK(flattening_solve(&f, context, &exact, NULL, &r, message) == 0);
  CHECK(!r.converged && r.residual < 1e-12 && r.passes > 1);
  CHECK(strlen(r.message) > 10 && strcmp(r.message, "converged") != 0);
  flattening_destroy(&f);
}

TEST_MAIN(CASES_IN_CONTEXT(developable, refinement, as_direct_solver, amg_maps, amg_doubles, moved_pins,
                           pins_of_one_part, where_they_are, not_converged, exhausted))
