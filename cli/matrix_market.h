/* Reads and writes matrices and vectors in Matrix Market files. */
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

/* Reads a file, or standard input for "-". Returns 0, or -1 and the error. mm_close accepts any mm_file that is
 * zeroed, opened or closed. */
int mm_open(mm_file *file, const char *path, mm_error *error);
/* Reads bounds, which may be inf and -inf. */
int mm_open_bounds(mm_file *file, const char *path, mm_error *error);
/* Takes over the contents of an open text. `may_be_infinite`: values may be inf and -inf. */
int mm_open_text(mm_file *file, text_file *text, int may_be_infinite, mm_error *error);
void mm_close(mm_file *file);

/* A matrix in CSR, in double precision like the file. Symmetric and skew-symmetric matrices are expanded to
 * both triangles, entries of a pattern are 1, and entries with the same row and column are added. */
typedef struct mm_csr {
  int32_t rows, columns;
  int32_t *row_offsets, *column_indices;
  double *values;
  int64_t nonzeros;
  int64_t duplicates; /* entries of the file that were added to an earlier entry */
} mm_csr;

/* The place of an array's first entry, and of the entry after `e`. */
void mm_first_place(const mm_header *h, mm_entry *e);
void mm_next_place(const mm_header *h, mm_entry *e);

/* Checks that a matrix is square and that its entries can fill all rows, before its rows are allocated. Returns
 * 0, or -1 and the error. */
int mm_check_square(const mm_file *file, mm_error *error);
/* Checks the size of a matrix of any shape. Rows and columns may be empty, but of more than a million at most
 * 15 in 16. Returns 0, or -1 and the error. */
int mm_check_filled(const mm_file *file, mm_error *error);

/* Converts the matrix, and consumes the file's entries. */
int mm_read_csr(mm_file *file, mm_csr *csr, mm_error *error);
void mm_free_csr(mm_csr *csr);

/* Entry (i, c) of a dense matrix is number i * columns + c of its values, or c * rows + i with `by_columns`. */

/* Converts the file to a dense matrix, which the caller frees. May consume the file's entries. */
int mm_read_dense(mm_file *file, int by_columns, double **values, int64_t *duplicates, mm_error *error);

/* Writes a dense matrix with a comment line, and with enough digits to restore the same doubles. */
void mm_write_dense(FILE *stream, const char *comment, int32_t rows, int columns, int by_columns,
                    const double *values);

#endif
