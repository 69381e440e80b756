/* Finds the rows of a part of a larger matrix that need no ghosts. Products compute them during the exchange of
 * ghosts. */
#include "cpu/core/cpu.h"

/* Columns ascend, and ghosts follow all other columns. */
static int is_boundary(const cpu_matrix *m, int32_t row, int32_t first_ghost) {
  const int32_t first = m->row_offsets[row], end = m->row_offsets[row + 1];
  return first < end && m->column_indices[end - 1] >= first_ghost;
}

static void add_cut(int32_t row, int32_t *cuts, int32_t *count) {
  if (cuts) cuts[*count] = row;
  ++*count;
}

/* Returns the number of cuts, and stores them unless `cuts` is NULL. */
static int32_t find_cuts(const cpu_matrix *m, int32_t first_ghost, int32_t *cuts, int32_t *first_cut) {
  int32_t count = 0;
  for (int p = 0; p < m->parts; p++) {
    const int32_t end = m->part_rows[p + 1];
    int boundary = 0;
    first_cut[p] = count;
    add_cut(m->part_rows[p], cuts, &count);
    for (int32_t row = m->part_rows[p]; row < end; row++)
      if (is_boundary(m, row, first_ghost) != boundary) {
        boundary = !boundary;
        add_cut(row, cuts, &count);
      }
    if (!boundary) add_cut(end, cuts, &count);
  }
  first_cut[m->parts] = count;
  add_cut(m->rows, cuts, &count);
  return count;
}

static double interior_share(const cpu_matrix *m) {
  const cpu_ranges r = cpu_ranges_of(m, TSI_INTERIOR_ROWS, 0, (size_t)m->parts);
  double entries = 0;
  for (const int32_t *cut = r.cut; cut < r.end; cut += r.stride)
    entries += m->row_offsets[cut[r.width]] - m->row_offsets[cut[0]];
  return entries > 0 ? entries / m->row_offsets[m->rows] : 0;
}

ts_status cpu_matrix_cut(const ts_matrix *A) {
  ts_context *context = A->context;
  cpu_matrix *m = A->impl;
  const int32_t first_ghost = tsi_first_ghost(A->column_space) >> m->log2_block;
  if (!A->column_space->ghosts) return TS_OK;
  m->first_cut = tsi_malloc(context, (size_t)m->parts + 1, sizeof *m->first_cut);
  if (!m->first_cut) return tsi_out_of_memory(context, "a matrix", (size_t)m->parts * sizeof *m->first_cut);
  const size_t count = (size_t)find_cuts(m, first_ghost, NULL, m->first_cut);
  const size_t bytes = count * sizeof *m->cuts;
  TSI_TRY(tsi_device_alloc(context, bytes, "a matrix"));
  m->bytes += bytes;
  m->cuts = tsi_malloc(context, count, sizeof *m->cuts);
  if (!m->cuts) return tsi_out_of_memory(context, "a matrix", bytes);
  find_cuts(m, first_ghost, m->cuts, m->first_cut);
  m->interior = interior_share(m);
  return TS_OK;
}
