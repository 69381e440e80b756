/* What the backend keeps of a space: textures that tell which index a texel is of, and which lanes are in use.
 */
#include "gl.h"

ts_status gl_space_of(ts_space *space, gl_space **impl) {
  if (!space->impl) space->impl = tsi_calloc(space->context, 1, sizeof(gl_space));
  *impl = space->impl;
  return *impl ? TS_OK : tsi_out_of_memory(space->context, "an index space", sizeof(gl_space));
}

void gl_space_destroy(ts_space *space) {
  gl_space *impl = space->impl;
  if (!impl) return;
  gl_backend *gl = gl_of(space->context);
  if (gl->entered) gl_delete_texture(gl, impl->index_texture);
  gl_texture_release(space->context, impl->lanes);
  tsi_device_give(space->context, impl->bytes);
  tsi_free(space->context, impl);
  space->impl = NULL;
}

/* ---- Lanes of blocks ---- */

static ts_status create_lanes(ts_space *space, gl_space *impl) {
  ts_context *context = space->context;
  const tsi_tiling *t = &space->tiling;
  uint32_t *lanes = tsi_calloc(context, (size_t)t->width * (size_t)t->height, sizeof *lanes);
  if (!lanes)
    return tsi_out_of_memory(context, "the lanes of blocks", (size_t)t->width * (size_t)t->height * 4);
  for (int32_t i = 0; i < t->size; i++) {
    const uint32_t bits = space->constrained && space->constrained[i] ? 0x01 : 0x11;
    lanes[tsi_texel_number(t, tsi_position(t, i))] |= bits << tsi_lane(t, i);
  }
  const ts_status status =
      gl_texture_create(context, GL_R32UI, t->width, t->height, "the lanes of blocks", &impl->lanes);
  if (status == TS_OK) gl_texture_write(gl_of(context), impl->lanes, 0, 0, t->width, t->height, lanes);
  tsi_free(context, lanes);
  return status;
}

ts_status gl_bind_lanes(ts_space *space) {
  if (!space->tiling.log2_block) return TS_OK;
  gl_space *impl;
  TSI_TRY(gl_space_of(space, &impl));
  if (!impl->lanes) TSI_TRY(create_lanes(space, impl));
  gl_bind(gl_of(space->context), GL_UNIT_LANES, impl->lanes->name);
  return TS_OK;
}
