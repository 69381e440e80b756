/* Complementarity problems in OpenGL: the textures that shaders/include/lcp.glsl describes. */
#ifndef GL_LCP_H
#define GL_LCP_H

#include <float.h>
#include <math.h>

#include "gl/core/gl.h"
#include "lcp/lcp.h"

/* Quads of a block where fragments work together. */
enum { GL_LCP_BLOCK = 32 };

/* Of each texture there is one, or in double precision a second one with the second parts of numbers. */
enum { GL_LCP_PARTS = 2 };

typedef struct gl_lcp_order gl_lcp_order; /* gl_lcp_sparse.h */

/* Quads of all problems that passes draw: a region of a texture, or of the two of a pair. */
typedef struct gl_lcp_quads {
  gl_texture *textures[GL_LCP_PARTS];
  int x, y;
} gl_lcp_quads;

typedef struct gl_lcp {
  int quad_rows; /* unknowns of a quad: 4, or 3 of one contact */
  int quads;     /* of a problem, the last one padded */
  int abreast;   /* matrices side by side */
  int parts;
  int is_symmetric; /* nearly */
  int folded; /* the quads of a region stand in two rows, where there is one problem: rasterizers compute 2 x 2
                 texels at a time, and with one row half of that is lost */
  int together; /* fragments of a block are in one subgroup and tell each other their changes */
  gl_texture *matrix[GL_LCP_PARTS]; /* RGBA32F: a row in the columns of a quad (shaders/include/lcp.glsl) */
  gl_texture *lower[GL_LCP_PARTS],
      *upper[GL_LCP_PARTS];            /* RGBA32F: quads. With friction `lower` is mu, and `upper` NULL */
  gl_lcp_quads w[2], z[2];             /* RGBA32F: a pass reads one and draws into the other */
  gl_lcp_quads exact_w;                /* a pair, of contacts in single precision: for exact residuals */
  gl_texture *states[2][GL_LCP_PARTS]; /* RG32F: w and z by rows, the same */
  gl_texture *row[GL_LCP_PARTS]; /* RGBA32F: what a row's pass draws where it may not draw into z, else NULL */
  gl_lcp_order *orders[2];       /* of sparse problems, which have no other textures: by colours; by levels */
} gl_lcp;

static inline gl_lcp *gl_lcp_of(const ts_lcp *lcp) {
  return lcp->impl;
}

/* Rows of a problem's textures, padding counted. */
static inline int gl_lcp_rows(const gl_lcp *impl) {
  return impl->quad_rows * impl->quads;
}

/* What a part holds of a number, and of a number beyond single precision, its limit: GLSL need not know
 * infinities. */
static inline float gl_lcp_part(double value, int part) {
  const float first = value > (double)FLT_MAX ? FLT_MAX : value < -(double)FLT_MAX ? -FLT_MAX : (float)value;
  if (part == 0) return first;
  return fabs(value) > (double)FLT_MAX ? 0 : (float)(value - (double)first);
}

/* A texture, or the two of a pair, as an input of passes. */
typedef struct gl_lcp_view {
  gl_vector places[GL_LCP_PARTS];
  ts_vector vector, low;
} gl_lcp_view;

/* Whether an exact residual, of a problem in single precision too, may be computed in pairs. */
static inline int gl_lcp_is_exact(const ts_lcp *lcp, int exact) {
  return exact && lcp->context->caps.pairs;
}

/* What the shader of a residual is told. */
static inline const char *gl_lcp_map_define(const ts_lcp *lcp, int exact) {
  return exact && !gl_lcp_is_exact(lcp, exact) ? "#define ROUNDS\n" : "";
}

/* ---- gl_lcp_sweep.c ---- */
ts_status gl_lcp_find_subgroups(const ts_lcp *lcp);
const ts_vector *gl_lcp_look(gl_lcp_view *v, const ts_lcp *lcp, gl_texture *const textures[GL_LCP_PARTS]);
void gl_lcp_bind(gl_backend *gl, int unit, int low_unit, gl_texture *const textures[GL_LCP_PARTS]);

TSI_LCP_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, gl_lcp_)

#endif
