/* A triangle mesh on the host, as the mesh programs share it: what a file holds, what was repaired, how large
 * it is. All functions return 0, or 1 with one line in `message`. */
#ifndef MESH_H
#define MESH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MESH_MESSAGE = 320 };

typedef struct mesh {
  int32_t vertex_count, triangle_count;
  double *positions;   /* 3 a vertex, in the file's units, from `origin` */
  int32_t *triangles;  /* 3 a triangle */
  unsigned char *held; /* flags of vertices that must not move; NULL: none (mesh_repair sets them) */
  double origin[3];    /* 0 unless the file's coordinates are large compared with the mesh (mesh_file.h) */
} mesh;

/* Writes the line, which must not depend on what `message` holds now; returns 1. */
int mesh_fail(char message[MESH_MESSAGE], const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* A mesh of this size, all 0. */
int mesh_create(int32_t vertices, int32_t triangles, mesh *m, char message[MESH_MESSAGE]);
void mesh_destroy(mesh *m); /* leaves an empty one; NULL is fine */

typedef struct mesh_measures {
  double low[3], high[3], diagonal; /* of the bounding box of the vertices that triangles use */
  double area, volume;              /* volume: signed, about the box's centre; meaningful where closed */
  int32_t boundary_edges;           /* edges with one triangle */
  int32_t boundary_loops;           /* those that touch at a vertex count each */
  int32_t components;               /* of triangles connected by edges */
  int32_t unreferenced;             /* vertices without triangles */
  int closed;                       /* no boundary edge */
} mesh_measures;

int mesh_measure(const mesh *m, mesh_measures *measures, char message[MESH_MESSAGE]);

/* Area and volume (about `centre`) alone, of positions that are not the mesh's own: `stride` floats a vertex.
 */
void mesh_area_volume(const mesh *m, const float *positions, int stride, const double centre[3], double *area,
                      double *volume);

/* For the device: positions moved to the centre of the box and divided by its diagonal, 3 floats a vertex. And
 * back: the original plus what the vertex has moved, so that a vertex that has not moved keeps its digits. */
void mesh_to_unit(const mesh *m, const mesh_measures *measures, float *unit);
void mesh_from_unit(const mesh *m, const mesh_measures *measures, const float *unit_start, const float *unit,
                    double *positions);

#ifdef __cplusplus
}
#endif
#endif
