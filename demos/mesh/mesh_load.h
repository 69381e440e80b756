/* A mesh made ready for a program: read or generated, repaired, with noise. */
#ifndef MESH_LOAD_H
#define MESH_LOAD_H

#include "mesh.h"
#include "mesh_file.h"
#include "mesh_repair.h"

typedef struct load_options {
  const char *path;     /* a file; or NULL and ... */
  const char *generate; /* ... what mesh_generate makes, such as "scan:37000" */
  int keep_duplicates;
  double noise; /* standard deviation in parts of the box's diagonal; 0: none */
  uint64_t seed;
} load_options;

typedef struct load_report {
  char name[MESH_MESSAGE]; /* what was loaded: the path, or what was generated */
  int32_t file_vertices, file_triangles;
  mesh_file_report file; /* all 0 for a generated mesh */
  mesh_repair_report repair;
  double seconds; /* that it took */
} load_report;

/* Returns 0, or 1 with one line in `message`, which names the file. `vertex_of_original` as in mesh_repair. */
int load_mesh(const load_options *options, mesh *m, int32_t **vertex_of_original, load_report *report,
              char message[MESH_MESSAGE]);

/* Everything that was changed, a line each, such as "3 polygons were cut into triangles"; the last one says
 * that a written mesh has fewer vertices than the file, where that is so. */
void load_describe(const load_report *report, const mesh_repair_words *words,
                   void (*print)(const char *line, void *user), void *user);

#endif
