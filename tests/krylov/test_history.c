/* ts_solver_get_history: with keep_history a solver keeps every number that a progress callback gets, in every
 * method, through stages and longer cycles of gmres, and begins anew with each solve. */
#include "krylov_solve.h"

static ts_context *context;

enum { ROWS = 60, MOST = 4000 };

typedef struct listener {
  int count;
  double numbers[MOST];
} listener;

static int listen(const ts_progress *progress, void *user) {
  listener *l = user;
  for (int i = 0; i < progress->count && l->count < MOST; i++) l->numbers[l->count++] = progress->history[i];
  return 0;
}

static void check_history(const ts_solver *solver, const listener *l) {
  int count = -1;
  const double *numbers = ts_solver_get_history(solver, &count);
  CHECK_INT(count, l->count);
  CHECK((numbers != NULL) == (count > 0));
  for (int i = 0; i < count && i < l->count; i++)
    if (!(numbers[i] == l->numbers[i]) && !(isnan(numbers[i]) && isnan(l->numbers[i])))
      test_fail(__FILE__, __LINE__, "number %d of %d is %g; the callback got %g", i, count, numbers[i],
                l->numbers[i]);
}

/* Two solves, the second from the solution of the first. Returns how many numbers the first one has. */
static int solve_twice(const ref_matrix *m, ts_solver_desc desc, ts_result *result) {
  static listener l;
  float *bs = ref_values(m->rows, 5, -1, 1);
  ts_matrix *matrix = make_matrix(context, m, TS_FORMAT_AUTO);
  ts_vector *b, *x;
  ts_solver *solver;
  int first = 0;
  desc.keep_history = 1;
  desc.progress = listen;
  desc.progress_user = &l;
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(matrix), NULL, &b));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_column_space(matrix), NULL, &x));
  CHECK_OK(context, ts_vector_write(b, ts_host((const float *)bs, (size_t)m->rows)));
  CHECK_OK(context, ts_solver_create(matrix, &desc, &solver));
  CHECK(ts_solver_get_history(solver, NULL) == NULL);
  for (int i = 0; i < 2; i++) {
    l.count = 0;
    const ts_status status = ts_solver_solve(solver, b, x, result);
    CHECK(status == TS_OK || status == TS_NOT_CONVERGED);
    check_history(solver, &l);
    if (i == 0) first = l.count;
  }
  ts_solver_destroy(&solver);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&matrix);
  free(bs);
  return first;
}

static void methods(void) {
  static const ts_method all[] = {TS_METHOD_CG,  TS_METHOD_MINRES, TS_METHOD_RICHARDSON, TS_METHOD_BICGSTAB,
                                  TS_METHOD_IDR, TS_METHOD_GMRES,  TS_METHOD_CGLS,       TS_METHOD_LSMR};
  ref_matrix symmetric = ref_grid(10, 6), other = ref_convection(10, 6, 1);
  for (int k = 0; k < 8; k++) {
    ts_result result;
    const ts_solver_desc desc = {
        .method = all[k], .preconditioner_kind = k == 2 ? TS_PRECONDITIONER_JACOBI : TS_PRECONDITIONER_NONE};
    test_context_label("%s", ts_method_name(all[k]));
    CHECK(solve_twice(k < 3 ? &symmetric : &other, desc, &result) > 3);
  }
  ref_free(&symmetric), ref_free(&other);
}

/* Auto begins with cg, which finds a negative curvature. */
static void stages(void) {
  ref_matrix m = ref_indefinite(10, 6);
  ts_result result;
  CHECK(solve_twice(&m, (ts_solver_desc){.rtol = 1e-4}, &result) > 3);
  ref_free(&m);
}

/* More numbers than the first memory holds, and cycles that become longer. */
static void long_history(void) {
  ref_matrix shift = ref_cyclic_shift(200), grid = ref_grid(60, 60);
  ts_result result;
  const ts_solver_desc plain = {.preconditioner_kind = TS_PRECONDITIONER_NONE, .max_iterations = 1000};
  ts_solver_desc desc = plain;
  desc.method = TS_METHOD_GMRES;
  CHECK(solve_twice(&shift, desc, &result) > 100);
  desc.method = TS_METHOD_CG;
  desc.check_interval = 1;
  ref_add_jumps(&grid);
  CHECK(solve_twice(&grid, desc, &result) > 100);
  ref_free(&shift), ref_free(&grid);
}

static void without(void) {
  ref_matrix m = ref_grid(10, 6);
  float *bs = ref_values(ROWS, 5, -1, 1);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 1, bs), *x;
  ts_solver *solver;
  int count = -1;
  CHECK_OK(context, ts_vector_create(ts_matrix_get_column_space(matrix), NULL, &x));
  CHECK_OK(context, ts_solver_create(matrix, NULL, &solver));
  CHECK_OK(context, ts_solver_solve(solver, b, x, NULL));
  CHECK(ts_solver_get_history(solver, &count) == NULL);
  CHECK_INT(count, 0);
  CHECK(ts_solver_get_history(NULL, NULL) == NULL);
  ts_solver_destroy(&solver);
  CHECK_FAILS(context,
              ts_solver_create(matrix, &(ts_solver_desc){.fixed_iterations = 3, .keep_history = 1}, &solver),
              TS_ERROR_INVALID_ARGUMENT, "keep_history must be 0");
  ts_vector_destroy(&b), ts_vector_destroy(&x);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
  free(bs);
}

TEST_MAIN(CASES_IN_CONTEXT(methods, stages, long_history, without))
