/* Progress, log and pauses of the module: see callbacks.c. */
#ifndef TEXSOLVE_WEB_CALLBACKS_H
#define TEXSOLVE_WEB_CALLBACKS_H

#include <texsolve/solver.h>

/* Return the functions that report to JavaScript, for ts_solver_desc.progress and ts_context_desc.log. `user`
 * is the number that JavaScript finds its object by. */
ts_progress_fn tsw_get_progress(void);
ts_log_fn tsw_get_log(void);

/* Permits pauses in the calls that follow, or forbids them. */
void tsw_set_pausing(int pausing);

/* Returns whether the present call may pause. */
int tsw_may_pause(void);

/* Pauses until a later task if the present call may pause. Returns 1 if the caller should stop. The application
 * runs meanwhile: its OpenGL state must be in place (leave the backend before, enter it again afterwards). */
int tsw_pause(void);

#endif
