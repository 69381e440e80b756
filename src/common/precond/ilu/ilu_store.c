/* Rows of factors in chunks that grow without moving, and the selection of the entries that a row keeps. */
#include <string.h>

#include "ilu_pipeline.h"

enum { least_room = 4096 };

struct tsi_ilu_chunk {
  tsi_ilu_chunk *before;
  int64_t room, used;
  double *values;
  tsi_ilu_link *links;
  int32_t *columns;
  unsigned char *levels;
};

ts_status tsi_ilu_store_create(ts_context *context, int32_t n, int has_links, int has_levels,
                               tsi_ilu_store *store) {
  *store = (tsi_ilu_store){.context = context, .has_links = has_links, .has_levels = has_levels};
  store->rows = tsi_calloc(context, (size_t)n, sizeof *store->rows);
  return store->rows ? TS_OK
                     : tsi_out_of_memory(context, "incomplete factors", (size_t)n * sizeof *store->rows);
}

void tsi_ilu_store_free(tsi_ilu_store *store) {
  for (tsi_ilu_chunk *chunk = store->chunks, *before; chunk; chunk = before) {
    before = chunk->before;
    tsi_free(store->context, chunk);
  }
  tsi_free(store->context, store->rows);
  *store = (tsi_ilu_store){0};
}

/* A new chunk is a quarter of the present size, so that little memory stays unused. */
static ts_status add_chunk(tsi_ilu_store *store, int32_t count) {
  const int64_t quarter = store->entries / 4 > least_room ? store->entries / 4 : least_room;
  const size_t room = (size_t)(quarter > count ? quarter : count);
  const size_t links = store->has_links ? sizeof(tsi_ilu_link) : 0, levels = store->has_levels ? 1 : 0;
  const size_t bytes = sizeof(tsi_ilu_chunk) + room * (sizeof(double) + links + sizeof(int32_t) + levels);
  tsi_ilu_chunk *chunk = tsi_malloc(store->context, bytes, 1);
  if (!chunk) return tsi_out_of_memory(store->context, "incomplete factors", bytes);
  *chunk = (tsi_ilu_chunk){.before = store->chunks, .room = (int64_t)room};
  char *next = (char *)(chunk + 1);
  chunk->values = (void *)next;
  next += room * sizeof(double);
  if (links) chunk->links = (void *)next;
  next += room * links;
  chunk->columns = (void *)next;
  next += room * sizeof(int32_t);
  if (levels) chunk->levels = (unsigned char *)next;
  store->chunks = chunk;
  return TS_OK;
}

ts_status tsi_ilu_store_row(tsi_ilu_store *store, int32_t i, int32_t count) {
  if (!store->chunks || store->chunks->room - store->chunks->used < count) TSI_TRY(add_chunk(store, count));
  tsi_ilu_chunk *chunk = store->chunks;
  const int64_t at = chunk->used;
  store->rows[i] = (tsi_ilu_row){.count = count,
                                 .columns = chunk->columns + at,
                                 .values = chunk->values + at,
                                 .links = chunk->links ? chunk->links + at : NULL,
                                 .levels = chunk->levels ? chunk->levels + at : NULL};
  chunk->used += count;
  store->entries += count;
  return TS_OK;
}

ts_status tsi_ilu_store_collect(const tsi_ilu_store *store, int32_t n, tsi_ilu_rows *rows) {
  TSI_TRY(tsi_ilu_rows_create(store->context, n, store->entries, rows));
  for (int32_t i = 0; i < n; i++) {
    const tsi_ilu_row *row = &store->rows[i];
    const int64_t begin = rows->offsets[i];
    tsi_poll_rows(i);
    rows->offsets[i + 1] = begin + row->count;
    if (row->count == 0) continue;
    memcpy(rows->columns + begin, row->columns, (size_t)row->count * sizeof *row->columns);
    memcpy(rows->values + begin, row->values, (size_t)row->count * sizeof *row->values);
  }
  return TS_OK;
}

/* Hoare 1961, "Algorithm 65: find". */
void tsi_ilu_select_largest(tsi_ilu_candidate *c, int32_t count, int32_t wanted) {
  int32_t low = 0, high = count - 1;
  while (low < high) {
    const double middle = c[low + (high - low) / 2].size;
    int32_t a = low, b = high;
    while (a <= b) {
      while (c[a].size > middle) a++;
      while (c[b].size < middle) b--;
      if (a > b) break;
      const tsi_ilu_candidate t = c[a];
      c[a++] = c[b];
      c[b--] = t;
    }
    if (wanted <= b)
      high = b;
    else if (wanted >= a)
      low = a;
    else
      break;
  }
}
