/* Pictures of numbers from NumPy's .npy files, and to them (format versions 1 to 3). */
#ifndef CLI_NPY_H
#define CLI_NPY_H

#include <stdint.h>
#include <stdio.h>

/* The first byte of every such file; no text begins with it. */
enum { NPY_FIRST_BYTE = 0x93 };

typedef struct npy_header {
  char kind;      /* 'f' floating point, 'i' and 'u' whole numbers, 'b' truth values */
  int item_bytes; /* f 4 or 8; i and u 1, 2, 4 or 8; b 1 */
  int big_endian;
  int fortran_order; /* columns one after the other */
  int64_t rows, columns;
} npy_header;

typedef struct npy_error {
  char text[320]; /* "FILE: what was found, what was expected" */
} npy_error;

/* Reads the header, from the file's first byte on, and refuses everything but two dimensions of a kind above.
 * `name` is the file's name in messages. Returns 0, or -1 and the error. */
int npy_read_header(FILE *stream, const char *name, npy_header *header, npy_error *error);

/* Whether a regular file is long enough for what its header announces, before memory is taken for that; the
 * stream is behind the header. Returns 0, or -1 and the error of npy_read_values. */
int npy_check_length(FILE *stream, const char *name, const npy_header *header, npy_error *error);

/* Reads what follows the header, row by row: entry (j, i) to values[j * columns + i]. The stream must end
 * there. Returns 0, or -1 and the error. */
int npy_read_values(FILE *stream, const char *name, const npy_header *header, double *values, npy_error *error);

/* Writes rows x columns doubles, stored row by row; errors are left in the stream. */
void npy_write(FILE *stream, int64_t rows, int64_t columns, const double *values);

#endif
