/* The columns that the choice of a format looks at. */
#ifndef TSI_FORMAT_SAMPLES_H
#define TSI_FORMAT_SAMPLES_H

#include <stdint.h>

/* Entries first .. first + count - 1, which go to number `to` of the samples. */
typedef struct tsi_samples_range {
  int32_t first, count, to;
} tsi_samples_range;

struct tsi_samples {
  tsi_samples_range *ranges;
  int32_t count, entries; /* of all ranges */
  int64_t all;            /* entries of ranges that there was no room for, too */
};

#endif
