/* Solves a tridiagonal system on the backend given as the first argument, such as: minimal gl */
#include <stdio.h>
#include <texsolve/solver.h>

int main(int argc, char **argv) {
  const int32_t row_offsets[] = {0, 2, 5, 8, 10}, columns[] = {0, 1, 0, 1, 2, 1, 2, 3, 2, 3};
  const float values[] = {2, -1, -1, 2, -1, -1, 2, -1, -1, 2}, b[] = {1, 1, 1, 1};
  double x[4] = {0};
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_matrix_desc system = {.csr = ts_host_csr(4, 4, row_offsets, columns, values)};
  ts_context *context = NULL;
  ts_matrix *A = NULL;
  ts_result result;

  ts_status status = ts_context_create(&device, &context);
  if (status == TS_OK) status = ts_matrix_create(context, &system, &A);
  if (status == TS_OK) status = ts_solve(A, ts_host(b, 4), ts_host(x, 4), NULL, &result);
  if (status == TS_OK)
    printf("x = %g %g %g %g, residual %.1e\n", x[0], x[1], x[2], x[3], result.relative_residual);
  else
    fprintf(stderr, "minimal: %s\n", ts_last_error(context));
  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  return status != TS_OK;
}
