/* Sparse complementarity problems in OpenGL: contacts in the order of a sweep.
 *
 * Nothing may be read that is drawn to, and nothing can be scattered. So the contacts of a step, which is drawn
 * at once, are a rectangle of texels; and the velocity of a body has a place for each of its contacts, an
 * incidence: a contact reads it where the body's contact before it in the sweep has left it, the first one
 * where the last one did in the sweep before. shaders/include/lcp_sparse.glsl describes the textures. */
#ifndef GL_LCP_SPARSE_H
#define GL_LCP_SPARSE_H

#include "gl_lcp.h"

typedef struct gl_lcp_rectangle {
  int x, y, width, height;
} gl_lcp_rectangle;

/* Of a colour's or a level's units the contacts with one number in their unit. */
typedef struct gl_lcp_step {
  gl_lcp_rectangle contacts, incidences;
} gl_lcp_step;

struct gl_lcp_order {
  int count;
  gl_lcp_step *steps;
  uint32_t *place;                                        /* of each contact: x | y << 16 */
  int width, height, incidences_width, incidences_height; /* of all of their rectangles */
  int texels;                                             /* of a row of a block, and of a body's velocity */
  int log2_width;                                         /* of textures whose texels have a number */
  gl_texture *contacts, *incidences, *pointers, *places;
  gl_texture *blocks[GL_LCP_PARTS], *mass_blocks[GL_LCP_PARTS], *diagonal[GL_LCP_PARTS];
  gl_texture *z[2][GL_LCP_PARTS]; /* with factors a sweep reads one and draws into the other, else the first */
  gl_texture *v[GL_LCP_PARTS];    /* with factors */
  gl_texture *exact_v[GL_LCP_PARTS]; /* a pair, of problems in single precision: for exact residuals */
  gl_texture *step[GL_LCP_PARTS];    /* what is drawn where it may not be drawn at its place, else NULL */
};

/* ---- gl_lcp_sparse.c ---- */
ts_status gl_lcp_write_sparse(ts_lcp *lcp, tsi_lcp_sparse *sparse);
void gl_lcp_forget_sparse(ts_lcp *lcp);
ts_status gl_lcp_write_limits_sparse(const ts_lcp *lcp);
/* Contacts in colours, or with TS_LCP_SCHEME_ROW in levels, which are made when they are first asked for. */
ts_status gl_lcp_order_of(const ts_lcp *lcp, ts_lcp_scheme scheme, gl_lcp_order **order);

/* ---- gl_lcp_sparse_sweep.c ---- */
ts_status gl_lcp_sweep_sparse(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme,
                              int sweeps);
ts_status gl_lcp_residual_sparse(ts_vector *map, const ts_lcp *lcp, const ts_vector *q, const ts_vector *z,
                                 int exact);

#endif
