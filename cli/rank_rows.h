/* A matrix of rank 0 that is given to the ranks in runs of consecutive rows, so that the unknowns of a node
 * stay together: what is known of each row (coordinates, vectors of a near-null space) goes with it. */
#ifndef CLI_RANK_ROWS_H
#define CLI_RANK_ROWS_H

#include <texsolve/ranks.h>

typedef struct rank_rows {
  int64_t *first; /* row of each rank, and the end; NULL: not used */
  int ranks, rank;
} rank_rows;

/* All ranks call these together. desc->csr and `unknowns` (rows of a node, which divide the rows) count on rank
 * 0 only. Message: ts_last_error(context). */
ts_status rank_rows_create(ts_context *context, const ts_matrix_desc *desc, int unknowns, rank_rows *rows,
                           ts_matrix **matrix);
/* `per_row` numbers for each row of this rank from those of all, which count on rank 0 only; to be freed. */
ts_status rank_rows_share(ts_context *context, const rank_rows *rows, const double *all, int per_row,
                          double **mine);
void rank_rows_free(rank_rows *rows);

#endif
