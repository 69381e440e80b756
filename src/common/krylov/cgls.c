/* CGLS: its descriptor, its workspace, and the checks before a solve. */
#include <math.h>

#include "cgls.h"
#include "common/core/core.h"
#include "krylov.h"

enum { NUMBERS = 3 }; /* of an iteration */

static ts_status check_matrices(ts_context *context, const ts_matrix *A, const ts_matrix *At) {
  if (At->context != context)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "matrix and transposed belong to different contexts");
  if (A->info.rows != At->info.columns || A->info.columns != At->info.rows)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "transposed is %d x %d; the matrix is %d x %d",
                    At->info.rows, At->info.columns, A->info.rows, A->info.columns);
  if (A->row_space != At->column_space || A->column_space != At->row_space)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE,
                    "transposed is not over the matrix's spaces; create it with ts_matrix_column_space as "
                    "row_space and ts_matrix_row_space as column_space");
  if (A->row_space->locked || At->row_space->locked)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "the matrix has locked rows, which CGLS does not take");
  return TS_OK;
}

static void free_solver(ts_cgls *k) {
  tsi_free(k->context, k->history);
  tsi_free(k->context, k->numbers);
  tsi_free(k->context, k);
}

ts_status ts_cgls_create(ts_matrix *matrix, ts_matrix *transposed, const ts_krylov_desc *desc,
                         ts_cgls **solver) {
  TSI_REQUIRE(NULL, matrix);
  ts_context *context = matrix->context;
  tsi_clear_error(context);
  TSI_REQUIRE(context, solver);
  *solver = NULL;
  TSI_REQUIRE(context, transposed);
  TSI_TRY(check_matrices(context, matrix, transposed));
  ts_krylov_desc resolved;
  TSI_TRY(tsi_krylov_resolve(context, matrix->info.columns, desc, &resolved));
  if (resolved.preconditioner == TS_PRECONDITIONER_JACOBI && !transposed->host_copy)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the Jacobi preconditioner needs a transposed matrix made with keep_host_copy");
  ts_cgls *k = tsi_calloc(context, 1, sizeof *k);
  if (!k) return tsi_out_of_memory(context, "a solver", sizeof *k);
  k->context = context;
  k->matrix = matrix;
  k->transposed = transposed;
  k->desc = resolved;
  k->overlap = context->caps.check_overlap < resolved.check_interval ? context->caps.check_overlap : 0;
  k->ring = resolved.check_interval + k->overlap + 1;
  k->history = tsi_malloc(context, (size_t)k->ring, sizeof *k->history);
  k->numbers = tsi_malloc(context, TSI_CGLS_RING + NUMBERS * (size_t)k->ring, 4 * sizeof *k->numbers);
  if (!k->history || !k->numbers) {
    const size_t bytes = (size_t)k->ring * 4 * sizeof(float);
    free_solver(k);
    return tsi_out_of_memory(context, "a solver", bytes);
  }
  matrix->references++;
  transposed->references++;
  *solver = k;
  return TS_OK;
}

static void destroy_workspace(ts_cgls *k) {
  for (int i = 0; i < k->column_vector_count; i++) ts_vector_destroy(&k->column_vectors[i]);
  for (int i = 0; i < TSI_CGLS_ROW_VECTORS; i++) ts_vector_destroy(&k->row_vectors[i]);
  ts_scalars_destroy(&k->slots);
  k->components = 0;
}

void ts_cgls_destroy(ts_cgls **solver) {
  if (!solver || !*solver) return;
  ts_cgls *k = *solver;
  ts_context *context = k->context;
  destroy_workspace(k);
  tsi_enter_to_destroy(context);
  tsi_matrix_release(k->matrix);
  tsi_matrix_release(k->transposed);
  tsi_leave(context, TS_OK);
  free_solver(k);
  *solver = NULL;
}

/* The slots are apart from the vectors: sums over both spaces go into them. */
static ts_status create_vectors(ts_cgls *k, int components) {
  const ts_scalars_desc slots = {.count = TSI_CGLS_RING + NUMBERS * k->ring};
  TSI_TRY(ts_scalars_create(k->context, &slots, &k->slots));
  k->column_vector_count = TSI_CGLS_COLUMN_VECTORS + tsi_needs_scratch(k->context);
  TSI_TRY(tsi_enter(k->context));
  ts_status status =
      tsi_group_create(k->matrix->column_space, components, k->column_vectors, k->column_vector_count, 0, NULL);
  if (status == TS_OK)
    status = tsi_group_create(k->matrix->row_space, components, k->row_vectors, TSI_CGLS_ROW_VECTORS, 0, NULL);
  return tsi_leave(k->context, status);
}

static ts_status create_workspace(ts_cgls *k, int components) {
  if (k->components == components) return TS_OK;
  destroy_workspace(k);
  const ts_status status = create_vectors(k, components);
  if (status < 0) {
    destroy_workspace(k);
    return status;
  }
  k->x = k->column_vectors[0];
  k->x_new = k->column_vectors[1];
  k->e = k->column_vectors[2];
  k->s = k->column_vectors[3];
  k->p = k->column_vectors[4];
  k->m = k->column_vectors[5];
  k->scratch = tsi_needs_scratch(k->context) ? k->column_vectors[6] : NULL;
  k->b = k->row_vectors[0];
  k->r = k->row_vectors[1];
  k->q = k->row_vectors[2];
  k->components = components;
  return TS_OK;
}

/* m from the sums of squares of A's columns, which are rows of A^T. A column of zeros has 0. */
static ts_status write_preconditioner(ts_cgls *k) {
  if (k->desc.preconditioner != TS_PRECONDITIONER_JACOBI) return TS_OK;
  ts_csr rows;
  TSI_TRY(ts_matrix_host_copy(k->transposed, &rows));
  const size_t count = (size_t)rows.rows * (size_t)k->components;
  float *values = tsi_malloc(k->context, count, sizeof *values);
  if (!values) return tsi_out_of_memory(k->context, "a preconditioner", count * sizeof *values);
  float *next = values;
  double all = 0;
  for (int32_t i = 0; i < rows.rows; i++) {
    double squares = 0;
    for (int32_t l = rows.row_offsets[i]; l < rows.row_offsets[i + 1]; l++) {
      const double value = ldexp(rows.values[l], -k->exponent);
      squares += value * value;
    }
    all += squares;
    for (int c = 0; c < k->components; c++) *next++ = squares > 0 ? (float)(1 / squares) : 0;
  }
  k->frobenius = sqrt(all);
  const ts_status status = ts_vector_write(k->m, values, count);
  tsi_free(k->context, values);
  return status;
}

ts_status ts_cgls_solve(ts_cgls *solver, const ts_vector *b, ts_vector *x, ts_cg_result *result) {
  TSI_REQUIRE(NULL, solver);
  ts_context *context = solver->context;
  tsi_clear_error(context);
  TSI_REQUIRE(context, b);
  TSI_REQUIRE(context, x);
  TSI_TRY(tsi_check_space(b, solver->matrix->row_space, "b", "the solver", "the matrix's row space",
                          "ts_matrix_row_space"));
  TSI_TRY(tsi_check_space(x, solver->matrix->column_space, "x", "the solver", "the matrix's column space",
                          "ts_matrix_column_space"));
  TSI_TRY(tsi_check_components(b, x));
  ts_cg_result own;
  if (!result) result = &own;
  *result = (ts_cg_result){.delta_ratio = NAN, .relative_residual = NAN, .attainable_residual = NAN};
  TSI_TRY(create_workspace(solver, b->components));
  solver->exponent = tsi_scale_exponent(solver->matrix);
  TSI_TRY(write_preconditioner(solver));
  const uint64_t waits = context->waits;
  TSI_TRY(tsi_enter(context));
  TSI_TRY(tsi_leave(context, tsi_cgls_run(solver, b, x, result)));
  result->waits = (int)(context->waits - waits);
  return result->reason <= TS_REASON_ZERO_RESIDUAL ? TS_OK : TS_NOT_CONVERGED;
}
