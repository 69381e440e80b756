/* Pictures of a simulation without a window: in its own context where the backend is OpenGL, else in one
 * opened for that alone. Functions return 0, or 1 with one line in `message`. */
#ifndef DRAWING_H
#define DRAWING_H

#include "png_image.h"
#include "view.h"

typedef struct drawing drawing;

int drawing_open(const simulation *s, const fluid_look *look, int width, int height, drawing **made,
                 char message[SIMULATION_MESSAGE]);
void drawing_close(drawing **made); /* before the simulation goes */

/* Draws the fluid as it is now. The picture is the drawing's. */
int drawing_make(drawing *d, const image **picture, char message[SIMULATION_MESSAGE]);
/* How the last picture's fields came to OpenGL (view_shared.h); NULL before the first one. */
const char *drawing_way(const drawing *d);

#endif
