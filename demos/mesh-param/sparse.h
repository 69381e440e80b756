/* Sparse matrices on the host in double precision, as the coarser meshes need them. Functions return 0, or 1
 * where memory is out; what they fill is then empty. */
#ifndef SPARSE_H
#define SPARSE_H

#include <stdint.h>

typedef struct sparse {
  int32_t rows, columns;
  int64_t capacity;
  int32_t *offsets; /* rows + 1 */
  int32_t *column;
  double *value;
} sparse;

/* Room for so many entries, of which there are none yet. */
int sparse_create(int32_t rows, int32_t columns, int64_t entries, sparse *A);
void sparse_free(sparse *A);

int sparse_transpose(const sparse *A, sparse *T);
/* C = A B, row by row (Gustavson 1978). */
int sparse_multiply(const sparse *A, const sparse *B, sparse *C);

double sparse_diagonal(const sparse *A, int32_t row);
/* Takes out what is at most `rounding` of the geometric mean of the two numbers on the diagonal. */
int sparse_prune(sparse *A, double rounding);
/* a_ij times left[i] times right[j]. */
void sparse_scale(sparse *A, const double *left, const double *right);

#endif
