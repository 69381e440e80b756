/* The first and the last level, if several ranks share the rows: the application's matrix, and the inverse.
 * Every rank computes the whole inverse. */
#include <math.h>
#include <string.h>

#include "amg_halo.h"
#include "common/matrix/csr.h"

/* ---- The first level ---- */

/* Lists the nodes of the columns that belong to other ranks. */
static ts_status find_nodes(const ts_matrix *matrix, int unknowns, tsi_amg_halo **halo) {
  ts_context *context = matrix->context;
  const int64_t *columns;
  const int32_t count = context->ops->ranks->ghosts(matrix->row_space, &columns);
  int64_t *first, *nodes;
  TSI_TRY(tsi_amg_count_nodes(context, matrix->info.rows / unknowns, &first));
  nodes = tsi_malloc(context, (size_t)count, sizeof *nodes);
  if (!nodes) {
    tsi_free(context, first);
    return tsi_out_of_memory(context, "the ghosts of amg", (size_t)count * sizeof *nodes);
  }
  for (int32_t k = 0; k < count; k++) nodes[k] = columns[k] / unknowns;
  return tsi_amg_halo_create(context, first, nodes, tsi_amg_unite(nodes, (size_t)count), halo);
}

/* Joins the own columns and the ghosts, row by row. */
static ts_status join(const ts_matrix *matrix, const tsi_amg_numbering *n, tsi_amg_csr *A) {
  const tsi_host_csr *own = matrix->host_copy, *others = matrix->host_ghosts;
  const int32_t rows = own->rows;
  const int64_t *columns;
  matrix->context->ops->ranks->ghosts(matrix->row_space, &columns);
  TSI_TRY(tsi_amg_csr_create(matrix->context, rows, rows + n->count * n->unknowns,
                             (int64_t)own->row_offsets[rows] + others->row_offsets[rows], A));
  int32_t to = 0;
  for (int32_t i = 0; i < rows; i++) {
    for (int32_t e = own->row_offsets[i]; e < own->row_offsets[i + 1]; e++, to++) {
      A->indices[to] = own->column_indices[e];
      A->values[to] = own->values[e];
    }
    for (int32_t e = others->row_offsets[i]; e < others->row_offsets[i + 1]; e++, to++) {
      A->indices[to] = tsi_amg_local(n, columns[others->column_indices[e]]);
      A->values[to] = others->values[e];
    }
    A->offsets[i + 1] = to;
  }
  return TS_OK;
}

ts_status tsi_amg_copy_rows(const ts_matrix *matrix, int unknowns, tsi_amg_csr *A, tsi_amg_halo **halo) {
  TSI_TRY(find_nodes(matrix, unknowns, halo));
  const tsi_amg_numbering n = tsi_amg_number(*halo, unknowns);
  const ts_status status = join(matrix, &n, A);
  if (status == TS_OK) return TS_OK;
  tsi_amg_halo_free(matrix->context, *halo);
  *halo = NULL;
  return status;
}

/* Checks that the descriptors of all ranks agree. */
static ts_status check_alike(ts_context *context, const ts_amg_desc *desc) {
  const double vectors = tsi_amg_vectors(desc), unknowns = desc->unknowns;
  double most[4] = {vectors, -vectors, unknowns, -unknowns};
  TSI_TRY(context->ops->ranks->largest(context, most, 4));
  for (int k = 0; k < 4; k += 2)
    if (most[k] != -most[k + 1])
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "amg has %.0f to %.0f %s on the ranks; all ranks need the same number", -most[k + 1],
                      most[k], k ? "unknowns" : "near-null vectors");
  return TS_OK;
}

/* Rejects the global first row without a positive diagonal, under the application's name for it. */
ts_status tsi_amg_check_rows(const ts_matrix *matrix, const ts_amg_desc *desc, const tsi_amg_csr *A) {
  const tsi_ranks_ops *ranks = matrix->context->ops->ranks;
  float diagonal;
  TSI_TRY(check_alike(matrix->context, desc));
  const int32_t row = tsi_amg_bad_row(matrix, A, &diagonal);
  const double mine = row < 0 ? -INFINITY : -(double)(ranks->first_row(matrix->row_space) + row);
  double found = mine, value = -INFINITY;
  TSI_TRY(ranks->largest(matrix->context, &found, 1));
  if (isinf(found)) return TS_OK;
  if (row >= 0 && mine >= found) value = (double)diagonal;
  TSI_TRY(ranks->largest(matrix->context, &value, 1));
  int64_t name = (int64_t)-found;
  TSI_TRY(ranks->name_row(matrix->row_space, &name));
  return tsi_amg_refuse_row(matrix->context, name > INT32_MAX ? INT32_MAX : (int32_t)name, (float)value);
}

/* ---- An identical level for the inverse: the application's vectors have no room for all columns ---- */

static ts_status copy_matrix(ts_context *context, const tsi_amg_csr *A, tsi_amg_csr *copy) {
  const int32_t entries = A->offsets[A->rows];
  TSI_TRY(tsi_amg_csr_create(context, A->rows, A->columns, entries, copy));
  memcpy(copy->offsets, A->offsets, ((size_t)A->rows + 1) * sizeof *A->offsets);
  memcpy(copy->indices, A->indices, (size_t)entries * sizeof *A->indices);
  memcpy(copy->values, A->values, (size_t)entries * sizeof *A->values);
  return TS_OK;
}

static ts_status identity(ts_context *context, int32_t rows, int32_t columns, float value, tsi_amg_csr *I) {
  TSI_TRY(tsi_amg_csr_create(context, rows, columns, rows, I));
  for (int32_t i = 0; i < rows; i++) {
    I->offsets[i + 1] = i + 1;
    I->indices[i] = i;
    I->values[i] = value;
  }
  return TS_OK;
}

static ts_status copy_halo(ts_context *context, const tsi_amg_halo *from, tsi_amg_halo **halo) {
  const size_t ranks = (size_t)from->ranks + 1, count = (size_t)from->count;
  int64_t *first = tsi_malloc(context, ranks, sizeof *first),
          *ghosts = tsi_malloc(context, count, sizeof *ghosts);
  if (!first || !ghosts) {
    tsi_free(context, first);
    tsi_free(context, ghosts);
    return tsi_out_of_memory(context, "the ghosts of amg", (ranks + count) * sizeof *first);
  }
  memcpy(first, from->first, ranks * sizeof *first);
  if (count > 0) memcpy(ghosts, from->ghosts, count * sizeof *ghosts);
  return tsi_amg_halo_create(context, first, ghosts, from->count, halo);
}

ts_status tsi_amg_repeat_level(ts_context *context, tsi_amg_host_level *level, tsi_amg_host_level *next) {
  const tsi_amg_csr *A = &level->A;
  TSI_TRY(identity(context, A->rows, A->columns, 1, &level->P));
  TSI_TRY(identity(context, A->rows, A->columns, -1, &level->R));
  TSI_TRY(copy_matrix(context, A, &next->A));
  next->unknowns = level->unknowns;
  next->vectors = level->vectors;
  next->nodes = level->nodes;
  TSI_TRY(copy_halo(context, level->halo, &next->halo));
  level->bound = tsi_amg_bound(A);
  TSI_TRY(tsi_amg_largest(context, level, &level->bound, 1));
  return tsi_amg_eigenvalue(context, level);
}

/* ---- The inverse ---- */

/* Sends this rank's nodes to all ranks. */
static ts_status list_sendings(ts_context *context, const tsi_amg_numbering *n, int32_t **begins) {
  const int32_t ranks = ts_ranks_get_count(context), own = n->own;
  *begins = tsi_malloc(context, (size_t)ranks + 1 + (size_t)ranks * (size_t)own, sizeof **begins);
  if (!*begins) return tsi_out_of_memory(context, "the last level of amg", (size_t)ranks * (size_t)own);
  for (int32_t r = 0; r <= ranks; r++) (*begins)[r] = r * own;
  for (int32_t k = 0; k < ranks * own; k++) (*begins)[ranks + 1 + k] = k % own;
  return TS_OK;
}

static ts_status collect(ts_context *context, const tsi_amg_host_level *level, tsi_amg_csr *whole) {
  const tsi_amg_halo *halo = level->halo;
  const int32_t rows = (int32_t)halo->first[halo->ranks] * level->unknowns;
  const tsi_amg_numbering n = tsi_amg_number(halo, level->unknowns),
                          all = {.own = rows / level->unknowns, .unknowns = level->unknowns};
  int32_t *begins;
  tsi_amg_entries entries;
  TSI_TRY(list_sendings(context, &n, &begins));
  const tsi_amg_sending sending = {&level->A, n, n, begins, begins + halo->ranks + 1};
  ts_status status = tsi_amg_send_rows(context, &sending, &entries);
  if (status == TS_OK) status = tsi_amg_add_entries(context, NULL, 0, &entries, &all, &all, rows, whole);
  tsi_free(context, begins);
  tsi_free(context, entries.list);
  return status;
}

ts_status tsi_amg_invert_on_ranks(ts_context *context, const tsi_amg_host_level *level, float **inverse) {
  tsi_amg_csr whole = {0};
  TSI_TRY(collect(context, level, &whole));
  const ts_status status = tsi_amg_invert(context, &whole, inverse);
  tsi_amg_csr_free(context, &whole);
  return status;
}
