/* Reading PLY: text and binary of both byte orders, faces as polygons and as triangle strips, as range scans of
 * Stanford's and Cyberware's have them. OpenMesh's reader knows no strips and crashes on faulty headers.
 * Internal to mesh_file. */
#ifndef MESH_PLY_HPP
#define MESH_PLY_HPP

#include "mesh_soup.hpp"

/* Takes the vertices and faces from `size` bytes, behind which stands a 0. Throws std::runtime_error with what
 * is wrong and where. */
void ply_read(const char *bytes, size_t size, mesh_soup &soup);

#endif
