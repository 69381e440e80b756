/* texsolve with OpenGL programs: textures behind vectors, and the library's own contexts. In the application's
 * OpenGL context, which is current:
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
 * Include before or after your OpenGL loader's header; this header needs none. All functions return
 * TS_ERROR_UNSUPPORTED for objects of another backend. A library built without OpenGL does not contain them.
 * Threads, version and errors are as in texsolve.h: the thread that uses the context may call all functions; an
 * application's OpenGL context must be current.
 *
 * In an application's context (TS_GL_PLATFORM_CURRENT), core or compatibility profile, every call sets the
 * state that it needs and restores the application's before it returns: all state of OpenGL 4.6 that touches
 * drawing and transfers, active transform feedback (it is paused) and subroutines included. What OpenGL cannot
 * restore is an error, TS_ERROR_DEVICE, of each call that draws, and the message names it:
 * - an active query of GL_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED_CONSERVATIVE or
 *   GL_PRIMITIVES_GENERATED, which would count what the library draws;
 * - conditional rendering (glBeginConditionalRender);
 * - active transform feedback before OpenGL 4.0 or ARB_transform_feedback2, which cannot pause it;
 * - the render modes GL_SELECT and GL_FEEDBACK;
 * - of calls that do not draw too: a display list that is being compiled, and a call between glBegin and glEnd.
 * Destroying works in each of these cases. Queries of GL_TIME_ELAPSED and of the pipeline's statistics include
 * the library's work.
 *
 * The library also draws known numbers when the state that it finds has changed, and checks them when it next
 * reads texels. A call that reads returns TS_ERROR_DEVICE if they are wrong, because of a state of an
 * extension, say: what was computed since the read before may be wrong too.
 *
 * An OpenGL error that the application has left is logged as a warning and dropped on entry; it fails no call,
 * and glGetError does not return it later. A call leaves no error of its own.
 */
#ifndef TEXSOLVE_GL_H
#define TEXSOLVE_GL_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where an OpenGL backend takes its context from. */
typedef enum ts_gl_platform {
  TS_GL_PLATFORM_AUTO = 0,   /* EGL; the window in a library without EGL, as on Windows and macOS */
  TS_GL_PLATFORM_EGL = 1,    /* an off-screen context of its own, no display needed */
  TS_GL_PLATFORM_WINDOW = 2, /* a hidden GLFW window of its own; needs a display, and the main thread */
  TS_GL_PLATFORM_CURRENT = 3 /* the application's context that is current now. Every call must find it
                                current, and restores its state before it returns (see above) */
} ts_gl_platform;

enum {
  /* Do without ARB_texture_barrier and NV_texture_barrier even if the driver has them. */
  TS_GL_NO_TEXTURE_BARRIER = 1,
  /* Leave a context that the library opened itself (EGL) current on the thread that called, instead of making
     it current in each call (2 us on llvmpipe). Another thread can use it after ts_gl_release_current. */
  TS_GL_KEEP_CURRENT = 2
};

/* Options of an OpenGL context: ts_context_desc.gl. */
typedef struct ts_gl_desc {
  ts_gl_platform platform; /* default: TS_GL_PLATFORM_AUTO */
  int rectangle_width;    /* size in texels of the rectangles that rows are packed in: a power of two, 4 to 256.
                             Default: the device's; `texsolve bench limits` measures it */
  int rectangle_height;   /* the same for the other side */
  int max_texture_size;   /* use textures no larger than this, at least 64; default: the device's limit */
  unsigned flags;         /* TS_GL_... */
  const char *shader_dir; /* read shaders from this directory before the built-in ones; default: the environment
                             variable TEXSOLVE_SHADER_DIR, then built in */
  uint64_t reserved[8];   /* 0 */
} ts_gl_desc;

/* What an OpenGL context resolved of its options. */
typedef struct ts_gl_info {
  int rectangle_width, rectangle_height; /* texels of the rectangles that rows are packed in */
  int max_texture_size;
  int texture_barrier; /* 1 if passes may read the texture that they render to */
  /* What keeps the driver's compiler from simplifying sums whose rounding errors count, found by trying when
   * the context was created: "precise" (ARB_gpu_shader5), "uniform" or "texel" (bit operations with a 0 from
   * there), or "none", with which residuals are plain sums; so with TS_CONTEXT_NO_FUSED_OPERATIONS. */
  const char *exact_sums;
  uint64_t reserved[8];
} ts_gl_info;

/* Returns the properties of an OpenGL context. No host synchronisation. */
TS_API ts_status ts_gl_get_info(const ts_context *context, ts_gl_info *info);

/* Where a vector is stored: texels x .. x+width-1, y .. y+height-1 of a GL_TEXTURE_2D in the format R32F, RG32F
 * or RGBA32F for 1, 2, and 3 or 4 components. Over the space of a bcrs2 or bcrs4 matrix a texel holds 2 or 4
 * indices of one component, in the format RG32F or RGBA32F. Texels that belong to no index hold 0. */
typedef struct ts_gl_texture {
  unsigned texture;
  unsigned internal_format;
  int x, y, width, height;
  uint64_t reserved[2];
} ts_gl_texture;

/* Returns the texture behind a vector, in which the vector stays from now on. The library owns the texture.
 * Draws in the same OpenGL context see the results of all earlier calls; a context that shares objects with it
 * must call ts_context_finish first and bind the texture again. */
TS_API ts_status ts_gl_vector_get_texture(ts_vector *vector, ts_gl_texture *texture);

/* Creates a vector over `space` in the application's texture: a complete GL_TEXTURE_2D with one level, of the
 * size of ts_gl_space_get_size and the format above, with filters without mipmaps, GL_TEXTURE_BASE_LEVEL 0 and
 * no swizzle, which must not change while the vector exists. The texture's contents become the vector's; texels
 * that belong to no index must hold 0. The application keeps ownership, and the texture must outlive the
 * vector. Destroy the vector with ts_vector_destroy. Errors: TS_ERROR_INVALID_ARGUMENT (names the size, format
 * or parameter that does not fit), memory. */
TS_API ts_status ts_gl_vector_from_texture(ts_space *space, int components, unsigned texture,
                                           ts_vector **vector);

/* Returns the size in texels of every vector over this space. */
TS_API ts_status ts_gl_space_get_size(const ts_space *space, int *width, int *height);

/* Writes the texel of every index, relative to the vector's x and y, to texels[2*i], texels[2*i+1]. `count` is
 * the number of int32_t, 2 * size (TS_ERROR_INVALID_ARGUMENT otherwise). A mesh viewer stores them in a vertex
 * attribute and fetches positions in the vertex shader. In the space of a bcrs2 or bcrs4 matrix index i is
 * component i % 2 or i % 4 of its texel. */
TS_API ts_status ts_gl_space_get_texels(const ts_space *space, int32_t *texels, size_t count);

/* Returns a GL_TEXTURE_2D in the format RG32I that maps texels to indices: red is the index or -1 for padding,
 * green is 1 for a constrained row; in the space of a bcrs2 or bcrs4 matrix red is the first index of the texel
 * and green has a bit for each constrained row. Created by the first call, owned by the space. Errors: memory.
 */
TS_API ts_status ts_gl_space_get_index_texture(ts_space *space, unsigned *texture);

/* Makes a context that the library opened itself (EGL or hidden window) current on this thread, so that the
 * caller can draw in it; it stays current. Calls set the state that they need and do not restore the caller's;
 * they refuse what is refused in an application's context. No effect on an application's context. Errors:
 * TS_ERROR_DEVICE (it is current on another thread). */
TS_API ts_status ts_gl_make_current(ts_context *context);

/* Releases a context that ts_gl_make_current or TS_GL_KEEP_CURRENT keeps current on this thread, so that
 * another thread can use it. No effect if it is not current, nor on an application's context, which the
 * application itself moves between threads.
 * Errors: TS_ERROR_DEVICE (ts_gl_make_current keeps it current on another thread). */
TS_API ts_status ts_gl_release_current(ts_context *context);

#ifdef __cplusplus
}
#endif
#endif
