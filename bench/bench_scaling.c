/* texsolve bench scaling: an iteration of conjugate gradients with Jacobi's preconditioner over 1, 2, ... parts
 * of a backend. Strong scaling keeps the matrix; weak scaling keeps the size per part. --rtol measures solves
 * instead of iterations, strong scaling only. */
#include <stdio.h>
#include <math.h>

#include "bench.h"
#include "cg_measure.h"
#include "report.h"
#include "ranks.h"
#include "scaling_parts.h"
#include "scaling_ranks.h"
#include "scaling_solve.h"
#include "timing.h"

static const report_column COLUMNS[] = {
    {"parts", "parts", 'i', 5, 0},
    {"parts_with_rows", "used", 'i', 4, 0},
    {"rows", "rows", 'i', 9, 0},
    {"microseconds", "us/iter", 'f', 10, 2},
    {"spread_percent", "spread%", 'f', 7, 1},
    {"speedup", "speed-up", 'f', 8, 3},
    {"efficiency_percent", "effic.%", 'f', 7, 1},
    {"overhead_percent", "overhead%", 'f', 9, 1},
    {"halo_rows", "halo rows", 'i', 9, 0},
    {"halo_bytes", "halo bytes", 'i', 10, 0},
    {"microseconds_whole", "", 'f', 0, 0},
    {"matrix", "", 's', 0, 0},
    {"entries", "", 'i', 0, 0},
    {"backend", "", 's', 0, 0},
    {"choice", "", 's', 0, 0},
};
static const report_column SOLVE_COLUMNS[] = {
    {"parts", "parts", 'i', 5, 0},
    {"parts_with_rows", "used", 'i', 4, 0},
    {"rows", "rows", 'i', 9, 0},
    {"seconds_setup", "set-up s", 'f', 8, 2},
    {"seconds_solve", "solve s", 'f', 8, 4},
    {"iterations", "iter.", 'i', 6, 0},
    {"speedup", "speed-up", 'f', 8, 3},
    {"efficiency_percent", "effic.%", 'f', 7, 1},
    {"relative_residual", "residual", 'e', 9, 1},
    {"precision", "precision", 's', 9, 0},
    {"converged", "reached", 's', 7, 0},
    {"gigabytes", "", 'f', 0, 2},
    {"reason", "", 's', 0, 0},
    {"rtol", "", 'e', 0, 1},
    {"matrix", "", 's', 0, 0},
    {"entries", "", 'i', 0, 0},
    {"backend", "", 's', 0, 0},
    {"choice", "", 's', 0, 0},
};
#define COUNT(columns) ((int)(sizeof(columns) / sizeof *(columns)))

typedef struct measured {
  char backend[SCALING_BACKEND];
  ts_matrix_info info;
  char choice[200]; /* a copy, because info's text lives only as long as the matrix */
  cg_times times;
  /* Used instead with --rtol: */
  double seconds_setup;
  scaling_solved solved;
} measured;

/* ---- Measurements, for parts of any kind ---- */

static int measure_in(ts_context *context, const bench_options *o, const generated_matrix *A, measured *m) {
  const ts_matrix_desc desc = {.csr = generated_csr(A), .format = o->format, .components = o->components};
  ts_matrix *matrix = NULL;
  const double start = timing_now();
  int failed = bench_check(ts_matrix_create(context, &desc, &matrix), context, "making the matrix") ||
               bench_check(ts_matrix_get_info(matrix, &m->info), context, "describing the matrix");
  if (!failed) snprintf(m->choice, sizeof m->choice, "%s", m->info.choice);
  m->seconds_setup = timing_now() - start;
  if (!failed)
    failed = o->rtol > 0 ? scaling_solve_matrix(context, o, matrix, &m->solved)
                         : cg_measure(context, matrix, o->components, o->repeat, &m->times);
  ts_matrix_destroy(&matrix);
  return failed;
}

static int measure(const bench_options *o, const scaling_parts *parts, int count, const generated_matrix *A,
                   measured *m) {
  bench_options with = *o;
  ts_context *context = NULL;
  scaling_parts_backend(parts, count, m->backend);
  with.backend = m->backend;
  bench_error_subject(m->backend);
  const int failed = bench_open(&with, 0, 0, &context) || measure_in(context, &with, A, m);
  ts_context_destroy(&context);
  bench_error_subject(NULL);
  return failed;
}

/* ---- Reporting ---- */

/* Speed-up compares rows per second with one part. If parts take turns, one part's work is expected once per
 * part; the excess is overhead. */
static void report_measured(report *r, const bench_options *o, const scaling_parts *parts, int count,
                            const char *name, const measured *m, const measured *one) {
  const double work = (double)m->info.rows / (double)one->info.rows;
  const double speedup = work * one->times.iteration / m->times.iteration;
  const int serial = parts->shares_device && count > 1;
  char matrix[BENCH_NAME_SIZE];
  bench_short_name(matrix, name);
  report_row(r, (long long)count, (long long)m->info.parts, (long long)m->info.rows, m->times.iteration * 1e6,
             m->times.spread * 100, serial ? NAN : speedup, serial ? NAN : 100 * speedup / count,
             serial ? 100 * (1 / speedup - 1) : NAN, (long long)m->info.halo,
             (long long)m->info.halo * o->components * (long long)sizeof(float), m->times.whole * 1e6, matrix,
             (long long)m->info.nonzeros, m->backend, m->choice);
}

static void report_notes(report *r, const char *backend, const scaling_parts *parts, const char *name) {
  report_note(r, "One part is the backend of a single part. us/iter: the difference of solves with %d and",
              CG_SHORT);
  report_note(r, "%d iterations. Speed-up: rows per second, relative to one part; efficiency: that / parts.",
              CG_LONG);
  report_note(r, "Halo: elements of x that an iteration receives from other parts, in total. Used: parts that");
  report_note(r, "have rows: a system too small to share has all of them on one part.");
  if (parts->shares_device) {
    report_note(r, "The parts of %.70s take turns on one device: speed-up is not", backend);
    report_note(r, "measured here. Overhead: the time beyond that of the same work in one part.");
  }
  if (!generated_grows(name))
    report_note(r, "Strong scaling only: %.40s does not grow along an axis, as laplace3d does.", name);
}

/* ---- Solves ---- */

static void report_solved(report *r, const bench_options *o, const scaling_parts *parts, int count,
                          const char *name, const measured *m, const measured *one) {
  const scaling_solved *s = &m->solved;
  const double speedup = parts->shares_device && count > 1 ? NAN : one->solved.seconds / s->seconds;
  char matrix[BENCH_NAME_SIZE];
  bench_short_name(matrix, name);
  report_row(r, (long long)count, (long long)m->info.parts, (long long)m->info.rows, m->seconds_setup,
             s->seconds, (long long)s->result.iterations, speedup, 100 * speedup / count,
             s->result.relative_residual, ts_precision_name(s->result.precision),
             s->status == TS_OK ? "yes" : "no", s->gigabytes, ts_reason_text(s->result.reason), o->rtol, matrix,
             (long long)m->info.nonzeros, m->backend, m->choice);
}

/* Reports a solve that does not converge, and continues with more parts. */
static int run_solves(const bench_options *o, const scaling_parts *parts, const char *name, int32_t rows,
                      report *r) {
  generated_matrix A;
  measured m, one;
  int failed = 0, incomplete = 0;
  if (bench_matrix(&A, name, rows)) return 1;
  report_note(r, "Conjugate gradients with Jacobi, b = 1, to a relative residual of %.1e. Set-up: from CSR in",
              o->rtol);
  report_note(r, "host memory. Speed-up: of the solve, relative to one part, the backend of a single part.");
  report_table(r, "solve", "Strong scaling: one solve in more parts", SOLVE_COLUMNS, COUNT(SOLVE_COLUMNS));
  for (int count = 1; count <= parts->count && !failed; count++) {
    failed = measure(o, parts, count, &A, &m);
    if (count == 1) one = m;
    if (!failed) report_solved(r, o, parts, count, name, &m, &one);
    if (!failed && scaling_solve_check(&m.solved)) incomplete = BENCH_INCOMPLETE;
  }
  generated_free(&A);
  return failed ? failed : incomplete;
}

/* ---- Strong and weak scaling ---- */

static int run_strong(const bench_options *o, const scaling_parts *parts, const char *name, int32_t rows,
                      report *r, measured *one) {
  generated_matrix A;
  measured m;
  if (bench_matrix(&A, name, rows)) return 1;
  int failed = measure(o, parts, 1, &A, one);
  if (!failed) {
    report_table(r, "strong", "Strong scaling: one matrix in more parts", COLUMNS, COUNT(COLUMNS));
    report_measured(r, o, parts, 1, name, one, one);
  }
  for (int count = 2; count <= parts->count && !failed; count++) {
    failed = measure(o, parts, count, &A, &m);
    if (!failed) report_measured(r, o, parts, count, name, &m, one);
  }
  generated_free(&A);
  return failed;
}

/* One part has the same matrix as in strong scaling, and reuses its results. */
static int run_weak(const bench_options *o, const scaling_parts *parts, const char *name, int32_t rows,
                    report *r, const measured *one) {
  report_table(r, "weak", "Weak scaling: the same number of rows per part, along one axis", COLUMNS,
               COUNT(COLUMNS));
  report_measured(r, o, parts, 1, name, one, one);
  for (int count = 2; count <= parts->count; count++) {
    generated_matrix A;
    measured m;
    if (generate_grown(&A, name, rows, count)) {
      bench_error("no memory for the matrix %s of %d times %d rows", name, count, rows);
      return 1;
    }
    const int failed = measure(o, parts, count, &A, &m);
    generated_free(&A);
    if (failed) return 1;
    report_measured(r, o, parts, count, name, &m, one);
  }
  return 0;
}

/* Reports sizes beyond the limits before anything is measured. Offsets have 32 bits, and a row of a box has at
 * most 7 entries. */
static int check_size(const char *name, int32_t rows, int count) {
  const double entries = 7.0 * rows * count;
  if (entries <= INT32_MAX) return 0;
  bench_error("--size: %d parts with %d rows of %s each have up to %.3g entries, more than 2^31", count, rows,
              name, entries);
  return 1;
}

int bench_scaling(const bench_options *options, report *r) {
  bench_options of_all = *options;
  bench_device device;
  scaling_parts parts;
  measured one;
  char backend[SCALING_BACKEND];
  const char *name = options->matrix ? options->matrix : "laplace3d";
  if (ranks_are_several() || (ranks_are_a_job() && !scaling_parts_has(options->backend)))
    return scaling_ranks(options, name, r);
  if (scaling_parts_find(options, &parts)) return 1;
  scaling_parts_backend(&parts, parts.count, backend);
  of_all.backend = options->backend ? options->backend : backend;
  if (bench_describe(&of_all, r, &device)) return 1;
  const int32_t rows = options->size ? options->size : device.is_cuda ? 1 << 24 : 1 << 18;
  if (generated_grows(name) && check_size(name, rows, options->rtol > 0 ? 1 : parts.count)) return 1;
  if (options->rtol > 0) return run_solves(options, &parts, name, rows, r);
  report_notes(r, of_all.backend, &parts, name);
  if (run_strong(options, &parts, name, rows, r, &one)) return 1;
  return generated_grows(name) ? run_weak(options, &parts, name, rows, r, &one) : 0;
}
