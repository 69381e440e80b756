/* Stencil matrices and multigrid levels on OpenGL. Read order: gl_stencil.c, gl_level.c (a level's storage),
 * gl_level_smooth.c, gl_level_transfer.c (between two levels), gl_level_coarsen.c (coarse matrices). */
#ifndef TSI_GL_GRID_H
#define TSI_GL_GRID_H

#include "gl.h"
#include "grid.h"

/* Where the textures of a level are bound, beside the fields, which are a pass's inputs. */
enum {
  GL_UNIT_WEIGHTS = 2, /* 2, in the place of inputs */
  GL_UNIT_STENCIL = 8, /* plain and parities: centre, sides, corners */
  GL_UNIT_LAYERS = 4   /* layered: 9, the centre at GL_UNIT_STENCIL */
};

/* The coefficients of a grid's stencils, a texel a point: centre (R32F), sides (RGBA32F: west, east, south,
 * north), corners (RGBA32F: south-west, south-east, north-west, north-east; NULL where all have been 0 so far).
 * The order is that of ts_stencil_create within each. */
enum { GL_CENTRE, GL_SIDES, GL_CORNERS, GL_STENCIL_TEXTURES };

typedef struct gl_stencil {
  gl_texture *textures[GL_STENCIL_TEXTURES];
  int five_point; /* the corners are all 0 */
} gl_stencil;

static inline gl_stencil *gl_stencil_of(const ts_matrix *A) {
  return A->impl;
}

/* ---- gl_stencil.c ---- */
ts_status gl_stencil_create(ts_matrix *A, const float *values);
ts_status gl_stencil_write(ts_matrix *A, const float *values);
ts_status gl_stencil_read(const ts_matrix *A, float *values);
void gl_stencil_destroy(ts_matrix *A);
ts_status gl_stencil_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x);
/* low NULL: b - A x */
ts_status gl_stencil_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x,
                              const ts_vector *low);
ts_status gl_stencil_diagonal(ts_vector *d, const ts_matrix *A);
ts_status gl_add_to_pair(ts_vector *x, ts_vector *low, const ts_vector *e);

/* The textures of a stencil over width x height points, the corners only if wanted. On failure none is made. */
ts_status gl_stencil_textures_create(ts_context *context, int width, int height, int corners,
                                     gl_texture *textures[GL_STENCIL_TEXTURES]);
void gl_stencil_textures_release(ts_context *context, gl_texture *textures[GL_STENCIL_TEXTURES]);
/* Nine values a point. Waits. */
ts_status gl_stencil_textures_read(ts_context *context, gl_texture *const textures[GL_STENCIL_TEXTURES],
                                   int five_point, float *values);
void gl_stencil_bind(gl_backend *gl, gl_texture *const textures[GL_STENCIL_TEXTURES], int five_point);

#endif
