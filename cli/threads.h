/* The programs' own threads, for file access. The library's threads belong to its contexts. */
#ifndef CLI_THREADS_H
#define CLI_THREADS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits the threads of the calls below. 0, the default, uses the CPU backend's default number. */
void threads_limit(int most);
int threads_count(void);

/* Calls body(argument, item) once for each item from 0 to count - 1. The calling thread and others each process
 * the next item. Returns when all items are done. */
void threads_each(int64_t count, void (*body)(void *argument, int64_t item), void *argument);

#ifdef __cplusplus
}
#endif
#endif
