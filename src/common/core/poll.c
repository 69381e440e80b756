/* The application's poll function: to follow long calls of the library, and to stop them. */
#include <math.h>

#include "core.h"

/* The context that this thread has called and that may call the application. */
static _Thread_local ts_context *current;

static const double usual_interval = 0.005;

ts_status ts_context_set_poll(ts_context *context, ts_poll_fn poll, void *user, double seconds) {
  TSI_BEGIN(context, context);
  if (!(seconds >= 0 && isfinite(seconds)))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "seconds is %g; it must be a number from 0", seconds);
  if (context->polls.running)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "the poll function must not use its context");
  context->polls.function = poll;
  context->polls.user = user;
  context->polls.interval = seconds > 0 ? seconds : usual_interval;
  return TS_OK;
}

int tsi_polls_now(const ts_context *context) {
  return context && context->polls.function && context->polls.depth > 0;
}

void tsi_polls_begin(ts_context *context) {
  tsi_polls *p = &context->polls;
  if (p->depth++ > 0) return;
  p->stopped = 0;
  if (!p->function) return;
  p->last = tsi_seconds();
  p->outer = current;
  current = context;
}

void tsi_poll_within(const ts_context *context) {
  if (!tsi_polls_now(context) || context->polls.stopped) return;
  tsi_polls *p = &((ts_context *)context)->polls;
  if (tsi_seconds() - p->last < p->interval) return;
  p->running = 1;
  if (p->function(p->user)) p->stopped = 1;
  p->running = 0;
  p->last = tsi_seconds();
}

void tsi_poll_here(void) {
  if (current) tsi_poll_within(current);
}

static ts_status stopped(ts_context *context) {
  return tsi_fail(context, TS_ERROR_STOPPED, "%s", ts_status_text(TS_ERROR_STOPPED));
}

int tsi_poll_stops(ts_context *context) {
  tsi_poll_within(context);
  return tsi_polls_now(context) && context->polls.stopped;
}

ts_status tsi_poll(ts_context *context) {
  return tsi_poll_stops(context) ? stopped(context) : TS_OK;
}

void tsi_polls_end_in_time(ts_context *context) {
  if (context->polls.depth == 1) context->polls.stopped = 0;
}

ts_status tsi_polls_end(ts_context *context, ts_status status) {
  tsi_polls *p = &context->polls;
  if (--p->depth > 0) return status;
  if (current == context) current = p->outer;
  return p->stopped && status == TS_OK ? stopped(context) : status;
}
