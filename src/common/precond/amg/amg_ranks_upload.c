/* A hierarchy on the devices of several ranks: matrices over the rows of ranks, between the spaces of two
 * levels.
 *
 * The first matrix over a space determines the room in its vectors. The inverse of the last level needs the
 * numbers of all ranks, so it is uploaded before the matrix of this level. */
#include <string.h>

#include "common/matrix/csr.h"
#include "amg_halo.h"

/* The space of a level. */
typedef struct rank_space {
  ts_space *space;
  tsi_amg_numbering rows; /* of the level on the host */
  const int64_t *ghosts;  /* columns of other ranks that fit in the vectors, ascending */
  int32_t count;
  int64_t *list; /* the ghosts, if the space does not own them */
} rank_space;

static int64_t first_row(const rank_space *s) {
  return s->rows.first * s->rows.unknowns;
}

/* The column number, in matrices over the space, of a column on the host. */
static int32_t place(const rank_space *s, int32_t column) {
  if (column < s->rows.own * s->rows.unknowns) return column;
  const int64_t number = tsi_amg_global(&s->rows, column);
  int32_t first = 0, end = s->count - 1;
  while (first < end) {
    const int32_t middle = first + (end - first) / 2;
    if (s->ghosts[middle] < number)
      first = middle + 1;
    else
      end = middle;
  }
  return tsi_first_ghost(s->space) + first;
}

static ts_status upload(const tsi_amg *amg, const tsi_amg_csr *A, const rank_space *rows,
                        const rank_space *columns, ts_matrix **matrix) {
  ts_context *context = amg->context;
  const int32_t entries = A->offsets[A->rows];
  int32_t *indices = tsi_malloc(context, (size_t)entries, sizeof *indices);
  if (!indices) return tsi_out_of_memory(context, "a level of amg", (size_t)entries * sizeof *indices);
  for (int32_t e = 0; e < entries; e++) indices[e] = place(columns, A->indices[e]);
  const tsi_matrix_desc desc = {.csr = {.rows = A->rows,
                                        .columns = tsi_columns_of(columns->space),
                                        .row_offsets = A->offsets,
                                        .column_indices = indices,
                                        .values = A->values},
                                .format = amg->level[0].A->info.format,
                                .row_space = rows->space,
                                .column_space = columns->space};
  const ts_status status = tsi_matrix_create_as_is(context, &desc, matrix);
  tsi_free(context, indices);
  return status;
}

/* ---- Spaces ---- */

/* Lists the ghosts of the level's matrix, or all of them for the inverse. */
static ts_status list_ghosts(ts_context *context, const tsi_amg_host_level *level, int all, rank_space *s) {
  const tsi_amg_halo *halo = level->halo;
  const int64_t rows = halo->first[halo->ranks] * level->unknowns;
  const int32_t own = s->rows.own * s->rows.unknowns, known = s->rows.count * s->rows.unknowns;
  s->count = all ? (int32_t)(rows - own) : known;
  s->list = tsi_malloc(context, (size_t)s->count, sizeof *s->list);
  if (!s->list) return tsi_out_of_memory(context, "the ghosts of amg", (size_t)s->count * sizeof *s->list);
  for (int32_t k = 0; k < s->count; k++)
    s->list[k] = !all ? tsi_amg_global(&s->rows, own + k) : k < first_row(s) ? k : (int64_t)own + k;
  s->ghosts = s->list;
  return TS_OK;
}

static ts_status make_space(ts_context *context, const tsi_amg_host_level *level, int all, rank_space *s) {
  *s = (rank_space){.rows = tsi_amg_number(level->halo, level->unknowns)};
  TSI_TRY(list_ghosts(context, level, all, s));
  TSI_TRY(tsi_enter(context));
  return tsi_leave(context, context->ops->ranks->space_create(context, s->rows.own * s->rows.unknowns,
                                                              s->ghosts, s->count, &s->space));
}

static void free_space(ts_context *context, rank_space *s) {
  ts_space_destroy(&s->space);
  tsi_free(context, s->list);
  s->list = NULL;
}

/* ---- The inverse ---- */

/* Extracts this rank's rows; their columns are its own, followed by all others. */
static ts_status cut_inverse(const tsi_amg *amg, const rank_space *s, tsi_amg_csr *own) {
  const int32_t rows = s->rows.own * s->rows.unknowns, all = rows + s->count;
  TSI_TRY(tsi_amg_csr_create(amg->context, rows, tsi_columns_of(s->space), (int64_t)rows * all, own));
  for (int32_t i = 0, to = 0; i < rows; i++) {
    const float *row = amg->host.inverse + (size_t)(first_row(s) + i) * (size_t)all;
    for (int32_t j = 0; j < rows; j++, to++) {
      own->indices[to] = j;
      own->values[to] = row[first_row(s) + j];
    }
    for (int32_t k = 0; k < s->count; k++, to++) {
      own->indices[to] = tsi_first_ghost(s->space) + k;
      own->values[to] = row[s->ghosts[k]];
    }
    own->offsets[i + 1] = to;
  }
  return TS_OK;
}

static ts_status upload_inverse(tsi_amg *amg, const rank_space *s) {
  tsi_amg_csr own;
  TSI_TRY(cut_inverse(amg, s, &own));
  const tsi_matrix_desc desc = {.csr = {.rows = own.rows,
                                        .columns = own.columns,
                                        .row_offsets = own.offsets,
                                        .column_indices = own.indices,
                                        .values = own.values},
                                .format = amg->level[0].A->info.format,
                                .row_space = s->space,
                                .column_space = s->space};
  const ts_status status = tsi_matrix_create_as_is(amg->context, &desc, &amg->inverse);
  tsi_amg_csr_free(amg->context, &own);
  return status;
}

/* ---- Levels ---- */

static ts_status upload_level(tsi_amg *amg, int l, const rank_space *fine, const rank_space *coarse) {
  const tsi_amg_host *host = &amg->host;
  if (l + 2 == amg->levels && host->inverse) TSI_TRY(upload_inverse(amg, coarse));
  TSI_TRY(upload(amg, &host->level[l + 1].A, coarse, coarse, &amg->level[l + 1].A));
  TSI_TRY(upload(amg, &host->level[l].P, fine, coarse, &amg->level[l].P));
  return upload(amg, &host->level[l].R, coarse, fine, &amg->level[l].R);
}

ts_status tsi_amg_upload_on_ranks(tsi_amg *amg) {
  ts_context *context = amg->context;
  const tsi_amg_host *host = &amg->host;
  ts_space *space = ts_matrix_get_row_space(amg->level[0].A);
  rank_space fine = {.rows = tsi_amg_number(host->level[0].halo, host->level[0].unknowns)}, coarse;
  tsi_space_retain(space);
  fine.space = space;
  fine.count = context->ops->ranks->ghosts(space, &fine.ghosts);
  ts_status status = TS_OK;
  for (int l = 0; l + 1 < amg->levels && status == TS_OK; l++) {
    status = make_space(context, &host->level[l + 1], l + 2 == amg->levels && host->inverse, &coarse);
    if (status == TS_OK) status = upload_level(amg, l, &fine, &coarse);
    free_space(context, &fine);
    fine = coarse;
  }
  free_space(context, &fine);
  return status;
}
