/* Makes a mesh fit for computing on it, and tells everything that it did. Vertices and triangles in the report
 * are counted from 0, as they were before the repair. */
#ifndef MESH_REPAIR_H
#define MESH_REPAIR_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mesh_repair_options {
  int keep_duplicates; /* do not merge vertices at the same place; default: merge */
} mesh_repair_options;

typedef struct mesh_repair_report {
  int32_t merged_vertices;   /* at exactly the place of another one, which took their triangles */
  int32_t first_merged[2];   /* the first such pair: the one that stayed, the other */
  int32_t dropped_triangles; /* with a vertex twice (after merging), or the same three as another one */
  int32_t first_dropped;
  int32_t slivers; /* triangles below the floor that programs give angles: |u x v| < 1e-3 (sum of squared
                      edges); kept */
  int32_t first_sliver;
  int32_t flipped_triangles; /* so that neighbours agree in orientation */
  int32_t first_flipped[2];  /* the first edge that two triangles passed in one direction */
  int32_t nonmanifold_edges; /* with more than two triangles: their vertices are held */
  int32_t first_nonmanifold[2];
  int32_t unorientable_edges; /* two triangles still disagree (a Moebius strip): their vertices are held */
  int32_t first_unorientable[2];
  int32_t held_vertices;
} mesh_repair_report;

/* Merges, drops, turns and holds. A component is turned where that turns the fewer triangles. Vertices that no
 * triangle uses are left alone. On failure the mesh is good for mesh_destroy only. Merged vertices disappear,
 * and `vertex_of_original` (malloced, the caller's; may be NULL) tells for each vertex of before which one it
 * is now. With nothing to merge, order and count stay. */
int mesh_repair(mesh *m, const mesh_repair_options *options, mesh_repair_report *report,
                int32_t **vertex_of_original, char message[MESH_MESSAGE]);

/* What a program does about faults that a repair leaves, which ends a line about them. */
typedef struct mesh_repair_words {
  const char *thin;     /* after "3 triangles are so thin", such as "that the flow bounds the angles" */
  const char *odd_edge; /* of edges with more than two triangles, such as "their vertices are held fixed" */
} mesh_repair_words;

/* One line for each kind of repair that happened, such as "2 edges have more than two triangles (the first:
 * vertices 4 and 9); their vertices are held fixed". Calls `print` for each. */
void mesh_repair_describe(const mesh_repair_report *report, const mesh_repair_words *words,
                          void (*print)(const char *line, void *user), void *user);
/* Prints a line of them. */
void mesh_repair_tell(void (*print)(const char *line, void *user), void *user, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif
#endif
