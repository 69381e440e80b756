#include "scaling_solve.h"

#include <texsolve/ranks.h>
#include <texsolve/solver.h>

#include "report.h"
#include "scaling_ranks.h"
#include "timing.h"

static const report_column COLUMNS[] = {
    {"parts", "ranks", 'i', 5, 0},
    {"rows", "rows", 'i', 11, 0},
    {"entries", "entries", 'i', 11, 0},
    {"entries_of_largest", "each", 'i', 10, 0},
    {"gigabytes_of_largest", "GB each", 'f', 7, 2},
    {"seconds_setup", "set-up s", 'f', 8, 2},
    {"seconds_solve", "solve s", 'f', 7, 2},
    {"iterations", "iter.", 'i', 6, 0},
    {"relative_residual", "residual", 'e', 9, 1},
    {"precision", "precision", 's', 9, 0},
    {"converged", "reached", 's', 7, 0},
    {"reason", "", 's', 0, 0},
    {"rtol", "", 'e', 0, 1},
    {"matrix", "", 's', 0, 0},
    {"backend", "", 's', 0, 0},
    {"choice", "", 's', 0, 0},
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof *COLUMNS };

typedef struct solve {
  ts_context *context;
  const bench_options *options;
  ts_matrix *A;
  ts_solver *cg;
  ts_vector *b, *x;
  double seconds_setup, seconds_solve;
  ts_result result;
  ts_status status;
} solve;

static int make_vectors(solve *s) {
  ts_space *space = ts_matrix_row_space(s->A);
  const ts_vector_desc desc = {.components = s->options->components,
                               .precision = s->options->precision == TS_PRECISION_SINGLE ? TS_PRECISION_SINGLE
                                                                                         : TS_PRECISION_DOUBLE};
  return bench_check(ts_vector_create(space, &desc, &s->b), s->context, "making a vector") ||
         bench_check(ts_vector_create(space, &desc, &s->x), s->context, "making a vector") ||
         bench_check(ts_vector_fill(s->b, 1), s->context, "filling a vector");
}

static int run_solve(solve *s) {
  const bench_options *o = s->options;
  const ts_solver_desc desc = {.method = TS_METHOD_CG,
                               .precision = o->precision < 0 ? TS_PRECISION_AUTO : (ts_precision)o->precision,
                               .rtol = o->rtol,
                               .zero_start = 1};
  if (bench_check(ts_solver_create(s->A, &desc, &s->cg), s->context, "making the solver") ||
      bench_check(ts_context_finish(s->context), s->context, "making the solver"))
    return 1;
  const double start = timing_now();
  s->status = ts_solver_solve(s->cg, s->b, s->x, &s->result);
  s->seconds_solve = scaling_largest(s->context, timing_now() - start);
  return bench_check(s->status, s->context, "solving");
}

static int report_solve(const solve *s, const char *name, report *r) {
  ts_matrix_info own;
  ts_ranks_matrix_info all;
  ts_context_info info;
  char matrix[BENCH_NAME_SIZE];
  if (bench_check(ts_matrix_get_info(s->A, &own), s->context, "describing the matrix") ||
      bench_check(ts_ranks_matrix_get_info(s->A, &all), s->context, "describing the matrix") ||
      bench_check(ts_context_get_info(s->context, &info), s->context, "describing the device"))
    return 1;
  bench_short_name(matrix, name);
  report_note(
      r, "Conjugate gradients with Jacobi, b = 1, to a relative residual of %.1e. Each: of the rank that has",
      s->options->rtol);
  report_note(
      r, "most; GB: device memory of its matrix, vectors and solver. Set-up: from the rows in host memory.");
  report_table(r, "solve", "One solve by all ranks", COLUMNS, COLUMN_COUNT);
  const double entries = scaling_largest(s->context, (double)own.nonzeros),
               bytes = scaling_largest(s->context, (double)info.bytes_device);
  report_row(r, (long long)ts_ranks_count(s->context), (long long)all.rows, (long long)all.nonzeros,
             (long long)entries, bytes * 1e-9, s->seconds_setup, s->seconds_solve,
             (long long)s->result.iterations, s->result.relative_residual,
             ts_precision_name(s->result.precision), s->status == TS_OK ? "yes" : "no",
             ts_reason_text(s->result.reason), s->options->rtol, matrix, info.backend, own.choice);
  return 0;
}

int scaling_solve(ts_context *context, const bench_options *options, const generated_box *box, const char *name,
                  int32_t rows, report *r) {
  solve s = {.context = context, .options = options};
  int failed = scaling_matrix(context, options, box, name, rows, 0, &s.seconds_setup, &s.A) ||
               make_vectors(&s) || run_solve(&s) || report_solve(&s, name, r);
  if (!failed && s.status != TS_OK) {
    bench_error("not converged: %s", s.result.message);
    failed = BENCH_INCOMPLETE;
  }
  ts_solver_destroy(&s.cg);
  ts_vector_destroy(&s.x);
  ts_vector_destroy(&s.b);
  ts_matrix_destroy(&s.A);
  return failed;
}
