/* Threads that share the loops of a step: the narrow phase of collision detection, and rows of the assembly.
 * They sleep between loops. The library's pool is internal to its backends (src/common/core/pool.h). */
#ifndef WORKERS_H
#define WORKERS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct workers workers;

/* Processes the items first ... last - 1. */
typedef void (*workers_body)(void *arguments, int first, int last);

/* Creates a group of `threads` threads, the calling thread included; fewer if the system refuses some. 0: one
 * per processor, up to a number beyond which steps do not become faster. Returns NULL if memory runs out. */
workers *workers_create(int threads);
void workers_destroy(workers **made);

/* Splits the items into ranges of at most `range`, and hands each range to a free thread. Returns when all are
 * done. */
void workers_run(workers *w, int items, int range, workers_body body, void *arguments);

#ifdef __cplusplus
}
#endif
#endif
