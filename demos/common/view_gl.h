/* OpenGL helpers for programs that draw. Functions that return text return NULL on success, or the reason of a
 * failure. */
#ifndef VIEW_GL_H
#define VIEW_GL_H

#include <stddef.h>

/* Loads OpenGL's functions for the current context. */
const char *view_gl_load(void);
/* Disables all state that could hide or change what is drawn. */
void view_gl_plain_state(void);

/* Reports an OpenGL error that happened until now. `what` names the operation. */
const char *view_gl_check(const char *what);

typedef struct view_gl_source {
  const char *name, *text;
} view_gl_source;
/* Source in a header made by demo_embed. */
#define VIEW_GL_SHADER(name, kind) ((view_gl_source){#name "." #kind, name##_##kind})

/* Uses a program. If *program is 0 it is compiled first; on failure it stays 0. `defines` is inserted before
 * both sources. The sampler uniforms in `samplers`, a list that ends with NULL, get the units 0, 1, ...
 * `samplers` may be NULL. */
const char *view_gl_program(const char *defines, view_gl_source vertex, view_gl_source fragment,
                            const char *const *samplers, unsigned *program);

/* A texture with one level, bound to unit 0. No unpack buffer is bound and the row alignment is 1, ready for
 * glTexImage2D. */
unsigned view_gl_texture(int filter);

/* Lists of any length are stored in texture rows of this width. */
enum { VIEW_GL_ROW = 4096 };
int view_gl_rows(size_t count);
/* Creates a texture with `count` entries of `entry_bytes` each. */
const char *view_gl_list(const void *entries, size_t count, size_t entry_bytes, int internal_format,
                         unsigned format, unsigned type, unsigned *texture);

int view_gl_uniform(unsigned program, const char *name);
/* Binds textures to the units 0, 1, ... */
void view_gl_bind(const unsigned *textures, int count);
/* Draws vertices without attributes. *empty_array is created if it is 0. Three vertices with whole.vert make a
 * triangle that covers the viewport. */
void view_gl_draw_vertices(unsigned *empty_array, unsigned mode, int count);

/* An off-screen framebuffer with colour and depth. `samples` per pixel may be 0. It is bound after creation. A
 * canvas of zeros does not exist yet. Its size never changes. */
typedef struct view_gl_canvas {
  unsigned framebuffer, colour, depth;
} view_gl_canvas;

const char *view_gl_make_canvas(view_gl_canvas *canvas, int samples, int width, int height);
void view_gl_destroy_canvas(view_gl_canvas *canvas);
/* Reads a canvas without multisampling as RGB, 3 x width x height bytes, top row first. The canvas stays bound
 * for reading. */
const char *view_gl_read_picture(const view_gl_canvas *canvas, int width, int height, unsigned char *rgb);

/* Draws width x height pixels into the bound framebuffer. */
typedef const char *view_gl_draw(void *user, int width, int height);

/* A picture in a window. It is drawn off the screen, and only after something in it has changed, so that the
 * controls stay responsive if drawing is slow. */
typedef struct view_gl_screen {
  /* `many` is multisampled; it does not exist if the driver is a software rasterizer */
  view_gl_canvas many, picture;
  int width, height, stale;
} view_gl_screen;

/* Draws to the window's framebuffer, `left` pixels from its left edge. */
const char *view_gl_show(view_gl_screen *screen, int left, int width, int height, view_gl_draw *draw,
                         void *user);
void view_gl_destroy_screen(view_gl_screen *screen);

/* Draws a picture off the screen: RGB, 3 x width x height bytes, top row first. `samples` is the maximum number
 * of samples per pixel; 0: no antialiasing. Restores the framebuffer bindings. */
enum { VIEW_GL_SAMPLES = 8 }; /* for pictures that may take longer */
const char *view_gl_picture(view_gl_draw *draw, void *user, int samples, int width, int height,
                            unsigned char *rgb);

#endif
