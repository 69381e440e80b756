#include "krylov_solve.h"

const ts_method krylov_methods[KRYLOV_METHODS] = {TS_METHOD_BICGSTAB, TS_METHOD_GMRES, TS_METHOD_IDR};

int observe(const ts_progress *progress, void *user) {
  const int iteration = progress->iteration, count = progress->count;
  const double *history = progress->history;
  watch *w = user;
  w->calls++;
  if (iteration <= w->last_iteration || count != iteration - w->last_iteration) w->out_of_order++;
  for (int k = 0; k < count; k++)
    if (!(history[k] >= 0)) w->out_of_order++;
  w->numbers += count;
  w->last_iteration = iteration;
  w->last = history[count - 1];
  return w->stop_at && iteration >= w->stop_at;
}

ts_status krylov_solve(ts_method method, ts_matrix *matrix, const ts_solver_desc *desc, int components,
                       const float *bs, float *xs, ts_result *result) {
  ts_space *space = ts_matrix_get_row_space(matrix);
  ts_vector *b = make_vector(space, components, bs), *x = make_vector(space, components, xs);
  ts_solver *solver = NULL;
  ts_status status = create_solver(matrix, method, desc, &solver);
  memset(result, 0x55, sizeof *result);
  if (CHECK_INT(status, TS_OK) && b && x) {
    status = ts_solver_solve(solver, b, x, result);
    float *solution = read_vector(x), *after = read_vector(b);
    CHECK(memcmp(after, bs, vector_count(b) * sizeof *bs) == 0);
    memcpy(xs, solution, vector_count(x) * sizeof *xs);
    CHECK_PADDING(x);
    free(solution), free(after);
  }
  ts_solver_destroy(&solver);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  return status;
}

int has_one_reduction(ts_context *context) {
  ref_matrix m = ref_grid(3, 3);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const ts_solver_desc desc = {.reductions = 1};
  ts_solver *cg = NULL;
  const ts_status status = create_solver(matrix, TS_METHOD_CG, &desc, &cg);
  if (status < 0) {
    CHECK_INT(status, TS_ERROR_UNSUPPORTED);
    CHECK_CONTAINS(ts_last_error(context), "only 2 reductions");
  }
  ts_solver_destroy(&cg);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
  return status == TS_OK;
}
