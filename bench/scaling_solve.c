#include "scaling_solve.h"

#include <texsolve/ranks.h>

#include "report.h"
#include "reports.h"
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

/* Longer solves are not repeated. */
static const double longest_solve = 2;
enum { SOLVES = 3 };

/* ---- Solves ---- */

typedef struct solve {
  ts_context *context;
  const bench_options *options;
  ts_solver *cg;
  ts_vector *b, *x;
} solve;

static int make_objects(solve *s, ts_matrix *A) {
  const bench_options *o = s->options;
  ts_space *space = ts_matrix_get_row_space(A);
  const ts_vector_desc vectors = {.components = o->components,
                                  .precision = o->precision == TS_PRECISION_SINGLE ? TS_PRECISION_SINGLE
                                                                                   : TS_PRECISION_DOUBLE};
  const ts_solver_desc desc = {.method = TS_METHOD_CG,
                               .preconditioner_kind = TS_PRECONDITIONER_JACOBI,
                               .precision = o->precision < 0 ? TS_PRECISION_AUTO : (ts_precision)o->precision,
                               .rtol = o->rtol,
                               .zero_start = 1};
  return bench_check(ts_vector_create(space, &vectors, &s->b), s->context, "making a vector") ||
         bench_check(ts_vector_create(space, &vectors, &s->x), s->context, "making a vector") ||
         bench_check(ts_vector_fill(s->b, 1), s->context, "filling a vector") ||
         bench_check(ts_solver_create(A, &desc, &s->cg), s->context, "making the solver");
}

static int run_solve(const solve *s, scaling_solved *solved, double *seconds) {
  if (bench_check(ts_context_finish(s->context), s->context, "making the solver")) return 1;
  const double start = timing_now();
  solved->status = ts_solver_solve(s->cg, s->b, s->x, &solved->result);
  *seconds = scaling_largest(s->context, timing_now() - start);
  return bench_check(solved->status, s->context, "solving");
}

static int run_solves(const solve *s, scaling_solved *solved) {
  double seconds[SOLVES];
  if (run_solve(s, solved, &solved->seconds)) return 1;
  if (solved->seconds > longest_solve) return 0;
  for (int k = 0; k < SOLVES; k++)
    if (run_solve(s, solved, &seconds[k])) return 1;
  solved->seconds = report_median(seconds, SOLVES);
  return 0;
}

int scaling_solve_matrix(ts_context *context, const bench_options *options, ts_matrix *A,
                         scaling_solved *solved) {
  solve s = {.context = context, .options = options};
  ts_context_info info;
  const int failed = make_objects(&s, A) || run_solves(&s, solved) ||
                     bench_check(ts_context_get_info(context, &info), context, "describing the device");
  if (!failed) solved->gigabytes = scaling_largest(context, (double)info.bytes_device) * 1e-9;
  ts_solver_destroy(&s.cg);
  ts_vector_destroy(&s.x);
  ts_vector_destroy(&s.b);
  return failed;
}

int scaling_solve_check(const scaling_solved *solved) {
  if (solved->status == TS_OK) return 0;
  bench_error("not converged: %s", solved->result.message);
  return BENCH_INCOMPLETE;
}

/* ---- By ranks ---- */

static int report_solve(ts_context *context, const bench_options *options, const ts_matrix *A, const char *name,
                        double seconds_setup, const scaling_solved *s, report *r) {
  ts_matrix_info own;
  ts_ranks_matrix_info all;
  ts_context_info info;
  char matrix[BENCH_NAME_SIZE];
  if (bench_check(ts_matrix_get_info(A, &own), context, "describing the matrix") ||
      bench_check(ts_ranks_matrix_get_info(A, &all), context, "describing the matrix") ||
      bench_check(ts_context_get_info(context, &info), context, "describing the device"))
    return 1;
  bench_short_name(matrix, name);
  report_note(r,
              "Conjugate gradients with Jacobi, b = 1, to a relative residual of %.1e. Each: maximum over the",
              options->rtol);
  report_note(
      r, "ranks; GB: device memory of the matrix, vectors and solver. Set-up: from the rows in host memory.");
  report_table(r, "solve", "One solve by all ranks", COLUMNS, COLUMN_COUNT);
  const double entries = scaling_largest(context, (double)own.nonzeros);
  report_row(r, (long long)ts_ranks_get_count(context), (long long)all.rows, (long long)all.nonzeros,
             (long long)entries, s->gigabytes, seconds_setup, s->seconds, (long long)s->result.iterations,
             s->result.relative_residual, ts_precision_name(s->result.precision),
             s->status == TS_OK ? "yes" : "no", ts_reason_text(s->result.reason), options->rtol, matrix,
             info.backend, own.choice);
  return 0;
}

int scaling_solve(ts_context *context, const bench_options *options, const generated_box *box, const char *name,
                  int32_t rows, report *r) {
  ts_matrix *A = NULL;
  scaling_solved s;
  double seconds;
  int failed = scaling_matrix(context, options, box, name, rows, 0, &seconds, &A) ||
               scaling_solve_matrix(context, options, A, &s) ||
               report_solve(context, options, A, name, seconds, &s, r);
  if (!failed) failed = scaling_solve_check(&s);
  ts_matrix_destroy(&A);
  return failed;
}
