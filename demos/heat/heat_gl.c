#include <GL/glew.h>

#include "heat.h"

#include <stdlib.h>

#include "heat_shaders.h"
#include "view_gl.h"

enum { unit_count = 4 }; /* the solution, cells, colours, paper */

/* ---- Textures ---- */

/* Maps cells of the plate to texels of the solution. */
static const char *make_cells(heat_gl *gl, ts_vector *x) {
  const plate *p = gl->plate;
  const size_t cells = (size_t)p->width * (size_t)p->height, count = 2 * (size_t)p->unknowns;
  int32_t *texels = malloc(count * sizeof *texels), *map = malloc(2 * cells * sizeof *map);
  const char *why = texels && map ? NULL : "out of memory";
  if (!why && ts_gl_space_get_texels(ts_vector_get_space(x), texels, count) != TS_OK)
    why = "no texels of the solution";
  for (size_t k = 0; !why && k < cells; k++) {
    const int32_t unknown = p->index[k];
    map[2 * k] = unknown < 0 ? -1 : texels[2 * (size_t)unknown];
    map[2 * k + 1] = unknown < 0 ? -1 : texels[2 * (size_t)unknown + 1];
  }
  if (!why) {
    gl->cells = view_gl_texture(GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RG32I, p->width, p->height, 0, GL_RG_INTEGER, GL_INT, map);
    why = view_gl_check("the texture of cells");
  }
  free(texels);
  free(map);
  return why;
}

static const char *make_paper(heat_gl *gl, int width, int height) {
  if (gl->paper_width == width && gl->paper_height == height) return NULL;
  image paper;
  if (image_create(&paper, width, height)) return "out of memory";
  draw_paper(&paper);
  if (gl->paper) glDeleteTextures(1, &gl->paper);
  gl->paper = view_gl_texture(GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, width, height, 0, GL_RGB, GL_UNSIGNED_BYTE, paper.rgb);
  gl->paper_width = width;
  gl->paper_height = height;
  image_destroy(&paper);
  return view_gl_check("the texture of the legend");
}

const char *heat_gl_create(heat_gl *gl, const plate *p, ts_vector *x) {
  unsigned char colours[colour_count][3];
  *gl = (heat_gl){.plate = p};
  if (ts_gl_vector_get_texture(x, &gl->solution) != TS_OK) return "the solution has no texture";
  static const char *const samplers[] = {"solution", "cells", "colours", "paper", NULL};
  const char *why =
      view_gl_program("", VIEW_GL_SHADER(whole, vert), VIEW_GL_SHADER(heat, frag), samplers, &gl->program);
  if (!why) why = make_cells(gl, x);
  if (why) {
    heat_gl_destroy(gl);
    return why;
  }
  colour_table(colours);
  gl->colours = view_gl_texture(GL_LINEAR);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, colour_count, 1, 0, GL_RGB, GL_UNSIGNED_BYTE, colours);
  glUniform2i(view_gl_uniform(gl->program, "solution_at"), gl->solution.x, gl->solution.y);
  glUniform1f(view_gl_uniform(gl->program, "hottest"), hottest);
  float holes[plate_holes][3];
  for (int k = 0; k < plate_holes; k++) {
    holes[k][0] = p->holes[k].x;
    holes[k][1] = p->holes[k].y;
    holes[k][2] = p->holes[k].radius;
  }
  glUniform3fv(view_gl_uniform(gl->program, "holes"), plate_holes, &holes[0][0]);
  return view_gl_check("the program's parameters");
}

void heat_gl_destroy(heat_gl *gl) {
  glDeleteTextures(1, &gl->cells);
  glDeleteTextures(1, &gl->colours);
  glDeleteTextures(1, &gl->paper);
  glDeleteVertexArrays(1, &gl->vertex_array);
  glDeleteProgram(gl->program);
  *gl = (heat_gl){0};
}

/* ---- Drawing ---- */

const char *heat_gl_draw(heat_gl *gl, int width, int height) {
  const char *why = make_paper(gl, width, height);
  if (why) return why;
  float unit;
  const rectangle r = plate_rectangle(width, height, &unit);
  const unsigned textures[unit_count] = {gl->solution.texture, gl->cells, gl->colours, gl->paper};
  view_gl_plain_state();
  view_gl_bind(textures, unit_count);
  glUseProgram(gl->program);
  glUniform4f(view_gl_uniform(gl->program, "plate"), r.x, r.y, r.width, r.height);
  glViewport(0, 0, width, height);
  view_gl_draw_vertices(&gl->vertex_array, GL_TRIANGLES, 3);
  return view_gl_check("drawing the plate");
}

const char *heat_gl_draw_picture(heat_gl *gl, image *picture) {
  view_gl_canvas canvas = {0};
  const char *why = view_gl_make_canvas(&canvas, 0, picture->width, picture->height);
  if (!why) why = heat_gl_draw(gl, picture->width, picture->height);
  if (!why) why = view_gl_read_picture(&canvas, picture->width, picture->height, picture->rgb);
  view_gl_destroy_canvas(&canvas);
  return why;
}
