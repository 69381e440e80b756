#include "view_shared.h"

#include <stddef.h>

const char *view_way_name(view_way way) {
  static const char *const names[] = {NULL, "texture", "shared buffer", "copied through the host"};
  return names[way];
}

const char *view_way_line(view_way way) {
  static const char *const lines[] = {NULL, "drawn from the solver's texture",
                                      "drawn from a buffer shared with CUDA", "drawn from copies"};
  return lines[way];
}

#ifdef TEXSOLVE_HAVE_CUDA

#include <texsolve/cuda.h>

ts_status view_shared_buffer(ts_vector *vector, unsigned *texture) {
  ts_cuda_gl_texture shared;
  const ts_status status = ts_cuda_vector_gl_texture(vector, &shared);
  if (status == TS_ERROR_LIMIT) return TS_ERROR_UNSUPPORTED; /* larger than a buffer texture may be */
  if (status == TS_OK) *texture = shared.texture;
  return status;
}

void view_shared_release(ts_context *context) {
  ts_cuda_gl_release(context); /* refused where nothing is shared */
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
