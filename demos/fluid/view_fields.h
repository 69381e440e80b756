/* Where the fields are that a picture is drawn from. */
#ifndef VIEW_FIELDS_H
#define VIEW_FIELDS_H

#include "simulation.h"

typedef enum view_source {
  VIEW_VELOCITY,
  VIEW_PRESSURE,
  VIEW_DIVERGENCE,
  VIEW_DYE,
  VIEW_WALLS,
  VIEW_PARTICLES,
  VIEW_SOURCES
} view_source;

typedef struct view_texture {
  unsigned texture;
  int x, y, width, height; /* texels of the field in it */
} view_texture;

typedef struct view_fields {
  unsigned own[VIEW_SOURCES]; /* textures for fields that come from the host */
  float *host;
  size_t host_room; /* floats */
  int copies;       /* the last one had to be copied */
} view_fields;

/* The field's own texture where the simulation runs on OpenGL, else a copy. Texture 0: there is no such field
 * (no particles). Returns NULL, or why it failed. */
const char *view_fields_get(view_fields *fields, const simulation *s, view_source source, view_texture *out);
void view_fields_destroy(view_fields *fields);

#endif
