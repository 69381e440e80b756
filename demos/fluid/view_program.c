#include <GL/glew.h>

#include "view_program.h"

#include <stdio.h>

#include "fluid_shaders.h"

const char *view_program_use(unsigned *program, view_gl_source vertex, view_gl_source fragment,
                             const char *defines, int buffers, const char *const *samplers) {
  static const char field_names[] = "#define FIELD_DYE 0\n#define FIELD_SPEED 1\n#define FIELD_PRESSURE 2\n"
                                    "#define FIELD_DIVERGENCE 3\n#define FIELD_VORTICITY 4\n";
  static char before[8192];
  snprintf(before, sizeof before, "#define BUFFERS %d\n%s%s%s", buffers, field_names, defines, samples_glsl);
  return view_gl_program(before, vertex, fragment, samplers, program);
}

void view_program_bind(int unit, const view_texture *t) {
  glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
  glBindTexture(t->is_buffer ? GL_TEXTURE_BUFFER : GL_TEXTURE_2D, t->texture);
  glBindSampler((GLuint)unit, 0);
}

void view_program_origin(unsigned program, const char *name, const view_texture *t) {
  glUniform2i(view_gl_uniform(program, name), t->is_buffer ? t->width : t->x, t->is_buffer ? 0 : t->y);
}

void view_program_velocity(unsigned program, const simulation *s, const view_texture *velocity) {
  const ts_fluid_info *info = &s->info;
  glUniform2i(view_gl_uniform(program, "cells"), info->width, info->height);
  glUniform1i(view_gl_uniform(program, "staggered"), info->layout == TS_FLUID_STAGGERED);
  view_program_origin(program, "velocity_origin", velocity);
}
