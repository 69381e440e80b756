/* The device data of the mesh view. */
#ifndef MESH_VIEW_DATA_H
#define MESH_VIEW_DATA_H

#include "mesh.h"
#include "legend.h"
#include "mesh_view.h"

/* The mesh with one set of positions: at the start, or now. */
typedef struct mesh_shape {
  unsigned positions; /* the texture; borrowed unless the view owns it */
  int is_buffer;      /* it is a buffer texture */
  int x, y;           /* of its first texel */
  unsigned texels;    /* a list with each vertex's texel, relative to x, y */
  unsigned texel_buffer, vertex_array;
  unsigned normals, values; /* lists made by gather.frag: normals; curvature and distance moved */
  unsigned framebuffer;     /* renders to these lists */
  int stale;                /* the lists do not match the positions */
} mesh_shape;

struct mesh_view {
  int32_t vertices, triangles;
  int closed;     /* no border: back sides are not visible from outside */
  int inside_out; /* closed, with the front sides inside: reverse everything */
  mesh_shape start, now;
  unsigned own_positions;             /* for positions on the host; 0 until used */
  unsigned triangle_list;             /* the vertices of the triangles, one per texel */
  unsigned fans, corners;             /* the triangles around each vertex, see gather.frag */
  unsigned index_buffer, empty_array; /* empty_array is for triangles that cover the viewport */
  /* programs; 0 until used. gather: for positions in a texture and in a buffer; surface: for each look */
  unsigned background, gather[2], surface[2][12];
  legend *legend;
  unsigned point_program, point_array, point_buffer; /* 0 until there are points */
  int points;
  float *values; /* host memory to read values into */
};

/* Functions that return text return NULL on success, or the reason of a failure. */
const char *mesh_view_build(mesh_view *view, const mesh *m, const float *start);
/* Uploads positions, 3 floats per vertex, to the texture *list. It is created if it is 0. */
const char *mesh_view_upload_positions(const float *positions, int32_t vertices, unsigned *list);
/* `texels` has two numbers per vertex; NULL: the vertices are in order, as in a list. */
const char *mesh_view_place(mesh_view *view, mesh_shape *shape, const int32_t *texels);
/* Select the program for a shape's positions, and for a look. */
const char *mesh_view_gather(mesh_view *view, const mesh_shape *shape, unsigned *program);
const char *mesh_view_surface(mesh_view *view, const mesh_shape *shape, const mesh_look *look,
                              unsigned *program);
/* Binds to unit 0. */
void mesh_view_bind_positions(const mesh_shape *shape);

#endif
