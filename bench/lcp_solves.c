/* texsolve bench lcp PROBLEM...: solves problems from files and generated ones to a tolerance, by the library
 * on one thread of the CPU and on the backend, and by other libraries on one thread.
 *
 * All have the same matrix in memory, in double precision, and start from z = 0. The time extends from there to
 * z, including all residual tests. Copying the matrix into a library's form is set-up and listed separately. A
 * z counts if its ts_lcp_residual is at most rtol ||q||, regardless of the library's own measure. */
#include "lcp_solves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "timing.h"

static const report_column SOLVES[] = {
    {"solver", "solver", 's', -9, 0},
    {"setting", "setting", 's', -30, 0},
    {"problem", NULL, 's', 0, 0},
    {"kind", NULL, 's', 0, 0},
    {"size", NULL, 'i', 0, 0},
    {"nonzeros", NULL, 'i', 0, 0},
    {"peer", NULL, 'i', 0, 0},
    {"sweeps", "sweeps", 'f', 6, 0},
    {"milliseconds", "ms", 'f', 10, 4},
    {"spread_percent", "spread%", 'f', 7, 1},
    {"setup_milliseconds", "set-up", 'f', 8, 3},
    {"residual", "residual", 'e', 8, 1},
    {"reached", "done", 's', -4, 0},
};

static const report_column RATIOS[] = {
    {"problem", "problem", 's', -22, 0},    {"kind", "kind", 's', -11, 0},
    {"milliseconds", "ms", 'f', 9, 4},      {"siconos_milliseconds", "Siconos", 'f', 9, 4},
    {"siconos_ratio", "ratio", 'f', 6, 2},  {"siconos_setting", NULL, 's', 0, 0},
    {"peer_ratio", "ratio", 'f', 6, 2},     {"peer", "fastest peer", 's', -24, 0},
    {"peer_milliseconds", NULL, 'f', 0, 3},
};
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

typedef struct ratio {
  char problem[24], kind[16], siconos[40], peer[60];
  double ours, siconos_seconds, peer_seconds; /* NaN: not reached, or not available */
} ratio;

lcp_solve *lcp_solves_add(lcp_solves *s) {
  if (s->count == s->capacity) {
    const int capacity = s->capacity ? 2 * s->capacity : 16;
    lcp_solve *rows = realloc(s->rows, (size_t)capacity * sizeof *rows);
    if (!rows) {
      bench_error("out of memory for the results");
      return NULL;
    }
    s->rows = rows;
    s->capacity = capacity;
  }
  lcp_solve *row = &s->rows[s->count++];
  memset(row, 0, sizeof *row);
  return row;
}

/* ---- The library ---- */

typedef struct objects {
  ts_context *context;
  ts_lcp *lcp;
  ts_vector *q, *z;
  ts_lcp_settings settings;
  ts_lcp_result result;
} objects;

static int make_objects(objects *o, const lcp_problem *p, ts_precision precision) {
  const ts_vector_desc vector = {.components = 1, .precision = precision};
  ts_status status = lcp_problem_create(o->context, p, TS_LCP_STORAGE_AUTO, precision, &o->lcp);
  if (status >= 0) status = ts_vector_create(ts_lcp_get_space(o->lcp), &vector, &o->q);
  if (status >= 0) status = ts_vector_create(ts_lcp_get_space(o->lcp), &vector, &o->z);
  if (status >= 0) status = ts_vector_write(o->q, ts_host(p->q, (size_t)p->size));
  if (status >= 0) status = ts_context_finish(o->context);
  return bench_check(status, o->context, "ts_lcp_create");
}

static void free_objects(objects *o) {
  ts_vector_destroy(&o->q);
  ts_vector_destroy(&o->z);
  ts_lcp_destroy(&o->lcp);
  ts_context_destroy(&o->context);
}

static int lcp_solves_solve(void *user, long count) {
  objects *o = user;
  ts_status status = TS_OK;
  for (long k = 0; k < count && status >= 0; k++)
    status = ts_lcp_solve(o->lcp, o->q, o->z, &o->settings, &o->result);
  if (status >= 0) status = ts_context_finish(o->context);
  return bench_check(status, o->context, "ts_lcp_solve");
}

static int measure(objects *o, const bench_options *options, const lcp_problem *p, ts_precision precision,
                   lcp_solve *row) {
  timing t;
  const double start = timing_now();
  if (make_objects(o, p, precision)) return 1;
  row->setup = timing_now() - start;
  o->settings = (ts_lcp_settings){.rtol = options->rtol, .max_sweeps = LCP_MAX_SWEEPS, .zero_start = 1};
  if (lcp_solves_solve(o, 1)) return 1;
  row->sweeps = o->result.sweeps;
  row->residual = o->result.relative_residual;
  row->seconds = row->spread = (double)NAN;
  if (!(row->residual <= options->rtol)) return 0;
  if (timing_measure(&t, options->repeat, BENCH_BATCH_SECONDS, lcp_solves_solve, o)) return 1;
  row->seconds = t.seconds;
  row->spread = t.spread;
  return 0;
}

static void describe(lcp_solve *row, const ts_context_info *info, ts_precision precision,
                     ts_lcp_scheme scheme) {
  char threads[24] = "";
  if (info->threads)
    snprintf(threads, sizeof threads, ", %d thread%s", info->threads, info->threads > 1 ? "s" : "");
  snprintf(row->setting, sizeof row->setting, "%.8s%s, %s, %s", info->backend, threads,
           ts_precision_name(precision), ts_lcp_scheme_name(scheme));
}

static int solve_ours(const bench_options *options, const lcp_problem *p, const char *backend, int threads,
                      ts_precision precision, lcp_solves *solves) {
  bench_options own = *options;
  objects o = {0};
  lcp_solve *row = lcp_solves_add(solves);
  if (!row) return 1;
  own.backend = backend;
  own.threads = threads;
  snprintf(row->solver, sizeof row->solver, "texsolve");
  ts_context_info info = {0};
  int failed = bench_open(&own, 0, 0, &o.context) || measure(&o, options, p, precision, row);
  if (!failed) failed = bench_check(ts_context_get_info(o.context, &info), o.context, "ts_context_get_info");
  if (!failed) describe(row, &info, precision, o.result.scheme);
  free_objects(&o);
  if (failed) solves->count--;
  return failed;
}

/* Solves on one thread of the CPU in double precision, which is the first row. Then solves as the options
 * request, if they differ, and by peers. Nonzero: something failed; the other rows are valid. */
static int solve_all(const bench_options *options, const bench_device *device, const lcp_problem *p,
                     lcp_solves *solves) {
  const int is_cpu = !device->is_gl && !device->is_cuda;
  int failed = 0;
  if (solve_ours(options, p, "cpu", 1, TS_PRECISION_DOUBLE, solves)) return 1;
  for (int k = TS_PRECISION_SINGLE; k <= TS_PRECISION_DOUBLE; k++) {
    const ts_precision precision = (ts_precision)k;
    if (precision != TS_PRECISION_SINGLE && precision != TS_PRECISION_DOUBLE) continue;
    if (options->precision >= 0 ? options->precision != k : precision != TS_PRECISION_DOUBLE) continue;
    if (is_cpu && device->threads == 1 && precision == TS_PRECISION_DOUBLE) continue;
    const char *backend = options->backend ? options->backend : "auto";
    failed |= solve_ours(options, p, backend, is_cpu ? device->threads : 0, precision, solves);
  }
  return lcp_peers(options, p, solves) || failed;
}

/* ---- Results ---- */

static void report_solves(report *r, const char *name, const lcp_problem *p, const lcp_solves *solves) {
  for (int k = 0; k < solves->count; k++) {
    const lcp_solve *s = &solves->rows[k];
    report_row(r, s->solver, s->setting, name, lcp_kind_name(p), (long long)p->size,
               (long long)p->matrix.nonzeros, (long long)s->is_peer,
               s->sweeps ? (double)s->sweeps : (double)NAN, 1e3 * s->seconds, 100 * s->spread, 1e3 * s->setup,
               s->residual, s->seconds > 0 ? "yes" : "no");
  }
}

/* The fastest peer of a name, or of all if NULL. */
static const lcp_solve *fastest(const lcp_solves *solves, const char *solver) {
  const lcp_solve *best = NULL;
  for (int k = 0; k < solves->count; k++) {
    const lcp_solve *s = &solves->rows[k];
    if (!s->is_peer || (solver && strcmp(s->solver, solver) != 0) || !(s->seconds > 0)) continue;
    if (!best || s->seconds < best->seconds) best = s;
  }
  return best;
}

static void set_ratio(ratio *to, const char *name, const lcp_problem *p, const lcp_solves *solves) {
  const lcp_solve *siconos = fastest(solves, "Siconos"), *peer = fastest(solves, NULL);
  snprintf(to->problem, sizeof to->problem, "%.22s", name);
  snprintf(to->kind, sizeof to->kind, "%s", lcp_kind_name(p));
  snprintf(to->siconos, sizeof to->siconos, "%s", siconos ? siconos->setting : "");
  snprintf(to->peer, sizeof to->peer, "%s%s%s", peer ? peer->solver : "", peer ? " " : "",
           peer ? peer->setting : "");
  to->ours = solves->rows[0].seconds;
  to->siconos_seconds = siconos ? siconos->seconds : (double)NAN;
  to->peer_seconds = peer ? peer->seconds : (double)NAN;
}

static int compare_numbers(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *numbers, int count) {
  if (!count) return (double)NAN;
  qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
  return (numbers[count / 2] + numbers[(count - 1) / 2]) / 2;
}

/* Over the problems that a peer solved. A problem that texsolve did not solve counts as 0. */
static void report_median(report *r, const ratio *ratios, int count, int with_friction) {
  double siconos[BENCH_MATRICES * BENCH_SIZES], peers[BENCH_MATRICES * BENCH_SIZES];
  int siconos_count = 0, peer_count = 0;
  for (int k = 0; k < count; k++) {
    const ratio *a = &ratios[k];
    const int has_friction = strncmp(a->kind, "friction", 8) == 0;
    if (has_friction != with_friction) continue;
    if (a->siconos_seconds > 0) siconos[siconos_count++] = a->ours > 0 ? a->siconos_seconds / a->ours : 0;
    if (a->peer_seconds > 0) peers[peer_count++] = a->ours > 0 ? a->peer_seconds / a->ours : 0;
  }
  if (peer_count > 1)
    report_row(r, "median", with_friction ? "friction" : "lcp", (double)NAN, (double)NAN,
               median(siconos, siconos_count), "", median(peers, peer_count), "", (double)NAN);
}

static void report_ratios(report *r, const ratio *ratios, int count) {
  int have_peers = 0;
  for (int k = 0; k < count; k++) have_peers |= ratios[k].peer_seconds > 0;
  if (!have_peers) return;
  report_table(r, "ratios",
               "Times as fast as Siconos in its fastest setting, and as the fastest peer: one thread, double",
               RATIOS, COUNT(RATIOS));
  for (int k = 0; k < count; k++) {
    const ratio *a = &ratios[k];
    report_row(r, a->problem, a->kind, 1e3 * a->ours, 1e3 * a->siconos_seconds, a->siconos_seconds / a->ours,
               a->siconos, a->peer_seconds / a->ours, a->peer, 1e3 * a->peer_seconds);
  }
  for (int with_friction = 0; with_friction < 2; with_friction++)
    report_median(r, ratios, count, with_friction);
}

/* ---- All problems ---- */

/* The last part of a file's path. */
static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

static int read_problem(lcp_problem *p, const char *name, int32_t size) {
  const int failed = lcp_is_generated(name) ? lcp_generate(p, name, size) : 0;
  if (failed) bench_error("%s: out of memory for a problem of %d unknowns", name, size);
  if (lcp_is_generated(name)) return failed;
  return lcp_read(&(lcp_options){.input = name, .friction = -1}, p);
}

/* 1: nothing was measured; BENCH_INCOMPLETE: a peer failed. */
static int run_problem(const bench_options *options, const bench_device *device, report *r, const char *path,
                       int32_t size, ratio *ratio) {
  lcp_problem p = {0};
  lcp_solves solves = {0};
  const char *name = base_name(path);
  int failed = read_problem(&p, path, size);
  if (!failed) {
    report_section(r, "%s: %s, %d unknowns, %lld entries", name, lcp_kind(&p), p.size,
                   (long long)p.matrix.nonzeros);
    bench_error_subject(name);
    failed = solve_all(options, device, &p, &solves);
    bench_error_subject(NULL);
    if (solves.count) {
      report_solves(r, name, &p, &solves);
      set_ratio(ratio, name, &p, &solves);
    }
  }
  const int is_measured = solves.count > 0;
  lcp_free(&p);
  free(solves.rows);
  return is_measured ? (failed ? BENCH_INCOMPLETE : 0) : 1;
}

static void report_terms(report *r, const bench_options *options) {
  char names[128];
  lcp_peer_names(names, sizeof names);
  report_field(r, "peers", "peers", "%s", *names ? names : "not built");
  report_field(r, "rtol", "tolerance", "%g", options->rtol);
  report_note(r, "Time: from the matrix in memory and z = 0 to z, including tests. set-up: ms to copy");
  report_note(
      r, "the matrix into the library's format. residual: ts_lcp_residual / ||q|| of each z. done, no: not");
  report_note(r, "solved in %d sweeps or, by peers, in 5 seconds. Peers use one thread and double precision.",
              (int)LCP_MAX_SWEEPS);
}

int bench_lcp_solves(const bench_options *options, const bench_device *device, report *r) {
  static const int32_t sizes[] = {300};
  ratio *ratios = calloc((size_t)BENCH_MATRICES * BENCH_SIZES, sizeof *ratios);
  int count = 0, left_out = 0;
  if (!ratios) {
    bench_error("out of memory");
    return 1;
  }
  report_terms(r, options);
  report_table(r, "solves", NULL, SOLVES, COUNT(SOLVES));
  for (int i = 0; i < options->matrix_count; i++) {
    const int is_generated = lcp_is_generated(options->matrices[i]);
    const int32_t *size = options->size_count ? options->sizes : sizes;
    for (int k = 0; k < (is_generated && options->size_count ? options->size_count : 1); k++) {
      const int failed = run_problem(options, device, r, options->matrices[i], size[k], &ratios[count]);
      left_out |= failed;
      count += failed != 1;
    }
  }
  report_ratios(r, ratios, count);
  free(ratios);
  return !count ? 1 : left_out ? BENCH_INCOMPLETE : 0;
}
