/* Who owns which indices of a space: contiguous blocks, in the order of the parts. */
#include "multi.h"

/* Cuts where the work before a row, its entries and the row itself, passes p / parts of all of it. */
static void cut_by_entries(const tsi_host_csr *csr, int parts, int32_t *first) {
  const int64_t work = (int64_t)csr->row_offsets[csr->rows] + csr->rows;
  int32_t row = 0;
  for (int p = 0; p < parts; p++) {
    const int64_t goal = work / parts * p + work % parts * p / parts;
    int32_t high = csr->rows;
    while (row < high) {
      const int32_t middle = row + (high - row) / 2;
      if ((int64_t)csr->row_offsets[middle] + middle < goal)
        row = middle + 1;
      else
        high = middle;
    }
    first[p] = row;
  }
  first[parts] = csr->rows;
}

static void cut_evenly(int32_t size, int parts, int32_t *first) {
  for (int p = 0; p <= parts; p++) first[p] = (int32_t)((int64_t)size * p / parts);
}

ts_status multi_space_create_part(const ts_space *space, ts_context *part, int32_t first, int32_t size,
                                  ts_space **local) {
  const unsigned char *constrained = space->constrained ? space->constrained + first : NULL;
  tsi_tiling tiling;
  TSI_TRY(tsi_tiling_create(part, size, NULL, constrained, &tiling));
  return tsi_space_create(part, &tiling, constrained, local);
}

static ts_status create_locals(const ts_space *space, multi_space *s) {
  ts_context *context = space->context;
  for (int p = 0; p < multi_count(context); p++) {
    const int32_t first = s->first[p], size = s->first[p + 1] - first;
    if (size)
      MULTI_TRY(context, p, multi_space_create_part(space, multi_part(context, p), first, size, &s->local[p]));
  }
  return TS_OK;
}

static void destroy(ts_context *context, multi_space *s) {
  if (!s) return;
  for (int p = 0; s->local && p < multi_count(context); p++) {
    if (!s->local[p]) continue;
    tsi_enter_to_destroy(multi_part(context, p));
    tsi_space_release(s->local[p]);
    tsi_leave(multi_part(context, p), TS_OK);
  }
  tsi_free(context, s->local);
  tsi_free(context, s->first);
  tsi_free(context, s);
}

ts_status multi_space_of(ts_space *space, const tsi_host_csr *csr, multi_space **out) {
  *out = space->impl;
  if (*out) return TS_OK;
  ts_context *context = space->context;
  const size_t parts = (size_t)multi_count(context);
  multi_space *s = tsi_calloc(context, 1, sizeof *s);
  if (s) {
    s->local = tsi_calloc(context, parts, sizeof(ts_space *));
    s->first = tsi_calloc(context, parts + 1, sizeof *s->first);
  }
  ts_status status = TS_OK;
  if (!s || !s->local || !s->first) {
    status = tsi_out_of_memory(context, "an index space", sizeof *s + parts * sizeof(ts_space *));
  } else {
    if (csr)
      cut_by_entries(csr, (int)parts, s->first);
    else
      cut_evenly(space->tiling.size, (int)parts, s->first);
    status = create_locals(space, s);
  }
  if (status < 0) {
    destroy(context, s);
    return status;
  }
  space->impl = *out = s;
  return TS_OK;
}

void multi_space_destroy(ts_space *space) {
  destroy(space->context, space->impl);
  space->impl = NULL;
}

int multi_owner(const multi_space *s, int parts, int32_t index) {
  int low = 0, high = parts - 1; /* the last part whose first index is at most this one */
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (s->first[middle] <= index)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}
