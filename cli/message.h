/* What the program says on standard error, a line at a time, and the numbers it reads from its arguments. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include "platform.h"

/* "NAME: ..." and a newline; a progress line that stands on the terminal is cleared first. The program's name,
 * which program_begin gives, is not copied. */
void message_set_program(const char *name);
void message(const char *format, ...) PRINTF_LIKE(1, 2);
/* The same, unless message_set_quiet(1). */
void message_note(const char *format, ...) PRINTF_LIKE(1, 2);
void message_set_quiet(int quiet);
int message_is_quiet(void);
const char *message_program(void); /* its name */

/* Text of a file or of its name cannot do anything to the terminal: control characters become question marks.
 * The second gives a copy, one of the last four. */
void message_make_safe(char *text);
const char *message_safe(const char *text);

/* Flushes standard output. Returns 0, or -1 after a message, the first time, if anything written to it was
 * lost. */
int message_flush_stdout(void);

/* Whole numbers and numbers from text, nothing after them. Return 0, or -1 if it is no number in the range. */
int parse_int(const char *text, int least, int most, int *value);
int parse_double(const char *text, double *value);
/* "32x16" */
int parse_size(const char *text, int *width, int *height);

#endif
