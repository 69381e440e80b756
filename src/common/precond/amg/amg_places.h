/* Products of sparse matrices with known patterns: the place where each product of two entries is added.
 *
 * C = sign L M. A place is stored for each entry of L and each node in the corresponding row of M: the index of
 * the node in C's row. Updates then need not search. A place costs a byte if rows of C have at most 256
 * nodes. */
#ifndef TSI_AMG_PLACES_H
#define TSI_AMG_PLACES_H

#include "amg.h"

/* Places for groups of `height` rows of L and `width` columns. A group consists of blocks if its rows have the
 * same columns, in whole groups, and M's rows of each group of columns have the same nodes. The places of the
 * first row and of the first column of each group then serve all of them. */
typedef struct tsi_amg_places {
  int32_t height, width;
  int32_t wide;            /* columns per node of M and C */
  int parts;               /* of the groups */
  int bytes;               /* per place: 1, 2 or 4 */
  unsigned char *is_block; /* per group */
  size_t *begins;          /* of the parts, in places; and the end */
  void *list;
  size_t room;  /* for the sums of a part */
  double *sums; /* 0 between rows */
} tsi_amg_places;

/* C has a pattern, or gets one: nodes in the order in which they are found, with the first index of each.
 * Except for the fields of its first line and `wide`, `to` must be 0. On failure the caller frees it. */
ts_status tsi_amg_places_find(ts_context *context, const tsi_amg_csr *L, const tsi_amg_csr *M, tsi_amg_csr *C,
                              tsi_amg_places *to);
void tsi_amg_places_free(ts_context *context, tsi_amg_places *places);
/* Whether `height` rows have the same columns, in whole groups of `width`. */
int tsi_amg_has_blocks(const tsi_amg_csr *A, int32_t first, int32_t height, int32_t width);

/* amg_multiply.c: computes the values of C = sign L M. */
void tsi_amg_multiply(const ts_context *context, const tsi_amg_places *places, double sign,
                      const tsi_amg_csr *L, const tsi_amg_csr *M, const tsi_amg_csr *C);

#endif
