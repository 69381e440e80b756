#include "mesh_generate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_random.h"
#include "mesh_shapes.h"

enum { default_vertices = 10000, least_vertices = 12, most_vertices = 50000000 };

static const double pi = 3.14159265358979323846;

static int32_t rounded(double x, int32_t least) {
  return (int32_t)fmax(floor(x + 0.5), least);
}

static void set_triangle(int32_t *triangle, int32_t a, int32_t b, int32_t c) {
  triangle[0] = a;
  triangle[1] = b;
  triangle[2] = c;
}

/* ---- Sphere: every face of an icosahedron is divided into n^2 triangles ----
 * Vertices: 12 corners, n - 1 on each of 30 edges, (n - 1)(n - 2) / 2 inside each of 20 faces. */

typedef struct icosahedron {
  double corner[12][3];
  int edge[12][12]; /* number of the edge between two corners; -1: none */
  int face[20][3];  /* counterclockwise seen from outside */
} icosahedron;

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double determinant(const double a[3], const double b[3], const double c[3]) {
  const double n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  return dot(n, c);
}

/* The corners are those of three golden rectangles. Adjacent corners have the cosine 1 / sqrt 5. */
static void icosahedron_build(icosahedron *ico) {
  const double golden = (1 + sqrt(5)) / 2, length = sqrt(1 + golden * golden);
  for (int i = 0; i < 12; i++) {
    const int axis = i / 4;
    ico->corner[i][axis] = 0;
    ico->corner[i][(axis + 1) % 3] = (i & 1 ? -1 : 1) / length;
    ico->corner[i][(axis + 2) % 3] = (i & 2 ? -golden : golden) / length;
  }
  int edges = 0, faces = 0;
  for (int a = 0; a < 12; a++)
    for (int b = 0; b < 12; b++) {
      const double cosine = dot(ico->corner[a], ico->corner[b]);
      const int near = cosine > 0.3 && cosine < 0.6;
      ico->edge[a][b] = near ? (a < b ? edges++ : ico->edge[b][a]) : -1;
    }
  for (int a = 0; a < 12; a++)
    for (int b = a + 1; b < 12; b++)
      for (int c = a + 1; c < 12; c++) {
        if (ico->edge[a][b] < 0 || ico->edge[b][c] < 0 || ico->edge[c][a] < 0 ||
            determinant(ico->corner[a], ico->corner[b], ico->corner[c]) < 0)
          continue;
        const int corners[3] = {a, b, c};
        memcpy(ico->face[faces++], corners, sizeof corners);
      }
}

/* Angles are equidistant along the edges, and nearly so between them. */
static void sphere_point(const icosahedron *ico, const int corners[3], const int32_t weight[3], int32_t n,
                         double p[3]) {
  const double angle = acos(1 / sqrt(5));
  double sum[3] = {0};
  for (int k = 0; k < 3; k++)
    for (int c = 0; c < 3; c++) sum[c] += sin(angle * weight[k] / n) * ico->corner[corners[k]][c];
  const double length = sqrt(dot(sum, sum));
  for (int c = 0; c < 3; c++) p[c] = random_round(sum[c] / length);
}

static int32_t sphere_vertex(const icosahedron *ico, int f, const int32_t weight[3], int32_t n) {
  const int *corners = ico->face[f];
  for (int k = 0; k < 3; k++)
    if (weight[k] == n) return corners[k];
  for (int k = 0; k < 3; k++)
    if (weight[k] == 0) {
      const int a = corners[(k + 1) % 3], b = corners[(k + 2) % 3];
      return 12 + ico->edge[a][b] * (n - 1) + (a < b ? weight[(k + 2) % 3] : weight[(k + 1) % 3]) - 1;
    }
  /* Rows weight[0] = n - 2, n - 3, ... 1 have 1, 2, ... vertices. */
  const int32_t row = n - 2 - weight[0];
  return 12 + 30 * (n - 1) + f * ((n - 1) * (n - 2) / 2) + row * (row + 1) / 2 + weight[1] - 1;
}

static int generate_sphere(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]) {
  const int32_t n = rounded(sqrt((about_vertices - 2) / 10.0), 1);
  if (mesh_create(10 * n * n + 2, 20 * n * n, m, message)) return 1;
  icosahedron ico;
  icosahedron_build(&ico);
  int32_t *triangle = m->triangles;
  for (int f = 0; f < 20; f++)
    for (int32_t i = 0; i <= n; i++)
      for (int32_t j = 0; i + j <= n; j++) {
        const int32_t k = n - i - j, here[3] = {k, i, j}, u[3] = {k - 1, i + 1, j}, v[3] = {k - 1, i, j + 1},
                      across[3] = {k - 2, i + 1, j + 1};
        const int32_t vertex = sphere_vertex(&ico, f, here, n);
        sphere_point(&ico, ico.face[f], here, n, m->positions + 3 * (size_t)vertex);
        if (k < 1) continue;
        const int32_t right = sphere_vertex(&ico, f, u, n), left = sphere_vertex(&ico, f, v, n);
        set_triangle(triangle, vertex, right, left);
        triangle += 3;
        if (k < 2) continue;
        set_triangle(triangle, right, sphere_vertex(&ico, f, across, n), left);
        triangle += 3;
      }
  return 0;
}

/* ---- Cube: n x n squares per side ---- */

/* Vertices are numbered by layers of z: the bottom, rings around the four walls, the top. */
static int32_t cube_vertex(const int32_t p[3], int32_t n) {
  const int32_t full = (n + 1) * (n + 1), x = p[0], y = p[1], z = p[2];
  if (z == 0) return y * (n + 1) + x;
  const int32_t base = full + (z - 1) * 4 * n;
  if (z == n) return full + (n - 1) * 4 * n + y * (n + 1) + x;
  if (y == 0) return base + x;
  if (x == n) return base + n + y;
  return y == n ? base + 2 * n + (n - x) : base + 3 * n + (n - y);
}

static int generate_cube(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]) {
  const int32_t n = rounded(sqrt((about_vertices - 2) / 6.0), 1);
  if (mesh_create(6 * n * n + 2, 12 * n * n, m, message)) return 1;
  int32_t *triangle = m->triangles;
  for (int side = 0; side < 6; side++) {
    const int w = side / 2, up = side % 2, u = (w + (up ? 1 : 2)) % 3, v = (w + (up ? 2 : 1)) % 3;
    for (int32_t j = 0; j <= n; j++)
      for (int32_t i = 0; i <= n; i++) {
        int32_t corner[4];
        for (int k = 0; k < 4; k++) {
          int32_t p[3];
          p[u] = i + (k == 1 || k == 2);
          p[v] = j + (k >= 2);
          p[w] = up * n;
          corner[k] = cube_vertex(p, n);
          for (int c = 0; c < 3 && k == 0; c++)
            m->positions[3 * (size_t)corner[0] + (size_t)c] = (double)p[c] / n - 0.5;
        }
        if (i == n || j == n) continue;
        set_triangle(triangle, corner[0], corner[1], corner[2]);
        set_triangle(triangle + 3, corner[0], corner[2], corner[3]);
        triangle += 6;
      }
  }
  return 0;
}

/* ---- Torus ---- */

static int generate_torus(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]) {
  const double large = 1, small = 0.4;
  const int32_t across = rounded(sqrt(about_vertices * small / large), 3);
  const int32_t around = rounded((double)about_vertices / across, 3);
  if (mesh_create(across * around, 2 * across * around, m, message)) return 1;
  int32_t *triangle = m->triangles;
  for (int32_t i = 0; i < around; i++)
    for (int32_t j = 0; j < across; j++) {
      const double u = 2 * pi * i / around, v = 2 * pi * j / across;
      const int32_t a = i * across + j, d = i * across + (j + 1) % across, next = (i + 1) % around * across;
      const int32_t b = next + j, c = next + (j + 1) % across;
      double *p = m->positions + 3 * (size_t)a;
      p[0] = random_round(cos(u) * (large + small * cos(v)));
      p[1] = random_round(sin(u) * (large + small * cos(v)));
      p[2] = random_round(small * sin(v));
      set_triangle(triangle, a, b, c);
      set_triangle(triangle + 3, a, c, d);
      triangle += 6;
    }
  return 0;
}

/* ---- All shapes ---- */

/* Finds the shape and the number of vertices. Returns NULL with a message on failure. */
static mesh_shape_fn *find_shape(const char *what, long *vertices, char message[MESH_MESSAGE]) {
  static const struct {
    const char *name;
    mesh_shape_fn *create;
  } shapes[] = {{"sphere", generate_sphere}, {"cube", generate_cube},    {"torus", generate_torus},
                {"scan", mesh_scan_create},  {"cap", mesh_cap_create},   {"bent", mesh_bent_create},
                {"cone", mesh_cone_create},  {"face", mesh_face_create}, {"patches", mesh_patches_create}};
  const size_t name_length = strcspn(what, ":");
  *vertices = default_vertices;
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    if (strlen(shapes[i].name) != name_length || strncmp(what, shapes[i].name, name_length) != 0) continue;
    if (what[name_length] != ':') return shapes[i].create;
    const char *digits = what + name_length + 1;
    char *end;
    errno = 0;
    *vertices = strtol(digits, &end, 10);
    if (strspn(digits, "0123456789") > 0 && *end == '\0' && !errno && *vertices >= least_vertices &&
        *vertices <= most_vertices)
      return shapes[i].create;
    mesh_fail(message, "%.100s: expected a number of vertices from %d to %d after the colon", what,
              least_vertices, most_vertices);
    return NULL;
  }
  mesh_fail(message,
            "%.100s: expected sphere, cube, torus, scan, cap, bent, cone, face or patches, optionally "
            "with :N, the number of vertices",
            what);
  return NULL;
}

int mesh_can_generate(const char *what, char message[MESH_MESSAGE]) {
  long vertices;
  return find_shape(what, &vertices, message) ? 0 : 1;
}

int mesh_generate(const char *what, mesh *m, char message[MESH_MESSAGE]) {
  long vertices;
  *m = (mesh){0};
  mesh_shape_fn *const create = find_shape(what, &vertices, message);
  return create ? create((int32_t)vertices, m, message) : 1;
}

/* ---- Noise ---- */

void mesh_normals(const mesh *m, double *normals) {
  memset(normals, 0, sizeof *normals * 3 * (size_t)m->vertex_count);
  for (int32_t t = 0; t < m->triangle_count; t++) {
    const int32_t *corner = m->triangles + 3 * (size_t)t;
    const double *p = m->positions + 3 * (size_t)corner[0], *q = m->positions + 3 * (size_t)corner[1],
                 *r = m->positions + 3 * (size_t)corner[2];
    const double u[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]}, v[3] = {r[0] - p[0], r[1] - p[1], r[2] - p[2]};
    const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    for (int k = 0; k < 3; k++)
      for (int c = 0; c < 3; c++) normals[3 * (size_t)corner[k] + (size_t)c] += n[c];
  }
  for (int32_t v = 0; v < m->vertex_count; v++) {
    double *n = normals + 3 * (size_t)v;
    const double length = sqrt(dot(n, n));
    for (int c = 0; c < 3 && length > 0; c++) n[c] /= length;
  }
}

int mesh_add_noise(mesh *m, double amount, uint64_t seed, char message[MESH_MESSAGE]) {
  if (!isfinite(amount) || amount < 0)
    return mesh_fail(message, "noise of %g: expected a fraction of the bounding box's diagonal, 0 or more",
                     amount);
  mesh_measures measures;
  if (mesh_measure(m, &measures, message)) return 1;
  double *normals = malloc(sizeof *normals * 3 * (size_t)m->vertex_count);
  if (!normals) return mesh_fail(message, "out of memory for the normals of %d vertices", m->vertex_count);
  mesh_normals(m, normals);
  for (int32_t v = 0; v < m->vertex_count; v++) {
    const double distance = amount * measures.diagonal * random_normal(&seed);
    for (int c = 0; c < 3 && !(m->held && m->held[v]); c++)
      m->positions[3 * (size_t)v + (size_t)c] += distance * normals[3 * (size_t)v + (size_t)c];
  }
  free(normals);
  return 0;
}
