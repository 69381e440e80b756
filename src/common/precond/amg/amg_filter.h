/* Rows of A and of A_F, the matrix that smooths the prolongator. */
#ifndef TSI_AMG_FILTER_H
#define TSI_AMG_FILTER_H

#include <math.h>

#include "amg.h"

enum { TSI_AMG_MOST = 8 }; /* vectors of the near-null space, and unknowns per node */

static inline double tsi_amg_larger(double a, double b) {
  return a > b ? a : b;
}

/* The factor of a weak entry when it is added to the diagonal. */
static inline double tsi_amg_weight(const tsi_amg_host_level *level, int32_t node, int32_t other) {
  const double own = (double)level->weights[node], theirs = (double)level->weights[other];
  return own != 0 && theirs != 0 ? theirs / own : 1;
}

/* A row of A and of A_F. */
typedef struct tsi_amg_filtered {
  double diagonal;            /* of A_F; 0 if A's diagonal is not positive */
  double added[TSI_AMG_MOST]; /* sums of weak entries, for the entries inside the node */
  int weak, positive;         /* the row has weak entries; a positive one */
  double own, sum;            /* A's diagonal, and the sum of magnitudes, without dropped entries */
} tsi_amg_filtered;

static inline tsi_amg_filtered tsi_amg_filter_row(const tsi_amg_host_level *level, int32_t unknowns,
                                                  int32_t i) {
  const tsi_amg_csr *A = &level->A;
  tsi_amg_filtered f = {.diagonal = 0};
  double diagonal = 0, most = 0;
  for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
    const int32_t j = A->indices[e];
    const double a = (double)A->values[e];
    if (j == i && a > 0) diagonal = a;
    if (level->strong[e] == TSI_AMG_DROPPED) continue;
    f.sum += fabs(a);
    if (j == i) f.own = a;
    if (level->strong[e] == TSI_AMG_STRONG) continue;
    const double added = a * tsi_amg_weight(level, i / unknowns, j / unknowns);
    f.weak = 1;
    f.added[j % unknowns] += added;
    most = tsi_amg_larger(added, most);
  }
  f.positive = tsi_amg_is_positive(most, diagonal);
  f.diagonal = diagonal + f.added[i % unknowns];
  if (f.diagonal > 0.1 * diagonal) return f;
  for (int32_t u = 0; u < unknowns; u++) f.added[u] = 0;
  f.diagonal = diagonal;
  return f;
}

#endif
