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
  TSI_TRY(ts_vector_read_double(s->x, s->numbers, tsi_system_numbers(s)));
  const size_t components = (size_t)s->desc.components;
  for (int32_t j = 0; j < s->desc.unknowns; j++) {
    const double *from = s->numbers + tsi_system_place(s, j) * components;
    for (size_t c = 0; c < components && !s->locked[j]; c++) s->values[(size_t)j * components + c] = from[c];
  }
  s->values_on_device = 0;
  return TS_OK;
}

/* ---- Options ---- */

static ts_status resolve(const ts_system *s, const ts_system_solve_desc *desc, ts_system_solve_desc *out) {
  ts_context *context = s->context;
  static const ts_system_solve_desc defaults;
  *out = desc ? *desc : defaults;
  if (!ts_method_name(out->method))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "method is %d, which is no ts_method", out->method);
  if (out->order != TS_ORDER_NATURAL && out->order != TS_ORDER_RCM)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "order is %d, which is no ts_order", out->order);
  if (out->normal < TS_NORMAL_AUTO || out->normal > TS_NORMAL_APPLIED)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "normal is %d, which is no ts_normal", out->normal);
  if (out->normal != TS_NORMAL_AUTO && !s->desc.least_squares)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "normal is set and the system is square, without normal equations");
  if (out->method == TS_METHOD_CGLS && !s->desc.least_squares)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "method is cgls and the system is square");
  if (out->method == TS_METHOD_CGLS && out->normal == TS_NORMAL_AUTO) out->normal = TS_NORMAL_APPLIED;
  if (out->method == TS_METHOD_CGLS && out->normal == TS_NORMAL_FORMED)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "method is cgls, which applies normal equations, and normal is TS_NORMAL_FORMED");
  if (out->normal == TS_NORMAL_APPLIED && out->method != TS_METHOD_AUTO && out->method != TS_METHOD_CGLS)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "normal is TS_NORMAL_APPLIED, which takes method cgls, and method is %s",
                    ts_method_name(out->method));
  if (out->order != TS_ORDER_NATURAL && out->normal == TS_NORMAL_APPLIED)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "order is set, which square matrices have, and normal equations are to be applied");
  const int square = out->method != TS_METHOD_AUTO || out->order != TS_ORDER_NATURAL;
  if (out->normal == TS_NORMAL_AUTO && square && s->desc.least_squares) out->normal = TS_NORMAL_FORMED;
  return TS_OK;
}

static int same_options(const ts_system_solve_desc *a, const ts_system_solve_desc *b) {
  return a->method == b->method && a->preconditioner == b->preconditioner && a->stop == b->stop &&
         a->rtol == b->rtol && a->atol == b->atol && a->max_iterations == b->max_iterations &&
         a->check_interval == b->check_interval && a->restart == b->restart && a->precision == b->precision &&
         a->progress == b->progress && a->progress_user == b->progress_user;
}

/* ---- Vectors ---- */

static ts_status create_vectors(ts_system *s) {
  const ts_vector_desc desc = {.components = s->desc.components, .precision = s->storage};
  if (!s->b) TSI_TRY(ts_vector_create(ts_matrix_row_space(s->matrix), &desc, &s->b));
  if (!s->x) TSI_TRY(ts_vector_create(ts_matrix_column_space(s->matrix), &desc, &s->x));
  return TS_OK;
}

/* The numbers, which a solve in single precision takes rounded. They are no longer what they were. */
static ts_status write_numbers(ts_system *s, ts_vector *v, size_t count) {
  if (s->how.precision != TS_PRECISION_SINGLE) return ts_vector_write_double(v, s->numbers, count);
  void *const floats = s->numbers;
  for (size_t k = 0; k < count; k++) {
    const float rounded = (float)s->numbers[k];
    memcpy((char *)floats + k * sizeof rounded, &rounded, sizeof rounded);
  }
  return ts_vector_write(v, floats, count);
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

static void take_values(ts_system *s, int locked_only) {
  const size_t components = (size_t)s->desc.components;
  for (int32_t j = 0; j < s->desc.unknowns; j++) {
    double *to = s->numbers + tsi_system_place(s, j) * components;
    for (size_t c = 0; c < components; c++)
      to[c] = locked_only && !s->locked[j] ? 0 : s->values[(size_t)j * components + c];
  }
}

/* x = x where it has an equation, and the values of locked unknowns elsewhere. */
static ts_status write_locked_values(ts_system *s) {
  const ts_vector_desc desc = {.components = s->desc.components, .precision = s->storage};
  if (!s->given) TSI_TRY(ts_vector_create(ts_vector_space(s->x), &desc, &s->given));
  take_values(s, 1);
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
  if (s->applied && s->new_locked_values && !s->new_start) { /* its space does not know which are locked */
    TSI_TRY(tsi_system_fetch(s));
    s->new_start = 1;
  }
  TSI_TRY(reserve_numbers(s, tsi_system_numbers(s)));
  if (s->new_start) {
    take_values(s, 0);
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

/* Conjugate gradients where they are sure to work, as far as can be told beforehand. */
static ts_method choose_method(const ts_system *s) {
  if (s->applied) return TS_METHOD_CGLS;
  ts_matrix_info info;
  ts_matrix_get_info(s->matrix, &info);
  return info.symmetric && s->reduced.positive_diagonal ? TS_METHOD_CG : TS_METHOD_BICGSTAB;
}

/* One that takes longer to make than a solver: for the matrix's present values, kept while the kind is. */
static ts_status prepare_preconditioner(ts_system *s, ts_preconditioner_kind kind) {
  if (s->applied || !tsi_preconditioner_needs_host_copy(kind)) return TS_OK;
  const ts_preconditioner_desc desc = {.kind = kind};
  if (!s->preconditioner) return ts_preconditioner_create(s->matrix, &desc, &s->preconditioner);
  return s->preconditioner->changes != s->matrix->changes ? ts_preconditioner_update(s->preconditioner) : TS_OK;
}

static ts_status create_solver(ts_system *s, const ts_system_solve_desc *how, double *seconds_setup) {
  const double start = tsi_seconds();
  const int is_there = s->preconditioner && s->preconditioner->changes == s->matrix->changes;
  TSI_TRY(prepare_preconditioner(s, how->preconditioner));
  if (s->preconditioner && !is_there) *seconds_setup = tsi_seconds() - start;
  ts_preconditioner *M = s->preconditioner;
  const int diagonal = M && tsi_preconditioner_is_diagonal(M);
  const ts_solver_desc desc = {.method = how->method,
                               .transposed = how->method == TS_METHOD_CGLS ? s->transposed : NULL,
                               .preconditioner = diagonal ? NULL : M,
                               .preconditioner_kind = diagonal ? M->desc.kind
                                                      : M      ? 0
                                                               : how->preconditioner,
                               .stop = how->stop,
                               .rtol = how->rtol,
                               .atol = how->atol,
                               .max_iterations = how->max_iterations,
                               .check_interval = how->check_interval,
                               .restart = how->restart,
                               .precision = how->precision,
                               .progress = how->progress,
                               .progress_user = how->progress_user};
  return s->solver ? TS_OK : ts_solver_create(s->matrix, &desc, &s->solver);
}

static ts_status iterate(ts_system *s, const ts_system_solve_desc *how, ts_system_result *result) {
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
  result->reduction = how->method == TS_METHOD_CGLS ? own.relative_residual : own.reduction;
  result->attainable_residual = own.attainable_residual;
  snprintf(result->message, sizeof result->message, "%s", own.message);
  s->values_on_device = 1;
  return status;
}

/* Why the format, and why normal equations are formed or applied, in megabytes an iteration. */
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
  result->method = how->method;
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

static ts_status run(ts_system *s, ts_system_solve_desc *how, ts_system_result *result) {
  TSI_TRY(tsi_system_prepare_matrix(s, how, &result->seconds_build, &result->seconds_layout));
  if (how->method == TS_METHOD_AUTO) how->method = choose_method(s);
  if (!same_options(how, &s->how)) ts_solver_destroy(&s->solver);
  if (how->preconditioner != s->how.preconditioner) ts_preconditioner_destroy(&s->preconditioner);
  if (tsi_system_storage_for(s, how->precision) > tsi_system_storage_for(s, s->how.precision)) {
    TSI_TRY(tsi_system_fetch(s)); /* what is on the device is rounded */
    s->new_start = s->new_right_hand_sides = 1;
  }
  s->how = *how;
  describe(s, how, result);
  const double start = tsi_seconds();
  TSI_TRY(write_vectors(s));
  const ts_status status = iterate(s, how, result);
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
  const ts_status status = run(system, &how, result);
  result->host_synchronisations = (int)(context->host_synchronisations - before);
  return status;
}

ts_vector *ts_system_vector(const ts_system *system) {
  return system ? system->x : NULL;
}

int32_t ts_system_index(const ts_system *system, int32_t unknown) {
  if (!system || unknown < 0 || unknown >= system->desc.unknowns) return -1;
  return (int32_t)tsi_system_place(system, unknown);
}

const ts_matrix *ts_system_matrix(const ts_system *system) {
  return system ? system->matrix : NULL;
}
