/* Pictures of a simulation without a window: in its own context where the backend is OpenGL, else in one opened
 * for that alone. Functions return 0, or 1 with one line in `message`. */
#ifndef DRAWING_H
#define DRAWING_H

#include "png_image.h"
#include "simulation.h"
#include "view.h"

typedef struct drawing drawing;

/* With the contacts' forces where `forces` is set. */
int drawing_open(const simulation *s, int forces, contact_shading shading, int width, int height,
                 drawing **made, char message[SIMULATION_MESSAGE]);
void drawing_close(drawing **made); /* before the simulation goes */

/* Draws the bodies as they are now. The picture is the drawing's. */
int drawing_make(drawing *d, const image **picture, char message[SIMULATION_MESSAGE]);

#endif
