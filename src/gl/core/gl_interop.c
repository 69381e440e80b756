/* The functions of texsolve/gl.h: access to the textures of vectors, for programs that draw them. */
#include <texsolve/gl.h>

#include "gl.h"

static ts_status require_gl(ts_context *context, const char *function) {
  if (context->device_ops == &tsi_gl_ops) return TS_OK;
  return tsi_fail(context, TS_ERROR_UNSUPPORTED, "%s: backend %s does not use textures", function,
                  context->backend_name);
}

ts_status ts_gl_get_info(const ts_context *context, ts_gl_info *info) {
  TSI_REQUIRE(NULL, context);
  tsi_clear_error((ts_context *)context);
  TSI_REQUIRE((ts_context *)context, info);
  TSI_TRY(require_gl((ts_context *)context, __func__));
  const tsi_caps *caps = &context->caps;
  *info = (ts_gl_info){.rectangle_width = caps->rectangle_width,
                       .rectangle_height = caps->rectangle_height,
                       .max_texture_size = caps->max_texture_size,
                       .texture_barrier = caps->texture_barrier,
                       .exact_sums = gl_exact_name(gl_of(context))};
  return TS_OK;
}

ts_status ts_gl_vector_get_texture(ts_vector *vector, ts_gl_texture *texture) {
  TSI_BEGIN(vector, vector->context);
  ts_context *context = vector->context;
  TSI_REQUIRE(context, texture);
  TSI_TRY(require_gl(context, __func__));
  TSI_TRY(tsi_lend(vector));
  const gl_vector *v = gl_vector_of(vector);
  v->texture->application_owned = 1;
  *texture = (ts_gl_texture){.texture = v->texture->name,
                             .internal_format = v->texture->format,
                             .x = v->x,
                             .y = v->y,
                             .width = vector->space->tiling.width,
                             .height = vector->space->tiling.height};
  return TS_OK;
}

/* ---- A vector on the application's texture ---- */

/* Checks the level and the channels that shaders read from the bound texture. */
static ts_status check_sampling(ts_context *context, GLuint texture) {
  static const struct {
    GLenum name;
    GLint wanted;
    const char *text, *wanted_text;
  } parameters[] = {
    {GL_TEXTURE_BASE_LEVEL, 0, "GL_TEXTURE_BASE_LEVEL", "0"},
#if !TSI_WEBGL /* which has none */
    {GL_TEXTURE_SWIZZLE_R, GL_RED, "GL_TEXTURE_SWIZZLE_R", "GL_RED"},
    {GL_TEXTURE_SWIZZLE_G, GL_GREEN, "GL_TEXTURE_SWIZZLE_G", "GL_GREEN"},
    {GL_TEXTURE_SWIZZLE_B, GL_BLUE, "GL_TEXTURE_SWIZZLE_B", "GL_BLUE"},
    {GL_TEXTURE_SWIZZLE_A, GL_ALPHA, "GL_TEXTURE_SWIZZLE_A", "GL_ALPHA"},
#endif
  };
  for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
    GLint value = parameters[i].wanted;
    glGetTexParameteriv(GL_TEXTURE_2D, parameters[i].name, &value);
    if (value != parameters[i].wanted)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "texture %u: %s is 0x%04x; it must be %s", texture,
                      parameters[i].text, (unsigned)value, parameters[i].wanted_text);
  }
  return TS_OK;
}

static ts_status check_texture(ts_context *context, const tsi_tiling *t, GLenum format, GLuint texture) {
  if (!glIsTexture(texture))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "texture %u does not exist in this context", texture);
  glActiveTexture(GL_TEXTURE0);
  gl_state_use_unit(gl_of(context), 0);
  glBindTexture(GL_TEXTURE_2D, texture);
  gl_of(context)->bound_texture[0] = texture;
  if (glGetError() != GL_NO_ERROR) {
    gl_of(context)->bound_texture[0] = (GLuint)-1;
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "texture %u is not a GL_TEXTURE_2D", texture);
  }
  TSI_TRY(gl_given_check(context, texture, format, t->width, t->height));
  GLint filter = 0;
  glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, &filter);
  if (filter != GL_NEAREST && filter != GL_LINEAR)
    return tsi_fail(
        context, TS_ERROR_INVALID_ARGUMENT,
        "texture %u has a minification filter with mipmaps (0x%04x); it must be GL_NEAREST or GL_LINEAR",
        texture, (unsigned)filter);
  return check_sampling(context, texture);
}

static ts_status wrap(ts_space *space, int components, GLuint texture, ts_vector **vector) {
  ts_context *context = space->context;
  const tsi_tiling *t = &space->tiling;
  const GLenum format = gl_format_of_components(components << t->log2_block);
  TSI_TRY(check_texture(context, t, format, texture));
  ts_vector *v = tsi_calloc(context, 1, sizeof *v);
  gl_vector *impl = tsi_calloc(context, 1, sizeof *impl);
  ts_status status = v && impl ? TS_OK : tsi_out_of_memory(context, "a vector", sizeof *v);
  if (status == TS_OK) status = gl_texture_wrap(context, texture, format, t->width, t->height, &impl->texture);
  if (status < 0) {
    tsi_free(context, v);
    tsi_free(context, impl);
    return status;
  }
  *v = (ts_vector){.context = context, .space = space, .components = components, .impl = impl};
  gl_user_added(context);
  tsi_space_retain(space);
  *vector = v;
  return TS_OK;
}

ts_status ts_gl_vector_from_texture(ts_space *space, int components, unsigned texture, ts_vector **vector) {
  TSI_BEGIN(space, space->context);
  ts_context *context = space->context;
  TSI_REQUIRE(context, vector);
  *vector = NULL;
  TSI_TRY(require_gl(context, __func__));
  if (components < 1 || components > 4)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "components is %d; it must be 1 to 4", components);
  TSI_TRY(tsi_check_channels(space, components));
  TSI_TRY(tsi_enter(context));
  return tsi_leave(context, wrap(space, components, texture, vector));
}

/* ---- Positions of indices ---- */

ts_status ts_gl_space_get_size(const ts_space *space, int *width, int *height) {
  TSI_BEGIN(space, space->context);
  TSI_REQUIRE(space->context, width);
  TSI_REQUIRE(space->context, height);
  TSI_TRY(require_gl(space->context, __func__));
  *width = space->tiling.width;
  *height = space->tiling.height;
  return TS_OK;
}

ts_status ts_gl_space_get_texels(const ts_space *space, int32_t *texels, size_t count) {
  TSI_BEGIN(space, space->context);
  TSI_REQUIRE(space->context, texels);
  TSI_TRY(require_gl(space->context, __func__));
  const tsi_tiling *t = &space->tiling;
  if (count != 2 * (size_t)t->size)
    return tsi_fail(space->context, TS_ERROR_INVALID_ARGUMENT, "count is %zu; it must be 2 x %d", count,
                    t->size);
  for (int32_t i = 0; i < t->size; i++) {
    const tsi_texel texel = tsi_texel_of_position(t, tsi_position(t, i));
    texels[2 * (size_t)i] = texel.x;
    texels[2 * (size_t)i + 1] = texel.y;
  }
  return TS_OK;
}

static ts_status create_index_texture(ts_space *space, gl_space *impl) {
  ts_context *context = space->context;
  const tsi_tiling *t = &space->tiling;
  const size_t texels = (size_t)t->width * (size_t)t->height, bytes = texels * 2 * sizeof(GLint);
  GLint *data = tsi_malloc(context, texels, 2 * sizeof *data);
  if (!data) return tsi_out_of_memory(context, "an index texture", bytes);
  ts_status status = tsi_device_alloc(context, bytes, "an index texture");
  if (status == TS_OK) {
    for (size_t k = 0; k < texels; k++) {
      data[2 * k] = -1;
      data[2 * k + 1] = 0;
    }
    for (int32_t i = 0; i < t->size; i++) {
      const int64_t k = tsi_texel_number(t, tsi_position(t, i));
      if (tsi_channel(t, i) == 0) data[2 * k] = i;
      data[2 * k + 1] |= (space->constrained && space->constrained[i]) << tsi_channel(t, i);
    }
    glGenTextures(1, &impl->index_texture);
    gl_bind(gl_of(context), 0, impl->index_texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RG32I, t->width, t->height, 0, GL_RG_INTEGER, GL_INT, data);
    impl->bytes = bytes;
    status = gl_check(context, "an index texture");
    if (status < 0) gl_space_destroy(space);
  }
  tsi_free(context, data);
  return status;
}

ts_status ts_gl_space_get_index_texture(ts_space *space, unsigned *texture) {
  TSI_BEGIN(space, space->context);
  ts_context *context = space->context;
  TSI_REQUIRE(context, texture);
  TSI_TRY(require_gl(context, __func__));
  gl_space *impl;
  TSI_TRY(gl_space_of(space, &impl));
  if (!impl->index_texture) {
    TSI_TRY(tsi_enter(context));
    TSI_TRY(tsi_leave(context, create_index_texture(space, impl)));
  }
  *texture = impl->index_texture;
  return TS_OK;
}

ts_status ts_gl_make_current(ts_context *context) {
  TSI_BEGIN(context, context);
  TSI_TRY(require_gl(context, __func__));
  gl_backend *gl = gl_of(context);
  TSI_TRY(gl->platform.make_current(context));
  if (!gl->lent) gl_state_lend(gl);
  gl->lent = 1;
  return TS_OK;
}

ts_status ts_gl_release_current(ts_context *context) {
  TSI_BEGIN(context, context);
  TSI_TRY(require_gl(context, __func__));
  gl_backend *gl = gl_of(context);
  if (gl->lent) { /* sets again the state that the caller has changed */
    TSI_TRY(tsi_enter(context));
    gl->lent = 0;
    tsi_leave(context, TS_OK);
  }
  gl->platform.release(context);
  return TS_OK;
}
