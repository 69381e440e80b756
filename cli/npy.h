/* Reads and writes two-dimensional arrays in NumPy's .npy files (format versions 1 to 3). */
#ifndef CLI_NPY_H
#define CLI_NPY_H

#include <stdint.h>
#include <stdio.h>

/* The first byte of every .npy file; text files never begin with it. */
enum { NPY_FIRST_BYTE = 0x93 };

typedef struct npy_header {
  char kind;      /* 'f' floating point, 'i' and 'u' integers, 'b' booleans */
  int item_bytes; /* f 4 or 8; i and u 1, 2, 4 or 8; b 1 */
  int big_endian;
  int fortran_order; /* column-major order */
  int64_t rows, columns;
} npy_header;

typedef struct npy_error {
  char text[320]; /* "FILE: what was found, what was expected" */
} npy_error;

/* Reads the header from the beginning of the file. Rejects everything except two dimensions of the types above.
 * `name` is the file name for messages. Returns 0, or -1 and the error. */
int npy_read_header(FILE *stream, const char *name, npy_header *header, npy_error *error);

/* Checks that a regular file has the size that its header declares, before the values are allocated. The stream
 * is after the header. Returns 0, or -1 and the error of npy_read_values. */
int npy_check_length(FILE *stream, const char *name, const npy_header *header, npy_error *error);

/* Reads the values row by row: entry (j, i) to values[j * columns + i]. The stream must end after them. Returns
 * 0, or -1 and the error. */
int npy_read_values(FILE *stream, const char *name, const npy_header *header, double *values, npy_error *error);

/* Writes rows x columns doubles that are stored row by row. Errors stay in the stream. */
void npy_write(FILE *stream, int64_t rows, int64_t columns, const double *values);

#endif
