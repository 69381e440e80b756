/* Where the fields are that a picture is drawn from. */
#ifndef VIEW_FIELDS_H
#define VIEW_FIELDS_H

#include "simulation.h"
#include "view_shared.h"

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
 * copy. Texture 0: there is no such field (no particles). Returns NULL, or why it failed. */
const char *view_fields_get(view_fields *fields, const simulation *s, view_source source, view_texture *out);
void view_fields_destroy(view_fields *fields);

#endif
