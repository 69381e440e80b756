/* A file that appears whole or not at all: written beside its target under another name, which it gives up at
 * the end, or when a signal ends the program. All programs write their files so. */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct output_file {
  FILE *stream;    /* NULL: not open */
  FILE *packed;    /* NULL: not compressed; else the file, and `stream` compresses into it */
  char *name;      /* as it was given, for messages */
  char *path;      /* the target, links followed, also one that is not there yet */
  char *temporary; /* NULL: the target is no regular file (/dev/stdout, a pipe) and is written directly */
} output_file;

/* Opens it, also "-", which is standard output: all else that the program prints there goes to standard error
 * from then on. At the beginning, so that an unwritable output is found before the work is done. Returns 0 or
 * an errno. */
int output_create(output_file *file, const char *path);
/* Puts it in its place; nothing is left behind otherwise. Returns 0 or an errno. */
int output_finish(output_file *file);
/* Removes what was written; does nothing to a file that is not open. */
void output_discard(output_file *file);

/* Removes all that are not finished, also within a handler of signals: the program ends. */
void output_abandon(void);

/* The first two with a message. A name that ends in .gz is that of a file which is compressed. They return 0 or
 * -1.
 */
int output_open(output_file *file, const char *path);
int output_commit(output_file *file);

/* Whether all of these numbers are finite; else a message that they are not, and that `path` is not written. */
int output_is_finite(const char *path, const double *values, size_t count);

/* Nonzero after a message if `path` is one of the files that are read, which would be gone when the answer is
 * wrong. All may be NULL: not given. */
int output_is_input(const char *path, const char *const *inputs, int count);

/* Before the work begins: whether `path` can be written and is not the file that is read (each may be NULL).
 * Returns 0, or -1 after a message. */
int output_check(const char *path, const char *input);
/* The same of a directory, which is made if it is not there: then `made` is set, so that it can be taken away
 * when nothing comes to be in it. */
int output_check_directory(const char *path, int *made);

#ifdef __cplusplus
}
#endif
#endif
