#include "device_limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

const char *const limit_format_names[LIMIT_FORMATS] = {"R32F", "RG32F", "RGBA32F", "RG32UI"};
const int limit_format_bytes[LIMIT_FORMATS] = {4, 8, 16, 8};

limit_format limit_format_of_components(int components) {
  return components == 1 ? LIMIT_R32F : components == 2 ? LIMIT_RG32F : LIMIT_RGBA32F;
}

double work_fetches(const work *w) {
  double sum = w->quads;
  for (int f = 0; f < LIMIT_FORMATS; ++f) sum += w->reused[f] + w->streamed[f];
  return sum;
}

work work_of_vectors(int is_gl, double rows, int components, int reads, int writes, int flops) {
  const limit_format format = limit_format_of_components(components);
  const double texel = is_gl ? limit_format_bytes[format] : 4.0 * components;
  work w = {.bytes = (reads + writes) * texel * rows, .flops = flops * rows * components};
  if (!is_gl) return w;
  if (!writes && format == LIMIT_R32F)
    w.quads = reads * rows;
  else
    w.streamed[format] = reads * rows;
  w.written[format] = writes * rows;
  return w;
}

double limits_seconds(const device_limits *limits, const work *w) {
  double seconds;
  if (limits->is_gl) {
    double fetching = w->quads > 0 ? w->quads / limits->quads : 0, writing = 0;
    for (int f = 0; f < LIMIT_FORMATS; ++f) {
      if (w->reused[f] > 0) fetching += w->reused[f] / limits->fetch[FETCH_REUSED][f];
      if (w->streamed[f] > 0) fetching += w->streamed[f] / limits->fetch[FETCH_STREAMED][f];
      if (w->written[f] > 0) writing += w->written[f] / limits->write[f];
    }
    seconds = fmax(fetching, writing);
  } else {
    seconds = w->bytes / limits->bandwidth;
  }
  return fmax(seconds, limits->pass);
}

#ifdef TEXSOLVE_HAVE_GL
/* The side, a power of two, of a square RG32UI texture of `bytes` bytes. */
static int footprint_side(double bytes, int is_hardware) {
  const int largest = is_hardware ? 4096 : 1024;
  int side = 64;
  while (side < largest && (double)side * side * 8 < bytes) side *= 2;
  return side;
}

static int measure_rates(device_limits *limits, int hardware, int repeat, double bytes) {
  const int side = footprint_side(bytes, hardware);
  timing t;
  for (int f = 0; f < LIMIT_FORMATS; ++f) {
    for (int p = FETCH_REUSED; p <= FETCH_STREAMED; ++p)
      if (gl_limits_fetch(f, p, p == FETCH_REUSED ? 2048 : side, hardware, repeat, &t, &limits->fetch[p][f]))
        return 1;
    if (f == LIMIT_RG32UI) continue;
    if (gl_limits_write(f, hardware, repeat, &t, &limits->write[f])) return 1;
  }
  if (gl_limits_fetch(LIMIT_R32F, FETCH_QUADS, side, hardware, repeat, &t, &limits->quads)) return 1;
  limits->quads = fmax(limits->quads, limits->fetch[FETCH_STREAMED][LIMIT_R32F]);
  limits->pass = INFINITY;
  for (int w = 0; w <= PASS_BARRIER; ++w) {
    int available;
    if (gl_limits_pass(w, repeat, &t, &available)) return 1;
    if (available && t.fastest < limits->pass) limits->pass = t.fastest;
  }
  return 0;
}

static int measure_gl(device_limits *limits, ts_context *context, int hardware, int repeat, double bytes) {
  limits->is_gl = 1;
  if (gl_limits_begin(context)) return 1;
  const int failed = measure_rates(limits, hardware, repeat, bytes);
  gl_limits_end();
  return failed;
}
#endif

/* Small arrays are faster with one thread, large ones with all. */
static int measure_cpu(device_limits *limits, int threads, int repeat, double bytes) {
  timing t;
  for (int kind = 0; kind < CPU_STREAMS; ++kind)
    for (int n = 1; n <= threads; n += threads > 1 ? threads - 1 : 1) {
      double rate;
      if (cpu_limits_stream(kind, (size_t)bytes, n, repeat, &t, &rate)) return 1;
      if (rate > limits->bandwidth) limits->bandwidth = rate;
    }
  return 0;
}

typedef struct copied_vectors {
  ts_context *context;
  ts_vector *from, *to;
} copied_vectors;

static int copy(void *user, long count) {
  const copied_vectors *v = user;
  ts_status status = TS_OK;
  for (long k = 0; k < count && status >= 0; ++k)
    status = ts_vector_axpby(v->to, ts_constant(1), v->from, ts_constant(0));
  if (status >= 0) status = ts_context_finish(v->context);
  return bench_check(status, v->context, "copying a vector");
}

/* For CUDA, measures vectors of the library. Their copy is a pure loop over the elements. */
static int measure_copies(device_limits *limits, ts_context *context, int repeat, double bytes) {
  copied_vectors v = {context, NULL, NULL};
  ts_space *space = NULL;
  timing t;
  const ts_space_desc desc = {.size = (int32_t)fmin(fmax(bytes / 8, 1024), 1 << 28)};
  ts_status status = ts_space_create(context, &desc, &space);
  if (status >= 0) status = ts_vector_create(space, NULL, &v.from);
  if (status >= 0) status = ts_vector_create(space, NULL, &v.to);
  const int failed = bench_check(status, context, "measuring the device's limits") ||
                     timing_measure(&t, repeat, BENCH_BATCH_SECONDS, copy, &v);
  if (!failed) limits->bandwidth = 8.0 * desc.size / t.fastest;
  ts_vector_destroy(&v.to);
  ts_vector_destroy(&v.from);
  ts_space_destroy(&space);
  return failed;
}

static int measure(device_limits *limits, ts_context *context, int repeat, double bytes) {
  ts_context_info info;
  if (bench_check(ts_context_get_info(context, &info), context, "reading the device's limits")) return 1;
#ifdef TEXSOLVE_HAVE_GL
  if (strstr(info.backend, "gl")) return measure_gl(limits, context, info.is_hardware, repeat, bytes);
#endif
  limits->is_cuda = strstr(info.backend, "cuda") != NULL;
  if (limits->is_cuda) return measure_copies(limits, context, repeat, bytes);
  return measure_cpu(limits, info.threads > 0 ? info.threads : 1, repeat, bytes);
}

int limits_measure(device_limits *limits, const bench_options *options, double bytes) {
  /* Uses its own context, and no other is open. So draws below the library's level leave neither state nor
   * textures in the measured context. */
  ts_context *context;
  memset(limits, 0, sizeof *limits);
  if (bench_open(options, 0, 0, &context)) return 1;
  const int failed = measure(limits, context, options->repeat, bytes);
  ts_context_destroy(&context);
  return failed;
}

void limits_describe(const device_limits *limits, report *r) {
  if (limits->is_gl) {
    report_note(r,
                "Least time of a pass: the larger of fetches / fetch rate and texels written / write rate; at");
    report_note(
        r, "least the cost of a dependent pass. Rates measured just now: RG32UI %.3g G/s and R32F %.3g G/s",
        limits->fetch[FETCH_STREAMED][LIMIT_RG32UI] * 1e-9, limits->fetch[FETCH_STREAMED][LIMIT_R32F] * 1e-9);
    report_note(r, "read once (in quads %.3g), R32F %.3g G/s read again by neighbours; R32F writes %.3g G/s;",
                limits->quads * 1e-9, limits->fetch[FETCH_REUSED][LIMIT_R32F] * 1e-9,
                limits->write[LIMIT_R32F] * 1e-9);
    report_note(r, "a dependent pass %.3g us.", limits->pass * 1e6);
  } else {
    report_note(r,
                "Least time: bytes / bandwidth, which was measured just now on arrays of the same size as the");
    report_note(r, "data: %.3g GB/s.", limits->bandwidth * 1e-9);
  }
}
