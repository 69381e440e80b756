/* Generated meshes, and noise. The same arguments give the same mesh on every machine. */
#ifndef MESH_GENERATE_H
#define MESH_GENERATE_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `what` is a name, optionally with ":N" for about N vertices (default 10000, at least 12).
 *   sphere   a subdivided icosahedron of radius 1 with even triangles
 *   cube     side 1, with sharp edges
 *   torus    radii 1 and 0.4
 *   scan     an open height field like one view of a range scanner: holes, ragged borders, noise along the view
 * The others have one border each, for flattening:
 *   cap      half a sphere
 *   bent     three quarters of a cylinder's wall
 *   cone     two thirds of a cone's wall
 *   face     a mask
 *   patches  these four side by side */
int mesh_generate(const char *what, mesh *m, char message[MESH_MESSAGE]);
/* Checks `what`. Returns 0, or 1 with one line in `message`. */
int mesh_can_generate(const char *what, char message[MESH_MESSAGE]);

/* Moves every vertex along its normal by a normally distributed distance with standard deviation `amount` x
 * (bounding box's diagonal). Held vertices and vertices without triangles do not move. */
int mesh_add_noise(mesh *m, double amount, uint64_t seed, char message[MESH_MESSAGE]);

/* Area-weighted unit normals of vertices, 3 numbers each; 0 for vertices without triangles. */
void mesh_normals(const mesh *m, double *normals);

#ifdef __cplusplus
}
#endif
#endif
