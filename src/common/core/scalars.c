/* Device slots, and vectors and slots created together. */
#include <math.h>

#include "array.h"
#include "core.h"

static void free_scalars(ts_scalars *s) {
  if (s) tsi_free(s->context, s->low);
  if (s) tsi_free(s->context, s);
}

static ts_scalars *new_scalars(ts_context *context, int count, int parts) {
  ts_scalars *s = tsi_calloc(context, 1, sizeof *s);
  if (!s) return NULL;
  s->context = context;
  s->count = count;
  if (parts == 1) return s;
  s->low = new_scalars(context, count, 1);
  if (s->low) return s;
  tsi_free(context, s);
  return NULL;
}

static ts_status create_scalars(ts_scalars *s) {
  const tsi_ops *ops = s->context->ops;
  TSI_TRY(ops->scalars_create(s));
  const ts_status status = s->low ? ops->scalars_create(s->low) : TS_OK;
  if (status < 0) ops->scalars_destroy(s);
  return status;
}

ts_status tsi_scalars_create(ts_context *context, int count, ts_precision precision, ts_scalars **scalars) {
  ts_scalars *s = new_scalars(context, count, precision == TS_PRECISION_DOUBLE ? 2 : 1);
  if (!s) return tsi_out_of_memory(context, "scalars", sizeof *s);
  ts_status status = tsi_enter(context);
  if (status == TS_OK) status = tsi_leave(context, create_scalars(s));
  if (status < 0) {
    free_scalars(s);
    return status;
  }
  *scalars = s;
  return TS_OK;
}

static ts_status create(ts_context *context, const ts_scalars_desc *desc, ts_scalars **scalars) {
  TSI_TRY(tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved));
  TSI_TRY(tsi_check_precision(context, desc->precision));
  if (desc->count < 1 || desc->count > 4096)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "count of slots is %d; it must be 1 to 4096",
                    desc->count);
  return tsi_scalars_create(context, desc->count, desc->precision, scalars);
}

ts_status ts_scalars_create(ts_context *context, const ts_scalars_desc *desc, ts_scalars **scalars) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, scalars);
  *scalars = NULL;
  TSI_REQUIRE(context, desc);
  tsi_begin_together(context);
  const ts_status status = tsi_end_together(context, create(context, desc, scalars));
  if (status < 0) ts_scalars_destroy(scalars);
  return status;
}

void tsi_scalars_destroy(ts_scalars *s) {
  if (s->low) s->context->ops->scalars_destroy(s->low);
  s->context->ops->scalars_destroy(s);
  free_scalars(s);
}

void ts_scalars_destroy(ts_scalars **scalars) {
  if (!scalars || !*scalars) return;
  ts_context *context = (*scalars)->context;
  tsi_enter_to_destroy(context);
  tsi_scalars_destroy(*scalars);
  tsi_leave(context, TS_OK);
  *scalars = NULL;
}

/* ---- Transfers ---- */

ts_status tsi_scalars_write(ts_scalars *s, int first, int count, const double *values) {
  const tsi_ops *ops = s->context->ops;
  float high[64], low[64];
  while (count > 0) {
    const int now = count < 16 ? count : 16;
    for (int i = 0; i < 4 * now; i++) {
      high[i] = (float)values[i];
      low[i] = isfinite(high[i]) ? (float)(values[i] - (double)high[i]) : 0;
    }
    TSI_TRY(ops->scalars_write(s, first, now, high));
    if (s->low) TSI_TRY(ops->scalars_write(s->low, first, now, low));
    first += now;
    count -= now;
    values += 4 * (size_t)now;
  }
  return TS_OK;
}

ts_status tsi_scalars_read_begin(ts_scalars *s, int first, int count) {
  TSI_TRY(s->context->ops->scalars_read_begin(s, first, count));
  s->read_count = count;
  return s->low ? s->context->ops->scalars_read_begin(s->low, first, count) : TS_OK;
}

ts_status tsi_scalars_read_end(ts_scalars *s, double *values) {
  const tsi_ops *ops = s->context->ops;
  s->context->host_synchronisations++;
  TSI_TRY(ops->scalars_read_end(s, values));
  if (!s->low) return TS_OK;
  const size_t count = 4 * (size_t)s->read_count;
  double few[16], *low = few; /* a solver does not read more */
  if (count > sizeof few / sizeof *few) low = tsi_malloc(s->context, count, sizeof *low);
  if (!low) return tsi_out_of_memory(s->context, "reading scalars", count * sizeof *low);
  const ts_status status = ops->scalars_read_end(s->low, low);
  for (size_t i = 0; status == TS_OK && i < count; i++) values[i] += low[i];
  if (low != few) tsi_free(s->context, low);
  return status;
}

ts_status tsi_scalars_read(ts_scalars *s, int first, int count, double *values) {
  TSI_TRY(tsi_scalars_read_begin(s, first, count));
  return tsi_scalars_read_end(s, values);
}

/* ---- Arrays of the application ---- */

static ts_status check_slots(const ts_scalars *s, const char *function, int first, size_t numbers) {
  const size_t count = numbers / 4;
  if (numbers == 0 || numbers % 4)
    return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT, "%s: values.count is %zu; each slot has 4 numbers",
                    function, numbers);
  if (first < 0 || first > s->count || count > (size_t)(s->count - first))
    return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: slots %d to %lld are out of range; there are %d", function, first,
                    (long long)first + (long long)count - 1, s->count);
  return TS_OK;
}

ts_status ts_scalars_write(ts_scalars *scalars, int first, ts_array values) {
  TSI_BEGIN(scalars, scalars->context);
  ts_context *context = scalars->context;
  tsi_loans loans = {0};
  const double *doubles;
  TSI_TRY(check_slots(scalars, __func__, first, values.count));
  ts_status status = tsi_array_borrow_doubles(context, "values", &values, values.count, &loans, &doubles);
  if (status == TS_OK && !doubles) status = tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "values is NULL");
  if (status == TS_OK) status = tsi_enter(context);
  if (status == TS_OK)
    status = tsi_leave(context, tsi_scalars_write(scalars, first, (int)(values.count / 4), doubles));
  tsi_loans_free(context, &loans);
  return status;
}

static ts_status read_into(ts_scalars *s, int first, const ts_array *values, tsi_loans *loans) {
  ts_context *context = s->context;
  void *doubles;
  TSI_TRY(tsi_loan(context, "scalars on the host", values->count, TS_TYPE_DOUBLE, loans, &doubles));
  TSI_TRY(tsi_enter(context));
  TSI_TRY(tsi_leave(context, tsi_scalars_read(s, first, (int)(values->count / 4), doubles)));
  return tsi_array_put(context, values, doubles);
}

ts_status ts_scalars_read(ts_scalars *scalars, int first, ts_array values) {
  TSI_BEGIN(scalars, scalars->context);
  tsi_loans loans = {0};
  TSI_TRY(check_slots(scalars, __func__, first, values.count));
  TSI_TRY(tsi_array_check(scalars->context, "values", &values, values.count, TSI_FLOATING, TSI_WRITE));
  const ts_status status = read_into(scalars, first, &values, &loans);
  tsi_loans_free(scalars->context, &loans);
  return status;
}

/* ---- Vectors and slots created together ---- */

static ts_status add_parts(ts_vector *v, int parts) {
  ts_context *context = v->context;
  ts_vector *last = v;
  for (int have = 1; have < parts; have++, last = last->low) {
    if (last->low) continue;
    ts_vector *low = tsi_calloc(context, 1, sizeof *low);
    if (!low) return tsi_out_of_memory(context, "a vector", sizeof *low);
    low->context = context;
    low->space = v->space;
    low->components = v->components;
    last->low = low;
  }
  return TS_OK;
}

/* Destroys all parts after v, including the backend's data. */
void tsi_vector_drop_low(ts_vector *v) {
  if (!v->low) return;
  tsi_vector_drop_low(v->low);
  if (v->low->impl) v->context->ops->vector_destroy(v->low);
  tsi_free(v->context, v->low);
  v->low = NULL;
}

ts_status tsi_vector_add_parts(ts_vector *v, int parts) {
  ts_vector *last = v;
  while (last->low) last = last->low;
  ts_status status = add_parts(v, parts);
  for (ts_vector *part = last->low; part && status == TS_OK; part = part->low)
    status = v->context->ops->vector_create(part);
  if (status < 0) tsi_vector_drop_low(last);
  return status;
}

int tsi_may_grow(const ts_vector *v) {
  return v->may_grow && !v->low && !v->is_lent && v->context->caps.pairs;
}

ts_status tsi_hold_doubles(ts_vector *v) {
  return tsi_may_grow(v) ? tsi_vector_add_parts(v, 3) : TS_OK;
}

ts_status tsi_hold_result(ts_vector *y, const ts_vector *const *operands) {
  for (; *operands; operands++)
    if ((*operands)->low) return tsi_hold_doubles(y);
  return TS_OK;
}

ts_status tsi_create_singly(ts_vector **vectors, int count, ts_scalars *scalars) {
  ts_context *context = vectors[0]->context;
  ts_status status = TS_OK;
  int made = 0;
  for (; made < count && status == TS_OK; made++)
    for (ts_vector *part = vectors[made]; part && status == TS_OK; part = part->low)
      status = context->ops->vector_create(part);
  if (status == TS_OK && scalars) status = create_scalars(scalars);
  if (status == TS_OK) return TS_OK;
  while (made-- > 0)
    for (ts_vector *part = vectors[made]; part; part = part->low)
      if (part->impl) context->ops->vector_destroy(part);
  return status;
}

ts_status tsi_arena_create(ts_space *space, int components, int parts, ts_vector **vectors, int count,
                           int slots, ts_scalars **scalars) {
  ts_context *context = space->context;
  int allocated = 0;
  ts_scalars *s = NULL;
  ts_status status = TS_OK;
  for (; allocated < count && status == TS_OK; allocated++) {
    ts_vector *v = tsi_calloc(context, 1, sizeof *v);
    if (!v) break;
    v->context = context;
    v->space = space;
    v->components = components;
    vectors[allocated] = v;
    status = add_parts(v, parts);
  }
  if (slots) s = new_scalars(context, slots, parts > 1 ? 2 : 1);
  if (status < 0 || allocated < count || (slots && !s))
    status = tsi_out_of_memory(context, "a vector", sizeof(ts_vector));
  else if (context->ops->arena_create && count > 1)
    status = context->ops->arena_create(vectors, count, s);
  else
    status = tsi_create_singly(vectors, count, s);
  if (status < 0) {
    while (allocated > 0) {
      tsi_vector_drop_low(vectors[--allocated]);
      tsi_free(context, vectors[allocated]);
      vectors[allocated] = NULL;
    }
    free_scalars(s);
    return status;
  }
  for (int i = 0; i < count; i++) tsi_space_retain(space);
  if (scalars) *scalars = s;
  return TS_OK;
}
