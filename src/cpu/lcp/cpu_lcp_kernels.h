/* Loops over the numbers of a matrix in one type, REAL. CPU_LCP(name) forms the names that contain the type.
 * Sums are formed in lanes, so that every compilation adds in the same order. */
typedef struct CPU_LCP(problem) {
  const REAL *matrix, *q, *lower, *upper;
  const REAL *friction;            /* per contact */
  const REAL *diagonal;            /* per unknown: the column of its diagonal block, `block` numbers */
  const REAL *reduced;             /* per contact: the result of lcp_contact_reduce */
  const REAL *columns;             /* the matrix by columns; NULL until a scheme needs it */
  REAL *z, *w, *deltas;            /* w and deltas for schemes by columns, `stride` numbers each */
  size_t n, stride, block, blocks; /* rows per block, and number of blocks */
  size_t dimension;
  int exact; /* how the law of a contact is solved (lcp_contact_of) */
} CPU_LCP(problem);

/* Keeps NULL for arrays that the problem lacks. */
CPU_INLINE REAL *CPU_LCP(from)(void *numbers, size_t first) {
  return numbers ? (REAL *)numbers + first : NULL;
}

static CPU_LCP(problem) CPU_LCP(problem_of)(const ts_lcp *lcp, size_t k) {
  const cpu_lcp *impl = lcp->impl;
  const size_t n = (size_t)lcp->size, dimension = (size_t)lcp->dimension, block = cpu_lcp_block(lcp);
  const REAL *columns = impl->columns ? impl->columns : impl->is_symmetric ? impl->matrix : NULL;
  return (CPU_LCP(problem)){.matrix = CPU_LCP(from)(impl->matrix, k * impl->rows * impl->stride),
                            .q = CPU_LCP(from)(impl->q, k * impl->stride),
                            .z = CPU_LCP(from)(impl->z, k * impl->stride),
                            .w = CPU_LCP(from)(impl->w, k * impl->stride),
                            .deltas = CPU_LCP(from)(impl->deltas, k * impl->stride),
                            .lower = CPU_LCP(from)(impl->lower, k * n),
                            .upper = CPU_LCP(from)(impl->upper, k * n),
                            .friction = CPU_LCP(from)(impl->friction, k * (n / dimension)),
                            .diagonal = CPU_LCP(from)(impl->diagonal, k * impl->rows * block),
                            .reduced = CPU_LCP(from)(impl->reduced, k * (n / dimension) * LCP_REDUCED),
                            .columns = columns ? columns + k * impl->rows * impl->stride : NULL,
                            .n = n,
                            .stride = impl->stride,
                            .block = block,
                            .blocks = cpu_lcp_blocks(lcp),
                            .dimension = dimension,
                            .exact = lcp->local != TS_LCP_LOCAL_PROJECTION};
}

CPU_INLINE REAL CPU_LCP(sum_lanes)(REAL *sums) {
  for (size_t half = CPU_LCP_LANES / 2; half > 0; half /= 2)
    for (size_t l = 0; l < half; l++) sums[l] += sums[l + half];
  return sums[0];
}

CPU_INLINE REAL CPU_LCP(dot)(const REAL *row, const REAL *z, size_t stride) {
  REAL sums[CPU_LCP_LANES] = {0};
  for (size_t j = 0; j < stride; j += CPU_LCP_LANES) {
    CPU_SIMD
    for (size_t l = 0; l < CPU_LCP_LANES; l++) sums[l] += row[j + l] * z[j + l];
  }
  return CPU_LCP(sum_lanes)(sums);
}

/* Adds columns first .. last - 1 to four rows, reading z once for all of them. */
CPU_INLINE void CPU_LCP(add_four)(const REAL *m, size_t stride, const REAL *z, size_t first, size_t last,
                                  REAL (*lanes)[CPU_LCP_LANES]) {
  REAL a[CPU_LCP_LANES], b[CPU_LCP_LANES], c[CPU_LCP_LANES], d[CPU_LCP_LANES];
  for (size_t l = 0; l < CPU_LCP_LANES; l++)
    a[l] = lanes[0][l], b[l] = lanes[1][l], c[l] = lanes[2][l], d[l] = lanes[3][l];
  for (size_t j = first; j < last; j += CPU_LCP_LANES) {
    const REAL *at = m + j;
    CPU_SIMD
    for (size_t l = 0; l < CPU_LCP_LANES; l++) {
      const REAL x = z[j + l];
      a[l] += at[l] * x;
      b[l] += at[stride + l] * x;
      c[l] += at[2 * stride + l] * x;
      d[l] += at[3 * stride + l] * x;
    }
  }
  for (size_t l = 0; l < CPU_LCP_LANES; l++)
    lanes[0][l] = a[l], lanes[1][l] = b[l], lanes[2][l] = c[l], lanes[3][l] = d[l];
}

/* Adds columns first .. last - 1 to `rows` rows starting at m; `rows` is a multiple of four. */
CPU_CLONES
static void CPU_LCP(add_rows)(const REAL *m, size_t rows, size_t stride, const REAL *z, size_t first,
                              size_t last, REAL (*lanes)[CPU_LCP_LANES]) {
  for (size_t i = 0; i < rows; i += 4) CPU_LCP(add_four)(m + i * stride, stride, z, first, last, lanes + i);
}

CPU_CLONES
static void CPU_LCP(sum_rows)(const REAL *q, size_t rows, REAL (*lanes)[CPU_LCP_LANES], REAL *w) {
  for (size_t i = 0; i < rows; i++) w[i] = q[i] + CPU_LCP(sum_lanes)(lanes[i]);
}

/* A zero change has no effect; NaN does. */
CPU_INLINE int CPU_LCP(changes)(REAL delta) {
  return delta < 0 || delta > 0 || !(delta == delta);
}

/* Solves the unknowns of block b in order. On entry, w belongs to the values before the block. Each new value
 * updates w for the unknowns after it. `deltas` receives the changes. */
CPU_CLONES
static void CPU_LCP(solve_unknowns)(const CPU_LCP(problem) * p, size_t b, REAL w[CPU_LCP_BLOCK], REAL *z,
                                    REAL *deltas) {
  const size_t begin = b * CPU_LCP_BLOCK, left = p->n - begin;
  const size_t count = left < CPU_LCP_BLOCK ? left : CPU_LCP_BLOCK;
  for (size_t k = 0; k < count; k++) {
    const size_t i = begin + k;
    const REAL *column = p->diagonal + i * CPU_LCP_BLOCK;
    const REAL next = lcp_unknown(z[k], w[k], column[k], p->lower[i], p->upper[i]), delta = next - z[k];
    z[k] = next;
    deltas[k] = delta;
    /* An unknown that stays at its bound changes nothing, so the next one need not wait for it. */
    if (!CPU_LCP(changes)(delta)) continue;
    for (size_t j = k / CPU_LCP_LANES * CPU_LCP_LANES; j < CPU_LCP_BLOCK; j += CPU_LCP_LANES) {
      CPU_SIMD
      for (size_t l = 0; l < CPU_LCP_LANES; l++) w[j + l] += column[j + l] * delta;
    }
  }
}

/* w += eight columns times their factors, in rows first .. last - 1. */
CPU_INLINE void CPU_LCP(add_eight)(const REAL *const c[8], const REAL f[8], REAL *w, size_t first,
                                   size_t last) {
  const REAL *c0 = c[0], *c1 = c[1], *c2 = c[2], *c3 = c[3], *c4 = c[4], *c5 = c[5], *c6 = c[6], *c7 = c[7];
  CPU_SIMD
  for (size_t i = first; i < last; i++)
    w[i] += ((c0[i] * f[0] + c1[i] * f[1]) + (c2[i] * f[2] + c3[i] * f[3])) +
            ((c4[i] * f[4] + c5[i] * f[5]) + (c6[i] * f[6] + c7[i] * f[7]));
}

/* Adds the changes of unknowns begin .. end - 1 to w in rows first .. last - 1. The columns of unchanged
 * unknowns are not read. */
CPU_CLONES
static void CPU_LCP(add_columns)(const CPU_LCP(problem) * p, size_t begin, size_t end, size_t first,
                                 size_t last) {
  const REAL *columns[8];
  REAL factors[8];
  size_t count = 0;
  for (size_t j = begin; j < end; j++) {
    const REAL delta = p->deltas[j];
    if (!CPU_LCP(changes)(delta)) continue;
    columns[count] = p->columns + j * p->stride;
    factors[count++] = delta;
    if (count < 8) continue;
    CPU_LCP(add_eight)(columns, factors, p->w, first, last);
    count = 0;
  }
  for (size_t k = 0; k < count; k++) {
    CPU_SIMD
    for (size_t i = first; i < last; i++) p->w[i] += columns[k][i] * factors[k];
  }
}
