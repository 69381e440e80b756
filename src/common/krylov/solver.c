/* Krylov solvers: creation, what is checked before a solve, the solve. */
#include <math.h>
#include <stdio.h>

#include "common/core/core.h"
#include "solver.h"

/* ---- Creation ---- */

static const tsi_method *method_of(ts_method method) {
  switch (method) {
  case TS_METHOD_BICGSTAB:
    return &tsi_bicgstab;
  case TS_METHOD_GMRES:
    return &tsi_gmres;
  case TS_METHOD_CGLS:
    return &tsi_cgls;
  case TS_METHOD_RICHARDSON:
    return &tsi_richardson;
  default:
    return &tsi_cg;
  }
}

static void free_solver(ts_solver *k) {
  tsi_free(k->context, k->history);
  tsi_free(k->context, k->work);
  tsi_free(k->context, k->numbers);
  tsi_free(k->context, k->vectors);
  tsi_free(k->context, k);
}

/* auto becomes Jacobi, or AMG, which is made. */
static ts_status settle_auto(ts_matrix *A, ts_solver_desc *desc, ts_preconditioner **made) {
  if (desc->preconditioner_kind != TS_PRECONDITIONER_AUTO || desc->preconditioner) return TS_OK;
  desc->preconditioner_kind = TS_PRECONDITIONER_JACOBI;
  if (desc->transposed || !A->has_diagonal) return TS_OK;
  const ts_preconditioner_desc how = {.kind = TS_PRECONDITIONER_AUTO};
  TSI_TRY(ts_preconditioner_create(A, &how, made));
  desc->preconditioner_kind = ts_preconditioner_get_kind(*made);
  if (tsi_preconditioner_is_diagonal(*made)) ts_preconditioner_destroy(made);
  return TS_OK;
}

/* A preconditioner that the solver makes by itself is its own. */
static ts_status take_preconditioner(ts_solver *k) {
  if (k->preconditioner) return TS_OK; /* made by settle_auto */
  if (k->desc.preconditioner) {
    k->preconditioner = k->desc.preconditioner;
    tsi_preconditioner_retain(k->preconditioner);
    return TS_OK;
  }
  if (!tsi_solver_makes(k->desc.preconditioner_kind)) return TS_OK;
  const ts_preconditioner_desc desc = {.kind = k->desc.preconditioner_kind};
  return ts_preconditioner_create(k->matrix, &desc, &k->preconditioner);
}

/* Of a descriptor without auto; `made` is what auto has become. */
static ts_status create(ts_matrix *matrix, const ts_solver_desc *desc, ts_preconditioner *made,
                        ts_solver **solver) {
  ts_context *context = matrix->context;
  ts_solver_desc resolved;
  TSI_TRY(tsi_solver_resolve(matrix, desc, &resolved));
  ts_solver *k = tsi_calloc(context, 1, sizeof *k);
  if (!k) return tsi_out_of_memory(context, "a solver", sizeof *k);
  k->context = context;
  k->preconditioner = made;
  k->matrix = matrix;
  k->transposed = resolved.transposed;
  k->method = method_of(resolved.method);
  k->desc = resolved;
  k->on_device = resolved.method == TS_METHOD_CG && tsi_cg_runs_on_device(matrix, &resolved);
  k->pipelined = (int)context->tuning.pipelined_iterations;
  if (k->on_device || k->pipelined >= resolved.check_interval) k->pipelined = 0;
  k->method->plan(k);
  ts_status status = tsi_solver_allocate(k);
  if (status == TS_OK) status = take_preconditioner(k);
  if (status < 0) {
    free_solver(k);
    return status;
  }
  matrix->references++;
  if (k->transposed) k->transposed->references++;
  *solver = k;
  return TS_OK;
}

/* With auto. */
static ts_status create_any(ts_matrix *matrix, const ts_solver_desc *desc, ts_solver **solver) {
  static const ts_solver_desc defaults;
  ts_solver_desc settled = desc ? *desc : defaults;
  ts_preconditioner *made = NULL;
  TSI_TRY(settle_auto(matrix, &settled, &made));
  const ts_status status = create(matrix, &settled, made, solver);
  if (status < 0) ts_preconditioner_destroy(&made);
  return status;
}

ts_status ts_solver_create(ts_matrix *matrix, const ts_solver_desc *desc, ts_solver **solver) {
  TSI_BEGIN(matrix, matrix->context);
  ts_context *context = matrix->context;
  TSI_REQUIRE(context, solver);
  *solver = NULL;
  tsi_begin_together(context);
  const ts_status status = tsi_end_together(context, create_any(matrix, desc, solver));
  if (status < 0) ts_solver_destroy(solver);
  return status;
}

ts_preconditioner_kind ts_solver_get_preconditioner_kind(const ts_solver *solver) {
  if (!solver) return TS_PRECONDITIONER_NONE;
  return solver->preconditioner ? solver->preconditioner->desc.kind : solver->desc.preconditioner_kind;
}

void ts_solver_destroy(ts_solver **solver) {
  if (!solver || !*solver) return;
  ts_solver *k = *solver;
  ts_context *context = k->context;
  tsi_solver_destroy_workspace(k);
  ts_preconditioner_destroy(&k->preconditioner);
  tsi_enter_to_destroy(context);
  tsi_matrix_release(k->matrix);
  if (k->transposed) tsi_matrix_release(k->transposed);
  tsi_leave(context, TS_OK);
  free_solver(k);
  *solver = NULL;
}

/* ---- The solve ---- */

/* The solver's own preconditioner, where the matrix has other values than it was made from. */
static ts_status update_preconditioner(const ts_solver *k) {
  ts_preconditioner *M = k->desc.preconditioner ? NULL : k->preconditioner;
  return M && M->changes != k->matrix->changes ? ts_preconditioner_update(M) : TS_OK;
}

static ts_status check_vectors(const ts_solver *k, const ts_vector *b, const ts_vector *x) {
  const ts_matrix *A = k->matrix;
  const int square = A->row_space == A->column_space;
  TSI_TRY(tsi_check_space(b, A->row_space, "b", "the solver",
                          square ? "the matrix's space" : "the matrix's row space", "ts_matrix_row_space"));
  TSI_TRY(tsi_check_space(x, A->column_space, "x", "the solver",
                          square ? "the matrix's space" : "the matrix's column space",
                          square ? "ts_matrix_row_space" : "ts_matrix_column_space"));
  TSI_TRY(tsi_check_components(b, x));
  return k->preconditioner ? tsi_preconditioner_check(k->preconditioner, b->components) : TS_OK;
}

/* What the matrix alone tells: the method would not work. */
static int refuse(const ts_solver *k, ts_result *result) {
  const ts_matrix_info *info = &k->matrix->info;
  if (k->method == &tsi_cg && !info->symmetric) {
    result->reason = TS_REASON_NOT_SYMMETRIC;
    snprintf(result->message, sizeof result->message,
             "the matrix is not symmetric: the entry in row %d, column %d differs from its mirror",
             info->unsymmetric_row, info->unsymmetric_column);
    return 1;
  }
  if (!k->transposed && ts_solver_get_preconditioner_kind(k) == TS_PRECONDITIONER_JACOBI &&
      info->zero_diagonal_row >= 0) {
    result->reason = TS_REASON_ZERO_DIAGONAL;
    snprintf(result->message, sizeof result->message,
             "the Jacobi preconditioner needs a diagonal without zeros; it is 0 or missing in row %d",
             info->zero_diagonal_row);
    return 1;
  }
  return 0;
}

/* ts_last_error has the reason too. */
static ts_status conclude(ts_context *context, const ts_result *result) {
  if (result->reason <= TS_REASON_FIXED_ITERATIONS) return TS_OK;
  return tsi_fail(context, TS_NOT_CONVERGED, "%s", result->message);
}

static ts_status run(tsi_solve *s, const ts_vector *b, ts_vector *x) {
  ts_context *context = s->solver->context;
  TSI_TRY(tsi_enter(context));
  return tsi_leave(context, tsi_solver_run(s, b, x));
}

/* The same solve goes on with another workspace. */
static ts_status run_in_pairs(tsi_solve *s, const ts_vector *b, ts_vector *x) {
  ts_vector *kept = s->kept;
  ts_status status = tsi_solver_create_workspace(s->solver, b->components, 1);
  if (status == TS_OK) status = run(s, b, x);
  ts_vector_destroy(&kept);
  return status;
}

static ts_status solve(ts_solver *solver, const ts_vector *b, ts_vector *x, ts_result *result) {
  ts_context *context = solver->context;
  TSI_TRY(update_preconditioner(solver));
  TSI_TRY(tsi_solver_check_symmetric(solver->desc.method, solver->preconditioner));
  TSI_TRY(check_vectors(solver, b, x));
  ts_result own;
  if (!result) result = &own;
  *result = (ts_result){.method = solver->desc.method,
                        .precision = TS_PRECISION_SINGLE,
                        .rounded_residual = NAN,
                        .reduction = NAN,
                        .relative_residual = NAN,
                        .attainable_residual = NAN};
  TSI_TRY(tsi_solver_create_workspace(solver, b->components, solver->desc.precision == TS_PRECISION_DOUBLE));
  if (solver->transposed) TSI_TRY(tsi_cgls_write_jacobi(solver));
  if (refuse(solver, result)) {
    if (solver->desc.zero_start) TSI_TRY(ts_vector_fill(x, 0));
    return conclude(context, result);
  }
  const uint64_t before = context->host_synchronisations;
  tsi_solve s = tsi_solve_of(solver, b, result);
  ts_status status = run(&s, b, x);
  if (s.kept) status = run_in_pairs(&s, b, x);
  if (status < 0) { /* memory, as a rule: what the solve has taken of it goes back */
    tsi_solver_destroy_workspace(solver);
    return status;
  }
  result->host_synchronisations = (int)(context->host_synchronisations - before);
  if (isnan(result->rounded_residual)) result->rounded_residual = result->relative_residual;
  return conclude(context, result);
}

ts_status ts_solver_solve(ts_solver *solver, const ts_vector *b, ts_vector *x, ts_result *result) {
  TSI_BEGIN(solver, solver->context);
  ts_context *context = solver->context;
  TSI_REQUIRE(context, b);
  TSI_REQUIRE(context, x);
  tsi_begin_together(context);
  return tsi_end_together(context, solve(solver, b, x, result));
}

ts_status ts_solve(ts_matrix *matrix, const ts_vector *b, ts_vector *x, const ts_solver_desc *desc,
                   ts_result *result) {
  ts_solver *solver = NULL;
  TSI_TRY(ts_solver_create(matrix, desc, &solver));
  const ts_status status = ts_solver_solve(solver, b, x, result);
  ts_solver_destroy(&solver);
  return status;
}
