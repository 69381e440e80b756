/* Krylov solvers: creation, the checks before a solve, the solve. */
#include <math.h>
#include <stdio.h>

#include "common/core/core.h"
#include "common/matrix/operator.h"
#include "common/matrix/transposed.h"
#include "solver.h"
#include "stages.h"

/* ---- Creation ---- */

static const tsi_method *method_of(ts_method method) {
  switch (method) {
  case TS_METHOD_BICGSTAB:
    return &tsi_bicgstab;
  case TS_METHOD_IDR:
    return &tsi_idr;
  case TS_METHOD_GMRES:
    return &tsi_gmres;
  case TS_METHOD_CGLS:
    return &tsi_cgls;
  case TS_METHOD_RICHARDSON:
    return &tsi_richardson;
  case TS_METHOD_MINRES:
    return &tsi_minres;
  case TS_METHOD_LSMR:
    return &tsi_lsmr;
  default:
    return &tsi_cg;
  }
}

static void free_solver(ts_solver *k) {
  tsi_solver_free(k);
  tsi_free(k->context, k);
}

/* Least squares: the caller's A^T, or the matrix's own with its current values; otherwise NULL. The result is
 * borrowed. */
static ts_status find_transposed(ts_matrix *A, const ts_solver_desc *desc, ts_matrix **transposed) {
  *transposed = NULL;
  if (!tsi_is_least_squares(desc->method)) return TS_OK;
  if (desc->transposed && desc->transposed->negated == A->negated) *transposed = desc->transposed;
  return *transposed ? TS_OK : tsi_matrix_transpose(A, transposed);
}

static ts_status update_transposed(ts_solver *k) {
  ts_matrix *transposed, *before = k->transposed;
  TSI_TRY(find_transposed(k->matrix, &k->desc, &transposed));
  if (!transposed || transposed == before) return TS_OK;
  k->transposed = transposed;
  k->jacobi_changes = -1;
  transposed->references++;
  ts_matrix_destroy(&before);
  return TS_OK;
}

/* For A^T A, which is not assembled, the preconditioner is a diagonal written by cgls.c. */
static ts_status make_of_squares(ts_matrix *A, const ts_solver_desc *desc, int is_auto, ts_preconditioner **M) {
  ts_preconditioner_desc how = {.kind = desc->preconditioner_kind};
  ts_matrix *transposed;
  TSI_TRY(find_transposed(A, desc, &transposed));
  if (is_auto) how.kind = transposed->function ? TS_PRECONDITIONER_NONE : TS_PRECONDITIONER_JACOBI;
  return tsi_preconditioner_create(transposed, &how, M);
}

/* The preconditioner of the descriptor, or the solver's own. If auto has nothing to choose, it is a
 * diagonal. */
static ts_status find_preconditioner(ts_matrix *A, const ts_solver_desc *desc, ts_preconditioner **M) {
  ts_preconditioner_desc how = {.kind = desc->preconditioner_kind};
  *M = desc->preconditioner;
  if (*M) {
    tsi_preconditioner_retain(*M);
    return TS_OK;
  }
  const int is_least_squares = tsi_is_least_squares(desc->method),
            is_auto = tsi_preconditioner_row(how.kind)->choose != NULL;
  char why[64] = "";
  /* For an unsymmetric matrix, auto may choose a preconditioner that cg rejects. */
  const int is_wrong_cg = desc->method == TS_METHOD_CG && !A->info.symmetric;
  if (is_auto && (is_least_squares || is_wrong_cg || desc->method == TS_METHOD_MINRES))
    snprintf(why, sizeof why, "the method is %s", ts_method_name(desc->method));
  else if (is_auto && desc->fixed_iterations)
    snprintf(why, sizeof why, "the number of iterations is fixed");
  if (*why && desc->method == TS_METHOD_MINRES) /* its Jacobi handles zeros */
    how.kind = tsi_knows_diagonal(A) ? TS_PRECONDITIONER_JACOBI : TS_PRECONDITIONER_NONE;
  else if (*why && !is_least_squares)
    how.kind = tsi_preconditioner_choose_diagonal(A);
  TSI_TRY(is_least_squares ? make_of_squares(A, desc, *why, M)
                           : tsi_preconditioner_create_for(A, &how, desc->rtol, M));
  if (*why)
    snprintf((*M)->choice, sizeof(*M)->choice, "%s: %s", ts_preconditioner_kind_name((*M)->kind->kind), why);
  return TS_OK;
}

/* Owns M on success. */
static ts_status create_with(ts_matrix *matrix, const ts_solver_desc *desc, ts_solver_desc *resolved,
                             ts_preconditioner *M, ts_solver **solver) {
  ts_context *context = matrix->context;
  if (resolved->method == TS_METHOD_CG) TSI_TRY(tsi_cg_resolve(matrix, M, resolved));
  if (resolved->check_interval == 0) resolved->check_interval = tsi_check_interval(matrix, M);
  ts_solver *k = tsi_calloc(context, 1, sizeof *k);
  if (!k) return tsi_out_of_memory(context, "a solver", sizeof *k);
  k->context = context;
  k->preconditioner = M;
  k->matrix = matrix;
  k->method = method_of(resolved->method);
  k->desc = *resolved;
  k->on_device = resolved->method == TS_METHOD_CG && tsi_cg_runs_on_device(matrix, M, resolved);
  k->pipelined = (int)context->tuning.pipelined_iterations;
  if (k->on_device || k->pipelined >= resolved->check_interval) k->pipelined = 0;
  k->restart_is_open = desc->restart == 0 && !desc->fixed_iterations && !context->ops->ranks;
  k->method->plan(k);
  if (k->most_own_vectors < k->own_vectors) k->most_own_vectors = k->own_vectors;
  ts_status status = tsi_solver_allocate(k);
  if (status == TS_OK) status = update_transposed(k);
  if (status == TS_OK) status = tsi_null_space_create(matrix, resolved, &k->null_space);
  if (status == TS_OK && k->null_space) status = tsi_null_space_prepare(k->null_space, 1);
  k->desc.null_space = NULL;
  if (status < 0) {
    tsi_null_space_destroy(&k->null_space);
    ts_matrix_destroy(&k->transposed);
    free_solver(k);
    return status;
  }
  matrix->references++;
  *solver = k;
  return TS_OK;
}

/* ILU factors cost more than the sums of idr, and idr usually needs half of the products. */
static ts_status choose_again(const ts_matrix *A, const ts_solver_desc *desc, const ts_preconditioner *M,
                              ts_solver_desc *resolved) {
  ts_solver_desc other = *desc;
  other.method = TS_METHOD_IDR;
  if (desc->method != TS_METHOD_AUTO || resolved->method != TS_METHOD_BICGSTAB) return TS_OK;
  return M->kind->kind == TS_PRECONDITIONER_ILU ? tsi_solver_resolve(A, &other, resolved) : TS_OK;
}

ts_status tsi_solver_create(ts_matrix *matrix, const ts_solver_desc *desc, ts_solver **solver) {
  ts_solver_desc resolved;
  ts_preconditioner *M = NULL;
  TSI_TRY(tsi_solver_resolve(matrix, desc, &resolved));
  TSI_TRY(find_preconditioner(matrix, &resolved, &M));
  ts_status status = choose_again(matrix, desc, M, &resolved);
  if (status == TS_OK) status = create_with(matrix, desc, &resolved, M, solver);
  if (status < 0) ts_preconditioner_destroy(&M);
  return status;
}

static ts_status create(ts_matrix *matrix, const ts_solver_desc *desc, ts_solver **solver) {
  TSI_TRY(tsi_solver_create(matrix, desc, solver));
  return tsi_stages_are_open(desc) ? tsi_stages_create(*solver, desc) : TS_OK;
}

ts_status ts_solver_create(ts_matrix *matrix, const ts_solver_desc *desc, ts_solver **solver) {
  static const ts_solver_desc defaults;
  TSI_BEGIN(matrix, matrix->context);
  ts_context *context = matrix->context;
  TSI_REQUIRE(context, solver);
  *solver = NULL;
  tsi_begin_together(context);
  const ts_status status = tsi_end_together(context, create(matrix, desc ? desc : &defaults, solver));
  if (status < 0) ts_solver_destroy(solver);
  return status;
}

const ts_preconditioner *ts_solver_get_preconditioner(const ts_solver *solver) {
  return solver ? tsi_stages_present(solver)->preconditioner : NULL;
}

void ts_solver_destroy(ts_solver **solver) {
  if (!solver || !*solver) return;
  ts_solver *k = *solver;
  ts_context *context = k->context;
  tsi_stay_begin(context);
  tsi_stages_destroy(k);
  tsi_null_space_destroy(&k->null_space);
  tsi_solver_destroy_workspace(k);
  for (int c = 0; c < TSI_MOST_COLUMNS; c++)
    ts_vector_destroy(&k->columns[c][0]), ts_vector_destroy(&k->columns[c][1]);
  ts_preconditioner_destroy(&k->preconditioner);
  tsi_enter_to_destroy(context);
  tsi_matrix_release(k->matrix);
  if (k->transposed) tsi_matrix_release(k->transposed);
  tsi_leave(context, TS_OK);
  tsi_stay_end(context, TS_OK);
  free_solver(k);
  *solver = NULL;
}

/* ---- The solve ---- */

ts_status tsi_solver_update_preconditioner(const ts_solver *k) {
  ts_preconditioner *M = k->desc.preconditioner ? NULL : k->preconditioner;
  return M && M->changes != M->matrix->changes ? ts_preconditioner_update(M) : TS_OK;
}

static ts_status check_vectors(const ts_solver *k, const ts_vector *b, const ts_vector *x) {
  const ts_matrix *A = k->matrix;
  const int square = A->row_space == A->column_space;
  TSI_TRY(tsi_check_space(b, A->row_space, "b", "the solver",
                          square ? "the matrix's space" : "the matrix's row space", "ts_matrix_get_row_space"));
  TSI_TRY(tsi_check_space(x, A->column_space, "x", "the solver",
                          square ? "the matrix's space" : "the matrix's column space",
                          square ? "ts_matrix_get_row_space" : "ts_matrix_get_column_space"));
  TSI_TRY(tsi_check_components(b, x));
  return tsi_preconditioner_prepare(k->preconditioner, b->components);
}

/* Whether the matrix alone rules out the method. */
static int refuse(const ts_solver *k, ts_result *result) {
  const ts_matrix_info *info = &k->matrix->info;
  if (tsi_is_symmetric_method(k->desc.method) && !info->symmetric) {
    result->reason = TS_REASON_NOT_SYMMETRIC;
    snprintf(result->message, sizeof result->message,
             "the matrix is not symmetric: the entry in row %d, column %d differs from its mirror",
             info->unsymmetric_row, info->unsymmetric_column);
    return 1;
  }
  if (!k->transposed && !tsi_writes_jacobi(k) && tsi_preconditioner_inverts_diagonal(k->preconditioner) &&
      info->zero_diagonal_row >= 0) {
    result->reason = TS_REASON_ZERO_DIAGONAL;
    snprintf(result->message, sizeof result->message,
             "the Jacobi preconditioner needs a diagonal without zeros; it is 0 or missing in row %d",
             info->zero_diagonal_row);
    return 1;
  }
  return 0;
}

/* Also stores the reason for ts_last_error. */
static ts_status conclude(ts_context *context, const ts_result *result) {
  if (result->reason <= TS_REASON_FIXED_ITERATIONS) return TS_OK;
  return tsi_fail(context, TS_NOT_CONVERGED, "%s", result->message);
}

/* y = A x for an operator and a finite x. If y is not finite, this is why the solve failed. */
static ts_status look_at_product(tsi_solve *s, const ts_matrix *A, ts_vector y, ts_vector x, const char *text) {
  const ts_solver *k = s->solver;
  double largest[4];
  tsi_operator_begin(A);
  TSI_TRY(tsi_spmv(&y, A, &x));
  TSI_TRY(k->context->ops->reduce(k->slots, TSI_SLOT_MAX_B, TSI_REDUCE_MAX_ABS, &y, &y));
  TSI_TRY(tsi_scalars_read(k->slots, TSI_SLOT_MAX_B, 1, largest));
  for (int c = 0; c < k->components; c++)
    if (!isfinite(largest[c])) tsi_solve_finish(s, TS_REASON_BREAKDOWN, text);
  return TS_OK;
}

/* After a failure: an operator may have written numbers that are not finite, and the recurrences only show the
 * consequences. */
static ts_status look_at_operators(tsi_solve *s) {
  const ts_solver *k = s->solver;
  const ts_matrix *A = k->matrix, *At = k->transposed;
  const ts_reason reason = s->result->reason;
  const int may_be_why = reason == TS_REASON_BREAKDOWN || reason == TS_REASON_INDEFINITE ||
                         reason == TS_REASON_STAGNATED || reason == TS_REASON_DIVERGED;
  if (s->kept || !may_be_why) return TS_OK;
  if (At && At->function)
    TSI_TRY(look_at_product(
        s, At, tsi_first_part(k->gradient), tsi_first_part(k->b),
        "breakdown: the operator's apply_transposed writes a NaN or an infinity, or not all of y"));
  if (!A->function) return TS_OK;
  return look_at_product(s, A, tsi_first_part(k->r), tsi_first_part(k->x),
                         "breakdown: the operator's apply writes a NaN or an infinity, or not all of y");
}

static ts_status run_solver(tsi_solve *s, const ts_vector *b, ts_vector *x) {
  ts_context *context = s->solver->context;
  TSI_TRY(tsi_enter(context));
  ts_status status = tsi_solver_run(s, b, x);
  if (status == TS_OK) status = look_at_operators(s);
  return tsi_leave(context, status);
}

/* Includes m, if it is a diagonal that the method writes. */
static ts_status create_workspace(ts_solver *k, int components, int pairs) {
  TSI_TRY(tsi_solver_create_workspace(k, components, pairs));
  if (k->transposed) return tsi_cgls_measure(k);
  return tsi_writes_jacobi(k) ? tsi_minres_write_jacobi(k) : TS_OK;
}

/* The solve continues in another workspace. */
static ts_status run_in_pairs(tsi_solve *s, const ts_vector *b, ts_vector *x) {
  ts_vector *kept = s->kept;
  ts_status status = create_workspace(s->solver, b->components, 1);
  if (status == TS_OK) status = run_solver(s, b, x);
  ts_vector_destroy(&kept);
  return status;
}

static ts_result empty_result(const ts_solver *k) {
  return (ts_result){.method = k->desc.method,
                     .precision = TS_PRECISION_SINGLE,
                     .rounded_residual = NAN,
                     .reduction = NAN,
                     .relative_residual = NAN,
                     .attainable_residual = NAN};
}

ts_status tsi_solver_solve_once(ts_solver *solver, const ts_vector *b, ts_vector *x, ts_result *result) {
  ts_context *context = solver->context;
  TSI_TRY(update_transposed(solver));
  tsi_operator_begin(solver->matrix);
  if (solver->transposed) tsi_operator_begin(solver->transposed);
  TSI_TRY(tsi_solver_update_preconditioner(solver));
  TSI_TRY(tsi_solver_check_symmetric(solver->desc.method, solver->preconditioner));
  TSI_TRY(check_vectors(solver, b, x));
  *result = empty_result(solver);
  if (solver->null_space) TSI_TRY(tsi_null_space_prepare(solver->null_space, b->components));
  TSI_TRY(create_workspace(solver, b->components, solver->desc.precision == TS_PRECISION_DOUBLE));
  if (refuse(solver, result)) {
    if (solver->desc.zero_start) TSI_TRY(ts_vector_fill(x, 0));
    return conclude(context, result);
  }
  const uint64_t before = context->host_synchronisations;
  tsi_solve s = tsi_solve_of(solver, b, result);
  ts_status status = run_solver(&s, b, x);
  if (s.kept) status = run_in_pairs(&s, b, x);
  if (status < 0) { /* usually out of memory: free the memory of the solve */
    tsi_solver_destroy_workspace(solver);
    return status;
  }
  result->host_synchronisations = (int)(context->host_synchronisations - before);
  if (solver->method == &tsi_gmres) result->restart = solver->desc.restart;
  if (isnan(result->rounded_residual)) result->rounded_residual = result->relative_residual;
  return conclude(context, result);
}

/* The poll function stopped the solve before its first iteration, during a set-up. */
static ts_status stop_at_start(ts_solver *k, ts_vector *x, ts_result *result) {
  *result = empty_result(k);
  tsi_result_stop(result);
  return *tsi_solver_zero_start(k) ? ts_vector_fill(x, 0) : TS_OK;
}

static ts_status solve(ts_solver *k, const ts_vector *b, ts_vector *x, ts_result *result) {
  if (!k->is_later_group) tsi_history_begin(&k->kept_history);
  ts_status status = k->stages ? tsi_stages_solve(k, b, x, result) : tsi_solver_solve_once(k, b, x, result);
  if (status == TS_ERROR_STOPPED) {
    TSI_TRY(stop_at_start(k, x, result));
    status = conclude(k->context, result);
  }
  if (status >= 0) tsi_polls_end_in_time(k->context);
  return status;
}

ts_status ts_solver_solve(ts_solver *solver, const ts_vector *b, ts_vector *x, ts_result *result) {
  TSI_BEGIN(solver, solver->context);
  ts_context *context = solver->context;
  TSI_REQUIRE(context, b);
  TSI_REQUIRE(context, x);
  if (solver->is_running)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the solver is already running: a function that it calls must not call it");
  ts_result own;
  if (!result) result = &own;
  tsi_begin_together(context);
  solver->is_running = 1;
  const ts_status status = tsi_end_together(context, solve(solver, b, x, result));
  solver->is_running = 0;
  return status;
}
