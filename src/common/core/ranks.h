/* Operations for a set-up over the rows of ranks, from the backend that has them (src/multi). All ranks call
 * these in the same order, within a collective public function. A failure of one ends the waits of the
 * others. */
#ifndef TSI_RANKS_H
#define TSI_RANKS_H

#include "core.h"

/* The data from this rank for each rank, and from each rank for this one, allocated with tsi_malloc. */
typedef struct tsi_parcels {
  size_t *out_bytes, *in_bytes;
  void **out, **in;
} tsi_parcels;

enum { TSI_MOST_COMBINED = 8 };

struct tsi_ranks_ops {
  ts_status (*parcels_create)(ts_context *context, tsi_parcels *parcels);
  void (*parcels_destroy)(ts_context *context, tsi_parcels *parcels);
  /* Allocates out_bytes[rank] bytes, initially 0, for each out[rank]. */
  ts_status (*parcels_allocate)(ts_context *context, tsi_parcels *parcels);
  /* Sends `out` and receives `in`. A rank sends nothing to itself. */
  ts_status (*parcels_exchange)(ts_context *context, tsi_parcels *parcels);
  /* Gathers the `bytes` of each rank into `all`, in the order of the ranks. */
  ts_status (*collect)(ts_context *context, const void *mine, size_t bytes, void *all);
  /* Replaces numbers by their sums or maxima over the ranks, bitwise equal on all. At most
   * TSI_MOST_COMBINED. */
  ts_status (*add)(ts_context *context, double *values, int count);
  ts_status (*largest)(ts_context *context, double *values, int count);
  /* Creates a space of this rank's rows, at least 1, and of columns owned by other ranks. These are ascending
   * numbers among the rows of all ranks. Number k is column tsi_first_ghost + k of the matrices. */
  ts_status (*space_create)(ts_context *context, int32_t rows, const int64_t *ghosts, int32_t count,
                            ts_space **space);
  /* This rank's first row; and those columns, owned by the space. */
  int64_t (*first_row)(const ts_space *space);
  int32_t (*ghosts)(const ts_space *space, const int64_t **ghosts);
  /* Converts a row to its number in the application's matrix. */
  ts_status (*name_row)(const ts_space *space, int64_t *row);
  /* Whether the rows of a space are distributed over the ranks. */
  int (*is_of_ranks)(const ts_space *space);
};

#endif
