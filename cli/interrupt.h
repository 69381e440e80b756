/* Ctrl+C and SIGTERM during a computation. The first signal asks the program to stop, so that it can write its
 * results. The second ends it immediately. Before interrupt_begin, the first signal already ends the
 * program. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Call it when there are results to keep: just before the iterations or the frames. */
void interrupt_begin(void);
/* Nonzero after a signal. Progress callbacks return this. */
int interrupt_is_asked(void);
/* Call it last, after all output, with the program's exit status. After a signal it ends the program by that
 * signal, so that a shell sees 130 or 143 and leaves its loop. Without a signal, or after an error (status 1),
 * it returns the status. */
int interrupt_finish(int status);

#ifdef __cplusplus
}
#endif
#endif
