/* Conjugate gradients. The result is checked by the true residual, computed here in double precision. */
#include <math.h>

#include "krylov_solve.h"

static ts_context *context;
static ts_format formats[8];
static int format_count;
static int one_reduction;

/* A solve from 0 that must converge: its true residual must be at most `allowed`, which includes the error of
 * single precision. */
static void solve_and_check(const ref_matrix *m, ts_matrix *matrix, const ts_solver_desc *desc, int components,
                            double allowed) {
  const size_t count = (size_t)m->rows * (size_t)components;
  float *bs = ref_values(count, 41, -1, 1), *xs = calloc(count, sizeof *xs);
  ts_result result;
  watch w = {0};
  ts_solver_desc own = *desc;
  own.progress = observe;
  own.progress_user = &w;
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &own, components, bs, xs, &result));
  CHECK_INT(result.reason, TS_REASON_CONVERGED);
  const double residual = ref_worst_residual(m, NULL, components, xs, bs);
  if (!(residual <= allowed))
    test_fail(__FILE__, __LINE__, "true residual %.3g after %d iterations, allowed %.3g (it says %.3g; \"%s\")",
              residual, result.iterations, allowed, result.relative_residual, result.message);
  /* The reported residual must match the true one. */
  CHECK_CLOSE(result.relative_residual, residual, 0.2 * residual + 4 * result.attainable_residual + 1e-7);
  CHECK(result.iterations >= 1 && result.iterations <= 10 * m->rows + 1000);
  CHECK(result.host_synchronisations >= w.calls);
  CHECK_INT(w.out_of_order, 0);
  CHECK(w.last_iteration <= result.iterations);
  CHECK_CONTAINS(result.message, "converged");
  free(bs), free(xs);
}

/* True for solves that are left out. Operations are checked one by one, so a few solves cover them as well as
 * many. A brief run has one solve per sample and format, and the samples together cover all combinations for
 * each format. It leaves out the diagonal without a preconditioner, which takes hundreds of iterations. */
static int is_left_out(const ref_sample *sample, int n, int f, int kind, int components) {
  if (test_is_brief() && kind & 1 && strcmp(sample->name, "diagonal") == 0) return 1;
  if (test_is_brief())
    return kind != (n + f) % 4 || components != 1 + (n / 2 + f) % most_components(formats[f]);
  return formats[f] != TS_FORMAT_AUTO && (kind + components) % 4;
}

/* Every preconditioner, stopping rule, format and number of components, on every positive definite sample. */
static void samples(void) {
  ref_sample sample;
  for (int n = 0; ref_get_sample(n, &sample); n++) {
    for (int f = 0; sample.spd && f < format_count; f++) {
      ts_matrix *matrix = make_matrix(context, &sample.matrix, formats[f]);
      for (int kind = 0; matrix && kind < 4; kind++)
        for (int components = 1; components <= most_components(formats[f]); components++) {
          if (is_left_out(&sample, n, f, kind, components)) continue;
          ts_solver_desc desc = {0};
          desc.preconditioner_kind = kind & 1 ? TS_PRECONDITIONER_NONE : TS_PRECONDITIONER_JACOBI;
          desc.stop = kind & 2 ? TS_STOP_RESIDUAL : TS_STOP_DELTA;
          desc.rtol = test_is_brief() ? 1e-3 : 1e-5;
          desc.reductions = one_reduction && (components & 1) ? 1 : 0;
          test_context_label("%s, %s, %s, %s, %d components", sample.name, ts_format_name(formats[f]),
                             kind & 1 ? "none" : "jacobi", kind & 2 ? "residual" : "delta", components);
          /* delta is a different norm of the residual. The two differ at most by the square root of the spread
           * of the diagonal. */
          const double allowed = kind & 2                                              ? 1.01e-5
                                 : strcmp(sample.name, "diagonal") == 0 && !(kind & 1) ? 1e-3
                                                                                       : 1e-4;
          solve_and_check(&sample.matrix, matrix, &desc, components, allowed * desc.rtol / 1e-5);
        }
      ts_matrix_destroy(&matrix);
    }
    ref_free(&sample.matrix);
  }
}

/* The stopping rule is exactly delta_new <= rtol^2 delta_0. Its numbers are compared between the result and the
 * computation here. */
static void delta_rule(void) {
  ref_matrix m = ref_laplacian_3d(12);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  float *bs = ref_values((size_t)m.rows, 2, -1, 1);
  const double rtols[] = {1e-1, 1e-3, 1e-5};
  int before = 0;
  for (int k = 0; k < 3; k++) {
    float *xs = calloc((size_t)m.rows, sizeof *xs);
    watch w = {0};
    ts_solver_desc desc = {0};
    desc.preconditioner_kind = TS_PRECONDITIONER_NONE; /* delta is then the residual's square */
    desc.rtol = rtols[k];
    desc.check_interval = 1;
    desc.progress = observe;
    desc.progress_user = &w;
    ts_result result;
    test_context_label("rtol %g", rtols[k]);
    CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &desc, 1, bs, xs, &result));
    const double residual = ref_relative_residual(&m, NULL, 1, 0, xs, bs);
    CHECK(residual <= 1.001 * rtols[k]);
    CHECK(result.reduction <= rtols[k]);
    CHECK_CLOSE(result.reduction, residual, 1e-3 * residual + 2e-7);
    CHECK(result.iterations > before); /* each tolerance is tighter than the one before */
    before = result.iterations;
    free(xs);
  }
  free(bs);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

static int stop_at_ten(const ts_progress *progress, void *user) {
  *(double *)user = progress->relative_residual;
  return progress->iteration >= 10;
}

/* A callback receives the relative residual ||r|| / ||b||. With Jacobi the history has another norm, and with
 * the delta rule this residual is not computed. */
static void shown_residual(void) {
  ref_matrix m = ref_random_spd(500, 6, 7);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  float *bs = ref_values(500, 2, -1, 1), *xs = calloc(500, sizeof *xs);
  ts_result result;
  double shown = 0;
  ts_solver_desc desc = {
      .method = TS_METHOD_CG, .precision = TS_PRECISION_SINGLE, .rtol = 1e-12, .check_interval = 1};
  desc.progress = stop_at_ten;
  desc.progress_user = &shown;
  test_context_label("the residual that is shown");
  CHECK(krylov_solve(TS_METHOD_CG, matrix, &desc, 1, bs, xs, &result) == TS_NOT_CONVERGED);
  const double residual = ref_relative_residual(&m, NULL, 1, 0, xs, bs);
  CHECK_CLOSE(shown, residual, 1e-2 * residual + 1e-6);
  desc.stop = TS_STOP_DELTA;
  CHECK(krylov_solve(TS_METHOD_CG, matrix, &desc, 1, bs, xs, &result) == TS_NOT_CONVERGED ||
        result.reason == TS_REASON_CONVERGED);
  CHECK(isnan(shown));
  free(xs);
  free(bs);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* In exact arithmetic n iterations solve a system of n unknowns. */
static void few_unknowns(void) {
  for (int32_t n = 1; n <= 6; n++) {
    ref_matrix m = ref_random_spd(n, 4, (uint64_t)n + 5);
    ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
    float *bs = ref_values((size_t)n, 3, 0.5f, 1), xs[6] = {0};
    ts_solver_desc desc = {0};
    desc.check_interval = 1;
    ts_result result;
    test_context_label("%d unknowns", n);
    CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &desc, 1, bs, xs, &result));
    CHECK(result.iterations <= n + 2);
    CHECK(ref_relative_residual(&m, NULL, 1, 0, xs, bs) <= 2e-5);
    free(bs);
    ts_matrix_destroy(&matrix);
    ref_free(&m);
  }
}

static void warm_start(void) {
  ref_matrix m = ref_grid(40, 30);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const size_t n = (size_t)m.rows;
  float *bs = ref_values(n, 4, -1, 1), *xs = calloc(n, sizeof *xs), *again = calloc(n, sizeof *again);
  ts_solver_desc desc = {0};
  desc.stop = TS_STOP_RESIDUAL;
  desc.check_interval = 1;
  ts_result cold, warm, solved;
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &desc, 1, bs, xs, &cold));
  /* A start close to the solution needs fewer iterations. */
  for (size_t i = 0; i < n; i++) again[i] = xs[i] * (1 + 1e-3f * (float)(i % 3));
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &desc, 1, bs, again, &warm));
  CHECK(warm.iterations < cold.iterations);
  CHECK(ref_relative_residual(&m, NULL, 1, 0, again, bs) <= 1.01e-5);
  /* A start at the solution needs none. */
  memcpy(again, xs, n * sizeof *xs);
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &desc, 1, bs, again, &solved));
  CHECK_INT(solved.iterations, 0);
  CHECK(memcmp(again, xs, n * sizeof *xs) == 0);
  free(bs), free(xs), free(again);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* Constrained unknowns keep their values, and the others solve the equations with these values. */
static void constrained(void) {
  const int32_t nx = 31, ny = 23, n = nx * ny;
  ref_matrix m = ref_grid(nx, ny);
  unsigned char *flags = calloc((size_t)n, 1);
  for (int32_t i = 0; i < n; i++) flags[i] = i % nx == 0 || i % nx == nx - 1;
  for (int f = 0; f < format_count; f++)
    for (int components = 1; components <= 3 && components <= most_components(formats[f]); components += 2) {
      if (test_is_brief() && most_components(formats[f]) > 1 && (components / 2 + f) % 2) continue;
      const size_t count = (size_t)n * (size_t)components;
      float *bs = ref_values(count, 6, -1, 1), *xs = ref_values(count, 7, -1, 1),
            *start = ref_values(count, 7, -1, 1);
      for (size_t i = 0; i < count; i++)
        if (flags[i / (size_t)components]) bs[i] = 1e6f; /* a constrained row, so b must be ignored */
      ts_matrix_desc matrix_desc = {0};
      matrix_desc.csr = ref_csr(&m);
      matrix_desc.format = formats[f];
      matrix_desc.constrained = flags;
      ts_matrix *matrix = NULL;
      test_context_label("%s, %d components", ts_format_name(formats[f]), components);
      if (CHECK_OK(context, ts_matrix_create(context, &matrix_desc, &matrix))) {
        ts_solver_desc desc = {0};
        desc.stop = TS_STOP_RESIDUAL;
        ts_result result;
        CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &desc, components, bs, xs, &result));
        for (int c = 0; c < components; c++) {
          /* The solver's tolerance is relative to b minus the terms of the constrained values, here it is
           * relative to b alone. The two norms differ by a small factor. */
          const double residual = ref_relative_residual(&m, flags, components, c, xs, bs);
          CHECK(residual <= 1.01e-5);
        }
        for (size_t i = 0; i < count; i++)
          if (flags[i / (size_t)components] && !CHECK(xs[i] == start[i])) break;
      }
      ts_matrix_destroy(&matrix);
      free(bs), free(xs), free(start);
    }
  free(flags);
  ref_free(&m);
}

/* Right-hand sides are solved even if their squares are outside the range of single precision. */
static void scaling(void) {
  ref_matrix m = ref_grid(30, 30);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const float factors[] = {1, 1e-20f, 1e20f, 1e-30f, 1e30f};
  int iterations = 0;
  for (int k = 0; k < 5; k++) {
    if (test_is_brief() && (k == 1 || k == 2)) continue; /* the remaining factors are more extreme */
    float *bs = ref_values(900, 15, -1, 1), xs[900] = {0};
    for (int i = 0; i < 900; i++) bs[i] *= factors[k];
    ts_result result;
    ts_solver_desc desc = {0};
    desc.stop = TS_STOP_RESIDUAL;
    test_context_label("b scaled by %g", (double)factors[k]);
    CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &desc, 1, bs, xs, &result));
    CHECK(ref_relative_residual(&m, NULL, 1, 0, xs, bs) <= 1.01e-5);
    CHECK(result.relative_residual <= 1e-5);
    if (k == 0) iterations = result.iterations;
    CHECK(abs(result.iterations - iterations) <= 16);
    free(bs);
  }
  ts_matrix_destroy(&matrix);
  ref_free(&m);
  /* Matrices at extreme scales are solved too. */
  for (int k = 0; k < 2; k++) {
    m = ref_grid(30, 30);
    for (int64_t i = 0; i < ref_nonzeros(&m); i++) m.values[i] *= k ? 1e12f : 1e-12f;
    matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
    float *bs = ref_values(900, 15, -1, 1), xs[900] = {0};
    ts_result result;
    test_context_label("A scaled by %g", k ? 1e12 : 1e-12);
    CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, NULL, 1, bs, xs, &result));
    CHECK(ref_relative_residual(&m, NULL, 1, 0, xs, bs) <= 1e-4);
    free(bs);
    ts_matrix_destroy(&matrix);
    ref_free(&m);
  }
}

/* Each component has its own step length: a component that is solved, or is much larger, does not disturb the
 * others. */
static void components_apart(void) {
  ref_matrix m = ref_grid(30, 30);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  float bs[900 * 4], xs[900 * 4] = {0};
  float *values = ref_values(900 * 4, 16, -1, 1);
  for (int i = 0; i < 900; i++) {
    bs[4 * i] = values[4 * i];
    bs[4 * i + 1] = 0; /* solved by x = 0 */
    bs[4 * i + 2] = 1e15f * values[4 * i + 2];
    bs[4 * i + 3] = 1e-15f * values[4 * i + 3];
  }
  ts_solver_desc desc = {0};
  desc.stop = TS_STOP_RESIDUAL;
  ts_result result;
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &desc, 4, bs, xs, &result));
  for (int c = 0; c < 4; c++) {
    test_context_label("component %d", c);
    CHECK(ref_relative_residual(&m, NULL, 4, c, xs, bs) <= 1.01e-5);
  }
  for (int i = 0; i < 900; i++)
    if (!CHECK(xs[4 * i + 1] == 0)) break;
  free(values);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

/* One solver for several solves, with other numbers of components and new values of the matrix. */
static void solver_is_reused(void) {
  ref_matrix m = ref_grid(25, 25);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  ts_solver *cg = make_cg(matrix, NULL);
  ts_space *space = ts_matrix_get_row_space(matrix);
  for (int round = 0; round < 6; round++) {
    const int components = 1 + round % 3;
    const size_t count = 625 * (size_t)components;
    float *bs = ref_values(count, (uint64_t)round + 50, -1, 1);
    ts_vector *b = make_vector(space, components, bs), *x = make_vector(space, components, NULL);
    test_context_label("round %d", round);
    if (round == 3) {
      for (int64_t k = 0; k < ref_nonzeros(&m); k++) m.values[k] *= 3;
      const ts_csr csr = ref_csr(&m);
      CHECK_OK(context, ts_matrix_set_values(matrix, &csr));
    }
    if (round == 4) ts_matrix_destroy(&matrix); /* the solver keeps a reference */
    CHECK_OK(context, ts_solver_solve(cg, b, x, NULL));
    float *xs = read_vector(x);
    CHECK(ref_worst_residual(&m, NULL, components, xs, bs) <= 1e-4);
    free(xs), free(bs);
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
  }
  ts_solver_destroy(&cg);
  ref_free(&m);
}

/* With zero_start the content of x is ignored: the result has the bits of a solve from 0, and is 0 at
 * constrained indices. */
static void zero_start(void) {
  ref_matrix m = ref_grid(23, 19);
  unsigned char *constrained = calloc((size_t)m.rows, 1);
  for (int32_t i = 0; i < m.rows; i += 7) constrained[i] = 1;
  ts_matrix_desc desc = {.csr = ref_csr(&m), .constrained = constrained};
  ts_matrix *matrix = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &matrix));
  const size_t count = (size_t)m.rows;
  float *bs = ref_values(count, 91, -1, 1), *from_zero = calloc(count, sizeof *from_zero),
        *anything = ref_values(count, 92, -1e6F, 1e6F);
  anything[3] = NAN;
  anything[7] = 5; /* a constrained index */
  ts_result result;
  const ts_solver_desc plain = {.rtol = 1e-4}, zero = {.rtol = 1e-4, .zero_start = 1};
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &plain, 1, bs, from_zero, &result));
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &zero, 1, bs, anything, &result));
  CHECK(memcmp(from_zero, anything, count * sizeof *anything) == 0);
  memset(bs, 0, count * sizeof *bs);
  anything[3] = INFINITY;
  CHECK_OK(context, krylov_solve(TS_METHOD_CG, matrix, &zero, 1, bs, anything, &result));
  CHECK_INT(result.reason, TS_REASON_ZERO_RESIDUAL);
  for (size_t i = 0; i < count; i++)
    if (!CHECK(anything[i] == 0)) break;
  free(bs), free(from_zero), free(anything), free(constrained);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

static int know_backend(int round) {
  (void)round;
  format_count = list_formats(context, formats);
  one_reduction = has_one_reduction(context);
  return 1;
}

static const test_fixture fixture = {.context = &context, .setup = know_backend};

TEST_MAIN(CASES_WITH(&fixture, samples, delta_rule, shown_residual, few_unknowns, warm_start, constrained,
                     scaling, components_apart, solver_is_reused, zero_start))
