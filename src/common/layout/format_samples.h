/* The columns that the choice of a format inspects. */
#ifndef TSI_FORMAT_SAMPLES_H
#define TSI_FORMAT_SAMPLES_H

#include <stdint.h>

/* Entries first .. first + count - 1, copied to `to` and the following places of the samples. */
typedef struct tsi_samples_range {
  int32_t first, count, to;
} tsi_samples_range;

struct tsi_samples {
  tsi_samples_range *ranges;
  int32_t count, entries; /* of all ranges */
  int64_t all;            /* includes entries of ranges that did not fit */
};

#endif
