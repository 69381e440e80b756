#include <GL/glew.h>

#include "view_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include <texsolve/gl.h>

static ts_vector *vector_of(ts_fluid *fluid, view_source source) {
  switch (source) {
  case VIEW_VELOCITY:
    return ts_fluid_get_velocity(fluid);
  case VIEW_PRESSURE:
    return ts_fluid_get_pressure(fluid);
  case VIEW_DIVERGENCE:
    return ts_fluid_get_divergence(fluid);
  case VIEW_DYE:
    return ts_fluid_get_dye(fluid);
  case VIEW_WALLS:
    return ts_fluid_get_walls(fluid);
  default:
    return ts_fluid_get_particles(fluid);
  }
}

static const char *why_not(const ts_context *context, ts_status status) {
  const char *text = ts_last_error(context);
  return *text ? text : ts_status_text(status);
}

static const char *copy(view_fields *fields, const simulation *s, view_source source, ts_vector *vector,
                        view_texture *out) {
  static const GLint internal[] = {0, GL_R32F, GL_RG32F, GL_RGB32F, GL_RGBA32F};
  static const GLenum format[] = {0, GL_RED, GL_RG, GL_RGB, GL_RGBA};
  ts_grid_desc grid;
  ts_status status = ts_grid_get_desc(ts_vector_get_space(vector), &grid);
  if (status != TS_OK) return why_not(s->context, status);
  const int components = ts_vector_get_components(vector);
  const size_t count = (size_t)components * (size_t)grid.width * (size_t)grid.height;
  if (count > fields->host_room) {
    float *more = realloc(fields->host, count * sizeof *more);
    if (!more) return "out of memory";
    fields->host = more;
    fields->host_room = count;
  }
  status = ts_vector_read(vector, ts_host(fields->host, count));
  if (status != TS_OK) return why_not(s->context, status);
  if (!fields->own[source]) fields->own[source] = view_gl_texture(GL_NEAREST);
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, fields->own[source]);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glTexImage2D(GL_TEXTURE_2D, 0, internal[components], grid.width, grid.height, 0, format[components], GL_FLOAT,
               fields->host);
  *out = (view_texture){fields->own[source], 0, 0, grid.width, grid.height, 0};
  fields->way = VIEW_WAY_COPIED;
  return view_gl_check("a copy of a field");
}

static ts_status share(view_fields *fields, ts_vector *vector, view_texture *out) {
  ts_grid_desc grid;
  unsigned texture;
  ts_status status = view_shared_buffer(vector, &texture);
  if (status == TS_OK) status = ts_grid_get_desc(ts_vector_get_space(vector), &grid);
  if (status != TS_OK) return status;
  *out = (view_texture){texture, 0, 0, grid.width, grid.height, 1};
  fields->way = VIEW_WAY_SHARED;
  return TS_OK;
}

const char *view_fields_get(view_fields *fields, const simulation *s, view_source source, view_texture *out) {
  ts_vector *vector = vector_of(s->fluid, source);
  ts_gl_texture texture;
  *out = (view_texture){0};
  if (!vector) return NULL;
  ts_status status = ts_gl_vector_get_texture(vector, &texture);
  if (status == TS_ERROR_UNSUPPORTED) {
    status = share(fields, vector, out);
    if (status == TS_ERROR_UNSUPPORTED) return copy(fields, s, source, vector, out);
    return status == TS_OK ? NULL : why_not(s->context, status);
  }
  if (status != TS_OK) return why_not(s->context, status);
  *out = (view_texture){texture.texture, texture.x, texture.y, texture.width, texture.height, 0};
  fields->way = VIEW_WAY_TEXTURE;
  return NULL;
}

void view_fields_destroy(view_fields *fields) {
  glDeleteTextures(VIEW_SOURCES, fields->own);
  free(fields->host);
  *fields = (view_fields){0};
}

/* ---- Programs ---- */

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
  glUniform1i(view_gl_uniform(program, "staggered"), info->layout == TS_FLUID_LAYOUT_STAGGERED);
  view_program_origin(program, "velocity_origin", velocity);
}
