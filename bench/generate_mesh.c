#include "generate_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "normal_equations.h"

/* A grid of `wide` vertices per line; the last line may be cut. */
typedef struct sheet {
  int32_t vertices, wide, first; /* first: the number of its first vertex in the mesh */
} sheet;

/* The last line has at least two vertices, because a single one would be in no triangle. */
static sheet make_sheet(int32_t vertices, int32_t first) {
  sheet s = {vertices, (int32_t)sqrt((double)vertices), first};
  while (s.vertices % s.wide == 1) ++s.wide;
  return s;
}

static double bump(double x, double y, double centre_x, double centre_y, double width) {
  const double a = (x - centre_x) / width, b = (y - centre_y) / width;
  return exp(-a * a - b * b);
}

static void place(const sheet *s, int32_t vertex, double p[3]) {
  const uint32_t name = (uint32_t)(s->first + vertex);
  const int32_t column = vertex % s->wide, line = vertex / s->wide;
  const double step = 1.0 / s->wide;
  const double x = step * (column + 0.5 * ((double)generated_noise(name, 11u) - 0.5));
  const double y = step * (line + 0.5 * ((double)generated_noise(name, 12u) - 0.5));
  p[0] = x;
  p[1] = y;
  p[2] = 0.3 * bump(x, y, 0.5, 0.5, 0.3) + 0.1 * bump(x, y, 0.3, 0.7, 0.1) + 0.1 * bump(x, y, 0.7, 0.7, 0.1) -
         0.08 * bump(x, y, 0.5, 0.2, 0.12);
}

/* Whether the diagonal of the cell at a vertex, its first corner, is along (1, 1). */
static int is_rising(const sheet *s, int32_t vertex) {
  return generated_noise((uint32_t)(s->first + vertex), 13u) < 0.5f;
}

/* The triangles of the cell with this first corner. Returns 0 if the cell does not exist, otherwise 2. */
static int cell_triangles(const sheet *s, int32_t vertex, int32_t triangles[2][3]) {
  if (vertex % s->wide == s->wide - 1 || vertex + s->wide + 1 >= s->vertices) return 0;
  const int32_t a = vertex, b = a + 1, c = a + s->wide + 1, d = a + s->wide;
  const int32_t both[2][2][3] = {{{a, b, d}, {b, c, d}}, {{a, b, c}, {a, c, d}}};
  memcpy(triangles, both[is_rising(s, vertex)], sizeof both[0]);
  return 2;
}

/* ---- Conformal maps ---- */

/* Lays the corners of a triangle into a plane, preserving their distances. Returns twice its area. */
static double lay_flat(const sheet *s, const int32_t corners[3], double x[3], double y[3]) {
  double p[3][3], along[3], across[3], length = 0, dot = 0, rest = 0;
  for (int k = 0; k < 3; ++k) place(s, corners[k], p[k]);
  for (int c = 0; c < 3; ++c) {
    along[c] = p[1][c] - p[0][c];
    across[c] = p[2][c] - p[0][c];
    length += along[c] * along[c];
    dot += along[c] * across[c];
  }
  length = sqrt(length);
  for (int c = 0; c < 3; ++c) {
    const double off = across[c] - along[c] * (dot / (length * length));
    rest += off * off;
  }
  x[0] = y[0] = y[1] = 0;
  x[1] = length;
  x[2] = dot / length;
  y[2] = sqrt(rest);
  return x[1] * y[2];
}

/* The number of an unknown, or its value if it is pinned. */
typedef struct numbering {
  int32_t *numbers; /* for u, v of every vertex; -1: pinned */
  double *pins;
} numbering;

/* Adds a coefficient to the current condition. */
static void add_coefficient(conditions *c, const numbering *n, int32_t unknown, double a) {
  int32_t *end = &c->starts[c->count + 1];
  if (n->numbers[unknown] < 0) {
    c->right[c->count] -= a * n->pins[unknown];
  } else {
    c->columns[*end] = n->numbers[unknown];
    c->values[(*end)++] = a;
  }
}

/* The real and imaginary parts of sum w_k (u_k + i v_k) = 0, where w_k is the edge opposite corner k. */
static void state_triangle(conditions *c, const numbering *n, const sheet *s, const int32_t corners[3]) {
  double x[3], y[3];
  const double double_area = lay_flat(s, corners, x, y);
  for (int part = 0; part < 2; ++part) {
    c->starts[c->count + 1] = c->starts[c->count];
    c->weights[c->count] = 1 / double_area;
    for (int k = 0; k < 3; ++k) {
      const double re = x[(k + 2) % 3] - x[(k + 1) % 3], im = y[(k + 2) % 3] - y[(k + 1) % 3];
      const int32_t u = 2 * (s->first + corners[k]);
      add_coefficient(c, n, u, part ? im : re);
      add_coefficient(c, n, u + 1, part ? re : -im);
    }
    ++c->count;
  }
}

static sheet chart(int32_t vertices, int32_t charts, int32_t k) {
  const int32_t first = (int32_t)((int64_t)vertices * k / charts);
  return make_sheet((int32_t)((int64_t)vertices * (k + 1) / charts) - first, first);
}

/* Pins opposite corners of every chart, and a surplus unknown if there is one. */
static int number_unknowns(numbering *n, int32_t vertices, int32_t charts, int32_t rows) {
  n->numbers = malloc(2 * (size_t)vertices * sizeof *n->numbers);
  n->pins = malloc(2 * (size_t)vertices * sizeof *n->pins);
  if (!n->numbers || !n->pins) return 1;
  int32_t count = 0;
  for (int32_t k = 0; k < charts; ++k) {
    const sheet s = chart(vertices, charts, k);
    for (int32_t v = 0; v < s.vertices; ++v) {
      double p[3];
      place(&s, v, p);
      const int is_corner = v == 0 || v == s.vertices - 1;
      for (int32_t c = 0; c < 2; ++c) {
        const int32_t unknown = 2 * (s.first + v) + c;
        n->numbers[unknown] = is_corner || count == rows ? -1 : count++;
        n->pins[unknown] = p[c];
      }
    }
  }
  return 0;
}

int generate_lscm(generated_matrix *A, int32_t rows, int32_t charts, double *b) {
  const int32_t vertices = rows / 2 + rows % 2 + 2 * charts;
  memset(A, 0, sizeof *A);
  if (charts < 1 || rows / GENERATED_MESH_ROWS < charts) return 3;
  numbering n = {0};
  conditions c = {0};
  /* A vertex has at most two triangles, each with two conditions of six coefficients. */
  int failed = vertices > INT32_MAX / 24 || number_unknowns(&n, vertices, charts, rows) ||
               conditions_create(&c, 4 * vertices, rows, 24 * (int64_t)vertices);
  if (!failed) {
    c.count = 0;
    for (int32_t k = 0; k < charts; ++k) {
      const sheet s = chart(vertices, charts, k);
      int32_t triangles[2][3];
      for (int32_t v = 0; v < s.vertices; ++v)
        for (int t = 0, count = cell_triangles(&s, v, triangles); t < count; ++t)
          state_triangle(&c, &n, &s, triangles[t]);
    }
    failed = normal_equations(A, &c, b);
  }
  conditions_free(&c);
  free(n.numbers);
  free(n.pins);
  return failed ? 2 : 0;
}

void generate_lscm_near_null(int32_t rows, double *near_null) {
  const sheet s = make_sheet(rows / 2 + 2, 0); /* the first and last vertices are pinned */
  for (int32_t v = 1; v <= rows / 2; ++v) {
    double p[3];
    place(&s, v, p);
    const double u_and_v[] = {1, 0, p[0], -p[1], 0, 1, p[1], p[0]};
    memcpy(near_null, u_and_v, sizeof u_and_v);
    near_null += sizeof u_and_v / sizeof *u_and_v;
  }
}

/* ---- Smooth surfaces ---- */

/* The vertices that share an edge with this one; returns their number. */
static int find_neighbours(const sheet *s, int32_t vertex, int32_t near[8]) {
  const int32_t w = s->wide, column = vertex % w;
  const int left = column > 0, right = column < w - 1 && vertex + 1 < s->vertices;
  int count = 0;
  if (left && vertex >= w && is_rising(s, vertex - w - 1)) near[count++] = vertex - w - 1;
  if (vertex >= w) near[count++] = vertex - w;
  if (right && vertex >= w && !is_rising(s, vertex - w)) near[count++] = vertex - w + 1;
  if (left) near[count++] = vertex - 1;
  if (right) near[count++] = vertex + 1;
  if (vertex + w >= s->vertices) return count;
  if (left && !is_rising(s, vertex - 1)) near[count++] = vertex + w - 1;
  near[count++] = vertex + w;
  if (right && vertex + w + 1 < s->vertices && is_rising(s, vertex)) near[count++] = vertex + w + 1;
  return count;
}

static void state_vertex(conditions *c, const sheet *s, int32_t vertex) {
  int32_t near[8];
  const int count = find_neighbours(s, vertex, near);
  int32_t end = c->starts[c->count];
  for (int k = 0; k <= count; ++k) {
    c->columns[end] = k < count ? near[k] : vertex;
    c->values[end++] = k < count ? -1.0 / count : 1;
  }
  c->weights[c->count] = 1;
  c->starts[++c->count] = end;
  if (vertex % 100) return;
  c->columns[end] = vertex;
  c->values[end++] = 1;
  c->weights[c->count] = 0.01;
  c->starts[++c->count] = end;
}

/* Repeats the matrix of one component for all three. The last copy is cut to the remaining rows. */
static int repeat_components(generated_matrix *A, const generated_matrix *one, int32_t rows) {
  const int32_t n = one->rows;
  const int64_t entries = 3 * (int64_t)one->row_offsets[n];
  if (entries > INT32_MAX) return 1;
  A->rows = A->columns = rows;
  A->row_offsets = malloc(((size_t)rows + 1) * sizeof *A->row_offsets);
  A->column_indices = malloc((size_t)entries * sizeof *A->column_indices);
  A->values = malloc((size_t)entries * sizeof *A->values);
  if (!A->row_offsets || !A->column_indices || !A->values) {
    generated_free(A);
    return 1;
  }
  int32_t to = 0;
  for (int32_t i = 0; i < rows; ++i) {
    const int32_t shift = i / n * n;
    A->row_offsets[i] = to;
    for (int32_t k = one->row_offsets[i % n]; k < one->row_offsets[i % n + 1]; ++k) {
      if (one->column_indices[k] >= rows - shift) continue;
      A->column_indices[to] = one->column_indices[k] + shift;
      A->values[to++] = one->values[k];
    }
  }
  A->row_offsets[rows] = to;
  return 0;
}

int generate_dsi(generated_matrix *A, int32_t rows) {
  memset(A, 0, sizeof *A);
  if (rows < GENERATED_MESH_ROWS) return 3;
  if (rows > INT32_MAX / 8) return 2;
  const sheet s = make_sheet((rows + 2) / 3, 0);
  generated_matrix one = {0};
  conditions c = {0};
  int failed = conditions_create(&c, 2 * s.vertices, s.vertices, 10 * (int64_t)s.vertices);
  if (!failed) {
    c.count = 0;
    for (int32_t v = 0; v < s.vertices; ++v) state_vertex(&c, &s, v);
    failed = normal_equations(&one, &c, NULL) || repeat_components(A, &one, rows);
  }
  generated_free(&one);
  conditions_free(&c);
  return failed ? 2 : 0;
}
