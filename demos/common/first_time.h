/* What takes long when it is done for the first time, because shaders are compiled for it: a window shows a
 * frame that says so before. */
#ifndef FIRST_TIME_H
#define FIRST_TIME_H

#include <stdint.h>

enum { FIRST_TIME_ROOM = 256 };

typedef struct first_times {
  uint64_t seen[FIRST_TIME_ROOM];
  int count;
} first_times;

/* Returns 1 once for each text, which names all that decides about shaders. */
int first_time(first_times *f, const char *what);

#endif
