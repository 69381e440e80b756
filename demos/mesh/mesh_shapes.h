/* Generators of the meshes in mesh_patch.c, which have a border for flattening, and in mesh_scan.c, which
 * resembles one view of a range scanner. Each makes about `about_vertices` vertices. Internal to
 * mesh_generate. */
#ifndef MESH_SHAPES_H
#define MESH_SHAPES_H

#include "mesh.h"

typedef int mesh_shape_fn(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]);

mesh_shape_fn mesh_cap_create, mesh_bent_create, mesh_cone_create, mesh_face_create, mesh_patches_create,
    mesh_scan_create;

#endif
