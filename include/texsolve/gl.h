/* texsolve in OpenGL programs: the textures of vectors, and the library's own contexts. In this example the
 * application's OpenGL context is current:
 *
 *   ts_gl_desc gl = {.platform = TS_GL_PLATFORM_CURRENT};
 *   ts_context_desc device = {.backend = "gl", .gl = &gl};
 *   ts_context_create(&device, &context);
 *   // ... a matrix and vectors, and each frame:
 *   ts_gl_texture texture;
 *   ts_solver_solve(solver, b, x, NULL);
 *   ts_gl_vector_get_texture(x, &texture);
 *   glBindTexture(GL_TEXTURE_2D, texture.texture); // x is the texels from (texture.x, texture.y) on: draw them
 *
 * Include this header before or after your OpenGL loader's header; it does not need one. All functions return
 * TS_ERROR_UNSUPPORTED for objects of another backend. A library built without OpenGL does not contain them.
 * Threads, version and errors are as in texsolve.h: the thread that uses the context may call all functions,
 * and an application's OpenGL context must be current.
 *
 * In an application's context (TS_GL_PLATFORM_CURRENT), core or compatibility profile, every call sets the
 * state that it needs and restores the application's before it returns. This covers all state of OpenGL 4.6
 * that affects drawing and transfers, including subroutines and active transform feedback, which is paused.
 * State that OpenGL cannot restore makes each call that draws fail with TS_ERROR_DEVICE, and the message names
 * it:
 * - an active query of GL_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED_CONSERVATIVE or
 *   GL_PRIMITIVES_GENERATED, which would count the library's draws;
 * - conditional rendering (glBeginConditionalRender);
 * - active transform feedback before OpenGL 4.0 or ARB_transform_feedback2, which cannot pause it;
 * - the render modes GL_SELECT and GL_FEEDBACK;
 * - also for calls that do not draw: a display list that is being compiled, and a call between glBegin and
 *   glEnd.
 *
 * Destroying works in each of these cases. Queries of GL_TIME_ELAPSED and of pipeline statistics include the
 * library's work.
 *
 * When the state that it finds has changed, the library also draws known numbers, and checks them when it next
 * reads texels. If they are wrong, for example because of an extension's state, the call that reads returns
 * TS_ERROR_DEVICE. Results computed since the previous read may then be wrong too.
 *
 * In browsers the context is a WebGL 2 context, made current by Emscripten, and
 * textures are named by Emscripten's table (GL.textures). Its state is restored too; active queries are
 * refused. A call selects its context itself. After the browser has taken the context away each call fails with
 * TS_ERROR_DEVICE, and destroying works. Errors of WebGL are looked for in debug builds only.
 *
 * An OpenGL error that the application left is logged as a warning and dropped on entry. The call does not
 * fail, and glGetError does not return the error later. Calls do not leave errors of their own. */
#ifndef TEXSOLVE_GL_H
#define TEXSOLVE_GL_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where an OpenGL backend gets its context. */
typedef enum ts_gl_platform {
  TS_GL_PLATFORM_AUTO = 0, /* EGL; the window in a library without EGL, as on Windows and macOS; in a browser a
                              context on an invisible canvas */
  TS_GL_PLATFORM_EGL = 1,  /* a new off-screen context; does not need a display */
  TS_GL_PLATFORM_WINDOW = 2, /* a hidden GLFW window; needs a display and the main thread */
  TS_GL_PLATFORM_CURRENT = 3 /* the application's context that is current now. It must be current in every call,
                                which restores its state (see above) */
} ts_gl_platform;

enum {
  /* Do not use ARB_texture_barrier and NV_texture_barrier even if the driver has them. */
  TS_GL_NO_TEXTURE_BARRIER = 1,
  /* Leave a context that the library opened itself (EGL) current on the calling thread, instead of making it
   * current in each call (2 us on llvmpipe). Another thread can use it after ts_gl_release_current. */
  TS_GL_KEEP_CURRENT = 2
};

/* Options of an OpenGL context: ts_context_desc.gl. */
typedef struct ts_gl_desc {
  ts_gl_platform platform; /* default: TS_GL_PLATFORM_AUTO */
  int rectangle_width; /* width, in texels, of the rectangles that rows are packed in: a power of two, 4 to 256.
                          Default: the device's, measured by `texsolve bench limits` */
  int rectangle_height;   /* height of the rectangles, in the same range */
  int max_texture_size;   /* maximum size of textures, at least 64. Default: the device's limit */
  unsigned flags;         /* TS_GL_... */
  const char *shader_dir; /* directory with shaders that replace built-in ones. Default: the environment
                             variable TEXSOLVE_SHADER_DIR, otherwise none */
  uint64_t reserved[8];   /* 0 */
} ts_gl_desc;

/* Resolved options of an OpenGL context. */
typedef struct ts_gl_info {
  int rectangle_width, rectangle_height; /* size in texels of the rectangles that rows are packed in */
  int max_texture_size;
  int texture_barrier; /* 1 if passes may read the texture that they render to */
  /* How the driver's compiler is prevented from simplifying sums with significant rounding errors. The library
   * tests this when it creates the context. "precise" (ARB_gpu_shader5), "uniform" or "texel" (bit operations
   * with a 0 from a uniform or a texel), "integer" (errors from the bits of the numbers, about twice as much
   * work), or "none": residuals are then plain sums. It is also "none" with TS_CONTEXT_NO_FUSED_OPERATIONS. */
  const char *exact_sums;
  uint64_t reserved[8];
} ts_gl_info;

/* Returns the properties of an OpenGL context. No host synchronisation. */
TS_API ts_status ts_gl_get_info(const ts_context *context, ts_gl_info *info);

/* Where a vector is stored: texels x .. x+width-1, y .. y+height-1 of a GL_TEXTURE_2D. The format is R32F,
 * RG32F or RGBA32F for 1, 2, and 3 or 4 components. Over the space of a bcrs2 or bcrs4 matrix a texel holds 2
 * or 4 indices of one component, in the format RG32F or RGBA32F. Texels that do not belong to an index hold
 * 0. */
typedef struct ts_gl_texture {
  unsigned texture;
  unsigned internal_format;
  int x, y, width, height;
  uint64_t reserved[2];
} ts_gl_texture;

/* Returns the texture of a vector, which stays in it from now on. The library owns the texture. Draws in the
 * same OpenGL context see the results of all earlier calls. A context that shares objects with it must call
 * ts_context_finish first and bind the texture again. */
TS_API ts_status ts_gl_vector_get_texture(ts_vector *vector, ts_gl_texture *texture);

/* Creates a vector over `space` in the application's texture. The texture must be a complete GL_TEXTURE_2D with
 * one level, the size of ts_gl_space_get_size and the format above. It must have filters without mipmaps,
 * GL_TEXTURE_BASE_LEVEL 0 and no swizzle, and these must not change while the vector exists. The vector has the
 * texture's contents; texels that do not belong to an index must hold 0. The application keeps ownership, and
 * the texture must outlive the vector. Destroy the vector with ts_vector_destroy.
 * Errors: TS_ERROR_INVALID_ARGUMENT (the message names the wrong size, format or parameter), memory. */
TS_API ts_status ts_gl_vector_from_texture(ts_space *space, int components, unsigned texture,
                                           ts_vector **vector);

/* Returns the size in texels of every vector over this space. */
TS_API ts_status ts_gl_space_get_size(const ts_space *space, int *width, int *height);

/* Writes the texel of every index, relative to the vector's x and y, to texels[2*i], texels[2*i+1]. `count` is
 * the number of int32_t, 2 * size (TS_ERROR_INVALID_ARGUMENT otherwise). A mesh viewer stores them in a vertex
 * attribute and fetches positions in the vertex shader. In the space of a bcrs2 or bcrs4 matrix index i is
 * component i % 2 or i % 4 of its texel. */
TS_API ts_status ts_gl_space_get_texels(const ts_space *space, int32_t *texels, size_t count);

/* Returns a GL_TEXTURE_2D in the format RG32I that maps texels to indices: red is the index, or -1 for padding;
 * green is 1 for a constrained row. In the space of a bcrs2 or bcrs4 matrix red is the first index of the
 * texel, and green has one bit per constrained row. The first call creates the texture; the space owns it.
 * Errors: memory. */
TS_API ts_status ts_gl_space_get_index_texture(ts_space *space, unsigned *texture);

/* Makes a context that the library opened itself (EGL or hidden window) current on this thread, where it stays
 * current, so that the caller can draw in it. Calls set the state that they need and do not restore the
 * caller's. They fail in the same states as in an application's context. No effect on an application's context.
 * Errors: TS_ERROR_DEVICE (the context is current on another thread). */
TS_API ts_status ts_gl_make_current(ts_context *context);

/* Releases a context that ts_gl_make_current or TS_GL_KEEP_CURRENT keeps current on this thread, so that
 * another thread can use it. No effect on a context that is not current, or on an application's context, which
 * the application itself moves between threads.
 * Errors: TS_ERROR_DEVICE (ts_gl_make_current keeps the context current on another thread). */
TS_API ts_status ts_gl_release_current(ts_context *context);

#ifdef __cplusplus
}
#endif
#endif
