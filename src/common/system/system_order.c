/* The system builder: the matrix in another order of its unknowns, invisible from outside. b is permuted on the
 * way to the device, x on the way back, and rows are reported by their unknowns. */
#include "reorder.h"
#include "system.h"

void tsi_system_forget_order(ts_system *s) {
  tsi_free(s->context, s->order);
  tsi_free(s->context, s->places);
  s->order = s->places = NULL;
}

/* The graph of groups of unknowns, which stay together. */
typedef struct groups {
  int32_t count;
  int32_t *offsets, *neighbours, *marks;
} groups;

static ts_status connect_groups(const ts_system *s, groups *g) {
  const tsi_reduced *r = &s->reduced;
  const int32_t size = s->desc.group, unknowns = s->desc.unknowns;
  g->count = (unknowns - 1) / size + 1;
  g->offsets = tsi_malloc(s->context, (size_t)g->count + 1, sizeof *g->offsets);
  g->neighbours = tsi_malloc(s->context, (size_t)r->count, sizeof *g->neighbours);
  g->marks = tsi_calloc(s->context, (size_t)g->count, sizeof *g->marks);
  if (!g->offsets || !g->neighbours || !g->marks)
    return tsi_out_of_memory(s->context, "another order", ((size_t)r->count + 2 * (size_t)g->count) * 4);
  int32_t end = 0;
  g->offsets[0] = 0;
  for (int32_t k = 0; k < g->count; k++) {
    const int32_t first = k * size, last = unknowns - first > size ? first + size : unknowns;
    for (int32_t e = r->offsets[first]; e < r->offsets[last]; e++) {
      const int32_t other = r->columns[e] / size;
      if (g->marks[other] == k + 1) continue;
      g->marks[other] = k + 1;
      g->neighbours[end++] = other;
    }
    g->offsets[k + 1] = end;
  }
  return TS_OK;
}

/* Expands the order of groups to that of their unknowns. */
static ts_status order_unknowns(ts_system *s, const int32_t *of_groups, int32_t count) {
  const int32_t size = s->desc.group, unknowns = s->desc.unknowns;
  s->order = tsi_malloc(s->context, (size_t)unknowns, sizeof *s->order);
  s->places = tsi_malloc(s->context, (size_t)unknowns, sizeof *s->places);
  if (!s->order || !s->places) {
    tsi_system_forget_order(s);
    return tsi_out_of_memory(s->context, "another order", 8 * (size_t)unknowns);
  }
  int32_t index = 0;
  for (int32_t k = 0; k < count; k++)
    for (int32_t j = of_groups[k] * size; j < unknowns && j - of_groups[k] * size < size; j++) {
      s->order[index] = j;
      s->places[j] = index++;
    }
  return TS_OK;
}

ts_status tsi_system_find_order(ts_system *s) {
  tsi_system_forget_order(s);
  groups g = {0};
  int32_t *of_groups = NULL;
  ts_status status = connect_groups(s, &g);
  if (status == TS_OK) {
    const tsi_csr graph = {
        .rows = g.count, .columns = g.count, .row_offsets = g.offsets, .column_indices = g.neighbours};
    of_groups = tsi_malloc(s->context, (size_t)g.count, sizeof *of_groups);
    status = of_groups ? tsi_reorder_rcm(s->context, &graph, of_groups)
                       : tsi_out_of_memory(s->context, "another order", 4 * (size_t)g.count);
  }
  if (status == TS_OK) status = order_unknowns(s, of_groups, g.count);
  tsi_free(s->context, of_groups);
  tsi_free(s->context, g.offsets);
  tsi_free(s->context, g.neighbours);
  tsi_free(s->context, g.marks);
  return status;
}

ts_status tsi_system_permute(ts_system *s, const tsi_csr *csr, tsi_system_csr *out, unsigned char *locked) {
  const size_t entries = (size_t)csr->row_offsets[csr->rows];
  TSI_TRY(tsi_system_csr_create(s->context, csr->rows, csr->columns, entries, "another order", out));
  for (int32_t i = 0; locked && i < csr->rows; i++) locked[i] = s->locked[s->order[i]];
  return tsi_csr_permute(s->context, csr, s->order, out->row_offsets, out->column_indices, NULL, out->values);
}
