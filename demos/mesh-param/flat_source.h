/* Position of u and v on the device after a solve, so that they can be drawn without a copy through the host.
 * Functions that return text return NULL on success, or the reason of a failure. */
#ifndef FLAT_SOURCE_H
#define FLAT_SOURCE_H

#include <stdint.h>

#include <texsolve/gl.h>

#include "flattening.h"

typedef struct flat_source {
  flattening_places solved;
  ts_context *context;   /* owner of the vector */
  ts_gl_texture texture; /* the vector's texture; 0 if it is not visible to the drawing context */
  uint32_t *where;       /* 4 numbers per flat vertex, see place.frag */
  int32_t vertices;
} flat_source;

/* Takes over the places, also on failure. Call it on the thread that solved. `shared`: the drawing context is
 * the solver's OpenGL context, or shares objects with it. */
const char *flat_source_open(flat_source *s, const flattening *f, ts_context *context, int shared,
                             flattening_places *places);
/* Call on the same thread, before the context is destroyed. A source of zeros is allowed. */
void flat_source_close(flat_source *s);

#endif
