/* Sparse matrices of complementarity problems: the blocks of M that are not 0, or the factors of
 * M = H M_0^-1 H^T by contact and body; and which contacts may be solved at once.
 *
 * A batch is one problem whose contacts are those of all of its problems. In this file an unknown without
 * friction is a contact of dimension 1. */
#ifndef TSI_LCP_SPARSE_H
#define TSI_LCP_SPARSE_H

#include <texsolve/lcp.h>

#include "common/core/core.h"

/* The arrays of ts_lcp_desc on the host. */
typedef struct tsi_lcp_desc {
  const float *matrix; /* one of four, of which the other three are NULL */
  const double *double_matrix;
  const tsi_csr *jacobian;
  const tsi_csr *sparse_matrix;
  const double *inverse_mass; /* with jacobian */
  int32_t mass_block;
  const double *lower, *upper, *friction;
} tsi_lcp_desc;

/* A sweep in steps: the units of a step have no neighbours among each other. */
typedef struct tsi_lcp_steps {
  int32_t count;
  int32_t *start; /* step k: units[start[k]] .. units[start[k + 1] - 1], ascending; NULL: not made yet */
  int32_t *units;
} tsi_lcp_steps;

/* Contact c has the blocks row_start[c] .. row_start[c + 1] - 1, each `dimension` x `width`, row by row.
 *
 * Blocks of M: width is the dimension, columns are contacts, c not among them. The velocity is
 *   u_c = q_c + M_cc z_c + sum of blocks[k] z_columns[k].
 * Factors (mass_blocks is not NULL): width is mass_block, columns are bodies, `blocks` H and `mass_blocks`
 * G = H M_0^-1. With v = M_0^-1 H^T z, `width` numbers a body, kept beside z,
 *   u_c = q_c + sum of H_k v_columns[k],  and where z_c changes by dz:  v_columns[k] += G_k^T dz. */
typedef struct tsi_lcp_sparse {
  int32_t contacts, dimension, width;
  int32_t bodies;     /* that a contact touches and a force moves, those of each problem; 0 without factors */
  int32_t *row_start; /* contacts + 1 */
  int32_t *columns;   /* ascending within a row */
  double *blocks;
  double *mass_blocks; /* NULL: blocks of M */
  double *diagonal;    /* M_cc of each contact, dimension x dimension, of both forms */
  /* Contacts that follow each other and have the same neighbours, or the same bodies, such as those of two
   * boxes, are a unit: contacts unit_start[u] .. unit_start[u + 1] - 1, solved in this order by one thread. */
  int32_t units;
  int32_t *unit_start;
  /* Made when they are asked for. Levels: a unit's is 1 + the greatest of the neighbours before it, so that the
   * iterates are the loop's. Colours: the first that no neighbour before it has. */
  tsi_lcp_steps levels, colours;
  int symmetry;              /* 1: M is symmetric, -1: it is not, 0: not asked yet */
  tsi_memory lists, numbers; /* of the arrays above but for steps */
} tsi_lcp_sparse;

#ifdef __cplusplus
extern "C" {
#endif

/* Of a descriptor that is checked here, every number and the diagonal. `sparse` is zeros, or was written
 * before; on failure it may only be written again or destroyed. */
ts_status tsi_lcp_sparse_write(const ts_lcp *lcp, const tsi_lcp_desc *desc, tsi_lcp_sparse *sparse);
/* May be NULL. */
void tsi_lcp_sparse_destroy(ts_context *context, tsi_lcp_sparse *sparse);
/* Whether M is symmetric, but for a hundredth of two diagonal entries. The factors' is. */
int tsi_lcp_sparse_is_symmetric(tsi_lcp_sparse *sparse);
/* What TS_LCP_STORAGE_AUTO means for a descriptor that is not checked yet. */
ts_lcp_storage tsi_lcp_choose_storage(const ts_lcp *lcp, const tsi_lcp_desc *desc);

/* ---- lcp_steps.c ---- */
/* Units into unit_start, from row_start and columns. */
void tsi_lcp_make_units(tsi_lcp_sparse *sparse);
/* The levels of TS_LCP_SCHEME_GRAPH or the colours of TS_LCP_SCHEME_COLOUR of lcp->sparse. Borrowed. */
ts_status tsi_lcp_steps_of(const ts_lcp *lcp, ts_lcp_scheme scheme, const tsi_lcp_steps **steps);

#ifdef __cplusplus
}
#endif

#endif
