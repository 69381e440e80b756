/* The ghosts of a matrix: the indices of other parts that the rows of a part refer to, and their exchange
 * (multi_exchange.c). A part's ghosts are sorted by position, so those of one owner are contiguous. Each pair
 * of parts exchanges one run. */
#include <string.h>

#include "multi.h"

/* ---- Finding ghosts ---- */

static int has(const multi_space *s, int p, int32_t position) {
  return position >= s->first[p] && position < s->first[p + 1];
}

/* Flags the positions of columns in part p's rows that the part does not own. Returns their number. */
static int32_t mark(const tsi_host_csr *csr, const multi_space *rows, const multi_space *columns, int p,
                    unsigned char *flags) {
  int32_t count = 0;
  memset(flags, 0, (size_t)csr->columns);
  for (int32_t row = rows->first[p]; row < rows->first[p + 1]; row++) {
    const int32_t i = multi_index(rows, row);
    for (int32_t e = csr->row_offsets[i]; e < csr->row_offsets[i + 1]; e++) {
      const int32_t position = multi_position(columns, csr->column_indices[e]);
      if (has(columns, p, position) || flags[position]) continue;
      flags[position] = 1;
      count++;
    }
  }
  return count;
}

static ts_status find_places(ts_context *context, const tsi_host_csr *csr, const multi_space *rows,
                             const multi_space *columns, multi_halo *halo) {
  unsigned char *flags = tsi_malloc(context, (size_t)csr->columns, 1);
  if (!flags) return tsi_out_of_memory(context, "the halo of a matrix", (size_t)csr->columns);
  ts_status status = TS_OK;
  for (int p = 0; p < multi_count(context) && status == TS_OK; p++) {
    const int32_t count = mark(csr, rows, columns, p, flags);
    halo->ghosts[p] = count;
    halo->places[p] = tsi_malloc(context, (size_t)count, sizeof(int32_t));
    if (!halo->places[p]) {
      status = tsi_out_of_memory(context, "the halo of a matrix", (size_t)count * sizeof(int32_t));
      break;
    }
    int32_t ghost = 0;
    for (int32_t position = 0; ghost < count; position++)
      if (flags[position]) halo->places[p][ghost++] = position;
  }
  tsi_free(context, flags);
  return status;
}

int32_t multi_ghost(const multi_halo *halo, int p, int32_t position) {
  const int32_t *places = halo->places[p];
  int32_t low = 0, high = halo->ghosts[p] - 1;
  if (!places) return position - halo->starts[p];
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (places[middle] < position)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- Owners of ghosts ---- */

static int is_own(const ts_context *context, int p) {
  return multi_part(context, p) != NULL;
}

/* If e->from is on this rank, the indices are relative to it. Without them they are consecutive from `first`
 * on. */
static ts_status add_exchange(const ts_space *columns, multi_halo *halo, multi_exchange e,
                              const int32_t *indices, int32_t first) {
  ts_context *context = columns->context;
  const multi_space *s = columns->impl;
  const size_t count = (size_t)halo->exchange_count;
  if ((count & (count - 1)) == 0) { /* double the capacity */
    multi_exchange *more = tsi_malloc(context, count ? 2 * count : 1, sizeof *more);
    if (!more) return tsi_out_of_memory(context, "the halo of a matrix", 2 * count * sizeof *more);
    if (count) memcpy(more, halo->exchanges, count * sizeof *more);
    tsi_free(context, halo->exchanges);
    halo->exchanges = more;
  }
  if (is_own(context, e.from))
    MULTI_TRY(context, e.from,
              multi_ops_of(context, e.from)
                  ->part->list_create(multi_part(context, e.from), indices, first, e.count,
                                      s->first[e.from + 1] - s->first[e.from], &e.list));
  halo->exchanges[halo->exchange_count++] = e;
  halo->remote += !is_own(context, e.from) || !is_own(context, e.to);
  return TS_OK;
}

/* The end of the run of ghosts from `first` on that one part owns. */
static int32_t find_end(const ts_space *columns, const multi_halo *halo, int p, int32_t first, int owner) {
  const multi_space *s = columns->impl;
  int32_t end = first + 1, high = halo->ghosts[p];
  if (s->rows)
    while (end < high && multi_owner(columns, multi_ghost_place(halo, p, end)) == owner) end++;
  while (!s->rows && end < high) {
    const int32_t middle = end + (high - end) / 2;
    if (multi_ghost_place(halo, p, middle) < s->first[owner + 1])
      end = middle + 1;
    else
      high = middle;
  }
  return end;
}

/* Adds the runs of ghosts of part p, one per owner. `indices` has room for all of them, or is NULL if they are
 * consecutive. */
static ts_status add_exchanges_to(const ts_space *columns, multi_halo *halo, int p, int32_t *indices) {
  ts_context *context = columns->context;
  const multi_space *s = columns->impl;
  for (int32_t first = 0, end; first < halo->ghosts[p]; first = end) {
    const int32_t place = multi_ghost_place(halo, p, first);
    const int owner = multi_owner(columns, place);
    end = find_end(columns, halo, p, first, owner);
    for (int32_t k = first; indices && k < end; k++) indices[k - first] = halo->places[p][k] - s->first[owner];
    if (!is_own(context, p) && !is_own(context, owner)) continue;
    const multi_exchange e = {.from = owner, .to = p, .first = first, .count = end - first};
    TSI_TRY(add_exchange(columns, halo, e, indices, place - s->first[owner]));
  }
  return TS_OK;
}

static ts_status add_exchanges(const ts_space *columns, multi_halo *halo) {
  ts_context *context = columns->context;
  ts_status status = TS_OK;
  for (int p = 0; p < multi_count(context) && status == TS_OK; p++) {
    int32_t *indices = NULL;
    if (halo->places[p]) indices = tsi_malloc(context, (size_t)halo->ghosts[p], sizeof *indices);
    if (halo->places[p] && !indices)
      return tsi_out_of_memory(context, "the halo of a matrix", (size_t)halo->ghosts[p] * sizeof *indices);
    status = add_exchanges_to(columns, halo, p, indices);
    tsi_free(context, indices);
  }
  return status;
}

/* ---- Rank-local rows: each rank requests its ghosts from the others ---- */

/* The index of a ghost within a part of another rank. */
static int32_t index_there(const ts_space *columns, const multi_halo *halo, const multi_exchange *e,
                           int32_t k) {
  const multi_rows *rows = ((const multi_space *)columns->impl)->rows;
  const int32_t ghost = multi_ghost_place(halo, e->to, e->first + k) - tsi_first_ghost(columns);
  return (int32_t)(rows->ghosts[ghost] - rows->first[e->from]);
}

static size_t request_bytes(const multi_exchange *e) {
  return (3 + (size_t)e->count) * sizeof(int32_t);
}

/* For each exchange: its parts, the number of indices, and the indices. */
static ts_status write_requests(const ts_space *columns, const multi_halo *halo, multi_parcels *p) {
  ts_context *context = columns->context;
  for (int i = 0; i < halo->exchange_count; i++) {
    const multi_exchange *e = &halo->exchanges[i];
    if (!is_own(context, e->from)) p->out_bytes[multi_rank_of_part(context, e->from)] += request_bytes(e);
  }
  TSI_TRY(multi_parcels_allocate(context, p));
  for (int i = 0; i < halo->exchange_count; i++) {
    const multi_exchange *e = &halo->exchanges[i];
    if (is_own(context, e->from)) continue;
    const int rank = multi_rank_of_part(context, e->from);
    int32_t *to = (int32_t *)p->out[rank] + p->out_bytes[rank] / sizeof *to;
    to[0] = e->from;
    to[1] = e->to;
    to[2] = e->count;
    for (int32_t k = 0; k < e->count; k++) to[3 + k] = index_there(columns, halo, e, k);
    p->out_bytes[rank] += request_bytes(e);
  }
  return TS_OK;
}

static ts_status read_requests(const ts_space *columns, multi_halo *halo, const multi_parcels *p) {
  for (int r = 0; r < ts_ranks_get_count(columns->context); r++) {
    const int32_t *in = p->in[r], *end = in + p->in_bytes[r] / sizeof *in;
    for (; in && in < end; in += 3 + in[2]) {
      const multi_exchange e = {.from = in[0], .to = in[1], .count = in[2]};
      TSI_TRY(add_exchange(columns, halo, e, in + 3, 0));
    }
  }
  return TS_OK;
}

static ts_status ask(const ts_space *columns, multi_halo *halo) {
  ts_context *context = columns->context;
  multi_parcels parcels;
  TSI_TRY(multi_parcels_create(context, &parcels));
  ts_status status = write_requests(columns, halo, &parcels);
  if (status == TS_OK) status = multi_parcels_exchange(context, &parcels);
  if (status == TS_OK) status = read_requests(columns, halo, &parcels);
  multi_parcels_destroy(context, &parcels);
  return status;
}

static ts_status make_exchanges(const ts_space *columns, multi_halo *halo) {
  TSI_TRY(add_exchanges(columns, halo));
  return ((const multi_space *)columns->impl)->rows ? ask(columns, halo) : TS_OK;
}

/* ---- Creation ---- */

static ts_status allocate(ts_context *context, multi_halo **out) {
  const size_t parts = (size_t)multi_count(context);
  multi_halo *halo = *out = tsi_calloc(context, 1, sizeof *halo);
  if (!halo) return tsi_out_of_memory(context, "the halo of a matrix", sizeof *halo);
  halo->ghosts = tsi_calloc(context, parts, sizeof *halo->ghosts);
  halo->places = tsi_calloc(context, parts, sizeof(int32_t *));
  halo->starts = tsi_calloc(context, parts, sizeof *halo->starts);
  halo->extended = tsi_calloc(context, parts, sizeof(ts_space *));
  for (int k = 0; k < 2; k++) halo->copies[k] = tsi_calloc(context, parts, sizeof(ts_vector *));
  if (halo->ghosts && halo->places && halo->starts && halo->extended && halo->copies[0] && halo->copies[1])
    return TS_OK;
  return tsi_out_of_memory(context, "the halo of a matrix", parts * sizeof(int32_t *));
}

/* With the ghosts known. */
static ts_status finish_halo(const ts_space *columns, multi_halo *halo) {
  TSI_TRY(make_exchanges(columns, halo));
  return multi_channel_choose(columns->context, halo->exchanges, halo->exchange_count);
}

static ts_status give_halo(ts_context *context, ts_status status, multi_halo **out) {
  if (status == TS_OK || !*out) return status;
  multi_halo_destroy(context, *out);
  *out = NULL;
  return status;
}

ts_status multi_halo_create(const tsi_host_csr *csr, const multi_space *rows, const ts_space *columns,
                            multi_halo **out) {
  ts_context *context = columns->context;
  ts_status status = allocate(context, out);
  if (status == TS_OK) status = find_places(context, csr, rows, columns->impl, *out);
  if (status == TS_OK) status = finish_halo(columns, *out);
  return give_halo(context, status, out);
}

ts_status multi_halo_take(const ts_space *columns, int32_t **places, const int32_t *starts,
                          const int32_t *ghosts, multi_halo **out) {
  ts_context *context = columns->context;
  ts_status status = allocate(context, out);
  for (int p = 0; p < multi_count(context) && status == TS_OK; p++) {
    (*out)->ghosts[p] = ghosts[p];
    (*out)->places[p] = places[p];
    (*out)->starts[p] = starts[p];
    places[p] = NULL;
  }
  if (status == TS_OK) status = finish_halo(columns, *out);
  return give_halo(context, status, out);
}

void multi_halo_destroy(ts_context *context, multi_halo *halo) {
  for (int i = 0; i < halo->exchange_count; i++) {
    multi_exchange *e = &halo->exchanges[i];
    ts_context *part = multi_part(context, is_own(context, e->from) ? e->from : e->to);
    tsi_enter_to_destroy(part);
    if (e->list) part->ops->part->list_destroy(part, e->list);
    multi_message_destroy(part, e);
    tsi_leave(part, TS_OK);
  }
  tsi_free(context, halo->messages);
  for (int p = 0; p < multi_count(context); p++) {
    for (int k = 0; k < 2; k++)
      if (halo->copies[k]) ts_vector_destroy(&halo->copies[k][p]);
    if (halo->extended) ts_space_destroy(&halo->extended[p]);
    if (halo->places) tsi_free(context, halo->places[p]);
  }
  for (int k = 0; k < 2; k++) tsi_free(context, halo->copies[k]);
  tsi_free(context, halo->extended);
  tsi_free(context, halo->exchanges);
  tsi_free(context, halo->places);
  tsi_free(context, halo->starts);
  tsi_free(context, halo->ghosts);
  tsi_free(context, halo);
}

/* ---- Room for ghosts ---- */

/* A space that already has vectors cannot get room for ghosts. A part with rows but no columns reads only
 * ghosts; its space has one unused index before them. */
ts_status multi_halo_make_room(multi_halo *halo, const multi_space *rows, const ts_space *columns) {
  ts_context *context = columns->context;
  const multi_space *s = columns->impl;
  for (int p = 0; p < multi_count(context); p++) {
    ts_space *local = s->local[p];
    if (!rows->local[p] || (local && halo->ghosts[p] <= local->ghosts)) continue;
    if (local && !local->ghosts && local->references == 1) {
      local->ghosts = halo->ghosts[p];
      continue;
    }
    const int32_t size = s->first[p + 1] - s->first[p];
    MULTI_TRY(context, p,
              multi_space_create_part(columns, s, multi_part(context, p), size ? s->first[p] : 0,
                                      size ? size : 1, &halo->extended[p]));
    halo->extended[p]->ghosts = halo->ghosts[p];
  }
  return TS_OK;
}

ts_space *multi_halo_columns(const multi_halo *halo, const multi_space *columns, int p) {
  return halo->extended[p] ? halo->extended[p] : columns->local[p];
}
