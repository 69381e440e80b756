/* How high a plot of times has to be. */
#ifndef PLOT_RANGE_H
#define PLOT_RANGE_H

#ifdef __cplusplus
extern "C" {
#endif

enum { PLOT_RANGE_MOST = 256 };

/* The largest of at most PLOT_RANGE_MOST values; but where one of twenty, or one of a few, is more than twice
 * what all others are, as the frame that compiled shaders is, what these come to, with some room. What is no
 * number is left out. */
float plot_range(const float *values, int count);

#ifdef __cplusplus
}
#endif
#endif
