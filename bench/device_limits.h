/* The measured limits of a device, and the least time for a given work. */
#ifndef BENCH_DEVICE_LIMITS_H
#define BENCH_DEVICE_LIMITS_H

#include <stddef.h>

#include "bench.h"
#include "timing.h"

typedef enum limit_format { LIMIT_R32F, LIMIT_RG32F, LIMIT_RGBA32F, LIMIT_RG32UI, LIMIT_FORMATS } limit_format;

extern const char *const limit_format_names[LIMIT_FORMATS];
extern const int limit_format_bytes[LIMIT_FORMATS];

/* The format of a vector's texture. */
limit_format limit_format_of_components(int components);

/* The order of fetches in a texture. */
typedef enum fetch_pattern {
  FETCH_REUSED,   /* neighbouring fragments read neighbouring texels; 16 fragments read each texel */
  FETCH_STREAMED, /* neighbouring fragments read neighbouring texels; each texel is read once */
  FETCH_QUADS,    /* streamed, with one textureGather of R32F per 2 x 2 texels */
  FETCH_PATTERNS
} fetch_pattern;

/* How a pass accesses the result of the previous one. */
typedef enum pass_way {
  PASS_FRAMEBUFFERS, /* a framebuffer object per texture */
  PASS_BARRIER,      /* regions of one texture, separated by glTextureBarrier */
  PASS_READ_BACK,    /* after each pass the host reads one texel of it */
  PASS_WAYS
} pass_way;

/* Rates and costs are those of the fastest batch: the limit of the device, regardless of other load. Nonzero:
 * failed, after a message. */

/* ---- OpenGL probes (gl_limits.c); the context is of an OpenGL backend ---- */
int gl_limits_begin(ts_context *context);
void gl_limits_end(void);
/* Texels fetched per second from a texture of `side` x `side` texels, a power of two. FETCH_QUADS: 0 if the
 * driver does not support it. */
int gl_limits_fetch(limit_format format, fetch_pattern pattern, int side, int is_hardware, int repeat,
                    timing *t, double *rate);
/* Texels written per second (not of RG32UI). */
int gl_limits_write(limit_format format, int is_hardware, int repeat, timing *t, double *rate);
/* Bytes per second, read and written. */
int gl_limits_copy(limit_format format, int is_hardware, int repeat, timing *t, double *rate);
/* Floating-point operations per second; a multiply-add counts as two. */
int gl_limits_multiply_add(int is_hardware, int repeat, timing *t, double *rate);
/* Seconds of a pass over 16 x 16 texels; *available is 0 if the driver does not support it. */
int gl_limits_pass(pass_way way, int repeat, timing *t, int *available);

/* ---- CPU probes (cpu_limits.c). `threads`: at least 1 ---- */
typedef enum cpu_stream { CPU_READ, CPU_SCALE, CPU_COPY, CPU_TRIAD, CPU_STREAMS } cpu_stream;
/* Bytes per second with arrays of `bytes` in total: s += a;  a = -a;  b = a;  a = b + 3 c. */
int cpu_limits_stream(cpu_stream kind, size_t bytes, int threads, int repeat, timing *t, double *rate);

/* ---- The model ---- */

/* The data that an operation moves, and its arithmetic. */
typedef struct work {
  double reused[LIMIT_FORMATS];   /* fetches of texels that neighbours also fetch */
  double streamed[LIMIT_FORMATS]; /* fetches of texels that are read once */
  double quads;                   /* R32F texels that are read once, optionally as quads */
  double written[LIMIT_FORMATS];  /* texels */
  double bytes;                   /* read and written */
  double flops;
} work;

typedef struct device_limits {
  int is_gl, is_cuda;
  double fetch[FETCH_PATTERNS][LIMIT_FORMATS]; /* per second */
  double quads; /* R32F texels per second: quads or fetches, the faster of both */
  double write[LIMIT_FORMATS];
  double pass; /* seconds of the cheapest dependent pass; CPU and CUDA: 0 */
  double bandwidth;
} device_limits;

/* For a vector operation, per element. An operation that writes nothing is a reduction, which may read
 * quads. */
work work_of_vectors(int is_gl, double rows, int components, int reads, int writes, int flops);

/* Measures the limits for matrix and vectors of `bytes` in total. */
int limits_measure(device_limits *limits, const bench_options *options, double bytes);

/* The least time. `dependent`: the work waits for previous work. OpenGL: the larger of (sum over formats of
 * fetches / fetch rate) and (texels written / write rate), because fetches and writes overlap, and at least the
 * cost of one dependent pass. Additional passes, such as those of reductions, are not included.
 *
 * CPU: bytes / the best bandwidth at this size. CUDA: bytes / the copy rate at this size. */
double limits_seconds(const device_limits *limits, const work *w);

/* All texels fetched by the work. */
double work_fetches(const work *w);

/* Describes the limits in the report. */
void limits_describe(const device_limits *limits, struct report *r);

#endif
