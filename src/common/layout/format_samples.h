/* The part of a pattern that the choice of a format inspects. */
#ifndef TSI_FORMAT_SAMPLES_H
#define TSI_FORMAT_SAMPLES_H

#include <stdint.h>

/* Numbers first .. first + count - 1 of an array, copied to `to` and the following places of the samples. */
typedef struct tsi_samples_range {
  int32_t first, count, to;
} tsi_samples_range;

struct tsi_samples {
  tsi_samples_range *ranges;
  int32_t count, numbers; /* of all ranges */
  int64_t all;            /* includes numbers of ranges that did not fit */
};

#endif
