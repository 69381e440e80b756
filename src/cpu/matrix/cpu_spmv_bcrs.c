/* y = A x and r = b - A x for compressed rows of blocks: the SSE competitor of Buatois et al. 2008, section 4,
 * with vectors as wide as the machine has.
 *
 * A block's numbers lie row by row, and so do its partial sums: with one component, lane (r, q) adds up a_rq
 * x_q over the blocks of the row, and the lanes of a row are added up at its end. Neighbouring lanes take
 * neighbouring numbers of the matrix, and x once a block. With several components the sums of the rows are
 * lanes already.
 *
 * x may be read up to three rows beyond its end, where vectors hold zeros (cpu_vector). */
#include <string.h>

#include "cpu/core/cpu.h"

typedef struct bcrs_job {
  const cpu_matrix *m;
  int32_t rows; /* of the matrix */
  float *y;
  const float *x;
  const float *b;                   /* NULL: y = A x */
  const unsigned char *constrained; /* flags of rows where the result is 0, NULL: none */
} bcrs_job;

enum { largest = 4, ahead = 1024 }; /* bytes from the block in use to the one fetched, as in cpu_spmv.c */

/* The rows of block row `row` to the result, but for those beyond the matrix's last. */
CPU_INLINE void store(const bcrs_job *job, int32_t row, const float *sums, int n, int components) {
  const int32_t first = row * n, left = job->rows - first;
  float *y = job->y + (size_t)first * (size_t)components;
  if (left >= n)
    memcpy(y, sums, (size_t)(n * components) * sizeof *y);
  else
    memcpy(y, sums, (size_t)left * (size_t)components * sizeof *y);
  for (int32_t r = 0; job->constrained && r < n && r < left; r++)
    for (int c = 0; job->constrained[first + r] && c < components; c++) y[r * components + c] = 0;
}

/* ---- Products ---- */

/* Two blocks at a time into sums of their own: half as long a chain of additions. */
CPU_INLINE void rows_1(const bcrs_job *job, int32_t row, int32_t end, int n) {
  const int32_t *columns = job->m->column_indices;
  const size_t block = (size_t)n * (size_t)n;
  for (; row < end; row++) {
    int32_t k = job->m->row_offsets[row];
    const int32_t next = job->m->row_offsets[row + 1];
    const float *v = job->m->values + (size_t)k * block;
    float lanes[2][largest * largest] = {{0}}, sums[largest];
    for (; k + 1 < next; k += 2, v += 2 * block) {
      const float *x0 = job->x + (size_t)columns[k] * (size_t)n;
      const float *x1 = job->x + (size_t)columns[k + 1] * (size_t)n;
      cpu_prefetch(v, ahead);
      cpu_prefetch(v + block, ahead);
      CPU_SIMD
      for (int l = 0; l < n * n; l++) lanes[0][l] += v[l] * x0[l % n];
      CPU_SIMD
      for (int l = 0; l < n * n; l++) lanes[1][l] += v[block + (size_t)l] * x1[l % n];
    }
    if (k < next) {
      const float *x0 = job->x + (size_t)columns[k] * (size_t)n;
      CPU_SIMD
      for (int l = 0; l < n * n; l++) lanes[0][l] += v[l] * x0[l % n];
    }
    for (int r = 0; r < n; r++) {
      const size_t first = (size_t)r * (size_t)n;
      const float *even = lanes[0] + first, *odd = lanes[1] + first;
      sums[r] = (even[0] + odd[0]) + (even[1] + odd[1]);
      if (n == 4) sums[r] += (even[2] + odd[2]) + (even[3] + odd[3]);
    }
    store(job, row, sums, n, 1);
  }
}

/* A block's products are added up in `own`, which are registers: adding each to `sums`, which are memory where
 * there are many, would wait for the addition before. */
CPU_INLINE void rows_n(const bcrs_job *job, int32_t row, int32_t end, int n, int components) {
  const int32_t *columns = job->m->column_indices;
  const size_t block = (size_t)n * (size_t)n;
  for (; row < end; row++) {
    const int32_t first = job->m->row_offsets[row], next = job->m->row_offsets[row + 1];
    const float *v = job->m->values + (size_t)first * block;
    float sums[largest * 4] = {0};
    for (int32_t k = first; k < next; k++, v += block) {
      const float *xj = job->x + (size_t)columns[k] * (size_t)(n * components);
      cpu_prefetch(v, ahead);
      for (int r = 0; r < n; r++) {
        float own[4] = {0};
        for (int q = 0; q < n; q++)
          for (int c = 0; c < components; c++) own[c] += v[r * n + q] * xj[q * components + c];
        for (int c = 0; c < components; c++) sums[r * components + c] += own[c];
      }
    }
    store(job, row, sums, n, components);
  }
}

/* In double, as in cpu_spmv.c: b - A x is the difference of nearly equal numbers when x is good. */
CPU_INLINE void residual_rows(const bcrs_job *job, int32_t row, int32_t end, int n, int components) {
  const int32_t *columns = job->m->column_indices;
  const size_t block = (size_t)n * (size_t)n;
  for (; row < end; row++) {
    const int32_t first = job->m->row_offsets[row], next = job->m->row_offsets[row + 1];
    const float *v = job->m->values + (size_t)first * block;
    const float *b = job->b + (size_t)row * (size_t)(n * components);
    double rest[largest * 4];
    float sums[largest * 4];
    for (int l = 0; l < n * components; l++) rest[l] = b[l];
    for (int32_t k = first; k < next; k++, v += block) {
      const float *xj = job->x + (size_t)columns[k] * (size_t)(n * components);
      cpu_prefetch(v, ahead);
      for (int q = 0; q < n; q++)
        for (int r = 0; r < n; r++)
          for (int c = 0; c < components; c++)
            rest[r * components + c] -= (double)v[r * n + q] * (double)xj[q * components + c];
    }
    for (int l = 0; l < n * components; l++) sums[l] = (float)rest[l];
    store(job, row, sums, n, components);
  }
}

/* ---- A body for every size of blocks and number of components ---- */

#define BODY(name, call)                                                                                       \
  CPU_CLONES static void name(const void *arguments, size_t first, size_t last) {                              \
    const bcrs_job *job = arguments;                                                                           \
    const int32_t row = job->m->part_rows[first], end = job->m->part_rows[last];                               \
    call;                                                                                                      \
  }
#define BODIES(n)                                                                                              \
  BODY(spmv_##n##_1, rows_1(job, row, end, n))                                                                 \
  BODY(spmv_##n##_2, rows_n(job, row, end, n, 2))                                                              \
  BODY(spmv_##n##_3, rows_n(job, row, end, n, 3))                                                              \
  BODY(spmv_##n##_4, rows_n(job, row, end, n, 4))                                                              \
  BODY(residual_##n##_1, residual_rows(job, row, end, n, 1))                                                   \
  BODY(residual_##n##_2, residual_rows(job, row, end, n, 2))                                                   \
  BODY(residual_##n##_3, residual_rows(job, row, end, n, 3))                                                   \
  BODY(residual_##n##_4, residual_rows(job, row, end, n, 4))
BODIES(2)
BODIES(4)

static void run(const ts_matrix *A, const cpu_body bodies[2][4], int components, bcrs_job *job) {
  const cpu_matrix *m = A->impl;
  job->m = m;
  job->rows = A->info.rows;
  job->constrained = A->row_space->constrained;
  const size_t parts = (size_t)m->parts;
  const size_t work = (size_t)m->row_offsets[m->rows] * ((size_t)1 << (2 * m->log2_block)) + (size_t)job->rows;
  cpu_for(A->context, parts, work / parts, bodies[m->log2_block - 1][components - 1], job);
}

ts_status cpu_bcrs_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  static const cpu_body bodies[2][4] = {{spmv_2_1, spmv_2_2, spmv_2_3, spmv_2_4},
                                        {spmv_4_1, spmv_4_2, spmv_4_3, spmv_4_4}};
  run(A, bodies, y->components, &(bcrs_job){.y = cpu_data(y), .x = cpu_data(x)});
  return TS_OK;
}

ts_status cpu_bcrs_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  static const cpu_body bodies[2][4] = {{residual_2_1, residual_2_2, residual_2_3, residual_2_4},
                                        {residual_4_1, residual_4_2, residual_4_3, residual_4_4}};
  run(A, bodies, r->components, &(bcrs_job){.y = cpu_data(r), .x = cpu_data(x), .b = cpu_data(b)});
  return TS_OK;
}
