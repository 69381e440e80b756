/* Matrices in compressed rows of entries or blocks, and the share of rows per thread. */
#include <string.h>

#include "common/matrix/csr.h"
#include "cpu/core/cpu.h"

static cpu_matrix *matrix_of(const ts_matrix *A) {
  return A->impl;
}

/* Copies a part of the rows on the thread that will multiply it, so that its pages are in that thread's
 * memory. */
typedef struct copy_job {
  cpu_matrix *to;
  const tsi_host_csr *from; /* with blocks, block rows */
  int pattern;              /* copy offsets and columns too */
} copy_job;

static void body_copy(const void *arguments, size_t first, size_t last) {
  const copy_job *job = arguments;
  cpu_matrix *to = job->to;
  const tsi_host_csr *from = job->from;
  const int32_t row = to->part_rows[first], row_end = to->part_rows[last];
  const int32_t entry = from->row_offsets[row];
  const size_t entries = (size_t)(from->row_offsets[row_end] - entry);
  if (job->pattern) {
    /* The last part also copies the offset after the last row. */
    const size_t offsets = (size_t)(row_end - row) + (row_end == to->rows);
    memcpy(to->row_offsets + row, from->row_offsets + row, offsets * sizeof(int32_t));
    memcpy(to->column_indices + entry, from->column_indices + entry, entries * sizeof(int32_t));
  }
  const size_t first_value = (size_t)entry << (2 * to->log2_block), values = entries << (2 * to->log2_block);
  if (from->values)
    memcpy(to->values + first_value, from->values + first_value, values * sizeof(float));
  else
    memset(to->values + first_value, 0, values * sizeof(float));
}

static void copy(const ts_matrix *A, const tsi_host_csr *from, int pattern) {
  cpu_matrix *to = matrix_of(A);
  const copy_job job = {to, from, pattern};
  const size_t entries = (size_t)from->row_offsets[from->rows] << (2 * to->log2_block);
  cpu_for(A->context, (size_t)to->parts, 2 * entries / (size_t)to->parts, body_copy, &job);
  cpu_dia_outdate(to);
}

/* Cuts the rows where the work before them, entries plus rows, passes p / parts of the total. */
static void share_rows(cpu_matrix *m, const int32_t *row_offsets) {
  const int64_t work = (int64_t)row_offsets[m->rows] + m->rows;
  int32_t row = 0;
  for (int p = 0; p <= m->parts; p++) {
    const int64_t goal = work / m->parts * p + work % m->parts * p / m->parts;
    int32_t low = row, high = m->rows;
    while (low < high) {
      const int32_t middle = low + (high - low) / 2;
      if ((int64_t)row_offsets[middle] + middle < goal)
        low = middle + 1;
      else
        high = middle;
    }
    row = low;
    m->part_rows[p] = row;
  }
}

static void release(ts_context *context, cpu_matrix *m) {
  if (!m->is_low_part && !m->is_view && !m->borrows_pattern) {
    tsi_free(context, m->row_offsets);
    tsi_free(context, m->column_indices);
  }
  if (!m->is_low_part) {
    tsi_free(context, m->part_rows);
    tsi_free(context, m->cuts);
    tsi_free(context, m->first_cut);
  }
  if (!m->is_view) tsi_free(context, m->values);
  cpu_dia_destroy(context, m);
  tsi_free(context, m->x);
  tsi_free(context, m);
}

/* The data that a format stores: entries or blocks. */
static tsi_host_csr stored(const ts_matrix *A, const tsi_packed *packed) {
  const tsi_blocks *blocks = &A->layout->blocks;
  if (!blocks->offsets) return *packed->csr;
  return (tsi_host_csr){.rows = blocks->block_rows,
                        .row_offsets = blocks->offsets,
                        .column_indices = blocks->columns,
                        .values = packed->block_values};
}

static void cpu_matrix_destroy(ts_matrix *A) {
  tsi_device_free(A->context, matrix_of(A)->bytes);
  release(A->context, matrix_of(A));
  A->impl = NULL;
}

/* Shares rows and columns with the whole matrix. */
static ts_status create_low_part(ts_matrix *A, const tsi_packed *packed) {
  ts_context *context = A->context;
  const cpu_matrix *whole = matrix_of(A->whole);
  const size_t values = (size_t)whole->row_offsets[whole->rows] << (2 * whole->log2_block);
  const size_t bytes = values * sizeof(float);
  TSI_TRY(tsi_device_alloc(context, bytes, "a matrix"));
  cpu_matrix *m = tsi_calloc(context, 1, sizeof *m);
  if (m) {
    *m = *whole;
    m->is_low_part = 1;
    m->wants_dia = 0;
    m->dia = NULL;
    m->x = NULL;
    m->x_count = 0;
    m->bytes = bytes;
    m->values = tsi_malloc(context, values, sizeof *m->values);
  }
  if (!m || !m->values) {
    tsi_free(context, m);
    tsi_device_free(context, bytes);
    return tsi_out_of_memory(context, "a matrix", bytes);
  }
  A->impl = m;
  const tsi_host_csr csr = stored(A, packed);
  copy(A, &csr, 0);
  return TS_OK;
}

/* Uses the application's arrays, or allocates memory for a copy. */
static void set_pattern(ts_context *context, cpu_matrix *m, const tsi_host_csr *csr, size_t entries) {
  m->borrows_pattern = csr->outlasts;
  m->row_offsets =
      csr->outlasts ? csr->row_offsets : tsi_malloc(context, (size_t)csr->rows + 1, sizeof *m->row_offsets);
  m->column_indices =
      csr->outlasts ? csr->column_indices : tsi_malloc(context, entries, sizeof *m->column_indices);
}

static ts_status create_cpu_matrix(ts_matrix *A, const tsi_packed *packed) {
  if (A->whole) return create_low_part(A, packed);
  ts_context *context = A->context;
  const tsi_host_csr csr = stored(A, packed);
  const int log2_block = A->layout->blocks.log2_size;
  const size_t rows = (size_t)csr.rows, entries = (size_t)csr.row_offsets[rows];
  const size_t pattern = csr.outlasts ? 0 : (rows + 1 + entries) * sizeof(int32_t),
               bytes = pattern + entries * (sizeof(float) << (2 * log2_block));
  TSI_TRY(tsi_device_alloc(context, bytes, "a matrix"));
  cpu_matrix *m = tsi_calloc(context, 1, sizeof *m);
  if (m) {
    m->log2_block = log2_block;
    m->rows = csr.rows;
    m->bytes = bytes;
    m->parts = cpu_state_of(context)->threads;
    set_pattern(context, m, &csr, entries);
    m->values = tsi_malloc(context, entries, sizeof *m->values << (2 * log2_block));
    m->part_rows = tsi_malloc(context, (size_t)m->parts + 1, sizeof *m->part_rows);
  }
  if (!m || !m->row_offsets || !m->column_indices || !m->values || !m->part_rows) {
    if (m) release(context, m);
    tsi_device_free(context, bytes);
    return tsi_out_of_memory(context, "a matrix", bytes);
  }
  share_rows(m, csr.row_offsets);
  A->impl = m;
  m->wants_dia = !log2_block;
  copy(A, &csr, !m->borrows_pattern);
  const ts_status status = cpu_matrix_cut(A);
  if (status < 0) cpu_matrix_destroy(A);
  return status;
}

static ts_status write_values(ts_matrix *A, const tsi_packed *packed) {
  const tsi_host_csr csr = stored(A, packed);
  copy(A, &csr, 0);
  return TS_OK;
}

/* ---- x in double precision ---- */

enum { behind_x = CPU_ALIGNMENT / sizeof(float) };

static ts_status reserve_x(ts_context *context, cpu_matrix *m, size_t count) {
  if (count <= m->x_count) return TS_OK;
  const size_t bytes = (count - m->x_count) * sizeof *m->x;
  TSI_TRY(tsi_device_alloc(context, bytes, "a product in pairs"));
  double *x = tsi_malloc(context, count + behind_x, sizeof *x);
  if (!x) {
    tsi_device_free(context, bytes);
    return tsi_out_of_memory(context, "a product in pairs", count * sizeof *x);
  }
  tsi_free(context, m->x);
  m->x = x;
  m->x_count = count;
  m->bytes += bytes;
  return TS_OK;
}

typedef struct convert_job {
  double *to;
  cpu_parts from;
  size_t count;
} convert_job;

CPU_CLONES static void body_convert(const void *arguments, size_t first, size_t last) {
  const convert_job *job = arguments;
  for (size_t begin = first * CPU_BLOCK; begin < cpu_block_end(last, job->count); begin += CPU_BLOCK) {
    const cpu_operand from = cpu_operand_at(job->from, begin);
    const size_t count = cpu_block_end(begin / CPU_BLOCK + 1, job->count) - begin;
    double *to = job->to + begin;
    CPU_SIMD
    for (size_t i = 0; i < count; i++) to[i] = cpu_value(from, i);
  }
}

ts_status cpu_matrix_convert_x(const ts_matrix *A, const ts_vector *x) {
  cpu_matrix *m = matrix_of(A);
  const size_t count = (size_t)tsi_columns_of(x->space) * (size_t)x->components;
  TSI_TRY(reserve_x(A->context, m, count));
  const convert_job job = {m->x, cpu_parts_of(x), count};
  cpu_for(A->context, cpu_blocks(count), 2 * (size_t)CPU_BLOCK, body_convert, &job);
  memset(m->x + count, 0, behind_x * sizeof *m->x);
  return TS_OK;
}

/* ---- Formats ---- */

static const tsi_matrix_kind csr_kind = {.destroy = cpu_matrix_destroy,
                                         TSI_MATRIX_OPERATIONS(TSI_ENTRY, cpu_csr_).quick_residual =
                                             cpu_csr_quick_residual,
                                         .spmv_dot = cpu_csr_spmv_dot,
                                         .smooth = cpu_csr_smooth,
                                         .smooth_all = cpu_csr_smooth_all};
static const tsi_matrix_kind bcrs_kind = {.destroy = cpu_matrix_destroy,
                                          TSI_MATRIX_OPERATIONS(TSI_ENTRY, cpu_bcrs_)};

const cpu_format cpu_format_csr = {&csr_kind, create_cpu_matrix, write_values};
const cpu_format cpu_format_bcrs2 = {&bcrs_kind, create_cpu_matrix, write_values};
const cpu_format cpu_format_bcrs4 = {&bcrs_kind, create_cpu_matrix, write_values};

#define ROW(name, format) [format] = &cpu_format_##name,
static const cpu_format *const formats[] = {TSI_CPU_FORMATS(ROW)};
#undef ROW

ts_status cpu_matrix_create(ts_matrix *A, const tsi_packed *packed) {
  A->kind = formats[A->layout->format]->kind;
  return formats[A->layout->format]->create(A, packed);
}

ts_status cpu_matrix_refer(ts_context *context, const tsi_matrix_desc *desc, ts_matrix **matrix) {
  const tsi_csr *csr = &desc->csr;
  const int32_t entries = csr->row_offsets[csr->rows];
  const size_t bytes =
      ((size_t)csr->rows + 1) * sizeof(int32_t) + (size_t)entries * (sizeof(int32_t) + sizeof(float));
  TSI_TRY(tsi_device_alloc(context, bytes, "a matrix"));
  const tsi_device_csr of = {csr->rows, csr->columns, entries, bytes, desc->row_space, desc->column_space};
  const int parts = cpu_state_of(context)->threads;
  cpu_matrix *m = tsi_calloc(context, 1, sizeof *m);
  int32_t *part_rows = tsi_malloc(context, (size_t)parts + 1, sizeof *part_rows);
  ts_status status;
  if (m && part_rows) {
    *m = (cpu_matrix){.rows = csr->rows,
                      .row_offsets = (int32_t *)csr->row_offsets,
                      .column_indices = (int32_t *)csr->column_indices,
                      .values = (float *)csr->values,
                      .parts = parts,
                      .part_rows = part_rows,
                      .bytes = bytes,
                      .is_view = 1};
    share_rows(m, csr->row_offsets);
    status = tsi_matrix_adopt(context, &of, &csr_kind, m, matrix);
  } else
    status = tsi_out_of_memory(context, "a matrix", sizeof *m);
  if (status < 0) {
    tsi_free(context, m);
    tsi_free(context, part_rows);
    tsi_device_free(context, bytes);
  }
  return status;
}

ts_status cpu_matrix_write(ts_matrix *A, const tsi_packed *packed) {
  return formats[A->layout->format]->write(A, packed);
}

ts_status cpu_matrix_read(const ts_matrix *A, tsi_packed *packed, tsi_host_csr *csr) {
  const cpu_matrix *m = matrix_of(A);
  const size_t values = (size_t)m->row_offsets[m->rows] << (2 * m->log2_block);
  if (!m->log2_block) {
    *csr = (tsi_host_csr){.rows = m->rows,
                          .columns = A->info.columns,
                          .row_offsets = m->row_offsets,
                          .column_indices = m->column_indices,
                          .values = m->values};
    return TS_OK;
  }
  packed->block_values = tsi_malloc(A->context, values, sizeof *packed->block_values);
  if (!packed->block_values)
    return tsi_out_of_memory(A->context, "the blocks of a matrix", values * sizeof *packed->block_values);
  memcpy(packed->block_values, m->values, values * sizeof *packed->block_values);
  return TS_OK;
}
