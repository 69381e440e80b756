/* bench scaling for processes started by mpirun: always with as many parts as processes. */
#ifndef BENCH_SCALING_RANKS_H
#define BENCH_SCALING_RANKS_H

#include "bench.h"
#include "generate_box.h"

struct report;

/* Collective; one process reports. Nonzero after a message. */
int scaling_ranks(const bench_options *options, const char *name, struct report *r);

/* The maximum of all ranks' numbers, on all ranks. `user` is the context. */
double scaling_largest(void *user, double mine);

/* Creates a matrix of all ranks. They generate rows of a box, or receive the matrix from rank 0 if it is NULL.
 * `seconds`: the library's time for it. Nonzero after a message. */
int scaling_matrix(ts_context *context, const bench_options *o, const generated_box *box, const char *name,
                   int32_t rows, int keep_host_copy, double *seconds, ts_matrix **matrix);

#endif
