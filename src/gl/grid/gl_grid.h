/* Stencil matrices and multigrid levels on OpenGL. Read order: gl_stencil.c, gl_level.c (a level's storage),
 * gl_level_smooth.c, gl_level_transfer.c (between two levels), gl_level_coarsen.c (coarse matrices). */
#ifndef TSI_GL_GRID_H
#define TSI_GL_GRID_H

#include "gl/core/gl.h"
#include "common/grid/grid.h"

/* Where the textures of a level are bound, beside the fields, which are a pass's inputs. */
enum {
  GL_UNIT_WEIGHTS = 2, /* 2, in the place of inputs */
  GL_UNIT_LAYERS = 4,  /* four points a texel: 9, the centre at GL_UNIT_STENCIL */
  GL_UNIT_STENCIL = 8, /* one point a texel: centre, axis and diagonal couplings */
  GL_UNIT_COARSE = 11  /* the coarse centre; the dense inverse */
};

/* The coefficients of a grid's stencils, a texel a point: centre (R32F), axis couplings (RGBA32F: west, east,
 * south, north), diagonal couplings (RGBA32F: south-west, south-east, north-west, north-east; NULL where all
 * are 0). The order is that of ts_stencil_create within each. */
enum { GL_CENTRE, GL_SIDES, GL_CORNERS, GL_STENCIL_TEXTURES };

typedef struct gl_stencil {
  gl_texture *textures[GL_STENCIL_TEXTURES];
  int five_point; /* the corners are all 0 */
} gl_stencil;

static inline gl_stencil *gl_stencil_of(const ts_matrix *A) {
  return A->impl;
}

extern const tsi_matrix_kind gl_stencil_kind;
TSI_GRID_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, TSI_PROTOTYPE, gl_)

/* ---- gl_stencil.c ---- */

/* The textures of a stencil over width x height points, the corners only if wanted. On failure none is made. */
ts_status gl_stencil_textures_create(ts_context *context, int width, int height, int corners,
                                     gl_texture *textures[GL_STENCIL_TEXTURES]);
void gl_stencil_textures_release(ts_context *context, gl_texture *textures[GL_STENCIL_TEXTURES]);
/* Nine values a point. Synchronises with the device. */
ts_status gl_stencil_textures_read(ts_context *context, gl_texture *const textures[GL_STENCIL_TEXTURES],
                                   int five_point, float *values);
void gl_stencil_bind(gl_backend *gl, gl_texture *const textures[GL_STENCIL_TEXTURES], int five_point);

/* ---- Levels ---- */

/* x and two others that take turns with it, and b. Where passes may read the texture that they write, and no
 * point is a neighbour of its own parity, they are regions of one texture; else each has its own (`apart`). The
 * third x is made when a step without texture barrier needs it. */
enum { GL_FIELD_B = 3, GL_FIELDS = 4 };

typedef struct gl_field {
  ts_vector vector; /* for a pass's inputs; only impl is set, to `place` */
  gl_vector place;
} gl_field;

/* Weights of interpolation from the next coarser grid: of its cells, plain, and of its points. */
enum { GL_CELL_SIDES, GL_CELL_MIDDLE, GL_POINT_SIDES, GL_POINT_CORNERS, GL_WEIGHTS };

typedef struct gl_level {
  int width, height; /* of a field in texels, border included */
  int apart;
  int packed;        /* parities: four points of a row of a region in the channels of a texel */
  int zero_parities; /* bits of the parities whose residual is 0 since the last sweep of colours */
  gl_field fields[GL_FIELDS];
  int x, previous;                        /* which of the fields x is, and which was x before, for Chebyshev */
  int previous_is_zero;                   /* it counts as 0 instead */
  int border_is_stale;                    /* layered: x's border is not in step */
  gl_texture *plain[GL_STENCIL_TEXTURES]; /* of a coarse level; the finest has its matrix's */
  gl_texture *stored[9];                  /* in the level's storage; plain: none */
  gl_texture *weights[GL_WEIGHTS];
  gl_texture *inverse;
} gl_level;

static inline gl_level *gl_level_of(const tsi_level *level) {
  return level->impl;
}
static inline gl_field *gl_level_x(const tsi_level *level) {
  return &gl_level_of(level)->fields[gl_level_of(level)->x];
}

/* Whether a texel holds four points: fields are RGBA32F, and each of nine coefficients is a texture. */
static inline int gl_level_has_four(const tsi_level *level) {
  return level->storage == TS_GRID_STORAGE_LAYERED || gl_level_of(level)->packed;
}

/* ---- gl_level.c ---- */

/* A pass of `fragment` on a level: program and grids. `more`: defines. `coarse` may be NULL. */
ts_status gl_level_pass(const tsi_level *level, const tsi_level *coarse, const char *fragment, const char *more,
                        gl_pass *pass);
/* The same of a shader that reads the level's coefficients: five-point stencils have programs of their own. */
ts_status gl_level_pass_of_rows(const tsi_level *level, const tsi_level *coarse, const char *fragment,
                                const char *more, gl_pass *pass);
/* Binds the level's coefficients as its storage has them, or plain ones. */
void gl_level_bind(const tsi_level *level);
void gl_level_bind_plain(const tsi_level *level);
/* The texture of the centre coefficients in the level's storage. */
const gl_texture *gl_level_centre(const tsi_level *level);
/* Draws all of a field, or a part of it, given from the field's origin. */
ts_status gl_level_draw(const tsi_level *level, gl_field *target, gl_pass *pass);
ts_status gl_level_draw_part(const tsi_level *level, gl_field *target, const int part[4], gl_pass *pass);
/* x, which the pass reads beside its own texel: drawn in place, or in another field and copied. */
ts_status gl_level_draw_part_of_x(const tsi_level *level, const int part[4], gl_pass *pass);
/* The part of a field that a parity is, as shaders/include/level.glsl places it. Returns 0 where it has no
 * points. */
int gl_level_parity_part(const tsi_level *level, int parity, int part[4]);
/* The next field to become x, when passes read the one that is; with `keep_previous`, it may be read too. */
ts_status gl_level_next(tsi_level *level, int keep_previous, int *next);
void gl_level_turn(tsi_level *level, int next);

/* ---- gl_level_smooth.c ---- */
/* Packed: not at the parities where it is 0. */
ts_status gl_level_residual(tsi_level *level, int *field);

/* ---- gl_level_transfer.c ---- */
/* Two of the weights from the next coarser grid, from `first` on. */
void gl_level_bind_weights(const tsi_level *fine, int first);

#endif
