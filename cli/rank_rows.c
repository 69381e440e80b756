#include "rank_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Transfers: all ranks receive each slice, and its owner keeps it ---- */

/* Never TS_OK on a rank that failed. */
static ts_status agree_on_memory(ts_context *context, int failed) {
  const ts_status status = ts_ranks_agree(context, failed ? TS_ERROR_OUT_OF_HOST_MEMORY : TS_OK,
                                          "out of memory for the rows of a rank");
  return failed && status >= 0 ? TS_ERROR_OUT_OF_HOST_MEMORY : status;
}

/* Broadcasts in pieces, because message sizes are limited. */
static ts_status broadcast(ts_context *context, char *data, size_t bytes) {
  const size_t most = (size_t)1 << 28;
  ts_status status = TS_OK;
  for (size_t at = 0; at < bytes && status == TS_OK; at += most)
    status = ts_ranks_broadcast(context, 0, data + at, bytes - at < most ? bytes - at : most);
  return status;
}

/* Sends elements starts[r] to starts[r + 1] of rank 0's array to rank r. */
static ts_status share(ts_context *context, const rank_rows *rows, const int64_t *starts, const void *all,
                       size_t size, void **mine) {
  size_t largest = 1;
  for (int r = 0; r < rows->ranks; r++) {
    const size_t bytes = (size_t)(starts[r + 1] - starts[r]) * size;
    if (bytes > largest) largest = bytes;
  }
  const size_t own = (size_t)(starts[rows->rank + 1] - starts[rows->rank]) * size;
  char *slice = malloc(largest);
  *mine = malloc(own + 1);
  ts_status status = agree_on_memory(context, !slice || !*mine);
  for (int r = 0; r < rows->ranks && status == TS_OK; r++) {
    const size_t bytes = (size_t)(starts[r + 1] - starts[r]) * size;
    if (rows->rank == 0 && bytes) memcpy(slice, (const char *)all + (size_t)starts[r] * size, bytes);
    status = broadcast(context, slice, bytes);
    if (status == TS_OK && r == rows->rank && bytes) memcpy(*mine, slice, bytes);
  }
  free(slice);
  if (status == TS_OK) return status;
  free(*mine);
  *mine = NULL;
  return status;
}

/* ---- Rows ---- */

/* Finds each rank's first row, at the first row of a node, with about equal entries per rank. Every rank gets a
 * node. */
static void divide(const ts_csr *csr, int unknowns, int ranks, int64_t *first) {
  const int32_t *offsets = csr->row_offsets.data;
  const int64_t nodes = csr->rows / unknowns, entries = offsets[csr->rows];
  int64_t node = 0;
  for (int r = 0; r < ranks; r++) {
    const int64_t least = r ? first[r - 1] / unknowns + 1 : 0, most = nodes - (ranks - r);
    const double wanted = (double)entries * r / ranks;
    while (node < most && (node < least || (double)offsets[node * unknowns] < wanted)) node++;
    first[r] = node * unknowns;
  }
  first[ranks] = csr->rows;
}

/* The data from which each rank builds its part of the matrix. */
typedef struct parcel {
  int32_t *lengths; /* of all rows; used on rank 0 only */
  void *own_lengths, *own_columns, *own_values;
  int64_t *wide, *entries; /* columns; each rank's first entry, and the end */
  int32_t *offsets;
} parcel;

static void free_parcel(parcel *p) {
  free(p->lengths);
  free(p->own_lengths);
  free(p->own_columns);
  free(p->own_values);
  free(p->wide);
  free(p->entries);
  free(p->offsets);
}

/* Rank 0 decides where each rank's rows and entries begin. */
static ts_status send_starts(ts_context *context, const ts_csr *csr, int unknowns, rank_rows *rows, parcel *p) {
  const size_t bytes = ((size_t)rows->ranks + 1) * sizeof *rows->first;
  const int is_root = rows->rank == 0;
  rows->first = malloc(bytes);
  p->entries = malloc(bytes);
  ts_status status = agree_on_memory(context, !rows->first || !p->entries || !p->lengths);
  if (status < 0) return status;
  if (is_root) {
    const int32_t *offsets = csr->row_offsets.data;
    divide(csr, unknowns, rows->ranks, rows->first);
    for (int r = 0; r <= rows->ranks; r++) p->entries[r] = offsets[rows->first[r]];
    for (int64_t i = 0; i < csr->rows; i++) p->lengths[i] = offsets[i + 1] - offsets[i];
  }
  status = broadcast(context, (char *)rows->first, bytes);
  return status == TS_OK ? broadcast(context, (char *)p->entries, bytes) : status;
}

static ts_status share_matrix(ts_context *context, const ts_csr *csr, const rank_rows *rows, parcel *p) {
  void *lengths = NULL, *columns = NULL, *values = NULL;
  ts_status status = share(context, rows, rows->first, p->lengths, sizeof(int32_t), &lengths);
  if (status == TS_OK)
    status = share(context, rows, p->entries, csr->column_indices.data, sizeof(int32_t), &columns);
  if (status == TS_OK) status = share(context, rows, p->entries, csr->values.data, sizeof(double), &values);
  p->own_lengths = lengths;
  p->own_columns = columns;
  p->own_values = values;
  return status;
}

/* Creates the matrix from this rank's rows, with global column numbers. */
static ts_status create_rank_rows(ts_context *context, const ts_matrix_desc *desc, const rank_rows *rows,
                                  parcel *p, ts_matrix **matrix) {
  const int32_t count = (int32_t)(rows->first[rows->rank + 1] - rows->first[rows->rank]);
  const size_t entries = (size_t)(p->entries[rows->rank + 1] - p->entries[rows->rank]);
  p->offsets = calloc((size_t)count + 1, sizeof *p->offsets);
  p->wide = malloc((entries + 1) * sizeof *p->wide);
  const ts_status status = agree_on_memory(context, !p->offsets || !p->wide);
  if (status < 0) return status;
  for (int32_t i = 0; i < count; i++) p->offsets[i + 1] = p->offsets[i] + ((const int32_t *)p->own_lengths)[i];
  for (size_t e = 0; e < entries; e++) p->wide[e] = ((const int32_t *)p->own_columns)[e];
  const double *own_values = p->own_values;
  const ts_ranks_matrix_desc own = {
      .csr = ts_host_csr(count, rows->first[rows->ranks], p->offsets, p->wide, own_values),
      .format = desc->format,
      .keep_host_copy = desc->keep_host_copy,
      .precision = desc->precision,
      .components = desc->components};
  return ts_ranks_matrix_create(context, &own, matrix);
}

ts_status rank_rows_create(ts_context *context, const ts_matrix_desc *desc, int unknowns, rank_rows *rows,
                           ts_matrix **matrix) {
  char text[120] = "";
  parcel p = {0};
  *rows = (rank_rows){.ranks = ts_ranks_get_count(context), .rank = ts_ranks_get_rank(context)};
  *matrix = NULL;
  const int too_few = rows->rank == 0 && desc->csr.rows / unknowns < rows->ranks;
  if (too_few)
    snprintf(text, sizeof text, "%d nodes of %d rows are less than %d ranks", (int)(desc->csr.rows / unknowns),
             unknowns, rows->ranks);
  ts_status status = ts_ranks_agree(context, too_few ? TS_ERROR_INVALID_ARGUMENT : TS_OK, text);
  p.lengths = malloc((size_t)(rows->rank == 0 ? desc->csr.rows : 1) * sizeof *p.lengths);
  if (status == TS_OK) status = send_starts(context, &desc->csr, unknowns, rows, &p);
  if (status == TS_OK) status = share_matrix(context, &desc->csr, rows, &p);
  if (status == TS_OK) status = create_rank_rows(context, desc, rows, &p, matrix);
  free_parcel(&p);
  return status;
}

ts_status rank_rows_share(ts_context *context, const rank_rows *rows, const double *all, int per_row,
                          double **mine) {
  void *own = NULL;
  const ts_status status = share(context, rows, rows->first, all, (size_t)per_row * sizeof(double), &own);
  *mine = own;
  return status;
}

void rank_rows_free(rank_rows *rows) {
  free(rows->first);
  *rows = (rank_rows){0};
}
