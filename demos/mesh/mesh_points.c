#include <GL/glew.h>

#include "mesh_points.h"

#include <stddef.h>
#include <stdlib.h>

#include "mesh_view_shaders.h"
#include "view_gl.h"

struct mesh_points {
  unsigned program, array, buffer;
  int count;
};

static const char *create(mesh_points **made) {
  mesh_points *p = *made = calloc(1, sizeof *p);
  if (!p) return "out of memory";
  glGenVertexArrays(1, &p->array);
  glGenBuffers(1, &p->buffer);
  glBindVertexArray(p->array);
  glBindBuffer(GL_ARRAY_BUFFER, p->buffer);
  const size_t offsets[] = {offsetof(mesh_point, place), offsetof(mesh_point, rgb),
                            offsetof(mesh_point, marked)};
  for (unsigned k = 0; k < 3; k++) {
    glEnableVertexAttribArray(k);
    glVertexAttribPointer(k, k < 2 ? 3 : 1, GL_FLOAT, GL_FALSE, sizeof(mesh_point),
                          (const char *)0 + offsets[k]);
  }
  glBindVertexArray(0);
  return view_gl_program("", VIEW_GL_SHADER(points, vert), VIEW_GL_SHADER(points, frag), NULL, &p->program);
}

const char *mesh_points_set(mesh_points **points, const mesh_point *list, int count) {
  if (!*points && count == 0) return NULL;
  if (!*points) {
    const char *why = create(points);
    if (why) {
      mesh_points_destroy(points);
      return why;
    }
  }
  mesh_points *p = *points;
  p->count = count;
  glBindBuffer(GL_ARRAY_BUFFER, p->buffer);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)count * sizeof *list), list, GL_DYNAMIC_DRAW);
  glBindBuffer(GL_ARRAY_BUFFER, 0);
  return NULL;
}

void mesh_points_destroy(mesh_points **points) {
  mesh_points *p = *points;
  if (!p) return;
  glDeleteProgram(p->program);
  glDeleteVertexArrays(1, &p->array);
  glDeleteBuffers(1, &p->buffer);
  free(p);
  *points = NULL;
}

const char *mesh_points_draw(mesh_points *points, const camera *c, int width, int height) {
  if (!points || points->count == 0) return NULL;
  float to_eye[16], projection[16];
  const float size = (float)(width < height ? width : height) / 55;
  camera_view_matrix(c, to_eye);
  camera_projection_matrix(c, width, height, projection);
  glUseProgram(points->program);
  glUniformMatrix4fv(view_gl_uniform(points->program, "view"), 1, GL_FALSE, to_eye);
  glUniformMatrix4fv(view_gl_uniform(points->program, "projection"), 1, GL_FALSE, projection);
  glUniform1f(view_gl_uniform(points->program, "size"), size > 12 ? size : 12);
  glEnable(GL_PROGRAM_POINT_SIZE);
  glEnable(GL_BLEND);
  glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  glBindVertexArray(points->array);
  glDrawArrays(GL_POINTS, 0, points->count);
  glBindVertexArray(0);
  glDisable(GL_BLEND);
  glDisable(GL_PROGRAM_POINT_SIZE);
  return view_gl_check("drawing the control points");
}
