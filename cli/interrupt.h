/* Ctrl+C and SIGTERM while a program computes: the first one asks it to stop, so that it can write what it has;
 * the second one ends it at once. A signal before interrupt_begin ends the program, as it does any other. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Call it when there is something to keep: just before the iterations or the frames. */
void interrupt_begin(void);
/* Nonzero after a signal. Progress callbacks return this. */
int interrupt_is_asked(void);
/* Call it last, with the program's exit status, after everything is written. After a signal the program then
 * ends by that signal, so that a shell sees 130 or 143 and leaves its loop; without one, or after an error
 * (status 1), this returns the status. */
int interrupt_finish(int status);

#ifdef __cplusplus
}
#endif
#endif
