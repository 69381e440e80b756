/* Pictures of a simulation without a window. If its backend is OpenGL they are drawn in its context, otherwise
 * in a separate one. Functions return 0, or 1 with one line in `message`. */
#ifndef DRAWING_H
#define DRAWING_H

#include "png_image.h"
#include "view.h"

typedef struct drawing drawing;

int drawing_open(const simulation *s, const fluid_look *look, int width, int height, drawing **made,
                 char message[SIMULATION_MESSAGE]);
void drawing_close(drawing **made); /* call before the simulation is destroyed */

/* Draws the present state of the fluid. The drawing owns the picture. */
int drawing_make(drawing *d, const image **picture, char message[SIMULATION_MESSAGE]);
/* The path of the last picture's fields to OpenGL (view_shared.h); NULL before the first picture. */
const char *drawing_way(const drawing *d);

#endif
