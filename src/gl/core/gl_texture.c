/* Textures with their framebuffer objects, and the accounting of their memory. */
#include <string.h>

#include "gl.h"

static const gl_format_info formats[] = {
    {GL_R32F, GL_RED, GL_FLOAT, 4},
    {GL_RG32F, GL_RG, GL_FLOAT, 8},
    {GL_RGBA32F, GL_RGBA, GL_FLOAT, 16},
    {GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, 4},
    {GL_RG32UI, GL_RG_INTEGER, GL_UNSIGNED_INT, 8},
    {GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16},
};

const gl_format_info *gl_format_find(GLenum internal) {
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
    if (formats[i].internal == internal) return &formats[i];
  return NULL;
}

size_t gl_texel_bytes(GLenum format) {
  return (size_t)gl_format_find(format)->bytes;
}

GLenum gl_format_of_components(int components) {
  return components == 1 ? GL_R32F : components == 2 ? GL_RG32F : GL_RGBA32F;
}

static ts_status fail_for(ts_context *context, GLenum error, const char *what) {
  if (error == GL_NO_ERROR) return TS_OK;
  for (int i = 0; i < 16 && gl_error(context) != GL_NO_ERROR; i++)
    continue; /* a lost context reports the same error forever */
  if (error == GL_CONTEXT_LOST)
    return tsi_fail(context, TS_ERROR_DEVICE, "the OpenGL context was lost at %s, and with it all objects",
                    what);
  if (error == GL_OUT_OF_MEMORY)
    return tsi_fail(context, TS_ERROR_OUT_OF_DEVICE_MEMORY, "no device memory for %s", what);
  return tsi_fail(context, TS_ERROR_DEVICE, "OpenGL error 0x%04x at %s", error, what);
}

ts_status gl_check(ts_context *context, const char *what) {
  return fail_for(context, gl_error(context), what);
}

static ts_status attach_framebuffer(ts_context *context, gl_texture *t) {
  gl_backend *gl = gl_of(context);
  glGenFramebuffers(1, &t->framebuffer);
  gl_bind_framebuffer(gl, t->framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t->name, 0);
  const GLenum status = gl_framebuffer_status();
  if (status != GL_FRAMEBUFFER_COMPLETE)
    return tsi_fail(context, TS_ERROR_DEVICE,
                    "the driver cannot render to a %d x %d texture of format 0x%04x (0x%04x)", t->width,
                    t->height, t->format, status);
  return TS_OK;
}

static int draws_into(const gl_target_set *set, const gl_texture *t) {
  for (int k = 0; k < GL_TARGETS; k++)
    if (set->textures[k] == t) return 1;
  return 0;
}

static void gl_texture_destroy(ts_context *context, gl_texture *t) {
  gl_backend *gl = gl_of(context);
  for (gl_target_set **link = &gl->target_sets; *link;) {
    gl_target_set *set = *link;
    if (!draws_into(set, t)) {
      link = &set->next;
      continue;
    }
    *link = set->next;
    if (gl->entered) gl_delete_framebuffer(gl, set->framebuffer);
    tsi_free(context, set);
  }
  if (gl->entered) {
    gl_delete_framebuffer(gl, t->framebuffer);
    if (t->bytes) gl_delete_texture(gl, t->name);
  }
  tsi_device_free(context, t->bytes);
  tsi_free(context, t);
}

ts_status gl_texture_create(ts_context *context, GLenum format, int width, int height, const char *what,
                            gl_texture **out) {
  gl_backend *gl = gl_of(context);
  const gl_format_info *info = gl_format_find(format);
  const int max = context->caps.max_texture_size;
  if (width > max || height > max)
    return tsi_fail(context, TS_ERROR_LIMIT, "%s needs a texture of %d x %d; the largest is %d x %d", what,
                    width, height, max, max);
  gl_texture *t = tsi_calloc(context, 1, sizeof *t);
  if (!t) return tsi_out_of_memory(context, what, sizeof *t);
  *t = (gl_texture){.format = format, .width = width, .height = height, .references = 1, .scratch_x = -1};
  const size_t bytes = (size_t)width * (size_t)height * (size_t)info->bytes;
  ts_status status = tsi_device_alloc(context, bytes, what);
  if (status < 0) {
    tsi_free(context, t);
    return status;
  }
  t->bytes = bytes;
  glGenTextures(1, &t->name);
  gl_bind(gl, 0, t->name);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
  glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, width, height, 0, info->external, info->type, NULL);
  status = fail_for(context, gl_error_of_storage(context, bytes), what);
  if (status == TS_OK && info->type == GL_FLOAT) {
    status = gl_state_draw(context);
    if (status == TS_OK) status = attach_framebuffer(context, t);
    if (status == TS_OK) {
      static const GLfloat zero[4];
      glClearBufferfv(GL_COLOR, 0, zero);
      status = gl_check(context, what);
    }
  }
  if (status < 0) {
    gl_texture_destroy(context, t);
    return status;
  }
  *out = t;
  return TS_OK;
}

ts_status gl_texture_wrap(ts_context *context, GLuint name, GLenum format, int width, int height,
                          gl_texture **out) {
  gl_texture *t = tsi_calloc(context, 1, sizeof *t);
  if (!t) return tsi_out_of_memory(context, "a texture", sizeof *t);
  *t = (gl_texture){.name = name,
                    .format = format,
                    .width = width,
                    .height = height,
                    .references = 1,
                    .application_owned = 1,
                    .scratch_x = -1};
  const ts_status status = attach_framebuffer(context, t);
  if (status < 0) {
    gl_texture_destroy(context, t);
    return status;
  }
  *out = t;
  return TS_OK;
}

ts_status gl_texture_make_target(ts_context *context, gl_texture *texture) {
  return texture->framebuffer ? TS_OK : attach_framebuffer(context, texture);
}

void gl_texture_release(ts_context *context, gl_texture *texture) {
  if (texture && --texture->references == 0) gl_texture_destroy(context, texture);
}

static ts_status attach_set(ts_context *context, gl_target_set *set) {
  static const GLenum attachments[GL_TARGETS] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1,
                                                 GL_COLOR_ATTACHMENT2};
  glGenFramebuffers(1, &set->framebuffer);
  gl_bind_framebuffer(gl_of(context), set->framebuffer);
  int count = 0;
  for (; count < GL_TARGETS && set->textures[count]; count++)
    glFramebufferTexture2D(GL_FRAMEBUFFER, attachments[count], GL_TEXTURE_2D, set->textures[count]->name, 0);
  glDrawBuffers(count, attachments);
  const GLenum status = gl_framebuffer_status();
  if (status == GL_FRAMEBUFFER_COMPLETE) return TS_OK;
  return tsi_fail(context, TS_ERROR_DEVICE, "the driver cannot render to %d textures at once (0x%04x)", count,
                  status);
}

ts_status gl_texture_framebuffer(ts_context *context, gl_texture *const textures[GL_TARGETS],
                                 GLuint *framebuffer) {
  gl_backend *gl = gl_of(context);
  *framebuffer = textures[0]->framebuffer;
  if (!textures[1]) return TS_OK;
  gl_target_set *set = gl->target_sets;
  while (set && memcmp(set->textures, textures, sizeof set->textures)) set = set->next;
  if (!set) {
    set = tsi_calloc(context, 1, sizeof *set);
    if (!set) return tsi_out_of_memory(context, "a framebuffer object", sizeof *set);
    memcpy(set->textures, textures, sizeof set->textures);
    const ts_status status = attach_set(context, set);
    if (status < 0) {
      gl_delete_framebuffer(gl, set->framebuffer);
      tsi_free(context, set);
      return status;
    }
    set->next = gl->target_sets;
    gl->target_sets = set;
  }
  *framebuffer = set->framebuffer;
  return TS_OK;
}

void gl_texture_write(gl_backend *gl, const gl_texture *t, int x, int y, int width, int height,
                      const void *data) {
  const gl_format_info *info = gl_format_find(t->format);
  gl_bind(gl, 0, t->name);
  glTexSubImage2D(GL_TEXTURE_2D, 0, x, y, width, height, info->external, info->type, data);
}
