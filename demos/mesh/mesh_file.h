/* Reads and writes OBJ, PLY, OFF and STL. Faces are a polygon soup in the file's order: nothing is dropped
 * silently, and vertices keep their order. Coordinates are read in single precision. `mesh` has the shortest
 * decimals of these floats, so that coordinates of up to six digits, as in most files, are exact.
 *
 * Single precision cannot represent meshes with coordinates far from 0 relative to the mesh's size, such as
 * eastings and northings. They are read in double precision, relative to an origin near the mesh, and written
 * with all their digits. */
#ifndef MESH_FILE_H
#define MESH_FILE_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mesh_format { MESH_OBJ, MESH_PLY, MESH_OFF, MESH_STL, MESH_FORMATS } mesh_format;

/* By the file name extension; MESH_FORMATS if unknown. */
mesh_format mesh_format_of(const char *path);
/* The path for a message. A long path is shortened to its end, so that the reason fits. */
const char *mesh_file_name(const char *path);

typedef struct mesh_file_report {
  int32_t faces;    /* in the file */
  int32_t polygons; /* with more than three corners, cut into triangles */
  int32_t crossing; /* polygons that cross themselves or have zero area, so that their triangles overlap */
  int32_t first_crossing;
  int32_t reduced; /* polygons with corners removed because they repeat a vertex */
  /* triangles of OBJ and STL files with a repeated vertex; polygons with fewer than three vertices */
  int32_t left_out;
  int64_t ignored_bytes; /* after the last triangle of a binary STL file */
} mesh_file_report;

/* Reads a mesh. On failure `message` is one line with the file, the error and its position: not a mesh, cut
 * short, no vertices, no faces, a coordinate that is NaN or infinite, an index out of range, a face with fewer
 * than three corners. Triangle corners of an STL file at the same position become one vertex. A byte order mark
 * before text is skipped. */
int mesh_file_read(const char *path, mesh *m, mesh_file_report *report, char message[MESH_MESSAGE]);

/* Writes all vertices in order, and all triangles. The extension selects the format. .obj and .off are text
 * with 9 digits; .ply and .stl are binary, in single precision. STL omits vertices without triangles. If the
 * mesh has an origin it is added, and numbers have the digits of a double: PLY uses properties of type double,
 * and STL is text. The file appears when it is complete. On failure no file is left, and an existing one is
 * kept. */
int mesh_file_write(const char *path, const mesh *m, char message[MESH_MESSAGE]);

/* Texture coordinates: corner 3 t + k of triangle t is at u, v in uv[2 corner[3 t + k]] and the next
 * element. */
typedef struct mesh_texture {
  const int32_t *corner;
  const double *uv;
  int is_double; /* write u and v in double precision; 0: in single precision */
} mesh_texture;

/* Also writes texture coordinates. An OBJ file has a vt line for each, so a vertex may have several. A PLY file
 * has properties u, v of the vertices, so `corner` must be the mesh's triangles. */
int mesh_file_write_textured(const char *path, const mesh *m, const mesh_texture *texture,
                             char message[MESH_MESSAGE]);
/* A number in single precision as an OBJ file stores it, with nine digits. */
double mesh_file_single(double number);
int mesh_file_can_write_textured(const char *path, char message[MESH_MESSAGE]);

/* Checks the extension. Returns 0, or 1 with the extensions that can be written in `message`. */
int mesh_file_can_write(const char *path, char message[MESH_MESSAGE]);

#ifdef __cplusplus
}
#endif
#endif
