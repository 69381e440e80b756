/* What the benchmarks of both methods share. */
#ifndef BENCH_H
#define BENCH_H

#include "mesh_smooth.h"
#include "reports.h"

/* The time of a picture of the mesh as it is, NAN without OpenGL, which is noted. */
int bench_draw(const program_options *options, const smoother *s, int repeats, double *result);

int bench_dsi(const program_options *options, const load_report *loaded, smoother *s);

#endif
