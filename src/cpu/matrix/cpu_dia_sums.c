/* Products with matrices by diagonals, for some rows. Terms are added in the order of the diagonals, whether
 * all columns exist or not, so that results do not depend on how rows are divided. */
#include <string.h>

#include "cpu_dia.h"

typedef struct term {
  const float *a, *x;
  float constant;
  int entry; /* its bit */
} term;

static term term_of(const cpu_dia *d, int k, const float *x, int32_t row) {
  int32_t shift = 0;
  const float *a = d->is_constant ? d->constants : cpu_dia_values(d, k, &shift) + row;
  return (term){a + shift, x, d->constants[k], 1 << k};
}

/* to = from + the terms of `terms` diagonals from number k on, in this order. x[j] points to the element of x
 * that diagonal k + j multiplies in the first row. The compiler unrolls the loop over terms. */
#define KERNEL(name, terms, number, operation, value)                                                          \
  CPU_CLONES static void name##_##terms(const cpu_dia *d, int k, const float *const *x, int32_t row,           \
                                        size_t count, const number *from, number *to) {                        \
    const uint16_t *entries = d->is_constant ? d->entries + row : NULL;                                        \
    term t[terms];                                                                                             \
    for (int j = 0; j < terms; j++) t[j] = term_of(d, k + j, x[j], row);                                       \
    (void)entries;                                                                                             \
    CPU_SIMD                                                                                                   \
    for (size_t i = 0; i < count; i++) {                                                                       \
      number sum = from[i];                                                                                    \
      for (int j = 0; j < terms; j++) sum operation(number)(value) * (number)t[j].x[i];                        \
      to[i] = sum;                                                                                             \
    }                                                                                                          \
  }
#define KERNELS(name, number, operation, value)                                                                \
  KERNEL(name, 1, number, operation, value)                                                                    \
  KERNEL(name, 3, number, operation, value)                                                                    \
  KERNEL(name, 4, number, operation, value)
#define STORED t[j].a[i]
#define CONSTANT entries[i] & t[j].entry ? t[j].constant : 0
KERNELS(add_stored, float, +=, STORED)
KERNELS(add_constant, float, +=, CONSTANT)
KERNELS(subtract_stored, double, -=, STORED)
KERNELS(subtract_constant, double, -=, CONSTANT)

typedef struct range {
  int32_t first, end;
} range;

/* Those of some rows in which diagonal k has a column. */
static range rows_with_column(const cpu_dia *d, int k, int32_t row, int32_t count) {
  const int32_t least = -d->offsets[k], most = (int32_t)d->rows - d->offsets[k];
  return (range){least > row ? least : row, most < row + count ? most : row + count};
}

/* The number of diagonals is odd, so it is 1 or 3 more than a multiple of 4. The second function omits columns
 * that do not exist; its x points to that of row 0. The third one chooses. */
#define SUMS(name, number, operation)                                                                          \
  typedef void name##_kernel(const cpu_dia *d, int k, const float *const *x, int32_t row, size_t count,        \
                             const number *from, number *to);                                                  \
  static void name##_inside(const cpu_dia *d, const float *const *x, int32_t row, int32_t count,               \
                            const number *from, number *to) {                                                  \
    static name##_kernel *const kernels[2][5] = {                                                              \
        {[1] = operation##_stored_1, [3] = operation##_stored_3, [4] = operation##_stored_4},                  \
        {[1] = operation##_constant_1, [3] = operation##_constant_3, [4] = operation##_constant_4}};           \
    int k = d->count % 4;                                                                                      \
    kernels[d->is_constant][k](d, 0, x, row, (size_t)count, from, to);                                         \
    for (; k < d->count; k += 4) kernels[d->is_constant][4](d, k, x + k, row, (size_t)count, to, to);          \
  }                                                                                                            \
  static void name##_at_ends(const cpu_dia *d, const float *x, int32_t row, int32_t count, number *to) {       \
    name##_kernel *const kernel = d->is_constant ? operation##_constant_1 : operation##_stored_1;              \
    for (int k = 0; k < d->count; k++) {                                                                       \
      const range rows = rows_with_column(d, k, row, count);                                                   \
      const float *const column = x + (rows.first + d->offsets[k]);                                            \
      number *at = to + (rows.first - row);                                                                    \
      if (rows.first < rows.end) kernel(d, k, &column, rows.first, (size_t)(rows.end - rows.first), at, at);   \
    }                                                                                                          \
  }                                                                                                            \
  static void name##_of(const cpu_dia *d, const float *x, int32_t row, int32_t count, const number *from,      \
                        number *to) {                                                                          \
    const int32_t reach = cpu_dia_reach(d);                                                                    \
    const float *columns[TSI_MOST_DIAGONALS];                                                                  \
    if (row < reach || row + count > (int32_t)d->rows - reach) {                                               \
      if (from != to) memcpy(to, from, (size_t)count * sizeof *to);                                            \
      name##_at_ends(d, x, row, count, to);                                                                    \
      return;                                                                                                  \
    }                                                                                                          \
    for (int k = 0; k < d->count; k++) columns[k] = x + (row + d->offsets[k]);                                 \
    name##_inside(d, columns, row, count, from, to);                                                           \
  }
SUMS(sums, float, add)
SUMS(rest, double, subtract)

void cpu_dia_sums(const cpu_dia *d, const float *const *x, int32_t row, int32_t count, float *sums) {
  sums_inside(d, x, row, count, cpu_zeros, sums);
}

void cpu_dia_multiply(const cpu_dia *d, const float *x, int32_t row, int32_t count, float *y) {
  sums_of(d, x, row, count, cpu_zeros, y);
}

void cpu_dia_subtract(const cpu_dia *d, const float *x, int32_t row, int32_t count, double *rest) {
  rest_of(d, x, row, count, rest, rest);
}

/* One diagonal in some rows. */
#define EXACT_KERNEL(name, value)                                                                              \
  CPU_CLONES static void name(term t, const uint16_t *entries, size_t count, double *sum, double *lost) {      \
    (void)entries;                                                                                             \
    CPU_SIMD                                                                                                   \
    for (size_t i = 0; i < count; i++) {                                                                       \
      cpu_exact rest = {sum[i], lost[i]};                                                                      \
      cpu_exact_add(&rest, -(double)(value) * (double)t.x[i]);                                                 \
      sum[i] = rest.sum;                                                                                       \
      lost[i] = rest.lost;                                                                                     \
    }                                                                                                          \
  }
EXACT_KERNEL(exact_stored, t.a[i])
EXACT_KERNEL(exact_constant, entries[i] & t.entry ? t.constant : 0)

void cpu_dia_subtract_exactly(const cpu_dia *d, const float *x, int32_t row, int32_t count, double *sum,
                              double *lost) {
  for (int k = 0; k < d->count; k++) {
    const range rows = rows_with_column(d, k, row, count);
    const size_t at = (size_t)(rows.first - row);
    if (rows.first >= rows.end) continue;
    (d->is_constant ? exact_constant : exact_stored)(
        term_of(d, k, x + (rows.first + d->offsets[k]), rows.first),
        d->is_constant ? d->entries + rows.first : NULL, (size_t)(rows.end - rows.first), sum + at, lost + at);
  }
}
