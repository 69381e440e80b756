/* Draws the plate from the solution's texture: into a window, or into a picture off the screen. */
#ifndef HEAT_GL_H
#define HEAT_GL_H

#include <texsolve/gl.h>

#include "heat_picture.h"

typedef struct heat_gl {
  unsigned program, vertex_array, cells, colours, paper;
  int paper_width, paper_height;
  const plate *plate;
  ts_gl_texture solution;
} heat_gl;

/* Needs a current context that sees the textures of x. Returns NULL, or why it failed. */
const char *heat_gl_create(heat_gl *gl, const plate *p, ts_vector *x);
void heat_gl_destroy(heat_gl *gl);

/* Into the framebuffer that is bound, of this size. Returns NULL, or why it failed. */
const char *heat_gl_draw(heat_gl *gl, int width, int height);

/* Into `picture`, which gives the size. */
const char *heat_gl_draw_picture(heat_gl *gl, image *picture);

#endif
