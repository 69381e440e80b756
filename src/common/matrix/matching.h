/* A maximum-product matching: the entry of each row that moves to the diagonal. */
#ifndef TSI_MATCHING_H
#define TSI_MATCHING_H

#include "common/core/core.h"

/* Row i is matched with column columns[i]; each column is used once. With d_ij = |a_ij| 2^(rows_log2[i] +
 * columns_log2[j]), all d_ij are at most 1, and those of matched entries are 1, up to rounding. */
typedef struct tsi_matching {
  int32_t *columns;
  double *rows_log2, *columns_log2;
  int32_t unmatched; /* rows without a remaining entry: the matrix is structurally singular. Each gets an unused
                        column in which it lacks an entry */
  int32_t *unmatched_rows; /* ascending */
  int64_t steps;           /* number of entries visited */
} tsi_matching;

/* Matches the rows of a square matrix with finite values; zeros are ignored. Returns TS_ERROR_LIMIT if it
 * visits more than `most_steps` entries. */
ts_status tsi_match(ts_context *context, const tsi_csr *A, int64_t most_steps, tsi_matching *out);
void tsi_matching_free(ts_context *context, tsi_matching *matching);

/* Writes a text that names the unmatched rows: "rows 3, 7, 12, ... have no entry left for the diagonal". */
void tsi_matching_say(const tsi_matching *matching, char *text, size_t size);

#endif
