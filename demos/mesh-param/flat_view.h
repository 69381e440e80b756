/* Draws a mesh with a checkerboard next to its UV map. Needs a current OpenGL 3.3 context with its functions
 * loaded (view_gl_load). Functions that return text return NULL on success, or the reason of a failure. */
#ifndef FLAT_VIEW_H
#define FLAT_VIEW_H

#include "camera.h"
#include "flat_source.h"
#include "view_shared.h"

typedef struct flat_view flat_view;

/* The visible part of the UV map: its middle, and the units across the picture's shorter side. */
typedef struct flat_window {
  double middle[2], size;
} flat_window;

const char *flat_view_create(const flattening *f, flat_view **made);
void flat_view_destroy(flat_view **made);

/* Call after the UV map or the pins have changed. `source` is the UV map on the device, which is read only now.
 * NULL: u and v come from the host. */
const char *flat_view_update(flat_view *view, const flattening *f, const flat_source *source);
view_way flat_view_way(const flat_view *view); /* the path of u and v to OpenGL */

/* Shows the whole UV map. */
void flat_view_fit_image(const flattening *f, flat_window *window);

/* Draws into the bound framebuffer, which has colour and depth: the mesh at the left, the UV map at the
 * right. */
const char *flat_view_draw(flat_view *view, const camera *c, const flat_window *window, flat_look *look,
                           int width, int height);
/* Draws a picture off the screen: RGB, top row first. */
const char *flat_view_picture(flat_view *view, const camera *c, const flat_window *window, flat_look *look,
                              int width, int height, unsigned char *rgb);

/* Convert between positions in the UV map and pixels in the right half, from its upper left. */
void flat_view_to_pixels(const flat_window *window, int width, int height, const double uv[2], double pixel[2]);
void flat_view_from_pixels(const flat_window *window, int width, int height, const double pixel[2],
                           double uv[2]);

#endif
