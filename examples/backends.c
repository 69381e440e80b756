/* Solves one system on several backends and compares the solutions: only a string changes. Run: ./a.out gl
 * multi:cpu+cpu (two parts on one CPU), or without arguments for every backend.
 * Build: cc backends.c $(pkg-config --cflags --libs texsolve) -lm
 * Prints the device, the iterations and the largest difference from the solution of the CPU. */
#include <math.h>
#include <stdio.h>
#include <texsolve/solver.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { N = 300 };

static int32_t offsets[N + 1], columns[3 * N];
static double values[3 * N], b[N], first[N];
static int solved; /* 1: `first` is a solution */

static int solve_on(const char *backend) {
  ts_context_desc device = {.backend = backend};
  ts_matrix_desc desc = {.csr = ts_host_csr(N, N, offsets, columns, values)};
  ts_solver_desc options = {.rtol = 1e-10};
  double x[N] = {0}, difference = 0;
  ts_context *context = NULL;
  ts_matrix *A = NULL;
  ts_context_info info;
  ts_result result;

  CHECK(ts_context_create(&device, &context));
  CHECK(ts_context_get_info(context, &info));
  CHECK(ts_matrix_create(context, &desc, &A));
  CHECK(ts_solve(A, ts_host(b, N), ts_host(x, N), &options, &result));
  for (int i = 0; i < N; i++) {
    if (!solved) first[i] = x[i];
    difference = fmax(difference, fabs(x[i] - first[i]));
  }
  solved = 1;
  printf("%s on %s: %d iterations, difference %.0e\n", info.backend, info.device, result.iterations,
         difference);
  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  return difference > 1e-7;
}

int main(int argc, char **argv) {
  int32_t count = 0;
  for (int32_t i = 0; i < N; i++) { // -1 2.1 -1
    for (int32_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; j++)
      columns[count] = j, values[count++] = j == i ? 2.1 : -1;
    offsets[i + 1] = count;
    b[i] = i % 5;
  }
  int failed = solve_on("cpu");
  for (int k = 1; k < argc; k++) failed |= solve_on(argv[k]);
  for (int k = 0; argc == 1 && ts_backend_name(k); k++) solve_on(ts_backend_name(k));
  return failed;
}
