/* Meshes divided for flattening: charts, cuts, packing, distortion. Needs no device. */
#include "test.h"

#include "flattening.h"
#include "hierarchy.h"
#include "mesh_generate.h"

static char message[MESH_MESSAGE];

static mesh generated(const char *what) {
  mesh m;
  if (mesh_generate(what, &m, message)) {
    test_fail(__FILE__, __LINE__, "%s", message);
    exit(1);
  }
  return m;
}

/* Every chart is one connected piece with the boundary that it reports. Counts edges between flat vertices. */
static void check_charts(const mesh *m, const charts *c) {
  for (int32_t h = 0; h < 3 * m->triangle_count; h++)
    if (!CHECK(c->vertex[c->corner[h]] == m->triangles[h])) return;
  for (int32_t k = 0; k < c->count; k++) {
    const chart *at = &c->chart[k];
    int32_t single = 0, edges = 0;
    for (int32_t i = at->first_triangle; i < at->first_triangle + at->triangles; i++) {
      const int32_t t = c->order[i];
      CHECK(c->chart_of[t] == k);
      for (int32_t h = 3 * t; h < 3 * t + 3; h++) {
        const int32_t a = c->corner[h], b = c->corner[mesh_halfedge_next(h)];
        int opposite = 0;
        CHECK(a >= at->first_vertex && a < at->first_vertex + at->vertices);
        for (int32_t j = at->first_triangle; j < at->first_triangle + at->triangles; j++)
          for (int32_t g = 3 * c->order[j]; g < 3 * c->order[j] + 3; g++)
            opposite += c->corner[g] == b && c->corner[mesh_halfedge_next(g)] == a;
        single += !opposite;
        edges += opposite ? 1 : 2;
      }
    }
    CHECK_INT(at->boundary_edges, single);
    /* A disk with holes. */
    CHECK(at->loops > 0 && at->genus == 0);
    CHECK_INT(at->vertices - edges / 2 + at->triangles, 2 - at->loops);
  }
}

static void disks(void) {
  static const struct {
    const char *what;
    int32_t charts;
  } open[] = {{"cap:300", 1}, {"bent:300", 1}, {"patches:400", 4}, {"face:200", 1}};
  for (int i = 0; i < 4; i++) {
    test_context_label("%s", open[i].what);
    mesh m = generated(open[i].what);
    charts c;
    cut_report cut;
    REQUIRE(cut_into_disks(&m, 0, &c, &cut, message) == 0);
    CHECK_INT(c.count, open[i].charts);
    CHECK_INT(c.vertices, m.vertex_count);
    CHECK_INT(cut.edges, 0);
    check_charts(&m, &c);
    charts_free(&c);
    mesh_destroy(&m);
  }
  test_context_label("%s", "");
}

static void closed_surfaces(void) {
  static const struct {
    const char *what;
    int32_t handles;
  } closed[] = {{"sphere:300", 0}, {"cube:200", 0}, {"torus:400", 1}};
  for (int i = 0; i < 3; i++) {
    test_context_label("%s", closed[i].what);
    mesh m = generated(closed[i].what);
    charts c;
    cut_report cut;
    CHECK(cut_into_disks(&m, 0, &c, &cut, message) == 1);
    CHECK_CONTAINS(message, "use --cut");
    if (closed[i].handles) CHECK_CONTAINS(message, "has 1 handle");
    REQUIRE(cut_into_disks(&m, 1, &c, &cut, message) == 0);
    CHECK_INT(c.count, 1);
    CHECK_INT(c.chart[0].loops, 1);
    CHECK_INT(cut.closed, 1);
    CHECK_INT(cut.handles, closed[i].handles);
    CHECK(cut.edges > 3);
    /* The two sides of a path with e edges have e + 1 vertices each and share the ends. Two loops through one
     * vertex, with paths that separate at one or two vertices, have one more. */
    CHECK(c.vertices >= m.vertex_count + cut.edges - 1 && c.vertices <= m.vertex_count + cut.edges + 1);
    check_charts(&m, &c);
    charts_free(&c);
    mesh_destroy(&m);
  }
  test_context_label("%s", "");
}

/* A torus with a hole has one boundary and one handle. */
static void handle_with_hole(void) {
  mesh m = generated("torus:400");
  charts c;
  cut_report cut;
  m.triangle_count -= 3;
  CHECK(cut_into_disks(&m, 0, &c, &cut, message) == 1);
  CHECK_CONTAINS(message, "has 1 handle");
  if (cut_into_disks(&m, 1, &c, &cut, message)) test_fail(__FILE__, __LINE__, "%s", message);
  CHECK_INT(cut.handles, 1);
  CHECK_INT(cut.closed, 0);
  check_charts(&m, &c);
  charts_free(&c);
  mesh_destroy(&m);
}

/* Two triangles that touch at a vertex, three at an edge, and a Moebius strip: each is divided where the
 * surface does not continue. */
static void odd_meshes(void) {
  static const int32_t touching[] = {0, 1, 2, 0, 3, 4}, fin[] = {0, 1, 2, 1, 0, 3, 0, 1, 4},
                       moebius[] = {0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 0, 4, 4, 0, 1};
  static const struct {
    int32_t triangles;
    const int32_t *corners;
    int32_t charts;
  } odd[] = {{2, touching, 2}, {3, fin, 3}, {5, moebius, 1}};
  for (int i = 0; i < 3; i++) {
    mesh m;
    charts c;
    cut_report cut;
    REQUIRE(mesh_create(5, odd[i].triangles, &m, message) == 0);
    memcpy(m.triangles, odd[i].corners, 3 * (size_t)odd[i].triangles * sizeof *m.triangles);
    for (int v = 0; v < 15; v++) m.positions[v] = sin(7.0 * v);
    REQUIRE(cut_into_disks(&m, 0, &c, &cut, message) == 0);
    CHECK_INT(c.count, odd[i].charts);
    check_charts(&m, &c);
    charts_free(&c);
    mesh_destroy(&m);
  }
}

/* ---- Packing ---- */

/* The boxes are disjoint, inside the square, and contain their charts. All charts have one scale. */
static void packing(void) {
  enum { most = 40 };
  mesh m = generated("patches:400");
  charts c;
  cut_report cut;
  pack_box boxes[most];
  pack_report report;
  const double gap = 0.01;
  REQUIRE(cut_into_disks(&m, 0, &c, &cut, message) == 0);
  double *uv = calloc(2 * (size_t)c.vertices, sizeof *uv);
  /* Each chart has its own size and rotation, as after a solve. */
  for (int32_t k = 0; k < c.count; k++)
    for (int32_t v = c.chart[k].first_vertex; v < c.chart[k].first_vertex + c.chart[k].vertices; v++) {
      const double *p = m.positions + 3 * (size_t)c.vertex[v], turn = 0.7 * k, size = 1 + 5 * k;
      uv[2 * v] = size * (cos(turn) * p[0] - sin(turn) * p[1]);
      uv[2 * v + 1] = size * (sin(turn) * p[0] + cos(turn) * p[1]) + 100;
    }
  REQUIRE(pack_charts(&m, &c, gap, uv, boxes, &report, message) == 0);
  for (int32_t k = 0; k < c.count; k++) {
    double area = 0, image = 0;
    for (int i = 0; i < 2; i++) CHECK(boxes[k].low[i] >= 0.5 * gap && boxes[k].high[i] <= 1 - 0.5 * gap);
    CHECK(boxes[k].high[0] - boxes[k].low[0] >= boxes[k].high[1] - boxes[k].low[1]);
    for (int32_t v = c.chart[k].first_vertex; v < c.chart[k].first_vertex + c.chart[k].vertices; v++)
      for (int i = 0; i < 2; i++)
        CHECK(uv[2 * v + i] >= boxes[k].low[i] - 1e-12 && uv[2 * v + i] <= boxes[k].high[i] + 1e-12);
    for (int32_t l = 0; l < k; l++)
      CHECK(boxes[k].low[0] > boxes[l].high[0] + 0.5 * gap || boxes[l].low[0] > boxes[k].high[0] + 0.5 * gap ||
            boxes[k].low[1] > boxes[l].high[1] + 0.5 * gap || boxes[l].low[1] > boxes[k].high[1] + 0.5 * gap);
    for (int32_t i = c.chart[k].first_triangle; i < c.chart[k].first_triangle + c.chart[k].triangles; i++) {
      const int32_t *corner = c.corner + 3 * c.order[i], *vertex = m.triangles + 3 * c.order[i];
      const double *p = m.positions + 3 * vertex[0], *q = m.positions + 3 * vertex[1],
                   *r = m.positions + 3 * vertex[2];
      const double u[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]},
                   v[3] = {r[0] - p[0], r[1] - p[1], r[2] - p[2]};
      area += 0.5 * sqrt(pow(u[1] * v[2] - u[2] * v[1], 2) + pow(u[2] * v[0] - u[0] * v[2], 2) +
                         pow(u[0] * v[1] - u[1] * v[0], 2));
      image +=
          0.5 * fabs((uv[2 * corner[1]] - uv[2 * corner[0]]) * (uv[2 * corner[2] + 1] - uv[2 * corner[0] + 1]) -
                     (uv[2 * corner[1] + 1] - uv[2 * corner[0] + 1]) * (uv[2 * corner[2]] - uv[2 * corner[0]]));
    }
    CHECK_CLOSE(image / (area * report.scale * report.scale), 1, 1e-9);
  }
  CHECK(report.fill > 0.2 && report.fill < 1);
  free(uv);
  charts_free(&c);
  mesh_destroy(&m);
}

/* A rotated rectangle is aligned with the sides of the square. */
static void smallest_box(void) {
  mesh m = generated("bent:300");
  charts c;
  cut_report cut;
  pack_box box;
  pack_report report;
  REQUIRE(cut_into_disks(&m, 0, &c, &cut, message) == 0);
  double *uv = calloc(2 * (size_t)c.vertices, sizeof *uv);
  for (int32_t v = 0; v < c.vertices; v++) {
    const double *p = m.positions + 3 * (size_t)c.vertex[v], along = atan2(p[0], p[2]);
    uv[2 * v] = cos(0.4) * along - sin(0.4) * p[1];
    uv[2 * v + 1] = sin(0.4) * along + cos(0.4) * p[1];
  }
  REQUIRE(pack_charts(&m, &c, 0.01, uv, &box, &report, message) == 0);
  CHECK_CLOSE((box.high[0] - box.low[0]) / (box.high[1] - box.low[1]), 1.5 * 3.14159265358979 / 2.4, 1e-6);
  free(uv);
  charts_free(&c);
  mesh_destroy(&m);
}

/* An affine image has the singular values of its matrix everywhere. A mirrored image is flipped. */
static void distortions(void) {
  mesh m = generated("bent:200");
  charts c;
  cut_report cut;
  distortion d;
  REQUIRE(cut_into_disks(&m, 0, &c, &cut, message) == 0);
  double *uv = calloc(2 * (size_t)c.vertices, sizeof *uv);
  for (int side = 1; side >= -1; side -= 2) {
    for (int32_t v = 0; v < c.vertices; v++) {
      const double *p = m.positions + 3 * (size_t)c.vertex[v];
      uv[2 * v] = 6 * side * atan2(p[0], p[2]);
      uv[2 * v + 1] = 2 * p[1];
    }
    REQUIRE(distortion_find(&m, &c, uv, &d, message) == 0);
    /* Arcs are longer than their chords. */
    CHECK_CLOSE(d.angle_mean, 3, 0.05);
    CHECK_CLOSE(d.angle_max, 3, 0.05);
    CHECK_INT(d.flipped, side > 0 ? 0 : m.triangle_count);
    CHECK_INT(d.first_flipped, side > 0 ? -1 : 0);
    if (side > 0) CHECK_CLOSE(d.area_mean, 1, 1e-6);
    CHECK_INT(d.collapsed, 0);
    distortion_free(&d);
  }
  for (int32_t v = 0; v < c.vertices; v++) uv[2 * v] = 0;
  REQUIRE(distortion_find(&m, &c, uv, &d, message) == 0);
  CHECK_INT(d.collapsed, m.triangle_count);
  distortion_free(&d);
  free(uv);
  charts_free(&c);
  mesh_destroy(&m);
}

/* ---- Coarser meshes ---- */

/* Levels shrink, keep pinned vertices, and consist of triangles of the remaining vertices. When a vertex is
 * restored, its weights are convex and belong to vertices that exist by then. If the whole boundary is kept,
 * linear functions in the plane are restored exactly. */
static void check_levels(const mesh *m, const charts *c, const unsigned char *pinned, int least_levels,
                         int exact) {
  hierarchy h;
  unsigned char *there = malloc((size_t)c->vertices);
  double *value = calloc((size_t)c->vertices, sizeof *value);
  if (!CHECK(there && value && hierarchy_create(m, c, pinned, 100, &h, message) == 0)) exit(1);
  CHECK(h.count >= least_levels);
  int32_t before = c->vertices;
  for (int k = 0; k < h.count; k++) {
    const hierarchy_level *l = &h.level[k];
    CHECK(l->vertex_count <= before / 2 && l->removed + l->vertex_count == c->vertices);
    before = l->vertex_count;
    memset(there, 0, (size_t)c->vertices);
    for (int32_t i = 0; i < l->vertex_count; i++) there[l->vertices[i]] = 1;
    for (int32_t v = 0; v < c->vertices; v++) CHECK(there[v] || !pinned[v]);
    for (int32_t i = 0; i < 3 * l->triangle_count; i++) CHECK(there[l->triangles[i]]);
  }
  for (int32_t v = 0; v < c->vertices; v++)
    value[v] = there[v] ? 2 * m->positions[3 * v] - m->positions[3 * v + 1] : NAN;
  for (int32_t i = h.count ? h.level[h.count - 1].removed : 0; i-- > 0;) {
    const hierarchy_vertex *r = &h.removed[i];
    double sum = 0, weights = 0;
    for (int32_t k = 0; k < r->neighbours; k++) {
      CHECK(r->weight[k] >= 0);
      sum += (double)r->weight[k] * value[r->neighbour[k]];
      weights += (double)r->weight[k];
    }
    value[r->vertex] = sum;
    CHECK_CLOSE(weights, 1, 1e-5);
    CHECK(isfinite(sum));
    if (exact) CHECK_CLOSE(sum, 2 * m->positions[3 * r->vertex] - m->positions[3 * r->vertex + 1], 1e-4);
  }
  hierarchy_destroy(&h);
  free(there);
  free(value);
}

static void levels(void) {
  mesh m = generated("cap:6000");
  charts c;
  cut_report cut;
  REQUIRE(cut_into_disks(&m, 0, &c, &cut, message) == 0);
  /* A hemisphere, flattened in equal steps of the angle. */
  for (int32_t v = 0; v < m.vertex_count; v++) {
    double *p = m.positions + 3 * v;
    const double angle = acos(fmin(fmax(p[2], 0), 1)), radius = hypot(p[0], p[1]);
    for (int k = 0; k < 2; k++) p[k] *= radius > 0 ? angle / radius : 0;
    p[2] = 0;
  }
  unsigned char *pinned = calloc((size_t)c.vertices, 1);
  REQUIRE(pinned);
  pinned[17] = pinned[4000] = 1;
  check_levels(&m, &c, pinned, 2, 0);
  check_levels(&m, &c, c.boundary, 1, 1);
  free(pinned);
  charts_free(&c);
  mesh_destroy(&m);
}

TEST_MAIN_ON_HOST(CASES(levels, disks, closed_surfaces, handle_with_hole, odd_meshes, packing, smallest_box,
                        distortions))
