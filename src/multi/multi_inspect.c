/* Facts about a matrix that all ranks derive from the rows of each: symmetry, number of entries, norm. An entry
 * is sent to the rank that has its mirror entry, and compared there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/matrix/csr.h"
#include "multi.h"

/* The column with a local number. */
static int64_t column_of(const ts_space *space, const multi_rows *rows, int32_t number) {
  return number < space->tiling.size ? multi_first_row(space->context, rows) + number
                                     : rows->ghosts[number - tsi_first_ghost(space)];
}

/* An entry in a column of another rank. */
typedef struct entry {
  int64_t row, column;
  float value, diagonal; /* diagonal: of its row */
} entry;

static int compare_mirrors(const void *a, const void *b) {
  const entry *x = a, *y = b;
  const int by_column = (x->column > y->column) - (x->column < y->column);
  return by_column ? by_column : (x->row > y->row) - (x->row < y->row);
}

typedef struct whole {
  int64_t unsymmetric_row, unsymmetric_column; /* INT64_MAX: none */
  int64_t zero_diagonal_row;                   /* INT64_MAX: none */
  int64_t nonzeros, halo;
  int negative_diagonal;
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
  a->negative_diagonal |= b->negative_diagonal;
  a->nonzeros += b->nonzeros;
  a->halo += b->halo;
  a->norm = fmax(a->norm, b->norm);
}

static void note_unsymmetric(whole *w, int64_t row, int64_t column) {
  if (row > w->unsymmetric_row) return;
  w->unsymmetric_row = row;
  w->unsymmetric_column = column;
}

/* `mine` is sorted by rows, `theirs` by columns; the rows of `theirs` are columns of this rank. */
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

/* The rows of this rank in canonical form, and their entries in this rank's own columns. */
typedef struct own_rows {
  const ts_space *space;
  const multi_rows *rows;
  tsi_host_csr all, block;
  float *diagonal;
  double norm; /* the largest sum of magnitudes in a row */
} own_rows;

static ts_status extract_block(ts_context *context, own_rows *o) {
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
  for (int r = 0; r < ts_ranks_get_count(context) && status == TS_OK; r++)
    if (r != ts_ranks_get_rank(context))
      compare_entries(parcels.out[r], parcels.out_bytes[r] / sizeof(entry), parcels.in[r],
                      parcels.in_bytes[r] / sizeof(entry), w);
  multi_parcels_destroy(context, &parcels);
  return status;
}

static int32_t shown_row(int64_t row) {
  return row == INT64_MAX ? -1 : row > INT32_MAX ? INT32_MAX : (int32_t)row;
}

/* Replaces A's facts by those of all ranks. */
static ts_status describe(ts_matrix *A, own_rows *o, multi_rows *rows) {
  ts_context *context = A->context;
  ts_matrix_info block = {0};
  double norm;
  TSI_TRY(tsi_csr_inspect(context, &o->block, NULL, NULL, &block, &norm));
  const int64_t first = multi_first_row(context, rows);
  whole w = {.unsymmetric_row = block.symmetric ? INT64_MAX : first + block.unsymmetric_row,
             .unsymmetric_column = first + block.unsymmetric_column,
             .zero_diagonal_row = block.zero_diagonal_row < 0 ? INT64_MAX : first + block.zero_diagonal_row,
             .negative_diagonal = block.negative_diagonal,
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
  A->info.negative_diagonal = w.negative_diagonal;
  return TS_OK;
}

/* Extracts the entries that are not in the block. */
static ts_status extract_ghosts(ts_context *context, const own_rows *o, tsi_host_csr *ghosts) {
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

ts_status multi_inspect(ts_matrix *A, const tsi_csr *csr, tsi_host_csr *block, tsi_host_csr *ghosts) {
  ts_context *context = A->context;
  multi_rows *rows = ((multi_space *)A->row_space->impl)->rows;
  own_rows o = {.space = A->row_space, .rows = rows};
  int64_t duplicates;
  TSI_TRY(tsi_csr_canonical(context, csr, NULL, NULL, 0, &o.all, &duplicates));
  ts_status status = extract_block(context, &o);
  if (status == TS_OK) status = describe(A, &o, rows);
  if (status == TS_OK && ghosts) status = extract_ghosts(context, &o, ghosts);
  if (status < 0) tsi_csr_free(context, &o.block);
  if (status < 0 && ghosts) tsi_csr_free(context, ghosts);
  *block = o.block;
  tsi_csr_free(context, &o.all);
  tsi_free(context, o.diagonal);
  return status;
}
