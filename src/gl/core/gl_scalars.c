/* Device slots: texels of a small texture, or of the texture that holds the solver's vectors. */
#include <string.h>

#include "gl.h"
#include "gl_shader.h"

ts_status gl_scalars_create(ts_scalars *s) {
  gl_scalars *impl = tsi_calloc(s->context, 1, sizeof *impl);
  if (!impl) return tsi_out_of_memory(s->context, "scalars", sizeof *impl);
  const int max = s->context->caps.max_texture_size;
  impl->per_row = s->count < max ? s->count : max;
  const int rows = (s->count + impl->per_row - 1) / impl->per_row;
  const ts_status status =
      gl_texture_create(s->context, GL_RGBA32F, impl->per_row, rows, "scalars", &impl->texture);
  if (status < 0) {
    tsi_free(s->context, impl);
    return status;
  }
  s->impl = impl;
  gl_user_added(s->context);
  return TS_OK;
}

void gl_scalars_destroy(ts_scalars *s) {
  gl_scalars *impl = gl_scalars_of(s);
  if (!impl) return;
  if (gl_of(s->context)->entered) {
    if (impl->fence) glDeleteSync(impl->fence);
    gl_delete_buffer(gl_of(s->context), impl->buffer);
  }
  gl_texture_release(s->context, impl->texture);
  gl_user_removed(s->context);
  tsi_free(s->context, impl);
  s->impl = NULL;
}

void gl_slot_place(const gl_scalars *s, int index, int *x, int *y) {
  *x = s->x + index % s->per_row * (s->blocks ? GL_SLOT_WIDTH : 1);
  *y = s->y + index / s->per_row * (s->blocks ? GL_SLOT_HEIGHT : 1);
}

/* Writes each slot with a draw. Uploads into a texture in use by passes took a millisecond on one driver. */
ts_status gl_scalars_write(ts_scalars *s, int first, int count, const float *values) {
  const gl_scalars *impl = gl_scalars_of(s);
  gl_pass pass = {.target = impl->texture,
                  .width = impl->blocks ? GL_SLOT_WIDTH : 1,
                  .height = impl->blocks ? GL_SLOT_HEIGHT : 1};
  TSI_TRY(gl_program_get(s->context, "core/fullscreen.vert", "core/slot.frag", "", &pass.program));
  for (int k = 0; k < count; k++) {
    memcpy(pass.parameters, values + 4 * (size_t)k, 4 * sizeof *values);
    gl_slot_place(impl, first + k, &pass.x, &pass.y);
    TSI_TRY(gl_draw(s->context, &pass));
  }
  return gl_check(s->context, "writing scalars");
}

/* Reads a slot and writes other slots of the same texture. If a pass cannot do both, an intermediate texture is
 * used. */
ts_status gl_scalars_normalise(ts_scalars *s, int from, int to) {
  ts_context *context = s->context;
  gl_backend *gl = gl_of(context);
  const gl_scalars *impl = gl_scalars_of(s);
  gl_texture *target = impl->texture;
  if (!context->caps.texture_barrier) TSI_TRY(gl_scratch_get(context, 0, 1, 1, &target));
  for (int inverse = 0; inverse < 2; inverse++) {
    int x, y;
    gl_slot_place(impl, to + inverse, &x, &y);
    gl_pass pass = {.target = target,
                    .x = target == impl->texture ? x : 0,
                    .y = target == impl->texture ? y : 0,
                    .width = impl->blocks ? GL_SLOT_WIDTH : 1,
                    .height = impl->blocks ? GL_SLOT_HEIGHT : 1,
                    .coefficient_count = 1,
                    .coefficients = {ts_scaled(1, s, from)},
                    .parameters = {inverse},
                    .independent = inverse};
    TSI_TRY(gl_program_get(context, "core/fullscreen.vert", "core/normalise.frag",
                           gl_slots_define(context, &pass), &pass.program));
    TSI_TRY(gl_draw(context, &pass));
    if (target == impl->texture) continue;
    gl_bind_framebuffer(gl, target->framebuffer);
    gl_bind(gl, 0, impl->texture->name);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, x, y, 0, 0, 1, 1);
  }
  return gl_check(context, "scaling");
}

/* ---- Reading: whole rows of slots go into a pixel buffer, and the device continues during the transfer
 * ---- */

static int components_of(const gl_scalars *s) {
  return s->texture->format == GL_R32F ? 1 : s->texture->format == GL_RG32F ? 2 : 4;
}

ts_status gl_scalars_read_begin(ts_scalars *s, int first, int count) {
  static const GLenum formats[5] = {0, GL_RED, GL_RG, 0, GL_RGBA};
  gl_scalars *impl = gl_scalars_of(s);
  const int width = impl->blocks ? GL_SLOT_WIDTH : 1, height = impl->blocks ? GL_SLOT_HEIGHT : 1;
  const int row = first / impl->per_row, rows = (first + count - 1) / impl->per_row - row + 1;
  impl->width = (rows > 1 ? impl->per_row : first % impl->per_row + count) * width;
  const int components = components_of(impl);
  impl->bytes = (size_t)rows * (size_t)height * (size_t)impl->width * (size_t)components * sizeof(float);
  TSI_TRY(gl_proof_begin_read(s->context));
  gl_bind_framebuffer(gl_of(s->context), impl->texture->framebuffer);
  if (!impl->buffer) glGenBuffers(1, &impl->buffer);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, impl->buffer);
  glBufferData(GL_PIXEL_PACK_BUFFER, (GLsizeiptr)impl->bytes, NULL, GL_STREAM_READ);
  glReadPixels(impl->x, impl->y + row * height, impl->width, rows * height, formats[components], GL_FLOAT,
               NULL);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  if (impl->fence) glDeleteSync(impl->fence);
  impl->fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  glFlush();
  impl->first = first;
  impl->count = count;
  return gl_check(s->context, "reading scalars");
}

/* Adds up the texels of slot k of the read. */
static void sum_slot(const gl_scalars *s, const float *texels, int k, double *value) {
  const int components = components_of(s);
  const int width = s->blocks ? GL_SLOT_WIDTH : 1, height = s->blocks ? GL_SLOT_HEIGHT : 1;
  const int slot = s->first % s->per_row + k, x = slot % s->per_row * width, y = slot / s->per_row * height;
  for (int c = 0; c < 4; c++) {
    double sum = 0;
    for (int j = 0; c < components && j < height; j++)
      for (int i = 0; i < width; i++)
        sum += texels[((size_t)(y + j) * (size_t)s->width + (size_t)(x + i)) * (size_t)components + (size_t)c];
    value[c] = sum;
  }
}

ts_status gl_scalars_read_end(ts_scalars *s, double *values) {
  gl_scalars *impl = gl_scalars_of(s);
  const ts_status waited = gl_wait(s->context, impl->fence);
  if (gl_of(s->context)->entered) glDeleteSync(impl->fence);
  impl->fence = NULL;
  TSI_TRY(waited);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, impl->buffer);
  const float *texels = NULL;
  const ts_status mapped = gl_pack_map(s->context, impl->bytes, &texels);
  if (mapped == TS_OK) {
    for (int k = 0; k < impl->count; k++) sum_slot(impl, texels, k, values + 4 * (size_t)k);
    gl_pack_unmap(s->context);
  }
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  TSI_TRY(mapped);
  TSI_TRY(gl_check(s->context, "reading scalars"));
  return gl_proof_end_read(s->context);
}
