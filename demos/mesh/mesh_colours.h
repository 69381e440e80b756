/* The colours of curvature and of the distance moved: both are told apart by colour-blind eyes, and the second
 * in grey too. */
#ifndef MESH_COLOURS_H
#define MESH_COLOURS_H

/* Of curvature: x from 0 (hollow, blue) over 0.5 (flat, nearly white) to 1 (convex, red). */
void mesh_colour_of_curvature(float x, unsigned char rgb[3]);
/* Of distance: x from 0 (light) to 1 (dark). */
void mesh_colour_of_distance(float x, unsigned char rgb[3]);

/* The next larger number with one digit, or 1.5 or 2.5, before its power of ten: for the end of a scale. */
double mesh_colours_round_up(double range);

#endif
