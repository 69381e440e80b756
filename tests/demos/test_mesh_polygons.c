/* Polygons of mesh files: the triangles cover a polygon of any shape exactly once. Needs no device. Triangles
 * that all lie on the left of a polygon, with its area in total, cover it once, so the test need not search for
 * overlaps. */
#include "test.h"

#include <math.h>
#include <unistd.h>

#include "mesh_file.h"
#include "mesh_repair.h"

enum { most_corners = 4000 };

typedef struct polygon {
  int count;
  double p[most_corners][3];
} polygon;

static char directory[] = "/tmp/texsolve-polygons-XXXXXX", path[100], message[MESH_MESSAGE];
static unsigned long long random_state = 1;

static double uniform(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (double)(random_state >> 11) / 9007199254740992.0;
}

/* ---- Files of one polygon ---- */

static void write_polygon(const polygon *p, mesh_format format) {
  snprintf(path, sizeof path, "%s/p.%s", directory, (const char *const[]){"obj", "ply", "off"}[format]);
  FILE *file = fopen(path, "w");
  if (!CHECK(file != NULL)) exit(1);
  if (format == MESH_OFF) fprintf(file, "OFF\n%d 1 0\n", p->count);
  if (format == MESH_PLY)
    fprintf(
        file,
        "ply\nformat ascii 1.0\nelement vertex %d\nproperty double x\nproperty double y\nproperty double z\n"
        "element face 1\nproperty list int int vertex_indices\nend_header\n",
        p->count);
  for (int i = 0; i < p->count; i++)
    fprintf(file, "%s%.9g %.9g %.9g\n", format == MESH_OBJ ? "v " : "", p->p[i][0], p->p[i][1], p->p[i][2]);
  if (format == MESH_OBJ)
    fputc('f', file);
  else
    fprintf(file, "%d", p->count);
  for (int i = 0; i < p->count; i++) fprintf(file, " %d", format == MESH_OBJ ? i + 1 : i);
  fputc('\n', file);
  fclose(file);
}

static void file_of(const char *text) {
  snprintf(path, sizeof path, "%s/p.obj", directory);
  FILE *file = fopen(path, "w");
  if (!CHECK(file && fputs(text, file) >= 0)) exit(1);
  fclose(file);
}

static void cross(const double *a, const double *b, const double *c, double n[3]) {
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    n[k] = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
  }
}

/* Twice the area of a polygon, as a vector along its normal. */
static void vector_area(const polygon *p, double n[3]) {
  n[0] = n[1] = n[2] = 0;
  for (int i = 2; i < p->count; i++) {
    double part[3];
    cross(p->p[0], p->p[i - 1], p->p[i], part);
    for (int k = 0; k < 3; k++) n[k] += part[k];
  }
}

/* Reads the file. Its triangles must cover a polygon with this vector area. */
static void check_covered(const double n[3], int triangles, int least_quality) {
  mesh m;
  mesh_file_report report;
  if (!CHECK(mesh_file_read(path, &m, &report, message) == 0)) return;
  const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  double sum = 0;
  int turned = 0, flat = 0;
  for (int32_t t = 0; t < m.triangle_count; t++) {
    double part[3];
    const int32_t *v = m.triangles + 3 * t;
    cross(m.positions + 3 * v[0], m.positions + 3 * v[1], m.positions + 3 * v[2], part);
    const double along = (part[0] * n[0] + part[1] * n[1] + part[2] * n[2]) / length;
    turned += along < -1e-7 * length;
    flat += along < 1e-7 * length / m.triangle_count;
    sum += fabs(along);
  }
  CHECK_INT(m.triangle_count, triangles);
  CHECK_INT(turned, 0);
  CHECK_INT(report.crossing, 0);
  CHECK_INT(report.polygons, 1);
  if (least_quality) CHECK_INT(flat, 0);
  if (!CHECK(fabs(sum - length) < 1e-5 * length))
    fprintf(stderr, "  area %.9g, expected %.9g\n", sum / 2, length / 2);
  mesh_destroy(&m);
}

static void check_polygon(const polygon *p, int least_quality) {
  double n[3];
  vector_area(p, n);
  for (int format = MESH_OBJ; format <= MESH_OFF; format++) {
    write_polygon(p, (mesh_format)format);
    check_covered(n, p->count - 2, least_quality);
  }
}

/* ---- Shapes in the plane z = 0, counterclockwise ---- */

static void add(polygon *p, double x, double y) {
  p->p[p->count][0] = x;
  p->p[p->count][1] = y;
  p->p[p->count++][2] = 0;
}

static void make_star(polygon *p, int corners) {
  p->count = 0;
  for (int i = 0; i < corners; i++) {
    const double angle = 6.283185307179586 * (i + 0.8 * uniform()) / corners, radius = 0.05 + uniform();
    add(p, radius * cos(angle), radius * sin(angle));
  }
}

/* A spiral corridor with one turn per ten steps: most corners cannot be cut off. */
static void make_spiral(polygon *p, int steps) {
  p->count = 0;
  for (int i = 0; i < 2 * steps; i++) {
    const int k = i < steps ? i : 2 * steps - 1 - i;
    const double angle = 0.6283 * k, radius = 1 + 0.1 * k + (i < steps ? 0.3 : 0);
    add(p, radius * cos(angle), radius * sin(angle));
  }
}

/* Adjacent teeth, with straight corners in the middle of the sides. */
static void make_comb(polygon *p, int teeth) {
  p->count = 0;
  for (int i = 0; i <= teeth; i++) add(p, 2 * i, 0);
  for (int i = teeth; i > 0; i--) {
    add(p, 2 * i, 4);
    add(p, 2 * i - 0.5, 4);
    add(p, 2 * i - 1, 4);
    add(p, 2 * i - 1, 2.5);
    add(p, 2 * i - 1, 1);
    add(p, 2 * i - 2, 1);
  }
}

/* The same polygon, starting from another corner, anywhere in space, and out of its plane by `bend`. */
static void move(polygon *p, double bend) {
  polygon *old = malloc(sizeof *old);
  if (!CHECK(old != NULL)) exit(1);
  *old = *p;
  const int first = (int)(uniform() * p->count);
  double axis[3][3] = {{uniform() - 0.5, uniform() - 0.5, uniform() - 0.5},
                       {uniform() - 0.5, uniform() - 0.5, uniform() - 0.5}};
  double zero[3] = {0, 0, 0};
  cross(zero, axis[0], axis[1], axis[2]);
  cross(zero, axis[2], axis[0], axis[1]);
  for (int a = 0; a < 3; a++) {
    const double length = sqrt(axis[a][0] * axis[a][0] + axis[a][1] * axis[a][1] + axis[a][2] * axis[a][2]);
    for (int c = 0; c < 3; c++) axis[a][c] /= length;
  }
  for (int i = 0; i < p->count; i++) {
    const double *from = old->p[(i + first) % p->count];
    const double out = bend * (uniform() - 0.5);
    for (int c = 0; c < 3; c++)
      p->p[i][c] = from[0] * axis[0][c] + from[1] * axis[1][c] + out * axis[2][c] + 3 * (c - 1);
  }
  free(old);
}

static polygon shape;

static void shapes(void) {
  for (int round = 0; round < 60; round++) {
    const int corners = 4 + (round * round) / 12;
    test_context_label("star of %d corners, %d", corners, round);
    make_star(&shape, corners);
    check_polygon(&shape, 1);
    move(&shape, 0);
    check_polygon(&shape, 1);
    test_context_label("spiral of %d steps, %d", corners, round);
    make_spiral(&shape, corners);
    check_polygon(&shape, 0);
    move(&shape, 0.01);
    check_polygon(&shape, 0);
    test_context_label("comb of %d teeth, %d", corners, round);
    make_comb(&shape, corners);
    check_polygon(&shape, 1);
    move(&shape, 0);
    check_polygon(&shape, 0);
  }
  test_context_label("large");
  make_star(&shape, most_corners);
  check_polygon(&shape, 0);
  test_context_label("%s", "");
}

/* A convex polygon becomes a fan from its first corner. */
static void convex(void) {
  for (int corners = 4; corners < 200; corners += 13) {
    mesh m;
    shape.count = 0;
    for (int i = 0; i < corners; i++)
      add(&shape, cos(6.283185307 * i / corners), sin(6.283185307 * i / corners));
    if (corners % 2) move(&shape, 0);
    write_polygon(&shape, MESH_OBJ);
    if (!CHECK(mesh_file_read(path, &m, NULL, message) == 0)) continue;
    for (int32_t t = 0; t < m.triangle_count; t++)
      if (!CHECK(m.triangles[3 * t] == 0 && m.triangles[3 * t + 1] == t + 1 && m.triangles[3 * t + 2] == t + 2))
        break;
    mesh_destroy(&m);
  }
}

/* ---- Polygons with a vertex twice ---- */

#define SQUARE "v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\n"

static void repeated(void) {
  static const struct {
    const char *name, *face;
    double area;
    int triangles, polygons, reduced, left_out;
  } files[] = {{"twice", "f 1 2 3 3 4\n", 16, 2, 1, 1, 0},
               {"first and last", "f 1 2 3 4 1\n", 16, 2, 1, 1, 0},
               {"often", "f 1 1 2 2 2 3 4 4 1 1\n", 16, 2, 1, 1, 0},
               {"spike", "f 1 2 5 2 3 4\n", 16, 2, 1, 1, 0},
               {"long spike", "f 1 2 5 6 5 2 3 4\n", 16, 2, 1, 1, 0},
               {"spike at the seam", "f 5 1 2 3 4 1\n", 16, 2, 1, 1, 0},
               {"triangle", "f 1 2 2 3\n", 8, 1, 0, 1, 0},
               {"none and a triangle", "f 1 2 1 2\nf 1 2 3\n", 8, 1, 0, 0, 1},
               {"two loops", "f 1 2 5 3 4 5\n", 8, 2, 1, 0, 0},
               /* A square hole in the middle. An edge leads to it and is traversed twice. */
               {"hole", "f 1 2 3 4 1 7 10 9 8 7\n", 15, 8, 1, 0, 0}};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    char text[400];
    mesh m;
    mesh_file_report report;
    mesh_measures measures;
    test_context_label("%s", files[i].name);
    snprintf(text, sizeof text,
             SQUARE "v 2 2 0\nv 3 2 0\nv 1.5 1.5 0\nv 2.5 1.5 0\nv 2.5 2.5 0\nv 1.5 2.5 0\n%s", files[i].face);
    file_of(text);
    if (!CHECK(mesh_file_read(path, &m, &report, message) == 0)) continue;
    CHECK_INT(m.triangle_count, files[i].triangles);
    CHECK_INT(report.polygons, files[i].polygons);
    CHECK_INT(report.reduced, files[i].reduced);
    CHECK_INT(report.left_out, files[i].left_out);
    CHECK_INT(report.crossing, 0);
    if (CHECK(mesh_measure(&m, &measures, message) == 0)) CHECK_CLOSE(measures.area, files[i].area, 1e-12);
    mesh_destroy(&m);
  }
  test_context_label("none");
  mesh m;
  file_of(SQUARE "f 1 2 1 2\n");
  CHECK(mesh_file_read(path, &m, NULL, message) == 1);
  CHECK_CONTAINS(message, "no face has three vertices");
  test_context_label("%s", "");
}

/* A polygon that triangles cannot cover once still gets all its triangles, and is counted. */
static void crossing(void) {
  static const char *const faces[] = {"f 1 3 2 4\n", "f 1 2 4 3\n", "f 1 5 2 3 6 4\n", "f 1 5 7 3\n"};
  for (size_t i = 0; i < sizeof faces / sizeof faces[0]; i++) {
    char text[200];
    mesh m;
    mesh_file_report report;
    test_context_label("%s", faces[i]);
    snprintf(text, sizeof text, SQUARE "v 2 5 0\nv 2 -2 0\nv 3 3 0\nf 1 2 3\n%s", faces[i]);
    if (i == 3)
      snprintf(text, sizeof text, "v 0 0 0\nv 4 0 0\nv 3 3 3\nv 0 1 0\nv 1 1 1\nv 0 0 1\nv 2 2 2\nf 1 2 4\n%s",
               faces[i]);
    file_of(text);
    if (!CHECK(mesh_file_read(path, &m, &report, message) == 0)) continue;
    CHECK_INT(m.triangle_count, 1 + (i == 2 ? 4 : 2));
    CHECK_INT(report.crossing, 1);
    CHECK_INT(report.first_crossing, 1);
    mesh_destroy(&m);
  }
  /* Random corners: no triangle has a vertex twice. */
  for (int round = 0; round < 50; round++) {
    mesh m;
    test_context_label("anywhere, %d", round);
    shape.count = 0;
    for (int i = 0; i < 5 + round; i++) {
      add(&shape, floor(4 * uniform()), floor(4 * uniform()));
      shape.p[i][2] = round % 2 ? floor(4 * uniform()) : 0;
    }
    write_polygon(&shape, MESH_OBJ);
    if (!CHECK(mesh_file_read(path, &m, NULL, message) == 0)) continue;
    CHECK_INT(m.triangle_count, shape.count - 2);
    for (int32_t t = 0; t < m.triangle_count; t++) {
      const int32_t *v = m.triangles + 3 * t;
      if (!CHECK(v[0] != v[1] && v[1] != v[2] && v[2] != v[0])) break;
    }
    mesh_destroy(&m);
  }
  test_context_label("%s", "");
}

int main(int argc, char **argv) {
  const test_group groups[] = {CASES(shapes, convex, repeated, crossing), {.cases = NULL}};
  if (!mkdtemp(directory)) return 1;
  const int result = test_main(argc, argv, groups, TEST_HOST_ONLY);
  for (int format = MESH_OBJ; format <= MESH_OFF; format++) {
    snprintf(path, sizeof path, "%s/p.%s", directory, (const char *const[]){"obj", "ply", "off"}[format]);
    remove(path);
  }
  rmdir(directory);
  return result;
}
