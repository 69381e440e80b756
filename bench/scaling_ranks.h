/* bench scaling of the processes that mpirun has started: as many parts as there are, no more and no fewer. */
#ifndef BENCH_SCALING_RANKS_H
#define BENCH_SCALING_RANKS_H

#include "bench.h"
#include "generate_box.h"

struct report;

/* All processes call it; one of them reports. Nonzero after a message. */
int scaling_ranks(const bench_options *options, const char *name, struct report *r);

/* The largest of all ranks' numbers, on all of them; `user` is the context. */
double scaling_largest(void *user, double mine);

/* A matrix of all ranks, who generate rows of a box, or, where that is NULL, have it from rank 0; `seconds`:
 * what the library took for it. Nonzero after a message. */
int scaling_matrix(ts_context *context, const bench_options *o, const generated_box *box, const char *name,
                   int32_t rows, int keep_host_copy, double *seconds, ts_matrix **matrix);

#endif
