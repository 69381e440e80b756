/* Factors of a matrix, computed by the module: L D L^T if the matrix is symmetric and positive or negative
 * definite, L U otherwise. The factors have the rounding errors of double precision. Solvers refine (Wilkinson
 * 1963, "Rounding errors in algebraic processes", chapter 3): x = x + (L U)^-1 (b - A x). */
#include <math.h>
#include <stdio.h>

#include "common/core/core.h"
#include "direct.h"

static void *allocate(void *user, size_t count, size_t size) {
  return tsi_malloc(user, count ? count : 1, size);
}

static void release(void *user, void *block) {
  tsi_free(user, block);
}

static ts_status fail_singular(ts_context *context, int32_t row, const char *why) {
  return tsi_fail_at_row(
      context, tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "row %d %s: the matrix is singular", row, why),
      row);
}

/* ---- A method ---- */

typedef struct factoring {
  ts_context *context;
  const tsi_direct_module *module;
  tsi_direct_matrix A;
  double most;
  const tsi_direct_method *method;
  void *factors;
  tsi_direct_finding found;
} factoring;

static ts_status fail(const factoring *f, tsi_direct_fault fault) {
  ts_context *context = f->context;
  const int32_t row = f->found.row, *offsets = f->A.rows.offsets;
  switch (fault) {
  case TSI_DIRECT_NO_MEMORY:
    return tsi_out_of_memory(context, "the factors of a matrix",
                             (size_t)(f->found.entries * (sizeof(int32_t) + sizeof(double))));
  case TSI_DIRECT_TOO_LARGE:
    return tsi_fail(context, TS_ERROR_LIMIT, "the factors of the matrix have more than %d entries", INT32_MAX);
  case TSI_DIRECT_NO_MATCHING:
    return fail_singular(context, row,
                         offsets[row] == offsets[row + 1] ? "has no nonzero entry"
                                                          : "has entries only in columns that other rows need");
  case TSI_DIRECT_ZERO_PIVOT:
    return fail_singular(context, row, "is a combination of others");
  default:
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "SuiteSparse cannot factor the matrix");
  }
}

static ts_status check_entries(const factoring *f) {
  if (f->found.entries <= f->most) return TS_OK;
  return tsi_fail(f->context, TS_ERROR_LIMIT,
                  "the factors would have about %.2g entries, more than max_factor_entries, which is %.2g",
                  f->found.entries, f->most);
}

static void drop_factors(factoring *f) {
  if (f->factors) f->method->release(f->factors);
  f->factors = NULL;
}

static int is_definite(const tsi_direct_matrix *A) {
  return A->is_symmetric && A->sign;
}

static ts_status analyse(factoring *f, const tsi_direct_method *method) {
  const tsi_direct_memory memory = {f->context, allocate, release};
  f->method = method;
  f->found = (tsi_direct_finding){.entries = (double)f->A.rows.offsets[f->A.rows.n]};
  const tsi_direct_fault fault = method->analyse(&memory, &f->A.rows, &f->factors, &f->found);
  return fault ? fail(f, fault) : check_entries(f);
}

static ts_status begin(factoring *f, const tsi_csr *A, const unsigned char *constrained) {
  TSI_TRY(tsi_direct_open(f->context, &f->module));
  TSI_TRY(tsi_direct_matrix_create(f->context, A, constrained, &f->A));
  TSI_TRY(tsi_poll(f->context));
  return analyse(f, is_definite(&f->A) ? f->module->cholesky : f->module->lu);
}

static void end(factoring *f) {
  drop_factors(f);
  tsi_direct_matrix_free(f->context, &f->A);
}

/* Negates a negative definite matrix for Cholesky. */
static void change_sign(tsi_direct_rows *rows) {
  for (int32_t e = 0; e < rows->offsets[rows->n]; e++) rows->values[e] = -rows->values[e];
}

static ts_status compute(factoring *f) {
  TSI_TRY(tsi_poll(f->context));
  const int negative = is_definite(&f->A) && f->A.sign < 0;
  if (negative) change_sign(&f->A.rows);
  tsi_direct_fault fault = f->method->factor(f->factors, &f->A.rows, &f->found);
  if (fault == TSI_DIRECT_NOT_POSITIVE) {
    if (negative) change_sign(&f->A.rows);
    drop_factors(f);
    TSI_TRY(analyse(f, f->module->lu));
    fault = f->method->factor(f->factors, &f->A.rows, &f->found);
  }
  return fault ? fail(f, fault) : TS_OK;
}

/* ---- Singular matrices: the last pivot is a rounding error ---- */

/* A number in 0.5 .. 1.5 or its negative, by a hash of k: no vector of an ordinary system is orthogonal to
 * these. */
static double arbitrary(uint32_t k) {
  uint32_t h = (k + 1) * 2654435769u;
  h = (h ^ h >> 15) * 2246822519u;
  h ^= h >> 13;
  const double size = 0.5 + ldexp((double)(h >> 1), -31);
  return h & 1 ? size : -size;
}

/* The norm of A^-1 v for an arbitrary v, as in inverse iteration. If one singular value sigma is much smaller
 * than the others, the norm is near 1 / sigma, because v has a component of about 1 along its vector. */
static ts_status measure_inverse(const factoring *f, double *norm) {
  const size_t n = (size_t)f->A.rows.n;
  double *v = tsi_malloc(f->context, n + 1, sizeof *v), squares = 0;
  if (!v) return tsi_out_of_memory(f->context, "the factors of a matrix", n * sizeof *v);
  for (size_t i = 0; i < n; i++) v[i] = arbitrary((uint32_t)i);
  f->method->solve(f->factors, v);
  for (size_t i = 0; i < n; i++) squares += v[i] * v[i];
  tsi_free(f->context, v);
  *norm = sqrt(squares);
  return TS_OK;
}

/* The scaled matrix has a norm near 1. If the norm of the inverse exceeds this limit, the factors are dominated
 * by rounding errors, and refinement cannot use them. */
static ts_status check_singular(const factoring *f) {
  const double largest = 0x1p49;
  double norm = 0;
  TSI_TRY(tsi_poll(f->context));
  TSI_TRY(measure_inverse(f, &norm));
  return norm < largest ? TS_OK
                        : fail_singular(f->context, f->found.row, "is a combination of others within rounding");
}

/* ---- Creation ---- */

static ts_status keep(factoring *f, tsi_direct **out) {
  tsi_direct *d = tsi_malloc(f->context, 1, sizeof *d);
  if (!d) return tsi_out_of_memory(f->context, "the factors of a matrix", sizeof *d);
  const int is_cholesky = f->method == f->module->cholesky;
  *d = (tsi_direct){.method = f->method,
                    .is_cholesky = is_cholesky,
                    .factors = f->factors,
                    .entries = f->found.entries,
                    .n = f->A.rows.n,
                    .sign = is_cholesky ? f->A.sign : 1,
                    .row_scale = f->A.row_scale,
                    .column_scale = f->A.column_scale};
  f->factors = NULL;
  f->A.row_scale = f->A.column_scale = NULL;
  *out = d;
  return TS_OK;
}

ts_status tsi_direct_create(ts_context *context, const tsi_csr *A, const unsigned char *constrained,
                            double most, tsi_direct **out) {
  factoring f = {.context = context, .most = most};
  *out = NULL;
  ts_status status = begin(&f, A, constrained);
  if (status == TS_OK) status = compute(&f);
  if (status == TS_OK) status = check_singular(&f);
  if (status == TS_OK) status = keep(&f, out);
  end(&f);
  return status;
}

ts_status tsi_direct_predict(ts_context *context, const tsi_csr *A, const unsigned char *constrained,
                             double *entries) {
  factoring f = {.context = context, .most = INFINITY};
  const ts_status status = begin(&f, A, constrained);
  *entries = f.found.entries;
  end(&f);
  return status;
}

void tsi_direct_solve(const tsi_direct *d, double *x) {
  for (int32_t i = 0; i < d->n; i++) x[i] *= d->row_scale[i];
  d->method->solve(d->factors, x);
  for (int32_t i = 0; i < d->n; i++) x[i] *= d->sign * d->column_scale[i];
}

void tsi_direct_destroy(ts_context *context, tsi_direct *d) {
  if (!d) return;
  d->method->release(d->factors);
  tsi_free(context, d->row_scale);
  tsi_free(context, d->column_scale);
  tsi_free(context, d);
}
