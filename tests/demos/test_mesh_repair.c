/* Repairs of meshes: each kind of defect, its report, and the mesh after the repair. Needs no device. */
#include "test.h"

#include "mesh_generate.h"
#include "mesh_repair.h"

static char message[MESH_MESSAGE];
static mesh_repair_report report;

static mesh mesh_of(int32_t vertices, const double *positions, int32_t triangles, const int32_t *corners) {
  mesh m;
  if (mesh_create(vertices, triangles, &m, message)) exit(1);
  memcpy(m.positions, positions, sizeof *positions * 3 * (size_t)vertices);
  memcpy(m.triangles, corners, sizeof *corners * 3 * (size_t)triangles);
  return m;
}

static mesh copy_of(const mesh *m) {
  return mesh_of(m->vertex_count, m->positions, m->triangle_count, m->triangles);
}

static int is_held(const mesh *m, int32_t v) {
  return m->held && m->held[v];
}

/* The requirements of the flow, checked pair by pair: triangles have three different vertices. An edge that is
 * not fixed at both ends has at most two triangles, which traverse it in opposite directions. */
static void check_fit(const mesh *m) {
  for (int32_t g = 0; g < 3 * m->triangle_count; g++) {
    const int32_t a = m->triangles[g], b = m->triangles[g % 3 == 2 ? g - 2 : g + 1];
    int same = 0, opposite = 0;
    if (!CHECK(a != b && a >= 0 && a < m->vertex_count)) return;
    if (is_held(m, a) && is_held(m, b)) continue;
    for (int32_t h = 0; h < 3 * m->triangle_count; h++) {
      const int32_t c = m->triangles[h], d = m->triangles[h % 3 == 2 ? h - 2 : h + 1];
      same += a == c && b == d;
      opposite += a == d && b == c;
    }
    if (!CHECK(same == 1 && opposite <= 1)) return;
  }
}

static void repair(mesh *m) {
  if (mesh_repair(m, NULL, &report, NULL, message)) test_fail(__FILE__, __LINE__, "%s", message);
  check_fit(m);
  int32_t held = 0;
  for (int32_t v = 0; v < m->vertex_count; v++) held += is_held(m, v);
  CHECK_INT(report.held_vertices, held);
  CHECK((held > 0) == (m->held != NULL));
}

/* ---- The report ---- */

typedef struct report_text {
  int lines;
  char text[1200];
} report_text;

static void keep_line(const char *line, void *user) {
  report_text *t = user;
  t->lines++;
  CHECK(!strchr(line, '\n'));
  strncat(t->text, line, sizeof t->text - strlen(t->text) - 2);
  strcat(t->text, "\n");
}

static const mesh_repair_words words = {.thin = "that the flow bounds the angles",
                                        .odd_edge = "their vertices are held fixed"};

static void check_reported(int lines, const char *part) {
  report_text t = {0};
  mesh_repair_describe(&report, &words, keep_line, &t);
  CHECK_INT(t.lines, lines);
  if (part) CHECK_CONTAINS(t.text, part);
}

/* ---- Nothing to do ---- */

static void nothing_to_do(void) {
  static const char *const shapes[] = {"sphere:200", "cube:200", "torus:200", "scan:500"};
  for (int i = 0; i < 4; i++) {
    mesh m;
    int32_t *now = NULL;
    REQUIRE(mesh_generate(shapes[i], &m, message) == 0);
    mesh before = copy_of(&m);
    REQUIRE(mesh_repair(&m, NULL, &report, &now, message) == 0);
    check_fit(&m);
    check_reported(0, NULL);
    CHECK(m.vertex_count == before.vertex_count && m.triangle_count == before.triangle_count && m.held == NULL);
    CHECK(memcmp(m.positions, before.positions, sizeof *m.positions * 3 * (size_t)m.vertex_count) == 0);
    CHECK(memcmp(m.triangles, before.triangles, sizeof *m.triangles * 3 * (size_t)m.triangle_count) == 0);
    for (int32_t v = 0; v < m.vertex_count; v++)
      if (!CHECK(now[v] == v)) break;
    free(now);
    mesh_destroy(&m);
    mesh_destroy(&before);
  }
}

/* ---- Merging ---- */

/* A square of two triangles without common vertices. 0 and -0 are the same place. Vertices 3 and 7 are unused.
 * They coincide with others and must not be merged. */
static const double split_positions[] = {0,    0, 0,    1, 0, 0, 1, 1, 0, 0, 0, 0,
                                         -0.0, 0, -0.0, 1, 1, 0, 0, 1, 0, 1, 1, 0};
static const int32_t split_triangles[] = {0, 1, 2, 4, 5, 6};

static void merge(void) {
  static const int32_t expected_now[] = {0, 1, 2, 3, 0, 2, 4, 5}, expected[] = {0, 1, 2, 0, 2, 4};
  mesh m = mesh_of(8, split_positions, 2, split_triangles);
  int32_t *now = NULL;
  m.held = calloc(8, 1);
  m.held[5] = 1;
  REQUIRE(mesh_repair(&m, NULL, &report, &now, message) == 0);
  CHECK_INT(m.vertex_count, 6);
  CHECK_INT(report.merged_vertices, 2);
  CHECK(report.first_merged[0] == 0 && report.first_merged[1] == 4);
  CHECK(memcmp(m.triangles, expected, sizeof expected) == 0);
  CHECK(memcmp(now, expected_now, sizeof expected_now) == 0);
  CHECK(m.positions[3 * 4 + 1] == 1 && m.positions[3 * 4] == 0);
  CHECK(m.held && m.held[2] && report.held_vertices == 1); /* replaces a fixed one */
  check_reported(1,
                 "2 vertices were merged with another one at the same position (the first: vertex 4 with 0)");
  free(now);
  mesh_destroy(&m);
}

static void kept_duplicates(void) {
  mesh m = mesh_of(8, split_positions, 2, split_triangles);
  const mesh_repair_options options = {.keep_duplicates = 1};
  REQUIRE(mesh_repair(&m, &options, &report, NULL, message) == 0);
  CHECK_INT(report.merged_vertices, 0);
  CHECK(m.vertex_count == 8 && memcmp(m.triangles, split_triangles, sizeof split_triangles) == 0);
  check_reported(0, NULL);
  mesh_destroy(&m);
}

/* A sphere with three separate vertices for each triangle, as in an STL file. */
static void merge_all(void) {
  mesh sphere, loose;
  REQUIRE(mesh_generate("sphere:500", &sphere, message) == 0);
  REQUIRE(mesh_create(3 * sphere.triangle_count, sphere.triangle_count, &loose, message) == 0);
  for (int32_t i = 0; i < loose.vertex_count; i++) {
    loose.triangles[i] = i;
    memcpy(loose.positions + 3 * i, sphere.positions + 3 * sphere.triangles[i], 3 * sizeof(double));
  }
  repair(&loose);
  mesh_measures s;
  CHECK(mesh_measure(&loose, &s, message) == 0);
  CHECK_INT(loose.vertex_count, sphere.vertex_count);
  CHECK(s.closed && s.components == 1);
  mesh_destroy(&sphere);
  mesh_destroy(&loose);
}

/* ---- Removal ---- */

static const double fan_positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0, 0, 0, -1, 0, 1, 0, 0, 0.5, 0, 1e-5};

static void drop(void) {
  /* The third triangle has vertices 1 and 5, which coincide. The last two repeat the first. */
  static const int32_t corners[] = {0, 1, 2, 3, 3, 0, 0, 1, 5, 0, 2, 3, 1, 2, 0, 2, 1, 0};
  mesh m = mesh_of(6, fan_positions, 6, corners);
  repair(&m);
  CHECK_INT(m.triangle_count, 2);
  CHECK_INT(report.dropped_triangles, 4);
  CHECK_INT(report.first_dropped, 1);
  CHECK(m.triangles[0] == 0 && m.triangles[1] == 1 && m.triangles[3] == 0 && m.triangles[4] == 2);
  check_reported(2, "4 triangles were dropped: a repeated vertex, or the same vertices as another one (the "
                    "first: triangle 1)");
  mesh_destroy(&m);

  static const int32_t nothing[] = {0, 0, 1, 2, 3, 2};
  m = mesh_of(5, fan_positions, 2, nothing);
  CHECK(mesh_repair(&m, NULL, &report, NULL, message) == 1);
  CHECK_CONTAINS(message, "2 triangles, none with three distinct vertices");
  mesh_destroy(&m);
}

static void sliver(void) {
  /* The second triangle has almost no area, but is kept. */
  static const int32_t corners[] = {0, 1, 2, 0, 6, 1, 0, 2, 3};
  mesh m = mesh_of(7, fan_positions, 3, corners);
  repair(&m);
  CHECK_INT(m.triangle_count, 3);
  CHECK_INT(report.slivers, 1);
  CHECK_INT(report.first_sliver, 1);
  check_reported(1, "1 triangle is so thin that the flow bounds the angles (the first: triangle 1)");
  mesh_destroy(&m);
}

/* ---- Orientation ---- */

/* Two spheres. A few triangles of the first one are reversed, and most of the second one. */
static void triangles_flipped(void) {
  mesh sphere, m;
  REQUIRE(mesh_generate("sphere:150", &sphere, message) == 0);
  const int32_t half = sphere.triangle_count, vertices = sphere.vertex_count;
  REQUIRE(mesh_create(2 * vertices, 2 * half, &m, message) == 0);
  for (int32_t i = 0; i < 6 * vertices; i++)
    m.positions[i] = sphere.positions[i % (3 * vertices)] + (i < 3 * vertices ? 0 : 5);
  for (int32_t i = 0; i < 6 * half; i++)
    m.triangles[i] = sphere.triangles[i % (3 * half)] + (i < 3 * half ? 0 : vertices);
  mesh before = copy_of(&m);
  int32_t flipped = 0;
  for (int32_t t = 0; t < 2 * half; t++) {
    const int is_flipped = t < half ? t % 5 == 0 : t % 5 != 0;
    int32_t *corner = m.triangles + 3 * t, second = corner[1];
    if (!is_flipped) continue;
    corner[1] = corner[2];
    corner[2] = second;
    flipped += t < half;
  }
  int32_t fewer = 0;
  for (int32_t t = half; t < 2 * half; t++) fewer += t % 5 == 0;
  repair(&m);
  CHECK_INT(report.flipped_triangles, flipped + fewer);
  CHECK_INT(report.unorientable_edges, 0);
  CHECK(memcmp(m.triangles, before.triangles, sizeof *m.triangles * 3 * (size_t)half) == 0);
  /* The second one stays inside out, because most of it was. */
  for (int32_t t = half; t < 2 * half; t++) {
    const int32_t *now = m.triangles + 3 * t, *then = before.triangles + 3 * t;
    if (!CHECK(now[0] == then[0] && now[1] == then[2] && now[2] == then[1])) break;
  }
  CHECK(report.first_flipped[0] < report.first_flipped[1]);
  check_reported(1, "triangles were flipped to match the neighbours (the first edge: vertices ");
  mesh_destroy(&sphere);
  mesh_destroy(&before);
  mesh_destroy(&m);
}

/* The message names the edge by its vertices before merging. */
static void flipped_edge_names(void) {
  static const double positions[] = {0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, -1, 0, 0};
  static const int32_t corners[] = {0, 2, 3, 1, 4, 3, 1, 4, 5};
  mesh m = mesh_of(6, positions, 3, corners);
  repair(&m);
  CHECK_INT(report.merged_vertices, 1);
  CHECK_INT(report.flipped_triangles, 1);
  CHECK(report.first_flipped[0] == 0 && report.first_flipped[1] == 3);
  mesh_destroy(&m);
}

/* ---- Fixed vertices ---- */

static void nonmanifold_edges_kept(void) {
  static const double positions[] = {9, 9, 9, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, -1, 0, 0, 2, 1, 0};
  static const int32_t corners[] = {1, 2, 3, 1, 2, 4, 2, 1, 5, 3, 6, 1};
  mesh m = mesh_of(7, positions, 4, corners);
  repair(&m);
  CHECK_INT(report.nonmanifold_edges, 1);
  CHECK(report.first_nonmanifold[0] == 1 && report.first_nonmanifold[1] == 2);
  CHECK_INT(report.held_vertices, 2);
  CHECK(is_held(&m, 1) && is_held(&m, 2));
  CHECK(memcmp(m.triangles, corners, sizeof corners) == 0);
  check_reported(
      1, "1 edge has more than two triangles (the first: vertices 1 and 2); their vertices are held fixed");
  mesh_destroy(&m);
}

static void moebius(void) {
  enum { around = 9 };
  double positions[3 * 2 * around];
  int32_t corners[3 * 2 * around];
  for (int i = 0; i < around; i++) {
    const double angle = 2 * 3.14159265358979 * i / around;
    for (int side = 0; side < 2; side++) {
      const double r = 1 + (side - 0.5) * 0.5 * cos(angle / 2);
      double *p = positions + 3 * (2 * i + side);
      p[0] = r * cos(angle);
      p[1] = r * sin(angle);
      p[2] = (side - 0.5) * 0.5 * sin(angle / 2);
    }
    const int last = i + 1 == around; /* where the strip closes, its sides are exchanged */
    const int32_t a = 2 * i, b = a + 1, c = last ? 1 : a + 2, d = last ? 0 : a + 3;
    memcpy(corners + 6 * i, (const int32_t[]){a, c, b, b, c, d}, 6 * sizeof *corners);
  }
  mesh m = mesh_of(2 * around, positions, 2 * around, corners);
  repair(&m);
  CHECK_INT(report.unorientable_edges, 1);
  CHECK_INT(report.nonmanifold_edges, 0);
  CHECK_INT(report.held_vertices, 2);
  CHECK(is_held(&m, report.first_unorientable[0]) && is_held(&m, report.first_unorientable[1]));
  report_text t = {0};
  mesh_repair_describe(&report, &words, keep_line, &t);
  CHECK_CONTAINS(t.text, "the triangles at 1 edge cannot agree in orientation");
  mesh_destroy(&m);
}

/* All repairs at once. A second repair has nothing to reverse, merge or remove. */
static void twice(void) {
  mesh m;
  uint32_t random = 1;
  REQUIRE(mesh_generate("torus:200", &m, message) == 0);
  for (int32_t i = 0; i < 3 * m.triangle_count; i++) {
    random = random * 1664525u + 1013904223u;
    if (random >> 28 == 0) m.triangles[i] = (int32_t)((random >> 8) % (uint32_t)m.vertex_count);
    if (random >> 28 == 1) memcpy(m.positions + 3 * m.triangles[i], m.positions, 3 * sizeof(double));
  }
  repair(&m);
  CHECK(report.merged_vertices > 0 && report.dropped_triangles > 0 && report.flipped_triangles > 0 &&
        report.nonmanifold_edges > 0);
  const int32_t nonmanifold = report.nonmanifold_edges;
  repair(&m);
  CHECK_INT(report.merged_vertices + report.dropped_triangles + report.flipped_triangles, 0);
  CHECK_INT(report.nonmanifold_edges, nonmanifold);
  mesh_destroy(&m);
}

TEST_MAIN_ON_HOST(CASES(nothing_to_do, merge, kept_duplicates, merge_all, drop, sliver, triangles_flipped,
                        flipped_edge_names, nonmanifold_edges_kept, moebius, twice))
