/* Reading and writing OBJ, PLY, OFF and STL, as a polygon soup: faces are taken as they stand in the file, so
 * that nothing is dropped in silence, and vertices keep their order. Coordinates are read in single precision;
 * in `mesh` they are the shortest decimals of these, so that a coordinate of up to six digits, as most files
 * have, is exactly the number in the file.
 *
 * Coordinates far from 0 compared with the size of the mesh, such as eastings and northings, would lose the
 * mesh in single precision. They are read in double precision from an origin near the mesh, and written with
 * all their digits. */
#ifndef MESH_FILE_H
#define MESH_FILE_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mesh_format { MESH_OBJ, MESH_PLY, MESH_OFF, MESH_STL, MESH_FORMATS } mesh_format;

/* From the ending of the name; MESH_FORMATS where it is none of them. */
mesh_format mesh_format_of(const char *path);
/* The path for a message, only its end where it is so long that there would be no room for the reason. */
const char *mesh_file_name(const char *path);

typedef struct mesh_file_report {
  int32_t faces;    /* in the file */
  int32_t polygons; /* of more than three corners, cut into triangles */
  int32_t crossing; /* polygons that cross themselves or have no area, with triangles that overlap */
  int32_t first_crossing;
  int32_t reduced;       /* polygons that lost corners that repeat a vertex, and kept the others */
  int32_t left_out;      /* triangles of OBJ and STL files with a vertex twice; polygons with fewer than three
                            vertices */
  int64_t ignored_bytes; /* behind the last triangle of a binary STL file */
} mesh_file_report;

/* Reads a mesh. Fails with one line that names the file and what is wrong and where: not a mesh, cut short, no
 * vertices or no faces, a coordinate that is NaN or infinite (vertex), an index out of range (face), a face of
 * fewer than three corners. An STL file holds the corners of each triangle; those at the same
 * place become one vertex. A byte order mark before text is skipped. */
int mesh_file_read(const char *path, mesh *m, mesh_file_report *report, char message[MESH_MESSAGE]);

/* Writes all vertices in order and all triangles. The ending decides the format: .obj and .off are text with 9
 * digits, .ply and .stl binary in single precision (STL: without vertices that no triangle uses). If the mesh
 * has an origin, it is added, numbers have as many digits as doubles need, PLY has properties of type double,
 * and STL is text. The file appears when it is complete: nothing is left behind on failure, and an older file
 * is kept. */
int mesh_file_write(const char *path, const mesh *m, char message[MESH_MESSAGE]);

/* Places in a texture: corner 3 t + k of triangle t is at u, v of uv[2 corner[3 t + k]]. */
typedef struct mesh_texture {
  const int32_t *corner;
  const double *uv;
  int is_double; /* u and v are written in double precision; 0: in single precision */
} mesh_texture;

/* Also writes the places: OBJ, where a vertex may have several (vt lines, one for each place), and PLY
 * (properties u, v of its vertices), where `corner` must be the mesh's own triangles. */
int mesh_file_write_textured(const char *path, const mesh *m, const mesh_texture *texture,
                             char message[MESH_MESSAGE]);
/* A number as an OBJ file holds it in single precision, with its nine digits. */
double mesh_file_single(double number);
int mesh_file_can_write_textured(const char *path, char message[MESH_MESSAGE]);

/* Whether the ending is one that can be written; else the message says which are. */
int mesh_file_can_write(const char *path, char message[MESH_MESSAGE]);

#ifdef __cplusplus
}
#endif
#endif
