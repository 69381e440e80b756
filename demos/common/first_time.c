#include "first_time.h"

int first_time(first_times *f, const char *what) {
  uint64_t sum = 14695981039346656037U; /* FNV-1a */
  for (; *what; what++) sum = (sum ^ (unsigned char)*what) * 1099511628211U;
  for (int k = 0; k < f->count; k++)
    if (f->seen[k] == sum) return 0;
  if (f->count == FIRST_TIME_ROOM) f->count = 0;
  f->seen[f->count++] = sum;
  return 1;
}
