/* Index spaces: a tiling with a reference count. */
#include <string.h>

#include "core.h"

ts_status tsi_space_create(ts_context *context, tsi_tiling *tiling, const unsigned char *constrained,
                           ts_space **out) {
  ts_space *space = tsi_calloc(context, 1, sizeof *space);
  unsigned char *flags = NULL;
  int any = 0;
  for (int32_t i = 0; constrained && i < tiling->size && !any; i++) any = constrained[i] != 0;
  if (space && any) {
    flags = tsi_malloc(context, (size_t)tiling->size, 1);
    if (flags) memcpy(flags, constrained, (size_t)tiling->size);
  }
  if (!space || (any && !flags)) {
    tsi_free(context, space);
    tsi_free(context, tiling->positions);
    return tsi_out_of_memory(context, "an index space", sizeof *space + (size_t)tiling->size);
  }
  space->context = context;
  space->references = 1;
  space->tiling = *tiling;
  space->constrained = flags;
  *out = space;
  return TS_OK;
}

void tsi_space_retain(ts_space *space) {
  space->references++;
}

void tsi_space_release(ts_space *space) {
  if (!space || --space->references > 0) return;
  ts_context *context = space->context;
  if (context->ops->space_destroy) context->ops->space_destroy(space);
  tsi_free(context, space->tiling.positions);
  tsi_free(context, space->constrained);
  tsi_free(context, space);
}

ts_status tsi_check_space(const ts_vector *v, const ts_space *space, const char *name, const char *owner,
                          const char *space_name, const char *getter) {
  if (v->context != space->context)
    return tsi_fail(space->context, TS_ERROR_INCOMPATIBLE, "%s and %s belong to different contexts", name,
                    owner);
  if (v->space != space)
    return tsi_fail(space->context, TS_ERROR_INCOMPATIBLE,
                    "%s is not over %s (sizes %d and %d); create it over %s", name, space_name,
                    v->space->tiling.size, space->tiling.size, getter);
  return TS_OK;
}

ts_status tsi_check_components(const ts_vector *b, const ts_vector *x) {
  if (b == x) return tsi_fail(x->context, TS_ERROR_INVALID_ARGUMENT, "b and x are the same vector");
  if (b->components != x->components)
    return tsi_fail(x->context, TS_ERROR_INCOMPATIBLE, "b has %d components and x has %d", b->components,
                    x->components);
  return TS_OK;
}

ts_status ts_space_create(ts_context *context, const ts_space_desc *desc, ts_space **space) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, space);
  *space = NULL;
  TSI_REQUIRE(context, desc);
  TSI_TRY(tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved));
  if (desc->size < 1)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "size of an index space is %d, less than 1",
                    desc->size);
  if (desc->size > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_LIMIT, "size of an index space is %d, more than %d", desc->size,
                    TSI_MAX_SIZE);
  tsi_tiling tiling;
  TSI_TRY(tsi_tiling_create(context, desc->size, NULL, NULL, &tiling));
  return tsi_space_create(context, &tiling, NULL, space);
}

void ts_space_destroy(ts_space **space) {
  if (!space || !*space) return;
  ts_context *context = (*space)->context;
  tsi_enter_to_destroy(context);
  tsi_space_release(*space);
  tsi_leave(context, TS_OK);
  *space = NULL;
}

int32_t ts_space_get_size(const ts_space *space) {
  return space ? space->tiling.size : 0;
}
