/* Matrices given by a function of the caller: creation, and their kind.
 *
 * The function receives vectors of one or two parts, without an exponent. They are views of the library's
 * vectors. In pairs both vectors have a second part. That of y is 0 before the call, for functions that write
 * only floats. */
#include "operator.h"

#include <math.h>
#include "common/core/ranks.h"

static tsi_operator *operator_of(const ts_matrix *A) {
  return A->function;
}

/* ---- The function ---- */

typedef struct view {
  ts_vector first, low;
} view;

static ts_vector *view_of(view *w, const ts_vector *v, int parts) {
  w->first = tsi_first_part(v);
  w->first.exponent = w->first.may_grow = 0;
  if (parts == 2 && v->low) {
    w->low = tsi_first_part(v->low);
    w->first.low = &w->low;
  }
  return &w->first;
}

static ts_status prepare(tsi_operator *f, ts_vector *y) {
  if (!f->must_prove && !y->context->check) return tsi_clear_low(y);
  f->must_prove = 0;
  return tsi_fill(y, NAN);
}

static ts_status drop_constrained(const ts_matrix *A, ts_vector *y) {
  for (ts_vector *part = y; A->row_space->constrained && part; part = part->low) {
    ts_vector one = tsi_first_part(part);
    TSI_TRY(A->context->ops->zero_constrained(&one, &one));
  }
  return TS_OK;
}

/* y = A x. */
static ts_status apply(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  ts_context *context = A->context;
  tsi_operator *f = operator_of(A);
  view of_x, of_y;
  const int parts = y->low && f->desc.precision != TS_PRECISION_SINGLE ? 2 : 1;
  if (f->is_running)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "the operator's function applies the operator itself");
  TSI_TRY(prepare(f, y));
  f->is_running = 1;
  const ts_status status = tsi_call(context, f->desc.apply, f->desc.user, view_of(&of_y, y, parts),
                                    view_of(&of_x, x, parts), "the operator's function");
  f->is_running = 0;
  TSI_TRY(status);
  return drop_constrained(A, y);
}

ts_status tsi_operator_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  tsi_operator *f = operator_of(A);
  const int parts = A->context->caps.pairs && (r->low || b->low || x->low) ? 2 : 1;
  if (f->product && (f->product->components != x->components || tsi_parts(f->product) != parts)) {
    tsi_vector_destroy(f->product);
    f->product = NULL;
  }
  if (!f->product) TSI_TRY(tsi_arena_create(A->row_space, x->components, parts, &f->product, 1, 0, NULL));
  const tsi_ops *ops = A->context->ops;
  TSI_TRY(apply(f->product, A, x));
  TSI_TRY(ops->axpby(f->product, ts_constant(1), b, ts_constant(-1), f->product));
  TSI_TRY(tsi_copy_parts(r, ts_constant(1), f->product));
  return drop_constrained(A, r);
}

/* ---- The diagonal ---- */

static ts_status make_diagonal(const ts_matrix *A, int components, ts_vector **out) {
  const size_t rows = (size_t)A->info.rows, count = rows * (size_t)components;
  float *values = tsi_malloc(A->context, count, sizeof *values);
  if (!values) return tsi_out_of_memory(A->context, "a diagonal", count * sizeof *values);
  for (size_t k = 0; k < count; k++) values[k] = operator_of(A)->diagonal[k / (size_t)components];
  ts_vector *d = NULL;
  ts_status status = tsi_arena_create(A->row_space, components, 1, &d, 1, 0, NULL);
  if (status == TS_OK) status = tsi_write_floats(d, values);
  if (status == TS_OK)
    *out = d;
  else
    tsi_vector_destroy(d);
  tsi_free(A->context, values);
  return status;
}

static ts_status diagonal(ts_vector *d, const ts_matrix *A) {
  ts_vector **known = &operator_of(A)->diagonals[d->components - 1];
  if (!*known) TSI_TRY(make_diagonal(A, d->components, known));
  ts_vector first = tsi_first_part(d);
  return A->context->ops->zero_constrained(&first, *known);
}

static void drop_diagonals(tsi_operator *f) {
  for (int c = 0; c < 4; c++) {
    tsi_vector_destroy(f->diagonals[c]);
    f->diagonals[c] = NULL;
  }
}

/* ---- The kind ---- */

static void destroy(ts_matrix *A) {
  tsi_operator *f = operator_of(A);
  drop_diagonals(f);
  tsi_vector_destroy(f->product);
  tsi_free(A->context, f->diagonal);
  tsi_free(A->context, f);
  A->function = NULL;
}

static const tsi_matrix_kind kind = {.destroy = destroy,
                                     .spmv = apply,
                                     .residual = tsi_operator_residual,
                                     .diagonal = diagonal,
                                     .has_no_entries = "an operator"};

ts_status tsi_refuse_operator(const ts_matrix *A, const char *what) {
  if (!A->function) return TS_OK;
  return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT,
                  "%s the entries of the matrix, but an operator has none", what);
}

/* ---- Creation ---- */

static ts_status check_spaces(const ts_space *rows, const ts_space *columns) {
  ts_context *context = rows->context;
  const tsi_ranks_ops *ranks = context->ops->ranks;
  if (columns->context != context)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "row_space and column_space belong to different contexts");
  if (ranks && (ranks->is_of_ranks(rows) || ranks->is_of_ranks(columns)))
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "a space belongs to the rows of ranks, which operators do not support");
  return TS_OK;
}

static ts_status check_desc(ts_context *context, const ts_operator_desc *desc, int is_square) {
  if (!desc->apply) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "apply is NULL");
  if (desc->precision != TS_PRECISION_AUTO && desc->precision != TS_PRECISION_SINGLE)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "precision is %d; it must be single, or 0 for auto",
                    desc->precision);
  if (desc->symmetric != 0 && desc->symmetric != 1)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "symmetric is %d; it must be 0 or 1", desc->symmetric);
  if (desc->symmetric && !is_square)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "symmetric is set, and row_space and column_space are not the same space");
  for (size_t k = 0; k < sizeof desc->reserved / sizeof *desc->reserved; k++)
    if (desc->reserved[k])
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "reserved[%zu] is %llu; it must be 0", k,
                      (unsigned long long)desc->reserved[k]);
  return TS_OK;
}

static ts_status check_diagonal(const ts_matrix *A, const ts_vector *d) {
  ts_context *context = A->context;
  if (!A->has_diagonal)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "diagonal is set, and row_space and column_space are not the same space");
  TSI_TRY(tsi_check_space(d, A->row_space, "diagonal", "the operator", "its row space", "row_space"));
  if (d->components != 1)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "diagonal has %d components; it must have 1",
                    d->components);
  return TS_OK;
}

/* Finds the largest magnitude, and the first unconstrained row with a diagonal of 0. */
static ts_status inspect(const ts_matrix *A, const float *diagonal, double *largest, int32_t *zero,
                         int *negative) {
  const unsigned char *constrained = A->row_space->constrained;
  for (int32_t i = 0; i < A->info.rows; i++) {
    if (constrained && constrained[i]) continue;
    if (!isfinite(diagonal[i]))
      return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT, "diagonal is %g in row %d", (double)diagonal[i],
                      i);
    *largest = fmax(*largest, fabs((double)diagonal[i]));
    if (diagonal[i] == 0 && *zero < 0) *zero = i;
    if (diagonal[i] < 0) *negative = 1;
  }
  return TS_OK;
}

/* Stores a copy of the diagonal and inspects it. */
static ts_status copy_diagonal(ts_matrix *A, const ts_vector *d) {
  ts_context *context = A->context;
  tsi_operator *f = operator_of(A);
  const size_t rows = (size_t)A->info.rows;
  double largest = 0;
  int32_t zero = -1;
  int negative = 0;
  TSI_TRY(check_diagonal(A, d));
  float *copy = tsi_malloc(context, rows, sizeof *copy);
  if (!copy) return tsi_out_of_memory(context, "a diagonal", rows * sizeof *copy);
  ts_status status = tsi_vector_read_floats(d, copy);
  if (status == TS_OK) status = inspect(A, copy, &largest, &zero, &negative);
  if (status < 0) {
    tsi_free(context, copy);
    return status;
  }
  tsi_free(context, f->diagonal);
  f->diagonal = copy;
  A->info.zero_diagonal_row = zero;
  A->info.negative_diagonal = negative;
  A->norm_infinity = 2 * largest; /* an estimate */
  A->device_values = 0;
  return TS_OK;
}

static ts_status create(ts_space *rows, ts_space *columns, const ts_operator_desc *desc, ts_matrix **matrix) {
  ts_context *context = rows->context;
  TSI_TRY(check_spaces(rows, columns));
  TSI_TRY(check_desc(context, desc, rows == columns));
  ts_matrix *A = tsi_calloc(context, 1, sizeof *A);
  tsi_operator *f = tsi_calloc(context, 1, sizeof *f);
  if (!A || !f) {
    tsi_free(context, A);
    tsi_free(context, f);
    return tsi_out_of_memory(context, "an operator", sizeof *A + sizeof *f);
  }
  *A = (ts_matrix){.context = context,
                   .kind = &kind,
                   .references = 1,
                   .row_space = rows,
                   .column_space = columns,
                   .has_diagonal = rows == columns,
                   .function = f,
                   .device_values = 1};
  A->info = (ts_matrix_info){.rows = rows->tiling.size,
                             .columns = columns->tiling.size,
                             .format = TS_FORMAT_OPERATOR,
                             .choice = "operator: a function",
                             .fill_ratio = 1,
                             .parts = 1,
                             .symmetric = desc->symmetric,
                             .unsymmetric_row = desc->symmetric ? -1 : 0,
                             .unsymmetric_column = desc->symmetric ? -1 : 0,
                             .zero_diagonal_row = -1};
  for (int32_t i = 0; rows->constrained && i < A->info.rows; i++)
    A->info.constrained_rows += rows->constrained[i] != 0;
  f->desc = *desc;
  f->desc.diagonal = NULL;
  if (desc->symmetric && !desc->apply_transposed) f->desc.apply_transposed = desc->apply;
  f->must_prove = 1;
  tsi_space_retain(rows);
  tsi_space_retain(columns);
  *matrix = A;
  return desc->diagonal ? copy_diagonal(A, desc->diagonal) : TS_OK;
}

ts_status ts_operator_create(ts_space *row_space, ts_space *column_space, const ts_operator_desc *desc,
                             ts_matrix **matrix) {
  TSI_BEGIN(row_space, row_space->context);
  ts_context *context = row_space->context;
  TSI_REQUIRE(context, matrix);
  *matrix = NULL;
  TSI_REQUIRE(context, column_space);
  TSI_REQUIRE(context, desc);
  tsi_begin_together(context);
  const ts_status status = tsi_end_together(context, create(row_space, column_space, desc, matrix));
  if (status < 0) ts_matrix_destroy(matrix);
  return status;
}

static ts_status update(ts_matrix *A, const ts_vector *d) {
  if (d) TSI_TRY(copy_diagonal(A, d));
  TSI_TRY(tsi_enter(A->context));
  if (d) drop_diagonals(operator_of(A));
  A->changes++;
  return tsi_leave(A->context, TS_OK);
}

ts_status ts_operator_update(ts_matrix *matrix, const ts_vector *diagonal) {
  TSI_BEGIN(matrix, matrix->context);
  if (!matrix->function)
    return tsi_fail(matrix->context, TS_ERROR_INVALID_ARGUMENT, "the matrix is not an operator");
  tsi_begin_together(matrix->context);
  return tsi_end_together(matrix->context, update(matrix, diagonal));
}

/* ---- Functions for solvers ---- */

void tsi_operator_begin(const ts_matrix *A) {
  if (A->function) A->function->must_prove = 1;
}

ts_status tsi_operator_transposed(const ts_matrix *A, ts_matrix **transposed) {
  const ts_operator_desc *desc = &operator_of(A)->desc;
  if (!desc->apply_transposed)
    return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT,
                    "the operator was created without apply_transposed, which multiplies by its transpose");
  const ts_operator_desc swapped = {.apply = desc->apply_transposed,
                                    .apply_transposed = desc->apply,
                                    .user = desc->user,
                                    .symmetric = desc->symmetric,
                                    .precision = desc->precision};
  return create(A->column_space, A->row_space, &swapped, transposed);
}
