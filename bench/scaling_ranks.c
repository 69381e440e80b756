#include "scaling_ranks.h"

#include <math.h>
#include <stdio.h>

#include "cg_measure.h"
#include "generate_box.h"
#include "ranks.h"
#include "report.h"
#include "scaling_solve.h"
#include "timing.h"

static const report_column COLUMNS[] = {
    {"parts", "ranks", 'i', 5, 0},
    {"rows", "rows", 'i', 10, 0},
    {"rows_of_largest", "rows each", 'i', 9, 0},
    {"entries_of_largest", "entries", 'i', 10, 0},
    {"halo_of_largest", "halo", 'i', 6, 0},
    {"microseconds", "us/iter", 'f', 9, 2},
    {"spread_percent", "spread%", 'f', 7, 1},
    {"microseconds_product", "product", 'f', 8, 2},
    {"microseconds_own", "own", 'f', 8, 2},
    {"microseconds_sum", "sum", 'f', 7, 2},
    {"microseconds_whole", "", 'f', 0, 0},
    {"parts_with_rows", "", 'i', 0, 0},
    {"halo_rows", "", 'i', 0, 0},
    {"overhead_percent", "", 'f', 0, 0},
    {"entries", "", 'i', 0, 0},
    {"matrix", "", 's', 0, 0},
    {"backend", "", 's', 0, 0},
    {"choice", "", 's', 0, 0},
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof *COLUMNS };

/* The maximum over the ranks, for values that each has of its own. */
typedef struct measured {
  double rows, entries, halo;
  ts_matrix_info info;
  char choice[200]; /* a copy, because info's text lives only as long as the matrix */
  ts_ranks_matrix_info all;
  cg_times times;
  double product, own, sum; /* seconds */
} measured;

/* ---- All ranks ---- */

/* If a rank is lost, all later measurements fail. */
double scaling_largest(void *user, double mine) {
  ts_context *context = user;
  double found = mine;
  for (int r = 0; r < ts_ranks_get_count(context); r++) {
    double number = mine;
    if (ts_ranks_broadcast(context, r, &number, sizeof number) == TS_OK && number > found) found = number;
  }
  return found;
}

/* ---- Matrices ---- */

static int64_t first_row(const generated_box *box, int rank, int ranks) {
  return box->rows / ranks * rank + box->rows % ranks * rank / ranks;
}

static int create_from_rows(ts_context *context, const bench_options *o, const generated_box *box,
                            int keep_host_copy, double *seconds, ts_matrix **matrix) {
  const int rank = ts_ranks_get_rank(context), ranks = ts_ranks_get_count(context);
  const int64_t first = first_row(box, rank, ranks), end = first_row(box, rank + 1, ranks);
  generated_rows A = {0};
  const int lost = generate_rows(&A, box, first, (int32_t)(end - first));
  if (lost) bench_error("no memory for %d rows", (int)(end - first));
  int failed = bench_agree(context, lost, "generating rows");
  const ts_ranks_matrix_desc desc = {
      .csr = ts_host_csr(A.rows, box->rows, A.row_offsets, A.column_indices, A.values),
      .format = o->format,
      .keep_host_copy = keep_host_copy,
      .components = o->components};
  const double start = timing_now();
  if (!failed)
    failed = bench_check(ts_ranks_matrix_create(context, &desc, matrix), context, "making the matrix");
  *seconds = scaling_largest(context, timing_now() - start);
  generated_rows_free(&A);
  return failed;
}

/* For a matrix that cannot be generated in parts, or a file. */
static int create_from_root(ts_context *context, const bench_options *o, const char *name, int32_t rows,
                            int keep_host_copy, double *seconds, ts_matrix **matrix) {
  generated_matrix A = {0};
  int failed = bench_agree(context, ranks_is_root() && bench_matrix(&A, name, rows), name);
  const ts_matrix_desc desc = {.csr = generated_csr(&A),
                               .format = o->format,
                               .keep_host_copy = keep_host_copy,
                               .components = o->components};
  const double start = timing_now();
  if (!failed)
    failed = bench_check(ts_ranks_matrix_from(context, 0, &desc, matrix), context, "making the matrix");
  *seconds = scaling_largest(context, timing_now() - start);
  generated_free(&A);
  return failed;
}

int scaling_matrix(ts_context *context, const bench_options *o, const generated_box *box, const char *name,
                   int32_t rows, int keep_host_copy, double *seconds, ts_matrix **matrix) {
  return box ? create_from_rows(context, o, box, keep_host_copy, seconds, matrix)
             : create_from_root(context, o, name, rows, keep_host_copy, seconds, matrix);
}

/* A matrix of the columns that each rank owns. Its product is that of A without ghosts. */
static int create_own(ts_context *context, const ts_matrix *A, ts_matrix **own) {
  ts_matrix_desc desc = {.row_space = ts_matrix_get_row_space(A)};
  return bench_check(ts_matrix_get_host_copy(A, &desc.csr), context, "reading the matrix") ||
         bench_check(ts_matrix_create(context, &desc, own), context, "making the matrix of own columns");
}

/* ---- Times ---- */

typedef struct operation {
  ts_context *context;
  const ts_matrix *A; /* NULL: a sum */
  ts_vector *x, *y;
  ts_scalars *sums;
} operation;

static int run_operation(void *user, long count) {
  const operation *o = user;
  ts_status status = TS_OK;
  for (long i = 0; i < count && status >= 0; i++)
    status = o->A ? ts_matrix_multiply(o->y, o->A, o->x) : ts_vector_dot(o->sums, 0, o->x, o->x);
  if (status >= 0) status = ts_context_finish(o->context);
  return bench_check(status, o->context, o->A ? "multiplying" : "adding up");
}

static int make_vector(ts_context *context, const ts_matrix *A, int components, ts_vector **v) {
  return bench_agree(context, bench_vector(ts_matrix_get_row_space(A), components, v), "making a vector");
}

static int measure_product(ts_context *context, const ts_matrix *A, const bench_options *o, double *seconds) {
  operation p = {.context = context, .A = A};
  timing t;
  const int failed = make_vector(context, A, o->components, &p.x) ||
                     make_vector(context, A, o->components, &p.y) ||
                     timing_measure(&t, o->repeat, BENCH_BATCH_SECONDS, run_operation, &p);
  ts_vector_destroy(&p.x);
  ts_vector_destroy(&p.y);
  *seconds = failed ? NAN : t.seconds;
  return failed;
}

/* Times a sum of one number per rank: the cost of a reduction except memory access. */
static int measure_sum(ts_context *context, const bench_options *o, double *seconds) {
  static const int32_t offsets[] = {0, 1};
  static const float one = 1;
  const int64_t column = ts_ranks_get_rank(context);
  const ts_ranks_matrix_desc desc = {.csr =
                                         ts_host_csr(1, ts_ranks_get_count(context), offsets, &column, &one)};
  operation s = {.context = context};
  ts_matrix *unit = NULL;
  timing t;
  const int failed = bench_check(ts_ranks_matrix_create(context, &desc, &unit), context, "making a matrix") ||
                     bench_check(ts_scalars_create(context, &(ts_scalars_desc){.count = 1}, &s.sums), context,
                                 "making sums") ||
                     make_vector(context, unit, 1, &s.x) ||
                     timing_measure(&t, o->repeat, BENCH_BATCH_SECONDS, run_operation, &s);
  ts_vector_destroy(&s.x);
  ts_scalars_destroy(&s.sums);
  ts_matrix_destroy(&unit);
  *seconds = failed ? NAN : t.seconds;
  return failed;
}

static int describe(ts_context *context, const ts_matrix *A, measured *m) {
  const int failed_info = bench_check(ts_matrix_get_info(A, &m->info), context, "describing the matrix");
  if (!failed_info) snprintf(m->choice, sizeof m->choice, "%s", m->info.choice);
  if (failed_info || bench_check(ts_ranks_matrix_get_info(A, &m->all), context, "describing the matrix"))
    return 1;
  m->rows = scaling_largest(context, m->info.rows);
  m->entries = scaling_largest(context, (double)m->info.nonzeros);
  m->halo = scaling_largest(context, (double)m->all.ghosts);
  return 0;
}

static int measure(ts_context *context, const bench_options *o, const generated_box *box, const char *name,
                   int32_t rows, measured *m) {
  ts_matrix *A = NULL, *own = NULL;
  double seconds;
  const int failed = scaling_matrix(context, o, box, name, rows, 1, &seconds, &A) || describe(context, A, m) ||
                     create_own(context, A, &own) ||
                     cg_measure(context, A, o->components, o->repeat, &m->times) ||
                     measure_product(context, A, o, &m->product) || measure_product(context, own, o, &m->own) ||
                     measure_sum(context, o, &m->sum);
  ts_matrix_destroy(&own);
  ts_matrix_destroy(&A);
  return failed;
}

/* ---- Reporting ---- */

static void report_measured(report *r, ts_context *context, const char *name, const measured *m) {
  const int ranks = ts_ranks_get_count(context);
  ts_context_info info = {0};
  char matrix[BENCH_NAME_SIZE];
  bench_short_name(matrix, name);
  ts_context_get_info(context, &info);
  report_row(r, (long long)ranks, (long long)m->all.rows, (long long)m->rows, (long long)m->entries,
             (long long)m->halo, m->times.iteration * 1e6, m->times.spread * 100, m->product * 1e6,
             m->own * 1e6, m->sum * 1e6, m->times.whole * 1e6, (long long)ranks, (long long)m->info.halo, NAN,
             (long long)m->all.nonzeros, matrix, info.backend, m->choice);
}

static void report_notes(report *r, const char *name, int grows) {
  report_note(r, "A job measures its own number of ranks, by the slowest one: `mpirun -n 1' measures one,");
  report_note(r, "and bench/scaling_model.py --measured shows the reports of several jobs with the model.");
  report_note(
      r, "us/iter: the difference of solves with %d and %d iterations. Rows each, entries and halo (columns",
      CG_SHORT, CG_LONG);
  report_note(r,
              "of other ranks): maximum over the ranks. Product, and own: without the columns of others, in");
  report_note(r, "us; the difference is the exchange. Sum: of one number from each rank, in us.");
  if (!grows)
    report_note(r, "Strong scaling only: %.40s does not grow along an axis, as laplace3d does.", name);
}

/* Describes rank 0's device; returns the default number of rows. */
static int32_t describe_device(report *r, const ts_context *context) {
  ts_context_info info = {0};
  ts_context_get_info(context, &info);
  report_field(r, "backend", "backend", "%s", info.backend);
  report_field(r, "device", "device", "%s", info.device);
  report_field(r, "driver", "driver", "%s", info.driver);
  if (info.threads) report_field(r, "threads", "threads", "%d each", info.threads);
  timing_set_warm_up(info.is_hardware && !info.threads ? BENCH_WARM_UP_SECONDS : 0);
  return info.threads ? 1 << 18 : 1 << 24;
}

/* Offsets of a rank's rows have 32 bits, and a row has at most 7 entries. */
static int fits(double rows) {
  return 7 * rows <= INT32_MAX;
}

static int check_size(const char *name, int32_t rows, int ranks) {
  if (rows < ranks)
    bench_error("--size: %d rows are fewer than %d ranks; each rank needs at least one", rows, ranks);
  if (!fits((double)rows / ranks))
    bench_error("--size: %d ranks with %d rows of %s each have up to %.3g entries, more than 2^31", ranks,
                rows / ranks, name, 7.0 * rows / ranks);
  return rows < ranks || !fits((double)rows / ranks);
}

/* `m`: the results of the whole matrix, which equals one rank's part. */
static int run_weak(ts_context *context, const bench_options *o, const char *name, int32_t rows, report *r,
                    measured *m) {
  const int ranks = ts_ranks_get_count(context);
  generated_box box;
  if (!fits(rows)) {
    report_note(r, "No weak scaling: a rank with %d rows has more than 2^31 entries.", rows);
    return 0;
  }
  generated_box_find(name, rows, ranks, &box);
  if (ranks > 1 && measure(context, o, &box, name, rows, m)) return 1;
  report_table(r, "weak", "Weak scaling: the same number of rows per rank, along one axis", COLUMNS,
               COLUMN_COUNT);
  report_measured(r, context, name, m);
  return 0;
}

static int scaling_ranks_run(ts_context *context, const bench_options *o, const char *name, report *r) {
  const int32_t by_default = describe_device(r, context), rows = o->size ? o->size : by_default;
  generated_box box;
  measured m;
  const int grows = !generated_box_find(name, rows, 1, &box);
  if (grows && check_size(name, rows, ts_ranks_get_count(context))) return 1;
  if (o->rtol > 0) return scaling_solve(context, o, grows ? &box : NULL, name, rows, r);
  report_notes(r, name, grows);
  if (measure(context, o, grows ? &box : NULL, name, rows, &m)) return 1;
  report_table(r, "strong", "Strong scaling: one matrix for all numbers of ranks", COLUMNS, COLUMN_COUNT);
  report_measured(r, context, name, &m);
  return grows ? run_weak(context, o, name, rows, r, &m) : 0;
}

/* In the library and here, a failure of one rank is a failure of all. */
int scaling_ranks(const bench_options *options, const char *name, report *r) {
  const ts_context_desc desc = {.backend = options->backend, .threads = options->threads};
  ts_context *context = NULL;
  int failed = bench_check(ranks_open(&desc, &context), NULL, "opening the backend");
  timing_set_slowest(scaling_largest, context);
  if (!failed) failed = scaling_ranks_run(context, options, name, r);
  timing_set_slowest(NULL, NULL);
  if (failed) ranks_agreed();
  ts_context_destroy(&context);
  return failed;
}
