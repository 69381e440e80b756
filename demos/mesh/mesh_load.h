/* Prepares a mesh for a program: reads or generates it, repairs it, and adds noise. */
#ifndef MESH_LOAD_H
#define MESH_LOAD_H

#include "mesh.h"
#include "mesh_file.h"
#include "mesh_repair.h"
#include "options.h"
#include "reports.h"

typedef struct load_options {
  const char *path;     /* a file; NULL: generated */
  const char *generate; /* a shape for mesh_generate, such as "scan:37000"; NULL: from a file */
  int keep_duplicates;
  double noise; /* standard deviation relative to the box's diagonal; 0: none */
  int seed;
} load_options;

typedef struct load_report {
  char name[MESH_MESSAGE]; /* the path, or a description of the generated mesh */
  int32_t file_vertices, file_triangles;
  mesh_file_report file; /* zeros for a generated mesh */
  mesh_repair_report repair;
  double seconds; /* duration */
} load_report;

/* Options for the member `load` of a program_options. `shapes` lists the shapes of mesh_generate. */
#define OPTIONS_MESH(shapes)                                                                                   \
  OPTION_INPUT("mesh", load.path),                                                                             \
      OPTION_TEXT("generate", "WHAT", load.generate,                                                           \
                  "instead of a file: " shapes ", with :N for about N vertices (default: 10000)"),             \
      OPTION_NUMBER("noise", "AMOUNT", load.noise, 0, 1,                                                       \
                    "a number from 0 to 1, relative to the bounding box's diagonal",                           \
                    "move vertices along their normals, by AMOUNT of the bounding box's diagonal (standard "   \
                    "deviation)"),                                                                             \
      OPTION_WHOLE("seed", "N", load.seed, 0, 2147483647, "seed of the random noise (default: 1)"),            \
      OPTION_FLAG("keep-duplicates", load.keep_duplicates, "do not merge vertices at the same position")

/* Checks the options after they are read. If no mesh is given, `otherwise` is generated; NULL: that is an
 * error. */
void load_resolve(load_options *o, const char *program, const char *otherwise);

/* Returns 0, or 1 with one line in `message`, which names the file. `vertex_of_original` is as in
 * mesh_repair. */
int load_mesh(const load_options *options, mesh *m, int32_t **vertex_of_original, load_report *report,
              char message[MESH_MESSAGE]);

/* Describes all changes, one per line, such as "3 polygons were cut into triangles". If a written mesh has
 * fewer vertices than the file, the last line reports it. */
void load_describe(const load_report *report, const mesh_repair_words *words,
                   void (*print)(const char *line, void *user), void *user);

/* The repairs, for a JSON report. */
json_t *load_repairs(const load_report *report);
/* Prints the description as notes on standard error. */
void load_note(const load_report *report, const mesh_repair_words *words);

#endif
