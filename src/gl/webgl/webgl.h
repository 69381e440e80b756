/* The parts of the OpenGL backend that are for WebGL 2 alone. Objects that the library creates have names in
 * Emscripten's tables (GL.textures, ...). Objects of the application have none: they stay in JavaScript. */
#ifndef TSI_WEBGL_H
#define TSI_WEBGL_H

#include "gl/core/gl.h"

/* Returns in a later task. */
typedef void webgl_pause(void *data);

typedef struct webgl_context {
  int handle;    /* of Emscripten, for emscripten_webgl_make_context_current */
  int before;    /* the context that was current when a call was entered */
  int is_ours;   /* the library opened it */
  int is_lost;   /* set by the browser's event, and never cleared: a restored context has none of the objects */
  float *buffer; /* gl_pack_map */
  size_t buffer_bytes;
  webgl_pause *pause; /* tsi_webgl_set_pause */
  void *pause_data;
} webgl_context;

static inline webgl_context *webgl_of(const ts_context *context) {
  return gl_of(context)->platform.impl;
}

/* Fails with TS_ERROR_DEVICE if the context was lost. */
ts_status webgl_check(ts_context *context);

/* ---- Asynchronous calls ----
 *
 * WebGL reports that a fence has signalled in a later task only, so a call that waits for the device has two
 * ways. Without a pause, it blocks until the numbers are there. With one, it calls `pause` until the fence has
 * signalled. `pause` returns in a later task (Asyncify). Meanwhile the state of the application's context is
 * restored, so the application may draw. The context and its objects must not be used during a pause. NULL
 * removes the pause. */
void tsi_webgl_set_pause(ts_context *context, webgl_pause *pause, void *data);

#endif
