#include <GL/glew.h>

#include "view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "colours.h"
#include "fluid_shaders.h"
#include "legend.h"
#include "view_fields.h"
#include "view_gl.h"

enum { probes = 96 }; /* of a field, in each direction, from which its range is taken */

struct fluid_view {
  unsigned empty_array, colours;
  /* Programs, made when they are needed: for samples in textures, and in buffers. */
  unsigned field[2][FLUID_FIELDS], measure[2][FLUID_FIELDS], points[2], lines[2];
  legend *legend;
  view_fields fields;
  unsigned probe_framebuffer, probe_texture;
  float probe[probes * probes];
  fluid_field ranged;
  double range, followed; /* of the last drawing; what it follows */
  view_gl_canvas canvas;
  int canvas_width, canvas_height;
};

const char *fluid_view_load(void) {
  return view_gl_load();
}

const char *fluid_view_create(fluid_view **made) {
  unsigned char table[2][256][3];
  fluid_view *view = *made = calloc(1, sizeof *view);
  if (!view) return "out of memory";
  glGenVertexArrays(1, &view->empty_array);
  colours_table(table);
  view->colours = view_gl_texture(GL_LINEAR);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 256, 2, 0, GL_RGB, GL_UNSIGNED_BYTE, table);
  const char *why = legend_create(view->colours, &view->legend);
  if (!why) why = view_gl_check("the view's textures");
  if (why) fluid_view_destroy(made);
  return why;
}

void fluid_view_destroy(fluid_view **made) {
  fluid_view *view = *made;
  if (!view) return;
  const unsigned textures[] = {view->colours, view->probe_texture};
  for (int buffers = 0; buffers < 2; buffers++) {
    for (int k = 0; k < FLUID_FIELDS; k++) {
      glDeleteProgram(view->field[buffers][k]);
      glDeleteProgram(view->measure[buffers][k]);
    }
    glDeleteProgram(view->points[buffers]);
    glDeleteProgram(view->lines[buffers]);
  }
  glDeleteTextures(2, textures);
  glDeleteFramebuffers(1, &view->probe_framebuffer);
  glDeleteVertexArrays(1, &view->empty_array);
  legend_destroy(&view->legend);
  view_fields_destroy(&view->fields);
  view_gl_destroy_canvas(&view->canvas);
  free(view);
  *made = NULL;
}

fluid_look fluid_look_of(const simulation *s) {
  const scene_setup *setup = simulation_setup(s);
  return (fluid_look){.field = setup->field, .particles = 1, .legend = 1};
}

/* ---- Places ---- */

fluid_area fluid_view_fit(const simulation *s, fluid_area space) {
  const ts_fluid_info *info = simulation_info(s);
  const double scale = fmin((double)space.width / info->width, (double)space.height / info->height);
  fluid_area area = {.width = (int)(scale * info->width + 0.5), .height = (int)(scale * info->height + 0.5)};
  if (area.width < 1) area.width = 1;
  if (area.height < 1) area.height = 1;
  area.x = space.x + (space.width - area.width) / 2;
  area.y = space.y + (space.height - area.height) / 2;
  return area;
}

void fluid_view_metres(const simulation *s, fluid_area area, double x, double y, double *metres_x,
                       double *metres_y) {
  const ts_fluid_info *info = simulation_info(s);
  *metres_x = (x - area.x) / area.width * info->width * info->cell_size;
  *metres_y = (y - area.y) / area.height * info->height * info->cell_size;
}

/* ---- Programs ---- */

/* The source that reads samples begins with how they lie. */
static const char *build(unsigned *program, const char *more_defines, int buffers, int sampled_vertices,
                         view_gl_source vertex, view_gl_source fragment) {
  static char vertex_text[8192], fragment_text[8192];
  char defines[96];
  if (*program) return NULL;
  snprintf(defines, sizeof defines, "#define BUFFERS %d\n%s", buffers, more_defines);
  const char *const field_names = "#define FIELD_DYE 0\n#define FIELD_SPEED 1\n#define FIELD_PRESSURE 2\n"
                                  "#define FIELD_DIVERGENCE 3\n#define FIELD_VORTICITY 4\n";
  if (sampled_vertices) {
    snprintf(vertex_text, sizeof vertex_text, "%s#line 1\n%s", samples_glsl, vertex.text);
    vertex.text = vertex_text;
  } else {
    snprintf(fragment_text, sizeof fragment_text, "%s%s#line 1\n%s", field_names, samples_glsl, fragment.text);
    fragment.text = fragment_text;
  }
  return view_gl_program(defines, vertex, fragment, program);
}

static const char *use_field(unsigned *program, fluid_field field, int buffers, int measure) {
  static const char *const samplers[] = {"data", "walls", "colours", "velocity", NULL};
  char defines[64];
  snprintf(defines, sizeof defines, "#define FIELD %d\n%s", (int)field, measure ? "#define MEASURE\n" : "");
  const int made = *program != 0;
  const char *why = build(program, defines, buffers, 0, (view_gl_source){"whole.vert", whole_vert},
                          (view_gl_source){"field.frag", field_frag});
  if (why) return why;
  if (!made) view_gl_samplers(*program, samplers);
  glUseProgram(*program);
  return NULL;
}

/* See samples.glsl. */
static void set_origin(unsigned program, const char *name, const view_texture *t) {
  glUniform2i(view_gl_uniform(program, name), t->is_buffer ? t->width : t->x, t->is_buffer ? 0 : t->y);
}

static void bind(int unit, const view_texture *t) {
  glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
  glBindTexture(t->is_buffer ? GL_TEXTURE_BUFFER : GL_TEXTURE_2D, t->texture);
  glBindSampler((GLuint)unit, 0);
}

/* ---- Fields ---- */

typedef struct field_sources {
  view_texture data, walls, velocity;
} field_sources;

static const char *get_sources(fluid_view *view, const simulation *s, fluid_field field, field_sources *from) {
  static const view_source data[FLUID_FIELDS] = {VIEW_DYE, VIEW_VELOCITY, VIEW_PRESSURE, VIEW_DIVERGENCE,
                                                 VIEW_VELOCITY};
  const char *why = view_fields_get(&view->fields, s, data[field], &from->data);
  if (!why) why = view_fields_get(&view->fields, s, VIEW_WALLS, &from->walls);
  from->velocity = from->data;
  return why;
}

static void set_samples(unsigned program, const simulation *s, const view_texture *velocity) {
  const ts_fluid_info *info = simulation_info(s);
  glUniform2i(view_gl_uniform(program, "cells"), info->width, info->height);
  glUniform1i(view_gl_uniform(program, "staggered"), info->layout == TS_FLUID_STAGGERED);
  set_origin(program, "velocity_origin", velocity);
}

static void draw_whole(const fluid_view *view) {
  glBindVertexArray(view->empty_array);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glBindVertexArray(0);
}

static void run_field(const fluid_view *view, unsigned program, const simulation *s,
                      const field_sources *from) {
  const view_texture colours = {.texture = view->colours};
  bind(0, &from->data);
  bind(1, &from->walls);
  bind(2, &colours);
  bind(3, &from->velocity);
  set_samples(program, s, &from->velocity);
  set_origin(program, "data_origin", &from->data);
  set_origin(program, "walls_origin", &from->walls);
  glUniform1f(view_gl_uniform(program, "cell_size"), (float)simulation_info(s)->cell_size);
  glUniform1f(view_gl_uniform(program, "range"), (float)view->range);
  draw_whole(view);
}

static int by_size(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static const char *make_probe(fluid_view *view) {
  if (view->probe_framebuffer) return NULL;
  view->probe_texture = view_gl_texture(GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, probes, probes, 0, GL_RED, GL_FLOAT, NULL);
  glGenFramebuffers(1, &view->probe_framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, view->probe_framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, view->probe_texture, 0);
  return view_gl_check("the range of a field");
}

/* What 99 of 100 probes do not exceed; corners with infinite vorticity would leave the rest pale. */
static const char *measure_field(fluid_view *view, const simulation *s, fluid_field field,
                                 const field_sources *from, double *most) {
  GLint draw, read;
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &draw);
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &read);
  const char *why = make_probe(view);
  const int buffers = from->data.is_buffer;
  unsigned *const program = &view->measure[buffers][field];
  if (!why) why = use_field(program, field, buffers, 1);
  if (!why) {
    glBindFramebuffer(GL_FRAMEBUFFER, view->probe_framebuffer);
    glViewport(0, 0, probes, probes);
    run_field(view, *program, s, from);
    glReadBuffer(GL_COLOR_ATTACHMENT0);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glReadPixels(0, 0, probes, probes, GL_RED, GL_FLOAT, view->probe);
    why = view_gl_check("the range of a field");
  }
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)draw);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)read);
  int count = 0;
  for (int k = 0; k < probes * probes; k++)
    if (view->probe[k] > 0 && isfinite(view->probe[k])) view->probe[count++] = view->probe[k];
  qsort(view->probe, (size_t)count, sizeof *view->probe, by_size);
  *most = count ? (double)view->probe[(count - 1) * 99 / 100] : 0;
  return why;
}

/* Grows at once and shrinks slowly, in round numbers, so that a film does not flicker. */
static double follow(fluid_view *view, fluid_field field, double most) {
  if (view->ranged != field) view->followed = 0;
  view->ranged = field;
  view->followed = fmax(most, 0.98 * view->followed);
  return view->followed > 1e-30 ? colours_round_up(view->followed) : 1;
}

static const char *draw_field(fluid_view *view, const simulation *s, const fluid_look *look, fluid_area area) {
  field_sources from;
  double most = 0;
  const char *why = get_sources(view, s, look->field, &from);
  view->range = look->range > 0 ? look->range : 1;
  if (!why && look->field != FLUID_FIELD_DYE && !(look->range > 0)) {
    why = measure_field(view, s, look->field, &from, &most);
    view->range = follow(view, look->field, most);
  }
  if (why) return why;
  const int buffers = from.data.is_buffer;
  unsigned *const program = &view->field[buffers][look->field];
  why = use_field(program, look->field, buffers, 0);
  if (why) return why;
  glViewport(area.x, area.y, area.width, area.height);
  run_field(view, *program, s, &from);
  return NULL;
}

/* ---- Particles and arrows ---- */

static void blend(void) {
  glEnable(GL_BLEND);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE);
  glBlendEquation(GL_FUNC_ADD);
}

/* Light on the dark ground of dye, dark on the light one of numbers. */
static void set_ink(unsigned program, fluid_field field, float alpha) {
  const float shade = field == FLUID_FIELD_DYE ? 0.95F : 0.08F;
  glUniform4f(view_gl_uniform(program, "ink"), shade, shade, shade, alpha);
}

static const char *draw_particles(fluid_view *view, const simulation *s, fluid_field field, fluid_area area) {
  static const char *const samplers[] = {"particles", NULL};
  const ts_fluid_info *info = simulation_info(s);
  view_texture from;
  const char *why = view_fields_get(&view->fields, s, VIEW_PARTICLES, &from);
  if (why || !from.texture) return why;
  unsigned *const points = &view->points[from.is_buffer];
  const int made = *points != 0;
  why = build(points, "", from.is_buffer, 1, (view_gl_source){"particles.vert", particles_vert},
              (view_gl_source){"particles.frag", particles_frag});
  if (why) return why;
  const unsigned program = *points;
  if (!made) view_gl_samplers(program, samplers);
  glUseProgram(program);
  bind(0, &from);
  set_origin(program, "particles_origin", &from);
  glUniform1i(view_gl_uniform(program, "columns"), from.width);
  glUniform2f(view_gl_uniform(program, "domain"), (float)(info->cell_size * info->width),
              (float)(info->cell_size * info->height));
  glUniform1f(view_gl_uniform(program, "size"), area.height < 400 ? 1.5F : (float)area.height / 267);
  set_ink(program, field, 0.55F);
  blend();
  glEnable(GL_PROGRAM_POINT_SIZE);
  glViewport(area.x, area.y, area.width, area.height);
  glBindVertexArray(view->empty_array);
  glDrawArrays(GL_POINTS, 0, from.width * from.height);
  glBindVertexArray(0);
  glDisable(GL_PROGRAM_POINT_SIZE);
  glDisable(GL_BLEND);
  return view_gl_check("drawing the particles");
}

static double fastest(const simulation *s) {
  const double measured = simulation_result(s)->largest_speed, expected = simulation_setup(s)->speed;
  if (expected > 0) return 1.5 * expected;
  return isfinite(measured) && measured > 0 ? measured : 1;
}

static const char *draw_arrows(fluid_view *view, const simulation *s, fluid_field field, fluid_area area) {
  static const char *const samplers[] = {"velocity", NULL};
  enum { pixels = 22 };
  view_texture from;
  const char *why = view_fields_get(&view->fields, s, VIEW_VELOCITY, &from);
  if (why) return why;
  unsigned *const lines = &view->lines[from.is_buffer];
  const int made = *lines != 0, columns = area.width / pixels + 1, rows = area.height / pixels + 1;
  why = build(lines, "", from.is_buffer, 1, (view_gl_source){"arrows.vert", arrows_vert},
              (view_gl_source){"arrows.frag", arrows_frag});
  if (why) return why;
  const unsigned program = *lines;
  if (!made) view_gl_samplers(program, samplers);
  glUseProgram(program);
  bind(0, &from);
  set_samples(program, s, &from);
  glUniform2i(view_gl_uniform(program, "arrows"), columns, rows);
  glUniform1f(view_gl_uniform(program, "longest"), (float)fastest(s));
  set_ink(program, field, 0.8F);
  blend();
  glViewport(area.x, area.y, area.width, area.height);
  glBindVertexArray(view->empty_array);
  glDrawArrays(GL_LINES, 0, 6 * columns * rows);
  glBindVertexArray(0);
  glDisable(GL_BLEND);
  return view_gl_check("drawing the arrows");
}

/* ---- The whole ---- */

static const char *draw_legend(const fluid_view *view, fluid_field field, fluid_area area) {
  static const char *const units[FLUID_FIELDS] = {"", "m/s", "m^/s^", "1/s", "1/s"};
  if (field == FLUID_FIELD_DYE) return NULL;
  const int speed = field == FLUID_FIELD_SPEED;
  const legend_text text = {
      fluid_field_name(field), units[field], speed ? 0 : -view->range, view->range, speed, 0};
  return legend_draw(view->legend, &text, area.x, area.y, area.width, area.height);
}

const char *fluid_view_draw(fluid_view *view, const simulation *s, const fluid_look *look, fluid_area area) {
  view->fields.way = VIEW_WAY_NONE;
  view_gl_plain_state();
  const char *why = draw_field(view, s, look, area);
  if (!why && look->particles) why = draw_particles(view, s, look->field, area);
  if (!why && look->arrows) why = draw_arrows(view, s, look->field, area);
  if (!why && look->legend) why = draw_legend(view, look->field, area);
  return why ? why : view_gl_check("drawing the fluid");
}

double fluid_view_range(const fluid_view *view) {
  return view->range;
}

view_way fluid_view_way(const fluid_view *view) {
  return view->fields.way;
}

static const char *use_canvas(fluid_view *view, int width, int height) {
  GLint largest;
  if (view->canvas.framebuffer && view->canvas_width == width && view->canvas_height == height) {
    glBindFramebuffer(GL_FRAMEBUFFER, view->canvas.framebuffer);
    return NULL;
  }
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  if (width > largest || height > largest) return "the picture is larger than the driver can draw";
  view_gl_destroy_canvas(&view->canvas);
  view->canvas_width = width;
  view->canvas_height = height;
  return view_gl_make_canvas(&view->canvas, 0, width, height);
}

const char *fluid_view_picture(fluid_view *view, const simulation *s, const fluid_look *look, int width,
                               int height, unsigned char *rgb) {
  GLint draw, read;
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &draw);
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &read);
  view_gl_plain_state();
  const char *why = use_canvas(view, width, height);
  if (!why) {
    glClearColor(0.2F, 0.21F, 0.23F, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    why = fluid_view_draw(view, s, look, fluid_view_fit(s, (fluid_area){0, 0, width, height}));
  }
  if (!why) why = view_gl_read_picture(&view->canvas, width, height, rgb);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)draw);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)read);
  return why;
}
