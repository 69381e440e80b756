/* All bytes of a file, for the readers of text. */
#ifndef CLI_TEXT_FILE_H
#define CLI_TEXT_FILE_H

#include <stddef.h>

#include "mm_parse.h" /* mm_error */

typedef struct text_file {
  char *name;       /* in messages */
  const char *text; /* less a byte order mark, and with a zero byte behind it */
  size_t length;
  int was_compressed;
  /* What is freed: */
  char *block;
  const char *mapped;
  size_t mapped_length;
  int is_mapped;
} text_file;

/* Reads a file, or standard input for "-". What gzip has compressed is uncompressed, where this build has zlib;
 * other compressed files are an error that names the program. `expected`: what the file should be. Returns 0,
 * or -1 and the error. text_close takes any text_file that is zeroed, opened or closed. */
int text_open(text_file *file, const char *path, const char *expected, mm_error *error);
void text_close(text_file *file);

#endif
