/* Coarse matrices, the weights between levels, and the exact solution on the coarsest level. */
#include <stdio.h>
#include <string.h>

#include "gl_grid.h"

/* ---- Weights ---- */

/* Bilinear point weights are constants in the shaders of every cycle. Only the weights of cells are stored,
 * because they differ at points without an equation. */
static int weight_count(const tsi_level *fine) {
  return fine->interpolation == TS_INTERPOLATION_BILINEAR ? GL_POINT_SIDES : GL_WEIGHTS;
}

static ts_status create_weights(const tsi_level *coarse, const tsi_level *fine) {
  gl_level *l = gl_level_of(fine);
  const gl_level *c = gl_level_of(coarse);
  const int four = gl_level_has_four(fine);
  const ts_grid_desc *grid = &coarse->grid;
  /* A merged coarse point also has weights as the last point: in the border, if fields have one. */
  const int width = grid->width + tsi_is_merged(fine->grid.width, grid->width, grid->periodic_x),
            height = grid->height + tsi_is_merged(fine->grid.height, grid->height, grid->periodic_y);
  for (int k = 0; k < weight_count(fine); k++) {
    if (l->weights[k]) continue;
    const int plain = four || k < GL_POINT_SIDES;
    TSI_TRY(gl_texture_create(fine->context, GL_RGBA32F, plain ? width : c->width, plain ? height : c->height,
                              "the weights of a multigrid level", &l->weights[k]));
  }
  return TS_OK;
}

static ts_status draw_weights(const tsi_level *coarse, const tsi_level *fine) {
  gl_backend *gl = gl_of(fine->context);
  gl_level *l = gl_level_of(fine);
  TSI_TRY(create_weights(coarse, fine));
  for (int part = 0; part < weight_count(fine); part++) {
    char more[64];
    snprintf(more, sizeof more, "#define PART %d\n%s", part,
             fine->interpolation == TS_INTERPOLATION_BILINEAR ? "#define BILINEAR\n" : "");
    gl_texture *target = l->weights[part];
    gl_pass pass = {.target = target, .width = target->width, .height = target->height};
    TSI_TRY(gl_level_pass(fine, coarse, "grid/level_weights.frag", more, &pass));
    pass.parameters[10] = fine->five_point;
    gl_level_bind_plain(fine);
    gl_bind(gl, GL_UNIT_WEIGHTS, part > 0 ? l->weights[GL_CELL_SIDES]->name : 0);
    gl_bind(gl, GL_UNIT_WEIGHTS + 1, part > 1 ? l->weights[GL_CELL_MIDDLE]->name : 0);
    TSI_TRY(gl_draw(fine->context, &pass));
  }
  return TS_OK;
}

/* ---- Composition ---- */

/* Draws into all three textures of the coarse stencil at once. */
static ts_status compose(tsi_level *coarse, tsi_level *fine) {
  gl_texture *const *plain = gl_level_of(coarse)->plain;
  gl_pass pass = {.target = plain[GL_CENTRE],
                  .more_targets = {plain[GL_SIDES], plain[GL_CORNERS]},
                  .width = plain[0]->width,
                  .height = plain[0]->height};
  TSI_TRY(gl_level_pass(fine, coarse, "grid/level_coarsen.frag", "", &pass));
  pass.parameters[10] = fine->five_point;
  gl_level_bind_plain(fine);
  gl_level_bind_weights(fine, GL_CELL_SIDES);
  return gl_draw(fine->context, &pass);
}

ts_status gl_level_coarsen(tsi_level *coarse, tsi_level *fine) {
  TSI_TRY(draw_weights(coarse, fine));
  TSI_TRY(compose(coarse, fine));
  return gl_check(fine->context, "a coarse stencil");
}

/* ---- The coarsest level ---- */

ts_status gl_level_set_inverse(tsi_level *level, const float *inverse) {
  ts_context *context = level->context;
  gl_level *l = gl_level_of(level);
  static const char what[] = "the inverse of the coarsest matrix";
  const size_t width = (size_t)level->grid.width, height = (size_t)level->grid.height, count = width * height;
  const size_t padded = (width + 3) / 4 * 4;
  if (!l->inverse)
    TSI_TRY(gl_texture_create(context, GL_RGBA32F, (int)(padded / 4 * height), (int)count, what, &l->inverse));
  float *rows = tsi_calloc(context, padded * height * count, sizeof *rows);
  if (!rows) return tsi_out_of_memory(context, what, padded * height * count * sizeof *rows);
  for (size_t row = 0; row < count * height; row++)
    memcpy(rows + padded * row, inverse + width * row, width * sizeof *rows);
  gl_texture_write(gl_of(context), l->inverse, 0, 0, l->inverse->width, l->inverse->height, rows);
  tsi_free(context, rows);
  return gl_check(context, what);
}

ts_status gl_level_coarse_solve(tsi_level *level) {
  gl_level *l = gl_level_of(level);
  gl_pass pass = {.inputs = {&l->fields[GL_FIELD_B].vector}};
  TSI_TRY(gl_level_pass(level, NULL, "grid/level_coarse_solve.frag", "", &pass));
  gl_bind(gl_of(level->context), GL_UNIT_COARSE, l->inverse->name);
  l->border_is_stale = 1;
  gl_level_forget_parts(level);
  return gl_level_draw(level, &l->fields[l->x], &pass);
}
