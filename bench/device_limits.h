/* What a device can do at best, measured, and the least time that some work can take there. */
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

/* How fetches walk through a texture. */
typedef enum fetch_pattern {
  FETCH_REUSED,   /* neighbouring fragments on neighbouring texels, each texel wanted by 16 of them */
  FETCH_STREAMED, /* neighbouring fragments on neighbouring texels, each texel read once */
  FETCH_QUADS,    /* as streamed, but 2 x 2 texels by one textureGather; of R32F */
  FETCH_PATTERNS
} fetch_pattern;

/* How a pass gets at the result of the one before. */
typedef enum pass_way {
  PASS_FRAMEBUFFERS, /* a framebuffer object per texture */
  PASS_BARRIER,      /* regions of one texture, glTextureBarrier between */
  PASS_READ_BACK,    /* a pass, and one texel of it read by the host */
  PASS_WAYS
} pass_way;

/* Rates and costs are those of the fastest batch: a limit is what the device can do, not what a busy hour left.
 * Nonzero: failed, with a message. */

/* ---- OpenGL probes (gl_limits.c); the context is of an OpenGL backend ---- */
int gl_limits_begin(ts_context *context);
void gl_limits_end(void);
/* Texels fetched per second out of a texture of `side` x `side` texels, a power of two; FETCH_QUADS: 0 where
 * the driver cannot. */
int gl_limits_fetch(limit_format format, fetch_pattern pattern, int side, int is_hardware, int repeat,
                    timing *t, double *rate);
/* Texels written per second (not of RG32UI). */
int gl_limits_write(limit_format format, int is_hardware, int repeat, timing *t, double *rate);
/* Bytes per second, read and written ones. */
int gl_limits_copy(limit_format format, int is_hardware, int repeat, timing *t, double *rate);
/* Floating-point operations per second, two for a multiply-add. */
int gl_limits_multiply_add(int is_hardware, int repeat, timing *t, double *rate);
/* Seconds for a pass over 16 x 16 texels; *available is 0 where the driver lacks the way. */
int gl_limits_pass(pass_way way, int repeat, timing *t, int *available);

/* ---- CPU probes (cpu_limits.c). `threads`: at least 1 ---- */
typedef enum cpu_stream { CPU_READ, CPU_SCALE, CPU_COPY, CPU_TRIAD, CPU_STREAMS } cpu_stream;
/* Bytes per second with arrays of `bytes` altogether: s += a;  a = -a;  b = a;  a = b + 3 c. */
int cpu_limits_stream(cpu_stream kind, size_t bytes, int threads, int repeat, timing *t, double *rate);

/* ---- The model ---- */

/* What some operation has to move and do. */
typedef struct work {
  double reused[LIMIT_FORMATS];   /* fetches of texels that neighbours fetch too */
  double streamed[LIMIT_FORMATS]; /* fetches of texels that are read once */
  double quads;                   /* texels of R32F that are read once, and may be read as quads */
  double written[LIMIT_FORMATS];  /* texels */
  double bytes;                   /* read and written */
  double flops;
} work;

typedef struct device_limits {
  int is_gl, is_cuda;
  double fetch[FETCH_PATTERNS][LIMIT_FORMATS]; /* per second */
  double quads; /* texels of R32F per second: quads or fetches, which is faster */
  double write[LIMIT_FORMATS];
  double pass; /* seconds: the cheapest dependent pass; CPU and CUDA: 0 */
  double bandwidth;
} device_limits;

/* Of an operation on vectors, per element. What writes nothing is a reduction, which may read quads. */
work work_of_vectors(int is_gl, double rows, int components, int reads, int writes, int flops);

/* Measures what work needs whose data, matrix and vectors, are `bytes` altogether. */
int limits_measure(device_limits *limits, const bench_options *options, double bytes);

/* The least time. `dependent`: the work waits for the work before. OpenGL: the larger of (sum over formats of
 * fetches / fetch rate) and (texels written / write rate), for fetching and writing overlap, and at least the
 * cost of one dependent pass; more passes that an operation may take, as reductions do, are its own matter.
 * CPU: bytes / the best bandwidth at this size. CUDA: bytes / the rate of copies of this size. */
double limits_seconds(const device_limits *limits, const work *w);

/* All texels fetched by a work. */
double work_fetches(const work *w);

/* Lines that say so, for the output. */
void limits_describe(const device_limits *limits, struct report *r);

#endif
