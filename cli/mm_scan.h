/* A strict look over a Matrix Market file before CHOLMOD reads it.
 *
 * CHOLMOD's reader says that a file is bad, not where, and takes much that is no Matrix Market: indices from
 * 0, values of the wrong number on a line, text behind a value, entries beyond the announced count. This scan
 * finds the line, and what passes it is read by CHOLMOD as it was meant. It converts no values, so that it
 * takes a small part of the time of reading. */
#ifndef CLI_MM_SCAN_H
#define CLI_MM_SCAN_H

#include <stddef.h>
#include <stdint.h>

typedef enum mm_field { MM_REAL, MM_INTEGER, MM_PATTERN } mm_field;
typedef enum mm_symmetry { MM_GENERAL, MM_SYMMETRIC, MM_SKEW_SYMMETRIC } mm_symmetry;

typedef struct mm_header {
  int coordinate; /* 0: array */
  mm_field field;
  mm_symmetry symmetry; /* a real hermitian matrix is symmetric */
  int64_t rows, columns;
  int64_t entries;   /* lines of entries in the file */
  int64_t size_line; /* the line that announces the three numbers above */
} mm_header;

typedef struct mm_error {
  char text[512]; /* "FILE:LINE: what was found, what was expected" */
} mm_error;

/* `name` is the file's name in messages. Returns 0, or -1 and the error. */
int mm_scan(const char *name, const char *text, size_t length, mm_header *header, mm_error *error);

#endif
