/* The generated mesh that looks like one view of a range scanner. Internal to mesh_generate. */
#ifndef MESH_SCAN_H
#define MESH_SCAN_H

#include "mesh.h"

int mesh_scan_create(int32_t about_vertices, mesh *m, char message[MESH_MESSAGE]);

#endif
