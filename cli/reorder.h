/* Orders of the unknowns for `texsolve solve' and `texsolve bench'. */
#ifndef CLI_REORDER_H
#define CLI_REORDER_H

#include <texsolve/reorder.h>

typedef enum reorder_kind {
  REORDER_NONE,
  REORDER_RCM,   /* reverse Cuthill-McKee */
  REORDER_RANDOM /* as bad as it gets */
} reorder_kind;

/* "none", "rcm" and so on, and NULL. */
extern const char *const reorder_names[];

/* The order of a square matrix into a new array, NULL after `error` was filled in (256 bytes) without memory or
 * for a matrix that is not square. `kind` is not REORDER_NONE. */
int32_t *reorder_compute(reorder_kind kind, const ts_csr *csr, char *error);

/* A matrix in another order, with values of the type that it had. Returns 0, or -1 after `error` was filled in.
 * Free with reorder_free. */
typedef struct reorder_matrix {
  int32_t *row_offsets, *column_indices;
  void *values;
} reorder_matrix;
int reorder_permute(const ts_csr *csr, const int32_t *order, reorder_matrix *out, char *error);
void reorder_free(reorder_matrix *m);

#endif
