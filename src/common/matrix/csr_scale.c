/* The power of two that scales a stored matrix, and its sign. Floats range from 2^-126 to 2^128, and the
 * low-order parts of a double are 2^-24 and 2^-48 of it. Values near either end would lose their low-order
 * parts, or overflow in a product. If the largest value of a matrix is far from 1, its values are therefore
 * multiplied by 2^-exponent on creation, which is exact.
 *
 * A matrix with a negative diagonal is stored negated. Negative definite matrices, such as the Laplacian
 * without a minus sign, can then use methods and preconditioners for positive definite ones. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "common/core/clones.h"
#include "common/core/core.h"
#include "common/core/pool.h"
#include "csr.h"

typedef struct scaling {
  const tsi_csr *from;
  int exponent, negated;
  float *floats;
  double *doubles;
} scaling;

CPU_CLONES static void scale_floats(const float *from, size_t count, double factor, float *to) {
  for (size_t e = 0; e < count; e++) to[e] = (float)(factor * (double)from[e]);
}

CPU_CLONES static void multiply_doubles(const double *from, size_t count, double factor, double *to) {
  for (size_t e = 0; e < count; e++) to[e] = factor * from[e];
}

/* Rounds each number once, if it is below the range of doubles. */
static void scale_doubles(const double *from, size_t count, const scaling *s, double *to) {
  const double sign = s->negated ? -1 : 1;
  if (abs(s->exponent) < DBL_MAX_EXP - 1) {
    multiply_doubles(from, count, ldexp(sign, -s->exponent), to);
    return;
  }
  for (size_t e = 0; e < count; e++) to[e] = ldexp(sign * from[e], -s->exponent);
}

static void scale_blocks(const void *arguments, size_t first, size_t last) {
  const scaling *s = arguments;
  const tsi_csr *from = s->from;
  const size_t begin = (size_t)from->row_offsets[tsi_block_begin(from->rows, first)],
               count = (size_t)from->row_offsets[tsi_block_begin(from->rows, last)] - begin;
  if (s->floats)
    scale_floats(from->values + begin, count, ldexp(s->negated ? -1 : 1, -s->exponent), s->floats + begin);
  if (s->doubles) scale_doubles(from->double_values + begin, count, s, s->doubles + begin);
}

ts_status tsi_csr_scale(ts_context *context, const tsi_csr *csr, int exponent, int negated, tsi_csr *out,
                        void **memory) {
  const size_t entries = (size_t)csr->row_offsets[csr->rows];
  *out = *csr;
  *memory = NULL;
  if (exponent == 0 && !negated) return TS_OK;
  const size_t size = csr->values ? sizeof(float) : sizeof(double);
  if (!(*memory = tsi_malloc(context, entries, size)))
    return tsi_out_of_memory(context, "the scaled values of a matrix", entries * size);
  const scaling s = {.from = csr,
                     .exponent = exponent,
                     .negated = negated,
                     .floats = csr->values ? *memory : NULL,
                     .doubles = csr->double_values ? *memory : NULL};
  tsi_in_blocks(context, csr->rows, scale_blocks, &s);
  out->values = s.floats;
  out->double_values = s.doubles;
  return TS_OK;
}
