/* Block Jacobi: M consists of the n x n diagonal blocks of A. M^-1 is an ordinary matrix, so its product is an
 * spmv. Blocks are inverted on the host in double precision. A row without an equation becomes a row of the
 * identity. */
#include <math.h>
#include <string.h>

#include "common/matrix/csr.h"
#include "common/core/core.h"
#include "common/layout/layout.h"
#include "preconditioner.h"

enum { MOST = 16 };

static ts_status resolve(const ts_matrix *A, ts_preconditioner_desc *desc) {
  ts_context *context = A->context;
  const int log2_size = A->layout->blocks.log2_size, own = log2_size ? 1 << log2_size : 0;
  if (desc->block_size == 0) desc->block_size = own ? own : 4;
  if (desc->block_size < 2 || desc->block_size > MOST)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "block_size is %d; it must be 2 to %d, or 0 for the default", desc->block_size, MOST);
  if (own && desc->block_size != own)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "block_size is %d; the matrix is stored in blocks of %d", desc->block_size, own);
  return TS_OK;
}

/* Reads the block of `size` rows that begins with row `first`. */
static void read_block(const tsi_csr *csr, const unsigned char *constrained, int32_t first, int size,
                       double *block) {
  memset(block, 0, (size_t)size * (size_t)size * sizeof *block);
  for (int i = 0; i < size; i++) {
    if (constrained && constrained[first + i]) {
      block[i * size + i] = 1;
      continue;
    }
    for (int32_t k = csr->row_offsets[first + i]; k < csr->row_offsets[first + i + 1]; k++) {
      const int32_t j = csr->column_indices[k] - first;
      if (j >= 0 && j < size && !(constrained && constrained[first + j])) block[i * size + j] += csr->values[k];
    }
  }
}

static void swap_rows(double *a, int size, int i, int j) {
  for (int k = 0; k < size && i != j; k++) {
    const double t = a[i * size + k];
    a[i * size + k] = a[j * size + k];
    a[j * size + k] = t;
  }
}

/* Inverts the balanced block by Gauss-Jordan with partial pivoting; its unknowns may have different units.
 * Returns 0 if the block is singular in single precision, the precision of its input. */
static int invert(double *a, double *inverse, int size) {
  int rows[MOST], columns[MOST];
  double largest = 0;
  tsi_balance(a, size, rows, columns);
  for (int i = 0; i < size * size; i++) {
    inverse[i] = i % (size + 1) == 0;
    largest = fmax(largest, fabs(a[i]));
  }
  for (int c = 0; c < size; c++) {
    int pivot = c;
    for (int i = c + 1; i < size; i++)
      if (fabs(a[i * size + c]) > fabs(a[pivot * size + c])) pivot = i;
    if (!(fabs(a[pivot * size + c]) > ldexp(largest, -24))) return 0;
    swap_rows(a, size, c, pivot);
    swap_rows(inverse, size, c, pivot);
    const double over = 1 / a[c * size + c];
    for (int k = 0; k < size; k++) {
      a[c * size + k] *= over;
      inverse[c * size + k] *= over;
    }
    for (int i = 0; i < size; i++) {
      const double factor = i == c ? 0 : a[i * size + c];
      for (int k = 0; k < size && factor != 0; k++) {
        a[i * size + k] -= factor * a[c * size + k];
        inverse[i * size + k] -= factor * inverse[c * size + k];
      }
    }
  }
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++)
      if (columns[i] + rows[j] != 0) inverse[i * size + j] = ldexp(inverse[i * size + j], columns[i] + rows[j]);
  return 1;
}

/* Computes the inverses of all blocks as rows of M^-1. If the matrix is symmetric, they are symmetric to the
 * last bit. */
static ts_status fill(const ts_preconditioner *M, const tsi_csr *csr, int32_t *offsets, int32_t *columns,
                      float *values) {
  const unsigned char *constrained = M->matrix->row_space->constrained;
  const int n = M->desc.block_size;
  double block[MOST * MOST], inverse[MOST * MOST] = {0};
  int32_t next = 0;
  for (int32_t first = 0; first < csr->rows; first += n) {
    const int size = csr->rows - first < n ? (int)(csr->rows - first) : n;
    read_block(csr, constrained, first, size, block);
    if (!invert(block, inverse, size)) {
      const ts_status status = tsi_fail(M->context, TS_ERROR_INVALID_ARGUMENT,
                                        "the block of rows %d to %d is singular; block Jacobi must invert it",
                                        first, first + size - 1);
      return tsi_fail_at_row(M->context, status, first);
    }
    for (int i = 0; i < size; i++) {
      offsets[first + i] = next;
      for (int j = 0; j < size; j++) {
        const double a = inverse[i * size + j], b = inverse[j * size + i];
        columns[next] = first + j;
        values[next++] = (float)(M->matrix->info.symmetric ? 0.5 * (a + b) : a);
      }
    }
  }
  offsets[csr->rows] = next;
  return TS_OK;
}

static ts_status upload(ts_preconditioner *M, const tsi_csr *inverse) {
  if (M->state) return tsi_matrix_set_values_as_is(M->state, inverse);
  const tsi_matrix_desc desc = {.csr = *inverse,
                                .format = M->matrix->layout->blocks.log2_size ? M->matrix->info.format
                                                                              : TS_FORMAT_AUTO,
                                .row_space = M->matrix->row_space};
  ts_matrix *blocks = NULL;
  TSI_TRY(tsi_matrix_create_as_is(M->context, &desc, &blocks));
  M->state = blocks;
  return TS_OK;
}

static ts_status build(ts_preconditioner *M) {
  ts_context *context = M->context;
  tsi_csr csr;
  TSI_TRY(tsi_matrix_stored_copy(M->matrix, &csr));
  const size_t rows = (size_t)csr.rows, entries = rows * (size_t)M->desc.block_size;
  if (entries > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_LIMIT, "block Jacobi's matrix has %zu entries, more than %d", entries,
                    TSI_MAX_SIZE);
  int32_t *offsets = tsi_malloc(context, rows + 1, sizeof *offsets);
  int32_t *columns = tsi_malloc(context, entries, sizeof *columns);
  float *values = tsi_malloc(context, entries, sizeof *values);
  ts_status status = TS_OK;
  if (!offsets || !columns || !values)
    status = tsi_out_of_memory(context, "a preconditioner", entries * (sizeof *columns + sizeof *values));
  if (status == TS_OK) status = fill(M, &csr, offsets, columns, values);
  if (status == TS_OK)
    status = upload(M, &(tsi_csr){.rows = csr.rows,
                                  .columns = csr.rows,
                                  .row_offsets = offsets,
                                  .column_indices = columns,
                                  .values = values});
  tsi_free(context, offsets);
  tsi_free(context, columns);
  tsi_free(context, values);
  return status;
}

static void destroy(ts_preconditioner *M) {
  ts_matrix *blocks = M->state;
  ts_matrix_destroy(&blocks);
}

static ts_status measure(const ts_preconditioner *M, tsi_cost *cost) {
  const ts_matrix *blocks = M->state;
  cost->operations = 1;
  return tsi_preconditioner_products(M, (double)blocks->info.nonzeros, &cost->products);
}

static ts_status apply(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  return tsi_spmv(z, M->state, r);
}

const tsi_preconditioner_kind tsi_preconditioner_block_jacobi = {.kind = TS_PRECONDITIONER_BLOCK_JACOBI,
                                                                 .fields = TSI_FIELD_BLOCK_SIZE,
                                                                 .is_from_matrix = 1,
                                                                 .needs_entries = 1,
                                                                 .has_scale = 1,
                                                                 .resolve = resolve,
                                                                 .create = build,
                                                                 .update = build,
                                                                 .destroy = destroy,
                                                                 .measure = measure,
                                                                 .apply = apply};
