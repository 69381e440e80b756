/* A GPU is lost while several cooperate: a kernel on it traps, and the GPU is unusable afterwards. Every rank's
 * solve and all later calls end with an error that names the GPU. All objects can be destroyed. */
#include <stdlib.h>
#include <string.h>
#include <texsolve/ranks.h>
#include <texsolve/solver.h>

#include "cuda_break.h"
#include "helpers.h"

static ts_context *context;
static int broken;

/* The GPU of a rank on a single host. Without ranks the rank is 0. The thread's current device may be another
 * one, because calls of the library restore it. */
static void break_device_of(int rank) {
  int devices = 0;
  CHECK_INT(cudaGetDeviceCount(&devices), cudaSuccess);
  CHECK_INT(cudaSetDevice(rank % devices), cudaSuccess);
  CHECK_INT(cuda_break(NULL), cudaSuccess);
}

/* The last rank, or the only one, loses its GPU. */
static int lose_device(const ts_progress *progress, void *user) {
  (void)progress, (void)user;
  const int rank = ts_ranks_get_rank(context);
  if (!broken && rank == ts_ranks_get_count(context) - 1) break_device_of(rank);
  broken = 1;
  return 0;
}

static void lost_while_solving(void) {
  ref_matrix m = ref_laplacian_3d(24);
  float *bs = ref_values((size_t)m.rows, 3, -1, 1);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), 1, bs), *x = NULL;
  x = make_vector(ts_matrix_get_row_space(A), 1, NULL);
  ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI, .rtol = 1e-5};
  CHECK_OK(context, solve_vectors(A, b, x, &desc, NULL));
  CHECK_OK(context, ts_vector_fill(x, 0));
  desc.progress = lose_device;
  desc.check_interval = 5;
  char where[32] = "part ";
  if (ts_ranks_get_count(context) > 1)
    snprintf(where, sizeof where, "rank %d: ", ts_ranks_get_count(context) - 1);
  CHECK_FAILS(context, solve_vectors(A, b, x, &desc, NULL), TS_ERROR_DEVICE, where);
  CHECK(broken);
  CHECK_FAILS(context, solve_vectors(A, b, x, &desc, NULL), TS_ERROR_DEVICE, where);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&A);
  free(bs);
  ref_free(&m);
}

TEST_MAIN(CASES_IN_CONTEXT(lost_while_solving))
