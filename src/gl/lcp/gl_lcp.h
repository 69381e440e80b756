/* Complementarity problems in OpenGL: the textures described in shaders/include/lcp.glsl. */
#ifndef GL_LCP_H
#define GL_LCP_H

#include <float.h>
#include <math.h>

#include "gl/core/gl.h"
#include "lcp/lcp.h"

/* Quads per block when fragments cooperate. */
enum { GL_LCP_BLOCK = 32 };

/* Each kind of texture exists once. In double precision a second one holds the low-order parts. */
enum { GL_LCP_PARTS = 2 };

typedef struct gl_lcp_order gl_lcp_order; /* gl_lcp_sparse.h */

/* The quads of all problems that passes draw: a region of one texture, or of both textures of a pair. */
typedef struct gl_lcp_quads {
  gl_texture *textures[GL_LCP_PARTS];
  int x, y;
} gl_lcp_quads;

typedef struct gl_lcp {
  int quad_rows; /* unknowns per quad: 4, or the 3 of one contact */
  int quads;     /* per problem; the last quad is padded */
  int abreast;   /* matrices side by side */
  int parts;
  int is_symmetric; /* within a tolerance */
  int folded; /* a single problem: the quads of a region form two rows, because rasterizers compute 2 x 2 texels
                 at a time and one row would waste half of that */
  int together;                     /* the fragments of a block form one subgroup and exchange their changes */
  gl_texture *matrix[GL_LCP_PARTS]; /* RGBA32F: a row in a quad's columns (shaders/include/lcp.glsl) */
  gl_texture *lower[GL_LCP_PARTS],
      *upper[GL_LCP_PARTS];            /* RGBA32F: quads. With friction, `lower` is mu and `upper` is NULL */
  gl_lcp_quads w[2], z[2];             /* RGBA32F: a pass reads one and draws into the other */
  gl_lcp_quads exact_w;                /* a pair, for exact residuals of contacts in single precision */
  gl_texture *states[2][GL_LCP_PARTS]; /* RG32F: w and z per row; a pass reads one and draws into the other */
  gl_texture *row[GL_LCP_PARTS]; /* RGBA32F: target of a row's pass that may not draw into z, otherwise NULL */
  gl_lcp_order *orders[2];       /* of sparse problems, which have no other textures: by colours, by levels */
} gl_lcp;

static inline gl_lcp *gl_lcp_of(const ts_lcp *lcp) {
  return lcp->impl;
}

/* Rows of a problem's textures, including padding. */
static inline int gl_lcp_rows(const gl_lcp *impl) {
  return impl->quad_rows * impl->quads;
}

/* A part of a number. Beyond the range of single precision it is the largest float, because GLSL need not
 * support infinities. */
static inline float gl_lcp_part(double value, int part) {
  const float first = value > (double)FLT_MAX ? FLT_MAX : value < -(double)FLT_MAX ? -FLT_MAX : (float)value;
  if (part == 0) return first;
  return fabs(value) > (double)FLT_MAX ? 0 : (float)(value - (double)first);
}

/* A texture, or both textures of a pair, as an input of passes. */
typedef struct gl_lcp_view {
  gl_vector places[GL_LCP_PARTS];
  ts_vector vector, low;
} gl_lcp_view;

/* Whether an exact residual can be computed in pairs, also for problems in single precision. */
static inline int gl_lcp_is_exact(const ts_lcp *lcp, int exact) {
  return exact && lcp->context->caps.pairs;
}

/* The defines for the shader of a residual. */
static inline const char *gl_lcp_map_define(const ts_lcp *lcp, int exact) {
  return exact && !gl_lcp_is_exact(lcp, exact) ? "#define ROUNDS\n" : "";
}

/* ---- gl_lcp_sweep.c ---- */
ts_status gl_lcp_find_subgroups(const ts_lcp *lcp);
const ts_vector *gl_lcp_look(gl_lcp_view *v, const ts_lcp *lcp, gl_texture *const textures[GL_LCP_PARTS]);
void gl_lcp_bind(gl_backend *gl, int unit, int low_unit, gl_texture *const textures[GL_LCP_PARTS]);

TSI_LCP_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, gl_lcp_)

#endif
