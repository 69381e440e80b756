/* The threads of a context.
 *
 * The calling thread works on the first range of a job and then on every range whose worker has not begun it:
 * it waits only for workers that are at work, never for one that the system has yet to run, which takes
 * milliseconds where other programs keep the cores busy. Workers look for the next job for a fraction of a
 * millisecond, since operations of a solver follow each other that closely, and sleep from then on.
 *
 * OpenMP's threads do not serve: a parallel region ends when every thread has been there, and threads that spin
 * meanwhile take the cores from those that work. */
#ifndef CPU_POOL_H
#define CPU_POOL_H

#include "common/core/core.h"

typedef struct cpu_pool cpu_pool;

/* Works on items first .. last-1. */
typedef void (*cpu_body)(const void *arguments, size_t first, size_t last);

typedef struct cpu_job {
  cpu_body body;
  const void *arguments;
  size_t items;
  int ranges; /* contiguous and equal; 2 to the number of threads */
} cpu_job;

/* Makes room for threads - 1 workers. They start with the first job, as many as the system grants. */
ts_status cpu_pool_create(ts_context *context, int threads, cpu_pool **pool);
void cpu_pool_destroy(ts_context *context, cpu_pool **pool);

/* Returns how many seconds longer this took than the calling thread would have taken alone; negative: the gain.
 * In a child of the process that made the pool it has workers of its own. */
double cpu_pool_run(cpu_pool *pool, const cpu_job *job);

#endif
