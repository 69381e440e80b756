/* Direct solves that are impossible: singular matrices, limits, failing allocations, a missing module. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef TEXSOLVE_TEST_DIRECT
#include <SuiteSparse_config.h>
#endif

#include "common/core/core.h"
#include "direct_samples.h"
#include "heap.h"

static ts_context *context;

static const ts_preconditioner_desc direct = {.kind = TS_PRECONDITIONER_DIRECT};

/* ---- Singular matrices ---- */

static void check_singular(direct_sample s, int row, const char *why) {
  char name[32];
  ts_matrix *A = direct_matrix(context, &s, 0);
  ts_preconditioner *M = NULL;
  snprintf(name, sizeof name, "row %d ", row);
  CHECK_FAILS(context, ts_preconditioner_create(A, &direct, &M), TS_ERROR_INVALID_ARGUMENT,
              row < 0 ? "row " : name, why, "the matrix is singular");
  const int64_t found = ts_last_error_row(context);
  CHECK(row < 0 ? found >= 0 && found < s.n : found == row);
  CHECK(!M);
  ts_matrix_destroy(&A);
  direct_free(&s);
}

static direct_sample sample(int n, const double *values) {
  const size_t count = (size_t)n * (size_t)n;
  double *dense = malloc(count * sizeof *dense);
  memcpy(dense, values, count * sizeof *dense);
  return direct_of(n, dense);
}

/* The graph Laplacian of a grid with arbitrary weights. Its null space contains the constants. */
static direct_sample neumann(int side) {
  const int n = side * side;
  double *a = calloc((size_t)n * (size_t)n, sizeof *a);
  for (int i = 0; i < n; i++)
    for (int d = 0; d < 2; d++) {
      const int j = i + (d ? side : 1);
      const double weight = 1 / (3.0 + (i * 7 + d) % 11);
      if (d ? i / side == side - 1 : i % side == side - 1) continue;
      a[i * n + j] = a[j * n + i] = -weight;
      a[i * n + i] += weight;
      a[j * n + j] += weight;
    }
  return direct_of(n, a);
}

static void singular(void) {
  if (!direct_is_built()) return;
  direct_sample s = direct_make(DIRECT_RANDOM, 30);
  for (int j = 0; j < 30; j++) s.dense[11 * 30 + j] = 0;
  check_singular(direct_of(30, s.dense), 11, "no nonzero entry");
  s.dense = NULL;
  direct_free(&s);
  check_singular(sample(3, (const double[]){1, 0, 0, 2, 0, 0, 4, 0, 1}), -1, "only in columns that other rows");
  check_singular(sample(3, (const double[]){1, 2, 0, 2, 4, 0, 0, 0, 1}), -1, "combination of others");
  check_singular(sample(2, (const double[]){1, -1, -1, 1}), -1, "combination of others");
  if (!context->caps.pairs) return; /* rounded to floats these are not singular */
  check_singular(sample(3, (const double[]){0.1, 0.3, 0, 0.3, 0.9, 0.7, 0.4, 1.2, 0.7}), -1, "combination");
  check_singular(neumann(20), -1, "within rounding");
}

/* A large condition number must not cause a refusal. */
static void nearly_singular(void) {
  if (!direct_is_built() || !context->caps.pairs) return;
  enum { n = 9 };
  double *a = calloc((size_t)n * n, sizeof *a), bs[n];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i * n + j] = 1.0 / (i + j + 1);
  direct_sample s = direct_of(n, a);
  for (int i = 0; i < n; i++) bs[i] = i + 1;
  ts_matrix *A = direct_matrix(context, &s, 0);
  const ts_vector_desc desc = {.precision = TS_PRECISION_DOUBLE};
  ts_vector *b = NULL, *x = NULL;
  ts_result result = {0};
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &desc, &b));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &desc, &x));
  CHECK_OK(context, ts_vector_write(b, HOST(bs)));
  CHECK_OK(context,
           solve_vectors(A, b, x,
                         &(ts_solver_desc){.preconditioner_kind = TS_PRECONDITIONER_DIRECT, .rtol = 1e-8},
                         &result));
  CHECK(result.iterations <= 3);
  double *xs = read_doubles(x);
  CHECK(direct_residual(&s, 1, xs, bs) <= 1e-8);
  free(xs);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&A);
  direct_free(&s);
}

/* ---- Limits and arguments ---- */

static void limits(void) {
  if (!direct_is_built()) return;
  direct_sample s = direct_make(DIRECT_POSITIVE, 30);
  ts_matrix *A = direct_matrix(context, &s, 0);
  ts_preconditioner *M = NULL;
  ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_DIRECT, .max_factor_entries = 31};
  CHECK_FAILS(context, ts_preconditioner_create(A, &desc, &M), TS_ERROR_LIMIT, "entries",
              "max_factor_entries, which is 31");
  const double bad[] = {-1, NAN, INFINITY};
  for (int k = 0; k < 3; k++) {
    desc.max_factor_entries = bad[k];
    CHECK_FAILS(context, ts_preconditioner_create(A, &desc, &M), TS_ERROR_INVALID_ARGUMENT,
                "max_factor_entries is ");
  }
  desc = (ts_preconditioner_desc){.kind = TS_PRECONDITIONER_JACOBI, .max_factor_entries = 5};
  CHECK_FAILS(context, ts_preconditioner_create(A, &desc, &M), TS_ERROR_INVALID_ARGUMENT, "max_factor_entries",
              "jacobi");
  CHECK(!M);
  ts_matrix_destroy(&A);
  direct_free(&s);
}

/* ---- No module ---- */

static void absent(void) {
  direct_sample s = direct_make(DIRECT_POSITIVE, 5);
  ts_matrix *A = direct_matrix(context, &s, 0);
  ts_preconditioner *M = NULL;
  const int built = direct_is_built();
  const char *const paths[] = {"/nowhere/texsolve-direct.so", "", "/etc/passwd"};
  for (int k = 0; k < 3; k++) {
    direct_hide(paths[k]);
    CHECK_FAILS(context, ts_preconditioner_create(A, &direct, &M), TS_ERROR_UNAVAILABLE,
                built ? "texsolve-direct.so" : "libsuitesparse-dev");
    CHECK(!M);
    CHECK(!ts_direct_libraries());
    CHECK_CONTAINS(ts_last_error(NULL), built ? "texsolve-direct.so" : "libsuitesparse-dev");
  }
  if (direct_is_built()) {
    const char *libraries = ts_direct_libraries();
    if (CHECK(libraries != NULL)) CHECK_CONTAINS(libraries, "KLU");
  }
  ts_matrix_destroy(&A);
  direct_free(&s);
}

/* ---- No memory ---- */

static void host_memory(void) {
  if (!direct_is_built()) return;
  const ts_context_desc desc = heap_desc();
  ts_context *own = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &own));
  const int tried[] = {DIRECT_POSITIVE, DIRECT_INDEFINITE, DIRECT_RANDOM};
  for (int k = 0; k < 3; k++) {
    direct_sample s = direct_make(tried[k], 20);
    ts_matrix *A = direct_matrix(own, &s, 0);
    ts_preconditioner *M = NULL;
    FAIL_EACH_CREATION(own, M, ts_preconditioner_create(A, &direct, &M));
    FAIL_EACH_USE(own, ts_preconditioner_update(M));
    ts_vector *r = make_vector(ts_matrix_get_row_space(A), 1, NULL),
              *z = make_vector(ts_matrix_get_row_space(A), 1, NULL);
    FAIL_EACH_USE(own, ts_preconditioner_apply(M, z, r));
    ts_vector_destroy(&r);
    ts_vector_destroy(&z);
    ts_preconditioner_destroy(&M);
    ts_matrix_destroy(&A);
    direct_free(&s);
  }
  test_close(&own);
  CHECK_INT(memory.live, 0);
}

#ifdef TEXSOLVE_TEST_DIRECT

static long allocations; /* the number of SuiteSparse's allocations that still succeed */

static void *fail_malloc(size_t size) {
  return allocations-- > 0 ? malloc(size) : NULL;
}

static void *fail_realloc(void *block, size_t size) {
  return allocations-- > 0 ? realloc(block, size) : NULL;
}

static void set_allocator(void *(*allocate)(size_t), void *(*reallocate)(void *, size_t)) {
#if SUITESPARSE_MAIN_VERSION >= 7
  SuiteSparse_config_malloc_func_set(allocate);
  SuiteSparse_config_realloc_func_set(reallocate);
#else
  SuiteSparse_config.malloc_func = allocate;
  SuiteSparse_config.realloc_func = reallocate;
#endif
}

/* Allocations of SuiteSparse. */
static void library_memory(void) {
  direct_is_built();
  const int tried[] = {DIRECT_POSITIVE, DIRECT_RANDOM};
  for (int k = 0; k < 2; k++) {
    direct_sample s = direct_make(tried[k], 20);
    ts_matrix *A = direct_matrix(context, &s, 0);
    ts_preconditioner *M = NULL;
    long n = 0;
    for (; n < 200 && !M; n++) {
      test_context_label("family %d, allocation %ld", tried[k], n);
      allocations = n;
      set_allocator(fail_malloc, fail_realloc);
      const ts_status status = ts_preconditioner_create(A, &direct, &M);
      set_allocator(malloc, realloc);
      if (status < 0 && !CHECK_INT(status, TS_ERROR_OUT_OF_HOST_MEMORY)) break;
    }
    CHECK(M && n > 1);
    ts_preconditioner_destroy(&M);
    ts_matrix_destroy(&A);
    direct_free(&s);
  }
}

#else
static void library_memory(void) {}
#endif

TEST_MAIN(CASES_IN_CONTEXT(singular, nearly_singular, limits, absent, library_memory), CASES(host_memory))
