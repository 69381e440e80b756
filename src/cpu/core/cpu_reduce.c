/* Reductions. Every block of CPU_BLOCK floats is reduced in lanes; then lanes and blocks are combined in a
 * fixed order, in double. So the result does not depend on the number of threads or on the instruction set, to
 * the last bit. */
#include <math.h>

#include "cpu.h"

/* Number of partial sums: enough to hide the latency of an addition, few enough for the registers of SSE2, and
 * a multiple of every number of components. */
enum { lanes = 24 };

/* The operands of a block. */
typedef struct operands {
  cpu_operand x, y, w;
} operands;

CPU_INLINE operands operands_at(const cpu_reduction *job, size_t begin) {
  return (operands){cpu_operand_at(job->x, begin), cpu_operand_at(job->y, begin),
                    cpu_operand_at(job->w, begin)};
}

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

CPU_INLINE void store_sums(const cpu_reduction *job, size_t block, const double *sums) {
  double *partial = job->partials + 4 * block;
  for (int c = 0; c < 4; c++) partial[c] = 0;
  for (int l = 0; l < lanes; l++) partial[l % job->components] += sums[l];
}

/* Sums `term` of the operands `in` for every float i of a block. */
#define SUM_BODY(name, term)                                                                                   \
  CPU_CLONES static void name(const void *arguments, size_t first, size_t last) {                              \
    const cpu_reduction *job = arguments;                                                                      \
    for (size_t block = first; block < last; block++) {                                                        \
      const size_t begin = block * CPU_BLOCK, end = cpu_block_end(block + 1, job->count) - begin;              \
      const operands in = operands_at(job, begin);                                                             \
      double sums[lanes] = {0};                                                                                \
      size_t g = 0;                                                                                            \
      for (; g + lanes <= end; g += lanes) {                                                                   \
        CPU_SIMD                                                                                               \
        for (size_t l = 0; l < lanes; l++) {                                                                   \
          const size_t i = g + l;                                                                              \
          sums[l] += term;                                                                                     \
        }                                                                                                      \
      }                                                                                                        \
      for (size_t l = 0; g + l < end; l++) {                                                                   \
        const size_t i = g + l;                                                                                \
        sums[l] += term;                                                                                       \
      }                                                                                                        \
      store_sums(job, block, sums);                                                                            \
    }                                                                                                          \
  }

/* The value of v, in single precision or as a pair. */
#define FLOAT(v) ((double)in.v.high[i])
#define PAIR(v) cpu_value(in.v, i)
SUM_BODY(body_sum, FLOAT(x))
SUM_BODY(body_dot, FLOAT(x) * FLOAT(y))
SUM_BODY(body_dot3, FLOAT(x) * FLOAT(y) * FLOAT(w))
SUM_BODY(pairs_sum, PAIR(x))
SUM_BODY(pairs_dot, PAIR(x) * PAIR(y))
SUM_BODY(pairs_dot3, PAIR(x) * PAIR(y) * PAIR(w))

/* The larger value, or NaN after the first NaN. `value` is selected if it is larger or NaN; no value is larger
 * than a NaN in `most`. */
#define LARGER(most, value) ((((value) > (most)) | ((value) != (value))) ? (value) : (most))

CPU_INLINE void store_most(const cpu_reduction *job, size_t block, const double *most) {
  double *partial = job->partials + 4 * block;
  for (int c = 0; c < 4; c++) partial[c] = -INFINITY;
  for (int l = 0; l < CPU_LANES; l++)
    partial[l % job->components] = LARGER(partial[l % job->components], most[l]);
}

#define MAX_BODY(name, type, term)                                                                             \
  CPU_CLONES static void name(const void *arguments, size_t first, size_t last) {                              \
    const cpu_reduction *job = arguments;                                                                      \
    for (size_t block = first; block < last; block++) {                                                        \
      const size_t begin = block * CPU_BLOCK, end = cpu_block_end(block + 1, job->count) - begin;              \
      const operands in = operands_at(job, begin);                                                             \
      type most[CPU_LANES];                                                                                    \
      double result[CPU_LANES];                                                                                \
      for (size_t l = 0; l < CPU_LANES; l++) most[l] = -INFINITY;                                              \
      size_t g = 0;                                                                                            \
      for (; g + CPU_LANES <= end; g += CPU_LANES) {                                                           \
        CPU_SIMD                                                                                               \
        for (size_t l = 0; l < CPU_LANES; l++) {                                                               \
          const size_t i = g + l;                                                                              \
          const type value = term;                                                                             \
          most[l] = LARGER(most[l], value);                                                                    \
        }                                                                                                      \
      }                                                                                                        \
      for (size_t l = 0; g + l < end; l++) {                                                                   \
        const size_t i = g + l;                                                                                \
        const type value = term;                                                                               \
        most[l] = LARGER(most[l], value);                                                                      \
      }                                                                                                        \
      for (size_t l = 0; l < CPU_LANES; l++) result[l] = (double)most[l];                                      \
      store_most(job, block, result);                                                                          \
    }                                                                                                          \
  }
MAX_BODY(body_max, float, in.x.high[i])
MAX_BODY(body_max_abs, float, fabsf(in.x.high[i]))
MAX_BODY(pairs_max, double, PAIR(x))
MAX_BODY(pairs_max_abs, double, fabs(PAIR(x)))

static double combine(const cpu_reduction *job, tsi_reduction kind, int component) {
  const size_t blocks = cpu_blocks(job->count);
  const double *partial = job->partials + component;
  if (kind == TSI_REDUCE_MAX || kind == TSI_REDUCE_MAX_ABS) {
    double most = -INFINITY;
    for (size_t b = 0; b < blocks; b++) most = LARGER(most, partial[4 * b]);
    return most;
  }
  double sum = 0;
  for (size_t b = 0; b < blocks; b++) sum += partial[4 * b];
  return kind == TSI_REDUCE_NORM2 ? sqrt(sum) : sum;
}

static cpu_reduction reduction_of(const ts_vector *x, const ts_vector *y, const ts_vector *w) {
  return (cpu_reduction){.count = cpu_count(x),
                         .components = x->components,
                         .x = cpu_parts_of(x),
                         .y = cpu_parts_of(y),
                         .w = cpu_parts_of(w),
                         .partials = cpu_state_of(x->context)->partials};
}

/* If the slot has a second part, it always receives the remainder of the sum. */
static void store(const cpu_reduction *job, tsi_reduction kind, ts_scalars *out, int index) {
  float *slot = cpu_slot(out, index), *low = out->low ? cpu_slot(out->low, index) : NULL;
  for (int c = 0; c < 4; c++) {
    const double result = c < job->components ? combine(job, kind, c) : 0;
    slot[c] = (float)result;
    if (low) low[c] = isfinite(slot[c]) ? (float)(result - (double)slot[c]) : 0;
  }
}

/* bodies: for vectors in single precision and for pairs. */
static ts_status reduce(ts_scalars *out, int index, tsi_reduction kind, const tsi_body bodies[2],
                        const ts_vector *x, const ts_vector *y, const ts_vector *w) {
  const cpu_reduction job = reduction_of(x, y, w);
  cpu_for(x->context, cpu_blocks(job.count), CPU_BLOCK, bodies[x->low != NULL], &job);
  store(&job, kind, out, index);
  return TS_OK;
}

ts_status cpu_reduce(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x, const ts_vector *y) {
  static const tsi_body bodies[][2] = {[TSI_REDUCE_DOT] = {body_dot, pairs_dot},
                                       [TSI_REDUCE_NORM2] = {body_dot, pairs_dot},
                                       [TSI_REDUCE_SUM] = {body_sum, pairs_sum},
                                       [TSI_REDUCE_MAX] = {body_max, pairs_max},
                                       [TSI_REDUCE_MAX_ABS] = {body_max_abs, pairs_max_abs}};
  return reduce(out, index, kind, bodies[kind], x, kind == TSI_REDUCE_NORM2 ? x : y, NULL);
}

ts_status cpu_dot3(ts_scalars *out, int index, const ts_vector *x, const ts_vector *y, const ts_vector *w) {
  static const tsi_body bodies[2] = {body_dot3, pairs_dot3};
  return reduce(out, index, TSI_REDUCE_DOT, bodies, x, y, w);
}

cpu_reduction cpu_dot_begin(const ts_vector *x, const ts_vector *y, const ts_vector *w) {
  return reduction_of(x, y, w);
}

void cpu_dot_block(const cpu_reduction *job, size_t block) {
  (job->w.high ? body_dot3 : body_dot)(job, block, block + 1);
}

ts_status cpu_dot_end(const cpu_reduction *job, ts_scalars *out, int index) {
  store(job, TSI_REDUCE_DOT, out, index);
  return TS_OK;
}
