/* Matrices from the rows of each rank: columns of all ranks become this rank's own and its ghosts, and the rest
 * is ts_matrix_create's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/matrix/csr.h"
#include "multi_given.h"

/* ---- Validation ---- */

ts_status multi_check_offsets(ts_context *context, const ts_ranks_matrix_desc *desc) {
  TSI_TRY(tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved));
  if (desc->rows < 1 || desc->rows > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "rows is %d; each rank has 1 to %d", desc->rows,
                    TSI_MAX_SIZE);
  if (!desc->row_offsets || (!desc->column_indices && desc->row_offsets[desc->rows] > 0))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is NULL",
                    desc->row_offsets ? "column_indices" : "row_offsets");
  for (int32_t i = 0; i < desc->rows; i++)
    if (desc->row_offsets[0] != 0 || desc->row_offsets[i + 1] < desc->row_offsets[i])
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "row_offsets do not ascend from 0: row %d of this rank goes from %d to %d", i,
                      desc->row_offsets[i], desc->row_offsets[i + 1]);
  return TS_OK;
}

ts_status multi_check_columns(ts_context *context, const ts_ranks_matrix_desc *desc, int64_t rows) {
  for (int32_t i = 0; i < desc->rows; i++)
    for (int32_t e = desc->row_offsets[i]; e < desc->row_offsets[i + 1]; e++)
      if (desc->column_indices[e] < 0 || desc->column_indices[e] >= rows)
        return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                        "row %d of this rank, entry %d: column %lld is out of range; all ranks have %lld rows",
                        i, e - desc->row_offsets[i], (long long)desc->column_indices[e], (long long)rows);
  return TS_OK;
}

/* ---- Who has which rows ---- */

/* The rows of each of this rank's parts: about as many entries and rows. */
static void cut(const ts_ranks_matrix_desc *desc, int parts, int64_t *sizes) {
  const int64_t all = (int64_t)desc->row_offsets[desc->rows] + desc->rows;
  int32_t row = 0;
  for (int p = 0; p < parts; p++) {
    const int32_t first = row;
    while (row < desc->rows &&
           (p == parts - 1 || (int64_t)desc->row_offsets[row] + row < all * (p + 1) / parts))
      row++;
    sizes[p] = row - first;
  }
}

static ts_status count_rows(ts_context *context, const ts_ranks_matrix_desc *desc, multi_rows *rows) {
  const multi_state *state = multi_state_of(context);
  int64_t sizes[MULTI_MOST_PARTS];
  rows->first = tsi_malloc(context, (size_t)state->count + 1, sizeof *rows->first);
  if (!rows->first) return tsi_out_of_memory(context, "the rows of ranks", (size_t)state->count * 8);
  cut(desc, state->own, sizes);
  TSI_TRY(multi_collect(context, sizes, (size_t)state->own * sizeof *sizes, rows->first + 1));
  rows->first[0] = 0;
  for (int p = 0; p < state->count; p++) rows->first[p + 1] += rows->first[p];
  return multi_check_columns(context, desc, rows->first[state->count]);
}

/* ---- Columns of other ranks ---- */

static int compare_columns(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int64_t first_own(const ts_context *context, const multi_rows *rows) {
  return rows->first[multi_state_of(context)->first];
}

static int is_own(const ts_context *context, const multi_rows *rows, int64_t column) {
  const multi_state *state = multi_state_of(context);
  return column >= rows->first[state->first] && column < rows->first[state->first + state->own];
}

static ts_status find_ghosts(ts_context *context, const ts_ranks_matrix_desc *desc, multi_rows *rows) {
  const int32_t entries = desc->row_offsets[desc->rows];
  size_t count = 0, unique = 0;
  for (int32_t e = 0; e < entries; e++) count += !is_own(context, rows, desc->column_indices[e]);
  rows->ghosts = tsi_malloc(context, count, sizeof *rows->ghosts);
  if (!rows->ghosts) return tsi_out_of_memory(context, "columns of other ranks", count * 8);
  for (int32_t e = 0, k = 0; e < entries; e++)
    if (!is_own(context, rows, desc->column_indices[e])) rows->ghosts[k++] = desc->column_indices[e];
  qsort(rows->ghosts, count, sizeof *rows->ghosts, compare_columns);
  for (size_t k = 0; k < count; k++)
    if (k == 0 || rows->ghosts[k] != rows->ghosts[k - 1]) rows->ghosts[unique++] = rows->ghosts[k];
  if (unique > (size_t)(TSI_MAX_SIZE - desc->rows - 64))
    return tsi_fail(context, TS_ERROR_LIMIT,
                    "this rank has %d rows and needs %zu columns of others, more than %d together", desc->rows,
                    unique, TSI_MAX_SIZE - 64);
  rows->ghost_count = (int32_t)unique;
  return TS_OK;
}

/* -1 for a column of another rank that no row refers to. */
static int32_t number_of(const ts_space *space, const multi_rows *rows, int64_t column) {
  if (is_own(space->context, rows, column)) return (int32_t)(column - first_own(space->context, rows));
  const int64_t *ghost =
      bsearch(&column, rows->ghosts, (size_t)rows->ghost_count, sizeof column, compare_columns);
  return ghost ? tsi_first_ghost(space) + (int32_t)(ghost - rows->ghosts) : -1;
}

ts_status multi_number_columns(const ts_space *space, const ts_ranks_matrix_desc *desc, int32_t **numbers) {
  const int32_t entries = desc->row_offsets[desc->rows];
  int32_t *to = tsi_malloc(space->context, (size_t)entries, sizeof *to);
  if (!to) return tsi_out_of_memory(space->context, "columns", (size_t)entries * sizeof *to);
  *numbers = to;
  for (int32_t e = 0; e < entries; e++)
    to[e] = number_of(space, ((const multi_space *)space->impl)->rows, desc->column_indices[e]);
  return TS_OK;
}

/* Of a column's number. */
static int64_t column_of(const ts_space *space, const multi_rows *rows, int32_t number) {
  return number < space->tiling.size ? first_own(space->context, rows) + number
                                     : rows->ghosts[number - tsi_first_ghost(space)];
}

/* ---- The space ---- */

static ts_status make_rows(ts_context *context, const ts_ranks_matrix_desc *desc, multi_rows **rows) {
  *rows = tsi_calloc(context, 1, sizeof **rows);
  if (!*rows) return tsi_out_of_memory(context, "the rows of ranks", sizeof **rows);
  ts_status status = count_rows(context, desc, *rows);
  if (status == TS_OK) status = find_ghosts(context, desc, *rows);
  if (status < 0) multi_rows_destroy(context, *rows);
  return status;
}

static ts_status make_space(ts_context *context, const ts_ranks_matrix_desc *desc, ts_space **space) {
  multi_rows *rows = NULL;
  tsi_tiling tiling;
  TSI_TRY(make_rows(context, desc, &rows));
  ts_status status = tsi_tiling_create(context, desc->rows, NULL, NULL, &tiling);
  if (status == TS_OK) status = tsi_space_create(context, &tiling, NULL, space);
  if (status < 0) {
    multi_rows_destroy(context, rows);
    return status;
  }
  return multi_space_of_rows(*space, rows);
}

/* ---- What is known of the whole ---- */

/* An entry whose column another rank has. */
typedef struct entry {
  int64_t row, column;
  float value, diagonal; /* of its row */
} entry;

static int compare_mirrors(const void *a, const void *b) {
  const entry *x = a, *y = b;
  const int by_column = (x->column > y->column) - (x->column < y->column);
  return by_column ? by_column : (x->row > y->row) - (x->row < y->row);
}

typedef struct whole {
  int64_t unsymmetric_row, unsymmetric_column; /* INT64_MAX: none */
  int64_t zero_diagonal_row;                   /* the same */
  int64_t nonzeros, halo;
  double norm;
} whole;

static void merge_wholes(void *mine, const void *other) {
  whole *a = mine;
  const whole *b = other;
  if (b->unsymmetric_row < a->unsymmetric_row) {
    a->unsymmetric_row = b->unsymmetric_row;
    a->unsymmetric_column = b->unsymmetric_column;
  }
  if (b->zero_diagonal_row < a->zero_diagonal_row) a->zero_diagonal_row = b->zero_diagonal_row;
  a->nonzeros += b->nonzeros;
  a->halo += b->halo;
  a->norm = fmax(a->norm, b->norm);
}

static void note_unsymmetric(whole *w, int64_t row, int64_t column) {
  if (row > w->unsymmetric_row) return;
  w->unsymmetric_row = row;
  w->unsymmetric_column = column;
}

/* `mine` by rows, and `theirs`, whose rows are my columns, by columns. */
static void compare_entries(const entry *mine, size_t count, entry *theirs, size_t their_count, whole *w) {
  size_t k = 0;
  qsort(theirs, their_count, sizeof *theirs, compare_mirrors);
  for (size_t i = 0; i < count; i++) {
    const entry *a = &mine[i];
    for (; k < their_count &&
           (theirs[k].column < a->row || (theirs[k].column == a->row && theirs[k].row < a->column));
         k++)
      if (theirs[k].value != 0) note_unsymmetric(w, theirs[k].column, theirs[k].row);
    const int mirrored = k < their_count && theirs[k].column == a->row && theirs[k].row == a->column;
    const float value = mirrored ? theirs[k].value : 0, diagonal = mirrored ? theirs[k].diagonal : a->diagonal;
    if (!tsi_nearly_equal(a->value, value, a->diagonal, diagonal)) note_unsymmetric(w, a->row, a->column);
    k += (size_t)mirrored;
  }
  for (; k < their_count; k++)
    if (theirs[k].value != 0) note_unsymmetric(w, theirs[k].column, theirs[k].row);
}

/* The rows of this rank in canonical form, and of them the columns that it has itself. */
typedef struct own_rows {
  const ts_space *space;
  const multi_rows *rows;
  tsi_host_csr all, block;
  float *diagonal;
  double norm; /* the largest sum of magnitudes in a row */
} own_rows;

static ts_status take_block(ts_context *context, own_rows *o) {
  const tsi_host_csr *all = &o->all;
  const size_t rows = (size_t)all->rows;
  int32_t entries = 0;
  for (int32_t e = 0; e < all->row_offsets[all->rows]; e++) entries += all->column_indices[e] < all->rows;
  o->block = (tsi_host_csr){.rows = all->rows, .columns = all->rows, .owned = 1};
  o->block.row_offsets = tsi_malloc(context, rows + 1, sizeof(int32_t));
  o->block.column_indices = tsi_malloc(context, (size_t)entries, sizeof(int32_t));
  o->block.values = tsi_calloc(context, (size_t)entries, sizeof(float));
  o->diagonal = tsi_calloc(context, rows, sizeof *o->diagonal);
  if (!o->block.row_offsets || !o->block.column_indices || !o->block.values || !o->diagonal)
    return tsi_out_of_memory(context, "the block of a rank", (size_t)entries * 8 + rows * 8);
  int32_t to = 0;
  for (int32_t i = 0; i < all->rows; i++) {
    double sum = 0;
    o->block.row_offsets[i] = to;
    for (int32_t e = all->row_offsets[i]; e < all->row_offsets[i + 1]; e++) {
      if (all->values) sum += fabs((double)all->values[e]);
      if (all->column_indices[e] >= all->rows) continue;
      o->block.column_indices[to] = all->column_indices[e];
      if (all->values) o->block.values[to] = all->values[e];
      if (all->column_indices[e] == i) o->diagonal[i] = o->block.values[to];
      to++;
    }
    o->norm = fmax(o->norm, sum);
  }
  o->block.row_offsets[all->rows] = to;
  return TS_OK;
}

static ts_status write_entries(ts_context *context, const own_rows *o, multi_parcels *p, int counts) {
  const int parts = multi_count(context);
  for (int32_t i = 0; i < o->all.rows; i++)
    for (int32_t e = o->all.row_offsets[i]; e < o->all.row_offsets[i + 1]; e++) {
      if (o->all.column_indices[e] < o->all.rows) continue;
      const int64_t column = column_of(o->space, o->rows, o->all.column_indices[e]);
      const int rank = multi_rank_of_part(context, multi_owner_of_row(o->rows, parts, column));
      if (!counts)
        ((entry *)p->out[rank])[p->out_bytes[rank] / sizeof(entry)] =
            (entry){.row = column_of(o->space, o->rows, i),
                    .column = column,
                    .value = o->all.values ? o->all.values[e] : 0,
                    .diagonal = o->diagonal[i]};
      p->out_bytes[rank] += sizeof(entry);
    }
  return counts ? multi_parcels_allocate(context, p) : TS_OK;
}

static ts_status compare_with_ranks(ts_context *context, const own_rows *o, whole *w) {
  multi_parcels parcels;
  TSI_TRY(multi_parcels_create(context, &parcels));
  ts_status status = write_entries(context, o, &parcels, 1);
  if (status == TS_OK) status = write_entries(context, o, &parcels, 0);
  if (status == TS_OK) status = multi_parcels_exchange(context, &parcels);
  for (int r = 0; r < ts_ranks_count(context) && status == TS_OK; r++)
    if (r != ts_ranks_rank(context))
      compare_entries(parcels.out[r], parcels.out_bytes[r] / sizeof(entry), parcels.in[r],
                      parcels.in_bytes[r] / sizeof(entry), w);
  multi_parcels_destroy(context, &parcels);
  return status;
}

static int32_t shown_row(int64_t row) {
  return row == INT64_MAX ? -1 : row > INT32_MAX ? INT32_MAX : (int32_t)row;
}

/* What A says of itself becomes what all ranks say. */
static ts_status describe(ts_matrix *A, own_rows *o, multi_rows *rows) {
  ts_context *context = A->context;
  ts_matrix_info block = {0};
  double norm;
  TSI_TRY(tsi_csr_inspect(context, &o->block, NULL, &block, &norm));
  const int64_t first = first_own(context, rows);
  whole w = {.unsymmetric_row = block.symmetric ? INT64_MAX : first + block.unsymmetric_row,
             .unsymmetric_column = first + block.unsymmetric_column,
             .zero_diagonal_row = block.zero_diagonal_row < 0 ? INT64_MAX : first + block.zero_diagonal_row,
             .nonzeros = A->info.nonzeros,
             .halo = A->info.halo,
             .norm = o->norm};
  TSI_TRY(compare_with_ranks(context, o, &w));
  TSI_TRY(multi_merge_ranks(context, &w, sizeof w, merge_wholes));
  rows->all_nonzeros = w.nonzeros;
  A->all_rows = rows->first[multi_count(context)];
  A->norm_infinity = w.norm;
  A->info.columns = A->info.rows;
  A->info.halo = w.halo;
  A->info.symmetric = w.unsymmetric_row == INT64_MAX;
  A->info.unsymmetric_row = shown_row(w.unsymmetric_row);
  A->info.unsymmetric_column = A->info.symmetric ? -1 : shown_row(w.unsymmetric_column);
  A->info.zero_diagonal_row = shown_row(w.zero_diagonal_row);
  return TS_OK;
}

/* The entries that the block lacks. */
static ts_status take_ghosts(ts_context *context, const own_rows *o, tsi_host_csr *ghosts) {
  const tsi_host_csr *all = &o->all;
  const int32_t entries = all->row_offsets[all->rows] - o->block.row_offsets[all->rows];
  *ghosts = (tsi_host_csr){.rows = all->rows, .columns = o->rows->ghost_count, .owned = 1};
  ghosts->row_offsets = tsi_malloc(context, (size_t)all->rows + 1, sizeof(int32_t));
  ghosts->column_indices = tsi_malloc(context, (size_t)entries, sizeof(int32_t));
  ghosts->values = tsi_calloc(context, (size_t)entries, sizeof(float));
  if (!ghosts->row_offsets || !ghosts->column_indices || !ghosts->values)
    return tsi_out_of_memory(context, "the host copy", ((size_t)all->rows + 2 * (size_t)entries) * 4);
  int32_t to = 0;
  for (int32_t i = 0; i < all->rows; i++) {
    ghosts->row_offsets[i] = to;
    for (int32_t e = all->row_offsets[i]; e < all->row_offsets[i + 1]; e++) {
      if (all->column_indices[e] < all->rows) continue;
      if (all->values) ghosts->values[to] = all->values[e];
      ghosts->column_indices[to++] = all->column_indices[e] - tsi_first_ghost(o->space);
    }
  }
  ghosts->row_offsets[all->rows] = to;
  return TS_OK;
}

ts_status multi_inspect(ts_matrix *A, const ts_csr *csr, tsi_host_csr *block, tsi_host_csr *ghosts) {
  ts_context *context = A->context;
  multi_rows *rows = ((multi_space *)A->row_space->impl)->rows;
  own_rows o = {.space = A->row_space, .rows = rows};
  int64_t duplicates;
  TSI_TRY(tsi_csr_canonical(context, csr, NULL, 0, &o.all, &duplicates));
  ts_status status = take_block(context, &o);
  if (status == TS_OK) status = describe(A, &o, rows);
  if (status == TS_OK && ghosts) status = take_ghosts(context, &o, ghosts);
  if (status < 0) tsi_csr_free(context, &o.block);
  if (status < 0 && ghosts) tsi_csr_free(context, ghosts);
  *block = o.block;
  tsi_csr_free(context, &o.all);
  tsi_free(context, o.diagonal);
  return status;
}

/* ---- Creation ---- */

/* Takes `csr` over. */
static ts_status keep(ts_context *context, tsi_host_csr *csr, tsi_host_csr **kept) {
  *kept = tsi_malloc(context, 1, sizeof **kept);
  if (*kept) {
    **kept = *csr;
    return TS_OK;
  }
  tsi_csr_free(context, csr);
  return tsi_out_of_memory(context, "the host copy", sizeof **kept);
}

static ts_status inspect(ts_matrix *A, const ts_ranks_matrix_desc *desc, const ts_csr *csr) {
  tsi_host_csr block, ghosts = {0};
  TSI_TRY(multi_even_rests(A, csr));
  TSI_TRY(multi_inspect(A, csr, &block, desc->keep_host_copy ? &ghosts : NULL));
  if (!desc->keep_host_copy) {
    tsi_csr_free(A->context, &block);
    return TS_OK;
  }
  const ts_status status = keep(A->context, &block, &A->host_copy);
  const ts_status other = keep(A->context, &ghosts, &A->host_ghosts);
  return status < 0 ? status : other;
}

static ts_status create_over(ts_space *space, const ts_ranks_matrix_desc *desc, ts_matrix **matrix) {
  ts_context *context = space->context;
  int32_t *columns;
  TSI_TRY(multi_number_columns(space, desc, &columns));
  const ts_matrix_desc local = {.csr = {.rows = desc->rows,
                                        .columns = tsi_columns_of(space),
                                        .row_offsets = desc->row_offsets,
                                        .column_indices = columns,
                                        .values = desc->values,
                                        .double_values = desc->double_values},
                                .format = desc->format,
                                .row_space = space,
                                .column_space = space,
                                .precision = desc->precision,
                                .components = desc->components};
  ts_status status = ts_matrix_create(context, &local, matrix);
  if (status == TS_OK) status = inspect(*matrix, desc, &local.csr);
  tsi_free(context, columns);
  return status;
}

static ts_status create_here(ts_context *context, const ts_ranks_matrix_desc *desc, ts_matrix **matrix) {
  ts_space *space = NULL;
  TSI_TRY(tsi_enter(context));
  ts_status status = make_space(context, desc, &space);
  tsi_leave(context, status);
  if (status == TS_OK && space) status = create_over(space, desc, matrix);
  ts_space_destroy(&space);
  return status;
}

/* The matrix knows where its rows come from. */
static ts_status keep_given(ts_matrix *A, multi_moved *moved) {
  multi_space *s = A->row_space->impl;
  memcpy(s->choice, moved->choice, sizeof s->choice);
  if (s->choice[0])
    snprintf(A->info.choice, sizeof A->info.choice, "%s in %d parts; %.150s", ts_format_name(A->info.format),
             multi_count(A->context), s->choice);
  s->rows->given = moved->given;
  moved->given = NULL;
  return s->rows->given ? multi_name_given_rows(A) : TS_OK;
}

static ts_status create(ts_context *context, const ts_ranks_matrix_desc *desc, ts_matrix **matrix) {
  multi_moved moved;
  TSI_TRY(multi_check_offsets(context, desc));
  TSI_TRY(multi_move_rows(context, desc, &moved));
  ts_status status = create_here(context, &moved.desc, matrix);
  if (status == TS_OK && *matrix) status = keep_given(*matrix, &moved);
  multi_moved_free(context, &moved);
  return status;
}

ts_status ts_ranks_matrix_create(ts_context *context, const ts_ranks_matrix_desc *desc, ts_matrix **matrix) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, matrix);
  *matrix = NULL;
  TSI_REQUIRE(context, desc);
  if (!context->ops->agree)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "backend %s is of one process; ts_ranks_context_create makes contexts of several ranks",
                    context->backend_name);
  tsi_begin_together(context);
  const ts_status status = tsi_end_together(context, create(context, desc, matrix));
  if (status < 0) ts_matrix_destroy(matrix);
  return status;
}

/* ---- Queries ---- */

ts_status ts_ranks_matrix_get_info(const ts_matrix *matrix, ts_ranks_matrix_info *info) {
  TSI_BEGIN(matrix, matrix->context);
  TSI_REQUIRE(matrix->context, info);
  if (!matrix->all_rows)
    return tsi_fail(matrix->context, TS_ERROR_INVALID_ARGUMENT, "the matrix is not made of the rows of ranks");
  const multi_space *s = matrix->row_space->impl;
  *info = (ts_ranks_matrix_info){.rows = matrix->all_rows,
                                 .nonzeros = s->rows->all_nonzeros,
                                 .first_row = first_own(matrix->context, s->rows),
                                 .ghosts = s->rows->ghost_count};
  memcpy(info->choice, s->choice, sizeof info->choice);
  return TS_OK;
}
