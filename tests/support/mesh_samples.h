/* Triangle meshes to test the mesh flow on, and what its systems do in double precision, worked out triangle by
 * triangle: nothing here knows rows, pointers or layouts. */
#ifndef MESH_SAMPLES_H
#define MESH_SAMPLES_H

#include <stdint.h>

typedef struct mesh_sample {
  int32_t vertices, triangles;
  float *x;   /* 3 a vertex */
  int32_t *t; /* 3 a triangle */
} mesh_sample;

void mesh_free(mesh_sample *m);
mesh_sample
mesh_sphere(int level);           /* an icosahedron whose triangles were cut in four `level` times; radius 1 */
mesh_sample mesh_disk(int rings); /* flat, radius 1, its boundary a circle of 6 rings vertices */
mesh_sample mesh_square(int n);   /* flat, side 1, n x n quads cut in two, oblique in space */
mesh_sample mesh_cone(int n,
                      float height); /* n triangles at the apex (vertex 0), then a ring of quads cut in two */
/* A square with noise in all directions: obtuse angles, no two triangles alike. `harm`: slivers, a triangle
 * whose vertices are on a line, two vertices at one place, inside and on the boundary, and a vertex all of
 * whose triangles are a point. */
mesh_sample mesh_irregular(int n, int harm, uint64_t seed);

double mesh_area(const mesh_sample *m, const float *x);

/* Flags of vertices at an edge with one triangle; malloc. */
unsigned char *mesh_boundary(const mesh_sample *m);

/* One of the two systems at the positions x: out = A v (3 components), diagonal (1), and for both the sum of
 * the magnitudes that their rounding errors scale with. `rows`: flags of the rows that belong to the system;
 * others are those of the identity. */
typedef struct mesh_system {
  const mesh_sample *mesh;
  const float *x;
  const unsigned char *rows;
  int curve;
  int force; /* out = M v - A v instead, sized by the differences that it is made of; 0 in other rows */
  double factor, shortest;
} mesh_system;
void mesh_apply(const mesh_system *s, const float *v, double *out, double *size, double *diagonal,
                double *diagonal_size);

#endif
