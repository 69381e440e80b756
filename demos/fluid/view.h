/* Draws a simulation with OpenGL from the textures or the shared buffers it is computed in, without a copy;
 * where there are none from copies (fluid_view_way tells). OpenGL 3.3; needs a current context with functions
 * loaded (view_gl_load): the simulation's own where that is OpenGL's. Functions return NULL, or why they
 * failed. */
#ifndef VIEW_H
#define VIEW_H

#include "simulation.h"
#include "view_shared.h"

typedef struct fluid_look {
  fluid_field field;
  double
      range; /* of the colours, in the field's unit; 0: follows the data, which takes a host synchronisation */
  int particles; /* draw them */
  int arrows;    /* of the velocity */
  int legend;    /* a scale into the picture */
} fluid_look;

/* The field and the particles that a scene should be looked at with, and a legend where the field has a scale.
 */
fluid_look fluid_look_of(const simulation *s);

/* A rectangle of pixels, from the lower left of the framebuffer. */
typedef struct fluid_area {
  int x, y, width, height;
} fluid_area;

typedef struct fluid_view fluid_view;

const char *fluid_view_create(fluid_view **made);
void fluid_view_destroy(fluid_view **made);

/* The largest rectangle of the domain's proportions in the middle of another one, or all of that if a hundredth
 * or less is left of it; and what is below a pixel of it in metres (x, y from the lower left of the
 * framebuffer). */
fluid_area fluid_view_fit(const simulation *s, fluid_area space);
void fluid_view_metres(const simulation *s, fluid_area area, double x, double y, double *metres_x,
                       double *metres_y);

/* Into the framebuffer that is bound. The rest of it stays as it is. The viewport, blending and bound textures
 * are anything afterwards. */
const char *fluid_view_draw(fluid_view *view, const simulation *s, const fluid_look *look, fluid_area area);

/* What the colours of the last drawing reach to. */
double fluid_view_range(const fluid_view *view);
/* How the fields of the last drawing came to OpenGL. */
view_way fluid_view_way(const fluid_view *view);

/* Into a picture: RGB, 3 x width x height bytes, top row first; the domain in its middle. */
const char *fluid_view_picture(fluid_view *view, const simulation *s, const fluid_look *look, int width,
                               int height, unsigned char *rgb);

#endif
