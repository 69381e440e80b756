/* The power of two by which a matrix is stored, and its sign. Floats range from 2^-126 to 2^128, and the
 * low-order parts of a double are 2^-24 and 2^-48 of it: values near either end would lose them, or overflow in
 * a product. So the values of a matrix whose largest is far from 1 are multiplied by 2^-exponent on their way
 * in, which is exact. A matrix whose diagonal is all negative is stored negated: what is negative definite, as
 * the Laplacian is without a sign of its own, then has the methods and preconditioners of positive definite
 * ones. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/core/core.h"
#include "common/core/pool.h"
#include "csr.h"

/* The largest magnitude of a block of rows, and the smallest that is not 0. */
typedef struct magnitudes {
  double largest, smallest;
} magnitudes;

typedef struct look {
  const tsi_csr *csr;
  magnitudes *found;
} look;

static magnitudes look_at_floats(const float *values, int32_t first, int32_t end) {
  float largest = 0, smallest = FLT_MAX;
  for (int32_t e = first; e < end; e++) {
    const float size = fabsf(values[e]), counted = size > 0 ? size : FLT_MAX;
    largest = size > largest ? size : largest;
    smallest = counted < smallest ? counted : smallest;
  }
  return (magnitudes){(double)largest, (double)smallest};
}

static magnitudes look_at_doubles(const double *values, int32_t first, int32_t end) {
  double largest = 0, smallest = DBL_MAX;
  for (int32_t e = first; e < end; e++) {
    const double size = fabs(values[e]), counted = size > 0 ? size : DBL_MAX;
    largest = size > largest ? size : largest;
    smallest = counted < smallest ? counted : smallest;
  }
  return (magnitudes){largest, smallest};
}

static void look_at_blocks(const void *arguments, size_t first, size_t last) {
  const look *l = arguments;
  const tsi_csr *csr = l->csr;
  for (size_t b = first; b < last; b++) {
    const int32_t begin = csr->row_offsets[tsi_block_begin(csr->rows, b)],
                  end = csr->row_offsets[tsi_block_begin(csr->rows, b + 1)];
    l->found[b] =
        csr->values ? look_at_floats(csr->values, begin, end) : look_at_doubles(csr->double_values, begin, end);
  }
}

static int exponent_of(double size) {
  int exponent;
  frexp(size, &exponent);
  return exponent;
}

tsi_exponents tsi_csr_exponents(const ts_context *context, const tsi_csr *csr) {
  magnitudes found[TSI_BLOCKS], all = {0, DBL_MAX};
  if (!csr->values && !csr->double_values) return tsi_no_exponents;
  for (int b = 0; b < TSI_BLOCKS; b++) found[b] = all;
  const look l = {csr, found};
  tsi_in_blocks(context, csr->rows, look_at_blocks, &l);
  for (int b = 0; b < TSI_BLOCKS; b++) {
    all.largest = fmax(all.largest, found[b].largest);
    all.smallest = fmin(all.smallest, found[b].smallest);
  }
  if (all.largest == 0) return tsi_no_exponents;
  return (tsi_exponents){exponent_of(all.largest), exponent_of(all.smallest)};
}

/* As a rule the first row says no. */
int tsi_csr_is_negative(const tsi_csr *csr) {
  if (csr->rows != csr->columns || (!csr->values && !csr->double_values)) return 0;
  for (int32_t i = 0; i < csr->rows; i++) {
    double diagonal = 0;
    for (int32_t e = csr->row_offsets[i]; e < csr->row_offsets[i + 1]; e++)
      if (csr->column_indices[e] == i) diagonal += csr->values ? (double)csr->values[e] : csr->double_values[e];
    if (!(diagonal < 0)) return 0;
  }
  return csr->rows > 0;
}

ts_status tsi_csr_scale(ts_context *context, const tsi_csr *csr, int exponent, int negated, tsi_csr *out,
                        void **memory) {
  const int32_t entries = csr->row_offsets[csr->rows];
  *out = *csr;
  *memory = NULL;
  if (exponent == 0 && !negated) return TS_OK;
  const size_t size = csr->values ? sizeof(float) : sizeof(double);
  if (!(*memory = tsi_malloc(context, (size_t)entries, size)))
    return tsi_out_of_memory(context, "the scaled values of a matrix", (size_t)entries * size);
  float *floats = csr->values ? *memory : NULL;
  double *doubles = csr->values ? NULL : *memory;
  for (int32_t e = 0; floats && e < entries; e++)
    floats[e] = ldexpf(negated ? -csr->values[e] : csr->values[e], -exponent);
  for (int32_t e = 0; doubles && e < entries; e++)
    doubles[e] = ldexp(negated ? -csr->double_values[e] : csr->double_values[e], -exponent);
  out->values = floats;
  out->double_values = doubles;
  return TS_OK;
}
