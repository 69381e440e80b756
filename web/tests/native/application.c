/* tests/support/application.h in a browser: the application's context is one on a canvas of its own. */
#include "application.h"

#include <emscripten.h>
#include <emscripten/html5.h>
#include <stddef.h>

static int handle;

/* clang-format off */
EM_JS(int, application_create, (void), {
  const gl = document.createElement('canvas').getContext('webgl2');
  return gl ? GL.registerContext(gl, {majorVersion : 2, minorVersion : 0}) : 0;
});
/* clang-format on */

const char *application_open(int window) {
  if (window) return "a browser lacks GLFW";
  handle = application_create();
  if (!handle) return "the browser lacks WebGL 2";
  application_make_current();
  return NULL;
}

const char *application_open_compatibility(void) {
  return "WebGL lacks a compatibility profile";
}

void application_make_current(void) {
  emscripten_webgl_make_context_current(handle);
}

void application_release_current(void) {
  emscripten_webgl_make_context_current(0);
}

void application_close(void) {
  if (handle) emscripten_webgl_destroy_context(handle);
  handle = 0;
}

int application_lists(const char *extension) {
  (void)extension;
  return 0;
}
