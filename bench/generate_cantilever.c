/* A beam that is fixed at one end: linear elasticity with trilinear elements, each a unit cube. */
#include "generate_problem.h"

enum { CORNERS = 8, ELEMENT = 3 * CORNERS };

static const double poisson_ratio = 0.3; /* Young's modulus is 1 */

static int coordinate(int corner, int axis) {
  return corner >> axis & 1;
}

/* The integral over the cube of (d N_a / d x_i) (d N_b / d x_j), a product of integrals along the three
 * axes. */
static double integral(int a, int b, int i, int j) {
  double product = 1;
  for (int k = 0; k < 3; k++) {
    const int same = coordinate(a, k) == coordinate(b, k);
    if (k == i && k == j)
      product *= same ? 1 : -1;
    else if (k == i || k == j)
      product *= coordinate(k == i ? a : b, k) ? 0.5 : -0.5;
    else
      product *= same ? 1.0 / 3 : 1.0 / 6;
  }
  return product;
}

/* Exactly symmetric. */
static void make_element(double element[ELEMENT][ELEMENT]) {
  const double nu = poisson_ratio, mu = 1 / (2 * (1 + nu)), lambda = nu / ((1 + nu) * (1 - 2 * nu));
  for (int a = 0; a < CORNERS; a++)
    for (int b = 0; b < CORNERS; b++) {
      const double laplacian = integral(a, b, 0, 0) + integral(a, b, 1, 1) + integral(a, b, 2, 2);
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
          element[3 * a + i][3 * b + j] =
              lambda * integral(a, b, i, j) + mu * integral(a, b, j, i) + (i == j ? mu * laplacian : 0);
    }
}

typedef struct beam {
  int32_t cells[3], nodes[3]; /* along the axes; the last is the long one */
  double element[ELEMENT][ELEMENT];
} beam;

/* The coupling of a node with a neighbour, summed over the elements that contain both. */
static void add_elements(const beam *b, const int32_t node[3], const int32_t step[3], double block[3][3]) {
  for (int here = 0; here < CORNERS; here++) {
    int there = 0, is_element = 1;
    for (int k = 0; k < 3; k++) {
      const int32_t cell = node[k] - coordinate(here, k), other = coordinate(here, k) + step[k];
      is_element &= cell >= 0 && cell < b->cells[k] && other >= 0 && other <= 1;
      there |= (other & 1) << k;
    }
    for (int i = 0; i < 3 && is_element; i++)
      for (int j = 0; j < 3; j++) block[i][j] += b->element[3 * here + i][3 * there + j];
  }
}

/* Lists the free nodes around a node, in order, or only the node itself if it is fixed. */
static int find_steps(const beam *b, const int32_t node[3], int32_t steps[27][3]) {
  int count = 0;
  for (int32_t z = -1; z <= 1; z++)
    for (int32_t y = -1; y <= 1; y++)
      for (int32_t x = -1; x <= 1; x++) {
        const int32_t step[3] = {x, y, z};
        int is_there = 1;
        for (int k = 0; k < 3; k++) is_there &= node[k] + step[k] >= 0 && node[k] + step[k] < b->nodes[k];
        is_there &= node[2] > 0 ? node[2] + z > 0 : !x && !y && !z;
        for (int k = 0; k < 3 && is_there; k++) steps[count][k] = step[k];
        count += is_there;
      }
  return count;
}

static void add_node(const beam *b, const int32_t node[3], int32_t number, generated_problem *p) {
  int32_t steps[27][3], *offsets = &p->row_offsets[3 * (size_t)number];
  const int is_held = node[2] == 0, count = find_steps(b, node, steps);
  for (int k = 0; k < 3; k++) p->coordinates[3 * (size_t)number + (size_t)k] = (double)node[k];
  for (int i = 0; i < 3; i++) offsets[i + 1] = offsets[i] + (is_held ? 1 : 3 * count);
  for (int k = 0; k < count; k++) {
    const int32_t other = number + steps[k][0] + b->nodes[0] * (steps[k][1] + b->nodes[1] * steps[k][2]);
    double block[3][3] = {{0}};
    if (!is_held) add_elements(b, node, steps[k], block);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        const int32_t at = offsets[i] + (is_held ? 0 : 3 * k + j);
        if (is_held && i != j) continue;
        p->column_indices[at] = 3 * other + j;
        p->values[at] = is_held ? 1 : block[i][j];
      }
  }
}

static int64_t count_nodes(int64_t width) {
  return (3 * width + 1) * (width + 1) * (width + 1);
}

int generate_cantilever(generated_problem *p, int32_t rows) {
  int32_t width = 0, number = 0;
  while (3 * count_nodes(width + 1) <= rows) width++;
  if (!width) return 3;
  beam b = {.cells = {width, width, 3 * width}, .nodes = {width + 1, width + 1, 3 * width + 1}};
  const int64_t nodes = count_nodes(width);
  const int failed = generated_problem_allocate(p, 3 * (int32_t)nodes, 9 * (27 * nodes), 3, 3);
  if (failed) return failed;
  make_element(b.element);
  for (int32_t z = 0; z < b.nodes[2]; z++)
    for (int32_t y = 0; y < b.nodes[1]; y++)
      for (int32_t x = 0; x < b.nodes[0]; x++) add_node(&b, (const int32_t[3]){x, y, z}, number++, p);
  return 0;
}
