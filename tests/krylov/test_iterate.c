/* ts_solver_read_iterate: the x of a running solve is the one whose residual the check reports, in every
 * method, with stages, at any scale and with several components; and calls at the wrong time. */
#include "krylov_solve.h"

static ts_context *context;

enum { ROWS = 60, MOST = 400 };

typedef struct reader {
  ts_solver *solver;
  const ref_matrix *reference;
  const float *bs;
  int components;
  double scale;
  int calls, last_iteration;
  double measured[MOST], reported[MOST];
  ts_status status;
} reader;

static int read_iterate(const ts_progress *progress, void *user) {
  reader *r = user;
  const size_t count = (size_t)ROWS * (size_t)r->components;
  double xs[4 * ROWS];
  float scaled[4 * ROWS];
  if (r->calls == MOST) return 1;
  r->status = ts_solver_read_iterate(r->solver, ts_host(xs, count));
  if (r->status != TS_OK) return 1;
  for (size_t i = 0; i < count; i++) scaled[i] = (float)(xs[i] / r->scale);
  r->measured[r->calls] = ref_worst_residual(r->reference, NULL, r->components, scaled, r->bs);
  r->reported[r->calls++] = progress->relative_residual;
  r->last_iteration = progress->iteration;
  return 0;
}

/* Solves with b = scale * bs from 0. Returns the status. */
static ts_status solve_and_read(reader *r, ts_matrix *matrix, ts_solver_desc desc, ts_result *result) {
  const size_t count = (size_t)ROWS * (size_t)r->components;
  const ts_vector_desc wide = {.components = r->components};
  double scaled[4 * ROWS];
  ts_vector *b, *x;
  for (size_t i = 0; i < count; i++) scaled[i] = r->scale * (double)r->bs[i];
  desc.progress = read_iterate;
  desc.progress_user = r;
  desc.check_interval = 1;
  CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(matrix), &wide, &b));
  CHECK_OK(context, ts_vector_create(ts_matrix_get_column_space(matrix), &wide, &x));
  CHECK_OK(context, ts_vector_write(b, ts_host((const double *)scaled, count)));
  CHECK_OK(context, ts_solver_create(matrix, &desc, &r->solver));
  const ts_status status = ts_solver_solve(r->solver, b, x, result);
  ts_solver_destroy(&r->solver);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  return status;
}

/* An iterate may be that of a later iteration, since the device works on while the host waits, or of one
 * before. So it is compared with the reports of its neighbours. */
static void check_iterates(const reader *r, double rtol) {
  enum { NEAR = 3 };
  CHECK(r->calls >= 5);
  for (int i = 0; i < r->calls; i++) {
    double low = INFINITY, high = 0;
    for (int j = i - NEAR; j <= i + NEAR; j++) {
      if (j < 0) high = fmax(high, 1);
      if (j >= r->calls) low = 0;
      if (j < 0 || j >= r->calls) continue;
      low = fmin(low, r->reported[j]);
      high = fmax(high, r->reported[j]);
    }
    if (!(r->measured[i] <= 1.1 * high + 1e-6 && r->measured[i] >= 0.9 * low - 1e-6))
      test_fail(__FILE__, __LINE__,
                "check %d of %d: ||b - A x|| / ||b|| is %.3g; the checks nearby report %.3g to %.3g", i,
                r->calls, r->measured[i], low, high);
  }
  CHECK(r->measured[r->calls - 1] <= 100 * rtol);
}

static void methods(void) {
  static const ts_method all[] = {TS_METHOD_CG, TS_METHOD_MINRES, TS_METHOD_BICGSTAB, TS_METHOD_IDR};
  static const double scales[] = {1, 1e-200, 1e250};
  ref_matrix symmetric = ref_grid(10, 6), other = ref_convection(10, 6, 1);
  float *bs = ref_values(4 * ROWS, 5, -1, 1);
  for (int k = 0; k < 4; k++)
    for (int f = 0; f < 3; f++) {
      if (!has_precise_residuals(context) && f) continue;
      const ref_matrix *m = k < 2 ? &symmetric : &other;
      ts_matrix *matrix = make_matrix(context, m, TS_FORMAT_AUTO);
      reader r = {.reference = m, .bs = bs, .components = 1 + (k + f) % 4, .scale = scales[f]};
      if (test_is_gl()) r.components = 1;
      ts_result result;
      const ts_solver_desc desc = {
          .method = all[k], .rtol = 1e-4, .preconditioner_kind = TS_PRECONDITIONER_JACOBI};
      test_context_label("%s, b times %g, %d components", ts_method_name(all[k]), r.scale, r.components);
      CHECK_OK(context, solve_and_read(&r, matrix, desc, &result));
      check_iterates(&r, desc.rtol);
      ts_matrix_destroy(&matrix);
    }
  ref_free(&symmetric), ref_free(&other);
  free(bs);
}

/* richardson adds its update before the check: the iterate must not have it twice. */
static void richardson(void) {
  ref_matrix m = ref_random_spd(ROWS, 3, 4);
  float *bs = ref_values(ROWS, 6, -1, 1);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  reader r = {.reference = &m, .bs = bs, .components = 1, .scale = 1};
  ts_result result;
  CHECK_OK(context,
           solve_and_read(&r, matrix, (ts_solver_desc){.method = TS_METHOD_RICHARDSON, .rtol = 1e-4}, &result));
  for (int i = 0; i < r.calls; i++) CHECK_CLOSE(r.measured[i], r.reported[i], 0.01 * r.reported[i] + 1e-6);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
  free(bs);
}

/* The solver of the caller has the iterates of the stage that runs. */
static void stages(void) {
  ref_matrix m = ref_indefinite(10, 6);
  float *bs = ref_values(ROWS, 7, -1, 1);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  reader r = {.reference = &m, .bs = bs, .components = 1, .scale = 1};
  ts_result result;
  (void)solve_and_read(&r, matrix, (ts_solver_desc){.rtol = 1e-4}, &result);
  CHECK_INT(r.status, TS_OK);
  CHECK(result.method != TS_METHOD_CG && r.calls > 1);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
  free(bs);
}

static void refusals(void) {
  ref_matrix m = ref_convection(10, 6, 1);
  float *bs = ref_values(ROWS, 8, -1, 1);
  double xs[ROWS];
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  ts_solver *solver;
  CHECK_OK(context, ts_solver_create(matrix, NULL, &solver));
  CHECK_FAILS(context, ts_solver_read_iterate(solver, HOST(xs)), TS_ERROR_INVALID_ARGUMENT, "not at a check");
  CHECK_FAILS(NULL, ts_solver_read_iterate(NULL, HOST(xs)), TS_ERROR_INVALID_ARGUMENT, "solver is NULL");
  ts_solver_destroy(&solver);
  reader r = {.reference = &m, .bs = bs, .components = 1, .scale = 1};
  ts_result result;
  CHECK_INT(solve_and_read(&r, matrix, (ts_solver_desc){.method = TS_METHOD_GMRES}, &result), TS_NOT_CONVERGED);
  CHECK_INT(r.status, TS_ERROR_UNSUPPORTED);
  CHECK_INT(result.reason, TS_REASON_STOPPED);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
  free(bs);
}

TEST_MAIN(CASES_IN_CONTEXT(methods, richardson, stages, refusals))
