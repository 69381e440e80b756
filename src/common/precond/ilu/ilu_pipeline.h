/* Computes the rows of factors with several threads.
 *
 * A thread begins the first row that is not yet begun. It eliminates with the complete rows in ascending order,
 * and waits when the next one is incomplete. It completes its row after all earlier ones. Only then it
 * exchanges columns, determines how many entries the row may keep, and stores them. These steps happen in the
 * order of the rows, so factors are bitwise identical for any number of threads.
 *
 * Elimination takes most of the time. When a row begins, only the last few rows before it are incomplete, and
 * it needs these last. Threads therefore seldom wait, even if each row needs the previous one. Rows of a few
 * entries take less time than handing them to another core, and threads without their own core slow each other
 * down. Rows are therefore computed in segments of a few milliseconds, by all threads or by one, depending on
 * the measured time per operation. */
#ifndef TSI_ILU_PIPELINE_H
#define TSI_ILU_PIPELINE_H

#include <stdatomic.h>

#include "ilu.h"

enum { TSI_ILU_WORKERS = 8, TSI_ILU_LINE = 64 }; /* more would wait for each other; bytes of a cache line */

/* Computes rows in the workspace of a worker until none is left. Returns the number of operations. */
typedef double (*tsi_ilu_work)(void *factoriser, int worker);

typedef struct tsi_ilu_pipeline {
  _Alignas(TSI_ILU_LINE) atomic_int begun;
  int32_t n;
  ts_context *context;
  int workers;
  double end;            /* of the segment, on the clock of tsi_seconds */
  atomic_int is_over;    /* the segment has ended */
  atomic_int is_stopped; /* a row has stopped the factorisation: later rows are not completed */
  _Alignas(TSI_ILU_LINE) atomic_int complete; /* complete rows; all, if stopped */
} tsi_ilu_pipeline;

/* Creates the threads that a factorisation of this many entries can use. */
ts_status tsi_ilu_pipeline_init(ts_context *context, int32_t n, int64_t entries, tsi_ilu_pipeline *p);
/* Restarts with the first row. */
void tsi_ilu_pipeline_restart(tsi_ilu_pipeline *p);
/* Computes all rows. */
ts_status tsi_ilu_pipeline_run(tsi_ilu_pipeline *p, tsi_ilu_work work, void *factoriser);

/* ---- Inside `work` ---- */

/* The next row for the calling thread; -1: none is left. */
int32_t tsi_ilu_pipeline_next(tsi_ilu_pipeline *p);
/* The number of complete rows. */
static inline int32_t tsi_ilu_pipeline_complete(const tsi_ilu_pipeline *p) {
  return atomic_load_explicit(&p->complete, memory_order_acquire);
}
/* Waits until `rows` rows are complete. Returns 0 if the pipeline was stopped. */
int tsi_ilu_pipeline_wait(const tsi_ilu_pipeline *p, int32_t rows);
/* Marks the row of the calling thread as complete; all earlier rows must be. With `stop` it ends the
 * factorisation. */
void tsi_ilu_pipeline_put(tsi_ilu_pipeline *p, int32_t row, int stop);

/* ---- Rows with fixed addresses, while others are added and read ---- */

/* The location of an entry: 1 + its place in its row, and the row. */
typedef atomic_uint_fast64_t tsi_ilu_link;

typedef struct tsi_ilu_row {
  int32_t count;
  int32_t *columns;
  double *values;
  tsi_ilu_link *links;   /* NULL: the store has none */
  unsigned char *levels; /* NULL: the store has none */
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
/* Allocates the entries of row i; called by the thread that completes it. */
ts_status tsi_ilu_store_row(tsi_ilu_store *store, int32_t i, int32_t count);
/* Copies all rows of a complete store unchanged. */
ts_status tsi_ilu_store_collect(const tsi_ilu_store *store, int32_t n, tsi_ilu_rows *rows);

/* ---- The entries that a row keeps ---- */

typedef struct tsi_ilu_candidate {
  double size;
  int32_t column;
} tsi_ilu_candidate;

/* Moves the `wanted` largest to the front. */
void tsi_ilu_select_largest(tsi_ilu_candidate *c, int32_t count, int32_t wanted);

#endif
