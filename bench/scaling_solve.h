/* bench scaling --rtol R: one solve by all ranks, of a matrix that may be larger than any of them could hold.
 */
#ifndef BENCH_SCALING_SOLVE_H
#define BENCH_SCALING_SOLVE_H

#include "bench.h"
#include "generate_box.h"

struct report;

/* `box` is NULL for a matrix that rank 0 has. All ranks call it; one of them reports. Nonzero after a message,
 * and where the solve does not converge, with its figures in the report. */
int scaling_solve(ts_context *context, const bench_options *options, const generated_box *box, const char *name,
                  int32_t rows, struct report *r);

#endif
