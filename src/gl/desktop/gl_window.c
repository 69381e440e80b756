/* The library's own context in a hidden GLFW window. */
#include "gl/core/gl.h"

#ifdef TEXSOLVE_HAVE_GLFW
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

typedef struct window_impl {
  GLFWwindow *window, *before;
  void *handle; /* its context in the window system; NULL until it is first current */
  int switched;
} window_impl;

/* GLFW is used from the main thread only, so these variables need no lock. */
static int windows, initialised_here;

static window_impl *impl_of(const ts_context *context) {
  return gl_of(context)->platform.impl;
}

/* GLFW can restore only GLFW contexts, so any other current context would be lost. */
static ts_status refuse_foreign(ts_context *context) {
  return tsi_fail(context, TS_ERROR_DEVICE,
                  "an OpenGL context that is not GLFW's is current on this thread, so the library's own cannot "
                  "be; open texsolve with TS_GL_PLATFORM_CURRENT");
}

static ts_status make_current(ts_context *context) {
  window_impl *w = impl_of(context);
  const GLFWwindow *current = glfwGetCurrentContext();
  const void *handle = gl_current_handle();
  if (current == w->window && handle == w->handle) return TS_OK;
  if (handle && (!current || (current == w->window && w->handle))) return refuse_foreign(context);
  glfwMakeContextCurrent(w->window);
  w->handle = gl_current_handle();
  return TS_OK;
}

static ts_status enter(ts_context *context) {
  window_impl *w = impl_of(context);
  w->before = glfwGetCurrentContext();
  w->switched = w->before && w->before != w->window;
  return make_current(context);
}

static void leave(ts_context *context) {
  window_impl *w = impl_of(context);
  if (w->switched) glfwMakeContextCurrent(w->before);
  w->switched = 0;
}

static void release(ts_context *context) {
  if (glfwGetCurrentContext() == impl_of(context)->window) glfwMakeContextCurrent(NULL);
}

static void release_glfw(void) {
  if (--windows == 0 && initialised_here) {
    initialised_here = 0;
    glfwTerminate();
  }
}

static void close_platform(ts_context *context) {
  window_impl *w = impl_of(context);
  release(context);
  glfwDestroyWindow(w->window);
  tsi_free(context, w);
  gl_of(context)->platform.impl = NULL;
  release_glfw();
}

/* 1 if the application has initialised GLFW, which makes it responsible for terminating GLFW. */
static int is_initialised(void) {
  glfwGetError(NULL);
  glfwGetTimerFrequency();
  return glfwGetError(NULL) != GLFW_NOT_INITIALIZED;
}

static ts_status fail(ts_context *context, const char *what) {
  const char *description = NULL;
  glfwGetError(&description);
  return tsi_fail(context, TS_ERROR_UNAVAILABLE, "GLFW: %s: %s", what,
                  description ? description : "no reason given");
}

ts_status gl_window_open(ts_context *context) {
  window_impl *w = tsi_calloc(context, 1, sizeof *w);
  if (!w) return tsi_out_of_memory(context, "a window", sizeof *w);
  if (windows == 0) initialised_here = !is_initialised();
  windows++;
  if (!glfwInit()) {
    const ts_status status = fail(context, "it cannot be initialised (is there a display?)");
    initialised_here = 0;
    release_glfw();
    tsi_free(context, w);
    return status;
  }
  GLFWwindow *before = glfwGetCurrentContext();
  if (!before && gl_current_handle()) {
    release_glfw();
    tsi_free(context, w);
    return refuse_foreign(context);
  }
  glfwDefaultWindowHints();
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  w->window = glfwCreateWindow(16, 16, "texsolve", NULL, NULL);
  glfwDefaultWindowHints();
  if (glfwGetCurrentContext() != before) glfwMakeContextCurrent(before);
  if (!w->window) {
    const ts_status status = fail(context, "a window with OpenGL 3.3 core cannot be created");
    release_glfw();
    tsi_free(context, w);
    return status;
  }
  gl_of(context)->platform = (gl_platform){enter, leave, make_current, release, close_platform, w};
  return TS_OK;
}

#else

ts_status gl_window_open(ts_context *context) {
  return tsi_fail(context, TS_ERROR_UNAVAILABLE,
                  "this texsolve was built without GLFW, so it cannot open a hidden window");
}

#endif
