/* Poison for outputs, and the checks on the outputs after an operation. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

/* A quiet NaN that no computation on numbers produces. Its bits distinguish it from other NaNs. */
static const uint32_t poison_bits = 0x7fc5a5a5u;

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static int is_poison(float value) {
  return bits_of(value) == poison_bits;
}

static size_t texel_count(const ts_vector *v) {
  return (size_t)v->space->tiling.width * (size_t)v->space->tiling.height;
}

static ts_status grow(ts_context *context, float **buffer, size_t *capacity, size_t count) {
  if (count <= *capacity) return TS_OK;
  float *larger = tsi_malloc(context, count, sizeof *larger);
  if (!larger) return tsi_out_of_memory(context, "a check", count * sizeof *larger);
  tsi_free(context, *buffer);
  *buffer = larger;
  *capacity = count;
  return TS_OK;
}

/* ---- Poison ---- */

ts_status check_poison(ts_vector *v) {
  check_state *state = check_state_of(v->context);
  const size_t count = texel_count(v) * (size_t)tsi_texel_floats(v), filled = state->poison_count;
  TSI_TRY(grow(v->context, &state->poison, &state->poison_count, count));
  if (state->poison_count != filled)
    for (size_t i = 0; i < count; i++) memcpy(&state->poison[i], &poison_bits, sizeof poison_bits);
  return state->inner->vector_write(v, state->poison);
}

ts_status check_poison_pair(ts_vector *v) {
  TSI_TRY(check_poison(v));
  return v->low ? check_poison(v->low) : TS_OK;
}

ts_status check_poison_slot(ts_scalars *s, int index, int pair) {
  const tsi_ops *inner = check_state_of(s->context)->inner;
  float values[4];
  for (int c = 0; c < 4; c++) memcpy(&values[c], &poison_bits, sizeof poison_bits);
  TSI_TRY(inner->scalars_write(s, index, 1, values));
  return pair && s->low ? inner->scalars_write(s->low, index, 1, values) : TS_OK;
}

/* ---- Spaces ---- */

/* The kind of each texel of a space, or of each channel if texels hold blocks. Computed on first use. NULL if
 * out of memory. */
static const unsigned char *texels_of(ts_space *space) {
  check_state *state = check_state_of(space->context);
  for (const check_space *s = state->spaces; s; s = s->next)
    if (s->space == space) return s->texels;
  const tsi_tiling *t = &space->tiling;
  const size_t count = ((size_t)t->width * (size_t)t->height) << t->log2_block;
  check_space *s = tsi_calloc(space->context, 1, sizeof *s);
  if (s) s->texels = tsi_malloc(space->context, count, 1);
  if (!s || !s->texels) {
    tsi_free(space->context, s);
    return NULL;
  }
  memset(s->texels, CHECK_PADDING, count);
  for (int32_t i = 0; i < t->size; i++)
    s->texels[((size_t)tsi_texel_number(t, tsi_position(t, i)) << t->log2_block) + (size_t)tsi_channel(t, i)] =
        space->constrained && space->constrained[i] ? CHECK_CONSTRAINED : CHECK_INDEX;
  s->space = space;
  s->next = state->spaces;
  state->spaces = s;
  return s->texels;
}

/* A later space may have the same address. */
void check_forget_space(ts_space *space) {
  check_state *state = check_state_of(space->context);
  for (check_space **link = &state->spaces; *link; link = &(*link)->next) {
    check_space *s = *link;
    if (s->space != space) continue;
    *link = s->next;
    tsi_free(space->context, s->texels);
    tsi_free(space->context, s);
    return;
  }
}

void check_release(ts_context *context, check_state *state) {
  while (state->spaces) {
    check_space *s = state->spaces;
    state->spaces = s->next;
    tsi_free(context, s->texels);
    tsi_free(context, s);
  }
  while (state->kinds) {
    check_kind *k = state->kinds;
    state->kinds = k->next;
    tsi_free(context, k);
  }
  tsi_free(context, state->poison);
  tsi_free(context, state->found);
  tsi_free(context, state->remembered);
  tsi_free(context, state);
}

/* ---- Verification ---- */

static ts_status read_back(const ts_vector *v, const float **found) {
  check_state *state = check_state_of(v->context);
  TSI_TRY(grow(v->context, &state->found, &state->found_count, texel_count(v) * (size_t)tsi_texel_floats(v)));
  TSI_TRY(state->inner->vector_read(v, state->found));
  *found = state->found;
  return TS_OK;
}

ts_status check_read(const ts_vector *v, const float **found, size_t *count) {
  *count = texel_count(v) * (size_t)tsi_texel_floats(v);
  return read_back(v, found);
}

ts_status check_remember(const ts_vector *v) {
  check_state *state = check_state_of(v->context);
  TSI_TRY(grow(v->context, &state->remembered, &state->remembered_count,
               texel_count(v) * (size_t)tsi_texel_floats(v)));
  return state->inner->vector_read(v, state->remembered);
}

static ts_status fail(const char *operation, const ts_vector *v, size_t texel, int component, float found,
                      const char *why) {
  const size_t width = (size_t)v->space->tiling.width;
  if (is_poison(found)) /* this message is more specific than those below */
    return tsi_fail(v->context, TS_ERROR_DEVICE, "check: %s did not write component %d of texel (%zu, %zu)",
                    operation, component, texel % width, texel / width);
  return tsi_fail(v->context, TS_ERROR_DEVICE,
                  "check: %s left %g in component %d of texel (%zu, %zu), which %s", operation, (double)found,
                  component, texel % width, texel / width, why);
}

ts_status check_vector(const char *operation, const ts_vector *v, int constrained_zero) {
  const float *found = NULL;
  TSI_TRY(read_back(v, &found));
  const int floats = tsi_texel_floats(v);
  const size_t count = texel_count(v);
  const unsigned char *texels = texels_of(v->space);
  if (!texels) return tsi_out_of_memory(v->context, "a check", count);
  const int log2_block = v->space->tiling.log2_block, inside = (1 << log2_block) - 1;
  for (size_t i = 0; i < count; i++) {
    for (int c = 0; c < floats; c++, found++) {
      const unsigned char is = texels[(i << log2_block) + (size_t)(c & inside)];
      if (is == CHECK_PADDING && *found != 0)
        return fail(operation, v, i, c, *found, "belongs to no index and must hold 0");
      if (is == CHECK_CONSTRAINED && constrained_zero && *found != 0)
        return fail(operation, v, i, c, *found, "is of a constrained row and must hold 0");
      if (c >= tsi_channels(v) && *found != 0)
        return fail(operation, v, i, c, *found, "has no such component and must hold 0 there");
      if (is_poison(*found)) return fail(operation, v, i, c, *found, "");
    }
  }
  return TS_OK;
}

/* For finite sums. */
static int is_normalised(float high, float low) {
  return !isfinite(high) || fabs((double)low) <= 0x1p-23 * fabs((double)high);
}

ts_status check_parts(const char *operation, const ts_vector *v, int parts, int constrained_zero) {
  TSI_TRY(check_vector(operation, v, constrained_zero));
  if (parts == 1 || !v->low) return TS_OK;
  TSI_TRY(check_parts(operation, v->low, parts - 1, constrained_zero));
  TSI_TRY(check_remember(v));
  const float *low = NULL, *high = check_state_of(v->context)->remembered;
  TSI_TRY(read_back(v->low, &low));
  const size_t floats = (size_t)tsi_texel_floats(v), count = texel_count(v) * floats;
  for (size_t i = 0; i < count; i++) {
    if (is_normalised(high[i], low[i])) continue;
    char why[64];
    snprintf(why, sizeof why, "is more than an ulp of the part before it, %g", (double)high[i]);
    return fail(operation, v->low, i / floats, (int)(i % floats), low[i], why);
  }
  return TS_OK;
}

ts_status check_unchanged(const char *operation, const ts_vector *v) {
  const float *found = NULL, *before = check_state_of(v->context)->remembered;
  TSI_TRY(read_back(v, &found));
  const size_t floats = (size_t)tsi_texel_floats(v), count = texel_count(v) * floats;
  for (size_t i = 0; i < count; i++) {
    if (bits_of(found[i]) == bits_of(before[i])) continue; /* compares bits, so that NaNs are equal too */
    char why[64];
    snprintf(why, sizeof why, "held %g and it should only read", (double)before[i]);
    return fail(operation, v, i / floats, (int)(i % floats), found[i], why);
  }
  return TS_OK;
}

static ts_status check_slot_part(const char *operation, ts_scalars *s, int index, int components,
                                 double values[4]) {
  const tsi_ops *inner = check_state_of(s->context)->inner;
  TSI_TRY(inner->scalars_read_begin(s, index, 1));
  TSI_TRY(inner->scalars_read_end(s, values));
  for (int c = 0; c < 4; c++) {
    if (is_poison((float)values[c]))
      return tsi_fail(s->context, TS_ERROR_DEVICE, "check: %s did not write component %d of slot %d", operation,
                      c, index);
    if (c >= components && values[c] != 0)
      return tsi_fail(s->context, TS_ERROR_DEVICE,
                      "check: %s left %g in component %d of slot %d; it must hold 0", operation, values[c], c,
                      index);
  }
  return TS_OK;
}

ts_status check_slot(const char *operation, ts_scalars *s, int index, int components, int pair) {
  if (check_state_of(s->context)->reads_begun) return TS_OK; /* only one read can be in progress */
  double high[4], low[4];
  TSI_TRY(check_slot_part(operation, s, index, components, high));
  if (!pair || !s->low) return TS_OK;
  TSI_TRY(check_slot_part(operation, s->low, index, components, low));
  if (!s->context->caps.linear_spaces) return TS_OK; /* in textures, both parts may be sums of partial sums */
  for (int c = 0; c < components; c++)
    if (!is_normalised((float)high[c], (float)low[c]))
      return tsi_fail(s->context, TS_ERROR_DEVICE,
                      "check: %s left %g in the low part of component %d of slot %d, more than an ulp of %g",
                      operation, low[c], c, index, high[c]);
  return TS_OK;
}

ts_status check_new_vector(const ts_vector *v) {
  const float *found = NULL;
  TSI_TRY(read_back(v, &found));
  const size_t floats = (size_t)tsi_texel_floats(v), count = texel_count(v) * floats;
  for (size_t i = 0; i < count; i++)
    if (found[i] != 0) return fail("vector_create", v, i / floats, (int)(i % floats), found[i], "must hold 0");
  return TS_OK;
}

ts_status check_new_scalars(ts_scalars *s) {
  const check_state *state = check_state_of(s->context);
  for (int first = 0; first < s->count; first += 64) {
    const int count = s->count - first < 64 ? s->count - first : 64;
    double values[4 * 64];
    TSI_TRY(state->inner->scalars_read_begin(s, first, count));
    TSI_TRY(state->inner->scalars_read_end(s, values));
    for (int i = 0; i < 4 * count; i++)
      if (values[i] != 0)
        return tsi_fail(s->context, TS_ERROR_DEVICE, "check: new slot %d holds %g in component %d",
                        first + i / 4, values[i], i % 4);
  }
  return TS_OK;
}
