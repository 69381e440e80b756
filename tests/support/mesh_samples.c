#include "mesh_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

static mesh_sample allocate(int32_t vertices, int32_t triangles) {
  mesh_sample m = {vertices, triangles, calloc(3 * (size_t)vertices, sizeof(float)),
                   calloc(3 * (size_t)triangles, sizeof(int32_t))};
  return m;
}

void mesh_free(mesh_sample *m) {
  free(m->x);
  free(m->t);
  memset(m, 0, sizeof *m);
}

static void put_triangle(mesh_sample *m, int32_t *count, int32_t a, int32_t b, int32_t c) {
  const int32_t corners[3] = {a, b, c};
  memcpy(m->t + 3 * (size_t)(*count)++, corners, sizeof corners);
}

static void put_vertex(mesh_sample *m, int32_t v, double x, double y, double z) {
  m->x[3 * (size_t)v] = (float)x, m->x[3 * (size_t)v + 1] = (float)y, m->x[3 * (size_t)v + 2] = (float)z;
}

/* ---- Spheres ---- */

static void put_on_sphere(mesh_sample *m, int32_t v, double x, double y, double z) {
  const double length = sqrt(x * x + y * y + z * z);
  put_vertex(m, v, x / length, y / length, z / length);
}

static mesh_sample icosahedron(void) {
  static const int32_t faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                       {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                       {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                       {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  const double g = (1 + sqrt(5)) / 2;
  mesh_sample m = allocate(12, 20);
  for (int axis = 0; axis < 3; axis++)
    for (int k = 0; k < 4; k++) {
      const double one = k & 1 ? 1 : -1, golden = k & 2 ? -g : g;
      double p[3];
      p[axis] = one, p[(axis + 1) % 3] = golden, p[(axis + 2) % 3] = 0;
      put_on_sphere(&m, 4 * axis + k, p[0], p[1], p[2]);
    }
  memcpy(m.t, faces, sizeof faces);
  return m;
}

/* Finds or creates the vertex in the middle of an edge, in the list of its lower vertex. */
static int32_t middle(mesh_sample *fine, int32_t *count, int32_t (*of_vertex)[8][2], int32_t a, int32_t b) {
  const int32_t low = a < b ? a : b, high = a < b ? b : a;
  int k = 0;
  for (; k < 8 && of_vertex[low][k][1]; k++)
    if (of_vertex[low][k][0] == high) return of_vertex[low][k][1];
  of_vertex[low][k][0] = high;
  of_vertex[low][k][1] = *count;
  const float *p = fine->x + 3 * (size_t)a, *q = fine->x + 3 * (size_t)b;
  put_on_sphere(fine, *count, (double)p[0] + q[0], (double)p[1] + q[1], (double)p[2] + q[2]);
  return (*count)++;
}

mesh_sample mesh_sphere(int level) {
  mesh_sample m = icosahedron();
  for (; level > 0; level--) {
    mesh_sample fine = allocate(m.vertices + 3 * m.triangles / 2, 4 * m.triangles);
    memcpy(fine.x, m.x, 3 * (size_t)m.vertices * sizeof *m.x);
    int32_t(*of_vertex)[8][2] = calloc((size_t)m.vertices, sizeof *of_vertex), vertices = m.vertices, count = 0;
    for (int32_t t = 0; t < m.triangles; t++) {
      const int32_t *v = m.t + 3 * (size_t)t;
      int32_t e[3];
      for (int k = 0; k < 3; k++) e[k] = middle(&fine, &vertices, of_vertex, v[k], v[(k + 1) % 3]);
      for (int k = 0; k < 3; k++) put_triangle(&fine, &count, v[k], e[k], e[(k + 2) % 3]);
      put_triangle(&fine, &count, e[0], e[1], e[2]);
    }
    free(of_vertex);
    mesh_free(&m);
    m = fine;
  }
  return m;
}

/* ---- Patches ---- */

mesh_sample mesh_disk(int rings) {
  mesh_sample m = allocate(1 + 3 * rings * (rings + 1), 6 * rings * rings);
  const double pi = acos(-1);
  int32_t count = 0;
  for (int r = 1; r <= rings; r++) {
    const int32_t inner = r == 1 ? 0 : 1 + 3 * (r - 1) * r - 6 * (r - 1), outer = 1 + 3 * (r - 1) * r;
    const int32_t around = 6 * r, inner_around = r == 1 ? 1 : 6 * (r - 1);
    for (int k = 0; k < around; k++) {
      const double angle = 2 * pi * k / around, radius = (double)r / rings;
      put_vertex(&m, outer + k, radius * cos(angle), radius * sin(angle), 0);
      /* Sector s of six: the inner ring lags by one more vertex in each sector. */
      const int32_t s = k / r, below = inner + (k - s) % inner_around;
      put_triangle(&m, &count, outer + k, outer + (k + 1) % around, below);
      if (k % r) put_triangle(&m, &count, outer + k, below, inner + (k - s - 1) % inner_around);
    }
  }
  return m;
}

mesh_sample mesh_square(int n) {
  mesh_sample m = allocate((n + 1) * (n + 1), 2 * n * n);
  int32_t count = 0;
  for (int y = 0; y <= n; y++)
    for (int x = 0; x <= n; x++) {
      const double u = (double)x / n, v = (double)y / n;
      put_vertex(&m, y * (n + 1) + x, 0.8 * u, 0.6 * u + 0.28 * v, 0.96 * v);
      if (x == n || y == n) continue;
      const int32_t a = y * (n + 1) + x, b = a + 1, c = a + n + 1, d = c + 1;
      put_triangle(&m, &count, a, b, (x + y) & 1 ? c : d);
      put_triangle(&m, &count, (x + y) & 1 ? b : a, d, c);
    }
  return m;
}

mesh_sample mesh_cone(int n, float height) {
  mesh_sample m = allocate(1 + 2 * n, 3 * n);
  const double pi = acos(-1);
  int32_t count = 0;
  put_vertex(&m, 0, 0, 0, height);
  for (int k = 0; k < n; k++) {
    const double angle = 2 * pi * k / n;
    put_vertex(&m, 1 + k, cos(angle), sin(angle), 0);
    put_vertex(&m, 1 + n + k, 1.1 * cos(angle), 1.1 * sin(angle), -0.1 * height);
    const int32_t a = 1 + k, b = 1 + (k + 1) % n;
    put_triangle(&m, &count, 0, a, b);
    put_triangle(&m, &count, a, a + n, b + n);
    put_triangle(&m, &count, a, b + n, b);
  }
  return m;
}

mesh_sample mesh_irregular(int n, int harm, uint64_t seed) {
  mesh_sample m = mesh_square(n);
  ref_random random = {seed};
  const float h = 1.0f / (float)n;
  for (int32_t k = 0; k < 3 * m.vertices; k++) m.x[k] += ref_uniform(&random, -0.35f * h, 0.35f * h);
  if (!harm || n < 12) return m;
  const int32_t row = n + 1;
  for (int x = 3; x < n - 2; x += 3) { /* vertices that almost coincide, or are almost on a line */
    const size_t v = (size_t)(4 * row + x), right = v + 1, up = v + (size_t)row;
    for (size_t c = 0; c < 3; c++) {
      const float near = 0.001f * (float)x;
      m.x[3 * v + c] = x & 1 ? m.x[3 * right + c] + near * (m.x[3 * v + c] - m.x[3 * right + c])
                             : 0.5f * (m.x[3 * right + c] + m.x[3 * up + c]);
    }
  }
  memcpy(m.x + 3 * 7, m.x + 3 * 8, 3 * sizeof *m.x);
  const size_t single = (size_t)(8 * row + 4), whole = (size_t)(8 * row + 9);
  memcpy(m.x + 3 * single, m.x + 3 * (single + 1), 3 * sizeof *m.x);
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++)
      memcpy(m.x + 3 * (whole + (size_t)(row + 1) + (size_t)(y * row + x)),
             m.x + 3 * (whole + (size_t)(row + 1)), 3 * sizeof *m.x);
  return m;
}

/* ---- Double precision ---- */

static void subtract(const float *x, int32_t a, int32_t b, double u[3]) {
  for (int c = 0; c < 3; c++)
    u[c] = (double)x[3 * (size_t)a + (size_t)c] - (double)x[3 * (size_t)b + (size_t)c];
}

static double dot(const double u[3], const double v[3]) {
  return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

static double cross_length(const double u[3], const double v[3]) {
  const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
  return sqrt(dot(n, n));
}

double mesh_area(const mesh_sample *m, const float *x) {
  double area = 0;
  for (int32_t t = 0; t < m->triangles; t++) {
    const int32_t *v = m->t + 3 * (size_t)t;
    double a[3], b[3];
    subtract(x, v[1], v[0], a);
    subtract(x, v[2], v[0], b);
    area += 0.5 * cross_length(a, b);
  }
  return area;
}

/* Sorted directed edges a -> b show which ones have no opposite. */
static int compare_edges(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* Calls back for every edge that has only one triangle. */
static void each_boundary_edge(const mesh_sample *m, void (*call)(void *user, int32_t a, int32_t b),
                               void *user) {
  const size_t count = 3 * (size_t)m->triangles;
  int64_t *edges = malloc(count * sizeof *edges);
  for (size_t k = 0; k < count; k++) edges[k] = (int64_t)m->t[k] * m->vertices + m->t[k - k % 3 + (k + 1) % 3];
  qsort(edges, count, sizeof *edges, compare_edges);
  for (size_t k = 0; k < count; k++) {
    const int32_t a = (int32_t)(edges[k] / m->vertices), b = (int32_t)(edges[k] % m->vertices);
    const int64_t mirror = (int64_t)b * m->vertices + a;
    if (!bsearch(&mirror, edges, count, sizeof *edges, compare_edges)) call(user, a, b);
  }
  free(edges);
}

static void flag_edge(void *user, int32_t a, int32_t b) {
  unsigned char *flags = user;
  flags[a] = flags[b] = 1;
}

unsigned char *mesh_boundary(const mesh_sample *m) {
  unsigned char *flags = calloc((size_t)m->vertices, 1);
  each_boundary_edge(m, flag_edge, flags);
  return flags;
}

typedef struct sums {
  const mesh_system *s;
  const float *v;
  double *out, *size, *diagonal, *diagonal_size;
} sums;

/* Adds an edge to the row of i: m_i += mass, a_ij += a. `error` is the magnitude of a's rounding errors. */
static void add_to_row(sums *to, int32_t i, int32_t j, double mass, double a, double error) {
  if (!to->s->rows[i]) return;
  for (size_t c = 0; c < 3; c++) {
    const double vi = to->v[3 * (size_t)i + c], vj = to->v[3 * (size_t)j + c];
    const double m = to->s->force ? 0 : mass, sign = to->s->force ? -1 : 1;
    to->out[3 * (size_t)i + c] += m * vi + sign * a * (vj - vi);
    to->size[3 * (size_t)i + c] += fabs(m * vi) + error * (to->s->force ? fabs(vj - vi) : fabs(vj) + fabs(vi));
  }
  to->diagonal[i] += mass - a;
  to->diagonal_size[i] += mass + error;
}

static void add_triangle(sums *to, const int32_t *v) {
  const mesh_system *s = to->s;
  for (int k = 0; k < 3; k++) {
    const int32_t i = v[k], j = v[(k + 1) % 3], opposite = v[(k + 2) % 3];
    double p[3], q[3], r[3];
    subtract(s->x, i, opposite, p);
    subtract(s->x, j, opposite, q);
    subtract(s->x, i, j, r);
    const double sine = cross_length(p, q), least = 1e-3 * (dot(p, p) + dot(q, q) + dot(r, r));
    const double over = sine > least ? sine : least;
    const double cotangent = over > 0 ? dot(p, q) / over : 0;
    /* Rounding errors of dot and cross products are proportional to products of lengths. */
    const double lengths = over > 0 ? sqrt(dot(p, p) * dot(q, q)) / over : 0;
    const double error = s->factor * lengths * (1 + fabs(cotangent));
    /* Each of the two edges at a vertex gets half of the triangle's 4 A. */
    add_to_row(to, i, j, sine, -s->factor * cotangent, error);
    add_to_row(to, j, i, sine, -s->factor * cotangent, error);
  }
}

static void add_boundary_edge(void *user, int32_t a, int32_t b) {
  sums *to = user;
  double u[3];
  subtract(to->s->x, a, b, u);
  const double length = sqrt(dot(u, u));
  const double entry = -to->s->factor / (length > to->s->shortest ? length : to->s->shortest);
  add_to_row(to, a, b, length, entry, -entry);
  add_to_row(to, b, a, length, entry, -entry);
}

void mesh_apply(const mesh_system *s, const float *v, double *out, double *size, double *diagonal,
                double *diagonal_size) {
  const size_t n = (size_t)s->mesh->vertices;
  memset(out, 0, 3 * n * sizeof *out), memset(size, 0, 3 * n * sizeof *size);
  memset(diagonal, 0, n * sizeof *diagonal), memset(diagonal_size, 0, n * sizeof *diagonal_size);
  sums to = {s, v, out, size, diagonal, diagonal_size};
  if (s->curve)
    each_boundary_edge(s->mesh, add_boundary_edge, &to);
  else
    for (int32_t t = 0; t < s->mesh->triangles; t++) add_triangle(&to, s->mesh->t + 3 * (size_t)t);
  for (size_t i = 0; i < n; i++)
    if (diagonal[i] == 0) {
      diagonal[i] = diagonal_size[i] = 1;
      for (size_t c = 0; c < 3; c++) {
        out[3 * i + c] = s->force ? 0 : v[3 * i + c];
        size[3 * i + c] = fabs(out[3 * i + c]);
      }
    }
}
