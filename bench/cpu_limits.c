/* Limits of the CPU: the bandwidth of streams. */
#include "device_limits.h"

#include <stdlib.h>
#include <string.h>

#include "../src/common/core/clones.h"

enum { LANES = 64 }; /* independent sums, enough to hide the latency of an addition */

CPU_CLONES static float read_stream(const float *a, size_t n) {
  float sums[LANES] = {0}, total = 0;
  for (size_t i = 0; i + LANES <= n; i += LANES)
    for (int l = 0; l < LANES; ++l) sums[l] += a[i + (size_t)l];
  for (int l = 0; l < LANES; ++l) total += sums[l];
  return total;
}

CPU_CLONES static void scale_stream(float *a, size_t n) {
  for (size_t i = 0; i < n; ++i) a[i] *= -1.0f;
}

CPU_CLONES static void triad_stream(float *a, const float *b, const float *c, size_t n) {
  CPU_SIMD
  for (size_t i = 0; i < n; ++i) a[i] = b[i] + 3.0f * c[i];
}

typedef struct stream {
  cpu_stream kind;
  int threads;
  size_t n; /* floats per array */
  float *a, *b, *c;
  float sink;
} stream;

/* The part of n for one of `count` threads, in whole cache lines. */
static void part(size_t n, int index, int count, size_t *first, size_t *length) {
  const size_t lines = (n + 15) / 16;
  const size_t begin = lines * (size_t)index / (size_t)count * 16;
  size_t end = lines * ((size_t)index + 1) / (size_t)count * 16;
  if (end > n) end = n;
  *first = begin < end ? begin : end;
  *length = end - *first;
}

static float stream_part(const stream *s, int index, int count) {
  size_t first, n;
  part(s->n, index, count, &first, &n);
  switch (s->kind) {
  case CPU_READ:
    return read_stream(s->a + first, n);
  case CPU_SCALE:
    scale_stream(s->a + first, n);
    break;
  case CPU_COPY:
    memcpy(s->b + first, s->a + first, n * sizeof *s->a);
    break;
  default:
    triad_stream(s->a + first, s->b + first, s->c + first, n);
    break;
  }
  return 0;
}

static int stream_run(void *user, long count) {
  stream *s = user;
  const int threads = s->threads;
  float sink = 0;
  for (long i = 0; i < count; ++i) {
    if (threads == 1) { /* avoids the cost of a parallel region, which small arrays would show */
      sink += stream_part(s, 0, 1);
      continue;
    }
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sink)
    for (int t = 0; t < threads; ++t) sink += stream_part(s, t, threads);
  }
  s->sink += sink;
  return 0;
}

int cpu_limits_stream(cpu_stream kind, size_t bytes, int threads, int repeat, timing *t, double *rate) {
  static const size_t array_count[CPU_STREAMS] = {1, 1, 2, 3}, moved_count[CPU_STREAMS] = {1, 2, 2, 3};
  const size_t arrays = array_count[kind];
  stream s;
  memset(&s, 0, sizeof s);
  s.kind = kind;
  s.threads = threads;
  s.n = bytes / arrays / sizeof(float) / LANES * LANES;
  if (s.n < LANES) s.n = LANES;
  float *memory = malloc(s.n * arrays * sizeof *memory + 64);
  if (!memory) {
    bench_error("no memory for arrays of %zu bytes", bytes);
    return 1;
  }
  float *base = (float *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
  s.a = base;
  s.b = arrays > 1 ? base + s.n : base;
  s.c = arrays > 2 ? base + 2 * s.n : base;
  /* The thread that will use a page touches it first. */
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int i = 0; i < threads; ++i) {
    size_t first, n;
    part(s.n, i, threads, &first, &n);
    for (size_t a = 0; a < arrays; ++a)
      for (size_t j = first; j < first + n; ++j) base[a * s.n + j] = 0.5f;
  }
  const int failed = timing_measure(t, repeat, BENCH_BATCH_SECONDS, stream_run, &s);
  *rate = (double)(s.n * moved_count[kind] * sizeof(float)) / t->fastest;
  if (s.sink == 12345.0f) bench_error("unlikely"); /* keeps the sums from being optimized away */
  free(memory);
  return failed;
}
