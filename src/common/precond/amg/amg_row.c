/* Rows of products of sparse matrices: workspaces, sorting, and the assembly of the matrix. */
#include "amg_row.h"

#include <string.h>

/* ---- Workspaces ---- */

ts_status tsi_amg_rows_create(ts_context *context, int parts, int32_t nodes, int32_t unknowns,
                              tsi_amg_row **rows) {
  const size_t sums = (size_t)nodes * (size_t)unknowns, marks = (size_t)nodes / 64 + 1;
  const size_t bytes = sizeof **rows + sums * sizeof(double) + marks * sizeof(uint64_t) +
                       (2 * (size_t)nodes + 2) * sizeof(int32_t);
  *rows = tsi_calloc(context, (size_t)parts, bytes);
  if (!*rows) return tsi_out_of_memory(context, "a row of amg", (size_t)parts * bytes);
  double *free = (double *)(*rows + parts);
  for (int p = 0; p < parts; p++) {
    tsi_amg_row *row = &(*rows)[p];
    row->sums = free;
    row->marks = (uint64_t *)(free + sums);
    row->places = (int32_t *)(row->marks + marks);
    row->nodes = row->places + nodes;
    memset(row->places, -1, (size_t)nodes * sizeof *row->places);
    free = (double *)(row->marks + marks) + nodes + 1;
  }
  return TS_OK;
}

void tsi_amg_rows_free(ts_context *context, tsi_amg_row *rows) {
  tsi_free(context, rows);
}

/* ---- Sorting ---- */

static int32_t lowest_bit(uint64_t bits) {
#if defined(__GNUC__)
  return __builtin_ctzll(bits);
#else
  int32_t bit = 0;
  for (; !(bits & 1); bits >>= 1) bit++;
  return bit;
#endif
}

void tsi_amg_row_sort(int32_t *nodes, int32_t count, uint64_t *marks) {
  enum { few = 12, far = 16 };
  if (count <= few) {
    tsi_amg_sort(nodes, count);
    return;
  }
  int32_t first = INT32_MAX, last = 0;
  for (int32_t c = 0; c < count; c++) {
    if (nodes[c] / 64 < first) first = nodes[c] / 64;
    if (nodes[c] / 64 > last) last = nodes[c] / 64;
  }
  if ((last - first) / far > count) {
    tsi_amg_sort(nodes, count);
    return;
  }
  for (int32_t c = 0; c < count; c++) marks[nodes[c] / 64] |= (uint64_t)1 << nodes[c] % 64;
  for (int32_t word = first; word <= last; word++) {
    for (uint64_t left = marks[word]; left; left &= left - 1) *nodes++ = word * 64 + lowest_bit(left);
    marks[word] = 0;
  }
}

/* ---- The matrix ---- */

typedef struct joining {
  const tsi_amg_target *target;
  int parts;
} joining;

static void join(const void *arguments, size_t first, size_t last) {
  const joining *j = arguments;
  const tsi_amg_target *from = j->target;
  tsi_amg_csr *to = from->csr;
  for (size_t p = first; p < last; p++) {
    const int32_t begin = to->offsets[tsi_amg_begin(to->rows, p, j->parts)];
    const size_t entries = (size_t)(to->offsets[tsi_amg_begin(to->rows, p + 1, j->parts)] - begin);
    memcpy(to->indices + begin, from->indices + from->begins[p], entries * sizeof *to->indices);
    memcpy(to->values + begin, from->values + from->begins[p], entries * sizeof *to->values);
  }
}

static ts_status assemble(ts_context *context, int parts, const size_t *sizes, tsi_amg_target *target,
                          tsi_body body, const void *arguments) {
  const joining j = {target, parts};
  size_t room = 0;
  target->begins = tsi_malloc(context, (size_t)parts, sizeof *target->begins);
  for (int p = 0; target->begins && p < parts; p++) {
    target->begins[p] = room;
    room += sizes[p];
  }
  target->indices = tsi_malloc(context, room, sizeof *target->indices);
  target->values = tsi_malloc(context, room, sizeof *target->values);
  ts_status status;
  if (target->begins && target->indices && target->values) {
    tsi_parallel(context, (size_t)parts, body, arguments);
    status = tsi_poll(context);
    if (status < 0)
      tsi_amg_csr_free(context, target->csr);
    else
      status = tsi_amg_csr_finish(context, target->csr);
    if (status == TS_OK) tsi_parallel(context, (size_t)parts, join, &j);
  } else {
    status = tsi_out_of_memory(context, "a product of amg",
                               room * (sizeof *target->indices + sizeof *target->values));
    tsi_amg_csr_free(context, target->csr);
  }
  tsi_free(context, target->begins);
  tsi_free(context, target->indices);
  tsi_free(context, target->values);
  return status;
}

ts_status tsi_amg_assemble(ts_context *context, int32_t rows, int32_t columns, int parts, const size_t *sizes,
                           tsi_amg_csr *csr, tsi_amg_target *target, tsi_body body, const void *arguments) {
  *target = (tsi_amg_target){.csr = csr, .indices = csr->indices, .values = csr->values};
  if (csr->offsets) {
    tsi_parallel(context, (size_t)parts, body, arguments);
    return TS_OK;
  }
  TSI_TRY(tsi_amg_csr_begin(context, rows, columns, csr));
  return assemble(context, parts, sizes, target, body, arguments);
}
