/* Discrete smooth interpolation (J.-L. Mallet: Discrete smooth interpolation in geometric modelling,
 * Computer-Aided Design 24, 1992) of the vertices of a mesh, by least squares with the system builder. It
 * minimizes
 *
 *   sum_i |sum_j w_ij p_j - p_i|^2  +  sum_i f_i |p_i - t_i|^2
 *
 * The first sum is the roughness. w_ij are weights of the neighbours of vertex i and add up to 1. In the second
 * sum t_i is a soft control point and f_i its weight. For other vertices t_i is the start and f_i is `fit`.
 * Fixed control points are not unknowns. x, y and z are three components of one matrix.
 *
 * Functions return 0, or 1 with one line in `message`. */
#ifndef DSI_H
#define DSI_H

#include <texsolve/system.h>

#include "mesh.h"

/* ---- dsi_controls.c: control points ---- */

typedef struct dsi_control {
  int32_t vertex;  /* counted from 0, in the mesh's order */
  double place[3]; /* in the file's units */
  double weight;   /* of the squared distance; DSI_FIXED: the vertex is exactly there */
} dsi_control;

#define DSI_FIXED ((double)INFINITY)

typedef struct dsi_controls {
  dsi_control *points;
  int count, room;
} dsi_controls;

void dsi_controls_free(dsi_controls *list); /* leaves an empty list */
/* index of the vertex's control point; -1: none */
int dsi_controls_find(const dsi_controls *list, int32_t vertex);
/* Refuses a vertex that does not exist or already has a control point, and invalid numbers. */
int dsi_controls_add(dsi_controls *list, const mesh *m, const dsi_control *point, char message[MESH_MESSAGE]);
void dsi_controls_remove(dsi_controls *list, int index);
int dsi_controls_copy(const dsi_controls *from, dsi_controls *to, char message[MESH_MESSAGE]);

/* Adds the control points of a file, one per line: "vertex x y z" or "vertex x y z fixed" for a fixed one,
 * "vertex x y z weight" for a soft one. Empty lines and comments after # are ignored. */
int dsi_controls_read(dsi_controls *list, const char *path, const mesh *m, char message[MESH_MESSAGE]);
/* Fixes vertices at their positions in the mesh. The list is text such as "3,17,20". */
int dsi_controls_fix(dsi_controls *list, const char *vertices, const mesh *m, char message[MESH_MESSAGE]);

/* ---- dsi.c ---- */

typedef enum dsi_weights {
  DSI_UNIFORM,  /* 1 / number of neighbours */
  DSI_COTANGENT /* cotangents at the start; these preserve distances along the surface */
} dsi_weights;

typedef struct dsi_options {
  dsi_weights weights;
  double fit;        /* weight that holds vertices without a control point at the start; 0: none */
  int free_boundary; /* otherwise boundary vertices are fixed */
  ts_format format;
  /* x, y, z and an idle fourth number become separate unknowns, for 4 x 4 blocks; for comparison */
  int blocks;
} dsi_options;

typedef struct dsi dsi;

/* Borrows a mesh at its start, and its measures. Held vertices, vertices without triangles and, unless they are
 * free, boundary vertices keep their positions. A control point overrides this. */
int dsi_create(ts_context *context, const mesh *m, const mesh_measures *measures, const dsi_options *options,
               dsi **out, char message[MESH_MESSAGE]);
void dsi_destroy(dsi **out);
/* Call before dsi_set_controls. */
int dsi_set_options(dsi *d, const dsi_options *options, char message[MESH_MESSAGE]);

/* Sets the control points. Call it before the first solve too. It is fast if only their places have changed.
 * Refuses control points that leave a part of the mesh without a given position. */
int dsi_set_controls(dsi *d, const dsi_controls *controls, char message[MESH_MESSAGE]);

/* Continues from the last solve; the first solve begins at the start. Unknowns are displacements from the start
 * in units of the box's diagonal, so that single precision applies to the displacements. A solve that does not
 * converge is not an error; `status` reports it. */
int dsi_solve(dsi *d, const ts_system_solve_desc *how, ts_system_result *result, ts_status *status,
              char message[MESH_MESSAGE]);

/* The solved positions in unit coordinates (mesh_to_unit), on the host or on the device. The device vector is
 * valid until the next call that solves or sets anything. */
int dsi_get_positions(dsi *d, float *unit, char message[MESH_MESSAGE]);
int dsi_show(dsi *d, ts_vector **positions, char message[MESH_MESSAGE]);

/* Size of the matrix of the last solve. */
void dsi_matrix_size(const dsi *d, size_t *bytes_device, int64_t *nonzeros);

/* The root mean square of the first sum's terms for unit positions, relative to the diagonal. */
double dsi_roughness(const dsi *d, const float *unit);

/* ---- dsi_rows.c: the conditions of the roughness. Internal ---- */

/* Vertex v should be at the sum of weights[k] x neighbours[k] for k from offsets[v] to offsets[v + 1] - 1; the
 * weights add up to 1. Vertices without neighbours have no condition. */
typedef struct dsi_rows {
  int32_t *offsets, *neighbours;
  double *weights;
  unsigned char *boundary; /* 1 for boundary vertices */
} dsi_rows;

int dsi_rows_create(const mesh *m, dsi_weights kind, dsi_rows *rows, char message[MESH_MESSAGE]);
void dsi_rows_free(dsi_rows *rows);

#endif
