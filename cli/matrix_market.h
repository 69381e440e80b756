/* Matrices and vectors from Matrix Market files, and vectors to them. */
#ifndef CLI_MATRIX_MARKET_H
#define CLI_MATRIX_MARKET_H

#include <stdint.h>
#include <stdio.h>

#include "mm_parse.h"
#include "text_file.h"

typedef struct mm_file {
  char *name;
  mm_header header;
  mm_entries entries;
} mm_file;

/* Reads a file, or standard input for "-". Returns 0, or -1 and the error. mm_close takes any mm_file that is
 * zeroed, opened or closed. */
int mm_open(mm_file *file, const char *path, mm_error *error);
/* The same of bounds, whose values may be inf and -inf. */
int mm_open_bounds(mm_file *file, const char *path, mm_error *error);
/* From a text that is open, which gives away its name; the values may be inf and -inf or not. */
int mm_open_text(mm_file *file, text_file *text, int may_be_infinite, mm_error *error);
void mm_close(mm_file *file);

/* A matrix in CSR, in double precision as the file has it. Symmetric and skew-symmetric ones are expanded to
 * both triangles, patterns are all 1, entries of the file with the same row and column are added up. */
typedef struct mm_csr {
  int32_t rows, columns;
  int32_t *row_offsets, *column_indices;
  double *values;
  int64_t nonzeros;
  int64_t duplicates; /* entries of the file that were added to another one */
} mm_csr;

/* The place of the first entry of an array, and of the one behind `e`. */
void mm_first_place(const mm_header *h, mm_entry *e);
void mm_next_place(const mm_header *h, mm_entry *e);

/* Whether a matrix is square and its entries can reach all rows, before memory for its rows is taken: 0, or -1
 * and the error. */
int mm_check_square(const mm_file *file, mm_error *error);
/* The same of a matrix of any shape, whose rows and columns may be empty: if there are more than a million of
 * them, 15 of 16. */
int mm_check_filled(const mm_file *file, mm_error *error);

/* The matrix; the file has no entries any more then. */
int mm_read_csr(mm_file *file, mm_csr *csr, mm_error *error);
void mm_free_csr(mm_csr *csr);

/* Entry (i, c) of a dense matrix is number i * columns + c of its values, or with `by_columns` number
 * c * rows + i. */

/* The whole file as a dense matrix, to be freed; the file may have no entries any more then. */
int mm_read_dense(mm_file *file, int by_columns, double **values, int64_t *duplicates, mm_error *error);

/* Writes a dense matrix with a line of comment, and with the digits that bring back the same doubles. */
void mm_write_dense(FILE *stream, const char *comment, int32_t rows, int columns, int by_columns,
                    const double *values);

#endif
