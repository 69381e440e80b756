/* A solver's descriptor: what is checked, and the defaults. */
#include <math.h>

#include "common/core/core.h"
#include "solver.h"

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

int tsi_solver_makes(ts_preconditioner_kind kind) {
  return kind == TS_PRECONDITIONER_BLOCK_JACOBI || kind == TS_PRECONDITIONER_AMG ||
         kind == TS_PRECONDITIONER_CHEBYSHEV || kind == TS_PRECONDITIONER_ISAI;
}

ts_status tsi_solver_check_symmetric(ts_method method, const ts_preconditioner *M) {
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
    if (tsi_solver_makes(kind) && desc->method != TS_METHOD_CGLS) return TS_OK;
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
  return tsi_solver_check_symmetric(desc->method, M);
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

ts_status tsi_solver_resolve(const ts_matrix *A, const ts_solver_desc *desc, ts_solver_desc *out) {
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
  if (out->method == TS_METHOD_CG) return tsi_cg_resolve(A, out);
  if (out->check_interval == 0) out->check_interval = (int)context->tuning.check_interval;
  return TS_OK;
}
