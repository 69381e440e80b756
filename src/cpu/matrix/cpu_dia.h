/* The values of a matrix by diagonals. cpu_dia.c makes them, cpu_dia_sums.c multiplies some rows,
 * cpu_dia_product.c and cpu_dia_sweep.c have the operations. */
#ifndef CPU_DIA_H
#define CPU_DIA_H

#include "common/matrix/csr.h"
#include "cpu/core/cpu.h"

/* The values are stored, or each diagonal has one value and a bit for each row says whether that is an entry.
 */
struct cpu_dia {
  int count, main; /* offsets[main] is 0 */
  int32_t offsets[TSI_MOST_DIAGONALS];
  size_t rows;
  int is_constant;
  float constants[TSI_MOST_DIAGONALS];
  uint16_t *entries;    /* bit k: the row has an entry on diagonal k */
  float *upper, *lower; /* from the main diagonal on; below it, or NULL if A is symmetric */
  float *windows;       /* work space of cpu_dia_sweep.c, or NULL */
  size_t window_count, bytes;
};

/* The stored values of diagonal k. That of row i is at i + shift. */
static inline const float *cpu_dia_values(const cpu_dia *d, int k, int32_t *shift) {
  *shift = 0;
  if (k >= d->main) return d->upper + (size_t)(k - d->main) * d->rows;
  if (d->lower) return d->lower + (size_t)k * d->rows;
  *shift = d->offsets[k];
  return d->upper + (size_t)(d->count - 1 - k - d->main) * d->rows;
}

static inline int32_t cpu_dia_reach(const cpu_dia *d) {
  return d->offsets[d->count - 1];
}

/* The values by diagonals, or NULL. The first call after a change of A's values makes them. */
const cpu_dia *cpu_dia_of(const ts_matrix *A);

/* The most rows of the functions below, whose sums then stay in the first-level cache. */
enum { CPU_DIA_TILE = CPU_BLOCK / 3 };
/* y = A x and rest = rest - A x in `count` rows from `row` on. y and rest point to the first of them, x to that
 * of row 0. The third function has sums as those of cpu_exact. */
void cpu_dia_multiply(const cpu_dia *d, const float *x, int32_t row, int32_t count, float *y);
void cpu_dia_subtract(const cpu_dia *d, const float *x, int32_t row, int32_t count, double *rest);
void cpu_dia_subtract_exactly(const cpu_dia *d, const float *x, int32_t row, int32_t count, double *sum,
                              double *lost);

/* Work space of A's diagonals, or NULL without memory. */
float *cpu_dia_windows(const ts_matrix *A, size_t count);

/* sums = A x in some rows. x[k] points to the element that diagonal k multiplies in the first row. Elements
 * that are not columns of A must exist and be 0. */
void cpu_dia_sums(const cpu_dia *d, const float *const *x, int32_t row, int32_t count, float *sums);

#endif
