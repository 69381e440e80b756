/* Opens a WebGL 2 context: the application's, which is current, or one on an invisible canvas. */
#include <emscripten.h>
#include <emscripten/html5.h>

#include "gl/core/gl_features.h"
#include "webgl.h"

/* ---- JavaScript ---- */

/* A context on an invisible canvas, or 0 without WebGL 2. Pages may have about 16 contexts and
 * browsers free them late, so a closed one serves again. */
/* clang-format off */
EM_JS(int, webgl_create_context, (void), {
  const closed = (GL.texsolveClosed = GL.texsolveClosed || []);
  while (closed.length) {
    const handle = closed.pop();
    if (!GL.contexts[handle].GLctx.isContextLost()) return handle;
    GL.deleteContext(handle);
  }
  if (typeof OffscreenCanvas == 'undefined' && typeof document == 'undefined') return 0;
  const canvas = typeof OffscreenCanvas == 'undefined' ? document.createElement('canvas') : new OffscreenCanvas(1, 1);
  const attributes = {};
  attributes.alpha = attributes.antialias = attributes.depth = false;
  attributes.powerPreference = 'high-performance';
  const gl = canvas.getContext('webgl2', attributes);
  if (!gl) return 0;
  const registered = {};
  registered.majorVersion = 2;
  registered.minorVersion = registered.enableExtensionsByDefault = 0;
  return GL.registerContext(gl, registered);
});

EM_JS(void, webgl_close_context, (int handle), {
  if (GL.texsolveClosed.length < 4 && !GL.contexts[handle].GLctx.isContextLost())
    GL.texsolveClosed.push(handle);
  else
    GL.deleteContext(handle);
});
/* clang-format on */

/* Sets *is_lost when the browser takes the context away. */
/* clang-format off */
EM_JS(void, webgl_watch, (int handle, int *is_lost), {
  const context = GL.contexts[handle];
  const listener = () => { HEAP32[is_lost >> 2] = 1; };
  (context.texsolveListeners = context.texsolveListeners || {})[is_lost] = listener;
  context.GLctx.canvas.addEventListener('webglcontextlost', listener);
});

EM_JS(void, webgl_unwatch, (int handle, int *is_lost), {
  const context = GL.contexts[handle];
  if (!context) return;
  context.GLctx.canvas.removeEventListener('webglcontextlost', context.texsolveListeners[is_lost]);
  delete context.texsolveListeners[is_lost];
});

EM_JS(int, webgl_is_lost, (int handle), {
  return !GL.contexts[handle] || GL.contexts[handle].GLctx.isContextLost() ? 1 : 0;
});
/* clang-format on */

/* Browsers may hide the device's name. */
/* clang-format off */
EM_JS(void, webgl_renderer, (char *name, int size), {
  const extension = GLctx.getExtension('WEBGL_debug_renderer_info');
  stringToUTF8(GLctx.getParameter(extension ? extension.UNMASKED_RENDERER_WEBGL : GLctx.RENDERER) || 'unknown', name, size);
});
/* clang-format on */

/* Bits of the precision of floats in fragment shaders: 23 for single precision. */
/* clang-format off */
EM_JS(int, webgl_float_bits, (void), {
  const format = GLctx.getShaderPrecisionFormat(GLctx.FRAGMENT_SHADER, GLctx.HIGH_FLOAT);
  return format ? format.precision : 0;
});

EM_JS(int, webgl_is_version_2, (void), { return GLctx.fenceSync ? 1 : 0; });
/* clang-format on */

/* Whether a framebuffer object can draw into this format. Extensions promise it too early. */
/* clang-format off */
EM_JS(int, webgl_draws_into, (int format), {
  const texture = GLctx.createTexture(), framebuffer = GLctx.createFramebuffer();
  const before = [
    GLctx.getParameter(GLctx.TEXTURE_BINDING_2D), GLctx.getParameter(GLctx.DRAW_FRAMEBUFFER_BINDING)
  ];
  GLctx.bindTexture(GLctx.TEXTURE_2D, texture);
  GLctx.texStorage2D(GLctx.TEXTURE_2D, 1, format, 4, 4);
  GLctx.bindFramebuffer(GLctx.DRAW_FRAMEBUFFER, framebuffer);
  GLctx.framebufferTexture2D(GLctx.DRAW_FRAMEBUFFER, GLctx.COLOR_ATTACHMENT0, GLctx.TEXTURE_2D, texture, 0);
  const status = GLctx.checkFramebufferStatus(GLctx.DRAW_FRAMEBUFFER);
  GLctx.bindTexture(GLctx.TEXTURE_2D, before[0]);
  GLctx.bindFramebuffer(GLctx.DRAW_FRAMEBUFFER, before[1]);
  GLctx.deleteFramebuffer(framebuffer);
  GLctx.deleteTexture(texture);
  return status == GLctx.FRAMEBUFFER_COMPLETE ? 1 : 0;
});
/* clang-format on */

/* ---- Contexts ---- */

ts_status webgl_check(ts_context *context) {
  webgl_context *w = webgl_of(context);
  if (!w->is_lost && webgl_is_lost(w->handle)) w->is_lost = 1;
  if (!w->is_lost) return TS_OK;
  return tsi_fail(context, TS_ERROR_DEVICE,
                  "the WebGL context was lost, and with it all objects; destroy them and create a new context");
}

static ts_status enter(ts_context *context) {
  webgl_context *w = webgl_of(context);
  TSI_TRY(webgl_check(context));
  w->before = (int)emscripten_webgl_get_current_context();
  if (w->before == w->handle) return TS_OK;
  if (emscripten_webgl_make_context_current(w->handle) == EMSCRIPTEN_RESULT_SUCCESS) return TS_OK;
  return tsi_fail(context, TS_ERROR_DEVICE, "the WebGL context cannot be made current");
}

static void leave(ts_context *context) {
  const webgl_context *w = webgl_of(context);
  if (w->before && w->before != w->handle) emscripten_webgl_make_context_current(w->before);
}

static ts_status make_current(ts_context *context) {
  TSI_TRY(webgl_check(context));
  emscripten_webgl_make_context_current(webgl_of(context)->handle);
  return TS_OK;
}

static void release(ts_context *context) {
  const webgl_context *w = webgl_of(context);
  if (w->is_ours && (int)emscripten_webgl_get_current_context() == w->handle)
    emscripten_webgl_make_context_current(0);
}

static void close_platform(ts_context *context) {
  webgl_context *w = webgl_of(context);
  webgl_unwatch(w->handle, &w->is_lost);
  release(context);
  if (w->is_ours) webgl_close_context(w->handle);
  tsi_free(context, w->buffer);
  tsi_free(context, w);
  gl_of(context)->platform.impl = NULL;
}

ts_status gl_platform_open(ts_context *context) {
  const ts_gl_platform platform = context->gl.platform;
  if (context->device_index > 0)
    return tsi_fail(context, TS_ERROR_UNAVAILABLE, "device gl:%d: browsers have one device",
                    context->device_index);
  if (platform != TS_GL_PLATFORM_AUTO && platform != TS_GL_PLATFORM_CURRENT)
    return tsi_fail(context, TS_ERROR_UNAVAILABLE,
                    "this texsolve was built without EGL and GLFW; gl.platform is %d, and a browser has "
                    "TS_GL_PLATFORM_AUTO "
                    "and TS_GL_PLATFORM_CURRENT",
                    (int)platform);
  const int is_current = platform == TS_GL_PLATFORM_CURRENT;
  const int handle = is_current ? (int)emscripten_webgl_get_current_context() : webgl_create_context();
  if (!handle)
    return tsi_fail(context, TS_ERROR_UNAVAILABLE,
                    is_current ? "gl.platform is TS_GL_PLATFORM_CURRENT and no WebGL context is current"
                               : "this browser lacks WebGL 2");
  webgl_context *w = tsi_calloc(context, 1, sizeof *w);
  if (!w) return tsi_out_of_memory(context, "a context", sizeof *w);
  *w = (webgl_context){.handle = handle, .is_ours = !is_current};
  gl_of(context)->platform = (gl_platform){enter, leave, make_current, release, close_platform, w};
  webgl_watch(handle, &w->is_lost);
  return TS_OK;
}

/* ---- Functions ---- */

ts_status gl_load_functions(ts_context *context) {
  static const struct {
    GLenum format;
    const char *name;
  } targets[] = {{GL_R32F, "R32F"}, {GL_RG32F, "RG32F"}, {GL_RGBA32F, "RGBA32F"}};
  if (!webgl_is_version_2())
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "the context is WebGL 1; texsolve needs WebGL 2");
  const int bits = webgl_float_bits();
  if (bits < 23)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "floats of fragment shaders have %d bits; texsolve needs single precision (23)", bits);
  const int has_float = emscripten_webgl_enable_extension(webgl_of(context)->handle, "EXT_color_buffer_float");
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
    if (!has_float || !webgl_draws_into((int)targets[i].format))
      return tsi_fail(context, TS_ERROR_UNSUPPORTED, "this device cannot draw into %s textures (%s)",
                      targets[i].name,
                      has_float ? "the framebuffer is incomplete" : "no EXT_color_buffer_float");
  return TS_OK;
}

GLenum gl_error(ts_context *context) {
  if (webgl_check(context) < 0) return GL_CONTEXT_LOST;
#ifdef NDEBUG
  return GL_NO_ERROR;
#else
  return glGetError();
#endif
}

GLenum gl_error_of_storage(ts_context *context, size_t bytes) {
  const size_t small = (size_t)1 << 20;
  return bytes < small ? gl_error(context) : glGetError();
}

GLenum gl_framebuffer_status(void) {
#ifdef NDEBUG
  return GL_FRAMEBUFFER_COMPLETE;
#else
  return glCheckFramebufferStatus(GL_FRAMEBUFFER);
#endif
}

const char *gl_renderer(void) {
  static char name[256]; /* read at once */
  webgl_renderer(name, sizeof name);
  return name;
}

gl_features gl_features_get(void) {
  return (gl_features){.version = 33};
}
