/* GMRES when the Krylov space ends early: matrices with few distinct eigenvalues, of every size from 1 to 20,
 * with every restart and precision. All of them are well-conditioned and must be solved. */
#include "common/core/core.h"
#include "small_system.h"

static ts_context *context;

enum { MOST = 20 };

static const double rtol_of[] = {[TS_PRECISION_AUTO] = 1e-11,
                                 [TS_PRECISION_SINGLE] = 1e-5,
                                 [TS_PRECISION_MIXED] = 1e-8,
                                 [TS_PRECISION_DOUBLE] = 1e-12};

/* A diagonal with repeating eigenvalues; a full symmetric matrix with the same ones; I plus a skew part with
 * few eigenvalues; a tridiagonal matrix with a symmetric b. */
enum { DIAGONAL, FULL, SKEW, TRIDIAGONAL, KINDS };
static const char *const kinds[] = {"diagonal", "full", "skew", "tridiagonal"};

static small_system make(int kind, int n, int distinct) {
  double values[MOST];
  ref_random r = {(uint64_t)(100 * n + distinct)};
  for (int i = 0; i < n; i++) values[i] = 1 + 1.7 * (i % distinct);
  small_system s = small_random(n, values, 1, kind == FULL ? 3 : 0, &r);
  for (int i = 0; i < n; i++) {
    if (distinct % 2 == 0) s.b[i] = i < n / 2 ? 1 : -1;
    if (kind == SKEW) {
      s.a[i * n + i] = 1.1;
      if (i % 2) s.a[i * n + i - 1] = 0.3 * (i / 2 % distinct + 1);
      if (i % 2) s.a[(i - 1) * n + i] = -0.3 * (i / 2 % distinct + 1);
    }
    if (kind != TRIDIAGONAL) continue;
    s.a[i * n + i] = 2 + 0.1 * distinct;
    if (i) s.a[i * n + i - 1] = s.a[(i - 1) * n + i] = -1;
    s.b[i] = 1;
  }
  return s;
}

/* On a software rasterizer small systems run a part of the combinations, and every second large one runs
 * one. */
static void check(const small_system *s, const char *name, int distinct, int number) {
  static const int restarts[] = {0, 1, 2, 3, MOST};
  const int all = test_is_cpu() && !test_is_ranks() && !test_is_brief();
  const int step = all ? 1 : s->n <= 8 ? 5 : 20;
  if (step == 20 && (s->n + distinct + number) % 2) return;
  for (int k = 7 * number % step; k < 20; k += step) {
    const int precision = k % 4;
    const ts_solver_desc desc = {.method = TS_METHOD_GMRES,
                                 .precision = (ts_precision)precision,
                                 .preconditioner_kind =
                                     number % 3 ? TS_PRECONDITIONER_NONE : TS_PRECONDITIONER_JACOBI,
                                 .restart = restarts[k / 4],
                                 .rtol = rtol_of[precision],
                                 .zero_start = k % 3 == 0};
    test_context_label("%s of %d unknowns, %d distinct, %s, restart %d", name, s->n, distinct,
                       ts_precision_name(desc.precision), desc.restart);
    const small_outcome outcome = small_solve(context, s, &desc);
    small_check_honest(&outcome, &desc);
    CHECK_INT(outcome.status, TS_OK);
  }
}

static void few_eigenvalues(void) {
  int number = 0;
  if (context->caps.pairs)
    for (int n = 1; n <= MOST; n++)
      for (int distinct = 1; distinct <= 4 && distinct <= n; distinct++)
        for (int kind = 0; kind < KINDS; kind++) {
          small_system s = make(kind, n, distinct);
          check(&s, kinds[kind], distinct, number++);
          small_free(&s);
        }
}

/* Components with Krylov spaces that end at different columns, also with fixed iterations. */
static void components(void) {
  enum { N = 8, COMPONENTS = 3 };
  ref_matrix m = ref_diagonal(N, 1, 4);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  double b[N * COMPONENTS] = {0}, found[N * COMPONENTS];
  for (int i = 0; i < N; i++) {
    b[i * COMPONENTS] = i == 3;
    b[i * COMPONENTS + 1] = i % 4 == 1;
    b[i * COMPONENTS + 2] = 1;
  }
  for (int precision = TS_PRECISION_AUTO; A && context->caps.pairs && precision <= TS_PRECISION_DOUBLE;
       precision++)
    for (int fixed = 0; fixed < 2; fixed++) {
      if (fixed && precision == TS_PRECISION_MIXED) continue;
      const double rtol = fixed && precision != TS_PRECISION_DOUBLE ? 1e-5 : rtol_of[precision];
      const ts_solver_desc desc = {.method = TS_METHOD_GMRES,
                                   .precision = (ts_precision)precision,
                                   .preconditioner_kind = TS_PRECONDITIONER_NONE,
                                   .fixed_iterations = fixed ? 3 * N : 0,
                                   .rtol = fixed ? 0 : rtol};
      const ts_vector_desc vector = {.components = COMPONENTS, .precision = TS_PRECISION_DOUBLE};
      ts_vector *right = NULL, *x = NULL;
      test_context_label("%s, fixed %d", ts_precision_name(desc.precision), fixed);
      CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &right));
      CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &vector, &x));
      CHECK_OK(context, ts_vector_write(right, ts_host(b, N * COMPONENTS)));
      CHECK_OK(context, solve_vectors(A, right, x, &desc, NULL));
      CHECK_OK(context, ts_vector_read(x, ts_host(found, N * COMPONENTS)));
      for (int k = 0; k < N * COMPONENTS; k++)
        CHECK_CLOSE(found[k] * (double)m.values[k / COMPONENTS], b[k], 3 * rtol);
      ts_vector_destroy(&x);
      ts_vector_destroy(&right);
    }
  test_context_label("%s", "");
  ts_matrix_destroy(&A);
  ref_free(&m);
}

TEST_MAIN(CASES_IN_CONTEXT(few_eigenvalues, components))
