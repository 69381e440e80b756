/* Facts for solvers: symmetry within rounding, zeros on the diagonal, and the norm of a matrix. */
#include <math.h>

#include "common/core/core.h"
#include "common/core/pool.h"
#include "csr.h"

/* Input of the inspection, and results per block of rows. */
typedef struct inspection {
  const tsi_host_csr *A;
  const unsigned char *constrained;
  float *diagonal;
  unsigned char *unsymmetric;
} inspection;

static void find_diagonal(const void *arguments, size_t first, size_t last) {
  const inspection *n = arguments;
  const tsi_host_csr *A = n->A;
  const int32_t end = tsi_block_begin(A->rows, last);
  for (int32_t i = tsi_block_begin(A->rows, first); i < end; i++) {
    n->diagonal[i] = 0;
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++)
      if (A->column_indices[e] == i) n->diagonal[i] = A->values[e];
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

/* Searches for the mirror of an entry: a parallel version of check_symmetry that does not report positions. */
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

/* Rows are visited in ascending order. The entries left of the diagonal in row j are therefore requested by
 * their mirrors in ascending order too. One cursor per row advances along them: O(nonzeros). */
static void check_symmetry(const tsi_host_csr *A, const unsigned char *constrained, const float *diagonal,
                           int32_t *cursor, ts_matrix_info *info) {
  for (int32_t i = 0; i < A->rows; i++) cursor[i] = A->row_offsets[i];
  for (int32_t i = 0; i < A->rows && info->symmetric; i++) {
    for (int32_t e = cursor[i]; e < A->row_offsets[i + 1] && A->column_indices[e] < i; e++)
      if (!(constrained && constrained[A->column_indices[e]]) && A->values[e] != 0)
        set_unsymmetric(info, i, A->column_indices[e]); /* no mirror has requested it */
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

static ts_status check_mirrors(ts_context *context, inspection *n, ts_matrix_info *info) {
  const tsi_host_csr *A = n->A;
  tsi_in_blocks(context, A->rows, find_diagonal, n);
  if (tsi_shares(context, A->rows) && all_have_mirrors(context, *n)) return TS_OK;
  int32_t *cursor = tsi_malloc(context, (size_t)A->rows, sizeof *cursor);
  if (!cursor) return tsi_out_of_memory(context, "inspecting the matrix", (size_t)A->rows * sizeof *cursor);
  check_symmetry(A, n->constrained, n->diagonal, cursor, info);
  tsi_free(context, cursor);
  return TS_OK;
}

static ts_status inspect_symmetry(ts_context *context, const tsi_host_csr *A, const unsigned char *constrained,
                                  ts_matrix_info *info) {
  inspection n = {.A = A, .constrained = constrained};
  n.diagonal = tsi_malloc(context, (size_t)A->rows, sizeof *n.diagonal);
  if (!n.diagonal)
    return tsi_out_of_memory(context, "inspecting the matrix", (size_t)A->rows * sizeof *n.diagonal);
  const ts_status status = check_mirrors(context, &n, info);
  tsi_free(context, n.diagonal);
  return status;
}

ts_status tsi_csr_inspect(ts_context *context, const tsi_host_csr *A, const unsigned char *constrained,
                          const tsi_csr_facts *facts, ts_matrix_info *info, double *norm_infinity) {
  const tsi_csr view = {A->rows, A->columns, A->row_offsets, A->column_indices, A->values, NULL};
  tsi_csr_facts own;
  TSI_TRY(tsi_threads_for(context, A->rows));
  if (!facts || !facts->in_order) {
    TSI_TRY(tsi_csr_look(context, &view, constrained, &own));
    facts = &own;
  }
  info->symmetric = A->rows == A->columns;
  info->unsymmetric_row = info->unsymmetric_column = -1;
  info->longest_row = facts->longest_row;
  info->zero_diagonal_row = facts->zero_diagonal_row;
  info->negative_diagonal = facts->negative_diagonal;
  *norm_infinity = facts->norm_infinity;
  if (!info->symmetric || !A->values || facts->has_mirrors) return TS_OK;
  return inspect_symmetry(context, A, constrained, info);
}

typedef struct norms {
  const tsi_host_csr *A;
  double *largest; /* row sum of magnitudes, per block */
} norms;

static void add_up_rows(const void *arguments, size_t first, size_t last) {
  const norms *n = arguments;
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
  tsi_in_blocks(context, A->rows, add_up_rows, &(norms){A, largest});
  *norm_infinity = 0;
  for (int b = 0; b < TSI_BLOCKS; b++)
    if (largest[b] > *norm_infinity) *norm_infinity = largest[b];
  return TS_OK;
}
