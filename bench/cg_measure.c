#include <texsolve/solver.h>

#include "cg_measure.h"

#include <math.h>
#include <string.h>

#include "bench.h"
#include "timing.h"

typedef struct solve {
  ts_context *context;
  ts_solver *cg;
  ts_vector *x, *b;
  int wanted; /* required iterations of every solve; 0: until convergence */
  ts_result last;
} solve;

static int solve_run(void *user, long count) {
  solve *s = user;
  ts_status status = TS_OK;
  for (long i = 0; i < count && status >= 0; ++i) {
    status = ts_vector_fill(s->x, 0);
    if (status >= 0) status = ts_solver_solve(s->cg, s->b, s->x, &s->last);
    if (status >= 0 && (s->wanted ? s->last.iterations != s->wanted : s->last.iterations < 1)) {
      bench_error("a solve ended after %d of %d iterations: %s", s->last.iterations, s->wanted,
                  s->last.message);
      return 1;
    }
  }
  if (status >= 0) status = ts_context_finish(s->context);
  return bench_check(status, s->context, "solving");
}

/* Times solves of `iterations` with a check every `interval` (0: the backend's default). */
static int measure_solve(solve *s, ts_matrix *A, int iterations, int interval, int repeat, timing *t) {
  ts_solver_desc desc = {.method = TS_METHOD_CG,
                         .preconditioner_kind = TS_PRECONDITIONER_JACOBI,
                         .precision = TS_PRECISION_SINGLE};
  desc.rtol = 1e-30;
  desc.max_iterations = iterations;
  desc.check_interval = interval;
  /* At a check a solve may detect the limit of single precision. */
  s->wanted = interval ? iterations : 0;
  int failed = bench_check(ts_solver_create(A, &desc, &s->cg), s->context, "making the solver") ||
               timing_measure(t, repeat, BENCH_BATCH_SECONDS, solve_run, s);
  ts_solver_destroy(&s->cg);
  return failed;
}

static int solve_begin(solve *s, ts_context *context, ts_matrix *A, int components) {
  memset(s, 0, sizeof *s);
  s->context = context;
  ts_space *space = ts_matrix_get_row_space(A);
  return bench_agree(context, bench_vector(space, components, &s->x), "making a vector") ||
         bench_agree(context, bench_vector(space, components, &s->b), "making a vector");
}

static void solve_end(solve *s) {
  ts_vector_destroy(&s->b);
  ts_vector_destroy(&s->x);
}

int cg_measure(ts_context *context, ts_matrix *A, int components, int repeat, cg_times *times) {
  solve s;
  timing shorter, longer, whole;
  const int failed = solve_begin(&s, context, A, components) ||
                     measure_solve(&s, A, CG_SHORT, CG_LONG, repeat, &shorter) ||
                     measure_solve(&s, A, CG_LONG, CG_LONG, repeat, &longer) ||
                     measure_solve(&s, A, CG_WHOLE, 0, repeat, &whole);
  solve_end(&s);
  if (failed) return 1;
  /* On a busy machine the shorter solve may have taken longer; the difference then means nothing. */
  const double difference = longer.seconds > shorter.seconds ? longer.seconds - shorter.seconds : NAN;
  times->iteration = difference / (CG_LONG - CG_SHORT);
  times->spread = (longer.spread * longer.seconds + shorter.spread * shorter.seconds) / difference;
  times->whole = whole.seconds / s.last.iterations;
  return 0;
}

double cg_measure_least(double product, int iterations, int repeat) {
  const int solves = 1 + (repeat < 2 ? 1 : 2); /* the first is a warm-up; see timing_set_longest */
  return solves * iterations * product;
}

int cg_measure_solve(ts_context *context, ts_matrix *A, int iterations, int repeat, double *seconds,
                     double *spread) {
  solve s;
  timing t;
  const int failed = solve_begin(&s, context, A, 1) || measure_solve(&s, A, iterations, 0, repeat, &t);
  solve_end(&s);
  if (failed) return 1;
  *seconds = t.seconds / s.last.iterations;
  *spread = t.spread;
  return 0;
}
