/* The backend's data of a space: textures with the index of each texel and the channels in use. */
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
  gl_texture_release(space->context, impl->channels);
  tsi_device_free(space->context, impl->bytes);
  tsi_free(space->context, impl);
  space->impl = NULL;
}

/* ---- Lanes of blocks ---- */

static ts_status create_channels(ts_space *space, gl_space *impl) {
  ts_context *context = space->context;
  const tsi_tiling *t = &space->tiling;
  uint32_t *channels = tsi_calloc(context, (size_t)t->width * (size_t)t->height, sizeof *channels);
  if (!channels)
    return tsi_out_of_memory(context, "the channels of blocks", (size_t)t->width * (size_t)t->height * 4);
  for (int32_t i = 0; i < t->size; i++) {
    const uint32_t bits = space->constrained && space->constrained[i] ? 0x01 : 0x11;
    channels[tsi_texel_number(t, tsi_position(t, i))] |= bits << tsi_channel(t, i);
  }
  const ts_status status =
      gl_texture_create(context, GL_R32UI, t->width, t->height, "the channels of blocks", &impl->channels);
  if (status == TS_OK) gl_texture_write(gl_of(context), impl->channels, 0, 0, t->width, t->height, channels);
  tsi_free(context, channels);
  return status;
}

ts_status gl_bind_channels(ts_space *space) {
  if (!space->tiling.log2_block) return TS_OK;
  gl_space *impl;
  TSI_TRY(gl_space_of(space, &impl));
  if (!impl->channels) TSI_TRY(create_channels(space, impl));
  gl_bind(gl_of(space->context), GL_UNIT_CHANNELS, impl->channels->name);
  return TS_OK;
}
