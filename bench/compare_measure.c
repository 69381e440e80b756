/* The library's part of `texsolve bench compare`: every format of a backend, and its vector operations. */
#include <stdio.h>
#include <string.h>

#include "cg_measure.h"
#include "compare.h"
#include "operands.h"
#include "spmv_measure.h"

/* The warm-up time of an idle GPU. It is short because there are many measurements; the spread shows whether it
 * suffices. */
static const double WARM_UP_SECONDS = 0.15;

/* Slow operations are measured less often: products and solves with these total times. Conjugate gradients that
 * would still exceed longest_solving are skipped. If one long row slows a format down, its product already
 * shows it. */
static const double longest_products = 1, longest_solves = 5, longest_solving = 20; /* seconds */

/* Elements of vectors that exceed every cache. */
static int32_t copy_size(const ts_context_info *info) {
  return info->is_hardware ? 1 << 25 : 1 << 22;
}

static int measure_copy_rate(const bench_options *options, ts_context *context, const ts_context_info *info,
                             double *rate) {
  operands o;
  timing t;
  const int32_t size = copy_size(info);
  int failed = operands_make(&o, context, size, 1);
  o.operation = OPERATION_COPY;
  failed = failed || timing_measure(&t, options->repeat, BENCH_BATCH_SECONDS, operands_run, &o);
  operands_free(&o);
  if (!failed) *rate = 8.0 * size / t.fastest;
  return failed;
}

int compare_open(const bench_options *options, compare_backend *backend) {
  char subject[64];
  ts_context *context = NULL;
  ts_context_info info;
  bench_options o = *options;
  o.backend = backend->name;
  snprintf(subject, sizeof subject, "backend %s is left out", backend->name);
  bench_error_subject(subject);
  int failed = bench_open(&o, 0, 0, &context) ||
               bench_check(ts_context_get_info(context, &info), context, "reading the device's limits");
  if (!failed) {
    snprintf(backend->device, sizeof backend->device, "%s", info.device);
    backend->is_gpu = info.is_hardware && !info.threads;
    timing_set_warm_up(backend->is_gpu ? WARM_UP_SECONDS : 0);
    failed = measure_copy_rate(&o, context, &info, &backend->copy_rate);
  }
  bench_error_subject(NULL);
  ts_context_destroy(&context);
  backend->is_absent = failed;
  return failed;
}

static int measure_vectors(const bench_options *o, ts_context *context, int32_t size,
                           timing times[COMPARE_OPERATIONS]) {
  static const vector_operation operations[COMPARE_OPERATIONS] = {
      [COMPARE_AXPY] = OPERATION_AXPY, [COMPARE_DOT] = OPERATION_DOT, [COMPARE_NRM2] = OPERATION_NORM_2};
  operands v;
  int failed = operands_make(&v, context, size, 1);
  for (int i = COMPARE_AXPY; i < COMPARE_OPERATIONS && !failed; ++i) {
    v.operation = operations[i];
    failed = timing_measure(&times[i], o->repeat, BENCH_BATCH_SECONDS, operands_run, &v);
  }
  operands_free(&v);
  return failed;
}

static void record(compare_row *row, int operation, double seconds, double spread) {
  row->seconds[operation] = seconds;
  row->spread[operation] = spread;
}

/* Whether conjugate gradients are skipped; prints a message then. `where`: matrix, backend and format. */
static int is_too_long(const char *where, double product, int repeat) {
  const double seconds = cg_measure_least(product, COMPARE_ITERATIONS, repeat);
  if (seconds <= longest_solving) return 0;
  bench_error_subject(where);
  bench_error("conjugate gradients are left out, with a product of %.2g s they would take %.0f s", product,
              seconds);
  return 1;
}

/* Measures one format and fills its row as far as possible. */
static int measure_format(const bench_options *o, ts_context *context, ts_format format, const char *where,
                          const generated_matrix *A, compare_row *row) {
  char subject[192];
  spmv_result product;
  const ts_matrix_desc desc = {.csr = generated_csr(A), .format = format};
  ts_matrix *matrix = NULL;
  double seconds, spread;
  snprintf(subject, sizeof subject, "%s is left out", where);
  bench_error_subject(subject);
  snprintf(row->format, sizeof row->format, "%s", spmv_format(format));
  timing_set_longest(longest_products);
  int failed = bench_check(ts_matrix_create(context, &desc, &matrix), context, "making the matrix") ||
               spmv_measure_matrix(context, matrix, A, 1, o->repeat, &product);
  if (!failed) {
    row->spmv_bytes = product.w.bytes;
    record(row, COMPARE_SPMV, product.t.seconds, product.t.spread);
  }
  if (!failed && A->rows == A->columns && !is_too_long(where, product.t.fastest, o->repeat)) {
    timing_set_longest(longest_solves);
    failed = cg_measure_solve(context, matrix, COMPARE_ITERATIONS, o->repeat, &seconds, &spread);
    if (!failed) record(row, COMPARE_CG, seconds, spread);
  }
  timing_set_longest(0);
  ts_matrix_destroy(&matrix);
  return failed;
}

/* The format that the backend selects automatically. AUTO, after a message, if it supports none. */
static ts_format default_format(ts_context *context, const generated_matrix *A) {
  const ts_matrix_desc desc = {.csr = generated_csr(A), .components = 1};
  ts_matrix_info info = {.format = TS_FORMAT_AUTO};
  ts_matrix *matrix = NULL;
  if (!bench_check(ts_matrix_create(context, &desc, &matrix), context, "making the matrix"))
    ts_matrix_get_info(matrix, &info);
  ts_matrix_destroy(&matrix);
  return info.format;
}

static int measure_formats(const bench_options *o, ts_context *context, const compare_backend *backend,
                           const char *name, const generated_matrix *A, compare_results *results) {
  char subject[160], where[160];
  ts_context_info info;
  timing vectors[COMPARE_OPERATIONS];
  snprintf(subject, sizeof subject, "%.64s on %s", name, backend->name);
  bench_error_subject(subject);
  if (bench_check(ts_context_get_info(context, &info), context, "reading the device's limits")) return 1;
  if (o->format != TS_FORMAT_AUTO && !(info.formats & 1u << o->format)) {
    bench_error("the backend has no format %s", spmv_format(o->format));
    return 1;
  }
  int failed = measure_vectors(o, context, A->rows, vectors), first = 1;
  const int have_vectors = !failed;
  const ts_format chosen = default_format(context, A);
  for (int f = TS_FORMAT_AUTO + 1; ts_format_name((ts_format)f); ++f) {
    if (o->format != TS_FORMAT_AUTO ? f != (int)o->format : !(info.formats & 1u << f)) continue;
    compare_row *row = compare_add(results, name, A, backend->name);
    if (!row) return 1;
    snprintf(where, sizeof where, "%.64s on %s as %s", name, backend->name, spmv_format((ts_format)f));
    row->is_default = f == (int)chosen;
    for (int i = COMPARE_AXPY; first && have_vectors && i < COMPARE_OPERATIONS; ++i)
      record(row, i, vectors[i].seconds, vectors[i].spread);
    first = 0;
    failed |= measure_format(o, context, (ts_format)f, where, A, row);
  }
  return failed;
}

int compare_measure(const bench_options *options, const compare_backend *backend, const char *matrix,
                    const generated_matrix *A, compare_results *results) {
  ts_context *context = NULL;
  bench_options o = *options;
  o.backend = backend->name;
  timing_set_warm_up(backend->is_gpu ? WARM_UP_SECONDS : 0);
  const int failed =
      bench_open(&o, 0, 0, &context) || measure_formats(&o, context, backend, matrix, A, results);
  bench_error_subject(NULL);
  ts_context_destroy(&context);
  return failed;
}
