/* Discrete smooth interpolation (J.-L. Mallet: Discrete smooth interpolation in geometric modelling,
 * Computer-Aided Design 24, 1992) of the vertices of a mesh, by least squares on the system builder:
 *
 *   sum_i |sum_j w_ij p_j - p_i|^2  +  sum_i f_i |p_i - t_i|^2    is made as small as can be
 *
 * The first sum is the roughness: w_ij are weights of the neighbours of vertex i that add up to 1. In the
 * second one f_i is the weight of a soft control point at t_i, or for all other vertices `fit`, with their
 * place at the start. Fixed control points are no unknowns. x, y and z are three components of one matrix.
 *
 * Functions return 0, or 1 with one line in `message`. */
#ifndef DSI_H
#define DSI_H

#include <texsolve/system.h>

#include "mesh.h"

/* ---- dsi_controls.c: vertices that are to be somewhere ---- */

typedef struct dsi_control {
  int32_t vertex;  /* from 0, in the order of the mesh */
  double place[3]; /* in the file's units */
  double weight;   /* of its distance's square; DSI_FIXED: it stands there exactly */
} dsi_control;

#define DSI_FIXED ((double)INFINITY)

typedef struct dsi_controls {
  dsi_control *points;
  int count, room;
} dsi_controls;

void dsi_controls_free(dsi_controls *list);                      /* leaves an empty one */
int dsi_controls_find(const dsi_controls *list, int32_t vertex); /* its index, -1: none */
/* Refuses a vertex that the mesh lacks or that has a control point already, and numbers that are none. */
int dsi_controls_add(dsi_controls *list, const mesh *m, const dsi_control *point, char message[MESH_MESSAGE]);
void dsi_controls_remove(dsi_controls *list, int index);
int dsi_controls_copy(const dsi_controls *from, dsi_controls *to, char message[MESH_MESSAGE]);

/* Adds what a file says, a control point a line: "vertex x y z", which is fixed, "vertex x y z fixed", or
 * "vertex x y z weight". Empty lines, and what follows a #, do not count. */
int dsi_controls_read(dsi_controls *list, const char *path, const mesh *m, char message[MESH_MESSAGE]);
/* Adds vertices that stay where the mesh has them: "3,17,20". */
int dsi_controls_fix(dsi_controls *list, const char *vertices, const mesh *m, char message[MESH_MESSAGE]);

/* ---- dsi.c ---- */

typedef enum dsi_weights {
  DSI_UNIFORM,  /* one over the number of neighbours */
  DSI_COTANGENT /* the cotangents at the start: vertices keep their distances along the surface */
} dsi_weights;

typedef struct dsi_options {
  dsi_weights weights;
  double fit;        /* of vertices without a control point, for their place at the start; 0: none */
  int free_boundary; /* else boundary vertices stay */
  ts_format format;
  int blocks; /* x, y, z and an idle fourth number as unknowns of their own, for blocks of 4 x 4: to compare */
} dsi_options;

typedef struct dsi dsi;

/* For a mesh at its start, borrowed, and what was measured of it. Held vertices, those without triangles, and
 * boundary vertices unless they are free stay where they are, unless they are given a control point. */
int dsi_create(ts_context *context, const mesh *m, const mesh_measures *measures, const dsi_options *options,
               dsi **out, char message[MESH_MESSAGE]);
void dsi_destroy(dsi **out);
/* Before dsi_set_controls. */
int dsi_set_options(dsi *d, const dsi_options *options, char message[MESH_MESSAGE]);

/* The control points from now on, before the first solve too. It is quick where they only stand at other places
 * than before. Refuses what nothing holds. */
int dsi_set_controls(dsi *d, const dsi_controls *controls, char message[MESH_MESSAGE]);

/* From where the last one has ended; the first one begins at the start. Unknowns are displacements from the
 * start, in units of the box's diagonal, so that single precision is that of the displacements. A solve that
 * does not converge is no failure; `status` says so. */
int dsi_solve(dsi *d, const ts_system_solve_desc *how, ts_system_result *result, ts_status *status,
              char message[MESH_MESSAGE]);

/* Where the solution has the vertices, as mesh_to_unit has them: on the host, and on the device, borrowed until
 * the next call that solves or sets anything. */
int dsi_get_positions(dsi *d, float *unit, char message[MESH_MESSAGE]);
int dsi_show(dsi *d, ts_vector **positions, char message[MESH_MESSAGE]);

/* Of the matrix that was solved. */
void dsi_matrix_size(const dsi *d, size_t *bytes_device, int64_t *nonzeros);

/* Of positions in those units: the root of the mean of the first sum's terms, in parts of the diagonal. */
double dsi_roughness(const dsi *d, const float *unit);

/* ---- dsi_rows.c: how a vertex is to lie among its neighbours. Internal ---- */

/* Vertex v is to be at sum weights[k] x neighbours[k] for k from offsets[v] to offsets[v + 1]; the weights add
 * up to 1. A vertex without neighbours has no condition. */
typedef struct dsi_rows {
  int32_t *offsets, *neighbours;
  double *weights;
  unsigned char *boundary; /* 1 for boundary vertices */
} dsi_rows;

int dsi_rows_create(const mesh *m, dsi_weights kind, dsi_rows *rows, char message[MESH_MESSAGE]);
void dsi_rows_free(dsi_rows *rows);

#endif
