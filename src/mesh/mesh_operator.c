/* Converts a pattern to an operator: the matrix, and corners in the layout of its entries. These are the
 * pointers of Bolz et al. 2003, section 3.1.2, with all four of an entry in one texel. */
#include <string.h>

#include "common/core/core.h"
#include "common/layout/layout_build.h"
#include "common/matrix/csr.h"
#include "mesh_operator.h"

static ts_status create_matrix(tsi_mesh_operator *op, const tsi_mesh_pattern *pattern, ts_format format,
                               ts_space *space, const unsigned char *constrained, int host_copy) {
  const tsi_host_csr csr = {.rows = pattern->rows,
                            .columns = pattern->rows,
                            .row_offsets = pattern->row_offsets,
                            .column_indices = pattern->columns};
  char choice[sizeof op->matrix->choice] = "";
  if (format == TS_FORMAT_AUTO) /* corners have no block layout */
    format = tsi_format_choose(op->context, &csr, TSI_NO_BLOCKS, choice, sizeof choice);
  const tsi_matrix_desc desc = {.csr = {.rows = pattern->rows,
                                        .columns = pattern->rows,
                                        .row_offsets = pattern->row_offsets,
                                        .column_indices = pattern->columns},
                                .format = format,
                                .keep_host_copy = host_copy,
                                .row_space = space,
                                .constrained = space ? NULL : constrained};
  TSI_TRY(tsi_matrix_create(op->context, &desc, &op->matrix));
  if (choice[0]) memcpy(op->matrix->choice, choice, sizeof choice);
  op->matrix->device_values = 1;
  op->matrix->info.symmetric = 1; /* a_ij and a_ji are the same expression of the same numbers */
  op->matrix->info.zero_diagonal_row = -1;
  return TS_OK;
}

/* ---- Corners ---- */

typedef struct packing {
  const tsi_mesh_pattern *pattern;
  const tsi_tiling *tiling;
  tsi_mesh_packed *packed;
} packing;

static uint32_t pointer_to(const tsi_tiling *t, int32_t vertex) {
  return tsi_pointer(t, tsi_position(t, vertex));
}

static void pack_corners(void *user, int32_t row, int32_t e, tsi_place place, size_t texel) {
  const packing *p = user;
  const tsi_mesh_pattern *pattern = p->pattern;
  if (place == TSI_PLACE_DIAGONAL) return;
  tsi_mesh_corners *to = place == TSI_PLACE_STAGE ? p->packed->stage : p->packed->entries;
  const uint32_t i = pointer_to(p->tiling, row), j = pointer_to(p->tiling, pattern->columns[e]);
  to[texel] = (tsi_mesh_corners){i, j, i, i};
  if (!pattern->next) return;
  to[texel].previous = pointer_to(p->tiling, pattern->previous[e]);
  to[texel].next = pointer_to(p->tiling, pattern->next[e]);
}

static tsi_mesh_corners *no_corners(ts_context *context, size_t texels) {
  const uint32_t none = TSI_MESH_NO_CORNER;
  tsi_mesh_corners *corners = tsi_malloc(context, texels, sizeof *corners);
  for (size_t k = 0; corners && k < texels; k++) corners[k] = (tsi_mesh_corners){none, none, none, none};
  return corners;
}

static tsi_layout_input layout_input(const tsi_mesh_operator *op, const tsi_host_csr *csr) {
  const tsi_tiling *tiling = &op->matrix->row_space->tiling;
  return (tsi_layout_input){.rows = tiling, .columns = tiling, .csr = csr, .has_diagonal = 1};
}

static ts_status pack_textures(const tsi_mesh_operator *op, const tsi_mesh_pattern *pattern,
                               const tsi_host_csr *csr, tsi_mesh_packed *packed) {
  ts_context *context = op->context;
  const tsi_layout *layout = op->matrix->layout;
  const size_t texels = (size_t)layout->width * (size_t)layout->height;
  const tsi_stage *stage = layout->stages;
  const size_t stage_texels = layout->stage_count ? ((size_t)stage->height << stage->log2_width) : 0;
  packed->entries = no_corners(context, texels);
  if (stage_texels) packed->stage = no_corners(context, stage_texels);
  if (!packed->entries || (stage_texels && !packed->stage))
    return tsi_out_of_memory(context, "the corners of a mesh",
                             (texels + stage_texels) * sizeof(tsi_mesh_corners));
  const tsi_layout_input input = layout_input(op, csr);
  int32_t *order;
  TSI_TRY(tsi_rows_in_order(context, input.rows, &order));
  tsi_layout_visit(layout, &input, order, pack_corners, &(packing){pattern, input.rows, packed});
  tsi_free(context, order);
  return TS_OK;
}

static ts_status pack(const tsi_mesh_operator *op, const tsi_mesh_pattern *pattern, tsi_mesh_packed *packed) {
  ts_context *context = op->context;
  const tsi_layout *layout = op->matrix->layout;
  const tsi_host_csr csr = {.rows = pattern->rows,
                            .columns = pattern->rows,
                            .row_offsets = pattern->row_offsets,
                            .column_indices = pattern->columns};
  *packed = (tsi_mesh_packed){.pattern = pattern};
  const tsi_format *format = tsi_format_of(layout->format);
  if (!op->matrix->row_space->tiling.linear) return pack_textures(op, pattern, &csr, packed);
  if (!format->places) return TS_OK;
  const size_t entries = (size_t)pattern->row_offsets[pattern->rows];
  packed->places = tsi_malloc(context, entries, sizeof *packed->places);
  if (!packed->places)
    return tsi_out_of_memory(context, "the entries of a mesh", entries * sizeof *packed->places);
  const tsi_layout_input input = layout_input(op, &csr);
  format->places(layout, &input, packed->places);
  return TS_OK;
}

/* ---- Creation ---- */

ts_status tsi_mesh_operator_create(ts_context *context, tsi_mesh_kind kind, const tsi_mesh_pattern *pattern,
                                   ts_format format, ts_space *space, const unsigned char *constrained,
                                   int host_copy, tsi_mesh_operator *out) {
  *out = (tsi_mesh_operator){.context = context, .kind = kind};
  TSI_TRY(create_matrix(out, pattern, format, space, constrained, host_copy));
  tsi_mesh_packed packed;
  ts_status status = pack(out, pattern, &packed);
  if (status == TS_OK) status = tsi_enter(context);
  if (status == TS_OK) status = tsi_leave(context, context->ops->mesh->create(out, &packed));
  tsi_free(context, packed.places);
  tsi_free(context, packed.entries);
  tsi_free(context, packed.stage);
  if (status < 0) ts_matrix_destroy(&out->matrix);
  return status;
}

void tsi_mesh_operator_destroy(tsi_mesh_operator *op) {
  if (!op->matrix) return;
  tsi_enter_to_destroy(op->context);
  op->context->ops->mesh->destroy(op);
  tsi_leave(op->context, TS_OK);
  ts_matrix_destroy(&op->matrix);
}
