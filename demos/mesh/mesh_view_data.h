/* What the mesh view keeps on the device, and how it gets there. */
#ifndef MESH_VIEW_DATA_H
#define MESH_VIEW_DATA_H

#include "mesh.h"
#include "legend.h"
#include "mesh_view.h"

/* The mesh with its vertices somewhere: at the start, or now. */
typedef struct mesh_shape {
  unsigned positions; /* the texture; borrowed unless it is the view's own */
  int is_buffer;      /* it is a buffer texture */
  int x, y;           /* of its first texel */
  unsigned texels;    /* a list of each vertex's texel, from x, y on */
  unsigned texel_buffer, vertex_array;
  unsigned normals, values; /* lists made by gather.frag: a vertex's normal; its curvature and distance moved */
  unsigned framebuffer;     /* which draws into them */
  int stale;                /* they are not those of the positions */
} mesh_shape;

struct mesh_view {
  int32_t vertices, triangles;
  int closed;     /* no border: back sides are never seen from outside */
  int inside_out; /* closed, and the triangles' front sides are inside: all is turned over */
  mesh_shape start, now;
  unsigned own_positions;                         /* for positions on the host; 0 until they are used */
  unsigned triangle_list;                         /* the vertices of the triangles, one a texel */
  unsigned fans, corners;                         /* the triangles around each vertex: see gather.frag */
  unsigned index_buffer, empty_array;             /* the latter for triangles over the viewport */
  unsigned background, gather[2], surface[2][12]; /* programs; 0 until they are used. For positions in a texture
                                                     and in a buffer; a surface for each look */
  legend *legend;
  unsigned point_program, point_array, point_buffer; /* 0 until there are points */
  int points;
  float *values; /* host memory for a look at them */
};

/* All return NULL, or why they failed. */
const char *mesh_view_build(mesh_view *view, const mesh *m, const float *start);
/* A list of positions, 3 floats a vertex, into the texture `list`, which is made if it is 0. */
const char *mesh_view_upload_positions(const float *positions, int32_t vertices, unsigned *list);
/* `texels`: two numbers a vertex; NULL: as in a list. */
const char *mesh_view_place(mesh_view *view, mesh_shape *shape, const int32_t *texels);
/* The programs for a shape's positions, and for a look. */
const char *mesh_view_gather(mesh_view *view, const mesh_shape *shape, unsigned *program);
const char *mesh_view_surface(mesh_view *view, const mesh_shape *shape, const mesh_look *look,
                              unsigned *program);
/* To unit 0. */
void mesh_view_bind_positions(const mesh_shape *shape);

#endif
