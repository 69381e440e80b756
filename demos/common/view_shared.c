#include "view_shared.h"

#include <stddef.h>

#include "view_gl.h"

static const char *why_not(const ts_context *context, ts_status status) {
  const char *text = ts_last_error(context);
  return status == TS_OK ? NULL : *text ? text : ts_status_text(status);
}

const char *view_context_use(ts_context *solver, ts_context *own) {
  ts_context *const context = own ? own : solver;
  return why_not(context, ts_gl_make_current(context));
}

const char *view_context_open(ts_context *solver, ts_gl_platform platform, ts_context **own) {
  const ts_gl_desc gl = {.platform = platform};
  const ts_context_desc desc = {.backend = "gl", .gl = &gl};
  *own = NULL;
  ts_status status = ts_gl_make_current(solver);
  if (status == TS_ERROR_UNSUPPORTED) {
    status = ts_context_create(&desc, own);
    if (status != TS_OK) return why_not(NULL, status);
    status = ts_gl_make_current(*own);
  }
  const char *why = why_not(*own ? *own : solver, status);
  return why ? why : view_gl_load();
}

const char *view_way_name(view_way way) {
  static const char *const names[] = {NULL, "texture", "shared buffer", "copied through the host"};
  return names[way];
}

const char *view_way_line(view_way way) {
  static const char *const lines[] = {NULL, "drawn from the solver's texture",
                                      "drawn from a buffer shared with CUDA",
                                      "copied through the host for drawing"};
  return lines[way];
}

#ifdef TEXSOLVE_HAVE_CUDA

#include <texsolve/cuda.h>

ts_status view_shared_buffer(ts_vector *vector, unsigned *texture) {
  ts_cuda_gl_texture shared;
  const ts_status status = ts_cuda_vector_get_gl_texture(vector, &shared);
  if (status == TS_ERROR_LIMIT) return TS_ERROR_UNSUPPORTED; /* larger than the limit of buffer textures */
  if (status == TS_OK) *texture = shared.texture;
  return status;
}

void view_shared_release(ts_context *context) {
  ts_cuda_gl_release(context); /* fails if nothing is shared, which is fine */
}

#else

ts_status view_shared_buffer(ts_vector *vector, unsigned *texture) {
  (void)vector;
  *texture = 0;
  return TS_ERROR_UNSUPPORTED;
}

void view_shared_release(ts_context *context) {
  (void)context;
}

#endif
