/* Stencil matrices: their textures, products and residuals with vectors, and sums in two floats per point. */
#include <stdio.h>
#include <string.h>

#include "gl_grid.h"
#include "gl/core/gl_shader.h"

/* ---- Textures ---- */

/* The coefficients in each texture, as indices into the nine of a point. */
static const struct {
  GLenum format;
  int count;
  int places[4];
} parts[GL_STENCIL_TEXTURES] = {
    {GL_R32F, 1, {4}},
    {GL_RGBA32F, 4, {3, 5, 1, 7}},
    {GL_RGBA32F, 4, {0, 2, 6, 8}},
};

static const char what[] = "a stencil";

static ts_status create_part(ts_context *context, int part, int width, int height, gl_texture **texture) {
  return gl_texture_create(context, parts[part].format, width, height, what, texture);
}

void gl_stencil_textures_release(ts_context *context, gl_texture *textures[GL_STENCIL_TEXTURES]) {
  for (int k = 0; k < GL_STENCIL_TEXTURES; k++) {
    gl_texture_release(context, textures[k]);
    textures[k] = NULL;
  }
}

ts_status gl_stencil_textures_create(ts_context *context, int width, int height, int corners,
                                     gl_texture *textures[GL_STENCIL_TEXTURES]) {
  for (int k = 0; k < (corners ? GL_STENCIL_TEXTURES : GL_CORNERS); k++) {
    const ts_status status = create_part(context, k, width, height, &textures[k]);
    if (status < 0) {
      gl_stencil_textures_release(context, textures);
      return status;
    }
  }
  return TS_OK;
}

/* Rows that are packed at a time, which use a few megabytes on the host. */
static int band_height(int width) {
  const int rows = (1 << 16) / width;
  return rows ? rows : 1;
}

static ts_status create_band(ts_context *context, int width, int height, float **band) {
  const int rows = band_height(width) < height ? band_height(width) : height;
  const size_t count = 4 * (size_t)width * (size_t)rows;
  *band = tsi_malloc(context, count, sizeof **band);
  return *band ? TS_OK : tsi_out_of_memory(context, what, count * sizeof **band);
}

static ts_status write_textures(ts_context *context, gl_texture *const textures[GL_STENCIL_TEXTURES],
                                const float *values) {
  const int width = textures[0]->width, height = textures[0]->height, step = band_height(width);
  float *band;
  TSI_TRY(create_band(context, width, height, &band));
  for (int y = 0; y < height; y += step) {
    const int rows = height - y < step ? height - y : step;
    const size_t points = (size_t)width * (size_t)rows;
    const float *from = values + 9 * (size_t)width * (size_t)y;
    for (int k = 0; k < GL_STENCIL_TEXTURES && textures[k]; k++) {
      const int count = parts[k].count;
      for (size_t i = 0; i < points; i++)
        for (int c = 0; c < count; c++)
          band[i * (size_t)count + (size_t)c] = from[9 * i + (size_t)parts[k].places[c]];
      gl_texture_write(gl_of(context), textures[k], 0, y, width, rows, band);
    }
  }
  tsi_free(context, band);
  return gl_check(context, "writing a stencil");
}

ts_status gl_stencil_textures_read(ts_context *context, gl_texture *const textures[GL_STENCIL_TEXTURES],
                                   int five_point, float *values) {
  const int width = textures[0]->width, height = textures[0]->height, step = band_height(width);
  float *band;
  ts_status status = TS_OK;
  TSI_TRY(gl_proof_begin_read(context));
  TSI_TRY(create_band(context, width, height, &band));
  for (int y = 0; y < height && status == TS_OK; y += step) {
    const int rows = height - y < step ? height - y : step;
    const size_t points = (size_t)width * (size_t)rows;
    float *to = values + 9 * (size_t)width * (size_t)y;
    memset(to, 0, 9 * points * sizeof *to);
    for (int k = 0; k < GL_STENCIL_TEXTURES; k++) {
      if (k == GL_CORNERS && (five_point || !textures[k])) continue;
      const int count = parts[k].count;
      gl_bind_framebuffer(gl_of(context), textures[k]->framebuffer);
      status = gl_read_texels(context, textures[k]->format, 0, y, width, rows, band);
      if (status < 0) break;
      for (size_t i = 0; i < points; i++)
        for (int c = 0; c < count; c++)
          to[9 * i + (size_t)parts[k].places[c]] = band[i * (size_t)count + (size_t)c];
    }
  }
  tsi_free(context, band);
  TSI_TRY(status);
  TSI_TRY(gl_check(context, "reading a stencil"));
  return gl_proof_end_read(context);
}

/* A stencil without corners binds another texture of the same format instead. A shader may be recompiled when
 * the format of a texture changes, even if it does not read that texture. */
void gl_stencil_bind(gl_backend *gl, gl_texture *const textures[GL_STENCIL_TEXTURES], int five_point) {
  gl_bind(gl, GL_UNIT_STENCIL, textures[GL_CENTRE]->name);
  gl_bind(gl, GL_UNIT_STENCIL + 1, textures[GL_SIDES]->name);
  gl_bind(gl, GL_UNIT_STENCIL + 2, textures[!five_point && textures[GL_CORNERS] ? GL_CORNERS : GL_SIDES]->name);
}

/* ---- Matrices ---- */

ts_status gl_stencil_write(ts_matrix *A, const float *values) {
  gl_stencil *s = gl_stencil_of(A);
  const int five_point = A->stencil->five_point;
  if (!five_point && !s->textures[GL_CORNERS]) {
    const tsi_tiling *t = &A->row_space->tiling;
    TSI_TRY(create_part(A->context, GL_CORNERS, t->width, t->height, &s->textures[GL_CORNERS]));
  }
  TSI_TRY(write_textures(A->context, s->textures, values));
  s->five_point = five_point;
  if (five_point) {
    gl_texture_release(A->context, s->textures[GL_CORNERS]);
    s->textures[GL_CORNERS] = NULL;
  }
  return TS_OK;
}

static void gl_stencil_destroy(ts_matrix *A) {
  gl_stencil *s = gl_stencil_of(A);
  if (!s) return;
  gl_stencil_textures_release(A->context, s->textures);
  tsi_free(A->context, s);
  A->impl = NULL;
}

ts_status gl_stencil_create(ts_matrix *A, const float *values) {
  const tsi_tiling *t = &A->row_space->tiling;
  gl_stencil *s = tsi_calloc(A->context, 1, sizeof *s);
  if (!s) return tsi_out_of_memory(A->context, what, sizeof *s);
  A->impl = s;
  ts_status status = gl_stencil_textures_create(A->context, t->width, t->height, 0, s->textures);
  if (status == TS_OK) status = gl_stencil_write(A, values);
  A->kind = &gl_stencil_kind;
  if (status < 0) gl_stencil_destroy(A);
  return status;
}

ts_status gl_stencil_read(const ts_matrix *A, float *values) {
  const gl_stencil *s = gl_stencil_of(A);
  return gl_stencil_textures_read(A->context, s->textures, s->five_point, values);
}

/* ---- Operations ---- */

static ts_status multiply(ts_vector *y, const ts_matrix *A, gl_pass *pass, const char *kind) {
  ts_context *context = A->context;
  const gl_stencil *s = gl_stencil_of(A);
  const tsi_grid *grid = &A->row_space->grid;
  const int precise = gl_of(context)->exact && pass->inputs[1] && !pass->pairs;
  char defines[160 + GL_PAIR_DEFINES];
  snprintf(defines, sizeof defines, "#define COMPONENTS %d\n%s%s%s%s", y->components, kind,
           precise ? "#define PRECISE\n" : "", s->five_point ? "#define FIVE_POINT\n" : "",
           grid->periodic_x || grid->periodic_y ? "#define PERIODIC\n" : "");
  TSI_TRY(
      gl_program_get(context, "core/fullscreen.vert", "grid/stencil_multiply.frag", defines, &pass->program));
  gl_stencil_bind(gl_of(context), s->textures, s->five_point);
  const int parameters[4] = {grid->width, grid->height, grid->periodic_x, grid->periodic_y};
  memcpy(pass->parameters, parameters, sizeof parameters);
  return gl_draw_vector(y, pass);
}

static ts_status spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  gl_pass pass = {.inputs = {x}};
  char pair[GL_PAIR_DEFINES] = "";
  if (y->low) {
    gl_pass_pairs(&pass, pair);
    pass.parts = 2;
  }
  return multiply(y, A, &pass, pair);
}

ts_status gl_stencil_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x,
                              const ts_vector *low) {
  gl_pass pass = {.inputs = {x, b, low}};
  return multiply(r, A, &pass, low ? "#define RESIDUAL\n#define X_LOW\n" : "#define RESIDUAL\n");
}

static ts_status residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  if (!r->low) return gl_stencil_residual(r, b, A, x, NULL);
  const ts_vector one = tsi_first_part(x);
  gl_pass pass = {.inputs = {&one, b, b->low ? b->low->low : NULL}, .parts = 2};
  char pair[GL_PAIR_DEFINES], defines[GL_PAIR_DEFINES + 64];
  gl_pass_pairs(&pass, pair);
  snprintf(defines, sizeof defines, "%s#define RESIDUAL\n%s", pair, pass.inputs[2] ? "#define B_LOWEST\n" : "");
  return multiply(r, A, &pass, defines);
}

static ts_status diagonal(ts_vector *d, const ts_matrix *A) {
  char defines[48];
  snprintf(defines, sizeof defines, "#define COMPONENTS %d\n", d->components);
  gl_pass pass = {0};
  TSI_TRY(
      gl_program_get(A->context, "core/fullscreen.vert", "grid/stencil_diagonal.frag", defines, &pass.program));
  gl_bind(gl_of(A->context), GL_UNIT_STENCIL, gl_stencil_of(A)->textures[GL_CENTRE]->name);
  return gl_draw_vector(d, &pass);
}

const tsi_matrix_kind gl_stencil_kind = {
    .destroy = gl_stencil_destroy, .spmv = spmv, .residual = residual, .diagonal = diagonal, TSI_STENCIL_KIND};
