/* One line on the terminal that says how far a long step is; nothing where standard error is no terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "platform.h" /* seconds_now */

/* Off until then. */
void progress_enable(int enable);

/* Nonzero if progress_show would show something now: at most ten times a second. */
int progress_due(void);
void progress_show(const char *format, ...) PRINTF_LIKE(1, 2);
void progress_clear(void);
/* A message instead; returns -1. */
int progress_fail(const char *why);

#endif
