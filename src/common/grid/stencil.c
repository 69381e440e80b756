/* Stencils: matrices over a grid with nine coefficients per point. */
#include <string.h>

#include "common/core/array.h"
#include "common/core/core.h"
#include "common/matrix/csr.h"
#include "stencil.h"

/* ---- The data of a stencil other than its values ---- */

void tsi_stencil_destroy(ts_context *context, tsi_stencil *stencil) {
  if (!stencil) return;
  ts_vector *vectors[1 + TSI_MAX_PARTS] = {stencil->mask};
  memcpy(vectors + 1, stencil->parts, sizeof stencil->parts);
  for (int k = 0; k < 1 + TSI_MAX_PARTS; k++) {
    ts_vector *v = vectors[k];
    if (!v) continue;
    context->ops->vector_destroy(v);
    tsi_space_release(v->space);
    tsi_free(context, v);
  }
  tsi_free(context, stencil);
}

int tsi_stencil_has_constrained(const ts_matrix *A) {
  return A->stencil->has_constrained;
}

/* v - A 0: v with 0 at points without an equation. */
ts_status tsi_stencil_drop_constrained(ts_vector *out, const ts_matrix *A, const ts_vector *v,
                                       ts_vector *zero) {
  TSI_TRY(A->context->ops->fill(zero, 0));
  return A->kind->residual(out, v, A, zero);
}

/* Creates a vector over the grid from one number per point. The texels of a grid are in the order of its
 * points. */
static ts_status make_vector(ts_space *space, const float *values, ts_vector **v) {
  TSI_TRY(tsi_arena_create(space, 1, 1, v, 1, 0, NULL));
  return space->context->ops->vector_write(*v, values);
}

static ts_status make_masks(ts_space *space, const tsi_stencil_facts *facts, tsi_stencil *stencil) {
  ts_context *context = space->context;
  const size_t points = (size_t)space->tiling.size;
  if (!facts->constrained && !facts->part_count) return TS_OK;
  float *values = tsi_malloc(context, points, sizeof *values);
  if (!values) return tsi_out_of_memory(context, "a part of a grid", points * sizeof *values);
  ts_status status = TS_OK;
  if (facts->constrained) {
    tsi_stencil_fill_mask(facts, points, values);
    status = make_vector(space, values, &stencil->mask);
  }
  for (int k = 0; k < facts->part_count && status == TS_OK; k++) {
    tsi_stencil_fill_part(facts, k, points, values);
    stencil->part_sizes[k] = facts->part_sizes[k];
    stencil->part_count = k + 1;
    status = make_vector(space, values, &stencil->parts[k]);
  }
  tsi_free(context, values);
  return status;
}

static ts_status make_stencil(ts_space *space, const tsi_stencil_facts *facts, tsi_stencil **out) {
  ts_context *context = space->context;
  tsi_stencil *stencil = tsi_calloc(context, 1, sizeof *stencil);
  if (!stencil) return tsi_out_of_memory(context, "a stencil", sizeof *stencil);
  stencil->five_point = facts->five_point;
  stencil->has_constrained = facts->constrained > 0;
  stencil->periodic_x = space->grid.periodic_x;
  stencil->periodic_y = space->grid.periodic_y;
  stencil->grounded = facts->grounded;
  const ts_status status = make_masks(space, facts, stencil);
  if (status < 0) {
    tsi_stencil_destroy(context, stencil);
    return status;
  }
  *out = stencil;
  return TS_OK;
}

/* ---- Creation ---- */

/* The given values of a stencil: floats, or doubles and the floats computed from them. */
typedef struct stencil_values {
  const float *floats;
  const double *doubles;
  float *own_floats;
} stencil_values;

static ts_status find_floats(ts_context *context, const tsi_grid *grid, stencil_values *values) {
  if (!values->doubles) return TS_OK;
  const ts_status status = tsi_stencil_high_parts(context, grid, values->doubles, &values->own_floats);
  values->floats = values->own_floats;
  return status;
}

static ts_status create_low_parts(ts_matrix *A, const stencil_values *values, const tsi_stencil_facts *facts) {
  if (values->doubles) TSI_TRY(tsi_stencil_create_low_parts(A, values->doubles, facts->values));
  A->info.bytes_low_order = 0;
  for (const ts_matrix *low = A->low; low; low = low->low) A->info.bytes_low_order += low->info.bytes_device;
  return TS_OK;
}

static ts_status stencil_build(ts_matrix *A, const stencil_values *values, const tsi_stencil_facts *facts) {
  ts_context *context = A->context;
  const size_t before = context->bytes_device;
  const double start = tsi_seconds();
  TSI_TRY(make_stencil(A->row_space, facts, &A->stencil));
  A->norm_infinity = facts->norm_infinity;
  TSI_TRY(context->ops->grid->stencil_create(A, facts->values));
  A->info.bytes_device = context->bytes_device - before;
  const ts_status status = create_low_parts(A, values, facts);
  if (status < 0) A->kind->destroy(A);
  A->info.seconds_upload = tsi_seconds() - start;
  return status;
}

static ts_status create_stencil(ts_space *grid, stencil_values values, ts_matrix **out) {
  ts_context *context = grid->context;
  const double start = tsi_seconds();
  tsi_stencil_facts facts = {0};
  ts_matrix *A = tsi_calloc(context, 1, sizeof *A);
  if (!A) return tsi_out_of_memory(context, "a matrix", sizeof *A);
  A->context = context;
  A->references = 1;
  A->row_space = A->column_space = grid;
  A->has_diagonal = 1;
  A->info.rows = A->info.columns = grid->tiling.size;
  A->info.stored_entries = 9 * (int64_t)grid->tiling.size;
  A->info.format = TS_FORMAT_STENCIL;
  A->info.fill_ratio = 1;
  A->info.parts = 1;
  ts_status status = find_floats(context, &grid->grid, &values);
  if (status == TS_OK) status = tsi_stencil_inspect(context, &grid->grid, values.floats, &facts, &A->info);
  A->info.seconds_layout = tsi_seconds() - start;
  if (status == TS_OK && (status = tsi_enter(context)) == TS_OK) {
    status = stencil_build(A, &values, &facts);
    if (status < 0) tsi_stencil_destroy(context, A->stencil);
    tsi_leave(context, status);
  }
  tsi_stencil_facts_free(context, &facts);
  tsi_free(context, values.own_floats);
  if (status < 0) {
    tsi_free(context, A);
    return status;
  }
  tsi_space_retain(grid);
  tsi_space_retain(grid);
  *out = A;
  return TS_OK;
}

static ts_status check_grid(const ts_space *grid) {
  ts_context *context = grid->context;
  if (!grid->grid.width)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the space is not a grid; create one with ts_grid_create");
  if (!context->ops->grid)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "backend %s does not support grids", context->backend_name);
  return TS_OK;
}

static ts_status create_checked(ts_space *grid, stencil_values values, ts_matrix **matrix) {
  ts_context *context = grid->context;
  TSI_TRY(create_stencil(grid, values, matrix));
  const ts_matrix_info *info = &(*matrix)->info;
  tsi_log(context, TS_LOG_LEVEL_INFO, "stencil of %d x %d points, %d of them without equation: %zu bytes",
          grid->grid.width, grid->grid.height, info->constrained_rows,
          info->bytes_device + info->bytes_low_order);
  return TS_OK;
}

static ts_status borrow_stencil(ts_space *grid, const ts_array *values, tsi_loans *loans, stencil_values *out) {
  const size_t count = 9 * (size_t)grid->tiling.size;
  *out = (stencil_values){0};
  if (!tsi_is_given(values)) return tsi_fail(grid->context, TS_ERROR_INVALID_ARGUMENT, "values is NULL");
  return tsi_array_borrow_values(grid->context, "values", values, count, loans, &out->floats, &out->doubles);
}

ts_status ts_stencil_create(ts_space *grid, ts_array values, ts_matrix **matrix) {
  TSI_BEGIN(grid, grid->context);
  TSI_REQUIRE(grid->context, matrix);
  *matrix = NULL;
  TSI_TRY(check_grid(grid));
  tsi_loans loans = {0};
  stencil_values borrowed;
  ts_status status = borrow_stencil(grid, &values, &loans, &borrowed);
  if (status == TS_OK) status = create_checked(grid, borrowed, matrix);
  tsi_loans_free(grid->context, &loans);
  return status;
}

/* ---- Writing and reading values ---- */

static ts_status check_stencil(const ts_matrix *matrix, const char *function) {
  if (matrix->stencil) return TS_OK;
  return tsi_fail(matrix->context, TS_ERROR_INVALID_ARGUMENT,
                  "%s: the matrix is not a stencil; create one with ts_stencil_create", function);
}

/* Creates all new data before it releases old data. `now` is A with its new values; at the end A becomes
 * `now`. */
static ts_status replace(ts_matrix *A, const stencil_values *values, const tsi_stencil_facts *facts,
                         ts_matrix *now) {
  ts_context *context = A->context;
  const size_t before = context->bytes_device - A->info.bytes_low_order;
  TSI_TRY(make_stencil(A->row_space, facts, &now->stencil));
  now->stencil->version = A->stencil->version + 1;
  now->norm_infinity = facts->norm_infinity;
  now->low = NULL;
  ts_status status = create_low_parts(now, values, facts);
  if (status == TS_OK) status = context->ops->grid->stencil_write(now, facts->values);
  if (status < 0) {
    tsi_matrix_destroy_low_parts(now);
    tsi_stencil_destroy(context, now->stencil);
    return status;
  }
  tsi_matrix_destroy_low_parts(A);
  tsi_stencil_destroy(context, A->stencil);
  /* Corners and parts that were added or removed. */
  now->info.bytes_device += context->bytes_device - now->info.bytes_low_order - before;
  *A = *now;
  for (ts_matrix *low = A->low; low; low = low->low) low->whole = A;
  return TS_OK;
}

static ts_status set_values(ts_matrix *matrix, stencil_values values) {
  ts_context *context = matrix->context;
  const tsi_grid *grid = &matrix->row_space->grid;
  tsi_stencil_facts facts = {0};
  ts_matrix now = *matrix;
  ts_status status = find_floats(context, grid, &values);
  if (status == TS_OK) status = tsi_stencil_inspect(context, grid, values.floats, &facts, &now.info);
  if (status == TS_OK && (status = tsi_enter(context)) == TS_OK)
    status = tsi_leave(context, replace(matrix, &values, &facts, &now));
  tsi_stencil_facts_free(context, &facts);
  tsi_free(context, values.own_floats);
  return status;
}

ts_status ts_stencil_set_values(ts_matrix *matrix, ts_array values) {
  TSI_BEGIN(matrix, matrix->context);
  TSI_TRY(check_stencil(matrix, __func__));
  tsi_loans loans = {0};
  stencil_values borrowed;
  ts_status status = borrow_stencil(matrix->row_space, &values, &loans, &borrowed);
  if (status == TS_OK) status = set_values(matrix, borrowed);
  tsi_loans_free(matrix->context, &loans);
  return status;
}

static ts_status read_values(const ts_matrix *A, const ts_array *values) {
  ts_context *context = A->context;
  float *floats = tsi_malloc(context, values->count, sizeof *floats);
  if (!floats) return tsi_out_of_memory(context, "a stencil", values->count * sizeof *floats);
  ts_status status = tsi_enter(context);
  if (status == TS_OK) {
    context->host_synchronisations++;
    status = tsi_leave(context, context->ops->grid->stencil_read(A, floats));
  }
  if (status == TS_OK) status = tsi_array_put_floats(context, values, floats);
  tsi_free(context, floats);
  return status;
}

ts_status ts_stencil_read(const ts_matrix *matrix, ts_array values) {
  TSI_BEGIN(matrix, matrix->context);
  TSI_TRY(check_stencil(matrix, __func__));
  TSI_TRY(tsi_array_check(matrix->context, "values", &values, 9 * (size_t)matrix->row_space->tiling.size,
                          TSI_FLOATING, TSI_WRITE));
  return read_values(matrix, &values);
}
