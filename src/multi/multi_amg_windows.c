/* The rows of a level that each part works on. */
#include "multi_amg.h"

/* ---- Own rows ---- */

void multi_amg_free_rows(const multi_amg_work *s, multi_amg_rows *rows) {
  for (int p = 0; p < s->parts; p++) {
    ts_context *part = multi_part(s->context, p);
    tsi_free(s->context, rows->places[p]);
    if (!rows->part[p].piece.offsets) continue;
    tsi_enter_to_destroy(part);
    s->ops->piece_free(part, &rows->part[p].piece);
    tsi_leave(part, TS_OK);
  }
  *rows = (multi_amg_rows){0};
}

void multi_amg_free_arrays(const multi_amg_work *s, double **arrays, const int32_t *first) {
  for (int p = 0; p < s->parts; p++) {
    if (!arrays[p]) continue;
    ts_context *part = multi_part(s->context, p);
    tsi_enter_to_destroy(part);
    s->ops->give(part, arrays[p], (size_t)(first[p + 1] - first[p]) * sizeof(double));
    tsi_leave(part, TS_OK);
    arrays[p] = NULL;
  }
}

static ts_status find_bad_row(multi_amg_work *s, ts_context *part, int p) {
  const ts_matrix *local = ((const multi_matrix *)s->amg->level[0].A->impl)->local[p];
  (void)part;
  return local ? s->ops->bad_row(local, &s->level.A.part[p], &s->bad_row[p], &s->bad_value[p]) : TS_OK;
}

static ts_status check_rows(multi_amg_work *s) {
  const multi_space *space = s->amg->level[0].A->row_space->impl;
  int32_t first = INT32_MAX;
  float diagonal = 0;
  for (int p = 0; p < s->parts; p++) s->bad_row[p] = -1;
  TSI_TRY(multi_amg_all(s, find_bad_row));
  for (int p = 0; p < s->parts; p++) {
    if (s->bad_row[p] < 0 || multi_index(space, space->first[p] + s->bad_row[p]) > first) continue;
    first = multi_index(space, space->first[p] + s->bad_row[p]);
    diagonal = s->bad_value[p];
  }
  return first == INT32_MAX ? TS_OK : tsi_amg_refuse_row(s->context, first, diagonal);
}

/* Copies the rows of part p from the host copy. Columns become positions and ascend. */
static void copy_rows(const ts_matrix *A, int p, const tsi_amg_csr *to) {
  const multi_space *space = A->row_space->impl;
  const tsi_host_csr *from = A->host_copy;
  for (int32_t k = 0; k < to->rows; k++) {
    const int32_t i = multi_index(space, space->first[p] + k), begin = to->offsets[k];
    int32_t end = begin;
    for (int32_t e = from->row_offsets[i]; e < from->row_offsets[i + 1]; e++, end++) {
      const int32_t position = multi_position(space, from->column_indices[e]);
      int32_t at = end;
      for (; at > begin && to->indices[at - 1] > position; at--) {
        to->indices[at] = to->indices[at - 1];
        to->values[at] = to->values[at - 1];
      }
      to->indices[at] = position;
      to->values[at] = from->values[e];
    }
    to->offsets[k + 1] = end;
  }
}

/* For a format that parts cannot take rows from. */
static ts_status upload_rows(multi_amg_work *s, int p) {
  const ts_matrix *A = s->amg->level[0].A;
  const multi_space *space = A->row_space->impl;
  const int32_t *offsets = A->host_copy->row_offsets;
  int64_t entries = 0;
  tsi_amg_csr rows;
  for (int32_t k = space->first[p]; k < space->first[p + 1]; k++)
    entries += offsets[multi_index(space, k) + 1] - offsets[multi_index(space, k)];
  TSI_TRY(tsi_amg_csr_create(s->context, multi_amg_rows_of(&s->level, p), A->info.rows, entries, &rows));
  copy_rows(A, p, &rows);
  ts_status status = multi_begin(s->context, p);
  if (status == TS_OK)
    status =
        multi_end(s->context, p, s->ops->upload(multi_part(s->context, p), &rows, &s->level.A.part[p].piece));
  tsi_amg_csr_free(s->context, &rows);
  return status;
}

/* Takes the rows of the application's matrix. Their columns become positions. */
ts_status multi_amg_take_rows(multi_amg_work *s) {
  const ts_matrix *A = s->amg->level[0].A;
  const multi_space *space = A->row_space->impl;
  const multi_matrix *m = A->impl;
  for (int p = 0; p <= s->parts; p++) s->level.first[p] = space->first[p];
  for (int p = 0; p < s->parts; p++) {
    tsi_amg_run *run = &s->level.A.part[p];
    run->first = space->first[p];
    if (!m->local[p]) continue;
    MULTI_TRY(
        s->context, p,
        s->ops->source(m->local[p], space->first[p], m->halo->places[p], m->halo->ghosts[p], &run->piece));
    if (!run->piece.offsets) TSI_TRY(upload_rows(s, p));
  }
  return check_rows(s);
}

/* ---- Windows ---- */

/* Extends a range of columns by the columns of rows that it gained since `before`. */
static ts_status add_layer(const multi_amg_work *s, ts_context *part, tsi_amg_range before,
                           tsi_amg_range *window) {
  const tsi_amg_range gained[2] = {{window->begin, before.begin}, {before.end, window->end}};
  for (int side = 0; side < 2; side++)
    for (int q = 0; q < s->parts; q++) {
      const tsi_amg_range own = {s->level.first[q], s->level.first[q + 1]};
      const tsi_amg_range rows = {gained[side].begin > own.begin ? gained[side].begin : own.begin,
                                  gained[side].end < own.end ? gained[side].end : own.end};
      tsi_amg_range found = {0, 0};
      if (rows.begin >= rows.end) continue;
      TSI_TRY(s->ops->extent(part, &s->level.A.part[q], rows, &found));
      if (found.end == 0) continue;
      if (found.begin < window->begin) window->begin = found.begin;
      if (found.end > window->end) window->end = found.end;
    }
  return TS_OK;
}

/* Own rows and four layers of neighbours. */
static ts_status find_window(const multi_amg_work *s, ts_context *part, int p, tsi_amg_range *window) {
  enum { LAYERS = 4 };
  tsi_amg_range before = {s->level.first[p], s->level.first[p]};
  *window = (tsi_amg_range){s->level.first[p], s->level.first[p + 1]};
  for (int layer = 0; layer < LAYERS; layer++) {
    const tsi_amg_range now = *window;
    TSI_TRY(add_layer(s, part, before, window));
    before = now;
  }
  return TS_OK;
}

typedef struct array {
  void **to;
  size_t bytes;
} array;

enum { TAKEN = 5, ARRAYS };

/* The arrays of a part, with one element per row or entry of the window. The first ones are taken with it. */
static void list_arrays(tsi_amg_part_level *level, array arrays[ARRAYS]) {
  const size_t rows = (size_t)multi_amg_count(&level->window), entries = (size_t)level->A.entries;
  arrays[0] = (array){(void **)&level->strong, entries * sizeof *level->strong};
  arrays[1] = (array){(void **)&level->aggregates, rows * sizeof *level->aggregates};
  arrays[2] = (array){(void **)&level->weights, rows * sizeof *level->weights};
  arrays[3] = (array){(void **)&level->tentative, rows * sizeof *level->tentative};
  arrays[4] = (array){(void **)&level->near_null, rows * sizeof *level->near_null};
  arrays[5] = (array){(void **)&level->diagonal, rows * sizeof *level->diagonal};
}

/* On the first level also counts the votes for the near-null space. */
static ts_status open_window(multi_amg_work *s, ts_context *part, int p) {
  tsi_amg_part_level *level = &s->level.part[p];
  array arrays[ARRAYS];
  TSI_TRY(find_window(s, part, p, &level->window));
  TSI_TRY(s->ops->gather(part, s->level.A.part, s->parts, level->window, level->window, &level->A));
  list_arrays(level, arrays);
  for (int k = 0; k < TAKEN; k++) TSI_TRY(s->ops->take(part, arrays[k].bytes, arrays[k].to));
  if (!s->level.near_null[p]) return s->ops->votes(part, level, &s->votes[p]);
  for (int q = 0; q < s->parts; q++) {
    const int32_t begin = s->level.first[q] > level->window.begin ? s->level.first[q] : level->window.begin;
    const int32_t end = s->level.first[q + 1] < level->window.end ? s->level.first[q + 1] : level->window.end;
    if (begin < end)
      TSI_TRY(s->ops->copy(part, level->near_null + (begin - level->window.begin),
                           s->level.near_null[q] + (begin - s->level.first[q]),
                           (size_t)(end - begin) * sizeof(double)));
  }
  return TS_OK;
}

ts_status multi_amg_open_windows(multi_amg_work *s) {
  TSI_TRY(multi_join(s->context));
  for (int p = 0; p < s->parts; p++) {
    tsi_amg_part_level *level = &s->level.part[p];
    level->own = (tsi_amg_range){s->level.first[p], s->level.first[p + 1]};
  }
  TSI_TRY(multi_amg_each(s, open_window));
  return multi_join(s->context);
}

void multi_amg_close_windows(multi_amg_work *s) {
  for (int p = 0; p < s->parts; p++) {
    ts_context *part = multi_part(s->context, p);
    tsi_amg_part_level *level = &s->level.part[p];
    array arrays[ARRAYS];
    list_arrays(level, arrays);
    tsi_enter_to_destroy(part);
    for (int k = 0; k < ARRAYS; k++)
      if (*arrays[k].to) s->ops->give(part, *arrays[k].to, arrays[k].bytes);
    if (level->A.offsets) s->ops->piece_free(part, &level->A);
    if (level->P.offsets) s->ops->piece_free(part, &level->P);
    tsi_leave(part, TS_OK);
    *level = (tsi_amg_part_level){0};
  }
}
