/* The text of a Matrix Market file into its entries: takes what the format allows and nothing else, and an
 * error names the line, what was found and what was expected. No library of Debian 12 does so: CHOLMOD's reader
 * says that a file is bad, not where; ViennaCL's prints the line, but takes only real matrices by coordinates.
 */
#ifndef CLI_MM_PARSE_H
#define CLI_MM_PARSE_H

#include <stddef.h>
#include <stdint.h>

typedef enum mm_symmetry { MM_GENERAL, MM_SYMMETRIC, MM_SKEW_SYMMETRIC } mm_symmetry;

typedef struct mm_header {
  int coordinate; /* 0: array */
  int pattern, integer;
  mm_symmetry symmetry; /* a real hermitian matrix is symmetric */
  int64_t rows, columns;
  int64_t entries;     /* lines of entries in the file */
  int64_t size_line;   /* the line that announces the three numbers above */
  int may_be_infinite; /* values may be inf and -inf */
} mm_header;

/* As the file has them, from 0; patterns are 1. */
typedef struct mm_entry {
  int32_t row, column;
  double value;
} mm_entry;

typedef struct mm_error {
  char text[512]; /* "FILE:LINE: what was found, what was expected" */
} mm_error;

/* Writes the error and returns -1. */
__attribute__((format(printf, 2, 3))) int mm_fail(mm_error *error, const char *format, ...);
#ifdef __clang_analyzer__ /* which does not follow variable arguments */
#define mm_fail(...) (mm_fail(__VA_ARGS__), -1)
#endif

/* `name` is the file's name in messages; text[length] is a zero byte. Returns 0 and header->entries entries, to
 * be freed, or -1 and the error. */
int mm_parse(const char *name, const char *text, size_t length, int may_be_infinite, mm_header *header,
             mm_entry **entries, mm_error *error);

#endif
