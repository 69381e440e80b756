/* Draws a mesh whose positions lie in a texture: the solution's own, without a copy. OpenGL 3.3; needs a
 * current context with functions loaded (view_gl_load). Functions return NULL, or why they failed. */
#ifndef MESH_VIEW_H
#define MESH_VIEW_H

#include <texsolve/gl.h>

#include "camera.h"
#include "mesh.h"

typedef enum mesh_shading { MESH_SHADING_SMOOTH, MESH_SHADING_FLAT, MESH_SHADINGS } mesh_shading;
typedef enum mesh_colour {
  MESH_COLOUR_NONE,
  MESH_COLOUR_CURVATURE,
  MESH_COLOUR_DISPLACEMENT,
  MESH_COLOURS
} mesh_colour;

typedef struct mesh_look {
  mesh_shading shading;
  mesh_colour colour;
  int wireframe;
  double range;     /* of the colours; 0: chosen from the data, and returned here after drawing */
  int before_after; /* draw the start left of `split` and now right of it */
  float split;      /* 0..1 of the width */
  int legend;       /* draw it into the picture (the window draws its own) */
} mesh_look;

/* A point that is drawn over the mesh as a disc. */
typedef struct mesh_point {
  float place[3];
  float rgb[3];
  float marked; /* 1: with a ring around it */
} mesh_point;

typedef struct mesh_view mesh_view;

/* For a mesh and its positions at the start (3 floats a vertex, unit coordinates). */
const char *mesh_view_create(const mesh *m, const float *start, mesh_view **made);
void mesh_view_destroy(mesh_view **made);

/* Where the positions are now: in the texture behind a vector of an OpenGL backend (`texels`: x, y of every
 * vertex, from ts_gl_space_get_texels) ... */
const char *mesh_view_use_texture(mesh_view *view, const ts_gl_texture *texture, const int32_t *texels);
/* ... or in a buffer texture, three texels a vertex (view_shared.h) ... */
const char *mesh_view_use_buffer(mesh_view *view, unsigned texture);
/* ... or on the host, for other backends: copied into a texture of the view's own. */
const char *mesh_view_use_host(mesh_view *view, const float *positions);

/* Another start. */
const char *mesh_view_use_start(mesh_view *view, const float *start);

/* The positions have changed: normals and curvature are recomputed before the next drawing, on the device.
 */
void mesh_view_changed(mesh_view *view);

/* Points that are drawn over the mesh from now on; copied. */
const char *mesh_view_set_points(mesh_view *view, const mesh_point *points, int count);

/* The camera sees the whole mesh, in units of its diagonal about the middle of its box. */
void mesh_view_fit(camera *c, const mesh_measures *m);
/* Into the framebuffer that is bound, over the whole of width x height pixels. */
const char *mesh_view_draw(mesh_view *view, const camera *c, mesh_look *look, int width, int height);

/* Into a picture: RGB, 3 x width x height bytes, top row first, with anti-aliasing. */
const char *mesh_view_picture(mesh_view *view, const camera *c, mesh_look *look, int width, int height,
                              unsigned char *rgb);

#endif
