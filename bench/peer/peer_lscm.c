/* Compares least-squares conformal maps by texsolve and by Eigen, with the same mesh, pins and start, to the
 * same residual of the normal equations. The host computes it in double precision for both:
 *
 *   peer-lscm [FILE] [--generate=face:250000] [--backend=cuda] [--rtol=1e-6] [--threads=2] [--peers=LIST]
 *
 * Each solve is printed as soon as it is done, so that stopping a long one loses nothing. A solve that does not
 * reach the residual is shown without a comparison. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arguments.h"
#include "flattening.h"
#include "lscm_eigen.h"
#include "mesh_load.h"
#include "message.h"
#include "options.h"
#include "program.h"
#include "progress.h"

enum { EXIT_MISSED = 3 }; /* texsolve did not reach the residual */

/* The start: along the mesh, or the result of coarser meshes. */
enum { FROM_DISTANCES, FROM_LEVELS, STARTS };
/* texsolve's variants: from either start with Jacobi's preconditioner, or with algebraic multigrid. */
enum { JACOBI, LEVELS, AMG, WAYS };
enum { PEERS = LSCM_DIRECT + 1, MOST_ROWS = WAYS + PEERS };

static const char *const start_names[STARTS] = {"distances", "levels"};
static const char *const way_names[WAYS] = {"jacobi", "levels", "amg"};
static const char *const peer_names[PEERS] = {[LSCM_CG] = "cg", [LSCM_DIRECT] = "direct"};
static const char *const peer_texts[PEERS] = {
    [LSCM_CG] = "Eigen, CG, double", [LSCM_DIRECT] = "CHOLMOD, factorization"};

typedef struct program_options {
  load_options load;
  ts_context_desc device;
  conformal_options conformal;
  int ways[WAYS], wanted[PEERS]; /* flags */
} program_options;

typedef struct row {
  char name[48];
  int method; /* lscm_method, or -1: texsolve */
  int start;
  int iterations;
  /* Wall-clock seconds, and CPU seconds of all threads. A solve of texsolve that starts from coarser meshes
   * includes the time on these. */
  double setup, setup_cpu, solve, solve_cpu;
  double residual, angles; /* the mean ratio of singular values */
  double *uv;
} row;

typedef struct run {
  const program_options *options;
  flattening f;
  load_report loaded;
  ts_context *context;
  lscm_eigen *eigen;
  double *levels_start, levels_seconds, levels_cpu;
  row rows[MOST_ROWS];
  int count;
  char why[MESH_MESSAGE];
} run;

static double cpu_seconds(void) {
  return (double)clock() / CLOCKS_PER_SEC;
}

static size_t numbers(const run *r) {
  return 2 * (size_t)r->f.c.vertices;
}

/* ---- Report ---- */

static int reached(const run *r, const row *one) {
  return one->method == LSCM_DIRECT || one->residual <= r->options->conformal.rtol;
}

static double apart(const run *r, const row *one) {
  const row *known = NULL;
  double most = 0;
  for (int i = 0; i < r->count; i++)
    if (r->rows[i].method == LSCM_DIRECT) known = &r->rows[i];
  if (!known || known == one) return NAN;
  for (size_t i = 0; i < numbers(r); i++) most = fmax(most, fabs(one->uv[i] - known->uv[i]));
  return most;
}

/* Includes CPU time, because the machine may be shared. */
static void print_heading(void) {
  printf("%-32s %-9s %10s %17s %19s\n", "", "", "", "set-up, seconds", "solve, seconds");
  printf("%-32s %-9s %10s %8s %8s %9s %9s %10s %9s  %9s\n", "solver", "start", "iterations", "passed", "cpu",
         "passed", "cpu", "residual", "angles", "apart");
  fflush(stdout);
}

static void print_row(const run *r, const row *one) {
  const double distance = apart(r, one);
  printf("%-32s %-9s %10d %8.2f %8.2f %9.3f %9.3f %10.2e %9.6f  ", one->name, start_names[one->start],
         one->iterations, one->setup, one->setup_cpu, one->solve, one->solve_cpu, one->residual, one->angles);
  if (isnan(distance))
    printf("%9s", "");
  else
    printf("%9.1e", distance);
  printf("%s\n", reached(r, one) ? "" : "  not reached");
  fflush(stdout);
}

static void print_problem(const run *r, const conformal_result *system) {
  ts_context_info device = {0};
  const lscm_forming forming = lscm_eigen_forming(r->eigen);
  ts_context_get_info(r->context, &device);
  printf("mesh        %s: %d flat vertices, %d triangles\n", r->loaded.name, (int)r->f.c.vertices,
         (int)r->f.m.triangle_count);
  printf("system      %d unknowns, normal equations: %lld entries, format %s; Eigen's: %lld, of which %lld are "
         "kept\n",
         (int)system->unknowns, (long long)system->nonzeros, ts_format_name(system->format), forming.formed,
         forming.kept);
  printf("backend     %s: %s\n", device.backend, device.device);
  if (r->options->device.threads)
    printf("threads     %d of Eigen and of the CPU backend\n", r->options->device.threads);
  printf("residual    %g of the normal equations, in double precision on the host\n\n",
         r->options->conformal.rtol);
  print_heading();
}

static int any_missed(const run *r) {
  int missed = 0;
  for (int i = 0; i < r->count; i++) missed |= r->rows[i].method < 0 && !reached(r, &r->rows[i]);
  return missed;
}

/* Eigen's conjugate gradients, if they converged. */
static const row *peer_of(const run *r) {
  for (int i = 0; i < r->count; i++)
    if (r->rows[i].method == LSCM_CG && reached(r, &r->rows[i])) return &r->rows[i];
  return NULL;
}

static void print_ratios(const run *r) {
  const row *peer = peer_of(r);
  putchar('\n');
  if (!peer) {
    printf("No conjugate gradients of Eigen's from distances reached %g: nothing to compare with.\n",
           r->options->conformal.rtol);
    return;
  }
  for (int i = 0; i < r->count; i++) {
    const row *one = &r->rows[i];
    if (one->method >= 0) continue;
    printf("%s from %s: ", one->name, start_names[one->start]);
    if (!reached(r, one)) {
      printf("did not reach %g, no result\n", r->options->conformal.rtol);
      continue;
    }
    printf("%.1f times as fast as %s from distances, set-up included %.1f times\n", peer->solve / one->solve,
           peer->name, (peer->setup + peer->solve) / (one->setup + one->solve));
  }
}

/* ---- Solves ---- */

/* Adds a row and sets its start. */
static row *begin_row(run *r, const char *name, int method, int start) {
  row *next = &r->rows[r->count];
  *next = (row){.method = method, .start = start, .uv = malloc(numbers(r) * sizeof *next->uv)};
  snprintf(next->name, sizeof next->name, "%s", name);
  if (!next->uv) {
    mesh_fail(r->why, "out of memory for %zu unknowns", numbers(r));
    return NULL;
  }
  memcpy(next->uv, start == FROM_LEVELS ? r->levels_start : r->f.start, numbers(r) * sizeof *next->uv);
  r->count++;
  progress_begin("%s", name);
  return next;
}

static int finish_row(run *r, row *done) {
  distortion d;
  if (conformal_residual(&r->f.m, &r->f.c, r->f.pinned, done->uv, &done->residual, r->why)) return 1;
  if (distortion_find(&r->f.m, &r->f.c, done->uv, &d, r->why)) return 1;
  done->angles = d.angle_mean;
  distortion_free(&d);
  progress_clear();
  print_row(r, done);
  return 0;
}

/* A program compiles shaders and loads kernels only once. */
static int warm_up(run *r, conformal_result *system) {
  conformal_options few = r->options->conformal;
  double *uv = malloc(numbers(r) * sizeof *uv);
  if (!uv) return mesh_fail(r->why, "out of memory for %zu unknowns", numbers(r));
  memcpy(uv, r->f.start, numbers(r) * sizeof *uv);
  few.max_iterations = 20;
  const int failed = conformal_solve(r->context, &r->f.m, &r->f.c, r->f.pinned, &few, uv, system, r->why);
  free(uv);
  return failed;
}

/* Records the CPU time until the first check of the residual. It equals that of the set-up except for a few
 * iterations. */
static int note_set_up(const ts_progress *progress, void *user) {
  double *cpu = user;
  (void)progress;
  if (isnan(*cpu)) *cpu = cpu_seconds();
  return 0;
}

static int solve_ours(run *r, const char *backend, int way) {
  conformal_options options = r->options->conformal;
  conformal_result result;
  char name[48];
  const int start = way == LEVELS ? FROM_LEVELS : FROM_DISTANCES;
  options.preconditioner = way == AMG ? CONFORMAL_AMG : CONFORMAL_JACOBI;
  snprintf(name, sizeof name, "texsolve, %.12s%s", backend, way == AMG ? ", amg" : "");
  row *next = begin_row(r, name, -1, start);
  if (!next) return 1;
  double cpu_set_up = NAN;
  options.progress = note_set_up;
  options.progress_user = &cpu_set_up;
  const double begin = seconds_now(), cpu = cpu_seconds();
  if (conformal_solve(r->context, &r->f.m, &r->f.c, r->f.pinned, &options, next->uv, &result, r->why)) return 1;
  next->iterations = result.iterations;
  next->solve = result.seconds_solve;
  next->setup = seconds_now() - begin - next->solve;
  const double end = cpu_seconds();
  if (isnan(cpu_set_up)) cpu_set_up = end;
  next->setup_cpu = cpu_set_up - cpu;
  next->solve_cpu = end - cpu_set_up;
  if (start == FROM_LEVELS) {
    next->solve += r->levels_seconds;
    next->solve_cpu += r->levels_cpu;
  }
  return finish_row(r, next);
}

static int solve_levels(run *r) {
  levels_result result;
  r->levels_start = malloc(numbers(r) * sizeof *r->levels_start);
  if (!r->levels_start) return mesh_fail(r->why, "out of memory for %zu unknowns", numbers(r));
  memcpy(r->levels_start, r->f.start, numbers(r) * sizeof *r->levels_start);
  progress_begin("coarser meshes");
  const double start = seconds_now(), cpu = cpu_seconds();
  if (levels_solve(r->context, &r->f.m, &r->f.c, r->f.pinned, &r->options->conformal, r->levels_start, &result,
                   r->why))
    return 1;
  r->levels_seconds = seconds_now() - start;
  r->levels_cpu = cpu_seconds() - cpu;
  return 0;
}

static int solve_theirs(run *r, lscm_method method) {
  lscm_outcome outcome;
  row *next = begin_row(r, peer_texts[method], (int)method, FROM_DISTANCES);
  if (!next) return 1;
  if (lscm_eigen_solve(r->eigen, method, r->options->conformal.rtol, r->options->conformal.max_iterations,
                       next->uv, &outcome, r->why))
    return 1;
  const lscm_forming forming = lscm_eigen_forming(r->eigen);
  next->iterations = outcome.iterations;
  next->setup = forming.seconds + outcome.seconds_setup;
  next->setup_cpu = forming.cpu + outcome.cpu_setup;
  next->solve = outcome.seconds_solve;
  next->solve_cpu = outcome.cpu_solve;
  return finish_row(r, next);
}

/* ---- The program ---- */

static int open_run(run *r) {
  mesh m;
  int32_t *vertex_of_original = NULL;
  const flattening_options options = {.start = START_DISTANCES};
  if (load_mesh(&r->options->load, &m, &vertex_of_original, &r->loaded, r->why)) return 1;
  free(vertex_of_original);
  if (flattening_create(&m, &options, &r->f, r->why)) return 1;
  if (ts_context_create(&r->options->device, &r->context) != TS_OK)
    return mesh_fail(r->why, "%s", ts_last_error(NULL));
  const lscm_problem problem = {&r->f.m, &r->f.c, r->f.pinned};
  progress_begin("Eigen's normal equations");
  return lscm_eigen_create(&problem, r->f.start, r->options->device.threads, &r->eigen, r->why);
}

static int solve_all(run *r, conformal_result *system) {
  ts_context_info device;
  const program_options *o = r->options;
  if (ts_context_get_info(r->context, &device) != TS_OK || warm_up(r, system)) return 1;
  print_problem(r, system);
  /* Runs first, because the other rows report their distance from it. */
  if (o->wanted[LSCM_DIRECT] && solve_theirs(r, LSCM_DIRECT)) return 1;
  if (o->ways[LEVELS] && solve_levels(r)) return 1;
  for (int way = 0; way < WAYS; way++)
    if (o->ways[way] && solve_ours(r, device.backend, way)) return 1;
  return o->wanted[LSCM_CG] && solve_theirs(r, LSCM_CG);
}

static void close_run(run *r) {
  for (int i = 0; i < r->count; i++) free(r->rows[i].uv);
  free(r->levels_start);
  lscm_eigen_destroy(&r->eigen);
  ts_context_destroy(&r->context);
  flattening_destroy(&r->f);
}

/* Parses words separated by commas, and sets their flags. */
static void parse_words(const char *option, const char *text, const char *const *words, int count,
                        const char *expected, int *flags) {
  memset(flags, 0, (size_t)count * sizeof *flags);
  for (const char *at = text; *at;) {
    const size_t length = strcspn(at, ",");
    int found = -1;
    for (int k = 0; k < count; k++)
      if (strlen(words[k]) == length && !strncmp(words[k], at, length)) found = k;
    if (found < 0)
      arguments_usage("%s: '%.*s', expected %s, with commas between them", option,
                      (int)(length < 40 ? length : 40), at, expected);
    flags[found] = 1;
    at += length + (at[length] == ',');
  }
}

static void set_ways(void *options, const char *text) {
  parse_words("--ways", text, way_names, WAYS, "some of jacobi, levels and amg",
              ((program_options *)options)->ways);
}

static void set_peers(void *options, const char *text) {
  parse_words("--peers", text, peer_names, PEERS, "some of cg and direct",
              ((program_options *)options)->wanted);
}

static const option_row rows[] = {
    OPTION_INPUT("mesh", load.path),
    OPTION_TEXT("generate", "WHAT", load.generate, "a mesh instead of a file (default: face:250000)"),
    OPTION_ROW(BACKEND, "backend", "NAME", device.backend, .help = "of texsolve (default: auto)"),
    OPTION_FORMAT(conformal.format, "auto, jagged, segments, csr, bcrs2 or bcrs4",
                  "of texsolve's matrix (default: auto)"),
    OPTION_RTOL(conformal.rtol, "the residual to reach (default: 1e-6)"),
    OPTION_WHOLE("max-iterations", "N", conformal.max_iterations, 1, 100000000,
                 "of each solve (default: 100000)"),
    OPTION_WHOLE("threads", "N", device.threads, 1, 1024, "of Eigen and of the CPU backend (default: all)"),
    OPTION_PARSED("ways", "LIST", set_ways, "of texsolve: jacobi, levels, amg (default: all)"),
    OPTION_PARSED("peers", "LIST", set_peers, "cg, direct (default: both)"),
    OPTION_END};

int main(int argc, char **argv) {
  program_options options = {
      .load.seed = 1,
      .conformal = {.preconditioner = CONFORMAL_JACOBI, .rtol = 1e-6, .max_iterations = 100000},
      .ways = {1, 1, 1},
      .wanted = {1, 1}};
  run r = {.options = &options};
  conformal_result system = {0};
  program_begin("peer-lscm");
  options_read("peer-lscm", rows,
               "Times a least-squares conformal map by texsolve and by Eigen to the same residual.", argc, argv,
               &options);
  if (!options.load.path && !options.load.generate) options.load.generate = (char[]){"face:250000"};
  progress_enable(1);
  const int failed = open_run(&r) || solve_all(&r, &system);
  progress_clear();
  if (failed)
    message("%s", r.why);
  else
    print_ratios(&r);
  const int missed = !failed && any_missed(&r);
  close_run(&r);
  if (failed || message_flush_stdout()) return 1;
  return missed ? EXIT_MISSED : 0;
}
