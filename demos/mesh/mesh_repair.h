/* Repairs a mesh for computations and reports every change. Vertices and triangles in the report are counted
 * from 0, in the order before the repair. */
#ifndef MESH_REPAIR_H
#define MESH_REPAIR_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mesh_repair_options {
  int keep_duplicates; /* do not merge vertices at the same position; default: merge */
} mesh_repair_options;

typedef struct mesh_repair_report {
  int32_t merged_vertices; /* vertices merged with another one at exactly the same position */
  int32_t first_merged[2]; /* the first pair: the vertex that remains, the other one */
  /* with a repeated vertex (after merging), or the same three vertices as another triangle */
  int32_t dropped_triangles;
  int32_t first_dropped;
  /* triangles below the limit at which programs bound angles: |u x v| < 1e-3 (sum of squared edges); kept */
  int32_t slivers;
  int32_t first_sliver;
  int32_t flipped_triangles; /* reversed, to agree with their neighbours */
  int32_t first_flipped[2];  /* the first edge that two triangles had in the same direction */
  int32_t nonmanifold_edges; /* with more than two triangles; their vertices are held */
  int32_t first_nonmanifold[2];
  /* with two triangles that still disagree (a Moebius strip); their vertices are held */
  int32_t unorientable_edges;
  int32_t first_unorientable[2];
  int32_t held_vertices;
} mesh_repair_report;

/* Merges vertices, drops and reverses triangles, and holds vertices. In a component the orientation of the
 * majority wins. Vertices without triangles are not changed. On failure the mesh can only be destroyed. Merged
 * vertices disappear. `vertex_of_original` may be NULL. Otherwise it returns an array, which the caller frees,
 * with the new index of each old vertex. If nothing is merged, order and number of vertices do not change. */
int mesh_repair(mesh *m, const mesh_repair_options *options, mesh_repair_report *report,
                int32_t **vertex_of_original, char message[MESH_MESSAGE]);

/* How a program handles defects that a repair leaves. The texts end a line of the description. */
typedef struct mesh_repair_words {
  const char *thin;     /* follows "3 triangles are so thin", such as "that the flow bounds the angles" */
  const char *odd_edge; /* for edges with more than two triangles, such as "their vertices are held fixed" */
} mesh_repair_words;

/* Calls `print` with one line for each kind of change, such as "2 edges have more than two triangles (the
 * first: vertices 4 and 9); their vertices are held fixed". */
void mesh_repair_describe(const mesh_repair_report *report, const mesh_repair_words *words,
                          void (*print)(const char *line, void *user), void *user);
/* Formats and prints one line. */
void mesh_repair_tell(void (*print)(const char *line, void *user), void *user, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif
#endif
