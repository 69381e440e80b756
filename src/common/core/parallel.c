/* The threads of a context, for all backends. */
#include "cores.h"
#include "pool.h"

ts_status tsi_threads(ts_context *context, int *threads) {
#ifdef TEXSOLVE_HAVE_THREADS
  if (!context->threads) {
    const int wanted = context->desc.threads > 0 ? context->desc.threads : tsi_default_threads();
    if (wanted > 1) TSI_TRY(tsi_pool_create(context, wanted, &context->pool));
    context->threads = wanted;
  }
#else
  context->threads = 1;
#endif
  *threads = context->threads;
  return TS_OK;
}

/* The calling thread calls the poll function between a few parts of its range. */
void tsi_polled_range(const ts_context *context, tsi_body body, const void *arguments, size_t first,
                      size_t last) {
  enum { PARTS = 32 };
  const size_t items = last - first, parts = items < PARTS ? items : PARTS;
  if (!tsi_polls_now(context)) {
    body(arguments, first, last);
    return;
  }
  for (size_t k = 0; k < parts; k++) {
    body(arguments, first + items * k / parts, first + items * (k + 1) / parts);
    tsi_poll_within(context);
  }
}

void tsi_parallel(const ts_context *context, size_t items, tsi_body body, const void *arguments) {
#ifdef TEXSOLVE_HAVE_THREADS
  const size_t threads = (size_t)context->threads;
  if (threads > 1 && items > 1) {
    const tsi_job job = {.body = body,
                         .arguments = arguments,
                         .items = items,
                         .polls = tsi_polls_now(context) ? context : NULL,
                         .ranges = (int)(items < threads ? items : threads)};
    tsi_pool_run(context->pool, &job);
    return;
  }
#endif
  if (items > 0) tsi_polled_range(context, body, arguments, 0, items);
}

ts_status tsi_threads_for(ts_context *context, int32_t count) {
  int threads;
  return count < TSI_MANY || !context ? TS_OK : tsi_threads(context, &threads);
}

int tsi_shares(const ts_context *context, int32_t count) {
  return count >= TSI_MANY && context && context->threads > 2;
}

void tsi_in_blocks(const ts_context *context, int32_t count, tsi_body body, const void *arguments) {
  if (count < TSI_MANY || !context) /* takes less than a millisecond */
    body(arguments, 0, TSI_BLOCKS);
  else
    tsi_parallel(context, TSI_BLOCKS, body, arguments);
}
