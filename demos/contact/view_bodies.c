/* The shapes of bodies, and the list of their positions. */
#include <GL/glew.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "colours.h"
#include "view_gl.h"
#include "view_parts.h"

/* ---- Instances ---- */

static void set_attribute(unsigned index, int components, int floats, int first, unsigned every) {
  glEnableVertexAttribArray(index);
  glVertexAttribPointer(index, components, GL_FLOAT, GL_FALSE, floats * (int)sizeof(float),
                        (const void *)((uintptr_t)first * sizeof(float)));
  glVertexAttribDivisor(index, every);
}

void view_build_crowd(view_crowd *crowd, const float *vertices, int vertex_floats, int vertex_count,
                      const unsigned short *indices, int index_count, int floats) {
  const size_t bytes = (size_t)(vertex_floats * vertex_count) * sizeof *vertices;
  glGenVertexArrays(1, &crowd->vertex_array);
  glGenBuffers(1, &crowd->shape);
  glGenBuffers(1, &crowd->indices);
  glGenBuffers(1, &crowd->instances);
  glBindVertexArray(crowd->vertex_array);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, crowd->indices);
  glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)((size_t)index_count * sizeof *indices), indices,
               GL_STATIC_DRAW);
  glBindBuffer(GL_ARRAY_BUFFER, crowd->shape);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)bytes, vertices, GL_STATIC_DRAW);
  set_attribute(0, vertex_floats, vertex_floats, 0, 0);
  glBindBuffer(GL_ARRAY_BUFFER, crowd->instances);
  for (int k = 0; 4 * k < floats; k++) set_attribute((unsigned)k + 1, 4, floats, 4 * k, 1);
  glBindBuffer(GL_ARRAY_BUFFER, 0);
  glBindVertexArray(0);
  crowd->index_count = index_count;
}

const char *view_fill_crowd(view_crowd *crowd, const float *instances, int count, int floats) {
  crowd->count = count;
  glBindBuffer(GL_ARRAY_BUFFER, crowd->instances);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)(count * floats) * sizeof *instances), instances,
               GL_STREAM_DRAW);
  glBindBuffer(GL_ARRAY_BUFFER, 0);
  return view_gl_check("a list of bodies or arrows");
}

void view_draw_crowd(const view_crowd *crowd) {
  if (!crowd->count) return;
  glBindVertexArray(crowd->vertex_array);
  glDrawElementsInstanced(GL_TRIANGLES, crowd->index_count, GL_UNSIGNED_SHORT, NULL, crowd->count);
  glBindVertexArray(0);
}

void view_destroy_crowd(view_crowd *crowd) {
  const unsigned buffers[] = {crowd->shape, crowd->indices, crowd->instances};
  glDeleteBuffers(3, buffers);
  glDeleteVertexArrays(1, &crowd->vertex_array);
  *crowd = (view_crowd){0};
}

/* ---- Shapes ---- */

enum { block_vertices = 24, block_indices = 3 * 44, rings = 14, segments = 24 };
enum { ball_vertices = (rings + 1) * (segments + 1), ball_indices = 6 * rings * segments };

/* Adds a triangle of a convex shape around the origin, with its front face outside. */
static void add_triangle(const float (*points)[4], unsigned a, unsigned b, unsigned c,
                         unsigned short **indices) {
  const float *p = points[a], *q = points[b], *r = points[c];
  float side = 0;
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    side += (p[k] + q[k] + r[k]) * ((q[i] - p[i]) * (r[j] - p[j]) - (q[j] - p[j]) * (r[i] - p[i]));
  }
  *(*indices)++ = (unsigned short)a;
  *(*indices)++ = (unsigned short)(side < 0 ? c : b);
  *(*indices)++ = (unsigned short)(side < 0 ? b : c);
}

static void add_quad(const float (*points)[4], unsigned a, unsigned b, unsigned c, unsigned d,
                     unsigned short **indices) {
  add_triangle(points, a, b, c, indices);
  add_triangle(points, a, c, d, indices);
}

/* Vertex 3 c + k belongs to corner c (bit 0 is x, and so on), on the face perpendicular to axis k. */
static void build_blocks(view_crowd *crowd) {
  float vertices[block_vertices][4], points[block_vertices][4];
  unsigned short indices[block_indices], *next = indices;
  for (unsigned v = 0; v < block_vertices; v++) {
    const unsigned corner = v / 3, axis = v % 3;
    vertices[v][3] = points[v][3] = (float)axis;
    for (unsigned k = 0; k < 3; k++) {
      vertices[v][k] = corner >> k & 1 ? 1 : -1;
      points[v][k] = (k == axis ? 1 : 0.9f) * vertices[v][k];
    }
  }
  for (unsigned axis = 0; axis < 3; axis++) {
    const unsigned u = (axis + 1) % 3, v = (axis + 2) % 3, along = 1U << axis;
    for (unsigned side = 0; side < 2; side++) {
      const unsigned c = side << axis;
      add_quad(points, 3 * c + axis, 3 * (c | 1U << u) + axis, 3 * (c | 1U << u | 1U << v) + axis,
               3 * (c | 1U << v) + axis, &next);
    }
    for (unsigned edge = 0; edge < 4; edge++) {
      const unsigned c = (edge & 1) << u | edge >> 1 << v;
      add_quad(points, 3 * c + u, 3 * (c | along) + u, 3 * (c | along) + v, 3 * c + v, &next);
    }
  }
  for (unsigned c = 0; c < 8; c++) add_triangle(points, 3 * c, 3 * c + 1, 3 * c + 2, &next);
  view_build_crowd(crowd, vertices[0], 4, block_vertices, indices, block_indices, 16);
}

static void build_balls(view_crowd *crowd) {
  static float points[ball_vertices][4];
  static unsigned short indices[ball_indices];
  unsigned short *next = indices;
  const float pi = 3.14159265f;
  for (unsigned v = 0; v < ball_vertices; v++) {
    const unsigned ring = v / (segments + 1);
    const float above = pi * (float)ring / rings;
    const float around = 2 * pi * (float)(v % (segments + 1)) / segments;
    points[v][0] = sinf(above) * cosf(around);
    points[v][1] = sinf(above) * sinf(around);
    points[v][2] = cosf(above);
    points[v][3] = 3;
  }
  for (unsigned i = 0; i < rings; i++)
    for (unsigned j = 0; j < segments; j++) {
      const unsigned v = i * (segments + 1) + j, below = v + segments + 1;
      add_quad((const float(*)[4])points, v, v + 1, below + 1, below, &next);
    }
  view_build_crowd(crowd, points[0], 4, ball_vertices, indices, ball_indices, 16);
}

const char *view_build_bodies(contact_view *view) {
  build_blocks(&view->blocks);
  build_balls(&view->balls);
  return view_gl_check("the shapes of bodies");
}

/* ---- Bodies ---- */

typedef struct instance {
  float place[3], bevel, turn[4], half[3], taper, colour[3], marked;
} instance;

int view_is_ground(const body *b) {
  return b->mass == 0 && b->shape == BODY_BOX && fabs(b->position[2] + b->half[2]) < 1e-9;
}

/* Finds the middle of the body's box. For a wedge it differs from the centre of mass. */
static void fill_place(const body *b, float place[3]) {
  double corners[8][3], middle[3] = {0}, at[3];
  if (b->shape == BODY_WEDGE) {
    body_corners(b, corners);
    middle[2] = 0.5 * (corners[0][2] + corners[7][2]);
  }
  body_point(b, middle, at);
  for (int k = 0; k < 3; k++) place[k] = (float)at[k];
}

static instance instance_of(const world *w, int index) {
  const body *b = &w->bodies[index];
  const double least = fmin(fmin(b->half[0] * (b->shape == BODY_WEDGE ? b->taper : 1), b->half[1]), b->half[2]);
  instance i = {.bevel = (float)fmin(0.12 * least, 0.02),
                .taper = b->shape == BODY_WEDGE ? (float)b->taper : 1,
                .marked = index == w->held ? 1 : 0};
  fill_place(b, i.place);
  for (int k = 0; k < 4; k++) i.turn[k] = (float)b->rotation[k];
  for (int k = 0; k < 3; k++) {
    i.half[k] = (float)b->half[k];
    i.colour[k] = b->colour[k];
  }
  return i;
}

/* Half the median size of the moving bodies. */
static float typical_size(const world *w, float *sizes) {
  size_t count = 0;
  for (int k = 0; k < w->count; k++) {
    const body *b = &w->bodies[k];
    if (b->mass > 0) sizes[count++] = (float)fmax(fmax(b->half[0], b->half[1]), b->half[2]);
  }
  return count ? colours_sorted(sizes, count, count / 2) : 1;
}

void view_draw_bodies(const contact_view *view) {
  view_draw_crowd(&view->blocks);
  view_draw_crowd(&view->balls);
}

const char *view_update_bodies(contact_view *view, const world *w) {
  const size_t room = (size_t)w->count + 1;
  instance *list = malloc(2 * room * sizeof *list);
  float *sizes = malloc(room * sizeof *sizes);
  int blocks = 0, balls = 0;
  const char *why = list && sizes ? NULL : "out of memory";
  if (!why) {
    instance *const round = list + room;
    for (int k = 0; k < w->count; k++) {
      if (view_is_ground(&w->bodies[k])) continue;
      if (w->bodies[k].shape == BODY_SPHERE)
        round[balls++] = instance_of(w, k);
      else
        list[blocks++] = instance_of(w, k);
    }
    view->typical = typical_size(w, sizes);
    why = view_fill_crowd(&view->blocks, list->place, blocks, 16);
    if (!why) why = view_fill_crowd(&view->balls, round->place, balls, 16);
  }
  free(list);
  free(sizes);
  return why;
}
