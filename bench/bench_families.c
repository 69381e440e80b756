/* texsolve bench families: conjugate gradients, or BiCGSTAB for nonsymmetric matrices, with algebraic multigrid
 * on families of matrices. The right-hand side is random. Reports the hierarchy, set-up, update and solve. The
 * host recomputes residuals in long double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "family.h"
#include "family_peers.h"
#include "platform.h"
#include "problem.h"
#include "report.h"
#include "reports.h"

static const report_column RESULTS[] = {
    {"family", "family", 's', -28, 0},
    {"implementation", "by", 's', 0, 0},
    {"rows", "rows", 'i', 6, 0},
    {"entries_a_row", "a row", 'f', 5, 1},
    {"levels", "lev.", 'i', 4, 0},
    {"operator_complexity", "cost", 'f', 5, 2},
    {"grid_complexity", "", 'f', 0, 2},
    {"setup_milliseconds", "setup ms", 'f', 8, 1},
    {"update_milliseconds", "update", 'f', 7, 1},
    {"milliseconds", "solve ms", 'f', 8, 1},
    {"iterations", "iter.", 'i', 5, 0},
    {"residual", "resid.", 'e', 6, 0},
    {"last_rows", "", 'i', 0, 0},
    {"reason", "", 's', 0, 0},
    {"setting", "", 's', 0, 0},
};

enum {
  COLUMNS = sizeof RESULTS / sizeof *RESULTS,
  IMPLEMENTATION = 1,
  ENTRIES = 3,
  UPDATE = 8,
  DEFAULT_ROWS = 64000
};

typedef struct objects {
  ts_context *context;
  ts_matrix *A;
  ts_preconditioner *M;
  ts_solver *solver;
  ts_vector *b, *x;
  ts_result result;
  ts_amg_info info;
  ts_amg_level_info last;
  double setup, update, solve; /* seconds */
} objects;

static ts_status make_preconditioner(objects *o, const bench_options *options, const problem *p) {
  const size_t rows = (size_t)p->system.A.rows;
  ts_amg_desc amg = options->amg;
  amg.unknowns = p->unknowns;
  amg.dimensions = p->dimensions;
  amg.coordinates = ts_host(p->coordinates, rows);
  amg.near_null_vectors = p->vectors;
  amg.near_null = ts_host(p->near_null, rows * (size_t)p->vectors);
  const ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_AMG, .amg = &amg};
  return ts_preconditioner_create(o->A, &desc, &o->M);
}

static ts_status make_vectors(objects *o, const problem *p) {
  const ts_vector_desc vectors = {.precision = TS_PRECISION_DOUBLE};
  ts_space *space = ts_matrix_get_row_space(o->A);
  ts_status status = ts_vector_create(space, &vectors, &o->b);
  if (status >= 0) status = ts_vector_create(space, &vectors, &o->x);
  if (status >= 0) status = ts_vector_write(o->b, ts_host(p->system.b, (size_t)p->system.A.rows));
  return status;
}

static ts_status make_all(objects *o, const bench_options *options, const problem *p) {
  const mm_csr *A = &p->system.A;
  const ts_matrix_desc desc = {
      .csr = ts_host_csr(A->rows, A->columns, A->row_offsets, A->column_indices, A->values),
      .format = options->format,
      .keep_host_copy = 1,
      .components = 1};
  ts_status status = ts_matrix_create(o->context, &desc, &o->A);
  const double start = seconds_now();
  if (status >= 0) status = make_preconditioner(o, options, p);
  if (status >= 0) status = ts_context_finish(o->context);
  o->setup = seconds_now() - start;
  const ts_solver_desc solver = {.preconditioner = o->M,
                                 .precision = options->precision < 0 ? TS_PRECISION_AUTO
                                                                     : (ts_precision)options->precision,
                                 .rtol = options->rtol,
                                 .max_iterations = 2000,
                                 .zero_start = 1};
  if (status >= 0) status = ts_preconditioner_get_amg_info(o->M, &o->info);
  if (status >= 0) status = ts_preconditioner_get_amg_level(o->M, o->info.levels - 1, &o->last);
  if (status >= 0) status = make_vectors(o, p);
  return status < 0 ? status : ts_solver_create(o->A, &solver, &o->solver);
}

/* Times the second update, because the first also finds the places of the numbers. */
static ts_status update_twice(objects *o, const problem *p) {
  const mm_csr *A = &p->system.A;
  const ts_csr csr = ts_host_csr(A->rows, A->columns, A->row_offsets, A->column_indices, A->values);
  ts_status status = TS_OK;
  for (int k = 0; k < 2 && status >= 0; k++) {
    status = ts_matrix_set_values(o->A, &csr);
    if (status >= 0) status = ts_context_finish(o->context);
    const double start = seconds_now();
    if (status >= 0) status = ts_preconditioner_update(o->M);
    if (status >= 0) status = ts_context_finish(o->context);
    o->update = seconds_now() - start;
  }
  return status;
}

static ts_status solve_and_read(objects *o, double *x, size_t rows) {
  const double start = seconds_now();
  ts_status status = ts_solver_solve(o->solver, o->b, o->x, &o->result);
  o->solve = seconds_now() - start;
  if (status >= 0) status = ts_vector_read(o->x, ts_host(x, rows));
  return status;
}

static void destroy_all(objects *o) {
  ts_solver_destroy(&o->solver);
  ts_vector_destroy(&o->x);
  ts_vector_destroy(&o->b);
  ts_preconditioner_destroy(&o->M);
  ts_matrix_destroy(&o->A);
}

/* Times are the minimum of the repetitions. */
static int measure(const bench_options *options, objects *o, const problem *p, double *x) {
  double setup = INFINITY, update = INFINITY, solve = INFINITY;
  ts_status status = TS_OK;
  for (int k = 0; k < options->repeat && status >= 0; k++) {
    destroy_all(o);
    status = make_all(o, options, p);
    if (status >= 0) status = update_twice(o, p);
    if (status >= 0) status = solve_and_read(o, x, (size_t)p->system.A.rows);
    setup = fmin(setup, o->setup);
    update = fmin(update, o->update);
    solve = fmin(solve, o->solve);
  }
  o->setup = setup;
  o->update = update;
  o->solve = solve;
  return bench_check(status, o->context, "amg");
}

static void report_family(report *r, const char *name, const objects *o, const problem *p, const double *x) {
  const mm_csr *A = &p->system.A;
  report_row(r, name, "texsolve", (long long)A->rows, (double)A->nonzeros / A->rows, (long long)o->info.levels,
             o->info.operator_complexity, o->info.grid_complexity, 1e3 * o->setup, 1e3 * o->update,
             1e3 * o->solve, (long long)o->result.iterations, solve_residual(&p->system, x, 0).residual,
             (long long)o->last.rows, ts_reason_text(o->result.reason), "");
}

static int is_symmetric(const objects *o) {
  ts_matrix_info info;
  return ts_matrix_get_info(o->A, &info) >= 0 && info.symmetric;
}

/* Runs the available libraries' programs, which solve with conjugate gradients. */
static int run_peers(const bench_options *options, report *r, int index, const problem *p) {
  const mm_csr *A = &p->system.A;
  const int32_t size = options->size ? options->size : DEFAULT_ROWS;
  int failed = 0;
  for (int k = 0; k < family_peer_count(); k++) {
    family_peer peer;
    if (!family_peer_is_built(k)) continue;
    if (family_peer_run(options, k, family_name(index), size, &peer)) {
      failed = 1;
      continue;
    }
    report_row(r, family_name(index), family_peer_name(k), (long long)A->rows, (double)A->nonzeros / A->rows,
               (long long)peer.levels, peer.cost, (double)NAN, 1e3 * peer.setup, (double)NAN, 1e3 * peer.solve,
               (long long)peer.iterations, peer.residual, 0LL, "", peer.setting);
  }
  return failed;
}

static int run_family(const bench_options *options, report *r, ts_context *context, int index) {
  generated_problem g;
  problem p;
  if (family_make(index, options->size ? options->size : DEFAULT_ROWS, &g)) {
    bench_error("%s: too few rows, or no memory", family_name(index));
    return 1;
  }
  if (problem_from_generated(&p, &g)) return 1;
  const size_t rows = (size_t)p.system.A.rows;
  for (size_t i = 0; i < rows; i++) p.system.b[i] = family_right_side((int32_t)i);
  double *x = calloc(rows, sizeof *x);
  objects o = {.context = context};
  int failed = x ? measure(options, &o, &p, x) : 1;
  if (!failed) report_family(r, family_name(index), &o, &p, x);
  const int has_peers = !failed && options->peers && is_symmetric(&o);
  destroy_all(&o);
  if (has_peers) failed = run_peers(options, r, index, &p);
  free(x);
  problem_free(&p);
  return failed;
}

static int is_asked(const bench_options *options, int index) {
  for (int k = 0; k < options->matrix_count; k++)
    if (!strncmp(family_name(index), options->matrices[k], strlen(options->matrices[k]))) return 1;
  return !options->matrix_count;
}

/* Reports the available programs, or that none is available. Returns their number. */
static int report_peers(report *r) {
  char names[64] = "";
  int count = 0;
  for (int k = 0; k < family_peer_count(); k++) {
    if (!family_peer_is_built(k)) continue;
    const size_t length = strlen(names);
    count++;
    snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "", family_peer_name(k));
  }
  report_field(r, "peers", "peers", "%s", *names ? names : "not built");
  return count;
}

/* With peers the table has their names instead of columns that they do not report. */
static void begin_table(report *r, int with_peers) {
  static report_column columns[COLUMNS];
  memcpy(columns, RESULTS, sizeof columns);
  if (with_peers) {
    columns[IMPLEMENTATION].width = -8;
    columns[ENTRIES].width = columns[UPDATE].width = 0;
  }
  report_table(r, "results", NULL, columns, COLUMNS);
}

static int run_families(const bench_options *options, report *r, ts_context *context) {
  int failed = 0, count = 0;
  for (int k = 0; k < family_count(); k++) count += is_asked(options, k);
  if (!count) {
    bench_error("no family's name begins with '%s'", options->matrices[0]);
    return 1;
  }
  const int peers = options->peers ? report_peers(r) : 0;
  begin_table(r, options->peers);
  report_section(r, "Families of %d rows", options->size ? options->size : DEFAULT_ROWS);
  report_expect(r, count * (1 + peers));
  for (int k = 0; k < family_count(); k++)
    if (is_asked(options, k)) failed |= run_family(options, r, context, k);
  return failed ? BENCH_INCOMPLETE : 0;
}

int bench_families(const bench_options *options, report *r) {
  bench_options own = *options;
  bench_device device;
  ts_context *context;
  if (!own.backend) own.backend = "cpu";
  if (bench_describe(&own, r, &device) || bench_open(&own, 0, 0, &context)) return 1;
  report_note(r, "A x = b with a random b, to ||b - A x|| <= %.3g ||b|| in at most 2000 iterations.", own.rtol);
  report_note(r, "cost: entries of all levels / entries of A. update: of the values only, the second one.");
  const int outcome = run_families(&own, r, context);
  ts_context_destroy(&context);
  return outcome;
}
