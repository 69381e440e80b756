/* A field of the fluid in colours.
 *
 * What costs is computed once a cell: dye's light or a number's place in the range, and how much of a wall is
 * there. The picture, mostly of more pixels than there are cells, interpolates that with one fetch. Without a
 * GPU a picture of 4 x 4 pixels a cell takes 2 (dye) to 5 times (vorticity) as long if it interpolates the
 * fields for each pixel. */
#ifndef VIEW_COLOURS_H
#define VIEW_COLOURS_H

#include "legend.h"
#include "view.h"
#include "view_fields.h"

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

/* Functions return NULL, or why they failed. */
const char *view_colours_create(view_colours *c);
void view_colours_destroy(view_colours *c);
/* Into the framebuffer that is bound for drawing. */
const char *view_colours_draw(view_colours *c, view_fields *fields, const simulation *s, const fluid_look *look,
                              fluid_area area);

#endif
