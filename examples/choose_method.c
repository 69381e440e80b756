/* Selects a method and a preconditioner, and reads why a solve ended. The last solve may do only five
 * iterations, which are not enough: TS_NOT_CONVERGED is a result, not an error.
 * Build: cc choose_method.c $(pkg-config --cflags --libs texsolve). Run: ./a.out gl
 * Prints the method, the iterations, the residual and the reason of each solve. */
#include <stdio.h>
#include <texsolve/solver.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { N = 40, ROWS = N * N };

static int32_t offsets[ROWS + 1], columns[5 * ROWS];
static double values[5 * ROWS], b[ROWS], x[ROWS];

static void assemble(void) { /* the Laplacian of a square, whose border is 0 */
  static const int32_t neighbours[5][2] = {{0, -1}, {-1, 0}, {0, 0}, {1, 0}, {0, 1}};
  int32_t count = 0;
  for (int32_t row = 0; row < ROWS; row++) {
    for (int k = 0; k < 5; k++) {
      const int32_t i = row % N + neighbours[k][0], j = row / N + neighbours[k][1];
      if (i < 0 || j < 0 || i >= N || j >= N) continue;
      columns[count] = j * N + i;
      values[count++] = k == 2 ? 4 : -1;
    }
    offsets[row + 1] = count;
    b[row] = 1;
  }
}

int main(int argc, char **argv) {
  const ts_method methods[] = {TS_METHOD_AUTO, TS_METHOD_CG, TS_METHOD_IDR, TS_METHOD_CG};
  const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_AUTO, TS_PRECONDITIONER_AMG, TS_PRECONDITIONER_ILU,
                                          TS_PRECONDITIONER_JACOBI};
  const int limits[] = {0, 0, 0, 5}; // 0: the default
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_context *context = NULL;
  ts_matrix *A = NULL;
  ts_result result = {0};

  assemble();
  CHECK(ts_context_create(&device, &context));
  ts_matrix_desc desc = {.csr = ts_host_csr(ROWS, ROWS, offsets, columns, values), .keep_host_copy = 1};
  CHECK(ts_matrix_create(context, &desc, &A));
  for (int k = 0; k < 4; k++) {
    const ts_solver_desc options = {
        .method = methods[k], .preconditioner_kind = kinds[k], .max_iterations = limits[k], .zero_start = 1};
    const ts_status status = ts_solve(A, ts_host(b, ROWS), ts_host(x, ROWS), &options, &result);
    if (status != TS_NOT_CONVERGED) CHECK(status);
    printf("%s, %s: %d iterations, residual %.0e, %s\n", ts_method_name(result.method),
           ts_preconditioner_kind_name(kinds[k]), result.iterations, result.relative_residual,
           ts_reason_text(result.reason));
  }
  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  return result.reason != TS_REASON_MAX_ITERATIONS;
}
