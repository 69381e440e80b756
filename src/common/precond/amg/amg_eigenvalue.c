/* The largest eigenvalue of D^-1 A by power iterations, with sums in a fixed order. Each row has an equal share
 * of the initial vector's norm. Without the square root of the diagonal, rows with large diagonals would
 * dominate the norm, and a few steps would miss the eigenvalues of other rows.
 *
 * An eigenvector on only a few rows is a small part of the norm, so a few steps do not reveal its growth there.
 * The largest number of a row does. Both eventually grow by the eigenvalue. A triangle with almost no area has
 * an eigenvalue of 3, its neighbourhood 2. With an estimate from the norm alone smoothing amplified such a
 * vector: 262144 obtuse triangles took 276 iterations instead of 30. */
#include <math.h>

#include "amg.h"

enum {
  STEPS = 6,
  RADIX = 64 /* this many numbers are added in order, then as many of these sums, etc. */
};

typedef struct power {
  const tsi_amg_csr *A;
  double keep, factor;
  uint32_t first;              /* global number of this rank's first row */
  float *diagonal;             /* 0: an inactive row */
  float *from, *to;            /* to = keep from + factor D^-1 A from */
  double *sums;                /* of D to^2, over RADIX rows each */
  double *most;                /* the largest of the same rows */
  const unsigned char *strong; /* of A_F; NULL: A */
  const double *filtered;      /* its diagonal */
} power;

/* The sum and the maximum of D to^2 over rows. */
typedef struct norms {
  double sum, most;
} norms;

static inline void add_square(norms *n, double square) {
  n->sum += square;
  n->most = square > n->most ? square : n->most;
}

static size_t end_of(const power *p, size_t block) {
  const size_t rows = (size_t)p->A->rows;
  return (block + 1) * RADIX < rows ? (block + 1) * RADIX : rows;
}

static void amg_eigenvalue_begin(const void *arguments, size_t first, size_t last) {
  const power *p = arguments;
  const tsi_amg_csr *A = p->A;
  for (size_t block = first; block < last; block++) {
    norms n = {0, 0};
    for (size_t i = block * RADIX; i < end_of(p, block); i++) {
      float diagonal = 0;
      for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
        if (A->indices[e] == (int32_t)i && A->values[e] > 0) diagonal = A->values[e];
      p->diagonal[i] = diagonal;
      p->to[i] =
          diagonal > 0 ? (float)((double)tsi_amg_noise(p->first + (uint32_t)i) / sqrt((double)diagonal)) : 0;
      add_square(&n, (double)diagonal * ((double)p->to[i] * (double)p->to[i]));
    }
    p->sums[block] = n.sum;
    p->most[block] = n.most;
  }
}

static double multiply_row(const power *p, size_t i) {
  const tsi_amg_csr *A = p->A;
  double product = 0;
  for (int32_t e = A->offsets[i], end = A->offsets[i + 1]; e < end;) {
    const int32_t run_end = end - e > TSI_AMG_RUN ? e + TSI_AMG_RUN : end;
    double run = 0;
    for (; e < run_end; e++) run += (double)A->values[e] * (double)p->from[A->indices[e]];
    product += run;
  }
  return product;
}

static void step(const void *arguments, size_t first, size_t last) {
  const power *p = arguments;
  for (size_t block = first; block < last; block++) {
    norms n = {0, 0};
    for (size_t i = block * RADIX; i < end_of(p, block); i++) {
      const double diagonal = (double)p->diagonal[i];
      double number = 0;
      if (diagonal > 0) number = p->keep * (double)p->from[i] + multiply_row(p, i) * (p->factor / diagonal);
      p->to[i] = (float)number;
      add_square(&n, diagonal * ((double)p->to[i] * (double)p->to[i]));
    }
    p->sums[block] = n.sum;
    p->most[block] = n.most;
  }
}

/* In place, which is safe because a block's sum precedes its terms. */
static double add_up(double *sums, size_t count) {
  for (; count > 1; count = (count + RADIX - 1) / RADIX)
    for (size_t block = 0; block * RADIX < count; block++) {
      double sum = 0;
      for (size_t k = block * RADIX; k < count && k < (block + 1) * RADIX; k++) sum += sums[k];
      sums[block] = sum;
    }
  return count > 0 ? sums[0] : 0;
}

/* Combines the norms of all ranks. */
static ts_status combine_norms(ts_context *context, const tsi_amg_host_level *level, const power *p, norms *n) {
  const size_t blocks = ((size_t)level->A.rows + RADIX - 1) / RADIX;
  n->most = 0;
  for (size_t block = 0; block < blocks; block++) n->most = fmax(n->most, p->most[block]);
  n->sum = add_up(p->sums, blocks);
  TSI_TRY(tsi_amg_add_up(context, level, &n->sum, 1));
  return tsi_amg_largest(context, level, &n->most, 1);
}

static void swap_vectors(power *p) {
  float *from = p->from;
  p->from = p->to;
  p->to = from;
}

static ts_status amg_eigenvalue_iterate(ts_context *context, tsi_amg_host_level *level, power *p) {
  const size_t blocks = ((size_t)level->A.rows + RADIX - 1) / RADIX;
  norms before, after;
  double value = 0, local = 0;
  tsi_parallel(context, blocks, amg_eigenvalue_begin, p);
  TSI_TRY(combine_norms(context, level, p, &before));
  for (int k = 0; k < STEPS && before.sum > 0; k++) {
    swap_vectors(p);
    TSI_TRY(tsi_amg_exchange(context, level, p->from, (size_t)level->unknowns * sizeof *p->from));
    tsi_parallel(context, blocks, step, p);
    TSI_TRY(combine_norms(context, level, p, &after));
    value = sqrt(after.sum / before.sum) / p->factor;
    local = sqrt(after.most / before.most) / p->factor;
    p->factor = value > 0 ? 1 / value : 0;
    before = after;
  }
  level->eigenvalue = fmin(tsi_amg_raised(value, local), level->bound);
  return TS_OK;
}

/* ---- Energies ---- */

/* Sums of from_i (A from)_i, or the same with A_F. */
static void add_energies(const void *arguments, size_t first, size_t last) {
  const power *p = arguments;
  const tsi_amg_csr *A = p->A;
  for (size_t block = first; block < last; block++) {
    double sum = 0;
    for (size_t i = block * RADIX; i < end_of(p, block); i++) {
      const double own = (double)p->from[i];
      double product = p->strong ? p->filtered[i] * own : 0;
      for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
        if (p->strong && (p->strong[e] != TSI_AMG_STRONG || A->indices[e] == (int32_t)i)) continue;
        product += (double)A->values[e] * (double)p->from[A->indices[e]];
      }
      sum += own * product;
    }
    p->sums[block] = sum;
  }
}

/* Smooths a single vector, without averaging over several, and computes the ratio of its energies. */
static ts_status compare_energies(ts_context *context, tsi_amg_host_level *level, power *p) {
  const size_t blocks = ((size_t)level->A.rows + RADIX - 1) / RADIX;
  const unsigned char *strong = p->strong;
  tsi_parallel(context, blocks, amg_eigenvalue_begin, p);
  p->keep = 1;
  for (int k = 0; k < TSI_AMG_SMOOTHINGS; k++) {
    swap_vectors(p);
    p->factor = tsi_amg_smoothing_factor(k, level->eigenvalue);
    tsi_parallel(context, blocks, step, p);
  }
  swap_vectors(p);
  tsi_parallel(context, blocks, add_energies, p);
  const double filtered = add_up(p->sums, blocks);
  p->strong = NULL;
  tsi_parallel(context, blocks, add_energies, p);
  p->strong = strong;
  level->energies = filtered / add_up(p->sums, blocks);
  return TS_OK;
}

/* ---- Allocation of vectors ---- */

typedef ts_status power_body(ts_context *context, tsi_amg_host_level *level, power *p);

static ts_status with_vectors(ts_context *context, tsi_amg_host_level *level, const double *filtered,
                              power_body *body) {
  const size_t rows = (size_t)level->A.rows, blocks = (rows + RADIX - 1) / RADIX;
  const size_t all = rows + (size_t)tsi_amg_ghosts(level) * (size_t)level->unknowns;
  int threads;
  TSI_TRY(tsi_threads(context, &threads));
  float *numbers = tsi_malloc(context, rows + 2 * all, sizeof *numbers);
  double *sums = tsi_malloc(context, 2 * blocks, sizeof *sums);
  ts_status status = TS_OK;
  if (numbers && sums) {
    power p = {.A = &level->A,
               .factor = 1,
               .first = tsi_amg_first_row(level),
               .diagonal = numbers,
               .from = numbers + rows,
               .to = numbers + rows + all,
               .sums = sums,
               .most = sums + blocks,
               .strong = level->strong,
               .filtered = filtered};
    status = body(context, level, &p);
  } else {
    status = tsi_out_of_memory(context, "an eigenvalue of amg", 3 * rows * sizeof *numbers);
  }
  tsi_free(context, numbers);
  tsi_free(context, sums);
  return status;
}

ts_status tsi_amg_eigenvalue(ts_context *context, tsi_amg_host_level *level) {
  return with_vectors(context, level, NULL, amg_eigenvalue_iterate);
}

ts_status tsi_amg_energies(ts_context *context, tsi_amg_host_level *level, const double *filtered) {
  return with_vectors(context, level, filtered, compare_energies);
}
