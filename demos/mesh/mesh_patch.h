/* The generated meshes that have a border, for flattening. Internal to mesh_generate. */
#ifndef MESH_PATCH_H
#define MESH_PATCH_H

#include "mesh.h"

/* Each with about so many vertices. */
int mesh_cap_create(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]);
int mesh_bent_create(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]);
int mesh_cone_create(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]);
int mesh_face_create(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]);
int mesh_patches_create(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]);

#endif
