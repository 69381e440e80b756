/* Lines and numbers of text files, for the readers. An error contains the file and the line. */
#ifndef CLI_SCAN_H
#define CLI_SCAN_H

#include <stdint.h>

#include "mm_parse.h" /* mm_error */

typedef struct scanner {
  const char *name;
  const char *text, *next, *end; /* `next`: first unread character; *end is a zero byte */
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
#ifdef __clang_analyzer__ /* the analyzer does not look into other files */
#define scan_fail(...) (scan_fail(__VA_ARGS__), -1)
#endif

/* Begins the next line. Returns 1, or 0 at the end. */
int scan_line(scanner *s);
void scan_spaces(scanner *s);
/* The next token of the line; empty at its end. */
token scan_token(scanner *s);
/* The number of a token's characters to show in a message. */
int scan_shown(token t);

/* An integer without a sign, up to INT64_MAX; -1 if it is invalid. */
int64_t scan_whole(token t);
/* A decimal number, without hexadecimal digits, words or commas. Returns 0, or -1 and an error that calls it
 * `what`. */
int scan_decimal(scanner *s, token t, const char *what, int is_integer, double *value);

#endif
