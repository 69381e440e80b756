/* Smoothing steps and residuals on a level. */
#include <string.h>

#include "gl_grid.h"
#include "gl_shader.h"

/* ---- Borders of the layered storage ---- */

ts_status gl_level_update_border(tsi_level *level) {
  gl_level *l = gl_level_of(level);
  const ts_grid_desc *grid = &level->grid;
  if (!l->border_is_stale || level->storage != TS_GRID_STORAGE_LAYERED) return TS_OK;
  l->border_is_stale = 0;
  /* The last texel of an odd row has room for a point beyond it too. */
  const int right = 1 + grid->width / 2, top = 1 + grid->height / 2;
  const int parts[4][4] = {{0, 0, 1, l->height},
                           {right, 0, l->width - right, l->height},
                           {1, 0, l->width - 2, 1},
                           {1, top, l->width - 2, l->height - top}};
  gl_pass pass = {.inputs = {&gl_level_x(level)->vector, &gl_level_x(level)->vector}};
  int first = 1;
  for (int k = 0; k < 4; k++) {
    if (!(k < 2 ? grid->periodic_x : grid->periodic_y)) continue;
    if (first) TSI_TRY(gl_level_pass(level, NULL, "level_border.frag", "", &pass));
    pass.parameters[8] = parts[k][0];
    pass.parameters[9] = parts[k][1];
    pass.independent = !first && !l->apart;
    first = 0;
    TSI_TRY(gl_level_draw_part_of_x(level, parts[k], &pass));
  }
  return TS_OK;
}

/* ---- Jacobi and Chebyshev ---- */

static ts_status step(tsi_level *level, const tsi_sweep *sweep) {
  gl_level *l = gl_level_of(level);
  const int chebyshev = sweep->beta != 0 && !sweep->x_is_zero,
            layered = level->storage == TS_GRID_STORAGE_LAYERED;
  const int read_previous = chebyshev && !l->previous_is_zero;
  int next;
  TSI_TRY(gl_level_next(level, read_previous, &next));
  if (!sweep->x_is_zero) TSI_TRY(gl_level_update_border(level));
  gl_pass pass = {.inputs = {&l->fields[GL_FIELD_B].vector},
                  .coefficient_count = 2,
                  .coefficients = {ts_constant(sweep->alpha), ts_constant(chebyshev ? sweep->beta : 0)}};
  if (!sweep->x_is_zero) pass.inputs[1] = &l->fields[l->x].vector;
  if (read_previous) pass.inputs[2] = &l->fields[l->previous].vector;
  TSI_TRY(gl_level_pass(level, NULL, layered ? "level_layered.frag" : "level_smooth.frag", "", &pass));
  gl_level_bind(level);
  pass.parameters[10] = sweep->x_is_zero ? 0 : 15;
  pass.parameters[11] = read_previous;
  TSI_TRY(gl_level_draw(level, &l->fields[next], &pass));
  gl_level_turn(level, next);
  l->previous_is_zero = sweep->x_is_zero;
  l->border_is_stale = 1;
  return TS_OK;
}

/* ---- Gauss-Seidel ---- */

/* The part of a field that a parity is, as shaders/include/level.glsl places it. */
static void parity_part(const tsi_level *level, int parity, int part[4]) {
  const ts_grid_desc *grid = &level->grid;
  const int x = parity & 1, y = parity >> 1;
  part[0] = 1 + x * ((grid->width + 3) / 2);
  part[1] = 1 + y * ((grid->height + 3) / 2);
  part[2] = (grid->width + 1 - x) / 2;
  part[3] = (grid->height + 1 - y) / 2;
}

static ts_status colours(tsi_level *level, const tsi_sweep *sweep) {
  gl_level *l = gl_level_of(level);
  int known = sweep->x_is_zero ? 0 : 15, before = -1;
  for (int k = 0; k < 4; k++) {
    const int colour = sweep->colours[k];
    int part[4];
    parity_part(level, colour, part);
    if (part[2] < 1 || part[3] < 1) continue;
    gl_pass pass = {.inputs = {&l->fields[GL_FIELD_B].vector}};
    if (known) pass.inputs[1] = &l->fields[l->x].vector;
    TSI_TRY(gl_level_pass(level, NULL, "level_smooth.frag", "#define COLOURS\n", &pass));
    gl_level_bind(level);
    pass.parameters[8] = colour & 1;
    pass.parameters[9] = colour >> 1;
    pass.parameters[10] = known;
    /* Two colours of a five-point stencil that are no neighbours of each other. */
    pass.independent = level->five_point && before >= 0 && (before ^ colour) == 3;
    before = pass.independent ? -1 : colour;
    TSI_TRY(gl_level_draw_part_of_x(level, part, &pass));
    known |= 1 << colour;
  }
  return TS_OK;
}

ts_status gl_level_smooth(tsi_level *level, const tsi_sweep *sweep) {
  return sweep->kind == TSI_SWEEP_COLOURS ? colours(level, sweep) : step(level, sweep);
}

/* ---- Residuals ---- */

ts_status gl_level_residual(tsi_level *level, int *field) {
  gl_level *l = gl_level_of(level);
  const int layered = level->storage == TS_GRID_STORAGE_LAYERED;
  TSI_TRY(gl_level_update_border(level));
  gl_pass pass = {.inputs = {&l->fields[GL_FIELD_B].vector, &l->fields[l->x].vector}};
  TSI_TRY(gl_level_pass(level, NULL, layered ? "level_layered.frag" : "level_residual.frag",
                        layered ? "#define RESIDUAL\n" : "", &pass));
  gl_level_bind(level);
  pass.parameters[10] = 15;
  *field = l->previous;
  return gl_level_draw(level, &l->fields[*field], &pass);
}
