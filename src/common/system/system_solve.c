/* The system builder: options, device objects, and the solve. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/precond/preconditioner.h"
#include "system.h"

/* ---- Device objects ---- */

void tsi_system_release_device(ts_system *s) {
  ts_solver_destroy(&s->solver);
  ts_preconditioner_destroy(&s->preconditioner);
  ts_vector_destroy(&s->b);
  ts_vector_destroy(&s->x);
  ts_vector_destroy(&s->given);
  ts_matrix_destroy(&s->matrix);
  ts_matrix_destroy(&s->transposed);
  s->new_start = s->new_right_hand_sides = s->new_locked_values = 1;
}

static ts_status reserve_numbers(ts_system *s, size_t count) {
  if (count <= s->numbers_capacity) return TS_OK;
  tsi_free(s->context, s->numbers);
  s->numbers_capacity = 0;
  s->numbers = tsi_malloc(s->context, count, sizeof *s->numbers);
  if (!s->numbers) return tsi_out_of_memory(s->context, "a system's values", count * sizeof *s->numbers);
  s->numbers_capacity = count;
  return TS_OK;
}

ts_status tsi_system_fetch(ts_system *s) {
  if (!s->values_on_device) return TS_OK;
  TSI_TRY(reserve_numbers(s, tsi_system_numbers(s)));
  TSI_TRY(tsi_vector_read_doubles(s->x, s->numbers));
  const size_t components = (size_t)s->desc.components;
  for (int32_t j = 0; j < s->desc.unknowns; j++) {
    const double *from = s->numbers + tsi_system_place(s, j) * components;
    for (size_t c = 0; c < components && !s->locked[j]; c++) s->values[(size_t)j * components + c] = from[c];
  }
  s->values_on_device = 0;
  return TS_OK;
}

/* ---- Options ---- */

/* cgls and lsmr apply the normal equations; for other methods they are formed. */
static int applies_normal(ts_method method) {
  return method == TS_METHOD_CGLS || method == TS_METHOD_LSMR;
}

static ts_status check_least_squares(const ts_system *s, ts_system_solve_desc *out) {
  ts_context *context = s->context;
  const ts_method method = out->solver.method;
  const char *name = ts_method_name(method);
  if (applies_normal(method) && !s->desc.least_squares)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "method is %s, but the system is square", name);
  if (applies_normal(method) && out->normal == TS_NORMAL_AUTO) out->normal = TS_NORMAL_APPLIED;
  if (applies_normal(method) && out->normal == TS_NORMAL_FORMED)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "method is %s, which applies normal equations, and normal is TS_NORMAL_FORMED", name);
  if (out->normal == TS_NORMAL_APPLIED && method != TS_METHOD_AUTO && !applies_normal(method))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "normal is TS_NORMAL_APPLIED, which requires method cgls or lsmr; method is %s", name);
  return TS_OK;
}

static ts_status resolve(const ts_system *s, const ts_system_solve_desc *desc, ts_system_solve_desc *out) {
  ts_context *context = s->context;
  static const ts_system_solve_desc defaults;
  *out = desc ? *desc : defaults;
  TSI_TRY(tsi_check_reserved(context, "", out->reserved, sizeof out->reserved));
  if (out->solver.transposed || out->solver.preconditioner)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "solver.%s is set; the system makes its own",
                    out->solver.transposed ? "transposed" : "preconditioner");
  if (out->solver.fixed_iterations || out->solver.zero_start)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "solver.%s is set, which systems do not support",
                    out->solver.fixed_iterations ? "fixed_iterations" : "zero_start");
  if (!ts_method_name(out->solver.method))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "method is %d, not a ts_method", out->solver.method);
  if (out->order == TS_ORDER_AUTO) out->order = TS_ORDER_NATURAL;
  if (out->order != TS_ORDER_NATURAL && out->order != TS_ORDER_RCM)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "order is %d, not a ts_order", out->order);
  if (out->normal < TS_NORMAL_AUTO || out->normal > TS_NORMAL_APPLIED)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "normal is %d, not a ts_normal", out->normal);
  if (out->normal != TS_NORMAL_AUTO && !s->desc.least_squares)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "normal is set and the system is square, without normal equations");
  TSI_TRY(check_least_squares(s, out));
  if (out->order != TS_ORDER_NATURAL && out->normal == TS_NORMAL_APPLIED)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "order is set, but normal equations that are applied cannot be reordered");
  const int square = out->solver.method != TS_METHOD_AUTO || out->order != TS_ORDER_NATURAL;
  if (out->normal == TS_NORMAL_AUTO && square && s->desc.least_squares) out->normal = TS_NORMAL_FORMED;
  return TS_OK;
}

static int same_options(const ts_system_solve_desc *a, const ts_system_solve_desc *b) {
  return a->solver.method == b->solver.method &&
         a->solver.preconditioner_kind == b->solver.preconditioner_kind && a->solver.stop == b->solver.stop &&
         a->solver.rtol == b->solver.rtol && a->solver.atol == b->solver.atol &&
         a->solver.max_iterations == b->solver.max_iterations &&
         a->solver.check_interval == b->solver.check_interval && a->solver.restart == b->solver.restart &&
         a->solver.reductions == b->solver.reductions && a->solver.precision == b->solver.precision &&
         a->solver.keep_history == b->solver.keep_history && a->solver.progress == b->solver.progress &&
         a->solver.progress_user == b->solver.progress_user;
}

/* ---- Vectors ---- */

static ts_status create_vectors(ts_system *s) {
  const ts_vector_desc desc = {.components = s->desc.components, .precision = s->storage};
  if (!s->b) TSI_TRY(ts_vector_create(ts_matrix_get_row_space(s->matrix), &desc, &s->b));
  if (!s->x) TSI_TRY(ts_vector_create(ts_matrix_get_column_space(s->matrix), &desc, &s->x));
  return TS_OK;
}

/* Writes the numbers, rounded if the solve is in single precision. s->numbers is undefined afterwards. */
static ts_status write_numbers(ts_system *s, ts_vector *v, size_t count) {
  if (s->how.solver.precision != TS_PRECISION_SINGLE) return tsi_vector_write_doubles(v, s->numbers);
  void *const floats = s->numbers;
  for (size_t k = 0; k < count; k++) {
    const float rounded = (float)s->numbers[k];
    memcpy((char *)floats + k * sizeof rounded, &rounded, sizeof rounded);
  }
  return tsi_vector_write_floats(v, floats);
}

static ts_status write_right_hand_sides(ts_system *s) {
  if (!s->new_right_hand_sides && !s->new_locked_values) return TS_OK;
  const size_t count = (size_t)tsi_system_rows(s) * (size_t)s->desc.components;
  if (s->desc.least_squares && !s->applied && s->new_right_hand_sides)
    TSI_TRY(tsi_system_normal_right_hand_sides(s));
  TSI_TRY(reserve_numbers(s, count));
  TSI_TRY(tsi_system_right_hand_sides(s, s->numbers));
  return write_numbers(s, s->b, count);
}

static void copy_values(ts_system *s, int locked_only) {
  const size_t components = (size_t)s->desc.components;
  for (int32_t j = 0; j < s->desc.unknowns; j++) {
    double *to = s->numbers + tsi_system_place(s, j) * components;
    for (size_t c = 0; c < components; c++)
      to[c] = locked_only && !s->locked[j] ? 0 : s->values[(size_t)j * components + c];
  }
}

/* x is kept in rows with an equation, and gets the values of locked unknowns in the others. */
static ts_status write_locked_values(ts_system *s) {
  const ts_vector_desc desc = {.components = s->desc.components, .precision = s->storage};
  if (!s->given) TSI_TRY(ts_vector_create(ts_vector_get_space(s->x), &desc, &s->given));
  copy_values(s, 1);
  TSI_TRY(write_numbers(s, s->given, tsi_system_numbers(s)));
  const tsi_ops *ops = s->context->ops;
  TSI_TRY(TSI_ENTER_WITH(s->context, s->x, s->given));
  ts_status status = TS_OK;
  const ts_vector *given = s->given;
  for (ts_vector *to = s->x; to && status == TS_OK; to = to->low, given = given->low) {
    ts_vector x = tsi_first_part(to), values = tsi_first_part(given);
    status = ops->zero_constrained(&x, &x);
    if (status == TS_OK) status = ops->axpby(&x, ts_constant(1), &x, ts_constant(1), &values);
  }
  return tsi_leave(s->context, status);
}

static ts_status write_start(ts_system *s) {
  if (s->applied && s->new_locked_values && !s->new_start) { /* its space does not know the locked unknowns */
    TSI_TRY(tsi_system_fetch(s));
    s->new_start = 1;
  }
  TSI_TRY(reserve_numbers(s, tsi_system_numbers(s)));
  if (s->new_start) {
    copy_values(s, 0);
    return write_numbers(s, s->x, tsi_system_numbers(s));
  }
  return s->new_locked_values ? write_locked_values(s) : TS_OK;
}

static ts_status write_vectors(ts_system *s) {
  TSI_TRY(create_vectors(s));
  TSI_TRY(write_right_hand_sides(s));
  TSI_TRY(write_start(s));
  s->new_right_hand_sides = s->new_locked_values = s->new_start = 0;
  return TS_OK;
}

/* ---- The method ---- */

/* Conjugate gradients, unless the diagonal shows that they would fail. */
static ts_method choose_method(const ts_system *s) {
  if (s->applied) return TS_METHOD_CGLS;
  ts_matrix_info info;
  ts_matrix_get_info(s->matrix, &info);
  if (!info.symmetric) return TS_METHOD_BICGSTAB;
  return s->reduced.positive_diagonal ? TS_METHOD_CG : TS_METHOD_MINRES;
}

/* Prepares the preconditioner for the matrix's current values. It is kept while its kind stays the same. The
 * solver owns a diagonal, and the replacement of auto if cg is requested for an unsymmetric matrix. */
static ts_status prepare_preconditioner(ts_system *s, const ts_solver_desc *solver) {
  const ts_preconditioner_kind kind = solver->preconditioner_kind;
  const tsi_preconditioner_kind *row = tsi_preconditioner_row(kind);
  if (s->applied || !row || row->write_diagonal) return TS_OK;
  if (row->choose && solver->method == TS_METHOD_CG && !s->matrix->info.symmetric) {
    ts_preconditioner_destroy(&s->preconditioner);
    return TS_OK;
  }
  const ts_preconditioner_desc desc = {.kind = kind};
  if (!s->preconditioner) return ts_preconditioner_create(s->matrix, &desc, &s->preconditioner);
  return s->preconditioner->changes != s->matrix->changes ? ts_preconditioner_update(s->preconditioner) : TS_OK;
}

static ts_status create_solver(ts_system *s, const ts_system_solve_desc *how, double *seconds_setup) {
  const double start = tsi_seconds();
  const int is_there = s->preconditioner && s->preconditioner->changes == s->matrix->changes;
  TSI_TRY(prepare_preconditioner(s, &how->solver));
  if (s->preconditioner && !is_there) *seconds_setup = tsi_seconds() - start;
  ts_solver_desc desc = how->solver;
  desc.transposed = applies_normal(how->solver.method) ? s->transposed : NULL;
  desc.preconditioner = s->preconditioner;
  if (s->preconditioner) desc.preconditioner_kind = TS_PRECONDITIONER_AUTO;
  return s->solver ? TS_OK : ts_solver_create(s->matrix, &desc, &s->solver);
}

static ts_status system_solve_iterate(ts_system *s, const ts_system_solve_desc *how, ts_system_result *result) {
  TSI_TRY(create_solver(s, how, &result->seconds_setup));
  ts_result own;
  const ts_status status = ts_solver_solve(s->solver, s->b, s->x, &own);
  if (status < 0) {
    s->new_start = 1; /* x is undefined now */
    s->values_on_device = 0;
    return status;
  }
  result->reason = own.reason;
  result->iterations = own.iterations;
  result->precision = own.precision;
  memcpy(result->precision_iterations, own.precision_iterations, sizeof own.precision_iterations);
  result->reduction = applies_normal(how->solver.method) ? own.relative_residual : own.reduction;
  result->attainable_residual = own.attainable_residual;
  snprintf(result->message, sizeof result->message, "%s", own.message);
  s->values_on_device = 1;
  return status;
}

/* The reason for the format, and for formed or applied normal equations, with megabytes per iteration. */
static void describe_normal(const ts_system *s, const char *format, char *text, size_t size) {
  const double formed = 1e-6 * s->bytes_formed, applied = 1e-6 * s->bytes_applied;
  const char *asked = s->how.normal != TS_NORMAL_AUTO ? ", as asked for" : "";
  char why[120];
  if (!s->applied)
    snprintf(why, sizeof why, "A^T W A formed%s: %.3g MB an iteration; A and A^T %.3g", asked, formed, applied);
  else if (asked[0])
    snprintf(why, sizeof why, "A and A^T applied%s: %.3g MB an iteration", asked, applied);
  else
    snprintf(why, sizeof why, "A and A^T applied: %.3g MB an iteration; A^T W A has more", applied);
  snprintf(text, size, "%s; %s", format, why);
}

static void describe(const ts_system *s, const ts_system_solve_desc *how, ts_system_result *result) {
  ts_matrix_info info;
  ts_matrix_get_info(s->matrix, &info);
  result->method = how->solver.method;
  result->format = info.format;
  result->nonzeros = info.nonzeros;
  result->bandwidth = s->bandwidth;
  result->bandwidth_natural = s->bandwidth_natural;
  result->bytes_device = info.bytes_device;
  if (s->applied) result->bytes_device += s->transposed->info.bytes_device;
  if (!s->desc.least_squares) {
    snprintf(result->choice, sizeof result->choice, "%s", info.choice);
    return;
  }
  result->normal = s->applied ? TS_NORMAL_APPLIED : TS_NORMAL_FORMED;
  describe_normal(s, info.choice, result->choice, sizeof result->choice);
}

static ts_status system_solve_run(ts_system *s, ts_system_solve_desc *how, ts_system_result *result) {
  TSI_TRY(tsi_system_prepare_matrix(s, how, &result->seconds_build, &result->seconds_layout));
  if (how->solver.method == TS_METHOD_AUTO) how->solver.method = choose_method(s);
  if (!same_options(how, &s->how)) ts_solver_destroy(&s->solver);
  if (how->solver.preconditioner_kind != s->how.solver.preconditioner_kind)
    ts_preconditioner_destroy(&s->preconditioner);
  if (tsi_system_storage_for(s, how->solver.precision) > tsi_system_storage_for(s, s->how.solver.precision)) {
    TSI_TRY(tsi_system_fetch(s)); /* the numbers on the device are rounded */
    s->new_start = s->new_right_hand_sides = 1;
  }
  s->how = *how;
  describe(s, how, result);
  const double start = tsi_seconds();
  TSI_TRY(write_vectors(s));
  const ts_status status = system_solve_iterate(s, how, result);
  if (status < 0) return status;
  result->relative_residual = result->normal_residual = NAN;
  if (!how->leave_on_device) TSI_TRY(tsi_system_fetch(s));
  result->seconds_solve = tsi_seconds() - start - result->seconds_setup;
  if (!how->leave_on_device) TSI_TRY(tsi_system_residual(s, result));
  return status;
}

static void nothing_to_solve(const ts_system *s, ts_system_result *result) {
  result->reason = TS_REASON_ZERO_RESIDUAL;
  snprintf(result->message, sizeof result->message, "all %d unknowns are locked: there is nothing to solve",
           s->desc.unknowns);
}

ts_status ts_system_solve(ts_system *system, const ts_system_solve_desc *desc, ts_system_result *result) {
  TSI_BEGIN(system, system->context);
  ts_context *context = system->context;
  TSI_TRY(tsi_system_check_ready(system, __func__));
  ts_system_solve_desc how;
  TSI_TRY(resolve(system, desc, &how));
  ts_system_result own;
  if (!result) result = &own;
  *result = (ts_system_result){.rows = system->equations.rows,
                               .unknowns = system->desc.unknowns - system->locked_count};
  if (result->unknowns == 0) {
    nothing_to_solve(system, result);
    return TS_OK;
  }
  const uint64_t before = context->host_synchronisations;
  tsi_stay_begin(context);
  const ts_status status = tsi_stay_end(context, system_solve_run(system, &how, result));
  result->host_synchronisations = (int)(context->host_synchronisations - before);
  return status;
}

ts_vector *ts_system_get_vector(const ts_system *system) {
  return system ? system->x : NULL;
}

int32_t ts_system_get_index(const ts_system *system, int32_t unknown) {
  if (!system || unknown < 0 || unknown >= system->desc.unknowns) return -1;
  return (int32_t)tsi_system_place(system, unknown);
}

const ts_matrix *ts_system_get_matrix(const ts_system *system) {
  return system ? system->matrix : NULL;
}
