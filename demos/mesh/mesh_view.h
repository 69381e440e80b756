/* Draws a mesh. Its positions are in a texture, which may be the solution's own, without a copy. Needs a
 * current OpenGL 3.3 context with its functions loaded (view_gl_load). Functions that return text return NULL
 * on success, or the reason of a failure. */
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
  double range;     /* of the colours; 0: chosen from the data, and returned here by drawing */
  int before_after; /* draw the start at the left of `split`, the present mesh at the right */
  float split;      /* fraction of the width, 0 to 1 */
  int legend;       /* draw it into the picture (the window draws its own) */
} mesh_look;

/* A point that is drawn over the mesh as a disc. */
typedef struct mesh_point {
  float place[3];
  float rgb[3];
  float marked; /* 1: with a ring */
} mesh_point;

typedef struct mesh_view mesh_view;

/* For a mesh and its positions at the start, 3 floats per vertex in unit coordinates. */
const char *mesh_view_create(const mesh *m, const float *start, mesh_view **made);
void mesh_view_destroy(mesh_view **made);

/* The source of the present positions is one of three: the texture of a vector of an OpenGL backend. `texels`
 * has x, y of each vertex, from ts_gl_space_get_texels. */
const char *mesh_view_use_texture(mesh_view *view, const ts_gl_texture *texture, const int32_t *texels);
/* A buffer texture with three texels per vertex (view_shared.h). */
const char *mesh_view_use_buffer(mesh_view *view, unsigned texture);
/* Positions on the host, for other backends: they are copied to a texture of the view. */
const char *mesh_view_use_host(mesh_view *view, const float *positions);

/* Changes the start. */
const char *mesh_view_use_start(mesh_view *view, const float *start);

/* Call after the positions have changed. The device then recomputes normals and curvature before the next
 * drawing. */
void mesh_view_changed(mesh_view *view);

/* Sets the points to draw over the mesh. They are copied. */
const char *mesh_view_set_points(mesh_view *view, const mesh_point *points, int count);

/* Fits the camera to the mesh, in units of its diagonal around the middle of its box. */
void mesh_view_fit(camera *c, const mesh_measures *m);
/* Draws width x height pixels into the bound framebuffer. */
const char *mesh_view_draw(mesh_view *view, const camera *c, mesh_look *look, int width, int height);

/* Draws a picture: RGB, 3 x width x height bytes, top row first, with antialiasing. */
const char *mesh_view_picture(mesh_view *view, const camera *c, mesh_look *look, int width, int height,
                              unsigned char *rgb);

#endif
