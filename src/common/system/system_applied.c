/* The system builder: least squares by applying A and A^T, without their product. Rows are multiplied by the
 * square roots of their weights. Both matrices are over the same two spaces. The space of the unknowns does not
 * lock any index; the columns of locked unknowns are empty instead. */
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

/* The space of the unknowns, sorted by the rows of A^T unless texels hold blocks. */
static ts_status create_space(ts_context *context, const tsi_csr *transposed, ts_format format,
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

static ts_status create_matrices(ts_context *context, const tsi_csr *csr, const tsi_csr *transposed,
                                 ts_format format, ts_precision precision, ts_matrix **A, ts_matrix **At) {
  ts_space *space = NULL;
  TSI_TRY(create_space(context, transposed, format, &space));
  const tsi_matrix_desc forwards = {
      .csr = *csr, .format = format, .precision = precision, .column_space = space};
  ts_status status = tsi_matrix_create(context, &forwards, A);
  if (status == TS_OK) {
    const tsi_matrix_desc backwards = {.csr = *transposed,
                                       .format = format,
                                       .precision = precision,
                                       .row_space = space,
                                       .column_space = (*A)->row_space,
                                       .keep_host_copy = 1};
    status = tsi_matrix_create(context, &backwards, At);
    if (status < 0) ts_matrix_destroy(A);
  }
  ts_space_destroy(&space); /* the matrices retain it */
  return status;
}

ts_status tsi_system_lay_out_applied(ts_system *s, ts_format format, int rebuild) {
  const tsi_csr csr = {.rows = s->equations.rows,
                       .columns = s->desc.unknowns,
                       .row_offsets = s->reduced.offsets,
                       .column_indices = s->reduced.columns,
                       .double_values = s->reduced.values};
  tsi_csr transposed;
  ts_matrix *A = NULL, *At = NULL;
  char why[sizeof A->choice] = "";
  TSI_TRY(tsi_csr_transpose(s->context, &csr, &transposed));
  ts_status status = TS_OK;
  if (rebuild) {
    status = tsi_system_fetch(s);
    s->new_start = 1;
    tsi_system_forget_order(s);
    s->bandwidth = s->bandwidth_natural = (ts_bandwidth){0};
    format = tsi_system_choose_format(s, &csr, format, why, sizeof why);
    if (status == TS_OK) status = create_matrices(s->context, &csr, &transposed, format, s->storage, &A, &At);
    if (status == TS_OK && why[0]) memcpy(A->choice, why, sizeof why);
  } else {
    status = tsi_matrix_replace_values(s->matrix, &csr);
    if (status == TS_OK) status = tsi_matrix_replace_values(s->transposed, &transposed);
  }
  tsi_csr_transposed_free(s->context, &transposed);
  if (status < 0 || !rebuild) return status;
  tsi_system_release_device(s);
  s->matrix = A;
  s->transposed = At;
  return TS_OK;
}
