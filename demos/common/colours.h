/* Colour maps, and ranges for scales. Colour-blind viewers can read both maps. The sequential one also works in
 * greyscale. */
#ifndef COLOURS_H
#define COLOURS_H

#include <stddef.h>

/* x is 0 (negative, blue) through 0.5 (nearly white) to 1 (positive, red). */
void colour_diverging(float x, unsigned char rgb[3]);
/* x is 0 (light) to 1 (dark). */
void colour_sequential(float x, unsigned char rgb[3]);

/* Both maps with 256 colours each, as two rows of a texture. Row 0 is the diverging one. */
void colours_table(unsigned char table[2][256][3]);

/* Rounds up to 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8 or 10 times a power of ten, for the end of a scale. */
double colours_round_up(double range);

/* Sorts the values and returns the one at `index`. */
float colours_sorted(float *values, size_t count, size_t index);

enum { PLOT_RANGE_MOST = 256 };
/* Upper end of a plot of at most PLOT_RANGE_MOST times. Normally the largest value. If the top twentieth (at
 * least one value) exceeds twice the rest, such as a frame that compiled shaders, it is ignored: the range is
 * then the largest of the rest plus a margin. NaN and infinity are ignored. */
float plot_range(const float *values, int count);

#endif
