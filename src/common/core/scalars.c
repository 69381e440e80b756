/* Device slots, and vectors and slots made together. */
#include "core.h"

static ts_scalars *new_scalars(ts_context *context, int count) {
  ts_scalars *s = tsi_calloc(context, 1, sizeof *s);
  if (!s) return NULL;
  s->context = context;
  s->count = count;
  return s;
}

ts_status ts_scalars_create(ts_context *context, const ts_scalars_desc *desc, ts_scalars **scalars) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, scalars);
  *scalars = NULL;
  TSI_REQUIRE(context, desc);
  TSI_TRY(tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved));
  TSI_TRY(tsi_check_precision(context, desc->precision));
  if (desc->count < 1 || desc->count > 4096)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "count of slots is %d; it goes from 1 to 4096",
                    desc->count);
  ts_scalars *s = new_scalars(context, desc->count);
  if (!s) return tsi_out_of_memory(context, "scalars", sizeof *s);
  ts_status status = tsi_enter(context);
  if (status == TS_OK) status = tsi_leave(context, context->ops->scalars_create(s));
  if (status < 0) {
    tsi_free(context, s);
    return status;
  }
  *scalars = s;
  return TS_OK;
}

void ts_scalars_destroy(ts_scalars **scalars) {
  if (!scalars || !*scalars) return;
  ts_context *context = (*scalars)->context;
  tsi_enter_to_destroy(context);
  context->ops->scalars_destroy(*scalars);
  tsi_free(context, *scalars);
  tsi_leave(context, TS_OK);
  *scalars = NULL;
}

static ts_status check_range(const ts_scalars *s, const char *function, int first, int count) {
  if (first < 0 || count < 1 || first > s->count - count)
    return tsi_fail(s->context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: slots %d to %lld are out of range; there are %d", function, first,
                    (long long)first + count - 1, s->count);
  return TS_OK;
}

ts_status ts_scalars_write(ts_scalars *scalars, int first, int count, const float *values) {
  TSI_REQUIRE(NULL, scalars);
  TSI_REQUIRE(scalars->context, values);
  TSI_TRY(check_range(scalars, __func__, first, count));
  TSI_TRY(tsi_enter(scalars->context));
  return tsi_leave(scalars->context, scalars->context->ops->scalars_write(scalars, first, count, values));
}

ts_status tsi_scalars_read(ts_scalars *s, int first, int count, float *values) {
  s->context->host_synchronisations++;
  TSI_TRY(s->context->ops->scalars_read_begin(s, first, count));
  return s->context->ops->scalars_read_end(s, values);
}

ts_status ts_scalars_read(ts_scalars *scalars, int first, int count, float *values) {
  TSI_REQUIRE(NULL, scalars);
  TSI_REQUIRE(scalars->context, values);
  TSI_TRY(check_range(scalars, __func__, first, count));
  TSI_TRY(tsi_enter(scalars->context));
  return tsi_leave(scalars->context, tsi_scalars_read(scalars, first, count, values));
}

ts_status tsi_create_singly(ts_vector **vectors, int count, ts_scalars *scalars) {
  ts_context *context = vectors[0]->context;
  ts_status status = TS_OK;
  int made = 0;
  while (made < count && (status = context->ops->vector_create(vectors[made])) == TS_OK) made++;
  if (status == TS_OK && scalars) status = context->ops->scalars_create(scalars);
  if (status == TS_OK) return TS_OK;
  while (made > 0) context->ops->vector_destroy(vectors[--made]);
  return status;
}

ts_status tsi_arena_create(ts_space *space, int components, ts_vector **vectors, int count, int slots,
                           ts_scalars **scalars) {
  ts_context *context = space->context;
  int allocated = 0;
  ts_scalars *s = NULL;
  ts_status status = TS_OK;
  for (; allocated < count; allocated++) {
    ts_vector *v = tsi_calloc(context, 1, sizeof *v);
    if (!v) break;
    v->context = context;
    v->space = space;
    v->components = components;
    vectors[allocated] = v;
  }
  if (slots) s = new_scalars(context, slots);
  if (allocated < count || (slots && !s))
    status = tsi_out_of_memory(context, "a vector", sizeof(ts_vector));
  else if (context->ops->arena_create && count > 1)
    status = context->ops->arena_create(vectors, count, s);
  else
    status = tsi_create_singly(vectors, count, s);
  if (status < 0) {
    while (allocated > 0) {
      tsi_free(context, vectors[--allocated]);
      vectors[allocated] = NULL;
    }
    tsi_free(context, s);
    return status;
  }
  for (int i = 0; i < count; i++) tsi_space_retain(space);
  if (scalars) *scalars = s;
  return TS_OK;
}
