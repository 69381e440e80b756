/* The library's own context, through EGL, on a device and without a display. */
#include "gl/core/gl.h"

#ifdef TEXSOLVE_HAVE_EGL
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <string.h>

typedef struct egl_impl {
  EGLDisplay display;
  EGLContext context;
  EGLSurface surface; /* none, or 1 x 1 if contexts need a surface */
  /* The context that was current when the library was called, if any. It is made current again on return. */
  EGLDisplay before_display;
  EGLContext before_context;
  EGLSurface before_draw, before_read;
  int switched;
} egl_impl;

static egl_impl *impl_of(const ts_context *context) {
  return gl_of(context)->platform.impl;
}

static ts_status fail(ts_context *context, const char *what) {
  return tsi_fail(context, TS_ERROR_UNAVAILABLE, "EGL: %s (0x%04x)", what, (unsigned)eglGetError());
}

/* ---- Current ---- */

/* The application chooses the API of this thread, and contexts it creates use that API. So it is restored. */
static EGLenum use_opengl(void) {
  const EGLenum before = eglQueryAPI();
  if (before != EGL_OPENGL_API) eglBindAPI(EGL_OPENGL_API);
  return before;
}

static void use_api(EGLenum api) {
  if (api != EGL_OPENGL_API && api != EGL_NONE) eglBindAPI(api);
}

static ts_status bind_context(ts_context *context) {
  egl_impl *e = impl_of(context);
  if (eglGetCurrentContext() == e->context) return TS_OK;
  if (eglMakeCurrent(e->display, e->surface, e->surface, e->context)) return TS_OK;
  const EGLint error = eglGetError();
  if (eglGetCurrentContext() == EGL_NO_CONTEXT && gl_current_handle())
    return tsi_fail(
        context, TS_ERROR_DEVICE,
        "an OpenGL context that is not EGL's is current on this thread, so the library's own cannot "
        "be; open texsolve with TS_GL_PLATFORM_CURRENT");
  if (error == EGL_BAD_ACCESS)
    return tsi_fail(context, TS_ERROR_DEVICE,
                    "the library's OpenGL context is current on another thread, which must call "
                    "ts_gl_release_current first");
  return tsi_fail(context, TS_ERROR_DEVICE,
                  "EGL: the library's context cannot be made current on this thread (0x%04x)", (unsigned)error);
}

static ts_status make_current(ts_context *context) {
  const EGLenum api = use_opengl();
  const ts_status status = bind_context(context);
  use_api(api);
  return status;
}

static void release(ts_context *context) {
  const egl_impl *e = impl_of(context);
  const EGLenum api = use_opengl();
  if (eglGetCurrentContext() == e->context)
    eglMakeCurrent(e->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  use_api(api);
}

static void note_current(egl_impl *e) {
  e->before_context = eglGetCurrentContext();
  e->before_display = eglGetCurrentDisplay();
  e->before_draw = eglGetCurrentSurface(EGL_DRAW);
  e->before_read = eglGetCurrentSurface(EGL_READ);
}

static ts_status enter(ts_context *context) {
  egl_impl *e = impl_of(context);
  if (eglGetCurrentContext() == e->context) return TS_OK; /* the caller keeps it current */
  note_current(e);
  const EGLenum api = use_opengl();
  if (e->before_context == EGL_NO_CONTEXT && api != EGL_OPENGL_API) note_current(e);
  const ts_status status = bind_context(context);
  e->switched = status == TS_OK;
  use_api(api);
  return status;
}

static void leave(ts_context *context) {
  egl_impl *e = impl_of(context);
  if (!e->switched) return;
  e->switched = 0;
  if (e->before_context != EGL_NO_CONTEXT)
    eglMakeCurrent(e->before_display, e->before_draw, e->before_read, e->before_context);
  else if (!(context->gl.flags & TS_GL_KEEP_CURRENT))
    release(context); /* allows another thread to make it current */
}

static void close_platform(ts_context *context) {
  egl_impl *e = impl_of(context);
  release(context);
  if (e->surface != EGL_NO_SURFACE) eglDestroySurface(e->display, e->surface);
  if (e->context != EGL_NO_CONTEXT) eglDestroyContext(e->display, e->context);
  /* Everyone who asks EGL for this device shares the display, so it is not terminated. */
  tsi_free(context, e);
  gl_of(context)->platform.impl = NULL;
}

/* ---- Displays ---- */

static int has_extension(const char *extensions, const char *name) {
  const size_t length = strlen(name);
  for (const char *p = extensions; p && (p = strstr(p, name)) != NULL; p += length)
    if ((p == extensions || p[-1] == ' ') && (p[length] == ' ' || p[length] == 0)) return 1;
  return 0;
}

/* Tests the list of client extensions. EGL functions have addresses even if EGL lacks the extension. */
static int has_client_extension(const char *name) {
  return has_extension(eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS), name);
}

enum { max_devices = 32 };

static int list_devices(EGLDeviceEXT *devices) {
  const PFNEGLQUERYDEVICESEXTPROC query = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
  EGLint count = 0;
  if (!has_client_extension("EGL_EXT_device_base") && !has_client_extension("EGL_EXT_device_enumeration"))
    return 0;
  if (!query || !query(max_devices, devices, &count)) return 0;
  return count;
}

/* Initialises a display that can create OpenGL contexts. Returns EGL_NO_DISPLAY if it cannot. */
static EGLDisplay initialise(EGLDisplay display) {
  EGLint major, minor;
  if (display == EGL_NO_DISPLAY || !eglInitialize(display, &major, &minor)) return EGL_NO_DISPLAY;
  return eglBindAPI(EGL_OPENGL_API) ? display : EGL_NO_DISPLAY;
}

static EGLDisplay display_of_device(EGLDeviceEXT device) {
  const PFNEGLGETPLATFORMDISPLAYEXTPROC get =
      (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
  if (!get || !has_client_extension("EGL_EXT_platform_device")) return EGL_NO_DISPLAY;
  return initialise(get(EGL_PLATFORM_DEVICE_EXT, device, NULL));
}

static EGLDisplay default_display(void) {
#ifdef EGL_PLATFORM_SURFACELESS_MESA
  const PFNEGLGETPLATFORMDISPLAYEXTPROC get =
      (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
  if (get && has_client_extension("EGL_MESA_platform_surfaceless")) {
    const EGLDisplay display = initialise(get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL));
    if (display != EGL_NO_DISPLAY) return display;
  }
#endif
  return initialise(eglGetDisplay(EGL_DEFAULT_DISPLAY));
}

/* ---- Contexts ---- */

static ts_status create_context(ts_context *context, egl_impl *e) {
  static const EGLint config_attributes[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE,
                                             EGL_PBUFFER_BIT, EGL_NONE};
  static const EGLint any_surface[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, 0, EGL_NONE};
  static const EGLint context_attributes[] = {EGL_CONTEXT_MAJOR_VERSION_KHR,
                                              3,
                                              EGL_CONTEXT_MINOR_VERSION_KHR,
                                              3,
                                              EGL_CONTEXT_OPENGL_PROFILE_MASK_KHR,
                                              EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT_KHR,
                                              EGL_NONE};
  static const EGLint surface_attributes[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
  const int surfaceless =
      has_extension(eglQueryString(e->display, EGL_EXTENSIONS), "EGL_KHR_surfaceless_context");
  EGLConfig config;
  EGLint count = 0;
  if ((!eglChooseConfig(e->display, config_attributes, &config, 1, &count) || count < 1) &&
      (!eglChooseConfig(e->display, any_surface, &config, 1, &count) || count < 1))
    return fail(context, "the device has no configuration for OpenGL");
  e->context = eglCreateContext(e->display, config, EGL_NO_CONTEXT, context_attributes);
  if (e->context == EGL_NO_CONTEXT) return fail(context, "the device has no OpenGL 3.3 core context");
  if (!surfaceless) {
    e->surface = eglCreatePbufferSurface(e->display, config, surface_attributes);
    if (e->surface == EGL_NO_SURFACE) return fail(context, "a context without a surface is not possible");
  }
  return TS_OK;
}

static ts_status open_display(ts_context *context, egl_impl *e) {
  EGLDeviceEXT devices[max_devices];
  const int count = list_devices(devices), wanted = context->device_index;
  if (wanted >= 0) {
    if (wanted >= count)
      return tsi_fail(context, TS_ERROR_UNAVAILABLE, "there is no device gl:%d; EGL has %d", wanted, count);
    e->display = display_of_device(devices[wanted]);
    if (e->display == EGL_NO_DISPLAY) return fail(context, "the device cannot be opened");
    return create_context(context, e);
  }
  /* Drivers list hardware first. Use the first device that provides a context. */
  for (int i = 0; i < count; i++) {
    e->display = display_of_device(devices[i]);
    if (e->display == EGL_NO_DISPLAY) continue;
    if (create_context(context, e) == TS_OK) return TS_OK;
    if (e->context != EGL_NO_CONTEXT) eglDestroyContext(e->display, e->context);
    e->context = EGL_NO_CONTEXT;
  }
  e->display = default_display();
  if (e->display == EGL_NO_DISPLAY)
    return tsi_fail(context, TS_ERROR_UNAVAILABLE, "EGL finds no device that can be opened (%d listed)", count);
  return create_context(context, e);
}

ts_status gl_egl_open(ts_context *context) {
  gl_backend *gl = gl_of(context);
  egl_impl *e = tsi_calloc(context, 1, sizeof *e);
  if (!e) return tsi_out_of_memory(context, "an EGL context", sizeof *e);
  e->context = EGL_NO_CONTEXT;
  e->surface = EGL_NO_SURFACE;
  gl->platform = (gl_platform){enter, leave, make_current, release, close_platform, e};
  const EGLenum api = use_opengl();
  const ts_status status = open_display(context, e);
  use_api(api);
  if (status < 0) {
    close_platform(context);
    return status;
  }
  tsi_clear_error(context);
  return TS_OK;
}

#else

ts_status gl_egl_open(ts_context *context) {
  return tsi_fail(context, TS_ERROR_UNAVAILABLE,
                  "this texsolve was built without EGL, so it cannot open an off-screen context");
}

#endif
