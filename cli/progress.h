/* One line on the terminal for work that takes long: what is done, how far it is, the time it has taken and an
 * estimate of the rest. Nothing is shown if standard error is not a terminal, and nothing for short work. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "platform.h" /* seconds_now */

#ifdef __cplusplus
extern "C" {
#endif

/* Off until then. */
void progress_enable(int enable);

/* Begins a step of the work, which ends the one before: "reading plate.mtx". The line stays up to date during
 * calls that report nothing, since a thread draws it. */
void progress_begin(const char *format, ...) PRINTF_LIKE(1, 2);
/* The step began at this time. */
void progress_since(double begin);
/* How far the step is: a fraction from 0 to 1, below 0 if it is not known, and what else to say of it. */
void progress_step(double part, const char *format, ...) PRINTF_LIKE(2, 3);
/* The step has ended, or text follows: clears the line until the next call of the two above. */
void progress_clear(void);
/* A message instead; returns -1. */
int progress_fail(const char *why);

/* The fraction for iterations whose residual falls evenly on a logarithmic scale; -1 without a first residual.
 */
double progress_of_residual(double first, double now, double target);

/* For other text on standard error: it is written between the two, with the line out of the way. */
void progress_hide(void);
void progress_unhide(void);
/* Whether a line stands on the terminal, also within a handler of signals. */
int progress_is_visible(void);

#ifdef __cplusplus
}
#endif
#endif
