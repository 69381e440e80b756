/* The threads of a context: for the CPU backend, and for host work of other backends.
 *
 * The calling thread works on the first range of a job, and then on every range that its worker has not
 * started. It waits only for workers that are running. It never waits for one that the system has not
 * scheduled, which takes milliseconds if other programs keep the cores busy. Workers spin for a fraction of a
 * millisecond, since operations of a solver follow each other closely, and then sleep.
 *
 * OpenMP's threads are not suitable: a parallel region ends only after every thread has run, and spinning
 * threads take the cores from working ones. */
#ifndef TSI_POOL_H
#define TSI_POOL_H

#include "common/core/core.h"

typedef struct tsi_pool tsi_pool;

/* Works on items first .. last-1. */
typedef void (*tsi_body)(const void *arguments, size_t first, size_t last);

typedef struct tsi_job {
  tsi_body body;
  const void *arguments;
  size_t items;
  int ranges;              /* contiguous and equal; from 2 to the number of threads */
  const ts_context *polls; /* its poll function is called during the job; NULL: none */
} tsi_job;

/* Reserves threads - 1 workers. They start with the first job, as far as the system permits. */
ts_status tsi_pool_create(ts_context *context, int threads, tsi_pool **pool);
void tsi_pool_destroy(ts_context *context, tsi_pool **pool);

/* Returns the additional seconds compared with the calling thread alone; negative: a gain. In a child of the
 * process that created the pool, the pool starts its own workers. */
double tsi_pool_run(tsi_pool *pool, const tsi_job *job);

/* ---- parallel.c ---- */

/* The number of threads of the context, which are created by the first call; 1 if the library has none. */
ts_status tsi_threads(ts_context *context, int *threads);
/* Works on `items` with at most one thread per item, including the calling thread. tsi_threads must be called
 * first. */
void tsi_parallel(const ts_context *context, size_t items, tsi_body body, const void *arguments);

/* Works on a range on the calling thread, which calls the poll function meanwhile. */
void tsi_polled_range(const ts_context *context, tsi_body body, const void *arguments, size_t first,
                      size_t last);

/* Loops over many elements, for example the rows of a matrix, in TSI_BLOCKS blocks. The blocks are the items of
 * the body, so that results per block do not depend on the number of threads. The calling thread alone does
 * loops over few elements, before others would wake. */
enum { TSI_BLOCKS = 128, TSI_MANY = 1 << 16 };

static inline int32_t tsi_block_begin(int32_t count, size_t block) {
  return (int32_t)((int64_t)count * (int64_t)block / TSI_BLOCKS);
}
/* Creates the threads for such loops over `count` elements. If context is NULL, only the calling thread
 * works. */
ts_status tsi_threads_for(ts_context *context, int32_t count);
/* Whether enough threads share such a loop that it may take twice the number of steps. */
int tsi_shares(const ts_context *context, int32_t count);
void tsi_in_blocks(const ts_context *context, int32_t count, tsi_body body, const void *arguments);

#endif
