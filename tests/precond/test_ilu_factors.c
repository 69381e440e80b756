/* The incomplete factors: the same bits with any number of threads, and the properties of levels of fill and of
 * Cholesky factors. */
#include <string.h>

#include "common/precond/ilu/ilu.h"
#include "helpers.h"

typedef struct made {
  ts_context *context;
  ts_matrix *matrix;
  ts_preconditioner *M;
  const tsi_ilu *ilu;
} made;

static int make(const ref_matrix *m, int threads, const ts_preconditioner_desc *desc, made *out) {
  const ts_matrix_desc matrix_desc = {.csr = ref_csr(m), .keep_host_copy = 1};
  *out = (made){0};
  if (!CHECK_OK(NULL,
                ts_context_create(&(ts_context_desc){.backend = "cpu", .threads = threads}, &out->context)))
    return 0;
  if (!CHECK_OK(out->context, ts_matrix_create(out->context, &matrix_desc, &out->matrix))) return 0;
  out->M = make_preconditioner(out->matrix, desc);
  out->ilu = out->M ? out->M->state : NULL;
  return out->M != NULL;
}

static void destroy(made *made) {
  ts_preconditioner_destroy(&made->M);
  ts_matrix_destroy(&made->matrix);
  ts_context_destroy(&made->context);
}

/* Blocks of Kershaw's ring of four (Kershaw 1978, "The incomplete Cholesky-conjugate gradient method"), each
 * coupled weakly with the next, and scaled. They are positive definite, but incomplete Cholesky without fill
 * has a pivot of -1.8 or less. */
static ref_matrix rings(int32_t count) {
  const int32_t rows = 4 * count;
  ref_matrix m = {.rows = rows, .columns = rows};
  m.offsets = malloc(((size_t)rows + 1) * sizeof *m.offsets);
  m.indices = malloc(5 * (size_t)rows * sizeof *m.indices);
  m.values = malloc(5 * (size_t)rows * sizeof *m.values);
  int32_t next = 0;
  for (int32_t i = 0; i < rows; i++) {
    m.offsets[i] = next;
    for (int32_t j = i >= 4 ? i - 4 : 0; j < rows && j <= i + 4; j++) {
      const int32_t distance = (j % 4 - i % 4 + 4) % 4;
      const int is_own = j / 4 == i / 4;
      const float ring = distance == 0 ? 3 : i % 4 + j % 4 == 3 && distance % 2 == 1 && i % 4 % 3 == 0 ? 2 : -2;
      const float value = is_own && distance != 2 ? ring : !is_own && distance == 0 ? -0.01f : 0;
      if (value == 0) continue;
      m.indices[next] = j;
      m.values[next++] = ldexpf(value, i / 4 % 5 + j / 4 % 5);
    }
  }
  m.offsets[rows] = next;
  return m;
}

/* ---- Threads ---- */

static void check_rows(const tsi_ilu_rows *a, const tsi_ilu_rows *b, int32_t n) {
  const size_t entries = (size_t)a->offsets[n];
  if (!CHECK(!memcmp(a->offsets, b->offsets, ((size_t)n + 1) * sizeof *a->offsets))) return;
  CHECK(!memcmp(a->columns, b->columns, entries * sizeof *a->columns));
  CHECK(!memcmp(a->values, b->values, entries * sizeof *a->values));
}

static void check_threads(const char *name, const ref_matrix *m, const ts_preconditioner_desc *desc) {
  made one, several;
  if (!make(m, 1, desc, &one)) return;
  for (int threads = 2; threads <= 5; threads += 3) {
    test_context_label("%s, %s, %d threads", name, ts_preconditioner_kind_name(desc->kind), threads);
    if (!make(m, threads, desc, &several)) return;
    check_rows(&one.ilu->factors.lower, &several.ilu->factors.lower, m->rows);
    check_rows(&one.ilu->factors.upper, &several.ilu->factors.upper, m->rows);
    CHECK(!memcmp(one.ilu->factors.inverse, several.ilu->factors.inverse, (size_t)m->rows * sizeof(double)));
    CHECK(!memcmp(one.ilu->order.columns, several.ilu->order.columns, (size_t)m->rows * sizeof(int32_t)));
    CHECK(one.ilu->factors.shifted == several.ilu->factors.shifted);
    CHECK(one.ilu->factors.shift == several.ilu->factors.shift);
    destroy(&several);
  }
  destroy(&one);
}

/* More entries than one thread factorises alone. The random matrix needs pivoting. */
static void threads_do_not_matter(void) {
  const ts_preconditioner_desc ilu[] = {{.kind = TS_PRECONDITIONER_ILU, .scaling = TS_SCALING_NONE},
                                        {.kind = TS_PRECONDITIONER_ILU, .fill = 3, .drop_tolerance = 1e-9},
                                        {.kind = TS_PRECONDITIONER_ILU, .levels = -1},
                                        {.kind = TS_PRECONDITIONER_ILU, .levels = 2}};
  const ts_preconditioner_desc ic[] = {{.kind = TS_PRECONDITIONER_IC},
                                       {.kind = TS_PRECONDITIONER_IC, .fill = 2, .drop_tolerance = 1e-9},
                                       {.kind = TS_PRECONDITIONER_IC, .levels = -1},
                                       {.kind = TS_PRECONDITIONER_IC, .levels = 2}};
  ref_matrix wind = ref_convection(80, 80, 3), uneven = ref_uneven_rows(2500, 2500, 30, 3),
             cube = ref_laplacian_3d(16), ring = rings(2000);
  for (int k = 0; k < 4; k++) {
    check_threads("convection", &wind, &ilu[k]);
    check_threads("uneven rows", &uneven, &ilu[k]);
    check_threads("cube", &cube, &ic[k]);
    check_threads("rings", &ring, &ic[k]);
  }
  ref_free(&wind), ref_free(&uneven), ref_free(&cube), ref_free(&ring);
}

/* ---- L D U on its pattern ---- */

static void add_rows(const tsi_ilu_rows *rows, int32_t n, double *dense) {
  for (int32_t k = 0; k < n; k++) {
    dense[(size_t)k * (size_t)n + (size_t)k] = 1;
    for (int64_t e = rows->offsets[k]; e < rows->offsets[k + 1]; e++)
      dense[(size_t)k * (size_t)n + (size_t)rows->columns[e]] = rows->values[e];
  }
}

/* B with its shift, from A, the scaling and the order. */
static void add_matrix(const ref_matrix *m, const tsi_ilu *ilu, double *dense) {
  const tsi_ilu_order *order = &ilu->order;
  int32_t *place = malloc((size_t)m->rows * sizeof *place);
  for (int32_t k = 0; k < m->rows; k++) place[order->columns[k]] = k;
  for (int32_t k = 0; k < m->rows; k++)
    for (int32_t e = m->offsets[order->rows[k]]; e < m->offsets[order->rows[k] + 1]; e++) {
      const int32_t l = place[m->indices[e]];
      dense[(size_t)k * (size_t)m->rows + (size_t)l] = (double)m->values[e] * order->row_scales[k] *
                                                       order->column_scales[l] *
                                                       (k == l ? 1 + ilu->factors.shift : 1);
    }
  free(place);
}

/* Returns the largest difference between L D U and B on the union of their patterns. `entries` receives the
 * number of entries of L and U. */
static double pattern_error(const ref_matrix *m, const tsi_ilu *ilu, int64_t *entries) {
  const size_t n = (size_t)m->rows;
  double *L = calloc(3 * n * n, sizeof *L), *U = L + n * n, *B = U + n * n, worst = 0;
  add_rows(&ilu->factors.lower, m->rows, L);
  add_rows(&ilu->factors.upper, m->rows, U);
  add_matrix(m, ilu, B);
  *entries = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      double sum = 0;
      const int has_entry = i <= j ? U[i * n + j] != 0 : L[i * n + j] != 0;
      *entries += has_entry;
      if (!has_entry && B[i * n + j] == 0) continue;
      for (size_t k = 0; k <= i && k <= j; k++) sum += L[i * n + k] / ilu->factors.inverse[k] * U[k * n + j];
      worst = fmax(worst, fabs(sum - B[i * n + j]));
    }
  free(L);
  return worst;
}

/* Incomplete factors with levels of fill are exact on their pattern, which starts with the pattern of A and
 * grows with the level. */
static void check_levels(const char *name, const ref_matrix *m, ts_preconditioner_kind kind) {
  int64_t before = ref_nonzeros(m) - 1;
  for (int level = 0; level <= 3; level++) {
    const ts_preconditioner_desc desc = {.kind = kind,
                                         .levels = level ? level : -1,
                                         .scaling = kind == TS_PRECONDITIONER_ILU ? TS_SCALING_NONE : 0};
    made made;
    int64_t entries;
    test_context_label("%s, %s, level %d", name, ts_preconditioner_kind_name(kind), level);
    if (!make(m, 1, &desc, &made)) return;
    CHECK(pattern_error(m, made.ilu, &entries) < 1e-13);
    CHECK(entries > before);
    if (level == 0) CHECK_INT(entries, ref_nonzeros(m));
    before = entries;
    destroy(&made);
  }
}

static void levels(void) {
  ref_matrix wind = ref_convection(12, 11, 3), grid = ref_grid(12, 11), cube = ref_laplacian_3d(5);
  check_levels("convection", &wind, TS_PRECONDITIONER_ILU);
  check_levels("grid", &grid, TS_PRECONDITIONER_ILU);
  check_levels("grid", &grid, TS_PRECONDITIONER_IC);
  check_levels("cube", &cube, TS_PRECONDITIONER_IC);
  ref_free(&wind), ref_free(&grid), ref_free(&cube);
}

/* ---- Cholesky ---- */

/* The smallest pivot of incomplete Cholesky on the pattern of m, in the given order. */
static double least_pivot(const ref_matrix *m) {
  const size_t n = (size_t)m->rows;
  double *a = calloc(n * n, sizeof *a), least = INFINITY;
  for (size_t i = 0; i < n; i++)
    for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
      a[i * n + (size_t)m->indices[e]] = (double)m->values[e];
  for (size_t k = 0; k < n; k++) {
    least = fmin(least, a[k * n + k]);
    for (size_t i = k + 1; i < n; i++)
      for (size_t j = k + 1; j < n; j++)
        if (a[i * n + j] != 0) a[i * n + j] -= a[i * n + k] * a[k * n + j] / a[k * n + k];
  }
  free(a);
  return least;
}

static int has_mirror(const tsi_ilu_rows *rows, int32_t row, int32_t column, double value) {
  for (int64_t e = rows->offsets[row]; e < rows->offsets[row + 1]; e++)
    if (rows->columns[e] == column) return rows->values[e] == value;
  return 0;
}

/* L equals U^T bit for bit, and D is positive. If `shifts`, this needed a shift. */
static void check_cholesky(const char *name, const ref_matrix *m, const ts_preconditioner_desc *desc,
                           int shifts) {
  made made;
  test_context_label("%s", name);
  if (!make(m, 1, desc, &made)) return;
  const tsi_ilu_factors *f = &made.ilu->factors;
  int mirrors = 0;
  for (int32_t k = 0; k < m->rows; k++) {
    CHECK(f->inverse[k] > 0 && isfinite(f->inverse[k]));
    for (int64_t e = f->upper.offsets[k]; e < f->upper.offsets[k + 1]; e++)
      mirrors += has_mirror(&f->lower, f->upper.columns[e], k, f->upper.values[e]);
  }
  CHECK_INT(mirrors, f->upper.offsets[m->rows]);
  CHECK_INT(mirrors, f->lower.offsets[m->rows]);
  CHECK(shifts ? f->shift > 0 && f->shift < 2 : f->shift == 0);
  destroy(&made);
}

static void pivots_are_positive(void) {
  const ts_preconditioner_desc by_size = {.kind = TS_PRECONDITIONER_IC},
                               no_fill = {.kind = TS_PRECONDITIONER_IC, .levels = -1},
                               whole = {.kind = TS_PRECONDITIONER_IC, .fill = 1000, .drop_tolerance = -1};
  ref_matrix ring = rings(30), grid = ref_grid(20, 20), indefinite = ref_indefinite(12, 12);
  CHECK(least_pivot(&ring) < -1);
  CHECK(least_pivot(&grid) > 0);
  check_cholesky("rings, no fill", &ring, &no_fill, 1);
  check_cholesky("rings, nothing dropped", &ring, &whole, 0);
  check_cholesky("grid, by size", &grid, &by_size, 0);
  check_cholesky("grid, no fill", &grid, &no_fill, 0);
  check_cholesky("indefinite, nothing dropped", &indefinite, &whole, 1);
  ref_free(&ring), ref_free(&grid), ref_free(&indefinite);
}

TEST_MAIN_ON_HOST(CASES(threads_do_not_matter, levels, pivots_are_positive))
