/* A mesh taken apart for flattening: charts are parts whose triangles hang together by edges, and every chart
 * has vertices of its own, the flat ones. A vertex of the mesh where charts or the two sides of a cut meet has
 * several. Functions return 0, or 1 with one line in `message`. */
#ifndef CHARTS_H
#define CHARTS_H

#include "mesh_edges.h"

typedef struct chart {
  int32_t first_vertex, vertices;    /* flat ones, numbered one after the other */
  int32_t first_triangle, triangles; /* in charts.order */
  int32_t boundary_edges, loops;
  int32_t genus; /* handles; 0: a disk with holes, or a sphere where there are no loops */
} chart;

typedef struct charts {
  int32_t count, vertices; /* charts, and flat vertices of all of them */
  struct chart *chart;
  int32_t *corner;         /* 3 a triangle: the flat vertex there */
  int32_t *vertex;         /* the mesh's vertex of a flat vertex */
  int32_t *order;          /* triangles, those of a chart together, else as in the mesh */
  int32_t *chart_of;       /* of a triangle */
  unsigned char *boundary; /* of a flat vertex: whether it lies on the boundary */
} charts;

/* Whether the surface goes on across an edge: it has two triangles, which agree in orientation. */
int charts_edge_joins(const mesh *m, const mesh_edges *edges, int32_t e);

/* `cut`: a flag for each edge that is open even so; may be NULL. Vertices that no triangle uses are in no
 * chart. */
int charts_find(const mesh *m, const mesh_edges *edges, const unsigned char *cut, charts *c,
                char message[MESH_MESSAGE]);
void charts_free(charts *c);

/* ---- cut.cpp ----
 * Opens what cannot be flattened as it is: closed parts, and parts with handles. */

typedef struct cut_report {
  int32_t closed;  /* parts without a boundary that were cut */
  int32_t handles; /* of all parts that were cut */
  int32_t edges;   /* that the cuts run along */
} cut_report;

/* Charts that are disks with or without holes. A closed part without handles is opened along a shortest path
 * between two vertices far apart; one with handles along loops through one vertex, two a handle, as short as a
 * tree of shortest paths from there has them (Erickson and Whittlesey: Greedy optimal homotopy and homology
 * generators, SODA 2005). With `may_cut` 0 such a part is refused: the message says which and what would help.
 * Returns 0, or 1 with the message. */
int cut_into_disks(const mesh *m, int may_cut, charts *c, cut_report *report, char message[MESH_MESSAGE]);

/* ---- start.cpp ----
 * Where the solver starts from, and which vertices are pinned where nobody has said so. */

typedef enum start_method {
  START_LEVELS,    /* coarser meshes first (levels_solve), the coarsest of which starts as the next one does */
  START_DISTANCES, /* places in the plane whose distances are those along the mesh, of a few landmarks (de Silva
                      and Tenenbaum: Sparse multidimensional scaling using landmark points, 2004) */
  START_PLANE,     /* the projection to the plane that fits best */
  START_METHODS
} start_method;

/* u, v of every flat vertex, and two vertices of each chart's boundary that are far apart along the mesh. Every
 * chart is about the origin, the right way round, and scaled to the area 1. Returns 0, or 1 with one line in
 * `message`. */
int start_find(const mesh *m, const charts *c, start_method method, double *uv, int32_t *pins,
               char message[MESH_MESSAGE]);

/* ---- similarity.c ----
 * Similarities of the plane: turned, scaled and moved, not turned over. */

typedef struct similarity {
  double a, b, move[2]; /* (u, v) becomes (a u - b v, b u + a v) + move */
} similarity;

/* What brings places nearest to others, by least squares: `count` of them, two numbers each. One place, or
 * places that are all the same, only move. */
similarity similarity_fit(const double *from, const double *to, int32_t count);
/* First `first`, then `second`. */
similarity similarity_then(const similarity *first, const similarity *second);
/* Of one that does not shrink everything to a point. */
similarity similarity_inverse(const similarity *s);
/* To `count` places. */
void similarity_apply(const similarity *s, double *uv, int32_t count);

/* The coordinates in which a chart is solved for: the middle of its pinned vertices is 0, and the farthest of
 * them is 1 away. There a residual means the same wherever pins are and however large the UV map is. Returns
 * what brings these coordinates back to those of `uv`. */
similarity similarity_of_pins(const chart *at, const unsigned char *pinned, const double *uv);

/* ---- pack.cpp ----
 * Charts side by side in the unit square: each scaled to its area on the mesh, turned to its smallest box, and
 * the boxes put on shelves, the highest first, each on the first shelf with room. */

typedef struct pack_box {
  double low[2], high[2]; /* of a chart in the unit square */
} pack_box;

typedef struct pack_report {
  double fill;  /* the share of the square that triangles cover */
  double scale; /* lengths in the square over lengths on the mesh */
} pack_report;

/* `uv`: of every flat vertex, as they were solved for; replaced. Between boxes, and around them, `gap` of the
 * side stays free. `boxes`: of each chart; may be NULL. Returns 0, or 1 with one line in `message`. */
int pack_charts(const mesh *m, const charts *c, double gap, double *uv, pack_box *boxes, pack_report *report,
                char message[MESH_MESSAGE]);

/* ---- distortion.c ----
 * How far a UV map is from the mesh: of every triangle the singular values s1 >= s2 of its map to the
 * plane. */

typedef struct distortion {
  float *angle; /* of a triangle: s1 / s2, 1 where angles are kept; INFINITY where the UV map has no area */
  float *area;  /* the UV map's area over the triangle's, in units of the same for its whole chart; negative
                   where  it is flipped, 0 where the UV map or the triangle has no area */
  double angle_mean, angle_max; /* the mean by area on the mesh; both without triangles that have no area */
  double area_mean, area_least,
      area_most;         /* the mean by area of max(a, 1 / a); of triangles that are not flipped */
  int32_t flipped;       /* turned over in the UV map */
  int32_t first_flipped; /* or -1 */
  int32_t collapsed;     /* with an area on the mesh and none in the UV map */
} distortion;

/* `uv`: of every flat vertex. Returns 0, or 1 with one line in `message`. */
int distortion_find(const mesh *m, const charts *c, const double *uv, distortion *d,
                    char message[MESH_MESSAGE]);
void distortion_free(distortion *d);

#endif
