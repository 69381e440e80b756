/* Fits a parabola to 50 points. A matrix with more rows than columns is a least-squares problem, which auto
 * solves by lsmr. The points are on 1 + 2 t + 3 t^2, plus and minus 0.01 in turn.
 * Build: cc least_squares.c $(pkg-config --cflags --libs texsolve) -lm. Run: ./a.out gl
 * Prints the parabola, the relative gradient there, and the part of the data that the parabola misses. */
#include <math.h>
#include <stdio.h>
#include <texsolve/solver.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { POINTS = 50 };

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_solver_desc options = {.rtol = 1e-8};
  static int32_t offsets[POINTS + 1], columns[POINTS][3];
  static double powers[POINTS][3], heights[POINTS];
  double x[3] = {0};
  ts_context *context = NULL;
  ts_matrix *A = NULL;
  ts_result result;

  for (int32_t i = 0; i < POINTS; i++) {
    const double t = (double)i / (POINTS - 1);
    offsets[i + 1] = 3 * (i + 1);
    for (int32_t k = 0; k < 3; k++) {
      columns[i][k] = k;
      powers[i][k] = k == 0 ? 1 : t * powers[i][k - 1];
    }
    heights[i] = 1 + 2 * t + 3 * t * t + (i % 2 ? 0.01 : -0.01);
  }

  ts_matrix_desc desc = {.csr = ts_host_csr(POINTS, 3, offsets, &columns[0][0], &powers[0][0])};
  CHECK(ts_context_create(&device, &context));
  CHECK(ts_matrix_create(context, &desc, &A));
  CHECK(ts_solve(A, ts_host(heights, POINTS), ts_host(x, 3), &options, &result));
  printf("%.2f + %.2f t + %.2f t^2 by %s, gradient %.0e, left %.4f\n", x[0], x[1], x[2],
         ts_method_name(result.method), result.relative_residual, result.reduction);
  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  return fabs(x[0] - 1) > 0.02 || fabs(x[1] - 2) > 0.02 || fabs(x[2] - 3) > 0.02;
}
