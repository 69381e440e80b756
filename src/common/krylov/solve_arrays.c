/* ts_solve: arrays of any number of columns, solved in groups. The size of a group is the number of components
 * of a vector. */
#include <math.h>
#include <string.h>

#include "common/core/array.h"
#include "solver.h"

enum { GROUP = 4 };

/* The arrays of one call. b and x are row-major in the types of the arrays, both on the host or both on the
 * device. `part` is in the same memory and has room for the numbers of a group. */
typedef struct columns {
  ts_solver *solver;
  ts_array b, x, part;
  size_t count; /* columns */
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
  const ts_array part = part_of(c, whole, width);
  TSI_TRY(copy_group(c->solver->context, whole, c->count, first, &part, width, 1));
  return ts_vector_write(v, part);
}

static ts_status read_group(const columns *c, size_t first, size_t width, const ts_vector *v) {
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

static ts_status solve_group(const columns *c, size_t first, size_t width, ts_result *result) {
  ts_matrix *A = c->solver->matrix;
  const ts_vector_desc desc = {.components = (int)width};
  ts_vector *b = NULL, *x = NULL;
  ts_status status = ts_vector_create(A->row_space, &desc, &b);
  if (status == TS_OK) status = ts_vector_create(A->column_space, &desc, &x);
  if (status == TS_OK) status = write_group(c, &c->b, first, width, b);
  if (status == TS_OK && !c->solver->desc.zero_start) status = write_group(c, &c->x, first, width, x);
  if (status == TS_OK) {
    status = ts_solver_solve(c->solver, b, x, result);
    const ts_status read = status < 0 ? status : read_group(c, first, width, x);
    if (read < 0) status = read;
  }
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  return status;
}

/* In a space with blocks, a vector has one component. */
static size_t columns_of_group(const columns *c) {
  return c->solver->matrix->row_space->tiling.log2_block ? 1 : GROUP;
}

/* Solves every group, even after one that did not converge. */
static ts_status solve_groups(const columns *c, ts_result *result) {
  const size_t most = columns_of_group(c);
  ts_status status = TS_OK;
  for (size_t first = 0; first < c->count && status >= 0; first += most) {
    const size_t width = c->count - first < most ? c->count - first : most;
    ts_result group = {0};
    const ts_status now = solve_group(c, first, width, &group);
    if (now < 0)
      status = now;
    else
      merge(result, &group, first, width, c->count <= most);
  }
  return status;
}

static ts_status check_columns(const ts_matrix *A, const ts_array *b, const ts_array *x, size_t *count) {
  const size_t rows = (size_t)A->row_space->tiling.size, unknowns = (size_t)A->column_space->tiling.size;
  if (!b->data || !x->data)
    return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT, "%s is NULL", b->data ? "x" : "b");
  *count = b->count / rows;
  if (*count == 0 || b->count % rows)
    return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT,
                    "b has %zu numbers; it must have a multiple of the %zu rows", b->count, rows);
  TSI_TRY(tsi_array_check(A->context, "b", b, *count * rows, TSI_FLOATING, TSI_READ));
  return tsi_array_check(A->context, "x", x, *count * unknowns, TSI_FLOATING, TSI_WRITE);
}

/* ---- Memory of b and x. The solve works on a copy of x, so that an error leaves the caller's x unchanged.
 * ---- */

static size_t numbers_of_group(const columns *c, const ts_array *b, const ts_array *x) {
  return (b->count > x->count ? b->count : x->count) / c->count * columns_of_group(c);
}

static ts_status borrow_on_host(ts_context *context, const ts_array *b, const ts_array *x, tsi_loans *loans,
                                columns *c) {
  const void *right, *start;
  void *solution, *part;
  TSI_TRY(tsi_array_borrow(context, "b", b, b->count, TSI_FLOATING, loans, &right));
  TSI_TRY(tsi_array_borrow(context, "x", x, x->count, TSI_FLOATING, loans, &start));
  TSI_TRY(tsi_loan(context, "x", x->count, x->type, loans, &solution));
  TSI_TRY(tsi_loan(context, "columns", numbers_of_group(c, b, x), TS_TYPE_DOUBLE, loans, &part));
  memcpy(solution, start, x->count * tsi_type_size(x->type));
  c->b = ts_array_make(right, b->count, b->type, 1);
  c->x = ts_array_make(solution, x->count, x->type, 0);
  c->part = ts_array_make(part, 0, TS_TYPE_DOUBLE, 0);
  return TS_OK;
}

static ts_status create_on_device(ts_context *context, const ts_array *b, const ts_array *x, columns *c) {
  const tsi_array_ops *ops = context->device_ops->arrays;
  ts_array solution;
  TSI_TRY(ops->alloc(context, x->count, x->type, &solution));
  c->x = solution;
  TSI_TRY(ops->alloc(context, numbers_of_group(c, b, x), TS_TYPE_DOUBLE, &c->part));
  c->b = *b;
  return ops->copy_columns(context, x, c->count, 0, &solution, c->count, 1);
}

static void free_on_device(ts_context *context, columns *c) {
  const tsi_array_ops *ops = context->device_ops->arrays;
  tsi_enter_to_destroy(context);
  if (c->x.data) ops->free(context, &c->x);
  if (c->part.data) ops->free(context, &c->part);
  tsi_leave(context, TS_OK);
}

static ts_status borrow(ts_context *context, const ts_array *b, const ts_array *x, tsi_loans *loans,
                        columns *c) {
  if (b->memory != TS_MEMORY_CUDA || x->memory != TS_MEMORY_CUDA)
    return borrow_on_host(context, b, x, loans, c);
  TSI_TRY(tsi_enter(context));
  return tsi_leave(context, create_on_device(context, b, x, c));
}

static ts_status write_back(ts_context *context, const ts_array *x, const columns *c) {
  if (c->x.memory == TS_MEMORY_CUDA) return copy_on_device(context, x, c->count, 0, &c->x, c->count, 0);
  if (x->memory == TS_MEMORY_CUDA) return tsi_array_return(context, x, c->x.data);
  memcpy(x->data, c->x.data, x->count * tsi_type_size(x->type));
  return TS_OK;
}

ts_status ts_solve(ts_matrix *matrix, ts_array b, ts_array x, const ts_solver_desc *desc, ts_result *result) {
  TSI_BEGIN(matrix, matrix->context);
  ts_context *context = matrix->context;
  columns c = {0};
  tsi_loans loans = {0};
  ts_result own;
  if (!result) result = &own;
  *result = (ts_result){.relative_residual = NAN, .rounded_residual = NAN};
  TSI_TRY(check_columns(matrix, &b, &x, &c.count));
  ts_status status = ts_solver_create(matrix, desc, &c.solver);
  if (status == TS_OK) status = borrow(context, &b, &x, &loans, &c);
  if (status == TS_OK) status = solve_groups(&c, result);
  if (status == TS_OK) status = write_back(context, &x, &c);
  if (c.x.memory == TS_MEMORY_CUDA) free_on_device(context, &c);
  tsi_loans_free(context, &loans);
  ts_solver_destroy(&c.solver);
  if (status == TS_OK && result->reason > TS_REASON_FIXED_ITERATIONS)
    return tsi_fail(context, TS_NOT_CONVERGED, "%s", result->message);
  return status;
}
