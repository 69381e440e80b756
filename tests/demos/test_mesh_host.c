/* Meshes on the host: generated meshes, their measures, unit coordinates and noise. Needs no device. */
#include "test.h"

#include "mesh.h"
#include "mesh_generate.h"
#include "mesh_repair.h"

static const double pi = 3.14159265358979323846;
static char message[MESH_MESSAGE];

static mesh generated(const char *what) {
  mesh m;
  if (mesh_generate(what, &m, message)) {
    test_fail(__FILE__, __LINE__, "%s", message);
    exit(1);
  }
  return m;
}

static mesh_measures measured(const mesh *m) {
  mesh_measures measures;
  if (mesh_measure(m, &measures, message)) test_fail(__FILE__, __LINE__, "%s", message);
  return measures;
}

static mesh mesh_of(int32_t vertices, const double *positions, int32_t triangles, const int32_t *corners) {
  mesh m;
  if (mesh_create(vertices, triangles, &m, message)) exit(1);
  memcpy(m.positions, positions, sizeof *positions * 3 * (size_t)vertices);
  memcpy(m.triangles, corners, sizeof *corners * 3 * (size_t)triangles);
  return m;
}

static double triangle_area(const mesh *m, int32_t t) {
  const double *p[3];
  double n = 0;
  for (int k = 0; k < 3; k++) p[k] = m->positions + 3 * m->triangles[3 * t + k];
  for (int c = 0; c < 3; c++) {
    const int d = (c + 1) % 3, e = (c + 2) % 3;
    const double x = (p[1][d] - p[0][d]) * (p[2][e] - p[0][e]) - (p[1][e] - p[0][e]) * (p[2][d] - p[0][d]);
    n += x * x;
  }
  return sqrt(n) / 2;
}

/* ---- Generated meshes ---- */

static int changed(const mesh_repair_report *r) {
  return r->merged_vertices || r->dropped_triangles || r->flipped_triangles || r->nonmanifold_edges ||
         r->unorientable_edges || r->held_vertices;
}

static void check_sound(mesh *m) {
  mesh_repair_report report;
  CHECK(mesh_repair(m, NULL, &report, NULL, message) == 0);
  CHECK(!changed(&report));
  CHECK_INT(report.slivers, 0);
}

/* Closed, with the given genus and about the requested number of vertices. The error of area and volume
 * decreases with the square of the triangles' size, and so with the number of vertices. */
static void check_closed(const char *name, int genus, double area, double volume, double error) {
  static const int sizes[] = {2000, 10000, 40000};
  for (int i = 0; i < 3; i++) {
    char what[32];
    snprintf(what, sizeof what, "%s:%d", name, sizes[i]);
    test_context_label("%s", what);
    mesh m = generated(what);
    const mesh_measures s = measured(&m);
    CHECK_CLOSE(m.vertex_count, sizes[i], 0.05 * sizes[i]);
    CHECK(s.closed && s.boundary_edges == 0 && s.boundary_loops == 0);
    CHECK_INT(s.components, 1);
    CHECK_INT(s.unreferenced, 0);
    CHECK_INT(2 * (m.vertex_count - m.triangle_count / 2), 4 - 4 * genus);
    CHECK_CLOSE(s.area, area, error * area / sizes[i] + 1e-9);
    CHECK_CLOSE(s.volume, volume, error * volume / sizes[i] + 1e-9);
    check_sound(&m);
    mesh_destroy(&m);
  }
  test_context_label("%s", "");
}

static void closed_meshes(void) {
  check_closed("sphere", 0, 4 * pi, 4 * pi / 3, 20);
  check_closed("cube", 0, 6, 1, 0);
  check_closed("torus", 1, 4 * pi * pi * 0.4, 2 * pi * pi * 0.16, 30);
}

static void sphere(void) {
  mesh m = generated("sphere");
  double least = INFINITY, most = 0;
  for (int32_t v = 0; v < m.vertex_count; v++) {
    const double *p = m.positions + 3 * v;
    if (!CHECK(fabs(sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - 1) < 1e-8)) break;
  }
  for (int32_t t = 0; t < m.triangle_count; t++) {
    least = fmin(least, triangle_area(&m, t));
    most = fmax(most, triangle_area(&m, t));
  }
  CHECK(most < 1.5 * least);
  mesh_destroy(&m);
}

static void scan(void) {
  static const int sizes[] = {2000, 10000, 60000};
  for (int i = 0; i < 3; i++) {
    char what[32];
    snprintf(what, sizeof what, "scan:%d", sizes[i]);
    test_context_label("%s", what);
    mesh m = generated(what);
    const mesh_measures s = measured(&m);
    CHECK_CLOSE(m.vertex_count, sizes[i], 0.05 * sizes[i]);
    CHECK(s.boundary_loops >= 4 && s.components <= 5 && !s.closed);
    CHECK_INT(s.unreferenced, 0);
    /* All triangles face the scanner. */
    for (int32_t t = 0; t < m.triangle_count; t++) {
      const double *p = m.positions + 3 * m.triangles[3 * t], *q = m.positions + 3 * m.triangles[3 * t + 1],
                   *r = m.positions + 3 * m.triangles[3 * t + 2];
      if (!CHECK((q[0] - p[0]) * (r[1] - p[1]) > (q[1] - p[1]) * (r[0] - p[0]))) break;
    }
    check_sound(&m);
    mesh_destroy(&m);
  }
  test_context_label("%s", "");
}

/* Borders, and triangles that all face outward: away from the axis or, for the face, mostly towards +z. */
static void open_patches(void) {
  static const struct {
    const char *what;
    int loops;
    double area, tolerance;
  } patches[] = {{"cap:4000", 1, 2 * M_PI, 0.01},
                 {"bent:4000", 1, 1.5 * M_PI * 2.4, 0.02},
                 {"cone:4000", 1, 2 * M_PI / 3 * 0.6 * (4 - 0.09), 0.02},
                 {"face:4000", 1, 6, 1.5},
                 {"patches:4000", 4, 23, 3}};
  for (int i = 0; i < 5; i++) {
    test_context_label("%s", patches[i].what);
    mesh m = generated(patches[i].what);
    const mesh_measures s = measured(&m);
    CHECK_CLOSE(m.vertex_count, 4000, 200);
    CHECK_INT(s.boundary_loops, patches[i].loops);
    CHECK_INT(s.components, patches[i].loops);
    CHECK_INT(s.unreferenced, 0);
    CHECK_CLOSE(s.area, patches[i].area, patches[i].tolerance);
    for (int32_t t = 0; t < m.triangle_count && i < 3; t++) {
      const double *p = m.positions + 3 * m.triangles[3 * t], *q = m.positions + 3 * m.triangles[3 * t + 1],
                   *r = m.positions + 3 * m.triangles[3 * t + 2];
      const double u[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]},
                   v[3] = {r[0] - p[0], r[1] - p[1], r[2] - p[2]};
      const double out = (u[1] * v[2] - u[2] * v[1]) * p[0] + (u[0] * v[1] - u[1] * v[0]) * p[2];
      if (!CHECK(out + (i == 0 ? (u[2] * v[0] - u[0] * v[2]) * p[1] : 0) > 0)) break;
    }
    check_sound(&m);
    mesh_destroy(&m);
  }
  test_context_label("%s", "");
}

static uint64_t hash_of(const mesh *m) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (int pass = 0; pass < 2; pass++) {
    const unsigned char *bytes =
        pass ? (const unsigned char *)m->triangles : (const unsigned char *)m->positions;
    const size_t size = 3 * (pass ? sizeof *m->triangles * (size_t)m->triangle_count
                                  : sizeof *m->positions * (size_t)m->vertex_count);
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

/* The same on every machine: these are the values from the machine where the test was written. */
static void same_everywhere(void) {
  static const struct {
    const char *what;
    uint64_t plain, noisy;
  } known[] = {
      {"sphere:100", UINT64_C(0xf23eedd98e42ef85), UINT64_C(0x720266e56de2eb4a)},
      {"cube:100", UINT64_C(0x9d9c6357d6275245), UINT64_C(0xf266d6f2a68a5260)},
      {"torus:100", UINT64_C(0xc962c325f899412d), UINT64_C(0xf38a768771d80072)},
      {"scan:1000", UINT64_C(0x84db7b4daf2a762e), UINT64_C(0x2066b7c0ffe6c36b)},
      {"patches:1000", UINT64_C(0xaea5aa31da2c2f84), UINT64_C(0x0d6b49aa4766c2f9)},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    test_context_label("%s", known[i].what);
    mesh m = generated(known[i].what);
    const uint64_t plain = hash_of(&m);
    CHECK(mesh_add_noise(&m, 0.01, 5, message) == 0);
    const uint64_t noisy = hash_of(&m);
    if (plain != known[i].plain || noisy != known[i].noisy)
      test_fail(__FILE__, __LINE__, "hashes are 0x%016llx and 0x%016llx", (unsigned long long)plain,
                (unsigned long long)noisy);
    mesh_destroy(&m);
  }
  test_context_label("%s", "");
}

static void names(void) {
  static const char *const good[] = {"sphere:12", "cube:12", "torus:12",   "scan:12", "cube", "scan",
                                     "cap:12",    "bent:12", "patches:12", "face:12", "cone"};
  static const char *const bad[] = {
      "",           ":100",       "ball",     "sphere:",  "sphere:11",
      "sphere:-50", "sphere:1e4", "cube: 50", "cube:50 ", "scan:99999999999999999999",
      "spher:50",   "spheres:50"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    test_context_label("%s", good[i]);
    mesh m = generated(good[i]);
    CHECK(m.vertex_count >= 8 && measured(&m).area > 0.5);
    mesh_destroy(&m);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    test_context_label("\"%s\"", bad[i]);
    mesh m;
    CHECK(mesh_generate(bad[i], &m, message) == 1);
    CHECK(m.positions == NULL);
    CHECK_CONTAINS(message, "expected");
  }
  test_context_label("%s", "");
}

/* ---- Measures ---- */

static const double fan_positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0, 0, 0, -1, 0, 9, 9, 9};

static void check_topology(int32_t triangles, const int32_t *corners, int edges, int loops, int components) {
  mesh m = mesh_of(6, fan_positions, triangles, corners);
  const mesh_measures s = measured(&m);
  CHECK_INT(s.boundary_edges, edges);
  CHECK_INT(s.boundary_loops, loops);
  CHECK_INT(s.components, components);
  CHECK_INT(s.closed, edges == 0);
  mesh_destroy(&m);
}

static void known_measures(void) {
  static const int32_t one[] = {0, 1, 2}, two[] = {0, 1, 2, 0, 2, 3}, touching[] = {0, 1, 2, 0, 3, 4},
                       closed[] = {0, 1, 2, 0, 2, 1}, twisted[] = {0, 1, 2, 0, 3, 2};
  check_topology(1, one, 3, 1, 1);
  check_topology(2, two, 4, 1, 1);
  check_topology(2, twisted, 4, 1, 1); /* orientation is ignored */
  check_topology(2, touching, 6, 2, 2);
  check_topology(2, closed, 0, 0, 1);

  mesh m = mesh_of(6, fan_positions, 2, two);
  mesh_measures s = measured(&m);
  CHECK_INT(s.unreferenced, 2);
  CHECK(s.low[0] == -1 && s.high[0] == 1 && s.low[1] == 0 && s.high[1] == 1 && s.low[2] == 0 && s.high[2] == 0);
  CHECK_CLOSE(s.diagonal, sqrt(5), 1e-15);
  CHECK_CLOSE(s.area, 1, 1e-15);
  for (int i = 0; i < 18; i++) m.positions[i] = 3;
  CHECK(mesh_measure(&m, &s, message) == 1);
  CHECK_CONTAINS(message, "the same position");
  for (int i = 0; i < 18; i++) m.positions[i] = 1e200 * fan_positions[i];
  CHECK(mesh_measure(&m, &s, message) == 1);
  CHECK_CONTAINS(message, "too large");
  m.triangle_count = 0;
  CHECK(mesh_measure(&m, &s, message) == 1);
  CHECK_CONTAINS(message, "no triangles");
  mesh_destroy(&m);
}

/* Far from the origin volume is a small difference of large numbers, unless it is computed about the centre. */
static void area_volume(void) {
  mesh m = generated("cube:500");
  for (int32_t i = 0; i < 3 * m.vertex_count; i++) m.positions[i] = 2 * m.positions[i] + 1e6;
  const mesh_measures s = measured(&m);
  CHECK_CLOSE(s.area, 24, 1e-8);
  CHECK_CLOSE(s.volume, 8, 1e-8);
  float *padded = malloc(sizeof *padded * 4 * (size_t)m.vertex_count);
  for (int32_t v = 0; v < m.vertex_count; v++)
    for (int c = 0; c < 4; c++) padded[4 * v + c] = c < 3 ? (float)(m.positions[3 * v + c] - 1e6) : NAN;
  double area, volume;
  mesh_area_volume(&m, padded, 4, (const double[3]){0, 0, 0}, &area, &volume);
  CHECK_CLOSE(area, 24, 1e-5);
  CHECK_CLOSE(volume, 8, 1e-5);
  free(padded);
  mesh_destroy(&m);
}

static void unit(void) {
  mesh m = generated("sphere:300");
  for (int32_t v = 0; v < m.vertex_count; v++)
    for (int c = 0; c < 3; c++) m.positions[3 * v + c] = 0.7 * m.positions[3 * v + c] + 12345.678 * (c + 1);
  const mesh_measures s = measured(&m);
  const size_t count = 3 * (size_t)m.vertex_count;
  float *start = malloc(sizeof *start * count), *now = malloc(sizeof *now * count);
  double *back = malloc(sizeof *back * count);
  mesh_to_unit(&m, &s, start);
  float low = 1, high = -1;
  for (size_t i = 0; i < count; i += 3) {
    low = fminf(low, start[i]);
    high = fmaxf(high, start[i]);
  }
  CHECK_CLOSE(low, -high, 1e-6);
  CHECK_CLOSE(high - low, (s.high[0] - s.low[0]) / s.diagonal, 1e-6);
  memcpy(now, start, sizeof *start * count);
  now[3] = start[3] + 0.25f;
  mesh_from_unit(&m, &s, start, now, back);
  CHECK_CLOSE(back[3], m.positions[3] + ((double)now[3] - (double)start[3]) * s.diagonal, 1e-11);
  back[3] = m.positions[3];
  CHECK(memcmp(back, m.positions, sizeof *back * count) == 0); /* unmoved vertices keep every digit */
  free(start);
  free(now);
  free(back);
  mesh_destroy(&m);
}

/* ---- Noise ---- */

static void noise(void) {
  mesh m = generated("sphere:40000"), same = generated("sphere:40000"), other = generated("sphere:40000");
  const size_t bytes = sizeof *m.positions * 3 * (size_t)m.vertex_count;
  const double deviation = 0.01 * measured(&m).diagonal;
  CHECK(mesh_add_noise(&m, 0.01, 1, message) == 0);
  CHECK(mesh_add_noise(&same, 0.01, 1, message) == 0);
  CHECK(mesh_add_noise(&other, 0.01, 2, message) == 0);
  CHECK(memcmp(m.positions, same.positions, bytes) == 0);
  CHECK(memcmp(m.positions, other.positions, bytes) != 0);
  double sum = 0, squares = 0, fourth = 0;
  for (int32_t v = 0; v < m.vertex_count; v++) {
    const double *p = m.positions + 3 * v;
    const double z = (sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - 1) / deviation;
    sum += z;
    squares += z * z;
    fourth += z * z * z * z;
  }
  /* Five standard errors of each. */
  const double n = m.vertex_count;
  CHECK_CLOSE(sum / n, 0, 5 / sqrt(n));
  CHECK_CLOSE(squares / n, 1, 5 * sqrt(2 / n));
  CHECK_CLOSE(fourth / n, 3, 5 * sqrt(96 / n));
  mesh_destroy(&m);
  mesh_destroy(&same);
  mesh_destroy(&other);
}

static void noise_stays(void) {
  static const int32_t two[] = {0, 1, 2, 0, 2, 3};
  mesh m = mesh_of(6, fan_positions, 2, two);
  m.held = calloc(6, 1);
  m.held[1] = 1;
  CHECK(mesh_add_noise(&m, 0.1, 3, message) == 0);
  for (int v = 0; v < 6; v++) {
    CHECK(m.positions[3 * v] == fan_positions[3 * v] && m.positions[3 * v + 1] == fan_positions[3 * v + 1]);
    CHECK((m.positions[3 * v + 2] == fan_positions[3 * v + 2]) == (v == 1 || v > 3));
  }
  double before[18];
  memcpy(before, m.positions, sizeof before);
  CHECK(mesh_add_noise(&m, 0, 3, message) == 0);
  const double bad[] = {-0.1, NAN, INFINITY};
  for (int i = 0; i < 3; i++) {
    CHECK(mesh_add_noise(&m, bad[i], 3, message) == 1);
    CHECK_CONTAINS(message, "expected a fraction of the bounding box's diagonal");
  }
  CHECK(memcmp(before, m.positions, sizeof before) == 0);
  mesh_destroy(&m);
}

TEST_MAIN_ON_HOST(CASES(closed_meshes, sphere, scan, open_patches, same_everywhere, names, known_measures,
                        area_volume, unit, noise, noise_stays))
