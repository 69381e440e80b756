/* Matrices: each part has a block of rows, with the part's own columns and its ghosts. */
#include <string.h>

#include "common/core/pool.h"
#include "common/matrix/csr.h"
#include "multi.h"

static const multi_matrix *matrix_of(const ts_matrix *A) {
  return A->impl;
}

/* ---- Dividing ---- */

/* Sorts the entries first .. end-1 of a row by column. */
static void sort_entries(tsi_host_csr *csr, int32_t first, int32_t end) {
  for (int32_t e = first + 1; e < end; e++) {
    const int32_t column = csr->column_indices[e];
    const float value = csr->values ? csr->values[e] : 0;
    int32_t to = e;
    for (; to > first && csr->column_indices[to - 1] > column; to--) {
      csr->column_indices[to] = csr->column_indices[to - 1];
      if (csr->values) csr->values[to] = csr->values[to - 1];
    }
    csr->column_indices[to] = column;
    if (csr->values) csr->values[to] = value;
  }
}

/* The rows of part p with their column numbers in that part. */
typedef struct cut {
  const tsi_host_csr *csr;
  const multi_space *rows, *columns;
  const multi_halo *halo;
  int p;
  int32_t first_ghost;
  tsi_host_csr *out;
} cut;

static int32_t row_of(const cut *c, int32_t k) {
  return multi_index(c->rows, c->rows->first[c->p] + k);
}

static void find_offsets(const cut *c) {
  int32_t *offsets = c->out->row_offsets;
  offsets[0] = 0;
  for (int32_t k = 0; k < c->out->rows; k++) {
    const int32_t i = row_of(c, k);
    offsets[k + 1] = offsets[k] + c->csr->row_offsets[i + 1] - c->csr->row_offsets[i];
  }
}

static int32_t local_column(const cut *c, int32_t column) {
  const int32_t position = multi_position(c->columns, column), own = c->columns->first[c->p];
  return position >= own && position < c->columns->first[c->p + 1]
             ? position - own
             : c->first_ghost + multi_ghost(c->halo, c->p, position);
}

static void cut_block(const void *arguments, size_t first, size_t last) {
  const cut *c = arguments;
  tsi_host_csr *out = c->out;
  for (int32_t k = tsi_block_begin(out->rows, first); k < tsi_block_begin(out->rows, last); k++) {
    const int32_t from = c->csr->row_offsets[row_of(c, k)], begin = out->row_offsets[k];
    for (int32_t e = begin; e < out->row_offsets[k + 1]; e++) {
      out->column_indices[e] = local_column(c, c->csr->column_indices[from + e - begin]);
      if (out->values) out->values[e] = c->csr->values[from + e - begin];
    }
    sort_entries(out, begin, out->row_offsets[k + 1]);
  }
}

/* In canonical form: a row's own columns precede its ghosts, and both ascend. */
static ts_status cut_rows(ts_context *context, const tsi_host_csr *csr, const multi_space *rows,
                          const multi_space *columns, const multi_halo *halo, int p, tsi_host_csr *out) {
  const ts_space *space = multi_halo_columns(halo, columns, p);
  const cut c = {csr, rows, columns, halo, p, tsi_first_ghost(space), out};
  *out =
      (tsi_host_csr){.rows = rows->first[p + 1] - rows->first[p], .columns = tsi_columns_of(space), .owned = 1};
  TSI_TRY(tsi_threads_for(context, out->rows));
  out->row_offsets = tsi_malloc(context, (size_t)out->rows + 1, sizeof *out->row_offsets);
  if (!out->row_offsets)
    return tsi_out_of_memory(context, "a part of a matrix", (size_t)out->rows * sizeof *out->row_offsets);
  find_offsets(&c);
  const size_t entries = (size_t)out->row_offsets[out->rows];
  out->column_indices = tsi_malloc(context, entries, sizeof *out->column_indices);
  if (csr->values) out->values = tsi_malloc(context, entries, sizeof *out->values);
  if (!out->column_indices || (csr->values && !out->values)) {
    tsi_csr_free(context, out);
    return tsi_out_of_memory(context, "a part of a matrix", entries * 2 * sizeof(float));
  }
  tsi_in_blocks(context, out->rows, cut_block, &c);
  return TS_OK;
}

/* ---- Creation ---- */

static ts_status create_local(const ts_matrix *A, const tsi_host_csr *csr, int p, ts_matrix **local) {
  const multi_space *rows = A->row_space->impl, *columns = A->column_space->impl;
  ts_space *column_space = multi_halo_columns(matrix_of(A)->halo, columns, p);
  multi_part(A->context, p)->tuning = A->context->tuning;
  const tsi_matrix_desc desc = {
      .csr = {.rows = csr->rows,
              .columns = csr->columns,
              .row_offsets = csr->row_offsets,
              .column_indices = csr->column_indices,
              .values = csr->values},
      /* With a diagonal, both spaces are the same. It has as many indices as rows, and the values contain the
       * flags. */
      .row_space = A->has_diagonal ? column_space : rows->local[p],
      .column_space = column_space,
  };
  return multi_report(A->context, p, tsi_matrix_create_as_is(multi_part(A->context, p), &desc, local));
}

/* An operation on the rows of each part. */
typedef ts_status (*for_rows)(const ts_matrix *A, const tsi_host_csr *csr, int p, ts_matrix **local);

static ts_status each_part(const ts_matrix *A, const tsi_host_csr *csr, for_rows body) {
  ts_context *context = A->context;
  const multi_space *rows = A->row_space->impl, *columns = A->column_space->impl;
  const multi_matrix *m = matrix_of(A);
  for (int p = 0; p < multi_count(context); p++) {
    tsi_host_csr part;
    if (!rows->local[p]) continue;
    TSI_TRY(cut_rows(context, csr, rows, columns, m->halo, p, &part));
    const ts_status status = body(A, &part, p, &m->local[p]);
    tsi_csr_free(context, &part);
    TSI_TRY(status);
  }
  multi_account(context);
  return TS_OK;
}

static void multi_matrix_destroy(ts_matrix *A);

/* For matrices with a smoothing step in every part, on other ranks too, or without one. */
static const tsi_matrix_kind kind = {.destroy = multi_matrix_destroy,
                                     TSI_MATRIX_OPERATIONS(TSI_ENTRY, multi_).quick_residual =
                                         multi_quick_residual};
static const tsi_matrix_kind smoothing_kind = {.destroy = multi_matrix_destroy,
                                               TSI_MATRIX_OPERATIONS(TSI_ENTRY, multi_).quick_residual =
                                                   multi_quick_residual,
                                               .smooth = multi_smooth};

static void merge_smooths(void *mine, const void *other) {
  *(int *)mine = *(int *)mine && *(const int *)other;
}

/* Ranks may have chosen different formats, but must take the same steps, because the steps communicate. */
static ts_status choose_kind(ts_matrix *A) {
  int smooths = 1;
  for (int p = 0; p < multi_count(A->context); p++) {
    const ts_matrix *local = matrix_of(A)->local[p];
    if (local && !local->kind->smooth) smooths = 0;
  }
  TSI_TRY(multi_merge_ranks(A->context, &smooths, sizeof smooths, merge_smooths));
  A->kind = smooths ? &smoothing_kind : &kind;
  return TS_OK;
}

static ts_status allocate(ts_matrix *A, multi_matrix **out) {
  const size_t parts = (size_t)multi_count(A->context);
  multi_matrix *m = tsi_calloc(A->context, 1, sizeof *m);
  if (m) m->local = tsi_calloc(A->context, parts, sizeof(ts_matrix *));
  if (!m || !m->local) {
    tsi_free(A->context, m);
    return tsi_out_of_memory(A->context, "a matrix", sizeof *m + parts * sizeof(ts_matrix *));
  }
  A->impl = *out = m;
  A->kind = &kind;
  return TS_OK;
}

static void describe(ts_matrix *A) {
  const multi_halo *halo = matrix_of(A)->halo;
  const multi_space *rows = A->row_space->impl;
  unsigned formats = 0;
  char names[80] = "";
  A->info.parts = 0;
  A->info.halo = 0;
  for (int p = 0; p < multi_count(A->context); p++) {
    A->info.halo += halo->ghosts[p];
    A->info.parts += multi_has_rows(rows, p);
    if (matrix_of(A)->local[p]) formats |= 1u << matrix_of(A)->local[p]->info.format;
  }
  for (int f = 1; ts_format_name((ts_format)f); f++)
    if (formats & 1u << f)
      snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? ", " : "",
               ts_format_name((ts_format)f));
  char halo_text[64], parts[40];
  const int count = multi_count(A->context), used = A->info.parts;
  if (used < count)
    snprintf(parts, sizeof parts, "%d of %d parts:", used, count);
  else
    snprintf(parts, sizeof parts, "%d parts;", count);
  snprintf(halo_text, sizeof halo_text, "%lld columns from other parts", (long long)A->info.halo);
  snprintf(A->choice, sizeof A->choice, "%s in %s %.100s", names, parts,
           rows->choice[0] ? rows->choice : halo_text);
}

/* The first matrix over new spaces determines the owners of their rows. */
static ts_status create_whole(ts_matrix *A, const tsi_host_csr *csr) {
  multi_space *rows, *columns;
  multi_matrix *m = NULL;
  TSI_TRY(multi_space_of(A->row_space, csr, &rows));
  TSI_TRY(multi_space_of(A->column_space, NULL, &columns));
  TSI_TRY(allocate(A, &m));
  ts_status status = multi_halo_create(csr, rows, A->column_space, &m->halo);
  if (status == TS_OK) status = multi_halo_make_room(m->halo, rows, A->column_space);
  if (status == TS_OK) status = each_part(A, csr, create_local);
  if (status == TS_OK) status = choose_kind(A);
  if (status < 0) {
    multi_matrix_destroy(A);
    return status;
  }
  describe(A);
  return TS_OK;
}

/* ---- Matrices of matrices that the parts have made ---- */

static void take_locals(const multi_matrix *m, ts_matrix *const *local, int parts, tsi_device_csr *of) {
  for (int p = 0; p < parts; p++) {
    m->local[p] = local[p];
    if (!local[p]) continue;
    of->entries += local[p]->info.nonzeros;
    of->bytes += local[p]->info.bytes_device;
  }
}

/* With a halo and without the parts' matrices. */
static multi_matrix *allocate_joined(ts_context *context, multi_halo *halo, int is_view) {
  multi_matrix *m = tsi_calloc(context, 1, sizeof *m);
  if (m) m->local = tsi_calloc(context, (size_t)multi_count(context), sizeof(ts_matrix *));
  if (m && m->local) {
    m->halo = halo;
    m->is_view = is_view;
    return m;
  }
  tsi_free(context, m);
  multi_halo_destroy(context, halo);
  return NULL;
}

ts_status multi_matrix_join(ts_space *rows, ts_space *columns, ts_matrix *const *local, multi_halo *halo,
                            int is_view, ts_matrix **matrix) {
  ts_context *context = rows->context;
  multi_matrix *m = allocate_joined(context, halo, is_view);
  if (!m) return tsi_out_of_memory(context, "a matrix", sizeof *m);
  tsi_device_csr of = {
      .rows = rows->tiling.size, .columns = columns->tiling.size, .row_space = rows, .column_space = columns};
  take_locals(m, local, multi_count(context), &of);
  const ts_status status = tsi_matrix_adopt(context, &of, &kind, m, matrix);
  if (status < 0) {
    multi_halo_destroy(context, halo);
    tsi_free(context, m->local);
    tsi_free(context, m);
    return status;
  }
  describe(*matrix);
  return choose_kind(*matrix);
}

/* ---- Low-order parts of double values: those of the parts, which own them ---- */

static ts_status write_low_part(const ts_matrix *A, const tsi_host_csr *csr, int p, ts_matrix **local) {
  MULTI_TRY(A->context, p, tsi_matrix_write_low_part(*local, csr));
  return TS_OK;
}

static ts_status create_low_part(ts_matrix *A, const tsi_host_csr *csr) {
  const ts_matrix *before = A->whole->low ? A->whole->low : A->whole; /* A is its low-order part */
  ts_context *context = A->context;
  multi_matrix *m = NULL;
  TSI_TRY(allocate(A, &m));
  m->is_low_part = 1;
  m->halo = matrix_of(A->whole)->halo;
  ts_status status = each_part(before, csr, write_low_part);
  for (int p = 0; p < multi_count(context) && status == TS_OK; p++)
    if (matrix_of(before)->local[p]) m->local[p] = matrix_of(before)->local[p]->low;
  if (status < 0) multi_matrix_destroy(A);
  return status;
}

static void multi_matrix_destroy(ts_matrix *A) {
  multi_matrix *m = A->impl;
  for (int p = 0; p < multi_count(A->context) && !m->is_low_part && !m->is_view; p++)
    ts_matrix_destroy(&m->local[p]);
  if (!m->is_low_part && m->halo) multi_halo_destroy(A->context, m->halo);
  tsi_free(A->context, m->local);
  tsi_free(A->context, m);
  A->impl = NULL;
  multi_account(A->context);
}

ts_status multi_matrix_create(ts_matrix *A, const tsi_packed *packed) {
  return A->whole ? create_low_part(A, packed->csr) : create_whole(A, packed->csr);
}

/* ---- New values ---- */

static ts_status write_values(const ts_matrix *A, const tsi_host_csr *csr, int p, ts_matrix **local) {
  MULTI_TRY(A->context, p, tsi_matrix_write_values(*local, csr));
  return TS_OK;
}

ts_status multi_matrix_write(ts_matrix *A, const tsi_packed *packed) {
  return each_part(A, packed->csr, write_values);
}

/* ---- Reading back from the parts ---- */

typedef struct gather {
  const multi_space *rows, *columns;
  const multi_halo *halo;
  int p;
  int32_t first_ghost;
  int32_t *next; /* next position in each row of A; while counting, the number of entries */
  tsi_host_csr *csr;
} gather;

/* Returns -1 for an entry that only pads a block. */
static int32_t whole_column(const gather *g, int32_t column) {
  const int32_t first = g->columns->first[g->p], own = g->columns->first[g->p + 1] - first;
  if (column < own) return multi_index(g->columns, first + column);
  if (column < g->first_ghost) return -1;
  return multi_index(g->columns, multi_ghost_place(g->halo, g->p, column - g->first_ghost));
}

static int32_t whole_row(const gather *g, int32_t row) {
  return multi_index(g->rows, g->rows->first[g->p] + row);
}

static void count_entry(void *user, int32_t row, int32_t column, float value) {
  const gather *g = user;
  (void)value;
  if (whole_column(g, column) >= 0) g->next[whole_row(g, row)]++;
}

static void put_entry(void *user, int32_t row, int32_t column, float value) {
  const gather *g = user;
  const int32_t to = whole_column(g, column);
  if (to < 0) return;
  const int32_t at = g->next[whole_row(g, row)]++;
  g->csr->column_indices[at] = to;
  g->csr->values[at] = value;
}

static ts_status visit_parts(const ts_matrix *A, gather *g, tsi_entry_visitor visitor) {
  for (g->p = 0; g->p < multi_count(A->context); g->p++) {
    if (!matrix_of(A)->local[g->p]) continue;
    g->first_ghost = tsi_first_ghost(multi_halo_columns(g->halo, g->columns, g->p));
    MULTI_TRY(A->context, g->p, tsi_matrix_visit(matrix_of(A)->local[g->p], visitor, g));
  }
  return TS_OK;
}

static ts_status gather_entries(const ts_matrix *A, gather *g, tsi_host_csr *csr) {
  ts_context *context = A->context;
  const size_t rows = (size_t)A->info.rows;
  g->next = csr->row_offsets + 1;
  TSI_TRY(visit_parts(A, g, count_entry));
  for (size_t i = 0; i < rows; i++) csr->row_offsets[i + 1] += csr->row_offsets[i];
  const size_t entries = (size_t)csr->row_offsets[rows];
  csr->column_indices = tsi_malloc(context, entries, sizeof *csr->column_indices);
  csr->values = tsi_malloc(context, entries, sizeof *csr->values);
  g->next = tsi_malloc(context, rows, sizeof *g->next);
  if (!csr->column_indices || !csr->values || !g->next)
    return tsi_out_of_memory(context, "the entries of a matrix", entries * 2 * sizeof(float));
  memcpy(g->next, csr->row_offsets, rows * sizeof *g->next);
  return visit_parts(A, g, put_entry);
}

ts_status multi_matrix_read(const ts_matrix *A, tsi_packed *packed, tsi_host_csr *csr) {
  (void)packed;
  ts_context *context = A->context;
  gather g = {
      .rows = A->row_space->impl, .columns = A->column_space->impl, .halo = matrix_of(A)->halo, .csr = csr};
  if (multi_state_of(context)->ranks)
    return tsi_fail(
        context, TS_ERROR_UNSUPPORTED,
        "the matrix has parts in several processes and no host copy of its values, which this needs");
  *csr = (tsi_host_csr){.rows = A->info.rows, .columns = A->info.columns, .owned = 1};
  csr->row_offsets = tsi_calloc(context, (size_t)csr->rows + 1, sizeof *csr->row_offsets);
  if (!csr->row_offsets) return tsi_out_of_memory(context, "the entries of a matrix", (size_t)csr->rows * 4);
  const ts_status status = gather_entries(A, &g, csr);
  if (g.next != csr->row_offsets + 1) tsi_free(context, g.next);
  return status;
}
