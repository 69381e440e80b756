/* A mesh divided into charts for flattening. A chart is a set of triangles connected by edges. It has its own
 * vertices, called flat vertices. A vertex of the mesh has several flat vertices if charts, or the two sides of
 * a cut, meet there. Functions return 0, or 1 with one line in `message`. */
#ifndef CHARTS_H
#define CHARTS_H

#include "mesh_edges.h"

typedef struct chart {
  int32_t first_vertex, vertices;    /* flat vertices, with consecutive numbers */
  int32_t first_triangle, triangles; /* in charts.order */
  int32_t boundary_edges, loops;
  int32_t genus; /* number of handles; 0: a disk with holes, or a sphere if loops is 0 */
} chart;

typedef struct charts {
  int32_t count, vertices; /* number of charts, and of all flat vertices */
  struct chart *chart;
  int32_t *corner;         /* the flat vertex of each corner, three per triangle */
  int32_t *vertex;         /* the mesh's vertex of each flat vertex */
  int32_t *order;          /* triangles, grouped by chart, otherwise in the mesh's order */
  int32_t *chart_of;       /* the chart of each triangle */
  unsigned char *boundary; /* flag for each flat vertex on the boundary */
} charts;

/* Returns 1 if the surface continues across an edge: the edge has exactly two triangles, with consistent
 * orientation. */
int charts_edge_joins(const mesh *m, const mesh_edges *edges, int32_t e);

/* `cut` has a flag for each edge to open, and may be NULL. Vertices without triangles are in no chart. */
int charts_find(const mesh *m, const mesh_edges *edges, const unsigned char *cut, charts *c,
                char message[MESH_MESSAGE]);
void charts_free(charts *c);

/* ---- cut.cpp ----
 * Cuts parts that cannot be flattened: closed parts, and parts with handles. */

typedef struct cut_report {
  int32_t closed;  /* number of closed parts that were cut */
  int32_t handles; /* of all parts that were cut */
  int32_t edges;   /* number of edges along the cuts */
} cut_report;

/* Finds charts that are disks, with or without holes. A closed part without handles is cut along a shortest
 * path between two distant vertices. A part with handles is cut along two loops per handle. The loops share a
 * vertex and follow a tree of shortest paths from it (Erickson and Whittlesey: Greedy optimal homotopy and
 * homology generators, SODA 2005). With `may_cut` 0 such parts are an error: the message names the part and a
 * remedy. Returns 0, or 1 with the message. */
int cut_into_disks(const mesh *m, int may_cut, charts *c, cut_report *report, char message[MESH_MESSAGE]);

/* ---- start.cpp ----
 * The solver's initial guess, and the vertices that are pinned by default. */

typedef enum start_method {
  START_LEVELS, /* solve on coarser meshes first (levels_solve); the coarsest starts with START_DISTANCES */
  /* positions in the plane that reproduce distances along the mesh to a few landmarks (de Silva and Tenenbaum:
   * Sparse multidimensional scaling using landmark points, 2004) */
  START_DISTANCES,
  START_PLANE, /* projection to the best-fitting plane */
  START_METHODS
} start_method;

/* Computes u, v of every flat vertex, and two pins per chart: boundary vertices that are far apart along the
 * mesh. The middle of a chart's pins is the origin. Each chart has a positive orientation, and the scale at
 * which its area on the mesh is 1. Returns 0, or 1 with one line in `message`. */
int start_find(const mesh *m, const charts *c, start_method method, double *uv, int32_t *pins,
               char message[MESH_MESSAGE]);

/* ---- similarity.c ----
 * Similarity transforms of the plane: rotation, scaling and translation, without reflection. */

typedef struct similarity {
  double a, b, move[2]; /* (u, v) becomes (a u - b v, b u + a v) + move */
} similarity;

/* The least-squares fit of `count` points `from` to the points `to`, two numbers each. If there is one point,
 * or all are equal, it is a translation. */
similarity similarity_fit(const double *from, const double *to, int32_t count);
/* The composition: `first`, then `second`. */
similarity similarity_then(const similarity *first, const similarity *second);
/* `s` must not map everything to a point. */
similarity similarity_inverse(const similarity *s);
/* Transforms `count` points in place. */
void similarity_apply(const similarity *s, double *uv, int32_t count);

/* The coordinates in which a chart is solved: the middle of its pinned vertices is 0, and the farthest of them
 * is at distance 1. Residuals are then comparable, regardless of the pins' positions and the size of the UV
 * map. Returns the transform from these coordinates to those of `uv`. */
similarity similarity_of_pins(const chart *at, const unsigned char *pinned, const double *uv);

/* ---- pack.cpp ----
 * Packs charts into the unit square. Each chart is scaled to its area on the mesh and rotated to its smallest
 * bounding box. Boxes are placed on shelves in order of height, each on the first shelf with room. */

typedef struct pack_box {
  double low[2], high[2]; /* of a chart, in the unit square */
} pack_box;

typedef struct pack_report {
  double fill;  /* fraction of the square that triangles cover */
  double scale; /* length in the square / length on the mesh */
} pack_report;

/* Replaces the solved `uv` of all flat vertices. Leaves `gap`, relative to the side, between boxes and around
 * them. `boxes` has one box per chart, and may be NULL. Returns 0, or 1 with one line in `message`. */
int pack_charts(const mesh *m, const charts *c, double gap, double *uv, pack_box *boxes, pack_report *report,
                char message[MESH_MESSAGE]);

/* ---- distortion.c ----
 * Distortion of a UV map. s1 >= s2 are the singular values of the map from a triangle to the plane. */

typedef struct distortion {
  /* for each triangle: s1 / s2; 1 if angles are preserved, INFINITY if the UV map's triangle is degenerate */
  float *angle;
  /* for each triangle: area in the UV map / area on the mesh, relative to that ratio of the whole chart;
   * negative if flipped, 0 if either triangle is degenerate */
  float *area;
  double angle_mean, angle_max; /* mean weighted by area on the mesh; both without degenerate triangles */
  double area_mean, area_least,
      area_most;         /* mean of max(a, 1 / a), weighted by area; the extremes without flipped triangles */
  int32_t flipped;       /* number of triangles flipped in the UV map */
  int32_t first_flipped; /* -1: none */
  int32_t collapsed;     /* number of triangles that are degenerate only in the UV map */
} distortion;

/* `uv` has all flat vertices. Returns 0, or 1 with one line in `message`. */
int distortion_find(const mesh *m, const charts *c, const double *uv, distortion *d,
                    char message[MESH_MESSAGE]);
void distortion_free(distortion *d);

#endif
