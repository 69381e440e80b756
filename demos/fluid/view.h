/* Draws a simulation with OpenGL. It uses the simulation's textures or shared buffers without a copy if
 * possible (see fluid_view_way). Needs a current OpenGL 3.3 context with its functions loaded (view_gl_load),
 * and if the backend is OpenGL it must be the simulation's context. Functions that return text return NULL on
 * success, or the reason of a failure. */
#ifndef VIEW_H
#define VIEW_H

#include "simulation.h"
#include "view_shared.h"

typedef struct fluid_look {
  fluid_field field;
  double range;  /* end of the colour scale, in the field's unit; 0: from the data, which needs a host
                    synchronisation */
  int particles; /* draw particles */
  int arrows;    /* draw arrows of the velocity */
  int legend;    /* draw the colour scale */
} fluid_look;

/* The scene's default field and particles, with a legend if the field has a scale. */
fluid_look fluid_look_of(const simulation *s);

/* A rectangle in pixels, from the lower left of the framebuffer. */
typedef struct fluid_area {
  int x, y, width, height;
} fluid_area;

typedef struct fluid_view fluid_view;

const char *fluid_view_create(fluid_view **made);
void fluid_view_destroy(fluid_view **made);

/* Fits the domain into `space`, centred. If that leaves at most one per cent free it returns all of `space`.
 * fluid_view_metres converts a pixel (x, y from the lower left of the framebuffer) to metres in the domain. */
fluid_area fluid_view_fit(const simulation *s, fluid_area space);
void fluid_view_metres(const simulation *s, fluid_area area, double x, double y, double *metres_x,
                       double *metres_y);

/* Draws into an area of the bound framebuffer, and leaves the rest unchanged. The viewport, blending and
 * texture bindings are undefined afterwards. */
const char *fluid_view_draw(fluid_view *view, const simulation *s, const fluid_look *look, fluid_area area);

/* End of the colour scale in the last picture. */
double fluid_view_range(const fluid_view *view);
/* The path of the last picture's fields to OpenGL. */
view_way fluid_view_way(const fluid_view *view);

/* Draws a picture: RGB, 3 x width x height bytes, top row first, with the domain in the middle. */
const char *fluid_view_picture(fluid_view *view, const simulation *s, const fluid_look *look, int width,
                               int height, unsigned char *rgb);

#endif
