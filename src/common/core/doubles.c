/* Loops over doubles, each compiled for several instruction sets. */
#include "doubles.h"

#include <float.h>
#include <math.h>

#include "clones.h"
#include "pool.h"

enum { LANES = 8 };

static size_t begin_of(size_t count, size_t block) {
  return count / TSI_BLOCKS * block + count % TSI_BLOCKS * block / TSI_BLOCKS;
}

static ts_status in_blocks(ts_context *context, size_t count, tsi_body body, const void *arguments) {
  const int32_t many = count < INT32_MAX ? (int32_t)count : INT32_MAX;
  TSI_TRY(tsi_threads_for(context, many));
  tsi_in_blocks(context, many, body, arguments);
  return TS_OK;
}

/* ---- Facts ---- */

/* The result of a thread: the largest and smallest magnitude of finite numbers, 0 if there are none; and
 * whether some numbers are not floats. */
typedef struct sizes {
  double largest, smallest, others;
} sizes;

typedef struct look {
  const double *values;
  size_t count;
  sizes *found; /* at the index of a thread's first block, the result of all its blocks */
} look;

typedef struct lanes {
  double largest[LANES], smallest[LANES], others[LANES];
} lanes;

CPU_INLINE void look_at(lanes *to, const double *values, size_t count) {
  CPU_SIMD
  for (size_t l = 0; l < count; l++) {
    const double value = values[l], size = fabs(value), finite = size <= DBL_MAX ? size : 0;
    const double present = finite > 0 ? finite : (double)INFINITY;
    const double is_other = value == (double)(float)value || value != value ? 0 : 1;
    to->largest[l] = finite > to->largest[l] ? finite : to->largest[l];
    to->smallest[l] = present < to->smallest[l] ? present : to->smallest[l];
    to->others[l] = is_other > to->others[l] ? is_other : to->others[l];
  }
}

CPU_CLONES static void look_at_blocks(const void *arguments, size_t first, size_t last) {
  const look *job = arguments;
  const size_t end = begin_of(job->count, last);
  size_t k = begin_of(job->count, first);
  lanes found;
  for (int l = 0; l < LANES; l++) {
    found.largest[l] = found.others[l] = 0;
    found.smallest[l] = (double)INFINITY;
  }
  for (; k + LANES <= end; k += LANES) look_at(&found, job->values + k, LANES);
  look_at(&found, job->values + k, end - k);
  sizes *to = &job->found[first];
  to->smallest = (double)INFINITY;
  for (int l = 0; l < LANES; l++) {
    to->largest = fmax(to->largest, found.largest[l]);
    to->smallest = fmin(to->smallest, found.smallest[l]);
    to->others = fmax(to->others, found.others[l]);
  }
}

static int exponent_of(double size) {
  int exponent;
  frexp(size, &exponent);
  return exponent;
}

/* From this value on a double becomes an infinite float: half a unit in the last place above the largest
 * float. */
static const double beyond = 0x1.ffffffp127;

static void find_out_of_range(const double *values, size_t count, tsi_looked *found) {
  size_t k = 0;
  while (k < count && !(fabs(values[k]) >= beyond && isfinite(values[k]))) k++;
  if (k == count) return;
  found->out_of_range = k;
  found->value = values[k];
}

ts_status tsi_doubles_look(ts_context *context, const double *values, size_t count, tsi_looked *found) {
  sizes all[TSI_BLOCKS] = {{0}};
  const look job = {values, count, all};
  TSI_TRY(in_blocks(context, count, look_at_blocks, &job));
  double largest = 0, smallest = (double)INFINITY, others = 0;
  for (int b = 0; b < TSI_BLOCKS; b++) {
    if (all[b].largest > 0) smallest = fmin(smallest, all[b].smallest);
    largest = fmax(largest, all[b].largest);
    others = fmax(others, all[b].others);
  }
  *found = (tsi_looked){.are_floats = others == 0, .exponents = tsi_no_exponents, .out_of_range = SIZE_MAX};
  if (largest > 0) found->exponents = (tsi_exponents){exponent_of(largest), exponent_of(smallest)};
  if (largest >= beyond) find_out_of_range(values, count, found);
  return TS_OK;
}

/* ---- Multiplication by powers of two ---- */

/* The multiplication has two steps. Only the first one reduces numbers, so that they are rounded once, as by
 * ldexp. */
typedef struct power {
  double first, second;
} power;

static power power_of(int exponent) {
  enum { LEAST = -1074, MOST = 1000 };
  const int first = exponent < LEAST ? LEAST : exponent > MOST ? MOST : exponent;
  return (power){ldexp(1, first), ldexp(1, exponent - first)};
}

/* ---- Parts ---- */

typedef struct split {
  const double *values;
  size_t count;
  power power;
  int part;
  float *floats;
} split;

CPU_INLINE void split_between(const split *job, size_t begin, size_t end, int part) {
  const double *values = job->values;
  const double first = job->power.first, second = job->power.second;
  float *floats = job->floats;
  CPU_SIMD
  for (size_t k = begin; k < end; k++) {
    double remainder = values[k] * first * second;
    for (int p = 0; p < part; p++) remainder -= (double)(float)remainder;
    floats[k] = part == 0 || fabs(remainder) <= DBL_MAX ? (float)remainder : 0;
  }
}

CPU_CLONES static void split_blocks(const void *arguments, size_t first, size_t last) {
  const split *job = arguments;
  const size_t begin = begin_of(job->count, first), end = begin_of(job->count, last);
  if (job->part == 0)
    split_between(job, begin, end, 0);
  else if (job->part == 1)
    split_between(job, begin, end, 1);
  else
    split_between(job, begin, end, 2);
}

ts_status tsi_doubles_split(ts_context *context, const double *values, size_t count, int exponent, int part,
                            float *floats) {
  const split job = {values, count, power_of(-exponent), part, floats};
  return in_blocks(context, count, split_blocks, &job);
}

/* ---- Sums ---- */

typedef struct join {
  double *values;
  size_t count;
  const float *floats;
  int is_first;
  power power;
} join;

CPU_INLINE void join_between(const join *job, size_t begin, size_t end, int is_first) {
  double *values = job->values;
  const float *floats = job->floats;
  const double first = job->power.first, second = job->power.second;
  CPU_SIMD
  for (size_t k = begin; k < end; k++) {
    const double before = is_first ? 0 : values[k];
    values[k] = (before + (double)floats[k]) * first * second;
  }
}

CPU_CLONES static void join_blocks(const void *arguments, size_t first, size_t last) {
  const join *job = arguments;
  const size_t begin = begin_of(job->count, first), end = begin_of(job->count, last);
  if (job->is_first)
    join_between(job, begin, end, 1);
  else
    join_between(job, begin, end, 0);
}

ts_status tsi_doubles_join(ts_context *context, double *values, size_t count, tsi_joined with) {
  const join job = {values, count, with.floats, with.is_first, power_of(with.exponent)};
  return in_blocks(context, count, join_blocks, &job);
}
