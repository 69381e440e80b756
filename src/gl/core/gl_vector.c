/* Vectors as regions of textures: creation, transfers and element-wise operations. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gl.h"
#include "gl_shader.h"

ts_status gl_vector_create(ts_vector *v) {
  const tsi_tiling *t = &v->space->tiling;
  gl_vector *impl = tsi_calloc(v->context, 1, sizeof *impl);
  if (!impl) return tsi_out_of_memory(v->context, "a vector", sizeof *impl);
  const ts_status status = gl_texture_create(v->context, gl_format_of_components(tsi_channels(v)), t->width,
                                             t->height, "a vector", &impl->texture);
  if (status < 0) {
    tsi_free(v->context, impl);
    return status;
  }
  v->impl = impl;
  gl_user_added(v->context);
  return TS_OK;
}

void gl_vector_destroy(ts_vector *v) {
  gl_vector *impl = gl_vector_of(v);
  if (!impl) return;
  gl_texture_release(v->context, impl->texture);
  gl_user_removed(v->context);
  tsi_free(v->context, impl);
  v->impl = NULL;
}

ts_status gl_vector_write(ts_vector *v, const float *texels) {
  const gl_vector *impl = gl_vector_of(v);
  const tsi_tiling *t = &v->space->tiling;
  gl_texture_write(gl_of(v->context), impl->texture, impl->x, impl->y, t->width, t->height, texels);
  return gl_check(v->context, "writing a vector");
}

ts_status gl_vector_read(const ts_vector *v, float *texels) {
  const gl_vector *impl = gl_vector_of(v);
  const tsi_tiling *t = &v->space->tiling;
  TSI_TRY(gl_proof_begin_read(v->context));
  gl_bind_framebuffer(gl_of(v->context), impl->texture->framebuffer);
  TSI_TRY(gl_read_texels(v->context, impl->texture->format, impl->x, impl->y, t->width, t->height, texels));
  TSI_TRY(gl_check(v->context, "reading a vector"));
  return gl_proof_end_read(v->context);
}

/* ---- Vectors and slots in one texture ---- */

typedef struct arena_plan {
  int columns, rows, scratch_y, scratch_width, scratch_count, slots_y, slots_per_row, width, height;
} arena_plan;

static int plan_arena(const ts_context *context, const tsi_tiling *t, int count, int slots, int blocks,
                      arena_plan *plan) {
  const int max = context->caps.max_texture_size;
  int columns = (int)ceil(sqrt((double)count));
  while (columns > 1 && (int64_t)columns * t->width > max) columns--;
  int scratch_height;
  gl_reduce_scratch_size(t, &plan->scratch_width, &scratch_height);
  plan->scratch_count = TSI_MAX_DOTS;
  const int scratch_width = plan->scratch_count * plan->scratch_width;
  plan->columns = columns;
  plan->rows = (count + columns - 1) / columns;
  plan->width = columns * t->width;
  if (plan->width < scratch_width) plan->width = scratch_width;
  const int64_t vectors_height = (int64_t)plan->rows * t->height;
  if (blocks && plan->width < GL_SLOT_WIDTH) plan->width = GL_SLOT_WIDTH;
  plan->slots_per_row = blocks ? plan->width / GL_SLOT_WIDTH : plan->width;
  const int slot_rows = (slots + plan->slots_per_row - 1) / plan->slots_per_row;
  const int64_t height = vectors_height + scratch_height + (int64_t)slot_rows * (blocks ? GL_SLOT_HEIGHT : 1);
  if (height > max || plan->width > max) return 0;
  plan->scratch_y = (int)vectors_height;
  plan->slots_y = (int)vectors_height + scratch_height;
  plan->height = (int)height;
  return 1;
}

/* One texture per part, all with the same plan. The parts of a vector or of a slot have the same position. */
typedef struct arena {
  arena_plan plan;
  int parts;
  gl_texture *textures[GL_TARGETS];
} arena;

static int parts_of_arena(ts_vector *const *vectors, int count, const ts_scalars *scalars) {
  int parts = scalars && scalars->low ? 2 : 1;
  for (int k = 0; k < count; k++)
    if (tsi_parts(vectors[k]) > parts) parts = tsi_parts(vectors[k]);
  return parts;
}

static ts_status create_textures(const ts_vector *v, arena *a) {
  const arena_plan *plan = &a->plan;
  for (int part = 0; part < a->parts; part++) {
    gl_texture **t = &a->textures[part];
    TSI_TRY(gl_texture_create(v->context, gl_format_of_components(tsi_channels(v)), plan->width, plan->height,
                              "a solver's vectors", t));
    (*t)->references = 0;
    (*t)->scratch_x = 0;
    (*t)->scratch_y = plan->scratch_y;
    (*t)->scratch_width = plan->scratch_width;
    (*t)->scratch_count = plan->scratch_count;
  }
  return TS_OK;
}

static ts_status place_vector(ts_vector *v, const arena *a, int number) {
  const tsi_tiling *t = &v->space->tiling;
  for (int part = 0; v; v = v->low, part++) {
    gl_vector *impl = tsi_calloc(v->context, 1, sizeof *impl);
    if (!impl) return tsi_out_of_memory(v->context, "a solver's vectors", sizeof *impl);
    *impl = (gl_vector){.texture = a->textures[part],
                        .x = number % a->plan.columns * t->width,
                        .y = number / a->plan.columns * t->height};
    v->impl = impl;
    a->textures[part]->references++;
    gl_user_added(v->context);
  }
  return TS_OK;
}

static ts_status place_slots(ts_scalars *s, const arena *a, int blocks) {
  for (int part = 0; s; s = s->low, part++) {
    gl_scalars *impl = tsi_calloc(s->context, 1, sizeof *impl);
    if (!impl) return tsi_out_of_memory(s->context, "a solver's slots", sizeof *impl);
    *impl = (gl_scalars){
        .texture = a->textures[part], .blocks = blocks, .y = a->plan.slots_y, .per_row = a->plan.slots_per_row};
    s->impl = impl;
    a->textures[part]->references++;
    gl_user_added(s->context);
  }
  return TS_OK;
}

/* A texture without vectors or slots has no references. */
static void destroy_arena(ts_vector **vectors, int count, ts_scalars *scalars, const arena *a) {
  ts_context *context = vectors[0]->context;
  for (int part = 0; part < a->parts; part++)
    if (a->textures[part]) a->textures[part]->references++;
  for (int k = 0; k < count; k++)
    for (ts_vector *v = vectors[k]; v; v = v->low) gl_vector_destroy(v);
  for (ts_scalars *s = scalars; s; s = s->low) gl_scalars_destroy(s);
  for (int part = 0; part < a->parts; part++) gl_texture_release(context, a->textures[part]);
}

ts_status gl_arena_create(ts_vector **vectors, int count, ts_scalars *scalars) {
  ts_context *context = vectors[0]->context;
  const tsi_tiling *t = &vectors[0]->space->tiling;
  const int blocks = tsi_channels(vectors[0]) == 1 && gl_of(context)->texture_gather;
  arena a = {.parts = parts_of_arena(vectors, count, scalars)};
  if (!context->caps.texture_barrier ||
      !plan_arena(context, t, count, scalars ? scalars->count : 0, blocks, &a.plan))
    return tsi_create_singly(vectors, count, scalars);
  ts_status status = create_textures(vectors[0], &a);
  for (int k = 0; k < count && status == TS_OK; k++) status = place_vector(vectors[k], &a, k);
  if (status == TS_OK) status = place_slots(scalars, &a, blocks);
  if (status < 0) destroy_arena(vectors, count, scalars, &a);
  return status;
}

/* ---- Operations ---- */

void gl_tiling_parameters(const tsi_tiling *t, int *parameters) {
  const int tail = t->free_rectangles << (t->log2_width + t->log2_height);
  const int values[6] = {t->log2_width, t->log2_height, t->rectangles_x,
                         t->free_count, tail,           tail + t->constrained_count};
  memcpy(parameters, values, sizeof values);
}

/* `more`: SLOTS if coefficients may be slots; INDICES; PAIR. */
static ts_status get_program(const ts_vector *v, const char *fragment, int terms, const char *more,
                             const gl_program **program) {
  char defines[224];
  snprintf(defines, sizeof defines, "#define COMPONENTS %d\n#define TERMS %d\n%s%s", tsi_channels(v), terms,
           more, gl_channels_define(v));
  return gl_program_get(v->context, "core/fullscreen.vert", fragment, defines, program);
}

/* Only the device knows the value of a slot. */
static int is_finite(ts_coefficient c) {
  return isfinite(c.scale) && !c.numerator.scalars && !c.denominator.scalars;
}

/* A program over single parts or over pairs, as `out` requires. If a coefficient may be infinite or NaN, the
 * program has to distinguish indices from padding. That test costs a software rasterizer a third of an update,
 * so constants are checked here. */
static ts_status get_update_program(const ts_vector *out, const char *fragment, int terms, gl_pass *pass) {
  int finite = 1;
  for (int k = 0; k < pass->coefficient_count; k++) finite &= is_finite(pass->coefficients[k]);
  char pair[GL_PAIR_DEFINES] = "", defines[GL_PAIR_DEFINES + 64];
  if (out->low) {
    gl_pass_pairs(pass, pair);
    pass->parts = 2;
  }
  snprintf(defines, sizeof defines, "%s%s%s", pair, finite ? "" : gl_slots_define(out->context, pass),
           finite ? "" : "#define INDICES\n");
  TSI_TRY(get_program(out, fragment, terms, defines, &pass->program));
  if (finite) return TS_OK;
  gl_tiling_parameters(&out->space->tiling, pass->parameters);
  return gl_bind_channels(out->space);
}

/* The constant 0 drops its term, so NaN and infinity in its vector have no effect. */
static int is_zero(ts_coefficient c) {
  return c.scale == 0;
}

ts_status gl_fill(ts_vector *y, float value) {
  gl_pass pass = {0};
  TSI_TRY(get_program(y, "core/fill.frag", 0, "", &pass.program));
  TSI_TRY(gl_bind_channels(y->space));
  gl_tiling_parameters(&y->space->tiling, pass.parameters);
  memcpy(&pass.parameters[8], &value, sizeof value);
  return gl_draw_vector(y, &pass);
}

static ts_status clear(ts_vector *y) {
  TSI_TRY(gl_fill(y, 0));
  return y->low ? gl_fill(y->low, 0) : TS_OK;
}

ts_status gl_axpby(ts_vector *out, ts_coefficient a, const ts_vector *x, ts_coefficient b, const ts_vector *y) {
  if (is_zero(a) && is_zero(b)) return clear(out);
  if (is_zero(a)) return gl_axpby(out, b, y, a, x);
  gl_pass pass = {
      .inputs = {x, is_zero(b) ? NULL : y}, .coefficient_count = is_zero(b) ? 1 : 2, .coefficients = {a, b}};
  TSI_TRY(get_update_program(out, "core/axpby.frag", pass.coefficient_count, &pass));
  return gl_draw_vector(out, &pass);
}

ts_status gl_multiply(ts_vector *out, const ts_vector *x, const ts_vector *y) {
  gl_pass pass = {.inputs = {x, y}};
  TSI_TRY(get_update_program(out, "core/multiply_add.frag", 1, &pass));
  return gl_draw_vector(out, &pass);
}

ts_status gl_reciprocal(ts_vector *out, const ts_vector *x) {
  gl_pass pass = {.inputs = {x}};
  TSI_TRY(get_update_program(out, "core/reciprocal.frag", 1, &pass));
  return gl_draw_vector(out, &pass);
}

static ts_status zero_constrained(ts_vector *out, const ts_vector *x) {
  gl_pass pass = {.inputs = {x}};
  TSI_TRY(get_program(out, "core/zero_constrained.frag", 1, "", &pass.program));
  TSI_TRY(gl_bind_channels(out->space));
  gl_tiling_parameters(&out->space->tiling, pass.parameters);
  return gl_draw_vector(out, &pass);
}

ts_status gl_zero_constrained(ts_vector *out, const ts_vector *x) {
  TSI_TRY(zero_constrained(out, x));
  if (!out->low) return TS_OK;
  return x->low ? zero_constrained(out->low, x->low) : gl_fill(out->low, 0);
}

ts_status gl_multiply_add(ts_vector *out, const ts_vector *w, const ts_vector *x, ts_coefficient b,
                          const ts_vector *y) {
  const int terms = is_zero(b) ? 1 : 2;
  gl_pass pass = {.inputs = {w, x, terms == 2 ? y : NULL}, .coefficient_count = terms - 1, .coefficients = {b}};
  TSI_TRY(get_update_program(out, "core/multiply_add.frag", terms, &pass));
  return gl_draw_vector(out, &pass);
}

/* Whether r is to the right of x in one texture, so that one draw covers both. For pairs, this must hold for
 * both parts. */
static int side_by_side(const ts_vector *x, const ts_vector *r) {
  const gl_vector *left = gl_vector_of(x), *right = gl_vector_of(r);
  return x->context->caps.texture_barrier && left->texture == right->texture && left->y == right->y &&
         left->x + x->space->tiling.width == right->x;
}

static int pairs_side_by_side(const ts_vector *x, const ts_vector *r) {
  const gl_vector *high = gl_vector_of(x);
  if (!side_by_side(x, r)) return 0;
  if (!x->low && !r->low) return 1;
  if (!x->low || !r->low) return 0;
  const gl_vector *low = gl_vector_of(x->low);
  return side_by_side(x->low, r->low) && low->x == high->x && low->y == high->y &&
         low->texture != high->texture;
}

ts_status gl_axpy2_dot(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                       const ts_vector *q, const ts_vector *w, ts_scalars *out, int index) {
  if (pairs_side_by_side(x, r)) {
    const gl_vector *place = gl_vector_of(x);
    const tsi_tiling *t = &x->space->tiling;
    gl_pass pass = {.target = place->texture,
                    .more_targets = {x->low ? gl_vector_of(x->low)->texture : NULL},
                    .x = place->x,
                    .y = place->y,
                    .width = 2 * t->width,
                    .height = t->height,
                    .inputs = {x, d, q},
                    .coefficient_count = 2,
                    .coefficients = {a, b},
                    .parameters = {[8] = t->width}};
    char pair[GL_PAIR_DEFINES] = "", defines[GL_PAIR_DEFINES + 64];
    if (x->low) {
      gl_pass_pairs(&pass, pair);
      gl_tiling_parameters(t, pass.parameters);
    }
    snprintf(defines, sizeof defines, "%s%s%s", pair, gl_slots_define(x->context, &pass),
             x->low ? "#define INDICES\n" : "");
    TSI_TRY(get_program(x, "core/axpy2.frag", 2, defines, &pass.program));
    if (x->low) TSI_TRY(gl_bind_channels(x->space));
    TSI_TRY(gl_draw(x->context, &pass));
  } else {
    TSI_TRY(gl_axpby(x, a, d, ts_constant(1), x));
    TSI_TRY(gl_axpby(r, b, q, ts_constant(1), r));
  }
  return w ? gl_dot3(out, index, r, r, w) : gl_reduce(out, index, TSI_REDUCE_DOT, r, r);
}

ts_status gl_add_to_parts(ts_vector *x, ts_coefficient a, const ts_vector *e) {
  gl_pass pass = {.inputs = {e, x, x->low, x->low->low},
                  .parts = tsi_parts(x),
                  .coefficient_count = 1,
                  .coefficients = {a, ts_constant(0)}};
  char defines[128];
  snprintf(defines, sizeof defines, "%s#define PARTS %d\n",
           a.numerator.scalars || a.denominator.scalars ? gl_slots_define(x->context, &pass) : "", pass.parts);
  TSI_TRY(get_program(x, "core/add_to_parts.frag", 1, defines, &pass.program));
  return gl_draw_vector(x, &pass);
}
