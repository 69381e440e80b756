/* The set-up of algebraic multigrid of unsymmetric matrices on the host. Its bits depend neither on the number
 * of threads nor on whether patterns already existed. Further tests are for the smoothers' polynomials, the
 * last level's inverse, and failing allocations. */
#include <math.h>

#include "heap.h"

#include "common/precond/amg/amg.h"

static const ts_amg_desc defaults = {
    .strength = 0.15, .visits = 2, .max_levels = 30, .coarsest = 40, .unknowns = 1};

static tsi_amg_csr view(const ref_matrix *m) {
  return (tsi_amg_csr){m->rows, m->columns, m->offsets, m->indices, m->values};
}

static ts_context *open_threads(int threads) {
  const ts_context_desc desc = {.backend = "cpu", .threads = threads};
  ts_context *context = NULL;
  CHECK_OK(NULL, ts_context_create(&desc, &context));
  return context;
}

static void check_at_most(int line, double number, double limit) {
  if (!(number <= limit)) test_fail(__FILE__, line, "%g, expected at most %g", number, limit);
}
#define CHECK_AT_MOST(number, limit) check_at_most(__LINE__, number, limit)

/* ---- Hierarchies ---- */

static int same(const tsi_amg_csr *a, const tsi_amg_csr *b) {
  if (!a->offsets || !b->offsets) return !a->offsets && !b->offsets;
  const size_t rows = (size_t)a->rows + 1, entries = (size_t)a->offsets[a->rows];
  return a->rows == b->rows && !memcmp(a->offsets, b->offsets, rows * sizeof *a->offsets) &&
         !memcmp(a->indices, b->indices, entries * sizeof *a->indices) &&
         !memcmp(a->values, b->values, entries * sizeof *a->values);
}

static void check_same(const tsi_amg_host *a, const tsi_amg_host *b) {
  if (!CHECK_INT(a->levels, b->levels)) return;
  for (int l = 0; l < a->levels; l++) {
    const tsi_amg_host_level *x = &a->level[l], *y = &b->level[l];
    CHECK(same(&x->A, &y->A) && same(&x->P, &y->P) && same(&x->R, &y->R));
    CHECK(x->eigenvalue == y->eigenvalue);
    CHECK_INT(x->polynomial.degree, y->polynomial.degree);
    for (int k = 0; k < x->polynomial.degree; k++)
      CHECK(x->polynomial.steps[k].alpha == y->polynomial.steps[k].alpha &&
            x->polynomial.steps[k].beta == y->polynomial.steps[k].beta);
  }
  const size_t n = (size_t)a->level[a->levels - 1].A.rows;
  if (CHECK(a->inverse && b->inverse)) CHECK(!memcmp(a->inverse, b->inverse, n * n * sizeof(float)));
}

static void same_bits(void) {
  ref_matrix m = ref_convection(41, 37, 10);
  const tsi_amg_csr A = view(&m);
  ts_context *one = open_threads(1);
  tsi_amg_host first;
  REQUIRE_OK(one, tsi_amg_setup_unsymmetric(one, &defaults, &A, 0, &first));
  CHECK(first.levels > 2);
  for (int threads = 2; threads < 8; threads += 3) {
    ts_context *context = open_threads(threads);
    tsi_amg_host host;
    REQUIRE_OK(context, tsi_amg_setup_unsymmetric(context, &defaults, &A, 0, &host));
    check_same(&first, &host);
    CHECK_OK(context, tsi_amg_setup_unsymmetric(context, &defaults, &A, 1, &host));
    check_same(&first, &host);
    tsi_amg_host_free(context, &host);
    test_close(&context);
  }
  tsi_amg_host_free(one, &first);
  test_close(&one);
  ref_free(&m);
}

/* R of A is -P^T of A^T, and vice versa. */
static void transposed(void) {
  ref_matrix m = ref_convection(20, 17, 10), t = ref_transpose(&m);
  const tsi_amg_csr A = view(&m), B = view(&t);
  ts_context *context = open_threads(2);
  tsi_amg_host one, other;
  REQUIRE_OK(context, tsi_amg_setup_unsymmetric(context, &defaults, &A, 0, &one));
  REQUIRE_OK(context, tsi_amg_setup_unsymmetric(context, &defaults, &B, 0, &other));
  tsi_amg_csr of_other = {0}, of_one = {0};
  CHECK_OK(context, tsi_amg_transpose(context, &other.level[0].P, &of_other));
  CHECK(same(&one.level[0].R, &of_other));
  CHECK_OK(context, tsi_amg_transpose(context, &one.level[0].P, &of_one));
  CHECK(same(&other.level[0].R, &of_one));
  CHECK(!same(&one.level[0].R, &of_one));
  tsi_amg_csr_free(context, &of_other), tsi_amg_csr_free(context, &of_one);
  tsi_amg_host_free(context, &one), tsi_amg_host_free(context, &other);
  test_close(&context);
  ref_free(&m), ref_free(&t);
}

/* ---- Polynomials ---- */

/* The fraction of the noise that remains after the steps r = r - alpha D^-1 A d. The polynomial was fitted to
 * this noise. */
static double left_of_noise(const ref_matrix *m, const tsi_amg_polynomial *polynomial) {
  const size_t n = (size_t)m->rows;
  double *r = calloc(3 * n, sizeof *r), *d = r + n, *product = d + n, before = 0, after = 0;
  for (size_t i = 0; i < n; i++) {
    r[i] = (double)tsi_amg_noise((uint32_t)i);
    before += r[i] * r[i];
  }
  for (int k = 0; k < polynomial->degree; k++) {
    for (size_t i = 0; i < n; i++) d[i] = r[i] + polynomial->steps[k].beta * d[i];
    for (size_t i = 0; i < n; i++) {
      double diagonal = 1;
      product[i] = 0;
      for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++) {
        product[i] += (double)m->values[e] * d[m->indices[e]];
        if (m->indices[e] == (int32_t)i) diagonal = (double)m->values[e];
      }
      product[i] /= diagonal;
    }
    for (size_t i = 0; i < n; i++) r[i] -= polynomial->steps[k].alpha * product[i];
  }
  for (size_t i = 0; i < n; i++) after += r[i] * r[i];
  free(r);
  return sqrt(after / before);
}

/* The polynomial of each degree is optimal: a higher degree never leaves more noise, and degree 16 leaves
 * little. */
static void polynomials(void) {
  ref_matrix matrices[] = {ref_convection(40, 30, 10), ref_convection(40, 30, 0), ref_shifted_skew(900, 0.3f)};
  static const double at_most[] = {0.1, 0.12, 0.07};
  ts_context *context = open_threads(2);
  for (int k = 0; k < 3; k++) {
    const tsi_amg_csr A = view(&matrices[k]);
    double before = 1;
    for (int degree = 1; degree <= 16; degree++) {
      tsi_amg_polynomial p = {0};
      CHECK_OK(context, tsi_amg_make_polynomial(context, &A, degree, &p));
      CHECK(p.degree <= degree);
      test_context_label("matrix %d, degree %d, made %d", k, degree, p.degree);
      const double left = left_of_noise(&matrices[k], &p);
      CHECK_AT_MOST(left, 1.001 * before);
      before = left;
    }
    CHECK_AT_MOST(before, at_most[k]);
    tsi_amg_polynomial chosen = {0};
    CHECK_OK(context, tsi_amg_make_polynomial(context, &A, 0, &chosen));
    CHECK(chosen.degree >= 4 && chosen.degree < 16);
    CHECK_AT_MOST(left_of_noise(&matrices[k], &chosen), 0.201);
    ref_free(&matrices[k]);
  }
  test_context_label("%s", "");
  test_close(&context);
}

/* For D^-1 A = I, GMRES ends after one step. A matrix without a diagonal cannot be smoothed. */
static void short_polynomials(void) {
  ref_matrix diagonal = ref_diagonal(50, 1, 9), shift = ref_cyclic_shift(50);
  ts_context *context = open_threads(1);
  const tsi_amg_csr A = view(&diagonal), B = view(&shift);
  tsi_amg_polynomial p = {0};
  CHECK_OK(context, tsi_amg_make_polynomial(context, &A, 0, &p));
  CHECK_INT(p.degree, 1);
  CHECK_CLOSE(p.steps[0].alpha, 1, 1e-6);
  CHECK_OK(context, tsi_amg_make_polynomial(context, &B, 0, &p));
  CHECK_INT(p.degree, 1);
  CHECK(isfinite(p.steps[0].alpha));
  ref_free(&diagonal), ref_free(&shift);
  test_close(&context);
}

/* ---- The last level ---- */

static void inverse(void) {
  ref_matrix matrices[] = {ref_convection(17, 13, 30), ref_cyclic_shift(61), ref_dense(67, 67, 23),
                           ref_diagonal(1, 3, 3)};
  ts_context *context = open_threads(3);
  for (int k = 0; k < 4; k++) {
    const tsi_amg_csr A = view(&matrices[k]);
    float *X = NULL;
    test_context_label("matrix %d", k);
    REQUIRE_OK(context, tsi_amg_invert_unsymmetric(context, &A, &X));
    double worst = 0;
    for (int32_t i = 0; i < A.rows; i++)
      for (int32_t j = 0; j < A.rows; j++) {
        double sum = i == j ? -1 : 0;
        for (int32_t e = A.offsets[i]; e < A.offsets[i + 1]; e++)
          sum += (double)A.values[e] * (double)X[A.indices[e] * A.rows + j];
        worst = fmax(worst, fabs(sum));
      }
    CHECK_AT_MOST(worst, 1e-4);
    tsi_free(context, X);
    ref_free(&matrices[k]);
  }
  test_context_label("%s", "");
  test_close(&context);
}

static void memory_runs_out(void) {
  const ts_context_desc desc = {.backend = "cpu", .threads = 2, .allocator = heap_allocator()};
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  const long live = memory.live;
  ref_matrix m = ref_convection(19, 17, 10);
  const tsi_amg_csr A = view(&m);
  tsi_amg_host host, fresh;
  FAIL_EACH_USE(context, tsi_amg_setup_unsymmetric(context, &defaults, &A, 0, &host));
  FAIL_EACH_USE(context, tsi_amg_setup_unsymmetric(context, &defaults, &A, 1, &host));
  CHECK_OK(context, tsi_amg_setup_unsymmetric(context, &defaults, &A, 0, &fresh));
  check_same(&host, &fresh);
  tsi_amg_host_free(context, &host);
  tsi_amg_host_free(context, &fresh);
  CHECK_INT(memory.live, live);
  ref_free(&m);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

TEST_MAIN_ON_HOST(CASES(same_bits, transposed, polynomials, short_polynomials, inverse, memory_runs_out))
