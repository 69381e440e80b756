/* Small helpers around OpenGL for programs that draw. Functions return NULL, or why they failed. */
#ifndef VIEW_GL_H
#define VIEW_GL_H

#include <stddef.h>

/* Loads OpenGL's functions for the context that is current. */
const char *view_gl_load(void);
/* Everything off that may hide or change what is drawn. */
void view_gl_plain_state(void);

/* Says which OpenGL error has happened up to `what`, if any. */
const char *view_gl_check(const char *what);

typedef struct view_gl_source {
  const char *name, *text;
} view_gl_source;
/* Of a header that demo_embed made. */
#define VIEW_GL_SHADER(name, kind) ((view_gl_source){#name "." #kind, name##_##kind})

/* Uses a program, and makes it where it is 0, which it stays on failure. `defines`: lines of the preprocessor
 * before both sources. The sampler uniforms `samplers` (until NULL; NULL: none) get the units 0, 1, ... */
const char *view_gl_program(const char *defines, view_gl_source vertex, view_gl_source fragment,
                            const char *const *samplers, unsigned *program);

/* A texture with one level, bound to unit 0 with no upload buffer and tight rows, ready for glTexImage2D. */
unsigned view_gl_texture(int filter);

/* Lists of any length are cut into rows of a texture. */
enum { VIEW_GL_ROW = 4096 };
int view_gl_rows(size_t count);
/* Entries of `entry_bytes` each, in a texture of its own. */
const char *view_gl_list(const void *entries, size_t count, size_t entry_bytes, int internal_format,
                         unsigned format, unsigned type, unsigned *texture);

int view_gl_uniform(unsigned program, const char *name);
/* Binds textures to the units 0, 1, ... */
void view_gl_bind(const unsigned *textures, int count);
/* Vertices without attributes, of which a vertex array (made where it is 0) has none. Three make a triangle
 * over the viewport, by whole.vert. */
void view_gl_draw_vertices(unsigned *empty_array, unsigned mode, int count);

/* Where one draws off the screen: colour and depth of this size, with so many samples a pixel or 0. It is bound
 * when it was made. A canvas of zeros is none; its size never changes. */
typedef struct view_gl_canvas {
  unsigned framebuffer, colour, depth;
} view_gl_canvas;

const char *view_gl_make_canvas(view_gl_canvas *canvas, int samples, int width, int height);
void view_gl_destroy_canvas(view_gl_canvas *canvas);
/* A canvas without samples as RGB, 3 x width x height bytes, top row first. It stays bound to be read. */
const char *view_gl_read_picture(const view_gl_canvas *canvas, int width, int height, unsigned char *rgb);

/* Draws into the framebuffer that is bound, over width x height pixels. */
typedef const char *view_gl_draw(void *user, int width, int height);

/* A picture in a window. It is drawn off the screen, and only when something in it has changed, so that the
 * controls stay quick where drawing is slow. */
typedef struct view_gl_screen {
  view_gl_canvas many, picture; /* the first has several samples a pixel, or is none */
  int width, height, stale;
} view_gl_screen;

/* Into the window's framebuffer, `left` pixels from its left edge. */
const char *view_gl_show(view_gl_screen *screen, int left, int width, int height, view_gl_draw *draw,
                         void *user);
void view_gl_destroy_screen(view_gl_screen *screen);

/* A picture of its own: RGB, 3 x width x height bytes, top row first. `samples`: at most so many a pixel, for
 * anti-aliasing; 0: none. The framebuffers that were bound are bound afterwards. */
enum { VIEW_GL_SAMPLES = 8 }; /* of a picture that may take its time */
const char *view_gl_picture(view_gl_draw *draw, void *user, int samples, int width, int height,
                            unsigned char *rgb);

#endif
