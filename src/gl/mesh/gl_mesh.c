/* Mesh operators: textures of corners laid out like the entries of the matrix, and passes that compute the
 * matrix from the positions. An assembly has two passes: the first draws all off-diagonals into the texture of
 * entries. The second draws the diagonal, in the same way as a product. Split rows add a few small passes. */
#include <stdio.h>
#include <string.h>

#include "gl/core/gl.h"
#include "gl/core/gl_shader.h"
#include "mesh/mesh_operator.h"

TSI_MESH_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, gl_mesh_)

typedef struct gl_mesh {
  gl_texture *corners, *stage_corners; /* RGBA32UI, in the layout of the entries and of the first stage */
  gl_texture *sums[TSI_MAX_STAGES];    /* RGBA32F, for split rows */
} gl_mesh;

static gl_mesh *mesh_of(const tsi_mesh_operator *op) {
  return op->impl;
}

/* ---- Creation ---- */

static ts_status create_corners(ts_context *context, const gl_texture *like, const tsi_mesh_corners *data,
                                gl_texture **out) {
  TSI_TRY(gl_texture_create(context, GL_RGBA32UI, like->width, like->height, "the corners of a mesh", out));
  gl_texture_write(gl_of(context), *out, 0, 0, like->width, like->height, data);
  return gl_check(context, "writing the corners of a mesh");
}

static ts_status create_parts(const tsi_mesh_operator *op, const tsi_mesh_packed *packed) {
  ts_context *context = op->context;
  gl_mesh *mesh = mesh_of(op);
  const gl_matrix *m = gl_matrix_of(op->matrix);
  const tsi_layout *layout = op->matrix->layout;
  TSI_TRY(create_corners(context, m->entries, packed->entries, &mesh->corners));
  TSI_TRY(gl_texture_make_target(context, m->entries));
  if (!layout->stage_count) return TS_OK;
  TSI_TRY(create_corners(context, m->stages[0], packed->stage, &mesh->stage_corners));
  TSI_TRY(gl_texture_make_target(context, m->stages[0]));
  for (int s = 0; s < layout->stage_count; s++)
    TSI_TRY(gl_texture_create(context, GL_RGBA32F, 1 << layout->stages[s].log2_sum_width,
                              layout->stages[s].sum_height, "the sums of long rows", &mesh->sums[s]));
  return TS_OK;
}

ts_status gl_mesh_create(tsi_mesh_operator *op, const tsi_mesh_packed *packed) {
  op->impl = tsi_calloc(op->context, 1, sizeof(gl_mesh));
  if (!op->impl) return tsi_out_of_memory(op->context, "a mesh", sizeof(gl_mesh));
  const ts_status status = create_parts(op, packed);
  if (status < 0) gl_mesh_destroy(op);
  return status;
}

void gl_mesh_destroy(tsi_mesh_operator *op) {
  gl_mesh *mesh = mesh_of(op);
  gl_texture_release(op->context, mesh->corners);
  gl_texture_release(op->context, mesh->stage_corners);
  for (int s = 0; s < TSI_MAX_STAGES; s++) gl_texture_release(op->context, mesh->sums[s]);
  tsi_free(op->context, mesh);
  op->impl = NULL;
}

/* ---- Passes ---- */

typedef struct mesh_parameters {
  float scale, factor, shortest;
} mesh_parameters;

/* Sets p[7] in shaders/include/mesh.glsl. */
static void set_parameters(gl_pass *pass, const ts_vector *x, mesh_parameters parameters) {
  pass->parameters[8] = gl_packed_origin(gl_vector_of(x));
  memcpy(&pass->parameters[9], &parameters, sizeof parameters);
}

static const char *kind_define(const tsi_mesh_operator *op) {
  return op->kind == TSI_MESH_CURVE ? "#define CURVE\n" : "";
}

static ts_status draw_off_diagonals(const tsi_mesh_operator *op, gl_texture *entries, const gl_texture *corners,
                                    const ts_vector *x, mesh_parameters parameters) {
  ts_context *context = op->context;
  gl_pass pass = {.inputs = {x}, .target = entries, .width = entries->width, .height = entries->height};
  char defines[96];
  snprintf(defines, sizeof defines, "#define COMPONENTS 3\n%s%s", kind_define(op),
           entries->format == GL_R32F ? "#define VALUES\n" : "");
  TSI_TRY(
      gl_program_get(context, "core/fullscreen.vert", "mesh/mesh_off_diagonals.frag", defines, &pass.program));
  gl_bind(gl_of(context), GL_UNIT_CORNERS, corners->name);
  set_parameters(&pass, x, parameters);
  return gl_draw(context, &pass);
}

/* Sums the entries of split rows beyond the loop of their rectangle, for the pass that `define` selects. */
static ts_status sum_split_rows(const tsi_mesh_operator *op, const ts_vector *x, float scale,
                                const char *define) {
  ts_context *context = op->context;
  const gl_mesh *mesh = mesh_of(op);
  const gl_matrix *m = gl_matrix_of(op->matrix);
  const tsi_layout *layout = op->matrix->layout;
  gl_pass pass = {
      .inputs = {x}, .target = mesh->sums[0], .width = mesh->sums[0]->width, .height = mesh->sums[0]->height};
  char defines[96];
  snprintf(defines, sizeof defines, "#define COMPONENTS 3\n%s%s", kind_define(op), define);
  TSI_TRY(gl_program_get(context, "core/fullscreen.vert", "mesh/mesh_split.frag", defines, &pass.program));
  gl_bind(gl_of(context), GL_UNIT_MATRIX, m->stages[0]->name);
  gl_bind(gl_of(context), GL_UNIT_CORNERS, mesh->stage_corners->name);
  set_parameters(&pass, x, (mesh_parameters){.scale = scale});
  gl_stage_parameters(&layout->stages[0], pass.parameters);
  TSI_TRY(gl_draw(context, &pass));
  for (int s = 1; s < layout->stage_count; s++) {
    gl_vector before = {mesh->sums[s - 1], 0, 0};
    const ts_vector source = {.context = context, .space = x->space, .components = 3, .impl = &before};
    TSI_TRY(gl_sum_stage(op->matrix, s, GL_ROWS_PLAIN, &source, (gl_texture *[GL_TARGETS]){mesh->sums[s]}));
  }
  return TS_OK;
}

/* Prepares a pass over the rectangles of the matrix. */
static ts_status prepare_rows(const tsi_mesh_operator *op, const char *fragment, const ts_vector *x,
                              float scale, gl_pass *pass) {
  ts_context *context = op->context;
  gl_backend *gl = gl_of(context);
  gl_matrix *m = gl_matrix_of(op->matrix);
  const tsi_layout *layout = op->matrix->layout;
  const tsi_tiling *t = &op->matrix->row_space->tiling;
  char defines[160];
  snprintf(defines, sizeof defines,
           "#define COMPONENTS 3\n#define LOG2_WIDTH %d\n#define LOG2_HEIGHT %d\n%s%s%s%s", t->log2_width,
           t->log2_height, m->as_points ? "" : "#define QUADS\n",
           tsi_format_of(layout->format)->pairs ? "#define JAGGED\n" : "",
           layout->stage_count ? "#define SPILL\n" : "", kind_define(op));
  *pass = (gl_pass){.inputs = {x}, .rectangles = m};
  TSI_TRY(gl_program_get(context, "matrix/rectangles.vert", fragment, defines, &pass->program));
  gl_bind(gl, GL_UNIT_MATRIX, m->entries->name);
  gl_bind(gl, GL_UNIT_CORNERS, mesh_of(op)->corners->name);
  if (m->pointers) gl_bind(gl, GL_UNIT_MATRIX + 2, m->pointers->name);
  if (layout->stage_count) gl_bind(gl, GL_UNIT_MATRIX + 4, mesh_of(op)->sums[layout->stage_count - 1]->name);
  gl_tiling_parameters(t, pass->parameters);
  set_parameters(pass, x, (mesh_parameters){.scale = scale});
  return TS_OK;
}

/* ---- Operations ---- */

ts_status gl_mesh_assemble(tsi_mesh_operator *op, const ts_vector *x, float scale, float factor,
                           float shortest) {
  const gl_mesh *mesh = mesh_of(op);
  const gl_matrix *m = gl_matrix_of(op->matrix);
  const mesh_parameters parameters = {scale, factor, shortest};
  TSI_TRY(draw_off_diagonals(op, m->entries, mesh->corners, x, parameters));
  if (op->matrix->layout->stage_count) {
    TSI_TRY(draw_off_diagonals(op, m->stages[0], mesh->stage_corners, x, parameters));
    TSI_TRY(sum_split_rows(op, x, scale, ""));
  }
  gl_pass pass;
  TSI_TRY(prepare_rows(op, "mesh/mesh_diagonal.frag", x, scale, &pass));
  pass.target = m->diagonal;
  pass.width = m->diagonal->width;
  pass.height = m->diagonal->height;
  return gl_draw(op->context, &pass);
}

ts_status gl_mesh_force(ts_vector *g, const tsi_mesh_operator *op, const ts_vector *x, float scale) {
  if (op->matrix->layout->stage_count) TSI_TRY(sum_split_rows(op, x, scale, "#define FORCE\n"));
  gl_pass pass;
  TSI_TRY(prepare_rows(op, "mesh/mesh_force.frag", x, scale, &pass));
  return gl_draw_vector(g, &pass);
}

const tsi_mesh_ops gl_mesh_ops = {TSI_MESH_OPERATIONS(TSI_ENTRY, TSI_ENTRY, gl_mesh_)};
