/* Who the parts of a scaling benchmark are: the backends of 1, 2, ... parts. */
#ifndef BENCH_SCALING_PARTS_H
#define BENCH_SCALING_PARTS_H

#include "bench.h"

enum { SCALING_MOST_PARTS = 64, SCALING_NAME = 24, SCALING_BACKEND = 96 };

typedef struct scaling_parts {
  int count;
  int take_turns; /* one device or processor has several of them, so that they do not run at the same time */
  int is_multi;   /* "multi:cpu+cpu", else "cuda:0+1" */
  char names[SCALING_MOST_PARTS][SCALING_NAME]; /* of the backend of each */
} scaling_parts;

/* Whether a backend has parts, by its name; NULL: the default. */
int scaling_parts_has(const char *backend);

/* The parts of the backend that the options name; "cuda:all" (the default) has those that can be opened. Ends
 * the program for a backend without parts. Nonzero after a message. */
int scaling_parts_find(const bench_options *options, scaling_parts *parts);

/* The backend of the first `count` of them: of one, that of a part by itself. */
void scaling_parts_backend(const scaling_parts *parts, int count, char name[SCALING_BACKEND]);

#endif
