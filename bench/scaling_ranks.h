/* bench scaling of the processes that mpirun has started: as many parts as there are, no more and no fewer. */
#ifndef BENCH_SCALING_RANKS_H
#define BENCH_SCALING_RANKS_H

#include "bench.h"

struct report;

/* All processes call it; one of them reports. Nonzero after a message. */
int scaling_ranks(const bench_options *options, const char *name, struct report *r);

#endif
