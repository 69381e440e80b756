/* Sparse matrices of complementarity problems: the nonzero blocks of M, or the factors of M = H M_0^-1 H^T per
 * contact and body. Also the sets of contacts that may be solved at once.
 *
 * A batch is stored as one problem with the contacts of all its problems. In this file an unknown without
 * friction is a contact of dimension 1. */
#ifndef TSI_LCP_SPARSE_H
#define TSI_LCP_SPARSE_H

#include <texsolve/lcp.h>

#include "common/core/core.h"

/* The arrays of ts_lcp_desc, on the host. */
typedef struct tsi_lcp_desc {
  const float *matrix; /* one of four matrices; the other three are NULL */
  const double *double_matrix;
  const tsi_csr *jacobian;
  const tsi_csr *sparse_matrix;
  const double *inverse_mass; /* with jacobian */
  int32_t mass_block;
  const double *lower, *upper, *friction;
} tsi_lcp_desc;

/* A sweep in steps. The units of one step are not neighbours of each other. */
typedef struct tsi_lcp_steps {
  int32_t count;
  int32_t *start; /* step k: units[start[k]] .. units[start[k + 1] - 1], ascending; NULL: not yet made */
  int32_t *units;
} tsi_lcp_steps;

/* Contact c has the blocks row_start[c] .. row_start[c + 1] - 1, each `dimension` x `width`, row by row.
 *
 * Blocks of M: width is the dimension and columns are the contacts except c. The velocity is
 *   u_c = q_c + M_cc z_c + sum of blocks[k] z_columns[k].
 * Factors (mass_blocks is not NULL): width is mass_block, columns are bodies, `blocks` holds H and
 * `mass_blocks` G = H M_0^-1. v = M_0^-1 H^T z, `width` numbers per body, is stored alongside z. The velocity
 * is
 *   u_c = q_c + sum of H_k v_columns[k],  and when z_c changes by dz:  v_columns[k] += G_k^T dz. */
typedef struct tsi_lcp_sparse {
  int32_t contacts, dimension, width;
  int32_t bodies;     /* touched by a contact and moved by forces, per problem; 0 without factors */
  int32_t *row_start; /* contacts + 1 */
  int32_t *columns;   /* ascending within a row */
  double *blocks;
  double *mass_blocks; /* NULL: blocks of M */
  double *diagonal;    /* M_cc of each contact, dimension x dimension, in both forms */
  /* Successive contacts with the same neighbours or the same bodies, such as those of two boxes, form a unit:
   * contacts unit_start[u] .. unit_start[u + 1] - 1. One thread solves them in this order. */
  int32_t units;
  int32_t *unit_start;
  /* Made on first use. A unit's level is 1 + the maximum level of its earlier neighbours, so the iterates are
   * those of the loop. Its colour is the first that no earlier neighbour has. */
  tsi_lcp_steps levels, colours;
  int symmetry;              /* 1: M is symmetric, -1: it is not, 0: not yet tested */
  tsi_memory lists, numbers; /* memory of the arrays above, except steps */
} tsi_lcp_sparse;

#ifdef __cplusplus
extern "C" {
#endif

/* Checks every number and the diagonal of the descriptor, and writes its matrix. `sparse` must be zeroed or
 * already written. After a failure it may only be written again or destroyed. */
ts_status tsi_lcp_sparse_write(const ts_lcp *lcp, const tsi_lcp_desc *desc, tsi_lcp_sparse *sparse);
/* May be NULL. */
void tsi_lcp_sparse_destroy(ts_context *context, tsi_lcp_sparse *sparse);
/* Whether M is symmetric, except for TSI_LCP_SLACK. The product of factors always is. */
int tsi_lcp_sparse_is_symmetric(tsi_lcp_sparse *sparse);
/* Resolves TS_LCP_STORAGE_AUTO for a descriptor that is not yet checked. */
ts_lcp_storage tsi_lcp_choose_storage(const ts_lcp *lcp, const tsi_lcp_desc *desc);

/* ---- lcp_steps.c ---- */
/* Fills unit_start from row_start and columns. */
void tsi_lcp_make_units(tsi_lcp_sparse *sparse);
/* The levels of TS_LCP_SCHEME_GRAPH or the colours of TS_LCP_SCHEME_COLOUR, for lcp->sparse. Borrowed. */
ts_status tsi_lcp_steps_of(const ts_lcp *lcp, ts_lcp_scheme scheme, const tsi_lcp_steps **steps);

#ifdef __cplusplus
}
#endif

#endif
