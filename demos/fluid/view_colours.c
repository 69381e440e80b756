#include <GL/glew.h>

#include "view_parts.h"

#include <math.h>
#include <stdio.h>

#include "colours.h"

/* ---- Render targets ---- */

static const char *make_target(view_target *t, int filter, int format, int width, int height) {
  if (!t->texture) {
    t->texture = view_gl_texture(filter);
    glGenFramebuffers(1, &t->framebuffer);
  }
  glBindFramebuffer(GL_FRAMEBUFFER, t->framebuffer);
  if (t->width == width && t->height == height) return NULL;
  t->width = width;
  t->height = height;
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, t->texture);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glTexImage2D(GL_TEXTURE_2D, 0, format, width, height, 0, GL_RGBA, GL_FLOAT, NULL);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t->texture, 0);
  return view_gl_check("the samples of a field");
}

static void destroy_target(view_target *t) {
  glDeleteTextures(1, &t->texture);
  glDeleteFramebuffers(1, &t->framebuffer);
}

const char *view_colours_create(view_colours *c) {
  *c = (view_colours){0};
  return legend_create(&c->legend);
}

void view_colours_destroy(view_colours *c) {
  for (int k = 0; k < FLUID_FIELDS; k++)
    for (int buffers = 0; buffers < 2; buffers++) {
      glDeleteProgram(c->samples[buffers][k]);
      glDeleteProgram(c->measure[buffers][k]);
    }
  glDeleteProgram(c->light);
  glDeleteProgram(c->number);
  legend_destroy(&c->legend);
  glDeleteVertexArrays(1, &c->empty_array);
  destroy_target(&c->cells);
  destroy_target(&c->probes);
}

/* ---- Samples ---- */

typedef struct field_sources {
  view_texture data, walls;
} field_sources;

static const char *get_sources(view_fields *fields, const simulation *s, fluid_field field,
                               field_sources *from) {
  static const view_source data[FLUID_FIELDS] = {VIEW_DYE, VIEW_VELOCITY, VIEW_PRESSURE, VIEW_DIVERGENCE,
                                                 VIEW_VELOCITY};
  const char *why = view_fields_get(fields, s, data[field], &from->data);
  return why ? why : view_fields_get(fields, s, VIEW_WALLS, &from->walls);
}

static void draw_whole(view_colours *c, fluid_area area) {
  glViewport(area.x, area.y, area.width, area.height);
  view_gl_draw_vertices(&c->empty_array, GL_TRIANGLES, 3);
}

/* Draws as many samples, in each direction, as the bound framebuffer has pixels. */
static const char *draw_samples(view_colours *c, const simulation *s, fluid_field field,
                                const field_sources *from, int measure, int width, int height) {
  static const char *const samplers[] = {"data", "walls", "velocity", NULL};
  const int buffers = from->data.is_buffer;
  unsigned *const program = measure ? &c->measure[buffers][field] : &c->samples[buffers][field];
  char defines[64];
  snprintf(defines, sizeof defines, "#define FIELD %d\n%s", (int)field, measure ? "#define MEASURE\n" : "");
  const char *why = view_program_use(program, VIEW_GL_SHADER(whole, vert), VIEW_GL_SHADER(samples, frag),
                                     defines, buffers, samplers);
  if (why) return why;
  view_program_bind(0, &from->data);
  view_program_bind(1, &from->walls);
  view_program_bind(2, &from->data);
  view_program_velocity(*program, s, &from->data);
  view_program_origin(*program, "data_origin", &from->data);
  view_program_origin(*program, "walls_origin", &from->walls);
  glUniform1f(view_gl_uniform(*program, "cell_size"), (float)s->info.cell_size);
  glUniform1f(view_gl_uniform(*program, "range"), (float)c->range);
  draw_whole(c, (fluid_area){0, 0, width, height});
  return NULL;
}

/* ---- The range ---- */

/* Finds the 99th percentile of the probes. With the maximum, the infinite vorticity at corners would make
 * everything else pale. */
static const char *measure_field(view_colours *c, const simulation *s, fluid_field field,
                                 const field_sources *from, double *most) {
  const char *why = make_target(&c->probes, GL_NEAREST, GL_R32F, VIEW_PROBES, VIEW_PROBES);
  if (!why) why = draw_samples(c, s, field, from, 1, VIEW_PROBES, VIEW_PROBES);
  if (!why) {
    glReadBuffer(GL_COLOR_ATTACHMENT0);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glReadPixels(0, 0, VIEW_PROBES, VIEW_PROBES, GL_RED, GL_FLOAT, c->probe);
    why = view_gl_check("the range of a field");
  }
  size_t count = 0;
  for (int k = 0; k < VIEW_PROBES * VIEW_PROBES; k++)
    if (c->probe[k] > 0 && isfinite(c->probe[k])) c->probe[count++] = c->probe[k];
  *most = count ? (double)colours_sorted(c->probe, count, (count - 1) * 99 / 100) : 0;
  return why;
}

/* The range grows at once and shrinks slowly, in round numbers, so that videos do not flicker. */
static double follow(view_colours *c, fluid_field field, double most) {
  if (c->ranged != field) c->followed = 0;
  c->ranged = field;
  c->followed = fmax(most, 0.98 * c->followed);
  return c->followed > 1e-30 ? colours_round_up(c->followed) : 1;
}

static const char *choose_range(view_colours *c, const simulation *s, const fluid_look *look,
                                const field_sources *from) {
  double most;
  c->range = look->range > 0 ? look->range : 1;
  if (look->field == FLUID_FIELD_DYE || look->range > 0) return NULL;
  const char *why = measure_field(c, s, look->field, from, &most);
  if (!why) c->range = follow(c, look->field, most);
  return why;
}

/* ---- The picture ---- */

static int least(int a, int b) {
  return a < b ? a : b;
}

static const char *make_samples(view_colours *c, view_fields *fields, const simulation *s,
                                const fluid_look *look, fluid_area area) {
  const ts_fluid_info *info = &s->info;
  const int width = least(info->width, area.width), height = least(info->height, area.height);
  field_sources from;
  const char *why = get_sources(fields, s, look->field, &from);
  if (!why) why = choose_range(c, s, look, &from);
  if (!why) why = make_target(&c->cells, GL_LINEAR, GL_RGBA16F, width, height);
  return why ? why : draw_samples(c, s, look->field, &from, 0, width, height);
}

const char *view_colours_draw(view_colours *c, view_fields *fields, const simulation *s, const fluid_look *look,
                              fluid_area area) {
  static const char *const samplers[] = {"field", "table", NULL};
  const int light = look->field == FLUID_FIELD_DYE;
  unsigned *const program = light ? &c->light : &c->number;
  GLint draw, read;
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &draw);
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &read);
  const char *why = make_samples(c, fields, s, look, area);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)draw);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)read);
  if (!why)
    why = view_program_use(program, VIEW_GL_SHADER(whole, vert), VIEW_GL_SHADER(field, frag),
                           light ? "#define LIGHT\n" : "", 0, samplers);
  if (why) return why;
  view_gl_bind((const unsigned[]){c->cells.texture, legend_colours(c->legend)}, 2);
  glUniform1f(view_gl_uniform(*program, "row"), look->field == FLUID_FIELD_SPEED ? 0.75F : 0.25F);
  draw_whole(c, area);
  return NULL;
}
