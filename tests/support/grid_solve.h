/* What tests of grids do with the library. */
#ifndef GRID_SOLVE_H
#define GRID_SOLVE_H

#include "grid_samples.h"
#include "helpers.h"

ts_space *make_grid(ts_context *context, const ts_grid_desc *desc);
ts_matrix *make_stencil(ts_context *context, const grid_sample *sample);
ts_multigrid *make_multigrid(ts_matrix *matrix, const ts_multigrid_desc *desc);
ts_multigrid_info multigrid_info(const ts_multigrid *multigrid);

/* Samples of all kinds at a small size: one point, one row, both ends of a line next to each other, constrained
 * points, nine points, walls; the largest has 40 x 23. Returns 0 past the end. */
int get_grid_sample(int index, grid_sample *sample, const char **name);

/* Points of these samples hold numbers where they have no equation, which solves leave alone. */
int check_given(const char *file, int line, const grid_sample *sample, const float *before, const float *after);
#define CHECK_GIVEN(sample, before, after) check_given(__FILE__, __LINE__, sample, before, after)

/* One solve from host arrays over the stencil's grid; `xs` holds the start and receives x. b must come out as
 * it went in. */
ts_status multigrid_solve(ts_multigrid *multigrid, ts_space *grid, const float *bs, float *xs,
                          ts_result *result);
/* x = `count` cycles from `xs`. */
void multigrid_cycle(ts_multigrid *multigrid, ts_space *grid, const float *bs, float *xs, int count);

#endif
