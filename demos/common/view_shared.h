/* The OpenGL context for pictures without a window, and the paths from a solver's vector to that context. */
#ifndef VIEW_SHARED_H
#define VIEW_SHARED_H

#include <texsolve/gl.h>

/* Makes the solver's context current if it is an OpenGL context. Otherwise opens *own and makes it current.
 * Loads OpenGL's functions. Returns NULL, or the reason of a failure. */
const char *view_context_open(ts_context *solver, ts_gl_platform platform, ts_context **own);
/* Makes that context current again. */
const char *view_context_use(ts_context *solver, ts_context *own);

typedef enum view_way {
  VIEW_WAY_NONE,    /* nothing was drawn yet */
  VIEW_WAY_TEXTURE, /* the vector is a texture */
  VIEW_WAY_SHARED,  /* the vector is in a buffer that CUDA and OpenGL share */
  VIEW_WAY_COPIED   /* copied through the host */
} view_way;

/* "texture", "shared buffer" or "copied through the host"; NULL for VIEW_WAY_NONE. */
const char *view_way_name(view_way way);

/* A sentence for a window; NULL for VIEW_WAY_NONE. */
const char *view_way_line(view_way way);

/* The buffer texture of a vector of the CUDA backend. It is valid until the next call with the vector's
 * context. Returns TS_ERROR_UNSUPPORTED if OpenGL and CUDA cannot share memory, for other backends, and in a
 * build without CUDA. */
ts_status view_shared_buffer(ts_vector *vector, unsigned *texture);
/* Call before the current OpenGL context is destroyed if vectors of `context` may have been drawn in it. */
void view_shared_release(ts_context *context);

#endif
