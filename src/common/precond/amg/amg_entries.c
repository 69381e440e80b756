/* Sends rows of matrices to other ranks that need them, as single entries. They are few compared with the rows
 * that stay. */
#include <stdlib.h>
#include <string.h>

#include "amg_halo.h"

/* ---- Sending ---- */

static size_t entries_of(const tsi_amg_sending *s, int32_t k) {
  const int32_t unknowns = s->rows.unknowns, node = s->nodes ? s->nodes[k] : s->rows.own + k;
  const int32_t first = node * unknowns, end = first + unknowns;
  return (size_t)(s->A->offsets[end] - s->A->offsets[first]);
}

static tsi_amg_entry *write_node(const tsi_amg_sending *s, int32_t k, tsi_amg_entry *to) {
  const tsi_amg_csr *A = s->A;
  const int32_t unknowns = s->rows.unknowns, node = s->nodes ? s->nodes[k] : s->rows.own + k;
  for (int32_t i = node * unknowns; i < (node + 1) * unknowns; i++)
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
      *to++ = (tsi_amg_entry){.row = tsi_amg_global(&s->rows, i),
                              .column = tsi_amg_global(&s->columns, A->indices[e]),
                              .value = A->values[e]};
  return to;
}

static ts_status write_all(ts_context *context, const tsi_amg_sending *s, tsi_parcels *p) {
  const int ranks = ts_ranks_get_count(context);
  for (int r = 0; r < ranks; r++)
    for (int32_t k = s->begins[r]; k < s->begins[r + 1]; k++)
      p->out_bytes[r] += entries_of(s, k) * sizeof(tsi_amg_entry);
  TSI_TRY(context->ops->ranks->parcels_allocate(context, p));
  for (int r = 0; r < ranks; r++) {
    tsi_amg_entry *to = p->out[r];
    for (int32_t k = s->begins[r]; k < s->begins[r + 1]; k++) to = write_node(s, k, to);
    p->out_bytes[r] = (size_t)(to - (tsi_amg_entry *)p->out[r]) * sizeof *to;
  }
  return TS_OK;
}

/* Treats the rank's own entries as if they had arrived. */
static ts_status read_all(ts_context *context, const tsi_parcels *p, tsi_amg_entries *arrived) {
  const int ranks = ts_ranks_get_count(context), mine = ts_ranks_get_rank(context);
  size_t bytes = 0;
  for (int r = 0; r < ranks; r++) bytes += r == mine ? p->out_bytes[r] : p->in_bytes[r];
  arrived->count = bytes / sizeof *arrived->list;
  arrived->list = tsi_malloc(context, arrived->count, sizeof *arrived->list);
  if (!arrived->list) return tsi_out_of_memory(context, "rows of other ranks", bytes);
  char *to = (char *)arrived->list;
  for (int r = 0; r < ranks; r++) {
    const size_t size = r == mine ? p->out_bytes[r] : p->in_bytes[r];
    if (size) memcpy(to, r == mine ? p->out[r] : p->in[r], size);
    to += size;
  }
  for (size_t k = 0; k < arrived->count; k++) arrived->list[k].order = (uint32_t)k;
  return TS_OK;
}

ts_status tsi_amg_send_rows(ts_context *context, const tsi_amg_sending *sending, tsi_amg_entries *arrived) {
  tsi_parcels parcels;
  *arrived = (tsi_amg_entries){0};
  TSI_TRY(context->ops->ranks->parcels_create(context, &parcels));
  ts_status status = write_all(context, sending, &parcels);
  if (status == TS_OK) status = context->ops->ranks->parcels_exchange(context, &parcels);
  if (status == TS_OK) status = read_all(context, &parcels, arrived);
  context->ops->ranks->parcels_destroy(context, &parcels);
  return status;
}

/* ---- Adding ---- */

static int compare(const void *a, const void *b) {
  const tsi_amg_entry *x = a, *y = b;
  const int by_row = (x->row > y->row) - (x->row < y->row);
  if (by_row) return by_row;
  const int by_column = (x->column > y->column) - (x->column < y->column);
  return by_column ? by_column : (x->order > y->order) - (x->order < y->order);
}

/* Sorts entries by their local numbers; returns how many have local numbers. */
static size_t sort(const tsi_amg_entries *entries, const tsi_amg_numbering *rows,
                   const tsi_amg_numbering *columns) {
  size_t known = 0;
  for (size_t k = 0; k < entries->count; k++) {
    tsi_amg_entry e = entries->list[k];
    e.row = tsi_amg_local(rows, e.row);
    e.column = tsi_amg_local(columns, e.column);
    if (e.row >= 0 && e.column >= 0) entries->list[known++] = e;
  }
  if (known > 0) qsort(entries->list, known, sizeof *entries->list, compare);
  return known;
}

/* Merges row i of A with the entries of `from` in this row, and writes it from entry `to` of C on; returns its
 * end in C. */
static int32_t add_row(const tsi_amg_csr *A, int32_t before, int32_t i, const tsi_amg_entry **from,
                       const tsi_amg_entry *end, int32_t to, const tsi_amg_csr *C) {
  int32_t e = i < before ? A->offsets[i] : 0;
  const int32_t last = i < before ? A->offsets[i + 1] : 0;
  const tsi_amg_entry *f = *from;
  while (e < last || (f < end && f->row == i)) {
    const int more = f < end && f->row == i;
    const int32_t column =
        e < last && (!more || A->indices[e] <= f->column) ? A->indices[e] : (int32_t)f->column;
    double sum = 0;
    if (e < last && A->indices[e] == column) sum = (double)A->values[e++];
    for (; f < end && f->row == i && f->column == column; f++) sum += (double)f->value;
    C->indices[to] = column;
    C->values[to++] = (float)sum;
  }
  *from = f;
  return to;
}

ts_status tsi_amg_add_entries(ts_context *context, const tsi_amg_csr *A, int32_t before,
                              const tsi_amg_entries *entries, const tsi_amg_numbering *rows,
                              const tsi_amg_numbering *columns, int32_t count, tsi_amg_csr *C) {
  const size_t known = sort(entries, rows, columns);
  const int64_t room = (before > 0 ? A->offsets[before] : 0) + (int64_t)known;
  TSI_TRY(tsi_amg_csr_create(context, count, (columns->own + columns->count) * columns->unknowns, room, C));
  const tsi_amg_entry *from = entries->list, *end = from + known;
  for (int32_t i = 0; i < count; i++) C->offsets[i + 1] = add_row(A, before, i, &from, end, C->offsets[i], C);
  return TS_OK;
}
