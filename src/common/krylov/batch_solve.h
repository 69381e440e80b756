/* Many small systems with one sparsity pattern (texsolve/batch.h). Control flow of a call: batch_solve.c (API,
 * descriptor, results), batch_pattern.c (the pattern, once per call), then the backend's tsi_batch_ops or
 * batch_host.c (the host's threads, with batch_kernel.h). The decisions of a solve are in batch_rules.h, for
 * the host and for CUDA.
 *
 * Every system is solved independently: its bits do not depend on its neighbours, their number or the number of
 * threads. */
#ifndef TSI_BATCH_SOLVE_H
#define TSI_BATCH_SOLVE_H

#include <texsolve/batch.h>

#include "common/core/array.h"
#include "common/core/core.h"

/* The pattern in canonical form: columns ascend in each row, without duplicates. Each array has one number per
 * entry unless noted. */
typedef struct tsi_batch_pattern {
  int32_t rows, entries;
  int32_t given;    /* entries as given, duplicates included */
  int in_order;     /* the given entries are the canonical ones, in order */
  int has_mirrors;  /* for each entry (i, j) there is an entry (j, i) */
  int32_t *offsets; /* rows + 1; the first one of a block of `count` integers with all arrays */
  int32_t *columns;
  int32_t *diagonal; /* rows: the entry (i, i), or -1 */
  int32_t *mirror;   /* entry (j, i) of entry (i, j), or -1 */
  /* Entry e is the sum of the given entries sources[first[e]] .. sources[first[e + 1] - 1]. */
  int32_t *first;   /* entries + 1 */
  int32_t *sources; /* given */
  size_t count;
} tsi_batch_pattern;

/* Checks and converts the pattern. On failure nothing is allocated. */
ts_status tsi_batch_pattern_create(ts_context *context, int32_t rows, int32_t given, const int32_t *offsets,
                                   const int32_t *columns, tsi_batch_pattern *pattern);
void tsi_batch_pattern_free(ts_context *context, tsi_batch_pattern *pattern);

/* A checked call with at least one system. Method and preconditioner may be auto; rtol is not negative. */
typedef struct tsi_batch_job {
  const tsi_batch_pattern *pattern;
  size_t systems;
  ts_array values, b, x; /* one system after the other */
  ts_method method;
  ts_preconditioner_kind preconditioner;
  double rtol;
  int max_iterations;
  int zero_start;
  ts_batch_result *results; /* on the host, one per system */
} tsi_batch_job;

/* A backend's own solve. x is written last, so that b and x may be one array. */
struct tsi_batch_ops {
  ts_status (*solve)(ts_context *context, const tsi_batch_job *job);
};

/* batch_host.c: a solve with the threads of the context, for backends without the table and for
 * TS_CONTEXT_NO_FUSED_OPERATIONS. */
ts_status tsi_batch_solve_on_host(ts_context *context, const tsi_batch_job *job);

#endif
