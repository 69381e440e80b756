/* Rows of factors by several threads.
 *
 * A thread begins the first row that nobody has begun, eliminates with the rows that are complete, in ascending
 * order, and waits where the next one is not. It completes its row when all before it are complete. What it
 * does then (exchanges of columns, how many entries the row may keep, storing them) happens in the order of the
 * rows, so that factors are the same bits with any number of threads.
 *
 * Eliminating takes most of the time. Only the last few rows before a row are incomplete when it begins, and
 * these come last, so that threads seldom wait even where each row needs the one before it. Rows of a few
 * entries take less time than handing them to another core, and threads without a core of their own take more:
 * so rows are computed in segments of a few milliseconds, by all threads or by one, whichever was quicker for
 * an operation. */
#ifndef TSI_ILU_PIPELINE_H
#define TSI_ILU_PIPELINE_H

#include <stdatomic.h>

#include "ilu.h"

enum { TSI_ILU_WORKERS = 8, TSI_ILU_LINE = 64 }; /* more would wait for each other; bytes of a cache line */

/* Computes rows with the workspace of a worker until there is no next one. Returns how many operations. */
typedef double (*tsi_ilu_work)(void *factoriser, int worker);

typedef struct tsi_ilu_pipeline {
  _Alignas(TSI_ILU_LINE) atomic_int begun;
  int32_t n;
  ts_context *context;
  int workers;
  double end;                                 /* of the segment, on the clock of tsi_seconds */
  atomic_int is_over;                         /* the segment is */
  atomic_int is_stopped;                      /* by a row: those after it are not completed */
  _Alignas(TSI_ILU_LINE) atomic_int complete; /* rows; all, once it is stopped */
} tsi_ilu_pipeline;

/* Makes the threads; those that a factorisation of this many entries is worth. */
ts_status tsi_ilu_pipeline_init(ts_context *context, int32_t n, int64_t entries, tsi_ilu_pipeline *p);
/* Begins again with the first row. */
void tsi_ilu_pipeline_restart(tsi_ilu_pipeline *p);
/* All rows. */
void tsi_ilu_pipeline_run(tsi_ilu_pipeline *p, tsi_ilu_work work, void *factoriser);

/* ---- Within `work` ---- */

/* The next row of the calling thread; -1: there is none. */
int32_t tsi_ilu_pipeline_next(tsi_ilu_pipeline *p);
/* Rows that are complete. */
static inline int32_t tsi_ilu_pipeline_complete(const tsi_ilu_pipeline *p) {
  return atomic_load_explicit(&p->complete, memory_order_acquire);
}
/* Waits until `rows` are complete. 0: the pipeline was stopped. */
int tsi_ilu_pipeline_wait(const tsi_ilu_pipeline *p, int32_t rows);
/* The row of the calling thread, all before which are complete, is; or it ends the factorisation. */
void tsi_ilu_pipeline_put(tsi_ilu_pipeline *p, int32_t row, int stop);

/* ---- Rows that stay at their addresses, while others are added and read ---- */

/* Where an entry is: 1 + its place in its row, and the row. */
typedef atomic_uint_fast64_t tsi_ilu_link;

typedef struct tsi_ilu_row {
  int32_t count;
  int32_t *columns;
  double *values;
  tsi_ilu_link *links;   /* NULL: the store has none */
  unsigned char *levels; /* NULL likewise */
} tsi_ilu_row;

typedef struct tsi_ilu_chunk tsi_ilu_chunk;

typedef struct tsi_ilu_store {
  ts_context *context;
  int has_links, has_levels;
  tsi_ilu_row *rows;
  tsi_ilu_chunk *chunks; /* the last one first */
  int64_t entries;
} tsi_ilu_store;

ts_status tsi_ilu_store_create(ts_context *context, int32_t n, int has_links, int has_levels,
                               tsi_ilu_store *store);
void tsi_ilu_store_free(tsi_ilu_store *store);
/* Room for the entries of row i, by the thread that completes it. */
ts_status tsi_ilu_store_row(tsi_ilu_store *store, int32_t i, int32_t count);
/* All rows of a store that has them all, as they are. */
ts_status tsi_ilu_store_collect(const tsi_ilu_store *store, int32_t n, tsi_ilu_rows *rows);

/* ---- The entries that a row keeps ---- */

typedef struct tsi_ilu_candidate {
  double size;
  int32_t column;
} tsi_ilu_candidate;

/* Moves the `wanted` largest to the front. */
void tsi_ilu_select_largest(tsi_ilu_candidate *c, int32_t count, int32_t wanted);

#endif
