/* Parses the text of a Matrix Market file into entries. It accepts exactly what the format allows. An error
 * names the line, the text found and the text expected.
 *
 * The libraries of Debian 12 do not suffice. CHOLMOD's reader reports that a file is invalid, but not where.
 * ViennaCL's prints the line, but reads only real matrices in coordinate form.
 */
#ifndef CLI_MM_PARSE_H
#define CLI_MM_PARSE_H

#include <stddef.h>
#include <stdint.h>

typedef enum mm_symmetry { MM_GENERAL, MM_SYMMETRIC, MM_SKEW_SYMMETRIC } mm_symmetry;

typedef struct mm_header {
  int coordinate; /* 0: array */
  int pattern, integer;
  mm_symmetry symmetry; /* a real hermitian matrix counts as symmetric */
  int64_t rows, columns;
  int64_t entries;     /* entry lines in the file */
  int64_t size_line;   /* number of the line with the three sizes above */
  int may_be_infinite; /* values may be inf and -inf */
} mm_header;

/* An entry as in the file, with indices from 0. The value is 1 in a pattern. */
typedef struct mm_entry {
  int32_t row, column;
  double value;
} mm_entry;

/* header->entries values. Those of an array have no indices: they follow in column order, each column from the
 * first row that the symmetry stores. */
typedef struct mm_entries {
  int32_t *rows, *columns;
  double *values;
} mm_entries;

typedef struct mm_error {
  char text[512]; /* "FILE:LINE: what was found, what was expected" */
} mm_error;

/* Writes the error and returns -1. */
__attribute__((format(printf, 2, 3))) int mm_fail(mm_error *error, const char *format, ...);
#ifdef __clang_analyzer__ /* the analyzer does not follow variable arguments */
#define mm_fail(...) (mm_fail(__VA_ARGS__), -1)
#endif

typedef struct mm_source {
  const char *name; /* the file name for messages */
  const char *text; /* text[length] is a zero byte */
  size_t length;
  int may_be_infinite;
  size_t chunk_bytes; /* bytes per thread and task; 0: a size that is worth a thread */
} mm_source;

/* Returns 0 and the entries, or -1 and the first line's error. */
int mm_parse(const mm_source *source, mm_header *header, mm_entries *entries, mm_error *error);
void mm_free_entries(mm_entries *entries);

#endif
