/* Solves with a function instead of a matrix: A = 2 I + u u^T would have n^2 entries. The dot product u^T x
 * stays on the device, where the next operation uses it.
 * Build: cc matrix_free.c $(pkg-config --cflags --libs texsolve) -lm. Run: ./a.out gl
 * Prints the iterations and the largest error of x, which is known. */
#include <math.h>
#include <stdio.h>
#include <texsolve/operator.h>
#include <texsolve/solver.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { N = 1000 };

typedef struct low_rank {
  ts_vector *u;
  ts_scalars *dot;
} low_rank;

static ts_status apply(void *user, ts_vector *y, const ts_vector *x) { /* y = 2 x + (u^T x) u */
  const low_rank *A = user;
  ts_status status = ts_vector_dot(A->dot, 0, A->u, x);
  if (status == TS_OK) status = ts_vector_copy(y, A->u);
  return status == TS_OK ? ts_vector_axpby(y, ts_constant(2), x, ts_scaled(1, A->dot, 0)) : status;
}

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_space_desc size = {.size = N};
  ts_scalars_desc one = {.count = 1, .precision = TS_PRECISION_DOUBLE};
  low_rank parts = {0};
  ts_operator_desc desc = {.apply = apply, .user = &parts, .symmetric = 1};
  ts_context *context = NULL;
  ts_space *space = NULL;
  ts_matrix *A = NULL;
  ts_result result;
  static double u[N], exact[N], b[N], x[N];
  double dot = 0, error = 0;

  for (int i = 0; i < N; i++) u[i] = 0.01 * (i % 10), exact[i] = i % 7, dot += u[i] * exact[i];
  for (int i = 0; i < N; i++) b[i] = 2 * exact[i] + dot * u[i];
  CHECK(ts_context_create(&device, &context));
  CHECK(ts_space_create(context, &size, &space));
  CHECK(ts_scalars_create(context, &one, &parts.dot));
  CHECK(ts_vector_create(space, NULL, &parts.u));
  CHECK(ts_vector_write(parts.u, ts_host(u, N)));
  CHECK(ts_operator_create(space, space, &desc, &A));
  CHECK(ts_solve(A, ts_host(b, N), ts_host(x, N), NULL, &result));
  for (int i = 0; i < N; i++) error = fmax(error, fabs(x[i] - exact[i]));
  printf("%d iterations, error %.0e\n", result.iterations, error);
  ts_matrix_destroy(&A);
  ts_vector_destroy(&parts.u);
  ts_scalars_destroy(&parts.dot);
  ts_space_destroy(&space);
  ts_context_destroy(&context);
  return error > 1e-3;
}
