/* The functions that the library calls back, and how a solve pauses so that the page stays alive.
 *
 * JavaScript implements the imports in library.js. It starts a solve that may pause with tsw_set_pausing(1), by
 * an export that WebAssembly.promising wraps; tsw_pause then suspends the whole stack until a later task. Other
 * calls must not pause. */
#include "callbacks.h"

/* Imports. tsw_report returns 1 to stop the solve, 2 to pause it, otherwise 0. */
extern int tsw_report(void *user, int iteration, int count, const double *history, double residual);
extern void tsw_log_line(void *user, int level, const char *message);
extern int tsw_suspend(void);

static int is_pausing;

void tsw_set_pausing(int pausing) {
  is_pausing = pausing;
}

int tsw_may_pause(void) {
  return is_pausing;
}

int tsw_pause(void) {
  return is_pausing ? tsw_suspend() : 0;
}

static int report(const ts_progress *progress, void *user) {
  int answer =
      tsw_report(user, progress->iteration, progress->count, progress->history, progress->relative_residual);
  if (answer == 2) answer = tsw_pause();
  return answer == 1;
}

ts_progress_fn tsw_get_progress(void) {
  return report;
}

static void log_line(ts_log_level level, const char *message, void *user) {
  tsw_log_line(user, (int)level, message);
}

ts_log_fn tsw_get_log(void) {
  return log_line;
}
