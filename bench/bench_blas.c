/* texsolve bench blas: operations on vectors, and reductions. */
#include "bench.h"

#include <math.h>
#include <string.h>

#include "device_limits.h"
#include "report.h"

static const report_column COLUMNS[] = {
    {"operation", "operation", 's', -20, 0},     {"microseconds", "time us", 'f', 9, 2},
    {"spread_percent", "spread%", 'f', 7, 1},    {"gflops", "GFLOP/s", 'f', 8, 3},
    {"fetches", "Mfetches", 'f', 8, 3},          {"megabytes", "MB", 'f', 8, 3},
    {"gigabytes_per_second", "GB/s", 'f', 8, 2}, {"limit_microseconds", "limit us", 'f', 9, 2},
    {"percent_of_limit", "% limit", 'f', 7, 1},
};

typedef struct operands {
  ts_context *context;
  ts_vector *x, *y, *z;
  ts_scalars *s;
  int operation;
} operands;

/* Vectors read and written, and operations on an element. */
static const struct {
  const char *name;
  int reads, writes, flops;
} OPERATIONS[] = {
    {"fill y = c", 0, 1, 0},
    {"copy y = x", 1, 1, 0},
    {"scale y = a y", 1, 1, 1},
    {"axpby y = a x + b y", 2, 1, 3},
    {"axpby a, b in slots", 2, 1, 3},
    {"multiply z = x y", 2, 1, 1},
    {"reciprocal y = 1 / x", 1, 1, 1},
    {"dot x . y", 2, 0, 2},
    {"norm 2-norm", 1, 0, 2},
    {"norm infinity", 1, 0, 1},
    {"sum", 1, 0, 1},
    {"max", 1, 0, 1},
};
enum { OPERATION_COUNT = sizeof OPERATIONS / sizeof *OPERATIONS };

/* Vectors that an operation goes through: x alone, y in place, or two or three different ones. */
static int vectors_touched(int operation) {
  static const int touched[OPERATION_COUNT] = {2, 2, 1, 2, 2, 3, 2, 2, 1, 1, 1, 1};
  return touched[operation];
}

/* Each operation needs the result of the one before or at least another target, as in a solver, so that it
 * cannot run beside it, nor be dropped because the next one covers it. The values stay as they are, or nearly.
 */
static ts_status apply(const operands *o, long i) {
  ts_vector *to = i & 1 ? o->x : o->y, *from = i & 1 ? o->y : o->x;
  switch (o->operation) {
  case 0:
    return ts_vector_fill(to, 1.0f);
  case 1:
    return ts_vector_copy(to, from);
  case 2:
    return ts_vector_scale(o->y, ts_constant(-1.0f));
  case 3:
    return ts_vector_axpby(o->y, ts_constant(0.5f), o->x, ts_constant(0.5f));
  case 4:
    return ts_vector_axpby(o->y, ts_scaled(1.0f, o->s, 1), o->x, ts_scaled(1.0f, o->s, 1));
  case 5:
    return ts_vector_multiply(to, o->z, from);
  case 6:
    return ts_vector_reciprocal(to, from);
  case 7:
    return ts_vector_dot(o->s, 0, o->x, o->y);
  case 8:
    return ts_vector_norm(o->s, 0, o->x, TS_NORM_2);
  case 9:
    return ts_vector_norm(o->s, 0, o->x, TS_NORM_INFINITY);
  case 10:
    return ts_vector_sum(o->s, 0, o->x);
  default:
    return ts_vector_max(o->s, 0, o->x);
  }
}

static int run(void *user, long count) {
  const operands *o = user;
  ts_status status = TS_OK;
  for (long i = 0; i < count && status >= 0; ++i) status = apply(o, i);
  if (status >= 0) status = ts_context_finish(o->context);
  return bench_check(status, o->context, "an operation on vectors");
}

static void operation_work(int operation, int is_gl, double rows, int components, work *w) {
  const limit_format format = limit_format_of_components(components);
  const double texel = is_gl ? limit_format_bytes[format] : 4.0 * components;
  const int reads = OPERATIONS[operation].reads, writes = OPERATIONS[operation].writes;
  memset(w, 0, sizeof *w);
  /* What writes no vector is a reduction, which may read quads. */
  if (is_gl && !writes && format == LIMIT_R32F)
    w->quads = reads * rows;
  else if (is_gl)
    w->streamed[format] = reads * rows;
  w->written[format] = is_gl ? writes * rows : 0;
  w->bytes = (reads + writes) * texel * rows;
  w->flops = OPERATIONS[operation].flops * rows * components;
}

/* Limits for one, two and three vectors. */
static int measure_limits(const bench_options *o, const bench_device *device, double rows,
                          device_limits limits[3], report *r) {
  const int c = o->components;
  /* Textures do not fit in a cache by one vector more or less; arrays of the CPU do. */
  for (int n = 0; n < 3; ++n) {
    if (n && device->is_gl)
      limits[n] = limits[0];
    else if (limits_measure(&limits[n], o, (device->is_gl ? 2 : n + 1) * 4.0 * c * rows))
      return 1;
  }
  limits_describe(&limits[1], r);
  if (device->is_gl)
    report_note(r, "A reduction counts as one pass, which is the least that it can take.");
  else
    report_note(r, "(That is for two vectors; operations on one and on three have bandwidths of their own.)");
  return 0;
}

static int make_operands(operands *o, int32_t rows, int components) {
  static const float half[4] = {0.5f, 0.5f, 0.5f, 0.5f};
  ts_space_desc space_desc;
  ts_scalars_desc scalars_desc;
  ts_space *space = NULL;
  memset(&space_desc, 0, sizeof space_desc);
  memset(&scalars_desc, 0, sizeof scalars_desc);
  space_desc.size = rows;
  scalars_desc.count = 2;
  const int failed =
      bench_check(ts_space_create(o->context, &space_desc, &space), o->context, "making a space") ||
      bench_check(ts_scalars_create(o->context, &scalars_desc, &o->s), o->context, "making scalars") ||
      bench_vector(space, components, &o->x) || bench_vector(space, components, &o->y) ||
      bench_vector(space, components, &o->z) ||
      bench_check(ts_vector_fill(o->z, 1.0f), o->context, "filling a vector") ||
      bench_check(ts_scalars_write(o->s, 1, 1, half), o->context, "writing a scalar");
  ts_space_destroy(&space);
  return failed;
}

int bench_blas(const bench_options *options, report *r) {
  operands o;
  bench_device device;
  device_limits limits[3];
  memset(&o, 0, sizeof o);
  if (bench_describe(options, r, &device)) return 1;
  const int32_t rows = options->size ? options->size : device.is_hardware ? 1 << 22 : 1 << 18;
  const int c = options->components;
  report_text(r, "vectors", "vectors", "%d rows of %d component%s", rows, c, c > 1 ? "s" : "");
  int failed = measure_limits(options, &device, rows, limits, r) || bench_open(options, 0, 0, &o.context) ||
               make_operands(&o, rows, c);
  if (!failed)
    report_table(r, "operations", "Operations on vectors", COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  for (int i = 0; i < OPERATION_COUNT && !failed; ++i) {
    timing t;
    work w;
    o.operation = i;
    failed = timing_measure(&t, options->repeat, BENCH_BATCH_SECONDS, run, &o);
    if (failed) break;
    operation_work(i, device.is_gl, rows, c, &w);
    const double limit = limits_seconds(&limits[vectors_touched(i) - 1], &w);
    report_row(r, OPERATIONS[i].name, t.seconds * 1e6, t.spread * 100, w.flops / t.seconds * 1e-9,
               device.is_gl ? work_fetches(&w) * 1e-6 : NAN, w.bytes * 1e-6, w.bytes / t.seconds * 1e-9,
               limit * 1e6, 100 * limit / t.seconds);
  }
  ts_vector_destroy(&o.z);
  ts_vector_destroy(&o.y);
  ts_vector_destroy(&o.x);
  ts_scalars_destroy(&o.s);
  ts_context_destroy(&o.context);
  return failed;
}
