#include "family.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Transformations of a matrix. */
typedef enum change {
  AS_IT_IS,
  SCALED,   /* D A D; the logarithms of D are uniformly random between 1e-3 and 1e3 */
  SMOOTHLY, /* D A D; D is a wave along the rows between 1e-3 and 1e3 */
  NO_MODES, /* nodes are given, coordinates are not */
  NO_NODES, /* neither */
} change;

typedef struct family {
  const char *name;
  const char *problem; /* a matrix of generate_problem */
  int points;          /* of a stencil */
  int is_graph;
  element_mesh mesh; /* if it is none of the above */
  double size;       /* factor of the row count; 0: 1 */
  graph_kind graph;
  change change;
  convection wind; /* if its Peclet number is not 0 */
} family;

#define MESH(d, k, simplices, ...)                                                                             \
  .mesh = {.dimensions = (d), .order = (k), .is_simplicial = (simplices), __VA_ARGS__}
#define HEXAHEDRA(...) MESH(3, 1, 0, __VA_ARGS__)
#define SQUARES(...) MESH(2, 1, 0, __VA_ARGS__)
#define TETRAHEDRA(...) MESH(3, 1, 1, __VA_ARGS__)
#define TRIANGLES(...) MESH(2, 1, 1, __VA_ARGS__)
#define WIND(s, ...) .wind = {.scheme = CONVECTION_##s, __VA_ARGS__}

static const family families[] = {
    {"5 points", .points = 5, .size = 2},
    {"9 points", .points = 9, .size = 2},
    {"7 points", .points = 7},
    {"19 points", .points = 19},
    {"27 points", .points = 27},
    {"P1 triangles", TRIANGLES(.jitter = 0.2)},
    {"P2 triangles", MESH(2, 2, 1, .jitter = 0.2)},
    {"P1 tetrahedra", TETRAHEDRA(.jitter = 0)},
    {"P1 tetrahedra, uneven", TETRAHEDRA(.jitter = 0.2)},
    {"P2 tetrahedra", MESH(3, 2, 1, .jitter = 0)},
    {"P2 tetrahedra, uneven", MESH(3, 2, 1, .jitter = 0.2)},
    {"Q1 hexahedra", HEXAHEDRA(.jitter = 0)},
    {"Q2 hexahedra", MESH(3, 2, 0, .jitter = 0)},
    {"obtuse triangles", TRIANGLES(.spacing = {1, 3}, .jitter = 0.3)},
    {"stretched 5 points 1:1000", .problem = "anisotropic2d"},
    {"stretched 7 points 1:1000", .problem = "anisotropic3d"},
    {"stretched triangles 1:10", TRIANGLES(.spacing = {1, 10})},
    {"stretched triangles 1:100", TRIANGLES(.spacing = {1, 100})},
    {"stretched squares 1:10", SQUARES(.spacing = {1, 10})},
    {"stretched squares 1:1000", SQUARES(.spacing = {1, 1000})},
    {"stretched hexahedra 1:3", HEXAHEDRA(.spacing = {1, 1, 3})},
    {"stretched hexahedra 1:10", HEXAHEDRA(.spacing = {1, 1, 10})},
    {"stretched hexahedra 1:100", HEXAHEDRA(.spacing = {1, 1, 100})},
    {"stretched hexahedra 1:1000", HEXAHEDRA(.spacing = {1, 1, 1000})},
    {"flat hexahedra 1:10", HEXAHEDRA(.spacing = {10, 10, 1})},
    {"flat hexahedra 1:1000", HEXAHEDRA(.spacing = {1000, 1000, 1})},
    {"stretched tetrahedra 1:10", TETRAHEDRA(.spacing = {1, 1, 10})},
    {"stretched tetrahedra 1:100", TETRAHEDRA(.spacing = {1, 1, 100})},
    {"rotated 30, squares 1:1000", SQUARES(.ratio = 1e-3, .angle = 30)},
    {"rotated 45, squares 1:1000", SQUARES(.ratio = 1e-3, .angle = 45)},
    {"rotated 30, triangles 1:1000", TRIANGLES(.ratio = 1e-3, .angle = 30)},
    {"rotated 45, triangles 1:1000", TRIANGLES(.ratio = 1e-3, .angle = 45)},
    {"rotated 30, squares 1:100", SQUARES(.ratio = 1e-2, .angle = 30)},
    {"jumps, 5 points 1:1e6", .problem = "jumps2d"},
    {"jumps, 7 points 1:1e6", .problem = "jumps3d"},
    {"jumps, hexahedra 1:1e6", HEXAHEDRA(.jump = 1e6)},
    {"jumps, tetrahedra 1:1e6", TETRAHEDRA(.jump = 1e6, .jitter = 0.2)},
    {"M + 1e-6 L, triangles", TRIANGLES(.mass = 1e6, .jitter = 0.2)},
    {"M + 1e-3 L, triangles", TRIANGLES(.mass = 1e3, .jitter = 0.2)},
    {"M + 1 L, triangles", TRIANGLES(.mass = 1, .jitter = 0.2)},
    {"M + 1e3 L, triangles", TRIANGLES(.mass = 1e-3, .jitter = 0.2)},
    {"M + 1e6 L, triangles", TRIANGLES(.mass = 1e-6, .jitter = 0.2)},
    {"M + 1e-3 L, tetrahedra", TETRAHEDRA(.mass = 1e3, .jitter = 0.2)},
    {"M + 1 L, tetrahedra", TETRAHEDRA(.mass = 1, .jitter = 0.2)},
    {"M + 1e3 L, tetrahedra", TETRAHEDRA(.mass = 1e-3, .jitter = 0.2)},
    {"D A D, 7 points", .points = 7, .change = SCALED},
    {"D A D, 7 points, waves", .points = 7, .change = SMOOTHLY},
    {"D A D, triangles", TRIANGLES(.jitter = 0.2), .change = SCALED},
    {"D A D, 27 points", .points = 27, .change = SCALED},
    {"elasticity 0.3, modes", HEXAHEDRA(.poisson = 0.3)},
    {"elasticity 0.45, modes", HEXAHEDRA(.poisson = 0.45)},
    {"elasticity 0.49, modes", HEXAHEDRA(.poisson = 0.49)},
    {"elasticity 0.499, modes", HEXAHEDRA(.poisson = 0.499)},
    {"elasticity 0.3, nodes", HEXAHEDRA(.poisson = 0.3), .change = NO_MODES},
    {"elasticity 0.49, nodes", HEXAHEDRA(.poisson = 0.49), .change = NO_MODES},
    {"elasticity 0.3, rows", HEXAHEDRA(.poisson = 0.3), .change = NO_NODES},
    {"elasticity 0.3, tetra, modes", TETRAHEDRA(.poisson = 0.3, .jitter = 0.1)},
    {"elasticity 0.3, units, modes", HEXAHEDRA(.poisson = 0.3), .change = SCALED},
    {"graph, R-MAT", .is_graph = 1, .graph = GRAPH_RMAT, .size = 0.5},
    {"graph, Barabasi-Albert", .is_graph = 1, .graph = GRAPH_BA, .size = 0.5},
    {"graph, roads", .is_graph = 1, .graph = GRAPH_ROADS},
    {"graph, random tree", .is_graph = 1, .graph = GRAPH_TREE},
    {"graph, binary tree", .is_graph = 1, .graph = GRAPH_BINARY},
    {"graph, grid with hubs", .is_graph = 1, .graph = GRAPH_HUBS},
    {"wind, upwind, Peclet 0.1", WIND(UPWIND, .peclet = 0.1)},
    {"wind, upwind, Peclet 1", WIND(UPWIND, .peclet = 1)},
    {"wind, upwind, Peclet 10", WIND(UPWIND, .peclet = 10)},
    {"wind, upwind, Peclet 100", WIND(UPWIND, .peclet = 100)},
    {"wind, central, Peclet 0.1", WIND(CENTRAL, .peclet = 0.1)},
    {"wind, central, Peclet 1", WIND(CENTRAL, .peclet = 1)},
    {"wind, central, Peclet 10", WIND(CENTRAL, .peclet = 10)},
    {"wind, central, Peclet 100", WIND(CENTRAL, .peclet = 100)},
    {"wind, SUPG, Peclet 0.1", WIND(ELEMENTS, .peclet = 0.1)},
    {"wind, SUPG, Peclet 1", WIND(ELEMENTS, .peclet = 1)},
    {"wind, SUPG, Peclet 10", WIND(ELEMENTS, .peclet = 10)},
    {"wind, SUPG, Peclet 100", WIND(ELEMENTS, .peclet = 100)},
    {"turning, upwind, Peclet 1", WIND(UPWIND, .peclet = 1, .is_circulating = 1)},
    {"turning, upwind, Peclet 10", WIND(UPWIND, .peclet = 10, .is_circulating = 1)},
    {"turning, upwind, Peclet 100", WIND(UPWIND, .peclet = 100, .is_circulating = 1)},
    {"turning, central, Peclet 1", WIND(CENTRAL, .peclet = 1, .is_circulating = 1)},
    {"turning, central, Peclet 10", WIND(CENTRAL, .peclet = 10, .is_circulating = 1)},
    {"turning, central, Peclet 100", WIND(CENTRAL, .peclet = 100, .is_circulating = 1)},
    {"turning, SUPG, Peclet 1", WIND(ELEMENTS, .peclet = 1, .is_circulating = 1)},
    {"turning, SUPG, Peclet 10", WIND(ELEMENTS, .peclet = 10, .is_circulating = 1)},
    {"turning, SUPG, Peclet 100", WIND(ELEMENTS, .peclet = 100, .is_circulating = 1)},
};

int family_count(void) {
  return (int)(sizeof families / sizeof *families);
}

const char *family_name(int index) {
  return families[index].name;
}

int family_find(const char *name) {
  int index = family_count() - 1;
  while (index >= 0 && strcmp(families[index].name, name) != 0) index--;
  return index;
}

double family_right_side(int32_t row) {
  return 2 * (double)generated_noise((uint32_t)row, 71u) - 1;
}

static double scale_of(const family *f, const generated_problem *p, int32_t row) {
  const double noise = f->change == SCALED ? (double)generated_noise((uint32_t)row, 61u)
                                           : 0.5 + 0.5 * sin(6.283185307179586 * 3 * row / p->rows);
  return pow(10, 6 * noise - 3);
}

/* Translations and rotations of nodes in space, times 1 / d. */
static int scale_modes(generated_problem *p, const double *d) {
  enum { MODES = 6 };
  p->vectors = MODES;
  p->near_null = calloc((size_t)p->rows * MODES, sizeof *p->near_null);
  for (int32_t i = 0; i < p->rows && p->near_null; i++) {
    const int axis = i % 3, next = (axis + 1) % 3, last = (axis + 2) % 3;
    const double *x = &p->coordinates[i - axis];
    double *mode = &p->near_null[(size_t)i * MODES];
    mode[axis] = 1 / d[i];
    mode[3 + next] = x[last] / d[i];
    mode[3 + last] = -x[next] / d[i];
  }
  free(p->coordinates);
  p->coordinates = NULL;
  p->dimensions = 0;
  return !p->near_null;
}

static int scale(const family *f, generated_problem *p) {
  double *d = malloc((size_t)p->rows * sizeof *d);
  if (!d) return 2;
  for (int32_t i = 0; i < p->rows; i++) d[i] = scale_of(f, p, i / p->unknowns);
  for (int32_t i = 0; i < p->rows; i++)
    for (int32_t e = p->row_offsets[i]; e < p->row_offsets[i + 1]; e++)
      p->values[e] *= d[i] * d[p->column_indices[e]];
  const int failed = p->dimensions && scale_modes(p, d);
  free(d);
  return failed;
}

static int change_problem(const family *f, generated_problem *p) {
  if (f->change == NO_MODES || f->change == NO_NODES) {
    free(p->coordinates);
    p->coordinates = NULL;
    p->dimensions = 0;
    if (f->change == NO_NODES) p->unknowns = 1;
  }
  return f->change == SCALED || f->change == SMOOTHLY ? scale(f, p) : 0;
}

int family_make(int index, int32_t rows, generated_problem *p) {
  const family *f = &families[index];
  *p = (generated_problem){0};
  const int32_t count = (int32_t)(rows * (f->size > 0 ? f->size : 1));
  int failed;
  if (f->points)
    failed = generate_stencil(p, f->points, count);
  else if (f->problem)
    failed = generate_problem(p, f->problem, count);
  else if (f->wind.peclet > 0)
    failed = generate_convection(p, &f->wind, count);
  else if (f->is_graph)
    failed = generate_laplacian(p, f->graph, count);
  else
    failed = generate_elements(p, &f->mesh, count);
  if (!failed && change_problem(f, p)) {
    generated_problem_free(p);
    failed = 2;
  }
  return failed;
}
