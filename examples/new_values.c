/* Solves a sequence of systems with one pattern: heat in a bar whose conductivity 1 + x depends on the
 * temperature x. The solver and the layout on the device stay, and each round starts from the last x.
 * Build: cc new_values.c $(pkg-config --cflags --libs texsolve) -lm. Run: ./a.out gl
 * Prints the iterations of the last round and the temperature in the middle: sqrt(2.5) - 1 = 0.5811. */
#include <math.h>
#include <stdio.h>
#include <texsolve/solver.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { N = 63 };

static int32_t offsets[N + 1], columns[3 * N];
static double values[3 * N], b[N], x[N + 2] = {[N + 1] = 1}; /* x with both ends */

static void assemble(void) {
  int32_t count = 0;
  for (int32_t i = 0; i < N; i++) { // with twice the mean conductivity to the left and to the right
    const double l = 2 + x[i] + x[i + 1], r = 2 + x[i + 1] + x[i + 2], row[3] = {-l, l + r, -r};
    for (int32_t j = i - 1; j <= i + 1; j++)
      if (j >= 0 && j < N) columns[count] = j, values[count++] = row[j - i + 1];
    offsets[i + 1] = count;
    b[i] = i == N - 1 ? r : 0;
  }
}

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_context *context = NULL;
  ts_matrix *A = NULL;
  ts_solver *solver = NULL;
  ts_result result;

  assemble();
  ts_matrix_desc bar = {.csr = ts_host_csr(N, N, offsets, columns, values)};
  CHECK(ts_context_create(&device, &context));
  CHECK(ts_matrix_create(context, &bar, &A));
  CHECK(ts_solver_create(A, NULL, &solver));
  for (int round = 0; round < 12; round++) {
    CHECK(ts_solver_solve_arrays(solver, ts_host(b, N), ts_host(x + 1, N), ts_host(x + 1, N), &result));
    assemble();
    CHECK(ts_matrix_set_values(A, &bar.csr));
  }
  printf("last round: %d iterations, middle %.4f\n", result.iterations, x[(N + 1) / 2]);
  ts_solver_destroy(&solver);
  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  return fabs(x[(N + 1) / 2] - 0.5811) > 1e-3;
}
