/* Complementarity problems in OpenGL: the textures that shaders/include/lcp.glsl describes. */
#ifndef GL_LCP_H
#define GL_LCP_H

#include "gl/core/gl.h"
#include "lcp/lcp.h"

typedef struct gl_lcp {
  int quads;                              /* of 4 unknowns, of a problem, the last one padded */
  int abreast;                            /* matrices side by side */
  gl_texture *matrix;                     /* RGBA32F: 4 columns of a row */
  gl_texture *lower, *upper, *z, *change; /* RGBA32F: quads */
  gl_texture *states[2];                  /* RG32F: w and z; a pass reads one and draws into the other */
  gl_texture *row; /* RGBA32F: what a row's pass draws where it may not draw into z; NULL elsewhere */
} gl_lcp;

static inline gl_lcp *gl_lcp_of(const ts_lcp *lcp) {
  return lcp->impl;
}

TSI_LCP_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, gl_lcp_)

#endif
