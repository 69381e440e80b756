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

/* As the file has it, from 0; a pattern's is 1. */
typedef struct mm_entry {
  int32_t row, column;
  double value;
} mm_entry;

/* header->entries of them. Those of an array have no rows and columns: they go down one column after the other,
 * from the first row that the symmetry leaves. */
typedef struct mm_entries {
  int32_t *rows, *columns;
  double *values;
} mm_entries;

typedef struct mm_error {
  char text[512]; /* "FILE:LINE: what was found, what was expected" */
} mm_error;

/* Writes the error and returns -1. */
__attribute__((format(printf, 2, 3))) int mm_fail(mm_error *error, const char *format, ...);
#ifdef __clang_analyzer__ /* which does not follow variable arguments */
#define mm_fail(...) (mm_fail(__VA_ARGS__), -1)
#endif

typedef struct mm_source {
  const char *name; /* the file's, in messages */
  const char *text; /* text[length] is a zero byte */
  size_t length;
  int may_be_infinite;
  size_t chunk_bytes; /* that one thread reads at a time; 0: a size that is worth a thread */
} mm_source;

/* Returns 0 and the entries, or -1 and the error, which is that of the first line that has one. */
int mm_parse(const mm_source *source, mm_header *header, mm_entries *entries, mm_error *error);
void mm_free_entries(mm_entries *entries);

#endif
