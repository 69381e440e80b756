/* How the plate's temperature is drawn: the colours, where things are in a picture, the paper with the legend,
 * and the plate itself on the host. heat.frag draws the same plate on the device. */
#ifndef HEAT_PICTURE_H
#define HEAT_PICTURE_H

#include "heat_plate.h"
#include "png_image.h"

enum { colour_count = 256, picture_width = 936, picture_height = 600 };

/* The colour of temperature k / (colour_count - 1) * hottest. Lightness grows evenly from cold to hot, so that
 * equal steps of temperature look equal, in grey too. */
void colour_table(unsigned char colours[colour_count][3]);

/* In pixels from the top left corner. */
typedef struct rectangle {
  float x, y, width, height;
} rectangle;

/* Where the plate is in a picture of this size, as large as fits. `unit` is the size of a pixel of the standard
 * picture. */
rectangle plate_rectangle(int width, int height, float *unit);

/* Everything but the plate: the paper and the legend. */
void draw_paper(image *picture);

/* The plate over the paper, from the temperature of every unknown. */
void draw_plate(image *picture, const plate *p, const float *temperatures);

#endif
