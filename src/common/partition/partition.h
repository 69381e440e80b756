/* The distribution of the rows of a matrix over parts: devices or processes that compute together. */
#ifndef TSI_PARTITION_H
#define TSI_PARTITION_H

#include "common/layout/layout.h"

typedef struct tsi_partition {
  int parts, worth;        /* the parts worth using come first; the others are empty */
  int32_t *part_of;        /* of each row; NULL: rows first[p] .. first[p+1]-1 belong to part p */
  int32_t *first;          /* parts + 1: number of rows in earlier parts. Rows keep their order within a part */
  int64_t halo;            /* columns that a part needs but others own, summed over the parts */
  int64_t largest_entries; /* maximum entries of a part */
  char choice[160];        /* the chosen partition and the reason, in one line */
} tsi_partition;

/* The number of parts worth using, the first ones. If a partition is requested, all parts are used. Otherwise
 * each must have at least the context's tuning.part_rows rows. Rows of more than 7 entries count more. */
int tsi_partition_worth(const ts_context *context, ts_partition how, int32_t rows, int64_t entries, int parts);
/* first[0 .. parts]: divides indices without a matrix evenly among the parts worth using. */
void tsi_partition_evenly(const ts_context *context, ts_partition how, int32_t size, int parts, int32_t *first);

/* Partitions the rows of a matrix in canonical form; parts >= 1. In a square matrix, the owner of a row owns
 * its column too. The columns of other matrices are divided evenly. Among the parts worth using, a block is
 * empty only if there are fewer rows than parts; METIS may leave a part empty. The same input gives the same
 * parts. TS_ERROR_UNAVAILABLE: METIS was requested but is not built in. On failure nothing needs to be
 * freed. */
ts_status tsi_partition_create(ts_context *context, const tsi_host_csr *csr, int parts, ts_partition how,
                               tsi_partition *out);
void tsi_partition_free(ts_context *context, tsi_partition *partition);

/* Whether a halo is small compared with the rows; and whether a smaller halo justifies giving up the user's
 * order. */
int tsi_partition_is_small(int64_t halo, int64_t rows);
int tsi_partition_pays(int64_t halo, int64_t smaller);

/* ---- Within this directory ---- */
enum {
  /* Entries per row of a 7-point stencil. */
  tsi_partition_row_entries = 7,
  /* The cost of a row in addition to its entries, in entries. An iteration of CG moves about 40 bytes of
   * vectors per row, and 8 bytes per entry. */
  tsi_partition_row_cost = 5
};
/* partition_blocks.c: first[0 .. parts]. */
void tsi_partition_blocks(const tsi_host_csr *csr, int parts, int32_t *first);
/* partition_depth.c: whether half of the rows of a square matrix are within a few steps of one row. Returns 0
 * if memory for the search is missing. */
int tsi_partition_expands(ts_context *context, const tsi_host_csr *csr);
/* partition_metis.c: whether METIS is built in; why it does not apply to this matrix, or NULL if it does; and
 * the partition into part_of[0 .. rows-1]. */
extern const int tsi_partition_has_metis;
const char *tsi_partition_metis_unsuited(const tsi_host_csr *csr, int parts);
ts_status tsi_partition_metis(ts_context *context, const tsi_host_csr *csr, int parts, int32_t *part_of);

#endif
