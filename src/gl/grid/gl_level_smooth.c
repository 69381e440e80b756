/* Smoothing steps and residuals on a level. */

#include "gl_grid.h"

/* ---- Borders of the layered storage ---- */

/* Layered storage: updates the border of x at periodic boundaries before a pass that reads it. */
static ts_status update_border(tsi_level *level) {
  gl_level *l = gl_level_of(level);
  const ts_grid_desc *grid = &level->grid;
  if (!l->border_is_stale || level->storage != TS_GRID_STORAGE_LAYERED) return TS_OK;
  l->border_is_stale = 0;
  /* The last texel of an odd row also has room for a point beyond the row. */
  const int right = 1 + grid->width / 2, top = 1 + grid->height / 2;
  const int parts[4][4] = {{0, 0, 1, l->height},
                           {right, 0, l->width - right, l->height},
                           {1, 0, l->width - 2, 1},
                           {1, top, l->width - 2, l->height - top}};
  gl_pass pass = {.inputs = {&gl_level_x(level)->vector, &gl_level_x(level)->vector}};
  int first = 1;
  for (int k = 0; k < 4; k++) {
    if (!(k < 2 ? grid->periodic_x : grid->periodic_y)) continue;
    if (first) TSI_TRY(gl_level_pass(level, NULL, "grid/level_border.frag", "", &pass));
    pass.parameters[8] = parts[k][0];
    pass.parameters[9] = parts[k][1];
    pass.independent = !first && !l->apart;
    first = 0;
    TSI_TRY(gl_level_draw_part_of_x(level, parts[k], &pass));
  }
  return TS_OK;
}

/* ---- Parities packed four points to a texel ---- */

/* Which couplings a pass over a parity may read from x, and what it computes: see level_packed.frag. */
enum { ROW_KNOWN = 1, COLUMN_KNOWN = 2, CORNERS_KNOWN = 4, ITSELF_KNOWN = 8, ALL_KNOWN = 15 };
typedef enum packed_kind {
  PACKED_STEP,
  PACKED_COLOURS,
  PACKED_RESIDUAL,
  PACKED_STEP_WITH_PREVIOUS
} packed_kind;

/* Binds x of the three other parities: the neighbours in a row, in a column, at the corners. p[6].x has the
 * bits of those that are not in a field, and of x itself. */
static void bind_neighbours(const tsi_level *level, int parity, gl_pass *pass) {
  static const int units[] = {GL_UNIT_ROW, GL_UNIT_COLUMN, GL_UNIT_AT_CORNERS};
  const gl_level *l = gl_level_of(level);
  pass->parameters[4] = 0;
  for (int k = 0; k < 4; k++) {
    const int other = parity ^ (k + 1) % 4;
    pass->parameters[4] |= (l->at[other] != 0) << k;
    if (k < 3) gl_bind(gl_of(level->context), units[k], gl_level_x_of(level, other)->place.texture->name);
  }
}

static ts_status draw_packed(tsi_level *level, gl_field *target, int parity, packed_kind kind, int known,
                             gl_pass *pass) {
  const gl_level *l = gl_level_of(level);
  int part[4];
  if (!gl_level_parity_part(level, parity, part)) return TS_OK;
  TSI_TRY(gl_level_pass(level, NULL, "grid/level_packed.frag", l->apart ? "#define APART\n" : "", pass));
  gl_level_bind(level);
  if (l->apart) bind_neighbours(level, parity, pass);
  pass->parameters[8] = parity & 1;
  pass->parameters[9] = parity >> 1;
  pass->parameters[10] = level->five_point ? known & ~CORNERS_KNOWN : known;
  pass->parameters[11] = (int)kind;
  /* Always bind the same textures, so that the shader is compiled once. */
  pass->inputs[1] = &gl_level_x_of(level, parity)->vector;
  if (!pass->inputs[2]) pass->inputs[2] = pass->inputs[0];
  if (target) return gl_level_draw_part(level, target, part, pass);
  return l->apart ? gl_level_draw_parity(level, parity, part, pass)
                  : gl_level_draw_part(level, &gl_level_of(level)->fields[l->x], part, pass);
}

/* A pass over all points except those of some parities. Apart from its own texel, it does not read the texture
 * that it draws into. */
static ts_status draw_parities(tsi_level *level, gl_field *target, int without, packed_kind kind, int known,
                               gl_pass *pass) {
  for (int parity = 0; parity < 4; parity++) {
    if (without >> parity & 1) continue;
    TSI_TRY(draw_packed(level, target, parity, kind, known, pass));
    pass->independent = !gl_level_of(level)->apart;
  }
  return TS_OK;
}

/* ---- Jacobi and Chebyshev ---- */

static ts_status step(tsi_level *level, const tsi_sweep *sweep) {
  gl_level *l = gl_level_of(level);
  const int chebyshev = sweep->beta != 0 && !sweep->x_is_zero;
  const int read_previous = chebyshev && !l->previous_is_zero;
  const char *fragment =
      level->storage == TS_GRID_STORAGE_LAYERED ? "grid/level_layered.frag" : "grid/level_smooth.frag";
  int next;
  TSI_TRY(gl_level_gather(level));
  TSI_TRY(gl_level_next(level, read_previous, &next));
  if (!sweep->x_is_zero) TSI_TRY(update_border(level));
  gl_pass pass = {.inputs = {&l->fields[GL_FIELD_B].vector},
                  .coefficient_count = 2,
                  .coefficients = {ts_constant(sweep->alpha), ts_constant(chebyshev ? sweep->beta : 0)}};
  if (!sweep->x_is_zero) pass.inputs[1] = &l->fields[l->x].vector;
  if (read_previous) pass.inputs[2] = &l->fields[l->previous].vector;
  const int known = sweep->x_is_zero ? 0 : ALL_KNOWN;
  if (l->packed) {
    TSI_TRY(draw_parities(level, &l->fields[next], 0, read_previous ? PACKED_STEP_WITH_PREVIOUS : PACKED_STEP,
                          known, &pass));
  } else {
    pass.parameters[10] = known;
    pass.parameters[11] = read_previous;
    TSI_TRY(gl_level_pass_of_rows(level, NULL, fragment, "", &pass));
    gl_level_bind(level);
    TSI_TRY(gl_level_draw(level, &l->fields[next], &pass));
  }
  gl_level_advance(level, next);
  l->previous_is_zero = sweep->x_is_zero;
  l->border_is_stale = 1;
  return TS_OK;
}

/* ---- Gauss-Seidel ---- */

/* `known`: bits of the parities where x is known. */
static ts_status colour_pass(tsi_level *level, int colour, int known, gl_pass *pass) {
  if (gl_level_of(level)->packed) {
    const int row = known >> (colour ^ 1) & 1, column = known >> (colour ^ 2) & 1,
              corners = known >> (colour ^ 3) & 1, itself = known >> colour & 1;
    return draw_packed(
        level, NULL, colour, PACKED_COLOURS,
        row * ROW_KNOWN | column * COLUMN_KNOWN | corners * CORNERS_KNOWN | itself * ITSELF_KNOWN, pass);
  }
  int part[4];
  if (!gl_level_parity_part(level, colour, part)) return TS_OK;
  TSI_TRY(gl_level_pass_of_rows(level, NULL, "grid/level_smooth.frag", "#define COLOURS\n", pass));
  gl_level_bind(level);
  pass->parameters[8] = colour & 1;
  pass->parameters[9] = colour >> 1;
  pass->parameters[10] = known;
  return gl_level_draw_part_of_x(level, part, pass);
}

static ts_status colours(tsi_level *level, const tsi_sweep *sweep) {
  gl_level *l = gl_level_of(level);
  int known = sweep->x_is_zero ? 0 : 15, before = -1;
  for (int k = 0; k < 4; k++) {
    const int colour = sweep->colours[k];
    gl_pass pass = {.inputs = {&l->fields[GL_FIELD_B].vector}};
    if (known) pass.inputs[1] = &l->fields[l->x].vector;
    /* Two colours of a five-point stencil that are not coupled to each other. */
    pass.independent = level->five_point && before >= 0 && (before ^ colour) == 3;
    before = pass.independent ? -1 : colour;
    TSI_TRY(colour_pass(level, colour, known, &pass));
    known |= 1 << colour;
  }
  /* x now solves the equations of the last colour, and those of the colour before it if the two are not
   * coupled. */
  const int last = sweep->colours[3], second = sweep->colours[2];
  l->zero_parities = 1 << last;
  if (level->five_point && (last ^ second) == 3) l->zero_parities |= 1 << second;
  return TS_OK;
}

ts_status gl_level_smooth(tsi_level *level, const tsi_sweep *sweep) {
  return sweep->kind == TSI_SWEEP_COLOURS ? colours(level, sweep) : step(level, sweep);
}

/* ---- Residuals ---- */

ts_status gl_level_residual(tsi_level *level, int *field) {
  gl_level *l = gl_level_of(level);
  const int layered = level->storage == TS_GRID_STORAGE_LAYERED;
  TSI_TRY(update_border(level));
  gl_pass pass = {.inputs = {&l->fields[GL_FIELD_B].vector, &l->fields[l->x].vector}};
  *field = l->previous;
  if (l->packed)
    return draw_parities(level, &l->fields[*field], l->zero_parities, PACKED_RESIDUAL, ALL_KNOWN, &pass);
  TSI_TRY(gl_level_pass_of_rows(level, NULL, layered ? "grid/level_layered.frag" : "grid/level_residual.frag",
                                layered ? "#define RESIDUAL\n" : "", &pass));
  gl_level_bind(level);
  pass.parameters[10] = 15;
  return gl_level_draw(level, &l->fields[*field], &pass);
}
