/* A mesh made ready for a program: read or generated, repaired, with noise. */
#ifndef MESH_LOAD_H
#define MESH_LOAD_H

#include "mesh.h"
#include "mesh_file.h"
#include "mesh_repair.h"
#include "options.h"
#include "reports.h"

typedef struct load_options {
  const char *path;     /* a file; or NULL and ... */
  const char *generate; /* ... what mesh_generate makes, such as "scan:37000" */
  int keep_duplicates;
  double noise; /* standard deviation in parts of the box's diagonal; 0: none */
  int seed;
} load_options;

typedef struct load_report {
  char name[MESH_MESSAGE]; /* what was loaded: the path, or what was generated */
  int32_t file_vertices, file_triangles;
  mesh_file_report file; /* all 0 for a generated mesh */
  mesh_repair_report repair;
  double seconds; /* that it took */
} load_report;

/* The options of a program whose `load` these are; `shapes` lists what mesh_generate makes. */
#define OPTIONS_MESH(shapes)                                                                                   \
  OPTION_INPUT("mesh", load.path),                                                                             \
      OPTION_TEXT("generate", "WHAT", load.generate,                                                           \
                  "instead of a file: " shapes ", with :N for about N vertices (default: 10000)"),             \
      OPTION_NUMBER("noise", "AMOUNT", load.noise, 0, 1,                                                       \
                    "a number from 0 to 1, in parts of the bounding box's diagonal",                           \
                    "move vertices along their normals, by AMOUNT of the bounding box's diagonal (standard "   \
                    "deviation)"),                                                                             \
      OPTION_WHOLE("seed", "N", load.seed, 0, 2147483647, "seed of the random noise (default: 1)"),            \
      OPTION_FLAG("keep-duplicates", load.keep_duplicates, "do not merge vertices at the same place")

/* After they are read: one mesh, which is `otherwise` where none is given; NULL: that is an error. */
void load_resolve(load_options *o, const char *program, const char *otherwise);

/* Returns 0, or 1 with one line in `message`, which names the file. `vertex_of_original` as in mesh_repair. */
int load_mesh(const load_options *options, mesh *m, int32_t **vertex_of_original, load_report *report,
              char message[MESH_MESSAGE]);

/* Everything that was changed, a line each, such as "3 polygons were cut into triangles"; the last one says
 * that a written mesh has fewer vertices than the file, where that is so. */
void load_describe(const load_report *report, const mesh_repair_words *words,
                   void (*print)(const char *line, void *user), void *user);

/* What was repaired, for a report. */
json_t *load_repairs(const load_report *report);
/* The same as notes on standard error. */
void load_note(const load_report *report, const mesh_repair_words *words);

#endif
