/* Sweeps and residuals in one type, REAL. CPU_LCP(name) forms the names that contain the type. */
#include <string.h>

#define LCP_FUNCTION CPU_LARGE
#include "lcp/lcp_law.h"
#define LCP_MAP_FUNCTION CPU_LARGE
#include "lcp/lcp_map.h"

#include "cpu_lcp_kernels.h"
#include "cpu_lcp_contacts.h"
#include "cpu_lcp_graph.h"
#include "cpu_lcp_columns.h"

/* The plain loop, for a problem of one block, which threads cannot share. */
CPU_CLONES
static void CPU_LCP(sweep_rows)(const CPU_LCP(problem) * p, int sweeps) {
  for (int sweep = 0; sweep < sweeps; sweep++)
    for (size_t i = 0; i < p->n; i++) {
      const REAL *row = p->matrix + i * p->stride;
      const REAL w = p->q[i] + CPU_LCP(dot)(row, p->z, p->stride);
      p->z[i] = lcp_unknown(p->z[i], w, row[i], p->lower[i], p->upper[i]);
    }
}

#include "cpu_lcp_sparse_rows.h"
#include "cpu_lcp_map.h"

void CPU_LCP(sweep)(const cpu_lcp_run *run) {
  const CPU_LCP(problem) p = CPU_LCP(problem_of)(run->lcp, run->problem);
  const cpu_lcp *impl = run->lcp->impl;
  const cpu_lcp_member *self = run->self;
  const int by_columns = run->scheme == TS_LCP_SCHEME_COLUMN || run->scheme == TS_LCP_SCHEME_BLOCK;
  if (p.dimension > 1 && p.blocks == 1)
    CPU_LCP(sweep_one_block)(&p, run->sweeps);
  else if (p.dimension > 1 && self->members == 1 && !by_columns)
    CPU_LCP(sweep_contacts)(&p, run->sweeps);
  else if (p.blocks == 1)
    CPU_LCP(sweep_rows)(&p, run->sweeps);
  else if (by_columns)
    CPU_LCP(sweep_columns)(&p, self, run->sweeps, run->scheme == TS_LCP_SCHEME_BLOCK);
  else if (run->scheme == TS_LCP_SCHEME_RELAXED && self->members > 1)
    CPU_LCP(sweep_relaxed)(&p, self, run->sweeps, (REAL *)impl->copies + self->rank * p.stride, impl->shared);
  else
    CPU_LCP(sweep_graph)(&p, self, run->sweeps, run->scheme == TS_LCP_SCHEME_GRAPH_2);
}

static void CPU_LCP(reduce_contact)(const REAL *from, size_t stride, size_t d, REAL *reduced) {
  REAL W[9];
  for (size_t k = 0; k < d * d; k++) W[k] = from[k / d * stride + k % d];
  lcp_contact_reduce(reduced, W, (int)d);
}

/* Writes the rows of block b of a problem, padded with zeros, and its diagonal block. Only the diagonal block
 * contains the contacts' own blocks. */
void CPU_LCP(write)(const ts_lcp *lcp, const tsi_lcp_matrix *matrix, size_t k, size_t b) {
  const cpu_lcp *impl = lcp->impl;
  const size_t n = (size_t)lcp->size, stride = impl->stride, block = cpu_lcp_block(lcp), begin = b * block;
  const size_t end = begin + block < impl->rows ? begin + block : impl->rows;
  REAL *to = (REAL *)impl->matrix + k * impl->rows * stride;
  for (size_t i = begin; i < end; i++)
    for (size_t j = 0; j < stride; j++) {
      const size_t at = (k * n + i) * n + j;
      const int inside = i < n && j < n;
      to[i * stride + j] = !inside ? 0 : matrix->single ? (REAL)matrix->single[at] : (REAL)matrix->doubles[at];
    }
  if (!impl->diagonal) return;
  REAL *diagonal = (REAL *)impl->diagonal + k * impl->rows * block;
  for (size_t i = begin; i < end; i++)
    for (size_t j = 0; j < block; j++)
      diagonal[i * block + j] = begin + j < n && i < n ? to[(begin + j) * stride + i] : 0;
  const size_t dimension = (size_t)lcp->dimension;
  REAL *reduced = (REAL *)impl->reduced + k * n / dimension * LCP_REDUCED;
  for (size_t i = begin; i < end && i < n && dimension > 1; i += dimension)
    CPU_LCP(reduce_contact)(to + i * stride + i, stride, dimension, reduced + i / dimension * LCP_REDUCED);
  for (size_t i = begin; i < end && i < n && dimension > 1; i++)
    memset(to + i * stride + i / dimension * dimension, 0, dimension * sizeof *to);
}
