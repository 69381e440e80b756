/* The matrices of the levels: of the parts' rows, or of the first part alone. */
#include <string.h>

#include "common/core/array.h"
#include "multi_amg.h"

/* ---- Matrices of the parts' rows ---- */

/* The column number of the first ghost of a part with this number of columns. Without columns its space has one
 * index. */
static int32_t first_ghost(int32_t columns) {
  return tsi_first_ghost(&(ts_space){.tiling.size = columns > 0 ? columns : 1});
}

static ts_status split_part(multi_amg_work *s, ts_context *part, int p) {
  tsi_amg_run *run = &s->rows->part[p];
  const tsi_amg_range own = {s->columns[p] - run->shift, s->columns[p + 1] - run->shift};
  int32_t *list = NULL, count;
  if (!run->piece.offsets) return TS_OK;
  TSI_TRY(s->ops->split_columns(part, &run->piece, own, first_ghost(own.end - own.begin), &list, &count));
  for (int32_t k = 0; list && k < count; k++) list[k] += run->shift;
  s->rows->starts[p] = own.end + run->shift;
  s->rows->ghosts[p] = count;
  s->rows->places[p] = list;
  return TS_OK;
}

/* Numbers the columns by parts; columns[p] is the first of part p. */
static ts_status split(multi_amg_work *s, multi_amg_rows *rows, const int32_t *columns) {
  s->rows = rows, s->columns = columns;
  return multi_amg_all(s, split_part);
}

static ts_status adopt_part(multi_amg_work *s, ts_context *part, int p) {
  tsi_amg_piece *piece = &s->rows->part[p].piece;
  if (!piece->offsets) return TS_OK;
  ts_space *columns = multi_halo_columns(s->halo, s->column_space->impl, p);
  piece->columns = tsi_columns_of(columns);
  return s->ops->adopt(part, piece, ((const multi_space *)s->row_space->impl)->local[p], columns, &s->local[p]);
}

static ts_status adopt_all(multi_amg_work *s, multi_amg_rows *rows, const multi_halo *halo,
                           const ts_space *row_space, const ts_space *column_space, ts_matrix **local) {
  s->rows = rows, s->halo = halo, s->row_space = row_space, s->column_space = column_space, s->local = local;
  return multi_amg_all(s, adopt_part);
}

/* Makes a matrix of rows whose columns are split. */
static ts_status join(multi_amg_work *s, multi_amg_rows *rows, ts_space *row_space, ts_space *column_space,
                      ts_matrix **matrix) {
  ts_matrix *local[MULTI_MOST_PARTS] = {NULL};
  multi_halo *halo = NULL;
  TSI_TRY(multi_halo_take(column_space, rows->places, rows->starts, rows->ghosts, &halo));
  ts_status status = multi_halo_make_room(halo, row_space->impl, column_space);
  if (status == TS_OK) status = adopt_all(s, rows, halo, row_space, column_space, local);
  if (status < 0) multi_halo_destroy(s->context, halo);
  if (status == TS_OK) status = multi_matrix_join(row_space, column_space, local, halo, 0, matrix);
  for (int p = 0; p < s->parts && status < 0 && !*matrix; p++) ts_matrix_destroy(&local[p]);
  return status;
}

/* Vectors get room for the ghosts of the level's matrix and of P, whichever are more. */
static void make_room(const multi_amg_work *s, const ts_space *space) {
  const multi_space *of = space->impl;
  for (int p = 0; p < s->parts; p++) {
    const int32_t own = s->level.A.ghosts[p], of_P = s->P.ghosts[p];
    if (of->local[p]) of->local[p]->ghosts = own > of_P ? own : of_P;
  }
}

static const int32_t *first_of(const tsi_amg *amg, int l) {
  return ((const multi_space *)amg->level[l].A->row_space->impl)->first;
}

static ts_status make_transfers(multi_amg_work *s, int l, ts_space *space) {
  tsi_amg_level *fine = &s->amg->level[l - 1];
  TSI_TRY(split(s, &s->R, first_of(s->amg, l - 1)));
  TSI_TRY(join(s, &s->P, fine->A->row_space, space, &fine->P));
  TSI_TRY(join(s, &s->R, space, fine->A->row_space, &fine->R));
  multi_amg_free_rows(s, &s->P);
  multi_amg_free_rows(s, &s->R);
  return TS_OK;
}

static ts_status make_over(multi_amg_work *s, int l, ts_space *space) {
  TSI_TRY(split(s, &s->level.A, s->level.first));
  TSI_TRY(split(s, &s->P, s->level.first));
  make_room(s, space);
  TSI_TRY(join(s, &s->level.A, space, space, &s->amg->level[l].A));
  return make_transfers(s, l, space);
}

ts_status multi_amg_make_matrices(multi_amg_work *s, int l) {
  ts_space *space = NULL;
  TSI_TRY(multi_space_create_in_order(s->context, s->level.first, NULL, &space));
  const ts_status status = make_over(s, l, space);
  tsi_space_release(space);
  return status;
}

/* ---- Levels of the first part ---- */

static ts_status view(ts_space *rows, ts_space *columns, ts_matrix *of_first, ts_matrix **matrix) {
  ts_matrix *local[MULTI_MOST_PARTS] = {of_first};
  int32_t *places[MULTI_MOST_PARTS] = {NULL};
  const int32_t none[MULTI_MOST_PARTS] = {0};
  multi_halo *halo = NULL;
  TSI_TRY(multi_halo_take(columns, places, none, none, &halo));
  return multi_matrix_join(rows, columns, local, halo, 1, matrix);
}

/* Creates a space that has all indices in the first part. */
static ts_status create_space(ts_context *context, ts_space *of_first, ts_space **space) {
  int32_t first[MULTI_MOST_PARTS + 1] = {0};
  ts_space *locals[MULTI_MOST_PARTS] = {of_first};
  for (int p = 1; p <= multi_count(context); p++) first[p] = of_first->tiling.size;
  return multi_space_create_in_order(context, first, locals, space);
}

/* Makes level l + k of the hierarchy from level k of the first part's. */
static ts_status view_level(tsi_amg *amg, const tsi_amg *below, int l, int k) {
  tsi_amg_level *level = &amg->level[l + k];
  const tsi_amg_level *of = &below->level[k];
  ts_space *space = NULL;
  TSI_TRY(create_space(amg->context, of->A->row_space, &space));
  ts_status status = view(space, space, of->A, &level->A);
  tsi_space_release(space);
  level->eigenvalue = of->eigenvalue;
  if (k == 0 || status < 0) return status;
  ts_space *fine = level[-1].A->row_space;
  TSI_TRY(view(fine, space, of[-1].P, &level[-1].P));
  return view(space, fine, of[-1].R, &level[-1].R);
}

/* Without an inverse, the host needs the last level: it may factor it. */
static ts_status copy_last(tsi_amg *amg, const tsi_amg *below) {
  const int last = below->levels - 1;
  tsi_amg_csr A, *copy = &amg->host.level[amg->levels - 1].A;
  TSI_TRY(tsi_amg_read_level(below, last, &A));
  const size_t entries = (size_t)A.offsets[A.rows];
  const ts_status status = tsi_amg_csr_create(amg->context, A.rows, A.columns, (int64_t)entries, copy);
  if (status == TS_OK) {
    memcpy(copy->offsets, A.offsets, ((size_t)A.rows + 1) * sizeof *A.offsets);
    memcpy(copy->indices, A.indices, entries * sizeof *A.indices);
    memcpy(copy->values, A.values, entries * sizeof *A.values);
    amg->host.levels = amg->levels;
  }
  tsi_amg_forget_level(below, last, &A);
  return status;
}

static ts_status view_all(tsi_amg *amg, const tsi_amg *below, int l) {
  for (int k = 0; k < below->levels; k++) TSI_TRY(view_level(amg, below, l, k));
  amg->levels = l + below->levels;
  ts_space *last = amg->level[amg->levels - 1].A->row_space;
  return below->inverse ? view(last, last, below->inverse, &amg->inverse) : copy_last(amg, below);
}

/* ---- Rows for the first part ---- */

/* Replaces the rows by one piece with all of them. */
static ts_status gather(multi_amg_work *s, multi_amg_rows *rows, int32_t count, int32_t columns) {
  tsi_amg_piece all;
  TSI_TRY(multi_join(s->context));
  MULTI_TRY(s->context, 0,
            s->ops->gather(multi_part(s->context, 0), rows->part, s->parts, (tsi_amg_range){0, count},
                           (tsi_amg_range){0, columns}, &all));
  const ts_status status = multi_join(s->context);
  multi_amg_free_rows(s, rows);
  rows->part[0].piece = all;
  return status;
}

static ts_status read_near_null(const multi_amg_work *s, double *values) {
  for (int p = 0; p < s->parts; p++) {
    const size_t count = (size_t)multi_amg_rows_of(&s->level, p);
    if (count == 0) continue;
    MULTI_TRY(s->context, p,
              s->ops->read(multi_part(s->context, p), values + s->level.first[p], s->level.near_null[p],
                           count * sizeof *values));
  }
  return TS_OK;
}

/* Makes the levels of the first part. */
static ts_status create_below(multi_amg_work *s, int l, const double *near_null) {
  multi_amg *made = s->amg->device;
  ts_amg_desc desc = s->amg->desc;
  const int32_t rows = s->level.first[s->parts];
  ts_context *part = multi_part(s->context, 0);
  tsi_amg_piece *A = &s->level.A.part[0].piece;
  MULTI_TRY(s->context, 0, s->ops->adopt(part, A, NULL, NULL, &made->last));
  made->last->info.symmetric = 1;
  made->last->made_on_device = 1;
  desc.near_null = ts_host(near_null, (size_t)rows);
  desc.near_null_vectors = 1;
  desc.max_levels -= l;
  return multi_report(s->context, 0, tsi_amg_create_below(made->last, &desc, l, &made->below));
}

/* All rows of this level belong to the first part. */
static ts_status join_below(multi_amg_work *s, int l) {
  tsi_amg *amg = s->amg;
  const multi_amg *made = amg->device;
  TSI_TRY(view_all(amg, made->below, l));
  int32_t first[MULTI_MOST_PARTS + 1] = {0};
  for (int p = 1; p <= s->parts; p++) first[p] = s->level.first[s->parts];
  TSI_TRY(split(s, &s->P, first));
  return make_transfers(s, l, amg->level[l].A->row_space);
}

ts_status multi_amg_make_below(multi_amg_work *s, int l) {
  const int32_t rows = s->level.first[s->parts], fine = s->amg->level[l - 1].A->info.rows;
  double *near_null = tsi_malloc(s->context, (size_t)rows, sizeof *near_null);
  if (!near_null)
    return tsi_out_of_memory(s->context, "the near-null space of amg", (size_t)rows * sizeof *near_null);
  ts_status status = read_near_null(s, near_null);
  if (status == TS_OK) status = gather(s, &s->level.A, rows, rows);
  if (status == TS_OK) status = gather(s, &s->R, rows, fine);
  if (status == TS_OK) status = create_below(s, l, near_null);
  tsi_free(s->context, near_null);
  return status == TS_OK ? join_below(s, l) : status;
}
