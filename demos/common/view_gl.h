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

/* `defines`: lines of the preprocessor before both sources. A program that fails is 0. */
const char *view_gl_program(const char *defines, view_gl_source vertex, view_gl_source fragment,
                            unsigned *program);

/* A texture with one level, bound to unit 0 with no upload buffer and tight rows, ready for glTexImage2D. */
unsigned view_gl_texture(int filter);

/* Lists of any length are cut into rows of a texture. */
enum { VIEW_GL_ROW = 4096 };
int view_gl_rows(size_t count);
/* Entries of `entry_bytes` each, in a texture of its own. */
const char *view_gl_list(const void *entries, size_t count, size_t entry_bytes, int internal_format,
                         unsigned format, unsigned type, unsigned *texture);

/* Gives the sampler uniforms `names` (until NULL) the units 0, 1, ...; the program is used from now on. */
void view_gl_samplers(unsigned program, const char *const *names);
int view_gl_uniform(unsigned program, const char *name);
/* Binds textures to the units 0, 1, ... */
void view_gl_bind(const unsigned *textures, int count);

/* Where one draws off the screen: colour and depth of this size, with so many samples a pixel or 0. It is bound
 * when it was made. A canvas of zeros is none; its size never changes. */
typedef struct view_gl_canvas {
  unsigned framebuffer, colour, depth;
} view_gl_canvas;

const char *view_gl_make_canvas(view_gl_canvas *canvas, int samples, int width, int height);
void view_gl_destroy_canvas(view_gl_canvas *canvas);
/* Of another size, for a window: one to draw on with up to 4 samples a pixel, which stays none in software, and
 * one without samples for the picture. */
const char *view_gl_make_canvases(view_gl_canvas *many, view_gl_canvas *picture, int width, int height);
/* A canvas without samples as RGB, 3 x width x height bytes, top row first. It stays bound to be read. */
const char *view_gl_read_picture(const view_gl_canvas *canvas, int width, int height, unsigned char *rgb);
/* Copies colours between framebuffers of this size, `left` pixels to the right; both stay bound. */
void view_gl_copy(unsigned from, unsigned to, int left, int width, int height);

#endif
