#include <GL/glew.h>

#include "heat_gl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heat_shaders.h"

enum { unit_solution, unit_cells, unit_colours, unit_paper, unit_count };

static char reason[512];

const char *heat_gl_load(void) {
  glewExperimental = GL_TRUE;
  const GLenum status = glewInit();
  /* GLEW loads everything before it misses GLX, which a context made by EGL has no use for. */
  if (status != GLEW_OK && status != GLEW_ERROR_NO_GLX_DISPLAY) return (const char *)glewGetErrorString(status);
  /* GLEW's own GLEW_VERSION_3_3 says which functions have an address, not what the context is. */
  GLint major = 0, minor = 0;
  glGetIntegerv(GL_MAJOR_VERSION, &major);
  glGetIntegerv(GL_MINOR_VERSION, &minor);
  return 10 * major + minor >= 33 ? NULL : "the context has no OpenGL 3.3";
}

static const char *check(const char *what) {
  const GLenum error = glGetError();
  if (error == GL_NO_ERROR) return NULL;
  snprintf(reason, sizeof reason, "OpenGL error 0x%04x in %s", error, what);
  return reason;
}

static unsigned make_texture(GLint filter) {
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
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  return texture;
}

/* ---- Program ---- */

static const char *attach(unsigned program, GLenum kind, const char *name, const char *source) {
  const char *const parts[] = {"#version 330 core\n#line 1\n", source};
  const unsigned shader = glCreateShader(kind);
  GLint compiled;
  glShaderSource(shader, 2, parts, NULL);
  glCompileShader(shader);
  glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
  if (!compiled) {
    char log[400] = "";
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    log[strcspn(log, "\n")] = 0;
    snprintf(reason, sizeof reason, "%s does not compile: %s", name, log);
  }
  glAttachShader(program, shader);
  glDeleteShader(shader);
  return compiled ? NULL : reason;
}

static const char *make_program(unsigned *program) {
  GLint linked;
  *program = glCreateProgram();
  const char *why = attach(*program, GL_VERTEX_SHADER, "heat.vert", heat_vert);
  if (!why) why = attach(*program, GL_FRAGMENT_SHADER, "heat.frag", heat_frag);
  if (why) return why;
  glLinkProgram(*program);
  glGetProgramiv(*program, GL_LINK_STATUS, &linked);
  if (linked) return NULL;
  char log[400] = "";
  glGetProgramInfoLog(*program, sizeof log, NULL, log);
  log[strcspn(log, "\n")] = 0;
  snprintf(reason, sizeof reason, "heat.vert and heat.frag do not link: %s", log);
  return reason;
}

/* ---- Textures ---- */

/* From cells of the plate to texels of the solution. */
static const char *make_cells(heat_gl *gl, ts_vector *x) {
  const plate *p = gl->plate;
  const size_t cells = (size_t)p->width * (size_t)p->height, count = 2 * (size_t)p->unknowns;
  int32_t *texels = malloc(count * sizeof *texels), *map = malloc(2 * cells * sizeof *map);
  const char *why = texels && map ? NULL : "out of memory";
  if (!why && ts_gl_space_texels(ts_vector_space(x), texels, count) != TS_OK) why = "no texels of the solution";
  for (size_t k = 0; !why && k < cells; k++) {
    const int32_t unknown = p->index[k];
    map[2 * k] = unknown < 0 ? -1 : texels[2 * (size_t)unknown];
    map[2 * k + 1] = unknown < 0 ? -1 : texels[2 * (size_t)unknown + 1];
  }
  if (!why) {
    gl->cells = make_texture(GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RG32I, p->width, p->height, 0, GL_RG_INTEGER, GL_INT, map);
    why = check("the texture of cells");
  }
  free(texels);
  free(map);
  return why;
}

static const char *make_paper(heat_gl *gl, int width, int height) {
  if (gl->paper_width == width && gl->paper_height == height) return NULL;
  image paper;
  if (image_create(&paper, width, height)) return "out of memory";
  draw_paper(&paper);
  if (gl->paper) glDeleteTextures(1, &gl->paper);
  gl->paper = make_texture(GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, width, height, 0, GL_RGB, GL_UNSIGNED_BYTE, paper.rgb);
  gl->paper_width = width;
  gl->paper_height = height;
  image_destroy(&paper);
  return check("the texture of the legend");
}

const char *heat_gl_create(heat_gl *gl, const plate *p, ts_vector *x) {
  unsigned char colours[colour_count][3];
  *gl = (heat_gl){.plate = p};
  if (ts_gl_vector_texture(x, &gl->solution) != TS_OK) return "the solution has no texture";
  const char *why = make_program(&gl->program);
  if (!why) why = make_cells(gl, x);
  if (why) {
    heat_gl_destroy(gl);
    return why;
  }
  colour_table(colours);
  gl->colours = make_texture(GL_LINEAR);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, colour_count, 1, 0, GL_RGB, GL_UNSIGNED_BYTE, colours);
  glGenVertexArrays(1, &gl->vertex_array);

  glUseProgram(gl->program);
  static const char *const samplers[unit_count] = {"solution", "cells", "colours", "paper"};
  for (int k = 0; k < unit_count; k++) glUniform1i(glGetUniformLocation(gl->program, samplers[k]), k);
  glUniform2i(glGetUniformLocation(gl->program, "solution_at"), gl->solution.x, gl->solution.y);
  glUniform1f(glGetUniformLocation(gl->program, "hottest"), hottest);
  float holes[plate_holes][3];
  for (int k = 0; k < plate_holes; k++) {
    holes[k][0] = p->holes[k].x;
    holes[k][1] = p->holes[k].y;
    holes[k][2] = p->holes[k].radius;
  }
  glUniform3fv(glGetUniformLocation(gl->program, "holes"), plate_holes, &holes[0][0]);
  return check("the program's parameters");
}

void heat_gl_destroy(heat_gl *gl) {
  glDeleteTextures(1, &gl->cells);
  glDeleteTextures(1, &gl->colours);
  glDeleteTextures(1, &gl->paper);
  glDeleteVertexArrays(1, &gl->vertex_array);
  glDeleteProgram(gl->program);
  *gl = (heat_gl){0};
}

/* ---- Drawing ---- */

const char *heat_gl_draw(heat_gl *gl, int width, int height) {
  const char *why = make_paper(gl, width, height);
  if (why) return why;
  float unit;
  const rectangle r = plate_rectangle(width, height, &unit);
  const unsigned textures[unit_count] = {gl->solution.texture, gl->cells, gl->colours, gl->paper};
  for (int k = 0; k < unit_count; k++) {
    glActiveTexture(GL_TEXTURE0 + (GLenum)k);
    glBindTexture(GL_TEXTURE_2D, textures[k]);
    glBindSampler((GLuint)k, 0);
  }
  glUseProgram(gl->program);
  glUniform4f(glGetUniformLocation(gl->program, "plate"), r.x, r.y, r.width, r.height);
  glBindVertexArray(gl->vertex_array);
  glViewport(0, 0, width, height);
  glDisable(GL_BLEND);
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_SCISSOR_TEST);
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glBindVertexArray(0);
  return check("drawing the plate");
}

const char *heat_gl_draw_picture(heat_gl *gl, image *picture) {
  const size_t row = 3 * (size_t)picture->width;
  unsigned framebuffer, target = make_texture(GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, picture->width, picture->height, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  glGenFramebuffers(1, &framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
  const char *why = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE
                        ? heat_gl_draw(gl, picture->width, picture->height)
                        : "the driver does not draw into RGBA8 textures";
  unsigned char *turned = malloc(row * (size_t)picture->height);
  if (!why && !turned) why = "out of memory";
  if (!why) {
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glReadPixels(0, 0, picture->width, picture->height, GL_RGB, GL_UNSIGNED_BYTE, turned);
    why = check("reading the picture");
  }
  /* OpenGL's first row is the lowest. */
  for (int y = 0; !why && y < picture->height; y++)
    memcpy(picture->rgb + (size_t)y * row, turned + (size_t)(picture->height - 1 - y) * row, row);
  free(turned);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  glDeleteFramebuffers(1, &framebuffer);
  glDeleteTextures(1, &target);
  return why;
}
