/* Meshes that need no file, and noise. The same arguments give the same mesh on every machine. */
#ifndef MESH_GENERATE_H
#define MESH_GENERATE_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `what`: one of these, optionally with ":N", about N vertices (default 10000, at least 12). sphere: a
 * subdivided icosahedron of radius 1, even triangles; cube: of side 1, its edges sharp; torus: radii 1 and 0.4;
 * scan: like one view of a range scanner: an open height field with several holes, ragged borders and noise
 * along the view direction. With one border: cap, half a sphere; bent, three quarters of a cylinder's wall;
 * cone, two thirds of the wall of a cone; face, a mask. patches: these four side by side. */
int mesh_generate(const char *what, mesh *m, char message[MESH_MESSAGE]);
/* Whether that can be: 0, or 1 with one line in `message`. */
int mesh_can_generate(const char *what, char message[MESH_MESSAGE]);

/* Moves every vertex along its normal by a normally distributed distance with standard deviation
 * `amount` x (bounding box's diagonal). Vertices that are held or without triangles stay. */
int mesh_add_noise(mesh *m, double amount, uint64_t seed, char message[MESH_MESSAGE]);

/* Area-weighted vertex normals of unit length, 0 where there are no triangles; 3 a vertex. */
void mesh_normals(const mesh *m, double *normals);

#ifdef __cplusplus
}
#endif
#endif
