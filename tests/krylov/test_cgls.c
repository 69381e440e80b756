/* CGLS: min ||A x - b|| for matrices that are not square. Checked by A^T (b - A x) in double precision, and by
 * a dense solution of the normal equations. */
#include <texsolve/solver.h>

#include "common/core/core.h"
#include "krylov_solve.h"
#include "dense.h"

static ts_context *context;

/* A and its transpose over the same two spaces. */
typedef struct pair {
  ref_matrix reference, transposed_reference;
  ts_matrix *matrix, *transposed;
} pair;

static pair make_pair(ref_matrix m, ts_format format) {
  pair p = {.reference = m, .transposed_reference = ref_transpose(&m)};
  p.matrix = make_matrix(context, &m, format);
  if (!p.matrix) return p;
  const ts_matrix_desc desc = {.csr = ref_csr(&p.transposed_reference),
                               .format = format,
                               .row_space = ts_matrix_get_column_space(p.matrix),
                               .column_space = ts_matrix_get_row_space(p.matrix),
                               .keep_host_copy = 1};
  CHECK_OK(context, ts_matrix_create(context, &desc, &p.transposed));
  return p;
}

static void free_pair(pair *p) {
  ts_matrix_destroy(&p->matrix);
  ts_matrix_destroy(&p->transposed);
  ref_free(&p->reference);
  ref_free(&p->transposed_reference);
}

/* A tall matrix of full rank, with rows of different lengths. */
static ref_matrix tall(int32_t rows, int32_t columns, uint64_t seed) {
  ref_matrix m = ref_uneven_rows(rows, columns, 9, seed);
  /* One third of the columns are larger, which Jacobi compensates. */
  for (int64_t k = 0; k < ref_nonzeros(&m); k++)
    if (m.indices[k] % 3 == 0) m.values[k] *= 30;
  return m;
}

/* The largest component of ||A^T (b - A x)|| / ||A^T b||. */
static double gradient(const pair *p, int components, const float *bs, const float *xs) {
  const ref_matrix *m = &p->reference, *t = &p->transposed_reference;
  double worst = 0, *ax = malloc((size_t)m->rows * (size_t)components * sizeof *ax);
  ref_spmv(m, NULL, components, xs, ax, NULL);
  for (int c = 0; c < components; c++) {
    double above = 0, below = 0;
    for (int32_t j = 0; j < t->rows; j++) {
      double s = 0, sb = 0;
      for (int32_t k = t->offsets[j]; k < t->offsets[j + 1]; k++) {
        const size_t i = (size_t)t->indices[k] * (size_t)components + (size_t)c;
        s += (double)t->values[k] * (bs[i] - ax[i]);
        sb += (double)t->values[k] * bs[i];
      }
      above += s * s;
      below += sb * sb;
    }
    const double ratio = below > 0 ? sqrt(above / below) : sqrt(above);
    if (!(ratio <= worst)) worst = ratio;
  }
  free(ax);
  return worst;
}

static ts_status solve_pair(const pair *p, const ts_solver_desc *desc, int components, const float *bs,
                            float *xs, ts_result *result) {
  ts_vector *b = make_vector(ts_matrix_get_row_space(p->matrix), components, bs),
            *x = make_vector(ts_matrix_get_column_space(p->matrix), components, xs);
  ts_solver *solver = NULL;
  ts_status status = create_cgls(p->matrix, p->transposed, desc, &solver);
  if (CHECK_OK(context, status)) {
    status = ts_solver_solve(solver, b, x, result);
    float *solution = read_vector(x), *after = read_vector(b);
    CHECK(memcmp(after, bs, vector_count(b) * sizeof *bs) == 0);
    memcpy(xs, solution, vector_count(x) * sizeof *xs);
    CHECK_PADDING(x);
    free(solution), free(after);
  }
  ts_solver_destroy(&solver);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  return status;
}

static void least_squares(void) {
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  for (int f = 0; f < format_count; f++)
    for (int kind = 0; kind < 2; kind++) {
      if (test_is_brief() && f > 0 && (f + kind) % 2) continue;
      const int32_t rows = test_is_brief() ? 160 : 400, columns = test_is_brief() ? 40 : 90;
      const int components = most_components(formats[f]) < 3 ? 1 : f == 0 ? 3 - kind : 1 + f % 4;
      const ts_solver_desc desc = {
          .preconditioner_kind = kind ? TS_PRECONDITIONER_NONE : TS_PRECONDITIONER_JACOBI, .rtol = 2e-5};
      pair p = make_pair(tall(rows, columns, 5), formats[f]);
      float *bs = ref_values(400 * 4, 8, -1, 1), xs[90 * 4] = {0};
      ts_result result;
      test_context_label("%s, %s, %d components", ts_format_name(formats[f]), kind ? "none" : "jacobi",
                         components);
      CHECK_OK(context, solve_pair(&p, &desc, components, bs, xs, &result));
      CHECK_INT(result.reason, TS_REASON_CONVERGED);
      const double measure = gradient(&p, components, bs, xs);
      CHECK(measure <= 2.1e-5);
      CHECK_CLOSE(result.relative_residual, measure, 0.3 * measure + 1e-6);
      CHECK(kind ? isnan(result.attainable_residual) : result.attainable_residual > 1e-17);
      double left = 0;
      for (int c = 0; c < components; c++)
        left = fmax(left, ref_relative_residual(&p.reference, NULL, components, c, xs, bs));
      CHECK_CLOSE(result.reduction, left, 1e-4 * left);
      free(bs);
      free_pair(&p);
    }
}

/* Equal to the dense solution of the normal equations, also for a square system that has an exact solution. */
static void dense_solution(void) {
  for (int kind = 0; kind < 2; kind++) {
    const int32_t n = 40, rows = kind ? n : 150;
    pair p = make_pair(kind ? ref_random_dominant(n, 5, 4) : tall(rows, n, 6), TS_FORMAT_AUTO);
    double *normal = calloc((size_t)n * (size_t)n, sizeof *normal), *right = calloc((size_t)n, sizeof *right);
    float *bs = ref_values((size_t)rows, 3, -1, 1), *xs = calloc((size_t)n, sizeof *xs);
    const ref_matrix *m = &p.reference;
    for (int32_t i = 0; i < rows; i++)
      for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
        right[m->indices[k]] += (double)m->values[k] * bs[i];
        for (int32_t l = m->offsets[i]; l < m->offsets[i + 1]; l++)
          normal[m->indices[k] * n + m->indices[l]] += (double)m->values[k] * m->values[l];
      }
    CHECK(dense_eliminate(n, 1, normal, right));
    ts_result result;
    const ts_solver_desc desc = {.rtol = 1e-6};
    test_context_label("kind %d", kind);
    CHECK_OK(context, solve_pair(&p, &desc, 1, bs, xs, &result));
    double error = 0, size = 0;
    for (int32_t j = 0; j < n; j++) {
      error = fmax(error, fabs(xs[j] - right[j]));
      size = fmax(size, fabs(right[j]));
    }
    if (!(error <= 1e-4 * size)) test_fail(__FILE__, __LINE__, "error %.3g of %.3g", error, size);
    if (kind) CHECK(result.reduction < 1e-4); /* b is reached */
    free(normal), free(right), free(bs), free(xs);
    free_pair(&p);
  }
}

/* More unknowns than equations: from 0 the solution is the shortest one, which is in the range of A^T. */
static void shortest_solution(void) {
  pair p = make_pair(ref_dense(7, 40, 3), TS_FORMAT_AUTO);
  float *bs = ref_values(7, 3, -1, 1), xs[40] = {0}, wanted[40];
  const ts_solver_desc desc = {.preconditioner_kind = TS_PRECONDITIONER_NONE, .rtol = 1e-5};
  ts_result result;
  CHECK_OK(context, solve_pair(&p, &desc, 1, bs, xs, &result));
  CHECK(result.reduction < 1e-4);
  /* A A^T y = b, x = A^T y. */
  double square[49] = {0}, y[7];
  const float *a = p.reference.values;
  for (int i = 0; i < 7; i++) {
    y[i] = bs[i];
    for (int j = 0; j < 7; j++)
      for (int k = 0; k < 40; k++) square[7 * i + j] += (double)a[40 * i + k] * a[40 * j + k];
  }
  CHECK(dense_eliminate(7, 1, square, y));
  for (int k = 0; k < 40; k++) {
    double x = 0;
    for (int i = 0; i < 7; i++) x += a[40 * i + k] * y[i];
    wanted[k] = (float)x;
    CHECK_CLOSE(xs[k], wanted[k], 1e-4);
  }
  free(bs);
  free_pair(&p);
}

static void reasons(void) {
  pair p = make_pair(tall(120, 30, 9), TS_FORMAT_AUTO);
  float *bs = ref_values(120, 3, -1, 1), xs[30] = {0}, zeros[120] = {0};
  ts_result result;
  CHECK_OK(context, solve_pair(&p, NULL, 1, zeros, xs, &result));
  CHECK_INT(result.reason, TS_REASON_ZERO_RESIDUAL);
  CHECK_INT(result.iterations, 0);
  CHECK_OK(context, solve_pair(&p, NULL, 1, bs, xs, &result));
  const int needed = result.iterations;
  float again[30];
  memcpy(again, xs, sizeof again);
  CHECK_OK(context, solve_pair(&p, NULL, 1, bs, again, &result));
  CHECK_INT(result.iterations, 0);
  CHECK(memcmp(again, xs, sizeof again) == 0);
  /* With zero_start the content of x is ignored. */
  const ts_solver_desc zero = {.zero_start = 1}, few = {.max_iterations = 2},
                       beyond = {.rtol = 1e-13, .precision = TS_PRECISION_SINGLE};
  again[2] = NAN;
  CHECK_INT(solve_pair(&p, NULL, 1, bs, again, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_NAN_INPUT);
  CHECK_CONTAINS(result.message, "starting value");
  CHECK_OK(context, solve_pair(&p, &zero, 1, bs, again, &result));
  CHECK_INT(result.iterations, needed);
  memset(xs, 0, sizeof xs);
  CHECK_INT(solve_pair(&p, &few, 1, bs, xs, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_MAX_ITERATIONS);
  CHECK_INT(result.iterations, 2);
  CHECK(result.relative_residual < 1 && result.relative_residual > 1e-5);
  CHECK_INT(solve_pair(&p, &beyond, 1, bs, xs, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_STAGNATED);
  CHECK(result.relative_residual < 1e-5 && result.iterations < 2000);
  bs[5] = INFINITY;
  CHECK_INT(solve_pair(&p, NULL, 1, bs, xs, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_NAN_INPUT);
  CHECK_CONTAINS(result.message, "right-hand side");
  bs[5] = 0;
  watch w = {.stop_at = 3};
  const ts_solver_desc stop = {.check_interval = 1, .zero_start = 1, .progress = observe, .progress_user = &w};
  CHECK_INT(solve_pair(&p, &stop, 1, bs, xs, &result), TS_NOT_CONVERGED);
  CHECK_INT(result.reason, TS_REASON_STOPPED);
  CHECK_INT(w.last_iteration, 3);
  CHECK_INT(w.out_of_order, 0);
  free(bs);
  free_pair(&p);
}

/* The identity plus 1 c^T, as in SciPy's tests. ||A^T r|| rises and falls by a factor of 50 from one iteration
 * to the next, which is no stagnation. Mixed precision cannot change to doubles as auto does: one of about 300
 * such systems stagnates, or oscillates until the iterations are used up. */
static void oscillating_gradients(void) {
  enum { N = 35 };
  static const ts_precision precisions[] = {TS_PRECISION_AUTO, TS_PRECISION_MIXED};
  int unsolved = 0;
  if (!context->caps.pairs) return;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    ref_matrix m = ref_dense(N, N, seed);
    float *c = ref_values(N, seed, -2, 12), *bs = ref_values(N, 100 + seed, -2, 2);
    for (int32_t k = 0; k < N * N; k++) m.values[k] = c[m.indices[k]] + (float)(m.indices[k] == k / N);
    pair p = make_pair(m, TS_FORMAT_AUTO);
    for (int i = 0; i < 2; i++) {
      float xs[N] = {0};
      ts_result result;
      const ts_solver_desc desc = {
          .rtol = 1e-5, .precision = precisions[i], .preconditioner_kind = TS_PRECONDITIONER_JACOBI};
      test_context_label("seed %d, %s", (int)seed, ts_precision_name(precisions[i]));
      const ts_status status = solve_pair(&p, &desc, 1, bs, xs, &result);
      if (precisions[i] == TS_PRECISION_MIXED && status == TS_NOT_CONVERGED) {
        CHECK(result.reason == TS_REASON_STAGNATED || result.reason == TS_REASON_MAX_ITERATIONS);
        unsolved++;
        continue;
      }
      CHECK_OK(context, status);
      CHECK(result.iterations < 400 && result.relative_residual <= 1e-5);
      CHECK(gradient(&p, 1, bs, xs) <= 1e-3); /* of an x that is rounded to floats */
    }
    free(c), free(bs);
    free_pair(&p);
  }
  CHECK(unsolved <= 1);
}

/* The host synchronises once per check, plus a constant number of times. */
static void host_synchronisations(void) {
  pair p = make_pair(tall(4000, 1500, 9), TS_FORMAT_AUTO);
  float *bs = ref_values(4000, 3, -1, 1), *xs = calloc(1500, sizeof *xs);
  int constant = -1;
  for (int interval = 1; interval <= 8; interval *= 8) {
    watch w = {0};
    const ts_solver_desc desc = {.rtol = 1e-7,
                                 .precision = TS_PRECISION_SINGLE,
                                 .zero_start = 1,
                                 .check_interval = interval,
                                 .max_iterations = 16,
                                 .progress = observe,
                                 .progress_user = &w};
    ts_result result;
    test_context_label("interval %d", interval);
    CHECK_INT(solve_pair(&p, &desc, 1, bs, xs, &result), TS_NOT_CONVERGED);
    CHECK_INT(result.iterations, 16);
    if (constant < 0) constant = result.host_synchronisations - w.calls;
    CHECK_INT(result.host_synchronisations, w.calls + constant);
    CHECK(w.calls <= 16 / interval + 3);
    CHECK(constant <= 3);
  }
  free(bs), free(xs);
  free_pair(&p);
}

/* The solver uses new values, and adapts its workspace to other numbers of components. */
static void solver_is_reused(void) {
  pair p = make_pair(tall(200, 50, 2), TS_FORMAT_AUTO);
  ts_solver *solver = NULL;
  REQUIRE_OK(context, create_cgls(p.matrix, p.transposed, NULL, &solver));
  for (int round = 0; round < 4; round++) {
    const int components = 1 + round % 3;
    float *bs = ref_values(200 * (size_t)components, (uint64_t)round, -1, 1);
    ts_vector *b = make_vector(ts_matrix_get_row_space(p.matrix), components, bs), *x = NULL;
    x = make_vector(ts_matrix_get_column_space(p.matrix), components, NULL);
    test_context_label("round %d", round);
    if (round == 2) {
      for (int64_t k = 0; k < ref_nonzeros(&p.reference); k++) p.reference.values[k] *= 3;
      for (int64_t k = 0; k < ref_nonzeros(&p.reference); k++) p.transposed_reference.values[k] *= 3;
      const ts_csr csr = ref_csr(&p.reference), transposed = ref_csr(&p.transposed_reference);
      CHECK_OK(context, ts_matrix_set_values(p.matrix, &csr));
      CHECK_OK(context, ts_matrix_set_values(p.transposed, &transposed));
      ts_matrix_destroy(&p.transposed); /* the solver keeps a reference */
    }
    CHECK_OK(context, ts_solver_solve(solver, b, x, NULL));
    float *xs = read_vector(x);
    CHECK(gradient(&p, components, bs, xs) <= 1.1e-5);
    free(xs), free(bs);
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
  }
  ts_solver_destroy(&solver);
  free_pair(&p);
}

static void errors(void) {
  pair p = make_pair(tall(20, 5, 2), TS_FORMAT_AUTO), other = make_pair(tall(20, 5, 2), TS_FORMAT_AUTO);
  ts_solver *solver = NULL;
  const ts_solver_desc bad = {.rtol = 2};
  CHECK_FAILS(NULL, create_cgls(NULL, p.transposed, NULL, &solver), TS_ERROR_INVALID_ARGUMENT, "matrix");
  CHECK_FAILS(context, create_cgls(p.matrix, p.transposed, NULL, NULL), TS_ERROR_INVALID_ARGUMENT, "solver");
  CHECK_FAILS(context, create_cgls(p.matrix, p.matrix, NULL, &solver), TS_ERROR_INCOMPATIBLE, "20 x 5");
  CHECK_FAILS(context, create_cgls(p.matrix, other.transposed, NULL, &solver), TS_ERROR_INCOMPATIBLE,
              "not over the matrix's spaces");
  CHECK_FAILS(context, create_cgls(p.matrix, p.transposed, &bad, &solver), TS_ERROR_INVALID_ARGUMENT,
              "rtol is 2");
  CHECK(solver == NULL);
  REQUIRE_OK(context, create_cgls(p.matrix, p.transposed, NULL, &solver));
  ts_vector *b = make_vector(ts_matrix_get_row_space(p.matrix), 1, NULL), *x = NULL, *x2 = NULL;
  x = make_vector(ts_matrix_get_column_space(p.matrix), 1, NULL);
  x2 = make_vector(ts_matrix_get_column_space(p.matrix), 2, NULL);
  CHECK_FAILS(NULL, ts_solver_solve(NULL, b, x, NULL), TS_ERROR_INVALID_ARGUMENT, "solver");
  CHECK_FAILS(context, ts_solver_solve(solver, x, x, NULL), TS_ERROR_INCOMPATIBLE, "b is not over", "row");
  CHECK_FAILS(context, ts_solver_solve(solver, b, b, NULL), TS_ERROR_INCOMPATIBLE, "x is not over", "column");
  CHECK_FAILS(context, ts_solver_solve(solver, b, x2, NULL), TS_ERROR_INCOMPATIBLE, "2");
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_vector_destroy(&x2);
  ts_solver_destroy(&solver);
  ts_solver_destroy(&solver);
  free_pair(&p);
  free_pair(&other);
}

TEST_MAIN(CASES_IN_CONTEXT(least_squares, dense_solution, shortest_solution, oscillating_gradients, reasons,
                           host_synchronisations, solver_is_reused, errors))
