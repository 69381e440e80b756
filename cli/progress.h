/* A progress line on the terminal for long work: the task, the fraction done, the elapsed time and an estimate
 * of the remaining time. Nothing is shown for short work, or if standard error is not a terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "platform.h" /* seconds_now */

#ifdef __cplusplus
extern "C" {
#endif

/* Progress is off by default. */
void progress_enable(int enable);

/* Begins a step and ends the previous one; for example "reading plate.mtx". A thread draws the line, so it
 * stays current during calls that do not report. */
void progress_begin(const char *format, ...) PRINTF_LIKE(1, 2);
/* Sets the time when the step began. */
void progress_since(double begin);
/* Reports a fraction from 0 to 1, or below 0 if unknown, and additional text. */
void progress_step(double part, const char *format, ...) PRINTF_LIKE(2, 3);
/* Clears the line until the next call of the two above, because the step has ended or text follows. */
void progress_clear(void);
/* Prints a message instead; returns -1. */
int progress_fail(const char *why);

/* The fraction for iterations whose residual decreases evenly on a logarithmic scale; -1 without a first
 * residual. */
double progress_of_residual(double first, double now, double target);

/* Enclose other output to standard error in these two; the line is hidden in between. */
void progress_hide(void);
void progress_unhide(void);
/* Whether a line is visible on the terminal; safe in a signal handler. */
int progress_is_visible(void);

#ifdef __cplusplus
}
#endif
#endif
