/* Compressed sparse rows: validation, canonical form, and what a solver wants to know beforehand. */
#include <math.h>
#include <stdlib.h>

#include "common/core/core.h"
#include "csr.h"

ts_status tsi_csr_validate(ts_context *context, const ts_csr *csr) {
  if (csr->rows < 1 || csr->columns < 1)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix is %d x %d; it needs at least one row and column", csr->rows, csr->columns);
  if (csr->rows > TSI_MAX_SIZE || csr->columns > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_LIMIT, "the matrix is %d x %d; it has at most %d rows and columns",
                    csr->rows, csr->columns, TSI_MAX_SIZE);
  if (!csr->row_offsets) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "row_offsets is NULL");
  if (csr->row_offsets[0] != 0)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "row_offsets[0] is %d, not 0", csr->row_offsets[0]);
  for (int32_t i = 0; i < csr->rows; i++)
    if (csr->row_offsets[i + 1] < csr->row_offsets[i])
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "row_offsets[%d] is %d, less than row_offsets[%d], which is %d", i + 1,
                      csr->row_offsets[i + 1], i, csr->row_offsets[i]);
  if (csr->values && csr->double_values)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "values and double_values are both set");
  const int32_t nonzeros = csr->row_offsets[csr->rows];
  if (nonzeros && !csr->column_indices)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "column_indices is NULL and there are %d entries",
                    nonzeros);
  for (int32_t i = 0; i < csr->rows; i++)
    for (int32_t e = csr->row_offsets[i]; e < csr->row_offsets[i + 1]; e++) {
      const int32_t j = csr->column_indices[e];
      if (j < 0 || j >= csr->columns)
        return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                        "column_indices[%d] in row %d is %d; columns go from 0 to %d", e, i, j,
                        csr->columns - 1);
      if (csr->values && !isfinite(csr->values[e]))
        return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "values[%d] in row %d, column %d is %g", e, i, j,
                        (double)csr->values[e]);
      if (csr->double_values && !isfinite((float)csr->double_values[e]))
        return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "double_values[%d] in row %d, column %d is %g%s", e,
                        i, j, csr->double_values[e],
                        isfinite(csr->double_values[e]) ? ", out of the range of single precision" : "");
    }
  return TS_OK;
}

uint64_t tsi_csr_fingerprint(const ts_csr *csr) {
  uint64_t h = 0x9e3779b97f4a7c15u ^ (uint64_t)(uint32_t)csr->columns;
  for (int32_t i = 0; i <= csr->rows; i++)
    h = (h ^ (uint32_t)csr->row_offsets[i]) * 0xff51afd7ed558ccdu, h ^= h >> 32;
  for (int32_t e = 0; e < csr->row_offsets[csr->rows]; e++)
    h = (h ^ (uint32_t)csr->column_indices[e]) * 0xc4ceb9fe1a85ec53u, h ^= h >> 29;
  return h;
}

/* ---- Canonical form ---- */

static int is_canonical(const ts_csr *csr, const unsigned char *constrained) {
  for (int32_t i = 0; i < csr->rows; i++) {
    if (constrained && constrained[i] && csr->row_offsets[i + 1] > csr->row_offsets[i]) return 0;
    for (int32_t e = csr->row_offsets[i] + 1; e < csr->row_offsets[i + 1]; e++)
      if (csr->column_indices[e] <= csr->column_indices[e - 1]) return 0;
  }
  return 1;
}

typedef struct column_value {
  int32_t column, order;
  double value;
} column_value;

static int compare_columns(const void *a, const void *b) {
  const column_value *x = a, *y = b;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

/* Sorts one row's entries, adds up equal columns in the order given, and writes them from `to` on. */
static int32_t merge_row(const ts_csr *csr, int32_t row, column_value *scratch, tsi_host_csr *out, int32_t to) {
  const int32_t first = csr->row_offsets[row], count = csr->row_offsets[row + 1] - first;
  int sorted = 1;
  for (int32_t k = 0; k < count; k++) {
    const double value = csr->values          ? (double)csr->values[first + k]
                         : csr->double_values ? csr->double_values[first + k]
                                              : 0;
    scratch[k] = (column_value){csr->column_indices[first + k], k, value};
    sorted = sorted && (k == 0 || scratch[k].column >= scratch[k - 1].column);
  }
  if (!sorted) qsort(scratch, (size_t)count, sizeof *scratch, compare_columns);
  for (int32_t k = 0; k < count;) {
    double sum = 0;
    const int32_t column = scratch[k].column;
    for (; k < count && scratch[k].column == column; k++) sum += scratch[k].value;
    out->column_indices[to] = column;
    if (out->values) out->values[to] = (float)sum;
    if (out->values && out->rests[0]) {
      sum -= (double)out->values[to];
      out->rests[0][to] = (float)sum;
      sum -= (double)out->rests[0][to];
      out->rests[1][to] = (float)sum;
      out->lost = fmax(out->lost, fabs(sum - (double)out->rests[1][to]));
    }
    to++;
  }
  return to;
}

/* A rest that is 0 everywhere is none. */
static void drop_zero_rests(ts_context *context, tsi_host_csr *csr) {
  const int32_t nonzeros = csr->row_offsets[csr->rows];
  for (int p = 0; p < 2 && csr->rests[p]; p++) {
    int32_t e = 0;
    while (e < nonzeros && csr->rests[p][e] == 0) e++;
    if (e < nonzeros) continue;
    tsi_free(context, csr->rests[p]);
    csr->rests[p] = NULL;
  }
}

ts_status tsi_csr_canonical(ts_context *context, const ts_csr *csr, const unsigned char *constrained,
                            unsigned flags, tsi_host_csr *out, int64_t *duplicates) {
  const int32_t nonzeros = csr->row_offsets[csr->rows];
  const int has_values = csr->values || csr->double_values;
  *duplicates = 0;
  *out = (tsi_host_csr){.rows = csr->rows, .columns = csr->columns};
  if (!(flags & TSI_CSR_COPY) && !csr->double_values && is_canonical(csr, constrained)) {
    out->row_offsets = (int32_t *)csr->row_offsets;
    out->column_indices = (int32_t *)csr->column_indices;
    out->values = (float *)csr->values;
    return TS_OK;
  }
  out->owned = 1;
  int32_t longest = 1;
  for (int32_t i = 0; i < csr->rows; i++) {
    const int32_t length = csr->row_offsets[i + 1] - csr->row_offsets[i];
    if (length > longest) longest = length;
  }
  out->row_offsets = tsi_malloc(context, (size_t)csr->rows + 1, sizeof *out->row_offsets);
  out->column_indices = tsi_malloc(context, (size_t)nonzeros, sizeof *out->column_indices);
  if (has_values) out->values = tsi_malloc(context, (size_t)nonzeros, sizeof *out->values);
  const int rests = csr->double_values && flags & TSI_CSR_RESTS;
  for (int p = 0; rests && p < 2; p++)
    out->rests[p] = tsi_malloc(context, (size_t)nonzeros, sizeof *out->rests[p]);
  column_value *scratch = tsi_malloc(context, (size_t)longest, sizeof *scratch);
  if (!out->row_offsets || !out->column_indices || (has_values && !out->values) || !scratch ||
      (rests && (!out->rests[0] || !out->rests[1]))) {
    tsi_free(context, scratch);
    tsi_csr_free(context, out);
    return tsi_out_of_memory(context, "a copy of the matrix", (size_t)nonzeros * 8 + (size_t)csr->rows * 4);
  }
  int32_t to = 0;
  out->row_offsets[0] = 0;
  for (int32_t i = 0; i < csr->rows; i++) {
    if (!constrained || !constrained[i]) {
      const int32_t before = to;
      to = merge_row(csr, i, scratch, out, to);
      *duplicates += csr->row_offsets[i + 1] - csr->row_offsets[i] - (to - before);
    }
    out->row_offsets[i + 1] = to;
  }
  tsi_free(context, scratch);
  drop_zero_rests(context, out);
  for (int32_t i = 0; out->values && i < csr->rows; i++)
    for (int32_t e = out->row_offsets[i]; e < out->row_offsets[i + 1]; e++)
      if (!isfinite(out->values[e])) {
        const int32_t column = out->column_indices[e];
        tsi_csr_free(context, out);
        return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                        "the sum of the duplicates in row %d, column %d is infinite", i, column);
      }
  return TS_OK;
}

void tsi_csr_free(ts_context *context, tsi_host_csr *csr) {
  if (csr->owned) {
    tsi_free(context, csr->row_offsets);
    tsi_free(context, csr->column_indices);
    tsi_free(context, csr->values);
  }
  for (int p = 0; p < 2; p++) tsi_free(context, csr->rests[p]);
  *csr = (tsi_host_csr){0};
}

/* ---- Inspection ---- */

static void set_unsymmetric(ts_matrix_info *info, int32_t row, int32_t column) {
  if (!info->symmetric) return;
  info->symmetric = 0;
  info->unsymmetric_row = row;
  info->unsymmetric_column = column;
}

int tsi_nearly_equal(float a, float b, float diagonal_a, float diagonal_b) {
  const double larger = fmax(fabs((double)a), fabs((double)b));
  const double scale = sqrt(fabs((double)diagonal_a) * fabs((double)diagonal_b));
  return fabs((double)a - (double)b) <= 1e-5 * larger + 1e-7 * scale;
}

/* Rows are visited in ascending order, so the entries left of the diagonal of row j are asked for by their
 * mirrors in ascending order too, and one cursor per row walks along them: O(nonzeros). */
static void check_symmetry(const tsi_host_csr *A, const unsigned char *constrained, const float *diagonal,
                           int32_t *cursor, ts_matrix_info *info) {
  for (int32_t i = 0; i < A->rows; i++) cursor[i] = A->row_offsets[i];
  for (int32_t i = 0; i < A->rows && info->symmetric; i++) {
    for (int32_t e = cursor[i]; e < A->row_offsets[i + 1] && A->column_indices[e] < i; e++)
      if (!(constrained && constrained[A->column_indices[e]]) && A->values[e] != 0)
        set_unsymmetric(info, i, A->column_indices[e]); /* no mirror asked for it */
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) {
      const int32_t j = A->column_indices[e];
      if (j <= i || (constrained && constrained[j])) continue;
      int32_t c = cursor[j];
      const int32_t end = A->row_offsets[j + 1];
      for (; c < end && A->column_indices[c] < i; c++)
        if (!(constrained && constrained[A->column_indices[c]]) && A->values[c] != 0)
          set_unsymmetric(info, j, A->column_indices[c]);
      float mirror = 0;
      if (c < end && A->column_indices[c] == i) mirror = A->values[c++];
      cursor[j] = c;
      if (!tsi_nearly_equal(A->values[e], mirror, diagonal[i], diagonal[j])) set_unsymmetric(info, i, j);
    }
  }
}

ts_status tsi_csr_inspect(ts_context *context, const tsi_host_csr *A, const unsigned char *constrained,
                          ts_matrix_info *info, double *norm_infinity) {
  info->symmetric = A->rows == A->columns;
  info->unsymmetric_row = info->unsymmetric_column = info->zero_diagonal_row = -1;
  *norm_infinity = 0;
  if (!A->values) {
    info->zero_diagonal_row = A->rows == A->columns ? 0 : -1;
    return TS_OK;
  }
  for (int32_t i = 0; i < A->rows; i++) {
    double sum = 0;
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) sum += fabs((double)A->values[e]);
    if (sum > *norm_infinity) *norm_infinity = sum;
  }
  if (A->rows != A->columns) return TS_OK;

  float *diagonal = tsi_calloc(context, (size_t)A->rows, sizeof *diagonal);
  int32_t *cursor = tsi_malloc(context, (size_t)A->rows, sizeof *cursor);
  if (!diagonal || !cursor) {
    tsi_free(context, diagonal);
    tsi_free(context, cursor);
    return tsi_out_of_memory(context, "inspecting the matrix", (size_t)A->rows * 8);
  }
  for (int32_t i = 0; i < A->rows; i++) {
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++)
      if (A->column_indices[e] == i) diagonal[i] = A->values[e];
    if (diagonal[i] == 0 && !(constrained && constrained[i]) && info->zero_diagonal_row < 0)
      info->zero_diagonal_row = i;
  }
  check_symmetry(A, constrained, diagonal, cursor, info);
  tsi_free(context, diagonal);
  tsi_free(context, cursor);
  return TS_OK;
}
