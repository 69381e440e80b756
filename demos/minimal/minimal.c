/* Solves a tridiagonal system on the backend that the first argument names: minimal gl */
#include <stdio.h>
#include <texsolve/solver.h>

int main(int argc, char **argv) {
  const int32_t row_offsets[] = {0, 2, 5, 8, 10}, columns[] = {0, 1, 0, 1, 2, 1, 2, 3, 2, 3};
  const float values[] = {2, -1, -1, 2, -1, -1, 2, -1, -1, 2}, ones[] = {1, 1, 1, 1};
  float solution[4];
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_matrix_desc system = {.csr = {4, 4, row_offsets, columns, values}};
  ts_context *context = NULL;
  ts_matrix *A = NULL;
  ts_vector *b = NULL, *x = NULL;
  ts_result result;

  ts_status status = ts_context_create(&device, &context);
  if (status == TS_OK) status = ts_matrix_create(context, &system, &A);
  if (status == TS_OK) status = ts_vector_create(ts_matrix_row_space(A), NULL, &b);
  if (status == TS_OK) status = ts_vector_create(ts_matrix_row_space(A), NULL, &x);
  if (status == TS_OK) status = ts_vector_write(b, ones, 4);
  if (status == TS_OK) status = ts_solve(A, b, x, NULL, &result);
  if (status == TS_OK) status = ts_vector_read(x, solution, 4);
  if (status == TS_OK)
    printf("x = %g %g %g %g, residual %.1e\n", solution[0], solution[1], solution[2], solution[3],
           result.relative_residual);
  else
    fprintf(stderr, "minimal: %s\n", ts_last_error(context));
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  return status != TS_OK;
}
