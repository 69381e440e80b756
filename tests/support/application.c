#include "application.h"

#include <stdlib.h>
#include <string.h>

#if defined(TEXSOLVE_HAVE_GL)

#include <GL/glew.h>

#if defined(TEXSOLVE_TEST_EGL)
#include <EGL/egl.h>
#include <EGL/eglext.h>
static EGLDisplay display = EGL_NO_DISPLAY;
static EGLSurface surface = EGL_NO_SURFACE;
static EGLContext egl_context = EGL_NO_CONTEXT;
#endif

#if defined(TEXSOLVE_HAVE_GLFW)
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
static GLFWwindow *window_handle;
#endif

static const char *load_functions(int accept_no_glx) {
  glewExperimental = GL_TRUE;
  const GLenum status = glewInit();
  /* glewInit loads all functions before it reports that GLX is missing, which is normal with EGL. */
  if (status != GLEW_OK && !(accept_no_glx && status == GLEW_ERROR_NO_GLX_DISPLAY))
    return (const char *)glewGetErrorString(status);
  /* GLEW_VERSION_3_3 only tells that functions have an address, so ask the context for its version. */
  GLint major = 0, minor = 0;
  glGetIntegerv(GL_MAJOR_VERSION, &major);
  glGetIntegerv(GL_MINOR_VERSION, &minor);
  return 10 * major + minor >= 33 ? NULL : "the context has no OpenGL 3.3";
}

#if defined(TEXSOLVE_TEST_EGL)

/* A device without a display: the one whose number is in TEXSOLVE_TEST_DEVICE, or the first that opens. If
 * there is none, the default display. */
static EGLDisplay find_display(void) {
  const char *extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  PFNEGLQUERYDEVICESEXTPROC query = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
  PFNEGLGETPLATFORMDISPLAYEXTPROC get =
      (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
  EGLDeviceEXT devices[16];
  EGLint count = 0;
  if (extensions && strstr(extensions, "EGL_EXT_platform_device") && query && get &&
      query(16, devices, &count)) {
    const char *device = getenv("TEXSOLVE_TEST_DEVICE");
    for (EGLint i = device ? (EGLint)strtol(device, NULL, 10) : 0; i < count; i++) {
      EGLDisplay found = get(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
      if (found != EGL_NO_DISPLAY && eglInitialize(found, NULL, NULL)) return found;
    }
  }
  EGLDisplay found = eglGetDisplay(EGL_DEFAULT_DISPLAY);
  return found != EGL_NO_DISPLAY && eglInitialize(found, NULL, NULL) ? found : EGL_NO_DISPLAY;
}

static const char *open_egl(int compatibility) {
  static const EGLint config_attributes[] = {EGL_SURFACE_TYPE,
                                             EGL_PBUFFER_BIT,
                                             EGL_RENDERABLE_TYPE,
                                             EGL_OPENGL_BIT,
                                             EGL_RED_SIZE,
                                             8,
                                             EGL_GREEN_SIZE,
                                             8,
                                             EGL_BLUE_SIZE,
                                             8,
                                             EGL_ALPHA_SIZE,
                                             8,
                                             EGL_DEPTH_SIZE,
                                             24,
                                             EGL_STENCIL_SIZE,
                                             8,
                                             EGL_NONE};
  static const EGLint surface_attributes[] = {EGL_WIDTH, 96, EGL_HEIGHT, 64, EGL_NONE};
  const EGLint context_attributes[] = {EGL_CONTEXT_MAJOR_VERSION,
                                       3,
                                       EGL_CONTEXT_MINOR_VERSION,
                                       3,
                                       EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                       compatibility ? EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT
                                                     : EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                       EGL_NONE};
  display = find_display();
  if (display == EGL_NO_DISPLAY) return "no EGL display";
  EGLConfig config;
  EGLint count = 0;
  if (!eglBindAPI(EGL_OPENGL_API)) return "EGL has no OpenGL";
  if (!eglChooseConfig(display, config_attributes, &config, 1, &count) || count == 0)
    return "no EGL configuration";
  surface = eglCreatePbufferSurface(display, config, surface_attributes);
  if (surface == EGL_NO_SURFACE) return "no EGL pixel buffer";
  egl_context = eglCreateContext(display, config, EGL_NO_CONTEXT, context_attributes);
  if (egl_context == EGL_NO_CONTEXT) return "no EGL context of OpenGL 3.3";
  if (!eglMakeCurrent(display, surface, surface, egl_context)) return "the EGL context cannot be made current";
  return load_functions(1);
}

static void make_egl_current(int current) {
  if (egl_context == EGL_NO_CONTEXT) return;
  if (current)
    eglMakeCurrent(display, surface, surface, egl_context);
  else
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

static void close_egl(void) {
  if (display == EGL_NO_DISPLAY) return;
  eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  if (egl_context != EGL_NO_CONTEXT) eglDestroyContext(display, egl_context);
  if (surface != EGL_NO_SURFACE) eglDestroySurface(display, surface);
  egl_context = EGL_NO_CONTEXT;
  surface = EGL_NO_SURFACE;
  display = EGL_NO_DISPLAY; /* not terminated, because the library may share it */
}

#else

static const char *open_egl(int compatibility) {
  (void)compatibility;
  return "there is no EGL here";
}
static void make_egl_current(int current) {
  (void)current;
}
static void close_egl(void) {}

#endif

static const char *open_window(void) {
#if defined(TEXSOLVE_HAVE_GLFW)
  if (!glfwInit()) return "GLFW finds no display";
  glfwDefaultWindowHints();
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_STENCIL_BITS, 8);
  window_handle = glfwCreateWindow(96, 64, "texsolve test", NULL, NULL);
  if (!window_handle) return "GLFW opens no window with OpenGL 3.3";
  glfwMakeContextCurrent(window_handle);
  return load_functions(0);
#else
  return "built without GLFW";
#endif
}

const char *application_open(int window) {
  const char *why = window ? open_window() : open_egl(0);
  if (why) application_close();
  return why;
}

const char *application_open_compatibility(void) {
  const char *why = open_egl(1);
  if (why) application_close();
  return why;
}

int application_lists(const char *extension) {
  GLint count = 0, listed = 0;
  glGetIntegerv(GL_NUM_EXTENSIONS, &count);
  for (GLint i = 0; i < count; i++)
    listed |= !strcmp((const char *)glGetStringi(GL_EXTENSIONS, (GLuint)i), extension);
  return listed;
}

void application_make_current(void) {
#if defined(TEXSOLVE_HAVE_GLFW)
  if (window_handle) glfwMakeContextCurrent(window_handle);
#endif
  make_egl_current(1);
}

void application_release_current(void) {
#if defined(TEXSOLVE_HAVE_GLFW)
  if (window_handle) glfwMakeContextCurrent(NULL);
#endif
  make_egl_current(0);
}

void application_close(void) {
#if defined(TEXSOLVE_HAVE_GLFW)
  if (window_handle) {
    glfwDestroyWindow(window_handle);
    glfwTerminate();
    window_handle = NULL;
  }
#endif
  close_egl();
}

#else

const char *application_open(int window) {
  (void)window;
  return "built without OpenGL";
}
const char *application_open_compatibility(void) {
  return "built without OpenGL";
}
int application_lists(const char *extension) {
  (void)extension;
  return 0;
}
void application_make_current(void) {}
void application_release_current(void) {}
void application_close(void) {}

#endif
