/* Vectors: creation, and the public operations with their checks. */
#include <math.h>

#include "core.h"
#include "doubles.h"

ts_status tsi_check_channels(const ts_space *space, int components) {
  if (space->tiling.log2_block == 0 || components == 1) return TS_OK;
  return tsi_fail(space->context, TS_ERROR_UNSUPPORTED,
                  "components of a vector is %d; the space belongs to a matrix as bcrs%d, which on backend %s "
                  "supports one component",
                  components, 1 << space->tiling.log2_block, space->context->backend_name);
}

static ts_status create(ts_space *space, const ts_vector_desc *desc, ts_vector **vector) {
  ts_context *context = space->context;
  if (desc) TSI_TRY(tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved));
  if (desc) TSI_TRY(tsi_check_precision(context, desc->precision));
  const int components = desc && desc->components ? desc->components : 1;
  if (components < 1 || components > 4)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "components of a vector is %d; it must be 1 to 4",
                    components);
  TSI_TRY(tsi_check_channels(space, components));
  TSI_TRY(tsi_enter(context));
  const int parts = desc && desc->precision == TS_PRECISION_DOUBLE ? 3 : 1;
  TSI_TRY(tsi_leave(context, tsi_arena_create(space, components, parts, vector, 1, 0, NULL)));
  (*vector)->may_grow = !desc || desc->precision == TS_PRECISION_AUTO;
  return TS_OK;
}

ts_status ts_vector_create(ts_space *space, const ts_vector_desc *desc, ts_vector **vector) {
  TSI_BEGIN(space, space->context);
  ts_context *context = space->context;
  TSI_REQUIRE(context, vector);
  *vector = NULL;
  tsi_begin_together(context);
  const ts_status status = tsi_end_together(context, create(space, desc, vector));
  if (status < 0) ts_vector_destroy(vector);
  return status;
}

void tsi_vector_destroy(ts_vector *v) {
  if (!v) return;
  ts_space *space = v->space;
  for (ts_vector *part = v, *next; part; part = next) {
    next = part->low;
    part->context->ops->vector_destroy(part);
    tsi_free(part->context, part);
  }
  tsi_space_release(space);
}

void ts_vector_destroy(ts_vector **vector) {
  if (!vector || !*vector) return;
  ts_vector *v = *vector;
  ts_context *context = v->context;
  tsi_enter_to_destroy(context);
  tsi_vector_destroy(v);
  tsi_leave(context, TS_OK);
  *vector = NULL;
}

ts_space *ts_vector_get_space(const ts_vector *vector) {
  return vector ? vector->space : NULL;
}

int ts_vector_get_components(const ts_vector *vector) {
  return vector ? vector->components : 0;
}

/* ---- Parts, for the rest of the library ---- */

ts_status tsi_clear_low(ts_vector *v) {
  for (ts_vector *part = v->low; part; part = part->low) TSI_TRY(v->context->ops->fill(part, 0));
  return TS_OK;
}

ts_status tsi_fill(ts_vector *v, double value) {
  for (ts_vector *part = v; part; part = part->low) {
    const float rounded = (float)value;
    const ts_vector *low = part->low;
    TSI_TRY(v->context->ops->fill(part, rounded));
    value = low && isfinite(rounded) ? value - (double)rounded : 0;
  }
  return TS_OK;
}

/* ---- Exponents ---- */

int tsi_may_have_exponent(const ts_vector *v) {
  return v->low && v->low->low && !v->is_lent;
}

int tsi_exponent_for(const ts_vector *v, tsi_exponents exponents) {
  return tsi_may_have_exponent(v) ? tsi_scaling_exponent(exponents, TSI_ORDINARY_VECTOR) : 0;
}

ts_status tsi_negate(ts_vector *v) {
  return v->context->ops->axpby(v, ts_constant(-1), v, ts_constant(0), v);
}

/* Multiplies in steps that are floats: numbers that leave the range become infinite or 0. */
ts_status tsi_multiply_by_power(ts_vector *v, int exponent) {
  enum { step = 120 };
  while (exponent) {
    const int now = exponent > step ? step : exponent < -step ? -step : exponent;
    TSI_TRY(tsi_copy_parts(v, ts_constant(ldexp(1, now)), v));
    exponent -= now;
  }
  return TS_OK;
}

ts_status tsi_apply_exponent(const ts_vector *v) {
  ts_vector *changed = (ts_vector *)v;
  const int exponent = v->exponent;
  changed->exponent = 0;
  return tsi_multiply_by_power(changed, exponent);
}

ts_status tsi_enter_with(ts_context *context, const ts_vector *const *vectors) {
  TSI_TRY(tsi_enter(context));
  for (; *vectors; vectors++) {
    const ts_status status = tsi_apply_exponent(*vectors);
    if (status < 0) return tsi_leave(context, status);
  }
  return TS_OK;
}

ts_status tsi_lend(ts_vector *v) {
  const int drops =
      v->may_grow && v->low; /* the application writes floats, so old low-order parts would be wrong */
  v->is_lent = 1;
  if (!v->exponent && !drops) return TS_OK;
  TSI_TRY(TSI_ENTER_WITH(v->context, v));
  if (drops) tsi_vector_drop_low(v);
  return tsi_leave(v->context, TS_OK);
}

ts_status tsi_set_zero(ts_vector *v) {
  v->exponent = 0;
  return tsi_fill(v, 0);
}

const tsi_exponents tsi_no_exponents = {INT16_MIN, INT16_MAX};

enum { LOW_ORDER_PARTS_VANISH = -54 };

int tsi_loses_digits(tsi_exponents e, int exponent) {
  return e.largest != INT16_MIN && e.smallest - exponent < LOW_ORDER_PARTS_VANISH;
}

/* Scales the largest value to about 1. If the low-order parts of the smallest value would vanish, the largest
 * becomes larger, up to the limit of ordinary values. */
int tsi_scaling_exponent(tsi_exponents e, int ordinary) {
  if (e.largest == INT16_MIN || (e.largest >= -ordinary && e.largest <= ordinary)) return 0;
  const int wanted = e.smallest - LOW_ORDER_PARTS_VANISH;
  return wanted > e.largest ? e.largest : wanted < e.largest - ordinary ? e.largest - ordinary : wanted;
}

ts_status tsi_copy_parts(ts_vector *out, ts_coefficient a, const ts_vector *x) {
  const tsi_ops *ops = out->context->ops;
  for (ts_vector *to = out; to; to = to->low, x = x ? x->low : NULL) {
    if (!x) {
      TSI_TRY(ops->fill(to, 0));
      continue;
    }
    ts_vector to_part = tsi_first_part(to), x_part = tsi_first_part(x);
    TSI_TRY(ops->axpby(&to_part, a, &x_part, ts_constant(0), &x_part));
  }
  return TS_OK;
}

ts_status tsi_add_to_parts(ts_vector *x, ts_coefficient a, const ts_vector *e) {
  const tsi_ops *ops = x->context->ops;
  for (; e; e = e->low) {
    const ts_vector part = tsi_first_part(e);
    TSI_TRY(x->low ? ops->add_to_parts(x, a, &part) : ops->axpby(x, a, &part, ts_constant(1), x));
  }
  return TS_OK;
}

ts_status tsi_leave_computed(ts_vector *y, ts_status status) {
  if (status == TS_OK && y->low) status = tsi_clear_low(y->low);
  return tsi_leave(y->context, status);
}

/* ---- Operations ---- */

static ts_status check_pair(const char *function, const ts_vector *a, const char *a_name, const ts_vector *b,
                            const char *b_name) {
  if (a->context != b->context)
    return tsi_fail(a->context, TS_ERROR_INCOMPATIBLE, "%s: %s and %s belong to different contexts", function,
                    a_name, b_name);
  if (a->space != b->space)
    return tsi_fail(
        a->context, TS_ERROR_INCOMPATIBLE,
        "%s: %s and %s have different index spaces (sizes %d and %d), so their elements are stored in "
        "different places",
        function, a_name, b_name, a->space->tiling.size, b->space->tiling.size);
  if (a->components != b->components)
    return tsi_fail(a->context, TS_ERROR_INCOMPATIBLE, "%s: %s has %d components and %s has %d", function,
                    a_name, a->components, b_name, b->components);
  return TS_OK;
}

static ts_status check_slot(ts_context *context, const char *function, const char *name, ts_slot slot) {
  if (!slot.scalars) return TS_OK;
  if (slot.scalars->context != context)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "%s: the scalars of %s belong to another context", function,
                    name);
  if (slot.index < 0 || slot.index >= slot.scalars->count)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s: slot %d of %s is out of range; there are %d",
                    function, slot.index, name, slot.scalars->count);
  return TS_OK;
}

/* Rounds the scale, so that a term is dropped if the rounded scale is 0. */
static ts_status check_coefficient(ts_context *context, const char *function, const char *name,
                                   ts_coefficient *c) {
  if (fabs(c->scale) <= 0x1p-150 || !isfinite((float)c->scale)) c->scale = (double)(float)c->scale;
  TSI_TRY(check_slot(context, function, name, c->numerator));
  return check_slot(context, function, name, c->denominator);
}

#define CHECK_PAIR(a, b) TSI_TRY(check_pair(__func__, a, #a, b, #b))

ts_status ts_vector_fill(ts_vector *y, double value) {
  TSI_REQUIRE(NULL, y);
  TSI_TRY(tsi_enter(y->context));
  tsi_looked found;
  ts_status status = tsi_doubles_look(NULL, &value, 1, &found);
  if (status == TS_OK && !found.are_floats) status = tsi_hold_doubles(y);
  const int exponent = tsi_exponent_for(y, found.exponents);
  if (status == TS_OK) status = tsi_fill(y, ldexp(value, -exponent));
  if (status == TS_OK) y->exponent = exponent;
  return tsi_leave(y->context, status);
}

ts_status ts_vector_copy(ts_vector *y, const ts_vector *x) {
  TSI_REQUIRE(NULL, y);
  TSI_REQUIRE(y->context, x);
  CHECK_PAIR(y, x);
  TSI_TRY(tsi_enter(y->context));
  if (x == y) return tsi_leave(y->context, TS_OK);
  ts_status status = TSI_HOLD_RESULT(y, x);
  if (status == TS_OK && !tsi_may_have_exponent(y)) status = tsi_apply_exponent(x);
  if (status == TS_OK) status = tsi_copy_parts(y, ts_constant(1), x);
  y->exponent = x->exponent;
  return tsi_leave(y->context, status);
}

ts_status ts_vector_scale(ts_vector *y, ts_coefficient a) {
  TSI_REQUIRE(NULL, y);
  TSI_TRY(check_coefficient(y->context, __func__, "a", &a));
  TSI_TRY(tsi_enter(y->context));
  return tsi_leave_computed(y, y->context->ops->axpby(y, a, y, ts_constant(0), y));
}

ts_status ts_vector_axpby(ts_vector *y, ts_coefficient a, const ts_vector *x, ts_coefficient b) {
  TSI_REQUIRE(NULL, y);
  TSI_REQUIRE(y->context, x);
  CHECK_PAIR(y, x);
  TSI_TRY(check_coefficient(y->context, __func__, "a", &a));
  TSI_TRY(check_coefficient(y->context, __func__, "b", &b));
  TSI_TRY(TSI_ENTER_WITH(y->context, y, x));
  ts_status status = TSI_HOLD_RESULT(y, x);
  if (status == TS_OK) status = y->context->ops->axpby(y, a, x, b, y);
  return tsi_leave_computed(y, status);
}

ts_status ts_vector_multiply(ts_vector *z, const ts_vector *x, const ts_vector *y) {
  TSI_REQUIRE(NULL, z);
  TSI_REQUIRE(z->context, x);
  TSI_REQUIRE(z->context, y);
  CHECK_PAIR(z, x);
  CHECK_PAIR(z, y);
  TSI_TRY(TSI_ENTER_WITH(z->context, z, x, y));
  ts_status status = TSI_HOLD_RESULT(z, x, y);
  if (status == TS_OK) status = z->context->ops->multiply(z, x, y);
  return tsi_leave_computed(z, status);
}

ts_status ts_vector_reciprocal(ts_vector *y, const ts_vector *x) {
  TSI_REQUIRE(NULL, y);
  TSI_REQUIRE(y->context, x);
  CHECK_PAIR(y, x);
  TSI_TRY(TSI_ENTER_WITH(y->context, y, x));
  ts_status status = TSI_HOLD_RESULT(y, x);
  if (status == TS_OK) status = y->context->ops->reciprocal(y, x);
  return tsi_leave_computed(y, status);
}

/* ---- Reductions ---- */

/* A reduction in single precision does not write a slot's second part. */
static ts_status reduce_into(ts_scalars *result, int index, tsi_reduction kind, const ts_vector *x,
                             const ts_vector *y) {
  const tsi_ops *ops = x->context->ops;
  const float zeros[4] = {0, 0, 0, 0};
  if (result->low && !x->low) TSI_TRY(ops->scalars_write(result->low, index, 1, zeros));
  return ops->reduce(result, index, kind, x, y);
}

static ts_status reduce(const char *function, ts_scalars *result, int index, tsi_reduction kind,
                        const ts_vector *x, const ts_vector *y) {
  ts_context *context = x->context;
  TSI_TRY(check_slot(context, function, "result", (ts_slot){result, index}));
  TSI_TRY(TSI_ENTER_WITH(context, x, y));
  return tsi_leave(context, reduce_into(result, index, kind, x, y));
}

ts_status ts_vector_dot(ts_scalars *result, int index, const ts_vector *x, const ts_vector *y) {
  TSI_REQUIRE(NULL, x);
  TSI_REQUIRE(x->context, y);
  TSI_REQUIRE(x->context, result);
  CHECK_PAIR(x, y);
  const int swap = !x->low; /* the first one determines whether pairs are multiplied */
  return reduce(__func__, result, index, TSI_REDUCE_DOT, swap ? y : x, swap ? x : y);
}

ts_status ts_vector_norm(ts_scalars *result, int index, const ts_vector *x, ts_norm norm) {
  TSI_REQUIRE(NULL, x);
  TSI_REQUIRE(x->context, result);
  if (norm != TS_NORM_2 && norm != TS_NORM_INFINITY)
    return tsi_fail(x->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: norm is %d; it must be TS_NORM_2 (0) or TS_NORM_INFINITY (1)", __func__, norm);
  return reduce(__func__, result, index, norm == TS_NORM_2 ? TSI_REDUCE_NORM2 : TSI_REDUCE_MAX_ABS, x, x);
}

ts_status ts_vector_sum(ts_scalars *result, int index, const ts_vector *x) {
  TSI_REQUIRE(NULL, x);
  TSI_REQUIRE(x->context, result);
  return reduce(__func__, result, index, TSI_REDUCE_SUM, x, x);
}

ts_status ts_vector_max(ts_scalars *result, int index, const ts_vector *x) {
  TSI_REQUIRE(NULL, x);
  TSI_REQUIRE(x->context, result);
  return reduce(__func__, result, index, TSI_REDUCE_MAX, x, x);
}
