/* What a solver wants to know of a matrix beforehand: whether it is symmetric, where a diagonal is 0, its norm.
 */
#include <math.h>

#include "common/core/core.h"
#include "common/core/pool.h"
#include "csr.h"

/* Blocks of rows, and what was found in each. */
typedef struct inspection {
  const tsi_host_csr *A;
  const unsigned char *constrained;
  float *diagonal;        /* NULL: A is not square */
  double *largest;        /* sum of magnitudes in a row */
  int32_t *zero_diagonal; /* the first one, or -1 */
  unsigned char *negative_diagonal;
  unsigned char *unsymmetric;
} inspection;

static void inspect_rows(const void *arguments, size_t first, size_t last) {
  const inspection *n = arguments;
  const tsi_host_csr *A = n->A;
  for (size_t b = first; b < last; b++) {
    n->largest[b] = 0;
    n->zero_diagonal[b] = -1;
    n->negative_diagonal[b] = 0;
    for (int32_t i = tsi_block_begin(A->rows, b); i < tsi_block_begin(A->rows, b + 1); i++) {
      double sum = 0;
      float diagonal = 0;
      for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) {
        sum += fabs((double)A->values[e]);
        if (A->column_indices[e] == i) diagonal = A->values[e];
      }
      if (sum > n->largest[b]) n->largest[b] = sum;
      if (!n->diagonal) continue;
      n->diagonal[i] = diagonal;
      if (diagonal < 0) n->negative_diagonal[b] = 1;
      if (diagonal == 0 && !(n->constrained && n->constrained[i]) && n->zero_diagonal[b] < 0)
        n->zero_diagonal[b] = i;
    }
  }
}

/* ---- Symmetry ---- */

/* The entry of row i in column j, or -1. */
static int32_t entry_of(const tsi_host_csr *A, int32_t i, int32_t j) {
  int32_t low = A->row_offsets[i], high = A->row_offsets[i + 1];
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (A->column_indices[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low < A->row_offsets[i + 1] && A->column_indices[low] == j ? low : -1;
}

/* Each entry looks for its mirror: what check_symmetry does, by several threads and without saying where. */
static int has_mirror(const inspection *n, int32_t i, int32_t e) {
  const tsi_host_csr *A = n->A;
  const int32_t j = A->column_indices[e];
  if (j == i || (n->constrained && n->constrained[j])) return 1;
  const int32_t mirror = entry_of(A, j, i);
  if (j < i) return mirror >= 0 || A->values[e] == 0;
  return tsi_nearly_equal(A->values[e], mirror >= 0 ? A->values[mirror] : 0, n->diagonal[i], n->diagonal[j]);
}

static void look_for_mirrors(const void *arguments, size_t first, size_t last) {
  const inspection *n = arguments;
  const tsi_host_csr *A = n->A;
  for (size_t b = first; b < last; b++) {
    const int32_t end = tsi_block_begin(A->rows, b + 1);
    n->unsymmetric[b] = 0;
    for (int32_t i = tsi_block_begin(A->rows, b); i < end && !n->unsymmetric[b]; i++)
      for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++)
        if (!has_mirror(n, i, e)) n->unsymmetric[b] = 1;
  }
}

static int all_have_mirrors(const ts_context *context, inspection n) {
  unsigned char unsymmetric[TSI_BLOCKS];
  n.unsymmetric = unsymmetric;
  tsi_in_blocks(context, n.A->rows, look_for_mirrors, &n);
  for (int b = 0; b < TSI_BLOCKS; b++)
    if (unsymmetric[b]) return 0;
  return 1;
}

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

static ts_status inspect_square(ts_context *context, inspection *n, ts_matrix_info *info) {
  const tsi_host_csr *A = n->A;
  if (tsi_shares(context, A->rows) && all_have_mirrors(context, *n)) return TS_OK;
  int32_t *cursor = tsi_malloc(context, (size_t)A->rows, sizeof *cursor);
  if (!cursor) return tsi_out_of_memory(context, "inspecting the matrix", (size_t)A->rows * sizeof *cursor);
  check_symmetry(A, n->constrained, n->diagonal, cursor, info);
  tsi_free(context, cursor);
  return TS_OK;
}

ts_status tsi_csr_inspect(ts_context *context, const tsi_host_csr *A, const unsigned char *constrained,
                          ts_matrix_info *info, double *norm_infinity) {
  double largest[TSI_BLOCKS];
  int32_t zero_diagonal[TSI_BLOCKS];
  unsigned char negative_diagonal[TSI_BLOCKS];
  inspection n = {.A = A,
                  .constrained = constrained,
                  .largest = largest,
                  .zero_diagonal = zero_diagonal,
                  .negative_diagonal = negative_diagonal};
  info->symmetric = A->rows == A->columns;
  info->unsymmetric_row = info->unsymmetric_column = info->zero_diagonal_row = -1;
  info->negative_diagonal = 0;
  *norm_infinity = 0;
  if (!A->values) {
    info->zero_diagonal_row = A->rows == A->columns ? 0 : -1;
    return TS_OK;
  }
  TSI_TRY(tsi_threads_for(context, A->rows));
  if (A->rows == A->columns) {
    n.diagonal = tsi_malloc(context, (size_t)A->rows, sizeof *n.diagonal);
    if (!n.diagonal)
      return tsi_out_of_memory(context, "inspecting the matrix", (size_t)A->rows * sizeof *n.diagonal);
  }
  tsi_in_blocks(context, A->rows, inspect_rows, &n);
  for (int b = 0; b < TSI_BLOCKS; b++) {
    if (largest[b] > *norm_infinity) *norm_infinity = largest[b];
    if (info->zero_diagonal_row < 0) info->zero_diagonal_row = zero_diagonal[b];
    if (negative_diagonal[b]) info->negative_diagonal = 1;
  }
  const ts_status status = n.diagonal ? inspect_square(context, &n, info) : TS_OK;
  tsi_free(context, n.diagonal);
  return status;
}

static void add_up_rows(const void *arguments, size_t first, size_t last) {
  const inspection *n = arguments;
  const tsi_host_csr *A = n->A;
  for (size_t b = first; b < last; b++) {
    n->largest[b] = 0;
    for (int32_t i = tsi_block_begin(A->rows, b); i < tsi_block_begin(A->rows, b + 1); i++) {
      double sum = 0;
      for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) sum += fabs((double)A->values[e]);
      if (sum > n->largest[b]) n->largest[b] = sum;
    }
  }
}

ts_status tsi_csr_norm(ts_context *context, const tsi_host_csr *A, double *norm_infinity) {
  double largest[TSI_BLOCKS];
  TSI_TRY(tsi_threads_for(context, A->rows));
  tsi_in_blocks(context, A->rows, add_up_rows, &(inspection){.A = A, .largest = largest});
  *norm_infinity = 0;
  for (int b = 0; b < TSI_BLOCKS; b++)
    if (largest[b] > *norm_infinity) *norm_infinity = largest[b];
  return TS_OK;
}
