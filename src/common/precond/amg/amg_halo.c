/* The owners of the nodes of a level over several ranks, and the nodes that a rank needs from others. */
#include "amg_halo.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

int32_t tsi_amg_unite(int64_t *list, size_t count) {
  int32_t unique = 0;
  if (count > 0) qsort(list, count, sizeof *list, compare);
  for (size_t k = 0; k < count; k++)
    if (k == 0 || list[k] != list[k - 1]) list[unique++] = list[k];
  return unique;
}

int32_t tsi_amg_local(const tsi_amg_numbering *n, int64_t column) {
  const int64_t node = column / n->unknowns;
  int64_t place = node - n->first;
  if (place < 0 || place >= n->own) {
    const int64_t *ghost =
        n->count > 0 ? bsearch(&node, n->ghosts, (size_t)n->count, sizeof node, compare) : NULL;
    if (!ghost) return -1;
    place = n->own + (ghost - n->ghosts);
  }
  return (int32_t)(place * n->unknowns + column % n->unknowns);
}

tsi_amg_numbering tsi_amg_number(const tsi_amg_halo *halo, int32_t unknowns) {
  return (tsi_amg_numbering){.first = halo->first[halo->rank],
                             .own = (int32_t)(halo->first[halo->rank + 1] - halo->first[halo->rank]),
                             .count = halo->count,
                             .ghosts = halo->ghosts,
                             .unknowns = unknowns};
}

void tsi_amg_find_owners(const int64_t *first, int ranks, const int64_t *ghosts, int32_t count, int32_t *from) {
  int32_t k = 0;
  for (int r = 0; r < ranks; r++) {
    from[r] = k;
    while (k < count && ghosts[k] < first[r + 1]) k++;
  }
  from[ranks] = k;
}

ts_status tsi_amg_count_nodes(ts_context *context, int32_t nodes, int64_t **first) {
  const size_t ranks = (size_t)ts_ranks_get_count(context);
  const int64_t mine = nodes;
  *first = tsi_malloc(context, ranks + 1, sizeof **first);
  if (!*first) return tsi_out_of_memory(context, "the nodes of ranks", (ranks + 1) * sizeof **first);
  const ts_status status = context->ops->ranks->collect(context, &mine, sizeof mine, *first + 1);
  (*first)[0] = 0;
  for (size_t r = 0; r < ranks && status == TS_OK; r++) (*first)[r + 1] += (*first)[r];
  if (status == TS_OK) return TS_OK;
  tsi_free(context, *first);
  *first = NULL;
  return status;
}

/* ---- What other ranks need ---- */

static ts_status write_requests(ts_context *context, const tsi_amg_halo *halo, tsi_parcels *p) {
  for (int r = 0; r < halo->ranks; r++)
    p->out_bytes[r] = (size_t)(halo->from[r + 1] - halo->from[r]) * sizeof *halo->ghosts;
  TSI_TRY(context->ops->ranks->parcels_allocate(context, p));
  for (int r = 0; r < halo->ranks; r++) {
    p->out_bytes[r] = (size_t)(halo->from[r + 1] - halo->from[r]) * sizeof *halo->ghosts;
    if (p->out_bytes[r]) memcpy(p->out[r], halo->ghosts + halo->from[r], p->out_bytes[r]);
  }
  return context->ops->ranks->parcels_exchange(context, p);
}

static ts_status read_requests(ts_context *context, tsi_amg_halo *halo, const tsi_parcels *p) {
  size_t count = 0;
  for (int r = 0; r < halo->ranks; r++) {
    halo->to[r] = (int32_t)count;
    count += p->in_bytes[r] / sizeof *halo->ghosts;
  }
  halo->to[halo->ranks] = (int32_t)count;
  halo->own = tsi_malloc(context, count, sizeof *halo->own);
  if (!halo->own) return tsi_out_of_memory(context, "the ghosts of amg", count * sizeof *halo->own);
  for (int r = 0; r < halo->ranks; r++) {
    const int64_t *in = p->in[r];
    for (int32_t k = halo->to[r]; k < halo->to[r + 1]; k++)
      halo->own[k] = (int32_t)(in[k - halo->to[r]] - halo->first[halo->rank]);
  }
  return TS_OK;
}

static ts_status ask(ts_context *context, tsi_amg_halo *halo) {
  tsi_parcels parcels;
  TSI_TRY(context->ops->ranks->parcels_create(context, &parcels));
  ts_status status = write_requests(context, halo, &parcels);
  if (status == TS_OK) status = read_requests(context, halo, &parcels);
  context->ops->ranks->parcels_destroy(context, &parcels);
  return status;
}

ts_status tsi_amg_halo_create(ts_context *context, int64_t *first, int64_t *ghosts, int32_t count,
                              tsi_amg_halo **out) {
  const size_t ranks = (size_t)ts_ranks_get_count(context);
  tsi_amg_halo *halo = *out = tsi_calloc(context, 1, sizeof *halo);
  if (!halo) {
    tsi_free(context, first);
    tsi_free(context, ghosts);
    return tsi_out_of_memory(context, "the ghosts of amg", sizeof *halo);
  }
  *halo = (tsi_amg_halo){.ranks = (int)ranks,
                         .rank = ts_ranks_get_rank(context),
                         .first = first,
                         .ghosts = ghosts,
                         .count = count,
                         .from = tsi_malloc(context, ranks + 1, sizeof *halo->from),
                         .to = tsi_malloc(context, ranks + 1, sizeof *halo->to)};
  ts_status status = TS_OK;
  if (!halo->from || !halo->to)
    status = tsi_out_of_memory(context, "the ghosts of amg", (ranks + 1) * sizeof *halo->to);
  if (status == TS_OK) {
    tsi_amg_find_owners(first, halo->ranks, ghosts, count, halo->from);
    status = ask(context, halo);
  }
  if (status == TS_OK) return TS_OK;
  tsi_amg_halo_free(context, halo);
  *out = NULL;
  return status;
}

void tsi_amg_halo_free(ts_context *context, tsi_amg_halo *halo) {
  if (!halo) return;
  tsi_free(context, halo->first);
  tsi_free(context, halo->ghosts);
  tsi_free(context, halo->from);
  tsi_free(context, halo->to);
  tsi_free(context, halo->own);
  tsi_free(context, halo);
}

int32_t tsi_amg_ghosts(const tsi_amg_host_level *level) {
  return level->halo ? level->halo->count : 0;
}

uint32_t tsi_amg_first_row(const tsi_amg_host_level *level) {
  return level->halo ? (uint32_t)level->halo->first[level->halo->rank] * (uint32_t)level->unknowns : 0;
}

/* ---- Values of ghosts ---- */

static ts_status carry(ts_context *context, const tsi_amg_halo *halo, tsi_parcels *p, char *values,
                       size_t bytes) {
  const size_t own = (size_t)(halo->first[halo->rank + 1] - halo->first[halo->rank]);
  for (int r = 0; r < halo->ranks; r++) p->out_bytes[r] = (size_t)(halo->to[r + 1] - halo->to[r]) * bytes;
  TSI_TRY(context->ops->ranks->parcels_allocate(context, p));
  for (int r = 0; r < halo->ranks; r++) {
    char *to = p->out[r];
    for (int32_t k = halo->to[r]; k < halo->to[r + 1]; k++, to += bytes)
      memcpy(to, values + (size_t)halo->own[k] * bytes, bytes);
    p->out_bytes[r] = (size_t)(halo->to[r + 1] - halo->to[r]) * bytes;
  }
  TSI_TRY(context->ops->ranks->parcels_exchange(context, p));
  for (int r = 0; r < halo->ranks; r++)
    if (r != halo->rank && p->in_bytes[r])
      memcpy(values + (own + (size_t)halo->from[r]) * bytes, p->in[r], p->in_bytes[r]);
  return TS_OK;
}

ts_status tsi_amg_exchange(ts_context *context, const tsi_amg_host_level *level, void *values, size_t bytes) {
  if (!level->halo) return TS_OK;
  tsi_parcels parcels;
  TSI_TRY(context->ops->ranks->parcels_create(context, &parcels));
  const ts_status status = carry(context, level->halo, &parcels, values, bytes);
  context->ops->ranks->parcels_destroy(context, &parcels);
  return status;
}

ts_status tsi_amg_add_up(ts_context *context, const tsi_amg_host_level *level, double *values, int count) {
  return level->halo ? context->ops->ranks->add(context, values, count) : TS_OK;
}

ts_status tsi_amg_largest(ts_context *context, const tsi_amg_host_level *level, double *values, int count) {
  return level->halo ? context->ops->ranks->largest(context, values, count) : TS_OK;
}
