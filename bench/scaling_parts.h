/* The parts of a scaling benchmark: backends of 1, 2, ... parts. */
#ifndef BENCH_SCALING_PARTS_H
#define BENCH_SCALING_PARTS_H

#include "bench.h"

enum { SCALING_MOST_PARTS = 64, SCALING_NAME = 24, SCALING_BACKEND = 96 };

typedef struct scaling_parts {
  int count;
  int shares_device; /* several share a device or processor, so they do not run at the same time */
  int is_multi;      /* 1: "multi:cpu+cpu"; 0: "cuda:0+1" */
  char names[SCALING_MOST_PARTS][SCALING_NAME]; /* backend of each part */
} scaling_parts;

/* Whether a backend has parts, by name; NULL: the default backend. */
int scaling_parts_has(const char *backend);

/* Finds the parts of the backend in the options. "cuda:all" (the default) uses all devices that can be opened.
 * Ends the program if the backend has no parts. Nonzero after a message. */
int scaling_parts_find(const bench_options *options, scaling_parts *parts);

/* The backend of the first `count` parts; for one, the part's own backend. */
void scaling_parts_backend(const scaling_parts *parts, int count, char name[SCALING_BACKEND]);

#endif
