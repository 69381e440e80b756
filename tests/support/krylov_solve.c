#include "krylov_solve.h"

const krylov_method krylov_methods[KRYLOV_METHODS] = {{"bicgstab", ts_bicgstab_create},
                                                      {"gmres", ts_gmres_create}};

ts_status krylov_solve(const krylov_method *method, ts_matrix *matrix, const ts_krylov_desc *desc,
                       int components, const float *bs, float *xs, ts_cg_result *result) {
  ts_space *space = ts_matrix_row_space(matrix);
  ts_vector *b = make_vector(space, components, bs), *x = make_vector(space, components, xs);
  ts_krylov *solver = NULL;
  ts_status status = method->create(matrix, desc, &solver);
  memset(result, 0x55, sizeof *result);
  if (CHECK_INT(status, TS_OK) && b && x) {
    status = ts_krylov_solve(solver, b, x, result);
    float *solution = read_vector(x), *after = read_vector(b);
    CHECK(memcmp(after, bs, vector_count(b) * sizeof *bs) == 0);
    memcpy(xs, solution, vector_count(x) * sizeof *xs);
    CHECK_PADDING(x);
    free(solution), free(after);
  }
  ts_krylov_destroy(&solver);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  return status;
}
