/* y = A x and r = b - A x for compressed sparse rows.
 *
 * A row is a short chain of dependent additions, and the processor overlaps several rows. The limit is the
 * latency of the two streams, values and columns. Prefetching both is a third faster than relying on the
 * hardware. Gather instructions and wider vectors were measured, and are slower for rows of 5 to 8 entries. So
 * these loops have no clones for newer processors. */
#include "cpu/core/cpu.h"

typedef struct spmv_job {
  const cpu_matrix *m;
  tsi_rows rows;
  cpu_parts y, x, b;                /* b: for residuals */
  const unsigned char *constrained; /* marks rows where r is 0, or NULL; constrained rows of A are empty */
  const tsi_smoothing *smoothing;
  const float *w, *before; /* for smoothing */
} spmv_job;

/* Prefetch distance in entries: 256 to 1024 measured best. */
enum { ahead = 512 };
/* Minimum length of a row whose residual uses several sums. */
enum { long_residual = 12 };

CPU_INLINE void prefetch_entries(const float *values, const int32_t *columns) {
  cpu_prefetch(values, ahead * sizeof *values);
  cpu_prefetch(columns, ahead * sizeof *columns);
}

/* ---- One component ---- */

/* The compiler unrolls this loop for a constant length. Two sums halve the chain of additions. */
CPU_INLINE float short_row(const float *v, const int32_t *c, int length, const float *x) {
  float even = 0, odd = 0;
  for (int k = 0; k + 1 < length; k += 2) {
    even += v[k] * x[c[k]];
    odd += v[k + 1] * x[c[k + 1]];
  }
  if (length & 1) even += v[length - 1] * x[c[length - 1]];
  return even + odd;
}

static float long_row(const float *v, const int32_t *c, int32_t length, const float *x) {
  float sum[4] = {0, 0, 0, 0};
  int32_t k = 0;
  for (; k + 8 <= length; k += 8) {
    prefetch_entries(v + k, c + k);
    for (int l = 0; l < 4; l++) sum[l] += v[k + l] * x[c[k + l]] + v[k + 4 + l] * x[c[k + 4 + l]];
  }
  for (; k < length; k++) sum[k & 3] += v[k] * x[c[k]];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

CPU_INLINE float row_sum(const float *v, const int32_t *c, int32_t length, const float *x) {
  switch (length) {
  case 0:
    return 0;
  case 1:
    return short_row(v, c, 1, x);
  case 2:
    return short_row(v, c, 2, x);
  case 3:
    return short_row(v, c, 3, x);
  case 4:
    return short_row(v, c, 4, x);
  case 5:
    return short_row(v, c, 5, x);
  case 6:
    return short_row(v, c, 6, x);
  case 7:
    return short_row(v, c, 7, x);
  case 8:
    return short_row(v, c, 8, x);
  case 9:
    return short_row(v, c, 9, x);
  default:
    return long_row(v, c, length, x);
  }
}

/* An element of a smoothing step, given its sum of A x. */
CPU_INLINE float smoothed(const spmv_job *job, size_t i, float sum) {
  const tsi_smoothing *s = job->smoothing;
  const float x = s->scale * job->x.high[i], from_before = job->before ? x - job->before[i] : x;
  return x + s->alpha * job->w[i] * (job->b.high[i] - s->scale * sum) + s->gamma * from_before;
}

enum { PRODUCT, RESIDUAL, STEP };
CPU_INLINE float result(const spmv_job *job, size_t i, float sum, int what) {
  return what == STEP ? smoothed(job, i, sum) : what == RESIDUAL ? job->b.high[i] - sum : sum;
}

CPU_LARGE void rows_1(const spmv_job *job, int32_t row, int32_t end, int what) {
  const int32_t *offsets = job->m->row_offsets, *columns = job->m->column_indices;
  const float *values = job->m->values, *x = job->x.high;
  int32_t k = offsets[row];
  for (; row < end; row++) {
    const int32_t next = offsets[row + 1];
    prefetch_entries(values + k, columns + k);
    const float sum = row_sum(values + k, columns + k, next - k, x);
    job->y.high[row] = result(job, (size_t)row, sum, what);
    k = next;
  }
}

/* ---- Several components: the sums of a row are already independent ---- */

CPU_INLINE void rows_n(const spmv_job *job, int32_t row, int32_t end, int n, int what) {
  const int32_t *offsets = job->m->row_offsets, *columns = job->m->column_indices;
  const float *values = job->m->values, *x = job->x.high;
  int32_t k = offsets[row];
  for (; row < end; row++) {
    const int32_t next = offsets[row + 1];
    float sum[4] = {0, 0, 0, 0};
    prefetch_entries(values + k, columns + k);
    for (; k < next; k++) {
      const float *xj = x + (size_t)columns[k] * (size_t)n;
      for (int c = 0; c < n; c++) sum[c] += values[k] * xj[c];
    }
    for (int c = 0; c < n; c++) {
      const size_t i = (size_t)row * (size_t)n + (size_t)c;
      job->y.high[i] = result(job, i, sum[c], what);
    }
  }
}

CPU_INLINE void rows(const spmv_job *job, int32_t row, int32_t end, int n, int what) {
  if (n == 1)
    rows_1(job, row, end, what);
  else
    rows_n(job, row, end, n, what);
}

CPU_INLINE void product_rows(const spmv_job *job, int32_t row, int32_t end, int n) {
  rows(job, row, end, n, PRODUCT);
}
/* For matrices without constrained rows. */
CPU_INLINE void quick_residual_rows(const spmv_job *job, int32_t row, int32_t end, int n) {
  rows(job, row, end, n, RESIDUAL);
}
CPU_INLINE void step_rows(const spmv_job *job, int32_t row, int32_t end, int n) {
  rows(job, row, end, n, STEP);
}

/* Uses four sums, so that additions do not wait for each other. */
static double long_residual_row(const float *v, const int32_t *c, int32_t length, const float *x, double rest) {
  double sum[4] = {rest, 0, 0, 0};
  int32_t k = 0;
  for (; k + 4 <= length; k += 4) {
    prefetch_entries(v + k, c + k);
    for (int l = 0; l < 4; l++) sum[l] -= (double)v[k + l] * (double)x[c[k + l]];
  }
  for (; k < length; k++) sum[k & 3] -= (double)v[k] * (double)x[c[k]];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* b - A x is the difference of nearly equal numbers when x is accurate. Double precision costs no extra memory
 * traffic. A solver that restarts from this residual obtains x to the last bit or two. */
CPU_LARGE void residual_rows(const spmv_job *job, int32_t row, int32_t end, int n) {
  const int32_t *offsets = job->m->row_offsets, *columns = job->m->column_indices;
  const float *values = job->m->values, *x = job->x.high;
  int32_t k = offsets[row];
  for (; row < end; row++) {
    const int32_t next = offsets[row + 1];
    const size_t first = (size_t)row * (size_t)n;
    double rest[4] = {0, 0, 0, 0};
    if (!(job->constrained && job->constrained[row]))
      for (int c = 0; c < n; c++) rest[c] = job->b.high[first + (size_t)c];
    prefetch_entries(values + k, columns + k);
    if (n == 1 && next - k >= long_residual) {
      rest[0] = long_residual_row(values + k, columns + k, next - k, x, rest[0]);
      k = next;
    }
    for (; k < next; k++) {
      const float *xj = x + (size_t)columns[k] * (size_t)n;
      for (int c = 0; c < n; c++) rest[c] -= (double)values[k] * (double)xj[c];
    }
    for (int c = 0; c < n; c++) job->y.high[first + (size_t)c] = (float)rest[c];
  }
}

/* ---- In pairs ---- */

CPU_LARGE void pair_rows(const spmv_job *job, int32_t row, int32_t end, int n) {
  const int32_t *offsets = job->m->row_offsets, *columns = job->m->column_indices;
  const float *values = job->m->values;
  const double *x = job->m->x;
  int32_t k = offsets[row];
  for (; row < end; row++) {
    const int32_t next = offsets[row + 1];
    const size_t first = (size_t)row * (size_t)n;
    double sum[4] = {0, 0, 0, 0};
    prefetch_entries(values + k, columns + k);
    for (; k < next; k++) {
      const double *xj = x + (size_t)columns[k] * (size_t)n;
      for (int c = 0; c < n; c++) sum[c] += (double)values[k] * xj[c];
    }
    for (int c = 0; c < n; c++)
      cpu_split(sum[c], &job->y.high[first + (size_t)c], &job->y.low[first + (size_t)c]);
  }
}

/* Products of floats are exact in double, and their sums nearly are. */
CPU_LARGE void exact_residual_rows(const spmv_job *job, int32_t row, int32_t end, int n) {
  const int32_t *offsets = job->m->row_offsets, *columns = job->m->column_indices;
  const float *values = job->m->values, *x = job->x.high;
  int32_t k = offsets[row];
  for (; row < end; row++) {
    const int32_t next = offsets[row + 1];
    const size_t first = (size_t)row * (size_t)n;
    cpu_exact rest[4] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
    if (!(job->constrained && job->constrained[row]))
      for (int c = 0; c < n; c++) rest[c] = cpu_exact_value(job->b, first + (size_t)c);
    for (; k < next; k++) {
      const float *xj = x + (size_t)columns[k] * (size_t)n;
      for (int c = 0; c < n; c++) cpu_exact_add(&rest[c], -(double)values[k] * (double)xj[c]);
    }
    for (int c = 0; c < n; c++)
      cpu_exact_split(rest[c], &job->y.high[first + (size_t)c], &job->y.low[first + (size_t)c]);
  }
}

/* ---- One body per number of components ---- */

#define BODY(name, call)                                                                                       \
  static void name(const void *arguments, size_t first, size_t last) {                                         \
    const spmv_job *job = arguments;                                                                           \
    const cpu_ranges r = cpu_ranges_of(job->m, job->rows, first, last);                                        \
    for (const int32_t *cut = r.cut; cut < r.end; cut += r.stride) {                                           \
      const int32_t row = cut[0], end = cut[r.width];                                                          \
      if (row < end) call;                                                                                     \
    }                                                                                                          \
  }
#define BODIES(name, rows)                                                                                     \
  BODY(name##_1, rows(job, row, end, 1))                                                                       \
  BODY(name##_2, rows(job, row, end, 2))                                                                       \
  BODY(name##_3, rows(job, row, end, 3))                                                                       \
  BODY(name##_4, rows(job, row, end, 4))                                                                       \
  static const tsi_body name[4] = {name##_1, name##_2, name##_3, name##_4};
BODIES(spmv, product_rows)
BODIES(residual, residual_rows)
BODIES(quick_residual, quick_residual_rows)
BODIES(step, step_rows)
BODIES(spmv_pairs, pair_rows)
BODIES(residual_pairs, exact_residual_rows)

static ts_status cpu_spmv_run(const ts_matrix *A, int components, const tsi_body bodies[4], spmv_job *job) {
  job->m = A->impl;
  job->rows = A->rows;
  const size_t parts = (size_t)job->m->parts;
  const size_t work = 2 * (size_t)job->m->row_offsets[job->m->rows] + (size_t)job->m->rows;
  cpu_for(A->context, parts, cpu_work_of(job->m, A->rows, work) / parts, bodies[components - 1], job);
  return TS_OK;
}

ts_status cpu_csr_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  spmv_job job = {.y = cpu_parts_of(y), .x = cpu_parts_of(x)};
  if (!y->low && cpu_dia_spmv(y, A, x)) return TS_OK;
  if (!y->low) return cpu_spmv_run(A, y->components, spmv, &job);
  TSI_TRY(cpu_matrix_convert_x(A, x));
  return cpu_spmv_run(A, y->components, spmv_pairs, &job);
}

ts_status cpu_csr_spmv_dot(ts_vector *y, const ts_matrix *A, const ts_vector *x, ts_scalars *out, int index) {
  if (!y->low && cpu_dia_spmv_dot(y, A, x, out, index)) return TS_OK;
  TSI_TRY(cpu_csr_spmv(y, A, x));
  return cpu_reduce(out, index, TSI_REDUCE_DOT, x, y);
}

ts_status cpu_csr_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  const unsigned char *constrained = A->row_space->constrained;
  if (!constrained && cpu_dia_residual(r, b, A, x, 0)) return TS_OK;
  return cpu_spmv_run(
      A, r->components, r->low ? residual_pairs : residual,
      &(spmv_job){
          .y = cpu_parts_of(r), .x = cpu_parts_of(x), .b = cpu_parts_of(b), .constrained = constrained});
}

ts_status cpu_csr_quick_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  if (A->row_space->constrained) return cpu_csr_residual(r, b, A, x);
  if (cpu_dia_residual(r, b, A, x, 1)) return TS_OK;
  return cpu_spmv_run(A, r->components, quick_residual,
                      &(spmv_job){.y = cpu_parts_of(r), .x = cpu_parts_of(x), .b = cpu_parts_of(b)});
}

ts_status cpu_csr_smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s) {
  if (cpu_dia_smooth(out, A, s)) return TS_OK;
  return cpu_spmv_run(A, out->components, step,
                      &(spmv_job){.y = cpu_parts_of(out),
                                  .x = cpu_parts_of(s->x),
                                  .b = cpu_parts_of(s->b),
                                  .smoothing = s,
                                  .w = cpu_parts_of(s->w).high,
                                  .before = s->before ? cpu_parts_of(s->before).high : NULL});
}
