/* Where u and v are on the device after a solution: so that they get into the picture without a way over the
 * host. Functions return NULL, or why they failed. */
#ifndef FLAT_SOURCE_H
#define FLAT_SOURCE_H

#include <stdint.h>

#include <texsolve/gl.h>

#include "flattening.h"

typedef struct flat_source {
  flattening_places solved;
  ts_context *context;   /* of the vector */
  ts_gl_texture texture; /* it is stored in; 0 where that is not OpenGL's, or that of another program */
  uint32_t *where;       /* 4 numbers a flat vertex: see place.frag */
  int32_t vertices;
} flat_source;

/* Takes the places over, also on failure; on the thread that has solved for them. `shared`: whether the context
 * that draws is OpenGL's of the solver, or shares its objects. */
const char *flat_source_open(flat_source *s, const flattening *f, ts_context *context, int shared,
                             flattening_places *places);
/* On the same thread, before the context; of zeros is fine. */
void flat_source_close(flat_source *s);

#endif
