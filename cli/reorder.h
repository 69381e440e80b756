/* Orders of the unknowns for `texsolve solve` and `texsolve bench`. */
#ifndef CLI_REORDER_H
#define CLI_REORDER_H

#include <texsolve/reorder.h>

typedef enum reorder_kind {
  REORDER_NONE,
  REORDER_RCM,   /* reverse Cuthill-McKee */
  REORDER_RANDOM /* the worst case */
} reorder_kind;

/* "none", "rcm" and so on, and NULL. */
extern const char *const reorder_names[];

/* Computes the order of a square matrix into a new array. Returns NULL, and the cause in `error` (256 bytes),
 * if memory is exhausted or the matrix is not square. `kind` is not REORDER_NONE. */
int32_t *reorder_compute(reorder_kind kind, const ts_csr *csr, char *error);

/* A matrix in another order, with the original type of values. Returns 0, or -1 and the cause in `error`. Free
 * it with reorder_free. */
typedef struct reorder_matrix {
  int32_t *row_offsets, *column_indices;
  void *values;
} reorder_matrix;
int reorder_permute(const ts_csr *csr, const int32_t *order, reorder_matrix *out, char *error);
void reorder_free(reorder_matrix *m);

#endif
