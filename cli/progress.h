/* One line on the terminal that says how far a long step is; nothing where standard error is no terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

/* Off until then. */
void progress_enable(int enable);

/* Nonzero if progress_show would show something now: at most ten times a second. */
int progress_due(void);
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);

/* Seconds from a monotonic clock. */
double seconds_now(void);

#endif
