/* Draws a mesh with a checkerboard beside its UV map. OpenGL 3.3; needs a current context with functions
 * loaded (view_gl_load). Functions return NULL, or why they failed. */
#ifndef FLAT_VIEW_H
#define FLAT_VIEW_H

#include "camera.h"
#include "flat_source.h"
#include "view_shared.h"

typedef struct flat_view flat_view;

/* Where the UV map is seen: its middle, and how many units the shorter side of the picture is wide. */
typedef struct flat_window {
  double middle[2], size;
} flat_window;

const char *flat_view_create(const flattening *f, flat_view **made);
void flat_view_destroy(flat_view **made);

/* The UV map has changed, or the pins. `source`: where the UV map is on the device, which is only read now;
 * NULL: u and v come from the host. */
const char *flat_view_update(flat_view *view, const flattening *f, const flat_source *source);
view_way flat_view_way(const flat_view *view); /* how they came */

/* Shows the whole image. */
void flat_view_fit_image(const flattening *f, flat_window *window);

/* Into the bound framebuffer, which has colour and depth: the mesh in the left half, the UV map in the right
 * one. */
const char *flat_view_draw(flat_view *view, const camera *c, const flat_window *window, flat_look *look,
                           int width, int height);
/* The same into a picture of its own: RGB, top row first. */
const char *flat_view_picture(flat_view *view, const camera *c, const flat_window *window, flat_look *look,
                              int width, int height, unsigned char *rgb);

/* Between a place in the UV map and one in the right half, in pixels from its upper left. */
void flat_view_to_pixels(const flat_window *window, int width, int height, const double uv[2], double pixel[2]);
void flat_view_from_pixels(const flat_window *window, int width, int height, const double pixel[2],
                           double uv[2]);

#endif
