/* What a picture of a fluid is made of: the fields that it is drawn from, programs that read them, a field in
 * colours. Internal to view.c. Functions return NULL, or why they failed. */
#ifndef VIEW_PARTS_H
#define VIEW_PARTS_H

#include "fluid_shaders.h"
#include "legend.h"
#include "view.h"
#include "view_gl.h"

/* ---- view_fields.c: where the fields are, and programs that read them ---- */

typedef enum view_source {
  VIEW_VELOCITY,
  VIEW_PRESSURE,
  VIEW_DIVERGENCE,
  VIEW_DYE,
  VIEW_WALLS,
  VIEW_PARTICLES,
  VIEW_SOURCES
} view_source;

/* Samples in the texels x .. x + width - 1, y .. y + height - 1 of a texture, or from the first texel of a
 * buffer texture on, row by row. */
typedef struct view_texture {
  unsigned texture;
  int x, y, width, height;
  int is_buffer;
} view_texture;

typedef struct view_fields {
  unsigned own[VIEW_SOURCES]; /* textures for fields that come from the host */
  float *host;
  size_t host_room; /* floats */
  view_way way;     /* of the last one */
} view_fields;

/* The field's own texture where the simulation runs on OpenGL; the buffer that CUDA shares with it; else a
 * copy. Texture 0: there is no such field (no particles). */
const char *view_fields_get(view_fields *fields, const simulation *s, view_source source, view_texture *out);
void view_fields_destroy(view_fields *fields);

/* view_gl_program with samples.glsl before both sources. `buffers`: samples lie in buffers, not in textures. */
const char *view_program_use(unsigned *program, view_gl_source vertex, view_gl_source fragment,
                             const char *defines, int buffers, const char *const *samplers);

/* Samples as a sampler reads them, at one of the units. */
void view_program_bind(int unit, const view_texture *t);
/* Where they begin: the uniform `name` of the program in use. */
void view_program_origin(unsigned program, const char *name, const view_texture *t);
/* What velocity_x and velocity_y of samples.glsl need. */
void view_program_velocity(unsigned program, const simulation *s, const view_texture *velocity);

/* ---- view_colours.c ---- */

/* What costs is computed once a cell: dye's light or a number's place in the range, and how much of a wall is
 * there. The picture, mostly of more pixels than there are cells, interpolates that with one fetch. Without a
 * GPU a picture of 4 x 4 pixels a cell takes 2 (dye) to 5 times (vorticity) as long if it interpolates the
 * fields for each pixel. */
enum { VIEW_PROBES = 96 }; /* of a field, in each direction, from which its range is taken */

typedef struct view_target {
  unsigned framebuffer, texture;
  int width, height;
} view_target;

typedef struct view_colours {
  unsigned empty_array;
  legend *legend; /* with the colours of numbers */
  /* Programs, made when they are needed: for samples in textures, and in buffers. */
  unsigned samples[2][FLUID_FIELDS], measure[2][FLUID_FIELDS], light, number;
  view_target cells, probes;
  float probe[VIEW_PROBES * VIEW_PROBES];
  fluid_field ranged;
  double range, followed; /* of the last drawing; what it follows */
} view_colours;

const char *view_colours_create(view_colours *c);
void view_colours_destroy(view_colours *c);
/* Into the framebuffer that is bound for drawing. */
const char *view_colours_draw(view_colours *c, view_fields *fields, const simulation *s, const fluid_look *look,
                              fluid_area area);

#endif
