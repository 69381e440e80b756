/* texsolve with OpenGL programs: textures behind vectors, and the library's own contexts.
 *
 * Include after your OpenGL loader's header or before it; this header needs none. All functions return
 * TS_ERROR_UNSUPPORTED for objects of another backend. A library built without OpenGL does not contain them.
 */
#ifndef TEXSOLVE_GL_H
#define TEXSOLVE_GL_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a vector is stored: in texels x .. x+width-1, y .. y+height-1 of a GL_TEXTURE_2D whose format is
 * R32F, RG32F or RGBA32F for 1, 2, and 3 or 4 components; over the space of a matrix as bcrs2 or bcrs4, where a
 * texel has 2 or 4 indices, it is RG32F or RGBA32F. Texels that belong to no index hold 0. */
typedef struct ts_gl_texture {
  unsigned texture;
  unsigned internal_format;
  int x, y, width, height;
} ts_gl_texture;

/* The texture behind a vector. The library keeps ownership, and keeps the vector in this texture from now
 * on. Drawing from it in the same OpenGL context sees the results of all calls made before; a context that
 * shares objects with it must bind the texture anew after ts_context_finish. */
TS_API ts_status ts_gl_vector_texture(ts_vector *vector, ts_gl_texture *texture);

/* A vector over `space` that lives in the application's texture, which must be a complete GL_TEXTURE_2D with
 * one level of the width and height that ts_gl_space_size tells and of the format above. Its contents become
 * the vector's; texels that belong to no index must hold 0. The texture stays the application's, must outlive
 * the vector, and must have filters without mipmaps.
 * Errors: TS_ERROR_INVALID_ARGUMENT (names the size, format, level or filter that does not fit), memory. */
TS_API ts_status ts_gl_vector_from_texture(ts_space *space, int components, unsigned texture,
                                           ts_vector **vector);

/* The size in texels of every vector of this space. */
TS_API ts_status ts_gl_space_size(const ts_space *space, int *width, int *height);

/* The texel of every index, relative to the vector's x and y: texels[2*i], texels[2*i+1]. `count` is the
 * number of int32_t and must be 2 * size (TS_ERROR_INVALID_ARGUMENT otherwise). A mesh viewer puts them in a
 * vertex attribute and fetches its positions in the vertex shader. In the space of a matrix as bcrs2 or bcrs4
 * index i is component i % 2 or i % 4 of its texel. */
TS_API ts_status ts_gl_space_texels(const ts_space *space, int32_t *texels, size_t count);

/* A GL_TEXTURE_2D in RG32I format that maps texels back to indices: red is the index or -1 for padding,
 * green is 1 for a locked row; in a space of blocks the first index, and a bit for each locked row. Made on the
 * first call, owned by the space. Errors: memory. */
TS_API ts_status ts_gl_space_index_texture(ts_space *space, unsigned *texture);

/* Makes a context that the library opened itself (EGL or hidden window) current on this thread, so that the
 * caller can draw with it; the library leaves it current from then on. Does nothing for an application's.
 * Errors: TS_ERROR_DEVICE (it is current on another thread). */
TS_API ts_status ts_gl_make_current(ts_context *context);

/* The opposite: such a context is no longer current on this thread, on which the caller keeps it
 * (ts_gl_make_current, TS_CONTEXT_KEEP_CURRENT), and another thread may use it. Does nothing where it is not
 * current, nor for an application's, which the application itself moves from one thread to another.
 * Errors: TS_ERROR_DEVICE (ts_gl_make_current has left it current on another thread). */
TS_API ts_status ts_gl_release_current(ts_context *context);

#ifdef __cplusplus
}
#endif
#endif
