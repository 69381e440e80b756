/* texsolve bench cg: one iteration of conjugate gradients with Jacobi's preconditioner. */
#include "bench.h"
#include "cg_measure.h"
#include "report.h"
#include "spmv_measure.h"

enum { PARTS = 5 };

static const report_column ITERATIONS[] = {
    {"matrix", "matrix", 's', -12, 0},
    {"format", "format", 's', -8, 0},
    {"rows", "rows", 'i', 8, 0},
    {"microseconds", "us/iter", 'f', 8, 2},
    {"spread_percent", "spread%", 'f', 7, 1},
    {"microseconds_whole", "whole us", 'f', 8, 2},
    {"beside_percent", "beside%", 'f', 7, 1},
    {"limit_microseconds", "limit us", 'f', 8, 2},
    {"times_limit", "times it", 'f', 8, 2},
    {"gflops", "", 'f', 0, 0},
};

/* The 5 parts of an iteration. The CPU backend has a loop for each. CUDA has three passes: d.q is computed with
 * q = A d, r . r/m with r, and x with d, so a vector used by two parts is read once.
 *
 * In OpenGL each part is at least one pass that waits for the previous part. A reduction of many rows needs
 * several; the least time ignores this. */
typedef struct part {
  int reads, writes, flops;
} part;

static void iteration_work(const spmv_result *product, const device_limits *limits, int components,
                           work parts[PARTS]) {
  static const part passes[PARTS] = {{0, 0, 0}, {2, 0, 2}, {4, 2, 4}, {2, 0, 3}, {3, 1, 3}},
                    on_cuda[PARTS] = {{0, 0, 0}, {0, 0, 2}, {3, 1, 4}, {0, 0, 3}, {4, 2, 3}};
  const part *vectors = limits->is_cuda ? on_cuda : passes;
  parts[0] = product->w;
  for (int i = 1; i < PARTS; ++i)
    parts[i] = work_of_vectors(limits->is_gl, product->info.rows, components, vectors[i].reads,
                               vectors[i].writes, vectors[i].flops);
}

typedef struct measured {
  char matrix[BENCH_NAME_SIZE];
  spmv_result product;
  device_limits limits;
  cg_times times;
} measured;

static int measure_in(ts_context *context, const bench_options *o, const generated_matrix *A, measured *m) {
  const ts_matrix_desc desc = {.csr = generated_csr(A), .format = o->format, .components = o->components};
  ts_matrix *matrix = NULL;
  /* Also verifies the product, without which the iteration's time would be meaningless. */
  if (spmv_measure(context, A, o->format, o->components, 1, &m->product)) return 1;
  const int failed = bench_check(ts_matrix_create(context, &desc, &matrix), context, "making the matrix") ||
                     cg_measure(context, matrix, o->components, o->repeat, &m->times);
  ts_matrix_destroy(&matrix);
  return failed;
}

static int measure(const bench_options *o, const generated_matrix *A, measured *m) {
  ts_context *context;
  if (limits_measure(&m->limits, o, spmv_bytes(A, o->components, 5))) return 1;
  if (bench_open(o, 0, 0, &context)) return 1;
  const int failed = measure_in(context, o, A, m);
  ts_context_destroy(&context);
  return failed;
}

static void print_iteration(report *r, const measured *m, int components) {
  work parts[PARTS];
  const double seconds = m->times.iteration;
  double limit = 0, flops = 0;
  iteration_work(&m->product, &m->limits, components, parts);
  for (int i = 0; i < PARTS; ++i) {
    limit += limits_seconds(&m->limits, &parts[i]);
    flops += parts[i].flops;
  }
  report_row(r, m->matrix, spmv_format(m->product.info.format), (long long)m->product.info.rows, seconds * 1e6,
             m->times.spread * 100, m->times.whole * 1e6, 100 * (1 - seconds / m->times.whole), limit * 1e6,
             seconds / limit, flops / seconds * 1e-9);
}

static int run_matrix(const bench_options *o, const char *name, int32_t rows, int *begun, report *r) {
  generated_matrix A;
  measured m;
  if (bench_matrix(&A, name, rows)) return 1;
  bench_short_name(m.matrix, name);
  const int failed = measure(o, &A, &m);
  generated_free(&A);
  if (failed) return 1;
  if (!(*begun)++) {
    limits_describe(&m.limits, r);
    report_table(r, "iterations", "Conjugate gradients with Jacobi's preconditioner", ITERATIONS,
                 sizeof ITERATIONS / sizeof *ITERATIONS);
  }
  print_iteration(r, &m, o->components);
  return 0;
}

int bench_cg(const bench_options *options, report *r) {
  bench_device device;
  int begun = 0, failed = 0;
  if (bench_describe(options, r, &device)) return 1;
  report_note(r, "us/iter: the difference of solves with %d and %d iterations. Whole: a solve of %d with",
              CG_SHORT, CG_LONG, CG_WHOLE);
  report_note(
      r, "the backend's check interval, per iteration; beside%%: the part outside its iterations. Limit: the");
  report_note(r, "sum of the least times of the 5 parts of an iteration.");
  if (device.is_gl) report_note(r, "Each part takes at least one dependent pass.");
  /* The small size shows the cost of passes, the large one that of fetches. */
  int32_t sizes[2] = {1 << 14, !device.is_hardware              ? 1 << 17
                               : device.is_gl || device.is_cuda ? 1 << 22
                                                                : 1 << 20};
  if (options->size) sizes[0] = options->size;
  /* A file has only one size. */
  const int size_count = options->size || (options->matrix && !generated_is_name(options->matrix)) ? 1 : 2;
  for (int i = 0; i < size_count && !failed; ++i) {
    if (options->matrix) {
      failed = run_matrix(options, options->matrix, sizes[i], &begun, r);
      continue;
    }
    for (int k = 0; generated_name(k) && !failed; ++k)
      failed = run_matrix(options, generated_name(k), sizes[i], &begun, r);
  }
  return failed;
}
