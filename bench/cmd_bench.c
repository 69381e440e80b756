/* texsolve bench
 * limits|spmv|blas|cg|multigrid|system|tune|compare|paper|precision|answer|amg|auto|batch|ilu|families|lcp|scaling:
 * the limits of a device, the library's efficiency, and the accuracy of its results. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "commands.h"
#include "options.h"
#include "progress.h"
#include "ranks.h"
#include "report.h"
#include "timing.h"

/* Options of a benchmark in addition to the common ones. */
enum {
  MATRICES = 1, /* matrices or problems, listed after the benchmark's name */
  SIZES = 2,    /* several */
  BACKENDS = 4, /* one after the other, with one component */
  SOLVES = 8,   /* solves to a tolerance, in a precision */
  HIERARCHY = 16,
  REORDER = 32,
  LONG = 64 /* a few runs suffice */
};

typedef struct benchmark {
  const char *name;
  int (*run)(const bench_options *options, report *r);
  unsigned accepts;
  double rtol; /* default; 0: the benchmark's own */
} benchmark;

static const benchmark BENCHMARKS[] = {
    {"limits", bench_limits, 0, 0},
    {"spmv", bench_spmv, REORDER, 0},
    {"blas", bench_blas, 0, 0},
    {"cg", bench_cg, REORDER, 0},
    {"multigrid", bench_multigrid, 0, 0},
    {"system", bench_system, 0, 0},
    {"compare", bench_compare, MATRICES | SIZES | BACKENDS | REORDER, 0},
    {"paper", bench_paper, BACKENDS | LONG, 0},
    {"tune", bench_tune, 0, 0},
    {"precision", bench_precision, MATRICES | BACKENDS | SOLVES | LONG, 1e-10},
    {"answer", bench_answer, MATRICES | SIZES | BACKENDS | SOLVES, 1e-8},
    {"amg", bench_amg, MATRICES | SIZES | BACKENDS | SOLVES | HIERARCHY | LONG, 1e-8},
    {"auto", bench_auto, MATRICES | SIZES | SOLVES | LONG, 1e-8},
    {"batch", bench_batch, SIZES | SOLVES, 1e-8},
    {"ilu", bench_ilu, MATRICES | SIZES | BACKENDS | SOLVES | LONG, 1e-8},
    {"families", bench_families, MATRICES | SOLVES | HIERARCHY, 1e-8},
    {"lcp", bench_lcp, MATRICES | SIZES | SOLVES, 1e-6},
    {"scaling", bench_scaling, SOLVES, 0},
};
enum { BENCHMARK_COUNT = sizeof BENCHMARKS / sizeof *BENCHMARKS };
#define KNOWN                                                                                                  \
  "limits, spmv, blas, cg, multigrid, system, tune, compare, paper, precision, answer, amg, auto, batch, "     \
  "ilu, "                                                                                                      \
  "families, lcp or scaling"

typedef struct program_options {
  bench_options o;
  const benchmark *benchmark;
} program_options;

/* ---- Options with their own syntax ---- */

/* "4M" or "1k,16k,4M": k and M are 1024 and 1048576. */
static void set_sizes(void *options, const char *text) {
  bench_options *o = &((program_options *)options)->o;
  o->size_count = 0;
  for (const char *at = text;; ++at) {
    char *end;
    const long n = strtol(at, &end, 10), unit = *end == 'k' ? 1024 : *end == 'M' ? 1024L * 1024 : 1;
    if (end == at || n < 1 || n > INT32_MAX / unit || !strchr(",", end[unit > 1]))
      arguments_usage("--size: '%.40s', expected a number of rows such as 5000, 16k or 4M", text);
    if (o->size_count == BENCH_SIZES) arguments_usage("--size: '%.40s': more than %d sizes", text, BENCH_SIZES);
    o->sizes[o->size_count++] = (int32_t)(n * unit);
    at = end + (unit > 1);
    if (!*at) break;
  }
  o->size = o->sizes[0];
}

/* A name from the library's list of precisions. */
static const char *precision_at(int value) {
  return ts_precision_name((ts_precision)value);
}

static const char *preconditioner_at(int value) {
  return ts_preconditioner_kind_name((ts_preconditioner_kind)value);
}

static const char *smoother_at(int value) {
  return ts_amg_smoother_name((ts_amg_smoother)value);
}

static int accepts(const program_options *p, unsigned what) {
  return (p->benchmark->accepts & what) != 0;
}

/* The benchmark; after compare, precision, amg, ilu and lcp also matrices or problems. */
static void set_argument(void *options, const char *text) {
  program_options *p = options;
  if (p->benchmark) {
    if (!accepts(p, MATRICES)) arguments_usage("unexpected argument '%.80s'", text);
    if (p->o.matrix_count == BENCH_MATRICES) arguments_usage("more than %d matrices", BENCH_MATRICES);
    p->o.matrices[p->o.matrix_count++] = text;
    return;
  }
  for (int i = 0; i < BENCHMARK_COUNT; ++i)
    if (!strcmp(text, BENCHMARKS[i].name)) p->benchmark = &BENCHMARKS[i];
  if (!p->benchmark) arguments_usage("unknown benchmark '%.40s', expected " KNOWN, text);
}

static const option_row rows[] = {
    {.kind = OPTION_IS_INPUT,
     .name = "benchmark",
     .argument =
         "limits|spmv|blas|cg|multigrid|system|tune|paper|batch|scaling\ncompare [MATRIX...]\nprecision "
         "[MATRIX...]\nanswer [MATRIX...]\namg [MATRIX...]\nauto [FAMILY|MATRIX...]\nilu [MATRIX...]\nfamilies "
         "[FAMILY...]\nlcp [PROBLEM...]",
     .parse = set_argument},
    OPTION_ROW(BACKEND, "backend", "NAME", o.backend, .letter = 'B',
               .help = "Backend: auto (the default), cuda, gl, gl:1, cpu, check:gl; scaling: cuda:all (the "
                       "default), cuda:0+1, multi:cpu+cpu, or with mpirun the backend of each process"),
    OPTION_ROW(FORMAT, "format", "NAME", o.format, .letter = 'f',
               .expected = "auto, jagged, segments, csr, bcrs2 or bcrs4",
               .help =
                   "Storage of the matrix: jagged, segments, csr, bcrs2, bcrs4 (default: all of the backend)"),
    {.kind = OPTION_IS_PARSED,
     .name = "size",
     .letter = 's',
     .argument = "N",
     .parse = set_sizes,
     .help =
         "Rows, or points per side of a grid; the suffixes k and M mean 1024 and 1048576; compare, answer, "
         "amg, auto, batch and ilu accept several sizes, separated by commas; paper: unknowns of the largest "
         "mesh; scaling: total rows, and rows per part of the growing matrix; batch: unknowns of each system "
         "(default: 100)"},
    OPTION_ROW(
        TEXT, "matrix", "NAME", o.matrix, .letter = 'm',
        .help =
            "A generated matrix: grid (triangulated grid with 7 entries per row), laplace2d, laplace3d, random "
            "(rows of uneven length), fem3, fem4 (3-D with 3 or 4 unknowns per node), powerlaw, uneven, "
            "banded, denserow (a grid with one full row); delaunay (a Delaunay triangulation in random order), "
            "rmat (a network), poisson2d, poisson3d (5-point and 7-point Poisson problems), lscm (conformal "
            "map of a mesh), dsi (its smoothing), anisotropic2d, anisotropic3d (couplings of 1:1000), jumps2d, "
            "jumps3d (random coefficients of 1 and 1e6), cantilever (an elastic beam); or a Matrix Market "
            "file. Default: those from grid to denserow; compare: grid, scaling: laplace3d"),
    OPTION_WORD("reorder", "NAME", o.reorder, reorder_names,
                "spmv, cg and compare only: order of the unknowns: rcm (reverse Cuthill-McKee), random, or "
                "none, the default"),
    OPTION_ROW(WHOLE, "components", "N", o.components, .letter = 'c', .least = 1, .most = 4,
               .help = "Components of the vectors, 1 to 4 (default 1)"),
    OPTION_ROW(SIZE, "rectangle", "WxH", o.rectangle_width, .letter = 'r', .least = 1, .most = 256,
               .expected = "texels, such as 32x16",
               .help = "Pack rows in rectangles of this many texels: powers of two up to 256"),
    OPTION_ROW(WHOLE, "threads", "N", o.threads, .letter = 't', .least = 1, .most = 4096,
               .help = "Threads of the CPU backend"),
    OPTION_ROW(WHOLE, "repeat", "N", o.repeat, .letter = 'n', .least = 1, .most = 101,
               .help = "Batches per measurement; the median is printed (default 7; paper, precision, amg, auto "
                       "and ilu: 3)"),
    OPTION_ROW(FLAG, "json", NULL, o.json, .letter = 'j', .help = "Print one JSON object"),
    OPTION_HEADING("Options of precision, answer, amg, auto, batch, ilu, families, lcp and scaling:"),
    OPTION_RTOL(o.rtol,
                "relative tolerance (default: 1e-10; answer, amg, auto, batch, ilu and families: 1e-8; lcp: "
                "1e-6); scaling: measure solves to it instead of iterations"),
    OPTION_NAME("precision", "NAME", o.precision, precision_at,
                "single, mixed, double or auto (default: all in turn; answer, amg, auto, ilu, families and "
                "scaling: auto); lcp: single or double (default: both)"),
    OPTION_HEADING("Options of lcp and batch:"),
    OPTION_WHOLE("batch", "N", o.batch, 1, 1 << 20,
                 "lcp: 50 sweeps of N problems of --size unknowns (default: 60) in one call, and the total "
                 "time; batch: N systems (default: 10000)"),
    OPTION_HEADING("Options of amg and families:"),
    OPTION_NAME(
        "preconditioner", "NAME", o.preconditioner, preconditioner_at,
        "amg only: jacobi, amg, auto, chebyshev, isai, none or block-jacobi (default: jacobi, then amg)"),
    OPTION_NUMBER("strength", "R", o.amg.strength, 0, 1, "a number from 0 to 1",
                  "the threshold of strong couplings; 0: all are strong (default: 0.08)"),
    OPTION_NAME("smoother", "NAME", o.amg.smoother, smoother_at,
                "chebyshev, chebyshev4, jacobi or l1-jacobi (default: chebyshev)"),
    OPTION_WHOLE("sweeps", "N", o.amg.sweeps, 1, 16,
                 "smoothing steps before and after the coarse correction (default: 2)"),
    OPTION_WHOLE("visits", "N", o.amg.visits, 1, 2,
                 "1: V-cycles; 2: W-cycles below the second level, the default"),
    OPTION_WHOLE("coarsest", "N", o.amg.coarsest, 1, 1000,
                 "maximum rows of the coarsest level, which is solved exactly (default: 500)"),
    OPTION_FLAG("peers", o.peers,
                "families: hypre and AMGCL too, if their programs are built; answer: SciPy and CuPy, if Python "
                "has them; batch: SciPy"),
    OPTION_HEADING("Options of compare, paper, precision, answer, amg and ilu:"),
    OPTION_TEXT("backends", "LIST", o.backends,
                "Backends, separated by commas (default: the available ones of gl,cuda,cpu)"),
    OPTION_FLAG("set", o.set, "compare only: every generated matrix, and the geometric mean"),
    OPTION_END};

static const char description[] =
    "Measures a device, and the library on it.\vlimits  limits of the device: texel fetches, render-target "
    "writes, copies, multiply-adds, the cost of a dependent pass, and the best rectangle for the rows of a "
    "matrix; on the CPU and on CUDA bandwidth\nspmv    the product of a matrix and a vector\nblas    "
    "operations on vectors, and reductions\ncg      an iteration of conjugate gradients\nmultigrid  cycles and "
    "solves of a Poisson problem on a grid of --size N x N points\nsystem  assembling equations and building "
    "their matrix, over the --size vertices of a grid\ntune    the tuning values for the choice of formats and "
    "kernels, and the cost of half and twice each value here\ncompare [MATRIX...]  every format on every "
    "backend, and other libraries if they are built: a product, conjugate gradients, axpy, dot\nprecision "
    "[MATRIX...]  the residual and the iterations of solves in every precision: b = 1, Jacobi; poisson2d and "
    "poisson3d are Dirichlet problems on a grid with a total of --size points\nanswer [MATRIX...]  from arrays "
    "on the host to x: a copy of the arrays, the matrix, new values, auto's preconditioner, the solve, and the "
    "sum; for a file the time to read it; FAMILY names are also accepted\namg [MATRIX...]  conjugate gradients "
    "with Jacobi and with algebraic multigrid: set-up, update, solve, iterations, residual; b = 1\nauto "
    "[FAMILY|MATRIX...]  conjugate gradients with Jacobi, with algebraic multigrid and with auto, set-up "
    "included: the ratio of auto to the better of the two, on families of about --size rows and on "
    "files\nbatch   many small systems with one pattern in one call: --batch systems of --size unknowns, "
    "symmetric and not\nilu "
    "[MATRIX...]  incomplete factors, by magnitude and by levels of fill: triangular systems on the host, on "
    "the device if it solves them, and by sweeps; ic with conjugate gradients, or ilu with bicgstab if the "
    "matrix is not symmetric; b = 1\nfamilies [FAMILY...]  conjugate gradients with algebraic multigrid on "
    "families of matrices of about --size rows: grids, finite elements, anisotropy, jumps, scaled rows, "
    "elasticity, graphs; with FAMILY those whose names begin with it\nlcp     a sweep of dense Gauss-Seidel by "
    "every scheme, compared with the sequential loop on one core: problems of --size unknowns (default: 100 to "
    "10000), or with --batch many small ones\nlcp PROBLEM...  files of `texsolve lcp', or dense, piles2d and "
    "piles3d, which are generated: solves to a tolerance, compared with other libraries if they are "
    "built\nscaling  an iteration of conjugate gradients over 1, 2, ... parts of a multi-device backend, with "
    "one matrix and with one that grows with the parts; `mpirun -n 4 texsolve bench scaling' measures its 4 "
    "processes\npaper  figures 8, 9 and 11 of Buatois, Caumon and Levy 2008 on meshes of their sizes, 1.5 k to "
    "1 M unknowns: every format on every backend, and the error of conjugate gradients in single "
    "precision\n\nspmv, blas, cg, multigrid, system and tune also measure the limits that concern them, and "
    "print the percentage that they reach. The least time of an OpenGL pass is the larger of fetches / fetch "
    "rate and texels written / write rate, and at least the cost of a dependent pass; on the CPU it is bytes / "
    "bandwidth.";

/* Rejects options that the benchmark does not support. */
static void check_options(const program_options *p) {
  if (!p->benchmark) arguments_usage("expected a benchmark: " KNOWN);
  int (*const run)(const bench_options *, report *) = p->benchmark->run;
  if (p->o.backends) arguments_backends("--backends", p->o.backends);
  const int is_compare = run == bench_compare, is_amg = run == bench_amg, is_families = run == bench_families,
            is_lcp = run == bench_lcp, is_batch = run == bench_batch;
  if (!accepts(p, REORDER)) options_refuse("", OPTION_NAMES("reorder"), " is for spmv, cg and compare");
  if (!is_compare) options_refuse("", OPTION_NAMES("set"), " is for compare");
  if (!accepts(p, SIZES) && p->o.size_count > 1)
    arguments_usage("several sizes are for compare, answer, amg, auto, batch, ilu and lcp");
  if (run == bench_paper)
    options_refuse("paper generates its matrices, expected it without ", OPTION_NAMES("matrix"), "");
  if (!accepts(p, SOLVES))
    options_refuse("", OPTION_NAMES("rtol", "precision"),
                   " is for precision, answer, amg, auto, batch, ilu, families, lcp and scaling");
  if (!is_lcp && !is_batch) options_refuse("", OPTION_NAMES("batch"), " is for lcp and batch");
  if (is_batch)
    options_refuse("batch generates its systems and computes in doubles, expected it without ",
                   OPTION_NAMES("matrix", "format", "precision", "components"), "");
  if (is_lcp) {
    if (p->o.matrix_count)
      options_refuse("", OPTION_NAMES("batch"), " of lcp is for generated problems only");
    else
      options_refuse("", OPTION_NAMES("rtol"), " of lcp is for named problems only");
    options_refuse("lcp generates its problems, expected it without ", OPTION_NAMES("matrix", "format"), "");
    if (p->o.precision >= 0 && p->o.precision != TS_PRECISION_SINGLE && p->o.precision != TS_PRECISION_DOUBLE)
      arguments_usage("--precision of lcp is single or double");
  }
  if (run == bench_scaling && !options_given("rtol"))
    options_refuse("", OPTION_NAMES("precision"), " of scaling requires --rtol");
  if (!is_amg) options_refuse("", OPTION_NAMES("preconditioner"), " is for amg");
  if (!accepts(p, HIERARCHY))
    options_refuse("", OPTION_NAMES("strength", "smoother", "sweeps", "visits", "coarsest"),
                   " is for amg and families");
  if (!is_families && run != bench_answer && !is_batch)
    options_refuse("", OPTION_NAMES("peers"), " is for families, answer and batch");
  if (is_families)
    options_refuse("families generates its matrices, expected it without ", OPTION_NAMES("matrix"), "");
  if (run == bench_auto)
    options_refuse("auto generates its matrices or reads files given as arguments, expected it without ",
                   OPTION_NAMES("matrix"), "");
  if (!accepts(p, BACKENDS))
    options_refuse("", OPTION_NAMES("backends"),
                   " is for compare, paper, precision, answer, amg and ilu, expected --backend");
  else if (p->o.components != 1)
    arguments_usage("%s works on vectors of one component", p->benchmark->name);
}

/* Reported at the end of all benchmarks. */
static int close_report(report *r, int outcome) {
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

static int cmd_bench_run(const program_options *p) {
  report *r = report_open(p->benchmark->name, p->o.json);
  if (!r) {
    bench_error("out of memory");
    return EXIT_ERROR;
  }
  const int outcome = p->benchmark->run(&p->o, r);
  if (!outcome || outcome == BENCH_INCOMPLETE) return close_report(r, outcome);
  report_abandon(&r);
  return EXIT_ERROR;
}

int cmd_bench(int argc, char **argv) {
  program_options p = {.o = {.components = 1, .precision = -1, .preconditioner = -1}};
  ranks_begin();
  options_read("texsolve bench", rows, description, argc, argv, &p);
  check_options(&p);
  if (ranks_are_several() && p.benchmark->run != bench_scaling) {
    char name[40];
    snprintf(name, sizeof name, "bench %s", p.benchmark->name);
    return ranks_refuse(name);
  }
  if (options_given("strength") && p.o.amg.strength == 0)
    p.o.amg.strength = -1; /* 0 is the default in the API */
  progress_enable(ranks_is_root());
  bench_order_set(p.o.reorder);
  if (p.o.rtol == 0) p.o.rtol = p.benchmark->rtol;
  if (!p.o.repeat && p.benchmark->run == bench_families) p.o.repeat = 1;
  if (!p.o.repeat) p.o.repeat = accepts(&p, LONG) ? 3 : 7;
  const int outcome = cmd_bench_run(&p);
  ranks_end(outcome == EXIT_ERROR);
  return outcome;
}
