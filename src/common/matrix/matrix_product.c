/* y = A x, b - A x and the diagonal: with all parts of a matrix and of vectors, and the API functions. */
#include <math.h>

#include "common/core/core.h"
#include "operator.h"
#include "transposed.h"

/* ---- With all parts ---- */

/* Creates a vector for the product of A's low-order parts, with this number of components. */
static ts_status create_low_product(ts_matrix *A, int components) {
  if (A->low_product && A->low_product->components == components) return TS_OK;
  tsi_vector_destroy(A->low_product);
  A->low_product = NULL;
  return tsi_arena_create(A->row_space, components, 1, &A->low_product, 1, 0, NULL);
}

ts_status tsi_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  TSI_TRY(A->kind->spmv(y, A, x));
  if (!y->low || !A->low) return TS_OK;
  const ts_vector high = tsi_first_part(x);
  TSI_TRY(create_low_product((ts_matrix *)A, y->components));
  TSI_TRY(A->low->kind->spmv(A->low_product, A->low, &high));
  return y->context->ops->axpby(y, ts_constant(1), y, ts_constant(1), A->low_product);
}

/* The largest terms are subtracted first. r is then their small difference, and its rounding error is smaller
 * than all later terms. Products of the smallest parts with each other are omitted. The second part of b is
 * added before the last product, which sets rows without an equation to 0, also for a stencil. */
ts_status tsi_residual_of_parts(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x,
                                int parts) {
  if (A->function) return tsi_operator_residual(r, b, A, x);
  const tsi_ops *ops = r->context->ops;
  const ts_vector *from = b;
  ts_vector low, pair = *r; /* without a third part, which is never written */
  if (r->low) {
    low = tsi_first_part(r->low);
    pair.low = &low;
  }
  int depth = 0;
  for (const ts_matrix *part = A; part; part = part->low, depth++) {
    int order = depth;
    for (const ts_vector *v = x; v && order < parts; v = v->low, order++) {
      const ts_vector one = tsi_first_part(v);
      TSI_TRY(part->kind->residual(&pair, from, part, &one));
      if (from == b && !r->low && b->low) {
        low = tsi_first_part(b->low);
        TSI_TRY(ops->axpby(r, ts_constant(1), r, ts_constant(1), &low));
      }
      from = &pair;
    }
  }
  const int last = !x->low && !A->low && !r->low && b->low;
  return last && A->row_space->constrained ? ops->zero_constrained(r, r) : TS_OK;
}

ts_status tsi_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  return tsi_residual_of_parts(r, b, A, x, 3);
}

/* ---- The API ---- */

static ts_status check_operand(const char *function, const ts_matrix *A, const ts_vector *v, const char *name,
                               const ts_space *space, const char *side) {
  if (v->context != A->context)
    return tsi_fail(A->context, TS_ERROR_INCOMPATIBLE, "%s: %s and the matrix belong to different contexts",
                    function, name);
  if (v->space != space)
    return tsi_fail(
        A->context, TS_ERROR_INCOMPATIBLE,
        "%s: %s is not over the matrix's %s space (sizes %d and %d); create it over ts_matrix_%s_space",
        function, name, side, v->space->tiling.size, space->tiling.size, side);
  return TS_OK;
}

static ts_status check_components(const char *function, const ts_vector *a, const char *a_name,
                                  const ts_vector *b, const char *b_name) {
  if (a->components != b->components)
    return tsi_fail(a->context, TS_ERROR_INCOMPATIBLE, "%s: %s has %d components and %s has %d", function,
                    a_name, a->components, b_name, b->components);
  return TS_OK;
}

/* Converts a result of the stored numbers to the user's, which are 2^exponent times as large. If the vector may
 * have an exponent and the numbers are far from 1, this becomes its exponent. */
static ts_status apply_matrix_exponent(ts_vector *y, int exponent) {
  const int is_ordinary = exponent >= -TSI_ORDINARY_VECTOR && exponent <= TSI_ORDINARY_VECTOR;
  y->exponent = is_ordinary || !tsi_may_have_exponent(y) ? 0 : exponent;
  return tsi_multiply_by_power(y, exponent - y->exponent);
}

/* r = 2^e (2^-e b - A x) with all parts of b and r, where 2^e scales A x to the user's numbers. If A is
 * negated, r = -2^e (-2^-e b - A x). If the scaled b could overflow, b and A x differ too much in size, and
 * they are subtracted unscaled. */
static ts_status scaled_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  enum { far = 100 };
  ts_vector *other;
  const int exponent = A->exponent + x->exponent, of_b = b->exponent - exponent;
  const int is_far = of_b > far || of_b < -far;
  TSI_TRY(tsi_arena_create(A->row_space, b->components, tsi_parts(b), &other, 1, 0, NULL));
  ts_status status;
  if (is_far) {
    status = tsi_spmv(other, A, x);
    if (status == TS_OK) status = tsi_multiply_by_power(other, exponent);
    if (status == TS_OK) status = tsi_apply_exponent(b);
    if (status == TS_OK)
      status = r->context->ops->axpby(r, ts_constant(1), b, ts_constant(A->negated ? 1 : -1), other);
    r->exponent = 0;
  } else {
    status = tsi_copy_parts(other, ts_constant(ldexp(A->negated ? -1 : 1, of_b)), b);
    if (status == TS_OK) status = tsi_residual(r, other, A, x);
    if (status == TS_OK && A->negated) status = tsi_negate(r);
    if (status == TS_OK) status = apply_matrix_exponent(r, exponent);
  }
  tsi_vector_destroy(other);
  return status;
}

static ts_status multiply(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  TSI_TRY(tsi_enter(A->context));
  ts_status status = TSI_HOLD_RESULT(y, x);
  if (status == TS_OK) status = tsi_spmv(y, A, x);
  if (status == TS_OK && A->negated) status = tsi_negate(y);
  if (status == TS_OK) status = apply_matrix_exponent(y, A->exponent + x->exponent);
  return tsi_leave_computed(y, status);
}

ts_status ts_matrix_multiply(ts_vector *y, const ts_matrix *matrix, const ts_vector *x) {
  TSI_REQUIRE(NULL, matrix);
  ts_context *context = matrix->context;
  TSI_REQUIRE(context, y);
  TSI_REQUIRE(context, x);
  TSI_TRY(check_operand(__func__, matrix, y, "y", matrix->row_space, "row"));
  TSI_TRY(check_operand(__func__, matrix, x, "x", matrix->column_space, "column"));
  TSI_TRY(check_components(__func__, y, "y", x, "x"));
  if (x == y) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s: y and x are the same vector", __func__);
  return multiply(y, matrix, x);
}

ts_status ts_matrix_multiply_transposed(ts_vector *y, const ts_matrix *matrix, const ts_vector *x) {
  TSI_REQUIRE(NULL, matrix);
  ts_context *context = matrix->context;
  ts_matrix *transposed;
  TSI_REQUIRE(context, y);
  TSI_REQUIRE(context, x);
  TSI_TRY(check_operand(__func__, matrix, y, "y", matrix->column_space, "column"));
  TSI_TRY(check_operand(__func__, matrix, x, "x", matrix->row_space, "row"));
  TSI_TRY(check_components(__func__, y, "y", x, "x"));
  if (x == y) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s: y and x are the same vector", __func__);
  tsi_clear_error(context);
  tsi_begin_together(context);
  TSI_TRY(tsi_end_together(context, tsi_matrix_transpose((ts_matrix *)matrix, &transposed)));
  return multiply(y, transposed, x);
}

ts_status ts_matrix_residual(ts_vector *r, const ts_vector *b, const ts_matrix *matrix, const ts_vector *x) {
  TSI_REQUIRE(NULL, matrix);
  ts_context *context = matrix->context;
  TSI_REQUIRE(context, r);
  TSI_REQUIRE(context, b);
  TSI_REQUIRE(context, x);
  TSI_TRY(check_operand(__func__, matrix, r, "r", matrix->row_space, "row"));
  TSI_TRY(check_operand(__func__, matrix, b, "b", matrix->row_space, "row"));
  TSI_TRY(check_operand(__func__, matrix, x, "x", matrix->column_space, "column"));
  TSI_TRY(check_components(__func__, r, "r", x, "x"));
  TSI_TRY(check_components(__func__, b, "b", x, "x"));
  if (x == r) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s: r and x are the same vector", __func__);
  TSI_TRY(tsi_enter(context));
  const int is_plain = !matrix->exponent && !matrix->negated && !x->exponent && !b->exponent;
  if (is_plain) r->exponent = 0;
  ts_status status = TSI_HOLD_RESULT(r, b, x);
  if (status == TS_OK) status = is_plain ? tsi_residual(r, b, matrix, x) : scaled_residual(r, b, matrix, x);
  return tsi_leave_computed(r, status);
}

ts_status ts_matrix_diagonal(ts_vector *d, const ts_matrix *matrix) {
  TSI_REQUIRE(NULL, matrix);
  ts_context *context = matrix->context;
  TSI_REQUIRE(context, d);
  if (!matrix->has_diagonal)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: the matrix is %d x %d with separate row and column spaces, so it has no diagonal",
                    __func__, matrix->info.rows, matrix->info.columns);
  if (!tsi_knows_diagonal(matrix))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: the matrix is an operator created without a diagonal", __func__);
  TSI_TRY(check_operand(__func__, matrix, d, "d", matrix->row_space, "row"));
  TSI_TRY(tsi_enter(context));
  ts_status status = tsi_diagonal(d, matrix);
  if (status == TS_OK) status = tsi_clear_low(d);
  if (status == TS_OK && matrix->negated) status = tsi_negate(d);
  if (status == TS_OK) status = apply_matrix_exponent(d, matrix->exponent);
  return tsi_leave(context, status);
}
