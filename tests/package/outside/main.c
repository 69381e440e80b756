/* The outside program: a user's first program, built with the installed library only. Solves -x'' = 1 on a line
 * with n points and checks the solution by its residual in double precision.
 *   outside BACKEND
 * Exit status: 0 if solved, 1 if not, 77 if the backend has no device. */
#include <math.h>
#include <stdio.h>
#include <texsolve/solver.h>

enum { N = 100 };

static int fail(const ts_context *context, const char *what, ts_status status) {
  fprintf(stderr, "%s: %s: %s\n", what, ts_status_name(status), ts_last_error(context));
  return status == TS_ERROR_UNAVAILABLE ? 77 : 1;
}

static double relative_residual(const float *x) {
  double sum = 0;
  for (int i = 0; i < N; i++) {
    const double left = i > 0 ? x[i - 1] : 0, right = i < N - 1 ? x[i + 1] : 0;
    const double r = 1 - (2.0 * x[i] - left - right);
    sum += r * r;
  }
  return sqrt(sum / N);
}

static int solve(ts_context *context) {
  int32_t offsets[N + 1], columns[3 * N];
  float values[3 * N], b[N], x[N];
  int32_t count = 0;
  for (int32_t i = 0; i < N; i++) {
    offsets[i] = count;
    b[i] = 1;
    for (int32_t j = i - 1; j <= i + 1; j++) {
      if (j < 0 || j >= N) continue;
      columns[count] = j;
      values[count++] = i == j ? 2.0F : -1.0F;
    }
  }
  offsets[N] = count;

  const ts_matrix_desc desc = {.csr = ts_host_csr(N, N, offsets, columns, values)};
  ts_matrix *A = NULL;
  ts_vector *b_device = NULL, *x_device = NULL;
  ts_solver *cg = NULL;
  ts_result result = {0};
  ts_status status = ts_matrix_create(context, &desc, &A);
  if (!status) status = ts_vector_create(ts_matrix_get_row_space(A), NULL, &b_device);
  if (!status) status = ts_vector_create(ts_matrix_get_row_space(A), NULL, &x_device);
  if (!status) status = ts_vector_write(b_device, ts_host(b, N));
  if (!status) status = ts_solver_create(A, NULL, &cg);
  if (!status) status = ts_solver_solve(cg, b_device, x_device, &result);
  const ts_status solved = status;
  if (status >= 0) status = ts_vector_read(x_device, ts_host(x, N));
  int code = 0;
  if (status < 0) {
    code = fail(context, "solve", status);
  } else if (solved == TS_NOT_CONVERGED) {
    fprintf(stderr, "not converged: %s\n", result.message);
    code = 1;
  } else {
    const double residual = relative_residual(x);
    printf("relative residual %.1e after %d iterations\n", residual, result.iterations);
    code = residual <= 1e-4 ? 0 : 1;
  }
  ts_solver_destroy(&cg);
  ts_vector_destroy(&x_device);
  ts_vector_destroy(&b_device);
  ts_matrix_destroy(&A);
  return code;
}

int main(int argc, char **argv) {
  ts_context_desc desc = {0};
  desc.backend = argc > 1 ? argv[1] : "auto";
  ts_context *context = NULL;
  const ts_status status = ts_context_create(&desc, &context);
  if (status < 0) return fail(NULL, desc.backend, status);
  printf("texsolve %s, %s: ", ts_version(), desc.backend);
  const int code = solve(context);
  ts_context_destroy(&context);
  return code;
}
