/* Asks for ten digits. Floats cannot hold them, so auto continues in mixed or double precision. The device
 * stores a double as three floats, so OpenGL reaches the same residual.
 * Build: cc precision.c $(pkg-config --cflags --libs texsolve). Run: ./a.out gl
 * Prints the residual, the reason, and the iterations in single and in higher precision. */
#include <stdio.h>
#include <texsolve/solver.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { N = 300 };

static int32_t offsets[N + 1], columns[3 * N];
static double values[3 * N], b[N];

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  const ts_precision precisions[] = {TS_PRECISION_SINGLE, TS_PRECISION_AUTO};
  int32_t count = 0;
  ts_context *context = NULL;
  ts_matrix *A = NULL;
  ts_result result = {0};

  for (int32_t i = 0; i < N; i++) { // -1 2.01 -1
    for (int32_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; j++)
      columns[count] = j, values[count++] = j == i ? 2.01 : -1;
    offsets[i + 1] = count;
    b[i] = 1.0 / (i + 1);
  }
  ts_matrix_desc desc = {.csr = ts_host_csr(N, N, offsets, columns, values)};
  CHECK(ts_context_create(&device, &context));
  CHECK(ts_matrix_create(context, &desc, &A));
  for (int k = 0; k < 2; k++) {
    double x[N] = {0};
    const ts_solver_desc options = {.rtol = 1e-10, .precision = precisions[k]};
    const ts_status status = ts_solve(A, ts_host(b, N), ts_host(x, N), &options, &result);
    if (status != TS_NOT_CONVERGED) CHECK(status);
    const int single = result.precision_iterations[TS_PRECISION_SINGLE];
    printf("%s: residual %.0e, %s, iterations %d and %d\n", ts_precision_name(precisions[k]),
           result.relative_residual, ts_reason_text(result.reason), single, result.iterations - single);
  }
  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  return result.reason != TS_REASON_CONVERGED; // in precision auto
}
