/* Threads of the programs themselves, for files: those of the library belong to its contexts. */
#ifndef CLI_THREADS_H
#define CLI_THREADS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most threads of the calls below. 0, the default: as many as the CPU backend takes by default. */
void threads_limit(int most);
int threads_count(void);

/* Calls body(argument, item) once for each item from 0 to count - 1: by the calling thread and others, which
 * take the next item each. Returns when all have ended. */
void threads_each(int64_t count, void (*body)(void *argument, int64_t item), void *argument);

#ifdef __cplusplus
}
#endif
#endif
