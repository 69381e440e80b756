/* Watches a solve and stops it: a callback receives the residual at every check, and ends the solve once 40
 * iterations are done. A second solve continues from there.
 * Build: cc stop_solve.c $(pkg-config --cflags --libs texsolve). Run: ./a.out gl
 * Prints the residual at every check, then the reason and the iterations of both solves. */
#include <stdio.h>
#include <texsolve/solver.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { N = 200 };

/* Returns 1 to stop. */
static int watch(const ts_progress *progress, void *user) {
  const int *limit = user;
  printf("iteration %d: %.1e\n", progress->iteration, progress->relative_residual);
  return progress->iteration >= *limit;
}

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  int limit = 40;
  ts_solver_desc watched = {.check_interval = 10, .progress = watch, .progress_user = &limit};
  static int32_t offsets[N + 1], columns[3 * N];
  static double values[3 * N], b[N], x[N];
  int32_t count = 0;
  ts_context *context = NULL;
  ts_matrix *A = NULL;
  ts_result stopped, finished;

  for (int32_t i = 0; i < N; i++) {
    for (int32_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; j++) {
      columns[count] = j;
      values[count++] = j == i ? 2.01 : -1;
    }
    offsets[i + 1] = count;
    b[i] = i % 7;
  }
  ts_matrix_desc desc = {.csr = ts_host_csr(N, N, offsets, columns, values)};
  CHECK(ts_context_create(&device, &context));
  CHECK(ts_matrix_create(context, &desc, &A));
  if (ts_solve(A, ts_host(b, N), ts_host(x, N), &watched, &stopped) != TS_NOT_CONVERGED) return 1;
  CHECK(ts_solve(A, ts_host(b, N), ts_host(x, N), NULL, &finished));
  printf("%s: %d iterations, then %s: %d iterations\n", ts_reason_text(stopped.reason), stopped.iterations,
         ts_reason_text(finished.reason), finished.iterations);
  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  return stopped.reason != TS_REASON_STOPPED;
}
