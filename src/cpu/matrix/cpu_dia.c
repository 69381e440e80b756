/* Products with matrices whose entries lie on few diagonals: stencils on regular grids, band matrices. Their
 * values are also stored by diagonals, one array for each:
 *
 *   y_i = sum_d a_d,i x_(i+d),   a_d,i = a_(i,i+d), 0 if there is no such entry
 *
 * The loop over i reads contiguous arrays and vectorises. If A is symmetric, a_-d,i is a_d,(i-d), so the
 * diagonals above the main one suffice. For a 7-point stencil a product then reads 16 bytes of values per row
 * instead of 56 of values and columns. If the entries of each diagonal are equal, as with constant
 * coefficients, it reads 2 bytes: one bit for each diagonal.
 *
 * The arrays are made by the first product and again after new values. Products in pairs and of several
 * components use the compressed rows. */
#include <string.h>

#include "cpu_dia.h"

/* ---- Values ---- */

enum { BITS, UPPER, LOWER, COMPARE, MOST_BITS = 16 };

typedef struct fill_job {
  const cpu_matrix *m;
  const cpu_dia *d;
  int what;
  int *differs; /* per part */
} fill_job;

/* The value of each diagonal in the first of some rows that have an entry there. */
static void find_constants(const cpu_matrix *m, cpu_dia *d) {
  enum { samples = 32, halves = 2 * samples };
  memset(d->constants, 0, sizeof d->constants);
  for (int64_t s = samples; s > 0; s--) {
    const int32_t row = (int32_t)(m->rows * (2 * s - 1) / halves);
    int t = 0;
    for (int32_t k = m->row_offsets[row]; k < m->row_offsets[row + 1]; k++) {
      while (t < d->count && d->offsets[t] < m->column_indices[k] - row) t++;
      if (t < d->count && d->offsets[t] == m->column_indices[k] - row) d->constants[t] = m->values[k];
    }
  }
}

/* The bits of a row. Returns 0 if it has another value, or an entry on another diagonal. */
static int take_bits(const fill_job *job, int32_t row) {
  const cpu_matrix *m = job->m;
  const cpu_dia *d = job->d;
  const int32_t end = m->row_offsets[row + 1];
  int32_t k = m->row_offsets[row];
  unsigned bits = 0;
  for (int t = 0; t < d->count && k < end; t++) {
    if (m->column_indices[k] - row != d->offsets[t]) continue;
    if (!(m->values[k] == d->constants[t])) return 0;
    bits |= 1u << t;
    k++;
  }
  d->entries[row] = (uint16_t)bits;
  return k == end;
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
      const float *across = cpu_dia_values(d, t, &shift);
      if (!(across[row + shift] == value)) return 0;
    }
  }
  return job->what == UPPER ? k == end : k == end || m->column_indices[k] >= row;
}

static void body_fill(const void *arguments, size_t first, size_t last) {
  const fill_job *job = arguments;
  for (size_t part = first; part < last; part++)
    for (int32_t row = job->m->part_rows[part]; row < job->m->part_rows[part + 1] && !job->differs[part]; row++)
      job->differs[part] = !(job->what == BITS ? take_bits : take_row)(job, row);
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

static void *reserve(ts_context *context, cpu_dia *d, size_t count, size_t size) {
  const size_t bytes = count * size;
  if (tsi_device_alloc(context, bytes, "a matrix by diagonals") < 0) {
    tsi_clear_error(context);
    return NULL;
  }
  void *values = tsi_malloc(context, count, size);
  if (!values) tsi_device_free(context, bytes);
  if (values) d->bytes += bytes;
  return values;
}

static void release(ts_context *context, cpu_dia *d, void *values, size_t bytes) {
  if (!values) return;
  tsi_device_free(context, bytes);
  tsi_free(context, values);
  d->bytes -= bytes;
}

/* Both return 0 without memory, or if A has other diagonals. */
static int take_constants(const ts_matrix *A, cpu_dia *d, int *differs) {
  if (d->count > MOST_BITS) return 0;
  if (!d->entries) d->entries = reserve(A->context, d, d->rows, sizeof *d->entries);
  if (!d->entries) return 0;
  find_constants(A->impl, d);
  if (fill(A, d, BITS, differs)) return 1;
  release(A->context, d, d->entries, d->rows * sizeof *d->entries);
  d->entries = NULL;
  return 0;
}

static int take_values(const ts_matrix *A, cpu_dia *d, int *differs) {
  ts_context *context = A->context;
  if (!d->upper) d->upper = reserve(context, d, (size_t)(d->count - d->main) * d->rows, sizeof *d->upper);
  if (!d->upper || !fill(A, d, UPPER, differs)) return 0;
  if (!d->lower && fill(A, d, COMPARE, differs)) return 1;
  if (!d->lower) d->lower = reserve(context, d, (size_t)d->main * d->rows, sizeof *d->lower);
  return d->lower && fill(A, d, LOWER, differs);
}

void cpu_dia_destroy(ts_context *context, cpu_matrix *m) {
  if (!m->dia) return;
  tsi_device_free(context, m->dia->bytes);
  tsi_free(context, m->dia->entries);
  tsi_free(context, m->dia->upper);
  tsi_free(context, m->dia->lower);
  tsi_free(context, m->dia->windows);
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
  if (!m->dia) return;
  int *differs = tsi_malloc(A->context, (size_t)m->parts, sizeof *differs);
  m->dia->is_constant = differs && take_constants(A, m->dia, differs);
  if (!differs || (!m->dia->is_constant && !take_values(A, m->dia, differs))) cpu_dia_destroy(A->context, m);
  tsi_free(A->context, differs);
}

const cpu_dia *cpu_dia_of(const ts_matrix *A) {
  cpu_matrix *m = A->impl;
  if (m->wants_dia) {
    m->wants_dia = 0;
    make(A);
  }
  return m->dia;
}

float *cpu_dia_windows(const ts_matrix *A, size_t count) {
  ts_context *context = A->context;
  cpu_dia *d = ((cpu_matrix *)A->impl)->dia;
  if (count <= d->window_count) return d->windows;
  release(context, d, d->windows, d->window_count * sizeof *d->windows);
  d->windows = reserve(context, d, count, sizeof *d->windows);
  d->window_count = d->windows ? count : 0;
  return d->windows;
}
