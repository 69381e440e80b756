/* The parities of x in separate textures, without a texture barrier. A coloured pass reads x of all parities
 * and draws one of them. It may not draw into a texture that it reads, and a copy of each result back into the
 * field would take as many passes again. So each parity of x has two textures and moves from one to the other.
 *
 * Level passes that read more than the parity they draw need a whole field: gl_level_gather. */
#include "gl_grid.h"
#include "gl/core/gl_shader.h"

static ts_status create_part(const tsi_level *level, int parity, int which) {
  gl_level *l = gl_level_of(level);
  gl_field *field = &l->parts[parity][which];
  int part[4];
  if (field->place.texture || !gl_level_parity_part(level, parity, part)) return TS_OK;
  TSI_TRY(gl_texture_create(level->context, GL_RGBA32F, part[2] + 2, part[3] + 2, "a multigrid level",
                            &field->place.texture));
  /* Passes add the place of the region within a field; this region begins after the border. */
  field->place.x = 1 - part[0];
  field->place.y = 1 - part[1];
  field->vector.impl = &field->place;
  return TS_OK;
}

gl_field *gl_level_x_of(const tsi_level *level, int parity) {
  gl_level *l = gl_level_of(level);
  return l->at[parity] ? &l->parts[parity][l->at[parity] - 1] : &l->fields[l->x];
}

ts_status gl_level_draw_parity(tsi_level *level, int parity, const int part[4], gl_pass *pass) {
  gl_level *l = gl_level_of(level);
  const int which = l->at[parity] == 1;
  TSI_TRY(create_part(level, parity, which));
  TSI_TRY(gl_level_draw_part(level, &l->parts[parity][which], part, pass));
  l->at[parity] = 1 + which;
  return TS_OK;
}

void gl_level_forget_parts(const tsi_level *level) {
  gl_level *l = gl_level_of(level);
  for (int parity = 0; parity < 4; parity++) l->at[parity] = 0;
}

ts_status gl_level_gather(const tsi_level *level) {
  gl_level *l = gl_level_of(level);
  if (!(l->at[0] | l->at[1] | l->at[2] | l->at[3])) return TS_OK;
  gl_pass pass = {0};
  for (int parity = 0; parity < 4; parity++) pass.inputs[parity] = &gl_level_x_of(level, parity)->vector;
  TSI_TRY(gl_level_pass(level, NULL, "grid/level_gather.frag", "", &pass));
  const int next = l->previous;
  TSI_TRY(gl_level_draw(level, &l->fields[next], &pass));
  l->previous = l->x;
  l->x = next;
  gl_level_forget_parts(level);
  return TS_OK;
}

void gl_level_release_parts(const tsi_level *level) {
  gl_level *l = gl_level_of(level);
  for (int k = 0; k < 8; k++) gl_texture_release(level->context, l->parts[k / 2][k % 2].place.texture);
}
