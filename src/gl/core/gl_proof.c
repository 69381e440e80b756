/* Checks that OpenGL draws correctly in a context that an application shares. The library sets the state that
 * its calls need (gl_state_tables.c). Other causes would silently give wrong results: the state of an
 * extension, a state missing from the list, or a driver bug.
 *
 * A proof is a triangle and a point, drawn into a separate texture with numbers that differ between proofs. The
 * first pass of a call draws a proof if the application's state has changed since the last proof, so
 * consecutive calls cost nothing. A proof is also drawn before texels are read, if calls have drawn since the
 * last one. It is read together with those texels, without an extra wait. The last 16 proofs have separate
 * texels. */
#include <string.h>

#include "gl.h"
#include "gl_shader.h"

/* Texels of a proof: the left 2 x 2 are the triangle's and the right 2 x 2 the point's. The triangle leaves one
 * texel out, which reveals a flip. */
enum { width = 4, height = 2, proofs = GL_PROOFS, most_proofs = 1 << 20, channels = 4 };

/* Clamping, blending or scaling would change these numbers. The numbers of another proof differ too. */
static void numbers_of(int proof, float *numbers) {
  numbers[0] = (float)proof + 0.25f;
  numbers[1] = -1.5f - (float)proof;
  numbers[2] = (float)proof * 1e20f;
  numbers[3] = (float)proof + 2.5f;
}

static const float zeros[width * height * proofs * channels];

static ts_status gl_proof_create(ts_context *context) {
  gl_backend *gl = gl_of(context);
  gl_proof *p = &gl->proof;
  if (p->texture) return TS_OK;
  if (!p->name) glGenTextures(1, &p->name);
  gl_bind(gl, 0, p->name);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, width, height * proofs, 0, GL_RGBA, GL_FLOAT, zeros);
  if (!p->buffer) glGenBuffers(1, &p->buffer);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, p->buffer);
  glBufferData(GL_PIXEL_PACK_BUFFER, sizeof zeros, NULL, GL_STREAM_READ);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  TSI_TRY(gl_check(context, "a proof of drawing"));
  return gl_texture_wrap(context, p->name, GL_RGBA32F, width, height * proofs, &p->texture);
}

void gl_proof_destroy(ts_context *context) {
  gl_backend *gl = gl_of(context);
  gl_proof *p = &gl->proof;
  gl_texture_release(context, p->texture);
  p->texture = NULL;
  if (!gl->entered) return;
  gl_delete_texture(gl, p->name);
  gl_delete_buffer(gl, p->buffer);
}

ts_status gl_proof_draw(ts_context *context) {
  gl_backend *gl = gl_of(context);
  gl_proof *p = &gl->proof;
  TSI_TRY(gl_proof_create(context));
  const int number = p->last % most_proofs + 1, place = number % proofs;
  float numbers[channels];
  gl_pass pass = {.target = p->texture, .y = place * height, .width = width, .height = height};
  TSI_TRY(gl_program_get(context, "core/proof.vert", "core/proof.frag", "", &pass.program));
  numbers_of(number, numbers);
  memcpy(pass.parameters, numbers, sizeof numbers);
  TSI_TRY(gl_draw(context, &pass));
  if (gl->max_point_size >= 2) glDrawArrays(GL_POINTS, 3, 1);
  p->last = p->numbers[place] = number;
  p->is_due = 0;
  p->is_unread = 1;
  return TS_OK;
}

ts_status gl_proof_begin_read(ts_context *context) {
  gl_backend *gl = gl_of(context);
  gl_proof *p = &gl->proof;
  if (!gl_is_shared(gl)) return TS_OK;
  if (p->is_due) { /* if draws are refused because of the application's state, nothing is drawn */
    ts_status status = gl_state_draw(context);
    if (status == TS_OK && p->is_due) status = gl_proof_draw(context);
    if (status < 0 && gl->draws) return status;
    if (status < 0) tsi_clear_error(context);
  }
  if (!p->is_unread) return TS_OK;
  gl_bind_framebuffer(gl, p->texture->framebuffer);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, p->buffer);
  glBufferData(GL_PIXEL_PACK_BUFFER, sizeof zeros, NULL,
               GL_STREAM_READ); /* does not wait for an earlier read */
  glReadPixels(0, 0, width, height * proofs, GL_RGBA, GL_FLOAT, NULL);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  p->is_unread = 0;
  p->is_read = 1;
  return TS_OK;
}

/* The first wrong texel, or -1. */
static int find_wrong(const gl_backend *gl, int place, const float *texels, float *expected) {
  for (int k = 0; k < width * height; k++) {
    const int is_left_out = k == width + 1, is_of_point = k % width >= 2;
    if (is_of_point && gl->max_point_size < 2) continue;
    memset(expected, 0, channels * sizeof *expected);
    if (!is_left_out) numbers_of(gl->proof.numbers[place], expected);
    for (int c = 0; c < channels; c++)
      if (!(texels[k * channels + c] == expected[c])) return k;
  }
  return -1;
}

ts_status gl_proof_end_read(ts_context *context) {
  gl_backend *gl = gl_of(context);
  gl_proof *p = &gl->proof;
  float texels[width * height * proofs * channels], expected[channels];
  if (!p->is_read) return TS_OK;
  p->is_read = 0;
  memset(texels, 0, sizeof texels);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, p->buffer);
  gl_pack_read(sizeof texels, texels);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  for (int place = 0; place < proofs; place++) {
    const float *own = texels + (size_t)place * width * height * channels;
    const int wrong = p->numbers[place] ? find_wrong(gl, place, own, expected) : -1;
    if (wrong < 0) continue;
    const float *found = own + (size_t)wrong * channels;
    memset(p->numbers, 0, sizeof p->numbers); /* reported once */
    gl_bind(gl, 0, p->name);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height * proofs, GL_RGBA, GL_FLOAT, zeros);
    if (gl->saved) gl_state_doubt(gl);
    return tsi_fail(
        context, TS_ERROR_DEVICE,
        "OpenGL did not draw as expected, so results since the last read may be wrong: %s drew (%g, %g, %g, "
        "%g) instead of (%g, %g, %g, %g); the application has set a state that texsolve does not know",
        wrong % width >= 2 ? "a point" : "a triangle", (double)found[0], (double)found[1], (double)found[2],
        (double)found[3], (double)expected[0], (double)expected[1], (double)expected[2], (double)expected[3]);
  }
  return TS_OK;
}
