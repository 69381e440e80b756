#include <GL/glew.h>

#include "flat_view_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "colours.h"
#include "flat_view_shaders.h"
#include "mesh_generate.h"
#include "view_gl.h"

static const char no_memory[] = "out of memory";
static const float flipped_value = -1e9f;

/* ---- Constant data: corners on the mesh ---- */

/* Bit k of a triangle is set if its edge from corner k is on the boundary of its chart. */
static const char *find_seams(const flattening *f, unsigned char *seams) {
  char message[MESH_MESSAGE];
  const mesh flat = {
      .vertex_count = f->c.vertices, .triangle_count = f->m.triangle_count, .triangles = f->c.corner};
  mesh_edges edges;
  if (mesh_edges_find(&flat, &edges, message)) return no_memory;
  for (int32_t e = 0; e < edges.count; e++) {
    const int32_t h = edges.halfedges[edges.first[e]];
    if (edges.first[e + 1] - edges.first[e] == 1) seams[h / 3] |= (unsigned char)(1 << h % 3);
  }
  mesh_edges_free(&edges);
  return NULL;
}

static void fill_places(const flattening *f, const float *unit, const double *normals,
                        const unsigned char *seams, float *place) {
  for (size_t h = 0; h < 3 * (size_t)f->m.triangle_count; h++, place += 7) {
    const size_t triangle = h / 3, vertex = 3 * (size_t)f->m.triangles[h];
    for (size_t k = 0; k < 3; k++) {
      place[k] = unit[vertex + k];
      place[3 + k] = (float)normals[vertex + k];
    }
    place[6] = seams[triangle];
  }
}

static const char *upload_places(flat_view *view, const flattening *f) {
  const size_t triangles = (size_t)f->m.triangle_count, vertices = (size_t)f->m.vertex_count;
  float *unit = malloc(3 * vertices * sizeof *unit), *place = malloc(21 * triangles * sizeof *place);
  double *normals = malloc(3 * vertices * sizeof *normals);
  unsigned char *seams = calloc(triangles, 1);
  const char *why = unit && place && normals && seams ? NULL : no_memory;
  if (!why) why = find_seams(f, seams);
  if (!why) {
    mesh_to_unit(&f->m, &f->measures, unit);
    mesh_normals(&f->m, normals);
    fill_places(f, unit, normals, seams, place);
    glBindBuffer(GL_ARRAY_BUFFER, view->places);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(21 * triangles * sizeof *place), place, GL_STATIC_DRAW);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    why = view_gl_check("the mesh");
  }
  free(unit);
  free(place);
  free(normals);
  free(seams);
  return why;
}

/* ---- Variable data: the UV map and its distortion ---- */

static float angle_value(float ratio) {
  return isfinite(ratio) ? ratio - 1 : 1e9f;
}
static float area_value(float area) {
  return area > 0 ? log2f(area) : area < 0 ? flipped_value : 0;
}

/* The 95th percentile of the angles or of the areas' logarithms, rounded up. */
static double choose_range(const distortion *d, int32_t triangles, int area, float *room) {
  size_t count = 0;
  for (int32_t t = 0; t < triangles; t++) {
    const float value = area ? fabsf(area_value(d->area[t])) : angle_value(d->angle[t]);
    if (value < 1e8f) room[count++] = value;
  }
  if (!count) return 1;
  const double range = colours_sorted(room, count, (count - 1) - (count - 1) / 20);
  return range > 1e-6 ? colours_round_up(range) : 1e-6;
}

static double image_length(const flattening *f) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  if (!f->pin_count) return 1;
  for (int32_t v = 0; v < f->c.vertices; v++)
    for (int k = 0; k < 2; k++) {
      low[k] = fmin(low[k], f->uv[2 * (size_t)v + (size_t)k]);
      high[k] = fmax(high[k], f->uv[2 * (size_t)v + (size_t)k]);
    }
  const double length = fmax(high[0] - low[0], high[1] - low[1]);
  return length > 0 ? length : 1;
}

static float is_given(const flattening *f, int32_t flat) {
  for (int32_t i = 0; i < f->pin_count; i++)
    if (f->pins[i] == flat) return 1;
  return 0;
}

static const char *upload_pins(flat_view *view, const flattening *f) {
  view->pins = 0;
  for (int32_t v = 0; v < f->c.vertices; v++) view->pins += f->pinned[v];
  float *pin = malloc(((size_t)view->pins + 1) * 6 * sizeof *pin), *at = pin;
  if (!pin) return no_memory;
  for (int32_t v = 0; v < f->c.vertices; v++) {
    if (!f->pinned[v]) continue;
    for (int k = 0; k < 3; k++)
      *at++ = (float)((f->m.positions[3 * (size_t)f->c.vertex[v] + (size_t)k] -
                       0.5 * (f->measures.low[k] + f->measures.high[k])) /
                      f->measures.diagonal);
    for (int k = 0; k < 2; k++) *at++ = (float)f->uv[2 * (size_t)v + (size_t)k];
    *at++ = is_given(f, v);
  }
  glBindBuffer(GL_ARRAY_BUFFER, view->pin_buffer);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)view->pins * 6 * sizeof *pin), pin, GL_DYNAMIC_DRAW);
  glBindBuffer(GL_ARRAY_BUFFER, 0);
  free(pin);
  return view_gl_check("the pins");
}

static const char *upload_distortion(flat_view *view, const flattening *f) {
  const size_t triangles = (size_t)f->m.triangle_count;
  float *values = malloc((2 * triangles + 1) * sizeof *values);
  if (!values) return no_memory;
  for (int k = 0; k < 2; k++) view->ranges[k] = choose_range(&f->d, f->m.triangle_count, k, values);
  for (size_t t = 0; t < triangles; t++) {
    values[2 * t] = angle_value(f->d.angle[t]);
    values[2 * t + 1] = area_value(f->d.area[t]);
  }
  glDeleteTextures(1, &view->distortion);
  const char *why =
      view_gl_list(values, triangles, 2 * sizeof *values, GL_RG32F, GL_RG, GL_FLOAT, &view->distortion);
  free(values);
  return why;
}

/* ---- u and v of flat vertices: a texture, uploaded from the host or drawn from the solver's vector ---- */

static const char *upload_image(flat_view *view, const flattening *f) {
  const size_t numbers = 2 * (size_t)f->c.vertices;
  float *image = malloc((numbers + 1) * sizeof *image);
  if (!image) return no_memory;
  for (size_t i = 0; i < numbers; i++) image[i] = (float)f->uv[i];
  glDeleteTextures(1, &view->image);
  const char *why =
      view_gl_list(image, (size_t)f->c.vertices, 2 * sizeof *image, GL_RG32F, GL_RG, GL_FLOAT, &view->image);
  free(image);
  return why;
}

/* ---- From the device ---- */

/* Uploads the transforms from the solver's coordinates to those of the UV map. */
static const char *upload_charts(const flattening *f, const similarity *frame, unsigned *list) {
  float *charts = malloc((4 * (size_t)f->c.count + 1) * sizeof *charts);
  if (!charts) return no_memory;
  for (int32_t k = 0; k < f->c.count; k++) {
    const similarity placement = flattening_placement(f, k), s = similarity_then(&frame[k], &placement);
    const double numbers[] = {s.a, s.b, s.move[0], s.move[1]};
    for (size_t i = 0; i < 4; i++) charts[4 * (size_t)k + i] = (float)numbers[i];
  }
  const char *why =
      view_gl_list(charts, (size_t)f->c.count, 4 * sizeof *charts, GL_RGBA32F, GL_RGBA, GL_FLOAT, list);
  free(charts);
  return why;
}

static const char *draw_image(flat_view *view, const flattening *f, const flat_source *source, int buffer,
                              unsigned places) {
  static const char *const samplers[] = {"places", "where", "charts", NULL};
  GLint draw_before, read_before;
  unsigned where = 0, charts = 0, *const program = &view->place_program[buffer];
  const char *why =
      view_gl_program(buffer ? "#define BUFFER 1\n" : "#define BUFFER 0\n", VIEW_GL_SHADER(whole, vert),
                      VIEW_GL_SHADER(place, frag), samplers, program);
  if (!why) why = upload_charts(f, source->solved.frame, &charts);
  if (!why)
    why = view_gl_list(source->where, (size_t)f->c.vertices, 4 * sizeof *source->where, GL_RGBA32UI,
                       GL_RGBA_INTEGER, GL_UNSIGNED_INT, &where);
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &draw_before);
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &read_before);
  if (!why) {
    const int rows = view_gl_rows((size_t)f->c.vertices);
    if (!view->framebuffer) glGenFramebuffers(1, &view->framebuffer);
    glDeleteTextures(1, &view->image);
    view->image = view_gl_texture(GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RG32F, VIEW_GL_ROW, rows, 0, GL_RG, GL_FLOAT, NULL);
    glBindFramebuffer(GL_FRAMEBUFFER, view->framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, view->image, 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
      why = "the driver does not draw into float textures";
    const unsigned textures[] = {0, where, charts};
    view_gl_plain_state();
    view_gl_bind(textures, 3);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(buffer ? GL_TEXTURE_BUFFER : GL_TEXTURE_2D, places);
    glUniform2i(view_gl_uniform(*program, "origin"), source->texture.x, source->texture.y);
    glUniform1i(view_gl_uniform(*program, "vertices"), f->c.vertices);
    glViewport(0, 0, VIEW_GL_ROW, rows);
    view_gl_draw_vertices(&view->empty_array, GL_TRIANGLES, 3);
    glBindTexture(buffer ? GL_TEXTURE_BUFFER : GL_TEXTURE_2D, 0);
  }
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)draw_before);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)read_before);
  glDeleteTextures(1, &where);
  glDeleteTextures(1, &charts);
  return why ? why : view_gl_check("u and v on the device");
}

static const char *load_image(flat_view *view, const flattening *f, const flat_source *source) {
  unsigned shared;
  if (source && source->where && source->texture.texture) {
    view->way = VIEW_WAY_TEXTURE;
    return draw_image(view, f, source, 0, source->texture.texture);
  }
  if (source && source->where && view_shared_buffer(source->solved.places, &shared) == TS_OK) {
    view->way = VIEW_WAY_SHARED;
    const char *why = draw_image(view, f, source, 1, shared);
    view_shared_release(source->context);
    return why;
  }
  view->way = VIEW_WAY_COPIED;
  return upload_image(view, f);
}

const char *flat_view_update(flat_view *view, const flattening *f, const flat_source *source) {
  view->packed = f->pin_count == 0;
  view->unit = image_length(f);
  const char *why = load_image(view, f, source);
  if (!why) why = upload_distortion(view, f);
  return why ? why : upload_pins(view, f);
}

/* ---- The whole view ---- */

static void attribute(unsigned index, unsigned buffer, int size, int stride, size_t offset) {
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  glEnableVertexAttribArray(index);
  glVertexAttribPointer(index, size, GL_FLOAT, GL_FALSE, (GLsizei)(stride * (int)sizeof(float)),
                        (const void *)(offset * sizeof(float)));
}

static const char *build_pins(flat_view *view) {
  glBindVertexArray(view->pin_array);
  attribute(0, view->pin_buffer, 3, 6, 0);
  attribute(1, view->pin_buffer, 2, 6, 3);
  attribute(2, view->pin_buffer, 1, 6, 5);
  glBindVertexArray(0);
  glBindBuffer(GL_ARRAY_BUFFER, 0);
  return view_gl_program("", VIEW_GL_SHADER(pins, vert), VIEW_GL_SHADER(pins, frag), NULL, &view->pin_program);
}

const char *flat_view_build(flat_view *view, const flattening *f) {
  view->triangles = f->m.triangle_count;
  if (view->triangles > INT32_MAX / 24) return "too many triangles to draw";
  glGenBuffers(1, &view->places);
  glGenBuffers(1, &view->flat);
  glGenBuffers(1, &view->pin_buffer);
  glGenVertexArrays(1, &view->vertex_array);
  glGenVertexArrays(1, &view->pin_array);
  glBindVertexArray(view->vertex_array);
  attribute(0, view->places, 3, 7, 0);
  attribute(1, view->places, 3, 7, 3);
  attribute(2, view->places, 1, 7, 6);
  glBindBuffer(GL_ARRAY_BUFFER, view->flat);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(3 * (size_t)f->m.triangle_count * sizeof *f->c.corner),
               f->c.corner, GL_STATIC_DRAW);
  glEnableVertexAttribArray(3);
  glVertexAttribIPointer(3, 1, GL_INT, 0, NULL);
  glBindVertexArray(0);
  glBindBuffer(GL_ARRAY_BUFFER, 0);
  const char *why = upload_places(view, f);
  if (!why) why = flat_view_update(view, f, NULL);
  if (!why) why = build_pins(view);
  return why ? why : legend_create(&view->legend);
}

const char *flat_view_surface(flat_view *view, int image, const flat_look *look, unsigned *program) {
  static const char *const samplers[] = {"colours", "images", "distortion", NULL};
  unsigned *surface = &view->surface[image][look->colour][look->wireframe != 0];
  char defines[100];
  snprintf(defines, sizeof defines, "#define IMAGE %d\n#define COLOURED_BY %d\n#define WIREFRAME %d\n", image,
           (int)look->colour, look->wireframe != 0);
  const char *why =
      view_gl_program(defines, VIEW_GL_SHADER(flat, vert), VIEW_GL_SHADER(flat, frag), samplers, surface);
  *program = *surface;
  return why;
}
