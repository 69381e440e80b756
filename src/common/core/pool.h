/* The threads of a context: those of the CPU backend, and of work that other backends have on the host.
 *
 * The calling thread works on the first range of a job and then on every range whose worker has not begun it:
 * it waits only for workers that are at work, never for one that the system has yet to run, which takes
 * milliseconds where other programs keep the cores busy. Workers look for the next job for a fraction of a
 * millisecond, since operations of a solver follow each other that closely, and sleep from then on.
 *
 * OpenMP's threads do not serve: a parallel region ends when every thread has been there, and threads that spin
 * meanwhile take the cores from those that work. */
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
  int ranges; /* contiguous and equal; 2 to the number of threads */
} tsi_job;

/* Makes room for threads - 1 workers. They start with the first job, as many as the system grants. */
ts_status tsi_pool_create(ts_context *context, int threads, tsi_pool **pool);
void tsi_pool_destroy(ts_context *context, tsi_pool **pool);

/* Returns how many seconds longer this took than the calling thread would have taken alone; negative: the gain.
 * In a child of the process that made the pool it has workers of its own. */
double tsi_pool_run(tsi_pool *pool, const tsi_job *job);

/* ---- parallel.c ---- */

/* How many threads the context has, which are made with the first call; 1 where the library has none. */
ts_status tsi_threads(ts_context *context, int *threads);
/* Work on `items` by at most so many threads as there are items, the calling one among them. Needs tsi_threads
 * before it. */
void tsi_parallel(const ts_context *context, size_t items, tsi_body body, const void *arguments);

/* Loops over many things, the rows of a matrix for example, in TSI_BLOCKS blocks: the items of the body, so
 * that what it finds in each does not depend on the number of threads. Few things are done by the calling
 * thread, before others would wake. */
enum { TSI_BLOCKS = 128, TSI_MANY = 1 << 16 };

static inline int32_t tsi_block_begin(int32_t count, size_t block) {
  return (int32_t)((int64_t)count * (int64_t)block / TSI_BLOCKS);
}
/* Makes the threads for such loops over `count` things. Without a context, NULL, there is the calling one
 * alone. */
ts_status tsi_threads_for(ts_context *context, int32_t count);
/* Whether such a loop is shared by so many threads that it may take twice as many steps. */
int tsi_shares(const ts_context *context, int32_t count);
void tsi_in_blocks(const ts_context *context, int32_t count, tsi_body body, const void *arguments);

#endif
