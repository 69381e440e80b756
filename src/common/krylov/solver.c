/* Krylov solvers: the descriptor, the workspace, and what is checked before a solve. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/core/core.h"
#include "solver.h"

/* ---- The descriptor ---- */

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

static ts_method choose_method(const ts_matrix *A, const ts_solver_desc *desc) {
  if (desc->transposed) return TS_METHOD_CGLS;
  return A->info.symmetric && A->info.zero_diagonal_row < 0 ? TS_METHOD_CG : TS_METHOD_BICGSTAB;
}

static ts_status foreign(ts_context *context, const char *field, const char *owner, ts_method method) {
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is set, which belongs to %s; the method is %s", field,
                  owner, ts_method_name(method));
}

static ts_status check_precision(ts_context *context, const ts_solver_desc *desc) {
  const char *name = ts_precision_name(desc->precision);
  if (!name)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "precision is %d, which is no ts_precision",
                    desc->precision);
  if (desc->precision <= TS_PRECISION_SINGLE) return TS_OK;
  if (!context->caps.pairs)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "precision is %s; backend %s has no exact arithmetic here, only single precision", name,
                    context->backend_name);
  if (desc->fixed_iterations && desc->precision == TS_PRECISION_MIXED)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "precision is mixed, which looks at residuals, and fixed_iterations is set");
  return TS_OK;
}

static ts_status check_fields(ts_context *context, const ts_solver_desc *desc) {
  const ts_method method = desc->method;
  if (desc->transposed && method != TS_METHOD_CGLS) return foreign(context, "transposed", "cgls", method);
  if (method == TS_METHOD_CGLS && !desc->transposed)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "the method is cgls and transposed is NULL");
  if (desc->reductions && method != TS_METHOD_CG) return foreign(context, "reductions", "cg", method);
  if (desc->restart && method != TS_METHOD_GMRES) return foreign(context, "restart", "gmres", method);
  if (desc->stop != TS_STOP_RESIDUAL && desc->stop != TS_STOP_DELTA)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "stop is %d, which is no ts_stop", desc->stop);
  if (desc->stop == TS_STOP_DELTA && method != TS_METHOD_CG)
    return foreign(context, "TS_STOP_DELTA", "cg", method);
  TSI_TRY(check_precision(context, desc));
  return tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved);
}

static ts_status check_range(ts_context *context, const char *field, int value, int most) {
  if (value >= 0 && value <= most) return TS_OK;
  if (most == INT32_MAX)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is %d, less than 0", field, value);
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is %d; it goes from 1 to %d, or 0 for the default",
                  field, value, most);
}

static ts_status check_numbers(ts_context *context, const ts_solver_desc *desc) {
  if (!(desc->rtol < 1))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "rtol is %g; it must be less than 1", desc->rtol);
  if (!(desc->atol >= 0) || isinf(desc->atol))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "atol is %g; it must be a number of at least 0",
                    desc->atol);
  if (desc->atol > 0 && desc->stop == TS_STOP_DELTA)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "atol is set, which TS_STOP_DELTA does not know");
  TSI_TRY(check_range(context, "max_iterations", desc->max_iterations, INT32_MAX));
  TSI_TRY(check_range(context, "fixed_iterations", desc->fixed_iterations, INT32_MAX));
  TSI_TRY(check_range(context, "check_interval", desc->check_interval, 1024));
  TSI_TRY(check_range(context, "restart", desc->restart, 200));
  if (desc->fixed_iterations && (desc->stop || desc->rtol != 0 || desc->atol != 0 || desc->max_iterations ||
                                 desc->check_interval || desc->progress))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "fixed_iterations is set: there is no test, and so no stop, rtol, atol, max_iterations, "
                    "check_interval and progress");
  return TS_OK;
}

static int is_made_by_solver(ts_preconditioner_kind kind) {
  return kind == TS_PRECONDITIONER_BLOCK_JACOBI || kind == TS_PRECONDITIONER_AMG ||
         kind == TS_PRECONDITIONER_CHEBYSHEV || kind == TS_PRECONDITIONER_ISAI;
}

/* isai is known to be symmetric only once it is made, and may change with the matrix's values. */
static ts_status check_symmetric(ts_method method, const ts_preconditioner *M) {
  if (method != TS_METHOD_CG || !M || tsi_preconditioner_is_symmetric(M)) return TS_OK;
  return tsi_fail(
      M->context, TS_ERROR_INVALID_ARGUMENT,
      M->desc.kind == TS_PRECONDITIONER_CUSTOM
          ? "the preconditioner is not said to be symmetric (ts_preconditioner_desc.symmetric), as cg "
            "needs"
          : "isai finds that the matrix is not symmetric and positive definite, as cg needs");
}

/* A preconditioner is either made from the matrix by its kind, or given. */
static ts_status check_preconditioner(const ts_matrix *A, const ts_solver_desc *desc) {
  ts_context *context = A->context;
  const ts_preconditioner *M = desc->preconditioner;
  const ts_preconditioner_kind kind = desc->preconditioner_kind;
  if (!M) {
    if (kind == TS_PRECONDITIONER_JACOBI || kind == TS_PRECONDITIONER_NONE) return TS_OK;
    if (is_made_by_solver(kind) && desc->method != TS_METHOD_CGLS) return TS_OK;
    const char *name = ts_preconditioner_kind_name(kind);
    if (!name)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "preconditioner_kind is %d, which is no ts_preconditioner_kind", kind);
    return tsi_fail(
        context, TS_ERROR_INVALID_ARGUMENT,
        "preconditioner_kind is %s, which the matrix alone does not make; ts_preconditioner_create does", name);
  }
  if (kind)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "preconditioner and preconditioner_kind (%s) are both set",
                    ts_preconditioner_kind_name(kind));
  if (M->context != context)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "the preconditioner belongs to another context");
  if (M->matrix->row_space != A->column_space)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE,
                    "the preconditioner was made for a matrix over another space than that of x");
  if (desc->method == TS_METHOD_CGLS && tsi_preconditioner_is_diagonal(M))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the preconditioner is %s of a square matrix; cgls takes it by preconditioner_kind",
                    ts_preconditioner_kind_name(M->desc.kind));
  return check_symmetric(desc->method, M);
}

static ts_status check_square(const ts_matrix *A, ts_method method) {
  if (A->has_diagonal) return TS_OK;
  return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT,
                  "%s needs a square matrix with one space for rows and columns; this one is %d x %d",
                  ts_method_name(method), A->info.rows, A->info.columns);
}

static ts_status check_transposed(const ts_matrix *A, const ts_matrix *At, const ts_solver_desc *desc) {
  ts_context *context = A->context;
  if (At->context != context)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "matrix and transposed belong to different contexts");
  if (A->info.rows != At->info.columns || A->info.columns != At->info.rows)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "transposed is %d x %d; the matrix is %d x %d",
                    At->info.rows, At->info.columns, A->info.rows, A->info.columns);
  if (A->row_space != At->column_space || A->column_space != At->row_space)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE,
                    "transposed is not over the matrix's spaces; create it with ts_matrix_column_space as "
                    "row_space and ts_matrix_row_space as column_space");
  if (A->row_space->constrained || At->row_space->constrained)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix has constrained rows, which cgls does not take");
  if (!desc->preconditioner && desc->preconditioner_kind == TS_PRECONDITIONER_JACOBI && !At->host_copy)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the Jacobi preconditioner of cgls needs a transposed matrix made with keep_host_copy");
  return TS_OK;
}

static ts_status resolve(const ts_matrix *A, const ts_solver_desc *desc, ts_solver_desc *out) {
  ts_context *context = A->context;
  *out = *desc;
  if (!ts_method_name(out->method))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "method is %d, which is no ts_method", out->method);
  if (out->method == TS_METHOD_AUTO) out->method = choose_method(A, out);
  TSI_TRY(check_fields(context, out));
  TSI_TRY(check_numbers(context, out));
  TSI_TRY(out->method == TS_METHOD_CGLS ? check_transposed(A, out->transposed, out)
                                        : check_square(A, out->method));
  TSI_TRY(check_preconditioner(A, out));
  const int32_t unknowns = tsi_unknowns(A);
  if (out->precision == TS_PRECISION_AUTO && (out->fixed_iterations || !context->caps.pairs))
    out->precision = TS_PRECISION_SINGLE;
  if (out->restart == 0) out->restart = 30;
  if (out->restart > unknowns) out->restart = unknowns;
  if (out->rtol == 0) out->rtol = 1e-5;
  if (out->max_iterations == 0) {
    const double wanted = 10.0 * unknowns;
    out->max_iterations = wanted < 1000 ? 1000 : wanted > 100000 ? 100000 : (int)wanted;
  }
  if (out->method == TS_METHOD_CG) return tsi_cg_resolve(context, A, out->preconditioner, out);
  if (out->check_interval == 0) out->check_interval = (int)context->tuning.check_interval;
  return TS_OK;
}

/* ---- Creation ---- */

static void free_solver(ts_solver *k) {
  tsi_free(k->context, k->history);
  tsi_free(k->context, k->work);
  tsi_free(k->context, k->numbers);
  tsi_free(k->context, k->vectors);
  tsi_free(k->context, k);
}

/* At most: with everything that is there only sometimes. */
static size_t most_vectors(const ts_solver *k) {
  enum { shared = 9 };
  return shared + (size_t)k->own_vectors + (size_t)k->own_row_vectors;
}

static ts_status allocate(ts_solver *k) {
  ts_context *context = k->context;
  const size_t slots = TSI_SLOT_OWN + (size_t)k->own_slots;
  k->vectors = tsi_calloc(context, most_vectors(k) + (size_t)k->own_vectors, sizeof(ts_vector *));
  k->history = tsi_malloc(context, (size_t)k->history_size, sizeof *k->history);
  k->numbers = tsi_malloc(context, slots, 4 * sizeof *k->numbers);
  k->work = tsi_malloc(context, (size_t)k->work_size + 1, sizeof *k->work);
  if (k->vectors && k->history && k->numbers && k->work) return TS_OK;
  return tsi_out_of_memory(context, "a solver", slots * 4 * sizeof(float));
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
  if (!is_made_by_solver(k->desc.preconditioner_kind)) return TS_OK;
  const ts_preconditioner_desc desc = {.kind = k->desc.preconditioner_kind};
  return ts_preconditioner_create(k->matrix, &desc, &k->preconditioner);
}

/* Of a descriptor without auto; `made` is what auto has become. */
static ts_status create(ts_matrix *matrix, const ts_solver_desc *desc, ts_preconditioner *made,
                        ts_solver **solver) {
  ts_context *context = matrix->context;
  ts_solver_desc resolved;
  TSI_TRY(resolve(matrix, desc, &resolved));
  ts_solver *k = tsi_calloc(context, 1, sizeof *k);
  if (!k) return tsi_out_of_memory(context, "a solver", sizeof *k);
  k->context = context;
  k->preconditioner = made;
  k->matrix = matrix;
  k->transposed = resolved.transposed;
  k->method = method_of(resolved.method);
  k->desc = resolved;
  k->on_device =
      resolved.method == TS_METHOD_CG && tsi_cg_runs_on_device(matrix, resolved.preconditioner, &resolved);
  k->pipelined = (int)context->tuning.pipelined_iterations;
  if (k->on_device || k->pipelined >= resolved.check_interval) k->pipelined = 0;
  k->method->plan(k);
  ts_status status = allocate(k);
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

static void destroy_workspace(ts_solver *k) {
  for (int i = 0; i < k->vector_count; i++) ts_vector_destroy(&k->vectors[i]);
  ts_vector_destroy(&k->r_low);
  ts_scalars_destroy(&k->slots);
  k->components = k->vector_count = 0;
}

void ts_solver_destroy(ts_solver **solver) {
  if (!solver || !*solver) return;
  ts_solver *k = *solver;
  ts_context *context = k->context;
  destroy_workspace(k);
  ts_preconditioner_destroy(&k->preconditioner);
  tsi_enter_to_destroy(context);
  tsi_matrix_release(k->matrix);
  if (k->transposed) tsi_matrix_release(k->transposed);
  tsi_leave(context, TS_OK);
  free_solver(k);
  *solver = NULL;
}

/* ---- The workspace ---- */

static int has_jacobi(const ts_solver *k) {
  const ts_preconditioner *M = k->preconditioner;
  return (M ? M->desc.kind : k->desc.preconditioner_kind) == TS_PRECONDITIONER_JACOBI;
}

/* 1 / diagonal, or a multiple of the identity that brings a matrix far from 1 to about 1. */
static int needs_m(const ts_solver *k) {
  if (has_jacobi(k)) return 1;
  const ts_preconditioner *M = k->preconditioner;
  return (!M || tsi_preconditioner_is_diagonal(M)) && !k->transposed && tsi_scale_exponent(k->matrix);
}

/* A preconditioner that is applied writes into z; so do methods that are preconditioned from the right. */
static int needs_z(const ts_solver *k, int m) {
  const ts_preconditioner *M = k->preconditioner;
  return (M && !tsi_preconditioner_is_diagonal(M)) ||
         (m && (k->method == &tsi_bicgstab || k->method == &tsi_gmres));
}

/* The vectors over the columns, e and r of a square system side by side: axpy2_dot updates both. */
static int name_vectors(ts_solver *k, int m, int z) {
  ts_vector **next = k->vectors;
  k->e = *next++;
  if (k->transposed)
    k->gradient = *next++;
  else
    k->r = *next++;
  k->x = *next++;
  k->x_new = k->method == &tsi_cg || k->method == &tsi_richardson ? NULL : *next++;
  if (!k->transposed) k->b = *next++;
  k->m = m ? *next++ : NULL;
  k->z = z ? *next++ : NULL;
  k->scratch = tsi_needs_scratch(k->context) ? *next++ : NULL;
  k->own = k->vectors + most_vectors(k);
  for (int i = 0; i < k->own_vectors; i++) k->own[i] = *next++;
  return (int)(next - k->vectors);
}

/* Least squares: slots are apart from the vectors, since sums over both spaces go into them. */
static ts_status create_least_squares_vectors(ts_solver *k, int components, int count) {
  const ts_scalars_desc slots = {.count = TSI_SLOT_OWN + k->own_slots,
                                 .precision = k->pairs ? TS_PRECISION_DOUBLE : TS_PRECISION_SINGLE};
  TSI_TRY(ts_scalars_create(k->context, &slots, &k->slots));
  TSI_TRY(tsi_enter(k->context));
  ts_status status =
      tsi_arena_create(k->matrix->column_space, components, 1 + k->pairs, k->vectors, count, 0, NULL);
  if (status == TS_OK) {
    k->vector_count = count;
    status = tsi_arena_create(k->matrix->row_space, components, 1 + k->pairs, k->vectors + count,
                              2 + k->own_row_vectors, 0, NULL);
  }
  if (status == TS_OK) k->vector_count = count + 2 + k->own_row_vectors;
  return tsi_leave(k->context, status);
}

static ts_status create_vectors(ts_solver *k, int components, int m, int z) {
  const int count = name_vectors(k, m, z);
  if (k->transposed) {
    TSI_TRY(create_least_squares_vectors(k, components, count));
    k->b = k->vectors[count];
    k->r = k->vectors[count + 1];
  } else {
    TSI_TRY(tsi_enter(k->context));
    TSI_TRY(tsi_leave(k->context, tsi_arena_create(k->matrix->row_space, components, 1 + k->pairs, k->vectors,
                                                   count, TSI_SLOT_OWN + k->own_slots, &k->slots)));
    k->vector_count = count;
  }
  name_vectors(k, m, z);
  return TS_OK;
}

/* What is single in a workspace of pairs. */
static void drop_low(ts_vector *v) {
  tsi_enter_to_destroy(v->context);
  tsi_vector_drop_low(v);
  tsi_leave(v->context, TS_OK);
}

static ts_status create_workspace(ts_solver *k, int components, int pairs) {
  const int m = needs_m(k), z = needs_z(k, m);
  if (k->components == components && k->pairs == pairs && !k->m == !m) return TS_OK;
  destroy_workspace(k);
  k->pairs = pairs;
  ts_status status = create_vectors(k, components, m, z);
  if (status == TS_OK && k->m) drop_low(k->m);
  if (status == TS_OK && k->z && !k->m) drop_low(k->z);
  k->components = components;
  if (status == TS_OK && k->method->prepare) status = k->method->prepare(k);
  if (status < 0) destroy_workspace(k);
  return status;
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
  if (!k->transposed && has_jacobi(k) && info->zero_diagonal_row >= 0) {
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
  ts_status status = create_workspace(s->solver, b->components, 1);
  if (status == TS_OK) status = run(s, b, x);
  ts_vector_destroy(&kept);
  return status;
}

static ts_status solve(ts_solver *solver, const ts_vector *b, ts_vector *x, ts_result *result) {
  ts_context *context = solver->context;
  TSI_TRY(update_preconditioner(solver));
  TSI_TRY(check_symmetric(solver->desc.method, solver->preconditioner));
  TSI_TRY(check_vectors(solver, b, x));
  ts_result own;
  if (!result) result = &own;
  *result = (ts_result){.method = solver->desc.method,
                        .precision = TS_PRECISION_SINGLE,
                        .rounded_residual = NAN,
                        .reduction = NAN,
                        .relative_residual = NAN,
                        .attainable_residual = NAN};
  TSI_TRY(create_workspace(solver, b->components, solver->desc.precision == TS_PRECISION_DOUBLE));
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
    destroy_workspace(solver);
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
