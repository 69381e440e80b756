/* A file that appears either complete or not at all. It is written under a temporary name next to its target,
 * and renamed at the end, or removed when a signal ends the program. All programs write their files this
 * way. */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct output_file {
  FILE *stream;    /* NULL: not open */
  FILE *packed;    /* NULL: not compressed; otherwise the file that `stream` compresses into */
  char *name;      /* as given by the user, for messages */
  char *path;      /* the target with links resolved; it need not exist */
  char *temporary; /* NULL: the target is not a regular file (/dev/stdout, a pipe) and is written directly */
} output_file;

/* Opens a file, or standard output for "-"; other output of the program then goes to standard error. Call it at
 * the start, to detect an unwritable output before the work is done. Returns 0 or an errno. */
int output_create(output_file *file, const char *path);
/* Renames the file to its target; on failure nothing is left behind. Returns 0 or an errno. */
int output_finish(output_file *file);
/* Removes the partial file. Does nothing if the file is not open. */
void output_discard(output_file *file);

/* Removes all unfinished files when the program ends; safe in a signal handler. */
void output_abandon(void);

/* output_create and output_finish with messages. A name that ends in .gz selects compression. Return 0 or
 * -1. */
int output_open(output_file *file, const char *path);
int output_commit(output_file *file);

/* Whether all numbers are finite. If not, prints a message that `path` is not written for this reason. */
int output_is_finite(const char *path, const double *values, size_t count);

/* Nonzero, after a message, if `path` is one of the input files, which would be lost if the answer is wrong.
 * Each may be NULL: not given. */
int output_is_input(const char *path, const char *const *inputs, int count);

/* Before the work begins, checks that `path` is writable and not the input (each may be NULL). Returns 0, or -1
 * after a message. */
int output_check(const char *path, const char *input);
/* Checks a directory, and creates it if it is missing. `made` is then set, so that it can be removed if it
 * stays empty. */
int output_check_directory(const char *path, int *made);

#ifdef __cplusplus
}
#endif
#endif
