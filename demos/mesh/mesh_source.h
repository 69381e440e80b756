/* The bytes of a mesh file, made ready for OpenMesh's readers: what these take for granted is checked here, and
 * what they stumble over is blanked out. Internal to mesh_file. */
#ifndef MESH_SOURCE_H
#define MESH_SOURCE_H

#include <stddef.h>

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mesh_format { MESH_OBJ, MESH_PLY, MESH_OFF, MESH_STL, MESH_FORMATS } mesh_format;

/* From the ending of the name; MESH_FORMATS where it is none of them. */
mesh_format mesh_format_of(const char *path);
extern const char *const mesh_format_endings[MESH_FORMATS]; /* without the dot */

typedef struct mesh_source {
  mesh_format format;
  int binary; /* STL only: the reader has to be told */
  char *bytes;
  size_t size;
  /* What an OBJ or STL file holds; -1 where the reader itself knows how many there must be. */
  int64_t vertices, faces;
} mesh_source;

/* Reads the whole file and checks how it begins and whether it is complete, as far as its format tells. */
int mesh_source_open(const char *path, mesh_source *source, char message[MESH_MESSAGE]);
void mesh_source_close(mesh_source *source);

/* The path for a message, only its end where it is so long that there would be no room for the reason. */
const char *mesh_source_name(const char *path);

#ifdef __cplusplus
}
#endif
#endif
