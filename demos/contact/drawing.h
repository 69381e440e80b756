/* Pictures of a simulation without a window. If its backend is OpenGL they are drawn in its context, otherwise
 * in a separate one. Functions return 0, or 1 with one line in `message`. */
#ifndef DRAWING_H
#define DRAWING_H

#include "png_image.h"
#include "simulation.h"
#include "view.h"

typedef struct drawing drawing;

/* With `forces` set, the contact forces are drawn too. */
int drawing_open(const simulation *s, int forces, contact_shading shading, int width, int height,
                 drawing **made, char message[SIMULATION_MESSAGE]);
void drawing_close(drawing **made); /* call before the simulation is destroyed */

/* Draws the bodies in their current positions. The drawing owns the picture. */
int drawing_make(drawing *d, const image **picture, char message[SIMULATION_MESSAGE]);

#endif
