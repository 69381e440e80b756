/* texsolve bench limits|spmv|blas|cg|multigrid|system|compare|paper: what a device can do, and how near the
 * library comes to it. */
#include "bench.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "commands.h"
#include "reorder.h"
#include "report.h"
#include "timing.h"

typedef struct benchmark {
  const char *name;
  int (*run)(const bench_options *options, report *r);
} benchmark;

static const benchmark BENCHMARKS[] = {
    {"limits", bench_limits},   {"spmv", bench_spmv},           {"blas", bench_blas},
    {"cg", bench_cg},           {"multigrid", bench_multigrid}, {"system", bench_system},
    {"compare", bench_compare}, {"paper", bench_paper},
};
enum { BENCHMARK_COUNT = sizeof BENCHMARKS / sizeof *BENCHMARKS };

/* Options without a letter. */
enum { OPTION_BACKENDS = 256, OPTION_SET, OPTION_REORDER };

static const struct argp_option OPTIONS[] = {
    {"backend", 'B', "NAME", 0, "Backend: auto (the default), cuda, gl, gl:1, cpu, check:gl", 0},
    {"format", 'f', "NAME", 0,
     "Storage of the matrix: jagged, segments, csr, bcrs2, bcrs4 (default: all that the backend has)", 0},
    {"size", 's', "N", 0,
     "Rows, or points a side of a grid; k and M after the number mean 1024 and 1048576; compare takes "
     "several with commas between them; paper: the largest mesh's unknowns",
     0},
    {"matrix", 'm', "NAME", 0,
     "A generated matrix (grid: triangulated grid with 7 entries a row; laplace2d, laplace3d; random: "
     "random rows of uneven length; fem3, fem4: 3-D, with 3 or 4 unknowns a node; powerlaw; uneven; banded; "
     "denserow: a grid with one full row; default: all of these, compare: grid), a Delaunay triangulation in "
     "random order (delaunay), a network (rmat), a mesh's conformal map (lscm) or smoothing (dsi), or a Matrix "
     "Market file",
     0},
    {"reorder", OPTION_REORDER, "NAME", 0,
     "Of spmv, cg and compare: bring matrices into another order of their unknowns: rcm (reverse "
     "Cuthill-McKee), "
     "amd, metis, random, or none, the default",
     0},
    {"components", 'c', "N", 0, "Components of the vectors, 1 to 4 (default 1)", 0},
    {"rectangle", 'r', "WxH", 0, "Pack rows in rectangles of this many texels: powers of two up to 256", 0},
    {"threads", 't', "N", 0, "Threads of the CPU backend", 0},
    {"repeat", 'n', "N", 0, "Batches per measurement, of which the median is printed (default 7, paper: 3)", 0},
    {"json", 'j', 0, 0, "Print one JSON object", 0},
    {0, 0, 0, 0, "Of compare and paper:", 1},
    {"backends", OPTION_BACKENDS, "LIST", 0,
     "Backends with commas between them (default: gl,cuda,cpu, of which those that are absent are left out)",
     1},
    {"set", OPTION_SET, 0, 0, "Of compare: every generated matrix, and the geometric mean", 1},
    {0, 0, 0, 0, 0, 0},
};

static const char DOC[] =
    "Measures a device and the library on it."
    "\v"
    "limits  what the device can do: texel fetches, render-target writes, copies, multiply-adds, the cost of a "
    "pass that depends on another, and the best rectangle for the rows of a matrix; on the CPU bandwidth, "
    "multiply-adds and the cost of a parallel region\n"
    "spmv    the product of a matrix and a vector\n"
    "blas    operations on vectors, and reductions\n"
    "cg      an iteration of conjugate gradients\n"
    "multigrid  cycles and solves of a Poisson problem on a grid of --size N x N points\n"
    "system  stating a system of equations and building its matrix, over the --size vertices of a grid\n"
    "compare [MATRIX...]  every format on every backend, and other libraries where they are built: a product, "
    "conjugate gradients, axpy, dot\n"
    "paper  figures 8, 9 and 11 of Buatois, Caumon and Levy 2008 on meshes of their sizes, 1.5 k to 1 M "
    "unknowns: "
    "every format on every backend, and the error of conjugate gradients in single precision\n\n"
    "All but limits, compare and paper also measure the limits that concern them, and print which part of them "
    "is "
    "reached: the "
    "least time of an OpenGL pass is the larger of fetches / fetch rate and texels written / write rate, and "
    "at "
    "least the cost of a dependent pass; on the CPU it is bytes / bandwidth.";

typedef struct arguments {
  bench_options options;
  const benchmark *benchmark;
  int is_reordered;
} arguments;

/* A whole number from 1 to `most`, with k or M after it if `suffix`; 0 if it is none. */
static long whole_number(const char *text, long most, int suffix) {
  char *end;
  const long n = strtol(text, &end, 10);
  long unit = 1;
  if (suffix && *end == 'k')
    unit = 1024, ++end;
  else if (suffix && *end == 'M')
    unit = 1024L * 1024, ++end;
  return end != text && !*end && n >= 1 && n <= most / unit ? n * unit : 0;
}

/* "4M" or "1k,16k,4M" */
static void parse_sizes(bench_options *o, const char *text, struct argp_state *state) {
  char number[16];
  for (const char *at = text;; ++at) {
    const size_t length = strcspn(at, ",");
    number[0] = '\0';
    if (length < sizeof number) snprintf(number, sizeof number, "%.*s", (int)length, at);
    const int32_t size = (int32_t)whole_number(number, INT32_MAX, 1);
    if (!size) argp_error(state, "--size %s: expected a number of rows such as 5000, 16k or 4M", text);
    if (o->size_count == BENCH_SIZES) argp_error(state, "--size %s: more than %d sizes", text, BENCH_SIZES);
    o->sizes[o->size_count++] = size;
    at += length;
    if (!*at) break;
  }
  o->size = o->sizes[0];
}

static void parse_argument(arguments *a, const char *text, struct argp_state *state) {
  bench_options *o = &a->options;
  if (state->arg_num == 0) {
    for (int i = 0; i < BENCHMARK_COUNT; ++i)
      if (!strcmp(text, BENCHMARKS[i].name)) a->benchmark = &BENCHMARKS[i];
    if (!a->benchmark)
      argp_error(state,
                 "unknown benchmark '%s': known are limits, spmv, blas, cg, multigrid, system, compare, "
                 "paper",
                 text);
    return;
  }
  if (a->benchmark->run != bench_compare) argp_error(state, "unexpected argument '%s'", text);
  if (o->matrix_count == BENCH_MATRICES) argp_error(state, "more than %d matrices", BENCH_MATRICES);
  o->matrices[o->matrix_count++] = text;
}

/* What only compare can do, and what it cannot. */
static void check_options(const arguments *a, struct argp_state *state) {
  const bench_options *o = &a->options;
  if (!a->benchmark) return;
  int (*const run)(const bench_options *, report *) = a->benchmark->run;
  if (a->is_reordered && run != bench_spmv && run != bench_cg && run != bench_compare)
    argp_error(state, "--reorder is for spmv, cg and compare");
  if (run != bench_compare && o->set) argp_error(state, "--set is for compare");
  if (run != bench_compare && o->size_count > 1) argp_error(state, "several sizes are for compare");
  if (run == bench_paper && o->matrix) argp_error(state, "paper has matrices of its own");
  if (run == bench_compare || run == bench_paper) {
    if (o->components != 1) argp_error(state, "%s works on vectors of one component", a->benchmark->name);
    return;
  }
  if (o->backends)
    argp_error(state, "--backends is for compare and paper; %s takes --backend", a->benchmark->name);
}

static error_t parse_option(int key, char *text, struct argp_state *state) {
  arguments *a = state->input;
  bench_options *o = &a->options;
  switch (key) {
  case 'B':
    o->backend = text;
    break;
  case 'm':
    o->matrix = text;
    break;
  case 'j':
    o->json = 1;
    break;
  case 'f': {
    const int format = ts_format_from_name(text);
    if (format < 0)
      argp_error(state, "unknown format '%s': known are auto, jagged, segments, csr, bcrs2, bcrs4", text);
    o->format = (ts_format)format;
    break;
  }
  case 's':
    parse_sizes(o, text, state);
    break;
  case OPTION_BACKENDS:
    o->backends = text;
    break;
  case OPTION_REORDER:
    if (bench_order_set(text)) argp_error(state, "--reorder %s: known are " REORDER_NAMES, text);
    a->is_reordered = 1;
    break;
  case OPTION_SET:
    o->set = 1;
    break;
  case 'c':
    o->components = (int)whole_number(text, 4, 0);
    if (!o->components) argp_error(state, "--components %s: expected 1 to 4", text);
    break;
  case 't':
    o->threads = (int)whole_number(text, 4096, 0);
    if (!o->threads) argp_error(state, "--threads %s: expected 1 to 4096", text);
    break;
  case 'n':
    o->repeat = (int)whole_number(text, 101, 0);
    if (!o->repeat) argp_error(state, "--repeat %s: expected 1 to 101", text);
    break;
  case 'r': {
    char end;
    if (sscanf(text, "%dx%d%c", &o->rectangle_width, &o->rectangle_height, &end) != 2)
      argp_error(state, "--rectangle %s: expected a width and a height such as 32x16", text);
    break;
  }
  case ARGP_KEY_ARG:
    parse_argument(a, text, state);
    break;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "which benchmark? limits, spmv, blas, cg, multigrid, system, compare or paper");
    break;
  case ARGP_KEY_END:
    check_options(a, state);
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

int cmd_bench(int argc, char **argv) {
  static const struct argp parser = {
      OPTIONS, parse_option, "limits|spmv|blas|cg|multigrid|system|paper\ncompare [MATRIX...]", DOC, 0, 0, 0};
  arguments a;
  memset(&a, 0, sizeof a);
  a.options.components = 1;
  argp_err_exit_status = EXIT_USAGE;
  arguments_parse_command(&parser, argc, argv, &a);

  const int is_paper = a.benchmark->run == bench_paper;
  if (!a.options.repeat) a.options.repeat = is_paper ? 3 : 7;
  report *r = report_open(a.benchmark->name, a.options.json);
  if (!r) {
    bench_error("out of memory");
    return EXIT_ERROR;
  }
  const int outcome = a.benchmark->run(&a.options, r);
  if (outcome && outcome != BENCH_INCOMPLETE) {
    report_abandon(&r);
    return EXIT_ERROR;
  }
  bench_order_report(r);
  if (timing_largest_spread() > 0.5)
    report_note(
        r, "Some batches took longer than others by %.0f %% of the median: the device was busy; measure again.",
        100 * timing_largest_spread());
  if (report_close(&r)) {
    bench_error("writing to standard output failed");
    return EXIT_ERROR;
  }
  return outcome ? EXIT_ERROR : 0;
}
