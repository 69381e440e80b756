/* ts_batch_solve: the descriptor, the pattern, and the outcome of all systems. */
#include "batch_solve.h"

#include <math.h>

/* ---- The descriptor ---- */

static ts_status check_kinds(ts_context *context, const ts_batch_desc *desc) {
  const char *method = ts_method_name(desc->method),
             *kind = ts_preconditioner_kind_name(desc->preconditioner_kind);
  if (!method)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "method is %d, not a ts_method", desc->method);
  if (desc->method != TS_METHOD_AUTO && desc->method != TS_METHOD_CG && desc->method != TS_METHOD_BICGSTAB)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "method is %s; for a batch it must be cg, bicgstab or auto", method);
  if (!kind)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "preconditioner_kind is %d, not a ts_preconditioner_kind", desc->preconditioner_kind);
  if (desc->preconditioner_kind > TS_PRECONDITIONER_JACOBI)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "preconditioner_kind is %s; for a batch it must be none, jacobi or auto", kind);
  return TS_OK;
}

static ts_status check_numbers(ts_context *context, const ts_batch_desc *desc) {
  if (!(desc->rtol < 1))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "rtol is %g; it must be less than 1", desc->rtol);
  if (desc->max_iterations < 0)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "max_iterations is %d, less than 0",
                    desc->max_iterations);
  if (desc->systems < 0)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "systems is %lld, less than 0",
                    (long long)desc->systems);
  if (desc->rows < 1)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "rows is %lld; it must be at least 1",
                    (long long)desc->rows);
  if (desc->rows > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_LIMIT, "rows is %lld; a system has at most %d", (long long)desc->rows,
                    TSI_MAX_SIZE);
  if (desc->column_indices.data && desc->column_indices.count > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_LIMIT, "column_indices has %zu numbers; a system has at most %d entries",
                    desc->column_indices.count, TSI_MAX_SIZE);
  return tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved);
}

/* a * b, or SIZE_MAX if memory cannot hold as many numbers. */
static size_t product(int64_t a, size_t b) {
  return b && (uint64_t)a > SIZE_MAX / 8 / b ? SIZE_MAX : (size_t)a * b;
}

static ts_status check_arrays(ts_context *context, const ts_batch_desc *desc, const ts_array *b,
                              const ts_array *x) {
  const size_t rows = (size_t)desc->rows, entries = desc->column_indices.data ? desc->column_indices.count : 0;
  TSI_TRY(tsi_array_check(context, "row_offsets", &desc->row_offsets, rows + 1, TSI_INTEGER, TSI_READ));
  TSI_TRY(tsi_array_check(context, "column_indices", &desc->column_indices, entries, TSI_INTEGER, TSI_READ));
  TSI_TRY(tsi_array_check(context, "values", &desc->values, product(desc->systems, entries), TSI_FLOATING,
                          TSI_READ));
  TSI_TRY(tsi_array_check(context, "b", b, product(desc->systems, rows), TSI_FLOATING, TSI_READ));
  return tsi_array_check(context, "x", x, product(desc->systems, rows), TSI_FLOATING, TSI_WRITE);
}

static int default_iterations(int64_t rows) {
  const double wanted = 10.0 * (double)rows;
  return wanted < 1000 ? 1000 : wanted > 100000 ? 100000 : (int)wanted;
}

/* ---- The outcome ---- */

static int has_failed(const ts_batch_result *result) {
  return result->reason > TS_REASON_FIXED_ITERATIONS;
}

static ts_status report(ts_context *context, const tsi_batch_job *job) {
  size_t failed = 0, first = 0;
  for (size_t k = job->systems; k-- > 0;)
    if (has_failed(&job->results[k])) failed++, first = k;
  if (!failed) return TS_OK;
  const ts_batch_result *result = &job->results[first];
  if (failed == 1)
    return tsi_fail(context, TS_NOT_CONVERGED, "system %zu: %s, at a relative residual of %.2g", first,
                    ts_reason_text(result->reason), result->relative_residual);
  return tsi_fail(context, TS_NOT_CONVERGED,
                  "%zu of %zu systems did not converge; system %zu: %s, at a relative residual of %.2g", failed,
                  job->systems, first, ts_reason_text(result->reason), result->relative_residual);
}

static ts_status run(ts_context *context, const tsi_batch_job *job) {
  const int is_plain = (context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS) != 0;
  const tsi_batch_ops *ops = is_plain ? NULL : context->device_ops->batch;
  TSI_TRY(tsi_enter(context));
  TSI_TRY(tsi_leave(context, ops ? ops->solve(context, job) : tsi_batch_solve_on_host(context, job)));
  return report(context, job);
}

static ts_status with_results(ts_context *context, tsi_batch_job *job) {
  if (job->results) return run(context, job);
  job->results = tsi_malloc(context, job->systems, sizeof *job->results);
  if (!job->results)
    return tsi_out_of_memory(context, "the results of a batch", job->systems * sizeof *job->results);
  const ts_status status = run(context, job);
  tsi_free(context, job->results);
  return status;
}

static ts_status with_pattern(ts_context *context, const ts_batch_desc *desc, tsi_batch_job *job,
                              tsi_loans *loans) {
  const int32_t rows = (int32_t)desc->rows,
                entries = desc->column_indices.data ? (int32_t)desc->column_indices.count : 0;
  tsi_batch_pattern pattern;
  const int32_t *offsets, *columns;
  TSI_TRY(
      tsi_array_borrow_int32(context, "row_offsets", &desc->row_offsets, (size_t)rows + 1, loans, &offsets));
  TSI_TRY(tsi_array_borrow_int32(context, "column_indices", &desc->column_indices, (size_t)entries, loans,
                                 &columns));
  if (offsets[rows] != entries)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "row_offsets[%d] is %d and column_indices has %d numbers", rows, offsets[rows], entries);
  TSI_TRY(tsi_batch_pattern_create(context, rows, entries, offsets, columns, &pattern));
  job->pattern = &pattern;
  const ts_status status = with_results(context, job);
  job->pattern = NULL;
  tsi_batch_pattern_free(context, &pattern);
  return status;
}

ts_status ts_batch_solve(ts_context *context, const ts_batch_desc *desc, ts_array b, ts_array x,
                         ts_batch_result *results) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, desc);
  tsi_loans loans = {0};
  TSI_TRY(check_kinds(context, desc));
  TSI_TRY(check_numbers(context, desc));
  TSI_TRY(check_arrays(context, desc, &b, &x));
  if (desc->systems == 0) return TS_OK;
  tsi_batch_job job = {
      .systems = (size_t)desc->systems,
      .values = desc->values,
      .b = b,
      .x = x,
      .method = desc->method,
      .preconditioner = desc->preconditioner_kind,
      .rtol = desc->rtol == 0  ? 1e-5
              : desc->rtol < 0 ? 0
                               : desc->rtol,
      .max_iterations = desc->max_iterations ? desc->max_iterations : default_iterations(desc->rows),
      .zero_start = desc->zero_start,
      .results = results,
  };
  const ts_status status = with_pattern(context, desc, &job, &loans);
  tsi_loans_free(context, &loans);
  return status;
}
