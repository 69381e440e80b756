/* Lines and numbers of a text file, for its readers. An error names the file and the line. */
#ifndef CLI_SCAN_H
#define CLI_SCAN_H

#include <stdint.h>

#include "mm_parse.h" /* mm_error */

typedef struct scanner {
  const char *name;
  const char *text, *next, *end; /* `next`: what is not read yet; a zero byte stands at `end` */
  const char *p, *line_end;
  int64_t line;
  mm_error *error;
} scanner;

typedef struct token {
  const char *text;
  int length;
} token;

/* Writes "NAME:LINE: ..." into the error; returns -1. */
__attribute__((format(printf, 2, 3))) int scan_fail(scanner *s, const char *format, ...);
#ifdef __clang_analyzer__ /* which does not look into other files */
#define scan_fail(...) (scan_fail(__VA_ARGS__), -1)
#endif

/* Begins the next line: 1, or 0 at the end. */
int scan_line(scanner *s);
void scan_spaces(scanner *s);
/* The next token of the line; an empty one at its end. */
token scan_token(scanner *s);
/* The characters of a token that a message shows. */
int scan_shown(token t);

/* A whole number without a sign, up to INT64_MAX; -1 if it is not one. */
int64_t scan_whole(token t);
/* A decimal number: no hexadecimal digits, no words, no commas. 0, or -1 and an error that calls it `what`. */
int scan_decimal(scanner *s, token t, const char *what, int is_integer, double *value);

#endif
