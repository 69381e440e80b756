/* The descriptor of a solver: validation and defaults. */
#include <math.h>

#include "common/core/core.h"
#include "common/matrix/operator.h"
#include "solver.h"

/* M equals A up to rounding. */
static int is_exact(const ts_matrix *A, const ts_solver_desc *desc) {
  const ts_preconditioner *M = desc->preconditioner;
  const tsi_preconditioner_kind *kind = tsi_preconditioner_row(desc->preconditioner_kind);
  return M ? M->kind->is_exact && M->matrix == A : kind && kind->is_exact;
}

static ts_method choose_method(const ts_matrix *A, const ts_solver_desc *desc) {
  if (desc->transposed || !A->has_diagonal) return TS_METHOD_LSMR;
  if (is_exact(A, desc)) return TS_METHOD_RICHARDSON;
  if (!A->info.symmetric) return TS_METHOD_BICGSTAB;
  return A->info.zero_diagonal_row < 0 && !A->info.negative_diagonal ? TS_METHOD_CG : TS_METHOD_MINRES;
}

static ts_status foreign(ts_context *context, const char *field, const char *owner, ts_method method) {
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is set, which belongs to %s; the method is %s", field,
                  owner, ts_method_name(method));
}

static ts_status check_precision(ts_context *context, const ts_solver_desc *desc) {
  const char *name = ts_precision_name(desc->precision);
  if (!name)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "precision is %d, not a ts_precision", desc->precision);
  if (desc->precision <= TS_PRECISION_SINGLE) return TS_OK;
  if (!context->caps.pairs)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "precision is %s; backend %s has no exact arithmetic here, only single precision", name,
                    context->backend_name);
  if (desc->fixed_iterations && desc->precision == TS_PRECISION_MIXED)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "precision is mixed, which checks residuals, but fixed_iterations is set");
  return TS_OK;
}

static ts_status check_fields(ts_context *context, const ts_solver_desc *desc) {
  const ts_method method = desc->method;
  if (desc->transposed && !tsi_is_least_squares(method))
    return foreign(context, "transposed", "cgls and lsmr", method);
  if (desc->null_space && tsi_is_least_squares(method))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "null_space is set, which %s does not support",
                    ts_method_name(method));
  if (desc->reductions && method != TS_METHOD_CG) return foreign(context, "reductions", "cg", method);
  if (desc->restart && method != TS_METHOD_GMRES) return foreign(context, "restart", "gmres", method);
  if (desc->stop != TS_STOP_RESIDUAL && desc->stop != TS_STOP_DELTA)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "stop is %d, not a ts_stop", desc->stop);
  if (desc->stop == TS_STOP_DELTA && method != TS_METHOD_CG)
    return foreign(context, "TS_STOP_DELTA", "cg", method);
  TSI_TRY(check_precision(context, desc));
  return tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved);
}

static ts_status check_range(ts_context *context, const char *field, int value, int most) {
  if (value >= 0 && value <= most) return TS_OK;
  if (most == INT32_MAX)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is %d, less than 0", field, value);
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is %d; it must be 1 to %d, or 0 for the default",
                  field, value, most);
}

static ts_status check_numbers(ts_context *context, const ts_solver_desc *desc) {
  if (!(desc->rtol < 1))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "rtol is %g; it must be less than 1", desc->rtol);
  if (!(desc->atol >= 0) || isinf(desc->atol))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "atol is %g; it must be a number of at least 0",
                    desc->atol);
  if (desc->atol > 0 && desc->stop == TS_STOP_DELTA)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "atol is set, which TS_STOP_DELTA does not use");
  TSI_TRY(check_range(context, "max_iterations", desc->max_iterations, INT32_MAX));
  TSI_TRY(check_range(context, "fixed_iterations", desc->fixed_iterations, INT32_MAX));
  TSI_TRY(check_range(context, "check_interval", desc->check_interval, 1024));
  TSI_TRY(check_range(context, "restart", desc->restart, TSI_LONGEST_RESTART));
  if (desc->fixed_iterations && (desc->stop || desc->rtol != 0 || desc->atol != 0 || desc->max_iterations ||
                                 desc->check_interval || desc->progress || desc->keep_history))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "fixed_iterations is set; stop, rtol, atol, max_iterations, check_interval, progress and "
                    "keep_history must be 0");
  return TS_OK;
}

ts_status tsi_solver_check_symmetric(ts_method method, const ts_preconditioner *M) {
  if (!tsi_is_symmetric_method(method) || tsi_preconditioner_is_symmetric(M)) return TS_OK;
  return tsi_fail(M->context, TS_ERROR_INVALID_ARGUMENT, "%s", M->kind->unsymmetric);
}

/* A preconditioner is either created from the matrix by its kind, or passed in the descriptor. */
static ts_status check_preconditioner(const ts_matrix *A, const ts_solver_desc *desc) {
  ts_context *context = A->context;
  const ts_preconditioner *M = desc->preconditioner;
  const ts_preconditioner_kind kind = desc->preconditioner_kind;
  if (!M) {
    const tsi_preconditioner_kind *row = tsi_preconditioner_row(kind);
    const int is_square = !tsi_is_least_squares(desc->method);
    if (row && row->is_from_matrix && (is_square || row->write_diagonal || row->choose)) return TS_OK;
    if (!row)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "preconditioner_kind is %d, not a ts_preconditioner_kind", kind);
    return tsi_fail(
        context, TS_ERROR_INVALID_ARGUMENT,
        "preconditioner_kind is %s, which needs more than the matrix; create it with ts_preconditioner_create",
        ts_preconditioner_kind_name(kind));
  }
  if (kind)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "preconditioner and preconditioner_kind (%s) are both set",
                    ts_preconditioner_kind_name(kind));
  if (M->context != context)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "the preconditioner belongs to another context");
  if (M->matrix->row_space != A->column_space)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "the preconditioner is over another space than x");
  if (tsi_is_least_squares(desc->method) && tsi_preconditioner_is_diagonal(M))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the preconditioner is %s of a square matrix; for %s set preconditioner_kind instead",
                    ts_preconditioner_kind_name(M->desc.kind), ts_method_name(desc->method));
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
  if (A->row_space->constrained || A->column_space->constrained)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix has constrained rows, which %s does not support", ts_method_name(desc->method));
  if (!desc->preconditioner && desc->preconditioner_kind == TS_PRECONDITIONER_JACOBI)
    TSI_TRY(tsi_refuse_operator(At ? At : A, desc->method == TS_METHOD_CGLS
                                                 ? "the Jacobi preconditioner of cgls needs"
                                                 : "the Jacobi preconditioner of lsmr needs"));
  if (!At && A->stencil)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the method is %s, and the matrix is a stencil, which does not support transposed products",
                    ts_method_name(desc->method));
  if (!At) return TS_OK;
  if (At->context != context)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "matrix and transposed belong to different contexts");
  if (A->info.rows != At->info.columns || A->info.columns != At->info.rows)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "transposed is %d x %d; the matrix is %d x %d",
                    At->info.rows, At->info.columns, A->info.rows, A->info.columns);
  if (A->row_space != At->column_space || A->column_space != At->row_space)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE,
                    "transposed is not over the matrix's spaces; create it with ts_matrix_get_column_space as "
                    "row_space and ts_matrix_get_row_space as column_space");
  return TS_OK;
}

static ts_status resolve_operator_precision(const ts_matrix *A, ts_solver_desc *desc) {
  if (!A->function || A->function->desc.precision != TS_PRECISION_SINGLE) return TS_OK;
  if (desc->precision == TS_PRECISION_AUTO) desc->precision = TS_PRECISION_SINGLE;
  if (desc->precision == TS_PRECISION_SINGLE) return TS_OK;
  return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT,
                  "precision is %s, but the operator's function computes in single precision",
                  ts_precision_name(desc->precision));
}

ts_status tsi_solver_resolve(const ts_matrix *A, const ts_solver_desc *desc, ts_solver_desc *out) {
  ts_context *context = A->context;
  *out = *desc;
  if (!ts_method_name(out->method))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "method is %d, not a ts_method", out->method);
  if (out->method == TS_METHOD_AUTO) out->method = choose_method(A, out);
  TSI_TRY(check_fields(context, out));
  TSI_TRY(check_numbers(context, out));
  TSI_TRY(tsi_is_least_squares(out->method) ? check_transposed(A, out->transposed, out)
                                            : check_square(A, out->method));
  TSI_TRY(check_preconditioner(A, out));
  TSI_TRY(resolve_operator_precision(A, out));
  const int32_t unknowns = tsi_unknowns(A);
  /* Rounding to single costs more iterations than double costs time. */
  if (out->precision == TS_PRECISION_AUTO && out->method == TS_METHOD_IDR && context->caps.pairs)
    out->precision = TS_PRECISION_DOUBLE;
  if (out->precision == TS_PRECISION_AUTO && (out->fixed_iterations || !context->caps.pairs))
    out->precision = TS_PRECISION_SINGLE;
  /* The iterations are one to three products in addition to a factorisation. Single precision would save less
   * than one additional iteration costs. */
  if (out->precision == TS_PRECISION_AUTO && out->method == TS_METHOD_RICHARDSON && is_exact(A, out))
    out->precision = TS_PRECISION_DOUBLE;
  if (out->restart == 0) out->restart = TSI_RESTART;
  if (out->restart > unknowns) out->restart = unknowns;
  if (out->rtol == 0) out->rtol = 1e-5;
  if (out->max_iterations == 0) {
    const double wanted = 10.0 * unknowns;
    out->max_iterations = wanted < 1000 ? 1000 : wanted > 100000 ? 100000 : (int)wanted;
  }
  return TS_OK;
}

/* The interval of the tuning assumes iterations of one product each. A preconditioner with many operations
 * takes longer than a synchronisation. If each application waits, a check costs nothing more. */
int tsi_check_interval(const ts_matrix *A, const ts_preconditioner *M) {
  enum { many_operations = 18 };
  if (M->cost.waits || M->cost.operations >= many_operations) return 1;
  return (int)ceil(A->context->tuning.check_interval / (1 + M->cost.products));
}
