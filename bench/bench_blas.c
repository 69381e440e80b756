/* texsolve bench blas: vector operations and reductions. */
#include "bench.h"

#include <math.h>
#include <string.h>

#include "device_limits.h"
#include "operands.h"
#include "report.h"

static const report_column COLUMNS[] = {
    {"operation", "operation", 's', -20, 0},     {"microseconds", "time us", 'f', 9, 2},
    {"spread_percent", "spread%", 'f', 7, 1},    {"gflops", "GFLOP/s", 'f', 8, 3},
    {"fetches", "Mfetches", 'f', 8, 3},          {"megabytes", "MB", 'f', 8, 3},
    {"gigabytes_per_second", "GB/s", 'f', 8, 2}, {"limit_microseconds", "limit us", 'f', 9, 2},
    {"percent_of_limit", "% limit", 'f', 7, 1},
};

/* Vectors read and written, and operations per element. */
static const struct {
  const char *name;
  int reads, writes, flops;
  int vectors; /* vectors accessed: x alone, y in place, or two or three different ones */
} OPERATIONS[OPERATION_COUNT] = {
    [OPERATION_FILL] = {"fill y = c", 0, 1, 0, 2},
    [OPERATION_COPY] = {"copy y = x", 1, 1, 0, 2},
    [OPERATION_SCALE] = {"scale y = a y", 1, 1, 1, 1},
    [OPERATION_AXPY] = {"axpy y = a x + y", 2, 1, 2, 2},
    [OPERATION_AXPBY] = {"axpby y = a x + b y", 2, 1, 3, 2},
    [OPERATION_AXPBY_SLOTS] = {"axpby a, b in slots", 2, 1, 3, 2},
    [OPERATION_MULTIPLY] = {"multiply z = x y", 2, 1, 1, 3},
    [OPERATION_RECIPROCAL] = {"reciprocal y = 1 / x", 1, 1, 1, 2},
    [OPERATION_DOT] = {"dot x . y", 2, 0, 2, 2},
    [OPERATION_NORM_2] = {"norm 2-norm", 1, 0, 2, 1},
    [OPERATION_NORM_INFINITY] = {"norm infinity", 1, 0, 1, 1},
    [OPERATION_SUM] = {"sum", 1, 0, 1, 1},
    [OPERATION_MAX] = {"max", 1, 0, 1, 1},
};

/* The limits for one, two and three vectors. */
static int measure_limits(const bench_options *o, const bench_device *device, double rows,
                          device_limits limits[3], report *r) {
  const int c = o->components;
  /* Textures exceed a cache regardless of one vector more or less; arrays of the CPU may fit. */
  for (int n = 0; n < 3; ++n) {
    if (n && device->is_gl)
      limits[n] = limits[0];
    else if (limits_measure(&limits[n], o, (device->is_gl ? 2 : n + 1) * 4.0 * c * rows))
      return 1;
  }
  limits_describe(&limits[1], r);
  if (device->is_gl)
    report_note(r, "A reduction counts as one pass, its minimum.");
  else
    report_note(r, "(For two vectors; operations on one and on three have other bandwidths.)");
  return 0;
}

int bench_blas(const bench_options *options, report *r) {
  operands o;
  bench_device device;
  device_limits limits[3];
  if (bench_describe(options, r, &device)) return 1;
  const int32_t rows = options->size ? options->size : device.is_hardware ? 1 << 22 : 1 << 18;
  const int c = options->components;
  report_field(r, "vectors", "vectors", "%d rows of %d component%s", rows, c, c > 1 ? "s" : "");
  ts_context *context = NULL;
  if (measure_limits(options, &device, rows, limits, r) || bench_open(options, 0, 0, &context)) return 1;
  int failed = operands_make(&o, context, rows, c);
  if (!failed)
    report_table(r, "operations", "Operations on vectors", COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  for (int i = 0; i < OPERATION_COUNT && !failed; ++i) {
    timing t;
    work w;
    o.operation = (vector_operation)i;
    failed = timing_measure(&t, options->repeat, BENCH_BATCH_SECONDS, operands_run, &o);
    if (failed) break;
    w = work_of_vectors(device.is_gl, rows, c, OPERATIONS[i].reads, OPERATIONS[i].writes, OPERATIONS[i].flops);
    const double limit = limits_seconds(&limits[OPERATIONS[i].vectors - 1], &w);
    report_row(r, OPERATIONS[i].name, t.seconds * 1e6, t.spread * 100, w.flops / t.seconds * 1e-9,
               device.is_gl ? work_fetches(&w) * 1e-6 : NAN, w.bytes * 1e-6, w.bytes / t.seconds * 1e-9,
               limit * 1e6, 100 * limit / t.seconds);
  }
  operands_free(&o);
  ts_context_destroy(&context);
  return failed;
}
