/* Krylov methods for unsymmetric matrices. The result is checked by the true residual, computed here in double
 * precision. */
#include <math.h>

#include "krylov_solve.h"

static ts_context *context;
static ts_method method;
static ts_format formats[8];
static int format_count;

/* The side of a grid. The number of iterations is about the number of its points. */
static int32_t side(int32_t n) {
  return test_is_brief() ? n / 3 : n;
}

/* The restart of GMRES. An iteration launches as many kernels as its cycle has vectors, so a brief run uses a
 * short cycle. */
static int restart(void) {
  return test_is_brief() && method == TS_METHOD_GMRES ? 8 : 0;
}

/* A solve from 0 that must converge in the true residual: to 1e-5, or to 1e-3 in a brief run. */
static void solve_and_check(const ref_matrix *m, ts_matrix *matrix, const ts_solver_desc *desc, int components,
                            const float *given) {
  const size_t count = (size_t)m->rows * (size_t)components;
  float *bs = ref_values(count, 41, -1, 1), *xs = calloc(count, sizeof *xs);
  if (given) memcpy(bs, given, count * sizeof *bs);
  ts_result result;
  watch w = {0};
  ts_solver_desc own = desc ? *desc : (ts_solver_desc){0};
  const double rtol = test_is_brief() ? 1e-3 : 1e-5;
  own.rtol = rtol;
  if (!own.restart) own.restart = restart();
  own.progress = observe;
  own.progress_user = &w;
  const ts_status status = krylov_solve(method, matrix, &own, components, bs, xs, &result);
  const double residual = ref_worst_residual(m, NULL, components, xs, bs);
  if (status != TS_OK || result.reason != TS_REASON_CONVERGED || !(residual <= 1.05 * rtol))
    test_fail(__FILE__, __LINE__, "true residual %.3g after %d iterations (it says %.3g; \"%s\")", residual,
              result.iterations, result.relative_residual, result.message);
  CHECK_CLOSE(result.rounded_residual, residual, 0.2 * residual + 4 * result.attainable_residual + 1e-7);
  CHECK(result.iterations >= 1 && result.iterations <= own.max_iterations + 10 * m->rows + 1000);
  CHECK(result.host_synchronisations >= w.calls);
  CHECK_INT(w.out_of_order, 0);
  CHECK(w.last_iteration <= result.iterations);
  CHECK_CONTAINS(result.message, "converged");
  free(bs), free(xs);
}

/* From diffusion to convection, with a random right-hand side and with a smooth one. */
static void convection(void) {
  static const float peclets[] = {0.1f, 1, 10, 100};
  for (int k = 0; k < 4; k++) {
    ref_matrix m = ref_convection(side(17), side(13), peclets[k]);
    float *ones = malloc((size_t)m.rows * sizeof *ones);
    for (int32_t i = 0; i < m.rows; i++) ones[i] = 1;
    for (int f = 0; f < format_count; f++) {
      if (test_is_brief() && k != f % 4) continue;
      ts_matrix *matrix = make_matrix(context, &m, formats[f]);
      for (int kind = 0; kind < 2; kind++)
        for (int components = 1; components <= most_components(formats[f]); components++) {
          if ((kind + components + k + f) % 4) continue;
          const ts_solver_desc desc = {.preconditioner_kind =
                                           kind ? TS_PRECONDITIONER_NONE : TS_PRECONDITIONER_JACOBI};
          test_context_label("%s, Peclet %g, %s, %s, %d components", ts_method_name(method), (double)peclets[k],
                             ts_format_name(formats[f]), kind ? "none" : "jacobi", components);
          solve_and_check(&m, matrix, &desc, components, NULL);
          if (!test_is_brief() || components == 1) solve_and_check(&m, matrix, &desc, 1, ones);
        }
      ts_matrix_destroy(&matrix);
    }
    free(ones);
    ref_free(&m);
  }
}

/* Random patterns, symmetric matrices, one unknown. */
static void samples(void) {
  struct {
    const char *name;
    ref_matrix matrix;
  } all[] = {{"dominant", ref_random_dominant(test_is_brief() ? 111 : 911, 9, 3)},
             {"skewed grid", ref_skewed_grid(side(23), side(19))},
             {"laplacian", ref_laplacian_3d(test_is_brief() ? 5 : 9)},
             {"indefinite", ref_indefinite(9, 7)},
             {"one row", ref_diagonal(1, 3, 3)},
             {"two rows", ref_random_dominant(2, 3, 9)},
             {"diagonal", ref_diagonal(300, 0.01f, 100)}};
  /* With a shorter cycle the indefinite matrix takes hundreds of iterations. */
  const ts_solver_desc desc = {.restart = method == TS_METHOD_GMRES ? 30 : 0};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    ts_matrix *matrix = make_matrix(context, &all[k].matrix, TS_FORMAT_AUTO);
    for (int components = 1; components <= 4; components += 3) {
      if (test_is_brief() && (components / 4 + k) % 2) continue;
      test_context_label("%s, %s, %d components", ts_method_name(method), all[k].name, components);
      solve_and_check(&all[k].matrix, matrix, &desc, components, NULL);
    }
    ts_matrix_destroy(&matrix);
    ref_free(&all[k].matrix);
  }
}

/* In exact arithmetic n iterations solve a system of n unknowns. Rounding may add one. */
static void few_unknowns(void) {
  for (int32_t n = 1; n <= 8; n++) {
    ref_matrix m = ref_random_dominant(n, 5, (uint64_t)n + 5);
    ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
    float *bs = ref_values((size_t)n, 3, 0.5f, 1), xs[8] = {0};
    const ts_solver_desc desc = {.check_interval = 1, .rtol = 1e-4};
    ts_result result;
    test_context_label("%s, %d unknowns", ts_method_name(method), n);
    CHECK_OK(context, krylov_solve(method, matrix, &desc, 1, bs, xs, &result));
    if (result.iterations > n + 1) test_fail(__FILE__, __LINE__, "%d iterations", result.iterations);
    CHECK(ref_relative_residual(&m, NULL, 1, 0, xs, bs) <= 1.05e-4);
    free(bs);
    ts_matrix_destroy(&matrix);
    ref_free(&m);
  }
}

/* Constrained unknowns keep their values, and the others solve the equations with these values. */
static void constrained(void) {
  const int32_t nx = side(31), ny = side(23), n = nx * ny;
  ref_matrix m = ref_convection(nx, ny, 3);
  unsigned char *flags = calloc((size_t)n, 1);
  for (int32_t i = 0; i < n; i++) flags[i] = i % nx == 0 || i % nx == nx - 1;
  for (int f = 0; f < format_count; f++) {
    const int components = most_components(formats[f]) < 3 ? 1 : 3;
    const size_t count = (size_t)n * (size_t)components;
    float *bs = ref_values(count, 6, -1, 1), *xs = ref_values(count, 7, -1, 1),
          *start = ref_values(count, 7, -1, 1);
    for (size_t i = 0; i < count; i++)
      if (flags[i / (size_t)components]) bs[i] = 1e6f; /* a constrained row, so b must be ignored */
    const ts_matrix_desc desc = {.csr = ref_csr(&m), .format = formats[f], .constrained = flags};
    ts_matrix *matrix = NULL;
    test_context_label("%s, %s, %d components", ts_method_name(method), ts_format_name(formats[f]), components);
    if (CHECK_OK(context, ts_matrix_create(context, &desc, &matrix))) {
      ts_result result;
      const ts_solver_desc own = {.restart = restart()};
      CHECK_OK(context, krylov_solve(method, matrix, &own, components, bs, xs, &result));
      CHECK(ref_worst_residual(&m, flags, components, xs, bs) <= 1.05e-5);
      for (size_t i = 0; i < count; i++)
        if (flags[i / (size_t)components] && !CHECK(xs[i] == start[i])) break;
    }
    ts_matrix_destroy(&matrix);
    free(bs), free(xs), free(start);
  }
  free(flags);
  ref_free(&m);
}

/* Right-hand sides and matrices are solved even if their squares are outside the range of single precision. */
static void scaling(void) {
  static const float factors[] = {1e-20f, 1e20f, 1e-30f, 1e30f};
  const ts_solver_desc desc = {.restart = restart()};
  float xs[600];
  ts_result result;
  for (int k = test_is_brief() ? 2 : 0; k < 6; k++) { /* the last factors are more extreme */
    ref_matrix m = ref_convection(side(30), side(20), 1);
    float *bs = ref_values(600, 15, -1, 1);
    for (int i = 0; i < 600 && k < 4; i++) bs[i] *= factors[k];
    for (int64_t i = 0; i < ref_nonzeros(&m) && k >= 4; i++) m.values[i] *= k == 4 ? 1e12f : 1e-12f;
    ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
    memset(xs, 0, sizeof xs);
    test_context_label("%s, %s", ts_method_name(method), k < 4 ? "b scaled" : "A scaled");
    CHECK_OK(context, krylov_solve(method, matrix, &desc, 1, bs, xs, &result));
    CHECK(ref_relative_residual(&m, NULL, 1, 0, xs, bs) <= 1.05e-5);
    free(bs);
    ts_matrix_destroy(&matrix);
    ref_free(&m);
  }
}

/* Each component has its own coefficients: a component that is solved, or is much larger, does not disturb the
 * others. */
static void components_apart(void) {
  ref_matrix m = ref_convection(side(30), side(20), 1);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  float bs[600 * 4], xs[600 * 4] = {0};
  float *values = ref_values(600 * 4, 16, -1, 1);
  static const float factors[4] = {1, 0, 1e15f, 1e-15f};
  for (int i = 0; i < 2400; i++) bs[i] = factors[i % 4] * values[i];
  ts_result result;
  test_context_label("%s", ts_method_name(method));
  CHECK_OK(context, krylov_solve(method, matrix, NULL, 4, bs, xs, &result));
  CHECK(ref_worst_residual(&m, NULL, 4, xs, bs) <= 1.05e-5);
  for (int i = 0; i < 600; i++)
    if (!CHECK(xs[4 * i + 1] == 0)) break;
  free(values);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* BiCGSTAB's residual grows here, and stays above that of x = 0 for more iterations than there are unknowns.
 * Only on the CPU, which sums in double precision. */
static void slow_start(void) {
  if (!strstr(test_backend, "cpu") || method != TS_METHOD_BICGSTAB) return;
  ref_matrix m = ref_shifted_skew(1000, 0.1F);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  float ones[1000], xs[1000] = {0};
  for (int i = 0; i < 1000; i++) ones[i] = 1;
  ts_result result;
  const ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI};
  CHECK_OK(context, krylov_solve(method, matrix, &desc, 1, ones, xs, &result));
  CHECK(ref_worst_residual(&m, NULL, 1, xs, ones) <= 1.05e-5);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* A start near the solution needs fewer iterations, and one at the solution none. With zero_start the content
 * of x is ignored. */
static void starts(void) {
  ref_matrix m = ref_convection(side(30), side(20), 1);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t n = (size_t)m.rows;
  float *bs = ref_values(n, 4, -1, 1), *xs = calloc(n, sizeof *xs), *again = calloc(n, sizeof *again);
  const ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI, .check_interval = 1},
                       zero = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI,
                               .check_interval = 1,
                               .zero_start = 1};
  ts_result cold, warm, solved, from_zero;
  test_context_label("%s", ts_method_name(method));
  CHECK_OK(context, krylov_solve(method, matrix, &desc, 1, bs, xs, &cold));
  for (size_t i = 0; i < n; i++) again[i] = xs[i] * (1 + 1e-3f * (float)(i % 3));
  CHECK_OK(context, krylov_solve(method, matrix, &desc, 1, bs, again, &warm));
  CHECK(warm.iterations < cold.iterations);
  memcpy(again, xs, n * sizeof *xs);
  CHECK_OK(context, krylov_solve(method, matrix, &desc, 1, bs, again, &solved));
  CHECK_INT(solved.iterations, 0);
  CHECK_INT(solved.reason, TS_REASON_CONVERGED);
  CHECK(memcmp(again, xs, n * sizeof *xs) == 0);
  again[3] = NAN;
  CHECK_OK(context, krylov_solve(method, matrix, &zero, 1, bs, again, &from_zero));
  CHECK(memcmp(again, xs, n * sizeof *xs) == 0);
  free(bs), free(xs), free(again);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* One solver for several solves, with other numbers of components and new values of the matrix. */
static void solver_is_reused(void) {
  ref_matrix m = ref_convection(side(25), side(25), 1);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  ts_solver *solver = NULL;
  REQUIRE_OK(context, create_solver(matrix, method, NULL, &solver));
  ts_space *space = ts_matrix_get_row_space(matrix);
  for (int round = 0; round < 6; round++) {
    const int components = 1 + round % 3;
    const size_t count = 625 * (size_t)components;
    float *bs = ref_values(count, (uint64_t)round + 50, -1, 1);
    ts_vector *b = make_vector(space, components, bs), *x = make_vector(space, components, NULL);
    test_context_label("%s, round %d", ts_method_name(method), round);
    if (round == 3) {
      for (int64_t k = 0; k < ref_nonzeros(&m); k++) m.values[k] *= 3;
      const ts_csr csr = ref_csr(&m);
      CHECK_OK(context, ts_matrix_set_values(matrix, &csr));
    }
    if (round == 4) ts_matrix_destroy(&matrix); /* the solver keeps a reference */
    CHECK_OK(context, ts_solver_solve(solver, b, x, NULL));
    float *xs = read_vector(x);
    CHECK(ref_worst_residual(&m, NULL, components, xs, bs) <= 1.05e-5);
    free(xs), free(bs);
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
  }
  ts_solver_destroy(&solver);
  ref_free(&m);
}

static int choose_method(int round) {
  method = krylov_methods[round];
  format_count = list_formats(context, formats);
  return 1;
}

static const test_fixture fixture = {.context = &context, .rounds = KRYLOV_METHODS, .setup = choose_method};

TEST_MAIN(CASES_WITH(&fixture, convection, samples, few_unknowns, constrained, scaling, components_apart,
                     starts, slow_start, solver_is_reused))
