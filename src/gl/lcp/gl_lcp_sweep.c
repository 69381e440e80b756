/* The passes of a dense complementarity problem. w = M z + q and z exist twice each: a pass reads one copy and
 * draws the other. By rows, a pass draws one quad of z.
 *
 *   load     z from the vector
 *   start    w, and for columns the states: w and z row by row
 *   sweep    blocks: for each block its new z, then the effect of its changes on all of w;
 *            columns: for each unknown all states; rows: for each unknown its quad of z, without w;
 *            with friction an unknown is a contact
 *   store    the vector from z, or from the states
 *
 * w accumulates the rounding errors of its updates, so it is recomputed after some sweeps. */
#include <stdio.h>

#include "gl/core/gl_shader.h"
#include "gl_lcp_sparse.h"

enum {
  block_alone = 16, /* quads per block without cooperation. Larger blocks need fewer passes but compute more
                       sequentially. If fragments cooperate, that costs little and GL_LCP_BLOCK is better */
  kept_sweeps = 16  /* sweeps before w is recomputed */
};

/* ---- Passes ---- */

const ts_vector *gl_lcp_look(gl_lcp_view *v, const ts_lcp *lcp, gl_texture *const textures[GL_LCP_PARTS]) {
  v->places[0] = (gl_vector){textures[0], 0, 0};
  v->places[1] = (gl_vector){textures[1], 0, 0};
  v->low = (ts_vector){.context = lcp->context, .space = lcp->space, .components = 1, .impl = &v->places[1]};
  v->vector = v->low;
  v->vector.impl = &v->places[0];
  if (textures[1]) v->vector.low = &v->low;
  return &v->vector;
}

void gl_lcp_bind(gl_backend *gl, int unit, int low_unit, gl_texture *const textures[GL_LCP_PARTS]) {
  gl_bind(gl, unit, textures[0]->name);
  if (textures[1]) gl_bind(gl, low_unit, textures[1]->name);
}

static int block_quads(const ts_lcp *lcp) {
  return gl_lcp_of(lcp)->together ? GL_LCP_BLOCK : block_alone;
}

/* `first` and `count` are p[7].y and z. A pass of a problem in single precision computes in pairs if the pass
 * requests it. */
static ts_status gl_lcp_sweep_prepare(const ts_lcp *lcp, const char *fragment, const char *define, int first,
                                      int count, gl_pass *pass) {
  gl_backend *gl = gl_of(lcp->context);
  const gl_lcp *impl = gl_lcp_of(lcp);
  char pair[GL_PAIR_DEFINES] = "", defines[GL_PAIR_DEFINES + 128];
  pass->parts = impl->parts;
  if (impl->parts > 1 || pass->pairs) gl_pass_pairs(pass, pair);
  snprintf(defines, sizeof defines,
           "%s#define COMPONENTS %d\n#define QUADS_OF_BLOCK %d\n#define DIMENSION %d\n%s%s%s", pair,
           pass->pairs ? 4 : 1, block_quads(lcp), lcp->dimension, impl->folded ? "#define FOLDED\n" : "",
           impl->parts == 1 ? "#define SINGLE_ENTRIES\n" : "", define);
  TSI_TRY(gl_program_get(lcp->context, "core/fullscreen.vert", fragment, defines, &pass->program));
  gl_lcp_bind(gl, GL_UNIT_MATRIX, GL_UNIT_SLOT, impl->matrix);
  gl_lcp_bind(gl, GL_UNIT_MATRIX + 1, GL_UNIT_SLOT + 1, impl->lower);
  if (impl->upper[0]) gl_lcp_bind(gl, GL_UNIT_MATRIX + 2, GL_UNIT_SLOT + 2, impl->upper);
  gl_tiling_parameters(&lcp->space->tiling, pass->parameters);
  pass->parameters[6] = lcp->size;
  pass->parameters[7] = impl->abreast;
  pass->parameters[8] = impl->quads;
  pass->parameters[9] = first;
  pass->parameters[10] = count;
  return TS_OK;
}

/* The define for shaders that solve the law of contacts. */
static const char *local_define(const ts_lcp *lcp) {
  return lcp->dimension > 1 && lcp->local != TS_LCP_LOCAL_PROJECTION ? "#define EXACT_LOCAL\n" : "";
}

/* Draws the states of all rows. */
static ts_status draw_states(const ts_lcp *lcp, gl_texture *const targets[GL_LCP_PARTS], gl_pass *pass) {
  pass->target = targets[0];
  if (targets[1]) pass->more_targets[0] = targets[1];
  pass->width = gl_lcp_rows(gl_lcp_of(lcp));
  pass->height = lcp->batch;
  return gl_draw(lcp->context, pass);
}

static const ts_vector *look_at_quads(gl_lcp_view *v, const ts_lcp *lcp, const gl_lcp_quads *quads) {
  const ts_vector *vector = gl_lcp_look(v, lcp, quads->textures);
  for (int part = 0; part < GL_LCP_PARTS; part++) v->places[part].x = quads->x, v->places[part].y = quads->y;
  return vector;
}

/* Draws quads `first` to `end` - 1 of all problems. If quads are folded, `first` is even. */
static ts_status draw_quads(const ts_lcp *lcp, const gl_lcp_quads *quads, int first, int end, gl_pass *pass) {
  const int is_folded = gl_lcp_of(lcp)->folded;
  pass->target = quads->textures[0];
  if (quads->textures[1]) pass->more_targets[0] = quads->textures[1];
  pass->x = quads->x;
  pass->y = quads->y;
  pass->skipped = is_folded ? first / 2 : first;
  pass->width = (is_folded ? (end + 1) / 2 : end) - pass->skipped;
  pass->height = is_folded ? 2 : lcp->batch;
  return gl_draw(lcp->context, pass);
}

/* Loads z[0]. */
static ts_status load(const ts_lcp *lcp, const ts_vector *z) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  gl_pass pass = {.inputs = {z}};
  TSI_TRY(gl_lcp_sweep_prepare(lcp, "lcp/lcp_load.frag", "", 0, 0, &pass));
  return draw_quads(lcp, &impl->z[0], 0, impl->quads, &pass);
}

/* Computes w from z[0]. */
static ts_status gl_lcp_sweep_start(const ts_lcp *lcp, const ts_vector *q, const gl_lcp_quads *w) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  gl_lcp_view z;
  gl_pass pass = {.inputs = {q, look_at_quads(&z, lcp, &impl->z[0])}, .pairs = w->textures[1] != NULL};
  TSI_TRY(gl_lcp_sweep_prepare(lcp, "lcp/lcp_start.frag", "", 0, 0, &pass));
  return draw_quads(lcp, w, 0, impl->quads, &pass);
}

/* Computes state 0 from w[0] and z[0]. */
static ts_status start_states(const ts_lcp *lcp) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  gl_lcp_view inputs[2];
  gl_pass pass = {
      .inputs = {look_at_quads(&inputs[0], lcp, &impl->w[0]), look_at_quads(&inputs[1], lcp, &impl->z[0])}};
  TSI_TRY(gl_lcp_sweep_prepare(lcp, "lcp/lcp_start_states.frag", "", 0, 0, &pass));
  return draw_states(lcp, impl->states[0], &pass);
}

static ts_status store(ts_vector *out, const ts_lcp *lcp, gl_pass *pass, const char *define) {
  TSI_TRY(gl_lcp_sweep_prepare(lcp, "lcp/lcp_store.frag", define, 0, 0, pass));
  return gl_draw_vector(out, pass);
}

/* ---- Blocks ---- */

static const char together[] = "#define TOGETHER\n";

/* Draws all blocks as a sweep does. Each fragment reports whether its block is in one subgroup. */
static ts_status draw_whole(const ts_lcp *lcp, float *found) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  const gl_lcp_quads *z = &impl->z[0];
  for (int first = 0; first < impl->quads; first += GL_LCP_BLOCK) {
    const int end = first + GL_LCP_BLOCK < impl->quads ? first + GL_LCP_BLOCK : impl->quads;
    gl_pass pass = {.inputs = {NULL}};
    TSI_TRY(gl_lcp_sweep_prepare(lcp, "lcp/lcp_whole.frag", together, first, end - first, &pass));
    TSI_TRY(draw_quads(lcp, z, first, end, &pass));
  }
  gl_bind_framebuffer(gl_of(lcp->context), z->textures[0]->framebuffer);
  TSI_TRY(gl_read_texels(lcp->context, GL_R32F, z->x, z->y, (impl->quads + 1) / 2, 2, found));
  return gl_check(lcp->context, "looking for subgroups");
}

/* No driver guarantees how fragments are grouped, so this is tested once. It requires a single problem: with
 * several, a subgroup would hold parts of blocks instead of a whole block. */
ts_status gl_lcp_find_subgroups(const ts_lcp *lcp) {
  gl_lcp *impl = gl_lcp_of(lcp);
  const size_t columns = ((size_t)impl->quads + 1) / 2;
  if (!impl->folded || gl_of(lcp->context)->subgroup_size < GL_LCP_BLOCK) return TS_OK;
  float *found = tsi_calloc(lcp->context, 2 * columns, sizeof *found);
  if (!found) return tsi_out_of_memory(lcp->context, "looking for subgroups", 2 * columns * sizeof *found);
  impl->together = 1;
  const ts_status status = draw_whole(lcp, found);
  for (int quad = 0; quad < impl->quads; quad++)
    if (found[(size_t)(quad % 2) * columns + (size_t)quad / 2] != 1) impl->together = 0;
  tsi_free(lcp->context, found);
  return status;
}

/* Inputs of a pass. w and z are those before the block; the z of later blocks is not yet updated in this
 * sweep. */
typedef struct block_inputs {
  gl_lcp_view w, z, next;
  int current_w, current_z;
} block_inputs;

static gl_pass look_at_block(block_inputs *inputs, const ts_lcp *lcp) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  return (gl_pass){.inputs = {look_at_quads(&inputs->w, lcp, &impl->w[inputs->current_w]),
                              look_at_quads(&inputs->z, lcp, &impl->z[inputs->current_z])}};
}

static ts_status solve_block(const ts_lcp *lcp, block_inputs *inputs, int first, int end) {
  gl_pass pass = look_at_block(inputs, lcp);
  char define[48];
  snprintf(define, sizeof define, "%s%s", gl_lcp_of(lcp)->together ? together : "", local_define(lcp));
  TSI_TRY(gl_lcp_sweep_prepare(lcp, "lcp/lcp_block.frag", define, first, end - first, &pass));
  return draw_quads(lcp, &gl_lcp_of(lcp)->z[!inputs->current_z], first, end, &pass);
}

/* Updates w of the quads starting at `from`. */
static ts_status add_block(const ts_lcp *lcp, block_inputs *inputs, int first, int end, int from) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  gl_pass pass = look_at_block(inputs, lcp);
  pass.inputs[2] = look_at_quads(&inputs->next, lcp, &impl->z[!inputs->current_z]);
  const int is_together = impl->together, all = GL_LCP_BLOCK * ((impl->quads - 1) / GL_LCP_BLOCK + 1);
  TSI_TRY(
      gl_lcp_sweep_prepare(lcp, "lcp/lcp_update.frag", is_together ? together : "", first, end - first, &pass));
  return draw_quads(lcp, &impl->w[!inputs->current_w], from, is_together ? all : impl->quads, &pass);
}

/* In the last sweep, rows above a block are not read again. */
static ts_status sweep_blocks(const ts_lcp *lcp, int is_last, block_inputs *inputs) {
  const int quads = gl_lcp_of(lcp)->quads, most = block_quads(lcp);
  for (int first = 0; first < quads; first += most) {
    const int end = first + most < quads ? first + most : quads;
    TSI_TRY(solve_block(lcp, inputs, first, end));
    if (is_last && end == quads) break;
    TSI_TRY(add_block(lcp, inputs, first, end, is_last ? end : 0));
    inputs->current_w = !inputs->current_w;
  }
  inputs->current_z = !inputs->current_z;
  return TS_OK;
}

/* ---- Columns ---- */

static ts_status sweep_columns(const ts_lcp *lcp, int *current) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  for (int i = 0; i < lcp->size / lcp->dimension; i++) {
    gl_lcp_view input;
    gl_pass pass = {.inputs = {gl_lcp_look(&input, lcp, impl->states[*current])}};
    TSI_TRY(gl_lcp_sweep_prepare(lcp,
                                 lcp->dimension > 1 ? "lcp/lcp_contact_column.frag" : "lcp/lcp_column.frag",
                                 local_define(lcp), i, 0, &pass));
    TSI_TRY(draw_states(lcp, impl->states[!*current], &pass));
    *current = !*current;
  }
  return TS_OK;
}

/* ---- Rows ---- */

/* With a texture barrier, draws into the z that it reads. Otherwise draws into a separate texture and
 * copies. */
static ts_status draw_row(const ts_lcp *lcp, int quad, gl_pass *pass) {
  gl_backend *gl = gl_of(lcp->context);
  const gl_lcp *impl = gl_lcp_of(lcp);
  const gl_lcp_quads *z = &impl->z[0];
  gl_texture *const *targets = impl->row[0] ? impl->row : z->textures;
  const int x = z->x + (impl->folded ? quad / 2 : quad), y = z->y + (impl->folded ? quad % 2 : 0);
  pass->target = targets[0];
  if (targets[1]) pass->more_targets[0] = targets[1];
  pass->x = impl->row[0] ? 0 : x;
  pass->y = impl->row[0] ? 0 : y;
  pass->width = 1;
  pass->height = lcp->batch;
  TSI_TRY(gl_draw(lcp->context, pass));
  for (int part = 0; part < impl->parts && impl->row[part]; part++) {
    gl_bind_framebuffer(gl, impl->row[part]->framebuffer);
    gl_bind(gl, 0, z->textures[part]->name);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, x, y, 0, 0, 1, lcp->batch);
  }
  return TS_OK;
}

static ts_status sweep_rows(const ts_lcp *lcp, const ts_vector *q) {
  const gl_lcp *impl = gl_lcp_of(lcp);
  for (int i = 0; i < lcp->size / lcp->dimension; i++) {
    gl_lcp_view z;
    gl_pass pass = {.inputs = {q, look_at_quads(&z, lcp, &impl->z[0])}};
    TSI_TRY(gl_lcp_sweep_prepare(lcp, lcp->dimension > 1 ? "lcp/lcp_contact_row.frag" : "lcp/lcp_row.frag",
                                 local_define(lcp), i, 0, &pass));
    TSI_TRY(draw_row(lcp, i * lcp->dimension / impl->quad_rows, &pass));
  }
  return TS_OK;
}

/* ---- Operations ---- */

/* Runs `sweeps` sweeps with one w, starting from the quads of z, then stores the vector. */
static ts_status sweep_by_columns(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, int sweeps) {
  int current = 0;
  TSI_TRY(gl_lcp_sweep_start(lcp, q, &gl_lcp_of(lcp)->w[0]));
  TSI_TRY(start_states(lcp));
  for (int k = 0; k < sweeps; k++) TSI_TRY(sweep_columns(lcp, &current));
  gl_lcp_view input;
  gl_pass pass = {.inputs = {gl_lcp_look(&input, lcp, gl_lcp_of(lcp)->states[current])}};
  return store(z, lcp, &pass, "#define STATE\n");
}

static ts_status sweep_by_blocks(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, int sweeps) {
  block_inputs inputs = {.current_w = 0};
  TSI_TRY(gl_lcp_sweep_start(lcp, q, &gl_lcp_of(lcp)->w[0]));
  for (int k = 0; k < sweeps; k++) TSI_TRY(sweep_blocks(lcp, k == sweeps - 1, &inputs));
  gl_lcp_view input;
  gl_pass pass = {.inputs = {look_at_quads(&input, lcp, &gl_lcp_of(lcp)->z[inputs.current_z])}};
  return store(z, lcp, &pass, "");
}

static ts_status sweep_by_rows(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, int sweeps) {
  for (int k = 0; k < sweeps; k++) TSI_TRY(sweep_rows(lcp, q));
  gl_lcp_view input;
  gl_pass pass = {.inputs = {look_at_quads(&input, lcp, &gl_lcp_of(lcp)->z[0])}};
  return store(z, lcp, &pass, "");
}

static ts_status sweep_kept(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme,
                            int sweeps) {
  TSI_TRY(load(lcp, z));
  if (scheme == TS_LCP_SCHEME_ROW) return sweep_by_rows(z, lcp, q, sweeps);
  if (scheme == TS_LCP_SCHEME_COLUMN) return sweep_by_columns(z, lcp, q, sweeps);
  return sweep_by_blocks(z, lcp, q, sweeps);
}

ts_status gl_lcp_sweep(ts_vector *z, const ts_lcp *lcp, const ts_vector *q, ts_lcp_scheme scheme, int sweeps) {
  if (lcp->storage == TS_LCP_STORAGE_SPARSE) return gl_lcp_sweep_sparse(z, lcp, q, scheme, sweeps);
  for (int done = 0; done < sweeps; done += kept_sweeps)
    TSI_TRY(sweep_kept(z, lcp, q, scheme, sweeps - done < kept_sweeps ? sweeps - done : kept_sweeps));
  return gl_check(lcp->context, "sweeps of a complementarity problem");
}

ts_status gl_lcp_residual(ts_vector *map, const ts_lcp *lcp, const ts_vector *q, const ts_vector *z,
                          int exact) {
  if (lcp->storage == TS_LCP_STORAGE_SPARSE) return gl_lcp_residual_sparse(map, lcp, q, z, exact);
  TSI_TRY(load(lcp, z));
  const gl_lcp *impl = gl_lcp_of(lcp);
  const int in_pairs = gl_lcp_is_exact(lcp, exact);
  gl_lcp_view w_view, z_view;
  gl_pass pass = {.inputs = {q, look_at_quads(&z_view, lcp, &impl->z[0])}, .pairs = in_pairs};
  if (lcp->dimension > 1) { /* each row of a contact needs the velocities of all its rows */
    const gl_lcp_quads *w = in_pairs && impl->parts == 1 ? &impl->exact_w : &impl->w[0];
    TSI_TRY(gl_lcp_sweep_start(lcp, q, w));
    pass.inputs[0] = look_at_quads(&w_view, lcp, w);
  }
  TSI_TRY(gl_lcp_sweep_prepare(lcp,
                               lcp->dimension > 1 ? "lcp/lcp_contact_residual.frag" : "lcp/lcp_residual.frag",
                               gl_lcp_map_define(lcp, exact), 0, 0, &pass));
  return gl_draw_vector(map, &pass);
}
