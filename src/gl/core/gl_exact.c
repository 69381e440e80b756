/* Whether fragment shaders can keep the rounding errors of their arithmetic, and by which variant of
 * shaders/include/exact.glsl. No document defines what compilers make of (a + b) - a, so every context is
 * tested. The test adds and multiplies pairs of numbers and compares every bit with the result of the host. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl.h"
#include "gl_features.h"
#include "gl_shader.h"

enum { side = 64 };
static const size_t pairs = (size_t)side * side;

static const char *const names[] = {"none", "precise", "uniform", "texel", "integer"};

const char *gl_exact_name(const gl_backend *gl) {
  return names[gl->exact];
}

/* ---- Pairs ---- */

static uint32_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

/* Any sign and mantissa; magnitude 2^-40 to 2^40. */
static float random_number(uint64_t *state) {
  const uint32_t mantissa = next_random(state) & 0x7fffff, exponent = 87 + next_random(state) % 80,
                 bits = (next_random(state) & 1) << 31 | exponent << 23 | mantissa;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Numbers that cancel, halfway cases and their neighbours, numbers that a much larger one absorbs, and the ends
 * of the range in which solvers compute. The rest are random numbers. */
static void fill_pairs(float *a, float *b) {
  static const float hard[] = {
      0,       1,           -1,   1 + 0x1p-23f,   1 - 0x1p-24f, 0x1p-24f,  -0x1p-24f,      0x1p-25f, 0x1.8p-24f,
      0x1p24f, 0x1p24f + 2, 4097, 0x1.fffffep11f, 0x1p40f,      -0x1p-50f, 0x1.fffffep49f, 1.f / 3,  0.1f};
  const size_t count = sizeof hard / sizeof *hard;
  uint64_t state = 1;
  for (size_t k = 0; k < pairs; k++) {
    a[k] = k < count * count ? hard[k / count] : random_number(&state);
    b[k] = k < count * count ? hard[k % count] : random_number(&state);
  }
}

static int is_right(float a, float b, const float *found) {
  const float sum = a + b, product = a * b;
  volatile float part = sum - a, a_part = sum - part; /* keeps the host's compiler from simplifying */
  volatile float a_error = a - a_part, b_error = b - part;
  return found[0] == sum && found[1] == a_error + b_error && found[2] == product &&
         found[3] == (float)((double)a * b - product);
}

/* ---- Testing a variant ---- */

static ts_status draw(ts_context *context, gl_texture *const *textures, float *found) {
  gl_backend *gl = gl_of(context);
  gl_vector regions[2] = {{textures[0], 0, 0}, {textures[1], 0, 0}};
  const ts_vector a = {.context = context, .components = 1, .impl = &regions[0]},
                  b = {.context = context, .components = 1, .impl = &regions[1]};
  gl_pass pass = {.target = textures[2], .width = side, .height = side, .inputs = {&a, &b}};
  char defines[64]; /* the loader adds EXACT_BY, which is not part of a program's name */
  snprintf(defines, sizeof defines, "#define COMPONENTS 1\n#define TRY %d\n", 2 * gl->exact + gl->exact_fma);
  TSI_TRY(gl_program_get(context, "core/fullscreen.vert", "core/exact_test.frag", defines, &pass.program));
  TSI_TRY(gl_draw(context, &pass));
  glReadPixels(0, 0, side, side, GL_RGBA, GL_FLOAT, found);
  return gl_check(context, "testing sums and products");
}

/* Whether the backend's variant is exact. `status` receives whether the driver accepted it. */
static int is_exact(ts_context *context, gl_texture *const *textures, const float *a, const float *b,
                    float *found, ts_status *status) {
  *status = draw(context, textures, found);
  for (size_t k = 0; k < pairs; k++)
    if (*status < 0 || !is_right(a[k], b[k], found + 4 * k)) return 0;
  return 1;
}

static void create_zero(gl_backend *gl) {
  const GLint zero = 0;
  glGenTextures(1, &gl->exact_zero);
  gl_bind(gl, GL_UNIT_EXACT, gl->exact_zero);
  glActiveTexture(GL_TEXTURE0 + GL_UNIT_EXACT);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R32I, 1, 1, 0, GL_RED_INTEGER, GL_INT, &zero);
  glActiveTexture(GL_TEXTURE0);
}

/* TEXSOLVE_GL_EXACT=NAME allows one variant only, for tests: a driver that needs the last ones is seldom at
 * hand. */
static int is_allowed(int variant) {
  const char *name = getenv("TEXSOLVE_GL_EXACT");
  return !name || !*name || !strcmp(name, names[variant]);
}

/* If the driver refuses a variant, the next one is tried. Only a failure of the last variant is an error. */
static ts_status try_all(ts_context *context, int has_precise, gl_texture *const *textures, const float *a,
                         const float *b, float *found) {
  gl_backend *gl = gl_of(context);
  ts_status status = TS_OK;
  int chosen = GL_EXACT_NONE;
  for (int variant = has_precise ? GL_EXACT_PRECISE : GL_EXACT_UNIFORM; variant <= GL_EXACT_INTEGER && !chosen;
       variant++) {
    if (!is_allowed(variant)) continue;
    if (variant >= GL_EXACT_TEXEL && !gl->exact_zero) create_zero(gl);
    gl->exact = variant;
    gl->exact_fma = variant == GL_EXACT_PRECISE; /* the same extension provides fma() */
    int exact = is_exact(context, textures, a, b, found, &status);
    if (!exact && gl->exact_fma) {
      gl->exact_fma = 0;
      exact = is_exact(context, textures, a, b, found, &status);
    }
    if (exact) chosen = variant;
  }
  gl->exact = chosen;
  if (status == TS_OK) context->error[0] = 0;
  return status;
}

ts_status gl_exact_find(ts_context *context) {
  gl_backend *gl = gl_of(context);
  gl_texture *textures[3] = {0};
  float *numbers = tsi_malloc(context, 6 * pairs, sizeof *numbers), *a = numbers, *b = numbers + pairs;
  if (!numbers) return tsi_out_of_memory(context, "testing sums and products", 6 * pairs * sizeof *numbers);
  fill_pairs(a, b);
  /* The memory limit covers permanent storage. This test uses 100 kB, which are freed when the context is
   * open. */
  const size_t limit = context->desc.max_device_bytes;
  context->desc.max_device_bytes = 0;
  ts_status status = TS_OK;
  for (int k = 0; k < 3 && status == TS_OK; k++)
    status = gl_texture_create(context, k < 2 ? GL_R32F : GL_RGBA32F, side, side, "testing sums and products",
                               &textures[k]);
  if (status == TS_OK) {
    gl_texture_write(gl, textures[0], 0, 0, side, side, a);
    gl_texture_write(gl, textures[1], 0, 0, side, side, b);
    status = try_all(context, gl_features_get().gpu_shader5, textures, a, b, numbers + 2 * pairs);
  }
  if (status == TS_OK)
    tsi_log(context, gl->exact ? TS_LOG_LEVEL_INFO : TS_LOG_LEVEL_WARNING,
            "sums that keep their rounding errors: %s%s", gl_exact_name(gl), gl->exact_fma ? ", fma" : "");
  for (int k = 0; k < 3; k++) gl_texture_release(context, textures[k]);
  context->desc.max_device_bytes = limit;
  tsi_free(context, numbers);
  return status;
}
