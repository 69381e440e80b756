/* A GPU that is lost while several work together: a kernel on it traps, after which nothing works there any
 * more. Every rank's solve ends with an error that names where, and so do later calls; all can be destroyed. */
#include <stdlib.h>
#include <string.h>
#include <texsolve/ranks.h>
#include <texsolve/solver.h>

#include "cuda_break.h"
#include "helpers.h"

static ts_context *context;
static int broken;

/* The last rank loses its GPU, or the only one. */
static int lose_device(int iteration, const double *history, int count, void *user) {
  (void)iteration, (void)history, (void)count, (void)user;
  if (!broken && ts_ranks_rank(context) == ts_ranks_count(context) - 1)
    CHECK_INT(cuda_break(NULL), cudaSuccess);
  broken = 1;
  return 0;
}

static void lost_while_solving(void) {
  context = test_open();
  if (!context) return;
  ref_matrix m = ref_laplacian_3d(24);
  float *bs = ref_values((size_t)m.rows, 3, -1, 1);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  ts_vector *b = make_vector(ts_matrix_row_space(A), 1, bs), *x = NULL;
  x = make_vector(ts_matrix_row_space(A), 1, NULL);
  ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI, .rtol = 1e-5};
  CHECK_OK(context, ts_solve(A, b, x, &desc, NULL));
  CHECK_OK(context, ts_vector_fill(x, 0));
  desc.progress = lose_device;
  desc.check_interval = 5;
  char where[32] = "part ";
  if (ts_ranks_count(context) > 1) snprintf(where, sizeof where, "rank %d: ", ts_ranks_count(context) - 1);
  CHECK_FAILS(context, ts_solve(A, b, x, &desc, NULL), TS_ERROR_DEVICE, where);
  CHECK(broken);
  CHECK_FAILS(context, ts_solve(A, b, x, &desc, NULL), TS_ERROR_DEVICE, where);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&A);
  free(bs);
  ref_free(&m);
  test_close(&context);
}

int main(int argc, char **argv) {
  static const test_case cases[] = {{"lost_while_solving", lost_while_solving}};
  return test_main(argc, argv, cases, sizeof cases / sizeof cases[0], 0);
}
