/* Stencils of test problems, and what they and their coarse forms are in double precision, worked out point by
 * point. Of the library only the types of texsolve/grid.h are used. */
#ifndef GRID_SAMPLES_H
#define GRID_SAMPLES_H

#include <texsolve/grid.h>

typedef struct grid_sample {
  ts_grid_desc grid;
  float *values; /* nine a point */
} grid_sample;

void grid_free(grid_sample *s);
size_t grid_points(const grid_sample *s);
int grid_has_equation(const grid_sample *s, size_t point);

/* -div k grad u + sigma u in cells of size 1, multiplied by their area. */
typedef struct grid_problem {
  int32_t width, height;
  const char *boundaries;     /* left, right, bottom, top: D u = 0 half a cell beyond, N no flow, P periodic,
                            H the outermost points have no equation and hold what is given */
  const float *k;             /* NULL: 1; harmonic means in between */
  const unsigned char *solid; /* NULL: none. No equation, and no flow to and fro */
  float sigma;
} grid_problem;
grid_sample grid_poisson(const grid_problem *p);

/* Bilinear finite elements for the Laplacian: nine points, u = 0 around. */
grid_sample grid_nine_point(int32_t width, int32_t height);
/* No two coefficients alike, not symmetric. Every `constrained`-th point on the average has no equation (0:
 * none). `corners`: nine points, else five. */
grid_sample grid_random(const ts_grid_desc *grid, int corners, int constrained, uint64_t seed);

/* Coefficients k: 1, and 1000 in a disk; 1 and 1000 in 4 x 4 fields. malloc. */
float *grid_blob(int32_t width, int32_t height);
float *grid_checkerboard(int32_t width, int32_t height);
/* A wall with a gap and a disk; rows of closed rooms of 5 x 4 cells between walls of one cell.
 * malloc. */
unsigned char *grid_obstacles(int32_t width, int32_t height);
unsigned char *grid_rooms(int32_t width, int32_t height);

/* The neighbour 3 (dj + 1) + (di + 1) = k of a point, or -1. */
int32_t grid_neighbour(const ts_grid_desc *grid, int32_t i, int32_t j, int k);

/* y = A (x + low) and |A| |x + low| of interleaved components; low may be NULL, magnitude too. */
void grid_apply(const grid_sample *s, int components, const float *x, const float *low, double *y,
                double *magnitude);
/* ||b - A x|| / ||b|| of one component over points with an equation; ||b - A x|| where b is 0. */
double grid_relative_residual(const grid_sample *s, const float *x, const float *b);

/* P A S of src/common/grid/grid.h: the coarse grid, nine coefficients a point and what their rounding errors
 * scale with; both malloc. Directions that lead to the same point (two periodic points) are added up in the
 * first, or in the centre. `gaps`: 1, 1 for the finest grid; what they become is for the next one. */
typedef struct grid_coarse {
  ts_grid_desc grid;
  double *values, *size;
} grid_coarse;
grid_coarse grid_coarsen(const grid_sample *fine, double gaps[2], ts_interpolation interpolation);
/* The same adding up, in place. */
void grid_fold(const ts_grid_desc *grid, float *values);

#endif
