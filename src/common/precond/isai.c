/* ISAI: incomplete sparse approximate inverses of the triangular factors of A, on the pattern of A. The device
 * solves no triangular system (Kolotilina and Yeremin 1993, "Factorized sparse approximate inverse
 * preconditionings I"; Anzt, Huckle, Braeckle and Dongarra 2018, "Incomplete sparse approximate inverses for
 * parallel preconditioning"):
 *
 *   A = L U, L with ones on its diagonal;  W ~ L^-1, V ~ U^-1 on the patterns of the triangles of A
 *   z = V (W r)        two products
 *
 * Let J be the columns of row i of W, all up to i. The row is g / g_i with g A(J, J) = e_i. So (W A)(i, J) is 0
 * except at i, as in L^-1 A = U. Column i of V is h with A(J, J) h = e_i. No incomplete factor is computed, and
 * if A is positive definite no pivot can fail. Inverses of ILU(0) and IC(0) on the same patterns were measured
 * too: solves with them took between the same number of iterations and ten times that.
 *
 * If A is symmetric and every g_i is positive, row i of W is g / sqrt(g_i), and V is W^T. M is then symmetric
 * and positive definite, and W A W^T has ones on its diagonal.
 *
 * A singular block A(J, J) gets a small shift at each missing pivot, so its row of W or V is that of a nearby
 * matrix.
 *
 * Systems are solved on the host in double precision, with threads sharing the rows. A row with many entries
 * left of the diagonal keeps only the largest. Rows without an equation, and their columns, are excluded. */
#include <math.h>
#include <string.h>

#include "common/matrix/csr.h"
#include "common/core/core.h"
#include "common/core/pool.h"
#include "common/layout/layout.h"
#include "preconditioner.h"

enum { MOST = 64 };                 /* maximum columns in a row of W */
static const double shift = 0x1p-8; /* of a block, relative to its numbers */

typedef struct isai {
  ts_matrix *lower, *upper; /* W and V */
  int is_symmetric;
  ts_vector *between; /* W r; NULL: not allocated */
} isai;

typedef enum scaling { BY_ROOT, BY_DIAGONAL, NOT_SCALED } scaling;

typedef struct triangle {
  const tsi_csr *A;
  const unsigned char *constrained;
  scaling scaling;
  int32_t *offsets, *columns;
  float *values;
  int32_t *failed; /* per part of the rows: the first row with a singular system; -1: none */
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

/* ---- A row ---- */

static int is_equation(const triangle *t, int32_t i) {
  return !t->constrained || !t->constrained[i];
}

static float entry(const tsi_csr *A, int32_t row, int32_t column) {
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

/* Inserts a column in the list of those with the largest entries, sorted by their size. */
static int keep_largest(const tsi_csr *A, int32_t i, int32_t column, int32_t *columns, int count) {
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

/* Lists the columns J of row i in ascending order; i is the last. Returns their number. */
static int pattern(const triangle *t, int32_t i, int32_t *columns) {
  const tsi_csr *A = t->A;
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

/* Solves a x = e_n in place by elimination. A symmetric matrix uses only its upper triangle, without balancing
 * or pivoting; returns 0 if it is not positive definite. Other matrices are balanced, with partial pivoting. If
 * one is singular, missing pivots become `shift` times the largest number of their column, or `shift`, and
 * *shifted is set. */
static int isai_solve(double *a, double *x, int n, int symmetric, int *shifted) {
  double size[MOST] = {0}; /* of a column or of a diagonal element, before the elimination */
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
    const int is_missing = !(value > ldexp(size[c], -40));
    if (is_missing && symmetric) return 0;
    for (int k = c; k < n && pivot != c; k++) swap(&a[c * n + k], &a[pivot * n + k]);
    if (pivot != c) swap(&x[c], &x[pivot]);
    if (is_missing) a[c * n + c] = shift * (size[c] > 0 ? size[c] : 1);
    *shifted |= is_missing;
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

/* Copies the transpose of A(J, J), or only its upper triangle. If a row of A is much longer than J, its entries
 * are searched instead of scanned. */
static void copy_block(const triangle *t, const int32_t *columns, int n, int symmetric, double *a) {
  const tsi_csr *A = t->A;
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

static int is_usable(const double *g, int n) {
  for (int c = 0; c < n; c++)
    if (!isfinite(g[c])) return 0;
  return g[n - 1] != 0;
}

/* If the shift does not help either, the row is that of the identity, scaled like A. */
static void fill_identity(const triangle *t, int32_t i, int n, double *g) {
  double largest = 0;
  for (int32_t e = t->A->row_offsets[i]; e < t->A->row_offsets[i + 1]; e++)
    largest = fmax(largest, fabs((double)t->A->values[e]));
  for (int c = 0; c < n; c++) g[c] = 0;
  g[n - 1] = largest > 0 ? 1 / largest : 1;
}

/* Returns 0 if the system of the row is singular. Unless A must be positive definite, a substitute row is
 * stored then. */
static int compute_row(const triangle *t, int32_t i) {
  const int32_t *columns = t->columns + t->offsets[i];
  const int n = (int)(t->offsets[i + 1] - t->offsets[i]);
  double a[MOST * MOST], g[MOST];
  if (n <= 0) return 1;
  copy_block(t, columns, n, t->scaling == BY_ROOT, a);
  int shifted = 0;
  if (!isai_solve(a, g, n, t->scaling == BY_ROOT, &shifted)) return 0;
  if (t->scaling == BY_ROOT && !(g[n - 1] > 0)) return 0;
  if (t->scaling != BY_ROOT && !is_usable(g, n)) {
    fill_identity(t, i, n, g);
    shifted = 1;
  }
  const double last = g[n - 1];
  const double scale = t->scaling == BY_ROOT ? sqrt(last) : t->scaling == BY_DIAGONAL ? last : 1;
  for (int c = 0; c < n; c++) t->values[t->offsets[i] + c] = (float)(g[c] / scale);
  return !shifted;
}

/* ---- A triangle ---- */

enum { PARTS = 32 }; /* per thread: rows differ, and the poll function is called between parts */

static void compute_parts(const void *arguments, size_t first, size_t last) {
  const triangle *t = arguments;
  for (size_t p = first; p < last; p++) {
    const int64_t rows = t->A->rows;
    const int32_t begin = (int32_t)(rows * (int64_t)p / t->parts),
                  end = (int32_t)(rows * (int64_t)(p + 1) / t->parts);
    t->failed[p] = -1;
    for (int32_t i = begin; i < end && (t->failed[p] < 0 || t->scaling != BY_ROOT); i++)
      if (!compute_row(t, i) && t->failed[p] < 0) t->failed[p] = i;
  }
}

/* Computes the values. *failed becomes the first row with a singular system, or -1. */
static ts_status compute(ts_context *context, triangle *t, int32_t *failed) {
  const tsi_csr *A = t->A;
  int threads;
  TSI_TRY(tsi_threads(context, &threads));
  t->parts = PARTS * threads;
  t->failed = tsi_malloc(context, (size_t)t->parts, sizeof *t->failed);
  if (!t->failed) return tsi_out_of_memory(context, "a preconditioner", (size_t)t->parts * sizeof *t->failed);
  TSI_TRY(make_csr(context, A->rows, (int64_t)A->row_offsets[A->rows] + A->rows, &t->offsets, &t->columns,
                   &t->values));
  for (int32_t i = 0, next = 0; i < A->rows; i++) t->offsets[i + 1] = next += pattern(t, i, t->columns + next);
  TSI_TRY(tsi_poll(context));
  tsi_parallel(context, (size_t)t->parts, compute_parts, t);
  TSI_TRY(tsi_poll(context));
  *failed = -1;
  for (int32_t p = 0; p < t->parts && *failed < 0; p++) *failed = t->failed[p];
  return TS_OK;
}

static void free_triangle(ts_context *context, triangle *t) {
  tsi_free(context, t->failed);
  free_csr(context, t->offsets, t->columns, t->values);
}

/* ---- The functions of the kind ---- */

static tsi_csr view(const triangle *t) {
  return (tsi_csr){.rows = t->A->rows,
                   .columns = t->A->rows,
                   .row_offsets = t->offsets,
                   .column_indices = t->columns,
                   .values = t->values};
}

static ts_status upload(const ts_matrix *A, const tsi_csr *csr, ts_matrix **matrix) {
  const int blocks = !A->context->caps.linear_spaces && A->layout->blocks.log2_size;
  const tsi_matrix_desc desc = {
      .csr = *csr, .format = blocks ? A->info.format : TS_FORMAT_AUTO, .row_space = A->row_space};
  return tsi_matrix_create_as_is(A->context, &desc, matrix);
}

static void say_shift(ts_context *context, const char *what, int32_t index) {
  if (index >= 0)
    tsi_log(context, TS_LOG_LEVEL_WARNING,
            "isai: the part of the matrix on the pattern of %s %d is singular, and gets a shift, as do others",
            what, index);
}

/* Computes and uploads W from the rows of A. V^T results from the rows of A^T in the same way, and V is its
 * transpose. With BY_ROOT, W gives both. If *failed is a row then, A is not positive definite and nothing is
 * created. With the other scalings it is a row that got a shift. */
static ts_status isai_build(const ts_matrix *A, const tsi_csr *rows, scaling scaling, isai *out,
                            int32_t *failed) {
  ts_context *context = A->context;
  triangle t = {.A = rows, .constrained = A->row_space->constrained, .scaling = scaling};
  tsi_csr other = {0};
  ts_status status = compute(context, &t, failed);
  if (status == TS_OK && (*failed < 0 || scaling != BY_ROOT)) {
    const tsi_csr csr = view(&t);
    if (scaling != NOT_SCALED) status = upload(A, &csr, &out->lower);
    if (status == TS_OK && scaling != BY_DIAGONAL) status = tsi_csr_transpose(context, &csr, &other);
    if (status == TS_OK && scaling != BY_DIAGONAL) status = upload(A, &other, &out->upper);
  }
  tsi_csr_transposed_free(context, &other);
  free_triangle(context, &t);
  return status;
}

static ts_status build_general(const ts_matrix *A, const tsi_csr *csr, isai *out) {
  tsi_csr transposed;
  int32_t failed;
  TSI_TRY(isai_build(A, csr, BY_DIAGONAL, out, &failed));
  say_shift(A->context, "row", failed);
  TSI_TRY(tsi_csr_transpose(A->context, csr, &transposed));
  const ts_status status = isai_build(A, &transposed, NOT_SCALED, out, &failed);
  tsi_csr_transposed_free(A->context, &transposed);
  if (status == TS_OK) say_shift(A->context, "column", failed);
  return status;
}

static void destroy_parts(ts_context *context, isai *parts) {
  ts_matrix_destroy(&parts->lower);
  ts_matrix_destroy(&parts->upper);
  ts_vector_destroy(&parts->between);
  tsi_free(context, parts);
}

static void destroy(ts_preconditioner *M) {
  destroy_parts(M->context, M->state);
}

/* Creates new matrices, so that a failure leaves the old ones unchanged. */
static ts_status build_anew(ts_preconditioner *M) {
  ts_context *context = M->context;
  const ts_matrix *A = M->matrix;
  tsi_csr csr;
  int32_t failed = -1;
  TSI_TRY(tsi_matrix_stored_copy(A, &csr));
  isai *made = tsi_calloc(context, 1, sizeof *made);
  if (!made) return tsi_out_of_memory(context, "a preconditioner", sizeof *made);
  ts_status status = A->info.symmetric ? isai_build(A, &csr, BY_ROOT, made, &failed) : TS_OK;
  made->is_symmetric = A->info.symmetric && failed < 0;
  if (status == TS_OK && !made->is_symmetric) status = build_general(A, &csr, made);
  if (status < 0) {
    destroy_parts(context, made);
    return status;
  }
  if (M->state) destroy(M);
  M->state = made;
  return TS_OK;
}

static int is_symmetric(const ts_preconditioner *M) {
  return ((const isai *)M->state)->is_symmetric;
}

static ts_status measure(const ts_preconditioner *M, tsi_cost *cost) {
  const isai *parts = M->state;
  cost->operations = 2;
  return tsi_preconditioner_products(
      M, (double)parts->lower->info.nonzeros + (double)parts->upper->info.nonzeros, &cost->products);
}

static ts_status prepare(const ts_preconditioner *M, int components) {
  ts_vector **between = &((isai *)M->state)->between;
  if (*between && (*between)->components == components) return TS_OK;
  ts_vector_destroy(between);
  return ts_vector_create(M->matrix->row_space, &(ts_vector_desc){.components = components}, between);
}

static ts_status apply(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  const isai *parts = M->state;
  const ts_vector given = tsi_first_part(r);
  ts_vector first = tsi_first_part(z);
  TSI_TRY(tsi_spmv(parts->between, parts->lower, &given));
  return tsi_spmv(&first, parts->upper, parts->between);
}

const tsi_preconditioner_kind tsi_preconditioner_isai = {
    .kind = TS_PRECONDITIONER_ISAI,
    .is_from_matrix = 1,
    .needs_entries = 1,
    .has_scale = 1,
    .unsymmetric = "isai finds that the matrix is not symmetric and positive definite, as cg and minres need",
    .create = build_anew,
    .update = build_anew,
    .destroy = destroy,
    .measure = measure,
    .is_symmetric = is_symmetric,
    .prepare = prepare,
    .apply = apply};
