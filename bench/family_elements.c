/* Finite elements on a box: stiffness, mass and elasticity matrices by quadrature. Nodes are the points of a
 * lattice with `order` steps per cell. Every point is also a node of tetrahedra, because Kuhn's contain the
 * diagonals. */
#include "family.h"

#include <math.h>

enum { MOST_NODES = 27, MOST_POINTS = 27, CORNERS = 8 };

static int axes_of_mesh(const element_mesh *mesh) {
  return mesh->dimensions == 2 ? 2 : 3;
}

/* ---- The reference element ---- */

/* Values and gradients of the shape functions at a point. */
typedef struct shape {
  double value[MOST_NODES], gradient[MOST_NODES][3];
} shape;

typedef struct element {
  int nodes, corners, points;
  int offsets[MOST_NODES][3]; /* in the cell's lattice; the corners of a simplex come first */
  int corner[CORNERS];        /* node number of each corner */
  double weights[MOST_POINTS];
  shape shape[MOST_POINTS], geometry[MOST_POINTS]; /* geometry: linear, from the corners */
} element;

/* Lagrange's polynomial through m / order, and its derivative. */
static double lagrange(int order, int m, double x, double *derivative) {
  if (order == 1) {
    *derivative = m ? 1 : -1;
    return m ? x : 1 - x;
  }
  *derivative = m == 0 ? 4 * x - 3 : m == 1 ? 4 - 8 * x : 4 * x - 1;
  return m == 0 ? (1 - x) * (1 - 2 * x) : m == 1 ? 4 * x * (1 - x) : x * (2 * x - 1);
}

static void cube_shape(int dimensions, int order, int offsets[][3], int nodes, const double *x, shape *s) {
  for (int a = 0; a < nodes; a++) {
    double value[3], derivative[3];
    s->value[a] = 1;
    for (int k = 0; k < dimensions; k++) {
      value[k] = lagrange(order, offsets[a][k], x[k], &derivative[k]);
      s->value[a] *= value[k];
    }
    for (int r = 0; r < dimensions; r++) {
      s->gradient[a][r] = 1;
      for (int k = 0; k < dimensions; k++) s->gradient[a][r] *= k == r ? derivative[k] : value[k];
    }
  }
}

static void list_lattice(int dimensions, int order, int offsets[][3]) {
  int count = 0;
  for (int z = 0; z <= (dimensions == 3 ? order : 0); z++)
    for (int y = 0; y <= order; y++)
      for (int x = 0; x <= order; x++, count++)
        offsets[count][0] = x, offsets[count][1] = y, offsets[count][2] = z;
}

static int power(int base, int exponent) {
  return exponent ? base * power(base, exponent - 1) : 1;
}

static void make_cube(const element_mesh *mesh, element *e) {
  static const double gauss[2][3] = {{0.21132486540518713, 0.78867513459481287},
                                     {0.11270166537925831, 0.5, 0.88729833462074169}};
  static const double weight[2][3] = {{0.5, 0.5}, {5.0 / 18, 8.0 / 18, 5.0 / 18}};
  const int d = axes_of_mesh(mesh), order = mesh->order == 1 ? 1 : 2, side = order + 1;
  int unit[CORNERS][3] = {{0}};
  *e = (element){.nodes = power(side, d), .corners = power(2, d), .points = power(side, d)};
  list_lattice(d, order, e->offsets);
  list_lattice(d, 1, unit);
  for (int c = 0; c < e->corners; c++)
    e->corner[c] = order * (unit[c][0] + side * (unit[c][1] + side * unit[c][2]));
  for (int q = 0; q < e->points; q++) {
    const int at[3] = {q % side, q / side % side, q / side / side};
    double x[3];
    e->weights[q] = 1;
    for (int k = 0; k < d; k++) {
      x[k] = gauss[order - 1][at[k]];
      e->weights[q] *= weight[order - 1][at[k]];
    }
    cube_shape(d, order, e->offsets, e->nodes, x, &e->shape[q]);
    cube_shape(d, 1, unit, e->corners, x, &e->geometry[q]);
  }
}

/* The derivative of a barycentric coordinate along axis r. The first coordinate is 1 minus the others. */
static double slope(int a, int r) {
  return a == 0 ? -1 : a == r + 1 ? 1 : 0;
}

static void simplex_shape(int dimensions, int order, const double *l, shape *s) {
  int count = dimensions + 1;
  for (int a = 0; a <= dimensions; a++) {
    s->value[a] = order == 1 ? l[a] : l[a] * (2 * l[a] - 1);
    for (int r = 0; r < dimensions; r++) s->gradient[a][r] = slope(a, r) * (order == 1 ? 1 : 4 * l[a] - 1);
  }
  for (int a = 0; a <= dimensions && order == 2; a++)
    for (int b = a + 1; b <= dimensions; b++, count++) {
      s->value[count] = 4 * l[a] * l[b];
      for (int r = 0; r < dimensions; r++)
        s->gradient[count][r] = 4 * (l[a] * slope(b, r) + l[b] * slope(a, r));
    }
}

/* From one corner of the cell to the opposite one, along the axes in this order. */
static void make_simplex(const element_mesh *mesh, const int axes[3], element *e) {
  const int d = axes_of_mesh(mesh), order = mesh->order;
  *e = (element){.nodes = d + 1, .corners = d + 1, .points = d + 1};
  for (int c = 0; c <= d; c++) {
    e->corner[c] = c;
    for (int k = 0; k < c; k++) e->offsets[c][axes[k]] = order;
  }
  for (int a = 0; a <= d && order == 2; a++)
    for (int b = a + 1; b <= d; b++, e->nodes++)
      for (int k = 0; k < 3; k++) e->offsets[e->nodes][k] = (e->offsets[a][k] + e->offsets[b][k]) / 2;
  const double near = d == 2 ? 2.0 / 3 : 0.58541019662496852, far = (1 - near) / d;
  for (int q = 0; q <= d; q++) {
    double l[4] = {far, far, far, far};
    l[q] = near;
    e->weights[q] = 1.0 / (d == 2 ? 2 : 6) / (d + 1);
    simplex_shape(d, order, l, &e->shape[q]);
    simplex_shape(d, 1, l, &e->geometry[q]);
  }
}

/* ---- An element of the mesh ---- */

typedef struct box {
  const element_mesh *mesh;
  int32_t cells[3], points[3];
  int unknowns;
  double tensor[3][3];
} box;

static int32_t number_of(const box *b, const int32_t at[3]) {
  const int is_scalar = b->unknowns == 1, is_fixed = is_scalar && b->mesh->mass == 0;
  int32_t number = 0;
  for (int k = axes_of_mesh(b->mesh) - 1; k >= 0; k--) {
    const int32_t low = is_fixed || (!is_scalar && k == 2), high = b->points[k] - is_fixed;
    if (at[k] < low || at[k] >= high) return -1;
    number = number * (high - low) + at[k] - low;
  }
  return number;
}

static void position(const box *b, const int32_t at[3], double x[3]) {
  const element_mesh *m = b->mesh;
  const uint32_t number = (uint32_t)(at[0] + b->points[0] * (at[1] + b->points[1] * at[2]));
  for (int k = 0; k < axes_of_mesh(m); k++) {
    const double noise = 2 * (double)generated_noise(number, 31u + (uint32_t)k) - 1;
    const double spacing = m->spacing[k] > 0 ? m->spacing[k] : 1;
    x[k] = spacing * ((double)at[k] / m->order + m->jitter * noise);
  }
}

/* Gradients in space, and the determinant. */
static double map_gradients(const element *e, int d, int q, double x[CORNERS][3], double gradients[][3]) {
  double J[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, inverse[3][3];
  for (int r = 0; r < d; r++)
    for (int k = 0; k < d; k++) {
      J[r][k] = 0;
      for (int c = 0; c < e->corners; c++) J[r][k] += e->geometry[q].gradient[c][r] * x[c][k];
    }
  double determinant = 0;
  for (int r = 0; r < 3; r++)
    for (int k = 0; k < 3; k++) {
      const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
      inverse[k][r] = J[r1][k1] * J[r2][k2] - J[r1][k2] * J[r2][k1];
      if (r == 0) determinant += J[0][k] * inverse[k][0];
    }
  for (int a = 0; a < e->nodes; a++)
    for (int k = 0; k < d; k++) {
      gradients[a][k] = 0;
      for (int r = 0; r < d; r++) gradients[a][k] += inverse[k][r] * e->shape[q].gradient[a][r] / determinant;
    }
  return fabs(determinant);
}

/* The contribution of nodes a and b at a point: a block of unknowns x unknowns. */
static void point_block(const box *b, const double *p, const double *q, double mass, double block[3][3]) {
  const int d = axes_of_mesh(b->mesh);
  double energy = 0;
  for (int i = 0; i < d; i++)
    for (int j = 0; j < d; j++) energy += p[i] * b->tensor[i][j] * q[j];
  block[0][0] = energy + mass;
  if (b->unknowns == 1) return;
  const double nu = b->mesh->poisson, mu = 1 / (2 * (1 + nu)), lambda = nu / ((1 + nu) * (1 - 2 * nu));
  for (int i = 0; i < d; i++)
    for (int j = 0; j < d; j++)
      block[i][j] = lambda * p[i] * q[j] + mu * p[j] * q[i] + (i == j ? mu * energy : 0);
}

typedef struct element_matrix {
  double at[3 * MOST_NODES][3 * MOST_NODES];
} element_matrix;

static void integrate(const box *b, const element *e, double x[CORNERS][3], double coefficient,
                      element_matrix *K) {
  const int u = b->unknowns;
  for (int i = 0; i < u * e->nodes; i++)
    for (int j = 0; j < u * e->nodes; j++) K->at[i][j] = 0;
  for (int q = 0; q < e->points; q++) {
    double gradients[MOST_NODES][3];
    const double volume = e->weights[q] * map_gradients(e, b->mesh->dimensions, q, x, gradients);
    for (int a = 0; a < e->nodes; a++)
      for (int c = a; c < e->nodes; c++) {
        double block[3][3];
        const double mass = b->mesh->mass * e->shape[q].value[a] * e->shape[q].value[c];
        point_block(b, gradients[a], gradients[c], mass, block);
        for (int i = 0; i < u; i++)
          for (int j = a == c ? i : 0; j < u; j++)
            K->at[u * a + i][u * c + j] += coefficient * volume * block[i][j];
      }
  }
  for (int i = 0; i < u * e->nodes; i++)
    for (int j = 0; j < i; j++) K->at[i][j] = K->at[j][i];
}

static void add_element(const box *b, const element *e, const int32_t cell[3], assembly *list) {
  const int u = b->unknowns;
  int32_t numbers[MOST_NODES] = {0};
  double x[CORNERS][3] = {{0}};
  element_matrix K;
  int32_t at[MOST_NODES][3] = {{0}};
  for (int a = 0; a < e->nodes; a++) {
    for (int k = 0; k < 3; k++) at[a][k] = b->mesh->order * cell[k] + e->offsets[a][k];
    numbers[a] = number_of(b, at[a]);
  }
  for (int c = 0; c < e->corners; c++) position(b, at[e->corner[c]], x[c]);
  const uint32_t number = (uint32_t)(cell[0] + b->cells[0] * (cell[1] + b->cells[1] * cell[2]));
  const int jumps = b->mesh->jump > 0 && generated_noise(number, 41u) < 0.5f;
  integrate(b, e, x, jumps ? b->mesh->jump : 1, &K);
  for (int i = 0; i < u * e->nodes; i++)
    for (int j = 0; j < u * e->nodes; j++)
      if (numbers[i / u] >= 0 && numbers[j / u] >= 0)
        assembly_add(list, u * numbers[i / u] + i % u, u * numbers[j / u] + j % u, K.at[i][j]);
}

static void add_all(const box *b, const element *e, assembly *list) {
  int32_t cell[3];
  for (cell[2] = 0; cell[2] < b->cells[2]; cell[2]++)
    for (cell[1] = 0; cell[1] < b->cells[1]; cell[1]++)
      for (cell[0] = 0; cell[0] < b->cells[0]; cell[0]++) add_element(b, e, cell, list);
}

/* ---- The matrix ---- */

/* Conductivity 1 along the angle, `ratio` across. */
static void set_tensor(box *b) {
  const double across = b->mesh->ratio > 0 ? b->mesh->ratio : 1, angle = b->mesh->angle * acos(-1) / 180;
  const double c = cos(angle), s = sin(angle);
  for (int k = 0; k < 3; k++) b->tensor[k][k] = 1;
  b->tensor[0][0] = c * c + across * s * s;
  b->tensor[1][1] = s * s + across * c * c;
  b->tensor[0][1] = b->tensor[1][0] = (1 - across) * c * s;
}

/* Finds the largest box with at most `rows` rows; returns its rows. */
static int32_t set_size(box *b, int32_t rows) {
  const element_mesh *m = b->mesh;
  const int32_t length = b->unknowns > 1 ? 3 : 1;
  int64_t fit = 0;
  for (int32_t width = 1;; width++) {
    box larger = *b;
    for (int k = 0; k < 3; k++) {
      larger.cells[k] = k >= m->dimensions ? 1 : k == 2 ? length * width : width;
      larger.points[k] = k >= m->dimensions ? 1 : m->order * larger.cells[k] + 1;
    }
    int64_t count = b->unknowns;
    for (int k = 0; k < axes_of_mesh(m); k++)
      count *= larger.points[k] - (b->unknowns > 1 ? k == 2 : m->mass > 0 ? 0 : 2);
    if (count > rows) return (int32_t)fit;
    fit = count;
    *b = larger;
  }
}

static void set_coordinates(const box *b, double *coordinates) {
  int32_t at[3];
  for (at[2] = 0; at[2] < b->points[2]; at[2]++)
    for (at[1] = 0; at[1] < b->points[1]; at[1]++)
      for (at[0] = 0; at[0] < b->points[0]; at[0]++) {
        const int32_t number = number_of(b, at);
        if (number >= 0) position(b, at, &coordinates[3 * (size_t)number]);
      }
}

static const int axes_of[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}};

int generate_elements(generated_problem *p, const element_mesh *mesh, int32_t rows) {
  box b = {.mesh = mesh, .unknowns = mesh->poisson > 0 ? 3 : 1};
  set_tensor(&b);
  const int32_t count = set_size(&b, rows);
  if (!count) return 3;
  assembly list = {0};
  element e;
  const int pieces = !mesh->is_simplicial ? 1 : mesh->dimensions == 2 ? 2 : 6;
  for (int k = 0; k < pieces; k++) {
    if (mesh->is_simplicial)
      make_simplex(mesh, axes_of[k], &e);
    else
      make_cube(mesh, &e);
    add_all(&b, &e, &list);
  }
  const int failed = assembly_finish(&list, count, b.unknowns, b.unknowns > 1 ? 3 : 0, p);
  if (!failed && b.unknowns > 1) set_coordinates(&b, p->coordinates);
  return failed;
}
