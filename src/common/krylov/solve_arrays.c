/* ts_solver_solve_arrays and ts_solve: arrays of any number of columns, solved in groups. The size of a group
 * is the number of components of a vector. */
#include <math.h>
#include <string.h>

#include "common/core/array.h"
#include "solver.h"
#include "stages.h"

/* The arrays of one call, row-major in their types. With one group these are the caller's, and `part` is not
 * used. Otherwise all are on the host or all on the device, x is a copy, so that an error leaves the caller's x
 * unchanged, and `part` is in the same memory and has room for the numbers of a group. */
typedef struct columns {
  ts_solver *solver;
  ts_array b, x0, x, part; /* x0.data: NULL to start from 0 */
  size_t count;            /* columns */
  size_t most;             /* columns of a group */
} columns;

static ts_status copy_on_device(ts_context *context, const ts_array *whole, size_t count, size_t first,
                                const ts_array *part, size_t width, int to_part) {
  TSI_TRY(tsi_enter(context));
  return tsi_leave(
      context, context->device_ops->arrays->copy_columns(context, whole, count, first, part, width, to_part));
}

/* Copies columns first .. first+width-1 of `whole`, which has `count` columns, from or to `part`. */
static ts_status copy_group(ts_context *context, const ts_array *whole, size_t count, size_t first,
                            const ts_array *part, size_t width, int to_part) {
  const size_t size = tsi_type_size(whole->type), rows = whole->count / count;
  if (whole->memory == TS_MEMORY_CUDA)
    return copy_on_device(context, whole, count, first, part, width, to_part);
  for (size_t i = 0; i < rows; i++) {
    char *at = (char *)whole->data + (i * count + first) * size, *row = (char *)part->data + i * width * size;
    memcpy(to_part ? row : at, to_part ? at : row, width * size);
  }
  return TS_OK;
}

static ts_array part_of(const columns *c, const ts_array *whole, size_t width) {
  ts_array part = c->part;
  part.type = whole->type;
  part.count = whole->count / c->count * width;
  return part;
}

static ts_status write_group(const columns *c, const ts_array *whole, size_t first, size_t width,
                             ts_vector *v) {
  if (width == c->count) return ts_vector_write(v, *whole);
  const ts_array part = part_of(c, whole, width);
  TSI_TRY(copy_group(c->solver->context, whole, c->count, first, &part, width, 1));
  return ts_vector_write(v, part);
}

static ts_status read_group(const columns *c, size_t first, size_t width, const ts_vector *v) {
  if (width == c->count) return ts_vector_read(v, c->x);
  const ts_array part = part_of(c, &c->x, width);
  TSI_TRY(ts_vector_read(v, part));
  return copy_group(c->solver->context, &c->x, c->count, first, &part, width, 0);
}

static void name_columns(char *text, size_t size, size_t first, size_t width, const char *message) {
  if (width == 1)
    snprintf(text, size, "column %zu: %.110s", first, message);
  else
    snprintf(text, size, "columns %zu to %zu: %.110s", first, first + width - 1, message);
}

/* Merges the result of a group: counts are added, residuals are the maximum, and the first failure is kept. */
static void merge(ts_result *all, const ts_result *group, size_t first, size_t width, int is_only) {
  const int iterations = all->iterations, synchronisations = all->host_synchronisations,
            restarts = all->restarts;
  const double residual = fmax(all->relative_residual, group->relative_residual),
               rounded = fmax(all->rounded_residual, group->rounded_residual),
               incompatible = fmax(all->incompatible, group->incompatible);
  int by_precision[4];
  for (int p = 0; p < 4; p++) by_precision[p] = all->precision_iterations[p] + group->precision_iterations[p];
  if (all->reason <= TS_REASON_FIXED_ITERATIONS) {
    *all = *group;
    if (!is_only && group->reason > TS_REASON_FIXED_ITERATIONS)
      name_columns(all->message, sizeof all->message, first, width, group->message);
  }
  all->iterations = iterations + group->iterations;
  all->host_synchronisations = synchronisations + group->host_synchronisations;
  all->restarts = restarts + group->restarts;
  all->relative_residual = residual;
  all->rounded_residual = rounded;
  all->incompatible = incompatible;
  memcpy(all->precision_iterations, by_precision, sizeof by_precision);
}

/* The vectors of a group stay with the solver for the next one of its size. */
static ts_status open_vectors(ts_solver *k, size_t width, ts_vector ***vectors) {
  ts_vector **found = *vectors = k->columns[width - 1];
  if (found[1]) return TS_OK;
  /* A vector of precision auto may round x to floats. */
  const int is_double = k->desc.precision == TS_PRECISION_DOUBLE;
  const ts_vector_desc desc = {.components = (int)width, .precision = is_double ? TS_PRECISION_DOUBLE : 0};
  if (!found[0]) TSI_TRY(ts_vector_create(k->matrix->row_space, &desc, &found[0]));
  return ts_vector_create(k->matrix->column_space, &desc, &found[1]);
}

static ts_status solve_group(const columns *c, size_t first, size_t width, ts_result *result) {
  ts_solver *k = c->solver;
  ts_vector **v;
  TSI_TRY(open_vectors(k, width, &v));
  TSI_TRY(write_group(c, &c->b, first, width, v[0]));
  int *zero_start = tsi_solver_zero_start(k);
  const int asked = *zero_start;
  if (!asked && c->x0.data) TSI_TRY(write_group(c, &c->x0, first, width, v[1]));
  *zero_start = asked || !c->x0.data;
  k->is_later_group = first > 0;
  const ts_status status = ts_solver_solve(k, v[0], v[1], result);
  k->is_later_group = 0;
  *zero_start = asked;
  if (status >= 0) TSI_TRY(read_group(c, first, width, v[1]));
  return status;
}

/* After a stop: x of the groups that were not solved is their start. */
static ts_status leave_group(const columns *c, size_t first, size_t width) {
  ts_vector **v;
  TSI_TRY(open_vectors(c->solver, width, &v));
  TSI_TRY(c->x0.data ? write_group(c, &c->x0, first, width, v[1]) : ts_vector_fill(v[1], 0));
  return read_group(c, first, width, v[1]);
}

/* Solves every group, even after one that did not converge. */
static ts_status solve_groups(const columns *c, ts_result *result) {
  for (size_t first = 0; first < c->count; first += c->most) {
    const size_t width = c->count - first < c->most ? c->count - first : c->most;
    if (result->reason == TS_REASON_STOPPED) {
      TSI_TRY(leave_group(c, first, width));
      continue;
    }
    ts_result group = {0};
    const ts_status status = solve_group(c, first, width, &group);
    if (status < 0) return status;
    merge(result, &group, first, width, c->count <= c->most);
  }
  return TS_OK;
}

/* In a space with blocks, a vector has one component. */
static size_t columns_of_group(const ts_matrix *A) {
  return A->row_space->tiling.log2_block ? 1 : TSI_MOST_COLUMNS;
}

static ts_status check_columns(const ts_matrix *A, columns *c) {
  const size_t rows = (size_t)A->row_space->tiling.size, unknowns = (size_t)A->column_space->tiling.size;
  if (!c->b.data || !c->x.data)
    return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT, "%s is NULL", c->b.data ? "x" : "b");
  c->count = c->b.count / rows;
  if (c->count == 0 || c->b.count % rows)
    return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT,
                    "b has %zu numbers; it must have a multiple of the %zu rows", c->b.count, rows);
  TSI_TRY(tsi_array_check(A->context, "b", &c->b, c->count * rows, TSI_FLOATING, TSI_READ));
  TSI_TRY(tsi_array_check(A->context, "x", &c->x, c->count * unknowns, TSI_FLOATING, TSI_WRITE));
  if (!c->x0.data) return TS_OK;
  return tsi_array_check(A->context, "x0", &c->x0, c->count * unknowns, TSI_FLOATING, TSI_READ);
}

/* ---- Memory for several groups ---- */

static size_t numbers_of_group(const columns *c) {
  return (c->b.count > c->x.count ? c->b.count : c->x.count) / c->count * c->most;
}

static ts_status borrow_on_host(ts_context *context, tsi_loans *loans, columns *c) {
  const void *right, *start = NULL;
  void *solution, *part;
  TSI_TRY(tsi_array_borrow(context, "b", &c->b, c->b.count, TSI_FLOATING, loans, &right));
  if (c->x0.data) TSI_TRY(tsi_array_borrow(context, "x0", &c->x0, c->x0.count, TSI_FLOATING, loans, &start));
  TSI_TRY(tsi_loan(context, "x", c->x.count, c->x.type, loans, &solution));
  TSI_TRY(tsi_loan(context, "columns", numbers_of_group(c), TS_TYPE_DOUBLE, loans, &part));
  c->b = ts_array_make(right, c->b.count, c->b.type, 1);
  c->x0 = ts_array_make(start, c->x0.count, c->x0.type, 1);
  c->x = ts_array_make(solution, c->x.count, c->x.type, 0);
  c->part = ts_array_make(part, 0, TS_TYPE_DOUBLE, 0);
  return TS_OK;
}

static ts_status create_on_device(ts_context *context, columns *c) {
  const tsi_array_ops *ops = context->device_ops->arrays;
  const size_t part = numbers_of_group(c);
  ts_array solution;
  TSI_TRY(ops->alloc(context, c->x.count, c->x.type, &solution));
  c->x = solution;
  return ops->alloc(context, part, TS_TYPE_DOUBLE, &c->part);
}

static void free_on_device(ts_context *context, columns *c) {
  const tsi_array_ops *ops = context->device_ops->arrays;
  tsi_enter_to_destroy(context);
  ops->free(context, &c->x);
  if (c->part.data) ops->free(context, &c->part);
  tsi_leave(context, TS_OK);
}

static ts_status write_back(ts_context *context, const ts_array *x, const columns *c) {
  if (c->x.memory == TS_MEMORY_CUDA) return copy_on_device(context, x, c->count, 0, &c->x, c->count, 0);
  if (x->memory == TS_MEMORY_CUDA) return tsi_array_return(context, x, c->x.data);
  memcpy(x->data, c->x.data, x->count * tsi_type_size(x->type));
  return TS_OK;
}

static ts_status solve_on_host(columns *c, ts_result *result) {
  ts_context *context = c->solver->context;
  const ts_array x = c->x;
  tsi_loans loans = {0};
  ts_status status = borrow_on_host(context, &loans, c);
  if (status == TS_OK) status = solve_groups(c, result);
  if (status == TS_OK) status = write_back(context, &x, c);
  tsi_loans_free(context, &loans);
  return status;
}

static ts_status solve_on_device(columns *c, ts_result *result) {
  ts_context *context = c->solver->context;
  const ts_array x = c->x;
  TSI_TRY(tsi_enter(context));
  ts_status status = tsi_leave(context, create_on_device(context, c));
  if (status == TS_OK) status = solve_groups(c, result);
  if (status == TS_OK) status = write_back(context, &x, c);
  if (c->x.data != x.data) free_on_device(context, c);
  return status;
}

static ts_status solve_columns(columns *c, ts_result *result) {
  c->most = columns_of_group(c->solver->matrix);
  if (c->count <= c->most) return solve_groups(c, result);
  const int starts_on_device = !c->x0.data || c->x0.memory == TS_MEMORY_CUDA;
  if (c->b.memory == TS_MEMORY_CUDA && c->x.memory == TS_MEMORY_CUDA && starts_on_device)
    return solve_on_device(c, result);
  return solve_on_host(c, result);
}

/* ---- Calls ---- */

static ts_status conclude(ts_context *context, ts_status status, const ts_result *result) {
  if (status == TS_OK && result->reason > TS_REASON_FIXED_ITERATIONS)
    return tsi_fail(context, TS_NOT_CONVERGED, "%s", result->message);
  return status;
}

static const ts_result empty_result = {.relative_residual = NAN, .rounded_residual = NAN};

ts_status ts_solver_solve_arrays(ts_solver *solver, ts_array b, ts_array x0, ts_array x, ts_result *result) {
  TSI_BEGIN(solver, solver->context);
  ts_result own;
  if (!result) result = &own;
  *result = empty_result;
  columns c = {.solver = solver, .b = b, .x0 = x0, .x = x};
  TSI_TRY(check_columns(solver->matrix, &c));
  return conclude(solver->context, solve_columns(&c, result), result);
}

ts_status ts_solve(ts_matrix *matrix, ts_array b, ts_array x, const ts_solver_desc *desc, ts_result *result) {
  TSI_BEGIN(matrix, matrix->context);
  ts_result own;
  if (!result) result = &own;
  *result = empty_result;
  columns c = {.b = b, .x0 = x, .x = x};
  TSI_TRY(check_columns(matrix, &c));
  TSI_TRY(ts_solver_create(matrix, desc, &c.solver));
  const ts_status status = solve_columns(&c, result);
  ts_solver_destroy(&c.solver);
  return conclude(matrix->context, status, result);
}
