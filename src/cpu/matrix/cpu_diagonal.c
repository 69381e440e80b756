/* Copies the diagonal of a matrix in rows or block rows to every component of a vector. */
#include "cpu/core/cpu.h"

/* Finds the block in column `row` by bisection (CSR: a single number). Returns NULL if it is not stored. */
static const float *find_block(const cpu_matrix *m, int32_t row) {
  int32_t low = m->row_offsets[row], high = m->row_offsets[row + 1];
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (m->column_indices[middle] == row) return m->values + ((size_t)middle << (2 * m->log2_block));
    if (m->column_indices[middle] < row)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

typedef struct diagonal_job {
  const cpu_matrix *m;
  int32_t rows;
  float *d;
  int components;
} diagonal_job;

static void body_diagonal(const void *arguments, size_t first, size_t last) {
  const diagonal_job *job = arguments;
  const int n = 1 << job->m->log2_block;
  for (int32_t row = job->m->part_rows[first]; row < job->m->part_rows[last]; row++) {
    const float *block = find_block(job->m, row);
    for (int32_t r = 0; r < n && row * n + r < job->rows; r++)
      for (int c = 0; c < job->components; c++)
        job->d[(size_t)(row * n + r) * (size_t)job->components + (size_t)c] = block ? block[r * n + r] : 0;
  }
}

ts_status cpu_bcrs_diagonal(ts_vector *d, const ts_matrix *A) {
  const cpu_matrix *m = A->impl;
  const diagonal_job job = {m, A->info.rows, cpu_data(d), d->components};
  cpu_for(A->context, (size_t)m->parts, cpu_count(d) / (size_t)m->parts, body_diagonal, &job);
  return TS_OK;
}

ts_status cpu_csr_diagonal(ts_vector *d, const ts_matrix *A) {
  return cpu_dia_diagonal(d, A) ? TS_OK : cpu_bcrs_diagonal(d, A);
}
