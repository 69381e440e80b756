/* ISAI: incomplete sparse approximate inverses of the triangular factors of A, on its own pattern, so that no
 * triangular system is solved on the device (Kolotilina and Yeremin 1993, "Factorized sparse approximate
 * inverse preconditionings I"; Anzt, Huckle, Braeckle and Dongarra 2018, "Incomplete sparse approximate
 * inverses for parallel preconditioning"):
 *
 *   A = L U, L with ones on its diagonal;  W ~ L^-1, V ~ U^-1 on the patterns of the triangles of A
 *   z = V (W r)        two products
 *
 * Row i of W, with the columns J up to i, is g / g_i with g A(J, J) = e_i: (W A)(i, J) is 0 but for i, as it is
 * of L^-1 A = U. Column i of V is h with A(J, J) h = e_i. No incomplete factor is computed, and there is no
 * pivot that could fail where A is positive definite. Inverses of ILU(0) and IC(0) on the same patterns were
 * measured: solves took as many iterations with them, or up to ten times as many.
 *
 * Where A is symmetric and every g_i is positive, rows of W are g / sqrt(g_i) and V is W^T: M is symmetric and
 * positive definite, and W A W^T has ones on its diagonal.
 *
 * Systems are solved on the host in double precision, rows by threads. A row with many entries left of the
 * diagonal keeps the largest. Rows without an equation and their columns are left out. */
#include <math.h>
#include <string.h>

#include "common/matrix/csr.h"
#include "common/core/core.h"
#include "common/core/pool.h"
#include "common/layout/layout.h"
#include "preconditioner.h"

enum { MOST = 64 }; /* columns of a row of W */

struct tsi_isai {
  ts_matrix *lower, *upper; /* W and V */
  int is_symmetric;
  ts_vector *between; /* W r; NULL: there is none yet */
};

typedef enum scaling { BY_ROOT, BY_DIAGONAL, NOT_SCALED } scaling;

typedef struct triangle {
  const ts_csr *A;
  const unsigned char *constrained;
  scaling scaling;
  int32_t *offsets, *columns;
  float *values;
  int32_t *failed; /* of each part of the rows: the first whose system has no solution, -1: none */
  int32_t parts;
} triangle;

/* ---- Memory ---- */

static void free_csr(ts_context *context, int32_t *offsets, int32_t *columns, float *values) {
  tsi_free(context, offsets);
  tsi_free(context, columns);
  tsi_free(context, values);
}

static ts_status make_csr(ts_context *context, int32_t rows, int64_t entries, int32_t **offsets,
                          int32_t **columns, float **values) {
  *offsets = tsi_calloc(context, (size_t)rows + 2, sizeof **offsets);
  *columns = tsi_malloc(context, (size_t)entries + 1, sizeof **columns);
  *values = tsi_malloc(context, (size_t)entries + 1, sizeof **values);
  if (*offsets && *columns && *values) return TS_OK;
  return tsi_out_of_memory(context, "a preconditioner", (size_t)entries * sizeof **values);
}

static ts_status transpose(ts_context *context, const ts_csr *from, ts_csr *to) {
  const int32_t rows = from->rows, entries = from->row_offsets[rows];
  int32_t *offsets, *columns;
  float *values;
  const ts_status status = make_csr(context, rows, entries, &offsets, &columns, &values);
  if (status < 0) {
    free_csr(context, offsets, columns, values);
    return status;
  }
  for (int32_t k = 0; k < entries; k++) offsets[from->column_indices[k] + 2]++;
  for (int32_t i = 0; i < rows; i++) offsets[i + 2] += offsets[i + 1];
  for (int32_t i = 0; i < rows; i++)
    for (int32_t k = from->row_offsets[i]; k < from->row_offsets[i + 1]; k++) {
      const int32_t place = offsets[from->column_indices[k] + 1]++;
      columns[place] = i;
      values[place] = from->values[k];
    }
  *to = (ts_csr){
      .rows = rows, .columns = rows, .row_offsets = offsets, .column_indices = columns, .values = values};
  return TS_OK;
}

static void free_transposed(ts_context *context, const ts_csr *csr) {
  free_csr(context, (int32_t *)csr->row_offsets, (int32_t *)csr->column_indices, (float *)csr->values);
}

/* ---- A row ---- */

static int is_equation(const triangle *t, int32_t i) {
  return !t->constrained || !t->constrained[i];
}

static float entry(const ts_csr *A, int32_t row, int32_t column) {
  int32_t low = A->row_offsets[row], high = A->row_offsets[row + 1];
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (A->column_indices[middle] == column) return A->values[middle];
    if (A->column_indices[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return 0;
}

/* Takes a column among those with the largest entries, in the order of their size. */
static int keep_largest(const ts_csr *A, int32_t i, int32_t column, int32_t *columns, int count) {
  const float size = fabsf(entry(A, i, column));
  int place = count;
  while (place > 0 && fabsf(entry(A, i, columns[place - 1])) < size) place--;
  if (count == MOST - 1) count--;
  for (int k = count; k > place; k--) columns[k] = columns[k - 1];
  if (place < MOST - 1) columns[place] = column;
  return count + 1;
}

static void sort(int32_t *columns, int count) {
  for (int k = 1; k < count; k++) {
    const int32_t column = columns[k];
    int place = k;
    for (; place > 0 && columns[place - 1] > column; place--) columns[place] = columns[place - 1];
    columns[place] = column;
  }
}

/* The columns J of row i: ascending, i the last. Returns how many. */
static int pattern(const triangle *t, int32_t i, int32_t *columns) {
  const ts_csr *A = t->A;
  const int32_t first = A->row_offsets[i];
  int32_t end = first;
  int count = 0;
  if (!is_equation(t, i)) return 0;
  while (end < A->row_offsets[i + 1] && A->column_indices[end] < i) end++;
  for (int32_t k = first; k < end; k++) {
    const int32_t j = A->column_indices[k];
    if (!is_equation(t, j)) continue;
    if (end - first < MOST)
      columns[count++] = j;
    else
      count = keep_largest(A, i, j, columns, count);
  }
  if (end - first >= MOST) sort(columns, count);
  columns[count] = i;
  return count + 1;
}

static void swap(double *a, double *b) {
  const double t = *a;
  *a = *b;
  *b = t;
}

/* Solves a x = e_n in place by elimination, balanced and with partial pivoting, or of a symmetric matrix
 * without these and in its upper triangle alone. Returns 0 where `a` is singular, or not positive definite. */
static int solve(double *a, double *x, int n, int symmetric) {
  double size[MOST] = {0}; /* of a column, or of a number on the diagonal, before the elimination */
  int rows[MOST] = {0}, columns[MOST] = {0};
  if (!symmetric) tsi_balance(a, n, rows, columns);
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < n && !symmetric; c++) size[c] = fmax(size[c], fabs(a[r * n + c]));
    if (symmetric) size[r] = fabs(a[r * n + r]);
    x[r] = r == n - 1;
  }
  for (int c = 0; c < n; c++) {
    int pivot = c;
    for (int r = c + 1; r < n && !symmetric; r++)
      if (fabs(a[r * n + c]) > fabs(a[pivot * n + c])) pivot = r;
    const double value = symmetric ? a[c * n + c] : fabs(a[pivot * n + c]);
    if (!(value > ldexp(size[c], -40))) return 0;
    for (int k = c; k < n && pivot != c; k++) swap(&a[c * n + k], &a[pivot * n + k]);
    if (pivot != c) swap(&x[c], &x[pivot]);
    for (int r = c + 1; r < n; r++) {
      const double factor = (symmetric ? a[c * n + r] : a[r * n + c]) / a[c * n + c];
      if (factor == 0) continue;
      for (int k = symmetric ? r : c + 1; k < n; k++) a[r * n + k] -= factor * a[c * n + k];
      x[r] -= factor * x[c];
    }
  }
  for (int r = n - 1; r >= 0; r--) {
    for (int k = r + 1; k < n; k++) x[r] -= a[r * n + k] * x[k];
    x[r] /= a[r * n + r];
  }
  for (int r = 0; r < n; r++)
    if (columns[r] + rows[n - 1] != 0) x[r] = ldexp(x[r], columns[r] + rows[n - 1]);
  return 1;
}

/* The transpose of A(J, J), or its upper triangle alone. A row of A that is much longer than J is not walked
 * along. */
static void take_block(const triangle *t, const int32_t *columns, int n, int symmetric, double *a) {
  const ts_csr *A = t->A;
  memset(a, 0, (size_t)n * (size_t)n * sizeof *a);
  for (int c = 0; c < n; c++) {
    const int last = symmetric ? c : n - 1;
    const int32_t end = A->row_offsets[columns[c] + 1];
    int32_t k = A->row_offsets[columns[c]];
    const int is_long = end - k > 16 * n;
    for (int r = 0; r <= last; r++) {
      while (!is_long && k < end && A->column_indices[k] < columns[r]) k++;
      if (is_long)
        a[r * n + c] = (double)entry(A, columns[c], columns[r]);
      else if (k < end && A->column_indices[k] == columns[r])
        a[r * n + c] = (double)A->values[k];
    }
  }
}

/* Returns 0 where there is no such row. */
static int compute_row(const triangle *t, int32_t i) {
  const int32_t *columns = t->columns + t->offsets[i];
  const int n = (int)(t->offsets[i + 1] - t->offsets[i]);
  double a[MOST * MOST], g[MOST];
  if (n <= 0) return 1;
  take_block(t, columns, n, t->scaling == BY_ROOT, a);
  if (!solve(a, g, n, t->scaling == BY_ROOT)) return 0;
  const double last = g[n - 1];
  if (t->scaling == BY_ROOT ? !(last > 0) : last == 0) return 0;
  const double scale = t->scaling == BY_ROOT ? sqrt(last) : t->scaling == BY_DIAGONAL ? last : 1;
  for (int c = 0; c < n; c++) t->values[t->offsets[i] + c] = (float)(g[c] / scale);
  return 1;
}

/* ---- A triangle ---- */

static void compute_parts(const void *arguments, size_t first, size_t last) {
  const triangle *t = arguments;
  for (size_t p = first; p < last; p++) {
    const int64_t rows = t->A->rows;
    const int32_t begin = (int32_t)(rows * (int64_t)p / t->parts),
                  end = (int32_t)(rows * (int64_t)(p + 1) / t->parts);
    t->failed[p] = -1;
    for (int32_t i = begin; i < end && t->failed[p] < 0; i++)
      if (!compute_row(t, i)) t->failed[p] = i;
  }
}

/* Its values in *failed the first row that has none, -1: all have. */
static ts_status compute(ts_context *context, triangle *t, int32_t *failed) {
  const ts_csr *A = t->A;
  int threads;
  TSI_TRY(tsi_threads(context, &threads));
  t->parts = 4 * threads;
  t->failed = tsi_malloc(context, (size_t)t->parts, sizeof *t->failed);
  if (!t->failed) return tsi_out_of_memory(context, "a preconditioner", (size_t)t->parts * sizeof *t->failed);
  TSI_TRY(make_csr(context, A->rows, (int64_t)A->row_offsets[A->rows] + A->rows, &t->offsets, &t->columns,
                   &t->values));
  for (int32_t i = 0, next = 0; i < A->rows; i++) t->offsets[i + 1] = next += pattern(t, i, t->columns + next);
  tsi_parallel(context, (size_t)t->parts, compute_parts, t);
  *failed = -1;
  for (int32_t p = 0; p < t->parts && *failed < 0; p++) *failed = t->failed[p];
  return TS_OK;
}

static void free_triangle(ts_context *context, triangle *t) {
  tsi_free(context, t->failed);
  free_csr(context, t->offsets, t->columns, t->values);
}

/* ---- What a preconditioner does ---- */

static ts_csr view(const triangle *t) {
  return (ts_csr){.rows = t->A->rows,
                  .columns = t->A->rows,
                  .row_offsets = t->offsets,
                  .column_indices = t->columns,
                  .values = t->values};
}

static ts_status upload(const ts_matrix *A, const ts_csr *csr, ts_matrix **matrix) {
  const int blocks = !A->context->caps.linear_spaces && A->layout->blocks.log2_size;
  const ts_matrix_desc desc = {
      .csr = *csr, .format = blocks ? A->info.format : TS_FORMAT_AUTO, .row_space = A->row_space};
  return tsi_matrix_create_as_is(A->context, &desc, matrix);
}

static ts_status singular(ts_context *context, int32_t row) {
  const ts_status status =
      tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
               "row %d has no approximate inverse: the part of the matrix on its pattern is singular", row);
  return tsi_fail_at_row(context, status, row);
}

/* W from A's rows, or V^T from those of A^T, uploaded; V by a transpose. With BY_ROOT both from W; *failed is
 * then a row of an A that is not positive definite. */
static ts_status build(const ts_matrix *A, const ts_csr *rows, scaling scaling, tsi_isai *isai,
                       int32_t *failed) {
  ts_context *context = A->context;
  triangle t = {.A = rows, .constrained = A->row_space->constrained, .scaling = scaling};
  ts_csr other = {0};
  ts_status status = compute(context, &t, failed);
  if (status == TS_OK && *failed < 0) {
    const ts_csr csr = view(&t);
    if (scaling != NOT_SCALED) status = upload(A, &csr, &isai->lower);
    if (status == TS_OK && scaling != BY_DIAGONAL) status = transpose(context, &csr, &other);
    if (status == TS_OK && scaling != BY_DIAGONAL) status = upload(A, &other, &isai->upper);
  }
  free_transposed(context, &other);
  free_triangle(context, &t);
  return status;
}

static ts_status build_general(const ts_matrix *A, const ts_csr *csr, tsi_isai *isai) {
  ts_csr transposed;
  int32_t failed;
  TSI_TRY(build(A, csr, BY_DIAGONAL, isai, &failed));
  if (failed >= 0) return singular(A->context, failed);
  TSI_TRY(transpose(A->context, csr, &transposed));
  const ts_status status = build(A, &transposed, NOT_SCALED, isai, &failed);
  free_transposed(A->context, &transposed);
  return status == TS_OK && failed >= 0 ? singular(A->context, failed) : status;
}

/* New matrices, so that after a failure the old ones are as they were. */
ts_status tsi_isai_build(ts_preconditioner *M) {
  ts_context *context = M->context;
  const ts_matrix *A = M->matrix;
  ts_csr csr;
  int32_t failed = -1;
  TSI_TRY(tsi_matrix_stored_copy(A, &csr));
  tsi_isai *isai = tsi_calloc(context, 1, sizeof *isai);
  if (!isai) return tsi_out_of_memory(context, "a preconditioner", sizeof *isai);
  ts_status status = A->info.symmetric ? build(A, &csr, BY_ROOT, isai, &failed) : TS_OK;
  isai->is_symmetric = A->info.symmetric && failed < 0;
  if (status == TS_OK && !isai->is_symmetric) status = build_general(A, &csr, isai);
  tsi_isai **old = status == TS_OK ? &M->isai : &isai;
  tsi_isai_destroy(context, old);
  if (status == TS_OK) M->isai = isai;
  return status;
}

void tsi_isai_destroy(ts_context *context, tsi_isai **isai) {
  if (!*isai) return;
  ts_matrix_destroy(&(*isai)->lower);
  ts_matrix_destroy(&(*isai)->upper);
  ts_vector_destroy(&(*isai)->between);
  tsi_free(context, *isai);
  *isai = NULL;
}

int tsi_isai_is_symmetric(const tsi_isai *isai) {
  return isai->is_symmetric;
}

ts_status tsi_isai_prepare(const ts_preconditioner *M, int components) {
  ts_vector **between = &M->isai->between;
  if (*between && (*between)->components == components) return TS_OK;
  ts_vector_destroy(between);
  return ts_vector_create(M->matrix->row_space, &(ts_vector_desc){.components = components}, between);
}

ts_status tsi_isai_apply(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  const tsi_isai *isai = M->isai;
  const ts_vector given = tsi_first_part(r);
  ts_vector first = tsi_first_part(z);
  TSI_TRY(tsi_spmv(isai->between, isai->lower, &given));
  return tsi_spmv(&first, isai->upper, isai->between);
}
