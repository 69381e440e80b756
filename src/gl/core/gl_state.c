/* The OpenGL state that passes rely on, and an application's state saved and put back around every call. */
#include "gl.h"

/* Blending is switched for the draw buffers that passes write. */
/* GL_PRIMITIVE_RESTART: some drivers also look for the restart index in draws without indices. */
static const GLenum switches[] = {
    GL_PRIMITIVE_RESTART,  GL_DEPTH_TEST,         GL_SCISSOR_TEST,
    GL_STENCIL_TEST,       GL_CULL_FACE,          GL_COLOR_LOGIC_OP,
    GL_RASTERIZER_DISCARD, GL_POLYGON_SMOOTH,     GL_SAMPLE_ALPHA_TO_COVERAGE,
    GL_SAMPLE_MASK,        GL_SAMPLE_COVERAGE,    GL_DITHER,
    GL_CLIP_DISTANCE0,     GL_CLIP_DISTANCE1,     GL_CLIP_DISTANCE2,
    GL_CLIP_DISTANCE3,     GL_CLIP_DISTANCE4,     GL_CLIP_DISTANCE5,
    GL_FRAMEBUFFER_SRGB,   GL_PROGRAM_POINT_SIZE,
};
enum { switch_count = sizeof switches / sizeof switches[0] };

static const GLenum pixel_store[] = {
    GL_PACK_SWAP_BYTES,   GL_PACK_LSB_FIRST,     GL_PACK_ROW_LENGTH,    GL_PACK_IMAGE_HEIGHT,
    GL_PACK_SKIP_ROWS,    GL_PACK_SKIP_PIXELS,   GL_PACK_SKIP_IMAGES,   GL_PACK_ALIGNMENT,
    GL_UNPACK_SWAP_BYTES, GL_UNPACK_LSB_FIRST,   GL_UNPACK_ROW_LENGTH,  GL_UNPACK_IMAGE_HEIGHT,
    GL_UNPACK_SKIP_ROWS,  GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_IMAGES, GL_UNPACK_ALIGNMENT,
};
enum { pixel_store_count = sizeof pixel_store / sizeof pixel_store[0] };

struct gl_state {
  GLboolean switches[switch_count];
  GLint pixel_store[pixel_store_count];
  GLint viewport[4];
  GLint draw_framebuffer, read_framebuffer, program, vao, array_buffer, pack_buffer, unpack_buffer;
  GLint active_texture, texture[GL_UNITS], sampler[GL_UNITS];
  GLint polygon_mode[2], clamp_read_color, logic_op;
  GLboolean color_mask[GL_TARGETS][4], blend[GL_TARGETS];
};

ts_status gl_state_create(ts_context *context) {
  gl_backend *gl = gl_of(context);
  gl->saved = tsi_calloc(context, 1, sizeof *gl->saved);
  return gl->saved ? TS_OK : tsi_out_of_memory(context, "the application's state", sizeof *gl->saved);
}

void gl_state_destroy(ts_context *context) {
  gl_backend *gl = gl_of(context);
  tsi_free(context, gl->saved);
  gl->saved = NULL;
}

void gl_state_save(gl_state *s) {
  for (int i = 0; i < switch_count; i++) s->switches[i] = glIsEnabled(switches[i]);
  for (int i = 0; i < pixel_store_count; i++) glGetIntegerv(pixel_store[i], &s->pixel_store[i]);
  glGetIntegerv(GL_VIEWPORT, s->viewport);
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &s->draw_framebuffer);
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &s->read_framebuffer);
  glGetIntegerv(GL_CURRENT_PROGRAM, &s->program);
  glGetIntegerv(GL_VERTEX_ARRAY_BINDING, &s->vao);
  glGetIntegerv(GL_ARRAY_BUFFER_BINDING, &s->array_buffer);
  glGetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &s->pack_buffer);
  glGetIntegerv(GL_PIXEL_UNPACK_BUFFER_BINDING, &s->unpack_buffer);
  glGetIntegerv(GL_POLYGON_MODE, s->polygon_mode);
  glGetIntegerv(GL_CLAMP_READ_COLOR, &s->clamp_read_color);
  glGetIntegerv(GL_LOGIC_OP_MODE, &s->logic_op);
  for (GLuint k = 0; k < GL_TARGETS; k++) {
    glGetBooleani_v(GL_COLOR_WRITEMASK, k, s->color_mask[k]);
    s->blend[k] = glIsEnabledi(GL_BLEND, k);
  }
  glGetIntegerv(GL_ACTIVE_TEXTURE, &s->active_texture);
  for (int unit = 0; unit < GL_UNITS; unit++) {
    glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &s->texture[unit]);
    glGetIntegerv(GL_SAMPLER_BINDING, &s->sampler[unit]);
  }
}

static void set_switch(GLenum name, GLboolean on) {
  if (on)
    glEnable(name);
  else
    glDisable(name);
}

void gl_state_restore(const gl_state *s) {
  for (int i = 0; i < switch_count; i++) set_switch(switches[i], s->switches[i]);
  for (int i = 0; i < pixel_store_count; i++) glPixelStorei(pixel_store[i], s->pixel_store[i]);
  glViewport(s->viewport[0], s->viewport[1], s->viewport[2], s->viewport[3]);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)s->draw_framebuffer);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)s->read_framebuffer);
  /* A program that was deleted while it was current ends when another takes its place. */
  glUseProgram(glIsProgram((GLuint)s->program) ? (GLuint)s->program : 0);
  glBindVertexArray((GLuint)s->vao);
  glBindBuffer(GL_ARRAY_BUFFER, (GLuint)s->array_buffer);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, (GLuint)s->pack_buffer);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, (GLuint)s->unpack_buffer);
  glPolygonMode(GL_FRONT_AND_BACK, (GLenum)s->polygon_mode[0]);
  glClampColor(GL_CLAMP_READ_COLOR, (GLenum)s->clamp_read_color);
  glLogicOp((GLenum)s->logic_op);
  for (GLuint k = 0; k < GL_TARGETS; k++) {
    const GLboolean *mask = s->color_mask[k];
    glColorMaski(k, mask[0], mask[1], mask[2], mask[3]);
    if (s->blend[k]) glEnablei(GL_BLEND, k);
  }
  for (int unit = 0; unit < GL_UNITS; unit++) {
    glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
    glBindTexture(GL_TEXTURE_2D, (GLuint)s->texture[unit]);
    glBindSampler((GLuint)unit, (GLuint)s->sampler[unit]);
  }
  glActiveTexture((GLenum)s->active_texture);
}

void gl_state_set(gl_backend *gl) {
  for (int i = 0; i < switch_count; i++) glDisable(switches[i]);
  glEnable(GL_PROGRAM_POINT_SIZE);
  glLogicOp(GL_COPY);
  if (gl->compiles_once) glEnable(GL_COLOR_LOGIC_OP);
  for (int i = 0; i < pixel_store_count; i++)
    glPixelStorei(pixel_store[i],
                  pixel_store[i] == GL_PACK_ALIGNMENT || pixel_store[i] == GL_UNPACK_ALIGNMENT ? 4 : 0);
  glBindVertexArray(gl->empty_vao);
  glBindBuffer(GL_ARRAY_BUFFER, 0);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
  glClampColor(GL_CLAMP_READ_COLOR, GL_FIXED_ONLY);
  for (GLuint k = 0; k < GL_TARGETS; k++) {
    glColorMaski(k, GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glDisablei(GL_BLEND, k);
  }
  for (int unit = 0; unit < GL_UNITS; unit++) {
    glBindSampler((GLuint)unit, gl->nearest);
    gl->bound_texture[unit] = (GLuint)-1; /* unknown */
  }
  glActiveTexture(GL_TEXTURE0);
  gl->bound_program = gl->bound_framebuffer = (GLuint)-1;
}

void gl_state_lend(const gl_backend *gl) {
  if (gl->saved) return;
  glDisable(GL_COLOR_LOGIC_OP); /* which would turn blending off */
  for (int unit = 0; gl->nearest && unit < GL_UNITS; unit++) glBindSampler((GLuint)unit, 0);
}

/* ---- Objects that are deleted ---- */

static void unbind(GLint *saved, GLuint name) {
  if ((GLuint)*saved == name) *saved = 0;
}

static void forget(GLuint *current, GLuint name) {
  if (*current == name) *current = (GLuint)-1;
}

void gl_delete_texture(gl_backend *gl, GLuint name) {
  for (int unit = 0; unit < GL_UNITS; unit++) {
    if (gl->saved) unbind(&gl->saved->texture[unit], name);
    forget(&gl->bound_texture[unit], name);
  }
  glDeleteTextures(1, &name);
}

void gl_delete_framebuffer(gl_backend *gl, GLuint name) {
  if (gl->saved) {
    unbind(&gl->saved->draw_framebuffer, name);
    unbind(&gl->saved->read_framebuffer, name);
  }
  forget(&gl->bound_framebuffer, name);
  glDeleteFramebuffers(1, &name);
}

void gl_delete_buffer(gl_backend *gl, GLuint name) {
  if (gl->saved) {
    unbind(&gl->saved->array_buffer, name);
    unbind(&gl->saved->pack_buffer, name);
    unbind(&gl->saved->unpack_buffer, name);
  }
  glDeleteBuffers(1, &name);
}

void gl_delete_vertex_array(gl_backend *gl, GLuint name) {
  if (gl->saved) unbind(&gl->saved->vao, name);
  glDeleteVertexArrays(1, &name);
}

void gl_delete_sampler(gl_backend *gl, GLuint name) {
  for (int unit = 0; gl->saved && unit < GL_UNITS; unit++) unbind(&gl->saved->sampler[unit], name);
  glDeleteSamplers(1, &name);
}

void gl_delete_program(gl_backend *gl, GLuint name) {
  if (gl->saved) unbind(&gl->saved->program, name);
  forget(&gl->bound_program, name);
  glDeleteProgram(name);
}
