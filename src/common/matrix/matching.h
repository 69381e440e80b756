/* A maximum-product matching: which entry of each row goes to the diagonal. */
#ifndef TSI_MATCHING_H
#define TSI_MATCHING_H

#include "common/core/core.h"

/* Row i takes column columns[i]; no two rows take the same one. With d_ij = |a_ij| 2^(rows_log2[i] +
 * columns_log2[j]), no d_ij is larger than 1, and those that match are 1, all but for rounding. */
typedef struct tsi_matching {
  int32_t *columns;
  double *rows_log2, *columns_log2;
  int32_t unmatched; /* rows for which no entry is left: the matrix is structurally singular. They take one of
                        the columns that are left, where they have no entry */
  int32_t *unmatched_rows; /* ascending */
  int64_t steps;           /* entries that were looked at */
} tsi_matching;

/* Matches the rows of a square matrix with finite values; zeros count as no entries. TS_ERROR_LIMIT if it looks
 * at more than `most_steps` entries. */
ts_status tsi_match(ts_context *context, const tsi_csr *A, int64_t most_steps, tsi_matching *out);
void tsi_matching_free(ts_context *context, tsi_matching *matching);

/* "rows 3, 7, 12, ... have no entry left for the diagonal": a text that names them, of a matrix with unmatched
 * rows. */
void tsi_matching_say(const tsi_matching *matching, char *text, size_t size);

#endif
