/* Opens a context by EGL, in a hidden window, or of the application, and loads its functions. */
#include "gl/core/gl.h"
#include "gl/core/gl_features.h"

ts_status gl_load_functions(ts_context *context) {
  glewExperimental = GL_TRUE;
  const GLenum error = glewInit();
  /* Without a GLX context, GLEW loads all functions and then reports a missing GLX display. */
  if (error != GLEW_OK && error != GLEW_ERROR_NO_GLX_DISPLAY)
    return tsi_fail(context, TS_ERROR_UNAVAILABLE, "GLEW cannot load OpenGL: %s", glewGetErrorString(error));
  const int version = gl_features_get().version;
  for (int i = 0; i < 16 && glGetError() != GL_NO_ERROR; i++) continue; /* clears their errors */
  const char *name = (const char *)glGetString(GL_VERSION);
  if (version < 33)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "the context is OpenGL %.60s; texsolve needs 3.3",
                    name ? name : "of unknown version");
  return TS_OK;
}

GLenum gl_error(ts_context *context) {
  (void)context;
  return glGetError();
}

GLenum gl_error_of_storage(ts_context *context, size_t bytes) {
  (void)context;
  (void)bytes;
  return glGetError();
}

GLenum gl_framebuffer_status(void) {
  return glCheckFramebufferStatus(GL_FRAMEBUFFER);
}

const char *gl_renderer(void) {
  return (const char *)glGetString(GL_RENDERER);
}

/* Prefers EGL if it was built, because it needs no display. */
static ts_gl_platform platform_of(const ts_context *context) {
  const ts_gl_platform platform = context->gl.platform;
#ifdef TEXSOLVE_HAVE_EGL
  return platform == TS_GL_PLATFORM_AUTO ? TS_GL_PLATFORM_EGL : platform;
#elif defined(TEXSOLVE_HAVE_GLFW)
  return platform == TS_GL_PLATFORM_AUTO ? TS_GL_PLATFORM_WINDOW : platform;
#else
  return platform;
#endif
}

ts_status gl_platform_open(ts_context *context) {
  const ts_gl_platform platform = platform_of(context);
  if (platform != TS_GL_PLATFORM_EGL && context->device_index > 0)
    return tsi_fail(context, TS_ERROR_UNAVAILABLE,
                    "device gl:%d: only TS_GL_PLATFORM_EGL has more than one device", context->device_index);
  switch (platform) {
  case TS_GL_PLATFORM_EGL:
    return gl_egl_open(context);
  case TS_GL_PLATFORM_WINDOW:
    return gl_window_open(context);
  case TS_GL_PLATFORM_CURRENT:
    return gl_current_open(context);
  default:
    return tsi_fail(context, TS_ERROR_UNAVAILABLE,
                    "this texsolve was built without EGL and GLFW, so it cannot open an OpenGL context; "
                    "gl.platform TS_GL_PLATFORM_CURRENT uses the application's");
  }
}
