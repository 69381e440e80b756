/* The levels of a multigrid hierarchy: fields and coefficients in each storage (shaders/include/level.glsl),
 * and transfers of values in and out. */
#include <stdio.h>

#include "gl_grid.h"
#include "gl/core/gl_shader.h"

static const char what[] = "a multigrid level";

/* ---- Fields ---- */

static GLenum field_format(const tsi_level *level) {
  return gl_level_has_four(level) ? GL_RGBA32F : GL_R32F;
}

/* Size of a field in texels in one dimension. A texel has `together` points of one parity. */
static int field_size(const tsi_level *level, int points, int together) {
  const int half = (points + 1) / 2;
  if (level->storage == TS_GRID_STORAGE_PARITIES) return 2 * ((half + together - 1) / together) + 3;
  return (level->storage == TS_GRID_STORAGE_LAYERED ? half : points) + 2;
}

static ts_status create_field(const tsi_level *level, gl_field *field) {
  const gl_level *l = gl_level_of(level);
  TSI_TRY(
      gl_texture_create(level->context, field_format(level), l->width, l->height, what, &field->place.texture));
  field->vector.impl = &field->place;
  return TS_OK;
}

/* Two fields for x, and b, in one texture. Returns 0 if it would be too large. */
static int fits(const tsi_level *level, int *columns) {
  const gl_level *l = gl_level_of(level);
  const int max = level->context->caps.max_texture_size;
  *columns = l->width < l->height ? 3 : 1;
  return *columns * l->width <= max && 3 / *columns * l->height <= max;
}

static ts_status create_fields(const tsi_level *level) {
  gl_level *l = gl_level_of(level);
  static const int used[] = {0, 1, GL_FIELD_B};
  int columns;
  if (l->apart || !fits(level, &columns)) {
    l->apart = 1;
    for (int k = 0; k < 3; k++) TSI_TRY(create_field(level, &l->fields[used[k]]));
    return TS_OK;
  }
  gl_texture *texture;
  TSI_TRY(gl_texture_create(level->context, field_format(level), columns * l->width, 3 / columns * l->height,
                            what, &texture));
  texture->references = 3;
  for (int k = 0; k < 3; k++) {
    gl_field *field = &l->fields[used[k]];
    field->place = (gl_vector){texture, columns == 3 ? k * l->width : 0, columns == 3 ? 0 : k * l->height};
    field->vector.impl = &field->place;
  }
  return TS_OK;
}

ts_status gl_level_next(tsi_level *level, int keep_previous, int *next) {
  gl_level *l = gl_level_of(level);
  *next = l->previous;
  /* With a texture barrier, a pass may read the texel that it overwrites. */
  if (!keep_previous || level->context->caps.texture_barrier) return TS_OK;
  *next = 3 - l->x - l->previous;
  return l->fields[*next].place.texture ? TS_OK : create_field(level, &l->fields[*next]);
}

void gl_level_advance(tsi_level *level, int next) {
  gl_level *l = gl_level_of(level);
  l->previous = l->x;
  l->x = next;
}

/* ---- Creation ---- */

static ts_status create_stored(const tsi_level *level) {
  gl_level *l = gl_level_of(level);
  const int four = gl_level_has_four(level);
  if (level->storage == TS_GRID_STORAGE_PLAIN) return TS_OK;
  for (int k = 0; k < (four ? 9 : GL_STENCIL_TEXTURES); k++) {
    if (level->five_point && (four ? k != 4 && !(k & 1) : k == GL_CORNERS)) continue;
    TSI_TRY(gl_texture_create(level->context, four || k != GL_CENTRE ? GL_RGBA32F : GL_R32F, l->width,
                              l->height, what, &l->stored[k]));
  }
  return TS_OK;
}

static ts_status create_all(const tsi_level *level) {
  gl_level *l = gl_level_of(level);
  if (!level->matrix)
    TSI_TRY(gl_stencil_textures_create(level->context, level->grid.width, level->grid.height,
                                       !level->five_point, l->plain));
  TSI_TRY(create_stored(level));
  return create_fields(level);
}

ts_status gl_level_create(tsi_level *level) {
  ts_context *context = level->context;
  const ts_grid_desc *grid = &level->grid;
  gl_level *l = tsi_calloc(context, 1, sizeof *l);
  if (!l) return tsi_out_of_memory(context, what, sizeof *l);
  level->impl = l;
  l->packed = level->storage == TS_GRID_STORAGE_PARITIES && gl_of(context)->packs_parities &&
              !grid->periodic_x && !grid->periodic_y;
  l->width = field_size(level, grid->width, l->packed ? 4 : 1);
  l->height = field_size(level, grid->height, 1);
  l->previous = 1;
  l->apart = !context->caps.texture_barrier || (grid->periodic_x && grid->width & 1) ||
             (grid->periodic_y && grid->height & 1);
  gl_user_added(context);
  const ts_status status = create_all(level);
  if (status < 0) gl_level_destroy(level);
  return status;
}

void gl_level_destroy(tsi_level *level) {
  ts_context *context = level->context;
  gl_level *l = gl_level_of(level);
  if (!l) return;
  gl_stencil_textures_release(context, l->plain);
  for (int k = 0; k < 9; k++) gl_texture_release(context, l->stored[k]);
  for (int k = 0; k < GL_WEIGHTS; k++) gl_texture_release(context, l->weights[k]);
  for (int k = 0; k < GL_FIELDS; k++) gl_texture_release(context, l->fields[k].place.texture);
  gl_level_release_parts(level);
  gl_texture_release(context, l->inverse);
  gl_user_removed(context);
  tsi_free(context, l);
  level->impl = NULL;
}

/* ---- Passes ---- */

static const char *storage_define(const tsi_level *level) {
  switch (level->storage) {
  case TS_GRID_STORAGE_LAYERED:
    return "#define COMPONENTS 1\n#define LAYERED\n";
  case TS_GRID_STORAGE_PARITIES:
    return gl_level_of(level)->packed ? "#define COMPONENTS 1\n#define PARITIES\n#define PACKED\n"
                                      : "#define COMPONENTS 1\n#define PARITIES\n";
  default:
    return "#define COMPONENTS 1\n";
  }
}

static void put_grid(const ts_grid_desc *grid, int parameters[4]) {
  parameters[0] = grid->width;
  parameters[1] = grid->height;
  parameters[2] = grid->periodic_x != 0;
  parameters[3] = grid->periodic_y != 0;
}

ts_status gl_level_pass(const tsi_level *level, const tsi_level *coarse, const char *fragment, const char *more,
                        gl_pass *pass) {
  char defines[192];
  const ts_grid_desc *grid = &level->grid;
  snprintf(defines, sizeof defines, "%s%s%s", storage_define(level),
           grid->periodic_x || grid->periodic_y ? "#define PERIODIC\n" : "", more);
  TSI_TRY(gl_program_get(level->context, "core/fullscreen.vert", fragment, defines, &pass->program));
  put_grid(grid, pass->parameters);
  if (coarse) put_grid(&coarse->grid, pass->parameters + 4);
  return TS_OK;
}

ts_status gl_level_pass_of_rows(const tsi_level *level, const tsi_level *coarse, const char *fragment,
                                const char *more, gl_pass *pass) {
  char defines[96];
  snprintf(defines, sizeof defines, "%s%s", level->five_point ? "#define FIVE_POINT\n" : "", more);
  return gl_level_pass(level, coarse, fragment, defines, pass);
}

static gl_texture *const *plain_of(const tsi_level *level) {
  return level->matrix ? gl_stencil_of(level->matrix)->textures : gl_level_of(level)->plain;
}

void gl_level_bind_plain(const tsi_level *level) {
  gl_stencil_bind(gl_of(level->context), plain_of(level), level->five_point);
}

void gl_level_bind(const tsi_level *level) {
  gl_backend *gl = gl_of(level->context);
  const gl_level *l = gl_level_of(level);
  if (level->storage == TS_GRID_STORAGE_PLAIN) {
    gl_level_bind_plain(level);
  } else if (gl_level_has_four(level)) {
    for (int k = 0; k < 9; k++) gl_bind(gl, GL_UNIT_LAYERS + k, l->stored[l->stored[k] ? k : 4]->name);
  } else {
    gl_stencil_bind(gl, l->stored, level->five_point);
  }
}

const gl_texture *gl_level_centre(const tsi_level *level) {
  const gl_level *l = gl_level_of(level);
  if (level->storage == TS_GRID_STORAGE_PLAIN) return plain_of(level)[GL_CENTRE];
  return l->stored[gl_level_has_four(level) ? 4 : GL_CENTRE];
}

ts_status gl_level_draw_part(const tsi_level *level, gl_field *target, const int part[4], gl_pass *pass) {
  pass->target = target->place.texture;
  pass->x = target->place.x + part[0];
  pass->y = target->place.y + part[1];
  pass->width = part[2];
  pass->height = part[3];
  gl_level_of(level)->zero_parities = 0;
  return gl_draw(level->context, pass);
}

ts_status gl_level_draw(const tsi_level *level, gl_field *target, gl_pass *pass) {
  const gl_level *l = gl_level_of(level);
  const int all[4] = {0, 0, l->width, l->height};
  return gl_level_draw_part(level, target, all, pass);
}

/* Draws the copy, because some drivers wait in glCopyTexSubImage2D. */
static ts_status copy_part(const tsi_level *level, const gl_field *from, gl_field *to, const int part[4]) {
  gl_vector place = {from->place.texture, from->place.x + part[0], from->place.y + part[1]};
  const ts_vector source = {.impl = &place};
  gl_pass pass = {.inputs = {&source}};
  TSI_TRY(gl_program_get(level->context, "core/fullscreen.vert", "grid/level_copy.frag",
                         "#define COMPONENTS 1\n", &pass.program));
  return gl_level_draw_part(level, to, part, &pass);
}

ts_status gl_level_draw_part_of_x(const tsi_level *level, const int part[4], gl_pass *pass) {
  gl_level *l = gl_level_of(level);
  gl_field *x = &l->fields[l->x], *beside = &l->fields[l->previous];
  if (!l->apart) return gl_level_draw_part(level, x, part, pass);
  TSI_TRY(gl_level_draw_part(level, beside, part, pass));
  return copy_part(level, beside, x, part);
}

int gl_level_parity_part(const tsi_level *level, int parity, int part[4]) {
  const ts_grid_desc *grid = &level->grid;
  const int x = parity & 1, y = parity >> 1;
  const int columns = (grid->width + 1 - x) / 2;
  part[2] = columns;
  part[3] = (grid->height + 1 - y) / 2;
  part[0] = 1 + x * ((grid->width + 3) / 2);
  part[1] = 1 + y * ((grid->height + 3) / 2);
  if (gl_level_of(level)->packed) {
    part[0] = 1 + x * ((grid->width + 15) / 8);
    part[2] = (columns + 3) / 4;
  }
  return part[2] > 0 && part[3] > 0;
}

/* ---- Values ---- */

/* Converts a plain texture of coefficients to the level's storage. */
static ts_status store_coefficients(const tsi_level *level, gl_texture *from, int channel, gl_texture *to) {
  gl_vector place = {from, 0, 0};
  const ts_vector source = {.impl = &place};
  gl_pass pass = {.inputs = {&source}, .target = to, .width = to->width, .height = to->height};
  TSI_TRY(gl_level_pass(level, NULL, "grid/level_prepare.frag", "", &pass));
  pass.parameters[10] = channel;
  return gl_draw(level->context, &pass);
}

ts_status gl_level_prepare(tsi_level *level) {
  gl_level *l = gl_level_of(level);
  gl_texture *const *plain = plain_of(level);
  /* The texture and channel of the nine directions, from south-west to north-east. */
  static const int textures[9] = {GL_CORNERS, GL_SIDES,   GL_CORNERS, GL_SIDES,  GL_CENTRE,
                                  GL_SIDES,   GL_CORNERS, GL_SIDES,   GL_CORNERS};
  static const int channels[9] = {0, 2, 1, 0, 0, 1, 2, 3, 3};
  const int four = gl_level_has_four(level);
  for (int k = 0; k < 9; k++)
    if (l->stored[k])
      TSI_TRY(store_coefficients(level, plain[four ? textures[k] : k], four ? channels[k] : 0, l->stored[k]));
  return gl_check(level->context, "preparing a multigrid level");
}

ts_status gl_level_read(const tsi_level *level, float *values) {
  return gl_stencil_textures_read(level->context, plain_of(level), level->five_point, values);
}

ts_status gl_level_load(tsi_level *level, tsi_level_field field, const ts_vector *v) {
  gl_level *l = gl_level_of(level);
  gl_pass pass = {.inputs = {v}};
  TSI_TRY(gl_level_pass(level, NULL, "grid/level_load.frag", "", &pass));
  if (field == TSI_LEVEL_X) {
    l->border_is_stale = 1;
    gl_level_forget_parts(level);
  }
  return gl_level_draw(level, field == TSI_LEVEL_X ? &l->fields[l->x] : &l->fields[GL_FIELD_B], &pass);
}

ts_status gl_level_store(ts_vector *v, const tsi_level *level, int add) {
  TSI_TRY(gl_level_gather(level));
  gl_pass pass = {.inputs = {&gl_level_x(level)->vector, v}};
  TSI_TRY(gl_level_pass(level, NULL, "grid/level_store.frag", add ? "#define ADD\n" : "", &pass));
  gl_level_bind_plain(level);
  return gl_draw_vector(v, &pass);
}

ts_status gl_level_clear(tsi_level *level) {
  gl_level *l = gl_level_of(level);
  gl_pass pass = {0};
  TSI_TRY(gl_level_pass(level, NULL, "grid/level_clear.frag", "", &pass));
  l->border_is_stale = 0;
  gl_level_forget_parts(level);
  return gl_level_draw(level, &l->fields[l->x], &pass);
}

const tsi_grid_ops gl_grid_ops = {TSI_GRID_OPERATIONS(TSI_ENTRY, TSI_ENTRY, TSI_OMIT, gl_)};
