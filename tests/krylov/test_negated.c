/* Matrices with a negative diagonal are stored negated, which is invisible to the user: products, copies and
 * preconditioners have the user's signs. The solution with -A is that with A with the opposite sign, bit for
 * bit. */
#include <texsolve/solver.h>

#include "common/core/backend.h"
#include "helpers.h"

static ts_context *context;

enum { NX = 23, NY = 17, N = NX * NY };

/* A and -A. */
typedef struct both {
  ref_matrix plain, negative;
  ts_matrix *A, *B;
} both;

static ref_matrix negated(ref_matrix m) {
  const size_t entries = (size_t)m.offsets[m.rows];
  float *values = malloc(entries * sizeof *values);
  for (size_t e = 0; e < entries; e++) values[e] = -m.values[e];
  m.values = values;
  return m;
}

static ts_matrix *make_with_copy(const ref_matrix *m) {
  ts_matrix *A = NULL;
  CHECK_OK(context, ts_matrix_create(context, &(ts_matrix_desc){.csr = ref_csr(m), .keep_host_copy = 1}, &A));
  return A;
}

static both make(int is_symmetric) {
  both two = {.plain = is_symmetric ? ref_grid(NX, NY) : ref_skewed_grid(NX, NY)};
  two.negative = negated(two.plain);
  two.A = make_with_copy(&two.plain);
  two.B = make_with_copy(&two.negative);
  return two;
}

static void destroy(both *two) {
  ts_matrix_destroy(&two->A);
  ts_matrix_destroy(&two->B);
  free(two->negative.values);
  ref_free(&two->plain);
}

static void check_opposite(const double *a, const double *b, const char *what) {
  for (int i = 0; i < N; i++)
    if (a[i] != -b[i]) {
      test_fail(__FILE__, __LINE__, "%s: row %d has %.17g and %.17g", what, i, a[i], b[i]);
      return;
    }
}

static ts_vector *vector_of(const ts_matrix *A, const double *values) {
  ts_vector *v = NULL;
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), NULL, &v));
  if (values) CHECK_OK(context, ts_vector_write(v, ts_host(values, N)));
  return v;
}

static void products(void) {
  double *xs = ref_doubles(N, 3, -1, 1), *bs = ref_doubles(N, 4, -1, 1), ys[2][N];
  for (int is_symmetric = 0; is_symmetric < 2; is_symmetric++) {
    both two = make(is_symmetric);
    ts_matrix *const matrices[2] = {two.A, two.B};
    enum { PRODUCT, TRANSPOSED, DIAGONAL, OPERATIONS };
    static const char *const names[] = {"product", "transposed product", "diagonal"};
    for (int operation = 0; operation < OPERATIONS; operation++) {
      for (int k = 0; k < 2; k++) {
        ts_vector *x = vector_of(matrices[k], xs), *y = vector_of(matrices[k], NULL);
        CHECK_OK(context, operation == PRODUCT      ? ts_matrix_multiply(y, matrices[k], x)
                          : operation == TRANSPOSED ? ts_matrix_multiply_transposed(y, matrices[k], x)
                                                    : ts_matrix_diagonal(y, matrices[k]));
        CHECK_OK(context, ts_vector_read(y, ts_host(ys[k], N)));
        ts_vector_destroy(&x), ts_vector_destroy(&y);
      }
      check_opposite(ys[0], ys[1], names[operation]);
      CHECK(ys[0][0] != 0);
    }
    for (int k = 0; k < 2; k++) { /* b - A x and -b + A x */
      double b[N];
      for (int i = 0; i < N; i++) b[i] = k ? -bs[i] : bs[i];
      ts_vector *x = vector_of(matrices[k], xs), *y = vector_of(matrices[k], NULL),
                *right = vector_of(matrices[k], b);
      CHECK_OK(context, ts_matrix_residual(y, right, matrices[k], x));
      CHECK_OK(context, ts_vector_read(y, ts_host(ys[k], N)));
      ts_vector_destroy(&x), ts_vector_destroy(&y), ts_vector_destroy(&right);
    }
    check_opposite(ys[0], ys[1], "residual");
    destroy(&two);
  }
  free(xs), free(bs);
}

static void facts_reported(void) {
  both two = make(1);
  ts_csr copy;
  CHECK_INT(matrix_info(two.A).negative_diagonal, 0);
  CHECK_INT(matrix_info(two.B).negative_diagonal, 1);
  if (CHECK_OK(context, ts_matrix_get_host_copy(two.B, &copy)))
    for (int32_t e = 0; e < two.negative.offsets[N]; e++)
      if (!CHECK(((const float *)copy.values.data)[e] == two.negative.values[e])) break;
  destroy(&two);
}

/* Solves A x = b from x0, or the negated system from -x0, and returns the result. */
static ts_result solve(ts_matrix *A, int is_negative, const ts_solver_desc *desc, double *xs) {
  double *bs = ref_doubles(N, 5, -1, 1), *starts = ref_doubles(N, 6, -1, 1);
  if (is_negative)
    for (int i = 0; i < N; i++) starts[i] = -starts[i];
  memcpy(xs, starts, N * sizeof *xs);
  ts_result result = {0};
  CHECK(ts_solve(A, ts_host(bs, N), ts_host(xs, N), desc, &result) >= 0);
  free(bs), free(starts);
  return result;
}

static void check_solve(ts_matrix *A, ts_matrix *B, const ts_solver_desc *of_A, const ts_solver_desc *of_B) {
  double xs[2][N];
  const ts_result a = solve(A, 0, of_A, xs[0]), b = solve(B, 1, of_B, xs[1]);
  CHECK_INT(b.reason, a.reason);
  CHECK_INT(b.method, a.method);
  CHECK_INT(b.iterations, a.iterations);
  CHECK(b.relative_residual == a.relative_residual);
  CHECK_INT(a.reason, TS_REASON_CONVERGED);
  check_opposite(xs[0], xs[1], ts_method_name(a.method));
}

static void methods(void) {
  static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_NONE, TS_PRECONDITIONER_JACOBI,
                                                 TS_PRECONDITIONER_AUTO, TS_PRECONDITIONER_ISAI,
                                                 TS_PRECONDITIONER_AMG};
  for (int is_symmetric = 0; is_symmetric < 2; is_symmetric++) {
    both two = make(is_symmetric);
    for (int method = TS_METHOD_AUTO; ts_method_name((ts_method)method); method++)
      for (int k = 0; k < 5; k++)
        for (int precision = TS_PRECISION_AUTO; precision <= TS_PRECISION_DOUBLE; precision++) {
          const int is_least = method == TS_METHOD_CGLS || method == TS_METHOD_LSMR,
                    needs_symmetry = method == TS_METHOD_CG || method == TS_METHOD_MINRES;
          if (precision > TS_PRECISION_SINGLE && !context->caps.pairs) continue;
          if ((needs_symmetry && !is_symmetric) || (is_least && kinds[k] > TS_PRECONDITIONER_JACOBI)) continue;
          if (method == TS_METHOD_RICHARDSON && kinds[k] != TS_PRECONDITIONER_AMG) continue;
          if (test_is_brief() && (method + k + precision) % 3) continue;
          const ts_solver_desc desc = {.method = (ts_method)method,
                                       .preconditioner_kind = kinds[k],
                                       .precision = (ts_precision)precision,
                                       .rtol = is_least ? 1e-2 : 1e-4,
                                       .max_iterations = 3000};
          test_context_label("%s, %s, %s", ts_method_name(desc.method), ts_preconditioner_kind_name(kinds[k]),
                             ts_precision_name(desc.precision));
          check_solve(two.A, two.B, &desc, &desc);
        }
    destroy(&two);
  }
}

/* M^-1 = 2 / diagonal in the user's numbers. If M is declared symmetric and positive definite, its magnitude is
 * used. */
static ts_status apply(void *user, ts_vector *z, const ts_vector *r) {
  return ts_vector_multiply(z, user, r);
}

static ts_preconditioner *custom(const both *two, ts_matrix *A, int symmetric, ts_vector **inverse) {
  double inverses[N];
  for (int32_t i = 0; i < N; i++)
    for (int32_t e = two->plain.offsets[i]; e < two->plain.offsets[i + 1]; e++)
      if (two->plain.indices[e] == i)
        inverses[i] = (A == two->B && !symmetric ? -2 : 2) / (double)two->plain.values[e];
  *inverse = vector_of(A, inverses);
  ts_preconditioner *M = NULL;
  CHECK_OK(context, ts_preconditioner_create(A,
                                             &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_CUSTOM,
                                                                       .apply = apply,
                                                                       .symmetric = symmetric,
                                                                       .user = *inverse},
                                             &M));
  return M;
}

static void preconditioners(void) {
  static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_JACOBI, TS_PRECONDITIONER_ISAI,
                                                 TS_PRECONDITIONER_AMG, TS_PRECONDITIONER_ILU};
  both two = make(1);
  for (int k = 0; k < 4; k++) {
    const ts_preconditioner_desc of = {.kind = kinds[k]};
    ts_preconditioner *M = NULL, *W = NULL;
    test_context_label("%s", ts_preconditioner_kind_name(kinds[k]));
    CHECK_OK(context, ts_preconditioner_create(two.A, &of, &M));
    CHECK_OK(context, ts_preconditioner_create(two.B, &of, &W));
    double *rs = ref_doubles(N, 8, -1, 1), zs[2][N];
    for (int b = 0; b < 2; b++) {
      ts_vector *r = vector_of(b ? two.B : two.A, rs), *z = vector_of(b ? two.B : two.A, NULL);
      CHECK_OK(context, ts_preconditioner_apply(b ? W : M, z, r));
      CHECK_OK(context, ts_vector_read(z, ts_host(zs[b], N)));
      ts_vector_destroy(&r), ts_vector_destroy(&z);
    }
    check_opposite(zs[0], zs[1], "z");
    free(rs);
    ts_preconditioner_destroy(&M), ts_preconditioner_destroy(&W);
  }
  test_context_label("custom");
  static const ts_method methods[] = {TS_METHOD_BICGSTAB, TS_METHOD_GMRES, TS_METHOD_IDR, TS_METHOD_CG,
                                      TS_METHOD_MINRES};
  for (int k = 0; k < 7; k++) {
    const int symmetric = k > 2;
    ts_vector *inverses[2];
    ts_preconditioner *M = custom(&two, two.A, symmetric, &inverses[0]),
                      *W = custom(&two, two.B, symmetric, &inverses[1]);
    const ts_solver_desc of_A = {.method = methods[k % 5], .preconditioner = M, .rtol = 1e-4},
                         of_B = {.method = methods[k % 5], .preconditioner = W, .rtol = 1e-4};
    check_solve(two.A, two.B, &of_A, &of_B);
    ts_preconditioner_destroy(&M), ts_preconditioner_destroy(&W);
    ts_vector_destroy(&inverses[0]), ts_vector_destroy(&inverses[1]);
  }
  destroy(&two);
}

/* New values with the opposite sign, and back. */
static void values_change_sign(void) {
  both two = make(1);
  const ts_csr plain = ref_csr(&two.plain), negative = ref_csr(&two.negative);
  const ts_solver_desc desc = {.rtol = 1e-4};
  for (int turn = 0; turn < 2; turn++) {
    CHECK_OK(context, ts_matrix_set_values(two.A, turn ? &plain : &negative));
    CHECK_OK(context, ts_matrix_set_values(two.B, turn ? &negative : &plain));
    check_solve(turn ? two.A : two.B, turn ? two.B : two.A, &desc, &desc);
  }
  destroy(&two);
}

/* If one diagonal entry has another sign or is missing, the matrix is stored unchanged. */
static void not_all_negative(void) {
  both two = make(1);
  for (int32_t e = two.negative.offsets[N - 1]; e < two.negative.offsets[N]; e++)
    if (two.negative.indices[e] == N - 1) two.negative.values[e] = 1;
  const ts_csr csr = ref_csr(&two.negative);
  CHECK_OK(context, ts_matrix_set_values(two.B, &csr));
  CHECK_INT(two.B->negated, 0);
  CHECK_INT(matrix_info(two.B).negative_diagonal, 1);
  double xs[N];
  ts_result result = solve(two.B, 1, &(ts_solver_desc){.rtol = 1e-4}, xs);
  CHECK_INT(result.method, TS_METHOD_MINRES);
  CHECK_INT(result.reason, TS_REASON_CONVERGED);
  destroy(&two);
}

TEST_MAIN(CASES_IN_CONTEXT(products, facts_reported, methods, preconditioners, values_change_sign,
                           not_all_negative))
