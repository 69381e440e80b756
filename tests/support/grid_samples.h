/* Stencils of test problems, and the same stencils and their coarse forms in double precision, computed point
 * by point. This file uses only the types of texsolve/grid.h from the library. */
#ifndef GRID_SAMPLES_H
#define GRID_SAMPLES_H

#include <texsolve/grid.h>

typedef struct grid_sample {
  ts_grid_desc grid;
  float *values; /* nine per point */
} grid_sample;

void grid_free(grid_sample *s);
size_t grid_points(const grid_sample *s);
int grid_has_equation(const grid_sample *s, size_t point);

/* -div k grad u + sigma u in cells of size 1, multiplied by their area. */
typedef struct grid_problem {
  int32_t width, height;
  const char *boundaries;     /* left, right, bottom, top: D u = 0 half a cell outside, N no flow, P periodic,
                            H fixed values in the outermost points, without an equation */
  const float *k;             /* NULL: 1; harmonic means between points */
  const unsigned char *solid; /* NULL: none; without an equation and without flow */
  float sigma;
} grid_problem;
grid_sample grid_poisson(const grid_problem *p);

/* Bilinear finite elements for the Laplacian: nine points, with u = 0 around the grid. */
grid_sample grid_nine_point(int32_t width, int32_t height);
/* All coefficients differ, and the matrix is unsymmetric. On average every `constrained`-th point has no
 * equation (0: none). `corners` selects nine points, otherwise five. */
grid_sample grid_random(const ts_grid_desc *grid, int corners, int constrained, uint64_t seed);

/* Coefficients k: 1 with a disk of 1000; 1 and 1000 alternating in 4 x 4 fields. The caller frees it. */
float *grid_blob(int32_t width, int32_t height);
float *grid_checkerboard(int32_t width, int32_t height);
/* A wall with a gap and a disk; rows of closed rooms of 5 x 4 cells between walls of one cell. The caller frees
 * it. */
unsigned char *grid_obstacles(int32_t width, int32_t height);
unsigned char *grid_rooms(int32_t width, int32_t height);

/* The neighbour k = 3 (dj + 1) + (di + 1) of a point, or -1. */
int32_t grid_neighbour(const ts_grid_desc *grid, int32_t i, int32_t j, int k);

/* y = A (x + low) and magnitude = |A| |x + low| of interleaved components. `low` and `magnitude` may be
 * NULL. */
void grid_apply(const grid_sample *s, int components, const float *x, const float *low, double *y,
                double *magnitude);
/* ||b - A x|| / ||b|| of one component over points with an equation, or ||b - A x|| if b is 0. */
double grid_relative_residual(const grid_sample *s, const float *x, const float *b);

/* P A S of src/common/grid/grid.h: the coarse grid, nine coefficients per point, and the scales of their
 * rounding errors. Free both arrays. If several directions lead to the same point (two periodic points), their
 * coefficients are added to the first direction or to the centre. `gaps` is 1, 1 for the finest grid, and is
 * updated for the next one. */
typedef struct grid_coarse {
  ts_grid_desc grid;
  double *values, *size;
} grid_coarse;
grid_coarse grid_coarsen(const grid_sample *fine, double gaps[2], ts_interpolation interpolation);
/* Adds such directions in place. */
void grid_fold(const ts_grid_desc *grid, float *values);

#endif
