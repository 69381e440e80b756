/* Dense blocks of nodes, up to TSI_AMG_PIECE rows and columns; sums are in double. */
#ifndef TSI_AMG_BLOCK_H
#define TSI_AMG_BLOCK_H

#include "amg.h"
#include "common/core/clones.h"

/* `lanes` is the storage of a node's numbers: 2, 4 or 8, so that they form a vector. Unused lanes are never
 * read. */
typedef struct tsi_amg_shape {
  int32_t height, width, wide, lanes;
} tsi_amg_shape;

/* The lanes for `wide` numbers. */
static inline int32_t tsi_amg_lanes(int32_t wide) {
  return wide <= 2 ? wide : wide <= 4 ? 4 : TSI_AMG_PIECE;
}

/* to += a b; rows of b are `apart` from each other. Conversion to double is inside the loop, because vectors of
 * b in memory would be stored as halves. */
CPU_INLINE void tsi_amg_add_block(tsi_amg_shape s, const double *restrict a, const float *restrict b,
                                  int32_t apart, double *restrict to) {
  for (int32_t r = 0; r < s.height; r++) {
    CPU_SIMD
    for (int32_t u = 0; u < s.lanes; u++) {
      double sum = to[r * s.lanes + u];
      for (int32_t k = 0; k < s.width; k++) sum += a[r * s.width + k] * (double)b[k * apart + u];
      to[r * s.lanes + u] = sum;
    }
  }
}

/* Writes the sums of a row and sets them to 0. */
CPU_INLINE void tsi_amg_write_row(const tsi_amg_csr *C, int32_t row, tsi_amg_shape s, double *restrict sums) {
  const int32_t count = C->offsets[row + 1] - C->offsets[row];
  const int32_t size = s.height * s.lanes;
  float *restrict out = C->values + C->offsets[row];
  for (int32_t c = 0; c < count; c += s.wide, sums += size) {
    for (int32_t u = 0; u < s.wide; u++) out[c + u] = (float)sums[u];
    for (int32_t u = 0; u < s.lanes; u++) sums[u] = 0;
  }
}

/* X(height, width, wide, lanes) for the common numbers of unknowns and vectors: rows of nodes, and of their
 * transposes. */
#define TSI_AMG_SQUARES(X)                                                                                     \
  X(2, 2, 2, 2) X(2, 2, 3, 4) X(2, 2, 4, 4) X(3, 3, 3, 4) X(3, 3, 6, 8) X(4, 4, 4, 4) X(6, 6, 6, 8)
#define TSI_AMG_OBLONGS(X) X(3, 2, 3, 4) X(4, 2, 4, 4) X(6, 3, 6, 8)

#endif
