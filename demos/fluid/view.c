#include <GL/glew.h>

#include "view_parts.h"

#include <math.h>
#include <stdlib.h>

struct fluid_view {
  /* Programs, compiled on first use. Index 0: samples in textures; 1: in buffers. */
  unsigned points[2], lines[2];
  unsigned empty_array;
  view_fields fields;
  view_colours colours;
  view_gl_canvas canvas;
  int canvas_width, canvas_height;
};

const char *fluid_view_create(fluid_view **made) {
  fluid_view *view = *made = calloc(1, sizeof *view);
  if (!view) return "out of memory";
  const char *why = view_colours_create(&view->colours);
  if (why) fluid_view_destroy(made);
  return why;
}

void fluid_view_destroy(fluid_view **made) {
  fluid_view *view = *made;
  if (!view) return;
  glUseProgram(0); /* a program that is deleted while in use cannot be used again */
  for (int buffers = 0; buffers < 2; buffers++) {
    glDeleteProgram(view->points[buffers]);
    glDeleteProgram(view->lines[buffers]);
  }
  glDeleteVertexArrays(1, &view->empty_array);
  view_fields_destroy(&view->fields);
  view_colours_destroy(&view->colours);
  view_gl_destroy_canvas(&view->canvas);
  free(view);
  *made = NULL;
}

fluid_look fluid_look_of(const simulation *s) {
  const scene_setup *setup = &s->setup;
  return (fluid_look){.field = setup->field, .particles = 1, .legend = 1};
}

/* ---- Geometry ---- */

fluid_area fluid_view_fit(const simulation *s, fluid_area space) {
  const ts_fluid_info *info = &s->info;
  const double scale = fmin((double)space.width / info->width, (double)space.height / info->height);
  fluid_area area = {.width = (int)(scale * info->width + 0.5), .height = (int)(scale * info->height + 0.5)};
  if (area.width < 1) area.width = 1;
  if (area.height < 1) area.height = 1;
  /* Proportions in cells and in pixels rarely match exactly. Ignore one per cent. */
  if (area.width >= 0.99 * space.width && area.height >= 0.99 * space.height) return space;
  area.x = space.x + (space.width - area.width) / 2;
  area.y = space.y + (space.height - area.height) / 2;
  return area;
}

void fluid_view_metres(const simulation *s, fluid_area area, double x, double y, double *metres_x,
                       double *metres_y) {
  const ts_fluid_info *info = &s->info;
  *metres_x = (x - area.x) / area.width * info->width * info->cell_size;
  *metres_y = (y - area.y) / area.height * info->height * info->cell_size;
}

/* ---- Particles and arrows ---- */

static void blend(void) {
  glEnable(GL_BLEND);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE);
  glBlendEquation(GL_FUNC_ADD);
}

/* White on the dark ground of dye, black on the light ground of other fields. */
static void set_ink(unsigned program, fluid_field field, float alpha) {
  const float shade = field == FLUID_FIELD_DYE ? 0.95F : 0.08F;
  glUniform4f(view_gl_uniform(program, "ink"), shade, shade, shade, alpha);
}

static const char *draw_particles(fluid_view *view, const simulation *s, fluid_field field, fluid_area area) {
  static const char *const samplers[] = {"particles", NULL};
  const ts_fluid_info *info = &s->info;
  view_texture from;
  const char *why = view_fields_get(&view->fields, s, VIEW_PARTICLES, &from);
  if (why || !from.texture) return why;
  unsigned *const points = &view->points[from.is_buffer];
  why = view_program_use(points, VIEW_GL_SHADER(particles, vert), VIEW_GL_SHADER(particles, frag), "",
                         from.is_buffer, samplers);
  if (why) return why;
  const unsigned program = *points;
  view_program_bind(0, &from);
  view_program_origin(program, "particles_origin", &from);
  glUniform1i(view_gl_uniform(program, "columns"), from.width);
  glUniform2f(view_gl_uniform(program, "domain"), (float)(info->cell_size * info->width),
              (float)(info->cell_size * info->height));
  glUniform1f(view_gl_uniform(program, "size"), area.height < 400 ? 1.5F : (float)area.height / 267);
  set_ink(program, field, 0.55F);
  blend();
  glEnable(GL_PROGRAM_POINT_SIZE);
  glViewport(area.x, area.y, area.width, area.height);
  view_gl_draw_vertices(&view->empty_array, GL_POINTS, from.width * from.height);
  glDisable(GL_PROGRAM_POINT_SIZE);
  glDisable(GL_BLEND);
  return view_gl_check("drawing the particles");
}

static double fastest(const simulation *s) {
  const double measured = s->result.largest_speed, expected = s->setup.speed;
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
  const int columns = area.width / pixels + 1, rows = area.height / pixels + 1;
  why = view_program_use(lines, VIEW_GL_SHADER(arrows, vert), VIEW_GL_SHADER(arrows, frag), "", from.is_buffer,
                         samplers);
  if (why) return why;
  const unsigned program = *lines;
  view_program_bind(0, &from);
  view_program_velocity(program, s, &from);
  glUniform2i(view_gl_uniform(program, "arrows"), columns, rows);
  glUniform1f(view_gl_uniform(program, "longest"), (float)fastest(s));
  set_ink(program, field, 0.8F);
  blend();
  glViewport(area.x, area.y, area.width, area.height);
  view_gl_draw_vertices(&view->empty_array, GL_LINES, 6 * columns * rows);
  glDisable(GL_BLEND);
  return view_gl_check("drawing the arrows");
}

/* ---- The whole picture ---- */

static const char *draw_legend(const fluid_view *view, fluid_field field, fluid_area area) {
  static const char *const units[FLUID_FIELDS] = {"", "m/s", "m^/s^", "1/s", "1/s"};
  if (field == FLUID_FIELD_DYE) return NULL;
  const int speed = field == FLUID_FIELD_SPEED;
  const double range = view->colours.range;
  const legend_text text = {fluid_field_name(field), units[field], speed ? 0 : -range, range, speed, 0};
  return legend_draw(view->colours.legend, &text, area.x, area.y, area.width, area.height);
}

const char *fluid_view_draw(fluid_view *view, const simulation *s, const fluid_look *look, fluid_area area) {
  view->fields.way = VIEW_WAY_NONE;
  view_gl_plain_state();
  const char *why = view_colours_draw(&view->colours, &view->fields, s, look, area);
  if (!why && look->particles) why = draw_particles(view, s, look->field, area);
  if (!why && look->arrows) why = draw_arrows(view, s, look->field, area);
  if (!why && look->legend) why = draw_legend(view, look->field, area);
  return why ? why : view_gl_check("drawing the fluid");
}

double fluid_view_range(const fluid_view *view) {
  return view->colours.range;
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
