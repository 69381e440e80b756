#include <GL/glew.h>

#include "view_gl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char reason[640];

const char *view_gl_check(const char *what) {
  const GLenum error = glGetError();
  if (error == GL_NO_ERROR) return NULL;
  while (glGetError() != GL_NO_ERROR) {
  }
  if (error == GL_OUT_OF_MEMORY)
    snprintf(reason, sizeof reason, "out of device memory for %s", what);
  else
    snprintf(reason, sizeof reason, "OpenGL error 0x%04x in %s", error, what);
  return reason;
}

const char *view_gl_load(void) {
  glewExperimental = GL_TRUE;
  const GLenum status = glewInit();
  /* GLEW loads all functions before it fails because GLX is missing. An EGL context does not need GLX. */
  if (status != GLEW_OK && status != GLEW_ERROR_NO_GLX_DISPLAY) return (const char *)glewGetErrorString(status);
  /* GLEW_VERSION_3_3 only reports that the functions have addresses. Ask the context for its version. */
  GLint major = 0, minor = 0;
  glGetIntegerv(GL_MAJOR_VERSION, &major);
  glGetIntegerv(GL_MINOR_VERSION, &minor);
  return 10 * major + minor >= 33 ? NULL : "the context does not support OpenGL 3.3";
}

void view_gl_plain_state(void) {
  static const GLenum off[] = {GL_BLEND,          GL_DEPTH_TEST,         GL_SCISSOR_TEST,
                               GL_STENCIL_TEST,   GL_CULL_FACE,          GL_PRIMITIVE_RESTART,
                               GL_COLOR_LOGIC_OP, GL_RASTERIZER_DISCARD, GL_FRAMEBUFFER_SRGB};
  for (size_t k = 0; k < sizeof off / sizeof off[0]; k++) glDisable(off[k]);
  glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  glDepthMask(GL_TRUE);
  glDepthFunc(GL_LESS);
  glCullFace(GL_BACK);
}

/* ---- Programs ---- */

static const char *attach(unsigned program, GLenum kind, const char *defines, view_gl_source source) {
  const char *const parts[] = {"#version 330 core\n", defines, "#line 1\n", source.text};
  const unsigned shader = glCreateShader(kind);
  GLint compiled;
  glShaderSource(shader, 4, parts, NULL);
  glCompileShader(shader);
  glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
  if (!compiled) {
    char log[400] = "";
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    log[strcspn(log, "\n")] = 0;
    snprintf(reason, sizeof reason, "%s does not compile: %s", source.name, log);
  }
  glAttachShader(program, shader);
  glDeleteShader(shader);
  return compiled ? NULL : reason;
}

const char *view_gl_program(const char *defines, view_gl_source vertex, view_gl_source fragment,
                            const char *const *samplers, unsigned *program) {
  GLint linked;
  if (*program) {
    glUseProgram(*program);
    return NULL;
  }
  const unsigned made = glCreateProgram();
  const char *why = attach(made, GL_VERTEX_SHADER, defines, vertex);
  if (!why) why = attach(made, GL_FRAGMENT_SHADER, defines, fragment);
  if (!why) {
    glLinkProgram(made);
    glGetProgramiv(made, GL_LINK_STATUS, &linked);
    if (!linked) {
      char log[400] = "";
      glGetProgramInfoLog(made, sizeof log, NULL, log);
      log[strcspn(log, "\n")] = 0;
      snprintf(reason, sizeof reason, "%s and %s do not link: %s", vertex.name, fragment.name, log);
      why = reason;
    }
  }
  if (why) {
    glDeleteProgram(made);
    return why;
  }
  *program = made;
  glUseProgram(made);
  for (int unit = 0; samplers && samplers[unit]; unit++)
    glUniform1i(glGetUniformLocation(made, samplers[unit]), unit);
  return NULL;
}

int view_gl_uniform(unsigned program, const char *name) {
  return glGetUniformLocation(program, name);
}

/* ---- Textures ---- */

unsigned view_gl_texture(int filter) {
  unsigned texture;
  glGenTextures(1, &texture);
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  return texture;
}

int view_gl_rows(size_t count) {
  return count ? (int)((count + VIEW_GL_ROW - 1) / VIEW_GL_ROW) : 1;
}

const char *view_gl_list(const void *entries, size_t count, size_t entry_bytes, int internal_format,
                         unsigned format, unsigned type, unsigned *texture) {
  GLint largest = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
  if (largest < VIEW_GL_ROW || view_gl_rows(count) > largest) {
    snprintf(reason, sizeof reason, "too large to draw: a list of %zu entries in textures of %d x %d", count,
             largest, largest);
    return reason;
  }
  const int whole_rows = (int)(count / VIEW_GL_ROW), rest = (int)(count % VIEW_GL_ROW);
  *texture = view_gl_texture(GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, internal_format, VIEW_GL_ROW, view_gl_rows(count), 0, format, type, NULL);
  if (whole_rows) glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, VIEW_GL_ROW, whole_rows, format, type, entries);
  if (rest)
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, whole_rows, rest, 1, format, type,
                    (const char *)entries + (size_t)whole_rows * VIEW_GL_ROW * entry_bytes);
  return view_gl_check("a texture of a list");
}

void view_gl_draw_vertices(unsigned *empty_array, unsigned mode, int count) {
  if (!*empty_array) glGenVertexArrays(1, empty_array);
  glBindVertexArray(*empty_array);
  glDrawArrays(mode, 0, count);
  glBindVertexArray(0);
}

void view_gl_bind(const unsigned *textures, int count) {
  for (int unit = 0; unit < count; unit++) {
    glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
    glBindTexture(GL_TEXTURE_2D, textures[unit]);
    glBindSampler((GLuint)unit, 0);
  }
}

/* ---- Off the screen ---- */

const char *view_gl_make_canvas(view_gl_canvas *canvas, int samples, int width, int height) {
  glGenFramebuffers(1, &canvas->framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, canvas->framebuffer);
  glGenRenderbuffers(1, &canvas->colour);
  glBindRenderbuffer(GL_RENDERBUFFER, canvas->colour);
  glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_RGBA8, width, height);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, canvas->colour);
  glGenRenderbuffers(1, &canvas->depth);
  glBindRenderbuffer(GL_RENDERBUFFER, canvas->depth);
  glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_DEPTH_COMPONENT24, width, height);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, canvas->depth);
  glBindRenderbuffer(GL_RENDERBUFFER, 0);
  const int complete = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
  const char *why = view_gl_check("a picture of this size");
  return !why && !complete ? "the driver cannot draw off the screen" : why;
}

void view_gl_destroy_canvas(view_gl_canvas *canvas) {
  glDeleteFramebuffers(1, &canvas->framebuffer);
  glDeleteRenderbuffers(1, &canvas->colour);
  glDeleteRenderbuffers(1, &canvas->depth);
  *canvas = (view_gl_canvas){0};
}

/* Multisampling is too slow on a software rasterizer. */
static int choose_samples(void) {
  const char *renderer = (const char *)glGetString(GL_RENDERER);
  GLint most = 0;
  if (renderer && (strstr(renderer, "llvmpipe") || strstr(renderer, "softpipe"))) return 0;
  glGetIntegerv(GL_MAX_SAMPLES, &most);
  return most < 4 ? most : 4;
}

/* Flips the picture: OpenGL's first row is the lowest. */
static const char *flip_rows(unsigned char *rgb, size_t row, int height) {
  unsigned char *spare = malloc(row);
  if (!spare) return "out of memory";
  for (int y = 0; y < height / 2; y++) {
    unsigned char *above = rgb + (size_t)y * row, *below = rgb + (size_t)(height - 1 - y) * row;
    memcpy(spare, above, row);
    memcpy(above, below, row);
    memcpy(below, spare, row);
  }
  free(spare);
  return NULL;
}

const char *view_gl_read_picture(const view_gl_canvas *canvas, int width, int height, unsigned char *rgb) {
  glBindFramebuffer(GL_READ_FRAMEBUFFER, canvas->framebuffer);
  glReadBuffer(GL_COLOR_ATTACHMENT0);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glPixelStorei(GL_PACK_ROW_LENGTH, 0);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, rgb);
  const char *why = view_gl_check("reading the picture");
  return why ? why : flip_rows(rgb, 3 * (size_t)width, height);
}

/* Copies the colours of a framebuffer of this size to another, shifted right by `left` pixels. Both stay
 * bound. */
static void copy(unsigned from, unsigned to, int left, int width, int height) {
  glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
  glDisable(GL_SCISSOR_TEST);
  glBlitFramebuffer(0, 0, width, height, left, 0, left + width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

static const char *resize(view_gl_screen *s, int width, int height) {
  if (s->width == width && s->height == height) return NULL;
  const int samples = choose_samples();
  view_gl_destroy_screen(s);
  const char *why = view_gl_make_canvas(&s->picture, 0, width, height);
  if (!why && samples) why = view_gl_make_canvas(&s->many, samples, width, height);
  if (why) return why;
  s->width = width;
  s->height = height;
  s->stale = 1;
  return NULL;
}

const char *view_gl_show(view_gl_screen *s, int left, int width, int height, view_gl_draw *draw, void *user) {
  const char *why = resize(s, width, height);
  if (!why && s->stale) {
    const unsigned framebuffer = s->many.framebuffer ? s->many.framebuffer : s->picture.framebuffer;
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    why = draw(user, width, height);
    if (s->many.framebuffer) copy(framebuffer, s->picture.framebuffer, 0, width, height);
    s->stale = 0;
  }
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  if (!why) copy(s->picture.framebuffer, 0, left, width, height);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  return why;
}

void view_gl_destroy_screen(view_gl_screen *s) {
  view_gl_destroy_canvas(&s->many);
  view_gl_destroy_canvas(&s->picture);
  *s = (view_gl_screen){0};
}

const char *view_gl_picture(view_gl_draw *draw, void *user, int samples, int width, int height,
                            unsigned char *rgb) {
  view_gl_canvas many = {0}, one = {0};
  GLint most, largest, draw_before, read_before;
  glGetIntegerv(GL_MAX_SAMPLES, &most);
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  if (width > largest || height > largest) return "the picture is larger than the driver can draw";
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &draw_before);
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &read_before);
  const char *why = view_gl_make_canvas(&one, 0, width, height);
  if (!why && samples) why = view_gl_make_canvas(&many, samples < most ? samples : most, width, height);
  if (!why) why = draw(user, width, height);
  if (!why && samples) copy(many.framebuffer, one.framebuffer, 0, width, height);
  if (!why) why = view_gl_read_picture(&one, width, height, rgb);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)draw_before);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)read_before);
  view_gl_destroy_canvas(&many);
  view_gl_destroy_canvas(&one);
  return why;
}
