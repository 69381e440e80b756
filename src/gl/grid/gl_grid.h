/* Stencil matrices and multigrid levels in OpenGL. Read order: gl_stencil.c, gl_level.c (storage of a level),
 * gl_level_split.c, gl_level_smooth.c, gl_level_transfer.c (between two levels), gl_level_coarsen.c (coarse
 * matrices). */
#ifndef TSI_GL_GRID_H
#define TSI_GL_GRID_H

#include "gl/core/gl.h"
#include "common/grid/grid.h"

/* Texture units of a level's textures. The fields are inputs of a pass. */
enum {
  GL_UNIT_WEIGHTS = 2,             /* 2 units, in place of inputs */
  GL_UNIT_ROW = GL_UNIT_INPUT + 3, /* three parities of x beside the one that is drawn */
  GL_UNIT_COLUMN = GL_UNIT_LOW,
  GL_UNIT_AT_CORNERS = GL_UNIT_LOW + 1,
  GL_UNIT_LAYERS = 4,  /* four points per texel: 9 units; the centre is at GL_UNIT_STENCIL */
  GL_UNIT_STENCIL = 8, /* one point per texel: centre, axis and diagonal couplings */
  GL_UNIT_COARSE = 11  /* the coarse centre, or the dense inverse */
};

/* The coefficients of a grid's stencils, one texel per point: centre (R32F), axis couplings (RGBA32F: west,
 * east, south, north), diagonal couplings (RGBA32F: south-west, south-east, north-west, north-east). The
 * diagonal couplings are NULL if all are 0. Each texture keeps the order of ts_stencil_create. */
enum { GL_CENTRE, GL_SIDES, GL_CORNERS, GL_STENCIL_TEXTURES };

typedef struct gl_stencil {
  gl_texture *textures[GL_STENCIL_TEXTURES];
  int five_point; /* all corner coefficients are 0 */
} gl_stencil;

static inline gl_stencil *gl_stencil_of(const ts_matrix *A) {
  return A->impl;
}

extern const tsi_matrix_kind gl_stencil_kind;
TSI_GRID_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, TSI_PROTOTYPE, gl_)

/* ---- gl_stencil.c ---- */

/* Creates the textures of a stencil over width x height points, with corners only if requested. Creates none of
 * them on failure. */
ts_status gl_stencil_textures_create(ts_context *context, int width, int height, int corners,
                                     gl_texture *textures[GL_STENCIL_TEXTURES]);
void gl_stencil_textures_release(ts_context *context, gl_texture *textures[GL_STENCIL_TEXTURES]);
/* Reads nine values per point. Synchronises with the device. */
ts_status gl_stencil_textures_read(ts_context *context, gl_texture *const textures[GL_STENCIL_TEXTURES],
                                   int five_point, float *values);
void gl_stencil_bind(gl_backend *gl, gl_texture *const textures[GL_STENCIL_TEXTURES], int five_point);

/* ---- Levels ---- */

/* Three fields that take turns as x, and b. They are regions of one texture if passes may read the texture they
 * write and no point is coupled to a point of its own parity. Otherwise each has a separate texture (`apart`).
 * The third x is created when a step without texture barrier needs it. */
enum { GL_FIELD_B = 3, GL_FIELDS = 4 };

typedef struct gl_field {
  ts_vector vector; /* input of a pass; only impl is set, and points to `place` */
  gl_vector place;
} gl_field;

/* Weights of interpolation from the next coarser grid: per cell (plain) and per point. */
enum { GL_CELL_SIDES, GL_CELL_MIDDLE, GL_POINT_SIDES, GL_POINT_CORNERS, GL_WEIGHTS };

typedef struct gl_level {
  int width, height; /* of a field in texels, including the border */
  int apart;
  int packed;        /* parities: a texel holds four points of one row of a region */
  int zero_parities; /* bits of the parities with residual 0 after the last coloured sweep */
  gl_field fields[GL_FIELDS];
  gl_field parts[4][2]; /* packed and apart: two textures for each parity of x (gl_level_split.c) */
  int at[4];            /* where x of a parity is: 0 in its field, 1 or 2 in that texture of `parts` */
  int x, previous;      /* the field that is x, and the one that was x before it (for Chebyshev) */
  int previous_is_zero; /* the previous x is treated as 0 */
  int border_is_stale;  /* layered: the border of x is out of date */
  gl_texture *plain[GL_STENCIL_TEXTURES]; /* of a coarse level; the finest uses its matrix's */
  gl_texture *stored[9];                  /* in the level's storage; unused with plain storage */
  gl_texture *weights[GL_WEIGHTS];
  gl_texture *inverse;
} gl_level;

static inline gl_level *gl_level_of(const tsi_level *level) {
  return level->impl;
}
static inline gl_field *gl_level_x(const tsi_level *level) {
  return &gl_level_of(level)->fields[gl_level_of(level)->x];
}

/* Whether a texel holds four points. Fields are then RGBA32F, and each of the nine coefficients has a
 * texture. */
static inline int gl_level_has_four(const tsi_level *level) {
  return level->storage == TS_GRID_STORAGE_LAYERED || gl_level_of(level)->packed;
}

/* ---- gl_level.c ---- */

/* Prepares a pass of `fragment` on a level: its program and grids. `more` contains defines. `coarse` may be
 * NULL. */
ts_status gl_level_pass(const tsi_level *level, const tsi_level *coarse, const char *fragment, const char *more,
                        gl_pass *pass);
/* gl_level_pass for a shader that reads the level's coefficients. Five-point stencils have separate
 * programs. */
ts_status gl_level_pass_of_rows(const tsi_level *level, const tsi_level *coarse, const char *fragment,
                                const char *more, gl_pass *pass);
/* Bind the level's coefficients in its storage, or plain coefficients. */
void gl_level_bind(const tsi_level *level);
void gl_level_bind_plain(const tsi_level *level);
/* The texture of centre coefficients in the level's storage. */
const gl_texture *gl_level_centre(const tsi_level *level);
/* Draw a whole field, or a part of it relative to the field's origin. */
ts_status gl_level_draw(const tsi_level *level, gl_field *target, gl_pass *pass);
ts_status gl_level_draw_part(const tsi_level *level, gl_field *target, const int part[4], gl_pass *pass);
/* Draws a part of x with a pass that also reads other texels of x: in place, or into another field followed by
 * a copy. */
ts_status gl_level_draw_part_of_x(const tsi_level *level, const int part[4], gl_pass *pass);
/* ---- gl_level_split.c ---- */
/* The field or the texture that x of a parity is in. */
gl_field *gl_level_x_of(const tsi_level *level, int parity);
/* Draws x of a parity into its other texture. */
ts_status gl_level_draw_parity(tsi_level *level, int parity, const int part[4], gl_pass *pass);
/* Puts all parities of x into its field. Does nothing if they are there. */
ts_status gl_level_gather(const tsi_level *level);
/* All parities of x are in its field: a pass has drawn them. */
void gl_level_forget_parts(const tsi_level *level);
void gl_level_release_parts(const tsi_level *level);

/* The region of a parity within a field, as in shaders/include/level.glsl. Returns 0 if the parity has no
 * points. */
int gl_level_parity_part(const tsi_level *level, int parity, int part[4]);
/* Selects the field for the new x when passes read the current one. With `keep_previous`, they may also read
 * the previous one. */
ts_status gl_level_next(tsi_level *level, int keep_previous, int *next);
void gl_level_advance(tsi_level *level, int next);

/* ---- gl_level_smooth.c ---- */
/* The residual. With packed storage, parities with residual 0 are skipped. */
ts_status gl_level_residual(tsi_level *level, int *field);

/* ---- gl_level_transfer.c ---- */
/* Binds two of the weights from the next coarser grid, starting at `first`. */
void gl_level_bind_weights(const tsi_level *fine, int first);

#endif
