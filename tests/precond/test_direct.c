/* Direct solves of all kinds of systems in every precision, refined to the tolerance in a few steps. */
#include <math.h>
#include <stdlib.h>

#include "common/core/core.h"
#include "common/krylov/solver.h"
#include "common/precond/direct.h"
#include "direct_samples.h"

static ts_context *context;

/* Right-hand sides of about 2^exponent, times the units of the rows. */
static double *numbers(const direct_sample *s, int components, int exponent) {
  const int count = s->n * components;
  double *values = malloc((size_t)count * sizeof *values);
  for (int k = 0; k < count; k++)
    values[k] = ldexp(1 + 0.37 * ((k * 29) % 17), exponent + direct_row_exponent(s, k / components));
  return values;
}

static ts_vector *doubles_over(const ts_matrix *A, int components, const double *values) {
  ts_vector *v = NULL;
  const ts_vector_desc desc = {.components = components,
                               .precision = context->caps.pairs ? TS_PRECISION_DOUBLE : TS_PRECISION_SINGLE};
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &desc, &v));
  if (values)
    CHECK_OK(context, ts_vector_write(v, ts_host(values, (size_t)matrix_info(A).rows * (size_t)components)));
  return v;
}

/* Solves for `components` right-hand sides of about 2^exponent. Checks x, and that refinement takes at most
 * `most` steps. */
static void solve(ts_matrix *A, const direct_sample *s, int components, int exponent, const ts_solver_desc *how,
                  int most) {
  double *bs = numbers(s, components, exponent);
  ts_vector *b = doubles_over(A, components, bs), *x = doubles_over(A, components, NULL);
  ts_result result = {0};
  CHECK_OK(context, solve_vectors(A, b, x, how, &result));
  double *xs = read_doubles(x), *read = read_doubles(b);
  const double residual = direct_residual(s, components, xs, read);
  if (!CHECK(residual <= how->rtol)) printf("  residual %g\n", residual);
  if (!CHECK(result.iterations >= 1 && result.iterations <= most)) printf("  %d steps\n", result.iterations);
  free(bs), free(xs), free(read);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
}

/* Products with another number of components or parts, or in another format, need other shaders. */
static int compiles(void) {
  return test_is_gl() && test_is_brief();
}

static double tolerance(ts_precision precision) {
  return precision == TS_PRECISION_SINGLE || !context->caps.pairs ? 1e-4 : 1e-13;
}

static void solve_family(int family, int n, int as_floats) {
  direct_sample s = direct_make(family, n);
  if (as_floats || !context->caps.pairs) direct_round(&s);
  ts_matrix *A = direct_matrix(context, &s, as_floats);
  for (int p = TS_PRECISION_AUTO; p <= TS_PRECISION_DOUBLE; p++) {
    const int needs_double = family == DIRECT_UNITS;
    if ((needs_double || p > TS_PRECISION_SINGLE) && !context->caps.pairs) continue;
    if (compiles() && family > DIRECT_NEGATIVE && (p == TS_PRECISION_SINGLE || p == TS_PRECISION_MIXED))
      continue;
    if (needs_double && (p == TS_PRECISION_SINGLE || p == TS_PRECISION_MIXED)) continue;
    test_context_label("family %d, %d rows, %s, %s", family, n, as_floats ? "floats" : "doubles",
                       ts_precision_name((ts_precision)p));
    const ts_solver_desc how = {.preconditioner_kind = TS_PRECONDITIONER_DIRECT,
                                .precision = (ts_precision)p,
                                .rtol = tolerance((ts_precision)p)};
    solve(A, &s, 1, 0, &how, 3);
  }
  ts_matrix_destroy(&A);
  direct_free(&s);
}

static void families(void) {
  if (!direct_is_built()) return;
  for (int family = 0; family < DIRECT_FAMILIES; family++)
    for (int as_floats = 0; as_floats <= 1; as_floats++) {
      if (test_is_brief() && as_floats == family % 2) continue;
      solve_family(family, 50, as_floats);
      if (family != DIRECT_ZERO_DIAGONAL && family != DIRECT_RANDOM && family != DIRECT_UNITS)
        solve_family(family, 9, as_floats);
    }
  solve_family(DIRECT_POSITIVE, 1, 0);
  solve_family(DIRECT_PERMUTATION, 1, 1);
}

static void components(void) {
  if (!direct_is_built()) return;
  direct_sample s = direct_make(DIRECT_RANDOM, 50);
  if (!context->caps.pairs) direct_round(&s);
  for (int c = 1; c <= 4; c += compiles() ? 3 : 1) {
    test_context_label("%d components", c);
    ts_matrix *A = direct_matrix(context, &s, 0);
    const ts_solver_desc how = {.preconditioner_kind = TS_PRECONDITIONER_DIRECT,
                                .rtol = tolerance(TS_PRECISION_AUTO)};
    if (c <= most_components(matrix_info(A).format)) solve(A, &s, c, 0, &how, 3);
    ts_matrix_destroy(&A);
  }
  direct_free(&s);
}

/* x is near 1 or near the end of the range of doubles. */
static void scales(void) {
  if (!direct_is_built() || !context->caps.pairs) return;
  const int exponents[][2] = {{990, 990}, {-990, -990}, {990, 10}, {-490, 490}, {0, -900}};
  for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++)
    for (int family = DIRECT_POSITIVE; family <= DIRECT_UNITS; family += DIRECT_UNITS) {
      if (family == DIRECT_UNITS && k > 1) continue;
      test_context_label("family %d, A 2^%d, b 2^%d", family, exponents[k][0], exponents[k][1]);
      direct_sample s = direct_make(family, 20);
      direct_scale(&s, exponents[k][0]);
      ts_matrix *A = direct_matrix(context, &s, 0);
      const ts_solver_desc how = {.preconditioner_kind = TS_PRECONDITIONER_DIRECT, .rtol = 1e-12};
      solve(A, &s, 1, exponents[k][1], &how, 3);
      ts_matrix_destroy(&A);
      direct_free(&s);
    }
}

/* ---- Reported properties ---- */

static void check_kind(int family, const char *factors, int symmetric) {
  test_context_label("family %d", family);
  direct_sample s = direct_make(family, 30);
  ts_matrix *A = direct_matrix(context, &s, 0);
  ts_preconditioner *M = make_preconditioner(A, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_DIRECT});
  ts_solver *solver = NULL;
  const ts_preconditioner_info info = preconditioner_info(M);
  CHECK(info.kind == TS_PRECONDITIONER_DIRECT);
  CHECK_CONTAINS(info.factors, factors);
  CHECK_INT(info.symmetric, symmetric);
  CHECK(info.factor_entries >= 30 && info.factor_entries <= 900);
  CHECK(info.products > 0 && info.operations > 0);
  CHECK_OK(context, ts_solver_create(A, &(ts_solver_desc){.preconditioner = M}, &solver));
  if (solver) CHECK_CONTAINS(solver->method->name, "richardson");
  ts_solver_destroy(&solver);
  if (symmetric)
    CHECK_OK(context,
             ts_solver_create(A, &(ts_solver_desc){.method = TS_METHOD_CG, .preconditioner = M}, &solver));
  else
    CHECK_FAILS(context,
                ts_solver_create(A, &(ts_solver_desc){.method = TS_METHOD_CG, .preconditioner = M}, &solver),
                TS_ERROR_INVALID_ARGUMENT, "direct", "symmetric and positive definite");
  ts_solver_destroy(&solver);
  const ts_solver_desc gmres = {
      .method = TS_METHOD_GMRES, .preconditioner = M, .rtol = tolerance(TS_PRECISION_AUTO)};
  if (context->caps.pairs) solve(A, &s, 1, 0, &gmres, 6);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  direct_free(&s);
}

static void kinds(void) {
  if (!direct_is_built()) return;
  check_kind(DIRECT_POSITIVE, "LDL^T", 1);
  check_kind(DIRECT_NEGATIVE, "LDL^T", 1);
  check_kind(DIRECT_INDEFINITE, "LU", 0);
  check_kind(DIRECT_KKT, "LU", 0);
  check_kind(DIRECT_RANDOM, "LU", 0);
}

/* The ordering depends on the pattern only, so a prediction for Cholesky is exact. */
static void prediction(void) {
  if (!direct_is_built()) return;
  direct_sample s = direct_make(DIRECT_POSITIVE, 60);
  const tsi_csr csr = {s.n, s.n, s.offsets, s.columns, NULL, s.values};
  double predicted = 0;
  tsi_direct *d = NULL;
  CHECK_OK(context, tsi_direct_predict(context, &csr, NULL, &predicted));
  CHECK_OK(context, tsi_direct_create(context, &csr, NULL, 1e6, &d));
  if (d) CHECK(d->entries == predicted && predicted > 60);
  tsi_direct_destroy(context, d);
  direct_free(&s);
}

/* Constrained rows are rows of the identity, and their columns are omitted. */
static void constrained(void) {
  if (!direct_is_built()) return;
  const unsigned char flags[] = {0, 1, 0};
  const int32_t offsets[] = {0, 3, 3, 6}, columns[] = {0, 1, 2, 0, 1, 2};
  const double values[] = {2, 5, 1, 1, 7, 3};
  const tsi_csr csr = {3, 3, offsets, columns, NULL, values};
  double x[] = {4, 9, 7};
  tsi_direct *d = NULL;
  CHECK_OK(context, tsi_direct_create(context, &csr, flags, 1e6, &d));
  if (d) tsi_direct_solve(d, x);
  CHECK_CLOSE(x[0], 1, 1e-14);
  CHECK_CLOSE(x[1], 9, 1e-14);
  CHECK_CLOSE(x[2], 2, 1e-14);
  if (d) CHECK(d->is_cholesky);
  tsi_direct_destroy(context, d);
}

/* ---- New values ---- */

static void apply_and_check(ts_matrix *A, ts_preconditioner *M, const direct_sample *s, int exponent) {
  double *rs = numbers(s, 1, exponent);
  ts_vector *r = doubles_over(A, 1, rs), *z = doubles_over(A, 1, NULL);
  CHECK_OK(context, ts_preconditioner_apply(M, z, r));
  double *zs = read_doubles(z), *read = read_doubles(r);
  CHECK(direct_residual(s, 1, zs, read) <= 1e-5);
  free(rs), free(zs), free(read);
  ts_vector_destroy(&r);
  ts_vector_destroy(&z);
}

static void set_values(ts_matrix *A, const direct_sample *s) {
  const double *values = s->values;
  const ts_csr csr = ts_host_csr(s->n, s->n, s->offsets, s->columns, values);
  CHECK_OK(context, ts_matrix_set_values(A, &csr));
}

/* If an update fails, M is unchanged. */
static void updates(void) {
  if (!direct_is_built()) return;
  direct_sample s = direct_make(DIRECT_POSITIVE, 40);
  direct_round(&s);
  ts_matrix *A = direct_matrix(context, &s, 0);
  ts_preconditioner *M = make_preconditioner(A, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_DIRECT});
  apply_and_check(A, M, &s, 0);
  direct_sample other = direct_make(DIRECT_POSITIVE, 40);
  for (int32_t e = 0; e < other.offsets[40]; e++) other.values[e] = (e % 5 + 1) * (double)other.floats[e];
  for (int i = 0; i < 40; i++)
    for (int32_t e = other.offsets[i]; e < other.offsets[i + 1]; e++)
      other.dense[i * 40 + other.columns[e]] = other.values[e];
  set_values(A, &other);
  apply_and_check(A, M, &s, 0);
  CHECK_OK(context, ts_preconditioner_update(M));
  apply_and_check(A, M, &other, 0);
  CHECK_CONTAINS(preconditioner_info(M).factors, "LU");
  for (int32_t e = s.offsets[5]; e < s.offsets[6]; e++) s.values[e] = 0;
  set_values(A, &s);
  CHECK_FAILS(context, ts_preconditioner_update(M), TS_ERROR_INVALID_ARGUMENT, "row 5", "singular");
  apply_and_check(A, M, &other, 0);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  direct_free(&s);
  direct_free(&other);
}

/* A matrix over several processes would first have to be gathered in one process. */
static void ranks(void) {
  if (!test_is_ranks()) return;
  direct_is_built();
  direct_sample s = direct_make(DIRECT_POSITIVE, 20);
  ts_matrix *A = direct_matrix(context, &s, 0);
  ts_preconditioner *M = NULL;
  CHECK_FAILS(context,
              ts_preconditioner_create(A, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_DIRECT}, &M),
              TS_ERROR_UNSUPPORTED, "several processes");
  CHECK(!M);
  ts_matrix_destroy(&A);
  direct_free(&s);
}

TEST_MAIN(CASES_IN_CONTEXT(families, components, scales, kinds, prediction, constrained, updates, ranks))
