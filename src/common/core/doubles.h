/* Doubles on the host: their facts, splitting into floats, and joining. The threads of the context share large
 * arrays. */
#ifndef TSI_DOUBLES_H
#define TSI_DOUBLES_H

#include "array.h"

/* Facts about the numbers of an array. If `context` is NULL, the calling thread works alone. */
ts_status tsi_doubles_look(ts_context *context, const double *values, size_t count, tsi_looked *found);

/* Part 0, 1 or 2 of values times 2^-exponent: the remainder after the previous parts, rounded. */
ts_status tsi_doubles_split(ts_context *context, const double *values, size_t count, int exponent, int part,
                            float *floats);

/* values = (values + floats) 2^exponent. With `is_first`, the previous `values` count as 0. */
typedef struct tsi_joined {
  const float *floats;
  int is_first, exponent;
} tsi_joined;
ts_status tsi_doubles_join(ts_context *context, double *values, size_t count, tsi_joined with);

#endif
