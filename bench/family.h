/* Families of matrices that algebraic multigrid is tried on. Grids, finite elements, anisotropy, jumps, scaled
 * rows, elasticity and graphs are symmetric and positive definite; convection is not symmetric. */
#ifndef BENCH_FAMILY_H
#define BENCH_FAMILY_H

#include "generate_problem.h"

/* ---- family_assembly.c: a matrix as the sum of entries ---- */

typedef struct assembly_entry {
  int32_t row, column;
  double value;
} assembly_entry;

typedef struct assembly {
  assembly_entry *entries;
  int64_t count, room;
  int failed; /* no memory */
} assembly;

/* A row or column below 0 is one that is not there. */
void assembly_add(assembly *list, int32_t row, int32_t column, double value);
/* Adds up entries with one place, in the order in which they came: a sum of symmetric matrices is symmetric to
 * the bit. Frees the list. Returns as generated_problem_allocate. */
int assembly_finish(assembly *list, int32_t rows, int unknowns, int dimensions, generated_problem *p);

/* ---- family_elements.c ---- */

/* A box of cells, each one cube (square) or Kuhn's 6 tetrahedra (2 triangles). */
typedef struct element_mesh {
  int dimensions;    /* 2 or 3 */
  int order;         /* 1 or 2 */
  int is_simplicial; /* tetrahedra or triangles */
  double spacing[3]; /* along the axes; 0: 1 */
  double jitter;     /* how far a vertex may be moved along each axis, in spacings */
  double ratio;      /* the conductivity across the angle; 0: 1 */
  double angle;      /* in degrees, of the good direction in the plane of the first two axes */
  double jump;       /* the coefficient of half of the cells, chosen by chance; 0: 1 */
  double mass;       /* times the mass matrix. There are no fixed values then, else u = 0 around the box */
  /* Elasticity: Poisson's ratio, Young's modulus 1, three times as long as wide; the first layer of nodes is
   * fixed. 0: a scalar equation. */
  double poisson;
} element_mesh;

/* At most `rows` rows; coordinates of nodes for elasticity. Returns as generate_problem. */
int generate_elements(generated_problem *p, const element_mesh *mesh, int32_t rows);

/* ---- family_graphs.c ---- */

/* Point stencils with u = 0 around the box: -1 for each of 4, 6, 8 or 26 neighbours; of 18, -2 for those that
 * share a face and -1 for the others. */
int generate_stencil(generated_problem *p, int points, int32_t rows);

typedef enum graph_kind {
  GRAPH_RMAT,   /* Chakrabarti, Zhan and Faloutsos 2004, 12 edges a node */
  GRAPH_BA,     /* Barabasi and Albert 1999, 6 edges a node */
  GRAPH_ROADS,  /* a grid of crossings without a third of its edges, each a chain of nodes */
  GRAPH_TREE,   /* each node hangs on one of those before it, chosen by chance */
  GRAPH_BINARY, /* a binary tree */
  GRAPH_HUBS,   /* a grid; 8 hubs have an edge to each hundredth node */
} graph_kind;

/* A graph's Laplacian, edges of one weight, plus 1e-4. */
int generate_laplacian(generated_problem *p, graph_kind kind, int32_t rows);

/* ---- family_convection.c ---- */

typedef enum convection_scheme {
  CONVECTION_UPWIND,
  CONVECTION_CENTRAL,
  CONVECTION_ELEMENTS /* bilinear, with streamline diffusion */
} convection_scheme;

typedef struct convection {
  convection_scheme scheme;
  double peclet;  /* the largest of a cell */
  int is_turning; /* the wind circulates; else it is even, at an angle of half a radian to the axis */
} convection;

/* Returns as generate_problem. */
int generate_convection(generated_problem *p, const convection *c, int32_t rows);

/* ---- families.c ---- */

/* The number of families; their names. */
int family_count(void);
const char *family_name(int index);
/* The family with this name, or -1. */
int family_find(const char *name);
/* b, by chance. */
double family_right_side(int32_t row);
/* About `rows` rows. Returns as generate_problem. */
int family_make(int index, int32_t rows, generated_problem *p);

#endif
