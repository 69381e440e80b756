/* Solves a sparse system from compressed rows (CSR): the temperature of a heated plate with its border at 0.
 * Build: cc solve_csr.c $(pkg-config --cflags --libs texsolve) -lm. Run: ./a.out gl
 * Prints the method, the iterations, the residual and the temperature in the middle, which is 0.0737. */
#include <math.h>
#include <stdio.h>
#include <texsolve/solver.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { N = 63, ROWS = N * N };

static int32_t offsets[ROWS + 1], columns[5 * ROWS];
static double values[5 * ROWS], b[ROWS], x[ROWS];

static void add(int32_t row, int32_t column, double value) {
  columns[offsets[row + 1]] = column;
  values[offsets[row + 1]++] = value;
}

/* -laplace x = 1 with five points: 4 times a point less its four neighbours, times (N + 1)^2. */
static void assemble(void) {
  for (int32_t row = 0; row < ROWS; row++) {
    const int32_t i = row % N, j = row / N;
    offsets[row + 1] = offsets[row];
    if (j > 0) add(row, row - N, -1);
    if (i > 0) add(row, row - 1, -1);
    add(row, row, 4);
    if (i < N - 1) add(row, row + 1, -1);
    if (j < N - 1) add(row, row + N, -1);
    b[row] = 1.0 / ((N + 1) * (N + 1));
  }
}

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_context *context = NULL;
  ts_matrix *A = NULL;
  ts_result result;

  assemble();
  ts_matrix_desc plate = {.csr = ts_host_csr(ROWS, ROWS, offsets, columns, values)};
  CHECK(ts_context_create(&device, &context));
  CHECK(ts_matrix_create(context, &plate, &A));
  CHECK(ts_solve(A, ts_host(b, ROWS), ts_host(x, ROWS), NULL, &result));
  printf("%s, %d iterations, residual %.0e, middle %.4f\n", ts_method_name(result.method), result.iterations,
         result.relative_residual, x[ROWS / 2]);
  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  return fabs(x[ROWS / 2] - 0.0737) > 1e-4;
}
