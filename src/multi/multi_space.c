/* The owners of a space's indices. */
#include <string.h>

#include "common/partition/partition.h"
#include "multi_given.h"

/* The flags of constrained indices, ordered by position. */
static ts_status flags_at(const ts_space *space, const multi_space *s, ts_context *part, int32_t first,
                          int32_t size, unsigned char **flags) {
  *flags = tsi_malloc(part, (size_t)size, 1);
  if (!*flags) return tsi_out_of_memory(part, "an index space", (size_t)size);
  for (int32_t k = 0; k < size; k++) (*flags)[k] = space->constrained[multi_index(s, first + k)];
  return TS_OK;
}

ts_status multi_space_create_part(const ts_space *space, const multi_space *s, ts_context *part, int32_t first,
                                  int32_t size, ts_space **local) {
  unsigned char *flags = NULL;
  tsi_tiling tiling;
  if (space->constrained) TSI_TRY(flags_at(space, s, part, first, size, &flags));
  ts_status status = tsi_tiling_create(part, size, NULL, flags, &tiling);
  if (status == TS_OK) status = tsi_space_create(part, &tiling, flags, local);
  tsi_free(part, flags);
  return status;
}

static ts_status create_locals(const ts_space *space, multi_space *s) {
  ts_context *context = space->context;
  for (int p = 0; p < multi_count(context); p++) {
    const int32_t first = s->first[p], size = s->first[p + 1] - first;
    if (size && multi_part(context, p) && !s->local[p])
      MULTI_TRY(context, p,
                multi_space_create_part(space, s, multi_part(context, p), first, size, &s->local[p]));
  }
  return TS_OK;
}

static void destroy_multi_space(ts_context *context, multi_space *s) {
  if (!s) return;
  for (int p = 0; s->local && p < multi_count(context); p++) {
    if (!s->local[p]) continue;
    tsi_enter_to_destroy(multi_part(context, p));
    tsi_space_release(s->local[p]);
    tsi_leave(multi_part(context, p), TS_OK);
  }
  tsi_free(context, s->local);
  tsi_free(context, s->order);
  tsi_free(context, s->places);
  tsi_free(context, s->first);
  multi_rows_destroy(context, s->rows);
  tsi_free(context, s);
}

/* Counting sort: rows keep their order within a part. */
static ts_status place(ts_context *context, const tsi_partition *by, int32_t size, multi_space *s) {
  memcpy(s->first, by->first, ((size_t)by->parts + 1) * sizeof *s->first);
  memcpy(s->choice, by->choice, sizeof s->choice);
  if (!by->part_of) return TS_OK;
  int32_t *next = tsi_malloc(context, (size_t)by->parts, sizeof *next);
  s->order = tsi_malloc(context, (size_t)size, sizeof *s->order);
  s->places = tsi_malloc(context, (size_t)size, sizeof *s->places);
  if (!next || !s->order || !s->places) {
    tsi_free(context, next);
    return tsi_out_of_memory(context, "an index space", (size_t)size * 2 * sizeof *s->order);
  }
  memcpy(next, by->first, (size_t)by->parts * sizeof *next);
  for (int32_t i = 0; i < size; i++) {
    s->places[i] = next[by->part_of[i]]++;
    s->order[s->places[i]] = i;
  }
  tsi_free(context, next);
  return TS_OK;
}

static ts_status divide(const ts_space *space, const tsi_host_csr *csr, multi_space *s) {
  ts_context *context = space->context;
  const int parts = multi_count(context);
  if (!csr) {
    const int32_t size = space->tiling.size;
    tsi_partition_evenly(context, context->desc.partition, size, parts, s->first);
    if (parts > 1 && size > 1 && s->first[1] == size)
      snprintf(s->choice, sizeof s->choice, "%d rows are too few to share", size);
    return TS_OK;
  }
  tsi_partition by;
  TSI_TRY(tsi_partition_create(context, csr, parts, context->desc.partition, &by));
  const ts_status status = place(context, &by, csr->rows, s);
  tsi_partition_free(context, &by);
  return status;
}

static ts_status allocate(ts_context *context, multi_space **out) {
  const size_t parts = (size_t)multi_count(context);
  multi_space *s = *out = tsi_calloc(context, 1, sizeof *s);
  if (s) {
    s->local = tsi_calloc(context, parts, sizeof(ts_space *));
    s->first = tsi_calloc(context, parts + 1, sizeof *s->first);
  }
  if (s && s->local && s->first) return TS_OK;
  return tsi_out_of_memory(context, "an index space", sizeof *s + parts * sizeof(ts_space *));
}

/* Takes ownership of s. */
static ts_status attach_to(ts_space *space, multi_space *s, ts_status status) {
  if (status == TS_OK) status = create_locals(space, s);
  if (status == TS_OK)
    space->impl = s;
  else
    destroy_multi_space(space->context, s);
  return status;
}

ts_status multi_space_of(ts_space *space, const tsi_host_csr *csr, multi_space **out) {
  if (!space->impl) {
    multi_space *s;
    ts_status status = allocate(space->context, &s);
    if (status == TS_OK) status = divide(space, csr, s);
    TSI_TRY(attach_to(space, s, status));
  }
  *out = space->impl;
  return TS_OK;
}

ts_status multi_space_create_in_order(ts_context *context, const int32_t *first, ts_space *const *locals,
                                      ts_space **space) {
  const int parts = multi_count(context);
  tsi_tiling tiling;
  multi_space *s;
  TSI_TRY(tsi_tiling_create(context, first[parts], NULL, NULL, &tiling));
  TSI_TRY(tsi_space_create(context, &tiling, NULL, space));
  ts_status status = allocate(context, &s);
  if (status == TS_OK) memcpy(s->first, first, ((size_t)parts + 1) * sizeof *first);
  for (int p = 0; p < parts && status == TS_OK && locals; p++) {
    s->local[p] = locals[p];
    if (locals[p]) tsi_space_retain(locals[p]);
  }
  status = attach_to(*space, s, status);
  if (status < 0) ts_space_destroy(space);
  return status;
}

ts_status multi_space_of_rows(ts_space *space, multi_rows *rows) {
  const multi_state *state = multi_state_of(space->context);
  multi_space *s;
  const ts_status status = allocate(space->context, &s);
  if (!s) {
    multi_rows_destroy(space->context, rows);
    return status;
  }
  s->rows = rows;
  space->ghosts = rows->ghost_count;
  for (int p = state->first; p < state->count && status == TS_OK; p++) /* empty for parts of other ranks */
    s->first[p + 1] =
        p < state->first + state->own ? (int32_t)(rows->first[p + 1] - rows->first[state->first]) : s->first[p];
  return attach_to(space, s, status);
}

void multi_rows_destroy(ts_context *context, multi_rows *rows) {
  if (!rows) return;
  tsi_free(context, rows->first);
  tsi_free(context, rows->ghosts);
  tsi_free(context, rows->order);
  multi_given_destroy(context, rows->given);
  tsi_free(context, rows);
}

void multi_space_destroy(ts_space *space) {
  destroy_multi_space(space->context, space->impl);
  space->impl = NULL;
}

int multi_owner_of_row(const multi_rows *rows, int parts, int64_t row) {
  int low = 0, high = parts - 1;
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (rows->first[middle] <= row)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

int multi_owner(const ts_space *space, int32_t position) {
  const multi_space *s = space->impl;
  const int parts = multi_count(space->context);
  if (s->rows && position >= tsi_first_ghost(space))
    return multi_owner_of_row(s->rows, parts, s->rows->ghosts[position - tsi_first_ghost(space)]);
  int low = 0, high = parts - 1; /* the last part with a first position of at most this one */
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (s->first[middle] <= position)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}
