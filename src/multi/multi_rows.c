/* Matrices from the rows of each rank. Columns of all ranks become this rank's own columns and its ghosts;
 * ts_matrix_create does the rest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/matrix/csr.h"
#include "common/precond/preconditioner.h"
#include "multi_given.h"

/* ---- Validation ---- */

ts_status multi_check_offsets(ts_context *context, const tsi_ranks_matrix_desc *desc) {
  for (int32_t i = 0; i < desc->rows; i++)
    if (desc->row_offsets[0] != 0 || desc->row_offsets[i + 1] < desc->row_offsets[i])
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "row_offsets do not ascend from 0: row %d of this rank goes from %d to %d", i,
                      desc->row_offsets[i], desc->row_offsets[i + 1]);
  return TS_OK;
}

ts_status multi_check_columns(ts_context *context, const tsi_ranks_matrix_desc *desc, int64_t rows) {
  for (int32_t i = 0; i < desc->rows; i++)
    for (int32_t e = desc->row_offsets[i]; e < desc->row_offsets[i + 1]; e++)
      if (desc->column_indices[e] < 0 || desc->column_indices[e] >= rows)
        return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                        "row %d of this rank, entry %d: column %lld is out of range; all ranks have %lld rows",
                        i, e - desc->row_offsets[i], (long long)desc->column_indices[e], (long long)rows);
  return TS_OK;
}

/* ---- Owners of rows ---- */

/* Divides the rows among this rank's parts, with about the same number of entries and rows each. */
static void cut(const tsi_ranks_matrix_desc *desc, int parts, int64_t *sizes) {
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

static ts_status count_rows(ts_context *context, const tsi_ranks_matrix_desc *desc, multi_rows *rows) {
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

static int is_own(const ts_context *context, const multi_rows *rows, int64_t column) {
  const multi_state *state = multi_state_of(context);
  return column >= rows->first[state->first] && column < rows->first[state->first + state->own];
}

static ts_status find_ghosts(ts_context *context, const tsi_ranks_matrix_desc *desc, multi_rows *rows) {
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
  if (is_own(space->context, rows, column)) return (int32_t)(column - multi_first_row(space->context, rows));
  const int64_t *ghost =
      bsearch(&column, rows->ghosts, (size_t)rows->ghost_count, sizeof column, compare_columns);
  return ghost ? tsi_first_ghost(space) + (int32_t)(ghost - rows->ghosts) : -1;
}

ts_status multi_number_columns(const ts_space *space, const tsi_ranks_matrix_desc *desc, int32_t **numbers) {
  const int32_t entries = desc->row_offsets[desc->rows];
  int32_t *to = tsi_malloc(space->context, (size_t)entries, sizeof *to);
  if (!to) return tsi_out_of_memory(space->context, "columns", (size_t)entries * sizeof *to);
  *numbers = to;
  for (int32_t e = 0; e < entries; e++)
    to[e] = number_of(space, ((const multi_space *)space->impl)->rows, desc->column_indices[e]);
  return TS_OK;
}

/* ---- The space ---- */

static ts_status make_rows(ts_context *context, const tsi_ranks_matrix_desc *desc, multi_rows **rows) {
  *rows = tsi_calloc(context, 1, sizeof **rows);
  if (!*rows) return tsi_out_of_memory(context, "the rows of ranks", sizeof **rows);
  ts_status status = count_rows(context, desc, *rows);
  if (status == TS_OK) status = find_ghosts(context, desc, *rows);
  if (status < 0) multi_rows_destroy(context, *rows);
  return status;
}

static ts_status make_space(ts_context *context, const tsi_ranks_matrix_desc *desc, ts_space **space) {
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

/* ---- Creation ---- */

/* Takes ownership of `csr`. */
static ts_status keep(ts_context *context, tsi_host_csr *csr, tsi_host_csr **kept) {
  *kept = tsi_malloc(context, 1, sizeof **kept);
  if (*kept) {
    **kept = *csr;
    return TS_OK;
  }
  tsi_csr_free(context, csr);
  return tsi_out_of_memory(context, "the host copy", sizeof **kept);
}

static void drop(ts_context *context, tsi_host_csr **kept) {
  tsi_csr_free(context, *kept);
  tsi_free(context, *kept);
  *kept = NULL;
}

static ts_status inspect(ts_matrix *A, const tsi_ranks_matrix_desc *desc, const tsi_csr *csr) {
  ts_context *context = A->context;
  tsi_host_csr block, ghosts = {0};
  int wanted = 1;
  TSI_TRY(multi_even_low_parts(A, csr));
  TSI_TRY(multi_inspect(A, csr, &block, desc->keep_host_copy >= 0 ? &ghosts : NULL));
  if (desc->keep_host_copy < 0) {
    tsi_csr_free(context, &block);
    return TS_OK;
  }
  const ts_status status = keep(context, &block, &A->host_copy);
  const ts_status other = keep(context, &ghosts, &A->host_ghosts);
  if (status < 0 || other < 0) return status < 0 ? status : other;
  if (desc->keep_host_copy == 0) TSI_TRY(tsi_preconditioner_wants_copy(A, &wanted));
  if (wanted) return TS_OK;
  drop(context, &A->host_copy);
  drop(context, &A->host_ghosts);
  return TS_OK;
}

void multi_merge_exponents(void *mine, const void *other) {
  tsi_exponents *a = mine;
  const tsi_exponents *b = other;
  if (b->largest > a->largest) a->largest = b->largest;
  if (b->smallest < a->smallest) a->smallest = b->smallest;
}

ts_status multi_scale_rows(ts_context *context, const tsi_csr *csr, int *exponent, int *loses_digits,
                           tsi_csr *scaled, void **memory) {
  tsi_csr_facts facts;
  *memory = NULL;
  TSI_TRY(tsi_csr_look(context, csr, NULL, &facts));
  tsi_exponents exponents = facts.exponents;
  TSI_TRY(multi_merge_ranks(context, &exponents, sizeof exponents, multi_merge_exponents));
  *exponent = tsi_scaling_exponent(exponents, TSI_ORDINARY_MATRIX);
  *loses_digits = tsi_loses_digits(exponents, *exponent);
  return tsi_csr_scale(context, csr, *exponent, 0, scaled, memory);
}

static ts_status create_over(ts_space *space, const tsi_ranks_matrix_desc *desc, ts_matrix **matrix) {
  ts_context *context = space->context;
  int32_t *columns;
  TSI_TRY(multi_number_columns(space, desc, &columns));
  const tsi_csr csr = {.rows = desc->rows,
                       .columns = tsi_columns_of(space),
                       .row_offsets = desc->row_offsets,
                       .column_indices = columns,
                       .values = desc->values,
                       .double_values = desc->double_values};
  tsi_matrix_desc local = {.format = desc->format,
                           .row_space = space,
                           .column_space = space,
                           .precision = desc->precision,
                           .components = desc->components};
  int exponent, loses_digits;
  void *memory = NULL;
  ts_status status = tsi_csr_validate(context, &csr);
  if (status == TS_OK) status = multi_scale_rows(context, &csr, &exponent, &loses_digits, &local.csr, &memory);
  if (status == TS_OK) status = tsi_matrix_create_as_is(context, &local, matrix);
  if (status == TS_OK) {
    (*matrix)->exponent = exponent;
    (*matrix)->loses_digits = loses_digits;
  }
  if (status == TS_OK) status = inspect(*matrix, desc, &local.csr);
  tsi_free(context, memory);
  tsi_free(context, columns);
  return status;
}

static ts_status create_here(ts_context *context, const tsi_ranks_matrix_desc *desc, ts_matrix **matrix) {
  ts_space *space = NULL;
  TSI_TRY(tsi_enter(context));
  ts_status status = make_space(context, desc, &space);
  tsi_leave(context, status);
  if (status == TS_OK && space) status = create_over(space, desc, matrix);
  ts_space_destroy(&space);
  return status;
}

/* The matrix keeps the original ranks of its rows. */
static ts_status keep_given(ts_matrix *A, multi_moved *moved) {
  multi_space *s = A->row_space->impl;
  memcpy(s->choice, moved->choice, sizeof s->choice);
  if (s->choice[0])
    snprintf(A->choice, sizeof A->choice, "%s in %d parts; %.150s", ts_format_name(A->info.format),
             multi_count(A->context), s->choice);
  s->rows->given = moved->given;
  moved->given = NULL;
  return s->rows->given ? multi_name_given_rows(A) : TS_OK;
}

static ts_status multi_rows_create(ts_context *context, const tsi_ranks_matrix_desc *desc, ts_matrix **matrix) {
  multi_moved moved;
  TSI_TRY(multi_check_offsets(context, desc));
  TSI_TRY(multi_move_rows(context, desc, &moved));
  ts_status status = create_here(context, &moved.desc, matrix);
  if (status == TS_OK && *matrix) status = keep_given(*matrix, &moved);
  multi_moved_free(context, &moved);
  return status;
}

ts_status multi_create_matrix(ts_context *context, const tsi_ranks_matrix_desc *desc, ts_matrix **matrix) {
  tsi_begin_together(context);
  const ts_status status = tsi_end_together(context, multi_rows_create(context, desc, matrix));
  if (status < 0) ts_matrix_destroy(matrix);
  return status;
}

/* Columns remain 64-bit integers. */
ts_status multi_rows_given(ts_context *context, const ts_ranks_matrix_desc *given, tsi_loans *loans,
                           tsi_ranks_matrix_desc *desc) {
  const ts_csr *csr = &given->csr;
  TSI_TRY(tsi_check_reserved(context, "", given->reserved, sizeof given->reserved));
  TSI_TRY(tsi_check_reserved(context, "csr.", csr->reserved, sizeof csr->reserved));
  if (csr->rows < 1 || csr->rows > TSI_MAX_SIZE)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "rows is %lld; each rank has 1 to %d",
                    (long long)csr->rows, TSI_MAX_SIZE);
  *desc = (tsi_ranks_matrix_desc){.rows = (int32_t)csr->rows,
                                  .format = given->format,
                                  .keep_host_copy = given->keep_host_copy,
                                  .precision = given->precision,
                                  .components = given->components,
                                  .may_move = given->may_move};
  TSI_TRY(tsi_array_borrow_int32(context, "row_offsets", &csr->row_offsets, (size_t)csr->rows + 1, loans,
                                 &desc->row_offsets));
  TSI_TRY(multi_check_offsets(context, desc));
  const size_t entries = (size_t)desc->row_offsets[desc->rows];
  TSI_TRY(tsi_array_borrow_int64(context, "column_indices", &csr->column_indices, entries, loans,
                                 &desc->column_indices));
  return tsi_array_borrow_values(context, "values", &csr->values, entries, loans, &desc->values,
                                 &desc->double_values);
}

static ts_status create_given(ts_context *context, const ts_ranks_matrix_desc *given, ts_matrix **matrix) {
  tsi_loans loans = {0};
  tsi_ranks_matrix_desc desc;
  ts_status status = multi_rows_given(context, given, &loans, &desc);
  if (status == TS_OK) status = multi_rows_create(context, &desc, matrix);
  tsi_loans_free(context, &loans);
  return status;
}

ts_status ts_ranks_matrix_create(ts_context *context, const ts_ranks_matrix_desc *desc, ts_matrix **matrix) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, matrix);
  *matrix = NULL;
  TSI_REQUIRE(context, desc);
  if (!context->ops->agree)
    return tsi_fail(
        context, TS_ERROR_UNSUPPORTED,
        "backend %s has a single process; create contexts of several ranks with ts_ranks_context_create",
        context->backend_name);
  tsi_begin_together(context);
  const ts_status status = tsi_end_together(context, create_given(context, desc, matrix));
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
                                 .first_row = multi_first_row(matrix->context, s->rows),
                                 .ghosts = s->rows->ghost_count};
  info->choice = s->choice;
  return TS_OK;
}
