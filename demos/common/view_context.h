/* Where pictures are drawn without a window. */
#ifndef VIEW_CONTEXT_H
#define VIEW_CONTEXT_H

#include <texsolve/texsolve.h>
#include <texsolve/gl.h>

/* Makes the solver's context current where that is OpenGL's, else one of `*own`, which is opened for that; and
 * loads OpenGL's functions. Returns NULL, or why it failed. */
const char *view_context_open(ts_context *solver, ts_gl_platform platform, ts_context **own);
/* Makes it current again. */
const char *view_context_use(ts_context *solver, ts_context *own);

#endif
