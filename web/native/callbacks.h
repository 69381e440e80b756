/* Progress, log and pauses of the module: see callbacks.c. */
#ifndef TEXSOLVE_WEB_CALLBACKS_H
#define TEXSOLVE_WEB_CALLBACKS_H

#include <texsolve/solver.h>

/* Return the functions that report to JavaScript, for ts_solver_desc.progress and ts_context_desc.log. `user`
 * is the number that JavaScript finds its object by. */
ts_progress_fn tsw_get_progress(void);
ts_log_fn tsw_get_log(void);

/* Permits pauses in the calls that follow, or forbids them. A solve pauses in progress callbacks and, on WebGL,
 * where it waits for the device; the state of the application's context is restored meanwhile. */
void tsw_set_pausing(ts_context *context, int pausing);

/* 1: the calls that follow save and restore the state of the application's context together, once. 0: their
 * end, which must come in the same task. */
void tsw_set_staying(ts_context *context, int staying);

#endif
