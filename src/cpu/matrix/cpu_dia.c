/* Products with matrices whose entries lie on few diagonals: stencils on regular grids, band matrices. Their
 * values are also stored by diagonals, one array for each:
 *
 *   y_i = sum_d a_d,i x_(i+d),   a_d,i = a_(i,i+d), 0 if there is no such entry
 *
 * The loop over i reads contiguous arrays and vectorises. If A is symmetric, a_-d,i is a_d,(i-d), so the
 * diagonals above the main one suffice. For a 7-point stencil a product then reads 16 bytes of values per row
 * instead of 56 of values and columns.
 *
 * The arrays are made by the first product and again after new values. Rows near the ends, where i + d is not a
 * column, use the compressed rows, as do products in pairs and of several components. */
#include <string.h>

#include "common/matrix/csr.h"
#include "cpu/core/cpu.h"

struct cpu_dia {
  int count, main; /* offsets[main] is 0 */
  int32_t offsets[TSI_MOST_DIAGONALS];
  size_t rows;
  float *upper, *lower; /* from the main diagonal on; below it, or NULL if A is symmetric */
  size_t bytes;
};

/* ---- Values ---- */

enum { UPPER, LOWER, COMPARE };

typedef struct fill_job {
  const cpu_matrix *m;
  const cpu_dia *d;
  int what;
  int *differs; /* per part */
} fill_job;

/* The value of row i is at i + shift. */
static const float *diagonal_of(const cpu_dia *d, int k, int32_t *shift) {
  *shift = 0;
  if (k >= d->main) return d->upper + (size_t)(k - d->main) * d->rows;
  if (d->lower) return d->lower + (size_t)k * d->rows;
  *shift = d->offsets[k];
  return d->upper + (size_t)(d->count - 1 - k - d->main) * d->rows;
}

/* Copies the part of a row on these diagonals, or compares it with the one on the other side. Returns 0 if they
 * differ, or if the row has an entry on another diagonal. */
static int take_row(const fill_job *job, int32_t row) {
  const cpu_matrix *m = job->m;
  const cpu_dia *d = job->d;
  const int from = job->what == UPPER ? d->main : 0, to = job->what == UPPER ? d->count : d->main;
  int32_t k = m->row_offsets[row];
  const int32_t end = m->row_offsets[row + 1];
  while (job->what == UPPER && k < end && m->column_indices[k] < row) k++;
  for (int t = from; t < to; t++) {
    const int is_entry = k < end && m->column_indices[k] - row == d->offsets[t];
    const float value = is_entry ? m->values[k] : 0;
    k += is_entry;
    if (job->what == UPPER)
      d->upper[(size_t)(t - from) * d->rows + (size_t)row] = value;
    else if (job->what == LOWER)
      d->lower[(size_t)t * d->rows + (size_t)row] = value;
    else if (row + d->offsets[t] >= 0) {
      int32_t shift;
      const float *across = diagonal_of(d, t, &shift);
      if (!(across[row + shift] == value)) return 0;
    }
  }
  return job->what == UPPER ? k == end : k == end || m->column_indices[k] >= row;
}

static void body_fill(const void *arguments, size_t first, size_t last) {
  const fill_job *job = arguments;
  for (size_t part = first; part < last; part++)
    for (int32_t row = job->m->part_rows[part]; row < job->m->part_rows[part + 1] && !job->differs[part]; row++)
      job->differs[part] = !take_row(job, row);
}

static int fill(const ts_matrix *A, const cpu_dia *d, int what, int *differs) {
  const cpu_matrix *m = A->impl;
  const size_t parts = (size_t)m->parts;
  memset(differs, 0, parts * sizeof *differs);
  const fill_job job = {m, d, what, differs};
  cpu_for(A->context, parts, 2 * (size_t)m->row_offsets[m->rows] / parts, body_fill, &job);
  for (size_t part = 0; part < parts; part++)
    if (differs[part]) return 0;
  return 1;
}

static float *reserve(ts_context *context, cpu_dia *d, int diagonals) {
  const size_t count = (size_t)diagonals * d->rows, bytes = count * sizeof(float);
  if (tsi_device_alloc(context, bytes, "a matrix by diagonals") < 0) {
    tsi_clear_error(context);
    return NULL;
  }
  float *values = tsi_malloc(context, count, sizeof *values);
  if (!values) tsi_device_free(context, bytes);
  if (values) d->bytes += bytes;
  return values;
}

/* Returns 0 without memory, or if A has other diagonals. */
static int take_values(const ts_matrix *A, cpu_dia *d) {
  ts_context *context = A->context;
  int *differs = tsi_malloc(context, (size_t)((const cpu_matrix *)A->impl)->parts, sizeof *differs);
  if (!d->upper) d->upper = reserve(context, d, d->count - d->main);
  int is_done = differs && d->upper && fill(A, d, UPPER, differs);
  if (is_done && !d->lower && !fill(A, d, COMPARE, differs)) {
    d->lower = reserve(context, d, d->main);
    is_done = d->lower != NULL;
  }
  if (is_done && d->lower) is_done = fill(A, d, LOWER, differs);
  tsi_free(context, differs);
  return is_done;
}

void cpu_dia_destroy(ts_context *context, cpu_matrix *m) {
  if (!m->dia) return;
  tsi_device_free(context, m->dia->bytes);
  tsi_free(context, m->dia->upper);
  tsi_free(context, m->dia->lower);
  tsi_free(context, m->dia);
  m->dia = NULL;
}

/* Without memory, or for a matrix with other diagonals, there are none. */
static void make(const ts_matrix *A) {
  cpu_matrix *m = A->impl;
  if (!m->dia && !m->cuts && A->info.rows == A->info.columns) {
    cpu_dia found = {.rows = (size_t)m->rows};
    found.count = tsi_csr_diagonals(m->rows, m->row_offsets, m->column_indices, found.offsets);
    found.main = found.count / 2;
    if (found.count) m->dia = tsi_malloc(A->context, 1, sizeof found);
    if (m->dia) *m->dia = found;
  }
  if (m->dia && !take_values(A, m->dia)) cpu_dia_destroy(A->context, m);
}

const cpu_dia *cpu_dia_of(const ts_matrix *A) {
  cpu_matrix *m = A->impl;
  if (m->wants_dia) {
    m->wants_dia = 0;
    make(A);
  }
  return m->dia;
}

/* ---- Products ---- */

typedef struct term {
  const float *a, *x;
} term;

static term term_of(const cpu_dia *d, int k, const float *x, int32_t row) {
  int32_t shift;
  const float *a = diagonal_of(d, k, &shift);
  return (term){a + (row + shift), x + (row + d->offsets[k])};
}

/* The compiler unrolls the inner loop. The number of diagonals is odd, so 1 or 3 remain after fours. */
#define ADD(terms)                                                                                             \
  CPU_CLONES static void add_##terms(float *sums, size_t count, const term *t) {                               \
    CPU_SIMD                                                                                                   \
    for (size_t i = 0; i < count; i++) {                                                                       \
      float sum = sums[i];                                                                                     \
      for (int k = 0; k < terms; k++) sum += t[k].a[i] * t[k].x[i];                                            \
      sums[i] = sum;                                                                                           \
    }                                                                                                          \
  }
ADD(1)
ADD(3)
ADD(4)

int32_t cpu_dia_reach(const cpu_dia *d) {
  return d->offsets[d->count - 1];
}

void cpu_dia_sums(const cpu_dia *d, const float *x, int32_t row, int32_t count, float *sums) {
  term t[TSI_MOST_DIAGONALS];
  for (int k = 0; k < d->count; k++) t[k] = term_of(d, k, x, row);
  memset(sums, 0, (size_t)count * sizeof *sums);
  int k = 0;
  for (; k + 4 <= d->count; k += 4) add_4(sums, (size_t)count, t + k);
  if (k + 3 == d->count)
    add_3(sums, (size_t)count, t + k);
  else
    add_1(sums, (size_t)count, t + k);
}
