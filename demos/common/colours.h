/* Colours of numbers, and ranges. Both scales are told apart by colour-blind eyes, and the second in grey too.
 */
#ifndef COLOURS_H
#define COLOURS_H

#include <stddef.h>

/* x from 0 (negative, blue) over 0.5 (nearly white) to 1 (positive, red). */
void colour_diverging(float x, unsigned char rgb[3]);
/* x from 0 (light) to 1 (dark). */
void colour_sequential(float x, unsigned char rgb[3]);

/* Both, 256 of each, as the rows of a texture: the first one in the lower half. */
void colours_table(unsigned char table[2][256][3]);

/* The next larger number with one digit, or 1.5 or 2.5, before its power of ten: for the end of a scale. */
double colours_round_up(double range);

/* Sorts them and returns number `index` of them. */
float colours_sorted(float *values, size_t count, size_t index);

enum { PLOT_RANGE_MOST = 256 };
/* How high a plot of times has to be: the largest of at most PLOT_RANGE_MOST values; but where one of twenty,
 * or one of a few, is more than twice what all others are, as the frame that compiled shaders is, what these
 * come to, with some room. What is no number is left out. */
float plot_range(const float *values, int count);

#endif
