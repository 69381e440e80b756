/* The ghosts of a matrix: which indices the rows of a part refer to that other parts have, and their exchange
 * before a product. A part's ghosts are in the order of positions, so that those of one owner are neighbours:
 * each pair of parts exchanges one run. */
#include <string.h>

#include "multi.h"

/* ---- Which ---- */

static int has(const multi_space *s, int p, int32_t position) {
  return position >= s->first[p] && position < s->first[p + 1];
}

/* Flags the positions of the columns of part p's rows that it does not have; returns how many there are. */
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
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (places[middle] < position)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- From whom ---- */

/* Ghosts of p from `first` on that one part has. */
static int32_t run_of(const multi_halo *halo, const multi_space *columns, int p, int32_t first, int owner) {
  int32_t end = first;
  while (end < halo->ghosts[p] && has(columns, owner, halo->places[p][end])) end++;
  return end - first;
}

static ts_status add_exchange(ts_context *context, const multi_halo *halo, const multi_space *columns,
                              multi_exchange *e) {
  const tsi_part_ops *part = multi_ops_of(context, e->from)->part;
  int32_t *indices = tsi_malloc(context, (size_t)e->count, sizeof *indices);
  if (!indices) return tsi_out_of_memory(context, "the halo of a matrix", (size_t)e->count * sizeof *indices);
  for (int32_t k = 0; k < e->count; k++)
    indices[k] = halo->places[e->to][e->first + k] - columns->first[e->from];
  ts_status status = multi_begin(context, e->from);
  if (status == TS_OK)
    status = multi_end(context, e->from,
                       part->list_create(multi_part(context, e->from), indices, e->count, &e->list));
  tsi_free(context, indices);
  return status;
}

static ts_status make_exchanges(ts_context *context, const multi_space *columns, multi_halo *halo) {
  const int parts = multi_count(context);
  halo->exchanges = tsi_calloc(context, (size_t)parts * (size_t)parts, sizeof *halo->exchanges);
  if (!halo->exchanges)
    return tsi_out_of_memory(context, "the halo of a matrix",
                             (size_t)parts * (size_t)parts * sizeof *halo->exchanges);
  for (int p = 0; p < parts; p++)
    for (int32_t first = 0; first < halo->ghosts[p];) {
      const int owner = multi_owner(columns, parts, halo->places[p][first]);
      multi_exchange *e = &halo->exchanges[halo->exchange_count];
      *e = (multi_exchange){
          .from = owner, .to = p, .first = first, .count = run_of(halo, columns, p, first, owner)};
      TSI_TRY(add_exchange(context, halo, columns, e));
      halo->exchange_count++;
      first += e->count;
    }
  return TS_OK;
}

/* ---- Creation ---- */

ts_status multi_halo_create(ts_context *context, const tsi_host_csr *csr, const multi_space *rows,
                            const multi_space *columns, multi_halo **out) {
  const size_t parts = (size_t)multi_count(context);
  multi_halo *halo = tsi_calloc(context, 1, sizeof *halo);
  if (!halo) return tsi_out_of_memory(context, "the halo of a matrix", sizeof *halo);
  *out = halo;
  halo->ghosts = tsi_calloc(context, parts, sizeof *halo->ghosts);
  halo->places = tsi_calloc(context, parts, sizeof(int32_t *));
  halo->extended = tsi_calloc(context, parts, sizeof(ts_space *));
  for (int k = 0; k < 2; k++) halo->copies[k] = tsi_calloc(context, parts, sizeof(ts_vector *));
  ts_status status = TS_OK;
  if (!halo->ghosts || !halo->places || !halo->extended || !halo->copies[0] || !halo->copies[1])
    status = tsi_out_of_memory(context, "the halo of a matrix", parts * sizeof(int32_t *));
  if (status == TS_OK) status = find_places(context, csr, rows, columns, halo);
  if (status == TS_OK) status = make_exchanges(context, columns, halo);
  if (status == TS_OK) return TS_OK;
  multi_halo_destroy(context, halo);
  *out = NULL;
  return status;
}

void multi_halo_destroy(ts_context *context, multi_halo *halo) {
  for (int i = 0; i < halo->exchange_count; i++) {
    const multi_exchange *e = &halo->exchanges[i];
    ts_context *part = multi_part(context, e->from);
    tsi_enter_to_destroy(part);
    part->ops->part->list_destroy(part, e->list);
    tsi_leave(part, TS_OK);
  }
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
  tsi_free(context, halo->ghosts);
  tsi_free(context, halo);
}

/* ---- Room ---- */

/* A space whose vectors are there already cannot get room for ghosts. A part that has rows and no columns reads
 * nothing but ghosts, behind an index that is not there. */
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

/* ---- Exchange ---- */

static ts_status take_copy(const multi_halo *halo, int k, int p, int components) {
  ts_vector **copy = &halo->copies[k][p];
  if (*copy && (*copy)->components == components) return TS_OK;
  tsi_vector_destroy(*copy);
  *copy = NULL;
  return tsi_arena_create(halo->extended[p], components, 1, copy, 1, 0, NULL);
}

/* Into the vectors that have room for the ghosts. */
static ts_status copy_to_extended(const multi_halo *halo, const ts_vector *x, int k) {
  ts_context *context = x->context;
  const ts_vector first = tsi_first_part(x);
  for (int p = 0; p < multi_count(context); p++) {
    if (!halo->extended[p]) continue;
    MULTI_TRY(context, p, take_copy(halo, k, p, x->components));
    const ts_vector *own = LOCAL(&first);
    if (own)
      MULTI_TRY(context, p,
                multi_ops_of(context, p)->axpby(halo->copies[k][p], ts_constant(1), own, ts_constant(0), own));
  }
  return TS_OK;
}

static ts_status join(ts_context *context, const multi_halo *halo) {
  const multi_state *state = multi_state_of(context);
  const tsi_part_ops *part = state->parts[0]->ops->part;
  if (part->join && halo->exchange_count) MULTI_TRY(context, 0, part->join(state->parts, state->count));
  return TS_OK;
}

ts_status multi_exchange_ghosts(const multi_halo *halo, const ts_vector *x, int parts) {
  ts_context *context = x->context;
  TSI_TRY(join(context, halo));
  for (int k = 0; k < parts && x; k++, x = x->low) {
    const ts_vector first = tsi_first_part(x);
    TSI_TRY(copy_to_extended(halo, x, k));
    for (int i = 0; i < halo->exchange_count; i++) {
      const multi_exchange *e = &halo->exchanges[i];
      const tsi_part_ops *part = multi_ops_of(context, e->to)->part;
      multi_view from, to;
      const ts_vector *target = halo->extended[e->to] ? halo->copies[k][e->to] : multi_local(x, e->to, &to);
      float *ghosts = part->ghosts(target) + (size_t)e->first * (size_t)x->components;
      MULTI_TRY(
          context, e->from,
          multi_ops_of(context, e->from)->part->gather(multi_local(&first, e->from, &from), e->list, ghosts));
    }
  }
  return join(context, halo);
}

ts_vector *multi_with_ghosts(const multi_halo *halo, const ts_vector *x, int p, multi_view *view) {
  if (!halo->extended[p]) return multi_local(x, p, view);
  view->parts[0] = *halo->copies[0][p];
  if (x->low && halo->copies[1][p]) {
    view->parts[1] = *halo->copies[1][p];
    view->parts[0].low = &view->parts[1];
  }
  return &view->parts[0];
}
