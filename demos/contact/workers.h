/* Threads that share loops of a step: the narrow phase of collision detection, rows of the assembly. They sleep
 * in between. The library's own pool is its backends' (src/common/core/pool.h). */
#ifndef WORKERS_H
#define WORKERS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct workers workers;

/* Works on items first .. last - 1. */
typedef void (*workers_body)(void *arguments, int first, int last);

/* So many threads with the calling one, or fewer where the system grants fewer; 0: as many as there are
 * processors, up to a number from which on steps gain nothing. NULL without memory. */
workers *workers_create(int threads);
void workers_destroy(workers **made);

/* Ranges of at most `range` items, by whichever thread is free; each goes to one. Returns when all are done. */
void workers_run(workers *w, int items, int range, workers_body body, void *arguments);

#ifdef __cplusplus
}
#endif
#endif
