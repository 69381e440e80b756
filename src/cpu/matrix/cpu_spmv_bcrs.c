/* y = A x and r = b - A x for compressed rows of blocks. This is the SSE competitor in Buatois et al. 2008,
 * section 4, with the vector width of the machine.
 *
 * The numbers of a block are stored row by row, and so are its partial sums. With one component, lane (r, q)
 * accumulates a_rq x_q over the blocks of the row, and the lanes of a row are added up at its end. Neighbouring
 * lanes read neighbouring numbers of the matrix, and x is read once per block. With several components, the
 * sums of the rows are already lanes.
 *
 * x may be read up to three rows beyond its end, where vectors hold zeros (cpu_vector). */
#include <string.h>

#include "cpu/core/cpu.h"

typedef struct bcrs_job {
  const cpu_matrix *m;
  tsi_rows which;
  int32_t rows;                     /* of the matrix */
  cpu_parts y, x, b;                /* b: for residuals */
  const unsigned char *constrained; /* marks rows where the result is 0, or NULL */
} bcrs_job;

enum { largest = 4, ahead = 1024 }; /* prefetch distance in bytes, as in cpu_spmv.c */

/* The number of elements in block row `row` up to the last row of the matrix. */
CPU_INLINE int stored_count(const bcrs_job *job, int32_t row, int n, int components) {
  const int32_t left = job->rows - row * n;
  return (left < n ? left : n) * components;
}

CPU_INLINE void zero_constrained(const bcrs_job *job, int32_t row, float *y, int n, int components) {
  const int count = stored_count(job, row, n, components);
  for (int l = 0; job->constrained && l < count; l++)
    if (job->constrained[row * n + l / components]) y[l] = 0;
}

CPU_INLINE void store(const bcrs_job *job, int32_t row, const float *sums, int n, int components) {
  const int count = stored_count(job, row, n, components);
  float *y = job->y.high + (size_t)row * (size_t)(n * components);
  if (count == n * components)
    memcpy(y, sums, (size_t)(n * components) * sizeof *y);
  else
    memcpy(y, sums, (size_t)count * sizeof *y);
  zero_constrained(job, row, y, n, components);
}

/* ---- Products ---- */

/* Processes two blocks at a time with separate sums, which halves the chain of additions. */
CPU_INLINE void rows_1(const bcrs_job *job, int32_t row, int32_t end, int n) {
  const int32_t *columns = job->m->column_indices;
  const size_t block = (size_t)n * (size_t)n;
  for (; row < end; row++) {
    int32_t k = job->m->row_offsets[row];
    const int32_t next = job->m->row_offsets[row + 1];
    const float *v = job->m->values + (size_t)k * block;
    float lanes[2][largest * largest] = {{0}}, sums[largest];
    for (; k + 1 < next; k += 2, v += 2 * block) {
      const float *x0 = job->x.high + (size_t)columns[k] * (size_t)n;
      const float *x1 = job->x.high + (size_t)columns[k + 1] * (size_t)n;
      cpu_prefetch(v, ahead);
      cpu_prefetch(v + block, ahead);
      CPU_SIMD
      for (int l = 0; l < n * n; l++) lanes[0][l] += v[l] * x0[l % n];
      CPU_SIMD
      for (int l = 0; l < n * n; l++) lanes[1][l] += v[block + (size_t)l] * x1[l % n];
    }
    if (k < next) {
      const float *x0 = job->x.high + (size_t)columns[k] * (size_t)n;
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

/* Accumulates the products of a block in `own`, which stays in registers. With many components, `sums` is in
 * memory. Adding each product to it would wait for the previous addition. */
CPU_INLINE void rows_n(const bcrs_job *job, int32_t row, int32_t end, int n, int components) {
  const int32_t *columns = job->m->column_indices;
  const size_t block = (size_t)n * (size_t)n;
  for (; row < end; row++) {
    const int32_t first = job->m->row_offsets[row], next = job->m->row_offsets[row + 1];
    const float *v = job->m->values + (size_t)first * block;
    float sums[largest * 4] = {0};
    for (int32_t k = first; k < next; k++, v += block) {
      const float *xj = job->x.high + (size_t)columns[k] * (size_t)(n * components);
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

CPU_INLINE void product_rows(const bcrs_job *job, int32_t row, int32_t end, int n, int components) {
  if (components == 1)
    rows_1(job, row, end, n);
  else
    rows_n(job, row, end, n, components);
}

/* With one component the lanes are those of rows_1. */
CPU_INLINE void residual_row_1(const bcrs_job *job, int32_t row, double *rest, int n) {
  const int32_t *columns = job->m->column_indices;
  const int32_t first = job->m->row_offsets[row], next = job->m->row_offsets[row + 1];
  const size_t block = (size_t)n * (size_t)n;
  const float *v = job->m->values + (size_t)first * block;
  double lanes[largest * largest] = {0};
  for (int32_t k = first; k < next; k++, v += block) {
    const float *xj = job->x.high + (size_t)columns[k] * (size_t)n;
    cpu_prefetch(v, ahead);
    CPU_SIMD
    for (int l = 0; l < n * n; l++) lanes[l] += (double)v[l] * (double)xj[l % n];
  }
  for (int l = 0; l < n * n; l++) rest[l / n] -= lanes[l];
}

/* Uses double as in cpu_spmv.c: b - A x is the difference of nearly equal numbers when x is accurate. */
CPU_LARGE void residual_rows(const bcrs_job *job, int32_t row, int32_t end, int n, int components) {
  const int32_t *columns = job->m->column_indices;
  const size_t block = (size_t)n * (size_t)n;
  for (; row < end; row++) {
    const int32_t first = job->m->row_offsets[row], next = job->m->row_offsets[row + 1];
    const float *v = job->m->values + (size_t)first * block;
    const float *b = job->b.high + (size_t)row * (size_t)(n * components);
    double rest[largest * 4];
    float sums[largest * 4];
    for (int l = 0; l < n * components; l++) rest[l] = b[l];
    if (components == 1) residual_row_1(job, row, rest, n);
    for (int32_t k = first; components > 1 && k < next; k++, v += block) {
      const float *xj = job->x.high + (size_t)columns[k] * (size_t)(n * components);
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

/* ---- In pairs ---- */

CPU_INLINE void store_pairs(const bcrs_job *job, int32_t row, const cpu_exact *sums, int n, int components) {
  const size_t first = (size_t)row * (size_t)(n * components);
  const int count = stored_count(job, row, n, components);
  for (int l = 0; l < count; l++)
    cpu_exact_split(sums[l], &job->y.high[first + (size_t)l], &job->y.low[first + (size_t)l]);
  zero_constrained(job, row, job->y.high + first, n, components);
  zero_constrained(job, row, job->y.low + first, n, components);
}

/* With one component the lanes are those of rows_1. */
CPU_LARGE void pair_rows(const bcrs_job *job, int32_t row, int32_t end, int n, int components) {
  const int32_t *columns = job->m->column_indices;
  const size_t block = (size_t)n * (size_t)n;
  for (; row < end; row++) {
    const int32_t first = job->m->row_offsets[row], next = job->m->row_offsets[row + 1];
    const float *v = job->m->values + (size_t)first * block;
    double lanes[largest * largest] = {0};
    cpu_exact sums[largest * 4] = {{0, 0}};
    for (int32_t k = first; k < next; k++, v += block) {
      const double *xj = job->m->x + (size_t)columns[k] * (size_t)(n * components);
      cpu_prefetch(v, ahead);
      if (components == 1) {
        CPU_SIMD
        for (int l = 0; l < n * n; l++) lanes[l] += (double)v[l] * xj[l % n];
        continue;
      }
      for (int r = 0; r < n; r++) {
        double own[4] = {0};
        for (int q = 0; q < n; q++)
          for (int c = 0; c < components; c++) own[c] += (double)v[r * n + q] * xj[q * components + c];
        for (int c = 0; c < components; c++) lanes[r * components + c] += own[c];
      }
    }
    for (int l = 0; l < (components == 1 ? n * n : n * components); l++)
      sums[components == 1 ? l / n : l].sum += lanes[l];
    store_pairs(job, row, sums, n, components);
  }
}

/* As in cpu_spmv.c, the products are exact and their sums keep the rounding errors. */
CPU_LARGE void exact_residual_rows(const bcrs_job *job, int32_t row, int32_t end, int n, int components) {
  const int32_t *columns = job->m->column_indices;
  const size_t block = (size_t)n * (size_t)n;
  for (; row < end; row++) {
    const int32_t first = job->m->row_offsets[row], next = job->m->row_offsets[row + 1];
    const float *v = job->m->values + (size_t)first * block;
    const int count = stored_count(job, row, n, components);
    cpu_exact rest[largest * 4] = {{0, 0}};
    for (int l = 0; l < count; l++)
      rest[l] = cpu_exact_value(job->b, (size_t)row * (size_t)(n * components) + (size_t)l);
    for (int32_t k = first; k < next; k++, v += block) {
      const float *xj = job->x.high + (size_t)columns[k] * (size_t)(n * components);
      for (int q = 0; q < n; q++)
        for (int r = 0; r < n; r++)
          for (int c = 0; c < components; c++)
            cpu_exact_add(&rest[r * components + c], -(double)v[r * n + q] * (double)xj[q * components + c]);
    }
    store_pairs(job, row, rest, n, components);
  }
}

/* ---- One body per block size and number of components ---- */

#define BODY(name, call)                                                                                       \
  CPU_CLONES static void name(const void *arguments, size_t first, size_t last) {                              \
    const bcrs_job *job = arguments;                                                                           \
    const cpu_ranges r = cpu_ranges_of(job->m, job->which, first, last);                                       \
    for (const int32_t *cut = r.cut; cut < r.end; cut += r.stride) {                                           \
      const int32_t row = cut[0], end = cut[r.width];                                                          \
      call;                                                                                                    \
    }                                                                                                          \
  }
#define BODIES_OF(name, rows, n)                                                                               \
  BODY(name##_##n##_1, rows(job, row, end, n, 1))                                                              \
  BODY(name##_##n##_2, rows(job, row, end, n, 2))                                                              \
  BODY(name##_##n##_3, rows(job, row, end, n, 3))                                                              \
  BODY(name##_##n##_4, rows(job, row, end, n, 4))
#define BODIES(name, rows)                                                                                     \
  BODIES_OF(name, rows, 2)                                                                                     \
  BODIES_OF(name, rows, 4)                                                                                     \
  static const tsi_body name[2][4] = {{name##_2_1, name##_2_2, name##_2_3, name##_2_4},                        \
                                      {name##_4_1, name##_4_2, name##_4_3, name##_4_4}};
BODIES(spmv, product_rows)
BODIES(residual, residual_rows)
BODIES(spmv_pairs, pair_rows)
BODIES(residual_pairs, exact_residual_rows)

static void cpu_spmv_bcrs_run(const ts_matrix *A, const tsi_body bodies[2][4], int components, bcrs_job *job) {
  const cpu_matrix *m = A->impl;
  job->m = m;
  job->which = A->rows;
  job->rows = A->info.rows;
  job->constrained = A->row_space->constrained;
  const size_t parts = (size_t)m->parts;
  const size_t work = (size_t)m->row_offsets[m->rows] * ((size_t)1 << (2 * m->log2_block)) + (size_t)job->rows;
  cpu_for(A->context, parts, cpu_work_of(m, A->rows, work) / parts, bodies[m->log2_block - 1][components - 1],
          job);
}

ts_status cpu_bcrs_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  if (y->low) TSI_TRY(cpu_matrix_convert_x(A, x));
  cpu_spmv_bcrs_run(A, y->low ? spmv_pairs : spmv, y->components,
                    &(bcrs_job){.y = cpu_parts_of(y), .x = cpu_parts_of(x)});
  return TS_OK;
}

ts_status cpu_bcrs_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  cpu_spmv_bcrs_run(A, r->low ? residual_pairs : residual, r->components,
                    &(bcrs_job){.y = cpu_parts_of(r), .x = cpu_parts_of(x), .b = cpu_parts_of(b)});
  return TS_OK;
}
