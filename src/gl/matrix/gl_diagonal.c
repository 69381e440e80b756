/* Copies the diagonal of a matrix to every component of a vector. */
#include <stdio.h>
#include <string.h>

#include "gl/core/gl.h"
#include "gl/core/gl_shader.h"

ts_status gl_matrix_diagonal(ts_vector *d, const ts_matrix *A) {
  const tsi_layout *layout = A->layout;
  const int log2_block = layout->blocks.log2_size;
  char defines[96];
  snprintf(defines, sizeof defines, "#define COMPONENTS %d\n", tsi_channels(d));
  if (log2_block)
    snprintf(defines + strlen(defines), 64, "#define LOG2_BLOCK %d\n#define LOG2_WIDTH %d\n#define STRIPS\n",
             log2_block, A->row_space->tiling.log2_width);
  gl_pass pass = {0};
  TSI_TRY(gl_program_get(A->context, "core/fullscreen.vert",
                         log2_block ? "matrix/diagonal_bcrs.frag" : "matrix/diagonal.frag", defines,
                         &pass.program));
  gl_bind(gl_of(A->context), GL_UNIT_MATRIX + 1, gl_matrix_of(A)->diagonal->name);
  return gl_draw_vector(d, &pass);
}
