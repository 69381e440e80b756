/* Sharing work among OpenMP threads. Nothing else in the backend knows of threads, and the settings of the
 * OpenMP runtime are never changed: the number of threads is asked for at each parallel region. */
#ifdef _OPENMP
#include <omp.h>
#endif

#include "cpu.h"

/* Floats worth a thread of their own: waking one costs microseconds, and far more where other programs keep the
 * cores busy. */
enum { worth_a_thread = 65536 };

int cpu_default_threads(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

#ifdef _OPENMP
static int useful_threads(int threads, size_t items, size_t cost) {
  const size_t useful = items * cost / worth_a_thread;
  if (useful < (size_t)threads) threads = (int)useful;
  if (items < (size_t)threads) threads = (int)items;
  return threads;
}
#endif

void cpu_for(const ts_context *context, size_t items, size_t cost, cpu_body body, const void *arguments) {
#ifdef _OPENMP
  const int threads = useful_threads(cpu_state_of(context)->threads, items, cost);
  if (threads > 1) {
#pragma omp parallel num_threads(threads)
    {
      /* The runtime may grant fewer threads than were asked for. */
      const size_t granted = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
      const size_t first = items * me / granted, last = items * (me + 1) / granted;
      if (first < last) body(arguments, first, last);
    }
    return;
  }
#else
  (void)context;
  (void)cost;
#endif
  if (items > 0) body(arguments, 0, items);
}
