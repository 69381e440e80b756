/* Triangle meshes for tests of the mesh flow, and its systems in double precision, computed triangle by
 * triangle without rows, pointers or layouts. */
#ifndef MESH_SAMPLES_H
#define MESH_SAMPLES_H

#include <stdint.h>

typedef struct mesh_sample {
  int32_t vertices, triangles;
  float *x;   /* 3 per vertex */
  int32_t *t; /* 3 per triangle */
} mesh_sample;

void mesh_free(mesh_sample *m);
mesh_sample mesh_sphere(int level); /* an icosahedron, its triangles divided in four `level` times; radius 1 */
mesh_sample mesh_disk(int rings);   /* flat, radius 1, with a boundary of 6 rings vertices on a circle */
mesh_sample mesh_square(int n);     /* flat, side 1, n x n quads cut in two, inclined in space */
mesh_sample mesh_cone(int n,
                      float height); /* n triangles at the apex (vertex 0), then a ring of quads cut in two */
/* A square with noise in all directions, so that it has obtuse angles and no equal triangles. `harm` adds
 * slivers, a triangle with its vertices on a line, two vertices at one place inside and on the boundary, and a
 * vertex whose triangles are all degenerated to a point. */
mesh_sample mesh_irregular(int n, int harm, uint64_t seed);

double mesh_area(const mesh_sample *m, const float *x);

/* Flags of the vertices at an edge with only one triangle. The caller frees it. */
unsigned char *mesh_boundary(const mesh_sample *m);

/* One of the two systems at the positions x: out = A v (3 components) and the diagonal (1), each with the scale
 * of its rounding errors. `rows` marks the rows of the system. All other rows are those of the identity. */
typedef struct mesh_system {
  const mesh_sample *mesh;
  const float *x;
  const unsigned char *rows;
  int curve;
  int force; /* out = M v - A v, with the size of the differences it is made of; 0 in other rows */
  double factor, shortest;
} mesh_system;
void mesh_apply(const mesh_system *s, const float *v, double *out, double *size, double *diagonal,
                double *diagonal_size);

#endif
