#include <GL/glew.h>

#include "mesh_view_data.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "mesh_view_shaders.h"
#include "view_gl.h"

static const char no_memory[] = "out of memory";

/* ---- The triangles around every vertex ---- */

/* Returns 1 if the triangles around a vertex do not form closed rings: some vertex is not equally often the end
 * and the beginning of their outer edges u v. `ends` is 0 for all vertices before and after. */
static int is_border(const int32_t *corners, size_t count, int32_t *ends) {
  int open = 0;
  for (size_t k = 0; k < count; k++) {
    ends[corners[2 * k]]++;
    ends[corners[2 * k + 1]]--;
  }
  for (size_t k = 0; k < 2 * count; k++) {
    open |= ends[corners[k]] != 0;
    ends[corners[k]] = 0;
  }
  return open;
}

typedef struct fan {
  int32_t first, count; /* in pairs of corners */
} fan;

/* Returns 1 if the mesh has no border. */
static int fill_fans(const mesh *m, fan *fans, int32_t *corners, int32_t *ends) {
  const size_t vertices = (size_t)m->vertex_count, entries = 3 * (size_t)m->triangle_count;
  const int32_t *t = m->triangles;
  int32_t first = 0;
  int closed = 1;
  for (size_t k = 0; k < entries; k++) fans[t[k]].count++;
  for (size_t v = 0; v < vertices; v++) {
    fans[v].first = first;
    first += fans[v].count;
    fans[v].count = 0;
  }
  for (size_t k = 0; k < entries; k++) {
    fan *at = &fans[t[k]];
    int32_t *corner = corners + 2 * (size_t)(at->first + at->count++);
    const size_t base = k - k % 3;
    corner[0] = t[base + (k + 1) % 3];
    corner[1] = t[base + (k + 2) % 3];
  }
  for (size_t v = 0; v < vertices; v++)
    if (is_border(corners + 2 * (size_t)fans[v].first, (size_t)fans[v].count, ends)) {
      fans[v].count *= -1;
      closed = 0;
    }
  return closed;
}

static const char *build_fans(mesh_view *view, const mesh *m) {
  const size_t vertices = (size_t)m->vertex_count, entries = 3 * (size_t)m->triangle_count;
  fan *fans = calloc(vertices, sizeof *fans);
  int32_t *ends = calloc(vertices, sizeof *ends);
  int32_t *corners = malloc(2 * entries * sizeof *corners);
  const char *why = fans && ends && corners ? NULL : no_memory;
  if (!why) {
    view->closed = fill_fans(m, fans, corners, ends);
    why = view_gl_list(fans, vertices, sizeof *fans, GL_RG32I, GL_RG_INTEGER, GL_INT, &view->fans);
  }
  if (!why)
    why = view_gl_list(corners, entries, 2 * sizeof *corners, GL_RG32I, GL_RG_INTEGER, GL_INT, &view->corners);
  free(fans);
  free(ends);
  free(corners);
  return why;
}

/* ---- Positions of the vertices ---- */

const char *mesh_view_upload_positions(const float *positions, int32_t vertices, unsigned *list) {
  const size_t count = (size_t)vertices;
  if (!*list) return view_gl_list(positions, count, 3 * sizeof *positions, GL_RGBA32F, GL_RGB, GL_FLOAT, list);
  const int whole_rows = (int)(count / VIEW_GL_ROW), rest = (int)(count % VIEW_GL_ROW);
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, *list);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  if (whole_rows) glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, VIEW_GL_ROW, whole_rows, GL_RGB, GL_FLOAT, positions);
  if (rest)
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, whole_rows, rest, 1, GL_RGB, GL_FLOAT,
                    positions + 3 * (size_t)whole_rows * VIEW_GL_ROW);
  return view_gl_check("the positions");
}

const char *mesh_view_place(mesh_view *view, mesh_shape *shape, const int32_t *texels) {
  const size_t count = (size_t)view->vertices;
  uint16_t *both = malloc(2 * count * sizeof *both);
  if (!both) return no_memory;
  for (size_t v = 0; v < count; v++) {
    both[2 * v] = (uint16_t)(texels ? (size_t)texels[2 * v] : v % VIEW_GL_ROW);
    both[2 * v + 1] = (uint16_t)(texels ? (size_t)texels[2 * v + 1] : v / VIEW_GL_ROW);
  }
  glDeleteTextures(1, &shape->texels);
  const char *why =
      view_gl_list(both, count, 2 * sizeof *both, GL_RG16UI, GL_RG_INTEGER, GL_UNSIGNED_SHORT, &shape->texels);
  if (!shape->vertex_array) {
    glGenVertexArrays(1, &shape->vertex_array);
    glGenBuffers(1, &shape->texel_buffer);
  }
  glBindVertexArray(shape->vertex_array);
  glBindBuffer(GL_ARRAY_BUFFER, shape->texel_buffer);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(2 * count * sizeof *both), both, GL_STATIC_DRAW);
  glEnableVertexAttribArray(0);
  glVertexAttribIPointer(0, 2, GL_UNSIGNED_SHORT, 0, NULL);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, view->index_buffer);
  glBindVertexArray(0);
  glBindBuffer(GL_ARRAY_BUFFER, 0);
  free(both);
  shape->stale = 1;
  return why ? why : view_gl_check("the places of the vertices");
}

/* Creates the textures that gather.frag renders to. */
static const char *build_results(mesh_view *view, mesh_shape *shape) {
  const int rows = view_gl_rows((size_t)view->vertices);
  static const GLenum both[] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1};
  GLint draw_before, read_before;
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &draw_before);
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &read_before);
  shape->normals = view_gl_texture(GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, VIEW_GL_ROW, rows, 0, GL_RGBA, GL_FLOAT, NULL);
  shape->values = view_gl_texture(GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RG32F, VIEW_GL_ROW, rows, 0, GL_RG, GL_FLOAT, NULL);
  glGenFramebuffers(1, &shape->framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, shape->framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, shape->normals, 0);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT1, GL_TEXTURE_2D, shape->values, 0);
  glDrawBuffers(2, both);
  const int complete = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)draw_before);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)read_before);
  return complete ? view_gl_check("the normals") : "the driver cannot render to two float textures";
}

/* ---- Points ---- */

static void build_points(mesh_view *view) {
  const size_t offsets[] = {offsetof(mesh_point, place), offsetof(mesh_point, rgb),
                            offsetof(mesh_point, marked)};
  glGenVertexArrays(1, &view->point_array);
  glGenBuffers(1, &view->point_buffer);
  glBindVertexArray(view->point_array);
  glBindBuffer(GL_ARRAY_BUFFER, view->point_buffer);
  for (unsigned k = 0; k < 3; k++) {
    glEnableVertexAttribArray(k);
    glVertexAttribPointer(k, k < 2 ? 3 : 1, GL_FLOAT, GL_FALSE, sizeof(mesh_point),
                          (const char *)0 + offsets[k]);
  }
  glBindVertexArray(0);
}

const char *mesh_view_set_points(mesh_view *view, const mesh_point *points, int count) {
  view->points = 0;
  if (count == 0) return NULL;
  const char *why = view_gl_program("", VIEW_GL_SHADER(points, vert), VIEW_GL_SHADER(points, frag), NULL,
                                    &view->point_program);
  if (why) return why;
  if (!view->point_array) build_points(view);
  view->points = count;
  glBindBuffer(GL_ARRAY_BUFFER, view->point_buffer);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)count * sizeof *points), points, GL_DYNAMIC_DRAW);
  glBindBuffer(GL_ARRAY_BUFFER, 0);
  return NULL;
}

/* ---- Programs ---- */

/* Both sources begin with `defines` and the source of the positions. */
static const char *build_program(const mesh_shape *shape, const char *defines, view_gl_source vertex,
                                 view_gl_source fragment, const char *const *samplers, unsigned *program) {
  char text[2048];
  snprintf(text, sizeof text, "#define BUFFER %d\n%s%s", shape->is_buffer, defines, positions_glsl);
  return view_gl_program(text, vertex, fragment, samplers, program);
}

const char *mesh_view_gather(mesh_view *view, const mesh_shape *shape, unsigned *program) {
  static const char *const samplers[] = {"positions", "texels", "fans", "corners", "before", NULL};
  unsigned *gather = &view->gather[shape->is_buffer];
  const char *why =
      build_program(shape, "", VIEW_GL_SHADER(whole, vert), VIEW_GL_SHADER(gather, frag), samplers, gather);
  *program = *gather;
  return why;
}

void mesh_view_bind_positions(const mesh_shape *shape) {
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(shape->is_buffer ? GL_TEXTURE_BUFFER : GL_TEXTURE_2D, shape->positions);
}

const char *mesh_view_surface(mesh_view *view, const mesh_shape *shape, const mesh_look *look,
                              unsigned *program) {
  static const char *const samplers[] = {"positions", "normals", "values", "texels",
                                         "triangles", "colours", NULL};
  const int flat = look->shading == MESH_SHADING_FLAT, wireframe = look->wireframe != 0;
  unsigned *surface = &view->surface[shape->is_buffer][((int)look->colour * 2 + flat) * 2 + wireframe];
  char defines[100];
  snprintf(defines, sizeof defines, "#define COLOURED_BY %d\n#define FLAT %d\n#define WIREFRAME %d\n",
           (int)look->colour, flat, wireframe);
  const char *why =
      build_program(shape, defines, VIEW_GL_SHADER(mesh, vert), VIEW_GL_SHADER(mesh, frag), samplers, surface);
  *program = *surface;
  return why;
}

/* Six times the enclosed volume. */
static double signed_volume(const mesh *m, const float *positions) {
  double sum = 0;
  for (size_t t = 0; t < (size_t)m->triangle_count; t++) {
    const int32_t *corner = m->triangles + 3 * t;
    const float *a = positions + 3 * (size_t)corner[0], *b = positions + 3 * (size_t)corner[1],
                *c = positions + 3 * (size_t)corner[2];
    sum += (double)a[0] * (b[1] * c[2] - b[2] * c[1]) + (double)a[1] * (b[2] * c[0] - b[0] * c[2]) +
           (double)a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return sum;
}

const char *mesh_view_build(mesh_view *view, const mesh *m, const float *start) {
  const size_t corners = 3 * (size_t)m->triangle_count;
  view->vertices = m->vertex_count;
  view->triangles = m->triangle_count;
  view->values = malloc(2 * sizeof *view->values * VIEW_GL_ROW * (size_t)view_gl_rows((size_t)m->vertex_count));
  if (!view->values) return no_memory;
  glGenVertexArrays(1, &view->empty_array);
  glGenBuffers(1, &view->index_buffer);
  /* binding an index buffer would change the vertex array that is bound */
  glBindVertexArray(view->empty_array);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, view->index_buffer);
  glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)(corners * sizeof *m->triangles), m->triangles,
               GL_STATIC_DRAW);
  glBindVertexArray(0);
  const char *why = view_gl_program("", VIEW_GL_SHADER(whole, vert), VIEW_GL_SHADER(background, frag), NULL,
                                    &view->background);
  if (!why)
    why = view_gl_list(m->triangles, corners, sizeof *m->triangles, GL_R32I, GL_RED_INTEGER, GL_INT,
                       &view->triangle_list);
  if (!why) why = build_fans(view, m);
  view->inside_out = view->closed && signed_volume(m, start) < 0;
  if (!why) why = build_results(view, &view->start);
  if (!why) why = build_results(view, &view->now);
  if (!why) why = mesh_view_upload_positions(start, m->vertex_count, &view->start.positions);
  if (!why) why = mesh_view_place(view, &view->start, NULL);
  if (!why) why = legend_create(&view->legend);
  return why ? why : view_gl_check("the mesh on the device");
}
