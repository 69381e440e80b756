/* Sparse complementarity problems in OpenGL: contacts in the order of a sweep.
 *
 * A pass cannot read what it draws, and it cannot scatter. So the contacts of a step, which are drawn at once,
 * form a rectangle of texels. The velocity of a body has one position per contact of that body, an incidence. A
 * contact reads the velocity from the incidence of the body's previous contact in the sweep. The first contact
 * reads the incidence of the last contact in the previous sweep. The textures are described in
 * shaders/include/lcp_sparse.glsl. */
#ifndef GL_LCP_SPARSE_H
#define GL_LCP_SPARSE_H

#include "gl_lcp.h"

typedef struct gl_lcp_rectangle {
  int x, y, width, height;
} gl_lcp_rectangle;

/* The contacts with the same number within their unit, over all units of a colour or level. */
typedef struct gl_lcp_step {
  gl_lcp_rectangle contacts, incidences;
} gl_lcp_step;

struct gl_lcp_order {
  int count;
  gl_lcp_step *steps;
  uint32_t *place;                                        /* per contact: x | y << 16 */
  int width, height, incidences_width, incidences_height; /* of the area that all rectangles cover */
  int texels;                                             /* per row of a block and per velocity of a body */
  int log2_width;                                         /* of textures with one number per texel */
  gl_texture *contacts, *incidences, *pointers, *places;
  gl_texture *blocks[GL_LCP_PARTS], *mass_blocks[GL_LCP_PARTS], *diagonal[GL_LCP_PARTS];
  gl_texture *z[2][GL_LCP_PARTS];    /* with factors, a sweep reads one and draws into the other; else z[0] */
  gl_texture *v[GL_LCP_PARTS];       /* only with factors */
  gl_texture *exact_v[GL_LCP_PARTS]; /* a pair, for exact residuals of problems in single precision */
  gl_texture *step[GL_LCP_PARTS];    /* target of draws that may not draw in place, otherwise NULL */
};

/* ---- gl_lcp_sparse.c ---- */
ts_status gl_lcp_write_sparse(ts_lcp *lcp, tsi_lcp_sparse *sparse);
void gl_lcp_forget_sparse(ts_lcp *lcp);
ts_status gl_lcp_write_limits_sparse(const ts_lcp *lcp);
/* The order of the contacts by colours, or by levels for TS_LCP_SCHEME_ROW. Created on first use. */
ts_status gl_lcp_order_of(const ts_lcp *lcp, ts_lcp_scheme scheme, gl_lcp_order **order);

/* ---- gl_lcp_sparse_sweep.c ---- */
ts_status gl_lcp_sweep_sparse(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme,
                              int sweeps);
ts_status gl_lcp_residual_sparse(ts_vector *map, const ts_lcp *lcp, const ts_vector *q, const ts_vector *z,
                                 int exact);

#endif
