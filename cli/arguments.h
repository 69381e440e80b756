/* What the programs' arguments may be. A wrong one ends the program with exit status 2, after one line that
 * names the option, what was given and what was expected. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <texsolve/texsolve.h>

enum { ARGUMENTS_EXIT = 2 };

void arguments_usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Runs the parser of a program, or of a program's command, that is called `name`; it also answers --version.
 * Ends the program with status 1 where argp fails, for want of memory. */
struct argp;
void arguments_parse(const char *name, const struct argp *argp, int argc, char **argv, void *input);

int arguments_whole_number(const char *option, const char *text, int least, int most);
/* From `least` to `most`; `expected` says so in words. */
double arguments_number(const char *option, const char *text, double least, double most, const char *expected);
/* The same, greater than 0. */
double arguments_positive(const char *option, const char *text, double most, const char *expected);
double arguments_rtol(const char *text); /* between 0 and 1 */
/* Which of some words it is, the last one NULL. */
int arguments_one_of(const char *option, const char *text, const char *const *words);
/* The same of the names that a function gives for 0, 1, ... until NULL. */
int arguments_named(const char *option, const char *text, const char *(*name)(int index));
/* A name for ts_context_desc. Whether the backend is there and works is found out when it is opened. */
void arguments_backend(const char *option, const char *text);
/* Several, with commas between them, and none of them auto. */
void arguments_backends(const char *option, const char *text);

#endif
