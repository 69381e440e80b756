/* Families of matrices for tests of algebraic multigrid. Grids, finite elements, anisotropy, jumps, scaled
 * rows, elasticity and graphs are symmetric positive definite; convection is nonsymmetric. */
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
  int failed; /* out of memory */
} assembly;

/* Ignores rows and columns below 0. */
void assembly_add(assembly *list, int32_t row, int32_t column, double value);
/* Adds entries at the same place in the order of their insertion, so a sum of symmetric matrices is exactly
 * symmetric. Frees the list. Returns as generated_problem_allocate. */
int assembly_finish(assembly *list, int32_t rows, int unknowns, int dimensions, generated_problem *p);

/* ---- family_elements.c ---- */

/* A box of cells. Each is one cube (square), or Kuhn's 6 tetrahedra (2 triangles). */
typedef struct element_mesh {
  int dimensions;    /* 2 or 3 */
  int order;         /* 1 or 2 */
  int is_simplicial; /* tetrahedra or triangles */
  double spacing[3]; /* along the axes; 0: 1 */
  double jitter;     /* maximum displacement of a vertex along each axis, in spacings */
  double ratio;      /* conductivity across the angle; 0: 1 */
  double angle;      /* in degrees, the direction of good conduction in the plane of the first two axes */
  double jump;       /* coefficient of a random half of the cells; 0: 1 */
  double mass;       /* factor of the mass matrix, without fixed values; 0: u = 0 around the box */
  /* Elasticity: Poisson's ratio. Young's modulus is 1, the length three times the width, and the first layer of
   * nodes is fixed. 0: a scalar equation. */
  double poisson;
} element_mesh;

/* At most `rows` rows. Elasticity includes coordinates of nodes. Returns as generate_problem. */
int generate_elements(generated_problem *p, const element_mesh *mesh, int32_t rows);

/* ---- family_graphs.c ---- */

/* Point stencils with u = 0 around the box: -1 per neighbour for 4, 6, 8 or 26 neighbours. With 18 neighbours,
 * -2 for those that share a face and -1 for the others. */
int generate_stencil(generated_problem *p, int points, int32_t rows);

typedef enum graph_kind {
  GRAPH_RMAT,   /* Chakrabarti, Zhan and Faloutsos 2004, 12 edges per node */
  GRAPH_BA,     /* Barabasi and Albert 1999, 6 edges per node */
  GRAPH_ROADS,  /* a grid of crossings without a third of its edges; each edge is a chain of nodes */
  GRAPH_TREE,   /* each node is attached to a random earlier one */
  GRAPH_BINARY, /* a binary tree */
  GRAPH_HUBS,   /* a grid; 8 hubs have an edge to every hundredth node */
} graph_kind;

/* A graph's Laplacian with unit weights, plus 1e-4. */
int generate_laplacian(generated_problem *p, graph_kind kind, int32_t rows);

/* ---- family_convection.c ---- */

typedef enum convection_scheme {
  CONVECTION_UPWIND,
  CONVECTION_CENTRAL,
  CONVECTION_ELEMENTS /* bilinear, with streamline diffusion */
} convection_scheme;

typedef struct convection {
  convection_scheme scheme;
  double peclet;      /* the maximum per cell */
  int is_circulating; /* 1: the wind circulates; 0: it is constant, at an angle of half a radian to the axis */
} convection;

/* Returns as generate_problem. */
int generate_convection(generated_problem *p, const convection *c, int32_t rows);

/* ---- families.c ---- */

/* The number of families, and their names. */
int family_count(void);
const char *family_name(int index);
/* The family of this name, or -1. */
int family_find(const char *name);
/* b, random. */
double family_right_side(int32_t row);
/* About `rows` rows. Returns as generate_problem. */
int family_make(int index, int32_t rows, generated_problem *p);

#endif
