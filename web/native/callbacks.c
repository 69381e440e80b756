/* The functions that the library calls back, and how a solve pauses so that the page stays alive.
 *
 * JavaScript implements the imports in library.js. tsw_suspend suspends the whole stack until a later task.
 * That is possible in exports that WebAssembly.promising wraps, so JavaScript permits pauses with
 * tsw_set_pausing only while it calls those. */
#include "callbacks.h"

#include <string.h>

#include "common/core/core.h"

#ifdef TEXSOLVE_HAVE_GL
#include "gl/webgl/webgl.h"
#endif

/* Imports. tsw_report returns 1 to stop the solve, 2 to pause it, otherwise 0. */
extern int tsw_report(void *user, int iteration, int count, const double *history, double residual);
extern void tsw_log_line(void *user, int level, const char *message);
extern int tsw_suspend(void);

static int is_pausing;

#ifdef TEXSOLVE_HAVE_GL

/* The answer is looked at in the next progress callback. */
static void pause_webgl(void *data) {
  (void)data;
  tsw_suspend();
}

#endif

void tsw_set_pausing(ts_context *context, int pausing) {
  is_pausing = pausing;
#ifdef TEXSOLVE_HAVE_GL
  ts_context_info info;
  if (ts_context_get_info(context, &info) == TS_OK && strcmp(info.backend, "gl") == 0)
    tsi_webgl_set_pause(context, pausing ? pause_webgl : NULL, NULL);
#else
  (void)context;
#endif
}

void tsw_set_staying(ts_context *context, int staying) {
  if (staying)
    tsi_stay_begin(context);
  else
    tsi_stay_end(context, TS_OK);
}

static int report(const ts_progress *progress, void *user) {
  int answer =
      tsw_report(user, progress->iteration, progress->count, progress->history, progress->relative_residual);
  if (answer == 2 && is_pausing) answer = tsw_suspend();
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
