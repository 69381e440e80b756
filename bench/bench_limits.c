/* texsolve bench limits: the limits of the device, and its best rectangle size. */
#include "bench.h"

#include <math.h>
#include <stdio.h>

#include "report.h"
#include "spmv_measure.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const report_column RATES[] = {
    {"what", "what", 's', -48, 0},
    {"value", "value", 'f', 12, 2},
    {"unit", "unit", 's', -10, 0},
    {"spread_percent", "spread%", 'f', 8, 1},
};
#ifdef TEXSOLVE_HAVE_GL
static const report_column FETCHES[] = {
    {"format", "texel", 's', -8, 0},
    {"reused_gfetches_per_second", "reused G/s", 'f', 12, 2},
    {"streamed_gfetches_per_second", "streamed G/s", 'f', 12, 2},
    {"quads_gfetches_per_second", "in quads G/s", 'f', 12, 2},
    {"streamed_gigabytes_per_second", "streamed GB/s", 'f', 13, 1},
    {"spread_percent", "spread%", 'f', 8, 1},
};
static const report_column WRITES[] = {
    {"format", "texel", 's', -8, 0},
    {"write_gpixels_per_second", "write Gpixel/s", 'f', 14, 3},
    {"write_gigabytes_per_second", "write GB/s", 'f', 12, 1},
    {"copy_gigabytes_per_second", "copy GB/s (read + write)", 'f', 24, 1},
    {"spread_percent", "spread%", 'f', 8, 1},
};
static const report_column PASSES[] = {
    {"pass", "pass over 16 x 16 texels", 's', -64, 0},
    {"microseconds", "time us", 'f', 9, 3},
    {"spread_percent", "spread%", 'f', 8, 1},
};
static const report_column RECTANGLES[] = {
    {"rectangle", "rectangle", 's', -9, 0},    {"microseconds", "time us", 'f', 10, 1},
    {"gflops", "GFLOP/s", 'f', 8, 2},          {"padding_percent", "padding%", 'f', 8, 2},
    {"seconds_layout", "layout s", 'f', 8, 3}, {"spread_percent", "spread%", 'f', 8, 1},
};

static int print_fetches(int hardware, int repeat, report *r) {
  report_table(r, "fetches", "Texel fetches: neighbouring fragments on neighbouring texels", FETCHES,
               COUNT(FETCHES));
  const int side = hardware ? 4096 : 1024;
  for (int f = 0; f < LIMIT_FORMATS; ++f) {
    double rates[FETCH_PATTERNS], spread = 0;
    for (int p = 0; p < FETCH_PATTERNS; ++p) {
      timing t;
      rates[p] = NAN;
      if (p == FETCH_QUADS && f != LIMIT_R32F) continue;
      if (gl_limits_fetch(f, p, p == FETCH_REUSED ? 2048 : side, hardware, repeat, &t, &rates[p])) return 1;
      if (rates[p] > 0)
        spread = fmax(spread, t.spread);
      else
        rates[p] = NAN;
    }
    report_row(r, limit_format_names[f], rates[FETCH_REUSED] * 1e-9, rates[FETCH_STREAMED] * 1e-9,
               rates[FETCH_QUADS] * 1e-9, rates[FETCH_STREAMED] * 1e-9 * limit_format_bytes[f], spread * 100);
  }
  return 0;
}

static int print_writes(int hardware, int repeat, report *r) {
  report_table(r, "writes", "Render-target writes and copies", WRITES, COUNT(WRITES));
  for (int f = 0; f <= LIMIT_RGBA32F; ++f) {
    timing t, u;
    double write, copy;
    if (gl_limits_write(f, hardware, repeat, &t, &write) || gl_limits_copy(f, hardware, repeat, &u, &copy))
      return 1;
    report_row(r, limit_format_names[f], write * 1e-9, write * 1e-9 * limit_format_bytes[f], copy * 1e-9,
               fmax(t.spread, u.spread) * 100);
  }
  return 0;
}

static int print_passes(int repeat, report *r) {
  static const char *const names[PASS_WAYS] = {
      [PASS_FRAMEBUFFERS] = "dependent, a framebuffer object per texture",
      [PASS_BARRIER] = "dependent, regions of one texture, glTextureBarrier",
      [PASS_READ_BACK] = "a framebuffer object per texture, one texel read back",
  };
  report_table(r, "passes", "The cost of a pass", PASSES, COUNT(PASSES));
  for (int w = 0; w < PASS_WAYS; ++w) {
    timing t;
    int available;
    if (gl_limits_pass(w, repeat, &t, &available)) return 1;
    if (available)
      report_row(r, names[w], t.fastest * 1e6, t.spread * 100);
    else
      report_row(r, names[w], (double)NAN, (double)NAN);
  }
  return 0;
}

static int print_multiply_add(int hardware, int repeat, report *r) {
  timing t;
  double rate;
  if (gl_limits_multiply_add(hardware, repeat, &t, &rate)) return 1;
  report_table(r, "arithmetic", "Arithmetic, two operations for a multiply-add", RATES, COUNT(RATES));
  report_row(r, "multiply-adds", rate * 1e-9, "GFLOP/s", t.spread * 100);
  return 0;
}

/* Measures the product for several sizes of the rectangles that rows are packed in, each in its own context. */
static int print_rectangles(const bench_options *o, int hardware, report *r) {
  static const int sizes[][2] = {{8, 8},   {16, 8},  {32, 8},  {64, 8},  {8, 16},  {16, 16},
                                 {32, 16}, {16, 32}, {32, 32}, {64, 32}, {64, 64}, {128, 128}};
  const char *name = o->matrix ? o->matrix : "grid";
  const int32_t rows = o->size ? o->size : hardware ? 1 << 20 : 1 << 16;
  generated_matrix A;
  char title[128];
  int best = -1;
  double best_seconds = INFINITY;
  if (bench_matrix(&A, name, rows)) return 1;
  snprintf(title, sizeof title, "y = A x by rectangle: %.40s, %d rows, %s", name, A.rows,
           o->format == TS_FORMAT_AUTO ? "jagged" : spmv_format(o->format));
  report_table(r, "rectangles", title, RECTANGLES, COUNT(RECTANGLES));
  int failed = 0;
  for (int i = 0; i < COUNT(sizes) && !failed; ++i) {
    ts_context *context;
    spmv_result s;
    char size[16];
    if (o->rectangle_width && (o->rectangle_width != sizes[i][0] || o->rectangle_height != sizes[i][1]))
      continue;
    failed = bench_open(o, sizes[i][0], sizes[i][1], &context);
    if (failed) break;
    failed = spmv_measure(context, &A, o->format, o->components, o->repeat, &s);
    ts_context_destroy(&context);
    if (failed) break;
    snprintf(size, sizeof size, "%dx%d", sizes[i][0], sizes[i][1]);
    report_row(r, size, s.t.seconds * 1e6, s.w.flops / s.t.seconds * 1e-9,
               100.0 * (double)(s.info.stored_entries - s.info.nonzeros) / (double)s.info.stored_entries,
               s.info.seconds_layout, s.t.spread * 100);
    if (s.t.seconds < best_seconds) best_seconds = s.t.seconds, best = i;
  }
  generated_free(&A);
  if (!failed && best >= 0)
    report_field(r, "best_rectangle", "best",
                 "%dx%d: set ts_gl_desc.rectangle_width and rectangle_height, or --rectangle %dx%d",
                 sizes[best][0], sizes[best][1], sizes[best][0], sizes[best][1]);
  return failed;
}

static int run_gl(const bench_options *o, int hardware, report *r) {
  ts_context *context;
  if (bench_open(o, 0, 0, &context)) return 1;
  int failed = gl_limits_begin(context);
  if (!failed) {
    failed = print_fetches(hardware, o->repeat, r) || print_writes(hardware, o->repeat, r) ||
             print_multiply_add(hardware, o->repeat, r) || print_passes(o->repeat, r);
    gl_limits_end();
  }
  ts_context_destroy(&context);
  return failed;
}
#endif

static int run_cpu(const bench_options *o, int threads, report *r) {
  static const char *const names[CPU_STREAMS] = {"read   s += a", "scale  a = -a", "copy   b = a",
                                                 "triad  a = b + 3 c"};
  /* A given size makes a quick run; the default far exceeds a cache. */
  const double bytes = o->size ? 96.0 * o->size : 512.0 * 1024 * 1024;
  timing t;
  double rate;
  char title[128];
  snprintf(title, sizeof title, "Bandwidth on %.1f MB with %d threads", bytes * 1e-6, threads);
  report_table(r, "rates", title, RATES, COUNT(RATES));
  for (int kind = 0; kind < CPU_STREAMS; ++kind) {
    if (cpu_limits_stream(kind, (size_t)bytes, threads, o->repeat, &t, &rate)) return 1;
    report_row(r, names[kind], rate * 1e-9, "GB/s", t.spread * 100);
  }
  return 0;
}

static int run_cuda(const bench_options *o, report *r) {
  const double bytes = o->size ? 96.0 * o->size : 2048.0 * 1024 * 1024;
  device_limits limits;
  char title[128];
  if (limits_measure(&limits, o, bytes)) return 1;
  snprintf(title, sizeof title, "Copies of %.1f MB", bytes * 1e-6);
  report_table(r, "rates", title, RATES, COUNT(RATES));
  report_row(r, "copy   b = a, read and written", limits.bandwidth * 1e-9, "GB/s", (double)NAN);
  return 0;
}

int bench_limits(const bench_options *options, report *r) {
  bench_device device;
  if (bench_describe(options, r, &device)) return 1;
  report_note(r, "Rates and costs are those of the fastest of %d batches; the products' times are medians.",
              options->repeat);
  if (device.is_cuda) return run_cuda(options, r);
#ifdef TEXSOLVE_HAVE_GL
  if (device.is_gl)
    return run_gl(options, device.is_hardware, r) || print_rectangles(options, device.is_hardware, r);
#endif
  return run_cpu(options, device.threads, r);
}
