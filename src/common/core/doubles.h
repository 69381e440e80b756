/* Doubles on the host: looked at, taken apart into floats, and added up again. The threads of the context share
 * the work on many. */
#ifndef TSI_DOUBLES_H
#define TSI_DOUBLES_H

#include "array.h"

/* Of numbers in an array. `context` may be NULL: the calling thread does it. */
ts_status tsi_doubles_look(ts_context *context, const double *values, size_t count, tsi_looked *found);

/* Part 0, 1 or 2 of values times 2^-exponent: what the parts before it leave of each number, rounded. */
ts_status tsi_doubles_split(ts_context *context, const double *values, size_t count, int exponent, int part,
                            float *floats);

/* values = (values + floats) 2^exponent; what is in `values` counts as 0 with `is_first`. */
typedef struct tsi_joined {
  const float *floats;
  int is_first, exponent;
} tsi_joined;
ts_status tsi_doubles_join(ts_context *context, double *values, size_t count, tsi_joined with);

#endif
