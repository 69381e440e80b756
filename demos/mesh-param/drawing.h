/* Pictures of a mesh next to its UV map, without a window. If the solver's backend is OpenGL they are drawn in
 * its context, otherwise in a separate one. */
#ifndef DRAWING_H
#define DRAWING_H

#include <texsolve/gl.h>

#include "flattening.h"

/* Draws u and v from the solver's vector `places`, which it takes over. *way describes their path to OpenGL
 * (view_shared.h). Returns 0, or 1 with one line in `message`. */
int drawing_save(const flattening *f, ts_context *context, flattening_places *places, ts_gl_platform platform,
                 const flat_look *look, int width, int height, const char *path, const char **way,
                 char message[MESH_MESSAGE]);

#endif
