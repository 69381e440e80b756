/* Reductions: every block of CPU_BLOCK floats is reduced in lanes, lanes and then blocks are combined in a
 * fixed order, in double. Neither the number of threads nor the instruction set changes a bit of the result. */
#include <math.h>

#include "cpu.h"

/* Partial sums in flight: enough to hide the latency of an addition, few enough for the registers of SSE2, and
 * a multiple of every number of components. */
enum { lanes = 24 };

typedef struct reduction {
  size_t count;
  int components;
  const float *x, *y, *w;
  double *partials;
} reduction;

ts_status cpu_reserve_partials(ts_context *context, size_t count) {
  cpu_state *state = cpu_state_of(context);
  const size_t blocks = cpu_blocks(count);
  if (blocks <= state->partial_blocks) return TS_OK;
  double *partials = tsi_malloc(context, blocks, 4 * sizeof *partials);
  if (!partials) return tsi_out_of_memory(context, "partial sums", blocks * 4 * sizeof *partials);
  tsi_free(context, state->partials);
  state->partials = partials;
  state->partial_blocks = blocks;
  return TS_OK;
}

CPU_INLINE void store_sums(const reduction *job, size_t block, const double *sums) {
  double *partial = job->partials + 4 * block;
  for (int c = 0; c < 4; c++) partial[c] = 0;
  for (int l = 0; l < lanes; l++) partial[l % job->components] += sums[l];
}

/* Sums `term` of every float i of a block. */
#define SUM_BLOCKS(term)                                                                                       \
  for (size_t block = first; block < last; block++) {                                                          \
    const size_t end = cpu_block_end(block + 1, job->count);                                                   \
    double sums[lanes] = {0};                                                                                  \
    size_t g = block * CPU_BLOCK;                                                                              \
    for (; g + lanes <= end; g += lanes) {                                                                     \
      CPU_SIMD                                                                                                 \
      for (size_t l = 0; l < lanes; l++) {                                                                     \
        const size_t i = g + l;                                                                                \
        sums[l] += term;                                                                                       \
      }                                                                                                        \
    }                                                                                                          \
    for (size_t l = 0; g + l < end; l++) {                                                                     \
      const size_t i = g + l;                                                                                  \
      sums[l] += term;                                                                                         \
    }                                                                                                          \
    store_sums(job, block, sums);                                                                              \
  }

CPU_CLONES static void body_sum(const void *arguments, size_t first, size_t last) {
  const reduction *job = arguments;
  const float *x = job->x;
  SUM_BLOCKS((double)x[i])
}

CPU_CLONES static void body_dot(const void *arguments, size_t first, size_t last) {
  const reduction *job = arguments;
  const float *x = job->x, *y = job->y;
  SUM_BLOCKS((double)x[i] * (double)y[i])
}

CPU_CLONES static void body_dot3(const void *arguments, size_t first, size_t last) {
  const reduction *job = arguments;
  const float *x = job->x, *y = job->y, *w = job->w;
  SUM_BLOCKS((double)x[i] * (double)y[i] * (double)w[i])
}

/* The larger one, or NaN once there is one: `value` is taken if it is larger or NaN, and nothing is larger
 * than a NaN in `most`. */
CPU_INLINE float larger(float most, float value) {
  return ((value > most) | (value != value)) ? value : most;
}

#define MAX_BLOCKS(term)                                                                                       \
  for (size_t block = first; block < last; block++) {                                                          \
    const size_t end = cpu_block_end(block + 1, job->count);                                                   \
    float most[CPU_LANES];                                                                                     \
    for (size_t l = 0; l < CPU_LANES; l++) most[l] = -INFINITY;                                                \
    size_t g = block * CPU_BLOCK;                                                                              \
    for (; g + CPU_LANES <= end; g += CPU_LANES) {                                                             \
      CPU_SIMD                                                                                                 \
      for (size_t l = 0; l < CPU_LANES; l++) {                                                                 \
        const size_t i = g + l;                                                                                \
        most[l] = larger(most[l], term);                                                                       \
      }                                                                                                        \
    }                                                                                                          \
    for (size_t l = 0; g + l < end; l++) {                                                                     \
      const size_t i = g + l;                                                                                  \
      most[l] = larger(most[l], term);                                                                         \
    }                                                                                                          \
    store_most(job, block, most);                                                                              \
  }

CPU_INLINE void store_most(const reduction *job, size_t block, const float *most) {
  float result[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  for (int l = 0; l < CPU_LANES; l++)
    result[l % job->components] = larger(result[l % job->components], most[l]);
  for (int c = 0; c < 4; c++) job->partials[4 * block + (size_t)c] = (double)result[c];
}

CPU_CLONES static void body_max(const void *arguments, size_t first, size_t last) {
  const reduction *job = arguments;
  const float *x = job->x;
  MAX_BLOCKS(x[i])
}

CPU_CLONES static void body_max_abs(const void *arguments, size_t first, size_t last) {
  const reduction *job = arguments;
  const float *x = job->x;
  MAX_BLOCKS(fabsf(x[i]))
}

static float combine(const reduction *job, tsi_reduction kind, int component) {
  const size_t blocks = cpu_blocks(job->count);
  const double *partial = job->partials + component;
  if (kind == TSI_REDUCE_MAX || kind == TSI_REDUCE_MAX_ABS) {
    float most = -INFINITY;
    for (size_t b = 0; b < blocks; b++) most = larger(most, (float)partial[4 * b]);
    return most;
  }
  double sum = 0;
  for (size_t b = 0; b < blocks; b++) sum += partial[4 * b];
  return (float)(kind == TSI_REDUCE_NORM2 ? sqrt(sum) : sum);
}

static ts_status reduce(ts_scalars *out, int index, tsi_reduction kind, cpu_body body, const ts_vector *x,
                        const ts_vector *y, const ts_vector *w) {
  const reduction job = {
      .count = cpu_count(x),
      .components = x->components,
      .x = cpu_data(x),
      .y = y ? cpu_data(y) : NULL,
      .w = w ? cpu_data(w) : NULL,
      .partials = cpu_state_of(x->context)->partials,
  };
  cpu_for(x->context, cpu_blocks(job.count), CPU_BLOCK, body, &job);
  float *slot = cpu_slot(out, index);
  for (int c = 0; c < 4; c++) slot[c] = c < x->components ? combine(&job, kind, c) : 0;
  return TS_OK;
}

ts_status cpu_reduce(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x, const ts_vector *y) {
  switch (kind) {
  case TSI_REDUCE_DOT:
    return reduce(out, index, kind, body_dot, x, y, NULL);
  case TSI_REDUCE_NORM2:
    return reduce(out, index, kind, body_dot, x, x, NULL);
  case TSI_REDUCE_SUM:
    return reduce(out, index, kind, body_sum, x, NULL, NULL);
  case TSI_REDUCE_MAX:
    return reduce(out, index, kind, body_max, x, NULL, NULL);
  case TSI_REDUCE_MAX_ABS:
    return reduce(out, index, kind, body_max_abs, x, NULL, NULL);
  }
  return tsi_fail(out->context, TS_ERROR_UNSUPPORTED, "reduction %d is unknown to the CPU backend", (int)kind);
}

ts_status cpu_dot3(ts_scalars *out, int index, const ts_vector *x, const ts_vector *y, const ts_vector *w) {
  return reduce(out, index, TSI_REDUCE_DOT, body_dot3, x, y, w);
}
