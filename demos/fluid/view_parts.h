/* Internal to view.c: the fields, the programs that read them, and coloured fields. Functions that return text
 * return NULL on success, or the reason of a failure. */
#ifndef VIEW_PARTS_H
#define VIEW_PARTS_H

#include "fluid_shaders.h"
#include "legend.h"
#include "view.h"
#include "view_gl.h"

/* ---- view_fields.c: access to the fields, and programs that read them ---- */

typedef enum view_source {
  VIEW_VELOCITY,
  VIEW_PRESSURE,
  VIEW_DIVERGENCE,
  VIEW_DYE,
  VIEW_WALLS,
  VIEW_PARTICLES,
  VIEW_SOURCES
} view_source;

/* Samples in the texels x ... x + width - 1, y ... y + height - 1 of a texture, or row by row from the first
 * texel of a buffer texture. */
typedef struct view_texture {
  unsigned texture;
  int x, y, width, height;
  int is_buffer;
} view_texture;

typedef struct view_fields {
  unsigned own[VIEW_SOURCES]; /* textures for fields that are copied through the host */
  float *host;
  size_t host_room; /* in floats */
  view_way way;     /* path of the last field */
} view_fields;

/* Returns the simulation's texture if its backend is OpenGL, otherwise the buffer shared with CUDA if possible,
 * otherwise a copy. Texture 0: the field does not exist (no particles). */
const char *view_fields_get(view_fields *fields, const simulation *s, view_source source, view_texture *out);
void view_fields_destroy(view_fields *fields);

/* view_gl_program with samples.glsl before both sources. `buffers`: samples are in buffers instead of
 * textures. */
const char *view_program_use(unsigned *program, view_gl_source vertex, view_gl_source fragment,
                             const char *defines, int buffers, const char *const *samplers);

/* Binds samples to a texture unit, without a sampler object. */
void view_program_bind(int unit, const view_texture *t);
/* Sets the uniform `name` of the current program to the first sample. */
void view_program_origin(unsigned program, const char *name, const view_texture *t);
/* Sets the uniforms of velocity_x and velocity_y in samples.glsl. */
void view_program_velocity(unsigned program, const simulation *s, const view_texture *velocity);

/* ---- view_colours.c ---- */

/* The expensive part is computed once per cell: the dye's light or the value's position in the range, and the
 * share of wall. The picture usually has more pixels than cells and interpolates these samples with one fetch.
 * Without a GPU, a picture with 4 x 4 pixels per cell takes 2 (dye) to 5 (vorticity) times as long if every
 * pixel interpolates the fields. */
enum { VIEW_PROBES = 96 }; /* samples per direction that determine the range */

typedef struct view_target {
  unsigned framebuffer, texture;
  int width, height;
} view_target;

typedef struct view_colours {
  unsigned empty_array;
  legend *legend; /* also has the colour maps */
  /* Programs, compiled on first use. Index 0: samples in textures; 1: in buffers. */
  unsigned samples[2][FLUID_FIELDS], measure[2][FLUID_FIELDS], light, number;
  view_target cells, probes;
  float probe[VIEW_PROBES * VIEW_PROBES];
  fluid_field ranged;
  double range, followed; /* of the last picture; the unrounded range that follows the data */
} view_colours;

const char *view_colours_create(view_colours *c);
void view_colours_destroy(view_colours *c);
/* Draws into the bound framebuffer. */
const char *view_colours_draw(view_colours *c, view_fields *fields, const simulation *s, const fluid_look *look,
                              fluid_area area);

#endif
