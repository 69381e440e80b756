/* All bytes of a file, for the readers of text files. */
#ifndef CLI_TEXT_FILE_H
#define CLI_TEXT_FILE_H

#include <stddef.h>

#include "mm_parse.h" /* mm_error */

typedef struct text_file {
  char *name;       /* for messages */
  const char *text; /* without a byte order mark, followed by a zero byte */
  size_t length;
  int was_compressed;
  /* The memory to free: */
  char *block;
  const char *mapped;
  size_t mapped_length;
  int is_mapped;
} text_file;

/* Reads a file, or standard input for "-". Gzip files are uncompressed if this build has zlib. For other
 * compressed files the error names the compressing program. `expected` describes the file. Returns 0, or -1 and
 * the error. text_close accepts any text_file that is zeroed, opened or closed. */
int text_open(text_file *file, const char *path, const char *expected, mm_error *error);
void text_close(text_file *file);

#endif
