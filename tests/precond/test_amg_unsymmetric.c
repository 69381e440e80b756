/* Algebraic multigrid of unsymmetric matrices: iterations of BiCGSTAB and GMRES on convection-diffusion, the
 * last level's inverse, blocks, scaled rows, new values, and what is refused. The tests compute residuals in
 * double precision. */
#include <math.h>
#include <stdlib.h>
#include <texsolve/amg.h>
#include <texsolve/solver.h>

#include "common/core/core.h"
#include "helpers.h"

static ts_context *context;

static const ts_amg_desc small = {.coarsest = 40};
static const float block[4] = {2, -0.5f, 0.25f, 1};

/* ---- Matrices ---- */

/* D A E, with random powers of 10 from 10^-range to 10^range. */
static void scale(ref_matrix *m, float range) {
  float *d = ref_values(m->rows, 11, -range, range), *s = ref_values(m->rows, 12, -range, range);
  for (int32_t i = 0; i < m->rows; i++)
    for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
      m->values[e] *= powf(10, d[i]) * powf(10, s[m->indices[e]]);
  free(d), free(s);
}

static ts_matrix *make_with_copy(const ref_matrix *m) {
  const ts_matrix_desc desc = {.csr = ref_csr(m), .keep_host_copy = 1};
  ts_matrix *matrix = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &matrix));
  return matrix;
}

static ts_preconditioner *make_amg(ts_matrix *A, const ts_amg_desc *amg) {
  const ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_AMG, .amg = amg};
  ts_preconditioner *M = NULL;
  CHECK_OK(context, ts_preconditioner_create(A, &desc, &M));
  return M;
}

/* ---- Solves ---- */

/* Solves to 1e-6, or to 1e-4 in single precision. Returns the number of iterations. */
static int solve_by(ts_method method, const ref_matrix *m, ts_matrix *A, ts_preconditioner *M, int components) {
  const int exact = context->caps.pairs;
  const ts_solver_desc desc = {
      .method = method, .preconditioner = M, .rtol = exact ? 1e-6 : 1e-4, .max_iterations = 100};
  float *bs = ref_values((size_t)m->rows * (size_t)components, 7, -1, 1);
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), components, bs),
            *x = make_vector(ts_matrix_get_row_space(A), components, NULL);
  ts_result result = {0};
  CHECK_OK(context, solve_vectors(A, b, x, &desc, &result));
  float *xs = read_vector(x);
  CHECK(ref_worst_residual(m, NULL, components, xs, bs) <= 2e-4); /* x is rounded to floats */
  CHECK(result.relative_residual <= desc.rtol);
  ts_vector_destroy(&b), ts_vector_destroy(&x);
  free(bs), free(xs);
  return result.iterations;
}

static void check_iterations(const ref_matrix *m, const ts_amg_desc *amg, int components, int most) {
  ts_matrix *A = make_with_copy(m);
  ts_preconditioner *M = make_amg(A, amg);
  const int iterations = M ? solve_by(TS_METHOD_GMRES, m, A, M, components) : 0;
  if (iterations > most) test_fail(__FILE__, __LINE__, "%d iterations, expected at most %d", iterations, most);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
}

static void convection(void) {
  static const struct {
    float peclet;
    int is_central, most;
  } cases[] = {{0.1f, 0, 10}, {10, 0, 10}, {100, 0, 10}, {1, 1, 9}, {10, 1, 11}, {50, 1, 20}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    test_context_label("%s at %g", cases[k].is_central ? "central" : "upwind", (double)cases[k].peclet);
    ref_matrix m = (cases[k].is_central ? ref_central : ref_convection)(45, 40, cases[k].peclet);
    check_iterations(&m, &small, k == 1 ? 3 : 1, cases[k].most);
    ref_free(&m);
  }
  test_context_label("%s", "");
}

static void other_matrices(void) {
  ref_matrix m = ref_convection(30, 25, 5), blocks = ref_in_blocks(&m, block),
             scaled = ref_convection(40, 35, 5);
  test_context_label("blocks");
  check_iterations(&blocks, &(ts_amg_desc){.coarsest = 40, .unknowns = 2}, 1, 12);
  test_context_label("scaled rows and columns");
  scale(&scaled, 0.3f);
  check_iterations(&scaled, &small, 1, 15);
  test_context_label("large numbers");
  for (int64_t e = 0; e < ref_nonzeros(&m); e++) m.values[e] *= 1e30f;
  check_iterations(&m, &small, 1, 10);
  test_context_label("%s", "");
  ref_free(&m), ref_free(&blocks), ref_free(&scaled);
}

static void smoothers(void) {
  ref_matrix m = ref_convection(45, 40, 3);
  check_iterations(&m, &(ts_amg_desc){.coarsest = 40, .smoother = TS_AMG_SMOOTHER_JACOBI}, 1, 16);
  check_iterations(&m, &(ts_amg_desc){.coarsest = 40, .smoother = TS_AMG_SMOOTHER_L1_JACOBI}, 1, 16);
  check_iterations(&m, &(ts_amg_desc){.coarsest = 40, .sweeps = 1}, 1, 24);
  check_iterations(&m, &(ts_amg_desc){.coarsest = 40, .sweeps = 16, .visits = 1}, 1, 6);
  check_iterations(&m, &(ts_amg_desc){.max_levels = 2, .coarsest = 40}, 1, 9); /* the last is smoothed */
  ref_free(&m);
}

/* ---- The last level alone ---- */

/* With one level M is the inverse. */
static void exact(void) {
  ref_matrix cases[] = {ref_convection(20, 20, 10), ref_central(20, 20, 10), ref_central(1, 1, 1)};
  scale(&cases[1], 1);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    if (cases[k].rows == 1) cases[k].values[0] = 7; /* any matrix of one row is symmetric */
    test_context_label("case %zu", k);
    ts_matrix *A = make_with_copy(&cases[k]);
    ts_preconditioner *M = make_amg(A, NULL);
    ts_amg_info info = {0};
    CHECK_OK(context, ts_preconditioner_get_amg_info(M, &info));
    CHECK_INT(info.levels, 1);
    CHECK(!info.stalled);
    CHECK(solve_by(TS_METHOD_RICHARDSON, &cases[k], A, M, 1) <= 4);
    ts_preconditioner_destroy(&M);
    ts_matrix_destroy(&A);
    ref_free(&cases[k]);
  }
  test_context_label("%s", "");
}

/* Two separate grids with row sums of 0. If b is in the range of A, z = M^-1 b satisfies A z = b. */
static void singular(void) {
  ref_matrix one = ref_convection(12, 10, 4), m = ref_convection(12, 20, 4);
  const int32_t half = one.rows;
  for (int32_t i = 0; i < m.rows; i++) {
    double sum = 0;
    int32_t diagonal = m.offsets[i];
    for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++) {
      if (m.indices[e] / half != i / half) m.values[e] = 0;
      if (m.indices[e] == i)
        diagonal = e;
      else
        sum += (double)m.values[e];
    }
    m.values[diagonal] = (float)-sum;
  }
  ts_matrix *A = make_with_copy(&m);
  ts_preconditioner *M = make_amg(A, NULL);
  ts_space *space = ts_matrix_get_row_space(A);
  float *xs = ref_values(m.rows, 3, -1, 1), *bs = calloc((size_t)m.rows, sizeof *bs);
  double *products = calloc((size_t)m.rows, sizeof *products);
  ref_spmv(&m, NULL, 1, xs, products, NULL);
  for (int32_t i = 0; i < m.rows; i++) bs[i] = (float)products[i];
  ts_vector *b = make_vector(space, 1, bs), *z = make_vector(space, 1, NULL);
  CHECK_OK(context, ts_preconditioner_apply(M, z, b));
  CHECK_PADDING(z);
  float *zs = read_vector(z);
  CHECK(ref_relative_residual(&m, NULL, 1, 0, zs, bs) <= 1e-4);
  ts_vector_destroy(&b), ts_vector_destroy(&z);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  free(xs), free(bs), free(zs), free(products);
  ref_free(&one), ref_free(&m);
}

/* ---- New values, and errors ---- */

static void set_values(ts_matrix *A, const ref_matrix *m) {
  const ts_csr csr = ref_csr(m);
  CHECK_OK(context, ts_matrix_set_values(A, &csr));
}

static void updated(void) {
  ref_matrix first = ref_convection(45, 40, 10), second = ref_convection(45, 40, 20);
  ts_matrix *A = make_with_copy(&first), *B = make_with_copy(&second);
  ts_preconditioner *M = make_amg(A, &small), *fresh = make_amg(B, &small);
  const int expected = solve_by(TS_METHOD_BICGSTAB, &second, B, fresh, 1);
  set_values(A, &second);
  CHECK_OK(context, ts_preconditioner_update(M));
  CHECK(solve_by(TS_METHOD_BICGSTAB, &second, A, M, 1) <= expected + 3);
  ts_preconditioner_destroy(&M), ts_preconditioner_destroy(&fresh);
  ts_matrix_destroy(&A), ts_matrix_destroy(&B);
  ref_free(&first), ref_free(&second);
}

/* A hierarchy for symmetric values refuses unsymmetric ones. A hierarchy for unsymmetric values accepts
 * both. */
static void changed_symmetry(void) {
  ref_matrix skewed = ref_convection(15, 12, 10), plain = ref_convection(15, 12, 0);
  ts_matrix *A = make_with_copy(&skewed), *B = make_with_copy(&plain);
  ts_preconditioner *M = make_amg(A, &small), *N = make_amg(B, &small);
  set_values(B, &skewed);
  CHECK_FAILS(context, ts_preconditioner_update(N), TS_ERROR_INVALID_ARGUMENT, "needs a symmetric matrix",
              "differ");
  set_values(A, &plain);
  CHECK_OK(context, ts_preconditioner_update(M));
  ts_preconditioner_info info = {0};
  CHECK_OK(context, ts_preconditioner_get_info(M, &info));
  CHECK(!info.symmetric);
  CHECK(solve_by(TS_METHOD_BICGSTAB, &plain, A, M, 1) <= 12);
  ts_preconditioner_destroy(&M), ts_preconditioner_destroy(&N);
  ts_matrix_destroy(&A), ts_matrix_destroy(&B);
  ref_free(&skewed), ref_free(&plain);
}

static void refused(void) {
  ref_matrix m = ref_convection(15, 12, 10);
  ts_matrix *A = make_with_copy(&m);
  ts_preconditioner *M = NULL;
  const ts_amg_desc chebyshev = {.smoother = TS_AMG_SMOOTHER_CHEBYSHEV4};
  const ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_AMG, .amg = &chebyshev};
  CHECK_FAILS(context, ts_preconditioner_create(A, &desc, &M), TS_ERROR_INVALID_ARGUMENT,
              "amg.smoother is chebyshev4", "the entries (0, 1) and (1, 0) differ");
  M = make_amg(A, &small);
  ts_preconditioner_info info = {0};
  CHECK_OK(context, ts_preconditioner_get_info(M, &info));
  CHECK(!info.symmetric);
  CHECK(info.products > 1);
  ts_solver *solver = NULL;
  const ts_solver_desc cg = {.method = TS_METHOD_CG, .preconditioner = M};
  CHECK_FAILS(context, ts_solver_create(A, &cg, &solver), TS_ERROR_INVALID_ARGUMENT, "amg", "not symmetric");
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* Central differences in a strong wind: incomplete factors are useless, so auto chooses AMG. */
static void auto_selects_it(void) {
  ref_matrix m = ref_central(128, 128, 400);
  ts_matrix *A = make_with_copy(&m);
  ts_preconditioner *M = make_preconditioner(A, NULL);
  const ts_preconditioner_info info = preconditioner_info(M);
  CHECK_INT(info.kind, TS_PRECONDITIONER_AMG);
  CHECK_CONTAINS(info.choice, "amg: the matrix is nearly singular: ilu replaced");
  ts_preconditioner_destroy(&M), ts_matrix_destroy(&A);
  ref_free(&m);
}

TEST_MAIN(CASES_IN_CONTEXT(auto_selects_it, convection, other_matrices, smoothers, exact, singular, updated,
                           changed_symmetry, refused))
