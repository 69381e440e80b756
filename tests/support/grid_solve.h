/* Functions of the library as tests of grids use them. */
#ifndef GRID_SOLVE_H
#define GRID_SOLVE_H

#include "grid_samples.h"
#include "helpers.h"

ts_space *make_grid(ts_context *context, const ts_grid_desc *desc);
ts_matrix *make_stencil(ts_context *context, const grid_sample *sample);
ts_multigrid *make_multigrid(ts_matrix *matrix, const ts_multigrid_desc *desc);
ts_multigrid_info multigrid_info(const ts_multigrid *multigrid);

/* Small samples of all kinds: one point, one row, both ends of a line next to each other, constrained points,
 * nine points, walls. The largest is 40 x 23. Returns 0 past the end. */
int get_grid_sample(int index, grid_sample *sample, const char **name);

/* Points without an equation hold numbers in these samples, which solves must not change. */
int check_given(const char *file, int line, const grid_sample *sample, const float *before, const float *after);
#define CHECK_GIVEN(sample, before, after) check_given(__FILE__, __LINE__, sample, before, after)

/* One solve from host arrays over the stencil's grid. `xs` holds the start and receives x. b must be
 * unchanged. */
ts_status multigrid_solve(ts_multigrid *multigrid, ts_space *grid, const float *bs, float *xs,
                          ts_result *result);
/* Applies `count` cycles to the x in `xs`. */
void multigrid_cycle(ts_multigrid *multigrid, ts_space *grid, const float *bs, float *xs, int count);

#endif
