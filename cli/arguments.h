/* Parsing of the programs' arguments. An invalid one ends the program with exit status 2, after a line that
 * names the option, the argument and the expected values. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <texsolve/texsolve.h>

enum { ARGUMENTS_EXIT = 2 };

void arguments_usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Runs the parser of a program or a subcommand with this name, and handles --version. Ends the program with
 * status 1 if argp runs out of memory. */
struct argp;
void arguments_parse(const char *name, const struct argp *argp, int argc, char **argv, void *input);

int arguments_whole_number(const char *option, const char *text, int least, int most);
/* Accepts `least` to `most`; `expected` describes this range. */
double arguments_number(const char *option, const char *text, double least, double most, const char *expected);
/* Accepts numbers above 0, up to `most`. */
double arguments_positive(const char *option, const char *text, double most, const char *expected);
double arguments_rtol(const char *text); /* between 0 and 1 */
/* Returns the index in a list of words that ends with NULL. */
int arguments_one_of(const char *option, const char *text, const char *const *words);
/* Returns the index in the names that a function returns for 0, 1, ... until NULL. */
int arguments_named(const char *option, const char *text, const char *(*name)(int index));
/* Accepts names for ts_context_desc. Opening the backend later shows whether it exists and works. */
void arguments_backend(const char *option, const char *text);
/* Accepts several backends, separated by commas, and not auto. */
void arguments_backends(const char *option, const char *text);

#endif
