/* Krylov solvers for matrices that are not symmetric: descriptor, workspace, and the checks before a solve. */
#include <math.h>
#include <stdio.h>

#include "common/core/core.h"
#include "krylov.h"

ts_status tsi_krylov_resolve(ts_context *context, int32_t unknowns, const ts_krylov_desc *desc,
                             ts_krylov_desc *out) {
  static const ts_krylov_desc defaults;
  *out = desc ? *desc : defaults;
  if (out->preconditioner != TS_PRECONDITIONER_JACOBI && out->preconditioner != TS_PRECONDITIONER_NONE)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "preconditioner is %d; it is TS_PRECONDITIONER_JACOBI (%d) or TS_PRECONDITIONER_NONE (%d)",
                    out->preconditioner, TS_PRECONDITIONER_JACOBI, TS_PRECONDITIONER_NONE);
  if (!(out->rtol >= 0 && out->rtol < 1))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "rtol is %g; it must be at least 0 and less than 1",
                    out->rtol);
  if (out->max_iterations < 0)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "max_iterations is %d, less than 0",
                    out->max_iterations);
  if (out->check_interval < 0 || out->check_interval > 1024)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "check_interval is %d; it goes from 1 to 1024, or 0 for the default", out->check_interval);
  if (out->restart < 0 || out->restart > 200)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "restart is %d; it goes from 1 to 200, or 0 for the default", out->restart);
  if (out->restart == 0) out->restart = 30;
  if (out->restart > unknowns) out->restart = unknowns;
  if (out->rtol == 0) out->rtol = 1e-5;
  if (out->max_iterations == 0) {
    const double wanted = 10.0 * unknowns;
    out->max_iterations = wanted < 1000 ? 1000 : wanted > 100000 ? 100000 : (int)wanted;
  }
  if (out->check_interval == 0) out->check_interval = context->caps.check_interval;
  return TS_OK;
}

static void free_solver(ts_krylov *k) {
  tsi_free(k->context, k->history);
  tsi_free(k->context, k->work);
  tsi_free(k->context, k->numbers);
  tsi_free(k->context, k->vectors);
  tsi_free(k->context, k);
}

/* How many there are, with a preconditioner or without. */
static int vectors_with(const ts_krylov *k, int m) {
  enum { shared = 4 };
  return shared + 2 * m + tsi_needs_scratch(k->context) + k->own_vectors;
}

static ts_status create(ts_matrix *matrix, const ts_krylov_desc *desc, const tsi_krylov_method *method,
                        ts_krylov **out) {
  ts_context *context = matrix->context;
  TSI_REQUIRE(context, out);
  *out = NULL;
  if (!matrix->has_diagonal)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "%s needs a square matrix with one space for rows and columns; this one is %d x %d",
                    method->name, matrix->info.rows, matrix->info.columns);
  ts_krylov_desc resolved;
  TSI_TRY(tsi_krylov_resolve(context, matrix->info.rows, desc, &resolved));
  ts_krylov *k = tsi_calloc(context, 1, sizeof *k);
  if (!k) return tsi_out_of_memory(context, "a solver", sizeof *k);
  k->context = context;
  k->matrix = matrix;
  k->method = method;
  k->desc = resolved;
  k->overlap = context->caps.check_overlap < resolved.check_interval ? context->caps.check_overlap : 0;
  method->plan(k);
  k->vectors = tsi_calloc(context, (size_t)vectors_with(k, 1), sizeof(ts_vector *));
  k->history = tsi_malloc(context, (size_t)k->history_size, sizeof *k->history);
  k->numbers = tsi_malloc(context, (size_t)TSI_KRYLOV_OWN + (size_t)k->own_slots, 4 * sizeof *k->numbers);
  k->work = tsi_malloc(context, (size_t)k->work_size + 1, sizeof *k->work);
  if (!k->vectors || !k->history || !k->numbers || !k->work) {
    const size_t bytes = (size_t)k->own_slots * 4 * sizeof(float);
    free_solver(k);
    return tsi_out_of_memory(context, "a solver", bytes);
  }
  matrix->references++;
  *out = k;
  return TS_OK;
}

ts_status ts_bicgstab_create(ts_matrix *matrix, const ts_krylov_desc *desc, ts_krylov **solver) {
  TSI_REQUIRE(NULL, matrix);
  tsi_clear_error(matrix->context);
  return create(matrix, desc, &tsi_bicgstab, solver);
}

ts_status ts_gmres_create(ts_matrix *matrix, const ts_krylov_desc *desc, ts_krylov **solver) {
  TSI_REQUIRE(NULL, matrix);
  tsi_clear_error(matrix->context);
  return create(matrix, desc, &tsi_gmres, solver);
}

static void destroy_workspace(ts_krylov *k) {
  for (int i = 0; i < k->vector_count; i++) ts_vector_destroy(&k->vectors[i]);
  ts_scalars_destroy(&k->slots);
  k->components = k->vector_count = 0;
}

void ts_krylov_destroy(ts_krylov **out) {
  if (!out || !*out) return;
  ts_krylov *k = *out;
  ts_context *context = k->context;
  destroy_workspace(k);
  tsi_enter_to_destroy(context);
  tsi_matrix_release(k->matrix);
  tsi_leave(context, TS_OK);
  free_solver(k);
  *out = NULL;
}

static ts_status create_workspace(ts_krylov *k, int components) {
  const int m = k->desc.preconditioner == TS_PRECONDITIONER_JACOBI || tsi_scale_exponent(k->matrix);
  if (k->components == components && !k->m == !m) return TS_OK;
  destroy_workspace(k);
  k->vector_count = vectors_with(k, m);
  TSI_TRY(tsi_enter(k->context));
  TSI_TRY(tsi_leave(k->context, tsi_group_create(k->matrix->row_space, components, k->vectors, k->vector_count,
                                                 TSI_KRYLOV_OWN + k->own_slots, &k->slots)));
  ts_vector **next = k->vectors;
  k->r = *next++;
  k->x = *next++;
  k->x_new = *next++;
  k->b = *next++;
  k->m = m ? *next++ : NULL;
  k->z = k->m ? *next++ : NULL;
  k->scratch = tsi_needs_scratch(k->context) ? *next++ : NULL;
  k->own = next;
  k->components = components;
  const ts_status status = k->method->prepare ? k->method->prepare(k) : TS_OK;
  if (status < 0) destroy_workspace(k);
  return status;
}

/* What the matrix alone tells. */
static int refuse(const ts_krylov *k, ts_cg_result *result) {
  const ts_matrix_info *info = &k->matrix->info;
  if (k->desc.preconditioner != TS_PRECONDITIONER_JACOBI || info->zero_diagonal_row < 0) return 0;
  result->reason = TS_REASON_ZERO_DIAGONAL;
  snprintf(result->message, sizeof result->message,
           "the Jacobi preconditioner needs a diagonal without zeros; it is 0 or missing in row %d",
           info->zero_diagonal_row);
  return 1;
}

ts_status ts_krylov_solve(ts_krylov *solver, const ts_vector *b, ts_vector *x, ts_cg_result *result) {
  TSI_REQUIRE(NULL, solver);
  ts_context *context = solver->context;
  tsi_clear_error(context);
  TSI_REQUIRE(context, b);
  TSI_REQUIRE(context, x);
  const ts_space *space = solver->matrix->row_space;
  TSI_TRY(tsi_check_space(b, space, "b", "the solver", "the matrix's space", "ts_matrix_row_space"));
  TSI_TRY(tsi_check_space(x, space, "x", "the solver", "the matrix's space", "ts_matrix_row_space"));
  TSI_TRY(tsi_check_components(b, x));

  ts_cg_result own;
  if (!result) result = &own;
  *result = (ts_cg_result){.delta_ratio = NAN, .relative_residual = NAN, .attainable_residual = NAN};
  TSI_TRY(create_workspace(solver, b->components));
  if (refuse(solver, result)) {
    if (solver->desc.zero_start) TSI_TRY(ts_vector_fill(x, 0));
    return TS_NOT_CONVERGED;
  }
  const uint64_t waits = context->waits;
  TSI_TRY(tsi_enter(context));
  TSI_TRY(tsi_leave(context, tsi_krylov_run(solver, b, x, result)));
  result->waits = (int)(context->waits - waits);
  return result->reason <= TS_REASON_ZERO_RESIDUAL ? TS_OK : TS_NOT_CONVERGED;
}
