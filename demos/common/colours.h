/* Colours of numbers: both scales are told apart by colour-blind eyes, and the second in grey too. */
#ifndef COLOURS_H
#define COLOURS_H

/* x from 0 (negative, blue) over 0.5 (nearly white) to 1 (positive, red). */
void colour_diverging(float x, unsigned char rgb[3]);
/* x from 0 (light) to 1 (dark). */
void colour_sequential(float x, unsigned char rgb[3]);

/* Both, 256 of each, as the rows of a texture: the first one in the lower half. */
void colours_table(unsigned char table[2][256][3]);

/* The next larger number with one digit, or 1.5 or 2.5, before its power of ten: for the end of a scale. */
double colours_round_up(double range);

#endif
