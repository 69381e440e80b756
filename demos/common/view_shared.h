/* Where pictures are drawn without a window, and how what is drawn gets from a vector to OpenGL. */
#ifndef VIEW_SHARED_H
#define VIEW_SHARED_H

#include <texsolve/gl.h>

/* Makes the solver's context current where that is OpenGL's, else one of `*own`, which is opened for that; and
 * loads OpenGL's functions. Returns NULL, or why it failed. */
const char *view_context_open(ts_context *solver, ts_gl_platform platform, ts_context **own);
/* Makes it current again. */
const char *view_context_use(ts_context *solver, ts_context *own);

typedef enum view_way {
  VIEW_WAY_NONE,    /* nothing was drawn */
  VIEW_WAY_TEXTURE, /* the vector is a texture */
  VIEW_WAY_SHARED,  /* it lives in a buffer that CUDA and OpenGL share */
  VIEW_WAY_COPIED   /* through the host */
} view_way;

/* "texture", "shared buffer" or "copied through the host"; NULL for none. */
const char *view_way_name(view_way way);

/* The same as a line for a window; NULL where there is nothing to say. */
const char *view_way_line(view_way way);

/* The buffer texture of a vector of the CUDA backend, for what is drawn before the next call with its context.
 * TS_ERROR_UNSUPPORTED where OpenGL and CUDA share nothing, for other backends, and in a build without CUDA. */
ts_status view_shared_buffer(ts_vector *vector, unsigned *texture);
/* Before the OpenGL context goes that is current, if vectors of `context` may have been drawn in it. */
void view_shared_release(ts_context *context);

#endif
