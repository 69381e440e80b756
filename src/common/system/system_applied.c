/* The system builder: least squares by A and A^T, of which neither is multiplied by the other. Rows carry the
 * square roots of their weights. Both matrices are over the same two spaces; no index is locked in that of the
 * unknowns, the columns of locked ones are just empty. */
#include <math.h>
#include <string.h>

#include "common/matrix/csr.h"
#include "common/layout/layout_build.h"
#include "system.h"

/* A without the columns of locked unknowns. */
ts_status tsi_system_weigh(ts_system *s) {
  const tsi_equations *q = &s->equations;
  tsi_reduced *r = &s->reduced;
  TSI_TRY(tsi_reduced_begin(s->context, r, q->rows));
  for (int32_t i = 0; i < q->rows; i++) {
    const double factor = sqrt(q->weights[i]);
    TSI_TRY(tsi_reduced_reserve(s->context, r, q->offsets[i + 1] - q->offsets[i]));
    for (int32_t e = q->offsets[i]; e < q->offsets[i + 1]; e++)
      tsi_reduced_append(r, q->columns[e], factor * q->values[e], s->locked[q->columns[e]]);
    r->offsets[i + 1] = (int32_t)r->count;
    r->coupling_offsets[i + 1] = (int32_t)r->coupling_count;
  }
  return TS_OK;
}

/* A^T, an own copy. */
static ts_status transpose(ts_context *context, const ts_csr *A, tsi_system_csr *out) {
  const size_t entries = (size_t)A->row_offsets[A->rows];
  const ts_status status =
      tsi_system_csr_create(context, A->columns, A->rows, entries, "a transposed matrix", out);
  if (status < 0) {
    tsi_system_csr_free(context, out);
    return status;
  }
  for (size_t e = 0; e < entries; e++) out->row_offsets[A->column_indices[e]]++;
  int32_t end = 0;
  for (int32_t j = 0; j <= A->columns; j++) out->row_offsets[j] = end += out->row_offsets[j];
  for (int32_t i = A->rows - 1; i >= 0; i--)
    for (int32_t e = A->row_offsets[i + 1] - 1; e >= A->row_offsets[i]; e--) {
      const int32_t to = --out->row_offsets[A->column_indices[e]];
      out->column_indices[to] = i;
      out->values[to] = A->double_values[e];
    }
  return TS_OK;
}

/* The space of the unknowns, sorted by the rows of A^T unless texels hold blocks. */
static ts_status create_space(ts_context *context, const tsi_system_csr *transposed, ts_format format,
                              ts_space **space) {
  const int log2_block = tsi_format_log2_block(format);
  int32_t *lengths = NULL;
  if (!context->caps.linear_spaces && !log2_block) {
    lengths = tsi_malloc(context, (size_t)transposed->rows, sizeof *lengths);
    if (!lengths) return tsi_out_of_memory(context, "row lengths", (size_t)transposed->rows * sizeof *lengths);
    for (int32_t j = 0; j < transposed->rows; j++)
      lengths[j] = transposed->row_offsets[j + 1] - transposed->row_offsets[j];
  }
  tsi_tiling tiling;
  const ts_status status =
      tsi_tiling_create_blocks(context, transposed->rows, log2_block, lengths, NULL, &tiling);
  tsi_free(context, lengths);
  return status < 0 ? status : tsi_space_create(context, &tiling, NULL, space);
}

static ts_status create_matrices(ts_context *context, const ts_csr *csr, const tsi_system_csr *transposed,
                                 ts_format format, ts_precision precision, ts_matrix **A, ts_matrix **At) {
  ts_space *space = NULL;
  TSI_TRY(create_space(context, transposed, format, &space));
  const ts_matrix_desc forwards = {
      .csr = *csr, .format = format, .precision = precision, .column_space = space};
  ts_status status = ts_matrix_create(context, &forwards, A);
  if (status == TS_OK) {
    const ts_matrix_desc backwards = {.csr = tsi_system_csr_view(transposed),
                                      .format = format,
                                      .precision = precision,
                                      .row_space = space,
                                      .column_space = (*A)->row_space,
                                      .keep_host_copy = 1};
    status = ts_matrix_create(context, &backwards, At);
    if (status < 0) ts_matrix_destroy(A);
  }
  ts_space_destroy(&space); /* the matrices keep it */
  return status;
}

ts_status tsi_system_lay_out_applied(ts_system *s, ts_format format, int rebuild) {
  const ts_csr csr = {.rows = s->equations.rows,
                      .columns = s->desc.unknowns,
                      .row_offsets = s->reduced.offsets,
                      .column_indices = s->reduced.columns,
                      .double_values = s->reduced.values};
  tsi_system_csr transposed;
  ts_matrix *A = NULL, *At = NULL;
  char why[sizeof A->info.choice] = "";
  TSI_TRY(transpose(s->context, &csr, &transposed));
  const ts_csr view = tsi_system_csr_view(&transposed);
  ts_status status = TS_OK;
  if (rebuild) {
    status = tsi_system_fetch(s);
    s->new_start = 1;
    tsi_system_forget_order(s);
    s->bandwidth = s->bandwidth_natural = (ts_bandwidth){0};
    format = tsi_system_choose_format(s, &csr, format, why, sizeof why);
    if (status == TS_OK) status = create_matrices(s->context, &csr, &transposed, format, s->storage, &A, &At);
    if (status == TS_OK && why[0]) memcpy(A->info.choice, why, sizeof why);
  } else {
    status = ts_matrix_set_values(s->matrix, &csr);
    if (status == TS_OK) status = ts_matrix_set_values(s->transposed, &view);
  }
  tsi_system_csr_free(s->context, &transposed);
  if (status < 0 || !rebuild) return status;
  tsi_system_release_device(s);
  s->matrix = A;
  s->transposed = At;
  return TS_OK;
}
