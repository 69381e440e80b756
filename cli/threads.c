#if !defined(_WIN32)
#define _GNU_SOURCE 1 /* of thread.h */
#endif
#include "threads.h"

static int limit;

void threads_limit(int most) {
  limit = most;
}

#ifdef TEXSOLVE_HAVE_THREADS

#include <stdatomic.h>
#include <stdlib.h>

#include "common/core/cores.h"
#include "common/core/thread.h"

int threads_count(void) {
  static atomic_int cores;
  if (limit > 0) return limit;
  if (!atomic_load(&cores)) atomic_store(&cores, tsi_default_threads());
  return atomic_load(&cores);
}

typedef struct job {
  void (*body)(void *argument, int64_t item);
  void *argument;
  int64_t count;
  atomic_int_least64_t next;
} job;

static void work(void *argument) {
  job *j = argument;
  for (int64_t item; (item = atomic_fetch_add(&j->next, 1)) < j->count;) j->body(j->argument, item);
}

/* If memory or threads are unavailable, the calling thread does all the work. */
void threads_each(int64_t count, void (*body)(void *argument, int64_t item), void *argument) {
  job j = {.body = body, .argument = argument, .count = count};
  const int most = threads_count();
  int wanted = count < most ? (int)count - 1 : most - 1, started = 0;
  tsi_thread *others = wanted > 0 ? malloc((size_t)wanted * sizeof *others) : NULL;
  while (others && started < wanted && tsi_thread_start(&others[started], work, &j)) started++;
  work(&j);
  for (int k = 0; k < started; k++) tsi_thread_join(&others[k]);
  free(others);
}

#else

int threads_count(void) {
  return 1;
}

void threads_each(int64_t count, void (*body)(void *argument, int64_t item), void *argument) {
  for (int64_t item = 0; item < count; item++) body(argument, item);
}

#endif
