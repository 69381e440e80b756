/* Digits of b, A and x beyond floats and doubles affect the result of a solve, in every precision. The systems
 * have a solution in floats that is exact except for these digits, or an x that is not representable in
 * doubles. */
#include "common/core/core.h"
#include "small_system.h"

static ts_context *context;

static const ts_method methods[] = {TS_METHOD_CG, TS_METHOD_GMRES, TS_METHOD_IDR, TS_METHOD_BICGSTAB,
                                    TS_METHOD_RICHARDSON};
enum { METHODS = sizeof methods / sizeof *methods };

/* Solves one system in every precision, for several tolerances, from both starts. */
static void check_everywhere(const small_system *s, const char *name) {
  static const double rtols[] = {1e-5, 1e-9, 1e-13};
  for (int k = 0; k < METHODS * 4 * 3 * 2; k++) {
    const int precision = k / METHODS % 4, wanted = k / METHODS / 4 % 3, zero_start = k / METHODS / 12;
    const ts_solver_desc desc = {.method = methods[k % METHODS],
                                 .precision = (ts_precision)precision,
                                 .zero_start = zero_start,
                                 .rtol = rtols[wanted]};
    test_context_label("%s, %d unknowns, %s, %s, %g, zero_start %d", name, s->n, ts_method_name(desc.method),
                       ts_precision_name(desc.precision), desc.rtol, zero_start);
    const small_outcome outcome = small_solve(context, s, &desc);
    if (!small_check_honest(&outcome, &desc)) return;
    if (precision != TS_PRECISION_SINGLE && !CHECK_INT(outcome.status, TS_OK)) return;
  }
}

/* A diagonal of powers of two: x is b with shifted exponents, and A^-1 is exact in floats. */
static void powers_of_two(void) {
  for (int n = 1; n <= 5; n += n == 1 ? 1 : 3) {
    small_system s = small_create(n);
    for (int i = 0; i < n; i++) {
      s.a[i * n + i] = ldexp(1, i % 5 - 2);
      s.b[i] = 0.1 * (i + 1);
    }
    check_everywhere(&s, "powers of two");
    small_free(&s);
  }
}

/* b is exact in floats, but the matrix is not. */
static void matrix_digits(void) {
  for (int n = 1; n <= 5; n += n == 1 ? 1 : 3) {
    small_system s = small_create(n);
    for (int i = 0; i < n; i++) {
      s.a[i * n + i] = ldexp(1 + 0x1p-30, i % 5 - 2);
      s.b[i] = i + 1;
    }
    check_everywhere(&s, "digits of A");
    small_free(&s);
  }
}

/* x is 1e9 times as large as b, so its rounding to doubles leaves a residual of about 1e-7. No x that can be
 * read reaches 1e-11, but 1e-5 can be reached. */
static void digits_of_x(void) {
  for (int n = 2; n <= 8; n++) {
    double values[8];
    ref_random r = {(uint64_t)n};
    for (int i = 0; i < n; i++) values[i] = i ? 1 : 1e-9;
    small_system s = small_random(n, values, 1, 4, &r);
    for (int k = 0; k < 3 * 3; k++) {
      const ts_solver_desc desc = {.method = methods[k % 3],
                                   .rtol = k / 3 == 0   ? 1e-5
                                           : k / 3 == 1 ? 1e-7
                                                        : 1e-11,
                                   .zero_start = 1};
      test_context_label("%d unknowns, %s, %g", n, ts_method_name(desc.method), desc.rtol);
      const small_outcome outcome = small_solve(context, &s, &desc);
      small_check_honest(&outcome, &desc);
      if (k / 3 == 0) CHECK_INT(outcome.status, TS_OK);
      if (k / 3 == 2) {
        CHECK_INT(outcome.result.reason, TS_REASON_STAGNATED);
        CHECK_CONTAINS(outcome.result.message, "double");
      }
    }
    small_free(&s);
  }
}

/* The start is wrong only in digits that single precision does not have. It must not be accepted as the
 * solution. */
static void start(void) {
  const double b[2] = {3, 5}, x_start[2] = {3 + 0x1p-24, 5 + 0x1p-23};
  const float ones[2] = {1, 1};
  const int32_t offsets[] = {0, 1, 2}, indices[] = {0, 1};
  const ts_matrix_desc matrix = {.csr = ts_host_csr(2, 2, offsets, indices, ones)};
  const ts_vector_desc doubles = {.precision = TS_PRECISION_DOUBLE};
  ts_matrix *A = NULL;
  ts_vector *right = NULL, *x = NULL;
  CHECK_OK(context, ts_matrix_create(context, &matrix, &A));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &doubles, &right));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &doubles, &x));
  CHECK_OK(context, ts_vector_write(right, ts_host(b, 2)));
  for (int precision = TS_PRECISION_AUTO; precision <= TS_PRECISION_DOUBLE; precision++) {
    const ts_solver_desc desc = {.precision = (ts_precision)precision, .rtol = 1e-12};
    double found[2] = {0};
    test_context_label("%s", ts_precision_name(desc.precision));
    CHECK_OK(context, ts_vector_write(x, ts_host(x_start, 2)));
    CHECK_OK(context, solve_vectors(A, right, x, &desc, NULL));
    CHECK_OK(context, ts_vector_read(x, ts_host(found, 2)));
    CHECK_CLOSE(found[0], 3, 1e-11);
    CHECK_CLOSE(found[1], 5, 1e-11);
  }
  ts_vector_destroy(&x);
  ts_vector_destroy(&right);
  ts_matrix_destroy(&A);
}

static const test_fixture fixture = {.context = &context, .needs_pairs = 1};

TEST_MAIN(CASES_WITH(&fixture, powers_of_two, matrix_digits, digits_of_x, start))
