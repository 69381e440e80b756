#include "krylov_solve.h"

const krylov_method krylov_methods[KRYLOV_METHODS] = {{"bicgstab", TS_METHOD_BICGSTAB},
                                                      {"gmres", TS_METHOD_GMRES}};

ts_status krylov_solve(const krylov_method *method, ts_matrix *matrix, const ts_solver_desc *desc,
                       int components, const float *bs, float *xs, ts_result *result) {
  ts_space *space = ts_matrix_row_space(matrix);
  ts_vector *b = make_vector(space, components, bs), *x = make_vector(space, components, xs);
  ts_solver *solver = NULL;
  ts_status status = create_solver(matrix, method->method, desc, &solver);
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
