/* A matrix that one rank passes in and distributes, and whole vectors over such a space.
 *
 * The root divides the rows (common/partition) into one part per rank and renumbers columns by position: the
 * rows of rank 0 first, then those of rank 1, and so on. From then on it is a matrix from the rows of each
 * rank. */
#include <string.h>

#include "common/matrix/csr.h"
#include "common/partition/partition.h"
#include "multi_given.h"
#include "multi_row_block.h"

/* ---- The root ---- */

typedef struct cutting {
  const tsi_csr *csr;
  tsi_partition by;
  int32_t *order, *places; /* the row at each position, and the position of each row; NULL: they are equal */
} cutting;

static void free_cutting(ts_context *context, cutting *c) {
  tsi_partition_free(context, &c->by);
  tsi_free(context, c->order);
  tsi_free(context, c->places);
}

static ts_status place_rows(ts_context *context, cutting *c) {
  const size_t rows = (size_t)c->csr->rows;
  if (!c->by.part_of) return TS_OK;
  int32_t *next = tsi_malloc(context, (size_t)c->by.parts, sizeof *next);
  c->order = tsi_malloc(context, rows, sizeof *c->order);
  c->places = tsi_malloc(context, rows, sizeof *c->places);
  if (!next || !c->order || !c->places) {
    tsi_free(context, next);
    return tsi_out_of_memory(context, "the order of rows", rows * 2 * sizeof *next);
  }
  memcpy(next, c->by.first, (size_t)c->by.parts * sizeof *next);
  for (int32_t i = 0; i < c->csr->rows; i++) {
    c->places[i] = next[c->by.part_of[i]]++;
    c->order[c->places[i]] = i;
  }
  tsi_free(context, next);
  return TS_OK;
}

static ts_status check(ts_context *context, const tsi_matrix_desc *desc) {
  if (desc->csr.rows != desc->csr.columns)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "the matrix is %d x %d; ranks can only share a square one",
                    desc->csr.rows, desc->csr.columns);
  if (desc->csr.rows < ts_ranks_get_count(context))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "%d rows are fewer than %d ranks; each rank needs at least one", desc->csr.rows,
                    ts_ranks_get_count(context));
  return tsi_csr_validate(context, &desc->csr);
}

static ts_status cut(ts_context *context, const tsi_matrix_desc *desc, cutting *c) {
  tsi_host_csr canonical;
  int64_t duplicates;
  c->csr = &desc->csr;
  TSI_TRY(check(context, desc));
  tsi_csr pattern = desc->csr;
  pattern.values = NULL;
  pattern.double_values = NULL;
  TSI_TRY(tsi_csr_canonical(context, &pattern, NULL, NULL, 0, &canonical, &duplicates));
  ts_status status =
      tsi_partition_create(context, &canonical, ts_ranks_get_count(context), context->desc.partition, &c->by);
  tsi_csr_free(context, &canonical);
  TSI_TRY(status);
  for (int r = 0; r < c->by.parts; r++)
    if (c->by.first[r] == c->by.first[r + 1])
      return tsi_fail(context, TS_ERROR_UNSUPPORTED, "rank %d got no row of %d (%s)", r, desc->csr.rows,
                      c->by.choice);
  return place_rows(context, c);
}

static int32_t row_at(const cutting *c, int32_t place) {
  return c->order ? c->order[place] : place;
}

static void pack(const cutting *c, int32_t first, const multi_row_block *p) {
  const tsi_csr *csr = c->csr;
  int32_t to = 0;
  for (int32_t k = 0; k < p->header->rows; k++) {
    const int32_t i = row_at(c, first + k);
    p->offsets[k] = to;
    for (int32_t e = csr->row_offsets[i]; e < csr->row_offsets[i + 1]; e++, to++) {
      const int32_t column = csr->column_indices[e];
      p->columns[to] = c->places ? c->places[column] : column;
      if (p->header->doubles > 0) ((double *)p->values)[to] = csr->double_values[e];
      if (p->header->doubles == 0) ((float *)p->values)[to] = csr->values[e];
    }
  }
  p->offsets[p->header->rows] = to;
}

static multi_row_block_header header_of(const cutting *c, int rank) {
  multi_row_block_header h = {.rows = c->by.first[rank + 1] - c->by.first[rank],
                              .doubles = c->csr->double_values ? 1
                                         : c->csr->values      ? 0
                                                               : -1};
  for (int32_t k = c->by.first[rank]; k < c->by.first[rank + 1]; k++)
    h.entries += c->csr->row_offsets[row_at(c, k) + 1] - c->csr->row_offsets[row_at(c, k)];
  memcpy(h.choice, c->by.choice, sizeof c->by.choice);
  return h;
}

static ts_status pack_all(ts_context *context, multi_parcels *p, const cutting *c) {
  for (int r = 0; r < c->by.parts; r++) {
    const multi_row_block_header h = header_of(c, r);
    p->out_bytes[r] = multi_row_block_bytes(&h);
  }
  TSI_TRY(multi_parcels_allocate(context, p));
  for (int r = 0; r < c->by.parts; r++) {
    const multi_row_block_header h = header_of(c, r);
    memcpy(p->out[r], &h, sizeof h);
    const multi_row_block to = multi_row_block_at(p->out[r]);
    pack(c, c->by.first[r], &to);
    p->out_bytes[r] = multi_row_block_bytes(&h);
  }
  return TS_OK;
}

/* ---- All ranks ---- */

static tsi_ranks_matrix_desc rows_of_block(const multi_row_block *p) {
  return (tsi_ranks_matrix_desc){.rows = p->header->rows,
                                 .row_offsets = p->offsets,
                                 .column_indices = p->columns,
                                 .values = p->header->doubles ? NULL : p->values,
                                 .double_values = p->header->doubles > 0 ? p->values : NULL};
}

static ts_status create_from(ts_context *context, void *memory, const tsi_matrix_desc *desc,
                             ts_matrix **matrix) {
  const multi_row_block p = multi_row_block_at(memory);
  tsi_ranks_matrix_desc rows = rows_of_block(&p);
  rows.format = desc->format;
  rows.keep_host_copy = desc->keep_host_copy;
  rows.precision = desc->precision;
  rows.components = desc->components;
  rows.may_move = context->desc.partition == TS_PARTITION_SCOTCH;
  TSI_TRY(multi_create_matrix(context, &rows, matrix));
  multi_space *s = (*matrix)->row_space->impl;
  if (!s->choice[0]) memcpy(s->choice, p.header->choice, sizeof s->choice);
  snprintf((*matrix)->choice, sizeof(*matrix)->choice, "%s in %d parts; %.150s",
           ts_format_name((*matrix)->info.format), multi_count(context), s->choice);
  return TS_OK;
}

/* The root can translate rows of the ranks to rows of its matrix. */
static void name_rows_of_the_root(const cutting *c, ts_matrix_info *info) {
  int32_t *const rows[] = {&info->unsymmetric_row, &info->unsymmetric_column, &info->zero_diagonal_row};
  for (int k = 0; k < 3; k++)
    if (c->order && *rows[k] >= 0) *rows[k] = c->order[*rows[k]];
}

static ts_status distribute(ts_context *context, int root, const tsi_matrix_desc *desc, multi_parcels *p,
                            cutting *c, ts_matrix **matrix) {
  const int mine = ts_ranks_get_rank(context);
  if (mine == root) TSI_TRY(cut(context, desc, c));
  if (mine == root) TSI_TRY(pack_all(context, p, c));
  TSI_TRY(multi_parcels_exchange(context, p));
  TSI_TRY(create_from(context, mine == root ? p->out[root] : p->in[root], desc, matrix));
  multi_space *s = (*matrix)->row_space->impl;
  name_rows_of_the_root(c, &(*matrix)->info);
  s->rows->order = c->order;
  c->order = NULL;
  return TS_OK;
}

static ts_status multi_whole_create(ts_context *context, int root, const tsi_matrix_desc *desc,
                                    ts_matrix **matrix) {
  if (desc->row_space || desc->column_space || desc->constrained)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "%s is set, which matrices of ranks do not support",
                    desc->constrained ? "constrained" : "a space");
  multi_parcels parcels;
  cutting c = {0};
  TSI_TRY(multi_parcels_create(context, &parcels));
  const ts_status status = distribute(context, root, desc, &parcels, &c, matrix);
  multi_parcels_destroy(context, &parcels);
  free_cutting(context, &c);
  return status;
}

/* Only the root reads the whole matrix. */
static ts_status create_given(ts_context *context, int root, const ts_matrix_desc *given, ts_matrix **matrix) {
  tsi_loans loans = {0};
  tsi_matrix_desc desc;
  ts_status status = tsi_check_reserved(context, "", given->reserved, sizeof given->reserved);
  if (status == TS_OK && ts_ranks_get_rank(context) == root)
    status = tsi_matrix_desc_given(context, given, &loans, &desc);
  else
    desc = (tsi_matrix_desc){.format = given->format,
                             .keep_host_copy = given->keep_host_copy,
                             .precision = given->precision,
                             .components = given->components};
  if (status == TS_OK) status = multi_whole_create(context, root, &desc, matrix);
  tsi_loans_free(context, &loans);
  return status;
}

ts_status ts_ranks_matrix_from(ts_context *context, int root, const ts_matrix_desc *desc, ts_matrix **matrix) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, matrix);
  *matrix = NULL;
  TSI_REQUIRE(context, desc);
  TSI_TRY(multi_check_root(context, root));
  tsi_begin_together(context);
  const ts_status status = tsi_end_together(context, create_given(context, root, desc, matrix));
  if (status < 0) ts_matrix_destroy(matrix);
  return status;
}

/* ---- New values ---- */

/* Repeats the division from the creation of the matrix, except the order, which the matrix keeps. */
static ts_status cut_again(const ts_matrix *A, const tsi_csr *csr, cutting *c) {
  ts_context *context = A->context;
  const multi_rows *rows = ((const multi_space *)A->row_space->impl)->rows;
  if (!csr)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "csr is NULL on the root, rank %d",
                    ts_ranks_get_rank(context));
  if (csr->rows != A->all_rows || csr->columns != A->all_rows)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE,
                    "the values are of a %d x %d matrix; this one has %lld rows", csr->rows, csr->columns,
                    (long long)A->all_rows);
  TSI_TRY(tsi_csr_validate(context, csr));
  const size_t ranks = (size_t)ts_ranks_get_count(context), own = (size_t)multi_state_of(context)->own;
  c->csr = csr;
  c->order = rows->order;
  c->by.parts = (int)ranks;
  c->by.first = tsi_malloc(context, ranks + 1, sizeof *c->by.first);
  if (!c->by.first) return tsi_out_of_memory(context, "the rows of ranks", (ranks + 1) * sizeof *c->by.first);
  for (size_t r = 0; r <= ranks; r++) c->by.first[r] = (int32_t)rows->first[r * own];
  if (!c->order) return TS_OK;
  c->places = tsi_malloc(context, (size_t)csr->rows, sizeof *c->places);
  if (!c->places) return tsi_out_of_memory(context, "the order of rows", (size_t)csr->rows * sizeof *c->places);
  for (int32_t place = 0; place < csr->rows; place++) c->places[c->order[place]] = place;
  return TS_OK;
}

static ts_status distribute_values(const ts_matrix *A, int root, const tsi_csr *csr, ts_status given,
                                   multi_parcels *p, cutting *c) {
  ts_context *context = A->context;
  TSI_TRY(multi_parcels_create(context, p));
  if (ts_ranks_get_rank(context) == root) {
    TSI_TRY(given);
    TSI_TRY(cut_again(A, csr, c));
    TSI_TRY(pack_all(context, p, c));
  }
  return multi_parcels_exchange(context, p);
}

static ts_status set_own_values(ts_matrix *A, void *memory) {
  const multi_row_block p = multi_row_block_at(memory);
  const tsi_ranks_matrix_desc rows = rows_of_block(&p);
  return multi_set_values(A, &rows);
}

/* All ranks receive their values before any of them continues. `given`: a failure in the root's arguments. */
static ts_status set_values_from(ts_matrix *A, int root, const tsi_csr *csr, ts_status given) {
  ts_context *context = A->context;
  multi_parcels p = {0};
  cutting c = {0};
  ts_status status = multi_agree(context, distribute_values(A, root, csr, given, &p, &c));
  if (status == TS_OK)
    status = set_own_values(A, ts_ranks_get_rank(context) == root ? p.out[root] : p.in[root]);
  if (status == TS_OK) name_rows_of_the_root(&c, &A->info);
  if (p.out) multi_parcels_destroy(context, &p);
  c.order = NULL;
  free_cutting(context, &c);
  return status;
}

static ts_status set_given_values_from(ts_matrix *A, int root, const ts_csr *csr) {
  ts_context *context = A->context;
  tsi_loans loans = {0};
  tsi_csr host;
  ts_status status = TS_OK;
  const int is_given = csr && ts_ranks_get_rank(context) == root;
  if (is_given) status = tsi_csr_given(context, csr, &loans, &host);
  status = set_values_from(A, root, is_given ? &host : NULL, status);
  tsi_loans_free(context, &loans);
  return status;
}

ts_status ts_ranks_matrix_set_values_from(ts_matrix *matrix, int root, const ts_csr *csr) {
  TSI_BEGIN(matrix, matrix->context);
  ts_context *context = matrix->context;
  TSI_TRY(multi_check_root(context, root));
  if (!matrix->all_rows)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix is not made of the rows of ranks; ts_matrix_set_values replaces its values");
  tsi_begin_together(context);
  return tsi_end_together(context, set_given_values_from(matrix, root, csr));
}

/* ---- Vectors ---- */

static const multi_rows *rows_of(const ts_vector *v) {
  const multi_space *s = v->space->impl;
  return s ? s->rows : NULL;
}

static ts_status check_vector(const ts_vector *v, int root) {
  TSI_TRY(multi_check_root(v->context, root));
  if (!rows_of(v))
    return tsi_fail(v->context, TS_ERROR_INVALID_ARGUMENT,
                    "the vector is over a space of all ranks; ts_vector_write and ts_vector_read transfer it");
  return TS_OK;
}

/* The first position of a rank, before rows moved. */
static int64_t first_of(const ts_vector *v, int rank) {
  const multi_rows *rows = rows_of(v);
  return rows->given ? rows->given->first[rank]
                     : rows->first[(size_t)rank * (size_t)multi_state_of(v->context)->own];
}

/* Copies the numbers at a rank's positions from or to the root's order. */
static void copy_places(const ts_vector *v, int rank, double *whole, double *part, int to_part) {
  const size_t n = (size_t)v->components;
  const int32_t *order = rows_of(v)->order;
  for (int64_t place = first_of(v, rank); place < first_of(v, rank + 1); place++, part += n) {
    double *at = whole + (size_t)(order ? order[place] : place) * n;
    memcpy(to_part ? part : at, to_part ? at : part, n * sizeof *part);
  }
}

static size_t count_of(const ts_vector *v, int rank) {
  return (size_t)(first_of(v, rank + 1) - first_of(v, rank)) * (size_t)v->components;
}

/* Here and below, `values` are the root's, and NULL on the other ranks. */
static ts_status scatter_from(ts_vector *v, int root, const double *values, multi_parcels *p) {
  ts_context *context = v->context;
  if (values) {
    for (int r = 0; r < ts_ranks_get_count(context); r++) p->out_bytes[r] = count_of(v, r) * sizeof *values;
    TSI_TRY(multi_parcels_allocate(context, p));
    for (int r = 0; r < ts_ranks_get_count(context); r++) {
      p->out_bytes[r] = count_of(v, r) * sizeof *values;
      copy_places(v, r, (double *)values, p->out[r], 1);
    }
  }
  TSI_TRY(multi_parcels_exchange(context, p));
  return multi_write_given(v, values ? p->out[root] : p->in[root]);
}

static ts_status gather_to(const ts_vector *v, int root, double *values, multi_parcels *p) {
  ts_context *context = v->context;
  const int mine = ts_ranks_get_rank(context);
  p->out_bytes[root] = count_of(v, mine) * sizeof *values;
  TSI_TRY(multi_parcels_allocate(context, p));
  p->out_bytes[root] = count_of(v, mine) * sizeof *values;
  TSI_TRY(multi_read_given(v, p->out[root]));
  TSI_TRY(multi_parcels_exchange(context, p));
  for (int r = 0; values && r < ts_ranks_get_count(context); r++)
    copy_places(v, r, values, r == root ? p->out[r] : p->in[r], 0);
  return TS_OK;
}

/* The count of numbers in the whole vector. */
static size_t whole_count(const ts_vector *v) {
  return (size_t)(first_of(v, ts_ranks_get_count(v->context)) - first_of(v, 0)) * (size_t)v->components;
}

static ts_status write_from(ts_vector *v, int root, const ts_array *values, multi_parcels *p,
                            tsi_loans *loans) {
  const double *doubles = NULL;
  ts_status status = multi_parcels_create(v->context, p);
  if (status == TS_OK && ts_ranks_get_rank(v->context) == root) {
    status = tsi_array_borrow_doubles(v->context, "values", values, whole_count(v), loans, &doubles);
    if (status == TS_OK && !doubles)
      status = tsi_fail(v->context, TS_ERROR_INVALID_ARGUMENT, "values is NULL on the root, rank %d", root);
  }
  return status == TS_OK ? scatter_from(v, root, doubles, p) : status;
}

ts_status ts_ranks_vector_from(ts_vector *vector, int root, ts_array values) {
  TSI_BEGIN(vector, vector->context);
  TSI_TRY(check_vector(vector, root));
  multi_parcels parcels = {0};
  tsi_loans loans = {0};
  tsi_begin_together(vector->context);
  const ts_status status = write_from(vector, root, &values, &parcels, &loans);
  multi_parcels_destroy(vector->context, &parcels);
  tsi_loans_free(vector->context, &loans);
  return tsi_end_together(vector->context, status);
}

static ts_status read_to(const ts_vector *v, int root, const ts_array *values, multi_parcels *p,
                         tsi_loans *loans) {
  const size_t count = whole_count(v);
  const int is_root = ts_ranks_get_rank(v->context) == root;
  void *doubles = NULL;
  ts_status status = multi_parcels_create(v->context, p);
  if (status == TS_OK && is_root) {
    status = tsi_array_check(v->context, "values", values, count, TSI_FLOATING, TSI_WRITE);
    if (status == TS_OK) status = tsi_loan(v->context, "a vector", count, TS_TYPE_DOUBLE, loans, &doubles);
  }
  if (status == TS_OK) status = gather_to(v, root, doubles, p);
  return status == TS_OK && is_root ? tsi_array_put(v->context, values, doubles) : status;
}

ts_status ts_ranks_vector_to(const ts_vector *vector, int root, ts_array values) {
  TSI_BEGIN(vector, vector->context);
  TSI_TRY(check_vector(vector, root));
  multi_parcels parcels = {0};
  tsi_loans loans = {0};
  tsi_begin_together(vector->context);
  const ts_status status = read_to(vector, root, &values, &parcels, &loans);
  multi_parcels_destroy(vector->context, &parcels);
  tsi_loans_free(vector->context, &loans);
  return tsi_end_together(vector->context, status);
}
