#include "gl_probe.h"

#include <string.h>

#include "bench.h"
#include "bench_shaders.h"

static const struct {
  GLenum internal, format, type;
} FORMATS[LIMIT_FORMATS] = {
    [LIMIT_R32F] = {GL_R32F, GL_RED, GL_FLOAT},
    [LIMIT_RG32F] = {GL_RG32F, GL_RG, GL_FLOAT},
    [LIMIT_RGBA32F] = {GL_RGBA32F, GL_RGBA, GL_FLOAT},
    [LIMIT_RG32UI] = {GL_RG32UI, GL_RG_INTEGER, GL_UNSIGNED_INT},
};

int probe_failed(const char *what) {
  const GLenum error = glGetError();
  if (error == GL_NO_ERROR) return 0;
  while (glGetError() != GL_NO_ERROR) {
  }
  const char *text = error == GL_OUT_OF_MEMORY ? "out of device memory" : "OpenGL reported an error";
  bench_error("%s: %s (0x%04x)", what, text, error);
  return 1;
}

int probe_texture_create(probe_texture *t, limit_format format, int width, int height) {
  memset(t, 0, sizeof *t);
  t->width = width;
  t->height = height;
  glGenTextures(1, &t->texture);
  glBindTexture(GL_TEXTURE_2D, t->texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
  glTexImage2D(GL_TEXTURE_2D, 0, (GLint)FORMATS[format].internal, width, height, 0, FORMATS[format].format,
               FORMATS[format].type, NULL);
  glGenFramebuffers(1, &t->framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, t->framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t->texture, 0);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE) {
    static const GLfloat half[4] = {0.5f, 0.5f, 0.5f, 0.5f};
    static const GLuint one[4] = {1, 1, 1, 1};
    if (format == LIMIT_RG32UI)
      glClearBufferuiv(GL_COLOR, 0, one);
    else
      glClearBufferfv(GL_COLOR, 0, half);
  }
  if (probe_failed("a texture for the measurement")) {
    probe_texture_destroy(t);
    return 1;
  }
  return 0;
}

void probe_texture_destroy(probe_texture *t) {
  glDeleteFramebuffers(1, &t->framebuffer);
  glDeleteTextures(1, &t->texture);
  memset(t, 0, sizeof *t);
}

/* GLEW's flags are unreliable: with glewExperimental every function that has an address counts as supported. */
static int has_extension(const char *name) {
  GLint count = 0;
  glGetIntegerv(GL_NUM_EXTENSIONS, &count);
  for (GLint i = 0; i < count; ++i)
    if (!strcmp((const char *)glGetStringi(GL_EXTENSIONS, (GLuint)i), name)) return 1;
  return 0;
}

int probe_has_gathers(void) {
  return has_extension("GL_ARB_texture_gather");
}

probe_barrier probe_texture_barrier(void) {
  GLint major = 0, minor = 0;
  glGetIntegerv(GL_MAJOR_VERSION, &major);
  glGetIntegerv(GL_MINOR_VERSION, &minor);
  if (10 * major + minor >= 45 || has_extension("GL_ARB_texture_barrier")) return glTextureBarrier;
  return has_extension("GL_NV_texture_barrier") ? glTextureBarrierNV : NULL;
}

static int compile(GLuint *shader, GLenum stage, const char *name, const char *source, const char *defines) {
  const char *parts[] = {"#version 330 core\n", defines, "#line 1\n", source};
  *shader = glCreateShader(stage);
  glShaderSource(*shader, 4, parts, NULL);
  glCompileShader(*shader);
  GLint compiled = 0;
  glGetShaderiv(*shader, GL_COMPILE_STATUS, &compiled);
  if (compiled) return 0;
  char log[512] = "";
  glGetShaderInfoLog(*shader, sizeof log, NULL, log);
  bench_error("%s: %s", name, log);
  glDeleteShader(*shader);
  return 1;
}

int probe_program_create(GLuint *program, probe_shader shader, const char *defines) {
  static const struct {
    const char *name, *source;
  } fragments[] = {[PROBE_COPY] = {"copy.frag", copy_frag},
                   [PROBE_FETCH] = {"fetch.frag", fetch_frag},
                   [PROBE_FILL] = {"fill.frag", fill_frag},
                   [PROBE_MULTIPLY_ADD] = {"multiply_add.frag", multiply_add_frag},
                   [PROBE_STEP] = {"step.frag", step_frag}};
  GLuint vertex, fragment;
  if (compile(&vertex, GL_VERTEX_SHADER, "probe.vert", probe_vert, "")) return 1;
  if (compile(&fragment, GL_FRAGMENT_SHADER, fragments[shader].name, fragments[shader].source, defines)) {
    glDeleteShader(vertex);
    return 1;
  }
  *program = glCreateProgram();
  glAttachShader(*program, vertex);
  glAttachShader(*program, fragment);
  glLinkProgram(*program);
  glDeleteShader(vertex);
  glDeleteShader(fragment);
  GLint linked = 0;
  glGetProgramiv(*program, GL_LINK_STATUS, &linked);
  if (linked) return 0;
  char log[512] = "";
  glGetProgramInfoLog(*program, sizeof log, NULL, log);
  bench_error("%s: %s", fragments[shader].name, log);
  glDeleteProgram(*program);
  *program = 0;
  return 1;
}

int probe_begin(GLuint *vertex_array) {
  while (glGetError() != GL_NO_ERROR) {
  }
  glGenVertexArrays(1, vertex_array);
  glBindVertexArray(*vertex_array);
  glDisable(GL_BLEND);
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_SCISSOR_TEST);
  glDisable(GL_CULL_FACE);
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  glActiveTexture(GL_TEXTURE0);
  glBindSampler(0, 0);
  return probe_failed("preparing the measurement");
}

void probe_end(GLuint *vertex_array) {
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  glBindTexture(GL_TEXTURE_2D, 0);
  glUseProgram(0);
  glBindVertexArray(0);
  glDeleteVertexArrays(1, vertex_array);
}

void probe_target(const probe_texture *t) {
  glBindFramebuffer(GL_FRAMEBUFFER, t->framebuffer);
  glViewport(0, 0, t->width, t->height);
}

void probe_draw(void) {
  glDrawArrays(GL_TRIANGLES, 0, 3);
}
