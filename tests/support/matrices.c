/* The matrices of reference.h. Entries are collected in any order and then sorted into rows. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
  int32_t row, column;
  float value;
} entry;

typedef struct builder {
  int32_t rows, columns;
  size_t count, capacity;
  entry *entries;
} builder;

static void add(builder *b, int32_t row, int32_t column, float value) {
  if (b->count == b->capacity) {
    b->capacity = b->capacity ? 2 * b->capacity : 1024;
    b->entries = realloc(b->entries, b->capacity * sizeof *b->entries);
  }
  const entry e = {row, column, value};
  b->entries[b->count++] = e;
}

static int by_place(const void *a, const void *b) {
  const entry *p = a, *q = b;
  if (p->row != q->row) return p->row < q->row ? -1 : 1;
  return (p->column > q->column) - (p->column < q->column);
}

/* Sums entries at the same place. */
static ref_matrix finish(builder *b) {
  ref_matrix m = {b->rows, b->columns, calloc((size_t)b->rows + 1, sizeof(int32_t)),
                  malloc((b->count + 1) * sizeof(int32_t)), malloc((b->count + 1) * sizeof(float))};
  if (b->count) qsort(b->entries, b->count, sizeof *b->entries, by_place);
  int32_t count = 0;
  for (size_t k = 0; k < b->count; k++) {
    const entry *e = &b->entries[k];
    if (k > 0 && e[-1].row == e->row && e[-1].column == e->column) {
      m.values[count - 1] += e->value;
      continue;
    }
    m.indices[count] = e->column;
    m.values[count++] = e->value;
    m.offsets[e->row + 1] = count;
  }
  for (int32_t i = 0; i < b->rows; i++)
    if (m.offsets[i + 1] < m.offsets[i]) m.offsets[i + 1] = m.offsets[i];
  free(b->entries);
  return m;
}

/* Adds an edge to a graph's Laplacian. */
static void add_edge(builder *b, int32_t i, int32_t j, float weight) {
  add(b, i, j, -weight);
  add(b, j, i, -weight);
  add(b, i, i, weight);
  add(b, j, j, weight);
}

static ref_matrix grid(int32_t nx, int32_t ny, float shift, float wind) {
  builder b = {nx * ny, nx * ny, 0, 0, NULL};
  for (int32_t y = 0; y < ny; y++)
    for (int32_t x = 0; x < nx; x++) {
      const int32_t i = y * nx + x;
      add(&b, i, i, shift);
      if (x + 1 < nx) add_edge(&b, i, i + 1, 1.0f);
      if (y + 1 < ny) add_edge(&b, i, i + nx, 0.75f);
      if (x + 1 < nx && y + 1 < ny) add_edge(&b, i, i + nx + 1, 0.5f);
      if (wind != 0 && x + 1 < nx) {
        add(&b, i, i + 1, wind);
        add(&b, i + 1, i, -wind);
      }
    }
  return finish(&b);
}

ref_matrix ref_grid(int32_t nx, int32_t ny) {
  return grid(nx, ny, 0.05f, 0);
}
ref_matrix ref_graph(int32_t nx, int32_t ny) {
  return grid(nx, ny, 0, 0);
}
ref_matrix ref_skewed_grid(int32_t nx, int32_t ny) {
  return grid(nx, ny, 0.05f, 0.25f);
}
/* The smallest eigenvalue of the graph's Laplacian is 0, with the vector of ones. Here it is -0.1, and the
 * other eigenvalues stay positive. */
ref_matrix ref_indefinite(int32_t nx, int32_t ny) {
  return grid(nx, ny, -0.1f, 0);
}

ref_matrix ref_convection(int32_t nx, int32_t ny, float peclet) {
  builder b = {nx * ny, nx * ny, 0, 0, NULL};
  for (int32_t y = 0; y < ny; y++)
    for (int32_t x = 0; x < nx; x++) {
      const int32_t i = y * nx + x;
      add(&b, i, i, 4 + 1.5f * peclet);
      if (x > 0) add(&b, i, i - 1, -1 - peclet);
      if (x + 1 < nx) add(&b, i, i + 1, -1);
      if (y > 0) add(&b, i, i - nx, -1 - 0.5f * peclet);
      if (y + 1 < ny) add(&b, i, i + nx, -1);
    }
  return finish(&b);
}

ref_matrix ref_random_dominant(int32_t n, int32_t per_row, uint64_t seed) {
  ref_random r = {seed};
  builder b = {n, n, 0, 0, NULL};
  for (int32_t i = 0; i < n; i++) {
    float sum = 0;
    for (int32_t k = 1; k < per_row; k++) {
      const int32_t j = ref_below(&r, n);
      const float value = ref_uniform(&r, -1, 1);
      if (j == i) continue;
      add(&b, i, j, value);
      sum += fabsf(value);
    }
    add(&b, i, i, 0.2f + 1.1f * sum);
  }
  return finish(&b);
}

ref_matrix ref_cyclic_shift(int32_t n) {
  builder b = {n, n, 0, 0, NULL};
  for (int32_t i = 0; i < n; i++) add(&b, i, (i + 1) % n, 1);
  return finish(&b);
}

ref_matrix ref_skew(int32_t n) {
  return ref_shifted_skew(n, 0);
}

ref_matrix ref_shifted_skew(int32_t n, float shift) {
  builder b = {n, n, 0, 0, NULL};
  for (int32_t i = 0; i < n && shift != 0; i++) add(&b, i, i, shift);
  for (int32_t i = 0; i + 1 < n; i++) {
    add(&b, i, i + 1, 1);
    add(&b, i + 1, i, -1);
  }
  return finish(&b);
}

ref_matrix ref_laplacian_3d(int32_t n) {
  builder b = {n * n * n, n * n * n, 0, 0, NULL};
  for (int32_t z = 0; z < n; z++)
    for (int32_t y = 0; y < n; y++)
      for (int32_t x = 0; x < n; x++) {
        const int32_t i = (z * n + y) * n + x;
        add(&b, i, i, 6);
        if (x > 0) add(&b, i, i - 1, -1);
        if (x + 1 < n) add(&b, i, i + 1, -1);
        if (y > 0) add(&b, i, i - n, -1);
        if (y + 1 < n) add(&b, i, i + n, -1);
        if (z > 0) add(&b, i, i - n * n, -1);
        if (z + 1 < n) add(&b, i, i + n * n, -1);
      }
  return finish(&b);
}

ref_matrix ref_cube_27(int32_t n, int32_t unknowns, float diagonal, float face, float edge, float corner) {
  const float values[4] = {diagonal, face, edge, corner};
  builder b = {n * n * n * unknowns, n * n * n * unknowns, 0, 0, NULL};
  for (int32_t i = 0; i < n * n * n; i++)
    for (int32_t k = 0; k < 27; k++) {
      const int32_t dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
      const int32_t x = i % n + dx, y = i / n % n + dy, z = i / n / n + dz;
      const float value = values[dx * dx + dy * dy + dz * dz];
      if (x < 0 || x >= n || y < 0 || y >= n || z < 0 || z >= n || value == 0) continue;
      for (int32_t u = 0; u < unknowns; u++)
        add(&b, i * unknowns + u, ((z * n + y) * n + x) * unknowns + u, value);
    }
  return finish(&b);
}

/* Adds (i, j) and (j, i), and their magnitude to both diagonal entries, so that the matrix stays positive
 * definite. */
static void add_pair(builder *b, int32_t i, int32_t j, float value) {
  add(b, i, j, value);
  add(b, j, i, value);
  add(b, i, i, fabsf(value));
  add(b, j, j, fabsf(value));
}

ref_matrix ref_rotated(int32_t nx, int32_t ny) {
  const float along = 0.75f + 0.25f / 1000, up = 0.25f + 0.75f / 1000, both = 0.999f * 0.4330127f;
  const float x_neighbour = (2 * up - 4 * along) / 6, y_neighbour = (2 * along - 4 * up) / 6;
  const float diagonal = -(along + up) / 6 - both / 2, other = -(along + up) / 6 + both / 2;
  const float of[3][3] = {{diagonal, y_neighbour, other},
                          {x_neighbour, 8 * (along + up) / 6, x_neighbour},
                          {other, y_neighbour, diagonal}};
  builder b = {nx * ny, nx * ny, 0, 0, NULL};
  for (int32_t i = 0; i < nx * ny; i++)
    for (int32_t v = -1; v <= 1; v++)
      for (int32_t u = -1; u <= 1; u++) {
        const int32_t x = i % nx + u, y = i / nx + v;
        if (x >= 0 && x < nx && y >= 0 && y < ny) add(&b, i, y * nx + x, of[v + 1][u + 1]);
      }
  return finish(&b);
}

ref_matrix ref_random_spd(int32_t n, int32_t per_row, uint64_t seed) {
  ref_random r = {seed};
  builder b = {n, n, 0, 0, NULL};
  for (int32_t i = 0; i < n; i++) {
    add(&b, i, i, ref_uniform(&r, 0.5f, 4.0f));
    for (int32_t k = 0; k < per_row / 2; k++) {
      const int32_t j = ref_below(&r, n);
      if (j != i) add_pair(&b, i, j, ref_uniform(&r, -1, 1));
    }
  }
  return finish(&b);
}

ref_matrix ref_hubs(int32_t n, int32_t longest, uint64_t seed) {
  ref_random r = {seed};
  builder b = {n, n, 0, 0, NULL};
  for (int32_t i = 0; i < n; i++) {
    add(&b, i, i, ref_uniform(&r, 0.5f, 4.0f));
    const int32_t j = ref_below(&r, n);
    if (j != i) add_pair(&b, i, j, ref_uniform(&r, -1, 1));
  }
  for (int32_t hub = n / 3; longest > 8; hub++, longest /= 2)
    for (int32_t k = 1; k < longest; k++)
      add_pair(&b, hub % n, (hub + k) % n, ref_uniform(&r, -1, 1) / sqrtf((float)longest));
  return finish(&b);
}

ref_matrix ref_arrow(int32_t n) {
  builder b = {n, n, 0, 0, NULL};
  add(&b, 0, 0, 4);
  for (int32_t i = 1; i < n; i++) {
    const float value = (i % 2 ? 1.0f : -1.0f) / sqrtf((float)n);
    add(&b, 0, i, value);
    add(&b, i, 0, value);
    add(&b, i, i, 2.0f + 0.001f * (float)(i % 97));
  }
  return finish(&b);
}

ref_matrix ref_diagonal(int32_t n, float first, float last) {
  builder b = {n, n, 0, 0, NULL};
  for (int32_t i = 0; i < n; i++)
    add(&b, i, i, n > 1 ? (float)(first * pow((double)last / first, (double)i / (n - 1))) : first);
  return finish(&b);
}

ref_matrix ref_uneven_rows(int32_t rows, int32_t columns, int32_t longest, uint64_t seed) {
  ref_random r = {seed};
  builder b = {rows, columns, 0, 0, NULL};
  for (int32_t i = 0; i < rows; i++) {
    const float u = ref_uniform(&r, 0, 1);
    const int32_t length = (int32_t)((float)longest * u * u * u); /* many short rows, few long ones */
    for (int32_t k = 0; k < length; k++) add(&b, i, ref_below(&r, columns), ref_uniform(&r, -1, 1));
    if (i < columns && i % 5) add(&b, i, i, ref_uniform(&r, 1, 2));
  }
  return finish(&b);
}

ref_matrix ref_dense_row(int32_t n, int32_t dense_row, uint64_t seed) {
  ref_random r = {seed};
  builder b = {n, n, 0, 0, NULL};
  for (int32_t i = 0; i < n; i++) {
    if (i == dense_row) {
      for (int32_t j = 0; j < n; j++) add(&b, i, j, ref_uniform(&r, -1, 1));
      continue;
    }
    add(&b, i, i, ref_uniform(&r, 1, 2));
    for (int32_t k = 0; k < 2; k++) add(&b, i, ref_below(&r, n), ref_uniform(&r, -1, 1));
  }
  return finish(&b);
}

ref_matrix ref_gaps(int32_t rows, int32_t columns, uint64_t seed) {
  ref_random r = {seed};
  builder b = {rows, columns, 0, 0, NULL};
  for (int32_t i = 0; i < rows; i++)
    for (int32_t k = 0; i % 3 && k < 1 + i % 7; k++) add(&b, i, ref_below(&r, columns), ref_uniform(&r, -1, 1));
  return finish(&b);
}

ref_matrix ref_dense(int32_t rows, int32_t columns, uint64_t seed) {
  ref_random r = {seed};
  builder b = {rows, columns, 0, 0, NULL};
  for (int32_t i = 0; i < rows; i++)
    for (int32_t j = 0; j < columns; j++) add(&b, i, j, ref_uniform(&r, -1, 1));
  return finish(&b);
}

/* ---- A closed triangle mesh with uneven valences ---- */

typedef struct half_edges {
  int32_t count; /* three per triangle; after h follows h - h % 3 + (h + 1) % 3 */
  int32_t *from, *twin;
} half_edges;

static int32_t next(int32_t h) {
  return h - h % 3 + (h + 1) % 3;
}

static int by_ends(const void *a, const void *b) {
  const int64_t *p = a, *q = b;
  return (p[0] > q[0]) - (p[0] < q[0]);
}

static half_edges torus(int32_t nu, int32_t nv) {
  half_edges mesh = {6 * nu * nv, malloc(sizeof(int32_t) * 6 * nu * nv), malloc(sizeof(int32_t) * 6 * nu * nv)};
  int64_t(*ends)[2] = malloc(sizeof *ends * mesh.count);
  const int64_t n = (int64_t)nu * nv;
  int32_t h = 0;
  for (int32_t v = 0; v < nv; v++)
    for (int32_t u = 0; u < nu; u++) {
      const int32_t u1 = (u + 1) % nu, v1 = (v + 1) % nv;
      const int32_t a = v * nu + u, b = v * nu + u1, c = v1 * nu + u1, d = v1 * nu + u;
      const int32_t corners[6] = {a, b, c, a, c, d};
      for (int k = 0; k < 6; k++) mesh.from[h++] = corners[k];
    }
  /* After sorting by their ends, regardless of direction, the two half-edges of an edge are adjacent. */
  for (h = 0; h < mesh.count; h++) {
    const int32_t p = mesh.from[h], q = mesh.from[next(h)];
    ends[h][0] = (p < q ? p : q) * n + (p < q ? q : p);
    ends[h][1] = h;
  }
  qsort(ends, (size_t)mesh.count, sizeof *ends, by_ends);
  for (h = 0; h < mesh.count; h += 2) {
    mesh.twin[ends[h][1]] = (int32_t)ends[h + 1][1];
    mesh.twin[ends[h + 1][1]] = (int32_t)ends[h][1];
  }
  free(ends);
  return mesh;
}

static void join(half_edges *mesh, int32_t h, int32_t twin) {
  mesh->twin[h] = twin;
  mesh->twin[twin] = h;
}

static int connected(const half_edges *mesh, int32_t h, int32_t vertex) {
  int32_t walk = h; /* around the vertex where h starts */
  do {
    if (mesh->from[next(walk)] == vertex) return 1;
    walk = next(mesh->twin[walk]);
  } while (walk != h);
  return 0;
}

/* Replaces edge a-b between the triangles a b c and b a d by c-d. */
static void flip(half_edges *mesh, int32_t *valence, int32_t h) {
  const int32_t t = mesh->twin[h];
  const int32_t h1 = next(h), h2 = next(h1), t1 = next(t), t2 = next(t1);
  const int32_t a = mesh->from[h], b = mesh->from[t], c = mesh->from[h2], d = mesh->from[t2];
  if (c == d || valence[a] <= 4 || valence[b] <= 4 || valence[c] >= 9 || valence[d] >= 9) return;
  if (connected(mesh, h2, d)) return;
  const int32_t bc = mesh->twin[h1], ca = mesh->twin[h2], ad = mesh->twin[t1], db = mesh->twin[t2];
  mesh->from[h] = c, mesh->from[h1] = d, mesh->from[h2] = b; /* triangle c d b */
  mesh->from[t] = d, mesh->from[t1] = c, mesh->from[t2] = a; /* triangle d c a */
  join(mesh, h, t), join(mesh, h1, db), join(mesh, h2, bc), join(mesh, t1, ca), join(mesh, t2, ad);
  valence[a]--, valence[b]--, valence[c]++, valence[d]++;
}

ref_matrix ref_torus_mesh(int32_t nu, int32_t nv, int32_t flips, uint64_t seed) {
  ref_random r = {seed};
  half_edges mesh = torus(nu, nv);
  int32_t *valence = malloc(sizeof *valence * nu * nv);
  for (int32_t i = 0; i < nu * nv; i++) valence[i] = 6;
  for (int32_t k = 0; k < flips; k++) flip(&mesh, valence, ref_below(&r, mesh.count));
  builder b = {nu * nv, nu * nv, 0, 0, NULL};
  for (int32_t i = 0; i < nu * nv; i++) add(&b, i, i, 1.0f);
  for (int32_t h = 0; h < mesh.count; h++)
    if (h < mesh.twin[h]) add_edge(&b, mesh.from[h], mesh.from[mesh.twin[h]], 1.0f);
  free(mesh.from);
  free(mesh.twin);
  free(valence);
  return finish(&b);
}

/* ---- Samples ---- */

int ref_get_sample(int index, ref_sample *sample) {
  const ref_sample none = {0};
  *sample = none;
  switch (index) {
#define SAMPLE(number, text, positive, expression)                                                             \
  case number:                                                                                                 \
    sample->name = text;                                                                                       \
    sample->spd = positive;                                                                                    \
    sample->matrix = expression;                                                                               \
    return 1
    SAMPLE(0, "grid", 1, ref_grid(37, 29));
    SAMPLE(1, "laplacian 3d", 1, ref_laplacian_3d(11));
    SAMPLE(2, "random spd", 1, ref_random_spd(911, 9, 3));
    SAMPLE(3, "arrow", 1, ref_arrow(5000));
    SAMPLE(4, "torus mesh", 1, ref_torus_mesh(40, 26, 3000, 5));
    SAMPLE(5, "one row", 1, ref_diagonal(1, 3, 3));
    SAMPLE(6, "diagonal", 1, ref_diagonal(300, 0.01f, 100));
    SAMPLE(7, "two rows", 1, ref_random_spd(2, 4, 9));
    SAMPLE(8, "indefinite", 0, ref_indefinite(17, 13));
    SAMPLE(9, "skewed grid", 0, ref_skewed_grid(23, 19));
    SAMPLE(10, "uneven rows", 0, ref_uneven_rows(1500, 1500, 200, 7));
    SAMPLE(11, "uneven wide", 0, ref_uneven_rows(301, 2000, 120, 8));
    SAMPLE(12, "uneven tall", 0, ref_uneven_rows(2000, 301, 120, 8));
    SAMPLE(13, "dense row", 0, ref_dense_row(7001, 3500, 11));
    SAMPLE(14, "gaps", 0, ref_gaps(1000, 1000, 13));
    SAMPLE(15, "one by many", 0, ref_dense(1, 3001, 17));
    SAMPLE(16, "many by one", 0, ref_dense(3001, 1, 19));
    SAMPLE(17, "dense", 0, ref_dense(67, 67, 23));
    SAMPLE(18, "no entries", 0, ref_gaps(1, 5, 1));
    SAMPLE(19, "empty square", 0, ref_gaps(1, 1, 1));
#undef SAMPLE
  default:
    return 0;
  }
}
