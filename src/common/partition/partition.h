/* Which part has which rows of a matrix: the parts are devices or processes that compute together. */
#ifndef TSI_PARTITION_H
#define TSI_PARTITION_H

#include "common/layout/layout.h"

typedef struct tsi_partition {
  int parts, worth;        /* the latter are worth having rows, and come first */
  int32_t *part_of;        /* of each row; NULL: rows first[p] .. first[p+1]-1 are part p's */
  int32_t *first;          /* parts + 1: rows of the parts before. Rows keep their order within a part */
  int64_t halo;            /* columns that a part needs and others own, summed over the parts */
  int64_t largest_entries; /* of a part */
  char choice[160];        /* what was taken and why, in one line */
} tsi_partition;

/* How many of `parts` are worth having rows, the first ones: all where the partition is asked for, else as many
 * as have at least the context's tuning.part_rows rows each. Rows of more than 7 entries count more. */
int tsi_partition_worth(const ts_context *context, ts_partition how, int32_t rows, int64_t entries, int parts);
/* first[0 .. parts]: indices without a matrix, divided evenly among those of the parts that are worth it. */
void tsi_partition_evenly(const ts_context *context, ts_partition how, int32_t size, int parts, int32_t *first);

/* Parts of the rows of a matrix in canonical form; parts >= 1. The owner of a row of a square matrix owns its
 * column too; the columns of others are divided evenly. Of the parts that are worth it one of blocks is empty
 * only if there are fewer rows than parts; METIS may leave one empty. The same input gives the same parts.
 * TS_ERROR_UNAVAILABLE: METIS was asked for and is not built in. On failure nothing is left to be freed. */
ts_status tsi_partition_create(ts_context *context, const tsi_host_csr *csr, int parts, ts_partition how,
                               tsi_partition *out);
void tsi_partition_free(ts_context *context, tsi_partition *partition);

/* Whether a halo is little beside the rows; and whether a smaller one is worth giving up the user's order. */
int tsi_partition_is_small(int64_t halo, int64_t rows);
int tsi_partition_pays(int64_t halo, int64_t smaller);

/* ---- Within this directory ---- */
enum {
  /* A row as of a 7-point stencil. */
  tsi_partition_row_entries = 7,
  /* What a row costs beside its entries, as many of them: an iteration of CG moves some 40 bytes of vectors a
   * row and 8 an entry. */
  tsi_partition_row_cost = 5
};
/* partition_blocks.c: first[0 .. parts]. */
void tsi_partition_blocks(const tsi_host_csr *csr, int parts, int32_t *first);
/* partition_depth.c: whether few steps lead from one row of a square matrix to half of all. 0 also without the
 * memory to find out. */
int tsi_partition_expands(ts_context *context, const tsi_host_csr *csr);
/* partition_metis.c: whether METIS is built in; why it does not apply to this matrix, NULL: it does; then
 * part_of[0 .. rows-1]. */
extern const int tsi_partition_has_metis;
const char *tsi_partition_metis_unsuited(const tsi_host_csr *csr, int parts);
ts_status tsi_partition_metis(ts_context *context, const tsi_host_csr *csr, int parts, int32_t *part_of);

#endif
