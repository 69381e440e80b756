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

/* ---- What stays: where corners are on the mesh ---- */

/* Bit k of a triangle: its edge from corner k on has no other triangle in its chart. */
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

/* ---- What changes: the UV map and its distortion ---- */

static float angle_value(float ratio) {
  return isfinite(ratio) ? ratio - 1 : 1e9f;
}
static float area_value(float area) {
  return area > 0 ? log2f(area) : area < 0 ? flipped_value : 0;
}

/* The value that 95 of 100 triangles do not exceed, rounded up; of the angles, or of the areas' logarithms. */
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

const char *flat_view_update(flat_view *view, const flattening *f, const flat_source *source) {
  view->packed = f->pin_count == 0;
  view->unit = image_length(f);
  const char *why = flat_view_take_image(view, f, source);
  if (!why) why = upload_distortion(view, f);
  return why ? why : upload_pins(view, f);
}

/* ---- Both ---- */

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
  if (view->triangles > INT32_MAX / 24) return "too many triangles to be drawn";
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
