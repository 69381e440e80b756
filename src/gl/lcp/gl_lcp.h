/* Complementarity problems in OpenGL: the textures that shaders/include/lcp.glsl describes. */
#ifndef GL_LCP_H
#define GL_LCP_H

#include "gl/core/gl.h"
#include "lcp/lcp.h"

/* Of each texture there is one, or in double precision a second one with the second parts of numbers. */
enum { GL_LCP_PARTS = 2 };

typedef struct gl_lcp {
  int quad_rows; /* unknowns of a quad: 4, or 3 of one contact */
  int quads;     /* of a problem, the last one padded */
  int abreast;   /* matrices side by side */
  int parts;
  gl_texture *matrix[GL_LCP_PARTS]; /* RGBA32F: the columns of a quad in a row */
  gl_texture *lower[GL_LCP_PARTS], *upper[GL_LCP_PARTS], *z[GL_LCP_PARTS],
      *change[GL_LCP_PARTS];           /* RGBA32F: quads. With friction `lower` is mu, and `upper` NULL */
  gl_texture *states[2][GL_LCP_PARTS]; /* RG32F: w and z; a pass reads one and draws into the other */
  gl_texture *row[GL_LCP_PARTS]; /* RGBA32F: what a row's pass draws where it may not draw into z, else NULL */
} gl_lcp;

static inline gl_lcp *gl_lcp_of(const ts_lcp *lcp) {
  return lcp->impl;
}

/* Rows of a problem's textures, padding counted. */
static inline int gl_lcp_rows(const gl_lcp *impl) {
  return impl->quad_rows * impl->quads;
}

TSI_LCP_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, gl_lcp_)

#endif
