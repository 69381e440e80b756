/* Segments (Bolz et al. 2003, section 3.1.1): the entries of a row are a run without the diagonal; values and
 * pointers are separate. */
#include "common/core/core.h"
#include "layout_build.h"

/* Segments in a linear space: the runs of the rows, then the diagonal. */
static ts_status pack_runs(ts_context *context, const tsi_layout_input *input, tsi_packed *packed) {
  const tsi_host_csr *A = input->csr;
  const size_t rows = (size_t)A->rows, entries = (size_t)A->row_offsets[rows] + rows;
  packed->values = tsi_calloc(context, entries, sizeof(float));
  packed->pointers = tsi_malloc(context, entries, sizeof(uint32_t));
  packed->starts = tsi_malloc(context, rows + 1, sizeof(uint32_t));
  if (!packed->values || !packed->pointers || !packed->starts)
    return tsi_out_of_memory(context, "the matrix in segments", entries * 8 + rows * 4);
  uint32_t at = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    packed->starts[i] = at;
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) {
      if (input->has_diagonal && A->column_indices[e] == i) continue;
      if (A->values) packed->values[at] = A->values[e];
      packed->pointers[at++] = (uint32_t)A->column_indices[e];
    }
  }
  packed->starts[rows] = at;
  for (int32_t i = 0; A->values && input->has_diagonal && i < A->rows; i++)
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++)
      if (A->column_indices[e] == i) packed->values[at + (uint32_t)i] = A->values[e];
  return TS_OK;
}

static void places_of(const tsi_layout *layout, const tsi_layout_input *input, int32_t *places) {
  (void)layout;
  const tsi_host_csr *A = input->csr;
  int32_t runs = 0;
  for (int32_t i = 0; i < A->rows; i++) runs += tsi_row_length(input, i);
  int32_t at = 0;
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++)
      places[e] = input->has_diagonal && A->column_indices[e] == i ? runs + i : at++;
}

static ts_status layout_segments_create(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                                        ts_matrix_info *info) {
  return input->rows->linear ? TS_OK : tsi_rectangles_create(context, layout, input, info);
}

static ts_status pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                      tsi_packed *packed) {
  return input->rows->linear ? pack_runs(context, input, packed)
                             : tsi_rectangles_pack(context, layout, input, packed);
}

static ts_status unpack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                        const tsi_packed *packed, tsi_entry_visitor visit, void *user) {
  if (!input->rows->linear) return tsi_rectangles_unpack(context, layout, input, packed, visit, user);
  const int32_t rows = input->csr->rows;
  const uint32_t *starts = packed->starts;
  for (int32_t i = 0; i < rows; i++) {
    if (input->has_diagonal) visit(user, i, i, packed->values[starts[rows] + (uint32_t)i]);
    for (uint32_t k = starts[i]; k < starts[i + 1]; k++)
      visit(user, i, (int32_t)packed->pointers[k], packed->values[k]);
  }
  return TS_OK;
}

/* ---- The choice of a format ---- */

/* The runs exclude the diagonal, so the columns of neighbouring runs are neighbours in x. On a device segments
 * are the fastest format if rows are short and even and columns are scattered. */
static int suits(const ts_context *context, const tsi_host_csr *csr, int blocks) {
  if (!context->caps.linear_spaces) return 1;
  if (blocks == TSI_SEVERAL_COMPONENTS || csr->rows != csr->columns) return 0;
  int32_t longest = csr->longest; /* no early exit, so that the loop vectorises */
  for (int32_t i = 0; i < csr->rows && !csr->longest; i++) {
    const int32_t length = csr->row_offsets[i + 1] - csr->row_offsets[i];
    longest = length > longest ? length : longest;
  }
  return longest <= context->tuning.segments_longest;
}

static void estimate(const ts_context *context, const tsi_host_csr *csr, int blocks, tsi_estimate *e) {
  (void)blocks;
  const tsi_tuning *t = &context->tuning;
  e->reads = context->caps.linear_spaces
                 ? tsi_with_lines(t, tsi_csr_bytes(csr), tsi_lines_of_rows(context, csr))
                 : 3; /* value, pointer, x */
}

const tsi_format tsi_format_segments = {
    .format = TS_FORMAT_SEGMENTS,
    .runs = 1,
    .shader = "segments",
    .create = layout_segments_create,
    .pack = pack,
    .unpack = unpack,
    .places = places_of,
    .suits = suits,
    .estimate = estimate,
    .sampled_rows = tsi_sampled_rows,
};
