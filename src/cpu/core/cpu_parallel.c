/* Divides work among threads while that is worthwhile. */
#include "cpu.h"

#ifdef TEXSOLVE_HAVE_THREADS
static int useful_threads(const ts_context *context, int threads, size_t items, size_t cost) {
  const size_t useful = items * cost / (size_t)context->tuning.thread_floats;
  if (useful < (size_t)threads) threads = (int)useful;
  if (items < (size_t)threads) threads = (int)items;
  return threads;
}
#endif

void cpu_for(const ts_context *context, size_t items, size_t cost, tsi_body body, const void *arguments) {
#ifdef TEXSOLVE_HAVE_THREADS
  cpu_state *state = cpu_state_of(context);
  const int ranges = useful_threads(context, state->threads, items, cost);
  if (ranges > 1 && !cpu_pace_alone(&state->pace, tsi_seconds())) {
    const tsi_job job = {.body = body, .arguments = arguments, .items = items, .ranges = ranges};
    const double loss = tsi_pool_run(context->pool, &job);
    cpu_pace_note(&state->pace, tsi_seconds(), loss);
    return;
  }
#else
  (void)context;
  (void)cost;
#endif
  if (items > 0) body(arguments, 0, items);
}
