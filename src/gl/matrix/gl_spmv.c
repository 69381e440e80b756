/* y = A x and r = b - A x: the stages of split rows, if there are any, then one draw of all rectangles. */
#include <stdio.h>
#include <string.h>

#include "gl/core/gl.h"
#include "gl/core/gl_shader.h"

int gl_packed_origin(const gl_vector *v) {
  return (int)((unsigned)v->x | (unsigned)v->y << 16);
}

/* ---- Split rows ---- */

static ts_status create_sums(const ts_matrix *A, const ts_vector *x) {
  gl_matrix *m = gl_matrix_of(A);
  if (m->sums_components == tsi_channels(x)) return TS_OK;
  gl_matrix_release_sums(A);
  for (int s = 0; s < A->layout->stage_count; s++) {
    const tsi_stage *stage = &A->layout->stages[s];
    const ts_status status =
        gl_texture_create(A->context, gl_format_of_components(tsi_channels(x)), 1 << stage->log2_sum_width,
                          stage->sum_height, "the sums of long rows", &m->sums[s]);
    if (status < 0) {
      gl_matrix_release_sums(A);
      return status;
    }
  }
  m->sums_components = tsi_channels(x);
  return TS_OK;
}

void gl_stage_parameters(const tsi_stage *stage, int *parameters) {
  const int values[4] = {stage->count, stage->length, stage->log2_width, stage->log2_sum_width};
  memcpy(parameters + 4, values, sizeof values);
}

ts_status gl_sum_stage(const ts_matrix *A, int s, const ts_vector *source, gl_texture *target) {
  ts_context *context = A->context;
  char defines[64];
  const gl_matrix *m = gl_matrix_of(A);
  const int log2_block = s == 0 ? A->layout->blocks.log2_size : 0;
  snprintf(defines, sizeof defines, "#define COMPONENTS %d\n", tsi_channels(source));
  if (log2_block) snprintf(defines + strlen(defines), 32, "#define LOG2_BLOCK %d\n", log2_block);
  gl_pass pass = {.inputs = {source}, .target = target, .width = target->width, .height = target->height};
  TSI_TRY(gl_program_get(context, "core/fullscreen.vert", "matrix/split_sum.frag", defines, &pass.program));
  gl_bind(gl_of(context), GL_UNIT_MATRIX, m->stages[s]->name);
  if (log2_block) gl_bind(gl_of(context), GL_UNIT_MATRIX + 1, m->stage_blocks->name);
  gl_stage_parameters(&A->layout->stages[s], pass.parameters);
  pass.parameters[8] = gl_packed_origin(gl_vector_of(source));
  return gl_draw(context, &pass);
}

static ts_status sum_split_rows(const ts_matrix *A, const ts_vector *x) {
  gl_matrix *m = gl_matrix_of(A);
  TSI_TRY(create_sums(A, x));
  gl_vector before = {0};
  ts_vector source = *x;
  for (int s = 0; s < A->layout->stage_count; s++) {
    TSI_TRY(gl_sum_stage(A, s, &source, m->sums[s]));
    before = (gl_vector){m->sums[s], 0, 0};
    source.impl = &before;
  }
  return TS_OK;
}

/* ---- The product ---- */

/* The halves of products (row_sum.glsl) leave single precision at both of its ends. */
static int is_precise(const ts_matrix *A) {
  const double least = 0x1p-100, most = 0x1p112, size = A->norm_infinity;
  return gl_of(A->context)->exact && (size == 0 || (size > least && size < most));
}

static ts_status multiply(ts_vector *y, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  ts_context *context = A->context;
  gl_backend *gl = gl_of(context);
  gl_matrix *m = gl_matrix_of(A);
  const tsi_layout *layout = A->layout;
  const int log2_block = layout->blocks.log2_size;
  char fragment[64];
  snprintf(fragment, sizeof fragment, "matrix/spmv_%s.frag", tsi_format_of(layout->format)->shader);
  if (layout->stage_count) TSI_TRY(sum_split_rows(A, x));

  const tsi_tiling *t = &A->row_space->tiling;
  char defines[288];
  snprintf(defines, sizeof defines,
           "#define COMPONENTS %d\n#define LOG2_WIDTH %d\n#define LOG2_HEIGHT %d\n%s%s%s%s", tsi_channels(x),
           t->log2_width, t->log2_height, m->as_points ? "" : "#define QUADS\n",
           A->has_diagonal ? "#define DIAGONAL\n" : "",
           b ? is_precise(A) ? "#define RESIDUAL\n#define PRECISE\n" : "#define RESIDUAL\n" : "",
           layout->stage_count ? "#define SPILL\n" : "");
  const int masked = log2_block && A->row_space->constrained;
  if (log2_block)
    snprintf(defines + strlen(defines), 64, "#define LOG2_BLOCK %d\n#define STRIPS\n%s", log2_block,
             masked ? "#define CHANNELS\n" : "");
  gl_pass pass = {.inputs = {x, b}, .rectangles = m};
  TSI_TRY(gl_program_get(context, "matrix/rectangles.vert", fragment, defines, &pass.program));
  gl_bind(gl, GL_UNIT_MATRIX, m->entries->name);
  if (m->diagonal) gl_bind(gl, GL_UNIT_MATRIX + 1, m->diagonal->name);
  if (m->pointers) gl_bind(gl, GL_UNIT_MATRIX + 2, m->pointers->name);
  if (m->starts) gl_bind(gl, GL_UNIT_MATRIX + 3, m->starts->name);
  if (masked) TSI_TRY(gl_bind_channels(A->row_space));
  if (layout->stage_count) gl_bind(gl, GL_UNIT_MATRIX + 4, m->sums[layout->stage_count - 1]->name);
  gl_tiling_parameters(t, pass.parameters);
  pass.parameters[8] = gl_packed_origin(gl_vector_of(x));
  return gl_draw_vector(y, &pass);
}

ts_status gl_matrix_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  return multiply(y, NULL, A, x);
}

ts_status gl_matrix_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  return multiply(r, b, A, x);
}
