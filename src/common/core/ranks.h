/* What a set-up over the rows of ranks asks of the backend that has them (src/multi). All ranks call these in
 * the same order, within a public function that ends together; a failure of one ends the waits of the others.
 */
#ifndef TSI_RANKS_H
#define TSI_RANKS_H

#include "core.h"

/* What this rank has for each rank, and what each has for it: memory of tsi_malloc. */
typedef struct tsi_parcels {
  size_t *out_bytes, *in_bytes;
  void **out, **in;
} tsi_parcels;

enum { TSI_MOST_COMBINED = 8 };

struct tsi_ranks_ops {
  ts_status (*parcels_create)(ts_context *context, tsi_parcels *parcels);
  void (*parcels_destroy)(ts_context *context, tsi_parcels *parcels);
  /* out[rank] gets room for out_bytes[rank], which become 0. */
  ts_status (*parcels_allocate)(ts_context *context, tsi_parcels *parcels);
  /* Sends `out` and fills in `in`; a rank sends itself nothing. */
  ts_status (*parcels_exchange)(ts_context *context, tsi_parcels *parcels);
  /* `all` becomes the `bytes` of each rank, in their order. */
  ts_status (*collect)(ts_context *context, const void *mine, size_t bytes, void *all);
  /* Numbers become the sums or the maxima over the ranks, the same bits on all; TSI_MOST_COMBINED at most. */
  ts_status (*add)(ts_context *context, double *values, int count);
  ts_status (*largest)(ts_context *context, double *values, int count);
  /* A space of so many rows of this rank, 1 at least, and of columns that other ranks have: numbers among the
   * rows of all, ascending. Number k is column tsi_first_ghost + k of its matrices. */
  ts_status (*space_create)(ts_context *context, int32_t rows, const int64_t *ghosts, int32_t count,
                            ts_space **space);
  /* This rank's first row; those columns, which the space keeps. */
  int64_t (*first_row)(const ts_space *space);
  int32_t (*ghosts)(const ts_space *space, const int64_t **ghosts);
  /* A row becomes its number in the matrix that the application gave. */
  ts_status (*name_row)(const ts_space *space, int64_t *row);
  /* Whether a space has each rank's own rows. */
  int (*is_of_ranks)(const ts_space *space);
};

#endif
