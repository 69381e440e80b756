/* Messages on standard error, one line each, and parsing of numeric arguments. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include "platform.h"

/* Prints "NAME: ..." and a newline, and clears a progress line first. NAME is set by program_begin and not
 * copied. */
void message_set_program(const char *name);
void message(const char *format, ...) PRINTF_LIKE(1, 2);
/* Prints the same kind of line, unless message_set_quiet(1) was called. */
void message_note(const char *format, ...) PRINTF_LIKE(1, 2);
void message_set_quiet(int quiet);
int message_is_quiet(void);
const char *message_program(void); /* its name */

/* Replaces control characters by question marks, so that text from a file or its name cannot control the
 * terminal. The second returns a copy; the last four copies are valid. */
void message_make_safe(char *text);
const char *message_safe(const char *text);

/* Flushes standard output. Returns 0, or -1 if any output was lost; the first failure prints a message. */
int message_flush_stdout(void);

/* Parse an integer or a number that is the whole text. Return 0, or -1 if it is invalid or out of range. */
int parse_int(const char *text, int least, int most, int *value);
int parse_double(const char *text, double *value);
/* "32x16" */
int parse_size(const char *text, int *width, int *height);

#endif
