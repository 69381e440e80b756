/* A triangle mesh in host memory, for all mesh programs: vertices, triangles, the vertices to hold, and
 * measures. Functions return 0, or 1 with one line in `message`. */
#ifndef MESH_H
#define MESH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MESH_MESSAGE = 320 };

typedef struct mesh {
  int32_t vertex_count, triangle_count;
  double *positions;   /* 3 per vertex, in the file's units, relative to `origin` */
  int32_t *triangles;  /* 3 per triangle */
  unsigned char *held; /* flags of vertices that must not move; NULL: none (set by mesh_repair) */
  double origin[3];    /* 0 unless the coordinates are large compared with the mesh (mesh_file.h) */
} mesh;

/* Writes a line to `message`, and returns 1. The arguments must not depend on the old contents of `message`. */
int mesh_fail(char message[MESH_MESSAGE], const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Creates a mesh of this size, filled with zeros. */
int mesh_create(int32_t vertices, int32_t triangles, mesh *m, char message[MESH_MESSAGE]);
void mesh_destroy(mesh *m); /* leaves an empty mesh; NULL is allowed */

typedef struct mesh_measures {
  double low[3], high[3], diagonal; /* of the bounding box of the vertices that have triangles */
  double area, volume;    /* volume is signed, about the box's centre; meaningful if the mesh is closed */
  int32_t boundary_edges; /* edges with one triangle */
  int32_t boundary_loops; /* loops that touch at a vertex count separately */
  int32_t components;     /* sets of triangles connected by edges */
  int32_t unreferenced;   /* vertices without triangles */
  int closed;             /* no boundary edges */
} mesh_measures;

int mesh_measure(const mesh *m, mesh_measures *measures, char message[MESH_MESSAGE]);

/* Area and volume (about `centre`) for other positions of the mesh's vertices, with `stride` floats per
 * vertex. */
void mesh_area_volume(const mesh *m, const float *positions, int stride, const double centre[3], double *area,
                      double *volume);

/* Converts to the device's unit coordinates: positions relative to the box's centre, divided by its diagonal, 3
 * floats per vertex. mesh_from_unit adds the displacements to the original positions, so that unmoved vertices
 * keep all digits. */
void mesh_to_unit(const mesh *m, const mesh_measures *measures, float *unit);
void mesh_from_unit(const mesh *m, const mesh_measures *measures, const float *unit_start, const float *unit,
                    double *positions);

#ifdef __cplusplus
}
#endif
#endif
