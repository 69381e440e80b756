/* The largest eigenvalue of D^-1 A by power iterations, with sums in a fixed order. Each row has as much of the
 * first vector's norm: of numbers without the square root rows with large diagonals would have nearly all, and
 * few steps would not find what the others have. */
#include <math.h>

#include "amg.h"

enum {
  STEPS = 6,
  RADIX = 64 /* so many numbers are added in order, then so many of these sums, and so on */
};

typedef struct power {
  const tsi_amg_csr *A;
  double factor;
  float *diagonal;  /* 0: a row that takes no part */
  float *from, *to; /* to = factor D^-1 A from */
  double *sums;     /* of D to^2, of RADIX rows each */
} power;

/* A number from -1 to 1 for each row. */
static float first_number(uint32_t row) {
  uint32_t h = row * 0x9e3779b1u;
  h = (h ^ h >> 16) * 0x7feb352du;
  h = (h ^ h >> 15) * 0x846ca68bu;
  h ^= h >> 16;
  return (float)(h >> 8) / 8388608.0f - 1;
}

static size_t end_of(const power *p, size_t block) {
  const size_t rows = (size_t)p->A->rows;
  return (block + 1) * RADIX < rows ? (block + 1) * RADIX : rows;
}

static void begin(const void *arguments, size_t first, size_t last) {
  const power *p = arguments;
  const tsi_amg_csr *A = p->A;
  for (size_t block = first; block < last; block++) {
    double sum = 0;
    for (size_t i = block * RADIX; i < end_of(p, block); i++) {
      float diagonal = 0;
      for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
        if (A->indices[e] == (int32_t)i && A->values[e] > 0) diagonal = A->values[e];
      p->diagonal[i] = diagonal;
      p->to[i] = diagonal > 0 ? (float)((double)first_number((uint32_t)i) / sqrt((double)diagonal)) : 0;
      sum += (double)diagonal * ((double)p->to[i] * (double)p->to[i]);
    }
    p->sums[block] = sum;
  }
}

static void step(const void *arguments, size_t first, size_t last) {
  const power *p = arguments;
  const tsi_amg_csr *A = p->A;
  for (size_t block = first; block < last; block++) {
    double sum = 0;
    for (size_t i = block * RADIX; i < end_of(p, block); i++) {
      const double diagonal = (double)p->diagonal[i];
      double product = 0;
      if (diagonal > 0) {
        for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
          product += (double)A->values[e] * (double)p->from[A->indices[e]];
        product *= p->factor / diagonal;
      }
      p->to[i] = (float)product;
      sum += diagonal * ((double)p->to[i] * (double)p->to[i]);
    }
    p->sums[block] = sum;
  }
}

/* In place, which is safe: a block's sum stands before what it adds. */
static double add_up(double *sums, size_t count) {
  for (; count > 1; count = (count + RADIX - 1) / RADIX)
    for (size_t block = 0; block * RADIX < count; block++) {
      double sum = 0;
      for (size_t k = block * RADIX; k < count && k < (block + 1) * RADIX; k++) sum += sums[k];
      sums[block] = sum;
    }
  return count > 0 ? sums[0] : 0;
}

ts_status tsi_amg_eigenvalue(ts_context *context, tsi_amg_host_level *level) {
  const size_t rows = (size_t)level->A.rows, blocks = (rows + RADIX - 1) / RADIX;
  int threads;
  TSI_TRY(tsi_threads(context, &threads));
  float *numbers = tsi_malloc(context, 3 * rows, sizeof *numbers);
  double *sums = tsi_malloc(context, blocks, sizeof *sums);
  const int complete = numbers && sums;
  if (complete) {
    power p = {.A = &level->A,
               .factor = 1,
               .diagonal = numbers,
               .from = numbers + rows,
               .to = numbers + 2 * rows,
               .sums = sums};
    tsi_parallel(context, blocks, begin, &p);
    double before = add_up(sums, blocks), value = 0;
    for (int k = 0; k < STEPS && before > 0; k++) {
      float *swap = p.from;
      p.from = p.to;
      p.to = swap;
      tsi_parallel(context, blocks, step, &p);
      const double after = add_up(sums, blocks);
      value = sqrt(after / before) / p.factor;
      p.factor = value > 0 ? 1 / value : 0;
      before = after;
    }
    level->eigenvalue = fmin(1.1 * value, level->bound);
  }
  tsi_free(context, numbers);
  tsi_free(context, sums);
  return complete ? TS_OK : tsi_out_of_memory(context, "an eigenvalue of amg", 3 * rows * sizeof *numbers);
}
