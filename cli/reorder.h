/* Orders of the unknowns for `texsolve solve' and `texsolve bench': by the library, or by SuiteSparse and
 * METIS. */
#ifndef CLI_REORDER_H
#define CLI_REORDER_H

#include <texsolve/reorder.h>

typedef enum reorder_kind {
  REORDER_NONE,
  REORDER_RCM,   /* reverse Cuthill-McKee */
  REORDER_AMD,   /* approximate minimum degree, made for little fill in a factorisation */
  REORDER_METIS, /* parts of about 4096 rows with few entries between them, each in the order of rcm */
  REORDER_RANDOM /* as bad as it gets */
} reorder_kind;

/* "none", "rcm" and so on, and NULL. */
extern const char *const reorder_names[];

/* The order of a square matrix into a new array, NULL after `error` was filled in (256 bytes) without memory or
 * where the library was not built in. `kind` is not REORDER_NONE. */
int32_t *reorder_compute(reorder_kind kind, const ts_csr *csr, char *error);

/* A matrix in another order. Returns 0, or -1 after `error` was filled in. Free with reorder_free. */
typedef struct reorder_matrix {
  int32_t *row_offsets, *column_indices;
  float *values;
} reorder_matrix;
int reorder_permute(const ts_csr *csr, const int32_t *order, reorder_matrix *out, char *error);
void reorder_free(reorder_matrix *m);

#endif
