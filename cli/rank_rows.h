/* Distributes a matrix of rank 0 to all ranks in runs of consecutive rows, which keep the unknowns of a node
 * together. Data per row (coordinates, vectors of a near-null space) is distributed in the same way. */
#ifndef CLI_RANK_ROWS_H
#define CLI_RANK_ROWS_H

#include <texsolve/ranks.h>

typedef struct rank_rows {
  int64_t *first; /* first row of each rank, and the end; NULL: unused */
  int ranks, rank;
} rank_rows;

/* Collective. desc->csr and `unknowns` (rows per node, which divides the row count) are read on rank 0 only.
 * Message: ts_last_error(context). */
ts_status rank_rows_create(ts_context *context, const ts_matrix_desc *desc, int unknowns, rank_rows *rows,
                           ts_matrix **matrix);
/* Distributes `per_row` numbers per row from `all` on rank 0. The caller frees this rank's part. */
ts_status rank_rows_share(ts_context *context, const rank_rows *rows, const double *all, int per_row,
                          double **mine);
void rank_rows_free(rank_rows *rows);

#endif
