/* Vectors in host memory and their element-wise operations. */
#include <stdint.h>
#include <string.h>

#include "cpu.h"

/* Arguments of a loop over blocks of floats; each operation uses some of them. The arrays may coincide. */
typedef struct blocks {
  size_t count;
  float *out, *out2;
  const float *x, *y, *w;
  const cpu_reduction *dot;
  float a[CPU_LANES], b[CPU_LANES];
} blocks;

static void cpu_vector_run(const ts_vector *v, tsi_body body, blocks *job) {
  job->count = cpu_count(v);
  cpu_for(v->context, cpu_blocks(job->count), CPU_BLOCK, body, job);
}

/* ---- Storage ---- */

/* Has no coefficients, because filling a `blocks` takes measurable time with short vectors. */
typedef struct copied {
  size_t count;
  float *out;
  const float *x; /* NULL: fill with value */
  float value;
} copied;

static void body_copy(const void *arguments, size_t first, size_t last) {
  const copied *job = arguments;
  const size_t begin = first * CPU_BLOCK, end = cpu_block_end(last, job->count);
  if (job->x) memcpy(job->out + begin, job->x + begin, (end - begin) * sizeof(float));
  for (size_t i = begin; i < end && !job->x; i++) job->out[i] = job->value;
}

static void copy(const ts_vector *v, float *out, const float *x, float value) {
  const copied job = {cpu_count(v), out, x, value};
  if (out != x) cpu_for(v->context, cpu_blocks(job.count), CPU_BLOCK, body_copy, &job);
}

ts_status cpu_vector_create(ts_vector *v) {
  ts_context *context = v->context;
  const size_t components = (size_t)v->components, count = (size_t)v->space->tiling.size * components;
  const size_t bytes = (size_t)tsi_columns_of(v->space) * components * sizeof(float);
  TSI_TRY(cpu_reserve_partials(context, count));
  TSI_TRY(tsi_device_alloc(context, bytes, "a vector"));
  cpu_vector *impl = tsi_calloc(context, 1, sizeof *impl);
  void *block = tsi_malloc(context, bytes + 2 * (size_t)CPU_ALIGNMENT, 1);
  if (!impl || !block) {
    tsi_free(context, impl);
    tsi_free(context, block);
    tsi_device_free(context, bytes);
    return tsi_out_of_memory(context, "a vector", bytes);
  }
  const uintptr_t address = ((uintptr_t)block + CPU_ALIGNMENT - 1) / CPU_ALIGNMENT * CPU_ALIGNMENT;
  *impl = (cpu_vector){.data = (float *)address, .block = block, .count = count, .bytes = bytes};
  memset(impl->data + count, 0, bytes - count * sizeof(float) + CPU_ALIGNMENT);
  v->impl = impl;
  return cpu_fill(v, 0); /* each thread first touches the pages it will work on */
}

void cpu_vector_destroy(ts_vector *v) {
  cpu_vector *impl = cpu_vector_of(v);
  tsi_device_free(v->context, impl->bytes);
  tsi_free(v->context, impl->block);
  tsi_free(v->context, impl);
  v->impl = NULL;
}

ts_status cpu_vector_write(ts_vector *v, const float *texels) {
  copy(v, cpu_data(v), texels, 0);
  return TS_OK;
}

ts_status cpu_vector_read(const ts_vector *v, float *texels) {
  copy(v, texels, cpu_data(v), 0);
  return TS_OK;
}

/* ---- Element-wise operations ----
 * Each body iterates over groups of CPU_LANES floats with one coefficient per lane; the last group may be
 * shorter. GROUPS repeats `expression` for every float i in lane l. */
#define GROUPS_OF(begin, count, expression)                                                                    \
  const size_t end = count;                                                                                    \
  size_t g = begin;                                                                                            \
  for (; g + CPU_LANES <= end; g += CPU_LANES) {                                                               \
    CPU_SIMD                                                                                                   \
    for (size_t l = 0; l < CPU_LANES; l++) {                                                                   \
      const size_t i = g + l;                                                                                  \
      expression;                                                                                              \
    }                                                                                                          \
  }                                                                                                            \
  for (size_t l = 0; g + l < end; l++) {                                                                       \
    const size_t i = g + l;                                                                                    \
    expression;                                                                                                \
  }
#define GROUPS(expression) GROUPS_OF(first *CPU_BLOCK, cpu_block_end(last, job->count), expression)

CPU_CLONES static void body_scale(const void *arguments, size_t first, size_t last) {
  const blocks *job = arguments;
  float *out = job->out;
  const float *x = job->x, *a = job->a;
  GROUPS(out[i] = a[l] * x[i])
}

CPU_CLONES static void body_axpby(const void *arguments, size_t first, size_t last) {
  const blocks *job = arguments;
  float *out = job->out;
  const float *x = job->x, *y = job->y, *a = job->a, *b = job->b;
  GROUPS(out[i] = a[l] * x[i] + b[l] * y[i])
}

CPU_CLONES static void body_multiply(const void *arguments, size_t first, size_t last) {
  const blocks *job = arguments;
  float *out = job->out;
  const float *x = job->x, *y = job->y;
  GROUPS(out[i] = x[i] * y[i])
}

CPU_CLONES static void body_multiply_add(const void *arguments, size_t first, size_t last) {
  const blocks *job = arguments;
  float *out = job->out;
  const float *w = job->w, *x = job->x, *y = job->y, *b = job->b;
  GROUPS(out[i] = w[i] * x[i] + b[l] * y[i])
}

CPU_CLONES static void body_axpy2(const void *arguments, size_t first, size_t last) {
  const blocks *job = arguments;
  float *x = job->out, *r = job->out2;
  const float *d = job->x, *q = job->y, *a = job->a, *b = job->b;
  GROUPS(x[i] += a[l] * d[i]; r[i] += b[l] * q[i])
}

CPU_CLONES static void body_reciprocal(const void *arguments, size_t first, size_t last) {
  const blocks *job = arguments;
  float *out = job->out;
  const float *x = job->x;
  GROUPS(const float d = x[i]; out[i] = d == 0 ? 0 : 1 / d)
}

/* ---- Element-wise operations in pairs ---- */

const float cpu_zeros[CPU_BLOCK];

typedef struct pair_blocks {
  size_t count;
  cpu_parts out, x, y, w;
  double a[CPU_LANES], b[CPU_LANES];
} pair_blocks;

/* Processes single blocks, so that one block of zeros can replace any missing part. */
#define PAIR_BODY(name, expression)                                                                            \
  CPU_CLONES static void name(const void *arguments, size_t first, size_t last) {                              \
    const pair_blocks *job = arguments;                                                                        \
    for (size_t begin = first * CPU_BLOCK; begin < cpu_block_end(last, job->count); begin += CPU_BLOCK) {      \
      const struct {                                                                                           \
        cpu_operand x, y, w;                                                                                   \
        const double *a, *b;                                                                                   \
      } in = {cpu_operand_at(job->x, begin), cpu_operand_at(job->y, begin), cpu_operand_at(job->w, begin),     \
              job->a, job->b};                                                                                 \
      float *high = job->out.high + begin, *low = job->out.low + begin;                                        \
      GROUPS_OF(0, cpu_block_end(begin / CPU_BLOCK + 1, job->count) - begin,                                   \
                cpu_split(expression, &high[i], &low[i]))                                                      \
    }                                                                                                          \
  }
PAIR_BODY(pairs_axpby, in.a[l] * cpu_value(in.x, i) + in.b[l] * cpu_value(in.y, i))
PAIR_BODY(pairs_multiply_add, cpu_value(in.w, i) * cpu_value(in.x, i) + in.b[l] * cpu_value(in.y, i))
PAIR_BODY(pairs_reciprocal, cpu_value(in.x, i) == 0 ? 0 : 1 / cpu_value(in.x, i))

/* out = a x + b y, or w x + b y. */
static ts_status pairs(ts_vector *out, tsi_body body, const ts_vector *w, ts_coefficient a, const ts_vector *x,
                       ts_coefficient b, const ts_vector *y) {
  pair_blocks job = {.count = cpu_count(out),
                     .out = cpu_parts_of(out),
                     .x = cpu_parts_of(tsi_term(a, x)),
                     .y = cpu_parts_of(tsi_term(b, y)),
                     .w = cpu_parts_of(w)};
  cpu_pair_coefficient(a, out->components, job.a);
  cpu_pair_coefficient(b, out->components, job.b);
  cpu_for(out->context, cpu_blocks(job.count), 2 * (size_t)CPU_BLOCK, body, &job);
  return TS_OK;
}

/* ---- The operations ---- */

ts_status cpu_fill(ts_vector *y, float value) {
  copy(y, cpu_data(y), NULL, value);
  return TS_OK;
}

static int is_one(ts_coefficient a) {
  return a.scale == 1 && !a.numerator.scalars && !a.denominator.scalars;
}

ts_status cpu_axpby(ts_vector *out, ts_coefficient a, const ts_vector *x, ts_coefficient b,
                    const ts_vector *y) {
  if (out->low) return pairs(out, pairs_axpby, NULL, a, x, b, y);
  if (a.scale == 0 && b.scale == 0) return cpu_fill(out, 0);
  if (a.scale == 0) return cpu_axpby(out, b, y, a, x);
  if (is_one(a) && b.scale == 0) {
    copy(out, cpu_data(out), cpu_data(x), 0);
    return TS_OK;
  }
  blocks job = {.out = cpu_data(out), .x = cpu_data(x)};
  cpu_coefficient(a, out->components, job.a);
  if (b.scale == 0) {
    cpu_vector_run(out, body_scale, &job);
    return TS_OK;
  }
  job.y = cpu_data(y);
  cpu_coefficient(b, out->components, job.b);
  cpu_vector_run(out, body_axpby, &job);
  return TS_OK;
}

ts_status cpu_multiply(ts_vector *out, const ts_vector *x, const ts_vector *y) {
  if (out->low) return cpu_multiply_add(out, x, y, ts_constant(0), NULL);
  cpu_vector_run(out, body_multiply, &(blocks){.out = cpu_data(out), .x = cpu_data(x), .y = cpu_data(y)});
  return TS_OK;
}

ts_status cpu_zero_constrained(ts_vector *out, const ts_vector *x) {
  const unsigned char *constrained = out->space->constrained;
  const size_t components = (size_t)out->components;
  copy(out, cpu_data(out), cpu_data(x), 0);
  for (int32_t i = 0; constrained && i < out->space->tiling.size; i++)
    if (constrained[i]) memset(cpu_data(out) + (size_t)i * components, 0, components * sizeof(float));
  return TS_OK;
}

ts_status cpu_multiply_add(ts_vector *out, const ts_vector *w, const ts_vector *x, ts_coefficient b,
                           const ts_vector *y) {
  if (out->low) return pairs(out, pairs_multiply_add, w, ts_constant(1), x, b, y);
  if (b.scale == 0) return cpu_multiply(out, w, x);
  blocks job = {.out = cpu_data(out), .x = cpu_data(x), .y = cpu_data(y), .w = cpu_data(w)};
  cpu_coefficient(b, out->components, job.b);
  cpu_vector_run(out, body_multiply_add, &job);
  return TS_OK;
}

ts_status cpu_axpy2(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                    const ts_vector *q) {
  if (x->low || r->low || a.scale == 0 || b.scale == 0) {
    TSI_TRY(cpu_axpby(x, a, d, ts_constant(1), x));
    return cpu_axpby(r, b, q, ts_constant(1), r);
  }
  blocks job = {.out = cpu_data(x), .out2 = cpu_data(r), .x = cpu_data(d), .y = cpu_data(q)};
  cpu_coefficient(a, x->components, job.a);
  cpu_coefficient(b, x->components, job.b);
  cpu_vector_run(x, body_axpy2, &job);
  return TS_OK;
}

static void body_axpy2_dot(const void *arguments, size_t first, size_t last) {
  const blocks *job = arguments;
  for (size_t block = first; block < last; block++) {
    body_axpy2(job, block, block + 1);
    cpu_dot_block(job->dot, block);
  }
}

ts_status cpu_axpy2_dot(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                        const ts_vector *q, const ts_vector *w, ts_scalars *out, int index) {
  if (x->low || r->low || a.scale == 0 || b.scale == 0) {
    TSI_TRY(cpu_axpy2(x, a, d, r, b, q));
    return w ? cpu_dot3(out, index, r, r, w) : cpu_reduce(out, index, TSI_REDUCE_DOT, r, r);
  }
  const cpu_reduction dot = cpu_dot_begin(r, r, w);
  blocks job = {.out = cpu_data(x), .out2 = cpu_data(r), .x = cpu_data(d), .y = cpu_data(q), .dot = &dot};
  cpu_coefficient(a, x->components, job.a);
  cpu_coefficient(b, x->components, job.b);
  cpu_vector_run(x, body_axpy2_dot, &job);
  return cpu_dot_end(&dot, out, index);
}

ts_status cpu_reciprocal(ts_vector *out, const ts_vector *x) {
  if (out->low) return pairs(out, pairs_reciprocal, NULL, ts_constant(1), x, ts_constant(0), NULL);
  cpu_vector_run(out, body_reciprocal, &(blocks){.out = cpu_data(out), .x = cpu_data(x)});
  return TS_OK;
}

/* ---- Vectors with several parts ---- */

typedef struct parts_job {
  float *x, *low, *lowest; /* lowest: NULL if missing */
  const float *e;
  float a[CPU_LANES];
  size_t count;
} parts_job;

/* (x + low) + lowest is exact in two doubles. With e they form a sum and its rounding error (Knuth's
 * two-sum). */
CPU_INLINE void add_to_parts(const parts_job *job, size_t i, double e, float lowest, float *next_low) {
  const double low = (double)job->low[i], x = (double)job->x[i], before = x + low;
  const double sum = before + e, part = sum - before;
  const double error = (before - (sum - part)) + (e - part) + ((x - before) + low) + (double)lowest;
  const float high = (float)(sum + error);
  const double remainder = (sum - (double)high) + error;
  job->x[i] = high;
  job->low[i] = (float)remainder;
  *next_low = (float)(remainder - (double)job->low[i]);
}

CPU_CLONES static void body_add_to_two(const void *arguments, size_t first, size_t last) {
  const parts_job *job = arguments;
  const float *a = job->a, *e = job->e;
  float lost;
  GROUPS(add_to_parts(job, i, (double)(a[l] * e[i]), 0, &lost))
}

CPU_CLONES static void body_add_to_three(const void *arguments, size_t first, size_t last) {
  const parts_job *job = arguments;
  const float *a = job->a, *e = job->e;
  float *lowest = job->lowest;
  GROUPS(add_to_parts(job, i, (double)(a[l] * e[i]), lowest[i], &lowest[i]))
}

ts_status cpu_add_to_parts(ts_vector *x, ts_coefficient a, const ts_vector *e) {
  const ts_vector *lowest = x->low->low;
  parts_job job = {.x = cpu_data(x),
                   .low = cpu_data(x->low),
                   .lowest = lowest ? cpu_data(lowest) : NULL,
                   .e = cpu_data(e),
                   .count = cpu_count(x)};
  cpu_coefficient(a, x->components, job.a);
  cpu_for(x->context, cpu_blocks(job.count), CPU_BLOCK, lowest ? body_add_to_three : body_add_to_two, &job);
  return TS_OK;
}
