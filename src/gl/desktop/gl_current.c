/* The application's own context, from any window system. It is recognised and never made current. */
#define _GNU_SOURCE 1 /* RTLD_DEFAULT */
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#elif defined(__APPLE__)
#include <OpenGL/OpenGL.h>
#else
#include <dlfcn.h>
#ifdef TEXSOLVE_HAVE_EGL
#include <EGL/egl.h>
#endif
#endif

#include "gl/core/gl.h"

typedef struct current_impl {
  void *handle; /* the context that was current when texsolve was opened */
} current_impl;

#if defined(_WIN32)

void *gl_current_handle(void) {
  return (void *)wglGetCurrentContext();
}

#elif defined(__APPLE__)

void *gl_current_handle(void) {
  return (void *)CGLGetCurrentContext();
}

#else

/* Looks up the function in a library that the application may have loaded. */
static void *ask(const char *function) {
  void *(*get)(void);
  *(void **)&get = dlsym(RTLD_DEFAULT, function);
  return get ? get() : NULL;
}

void *gl_current_handle(void) {
#ifdef TEXSOLVE_HAVE_EGL
  void *handle = (void *)eglGetCurrentContext();
#else
  void *handle = ask("eglGetCurrentContext");
#endif
  return handle ? handle : ask("glXGetCurrentContext");
}

#endif

static current_impl *impl_of(const ts_context *context) {
  return gl_of(context)->platform.impl;
}

static ts_status enter(ts_context *context) {
  if (gl_current_handle() == impl_of(context)->handle) return TS_OK;
  return tsi_fail(
      context, TS_ERROR_DEVICE,
      "the application's OpenGL context that texsolve was opened with is not current on this thread");
}

static void leave(ts_context *context) {
  (void)context; /* the application's context remains current */
}

static ts_status make_current(ts_context *context) {
  return enter(context);
}

static void close_platform(ts_context *context) {
  tsi_free(context, impl_of(context));
  gl_of(context)->platform.impl = NULL;
}

ts_status gl_current_open(ts_context *context) {
  void *handle = gl_current_handle();
  if (!handle)
    return tsi_fail(context, TS_ERROR_UNAVAILABLE,
                    "gl.platform is TS_GL_PLATFORM_CURRENT and no OpenGL context is current on this thread");
  current_impl *c = tsi_calloc(context, 1, sizeof *c);
  if (!c) return tsi_out_of_memory(context, "a context", sizeof *c);
  c->handle = handle;
  gl_of(context)->platform = (gl_platform){enter, leave, make_current, leave, close_platform, c};
  return TS_OK;
}
