/* Products, residuals and smoothing steps with matrices by diagonals. Each returns 0 if A has none, and then
 * does nothing. The loops run over the same blocks as those of vectors, so that a thread finds what it wrote.
 */
#include "cpu_dia.h"

enum { PRODUCT, QUICK_RESIDUAL, STEP, RESIDUAL, PAIR_RESIDUAL };

typedef struct dia_job {
  const cpu_dia *dia;
  int what;
  cpu_parts y, x, b;
  const tsi_smoothing *smoothing;
  const float *w, *before;
  const cpu_reduction *dot; /* or NULL */
} dia_job;

CPU_CLONES static void quick_residual(const dia_job *job, size_t row, size_t count, const float *sums) {
  const float *b = job->b.high + row;
  float *r = job->y.high + row;
  CPU_SIMD
  for (size_t i = 0; i < count; i++) r[i] = b[i] - sums[i];
}

CPU_CLONES static void step(const dia_job *job, size_t row, size_t count, const float *sums) {
  const tsi_smoothing *s = job->smoothing;
  const float *xs = job->x.high + row, *w = job->w + row, *b = job->b.high + row;
  const float *before = job->before ? job->before + row : cpu_zeros, scale = s->scale;
  float *out = job->y.high + row;
  CPU_SIMD
  for (size_t i = 0; i < count; i++) {
    const float x = scale * xs[i];
    out[i] = x + s->alpha * w[i] * (b[i] - scale * sums[i]) + s->gamma * (x - before[i]);
  }
}

static void residual(const dia_job *job, int32_t row, int32_t count) {
  double rest[CPU_DIA_TILE];
  for (int32_t i = 0; i < count; i++) rest[i] = (double)job->b.high[row + i];
  cpu_dia_subtract(job->dia, job->x.high, row, count, rest);
  for (int32_t i = 0; i < count; i++) job->y.high[row + i] = (float)rest[i];
}

static void pair_residual(const dia_job *job, int32_t row, int32_t count) {
  double sum[CPU_DIA_TILE], lost[CPU_DIA_TILE];
  for (int32_t i = 0; i < count; i++) {
    const cpu_exact b = cpu_exact_value(job->b, (size_t)row + (size_t)i);
    sum[i] = b.sum, lost[i] = b.lost;
  }
  cpu_dia_subtract_exactly(job->dia, job->x.high, row, count, sum, lost);
  for (int32_t i = 0; i < count; i++)
    cpu_exact_split((cpu_exact){sum[i], lost[i]}, &job->y.high[row + i], &job->y.low[row + i]);
}

static void rows(const dia_job *job, int32_t row, int32_t count) {
  float sums[CPU_DIA_TILE];
  switch (job->what) {
  case PRODUCT:
    cpu_dia_multiply(job->dia, job->x.high, row, count, job->y.high + row);
    return;
  case RESIDUAL:
    residual(job, row, count);
    return;
  case PAIR_RESIDUAL:
    pair_residual(job, row, count);
    return;
  default:
    cpu_dia_multiply(job->dia, job->x.high, row, count, sums);
    (job->what == STEP ? step : quick_residual)(job, (size_t)row, (size_t)count, sums);
  }
}

static void body_dia(const void *arguments, size_t first, size_t last) {
  const dia_job *job = arguments;
  for (size_t block = first; block < last; block++) {
    const int32_t end = (int32_t)cpu_block_end(block + 1, job->dia->rows);
    for (int32_t row = (int32_t)(block * CPU_BLOCK); row < end; row += CPU_DIA_TILE)
      rows(job, row, end - row < CPU_DIA_TILE ? end - row : CPU_DIA_TILE);
    if (job->dot) cpu_dot_block(job->dot, block);
  }
}

static int run(const ts_matrix *A, const ts_vector *y, dia_job *job) {
  const cpu_matrix *m = A->impl;
  job->dia = y->components == 1 ? cpu_dia_of(A) : NULL;
  if (!job->dia) return 0;
  const size_t blocks = cpu_blocks(job->dia->rows);
  const size_t work = 2 * (size_t)m->row_offsets[m->rows] + job->dia->rows;
  cpu_for(A->context, blocks, work / blocks, body_dia, job);
  return 1;
}

int cpu_dia_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  return run(A, y, &(dia_job){.what = PRODUCT, .y = cpu_parts_of(y), .x = cpu_parts_of(x)});
}

int cpu_dia_spmv_dot(ts_vector *y, const ts_matrix *A, const ts_vector *x, ts_scalars *out, int index) {
  const cpu_reduction dot = cpu_dot_begin(x, y, NULL);
  if (!run(A, y, &(dia_job){.what = PRODUCT, .y = cpu_parts_of(y), .x = cpu_parts_of(x), .dot = &dot}))
    return 0;
  cpu_dot_end(&dot, out, index);
  return 1;
}

int cpu_dia_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x, int is_quick) {
  const int what = is_quick ? QUICK_RESIDUAL : r->low ? PAIR_RESIDUAL : RESIDUAL;
  return run(A, r, &(dia_job){.what = what, .y = cpu_parts_of(r), .x = cpu_parts_of(x), .b = cpu_parts_of(b)});
}

int cpu_dia_smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s) {
  return run(A, out,
             &(dia_job){.what = STEP,
                        .y = cpu_parts_of(out),
                        .x = cpu_parts_of(s->x),
                        .b = cpu_parts_of(s->b),
                        .smoothing = s,
                        .w = cpu_parts_of(s->w).high,
                        .before = s->before ? cpu_parts_of(s->before).high : NULL});
}

/* Uses the diagonals only if they are those of the present values. */
int cpu_dia_diagonal(ts_vector *d, const ts_matrix *A) {
  const cpu_matrix *m = A->impl;
  const cpu_dia *dia = d->components == 1 && !m->wants_dia ? m->dia : NULL;
  if (!dia) return 0;
  int32_t shift;
  const float *stored = dia->is_constant ? NULL : cpu_dia_values(dia, dia->main, &shift);
  for (size_t i = 0; i < dia->rows; i++)
    cpu_data(d)[i] = stored ? stored[i] : dia->entries[i] >> dia->main & 1 ? dia->constants[dia->main] : 0;
  return 1;
}
