/* Sparse matrices that parts of the set-up of algebraic multigrid share, in host memory. */
#include <string.h>

#include "cpu_amg.h"

static tsi_amg_piece piece_of(const tsi_amg_csr *csr) {
  return (tsi_amg_piece){csr->rows,    csr->columns, csr->offsets[csr->rows],
                         csr->offsets, csr->indices, csr->values};
}

void cpu_amg_part_piece_free(ts_context *context, tsi_amg_piece *piece) {
  tsi_free(context, piece->offsets);
  tsi_free(context, piece->indices);
  tsi_free(context, piece->values);
  *piece = (tsi_amg_piece){0};
}

/* ---- The rows of the first level ---- */

/* The own columns and the ghosts of a part's matrix. */
typedef struct columns {
  int32_t first, own, first_ghost;
  const int32_t *ghosts;
} columns;

/* Copies a row. In the part's matrix own columns come first, and ghosts with lower positions are behind them.
 */
static void copy_row(const cpu_matrix *m, const columns *c, int32_t i, const tsi_amg_csr *to) {
  const int32_t begin = m->row_offsets[i], end = m->row_offsets[i + 1];
  int32_t ghosts = begin, after, at = to->offsets[i];
  while (ghosts < end && m->column_indices[ghosts] < c->own) ghosts++;
  for (after = ghosts; after < end && c->ghosts[m->column_indices[after] - c->first_ghost] < c->first; after++)
    ;
  const int32_t runs[3][2] = {{ghosts, after}, {begin, ghosts}, {after, end}};
  for (int r = 0; r < 3; r++)
    for (int32_t e = runs[r][0]; e < runs[r][1]; e++, at++) {
      const int32_t column = m->column_indices[e];
      to->indices[at] = column < c->own ? c->first + column : c->ghosts[column - c->first_ghost];
      to->values[at] = m->values[e];
    }
}

ts_status cpu_amg_part_source(const ts_matrix *local, int32_t first, const int32_t *ghosts, int32_t count,
                              tsi_amg_piece *rows) {
  const cpu_matrix *m = local->impl;
  const columns c = {first, m->rows, tsi_first_ghost(local->column_space), ghosts};
  tsi_amg_csr csr;
  *rows = (tsi_amg_piece){0};
  if (m->log2_block > 0) return TS_OK;
  (void)count;
  TSI_TRY(tsi_amg_csr_create(local->context, m->rows, INT32_MAX, m->row_offsets[m->rows], &csr));
  memcpy(csr.offsets, m->row_offsets, ((size_t)m->rows + 1) * sizeof *csr.offsets);
  for (int32_t i = 0; i < m->rows; i++) copy_row(m, &c, i, &csr);
  *rows = piece_of(&csr);
  return TS_OK;
}

ts_status cpu_amg_part_upload(ts_context *context, const tsi_amg_csr *rows, tsi_amg_piece *piece) {
  const size_t entries = (size_t)rows->offsets[rows->rows];
  tsi_amg_csr csr;
  TSI_TRY(tsi_amg_csr_create(context, rows->rows, rows->columns, (int64_t)entries, &csr));
  memcpy(csr.offsets, rows->offsets, ((size_t)rows->rows + 1) * sizeof *csr.offsets);
  memcpy(csr.indices, rows->indices, entries * sizeof *csr.indices);
  memcpy(csr.values, rows->values, entries * sizeof *csr.values);
  *piece = piece_of(&csr);
  return TS_OK;
}

ts_status cpu_amg_part_bad_row(const ts_matrix *local, const tsi_amg_run *rows, int32_t *row, float *value) {
  const unsigned char *constrained = local->row_space->constrained;
  const tsi_amg_piece *A = &rows->piece;
  for (*row = 0; *row < A->rows; (*row)++) {
    *value = 0;
    for (int32_t e = A->offsets[*row]; e < A->offsets[*row + 1]; e++)
      if (A->indices[e] + rows->shift == *row + rows->first) *value = A->values[e];
    if (!(*value > 0) && !(constrained && constrained[*row])) return TS_OK;
  }
  *row = -1;
  return TS_OK;
}

/* ---- Rows and columns of shared matrices ---- */

ts_status cpu_amg_part_extent(ts_context *context, const tsi_amg_run *run, tsi_amg_range rows,
                              tsi_amg_range *columns) {
  const tsi_amg_piece *A = &run->piece;
  (void)context;
  *columns = (tsi_amg_range){INT32_MAX, 0};
  for (int32_t i = rows.begin - run->first; i < rows.end - run->first; i++) {
    if (A->offsets[i] == A->offsets[i + 1]) continue;
    const int32_t least = run->shift + A->indices[A->offsets[i]];
    const int32_t most = run->shift + A->indices[A->offsets[i + 1] - 1];
    if (least < columns->begin) columns->begin = least;
    if (most >= columns->end) columns->end = most + 1;
  }
  return TS_OK;
}

/* The run that has a row. */
static const tsi_amg_run *run_of(const tsi_amg_run *runs, int count, int32_t row) {
  for (int k = 0; k < count; k++)
    if (row >= runs[k].first && row < runs[k].first + runs[k].piece.rows) return &runs[k];
  return NULL;
}

/* Copies the entries of a row in these columns, if csr->indices exists. Returns their number. */
static int32_t gather_row(const tsi_amg_run *run, int32_t row, tsi_amg_range columns, const tsi_amg_csr *csr,
                          int32_t to) {
  const int32_t begin = to;
  if (!run) return 0;
  const tsi_amg_piece *A = &run->piece;
  for (int32_t e = A->offsets[row - run->first]; e < A->offsets[row - run->first + 1]; e++) {
    const int32_t column = A->indices[e] + run->shift;
    if (column < columns.begin || column >= columns.end) continue;
    if (csr->indices) {
      csr->indices[to] = column - columns.begin;
      csr->values[to] = A->values[e];
    }
    to++;
  }
  return to - begin;
}

ts_status cpu_amg_part_gather(ts_context *context, const tsi_amg_run *runs, int count, tsi_amg_range rows,
                              tsi_amg_range columns, tsi_amg_piece *piece) {
  tsi_amg_csr csr;
  TSI_TRY(tsi_amg_csr_begin(context, rows.end - rows.begin, columns.end - columns.begin, &csr));
  for (int32_t i = 0; i < csr.rows; i++)
    csr.offsets[i + 1] = gather_row(run_of(runs, count, rows.begin + i), rows.begin + i, columns, &csr, 0);
  TSI_TRY(tsi_amg_csr_finish(context, &csr));
  for (int32_t i = 0; i < csr.rows; i++)
    gather_row(run_of(runs, count, rows.begin + i), rows.begin + i, columns, &csr, csr.offsets[i]);
  *piece = piece_of(&csr);
  return TS_OK;
}

/* ---- Ghosts ---- */

/* Numbers the used columns outside `own`: numbers[j] becomes the number of column j, and `list` those columns.
 */
static int32_t number_ghosts(const tsi_amg_piece *piece, tsi_amg_range own, int32_t *numbers, int32_t *list) {
  int32_t count = 0;
  memset(numbers, 0, (size_t)piece->columns * sizeof *numbers);
  for (int32_t e = 0; e < piece->entries; e++) numbers[piece->indices[e]] = 1;
  for (int32_t j = 0; j < piece->columns; j++) {
    if (!numbers[j] || (j >= own.begin && j < own.end)) continue;
    numbers[j] = count;
    list[count++] = j;
  }
  return count;
}

/* Rewrites a row: own columns, then ghosts. The ghosts before the own columns move behind them. */
static void split_row(const tsi_amg_piece *piece, int32_t i, tsi_amg_range own, int32_t ghosts,
                      const int32_t *numbers, int32_t *columns, float *values) {
  int32_t to = piece->offsets[i];
  for (int is_ghost = 0; is_ghost < 2; is_ghost++)
    for (int32_t e = piece->offsets[i]; e < piece->offsets[i + 1]; e++) {
      const int32_t j = piece->indices[e];
      if ((j < own.begin || j >= own.end) != is_ghost) continue;
      columns[to] = is_ghost ? ghosts + numbers[j] : j - own.begin;
      values[to++] = piece->values[e];
    }
}

ts_status cpu_amg_part_split_columns(ts_context *context, tsi_amg_piece *piece, tsi_amg_range own,
                                     int32_t ghosts, int32_t **list, int32_t *count) {
  const size_t all = (size_t)piece->columns, entries = (size_t)piece->entries;
  int32_t *numbers = tsi_malloc(context, all, sizeof *numbers);
  int32_t *columns = tsi_malloc(context, entries, sizeof *columns);
  float *values = tsi_malloc(context, entries + TSI_AMG_PIECE, sizeof *values);
  *list = tsi_malloc(context, all, sizeof **list);
  if (!numbers || !columns || !values || !*list) {
    tsi_free(context, numbers);
    tsi_free(context, columns);
    tsi_free(context, values);
    tsi_free(context, *list);
    *list = NULL;
    return tsi_out_of_memory(context, "the ghosts of amg", (all + entries) * 2 * sizeof *numbers);
  }
  *count = number_ghosts(piece, own, numbers, *list);
  if (!tsi_amg_lists_ghosts(piece, own, *count)) {
    tsi_free(context, *list);
    *list = NULL;
  }
  for (int32_t i = 0; i < piece->rows; i++) split_row(piece, i, own, ghosts, numbers, columns, values);
  memset(values + entries, 0, TSI_AMG_PIECE * sizeof *values);
  tsi_free(context, numbers);
  tsi_free(context, piece->indices);
  tsi_free(context, piece->values);
  piece->indices = columns;
  piece->values = values;
  piece->columns = ghosts + *count;
  return TS_OK;
}
