/* What the benchmarks of both methods share. */
#ifndef BENCH_H
#define BENCH_H

#include <jansson.h>

#include "mesh_smooth.h"

/* Sorts them. */
double bench_median(double *seconds, int count);
/* Null where it was not measured. */
json_t *bench_milliseconds(double seconds);
/* Prints the object and lets it go. Returns 0, or -1 after a message. */
int bench_print_json(json_t *object);
/* The time of a picture of the mesh as it is, NAN without OpenGL, which is noted. */
int bench_draw(const program_options *options, const smoother *s, int repeats, double *result);

int bench_dsi(const program_options *options, const load_report *loaded, smoother *s);

#endif
