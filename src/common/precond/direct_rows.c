/* The matrix to be factored: doubles, scaled by powers of two, which is exact.
 *
 * R and C make the largest magnitude of every row and column about 1. Each step divides by the square roots of
 * the current maxima, rounded to powers of two (Ruiz 2001, "A scaling algorithm to equilibrate both rows and
 * columns norms in matrices", section 2.1). A symmetric matrix stays symmetric, with R = C. If its diagonal has
 * one sign, one step with the roots of the diagonal suffices. Pivots can then be compared with 1, in any
 * units. */
#include <math.h>
#include <string.h>

#include "common/core/core.h"
#include "common/matrix/csr.h"
#include "direct.h"

void tsi_direct_matrix_free(ts_context *context, tsi_direct_matrix *A) {
  tsi_free(context, A->rows.offsets);
  tsi_free(context, A->rows.columns);
  tsi_free(context, A->rows.values);
  tsi_free(context, A->row_scale);
  tsi_free(context, A->column_scale);
  *A = (tsi_direct_matrix){0};
}

static ts_status allocate(ts_context *context, int32_t n, size_t entries, tsi_direct_matrix *A) {
  const size_t rows = (size_t)n;
  *A = (tsi_direct_matrix){.rows.n = n};
  A->rows.offsets = tsi_malloc(context, rows + 1, sizeof *A->rows.offsets);
  A->rows.columns = tsi_malloc(context, entries + 1, sizeof *A->rows.columns);
  A->rows.values = tsi_malloc(context, entries + 1, sizeof *A->rows.values);
  A->row_scale = tsi_malloc(context, rows + 1, sizeof *A->row_scale);
  A->column_scale = tsi_malloc(context, rows + 1, sizeof *A->column_scale);
  if (A->rows.offsets && A->rows.columns && A->rows.values && A->row_scale && A->column_scale) return TS_OK;
  return tsi_out_of_memory(context, "a copy of the matrix",
                           entries * (sizeof *A->rows.columns + sizeof *A->rows.values));
}

/* ---- The equations ---- */

static double value_at(const tsi_csr *A, int32_t e) {
  return A->double_values ? A->double_values[e] : (double)A->values[e];
}

/* Omits stored zeros, which a permutation could move to the diagonal. */
static void copy_equations(const tsi_csr *A, const unsigned char *constrained, tsi_direct_rows *to) {
  int32_t next = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    const int is_equation = !constrained || !constrained[i];
    to->offsets[i] = next;
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1] && is_equation; e++) {
      const int32_t j = A->column_indices[e];
      if (value_at(A, e) == 0 || (constrained && constrained[j])) continue;
      to->columns[next] = j;
      to->values[next++] = value_at(A, e);
    }
    if (is_equation) continue;
    to->columns[next] = i;
    to->values[next++] = 1;
  }
  to->offsets[A->rows] = next;
}

/* ---- Symmetry ---- */

static int have_same_entries(const tsi_direct_rows *A, const tsi_csr *B) {
  const size_t n = (size_t)A->n, entries = (size_t)A->offsets[A->n];
  return !memcmp(A->offsets, B->row_offsets, (n + 1) * sizeof *A->offsets) &&
         !memcmp(A->columns, B->column_indices, entries * sizeof *A->columns) &&
         !memcmp(A->values, B->double_values, entries * sizeof *A->values);
}

static tsi_csr view(const tsi_direct_rows *A) {
  return (tsi_csr){.rows = A->n,
                   .columns = A->n,
                   .row_offsets = A->offsets,
                   .column_indices = A->columns,
                   .double_values = A->values};
}

/* Sorts rows (the transpose of the transpose is sorted) and compares with the transpose. */
static ts_status inspect_symmetry(ts_context *context, tsi_direct_matrix *A) {
  tsi_direct_rows *rows = &A->rows;
  const size_t entries = (size_t)rows->offsets[rows->n];
  tsi_csr csr = view(rows), transposed, sorted;
  TSI_TRY(tsi_csr_transpose(context, &csr, &transposed));
  const ts_status status = tsi_csr_transpose(context, &transposed, &sorted);
  if (status == TS_OK) {
    memcpy(rows->columns, sorted.column_indices, entries * sizeof *rows->columns);
    memcpy(rows->values, sorted.double_values, entries * sizeof *rows->values);
    A->is_symmetric = have_same_entries(rows, &transposed);
    tsi_csr_transposed_free(context, &sorted);
  }
  tsi_csr_transposed_free(context, &transposed);
  return status;
}

static double diagonal_of(const tsi_direct_rows *A, int32_t i) {
  int32_t e = A->offsets[i];
  while (e < A->offsets[i + 1] && A->columns[e] < i) e++;
  return e < A->offsets[i + 1] && A->columns[e] == i ? A->values[e] : 0;
}

static int sign_of_diagonal(const tsi_direct_rows *A) {
  int positive = 0, negative = 0;
  for (int32_t i = 0; i < A->n; i++) {
    const double value = diagonal_of(A, i);
    positive += value > 0;
    negative += value < 0;
  }
  return positive == A->n ? 1 : negative == A->n ? -1 : 0;
}

/* ---- Scaling ---- */

/* The power of two near 1 / sqrt(size). */
static double inverse_root(double size) {
  int exponent;
  if (size == 0) return 1;
  frexp(size, &exponent);
  return ldexp(1, -(exponent >= 0 ? exponent / 2 : -((1 - exponent) / 2)));
}

static void scale_by_diagonal(tsi_direct_matrix *A) {
  for (int32_t i = 0; i < A->rows.n; i++)
    A->row_scale[i] = A->column_scale[i] = inverse_root(fabs(diagonal_of(&A->rows, i)));
}

/* One step of Ruiz's iteration; `largest` has n numbers for rows and n for columns. Returns whether R or C
 * changed. */
static int equilibrate(tsi_direct_matrix *A, double *largest) {
  const tsi_direct_rows *rows = &A->rows;
  double *const of_rows = largest, *const of_columns = largest + rows->n;
  int changed = 0;
  memset(largest, 0, 2 * (size_t)rows->n * sizeof *largest);
  for (int32_t i = 0; i < rows->n; i++)
    for (int32_t e = rows->offsets[i]; e < rows->offsets[i + 1]; e++) {
      const int32_t j = rows->columns[e];
      const double size = fabs(rows->values[e]) * A->row_scale[i] * A->column_scale[j];
      of_rows[i] = fmax(of_rows[i], size);
      of_columns[j] = fmax(of_columns[j], size);
    }
  for (int32_t i = 0; i < rows->n; i++) {
    const double row = inverse_root(of_rows[i]), column = inverse_root(of_columns[i]);
    changed |= row != 1 || column != 1;
    A->row_scale[i] *= row;
    A->column_scale[i] *= column;
  }
  return changed;
}

static ts_status scale_by_largest(ts_context *context, tsi_direct_matrix *A) {
  enum { most_steps = 10 };
  const size_t n = (size_t)A->rows.n;
  double *largest = tsi_malloc(context, 2 * n + 1, sizeof *largest);
  if (!largest) return tsi_out_of_memory(context, "scaling a matrix", 2 * n * sizeof *largest);
  for (size_t i = 0; i < n; i++) A->row_scale[i] = A->column_scale[i] = 1;
  for (int k = 0; k < most_steps && equilibrate(A, largest); k++) {
  }
  tsi_free(context, largest);
  return TS_OK;
}

static void apply_scale(tsi_direct_matrix *A) {
  const tsi_direct_rows *rows = &A->rows;
  for (int32_t i = 0; i < rows->n; i++)
    for (int32_t e = rows->offsets[i]; e < rows->offsets[i + 1]; e++)
      rows->values[e] *= A->row_scale[i] * A->column_scale[rows->columns[e]];
}

/* ---- Creation ---- */

static ts_status fill(ts_context *context, const tsi_csr *A, const unsigned char *constrained,
                      tsi_direct_matrix *out) {
  const size_t entries = (size_t)A->row_offsets[A->rows];
  TSI_TRY(allocate(context, A->rows, entries + (constrained ? (size_t)A->rows : 0), out));
  copy_equations(A, constrained, &out->rows);
  TSI_TRY(inspect_symmetry(context, out));
  out->sign = sign_of_diagonal(&out->rows);
  if (out->is_symmetric && out->sign)
    scale_by_diagonal(out);
  else
    TSI_TRY(scale_by_largest(context, out));
  apply_scale(out);
  return TS_OK;
}

ts_status tsi_direct_matrix_create(ts_context *context, const tsi_csr *A, const unsigned char *constrained,
                                   tsi_direct_matrix *out) {
  const ts_status status = fill(context, A, constrained, out);
  if (status < 0) tsi_direct_matrix_free(context, out);
  return status;
}
