/* Pictures of a mesh beside its UV map, without a window: in the context of the solver where that is
 * OpenGL's, else in one opened for that alone. */
#ifndef DRAWING_H
#define DRAWING_H

#include <texsolve/gl.h>

#include "flattening.h"

/* u and v are drawn from where the solver has left them, `places`, which are taken over; `*way` tells how they
 * came (view_shared.h). Returns 0, or 1 with one line in `message`. */
int drawing_save(const flattening *f, ts_context *context, flattening_places *places, ts_gl_platform platform,
                 const flat_look *look, int width, int height, const char *path, const char **way,
                 char message[MESH_MESSAGE]);

#endif
