/* Services for building matrices of levels from rank-local rows: messages, sums, and spaces with known columns
 * of other ranks (common/core/ranks.h). */
#include <math.h>
#include <string.h>

#include "multi_given.h"

/* ---- Numbers of all ranks ---- */

typedef struct numbers {
  double values[TSI_MOST_COMBINED];
} numbers;

static void merge_sums(void *mine, const void *other) {
  for (int k = 0; k < TSI_MOST_COMBINED; k++)
    ((numbers *)mine)->values[k] += ((const numbers *)other)->values[k];
}

static void merge_largest(void *mine, const void *other) {
  for (int k = 0; k < TSI_MOST_COMBINED; k++)
    ((numbers *)mine)->values[k] = fmax(((numbers *)mine)->values[k], ((const numbers *)other)->values[k]);
}

static ts_status combine(ts_context *context, double *values, int count, multi_merge merge) {
  numbers n = {{0}};
  memcpy(n.values, values, (size_t)count * sizeof *values);
  TSI_TRY(multi_merge_ranks(context, &n, sizeof n, merge));
  memcpy(values, n.values, (size_t)count * sizeof *values);
  return TS_OK;
}

static ts_status add(ts_context *context, double *values, int count) {
  return combine(context, values, count, merge_sums);
}

static ts_status largest(ts_context *context, double *values, int count) {
  return combine(context, values, count, merge_largest);
}

/* ---- Spaces ---- */

static ts_status count_rows(ts_context *context, int32_t size, multi_rows *rows) {
  const multi_state *state = multi_state_of(context);
  int64_t sizes[MULTI_MOST_PARTS];
  rows->first = tsi_malloc(context, (size_t)state->count + 1, sizeof *rows->first);
  if (!rows->first) return tsi_out_of_memory(context, "the rows of ranks", (size_t)state->count * 8);
  for (int64_t p = 0; p < state->own; p++)
    sizes[p] = (int64_t)size * (p + 1) / state->own - (int64_t)size * p / state->own;
  TSI_TRY(multi_collect(context, sizes, (size_t)state->own * sizeof *sizes, rows->first + 1));
  rows->first[0] = 0;
  for (int p = 0; p < state->count; p++) rows->first[p + 1] += rows->first[p];
  return TS_OK;
}

static ts_status keep_ghosts(ts_context *context, int32_t size, const int64_t *ghosts, int32_t count,
                             multi_rows *rows) {
  if (count > TSI_MAX_SIZE - size - 64)
    return tsi_fail(context, TS_ERROR_LIMIT,
                    "this rank has %d rows and needs %d columns of others, more than %d together", size, count,
                    TSI_MAX_SIZE - 64);
  rows->ghosts = tsi_malloc(context, (size_t)count, sizeof *ghosts);
  if (!rows->ghosts) return tsi_out_of_memory(context, "columns of other ranks", (size_t)count * 8);
  if (count > 0) memcpy(rows->ghosts, ghosts, (size_t)count * sizeof *ghosts);
  rows->ghost_count = count;
  return TS_OK;
}

static ts_status space_create(ts_context *context, int32_t size, const int64_t *ghosts, int32_t count,
                              ts_space **space) {
  tsi_tiling tiling;
  multi_rows *rows = tsi_calloc(context, 1, sizeof *rows);
  if (!rows) return tsi_out_of_memory(context, "the rows of ranks", sizeof *rows);
  ts_status status = count_rows(context, size, rows);
  if (status == TS_OK) status = keep_ghosts(context, size, ghosts, count, rows);
  if (status == TS_OK) status = tsi_tiling_create(context, size, NULL, NULL, &tiling);
  if (status == TS_OK) status = tsi_space_create(context, &tiling, NULL, space);
  if (status < 0) {
    multi_rows_destroy(context, rows);
    return status;
  }
  return multi_space_of_rows(*space, rows);
}

static const multi_rows *rows_of(const ts_space *space) {
  return ((const multi_space *)space->impl)->rows;
}

static int64_t first_row(const ts_space *space) {
  return rows_of(space)->first[multi_state_of(space->context)->first];
}

static int32_t ghosts(const ts_space *space, const int64_t **list) {
  *list = rows_of(space)->ghosts;
  return rows_of(space)->ghost_count;
}

/* Only the root knows the row numbers of a matrix that it distributed. */
static ts_status name_row(const ts_space *space, int64_t *row) {
  const multi_rows *rows = rows_of(space);
  const int64_t own = *row - multi_first_row(space->context, rows);
  double name = rows->order ? rows->order[*row] : -1;
  if (rows->given && own >= 0 && own < space->tiling.size) name = (double)rows->given->rows[own];
  TSI_TRY(largest(space->context, &name, 1));
  if (name >= 0) *row = (int64_t)name;
  return TS_OK;
}

static int is_of_ranks(const ts_space *space) {
  const multi_space *s = space->impl;
  return s && s->rows;
}

const tsi_ranks_ops multi_ranks_ops = {.parcels_create = multi_parcels_create,
                                       .parcels_destroy = multi_parcels_destroy,
                                       .parcels_allocate = multi_parcels_allocate,
                                       .parcels_exchange = multi_parcels_exchange,
                                       .collect = multi_collect,
                                       .add = add,
                                       .largest = largest,
                                       .space_create = space_create,
                                       .first_row = first_row,
                                       .ghosts = ghosts,
                                       .name_row = name_row,
                                       .is_of_ranks = is_of_ranks};
