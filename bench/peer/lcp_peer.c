#include "lcp_peer.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <texsolve/lcp.h>
#include <texsolve/texsolve.h>
#include <unistd.h>

static const double BATCH_SECONDS = 0.02, LONGEST_RUN = 5, LONGEST_MEASUREMENT = 5;
enum { PROBE_SWEEPS = 10, MOST_TRIES = 8, BISECTIONS = 6, MOST_LOOSER = 3 };

static const char *program_name = "peer";
static lcp_peer *problem;
static json_t *answer, *results;
static FILE *reply; /* the real standard output; libraries may print to the redirected one */
static ts_context *context;
static ts_lcp *reference;
static ts_vector *q_vector, *z_vector;

void lcp_peer_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", program_name);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(1);
}

void *lcp_peer_memory(size_t count, size_t size) {
  void *block = calloc(count + !count, size);
  if (!block) lcp_peer_fail("no memory for %zu numbers", count);
  return block;
}

/* ---- The problem ---- */

static void read_array(void *to, size_t size, size_t count) {
  if (fread(to, size, count, stdin) != count) lcp_peer_fail("the problem on standard input ends early");
}

static double *read_numbers(size_t count) {
  double *numbers = lcp_peer_memory(count, sizeof *numbers);
  read_array(numbers, sizeof *numbers, count);
  return numbers;
}

static void read_problem(lcp_peer *p) {
  lcp_peer_header header;
  read_array(&header, sizeof header, 1);
  if (memcmp(header.magic, LCP_PEER_MAGIC, sizeof header.magic) != 0 || header.size < 1 ||
      header.dimension < 1 || header.dimension > 3 || header.size % header.dimension)
    lcp_peer_fail("what is on standard input is no problem of texsolve bench lcp");
  const size_t n = (size_t)header.size;
  p->size = header.size;
  p->dimension = header.dimension;
  p->matrix = read_numbers(n * n);
  p->q = read_numbers(n);
  for (size_t i = 0; i < n; i++) p->norm_q = hypot(p->norm_q, p->q[i]);
  if (p->norm_q <= 0) p->norm_q = 1;
  if (p->dimension > 1) {
    p->friction = read_numbers(n / (size_t)p->dimension);
    return;
  }
  p->lower = header.has_bounds ? read_numbers(n) : lcp_peer_memory(n, sizeof *p->lower);
  p->upper = header.has_bounds ? read_numbers(n) : lcp_peer_memory(n, sizeof *p->upper);
  for (size_t i = 0; i < n && !header.has_bounds; i++) p->upper[i] = INFINITY;
}

static void check(ts_status status) {
  if (status >= 0) return;
  const char *text = ts_last_error(context);
  lcp_peer_fail("the residual: %s", *text ? text : ts_status_text(status));
}

static void make_reference(const lcp_peer *p) {
  const ts_context_desc desc = {.backend = "cpu", .threads = 1};
  const size_t n = (size_t)p->size;
  const ts_lcp_desc lcp = {.size = p->size,
                           .dimension = p->dimension,
                           .matrix = ts_host(p->matrix, n * n),
                           .lower = ts_host(p->lower, n),
                           .upper = ts_host(p->upper, n),
                           .friction = ts_host(p->friction, n / (size_t)p->dimension),
                           .precision = TS_PRECISION_DOUBLE};
  const ts_vector_desc vector = {.components = 1, .precision = TS_PRECISION_DOUBLE};
  check(ts_context_create(&desc, &context));
  check(ts_lcp_create(context, &lcp, &reference));
  check(ts_vector_create(ts_lcp_get_space(reference), &vector, &q_vector));
  check(ts_vector_create(ts_lcp_get_space(reference), &vector, &z_vector));
  check(ts_vector_write(q_vector, ts_host(p->q, (size_t)p->size)));
}

double lcp_peer_residual(const double *z) {
  double residual;
  for (int32_t i = 0; i < problem->size; i++)
    if (!isfinite(z[i])) return INFINITY;
  check(ts_vector_write(z_vector, ts_host(z, (size_t)problem->size)));
  check(ts_lcp_residual(reference, q_vector, z_vector, &residual));
  return residual / problem->norm_q;
}

/* BLAS reads its number of threads before main begins. */
static void restrict_threads(char **argv) {
  if (getenv("OPENBLAS_NUM_THREADS") && getenv("OMP_NUM_THREADS")) return;
  if (setenv("OPENBLAS_NUM_THREADS", "1", 1) || setenv("OMP_NUM_THREADS", "1", 1) ||
      setenv("MKL_NUM_THREADS", "1", 1))
    return;
  execv("/proc/self/exe", argv);
}

void lcp_peer_begin(lcp_peer *p, const char *program, int argc, char **argv) {
  program_name = program;
  memset(p, 0, sizeof *p);
  if (argc != 4)
    lcp_peer_fail("usage: %s REPEAT RTOL MAX_SWEEPS <problem; texsolve bench lcp starts it", program);
  restrict_threads(argv);
  p->repeat = atoi(argv[1]);
  p->rtol = atof(argv[2]);
  p->max_sweeps = atoi(argv[3]);
  const int output = dup(STDOUT_FILENO);
  reply = output < 0 ? NULL : fdopen(output, "w");
  if (!reply || !freopen("/dev/null", "w", stdout)) lcp_peer_fail("no second standard output");
  read_problem(p);
  problem = p;
  make_reference(p);
  timing_set_longest(LONGEST_MEASUREMENT);
  answer = json_object();
  results = json_array();
  if (!answer || !results) lcp_peer_fail("out of memory");
}

/* ---- Measuring ---- */

typedef struct attempt {
  lcp_peer_solve solve;
  void *user;
  double tolerance;
  int max_sweeps, sweeps;
  double *z;
} attempt;

static int lcp_peer_run(void *user, long count) {
  attempt *a = user;
  for (long k = 0; k < count; k++) {
    memset(a->z, 0, (size_t)problem->size * sizeof *a->z);
    a->sweeps = a->solve(a->user, a->tolerance, a->max_sweeps, a->z);
    if (a->sweeps < 0) return 1;
  }
  return 0;
}

/* Limits the sweeps to those that fit into the longest run. Nonzero: the library fails on this problem. */
static int limit_sweeps(attempt *a) {
  a->max_sweeps = PROBE_SWEEPS < problem->max_sweeps ? PROBE_SWEEPS : problem->max_sweeps;
  if (lcp_peer_run(a, 1)) return 1;
  const double start = timing_now();
  if (lcp_peer_run(a, 1)) return 1;
  const double fit = LONGEST_RUN / (timing_now() - start) * (a->sweeps > 0 ? a->sweeps : 1);
  a->max_sweeps = fit < problem->max_sweeps ? (int)fit : problem->max_sweeps;
  if (a->max_sweeps < PROBE_SWEEPS) a->max_sweeps = PROBE_SWEEPS;
  return 0;
}

/* Solves once to a tolerance of the library's own measure; returns the residual. */
static double try_tolerance(attempt *a, double tolerance) {
  a->tolerance = tolerance;
  return lcp_peer_run(a, 1) ? (double)INFINITY : lcp_peer_residual(a->z);
}

/* The largest sufficient tolerance between one that is too large and one that is smaller than necessary. */
static double relax_tolerance(attempt *a, double too_large, double enough) {
  int sweeps = a->sweeps;
  for (int k = 0; k < BISECTIONS && too_large / enough > 1.1; k++) {
    const double middle = sqrt(too_large * enough);
    const int is_enough = try_tolerance(a, middle) <= problem->rtol;
    if (is_enough && a->sweeps <= sweeps) sweeps = a->sweeps, enough = middle;
    if (!is_enough) too_large = middle;
    if (is_enough && enough < middle) break;
  }
  return enough;
}

/* If the library's measure is stricter, finds a tolerance that is too large. */
static double loosen_tolerance(attempt *a, double *enough) {
  double too_large = *enough;
  for (int k = 0; k < MOST_LOOSER; k++) {
    too_large *= 10;
    if (try_tolerance(a, too_large) > problem->rtol) break;
    *enough = too_large;
  }
  (void)try_tolerance(a, *enough); /* to count its sweeps */
  return too_large;
}

/* Tightens or loosens the library's own tolerance until the residual is as requested, but not unnecessarily
 * small. */
static double find_tolerance(attempt *a) {
  double best = INFINITY, tolerance = problem->rtol, before = problem->rtol, too_large = 0;
  for (int k = 0; k < MOST_TRIES; k++) {
    const double residual = try_tolerance(a, tolerance);
    before = tolerance;
    best = fmin(best, residual);
    if (residual <= problem->rtol) {
      if (k == 0) too_large = loosen_tolerance(a, &tolerance);
      before = relax_tolerance(a, too_large, tolerance);
      break;
    }
    if (!isfinite(residual) || a->sweeps >= a->max_sweeps) break;
    too_large = tolerance;
    tolerance *= fmax(0.8 * problem->rtol / residual, 1e-3);
  }
  a->tolerance = before;
  return best;
}

void lcp_peer_measure(const char *implementation, const char *setting, double setup_seconds,
                      lcp_peer_solve solve, void *user) {
  attempt a = {.solve = solve, .user = user, .tolerance = problem->rtol};
  timing t = {0};
  a.z = lcp_peer_memory((size_t)problem->size, sizeof *a.z);
  double residual = INFINITY;
  int failed = limit_sweeps(&a);
  if (!failed) residual = find_tolerance(&a);
  /* A run that does not reach the tolerance has no meaningful time. */
  if (!failed && residual <= problem->rtol) {
    failed = timing_measure(&t, problem->repeat, BATCH_SECONDS, lcp_peer_run, &a);
    residual = failed ? INFINITY : lcp_peer_residual(a.z);
  }
  json_t *entry = json_pack("{s:s, s:s, s:i, s:f, s:f, s:f, s:f}", "implementation", implementation, "setting",
                            setting, "sweeps", a.sweeps > 0 ? a.sweeps : 0, "seconds", t.seconds, "spread",
                            t.spread, "setup", setup_seconds, "residual", isfinite(residual) ? residual : -1);
  if (!entry || json_array_append_new(results, entry)) lcp_peer_fail("out of memory");
  free(a.z);
}

int lcp_peer_end(void) {
  json_object_set_new(answer, "results", results);
  const int failed = json_dumpf(answer, reply, JSON_COMPACT) != 0 || fclose(reply) == EOF;
  json_decref(answer);
  ts_vector_destroy(&q_vector);
  ts_vector_destroy(&z_vector);
  ts_lcp_destroy(&reference);
  ts_context_destroy(&context);
  double *const arrays[] = {problem->matrix, problem->q, problem->friction, problem->lower, problem->upper};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  return failed;
}
