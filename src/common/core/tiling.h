/* Storage of the indices of a space: the packing of Bolz et al. 2003, section 3.2.2. Host code only.
 *
 * Indices are ordered (rows of a matrix by decreasing length) and cut into rectangles of w x h texels, which
 * are side by side in a texture. Position p is in rectangle p / (w h), at p mod (w h) inside it.
 *
 *   positions 0 .. free_count-1                        indices with an equation
 *   positions up to free_rectangles * w * h            padding of the last rectangle
 *   positions free_rectangles * w * h ..               constrained indices: stored, but in no rectangle
 *   position  zero_position                            a texel that always holds 0
 *
 * In a natural space (ts_space_create) indices keep their order. A linear space, used by the CPU and CUDA, is a
 * natural space without rectangles: position = index.
 *
 * A texel may hold a block of 2 or 4 adjacent indices in its channels. Positions and counts are then those of
 * blocks. A block is constrained if all of its indices are. */
#ifndef TSI_TILING_H
#define TSI_TILING_H

#include <stdint.h>

typedef struct tsi_tiling {
  int32_t size;       /* indices */
  int32_t log2_block; /* of the number of indices per texel */
  int32_t free_count; /* texels with at least one index that is not constrained */
  int32_t constrained_count;
  int32_t log2_width, log2_height; /* of a rectangle */
  int32_t rectangles_x;            /* rectangles side by side */
  int32_t free_rectangles;         /* rectangles with rows of a matrix */
  int32_t width, height;           /* of the texture, in texels */
  int32_t zero_position;
  int32_t *positions; /* of each texel's first index; NULL: position = number of the texel */
  int linear;         /* 1: no rectangles; texels are the indices in order */
} tsi_tiling;

typedef struct tsi_texel {
  int32_t x, y;
} tsi_texel;

static inline int32_t tsi_position(const tsi_tiling *t, int32_t index) {
  const int32_t block = index >> t->log2_block;
  return t->positions ? t->positions[block] : block;
}

/* The position of an index in its texel. */
static inline int32_t tsi_channel(const tsi_tiling *t, int32_t index) {
  return index & ((1 << t->log2_block) - 1);
}

/* The number of texels with indices. */
static inline int32_t tsi_texels_in_use(const tsi_tiling *t) {
  return ((t->size - 1) >> t->log2_block) + 1;
}

static inline tsi_texel tsi_texel_of_position(const tsi_tiling *t, int32_t position) {
  const int32_t inside_bits = t->log2_width + t->log2_height;
  const int32_t rectangle = position >> inside_bits;
  const int32_t inside = position & ((1 << inside_bits) - 1);
  tsi_texel texel;
  texel.x = ((rectangle % t->rectangles_x) << t->log2_width) + (inside & ((1 << t->log2_width) - 1));
  texel.y = ((rectangle / t->rectangles_x) << t->log2_height) + (inside >> t->log2_width);
  return texel;
}

/* The number of a texel in the texture's row-major order, which is the order of uploads. */
static inline int64_t tsi_texel_number(const tsi_tiling *t, int32_t position) {
  if (t->linear) return position;
  const tsi_texel texel = tsi_texel_of_position(t, position);
  return (int64_t)texel.y * t->width + texel.x;
}

#endif
