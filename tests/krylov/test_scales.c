/* Systems on every scale of single precision are solved within the tolerance, checked in double precision, or
 * refused with a reason. Convergence is reported only if it is true, and x never contains a NaN or an
 * infinity. */
#include <float.h>

#include <texsolve/solver.h>
#include <texsolve/system.h>

#include "krylov_solve.h"

static ts_context *context;

static const double rtol = 1e-5;

typedef enum solver {
  CG,
  CG_PLAIN,
  CG_RESIDUAL,
  BICGSTAB,
  BICGSTAB_PLAIN,
  GMRES,
  CGLS,
  CGLS_PLAIN,
  SOLVERS
} solver;
static const char *const solver_names[] = {"cg",       "cg without preconditioner",       "cg to the residual",
                                           "bicgstab", "bicgstab without preconditioner", "gmres",
                                           "cgls",     "cgls without preconditioner"};

static int is_plain(solver s) {
  return s == CG_PLAIN || s == BICGSTAB_PLAIN || s == CGLS_PLAIN;
}

/* ---- One solve and its checks ---- */

static ts_status solve_cgls(const ref_matrix *m, ts_matrix *matrix, const ts_solver_desc *desc, int components,
                            const float *bs, float *xs, ts_result *result) {
  ref_matrix t = ref_transpose(m);
  const ts_matrix_desc transposed = {.csr = ref_csr(&t),
                                     .row_space = ts_matrix_get_column_space(matrix),
                                     .column_space = ts_matrix_get_row_space(matrix),
                                     .keep_host_copy = 1};
  ts_matrix *At = NULL;
  ts_solver *solver = NULL;
  ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), components, bs),
            *x = make_vector(ts_matrix_get_column_space(matrix), components, xs);
  ts_status status = TS_ERROR_DEVICE;
  if (CHECK_OK(context, ts_matrix_create(context, &transposed, &At)) &&
      CHECK_OK(context, create_cgls(matrix, At, desc, &solver))) {
    status = ts_solver_solve(solver, b, x, result);
    float *solution = read_vector(x);
    memcpy(xs, solution, vector_count(x) * sizeof *xs);
    free(solution);
  }
  ts_solver_destroy(&solver);
  ts_matrix_destroy(&At);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ref_free(&t);
  return status;
}

/* ||A^T (b - A x)|| / ||A^T b|| of the worst component. Numbers are scaled to about 1 before they are
 * squared. */
static double gradient(const ref_matrix *m, int components, const float *xs, const float *bs) {
  double worst = 0, *r = malloc((size_t)m->columns * 2 * sizeof *r);
  for (int c = 0; c < components; c++) {
    memset(r, 0, (size_t)m->columns * 2 * sizeof *r);
    for (int32_t i = 0; i < m->rows; i++) {
      const double b = bs[(size_t)i * (size_t)components + (size_t)c];
      double left = b;
      for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++)
        left -= (double)m->values[k] * xs[(size_t)m->indices[k] * (size_t)components + (size_t)c];
      for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
        r[2 * (size_t)m->indices[k]] += m->values[k] * left;
        r[2 * (size_t)m->indices[k] + 1] += m->values[k] * b;
      }
    }
    double above = 0, below = 0;
    for (int32_t j = 0; j < m->columns; j++) {
      above += r[2 * (size_t)j] * r[2 * (size_t)j];
      below += r[2 * (size_t)j + 1] * r[2 * (size_t)j + 1];
    }
    const double ratio = below > 0 ? sqrt(above / below) : sqrt(above);
    if (!(ratio <= worst)) worst = ratio;
  }
  free(r);
  return worst;
}

/* `must`: the solution and all intermediate numbers are within single precision, so it must be solved. Returns
 * true if it was solved. */
static int check_solve(const ref_matrix *m, solver s, int components, const float *bs, int must) {
  const ts_preconditioner_kind preconditioner = is_plain(s) ? TS_PRECONDITIONER_NONE : TS_PRECONDITIONER_JACOBI;
  const ts_solver_desc cg = {.preconditioner_kind = preconditioner,
                             .stop = s == CG_RESIDUAL ? TS_STOP_RESIDUAL : TS_STOP_DELTA,
                             .rtol = rtol,
                             .zero_start = s == CG_RESIDUAL};
  const ts_solver_desc krylov = {.preconditioner_kind = preconditioner, .rtol = rtol};
  const size_t count = (size_t)m->columns * (size_t)components;
  float *xs = calloc(count, sizeof *xs);
  ts_result result;
  ts_matrix *matrix = make_matrix(context, m, TS_FORMAT_AUTO);
  ts_status status = TS_ERROR_DEVICE;
  if (s <= CG_RESIDUAL)
    status = krylov_solve(TS_METHOD_CG, matrix, &cg, components, bs, xs, &result);
  else if (s <= GMRES)
    status = krylov_solve(krylov_methods[s == GMRES], matrix, &krylov, components, bs, xs, &result);
  else
    status = solve_cgls(m, matrix, &krylov, components, bs, xs, &result);
  if (status < 0) test_fail(__FILE__, __LINE__, "an error: %s", ts_last_error(context));
  for (size_t i = 0; i < count; i++)
    if (!CHECK(isfinite(xs[i]))) break;
  const double left =
      s >= CGLS ? gradient(m, components, xs, bs) : ref_worst_residual(m, NULL, components, xs, bs);
  /* TS_STOP_DELTA uses another norm. */
  const double bound = s < CG_RESIDUAL ? 10 * rtol : 1.01 * rtol;
  if (status == TS_OK && !(left <= bound))
    test_fail(__FILE__, __LINE__, "%s at a residual of %.3g in double precision", result.message, left);
  if (must && status != TS_OK) test_fail(__FILE__, __LINE__, "%s", result.message);
  if (status == TS_NOT_CONVERGED) {
    CHECK(result.reason > TS_REASON_ZERO_RESIDUAL);
    CHECK(strlen(result.message) > 5);
  }
  ts_matrix_destroy(&matrix);
  free(xs);
  return status == TS_OK;
}

/* ---- Systems ---- */

static ref_matrix system_for(solver s) {
  if (s <= CG_RESIDUAL) return ref_grid(5, 4);
  return s <= GMRES ? ref_convection(5, 4, 0.5f) : ref_random_dominant(20, 3, 3);
}

static void multiply(float *values, size_t count, double factor) {
  for (size_t i = 0; i < count; i++) values[i] = (float)(values[i] * factor);
}

/* All of A and all of b have one scale. Two components have two scales. */
static void uniform(void) {
  static const int exponents[] = {-36, -30, -18, 0, 18, 30, 36};
  enum { scales = sizeof exponents / sizeof *exponents };
  for (int s = 0; s < SOLVERS; s++)
    for (int k = 0; k < scales * scales; k++) {
      const int a = exponents[k / scales], b = exponents[k % scales], other = k % 3 ? b : a;
      if (test_is_brief() && (k + s) % 5) continue;
      const int components = 1 + k % 2;
      ref_matrix m = system_for((solver)s);
      float *bs = ref_values((size_t)m.rows * 2, 7, 0.5f, 1);
      multiply(m.values, (size_t)ref_nonzeros(&m), pow(10, a));
      for (int32_t i = 0; i < m.rows * components; i++)
        bs[i] = (float)(bs[i] * pow(10, components == 2 && i % 2 ? other : b));
      test_context_label("%s, A 1e%d, b 1e%d, %d components", solver_names[s], a, b, components);
      const int held = abs(a) <= 30 && abs(b) <= 30 && abs(b - a) <= 30;
      check_solve(&m, (solver)s, components, bs, held);
      free(bs);
      ref_free(&m);
    }
}

/* The rows of one matrix have scales from 10^first to 10^last, and so has b. */
static void mixed(void) {
  for (int s = 0; s < SOLVERS; s++)
    for (int last = 2; last <= 36; last += 17)
      for (int sign = -1; sign <= 1; sign += 2) {
        ref_matrix m = ref_diagonal(16, 1, (float)pow(10, sign * last));
        float bs[16];
        for (int i = 0; i < 16; i++) bs[i] = m.values[i] * (1 + 0.1f * (float)i);
        test_context_label("%s, a diagonal from 1 to 1e%d", solver_names[s], sign * last);
        check_solve(&m, (solver)s, 1, bs, !is_plain((solver)s) && s < CGLS);
        ref_free(&m);
      }
}

/* A solution above the range, and one below it. */
static void out_of_range(void) {
  static const struct {
    float a, a2, b, b2;
    const char *part;
  } systems[] = {{1e-3f, 1, 3e38f, 1, "beyond the range"},
                 {1e-30f, 1e-30f, 1e30f, 1e30f, "the range of single precision"},
                 {1e30f, 1e30f, 1e-30f, 1e-30f, "the range of single precision"},
                 {1e25f, 1e25f, 1e-20f, 3e-20f, "below the range"}};
  for (int k = 0; k < 4; k++)
    for (int s = 0; s < SOLVERS; s++) {
      ref_matrix m = ref_diagonal(2, 1, 1);
      m.values[0] = systems[k].a, m.values[1] = systems[k].a2;
      const float bs[2] = {systems[k].b, systems[k].b2};
      test_context_label("%s, system %d", solver_names[s], k);
      CHECK(!check_solve(&m, (solver)s, 1, bs, 0));
      float xs[2] = {0};
      ts_result result = {0};
      ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
      if (s == CG) {
        CHECK_INT(krylov_solve(TS_METHOD_CG, matrix, NULL, 1, bs, xs, &result), TS_NOT_CONVERGED);
        CHECK_CONTAINS(result.message, systems[k].part);
      }
      ts_matrix_destroy(&matrix);
      ref_free(&m);
    }
}

/* Subnormal numbers. A device may replace them by 0. */
static void subnormal(void) {
  for (int s = 0; s < SOLVERS; s++)
    for (int k = 0; k < 4; k++) {
      ref_matrix m = system_for((solver)s);
      float *bs = ref_values((size_t)m.rows, 7, 0.5f, 1);
      multiply(bs, (size_t)m.rows, k % 2 ? 1e-42 : 1e-38);
      if (k / 2) multiply(m.values, (size_t)ref_nonzeros(&m), 1e-20);
      test_context_label("%s, b %g, A %g", solver_names[s], k % 2 ? 1e-42 : 1e-38, k / 2 ? 1e-20 : 1);
      check_solve(&m, (solver)s, 1, bs, 0);
      free(bs);
      ref_free(&m);
    }
}

/* ---- The system builder, which uses double precision ---- */

static void check_system(const ref_matrix *m, double a, double b, int least_squares, int must) {
  ts_system *system = NULL;
  const ts_system_desc desc = {.unknowns = m->columns, .least_squares = least_squares};
  const ts_system_solve_desc how = {.solver.stop = TS_STOP_RESIDUAL, .solver.rtol = rtol};
  ts_system_result result = {0};
  double *x = calloc((size_t)m->columns, sizeof *x);
  CHECK_OK(context, ts_system_create(context, &desc, &system));
  CHECK_OK(context, ts_system_begin(system));
  for (int32_t i = 0; i < m->rows; i++) {
    double values[8];
    const double right = b * (1 + 0.01 * i);
    const int32_t from = m->offsets[i], count = m->offsets[i + 1] - from;
    for (int32_t k = 0; k < count; k++) values[k] = a * m->values[from + k];
    CHECK_OK(context, ts_system_row(system, count, m->indices + from, values, &right, 1));
  }
  CHECK_OK(context, ts_system_end(system));
  const ts_status status = ts_system_solve(system, &how, &result);
  if (status >= 0) ts_system_get_values(system, ts_host(x, (size_t)m->columns));
  double above = 0, below = 0;
  for (int32_t i = 0; i < m->rows; i++) {
    double left = 1 + 0.01 * i;
    below += left * left;
    for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
      if (!CHECK(isfinite(x[m->indices[k]]))) break;
      left -= m->values[k] * (a * (x[m->indices[k]] / b));
    }
    above += left * left;
  }
  const double residual = sqrt(above / below);
  if (status == TS_OK && !(residual <= 2 * rtol))
    test_fail(__FILE__, __LINE__, "%s at a residual of %.3g", result.message, residual);
  if (status == TS_OK) CHECK_CLOSE(result.relative_residual, residual, 0.01 * residual + 1e-12);
  if (status == TS_NOT_CONVERGED) CHECK(strlen(result.message) > 5);
  if (status < 0) CHECK(strlen(ts_last_error(context)) > 5);
  if (must && status != TS_OK)
    test_fail(__FILE__, __LINE__, "%s", status < 0 ? ts_last_error(context) : result.message);
  ts_system_destroy(&system);
  free(x);
}

static void systems(void) {
  static const int exponents[] = {-300, -100, -60, -30, 0, 30, 60, 100, 300};
  enum { scales = sizeof exponents / sizeof *exponents };
  for (int kind = 0; kind < 3; kind++)
    for (int k = 0; k < scales * scales; k++) {
      const int a = exponents[k / scales], b = exponents[k % scales];
      if (test_is_brief() && (k + kind) % 5) continue;
      ref_matrix m = kind == 0   ? ref_grid(5, 4)
                     : kind == 1 ? ref_convection(5, 4, 0.5f)
                                 : ref_random_dominant(20, 3, 3);
      test_context_label("system %d, A 1e%d, b 1e%d", kind, a, b);
      /* Least squares squares its numbers, which limits them to 1e150. */
      check_system(&m, pow(10, a), pow(10, b), kind == 2, abs(b - a) <= 30 && (kind < 2 || abs(a) <= 100));
      ref_free(&m);
    }
}

TEST_MAIN(CASES_IN_CONTEXT(uniform, mixed, out_of_range, subnormal, systems))
