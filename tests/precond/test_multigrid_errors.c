/* Refusals of multigrid: the status, and a message that names the fault and its value. */
#include "common/core/core.h"
#include "grid_solve.h"

static ts_context *context;

static grid_sample square(void) {
  return grid_poisson(&(grid_problem){40, 33, "DDDD", NULL, NULL, 0});
}

static void refuse(ts_matrix *matrix, ts_multigrid_desc desc, ts_status status, const char *field,
                   const char *value) {
  ts_multigrid *multigrid = NULL;
  const size_t bytes = context_info(context).bytes_device;
  CHECK_FAILS(context, ts_multigrid_create(matrix, &desc, &multigrid), status, field, value);
  CHECK(multigrid == NULL);
  CHECK_INT(context_info(context).bytes_device, bytes);
}

static void bad_fields(void) {
  grid_sample sample = square();
  ts_matrix *matrix = make_stencil(context, &sample);
#define REFUSE(field, number, text)                                                                            \
  refuse(matrix, (ts_multigrid_desc){.field = number}, TS_ERROR_INVALID_ARGUMENT, #field " is ", text)
  REFUSE(smoother, (ts_smoother)9, "9");
  REFUSE(storage, (ts_grid_storage)9, "9");
  REFUSE(interpolation, (ts_interpolation)9, "9");
  REFUSE(cycle, (ts_cycle)9, "9");
  REFUSE(pre, -1, "-1");
  REFUSE(post, 17, "17");
  REFUSE(damping, -0.5, "-0.5");
  REFUSE(damping, 1.5, "1.5");
  REFUSE(damping, NAN, "nan");
  REFUSE(max_levels, -2, "-2");
  REFUSE(coarsest_sweeps, 1001, "1001");
  REFUSE(rtol, -1, "-1");
  REFUSE(rtol, NAN, "nan");
  REFUSE(rtol, 1, "1");
  REFUSE(max_cycles, -3, "-3");
  static const ts_smoother coloured[] = {TS_SMOOTHER_AUTO, TS_SMOOTHER_RED_BLACK, TS_SMOOTHER_FOUR_COLOUR};
  for (int k = 0; k < 3; k++) {
    const ts_multigrid_desc desc = {.smoother = coloured[k], .storage = TS_GRID_STORAGE_PLAIN};
    refuse(matrix, desc, TS_ERROR_UNSUPPORTED, "plain", "parities");
  }
  for (int s = TS_GRID_STORAGE_PLAIN; s <= TS_GRID_STORAGE_PARITIES; s++) {
    if (context->caps.grid_storages & 1u << s) continue;
    const ts_multigrid_desc desc = {.smoother = TS_SMOOTHER_JACOBI, .storage = (ts_grid_storage)s};
    refuse(matrix, desc, TS_ERROR_UNSUPPORTED, ts_grid_storage_name((ts_grid_storage)s), "parities");
  }
  ts_matrix_destroy(&matrix);
  grid_free(&sample);
}

#define INVALID(call, ...) CHECK_FAILS(context, call, TS_ERROR_INVALID_ARGUMENT, __VA_ARGS__)
#define INCOMPATIBLE(call, ...) CHECK_FAILS(context, call, TS_ERROR_INCOMPATIBLE, __VA_ARGS__)

static void bad_calls(void) {
  grid_sample sample = square();
  ref_matrix rows = ref_grid(5, 5);
  ts_matrix *matrix = make_stencil(context, &sample), *csr = make_matrix(context, &rows, TS_FORMAT_AUTO);
  ts_multigrid *multigrid = make_multigrid(matrix, NULL), *none = NULL;
  ts_space *grid = ts_matrix_get_row_space(matrix), *other = make_grid(context, &sample.grid);
  ts_vector *b = make_vector(grid, 1, NULL), *x = make_vector(grid, 1, NULL), *two = make_vector(grid, 2, NULL);
  ts_vector *elsewhere = make_vector(other, 1, NULL);
  ts_multigrid_info info;
  REQUIRE(multigrid != NULL);
  INVALID(ts_multigrid_create(csr, NULL, &none), "not a stencil");
  INVALID(ts_multigrid_create(matrix, NULL, NULL), "multigrid is NULL");
  CHECK_FAILS(NULL, ts_multigrid_create(NULL, NULL, &none), TS_ERROR_INVALID_ARGUMENT, "stencil is NULL");
  INVALID(ts_multigrid_solve(multigrid, NULL, x, NULL), "b is NULL");
  INVALID(ts_multigrid_solve(multigrid, b, NULL, NULL), "x is NULL");
  INVALID(ts_multigrid_solve(multigrid, x, x, NULL), "same vector");
  INCOMPATIBLE(ts_multigrid_solve(multigrid, two, x, NULL), "b has 2 components");
  INCOMPATIBLE(ts_multigrid_solve(multigrid, b, two, NULL), "x has 2 components");
  INCOMPATIBLE(ts_multigrid_solve(multigrid, b, elsewhere, NULL), "x is not over the stencil's grid");
  INVALID(ts_multigrid_cycle(multigrid, b, NULL, 1), "x is NULL");
  INVALID(ts_multigrid_cycle(multigrid, x, x, 1), "same vector");
  INVALID(ts_multigrid_cycle(multigrid, b, x, 0), "count is 0");
  INCOMPATIBLE(ts_multigrid_cycle(multigrid, elsewhere, x, 1), "b is not over the stencil's grid");
  INVALID(ts_multigrid_read_level(multigrid, -1, NULL, (ts_array){0}), "level is -1");
  INVALID(ts_multigrid_read_level(multigrid, 9, NULL, (ts_array){0}), "level is 9", "0 to ");
  INVALID(ts_multigrid_get_info(multigrid, NULL), "info is NULL");
  CHECK_FAILS(NULL, ts_multigrid_get_info(NULL, &info), TS_ERROR_INVALID_ARGUMENT, "multigrid is NULL");
  CHECK_FAILS(NULL, ts_multigrid_update(NULL), TS_ERROR_INVALID_ARGUMENT, "multigrid is NULL");
  CHECK_FAILS(NULL, ts_multigrid_solve(NULL, b, x, NULL), TS_ERROR_INVALID_ARGUMENT, "multigrid is NULL");
  /* New values require an update. */
  CHECK_OK(context, ts_stencil_set_values(matrix, stencil_of(matrix, sample.values)));
  INVALID(ts_multigrid_cycle(multigrid, b, x, 1), "ts_multigrid_update");
  INVALID(ts_multigrid_solve(multigrid, b, x, NULL), "ts_multigrid_update");
  CHECK_OK(context, ts_multigrid_update(multigrid));
  CHECK_OK(context, ts_multigrid_cycle(multigrid, b, x, 1));
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_vector_destroy(&two);
  ts_vector_destroy(&elsewhere);
  ts_space_destroy(&other);
  ts_multigrid_destroy(&multigrid);
  ts_matrix_destroy(&matrix);
  ts_matrix_destroy(&csr);
  ref_free(&rows);
  grid_free(&sample);
}

/* The multigrid keeps a reference to its matrix. */
static void order_of_destruction(void) {
  grid_sample sample = square();
  ts_matrix *matrix = make_stencil(context, &sample);
  ts_multigrid *multigrid = make_multigrid(matrix, NULL);
  ts_space *grid = ts_matrix_get_row_space(matrix);
  ts_vector *b = make_vector(grid, 1, NULL), *x = make_vector(grid, 1, NULL);
  ts_matrix_destroy(&matrix);
  CHECK_OK(context, ts_multigrid_cycle(multigrid, b, x, 2));
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_multigrid_destroy(&multigrid);
  ts_multigrid_destroy(&multigrid);
  ts_multigrid_destroy(NULL);
  grid_free(&sample);
}

static void preconditioner(void) {
  grid_sample sample = square();
  ts_matrix *matrix = make_stencil(context, &sample), *other = make_stencil(context, &sample);
  ts_multigrid *multigrid = make_multigrid(matrix, NULL);
  ts_preconditioner *M = NULL;
  ts_preconditioner_desc cycle = {.kind = TS_PRECONDITIONER_MULTIGRID};
  INVALID(ts_preconditioner_create(matrix, &cycle, &M), "multigrid is NULL");
  cycle.multigrid = multigrid;
  INCOMPATIBLE(ts_preconditioner_create(other, &cycle, &M), "another space");
  cycle.kind = TS_PRECONDITIONER_JACOBI;
  INVALID(ts_preconditioner_create(matrix, &cycle, &M), "multigrid is set");
  CHECK(M == NULL);
  M = make_cycle(multigrid);
  ts_solver *cg = NULL;
  ts_solver_desc desc = {.preconditioner = M};
  INCOMPATIBLE(ts_solver_create(other, &desc, &cg), "another space");
  desc.preconditioner_kind = TS_PRECONDITIONER_NONE;
  INVALID(ts_solver_create(matrix, &desc, &cg), "both set");
  desc = (ts_solver_desc){.preconditioner = M, .reductions = 1};
  CHECK_FAILS(context, ts_solver_create(matrix, &desc, &cg), TS_ERROR_UNSUPPORTED, "reductions is 1");
  desc = (ts_solver_desc){.preconditioner_kind = TS_PRECONDITIONER_MULTIGRID};
  INVALID(ts_solver_create(matrix, &desc, &cg), "which needs more than the matrix");
  CHECK(cg == NULL);
  desc = (ts_solver_desc){.preconditioner = M};
  CHECK_OK(context, ts_solver_create(matrix, &desc, &cg));
  ts_preconditioner_destroy(&M); /* the solver keeps a reference */
  ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 2, NULL);
  ts_vector *x = make_vector(ts_matrix_get_row_space(matrix), 2, NULL);
  ts_result result;
  INCOMPATIBLE(ts_solver_solve(cg, b, x, &result), "2 components");
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_solver_destroy(&cg);
  ts_multigrid_destroy(&multigrid);
  ts_matrix_destroy(&matrix);
  ts_matrix_destroy(&other);
  grid_free(&sample);
}

static void names(void) {
#define CHECK_NAMES(prefix, last)                                                                              \
  do {                                                                                                         \
    for (int k = 0; k <= (int)(last); k++) CHECK_INT(prefix##_from_name(prefix##_name((prefix)k)), k);         \
    CHECK(prefix##_name((prefix)((int)(last) + 1)) == NULL && prefix##_name((prefix)-1) == NULL);              \
    CHECK_INT(prefix##_from_name("nonsense"), -1);                                                             \
    CHECK_INT(prefix##_from_name(NULL), -1);                                                                   \
  } while (0)
  CHECK_NAMES(ts_boundary, TS_BOUNDARY_PERIODIC);
  CHECK_NAMES(ts_smoother, TS_SMOOTHER_FOUR_COLOUR);
  CHECK_NAMES(ts_grid_storage, TS_GRID_STORAGE_PARITIES);
  CHECK_NAMES(ts_interpolation, TS_INTERPOLATION_OPERATOR);
  CHECK_NAMES(ts_cycle, TS_CYCLE_F);
  CHECK(strcmp(ts_smoother_name(TS_SMOOTHER_RED_BLACK), "red-black") == 0);
}

TEST_MAIN(CASES_IN_CONTEXT(bad_fields, bad_calls, order_of_destruction, preconditioner), CASES(names))
