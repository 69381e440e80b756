/* y = A x and r = b - A x: the stages of split rows, if any, then one draw of all rectangles. */
#include <stdio.h>
#include <string.h>

#include "gl/core/gl.h"
#include "gl/core/gl_shader.h"

int gl_packed_origin(const gl_vector *v) {
  return (int)((unsigned)v->x | (unsigned)v->y << 16);
}

/* ---- Split rows ---- */

static const struct {
  const char *defines;
  int parts;
} row_sums[] = {
    [GL_ROWS_PLAIN] = {"", 1},
    [GL_ROWS_PRECISE] = {"#define PRECISE\n", 2},
    [GL_ROWS_PAIR] = {"", 2}, /* gl_pass_pairs */
    [GL_ROWS_PAIR_RESIDUAL] = {"#define RESIDUAL\n", 3},
};

static ts_status create_sums(const ts_matrix *A, const ts_vector *x, int parts) {
  gl_matrix *m = gl_matrix_of(A);
  if (m->sums_components != tsi_channels(x)) gl_matrix_release_sums(A);
  m->sums_components = tsi_channels(x);
  for (int s = 0; s < A->layout->stage_count; s++)
    for (int part = 0; part < parts; part++) {
      const tsi_stage *stage = &A->layout->stages[s];
      if (m->sums[s][part]) continue;
      const ts_status status =
          gl_texture_create(A->context, gl_format_of_components(tsi_channels(x)), 1 << stage->log2_sum_width,
                            stage->sum_height, "the sums of long rows", &m->sums[s][part]);
      if (status < 0) {
        gl_matrix_release_sums(A);
        return status;
      }
    }
  return TS_OK;
}

void gl_stage_parameters(const tsi_stage *stage, int *parameters) {
  const int values[4] = {stage->count, stage->length, stage->log2_width, stage->log2_sum_width};
  memcpy(parameters + 4, values, sizeof values);
}

/* Binds the parts of the sums after the first one. */
static void bind_low_sums(gl_backend *gl, gl_texture *const sums[GL_TARGETS], int parts) {
  for (int part = 1; part < parts; part++) gl_bind(gl, GL_UNIT_LOW_SUMS + part - 1, sums[part]->name);
}

ts_status gl_sum_stage(const ts_matrix *A, int s, gl_row_sum rows, const ts_vector *source,
                       gl_texture *const targets[GL_TARGETS]) {
  ts_context *context = A->context;
  char pair[GL_PAIR_DEFINES] = "", defines[GL_PAIR_DEFINES + 128];
  const gl_matrix *m = gl_matrix_of(A);
  const int log2_block = s == 0 ? A->layout->blocks.log2_size : 0;
  gl_pass pass = {
      .inputs = {source}, .target = targets[0], .width = targets[0]->width, .height = targets[0]->height};
  for (int part = 1; part < row_sums[rows].parts; part++) pass.more_targets[part - 1] = targets[part];
  if (rows >= GL_ROWS_PAIR) gl_pass_pairs(&pass, pair);
  snprintf(defines, sizeof defines, "%s%s#define COMPONENTS %d\n%s", pair, row_sums[rows].defines,
           tsi_channels(source), s > 0 && rows != GL_ROWS_PLAIN ? "#define LATER\n" : "");
  if (log2_block) snprintf(defines + strlen(defines), 32, "#define LOG2_BLOCK %d\n", log2_block);
  TSI_TRY(gl_program_get(context, "core/fullscreen.vert", "matrix/split_sum.frag", defines, &pass.program));
  gl_bind(gl_of(context), GL_UNIT_MATRIX, m->stages[s]->name);
  if (log2_block) gl_bind(gl_of(context), GL_UNIT_MATRIX + 1, m->stage_blocks->name);
  if (s > 0) bind_low_sums(gl_of(context), m->sums[s - 1], row_sums[rows].parts);
  gl_stage_parameters(&A->layout->stages[s], pass.parameters);
  pass.parameters[8] = gl_packed_origin(gl_vector_of(source));
  return gl_draw(context, &pass);
}

static ts_status sum_split_rows(const ts_matrix *A, gl_row_sum rows, const ts_vector *x) {
  gl_matrix *m = gl_matrix_of(A);
  TSI_TRY(create_sums(A, x, row_sums[rows].parts));
  gl_vector before = {0};
  ts_vector source = *x;
  for (int s = 0; s < A->layout->stage_count; s++) {
    TSI_TRY(gl_sum_stage(A, s, rows, &source, m->sums[s]));
    before = (gl_vector){m->sums[s][0], 0, 0};
    source.impl = &before;
    source.low = NULL;
  }
  return TS_OK;
}

/* ---- The product ---- */

/* The halves of products (row_sum.glsl) can overflow and underflow single precision. */
static int is_precise(const ts_matrix *A) {
  const double least = 0x1p-100, most = 0x1p112, size = A->norm_infinity;
  return gl_of(A->context)->exact && (size == 0 || (size > least && size < most));
}

static gl_row_sum row_sum_of(const ts_vector *y, const ts_vector *b, const ts_matrix *A) {
  if ((!b && !y->low) || !is_precise(A)) return GL_ROWS_PLAIN;
  if (y->low) return b ? GL_ROWS_PAIR_RESIDUAL : GL_ROWS_PAIR;
  return GL_ROWS_PRECISE;
}

/* y = A x, r = b - A x, or a smoothing step, which also has x and b. */
static ts_status multiply(ts_vector *y, const ts_vector *b, const ts_matrix *A, const ts_vector *x,
                          gl_row_sum rows, const tsi_smoothing *s) {
  ts_context *context = A->context;
  gl_backend *gl = gl_of(context);
  gl_matrix *m = gl_matrix_of(A);
  const tsi_layout *layout = A->layout;
  const int log2_block = layout->blocks.log2_size;
  char fragment[64], pair[GL_PAIR_DEFINES] = "";
  snprintf(fragment, sizeof fragment, "matrix/spmv_%s.frag", tsi_format_of(layout->format)->shader);
  gl_pass pass = {.inputs = {x, b}, .rectangles = m};
  if (rows >= GL_ROWS_PAIR) {
    if (b && b->low) pass.inputs[2] = b->low->low;
    gl_pass_pairs(&pass, pair);
    pass.parts = 2;
  }
  if (s) {
    pass.inputs[2] = s->w;
    pass.inputs[3] = s->before;
    memcpy(pass.parameters + 9, (const float[3]){s->scale, s->alpha, s->gamma}, 3 * sizeof(float));
  }
  if (layout->stage_count) TSI_TRY(sum_split_rows(A, rows, x));

  const char *more = s && s->before   ? "#define SMOOTH\n#define BEFORE\n"
                     : s              ? "#define SMOOTH\n"
                     : pass.inputs[2] ? "#define B_LOWEST\n"
                                      : "";
  const tsi_tiling *t = &A->row_space->tiling;
  char defines[336 + GL_PAIR_DEFINES];
  snprintf(defines, sizeof defines,
           "%s#define COMPONENTS %d\n#define LOG2_WIDTH %d\n#define LOG2_HEIGHT %d\n%s%s%s%s%s%s%s", pair,
           tsi_channels(x), t->log2_width, t->log2_height, m->as_points ? "" : "#define QUADS\n",
           m->values ? "#define VALUES\n" : "", A->has_diagonal ? "#define DIAGONAL\n" : "",
           b ? "#define RESIDUAL\n" : "", rows == GL_ROWS_PRECISE ? "#define PRECISE\n" : "", more,
           layout->stage_count ? "#define SPILL\n" : "");
  const int masked = log2_block && A->row_space->constrained;
  if (log2_block)
    snprintf(defines + strlen(defines), 64, "#define LOG2_BLOCK %d\n#define STRIPS\n%s", log2_block,
             masked ? "#define CHANNELS\n" : "");
  TSI_TRY(gl_program_get(context, "matrix/rectangles.vert", fragment, defines, &pass.program));
  gl_bind(gl, GL_UNIT_MATRIX, m->entries->name);
  if (m->diagonal) gl_bind(gl, GL_UNIT_MATRIX + 1, m->diagonal->name);
  if (m->pointers) gl_bind(gl, GL_UNIT_MATRIX + 2, m->pointers->name);
  if (m->values) gl_bind(gl, GL_UNIT_MATRIX + 2, m->values->name);
  if (m->starts) gl_bind(gl, GL_UNIT_MATRIX + 3, m->starts->name);
  if (masked) TSI_TRY(gl_bind_channels(A->row_space));
  if (layout->stage_count) {
    gl_texture *const *sums = m->sums[layout->stage_count - 1];
    gl_bind(gl, GL_UNIT_MATRIX + 4, sums[0]->name);
    bind_low_sums(gl, sums, row_sums[rows].parts);
  }
  gl_tiling_parameters(t, pass.parameters);
  pass.parameters[8] = gl_packed_origin(gl_vector_of(x));
  TSI_TRY(gl_draw_vector(y, &pass));
  return y->low && rows == GL_ROWS_PLAIN ? gl_fill(y->low, 0) : TS_OK;
}

ts_status gl_matrix_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  return multiply(y, NULL, A, x, row_sum_of(y, NULL, A), NULL);
}

ts_status gl_matrix_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  const ts_vector one = tsi_first_part(x);
  return multiply(r, b, A, &one, row_sum_of(r, b, A), NULL);
}

ts_status gl_matrix_quick_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  return multiply(r, b, A, x, GL_ROWS_PLAIN, NULL);
}

ts_status gl_matrix_smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s) {
  return multiply(out, s->b, A, s->x, GL_ROWS_PLAIN, s);
}
