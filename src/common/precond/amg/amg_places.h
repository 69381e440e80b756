/* Products of sparse matrices with patterns that are known: where each product of two entries is added.
 *
 * C = sign L M. For each entry of L, and each node that M's row has, the place of this node in C's row: an
 * update then looks for nothing. Places cost a byte each, as long as rows of C have at most 256 nodes. */
#ifndef TSI_AMG_PLACES_H
#define TSI_AMG_PLACES_H

#include "amg.h"

/* Of groups of `height` rows of L and `width` columns. A group is of blocks if its rows have the same columns,
 * whole groups of them, and M's rows of each group of columns have the same nodes: places of the first row and
 * of the first column of each group then serve all of them. */
typedef struct tsi_amg_places {
  int32_t height, width;
  int32_t wide;            /* columns of a node of M and C */
  int parts;               /* of the groups */
  int bytes;               /* of a place: 1, 2 or 4 */
  unsigned char *is_block; /* of each group */
  size_t *begins;          /* of the parts, in places, and the end */
  void *list;
  size_t room;  /* for the sums of a part */
  double *sums; /* 0 between rows */
} tsi_amg_places;

/* The pattern of C is there, or becomes it: nodes in the order in which they are found, with the first index of
 * each. All of `to` but the sizes in its first line and `wide` is 0; on failure it is freed by the caller. */
ts_status tsi_amg_places_find(ts_context *context, const tsi_amg_csr *L, const tsi_amg_csr *M, tsi_amg_csr *C,
                              tsi_amg_places *to);
void tsi_amg_places_free(ts_context *context, tsi_amg_places *places);
/* Whether `height` rows have the same columns, in whole groups of `width`. */
int tsi_amg_has_blocks(const tsi_amg_csr *A, int32_t first, int32_t height, int32_t width);

/* amg_multiply.c: the values of C = sign L M. */
void tsi_amg_multiply(const ts_context *context, const tsi_amg_places *places, double sign,
                      const tsi_amg_csr *L, const tsi_amg_csr *M, const tsi_amg_csr *C);

#endif
