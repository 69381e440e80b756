/* Solves Poisson's equation by multigrid: -laplace u = 1 in the unit square, with u = 0 on the border. The
 * number of cycles does not depend on the size of the grid.
 * Build: cc poisson_multigrid.c $(pkg-config --cflags --libs texsolve) -lm. Run: ./a.out gl
 * Prints the cycles, the residual and u in the middle, which is 0.0737. */
#include <math.h>
#include <stdio.h>
#include <texsolve/grid.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { N = 129, POINTS = N * N, NUMBERS = 9 * POINTS };

static double stencil[NUMBERS], g[POINTS], right_hand_side[POINTS], u[POINTS];

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_poisson_desc problem = {.width = N, .height = N};
  ts_grid_desc desc = {.width = N, .height = N};
  ts_context *context = NULL;
  ts_space *grid = NULL;
  ts_matrix *A = NULL;
  ts_vector *b = NULL, *x = NULL;
  ts_multigrid *multigrid = NULL;
  ts_result result;

  for (int i = 0; i < POINTS; i++) g[i] = 1;
  CHECK(ts_context_create(&device, &context));
  CHECK(ts_poisson_stencil(context, &problem, ts_host(stencil, NUMBERS)));
  CHECK(ts_poisson_right_hand_side(context, &problem, ts_host(g, POINTS), NULL,
                                   ts_host(right_hand_side, POINTS), ts_host(u, POINTS)));
  CHECK(ts_grid_create(context, &desc, &grid));
  CHECK(ts_stencil_create(grid, ts_host(stencil, NUMBERS), &A));
  CHECK(ts_vector_create(grid, NULL, &b));
  CHECK(ts_vector_create(grid, NULL, &x));
  CHECK(ts_vector_write(b, ts_host(right_hand_side, POINTS)));

  CHECK(ts_multigrid_create(A, NULL, &multigrid));
  CHECK(ts_multigrid_solve(multigrid, b, x, &result));
  CHECK(ts_vector_read(x, ts_host(u, POINTS)));
  printf("%d cycles, residual %.0e, middle %.4f\n", result.iterations, result.relative_residual, u[POINTS / 2]);
  ts_multigrid_destroy(&multigrid);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&A);
  ts_space_destroy(&grid);
  ts_context_destroy(&context);
  return fabs(u[POINTS / 2] - 0.0737) > 1e-4;
}
